//! Ratings: an estimate of a player's strength at a game, and its uncertainty, from results alone.
//!
//! ```text
//! MatchResult ──▶ Outcome ──┐
//! MatchResult ──▶ Outcome ──┼─ one round, one period ──▶ Ladder ──▶ Rating, history, ranking
//! MatchResult ──▶ Outcome ──┘                              └─ Glicko-2 or Weng–Lin
//! ```
//!
//! A round of a tournament is one rating period: all its results are compared with the ratings
//! before it. Everything is summed in order of names, so the same results give the same bits in any
//! order. A match is one result, however many games it had. A player who does not play in a round
//! keeps their rating: there is no clock here that could increase its uncertainty.
//!
//! Byes, walkovers and void matches never count, nor do games that were broken off: no player
//! caused them. A [setting](RatingSettings::count_forfeits) decides whether forfeits count.

pub mod glicko2;
pub mod weng_lin;

use crate::ids::{PlayerName, TournamentId};
use crate::report::{GameEnd, GameResult, How, MatchResult};
use agon_stats::Interval;
use glicko2::Glicko2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::fmt;
use weng_lin::{Shift, WengLin};

/// How strong a player is at a game. Shown with its 95 % interval, as `1512 ± 85`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(into = "WrittenRating", from = "WrittenRating")]
#[schemars(with = "WrittenRating")]
pub struct Rating {
    /// The estimate of the player's strength.
    pub value: f64,
    /// The standard error of the estimate.
    pub deviation: f64,
    /// How erratic the player's results are; only Glicko-2 uses it.
    pub volatility: f64,
}

/// A rating as JSON has it.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rating")]
struct WrittenRating {
    /// The estimate of the player's strength.
    value: f64,
    /// The standard error of the estimate.
    deviation: f64,
    /// How erratic the player's results are; only Glicko-2 uses it.
    volatility: f64,
    /// The lower bound of the 95 % interval.
    #[serde(default)]
    low: f64,
    /// The upper bound of the 95 % interval.
    #[serde(default)]
    high: f64,
}

impl From<Rating> for WrittenRating {
    fn from(rating: Rating) -> WrittenRating {
        let Rating { value, deviation, volatility } = rating;
        let Interval { low, high } = rating.interval();
        WrittenRating { value, deviation, volatility, low, high }
    }
}

impl From<WrittenRating> for Rating {
    fn from(written: WrittenRating) -> Rating {
        let WrittenRating { value, deviation, volatility, .. } = written;
        Rating { value, deviation, volatility }
    }
}

impl Rating {
    /// The rating with which every player starts.
    pub const START: Rating = Rating { value: 1_500.0, deviation: 350.0, volatility: 0.06 };

    /// The 95 % interval of the player's strength.
    pub fn interval(&self) -> Interval {
        Interval::of_normal(self.value, self.deviation, 0.95)
    }

    /// A lower bound that the player's strength very likely exceeds. Ladders use it, so that one
    /// lucky match does not lead to the top.
    pub fn conservative(&self) -> f64 {
        self.value - 2.0 * self.deviation
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, reach) = (self.value.round() as i64, self.interval().reach().round() as i64);
        f.pad(&format!("{value} ± {reach}"))
    }
}

/// How ratings follow from results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatingSystem {
    /// For games of two.
    Glicko2,
    /// For games of any number.
    WengLin,
}

impl RatingSystem {
    /// The system for a game of up to this many seats.
    pub fn for_seats(seats_max: usize) -> RatingSystem {
        if seats_max > 2 { RatingSystem::WengLin } else { RatingSystem::Glicko2 }
    }
}

/// The settings of ratings. After a change, ratings must be computed again.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RatingSettings {
    /// True if matches decided by a forfeit or a no-show count. Players who were removed from a game
    /// then count as its last.
    pub count_forfeits: bool,
    /// The lower bound of the deviation, so that every rating can still change.
    pub deviation_min: f64,
    /// For games of two.
    pub glicko2: Glicko2,
    /// For games of more.
    pub weng_lin: WengLin,
}

