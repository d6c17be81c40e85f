//! Models of opponents for rollouts, inferred from their public actions.

use super::graph::Graph;
use super::rollout::Kind;
use crate::SplitMix64;
use agon_games::trains::{Deed, View};

/// The chance that a connection is payable, for the likelihood of "the first payable one".
const PAYABLE: f64 = 0.3;

/// The chances of the kinds of players before anything is known, of the first and of any.
const PRIOR_FIRST: f64 = 0.4;
const PRIOR_ANY: f64 = 0.2;

/// The cards that a player begins with.
pub(super) const HAND: u32 = 4;

/// A player who never acquires anything with this many cards or fewer holds cards back on purpose,
/// and is assumed to hold back at most [`HOLD_MAX`].
const HOLDS: u32 = 7;
const HOLD_MAX: u32 = 10;

/// How much more often a planner acquires a connection that touches its own than others do.
const TOUCHES: f64 = 2.0;

/// The habits of one player.
#[derive(Clone, Debug)]
pub(super) struct Habits {
    /// The chances that it is [`Kind::First`] and [`Kind::Any`]; otherwise it is a planner.
    first: f64,
    any: f64,
    /// The fewest cards it held when it acquired something, less one.
    hold: Option<u32>,
    /// The most cards it has held when it asked for more.
    idle: u32,
}

impl Habits {
    /// The habits of every seat.
    pub(super) fn of_all(graph: &Graph, view: &View) -> Vec<Habits> {
        let seats = view.players.len();
        let mut cards = vec![HAND; seats];
        let mut owner = vec![None; graph.length.len()];
        let unknown = Habits { first: PRIOR_FIRST, any: PRIOR_ANY, hold: None, idle: 0 };
        let mut habits = vec![unknown; seats];
        for action in &view.history {
            let seat = action.seat.index();
            let (Some(one), Some(held)) = (habits.get_mut(seat), cards.get_mut(seat)) else {
                continue;
            };
            match action.did {
                Deed::Drew(count) => {
                    one.idle = one.idle.max(*held);
                    *held += u32::from(count);
                }
                Deed::Acquired(connection) => {
                    let Some(at) = view.map.find(&connection) else { continue };
                    let touches = touches(graph, &owner, seat, at);
                    one.acquired(*held, &owner, at, touches);
                    owner[at] = Some(seat);
                    *held = held.saturating_sub(u32::from(connection.length.segments()));
                }
                Deed::Removed => {
                    let own = owner.iter_mut().filter(|owner| **owner == Some(seat));
                    own.for_each(|owner| *owner = None);
                }
                Deed::Picked => {}
            }
        }
        habits
    }

    /// It acquired the connection `at` while it held `held` cards. `touches` is `None` for its
    /// first one.
    fn acquired(&mut self, held: u32, owner: &[Option<usize>], at: usize, touches: Option<bool>) {
        self.hold = Some(self.hold.unwrap_or(u32::MAX).min(held.saturating_sub(1)));
        let free = |owners: &[Option<usize>]| owners.iter().filter(|one| one.is_none()).count();
        let first = PAYABLE * (1.0 - PAYABLE).powi(free(&owner[..at]) as i32) + 0.002;
        let any = 1.0 / free(owner).max(1) as f64;
        let planner = match touches {
            None => any,
            Some(true) => any * TOUCHES,
            Some(false) => any / TOUCHES,
        };
        let chances = [self.first * first, self.any * any, (1.0 - self.first - self.any) * planner];
        let sum: f64 = chances.iter().sum();
        (self.first, self.any) = (chances[0] / sum, chances[1] / sum);
    }

    /// A kind of player that it may be.
    pub(super) fn sample(&self, random: &mut SplitMix64) -> Kind {
        let luck = random.below(1 << 32) as f64 / (1u64 << 32) as f64;
        if luck < self.first {
            Kind::First { hold: self.hold(random) }
        } else if luck < self.first + self.any {
            Kind::Any
        } else {
            Kind::Planner
        }
    }

    /// How many cards it keeps before it acquires anything.
    fn hold(&self, random: &mut SplitMix64) -> u8 {
        match self.hold {
            Some(hold) if hold >= HOLDS => hold.min(HOLD_MAX) as u8,
            Some(_) => 0,
            None if self.idle >= HOLDS => HOLD_MAX as u8,
            None => (random.below(2) * u64::from(HOLD_MAX)) as u8,
        }
    }
}

/// Whether a connection touches those that `seat` holds; `None` if it holds none.
fn touches(graph: &Graph, owner: &[Option<usize>], seat: usize, at: usize) -> Option<bool> {
    let mut own = (0..owner.len()).filter(|other| owner[*other] == Some(seat)).peekable();
    own.peek()?;
    let ends = graph.ends[at];
    Some(own.any(|other| graph.ends[other].iter().any(|city| ends.contains(city))))
}
