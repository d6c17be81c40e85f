//! Gauntlet: the first players in order, the challengers, meet everybody else.
//!
//! The usual use is one new program against several known ones. The others do not meet each other.
//! Since challengers play more matches, the share of points decides, not their sum.

use super::round_robin;
use super::scores::{self, Score, Scores};
use super::{DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, TournamentFormat};
use crate::ids::{MatchId, PlayerName};
use crate::policy::MatchRules;
use crate::report::{Bye, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The first players in order meet everybody else.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gauntlet {
    /// How many challengers there are.
    #[serde(default = "round_robin::once")]
    pub challengers: u32,
    /// How often a challenger meets each of the others; seats are exchanged every time.
    #[serde(default = "round_robin::once", skip_serializing_if = "round_robin::is_once")]
    pub cycles: u32,
}

impl Default for Gauntlet {
    fn default() -> Gauntlet {
        Gauntlet { challengers: 1, cycles: 1 }
    }
}

impl TournamentFormat for Gauntlet {
    fn for_seats(_: RangeInclusive<usize>) -> Gauntlet {
        Gauntlet::default()
    }

    fn about(&self) -> &'static str {
        "One player, or a few, against all others"
    }

    fn check(&self, _: &MatchRules) -> Result<(), String> {
        if !(1..=1_000).contains(&self.challengers) {
            return Err(format!("a gauntlet has 1 to 1000 challengers, not {}", self.challengers));
        }
        round_robin::check_cycles(self.cycles)
    }

    fn players_min(&self) -> usize {
        self.challengers as usize + 1
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let (challengers, others) = order.split_at(order.len().min(self.challengers as usize));
        let rounds = challengers.len().max(others.len());
        let played = field.rounds.len();
        if others.is_empty() || played >= rounds * self.cycles as usize {
            return NextRound::Winners(field.leaders(self));
        }
        let (cycle, round) = (played / rounds, played % rounds);
        let (mut matches, mut byes) = (Vec::new(), Vec::new());
        for (at, challenger) in challengers.iter().enumerate() {
            let Some(other) = others.get((at + round) % rounds) else {
                if !field.is_out(challenger) {
                    let reason = format!(
                        "{} challengers and {} others: some challengers pause",
                        challengers.len(),
                        others.len()
                    );
                    byes.push(Bye { player: Some(challenger.clone()), reason, walkover: None });
                }
                continue;
            };
            match (field.is_out(challenger), field.is_out(other)) {
                (false, false) => {
                    let mut players = vec![challenger.clone(), other.clone()];
                    if cycle % 2 == 1 {
                        players.reverse();
                    }
                    let id = MatchId::of(field.next_number(), matches.len() as u32 + 1);
                    let reason = format!(
                        "{challenger} meets everybody else: round {} of {}",
                        played + 1,
                        rounds * self.cycles as usize
                    );
                    matches.push(DrawnMatch { id, players, reason });
                }
                (true, true) => {}
                (out, _) => {
                    let (winner, loser) =
                        if out { (other, challenger) } else { (challenger, other) };
                    let reason = format!("{loser} is out of the tournament");
                    let walkover = Some(loser.clone());
                    byes.push(Bye { player: Some(winner.clone()), reason, walkover });
                }
            }
        }
        NextRound::Round(matches, byes)
    }

    /// The share of points, then games won, then points in games. A pause counts for nothing.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        let scores = Scores::of(field.players, field.rounds);
        let merit = |record: &PlayerRecord| {
            let share = scores.get(&record.summary.player).map_or(0, share);
            vec![share, record.summary.games_won.into(), record.summary.points]
        };
        records.iter().map(merit).collect()
    }

    fn shown(&self, merit: &[i64]) -> Vec<TieBreakValue> {
        let names = ["score-per-thousand", "games", "points"].into_iter();
        names.zip(merit).map(|(by, value)| scores::value(by, *value)).collect()
    }

    fn matches_total(&self, players: usize, _: &[usize]) -> MatchCount {
        let challengers = players.min(self.challengers as usize);
        let matches = challengers * (players - challengers) * self.cycles as usize;
        MatchCount { matches, is_exact: true }
    }
}

/// The points won of a thousand possible ones.
fn share(score: &Score) -> i64 {
    let pauses = 2 * i64::from(score.byes);
    match score.points_max - pauses {
        0 => 0,
        most => (score.points - pauses) * 1_000 / most,
    }
}
