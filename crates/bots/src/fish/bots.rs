//! The players: they place on the first free tile and move as the search decides.

use super::search::best_action_within;
use crate::house::{Ask, Bot};
use agon_games::fish::{Answer, Fish, Question, View};
use agon_games::{Game, Seat};

/// The most positions a player examines for one move, about a second. Beyond that it uses a
/// shallower search. Depth 2 hardly ever reaches this limit, on any board.
const POSITIONS_MAX: u64 = 10_000_000;

/// Looks some of its own moves ahead, assuming that every opponent plays against it.
#[derive(Clone, Debug)]
pub struct Searcher {
    depth: u32,
}

impl Searcher {
    /// The deepest search.
    pub const DEPTH_MAX: u32 = 6;

    /// A player that looks `depth` of its own moves ahead; `None` unless that is 1 to
    /// [`Searcher::DEPTH_MAX`].
    pub fn new(depth: u32) -> Option<Searcher> {
        (1..=Self::DEPTH_MAX).contains(&depth).then_some(Searcher { depth })
    }

    /// The player called `search:D`, or `search`, which looks two moves ahead.
    pub fn named(name: &str) -> Option<Searcher> {
        let depth = name.strip_prefix("search")?;
        match depth.strip_prefix(':') {
            // Each depth has exactly one spelling: no sign, no leading zeros.
            Some(digits) if digits.len() == 1 => Searcher::new(digits.parse().ok()?),
            None if depth.is_empty() => Searcher::new(2),
            _ => None,
        }
    }
}

impl Bot<Fish> for Searcher {
    fn answer(&mut self, ask: &Ask<'_, Fish>) -> Answer {
        answer(ask.seat, ask.question, ask.view, self.depth)
    }
}

/// Takes the most fish with its next move: a search of depth 1.
#[derive(Clone, Debug, Default)]
pub struct Greedy;

impl Bot<Fish> for Greedy {
    fn answer(&mut self, ask: &Ask<'_, Fish>) -> Answer {
        answer(ask.seat, ask.question, ask.view, 1)
    }
}

/// Places on the richest free tile, the first of several, and looks two own moves ahead.
#[derive(Clone, Debug, Default)]
pub struct Richest;

impl Bot<Fish> for Richest {
    fn answer(&mut self, ask: &Ask<'_, Fish>) -> Answer {
        let Question::Place = ask.question else {
            return answer(ask.seat, ask.question, ask.view, 2);
        };
        let (ice, _) = ask.view.state(ask.seat).on_ice();
        let richest = ice.free().iter().min_by_key(|tile| std::cmp::Reverse(ice.fish(*tile)));
        // As above: a request without a free tile is a bug of the server.
        richest.map_or(Answer::Ok, |tile| Answer::Place(ice.shape().position(tile)))
    }
}

fn answer(seat: Seat, question: &Question, view: &View, depth: u32) -> Answer {
    let best = match question {
        Question::Move => best_action_within(&view.state(seat), depth, POSITIONS_MAX),
        _ => None,
    };
    // Placements are listed row by row. A question without a legal answer is a bug of the server,
    // and any answer is good enough.
    best.map(Answer::Move)
        .or_else(|| Fish::legal_in(question, view).into_iter().next())
        .unwrap_or(Answer::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_the_depth() {
        let depth = |name| Searcher::named(name).map(|player| player.depth);
        assert_eq!(depth("search"), Some(2));
        assert_eq!(depth("search:1"), Some(1));
        assert_eq!(depth("search:6"), Some(6));
        for name in ["search:0", "search:7", "search:02", "search:+2", "search:", "searcher", ""] {
            assert_eq!(depth(name), None, "{name}");
        }
    }
}
