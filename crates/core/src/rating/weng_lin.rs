//! The Bayesian approximation of Weng and Lin with the Plackett–Luce model, for games of several
//! (R. C. Weng and C.-J. Lin, "A Bayesian Approximation Method for Online Ranking", algorithm 4).
//!
//! The model reads a game as a series of choices: who is first among all, who is first among the
//! rest, and so on. Players who share a place share its choice. Only differences of values and
//! ratios of deviations matter, so the scale is free; here it is that of Glicko-2.

use super::Rating;
use agon_stats::elementary::exp;
use serde::{Deserialize, Serialize};

/// The lower bound of the fraction of a variance that one game leaves.
const VARIANCE_LEFT_MIN: f64 = 1e-4;

/// The constants of the system.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WengLin {
    /// How much performances vary around a player's strength, β in the paper.
    pub performance: f64,
    /// How much a player's strength may have changed since their last period. It keeps deviations
    /// from shrinking to zero.
    pub drift: f64,
}

impl Default for WengLin {
    fn default() -> WengLin {
        let deviation = Rating::START.deviation;
        WengLin { performance: deviation / 2.0, drift: deviation / 100.0 }
    }
}

/// The change of one player's rating by one game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shift {
    /// The number to add to the value.
    pub value: f64,
    /// The factor for the variance, which is the square of the deviation.
    pub variance: f64,
}

impl Shift {
    /// No change.
    pub const NONE: Shift = Shift { value: 0.0, variance: 1.0 };

    /// Combines both changes.
    #[must_use]
    pub fn and(self, other: Shift) -> Shift {
        Shift { value: self.value + other.value, variance: self.variance * other.variance }
    }
}

impl WengLin {
    /// A rating at the start of a period: a little less certain than before.
    #[must_use]
    pub fn drifted(&self, rating: &Rating) -> Rating {
        let variance = rating.deviation * rating.deviation + self.drift * self.drift;
        Rating { deviation: variance.sqrt(), ..*rating }
    }

    /// The change of each player's rating by a game. Players come with their place: lower is
    /// better, equal is shared. Sums follow the given order.
    pub fn shifts(&self, players: &[(Rating, u32)]) -> Vec<Shift> {
        let ratings = || players.iter().map(|(rating, _)| rating);
        let variances = ratings().map(|rating| rating.deviation * rating.deviation);
        let noise = self.performance * self.performance;
        let spread = variances.map(|variance| variance + noise).sum::<f64>().sqrt();
        let best = ratings().map(|rating| rating.value).fold(f64::NEG_INFINITY, f64::max);
        let strengths = ratings().map(|rating| exp((rating.value - best) / spread));
        let strengths: Vec<f64> = strengths.collect();
        let choices: Vec<Choice> =
            players.iter().map(|(_, place)| Choice::of(*place, players, &strengths)).collect();
        let shifts = players.iter().enumerate().map(|(at, (rating, place))| {
            let (mut surprise, mut information) = (0.0, 0.0);
            for (chosen, choice) in choices.iter().enumerate() {
                if choice.place <= *place {
                    let chance = strengths[at] / choice.strength;
                    let won = if chosen == at { 1.0 } else { 0.0 };
                    surprise += (won - chance) / choice.shared;
                    information += chance * (1.0 - chance) / choice.shared;
                }
            }
            let share = rating.deviation / spread;
            let lost = share * share * share * information;
            Shift {
                value: rating.deviation * share * surprise,
                variance: (1.0 - lost).max(VARIANCE_LEFT_MIN),
            }
        });
        shifts.collect()
    }

    /// The rating after a period with this change.
    #[must_use]
    pub fn shifted(&self, rating: &Rating, shift: Shift) -> Rating {
        Rating {
            value: rating.value + shift.value,
            deviation: rating.deviation * shift.variance.sqrt(),
            ..*rating
        }
    }
}

/// One of the choices in a game.
struct Choice {
    place: u32,
    /// How many players share the place.
    shared: f64,
    /// The sum of the strengths of all players who could still be chosen.
    strength: f64,
}

impl Choice {
    fn of(place: u32, players: &[(Rating, u32)], strengths: &[f64]) -> Choice {
        let shared = players.iter().filter(|(_, other)| *other == place).count() as f64;
        let still_there = players.iter().zip(strengths).filter(|((_, other), _)| *other >= place);
        Choice { place, shared, strength: still_there.map(|(_, strength)| strength).sum() }
    }
}
