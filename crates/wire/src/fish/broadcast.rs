//! The broadcasts of the message vocabulary, derived from one public view and the next: the
//! position after every placement and removal, otherwise the move and the skipped players.

use super::message::{broadcast_action, broadcast_state};
use agon_core::PlayerName;
use agon_games::Seat;
use agon_games::fish::{Action, Phase, PlayerView, View};

/// The last view of a game that its listeners know of.
#[derive(Clone, Debug, Default)]
pub struct Broadcasts {
    last: Option<Seen>,
}

#[derive(Clone, Debug)]
struct Seen {
    phase: Phase,
    turn: Option<Seat>,
    players: Vec<PlayerView>,
}

impl Broadcasts {
    /// Starts without a view. A listener who joins in the middle of a game first gets the position.
    pub fn new() -> Broadcasts {
        Broadcasts::default()
    }

    /// The messages for the new public view `view`. Views may be skipped: if more than one move
    /// lies between two of them, the position is sent instead.
    pub fn next(&mut self, view: &View, names: &[PlayerName]) -> Vec<String> {
        let now = Seen { phase: view.phase, turn: view.turn, players: view.players.clone() };
        let told = match &self.last {
            None if view.players.iter().all(|player| player.places.is_empty()) => Vec::new(),
            None => vec![broadcast_state(view, names)],
            Some(last) => last.until(&now, view, names),
        };
        self.last = Some(now);
        told
    }
}

impl Seen {
    fn until(&self, now: &Seen, view: &View, names: &[PlayerName]) -> Vec<String> {
        let removed = |seen: &Seen| -> Vec<bool> {
            seen.players.iter().map(|player| player.removed).collect()
        };
        let moving = |seen: &Seen| matches!(seen.phase, Phase::Move | Phase::Over);
        if removed(self) != removed(now) || moving(self) != moving(now) {
            return vec![broadcast_state(view, names)];
        }
        if self.players == now.players {
            return Vec::new();
        }
        if !moving(now) {
            return vec![broadcast_state(view, names)];
        }
        match view.since.last() {
            Some(action) if self.leads_to(action, now) => {
                let skips = (0..self.passed_over(now)).map(|_| broadcast_action(None));
                std::iter::once(broadcast_action(Some(action))).chain(skips).collect()
            }
            _ => vec![broadcast_state(view, names)],
        }
    }

    /// Returns whether `action` of the seat to move is all that happened until `now`.
    fn leads_to(&self, action: &Action, now: &Seen) -> bool {
        let pairs = self.players.iter().zip(&now.players).enumerate();
        pairs.into_iter().all(|(at, (before, after))| {
            let mut places = before.places.clone();
            if self.turn.is_some_and(|seat| seat.index() == at) {
                match places.iter_mut().find(|place| **place == action.from) {
                    Some(place) => *place = action.to,
                    None => return false,
                }
            }
            places == after.places
        })
    }

    /// How many players were skipped between the one who moved and the next one to move. At the end
    /// of a game nobody is skipped.
    fn passed_over(&self, now: &Seen) -> usize {
        let (Some(moved), Some(next)) = (self.turn, now.turn) else { return 0 };
        let count = now.players.len();
        let after = (1..=count).map(|step| (moved.index() + step) % count);
        after
            .take_while(|seat| *seat != next.index())
            .filter(|seat| !now.players[*seat].removed)
            .count()
    }
}
