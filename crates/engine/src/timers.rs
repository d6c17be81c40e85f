//! When something is due. Timers may ring early or twice: whatever they wake looks at its own
//! clock.

use super::MatchKey;
use super::watch::Topic;
use agon_core::{Millis, PlayerName, TournamentId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is due.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Timer {
    /// A deadline of a match may have passed.
    Match(MatchKey),
    /// Greetings or farewells of a tournament count as refused.
    Greeting(TournamentId),
    /// Players who have not reconnected after a pause are charged as absent.
    Resumed(TournamentId),
    /// Something of the lobby.
    Lobby,
    /// Players who have not reconnected after a restart are charged as absent.
    Reconnect,
    /// An account without a connection is logged out.
    LogOut(PlayerName),
    /// A person without a connection is charged as absent.
    Away(PlayerName),
    /// Subscribers hear which sign-ups opened.
    News,
    /// Watchers are shown what changed.
    Watch(Topic),
}

/// All timers, the earliest first.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Millis, Timer)>>,
    /// When the lobby's timer rings next: it has one at most.
    lobby_at: Option<Millis>,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Millis, timer: Timer) {
        self.heap.push(Reverse((at, timer)));
    }

    /// Sets the lobby's timer, unless it rings before.
    pub(crate) fn set_lobby(&mut self, at: Millis) {
        if self.lobby_at.is_none_or(|set| at < set) {
            self.lobby_at = Some(at);
            self.set(at, Timer::Lobby);
        }
    }

    /// When the next one rings.
    pub(crate) fn next_due(&self) -> Option<Millis> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// The next one that was due by `until`, and when it was.
    pub(crate) fn pop_due(&mut self, until: Millis) -> Option<(Millis, Timer)> {
        self.next_due().filter(|at| *at <= until)?;
        let Reverse((at, timer)) = self.heap.pop()?;
        if timer == Timer::Lobby {
            self.lobby_at = None;
        }
        Some((at, timer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_ring_in_the_order_of_their_times() {
        let mut timers = Timers::default();
        timers.set(30, Timer::News);
        timers.set_lobby(20);
        timers.set_lobby(25);
        assert_eq!(timers.next_due(), Some(20));
        assert_eq!(timers.pop_due(19), None);
        assert_eq!(timers.pop_due(40), Some((20, Timer::Lobby)));
        timers.set_lobby(25);
        assert_eq!(timers.pop_due(40), Some((25, Timer::Lobby)), "it can be set again");
        assert_eq!(timers.pop_due(40), Some((30, Timer::News)));
        assert_eq!(timers.pop_due(40), None);
    }
}
