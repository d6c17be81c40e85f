//! Swiss: a fixed number of rounds in which players with similar scores meet.
//!
//! In matches of two the pairing of a round is the best of all pairings (`crate::matching`). These
//! criteria count in this order:
//!
//! 1. as few second byes as possible,
//! 2. as few rematches as possible,
//! 3. the smallest sum of squared differences of scores,
//! 4. the most even seats: who sat first often sits last now.
//!
//! Among equally good pairings, the upper half of the players with one score meets the lower half.
//! Larger tables are filled in order of score, and improved by a search for the best division of
//! the players (`crate::division`). Its criteria are the same, but for the seats.

use super::scores::{self, Score, Scores, TieBreak};
use super::{DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, TournamentFormat};
use crate::division::{self, BYE, Division, REMATCH};
use crate::ids::{MatchId, PlayerName};
use crate::matching::{self, Cost, Matching};
use crate::policy::{MatchRules, Ties};
use crate::report::{Bye, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// A fixed number of rounds in which players with similar scores meet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Swiss {
    /// How many rounds; `None` is enough to have one player without a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The fewest players of a match.
    #[serde(default = "two")]
    pub min: u32,
    /// The most players of a match.
    #[serde(default = "two")]
    pub max: u32,
    /// The tie-breaks between players with equal scores, in order.
    #[serde(default = "usual_tie_breaks")]
    pub tie_breaks: Vec<TieBreak>,
}

fn two() -> u32 {
    2
}

pub(super) fn usual_tie_breaks() -> Vec<TieBreak> {
    TieBreak::USUAL.to_vec()
}

impl Default for Swiss {
    fn default() -> Swiss {
        Swiss { rounds: None, min: 2, max: 2, tie_breaks: usual_tie_breaks() }
    }
}

impl TournamentFormat for Swiss {
    fn for_seats(seats: RangeInclusive<usize>) -> Swiss {
        match seats.contains(&2) {
            true => Swiss::default(),
            false => {
                let (min, max) = (*seats.start() as u32, *seats.end() as u32);
                Swiss { min, max, ..Swiss::default() }
            }
        }
    }

    fn about(&self) -> &'static str {
        "A fixed number of rounds; players with similar scores meet"
    }

    fn adapt(&self, rules: &mut MatchRules) {
        if self.max > 2 {
            rules.ties = Ties::Share;
            rules.best_of = 1;
        }
    }

    fn check(&self, rules: &MatchRules) -> Result<(), String> {
        let Swiss { min, max, .. } = *self;
        if min < 2 || max < min || max > 16 {
            return Err(format!(
                "matches of {min} to {max} players are not possible; choose a minimum of at least \
                 2, and a maximum that is not below it and at most 16"
            ));
        }
        if self.rounds.is_some_and(|rounds| !(1..=1_000).contains(&rounds)) {
            return Err("a Swiss tournament has 1 to 1000 rounds".into());
        }
        if max > 2 && (rules.best_of != 1 || rules.ties != Ties::Share) {
            return Err(
                "tables of more than two play one game a match, and first places are shared: \
                 best_of = 1, ties = \"share\""
                    .into(),
            );
        }
        scores::check(&self.tie_breaks)
    }

    fn players_min(&self) -> usize {
        self.min as usize
    }

    fn game_sizes(&self, players: usize) -> RangeInclusive<usize> {
        self.min as usize..=players.min(self.max as usize)
    }

    /// Players who enter late have no points for the rounds they missed.
    fn check_late_entry(&self, field: &Field<'_>) -> Result<(), &'static str> {
        match field.rounds.len() < self.rounds_for(field.players.len()) {
            true => Ok(()),
            false => Err("the last round has begun"),
        }
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let active: Vec<&PlayerName> =
            order.iter().filter(|player| !field.is_out(player)).collect();
        let total = self.rounds_for(order.len());
        if field.rounds.len() >= total || active.len() < self.min as usize {
            return NextRound::Winners(field.leaders(self));
        }
        let drawing = Drawing::new(&active, field, total);
        let (matches, byes) = match self.max {
            2 => drawing.pairs(),
            _ => drawing.tables(self.min as usize, self.max as usize),
        };
        NextRound::Round(matches, byes)
    }

    fn has_earlier_pairings(&self) -> bool {
        self.max > 2
    }

    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        scores::merits(records, field, &self.tie_breaks)
    }

    fn measures_luck(&self) -> bool {
        self.tie_breaks.contains(&TieBreak::LuckAdjusted)
    }

    fn shown(&self, merit: &[i64]) -> Vec<TieBreakValue> {
        scores::shown(merit, &self.tie_breaks)
    }

    fn matches_total(&self, players: usize, drawn: &[usize]) -> MatchCount {
        let matches = players.div_ceil(self.max as usize);
        let matches = if self.max == 2 { players / 2 } else { matches };
        let total = matches * self.rounds_for(players);
        MatchCount { matches: total.max(drawn.iter().sum()), is_exact: false }
    }
}

