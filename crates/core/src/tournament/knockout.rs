//! Knock-out: rounds of games for several players, all first-placed finishers advance.
//!
//! Players fill games of the largest size in order. If the remaining players cannot form a game,
//! the last game is undone and tried with one player fewer, recursively. The tournament ends in one
//! of three cases: fewer players are left than a game needs; one game held all remaining players;
//! or a round has exactly the same winners as the round before.

use super::format::elimination;
use super::{
    DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, Round, TournamentFormat,
};
use crate::ids::{MatchId, PlayerName};
use crate::policy::{MatchRules, Ties};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Rounds of games for several players; all first-placed finishers advance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knockout {
    /// The fewest players of a game.
    pub min: u32,
    /// The most players of a game.
    pub max: u32,
}

impl TournamentFormat for Knockout {
    fn for_seats(seats: RangeInclusive<usize>) -> Knockout {
        Knockout { min: *seats.start() as u32, max: *seats.end() as u32 }
    }

    fn about(&self) -> &'static str {
        "Rounds of games for several players; all first-placed advance"
    }

    fn adapt(&self, rules: &mut MatchRules) {
        rules.ties = Ties::Share;
    }

    fn check(&self, rules: &MatchRules) -> Result<(), String> {
        let Knockout { min, max } = *self;
        if min < 2 || max < min || max > 16 {
            return Err(format!(
                "games of {min} to {max} players are not possible; choose a minimum of at least 2, \
                 and a maximum that is not below it and at most 16"
            ));
        }
        if rules.best_of != 1 {
            return Err(format!(
                "a knock-out plays one game a match, not best of {}; \
                 for longer matches choose the format bracket or round-robin",
                rules.best_of
            ));
        }
        match rules.ties {
            Ties::Share => Ok(()),
            Ties::Replay => {
                Err("in a knock-out all first-placed advance, so ties are not replayed; \
                                 let them share the place"
                    .into())
            }
        }
    }

    fn check_players(&self, players: usize) -> Result<(), String> {
        let Knockout { min, max } = *self;
        let groups = groups(players, min as usize, max as usize);
        match groups.is_none() && players >= min as usize {
            true if min == max => Err(format!("{players} players cannot form games of {max}")),
            true => Err(format!("{players} players cannot form games of {min} to {max}")),
            false => Ok(()),
        }
    }

    /// Later rounds may have games of any size, and so may the first if a player is out.
    fn game_sizes(&self, players: usize) -> RangeInclusive<usize> {
        self.min as usize..=players.min(self.max as usize)
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let active: Vec<PlayerName> =
            order.iter().filter(|player| !field.is_out(player)).cloned().collect();
        next(&active, field.rounds, field.next_number(), self.min as usize, self.max as usize)
    }

    /// Ranks a player who is out, and has not won, behind all others.
    fn merits(&self, records: &[PlayerRecord], _: &Field<'_>) -> Vec<Merit> {
        let merit = |record: &PlayerRecord| match record.is_out && !record.has_won {
            true => vec![0],
            false => elimination::merit(record),
        };
        records.iter().map(merit).collect()
    }

    fn eliminated<'a>(&self, round: &'a Round, _: &Field<'a>) -> Vec<(&'a PlayerName, u32)> {
        elimination::eliminated(round)
    }

    /// An estimate that lets one player advance from each game. The true number is known only after
    /// each round.
    fn matches_total(&self, players: usize, drawn: &[usize]) -> MatchCount {
        let mut left = drawn.last().copied().unwrap_or(players);
        let mut later = 0;
        while left > 1 {
            left = left.div_ceil(self.max.max(2) as usize);
            later += left;
        }
        let matches = drawn.iter().sum::<usize>() + later;
        MatchCount { matches, is_exact: !drawn.is_empty() && later == 0 }
    }
}

/// The sizes of the games of a round for `players`, each from `min` to `max`; `None` if not
/// everybody can be seated.
fn groups(players: usize, min: usize, max: usize) -> Option<Vec<usize>> {
    // Some number of games must seat them all: games × min ≤ players ≤ games × max.
    let seatable = |rest: usize| rest == 0 || rest.div_ceil(max) * min <= rest;
    if players == 0 || !seatable(players) {
        return None;
    }
    let mut sizes = Vec::new();
    let mut rest = players;
    while rest > 0 {
        let size = (min..=max.min(rest)).rev().find(|size| seatable(rest - size))?;
        sizes.push(size);
        rest -= size;
    }
    Some(sizes)
}

