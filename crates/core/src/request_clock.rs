//! The clock of one request. It alone decides whether an answer is late.
//!
//! The clock runs from socket to socket: it starts when the request is written to the player's
//! socket, and stops when the answer is read from it. Time that the server needs in between is not
//! charged. A player who reconnects gets the request again, with the time that is left.
//!
//! ```text
//!   new ──▶ waiting ──deliver──▶ running ──recall──▶ recalled ──resume──▶ waiting …
//! ```

use crate::ids::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

/// The clock of one request on its way to one player.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestClock {
    limit_ms: Millis,
    /// Time that was used on earlier connections.
    spent_ms: Millis,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum State {
    /// The request was handed over, but is not written yet.
    Waiting,
    /// The request was written at this time.
    Running { written_at: Timestamp },
    /// The player changed their connection, and the request must be sent again. If it was written
    /// on the earlier connection, the clock began at `began_at`.
    Recalled { began_at: Option<Timestamp> },
}

/// How long an answer took, and whether it is late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// How long the player took; never more than the limit if the answer is in time.
    pub took_ms: Millis,
    /// True if the answer is late.
    pub is_late: bool,
}

impl RequestClock {
    /// The clock of a request that is handed over for the first time.
    pub fn new(limit_ms: Millis) -> RequestClock {
        RequestClock { limit_ms, spent_ms: 0, state: State::Waiting }
    }

    /// The time limit of the request.
    pub fn limit_ms(&self) -> Millis {
        self.limit_ms
    }

    /// How much of the limit was used on earlier connections.
    pub fn spent_before_ms(&self) -> Millis {
        self.spent_ms
    }

    /// Records that the request was written to the player's socket. The latest time counts: a
    /// program that joins its tournament late first gets the beginning, in several messages.
    pub fn deliver(&mut self, at: Timestamp) {
        self.state = State::Running { written_at: at };
    }

    /// When the clock began to run: the time of writing, minus the time used before.
    pub fn began_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Running { written_at } => Some(written_at.before(self.spent_ms)),
            State::Waiting | State::Recalled { .. } => None,
        }
    }

    /// When the request times out if it is written no earlier than `now`.
    pub fn due_at(&self, now: Timestamp) -> Timestamp {
        self.began_at().unwrap_or(now).saturating_add(self.limit_ms)
    }

    /// The clock after the player's connection closed at `now`. Time that the request waits for the
    /// server to write it again does not count.
    #[must_use]
    pub fn recall(&self, now: Timestamp) -> RequestClock {
        let began_at = self.began_at();
        let spent_ms = began_at.map_or(self.spent_ms, |began| now.since(began));
        RequestClock { limit_ms: self.limit_ms, spent_ms, state: State::Recalled { began_at } }
    }

    /// The clock of the request when it is handed over again.
    #[must_use]
    pub fn resume(&self) -> RequestClock {
        RequestClock { state: State::Waiting, ..self.clone() }
    }

    /// The time that the player has left.
    pub fn left_ms(&self) -> Millis {
        self.limit_ms.saturating_sub(self.spent_ms)
    }

    /// How long an answer that was read at `read_at` took. An answer can be late only after the
    /// request was handed over: a player who reconnects may answer before the request is sent
    /// again.
    pub fn timing(&self, read_at: Timestamp) -> Timing {
        let took_ms = match self.state {
            State::Waiting => 0,
            State::Running { .. } => self.began_at().map_or(0, |began| read_at.since(began)),
            State::Recalled { began_at } => {
                began_at.map_or(self.spent_ms, |began| read_at.since(began))
            }
        };
        let is_late = took_ms > self.limit_ms && !matches!(self.state, State::Recalled { .. });
        Timing { took_ms: took_ms.min(self.limit_ms), is_late }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_from_writing_to_reading() {
        let mut clock = RequestClock::new(1_000);
        assert_eq!(
            clock.timing(Timestamp::from_ms(50_000)),
            Timing { took_ms: 0, is_late: false },
            "not written yet"
        );
        clock.deliver(Timestamp::from_ms(9_000));
        clock.deliver(Timestamp::from_ms(10_000));
        assert_eq!(
            clock.timing(Timestamp::from_ms(11_000)),
            Timing { took_ms: 1_000, is_late: false }
        );
        assert_eq!(
            clock.timing(Timestamp::from_ms(11_001)),
            Timing { took_ms: 1_000, is_late: true }
        );
        assert_eq!(clock.due_at(Timestamp::default()), Timestamp::from_ms(11_000));
    }

    #[test]
    fn reconnecting_player_has_the_time_that_is_left() {
        let mut clock = RequestClock::new(1_000);
        clock.deliver(Timestamp::from_ms(10_000));
        let recalled = clock.recall(Timestamp::from_ms(10_400));
        assert_eq!(recalled.left_ms(), 600);
        assert_eq!(
            recalled.timing(Timestamp::from_ms(10_900)).took_ms,
            900,
            "an answer before it is asked again"
        );
        assert!(!recalled.timing(Timestamp::from_ms(99_000)).is_late, "nobody asked it");
        let mut again = recalled.resume();
        again.deliver(Timestamp::from_ms(20_000));
        assert_eq!(again.began_at(), Some(Timestamp::from_ms(19_600)));
        assert!(
            !again.timing(Timestamp::from_ms(20_600)).is_late
                && again.timing(Timestamp::from_ms(20_601)).is_late
        );
    }

    #[test]
    fn waiting_for_the_server_costs_nothing() {
        let clock = RequestClock::new(1_000).recall(Timestamp::from_ms(50_000));
        assert_eq!((clock.left_ms(), clock.timing(Timestamp::from_ms(60_000)).took_ms), (1_000, 0));
        assert_eq!(
            RequestClock::new(1_000).due_at(Timestamp::from_ms(7_000)),
            Timestamp::from_ms(8_000)
        );
    }
}