impl Swiss {
    /// The number of rounds: by default, as many as a knock-out of these players has.
    fn rounds_for(&self, players: usize) -> usize {
        if let Some(rounds) = self.rounds {
            return rounds as usize;
        }
        let (mut rounds, mut held) = (0, 1);
        while held < players {
            held *= self.max as usize;
            rounds += 1;
        }
        rounds.max(1)
    }
}

/// A player in a round that is being drawn. Players are in order of score, then of seed.
struct Seeker<'a> {
    player: &'a PlayerName,
    score: Score,
    /// The place in the list of all players, by which opponents are known.
    place: usize,
    /// How often the player met each other player.
    met: HashMap<usize, u32>,
}

impl Seeker<'_> {
    fn times_met(&self, other: &Seeker<'_>) -> u32 {
        self.met.get(&other.place).copied().unwrap_or(0)
    }
}

/// The drawing of one round.
struct Drawing<'a> {
    seekers: Vec<Seeker<'a>>,
    round: u32,
    /// The number of the round within the format, and of how many.
    of: (usize, usize),
    /// True if tables are divided as earlier versions did.
    as_earlier: bool,
}

impl<'a> Drawing<'a> {
    fn new(active: &[&'a PlayerName], field: &Field<'_>, total: usize) -> Drawing<'a> {
        let scores = Scores::of(field.players, field.rounds);
        let seekers = active.iter().filter_map(|player| {
            let (score, place) = (scores.get(player)?.clone(), scores.place(player)?);
            let mut met = HashMap::new();
            for (opponent, _) in &score.met {
                *met.entry(*opponent).or_insert(0) += 1;
            }
            Some(Seeker { player, score, place, met })
        });
        let mut seekers: Vec<Seeker<'_>> = seekers.collect();
        seekers.sort_by_key(|seeker| Reverse(seeker.score.points));
        let of = (field.rounds.len() + 1, total);
        Drawing { seekers, round: field.next_number(), of, as_earlier: field.as_earlier }
    }

    fn pairs(&self) -> (Vec<DrawnMatch>, Vec<Bye>) {
        let count = self.seekers.len();
        let (mut matches, mut byes) = (Vec::new(), Vec::new());
        for (one, other) in best_pairs(&self.seekers) {
            if other == count {
                byes.push(self.bye(one, format!("{count} players: one sits out")));
                continue;
            }
            let number = matches.len() as u32 + 1;
            let [first, last] = self.seats(one, other, number);
            matches.push(DrawnMatch {
                id: MatchId::of(self.round, number),
                players: vec![first.player.clone(), last.player.clone()],
                reason: self.pair_reason(one, other),
            });
        }
        (matches, byes)
    }

