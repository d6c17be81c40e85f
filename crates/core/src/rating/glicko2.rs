//! Glicko-2, for games of two (M. Glickman, "Example of the Glicko-2 system").
//!
//! Input: one player and their games of a period. Output: the player's rating after the period. The
//! ladder decides which games count, and bounds the deviation.

use super::Rating;
use agon_stats::elementary::{exp, ln};
use serde::{Deserialize, Serialize};

/// Points of the public scale per unit of the scale of the formulas.
const SCALE: f64 = 173.717_8;
/// The tolerance of the search for the volatility; the paper uses 1e-6.
const TOLERANCE: f64 = 1e-9;
/// The most steps of the search; it needs about ten.
const STEPS_MAX: u32 = 100;
/// Expected scores stay this far from 0 and 1, so that no gap between ratings makes a variance
/// infinite.
const CERTAINTY_MAX: f64 = 1e-9;

/// The constant of the system.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Glicko2 {
    /// How fast volatilities change, τ in the paper: 0.3 to 1.2.
    pub restraint: f64,
}

impl Default for Glicko2 {
    fn default() -> Glicko2 {
        Glicko2 { restraint: 0.5 }
    }
}

/// The evidence about a player from the games of a period, on the scale of the formulas.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    /// The variance of the player's strength, from the games alone.
    variance: f64,
    /// The sum of surprises: results less expectations, each weighted by how much is known about
    /// the opponent.
    surprise: f64,
}

impl Glicko2 {
    /// The rating after a period. `games` holds the opponents' ratings before the period, and the
    /// scores: 1 for a win, 0 for a loss, ½ for a tie. Sums follow the given order.
    ///
    /// ```
    /// use agon_core::rating::{Rating, glicko2::Glicko2};
    /// let opponent = Rating::START;
    /// let after = Glicko2::default().rate(&Rating::START, &[(opponent, 1.0)]);
    /// assert_eq!(after.to_string(), "1662 ± 569");
    /// ```
    pub fn rate(&self, before: &Rating, games: &[(Rating, f64)]) -> Rating {
        if games.is_empty() {
            return *before;
        }
        let deviation = before.deviation / SCALE;
        let Evidence { variance, surprise } = evidence(before, games);
        let volatility = self.volatility(before.volatility, deviation, variance, surprise);
        let widened = deviation * deviation + volatility * volatility;
        let narrowed = 1.0 / (1.0 / widened + 1.0 / variance);
        Rating {
            value: before.value + SCALE * narrowed * surprise,
            deviation: SCALE * narrowed.sqrt(),
            volatility,
        }
    }

    /// The new volatility: the root of the paper's `f`, by the Illinois variant of false position.
    fn volatility(&self, before: f64, deviation: f64, variance: f64, surprise: f64) -> f64 {
        let start = ln(before * before);
        let improvement = variance * surprise;
        let excess = improvement * improvement - deviation * deviation - variance;
        let f = |x: f64| {
            let power = exp(x);
            let spread = deviation * deviation + variance + power;
            power * (excess - power) / (2.0 * spread * spread)
                - (x - start) / (self.restraint * self.restraint)
        };
        let mut a = start;
        let mut b = if excess > 0.0 {
            ln(excess)
        } else {
            let below = |k: u32| start - f64::from(k) * self.restraint;
            below((1..STEPS_MAX).find(|k| f(below(*k)) >= 0.0).unwrap_or(STEPS_MAX))
        };
        let (mut f_a, mut f_b) = (f(a), f(b));
        for _ in 0..STEPS_MAX {
            if (b - a).abs() <= TOLERANCE {
                break;
            }
            let c = a + (a - b) * f_a / (f_b - f_a);
            let f_c = f(c);
            if f_c * f_b <= 0.0 {
                (a, f_a) = (b, f_b);
            } else {
                f_a /= 2.0;
            }
            (b, f_b) = (c, f_c);
        }
        exp(a / 2.0)
    }
}

fn evidence(player: &Rating, games: &[(Rating, f64)]) -> Evidence {
    let (mut precision, mut surprise) = (0.0, 0.0);
    for (opponent, score) in games {
        let weight = weight(opponent.deviation / SCALE);
        let gap = (player.value - opponent.value) / SCALE;
        let expected = 1.0 / (1.0 + exp(-weight * gap));
        let expected = expected.clamp(CERTAINTY_MAX, 1.0 - CERTAINTY_MAX);
        precision += weight * weight * expected * (1.0 - expected);
        surprise += weight * (score - expected);
    }
    Evidence { variance: 1.0 / precision, surprise }
}

/// The weight of a game against an opponent of this deviation, `g` in the paper. It is 1 where the
/// opponent's strength is known exactly.
fn weight(deviation: f64) -> f64 {
    let pi = std::f64::consts::PI;
    1.0 / (1.0 + 3.0 * deviation * deviation / (pi * pi)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rating(value: f64, deviation: f64) -> Rating {
        Rating { value, deviation, volatility: 0.06 }
    }

    /// The paper rounds between its steps, so its last decimals differ from exact ones.
    fn near(ours: f64, paper: f64, by: f64) {
        assert!((ours - paper).abs() <= by, "{ours}, and the paper has {paper}");
    }

    #[test]
    fn the_steps_of_the_papers_example() {
        let games = [
            (rating(1400.0, 30.0), 1.0),
            (rating(1550.0, 100.0), 0.0),
            (rating(1700.0, 300.0), 0.0),
        ];
        for ((opponent, _), paper) in games.iter().zip([0.9955, 0.9531, 0.7242]) {
            near(weight(opponent.deviation / SCALE), paper, 5e-5);
        }
        let Evidence { variance, surprise } = evidence(&rating(1500.0, 200.0), &games);
        near(variance, 1.7785, 1e-3);
        near(variance * surprise, -0.4834, 1e-3);
        let system = Glicko2::default();
        near(system.volatility(0.06, 200.0 / SCALE, variance, surprise), 0.05999, 1e-5);
    }

    #[test]
    fn absurd_gaps_stay_finite() {
        let system = Glicko2::default();
        for (value, score) in [(1e6, 1.0), (1e6, 0.0), (-1e6, 1.0), (-1e6, 0.0)] {
            let after = system.rate(&rating(1500.0, 350.0), &[(rating(value, 30.0), score)]);
            assert!(after.value.is_finite() && after.deviation.is_finite(), "{after:?}");
            assert!(after.volatility > 0.0 && after.volatility.is_finite(), "{after:?}");
        }
    }
}
