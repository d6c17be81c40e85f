//! Scores of formats in which everybody plays on, and the tie-breaks between equal scores.
//!
//! A player scores 2 points for each opponent whom they beat in a match and 1 point for each
//! opponent with an equal place. So a match of two players gives 2, 1 or 0 points. At a table that
//! is smaller than the largest of its round, each empty chair counts as an opponent with an equal
//! place. A bye counts as a win against everybody at the largest table.

use super::{Field, Merit, PlayerRecord, Round};
use crate::ids::PlayerName;
use crate::plan::MatchPlan;
use crate::report::{GameEnd, How, MatchResult, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// How a format ranks players with equal scores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieBreak {
    /// The score in matches between the players who are still equal.
    HeadToHead,
    /// The sum of the scores of all opponents.
    Buchholz,
    /// The sum over all opponents of the opponent's score times the points won against them.
    SonnebornBerger,
    /// Games won.
    Games,
    /// The sum of the points of all games.
    Points,
    /// The sum of the points of all games, minus the luck in them.
    LuckAdjusted,
}

impl TieBreak {
    /// All tie-breaks.
    pub const ALL: [TieBreak; 6] = [
        TieBreak::HeadToHead,
        TieBreak::Buchholz,
        TieBreak::SonnebornBerger,
        TieBreak::Games,
        TieBreak::Points,
        TieBreak::LuckAdjusted,
    ];

    /// The tie-breaks of a format that does not name others.
    pub(super) const USUAL: [TieBreak; 4] =
        [TieBreak::Buchholz, TieBreak::SonnebornBerger, TieBreak::HeadToHead, TieBreak::Points];

    /// The name in policies and results.
    pub fn name(self) -> &'static str {
        match self {
            TieBreak::HeadToHead => "head-to-head",
            TieBreak::Buchholz => "buchholz",
            TieBreak::SonnebornBerger => "sonneborn-berger",
            TieBreak::Games => "games",
            TieBreak::Points => "points",
            TieBreak::LuckAdjusted => "luck-adjusted",
        }
    }
}

/// The score of one player so far.
#[derive(Clone, Default, Debug)]
pub(super) struct Score {
    /// The sum of points.
    pub(super) points: i64,
    /// The most points that the player could have.
    pub(super) points_max: i64,
    /// Every opponent in every match, by index, with the points won against them.
    pub(super) met: Vec<(usize, i64)>,
    /// Byes, without walkovers.
    pub(super) byes: u32,
    /// How often the player sat first, minus how often they sat last.
    pub(super) balance: i64,
    /// The sum of all seats; the first seat is 0.
    pub(super) seats: i64,
}

/// The scores of all players, by their index in the list of players.
pub(super) struct Scores<'a> {
    index: HashMap<&'a PlayerName, usize>,
    all: Vec<Score>,
}