    /// The player who sat first less often sits first. Between equals the matches alternate.
    fn seats(&self, one: usize, other: usize, number: u32) -> [&Seeker<'a>; 2] {
        let (one, other) = (&self.seekers[one], &self.seekers[other]);
        let one_first = match one.score.balance.cmp(&other.score.balance) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => (self.round + number).is_multiple_of(2),
            std::cmp::Ordering::Greater => false,
        };
        if one_first { [one, other] } else { [other, one] }
    }

    fn bye(&self, at: usize, why: String) -> Bye {
        let Seeker { player, score, .. } = &self.seekers[at];
        let before = match score.byes {
            0 => "has had no bye before",
            _ => "has had a bye before, as has everybody who could sit out instead",
        };
        let reason = format!("{why}; {player} has {} and {before}", scores::points(score.points));
        Bye { player: Some((*player).clone()), reason, walkover: None }
    }

    fn pair_reason(&self, one: usize, other: usize) -> String {
        let (one, other) = (&self.seekers[one], &self.seekers[other]);
        let (high, low) = (one.score.points, other.score.points);
        let scores = match high == low {
            true => format!("both have {}", scores::points(high)),
            false => format!("{} against {}", scores::points(high), scores::points(low)),
        };
        let again = match one.times_met(other) {
            0 => "",
            _ => "; they meet again, since a round without rematches is impossible",
        };
        format!("{}: {scores}{again}", self.round_name())
    }

    fn round_name(&self) -> String {
        format!("round {} of {}", self.of.0, self.of.1)
    }

    fn tables(&self, min: usize, max: usize) -> (Vec<DrawnMatch>, Vec<Bye>) {
        let count = self.seekers.len();
        let seated = (0..=count).rev().find(|seated| seated.div_ceil(max) * min <= *seated);
        let idle = count - seated.unwrap_or(0);
        // The players with the fewest byes sit out, and among these the lowest in order.
        let mut last: Vec<usize> = (0..count).rev().collect();
        last.sort_by_key(|at| self.seekers[*at].score.byes);
        last.truncate(idle);
        let left: Vec<usize> = (0..count).filter(|at| !last.contains(at)).collect();
        let mut tables = self.fill(&left, left.len().div_ceil(max));
        self.improve(&mut tables);
        let mut division = Division { tables, idle: last, is_proven: false };
        if !self.as_earlier {
            division = division::improved(self, division);
            // The table of the first player comes first.
            division.tables.sort_by_key(|table| table.iter().copied().min());
            division.idle.sort_by_key(|at| Reverse(*at));
        }
        let why = format!("{count} players: {idle} sit out of games of {min} to {max}");
        let byes = division.idle.iter().map(|at| self.bye(*at, why.clone())).collect();
        let again = match (self.as_earlier, division.is_proven) {
            (true, _) => "since no exchange of players avoids it",
            (false, true) => "since a round without rematches is impossible",
            (false, false) => "since no round without rematches was found",
        };
        let matches = division.tables.into_iter().zip(1..).map(|(mut table, number)| {
            // Players who sat late so far sit early.
            table.sort_by_key(|at| (Reverse(self.seekers[*at].score.seats), *at));
            DrawnMatch {
                id: MatchId::of(self.round, number),
                reason: self.table_reason(&table, again),
                players: table.iter().map(|at| self.seekers[*at].player.clone()).collect(),
            }
        });
        (matches.collect(), byes)
    }

    /// Fills tables whose sizes differ by one at most: in order of score, and in the first round
    /// such that every table has players from the whole order.
    fn fill(&self, left: &[usize], count: usize) -> Vec<Vec<usize>> {
        if self.of.0 == 1 {
            let mut tables = vec![Vec::new(); count];
            left.iter().enumerate().for_each(|(at, seeker)| tables[at % count].push(*seeker));
            return tables;
        }
        let (small, large) = (left.len() / count.max(1), left.len() % count.max(1));
        let mut rest = left;
        let sizes = (0..count).map(|table| small + usize::from(table < large));
        let tables = sizes.map(|size| {
            let (table, others) = rest.split_at(size);
            rest = others;
            table.to_vec()
        });
        tables.collect()
    }

    /// Exchanges players of tables that are close in order while that lowers the cost.
    fn improve(&self, tables: &mut [Vec<usize>]) {
        const REACH: usize = 4;
        const PASSES: usize = 30;
        for _ in 0..PASSES {
            let mut is_better = false;
            for one in 0..tables.len() {
                for other in one + 1..tables.len().min(one + 1 + REACH) {
                    is_better |= self.exchange(tables, one, other);
                }
            }
            if !is_better {
                return;
            }
        }
    }

    fn exchange(&self, tables: &mut [Vec<usize>], one: usize, other: usize) -> bool {
        let mut is_better = false;
        for left in 0..tables[one].len() {
            for right in 0..tables[other].len() {
                let before = self.table_cost(&tables[one]) + self.table_cost(&tables[other]);
                let (here, there) = (tables[one][left], tables[other][right]);
                (tables[one][left], tables[other][right]) = (there, here);
                let after = self.table_cost(&tables[one]) + self.table_cost(&tables[other]);
                match after < before {
                    true => is_better = true,
                    false => (tables[one][left], tables[other][right]) = (here, there),
                }
            }
        }
        is_better
    }

    /// The cost of a table: rematches, then squared differences of scores.
    fn table_cost(&self, table: &[usize]) -> Cost {
        let others = |at: usize| table[at + 1..].iter().map(move |other| (table[at], *other));
        let pairs = (0..table.len()).flat_map(others);
        pairs.map(|(one, other)| division::Costs::pair(self, one, other)).sum()
    }

    fn table_reason(&self, table: &[usize], why_again: &str) -> String {
        let points = || table.iter().map(|at| self.seekers[*at].score.points);
        let (least, most) = (points().min().unwrap_or(0), points().max().unwrap_or(0));
        let scores = match least == most {
            true => format!("everybody at the table has {}", scores::points(most)),
            false => format!("players with {least} to {}", scores::points(most)),
        };
        let met = |(at, one): (usize, &usize)| {
            table[at + 1..]
                .iter()
                .any(|other| self.seekers[*one].times_met(&self.seekers[*other]) > 0)
        };
        let again = match table.iter().enumerate().any(met) {
            true => format!("; some of them meet again, {why_again}"),
            false => String::new(),
        };
        format!("{}: {scores}{again}", self.round_name())
    }
}

