//! Results without luck: raw and luck-adjusted points of each player, with intervals.
//!
//! The luck of a fair draw has mean zero, whoever plays and however well. So `score - luck` has the
//! same mean as `score`, and a smaller variance: luck is a control variate, as in AIVAT (Burch,
//! Schmid, Moravčík, Morrill and Bowling, 2018).
//!
//! The model values luck for a player who uses it well. Players who do not gain less from it. So the
//! luck of each kind of draw counts with a multiple that is fitted to the player's other games.
//!
//! The costs of decisions are added up for all games, also for those without measured luck.
//!
//! Duplicate games share their luck, so they are not independent: intervals count a group of them as
//! one observation.

use crate::game_report::{GameAnalysis, PlayerAnalysis};
use agon_core::{MatchId, PlayerName, TournamentId};
use agon_stats::{Controlled, Interval, without_controls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A mean over games with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of one game, or of the mean of one group of duplicate games.
    pub deviation: f64,
    /// The 95 % interval of the mean; `None` with fewer than two games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// The points per game of one player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlayerEstimate {
    /// The player.
    pub player: PlayerName,
    /// How many games count: those played to their end.
    pub games: u32,
    /// The points per game as scored.
    pub raw: Estimate,
    /// The points per game without luck.
    pub adjusted: Estimate,
    /// The mean luck per game.
    pub luck: f64,
    /// The mean cost of decisions per game.
    pub cost: f64,
}

/// The difference of points between two players, over the games that they played together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PairEstimate {
    /// The player with more adjusted points.
    pub player: PlayerName,
    /// The other player.
    pub opponent: PlayerName,
    /// How many games count.
    pub games: u32,
    /// The difference per game as scored.
    pub raw: Estimate,
    /// The difference per game without luck.
    pub adjusted: Estimate,
}

/// The costs of one player's decisions, in points of the game. The games are the sample: the
/// intervals include the errors of the model and of examining only some decisions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlayerCost {
    /// The player.
    pub player: PlayerName,
    /// How many games count: those played to their end.
    pub games: u32,
    /// How many decisions were examined.
    pub decisions: u32,
    /// How many of them were not the best.
    pub mistakes: u32,
    /// The cost of a decision.
    pub per_decision: Estimate,
    /// The cost of all decisions of a game.
    pub per_game: Estimate,
}

/// Raw and luck-adjusted results of all players, and what their decisions cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AdjustedStandings {
    /// The players, most adjusted points per game first.
    pub players: Vec<PlayerEstimate>,
    /// The pairs who met, in the order of the players.
    pub pairs: Vec<PairEstimate>,
    /// The cost of decisions, the cheapest decisions first. These players include those of games
    /// whose luck is not measured.
    #[serde(default)]
    pub costs: Vec<PlayerCost>,
}

impl AdjustedStandings {
    /// Adds up analysed games. Games that were not played to their end do not count.
    pub fn of<'a>(games: impl IntoIterator<Item = &'a GameAnalysis>) -> AdjustedStandings {
        let mut players: BTreeMap<&PlayerName, Samples> = BTreeMap::new();
        let mut pairs: BTreeMap<(&PlayerName, &PlayerName), Samples> = BTreeMap::new();
        let mut costs: BTreeMap<&PlayerName, CostSamples> = BTreeMap::new();
        for game in games.into_iter().filter(|game| game.complete) {
            for (at, one) in game.players.iter().enumerate() {
                costs.entry(&one.player).or_default().add(game, one);
                if one.adjusted.is_none() {
                    continue;
                }
                let own = players.entry(&one.player).or_default();
                own.add(game, one.score as f64, &[one]);
                own.cost += one.cost;
                for other in game.players[at + 1..].iter().filter(|other| other.adjusted.is_some())
                {
                    let (one, other) = match one.player <= other.player {
                        true => (one, other),
                        false => (other, one),
                    };
                    let pair = pairs.entry((&one.player, &other.player)).or_default();
                    pair.add(game, (one.score - other.score) as f64, &[one, other]);
                }
            }
        }
        let mut standings = AdjustedStandings {
            players: players.into_iter().map(|(player, own)| own.player(player)).collect(),
            pairs: pairs.into_iter().map(|((one, other), own)| own.pair(one, other)).collect(),
            costs: costs.into_iter().map(|(player, own)| own.cost(player)).collect(),
        };
        standings.costs.retain(|one| one.decisions > 0);
        standings.costs.sort_by(|a, b| {
            let by_cost = a.per_decision.mean.total_cmp(&b.per_decision.mean);
            by_cost.then_with(|| a.player.cmp(&b.player))
        });
        let by_points = |a: &PlayerEstimate, b: &PlayerEstimate| {
            b.adjusted.mean.total_cmp(&a.adjusted.mean).then_with(|| a.player.cmp(&b.player))
        };
        standings.players.sort_by(by_points);
        standings
    }
}

