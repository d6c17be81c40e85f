//! Stopping: players are told, what is on its way becomes durable, connections are closed.
//!
//! Whoever stops starts nothing: no tournament, no match, and what players say is not heard any
//! more; they can say it again to the server that comes after. Every wait here has an end.

use super::{ConnId, Engine, EngineError, Input};
use crate::meters::End;
use agon_wire::native::ToPlayer;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How long the log may take for what is on its way.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// How long connections may take to read what they were sent.
const GOODBYE_MAX: Duration = Duration::from_secs(2);

impl Engine {
    /// Begins to stop.
    pub(super) fn stop(&mut self) {
        self.stopping = true;
        self.tell_all_stopping();
    }

    /// Waits for the log, says goodbye and leaves a snapshot for the next start.
    pub(super) fn drain(mut self) -> Result<(), EngineError> {
        let give_up = Instant::now() + DRAIN_MAX;
        while !self.is_drained() {
            self.submit_decided();
            let left = give_up.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(input) => self.take_last(input),
                Err(_) => return Err(EngineError::Undrained(DRAIN_MAX)),
            }
            if let Some(error) = self.failed.take() {
                self.say_goodbye();
                return Err(error);
            }
        }
        self.log.flush()?;
        self.say_goodbye();
        self.last_snapshot();
        self.passwords.keep();
        Ok(())
    }

    /// Whether nothing is on its way to the log.
    pub(super) fn is_drained(&self) -> bool {
        self.journals.values().all(|journal| journal.in_flight == 0)
    }

    /// Takes what still counts when the server stops.
    pub(super) fn take_last(&mut self, input: Input) {
        match input {
            Input::Committed { streams, results } => self.all_committed(streams, results),
            // Our doing, or no matter: nobody is missed any more.
            Input::Closed { conn } => drop(self.sessions.remove(&conn)),
            _ => {}
        }
    }

    /// Ends for a fault of ours: players are told no more than that.
    pub(super) fn end_with(mut self, error: EngineError) -> EngineError {
        if !self.stopping {
            self.tell_all_stopping();
        }
        self.say_goodbye();
        error
    }

    fn tell_all_stopping(&mut self) {
        let conns: Vec<ConnId> = self.sessions.keys().copied().collect();
        let notice = ToPlayer::notice("stopping", None);
        conns.into_iter().for_each(|conn| self.send_or_drop(conn, &notice));
    }

    /// A connection that does not read is cut off, and nobody is charged for it now.
    fn send_or_drop(&mut self, conn: ConnId, message: &ToPlayer<'_>) {
        let full = self.sessions.get(&conn).is_some_and(|session| !session.try_send(message));
        if full {
            self.sessions.remove(&conn);
        }
    }

    /// Closes the outboxes and waits until gateways have written what was in them.
    fn say_goodbye(&mut self) {
        let mut leaving: HashSet<ConnId> = self.sessions.keys().copied().collect();
        self.sessions.values().for_each(|session| session.ends(End::Stopping));
        self.sessions.clear();
        let give_up = Instant::now() + GOODBYE_MAX;
        while !leaving.is_empty() {
            let left = give_up.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(Input::Closed { conn }) => drop(leaving.remove(&conn)),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}