impl division::Costs for Drawing<'_> {
    fn pair(&self, one: usize, other: usize) -> Cost {
        let (one, other) = (&self.seekers[one], &self.seekers[other]);
        let difference = Cost::from(one.score.points - other.score.points);
        Cost::from(one.times_met(other)) * REMATCH + difference * difference
    }

    fn idle(&self, player: usize) -> Cost {
        let Seeker { score, .. } = &self.seekers[player];
        let least = self.seekers.last().map_or(0, |last| last.score.points);
        let above = Cost::from(score.points - least);
        Cost::from(score.byes) * BYE + above * above
    }
}

/// The costs of pairs of two. A node behind the last player is the bye.
struct PairCosts<'a> {
    seekers: &'a [Seeker<'a>],
    least: i64,
    /// The range of the balance of seats.
    seat_range: i64,
    score_unit: Cost,
    rematch_unit: Cost,
    bye_unit: Cost,
}

impl<'a> PairCosts<'a> {
    fn new(seekers: &'a [Seeker<'a>]) -> PairCosts<'a> {
        let range = |value: fn(&Seeker<'a>) -> i64| {
            let (least, most) = (seekers.iter().map(value).min(), seekers.iter().map(value).max());
            (least.unwrap_or(0), most.unwrap_or(0))
        };
        let (least, most) = range(|seeker| seeker.score.points);
        let (seat_least, seat_most) = range(|seeker| seeker.score.balance);
        let pairs = seekers.len() as Cost / 2 + 1;
        let seat_range = seat_most - seat_least;
        let met = seekers.iter().flat_map(|seeker| seeker.met.values()).max();
        // A unit is more than all lower criteria of a whole round together can cost.
        let score_unit = pairs * Cost::from(seat_range) + 1;
        let difference = Cost::from(most - least);
        let rematch_unit = score_unit * (pairs * difference * difference + 1);
        let bye_unit = rematch_unit * (pairs * Cost::from(met.copied().unwrap_or(0)) + 1);
        PairCosts { seekers, least, seat_range, score_unit, rematch_unit, bye_unit }
    }

    fn of(&self, one: usize, other: usize) -> Cost {
        let met = match (self.seekers.get(one), self.seekers.get(other)) {
            (Some(one), Some(other)) => one.times_met(other),
            _ => 0,
        };
        Cost::from(met) * self.rematch_unit + self.of_new_pair(one, other)
    }

    /// The cost of two players like these who have not met.
    fn of_new_pair(&self, one: usize, other: usize) -> Cost {
        let (one, other) = (one.min(other), one.max(other));
        let first = &self.seekers[one];
        let Some(second) = self.seekers.get(other) else {
            let above = Cost::from(first.score.points - self.least);
            return Cost::from(first.score.byes) * self.bye_unit + above * above * self.score_unit;
        };
        let difference = Cost::from(first.score.points - second.score.points);
        let uneven = self.seat_range - (first.score.balance - second.score.balance).abs();
        difference * difference * self.score_unit + Cost::from(uneven)
    }
}