impl Default for RatingSettings {
    fn default() -> RatingSettings {
        RatingSettings {
            count_forfeits: true,
            deviation_min: 30.0,
            glicko2: Glicko2::default(),
            weng_lin: WengLin::default(),
        }
    }
}

impl RatingSettings {
    /// Checks that ratings can be computed with these settings; the error says why not.
    pub fn check(&self) -> Result<(), String> {
        let most = Rating::START.deviation;
        let ranges = [
            ("deviation_min", self.deviation_min, 1.0, most),
            ("glicko2.restraint", self.glicko2.restraint, 0.1, 2.0),
            ("weng_lin.performance", self.weng_lin.performance, 1.0, 10.0 * most),
            ("weng_lin.drift", self.weng_lin.drift, 0.0, most),
        ];
        let wrong = ranges.iter().find(|(_, value, low, high)| !(low..=high).contains(&value));
        wrong.map_or(Ok(()), |(name, value, low, high)| {
            Err(format!("{name} is a number from {low} to {high}, not {value}"))
        })
    }
}

/// The facts about a match that ratings need: the place of each player.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MatchPlaces {
    /// By name. Lower places are better; equal ones are shared.
    places: Vec<(PlayerName, u32)>,
}

impl MatchPlaces {
    /// The outcome of a match between `players`; `None` if it says nothing about their strength.
    ///
    /// A match decided by lot is a tie here: its games did not separate the players. Without
    /// forfeits, a match of two counts only if its winner leads in the games that were played to
    /// their end. A match of more players then counts only those who finished it.
    pub fn of(
        players: &[PlayerName],
        result: &MatchResult,
        count_forfeits: bool,
    ) -> Option<MatchPlaces> {
        let places = match result.how {
            How::Void => return None,
            How::Lot => vec![1; players.len()],
            _ => places(players, result),
        };
        let undecided = result.winners.is_empty() && places.iter().all(|place| *place == places[0]);
        if undecided {
            return None;
        }
        let places: Vec<(PlayerName, u32)> = players.iter().cloned().zip(places).collect();
        if count_forfeits {
            return MatchPlaces::from_places(places);
        }
        without_forfeits(places, result).and_then(MatchPlaces::from_places)
    }

    /// An outcome from places; `None` for fewer than two players.
    pub fn from_places(mut places: Vec<(PlayerName, u32)>) -> Option<MatchPlaces> {
        places.sort();
        (places.len() >= 2).then_some(MatchPlaces { places })
    }
}

/// The places of players in a match that is not void: winners first, players who are out last. The
/// others are ordered by their rank in the only game, or by the games they won.
pub(crate) fn places(players: &[PlayerName], result: &MatchResult) -> Vec<u32> {
    let counted: Vec<&GameResult> = counted_games(result).collect();
    let rank = |player: &PlayerName| match counted[..] {
        [only] => rank_in(only, player).unwrap_or(u8::MAX),
        _ => 0,
    };
    let merits = players.iter().enumerate().map(|(at, player)| {
        let won = result.winners.contains(player);
        let halves = result.halves.get(at).copied().unwrap_or(0);
        let among_losers = (result.out.contains(player), rank(player), Reverse(halves));
        (!won, (!won).then_some(among_losers))
    });
    let merits: Vec<_> = merits.collect();
    let better = |one| merits.iter().filter(|other| *other < one).count() as u32;
    merits.iter().map(|merit| 1 + better(merit)).collect()
}

/// The games of a match that count: not discarded by a restart, not broken off.
pub(crate) fn counted_games(result: &MatchResult) -> impl Iterator<Item = &GameResult> {
    let since_restart = result.games.iter().filter(|game| game.game >= result.counts_from);
    since_restart.filter(|game| game.end != GameEnd::Void)
}

