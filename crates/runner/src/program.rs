//! A player's program from start to end: its process, its hello, the request it was sent.

use crate::connection::{Connection, Departure, Incoming};
use crate::host::Shared;
use agon_core::{Fault, PlayerName, RequestId};
use agon_wire::native::{self, FromPlayer, ToPlayer};
use std::future::poll_fn;
use std::time::Duration;
use tokio::time::Instant;

/// Lines a program may send without being asked before it counts as flooding.
pub(crate) const JUNK_MAX: u32 = 100;

/// Starts of a program in a row that fail before it is given up.
pub(crate) const STARTS_MAX: u32 = 3;

/// How long a program that owes no answer may still compute before it is stopped. Programs that
/// answer faster than this are never stopped, and cost nothing more.
pub(crate) const IDLE: Duration = Duration::from_millis(20);

/// How long a program has to end by itself.
pub(crate) const GRACE: Duration = Duration::from_millis(300);

/// A program and how far it is.
pub(crate) struct Program {
    pub(crate) player: PlayerName,
    pub(crate) words: Vec<String>,
    pub(crate) connection: Option<Connection>,
    /// When its hello is due, while that is missing.
    pub(crate) hello_by: Option<Instant>,
    pub(crate) failed_starts: u32,
    /// How often a signal from outside ended it in this match.
    pub(crate) killed: u32,
    /// Why it did not start, as far as is known.
    pub(crate) why_not: Option<String>,
    /// Whether this match has been told that it will not come.
    pub(crate) given_up: bool,
    /// The request this process has been sent.
    pub(crate) sent: Option<RequestId>,
    /// Whether that request is still partly in our buffer.
    pub(crate) unwritten: bool,
    /// Since when it owes no answer while it runs.
    pub(crate) idle_since: Option<Instant>,
}

impl Program {
    pub(crate) fn new(player: PlayerName, words: Vec<String>) -> Program {
        Program {
            player,
            words,
            connection: None,
            hello_by: None,
            failed_starts: 0,
            killed: 0,
            why_not: None,
            given_up: false,
            sent: None,
            unwritten: false,
            idle_since: None,
        }
    }

    /// Whether it has said hello.
    pub(crate) fn ready(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.hello.is_some())
    }

    /// Starts the process and greets it. `false` if it cannot be started.
    pub(crate) fn start(&mut self, shared: &Shared) -> bool {
        match Connection::start(&self.words, &self.player, &shared.mark, &shared.sandbox) {
            Ok(mut connection) => {
                connection.send(&native::encode(&ToPlayer::Hello {
                    protocol: native::PROTOCOL_VERSION,
                    server: concat!("agon/", env!("CARGO_PKG_VERSION")),
                    player: &self.player,
                    tournament: &shared.plan.id,
                    game: &shared.plan.game,
                    commitment: &shared.commitment,
                }));
                self.connection = Some(connection);
                self.hello_by = Some(Instant::now() + shared.hello_limit);
                self.sent = None;
                true
            }
            Err(error) => {
                self.failed_starts = STARTS_MAX;
                self.why_not = Some(error.to_string());
                false
            }
        }
    }

    /// Ends the process, if there is one, and says how it ended.
    pub(crate) async fn end(&mut self, shared: &Shared, grace: Duration) -> Departure {
        self.sent = None;
        self.hello_by = None;
        self.idle_since = None;
        match self.connection.take() {
            Some(connection) => connection.close(grace, &shared.evidence, &self.player).await,
            None => {
                Departure { words: "not running".into(), code: "disconnected", from_outside: false }
            }
        }
    }

    /// Stops the process until it is next sent something, if the run's policy says so.
    pub(crate) fn pause(&mut self, shared: &Shared) {
        self.idle_since = None;
        if let Some(connection) = self.connection.as_mut().filter(|_| shared.pauses) {
            connection.pause();
        }
    }

    /// Waits for the hello of a process that was started. `false` if it did not come, or the run
    /// is asked to stop.
    pub(crate) async fn await_hello(&mut self, shared: &Shared) -> bool {
        let limit = self.hello_by.unwrap_or_else(Instant::now);
        while !self.ready() {
            let Some(connection) = &mut self.connection else { return false };
            let next = tokio::select! {
                biased;
                incoming = poll_fn(|cx| connection.poll(cx)) => Some(incoming),
                () = shared.stop.wait() => return false,
                () = tokio::time::sleep_until(limit) => None,
            };
            let why = match next {
                Some(Incoming::Message(FromPlayer::Hello(hello))) => {
                    connection.hello = Some(hello);
                    continue;
                }
                Some(Incoming::Flushed) => continue,
                // A greeting on stdout, a warning of an interpreter: not yet a reason to go.
                Some(Incoming::Bad { why, .. }) if connection.junk < JUNK_MAX => {
                    connection.junk += 1;
                    self.why_not = Some(why);
                    continue;
                }
                Some(Incoming::Bad { why, .. } | Incoming::Flood { why }) => Some(why),
                Some(Incoming::Refused { why }) => {
                    self.failed_starts = STARTS_MAX;
                    Some(why)
                }
                Some(Incoming::Closed) => {
                    let departure = self.end(shared, GRACE).await;
                    if departure.from_outside {
                        self.killed += 1;
                        self.why_not = Some(departure.words);
                        return false;
                    }
                    Some(format!("the program ended: {}", departure.words))
                }
                Some(Incoming::Message(FromPlayer::Answer { .. } | FromPlayer::Lobby(_))) => {
                    Some("it answered before it said hello".into())
                }
                None => None,
            };
            self.why_not = why.or(self.why_not.take());
            self.failed_starts += 1;
            self.end(shared, Duration::ZERO).await;
            return false;
        }
        true
    }

    /// That it does not come, and why, as far as is known.
    pub(crate) fn absence(&self) -> Fault {
        let why = self.why_not.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        Fault::disconnected(format!("{} does not start and say hello{why}", self.words[0]))
    }
}
