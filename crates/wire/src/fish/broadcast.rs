//! What everybody at a game is told in the message vocabulary, from one public view to the next:
//! the position after every placement and every removal, otherwise the move that was made and who
//! was passed over.

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
    /// Nothing is known yet. Whoever listens from the middle of a game is told the position first.
    pub fn new() -> Broadcasts {
        Broadcasts::default()
    }

    /// What to send now that the public view is `view`. Views may be left out: where more than one
    /// move lies between two of them, the position is told instead.
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

    /// Whether `action` of the seat to move is all that happened until `now`.
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

    /// How many players came between the one that moved and the one to move now. At the end of a
    /// game nobody is to move, and nobody was passed over.
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