/// The ties after which a match restarted. They decided nothing, so they were played again. They
/// count as tied games, but not for ratings.
pub(crate) fn replayed_ties(result: &MatchResult) -> impl Iterator<Item = &GameResult> {
    let before = result.games.iter().rev().filter(|game| game.game < result.counts_from);
    before.take_while(|game| game.end == GameEnd::Played && game.winners.len() > 1)
}

/// A player's rank in a game; `None` if they were removed from it, or forfeited it.
pub(crate) fn rank_in(game: &GameResult, player: &PlayerName) -> Option<u8> {
    let seat = game.seats.iter().position(|seated| seated == player)?;
    game.ranks.get(seat).copied().flatten()
}

/// The remaining places of a match when forfeits do not count.
fn without_forfeits(
    mut places: Vec<(PlayerName, u32)>,
    result: &MatchResult,
) -> Option<Vec<(PlayerName, u32)>> {
    let forfeited = |game: &GameResult| matches!(game.end, GameEnd::Forfeited { .. });
    match (result.how, &places[..]) {
        (How::Forfeit | How::NoShow | How::Void | How::Overridden, _) => return None,
        (How::Lot, _) => {}
        (How::Played, [(one, place), (other, other_place)]) => {
            let whole = |game: &&GameResult| !forfeited(game) && !game.ranks.contains(&None);
            let games: Vec<&GameResult> = counted_games(result).filter(whole).collect();
            let won = |player| games.iter().filter(|game| game.winners.contains(player)).count();
            if games.is_empty() || won(other).cmp(&won(one)) != place.cmp(other_place) {
                return None;
            }
        }
        (How::Played, _) if counted_games(result).any(forfeited) => return None,
        (How::Played, _) => places.retain(|(player, _)| {
            let finished = counted_games(result).all(|game| rank_in(game, player).is_some());
            finished && !result.out.contains(player)
        }),
    }
    Some(places)
}

/// One point of a player's chart.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RatingPoint {
    /// The tournament.
    pub tournament: TournamentId,
    /// Its round, from 1.
    pub round: u32,
    /// The rating's value after it.
    pub value: f64,
    /// The rating's deviation after it.
    pub deviation: f64,
}

/// One player's place on a ladder.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// From 1, shared by equals.
    pub rank: u32,
    /// The player.
    pub player: PlayerName,
    /// How strong.
    pub rating: Rating,
}

#[derive(Clone, PartialEq, Debug)]
struct Rated {
    rating: Rating,
    history: Vec<RatingPoint>,
}

/// The ratings of everybody who ever played a game.
#[derive(Clone, PartialEq, Debug)]
pub struct Ladder {
    system: RatingSystem,
    settings: RatingSettings,
    players: BTreeMap<PlayerName, Rated>,
}

impl Ladder {
    /// An empty ladder.
    pub fn new(system: RatingSystem, settings: RatingSettings) -> Ladder {
        Ladder { system, settings, players: BTreeMap::new() }
    }

    /// Applies all results of one round, in any order.
    pub fn apply_round(&mut self, tournament: &TournamentId, round: u32, outcomes: &[MatchPlaces]) {
        let mut outcomes: Vec<&MatchPlaces> = outcomes.iter().collect();
        outcomes.sort();
        let after = match self.system {
            RatingSystem::Glicko2 => self.after_glicko2(&outcomes),
            RatingSystem::WengLin => self.after_weng_lin(&outcomes),
        };
        let most = Rating::START.deviation.max(self.settings.deviation_min);
        for (player, mut rating) in after {
            rating.deviation = rating.deviation.clamp(self.settings.deviation_min, most);
            let Rating { value, deviation, .. } = rating;
            let point = RatingPoint { tournament: tournament.clone(), round, value, deviation };
            let rated = self.players.entry(player).or_insert(Rated { rating, history: Vec::new() });
            rated.rating = rating;
            rated.history.push(point);
        }
    }

