//! The end of a game: scores, and ranks that may be shared.

use crate::{Seat, SeatSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The score of a running game, as everybody can see it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublicScore {
    /// The points so far by seat, without anything that is hidden or counted only at the end.
    pub points: Vec<i64>,
    /// How much of the game is over, from 0 to 100.
    pub percent: u8,
}

impl PublicScore {
    /// The score of a game of which `done` of `all` parts are over.
    pub fn new(points: Vec<i64>, done: usize, all: usize) -> PublicScore {
        PublicScore { points, percent: (100 * done.min(all) / all.max(1)) as u8 }
    }
}

/// The end of a game. A seat that was removed has a score but no rank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Points by seat.
    pub scores: Vec<i64>,
    /// Rank by seat, 1 for first; seats with equal points share a rank and the next rank counts
    /// distinct scores (1, 1, 2). `None` for seats that were removed.
    pub ranks: Vec<Option<u8>>,
}

impl Outcome {
    /// Ranks the remaining seats by score, higher is better; equal scores share a rank.
    pub fn by_score(scores: Vec<i64>, removed: SeatSet) -> Outcome {
        let staying = SeatSet::first_n(scores.len()).filter(|seat| !removed.contains(*seat));
        // One seat of each score: the first that has it.
        let first = |seat: &Seat| {
            let same = |other: &Seat| scores[other.index()] == scores[seat.index()];
            staying.clone().find(same) == Some(*seat)
        };
        let rank = |seat: Seat| {
            let better = |other: &Seat| scores[other.index()] > scores[seat.index()];
            1 + staying.clone().filter(|other| better(other) && first(other)).count() as u8
        };
        let ranks = Seat::all(scores.len())
            .map(|seat| (!removed.contains(seat)).then(|| rank(seat)))
            .collect();
        Outcome { scores, ranks }
    }

    /// The seats that share first place.
    pub fn winners(&self) -> SeatSet {
        Seat::all(self.ranks.len()).filter(|seat| self.ranks[seat.index()] == Some(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_share_a_rank_and_removed_seats_have_none() {
        let outcome = Outcome::by_score(vec![7, 9, 9, 3, 12], SeatSet::one(Seat(4)));
        assert_eq!(outcome.ranks, [Some(2), Some(1), Some(1), Some(3), None]);
        assert_eq!(outcome.winners(), SeatSet::from_iter([Seat(1), Seat(2)]));
    }
}
