//! Stopping: the engine notifies players, and records in flight become durable.
//!
//! A server that stops starts no tournament and no match. It ignores players' messages; players can
//! repeat them to the next server. The driver waits for the log and closes the connections.

use super::{Engine, Input};
use agon_wire::native::ToPlayer;

impl Engine {
    /// Begins to stop.
    pub(super) fn stop(&mut self) {
        self.services.stopping = true;
        self.tell_stopping();
    }

    /// Notifies everybody that the server stops, also after an internal error.
    pub fn tell_stopping(&mut self) {
        let notice = ToPlayer::notice("stopping", None);
        self.seats.conns().into_iter().for_each(|conn| self.send(conn, &notice));
    }

    /// Takes the snapshot that the next start begins with.
    pub fn finish(&mut self) {
        self.lobby.final_snapshot(&mut self.services);
    }

    /// Returns whether no record is in flight.
    pub fn is_drained(&self) -> bool {
        self.services.journals.is_drained()
    }

    /// Handles the inputs that still count while the server stops.
    pub(super) fn handle_last(&mut self, input: Input) {
        match input {
            Input::Committed(stream) => self.committed(stream),
            Input::Refused(stream) => self.refused(&stream),
            Input::SnapshotKept => self.lobby.snapshot_kept(),
            // The server closes connections itself now: no player is charged as absent.
            Input::Closed { conn } | Input::NodeGone { conn, .. } => self.forget(conn),
            _ => {}
        }
    }
}
