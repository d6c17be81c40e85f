//! Stopping: players are told, and what is in flight becomes durable.
//!
//! A server that stops starts nothing: no tournament and no match, and it ignores what players say;
//! they can say it again to the server that comes after. The driver waits for the log and closes
//! the connections.

use super::{Engine, Input};
use agon_wire::native::ToPlayer;

impl Engine {
    /// Begins to stop.
    pub(super) fn stop(&mut self) {
        self.stopping = true;
        self.tell_stopping();
    }

    /// Tells everybody that the server stops, for a fault of ours as well.
    pub fn tell_stopping(&mut self) {
        let notice = ToPlayer::notice("stopping", None);
        self.sessions.conns().into_iter().for_each(|conn| self.send(conn, &notice));
    }

    /// Whether no record is in flight.
    pub fn is_drained(&self) -> bool {
        self.journals.is_drained()
    }

    /// Handles what still counts when the server stops.
    pub(super) fn handle_last(&mut self, input: Input) {
        match input {
            Input::Committed(stream) => self.committed(stream),
            Input::Refused(_) => self.refused = true,
            Input::SnapshotKept => self.snapshots.kept(),
            // The server closes connections itself now: no player is charged as absent.
            Input::Closed { conn } => drop(self.sessions.close(conn)),
            _ => {}
        }
    }
}