    /// A player's rating; `None` for a player without results.
    pub fn rating(&self, player: &PlayerName) -> Option<Rating> {
        self.players.get(player).map(|rated| rated.rating)
    }

    /// A player's rating after each round in which they had a result, oldest first.
    pub fn history(&self, player: &PlayerName) -> &[RatingPoint] {
        self.players.get(player).map_or(&[], |rated| &rated.history)
    }

    /// All players, the strongest by [`Rating::conservative`] first, equals by name.
    pub fn ranking(&self) -> Vec<Ranked> {
        let ranked = self.players.iter().map(|(player, rated)| Ranked {
            rank: 0,
            player: player.clone(),
            rating: rated.rating,
        });
        let mut ranked: Vec<Ranked> = ranked.collect();
        ranked.sort_by(|one, other| by_strength(&one.rating, &other.rating));
        for at in 0..ranked.len() {
            let equal = at > 0 && by_strength(&ranked[at - 1].rating, &ranked[at].rating).is_eq();
            ranked[at].rank = if equal { ranked[at - 1].rank } else { at as u32 + 1 };
        }
        ranked
    }

    /// A player's rank, as in [`ranking`](Ladder::ranking).
    pub fn rank(&self, player: &PlayerName) -> Option<u32> {
        let own = self.rating(player)?;
        let all = self.players.values();
        let better = all.filter(|rated| by_strength(&rated.rating, &own).is_lt()).count();
        Some(better as u32 + 1)
    }

    fn before(&self, player: &PlayerName) -> Rating {
        self.rating(player).unwrap_or(Rating::START)
    }

    /// Treats a match of more than two players, if there is one, as a game of each against each.
    fn after_glicko2(&self, outcomes: &[&MatchPlaces]) -> BTreeMap<PlayerName, Rating> {
        let mut games: BTreeMap<&PlayerName, Vec<(&PlayerName, u8)>> = BTreeMap::new();
        for outcome in outcomes {
            for (player, place) in &outcome.places {
                let opponents = outcome.places.iter().filter(|(other, _)| other != player);
                let met = opponents.map(|(other, other_place)| match place.cmp(other_place) {
                    Ordering::Less => (other, 2),
                    Ordering::Equal => (other, 1),
                    Ordering::Greater => (other, 0),
                });
                games.entry(player).or_default().extend(met);
            }
        }
        let rate = |(player, mut met): (&PlayerName, Vec<(&PlayerName, u8)>)| {
            met.sort();
            let met = met.into_iter();
            let scores = met.map(|(other, halves)| (self.before(other), f64::from(halves) / 2.0));
            let scores: Vec<(Rating, f64)> = scores.collect();
            (player.clone(), self.settings.glicko2.rate(&self.before(player), &scores))
        };
        games.into_iter().map(rate).collect()
    }

    fn after_weng_lin(&self, outcomes: &[&MatchPlaces]) -> BTreeMap<PlayerName, Rating> {
        let system = &self.settings.weng_lin;
        let before = |player: &PlayerName| system.drifted(&self.before(player));
        let mut shifts: BTreeMap<&PlayerName, Shift> = BTreeMap::new();
        for outcome in outcomes {
            let players = outcome.places.iter().map(|(player, place)| (before(player), *place));
            let changes = system.shifts(&players.collect::<Vec<_>>());
            for ((player, _), change) in outcome.places.iter().zip(changes) {
                let shift = shifts.entry(player).or_insert(Shift::NONE);
                *shift = shift.and(change);
            }
        }
        let shifted = |(player, shift): (&PlayerName, Shift)| {
            (player.clone(), system.shifted(&before(player), shift))
        };
        shifts.into_iter().map(shifted).collect()
    }
}

/// Orders the stronger rating first.
fn by_strength(one: &Rating, other: &Rating) -> Ordering {
    other.conservative().total_cmp(&one.conservative())
}