fn next(active: &[PlayerName], rounds: &[Round], round: u32, min: usize, max: usize) -> NextRound {
    let advancing: Vec<PlayerName> = match rounds.last() {
        None => active.to_vec(),
        Some(last) => {
            let won = winners(last);
            active.iter().filter(|player| won.contains(player)).cloned().collect()
        }
    };
    if let Some(last) = rounds.last() {
        // Compares the winners as they were when each round ended: a winner who is out since then
        // still counts.
        let before = rounds.len().checked_sub(2).map(|at| winners(&rounds[at]));
        if last.matches.len() == 1 || before == Some(winners(last)) {
            return NextRound::Winners(advancing);
        }
    }
    let Some(sizes) = groups(advancing.len(), min, max) else {
        return NextRound::Winners(advancing);
    };
    let count = sizes.len();
    let mut from = 0;
    let pairings = sizes.iter().enumerate().map(|(at, size)| {
        let players = advancing[from..from + size].to_vec();
        let (first, last) = (from + 1, from + size);
        from += size;
        let whole = advancing.len();
        let reason = match count {
            1 => format!("all {whole} players left fit into one game, the last"),
            _ => format!("players {first} to {last} of {whole} by age, in games of {min} to {max}"),
        };
        DrawnMatch { id: MatchId::of(round, at as u32 + 1), players, reason }
    });
    NextRound::Round(pairings.collect(), Vec::new())
}

/// Everybody who won a game of a round.
fn winners(round: &Round) -> BTreeSet<&PlayerName> {
    round.results.iter().flatten().flat_map(|result| &result.winners).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation: it undoes the last game, as the rules say.
    fn by_taking_back(players: usize, min: usize, max: usize) -> Option<Vec<usize>> {
        if players == 0 {
            return Some(Vec::new());
        }
        (min..=max.min(players)).rev().find_map(|size| {
            let mut rest = by_taking_back(players - size, min, max)?;
            rest.insert(0, size);
            Some(rest)
        })
    }

    #[test]
    fn groups_are_those_of_the_rules() {
        for (players, min, max, sizes) in [
            (5, 2, 4, vec![3, 2]),
            (6, 2, 4, vec![4, 2]),
            (7, 2, 4, vec![4, 3]),
            (9, 2, 4, vec![4, 3, 2]),
            (10, 2, 4, vec![4, 4, 2]),
            (9, 2, 8, vec![7, 2]),
            (10, 2, 8, vec![8, 2]),
            (17, 2, 8, vec![8, 7, 2]),
            (6, 3, 5, vec![3, 3]),
            (7, 3, 5, vec![4, 3]),
            (11, 3, 5, vec![5, 3, 3]),
            (26, 6, 8, vec![8, 6, 6, 6]),
        ] {
            assert_eq!(groups(players, min, max), Some(sizes), "{players} in {min}–{max}");
        }
    }

    #[test]
    fn groups_agree_with_taking_back_and_with_each_other() {
        for min in 2..7 {
            for max in min..10 {
                for players in 1..40 {
                    let expected = by_taking_back(players, min, max);
                    assert_eq!(groups(players, min, max), expected, "{players} in {min}–{max}");
                }
            }
        }
        assert_eq!(groups(100_000, 2, 4).map(|sizes| sizes.iter().sum()), Some(100_000));
    }

    #[test]
    fn games_are_filled_in_order_and_say_so() {
        let players = |count: usize| -> Vec<PlayerName> {
            (1..=count).map(|number| PlayerName::new(&number.to_string()).unwrap()).collect()
        };
        let shown = |count: usize| match next(&players(count), &[], 1, 2, 4) {
            NextRound::Round(pairings, byes) => {
                assert!(byes.is_empty());
                let shown = pairings.iter().map(|one| {
                    let players: Vec<&str> = one.players.iter().map(PlayerName::as_str).collect();
                    format!("{} {}: {}", one.id, players.join(" "), one.reason)
                });
                shown.collect::<Vec<_>>()
            }
            NextRound::Winners(winners) => vec![format!("{} win", winners.len())],
            NextRound::StageRound(..) => unreachable!("a knock-out has no stages"),
        };
        assert_eq!(
            shown(7),
            [
                "r1m1 1 2 3 4: players 1 to 4 of 7 by age, in games of 2 to 4",
                "r1m2 5 6 7: players 5 to 7 of 7 by age, in games of 2 to 4",
            ]
        );
        assert_eq!(shown(3), ["r1m1 1 2 3: all 3 players left fit into one game, the last"]);
        assert_eq!((shown(1), shown(0)), (vec!["1 win".into()], vec!["0 win".to_owned()]));
    }
}
