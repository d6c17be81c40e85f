//! Results without luck: raw and luck-adjusted points of each player, with intervals.
//!
//! The luck of a fair draw has mean zero, whoever plays and however well. So `score - luck` has the
//! same mean as `score`, and a smaller variance: luck is a control variate, as in AIVAT (Burch,
//! Schmid, Moravčík, Morrill and Bowling, 2018).
//!
//! The model values luck for a player who uses it well. Players who do not gain less from it. So the
//! luck of each kind of draw counts with a multiple that is fitted to the player's other games.
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

/// Raw and luck-adjusted results of all players.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AdjustedStandings {
    /// The players, most adjusted points per game first.
    pub players: Vec<PlayerEstimate>,
    /// The pairs who met, in the order of the players.
    pub pairs: Vec<PairEstimate>,
}

impl AdjustedStandings {
    /// Adds up analysed games. Games that were not played to their end do not count.
    pub fn of<'a>(games: impl IntoIterator<Item = &'a GameAnalysis>) -> AdjustedStandings {
        let mut players: BTreeMap<&PlayerName, Samples> = BTreeMap::new();
        let mut pairs: BTreeMap<(&PlayerName, &PlayerName), Samples> = BTreeMap::new();
        for game in games.into_iter().filter(|game| game.complete) {
            for (at, one) in game.players.iter().enumerate() {
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
        };
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

impl Estimate {
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