impl<'a> Scores<'a> {
    /// Adds up the rounds.
    pub(super) fn of(players: &'a [PlayerName], rounds: &[Round]) -> Scores<'a> {
        let index = players.iter().enumerate().map(|(at, player)| (player, at)).collect();
        let mut scores = Scores { index, all: vec![Score::default(); players.len()] };
        rounds.iter().for_each(|round| scores.add_round(round));
        scores
    }

    /// The score of a player; `None` if they are not in the list.
    pub(super) fn get(&self, player: &PlayerName) -> Option<&Score> {
        self.index.get(player).map(|at| &self.all[*at])
    }

    /// The index of a player.
    pub(super) fn place(&self, player: &PlayerName) -> Option<usize> {
        self.index.get(player).copied()
    }

    fn add_round(&mut self, round: &Round) {
        let largest = round.matches.iter().map(|plan| plan.players.len()).max().unwrap_or(2);
        for (plan, result) in round.matches.iter().zip(&round.results) {
            self.add_seats(plan);
            let Some(result) = result else { continue };
            if result.how != How::Void {
                self.add_match(plan, result, largest);
            }
        }
        let full = 2 * (largest as i64 - 1);
        for bye in &round.byes {
            let player = bye.player.as_ref().and_then(|player| self.place(player));
            if let Some(at) = player {
                self.all[at].points += full;
                self.all[at].points_max += full;
                self.all[at].byes += u32::from(bye.walkover.is_none());
            }
            if let Some(at) = bye.walkover.as_ref().and_then(|loser| self.place(loser)) {
                self.all[at].points_max += full;
            }
        }
    }

    fn add_seats(&mut self, plan: &MatchPlan) {
        let last = plan.players.len() - 1;
        for (seat, player) in plan.players.iter().enumerate() {
            let Some(at) = self.place(player) else { continue };
            self.all[at].seats += seat as i64;
            self.all[at].balance += i64::from(seat == 0) - i64::from(seat == last);
        }
    }

    fn add_match(&mut self, plan: &MatchPlan, result: &MatchResult, largest: usize) {
        let places: Vec<_> =
            plan.players.iter().map(|player| place(player, plan, result)).collect();
        let empty_chairs = (largest - plan.players.len()) as i64;
        for (own, player) in plan.players.iter().enumerate() {
            let Some(at) = self.place(player) else { continue };
            self.all[at].points += empty_chairs;
            self.all[at].points_max += 2 * (largest as i64 - 1);
            for (other, opponent) in plan.players.iter().enumerate().filter(|(at, _)| *at != own) {
                let points = match places[own].cmp(&places[other]) {
                    std::cmp::Ordering::Less => 2,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 0,
                };
                self.all[at].points += points;
                if let Some(opponent) = self.place(opponent) {
                    self.all[at].met.push((opponent, points));
                }
            }
        }
    }

    fn buchholz(&self, score: &Score) -> i64 {
        score.met.iter().map(|(opponent, _)| self.all[*opponent].points).sum()
    }

    fn sonneborn_berger(&self, score: &Score) -> i64 {
        score.met.iter().map(|(opponent, won)| self.all[*opponent].points * won).sum()
    }
}

/// The place of a player in a match; less is better. Players who did not win a match of two share
/// the second place. At larger tables the games decide.
fn place(player: &PlayerName, plan: &MatchPlan, result: &MatchResult) -> (bool, i64, u8) {
    let has_lost = !result.winners.contains(player);
    if plan.players.len() == 2 || !has_lost {
        return (has_lost, 0, 0);
    }
    let seat = plan.players.iter().position(|one| one == player);
    let halves = seat.and_then(|seat| result.halves.get(seat)).copied().unwrap_or(0);
    let counted = |game: &&crate::report::GameResult| {
        game.game >= result.counts_from && game.end != GameEnd::Void
    };
    let last = result.games.iter().rfind(counted);
    let rank = last.and_then(|game| {
        let seat = game.seats.iter().position(|one| one == player)?;
        *game.ranks.get(seat)?
    });
    (has_lost, -i64::from(halves), rank.unwrap_or(u8::MAX))
}

/// The merits of all players: the score, then the tie-breaks in order.
pub(super) fn merits(
    records: &[PlayerRecord],
    field: &Field<'_>,
    tie_breaks: &[TieBreak],
) -> Vec<Merit> {
    let scores = Scores::of(field.players, field.rounds);
    let empty = Score::default();
    let own: Vec<&Score> =
        records.iter().map(|one| scores.get(&one.summary.player).unwrap_or(&empty)).collect();
    let places: Vec<Option<usize>> =
        records.iter().map(|one| scores.place(&one.summary.player)).collect();
    let mut merits: Vec<Merit> = own.iter().map(|score| vec![score.points]).collect();
    for tie_break in tie_breaks {
        let values: Vec<i64> = match tie_break {
            TieBreak::Buchholz => own.iter().map(|score| scores.buchholz(score)).collect(),
            TieBreak::SonnebornBerger => {
                own.iter().map(|score| scores.sonneborn_berger(score)).collect()
            }
            TieBreak::Games => records.iter().map(|one| one.summary.games_won.into()).collect(),
            TieBreak::Points => records.iter().map(|one| one.summary.points).collect(),
            TieBreak::LuckAdjusted => {
                let luck = luck(field.rounds);
                let of = |player| luck.get(player).copied().unwrap_or(0);
                records.iter().map(|one| one.summary.points - of(&one.summary.player)).collect()
            }
            TieBreak::HeadToHead => head_to_head(&own, &places, &merits),
        };
        merits.iter_mut().zip(values).for_each(|(merit, value)| merit.push(value));
    }
    merits
}

/// The luck of each player, over the games whose points count.
fn luck(rounds: &[Round]) -> HashMap<&PlayerName, i64> {
    let results = rounds.iter().flat_map(|round| round.results.iter().flatten());
    let games = results
        .filter(|result| result.how != How::Void)
        .flat_map(|result| result.games.iter().filter(|game| game.game >= result.counts_from));
    let mut sums = HashMap::new();
    for game in games.filter(|game| game.end != GameEnd::Void) {
        for (player, luck) in game.seats.iter().zip(&game.luck) {
            *sums.entry(player).or_default() += luck;
        }
    }
    sums
}

/// The points of each player against the players who have the same merit so far.
fn head_to_head(own: &[&Score], places: &[Option<usize>], merits: &[Merit]) -> Vec<i64> {
    let mut by_place: BTreeMap<usize, &Merit> = BTreeMap::new();
    for (place, merit) in places.iter().zip(merits) {
        by_place.extend(place.map(|place| (place, merit)));
    }
    let against_equals = |(score, merit): (&&Score, &Merit)| {
        let equals = score.met.iter().filter(|(other, _)| by_place.get(other) == Some(&merit));
        equals.map(|(_, points)| points).sum()
    };
    own.iter().zip(merits).map(against_equals).collect()
}

/// A merit of [`merits`] for people.
pub(super) fn shown(merit: &[i64], tie_breaks: &[TieBreak]) -> Vec<TieBreakValue> {
    let names = std::iter::once("score").chain(tie_breaks.iter().map(|one| one.name()));
    let named = names.zip(merit);
    named.map(|(by, number)| value(by, *number)).collect()
}

/// A number with its name.
pub(super) fn value(by: &str, value: i64) -> TieBreakValue {
    TieBreakValue { by: by.into(), value }
}

/// Checks that no tie-break is named twice; the error names it.
pub(super) fn check(tie_breaks: &[TieBreak]) -> Result<(), String> {
    for (at, tie_break) in tie_breaks.iter().enumerate() {
        if tie_breaks[..at].contains(tie_break) {
            return Err(format!("the tie-break {} is named twice", tie_break.name()));
        }
    }
    Ok(())
}

/// Number and noun: `1 point`, `2 points`.
pub(super) fn points(count: i64) -> String {
    format!("{count} point{}", if count == 1 { "" } else { "s" })
}