/// Points, balance of seats, and byes. Two players with the same values are equally good opponents
/// for everybody they have not met.
type Kind = (i64, i64, u32);

fn kind(seeker: &Seeker<'_>) -> Kind {
    (seeker.score.points, seeker.score.balance, seeker.score.byes)
}

/// The best pairs, lower numbers first. The number behind the last player stands for the bye.
///
/// The time of a matching grows with the third power of the number of players. So most players of a
/// score with many players are paired in advance, and only the others are matched. The proof of the
/// matching is then extended to all players. If that fails, fewer players are paired in advance.
fn best_pairs(seekers: &[Seeker<'_>]) -> Vec<(usize, usize)> {
    let costs = PairCosts::new(seekers);
    let mut kept_per_score = 12;
    loop {
        let advance = InAdvance::pair(seekers, kept_per_score);
        let mut nodes = advance.left.clone();
        if nodes.len() % 2 == 1 {
            nodes.push(seekers.len());
        }
        let cost = |one: usize, other: usize| costs.of(nodes[one], nodes[other]);
        let matching = matching::cheapest(nodes.len(), cost, halves(seekers, &nodes));
        if advance.is_proven(&matching, &nodes, &costs) {
            let partners = matching.partners().iter().enumerate();
            let matched = partners.filter(|(one, other)| one < other);
            let mut pairs = advance.pairs;
            pairs.extend(matched.map(|(one, other)| (nodes[one], nodes[*other])));
            pairs.sort_unstable();
            return pairs;
        }
        kept_per_score *= 3;
    }
}

/// Pairs of the upper half of the players with one score and the lower half, by place in `nodes`.
fn halves(seekers: &[Seeker<'_>], nodes: &[usize]) -> Vec<(usize, usize)> {
    let mut by_points: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        if let Some(seeker) = seekers.get(*node) {
            by_points.entry(seeker.score.points).or_default().push(at);
        }
    }
    let halves = by_points.into_values().flat_map(|group| {
        let half = group.len() / 2;
        (0..half).map(move |at| (group[at], group[at + half])).collect::<Vec<_>>()
    });
    halves.collect()
}

/// Players who are paired before the matching, and the players who are left for it.
struct InAdvance<'a> {
    seekers: &'a [Seeker<'a>],
    pairs: Vec<(usize, usize)>,
    left: Vec<usize>,
}