/// Games with the same luck: tournament, match, and the first of them.
type LuckGroup<'a> = (&'a TournamentId, &'a MatchId, u32);

/// The sums over the games of one group.
#[derive(Default)]
struct GroupSum {
    games: u32,
    raw: f64,
    /// The luck of one player, or of both of a pair, by kind of draw.
    luck: [Vec<f64>; 2],
}

/// Sums over games.
#[derive(Default)]
struct Samples<'a> {
    groups: BTreeMap<LuckGroup<'a>, GroupSum>,
    cost: f64,
}

impl<'a> Samples<'a> {
    /// Adds a game: the points of one player, or the difference to another one, and their luck.
    fn add(&mut self, game: &'a GameAnalysis, raw: f64, of: &[&PlayerAnalysis]) {
        let first = game.duplicate_of.unwrap_or(game.game);
        let group = self.groups.entry((&game.tournament, &game.match_id, first)).or_default();
        group.games += 1;
        group.raw += raw;
        for (sum, player) in group.luck.iter_mut().zip(of) {
            let own = &player.luck_by_draw;
            sum.resize(sum.len().max(own.len()), 0.0);
            sum.iter_mut().zip(own).for_each(|(sum, luck)| *sum += luck);
        }
    }

    fn games(&self) -> u32 {
        self.groups.values().map(|group| group.games).sum()
    }

    /// The mean luck per game of the first player.
    fn luck(&self) -> f64 {
        let sum: f64 = self.groups.values().flat_map(|group| &group.luck[0]).sum();
        sum / f64::from(self.games().max(1))
    }

    /// The mean of every group, as scored and without luck.
    fn estimates(&self) -> [Estimate; 2] {
        let all = self.groups.values().flat_map(|group| &group.luck);
        let draws = all.map(Vec::len).max().unwrap_or(0);
        let results = self.groups.values().map(|group| {
            let mean = |sum: f64| sum / f64::from(group.games);
            let of_draw = |side: &Vec<f64>, at: usize| mean(side.get(at).copied().unwrap_or(0.0));
            let sides = group.luck.iter();
            let controls = sides.flat_map(|side| (0..draws).map(move |at| of_draw(side, at)));
            Controlled { value: mean(group.raw), controls: controls.collect() }
        });
        let results: Vec<Controlled> = results.collect();
        let usual: Vec<f64> = [1.0, -1.0].into_iter().flat_map(|sign| vec![sign; draws]).collect();
        let raw: Vec<f64> = results.iter().map(|result| result.value).collect();
        [Estimate::of(&raw), Estimate::of(&without_controls(&results, &usual))]
    }

    fn player(self, player: &PlayerName) -> PlayerEstimate {
        let [raw, adjusted] = self.estimates();
        let games = self.games();
        PlayerEstimate {
            player: player.clone(),
            games,
            luck: self.luck(),
            cost: self.cost / f64::from(games.max(1)),
            raw,
            adjusted,
        }
    }

    fn pair(self, one: &PlayerName, other: &PlayerName) -> PairEstimate {
        let [raw, adjusted] = self.estimates();
        let games = self.games();
        match adjusted.mean < 0.0 {
            false => {
                PairEstimate { player: one.clone(), opponent: other.clone(), games, raw, adjusted }
            }
            true => PairEstimate {
                player: other.clone(),
                opponent: one.clone(),
                games,
                raw: raw.negated(),
                adjusted: adjusted.negated(),
            },
        }
    }
}

/// The decisions of one player in the games of one group.
#[derive(Default)]
struct CostSum {
    games: u32,
    /// The cost of the decisions that were examined.
    examined: f64,
    decisions: u32,
    mistakes: u32,
    /// The estimated cost of all decisions.
    whole: f64,
}

/// The decisions of one player, by groups of games with the same luck.
#[derive(Default)]
struct CostSamples<'a> {
    groups: BTreeMap<LuckGroup<'a>, CostSum>,
}

impl<'a> CostSamples<'a> {
    fn add(&mut self, game: &'a GameAnalysis, own: &PlayerAnalysis) {
        let first = game.duplicate_of.unwrap_or(game.game);
        let group = self.groups.entry((&game.tournament, &game.match_id, first)).or_default();
        group.games += 1;
        group.examined += own.cost / f64::from(game.every.max(1));
        group.decisions += own.decisions;
        group.mistakes += own.mistakes;
        group.whole += own.cost;
    }

