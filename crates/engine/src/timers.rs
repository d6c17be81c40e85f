//! Timers. They may fire early or twice, so each handler checks its own deadline.

use super::MatchKey;
use super::cells::watch::Topic;
use agon_core::{Millis, PlayerName, RequestId, Timestamp, TournamentId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How long the engine waits before it looks at a deadline again for which input may be on its way.
pub(crate) const LATE_LOOK_MS: Millis = 10;

/// The subject of a timer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Timer {
    /// A deadline of a match may have passed.
    Match(MatchKey),
    /// Unanswered greetings or farewells of a tournament count as refused.
    Greeting(TournamentId),
    /// The time of a tournament for new rounds is over.
    PlayTime(TournamentId),
    /// Players who have not reconnected after a pause are charged as absent.
    Resumed(TournamentId),
    /// A deadline of the lobby.
    Lobby,
    /// Players who have not reconnected after a restart are charged as absent.
    Reconnect,
    /// An account without a connection is logged out.
    LogOut(PlayerName),
    /// A person without a connection is charged as absent.
    Away(PlayerName),
    /// Subscribers are notified of sign-ups that opened.
    News,
    /// The counts of cells are reported to the lobby's engine.
    Report,
    /// Watchers are shown the changes.
    Watch(Topic),
    /// A house player has waited long enough to answer a request.
    HousePace(MatchKey, RequestId),
}

/// All timers, the earliest first.
#[derive(Default)]
pub(crate) struct Timers {
    /// When each timer fires, the timer, and when it was due at first.
    heap: BinaryHeap<Reverse<(Timestamp, Timer, Timestamp)>>,
    /// When the lobby's timer fires next; there is at most one.
    lobby_at: Option<Timestamp>,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Timestamp, timer: Timer) {
        self.heap.push(Reverse((at, timer, at)));
    }

    /// Sets a timer that was due at `due` once more.
    pub(crate) fn postpone(&mut self, at: Timestamp, timer: Timer, due: Timestamp) {
        self.heap.push(Reverse((at, timer, due)));
    }

    /// Sets the lobby's timer, unless it fires before that.
    pub(crate) fn set_lobby(&mut self, at: Timestamp) {
        if self.lobby_at.is_none_or(|set| at < set) {
            self.lobby_at = Some(at);
            self.set(at, Timer::Lobby);
        }
    }

    /// When the next timer fires.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next timer that fires by `until`, and when it was due.
    pub(crate) fn pop_due(&mut self, until: Timestamp) -> Option<(Timestamp, Timer)> {
        self.next_due().filter(|at| *at <= until)?;
        let Reverse((_, timer, due)) = self.heap.pop()?;
        if timer == Timer::Lobby {
            self.lobby_at = None;
        }
        Some((due, timer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_in_order_of_time() {
        let mut timers = Timers::default();
        timers.set(Timestamp::from_ms(30), Timer::News);
        timers.set_lobby(Timestamp::from_ms(20));
        timers.set_lobby(Timestamp::from_ms(25));
        assert_eq!(timers.next_due(), Some(Timestamp::from_ms(20)));
        assert_eq!(timers.pop_due(Timestamp::from_ms(19)), None);
        assert_eq!(
            timers.pop_due(Timestamp::from_ms(40)),
            Some((Timestamp::from_ms(20), Timer::Lobby))
        );
        timers.set_lobby(Timestamp::from_ms(25));
        assert_eq!(
            timers.pop_due(Timestamp::from_ms(40)),
            Some((Timestamp::from_ms(25), Timer::Lobby)),
            "it can be set again"
        );
        assert_eq!(
            timers.pop_due(Timestamp::from_ms(40)),
            Some((Timestamp::from_ms(30), Timer::News))
        );
        assert_eq!(timers.pop_due(Timestamp::from_ms(40)), None);
    }
}