impl<'a> InAdvance<'a> {
    /// Pairs players of one score who have not met, those who sat first most often with those who
    /// sat last most often, until about `kept` players of the score are left, and at least two of
    /// each kind. The players in the middle are left, because they decide the dual values.
    fn pair(seekers: &'a [Seeker<'a>], kept: usize) -> InAdvance<'a> {
        let mut by_points: BTreeMap<Reverse<i64>, Vec<usize>> = BTreeMap::new();
        let mut left_of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
        for (at, seeker) in seekers.iter().enumerate() {
            by_points.entry(Reverse(seeker.score.points)).or_default().push(at);
            *left_of_kind.entry(kind(seeker)).or_default() += 1;
        }
        let mut is_paired = vec![false; seekers.len()];
        let mut pairs = Vec::new();
        for mut group in by_points.into_values() {
            let mut left = group.len();
            group.sort_by_key(|at| Reverse(seekers[*at].score.balance));
            let half = group.len() / 2;
            let mut lower = group.split_off(group.len() - half);
            lower.sort_by_key(|at| seekers[*at].score.balance);
            let upper = &group[..half];
            for (at, one) in upper.iter().enumerate() {
                if left < kept + 2 {
                    break;
                }
                let may_leave = |seeker: usize, other: usize| {
                    let (own, theirs) = (kind(&seekers[seeker]), kind(&seekers[other]));
                    let needed = if own == theirs { 4 } else { 3 };
                    left_of_kind[&own] >= needed && left_of_kind[&theirs] >= needed
                };
                let around = (0..half).map(|step| lower[(at + step) % half]);
                let other = around.into_iter().find(|other| {
                    !is_paired[*other]
                        && seekers[*one].times_met(&seekers[*other]) == 0
                        && may_leave(*one, *other)
                });
                let Some(other) = other else { continue };
                for player in [*one, other] {
                    is_paired[player] = true;
                    *left_of_kind.entry(kind(&seekers[player])).or_default() -= 1;
                }
                pairs.push((*one.min(&other), *one.max(&other)));
                left -= 2;
            }
        }
        let left = (0..seekers.len()).filter(|at| !is_paired[*at]).collect();
        InAdvance { seekers, pairs, left }
    }

    /// Returns whether the matching of the others proves that the pairs in advance are part of a
    /// best pairing. A player who was paired in advance gets the dual values of a player of the
    /// same kind who was not. With these, no pair may be cheap enough to improve the pairing, and
    /// the pairs in advance must be among the cheapest.
    fn is_proven(&self, matching: &Matching, nodes: &[usize], costs: &PairCosts<'_>) -> bool {
        if self.pairs.is_empty() {
            return true;
        }
        let mut like: BTreeMap<Kind, usize> = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate() {
            if let Some(seeker) = self.seekers.get(*node) {
                like.entry(kind(seeker)).or_insert(at);
            }
        }
        let slack = |one: usize, other: usize| {
            matching.slack(one, other, costs.of_new_pair(nodes[one], nodes[other]))
        };
        let paired = self.pairs.iter().flat_map(|(one, other)| [*one, *other]);
        let kinds: BTreeSet<Kind> = paired.map(|at| kind(&self.seekers[at])).collect();
        let Some(like_paired) = kinds.iter().map(|kind| like.get(kind)).collect::<Option<Vec<_>>>()
        else {
            return false;
        };
        let is_dear = |one: &&usize| (0..nodes.len()).all(|other| slack(**one, other) >= 0);
        let is_cheapest = |(one, other): &(usize, usize)| {
            let (one, other) =
                (like[&kind(&self.seekers[*one])], like[&kind(&self.seekers[*other])]);
            slack(one, other) == 0 && matching.in_same_blossoms(one, other)
        };
        like_paired.iter().all(is_dear) && self.pairs.iter().all(is_cheapest)
    }
}