    fn cost(self, player: &PlayerName) -> PlayerCost {
        let groups: Vec<CostSum> = self.groups.into_values().collect();
        let whole: Vec<f64> =
            groups.iter().map(|group| group.whole / f64::from(group.games)).collect();
        let ratio: Vec<(f64, f64)> =
            groups.iter().map(|group| (group.examined, f64::from(group.decisions))).collect();
        PlayerCost {
            player: player.clone(),
            games: groups.iter().map(|group| group.games).sum(),
            decisions: groups.iter().map(|group| group.decisions).sum(),
            mistakes: groups.iter().map(|group| group.mistakes).sum(),
            per_decision: Estimate::of_ratio(&ratio),
            per_game: Estimate::of(&whole),
        }
    }
}

impl Estimate {
    /// The estimate of a ratio of two sums from one pair of values per game, such as cost and
    /// decisions. The interval is that of the linearised ratio, so games of all lengths fit.
    pub fn of_ratio(values: &[(f64, f64)]) -> Estimate {
        let [above, below] = [0, 1].map(|at| -> f64 {
            values.iter().map(|(one, other)| if at == 0 { one } else { other }).sum()
        });
        let mean = if below > 0.0 { above / below } else { 0.0 };
        let size = below / values.len().max(1) as f64;
        let linear = |(one, other): &(f64, f64)| mean + (one - mean * other) / size.max(1e-300);
        let values: Vec<f64> = values.iter().map(linear).collect();
        // The mean of the linearised values is the ratio, but for rounding.
        Estimate { mean, ..Estimate::of(&values) }
    }

    /// The estimate from one value per game; all zero without games.
    pub fn of(values: &[f64]) -> Estimate {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        let interval = (values.len() > 1).then(|| {
            let Interval { low, high } = Interval::of_mean(values, 0.95);
            [low, high]
        });
        Estimate { mean, deviation, interval }
    }

    fn negated(self) -> Estimate {
        let interval = self.interval.map(|[low, high]| [-high, -low]);
        Estimate { mean: -self.mean, deviation: self.deviation, interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_stats::RandomNumbers;

    /// A game in which Ann made these decisions, of which one of `every` was examined.
    fn game(number: u32, duplicate_of: Option<u32>, costs: &[f64], every: u32) -> GameAnalysis {
        let player = PlayerAnalysis {
            player: PlayerName::new("ann").unwrap(),
            score: 0,
            luck: None,
            luck_by_draw: Vec::new(),
            adjusted: None,
            cost: f64::from(every) * costs.iter().sum::<f64>(),
            error: 0.0,
            decisions: costs.len() as u32,
            mistakes: 1,
            costliest: Vec::new(),
        };
        GameAnalysis {
            tournament: TournamentId::from("t"),
            match_id: MatchId::from("r1m1"),
            game: number,
            duplicate_of,
            kind: "fish".into(),
            model: String::new(),
            every,
            complete: true,
            players: vec![player],
            steps: Vec::new(),
        }
    }

    #[test]
    fn costs_are_added_up_without_measured_luck() {
        let games = [game(1, None, &[1.0, 0.0], 2), game(2, None, &[2.0, 0.0, 0.0], 2)];
        let standings = AdjustedStandings::of(&games);
        assert!(standings.players.is_empty());
        let [ann] = &standings.costs[..] else { panic!("one player") };
        assert_eq!((ann.games, ann.decisions, ann.mistakes), (2, 5, 2));
        assert!((ann.per_decision.mean - 0.6).abs() < 1e-12);
        assert!((ann.per_game.mean - 3.0).abs() < 1e-12, "each examined decision counts twice");
        let [low, high] = ann.per_decision.interval.expect("two games");
        assert!(low < 0.6 && 0.6 < high);
        // Two games with the same luck are one observation.
        let pair = [game(1, None, &[1.0], 1), game(2, Some(1), &[2.0], 1)];
        assert_eq!(AdjustedStandings::of(&pair).costs[0].per_decision.interval, None);
    }

    #[test]
    fn interval_of_the_cost_of_a_decision_has_its_coverage() {
        let mut random = RandomNumbers::new(7);
        let mut hits = 0;
        for _ in 0..10_000 {
            // Games differ in length and in how hard they are; one of three decisions is examined.
            let games: Vec<GameAnalysis> = (1..=40)
                .map(|number| {
                    let (length, hard) = (20 + random.below(30), 0.5 + random.unit());
                    let mut examined = Vec::new();
                    for _ in 0..length {
                        let cost = hard * random.unit();
                        if random.below(3) == 0 {
                            examined.push(cost);
                        }
                    }
                    game(number, None, &examined, 3)
                })
                .collect();
            let costs = AdjustedStandings::of(&games).costs;
            let [low, high] = costs[0].per_decision.interval.expect("many games");
            hits += u32::from((low..=high).contains(&0.5));
        }
        let share = f64::from(hits) / 10_000.0;
        eprintln!("cost per decision: {:.2} %", share * 100.0);
        assert!((0.94..=0.96).contains(&share), "{share}");
    }
}
