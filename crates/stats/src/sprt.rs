//! The sequential probability ratio test: is one player `elo1` stronger than another (H1), or only
//! `elo0` (H0)?
//!
//! After every game, or after every duplicate pair, the test compares the likelihood of the results
//! under both hypotheses. It stops as soon as the logarithm of the ratio (LLR) leaves the interval
//! between [`Sprt::lower`] and [`Sprt::upper`]. Then H1 is accepted wrongly at most about every
//! 1/`alpha`-th time, and H0 at most about every 1/`beta`-th time.
//!
//! The likelihoods are those of the generalised test (GSPRT): each is the highest likelihood of any
//! distribution of scores with the expectation of its hypothesis. Empty counts become 1/1000, as in
//! fastchess. Source: Michel Van den Bergh, "Comments on normalized Elo", propositions 1.1 and 4.1.

use crate::elementary::ln;
use crate::elo::{GameCounts, NORMALISED, PairCounts, expected_score};

/// The scale of `elo0` and `elo1`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum EloModel {
    /// Plain Elo differences.
    #[default]
    Logistic,
    /// Differences in normalised Elo.
    Normalised,
}

/// The settings of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sprt {
    /// The difference under H0.
    pub elo0: f64,
    /// The difference under H1; more than `elo0`.
    pub elo1: f64,
    /// The highest probability of accepting H1 although H0 is true.
    pub alpha: f64,
    /// The highest probability of accepting H0 although H1 is true.
    pub beta: f64,
    /// The scale of the differences.
    pub model: EloModel,
}

/// The hypothesis that a test accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SprtVerdict {
    /// The player is not stronger than `elo0`.
    H0,
    /// The player is at least `elo1` stronger.
    H1,
}

/// The state of a test after some results.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SprtState {
    /// The logarithm of the likelihood ratio.
    pub llr: f64,
    /// The LLR at which H0 is accepted.
    pub lower: f64,
    /// The LLR at which H1 is accepted.
    pub upper: f64,
    /// The accepted hypothesis; `None` while the test goes on.
    pub verdict: Option<SprtVerdict>,
}

impl Sprt {
    /// Checks the settings; the error says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let Sprt { elo0, elo1, alpha, beta, .. } = *self;
        let in_range = |elo: f64| (-1_000.0..=1_000.0).contains(&elo);
        if !in_range(elo0) || !in_range(elo1) || elo0 >= elo1 {
            return Err(format!(
                "elo0 must be less than elo1, both from -1000 to 1000, not {elo0} and {elo1}"
            ));
        }
        let share = |risk: f64| (0.0001..=0.5).contains(&risk);
        if !share(alpha) || !share(beta) || alpha + beta >= 1.0 {
            return Err(format!(
                "alpha and beta are probabilities from 0.0001 to 0.5 with a sum below 1, \
                 not {alpha} and {beta}"
            ));
        }
        Ok(())
    }

    /// The LLR at which H0 is accepted.
    pub fn lower(&self) -> f64 {
        ln(self.beta / (1.0 - self.alpha))
    }

    /// The LLR at which H1 is accepted.
    pub fn upper(&self) -> f64 {
        ln((1.0 - self.beta) / self.alpha)
    }

    /// The state after these single games.
    pub fn after_games(&self, counts: &GameCounts) -> SprtState {
        self.state(&[counts.losses, counts.draws, counts.wins], 1.0)
    }

    /// The state after these duplicate pairs.
    pub fn after_pairs(&self, counts: &PairCounts) -> SprtState {
        self.state(&counts.0, 2.0)
    }

    fn state<const N: usize>(&self, counts: &[u64; N], games: f64) -> SprtState {
        let (lower, upper) = (self.lower(), self.upper());
        let llr =
            if counts.iter().all(|count| *count == 0) { 0.0 } else { self.llr(counts, games) };
        let verdict = match llr {
            llr if llr >= upper => Some(SprtVerdict::H1),
            llr if llr <= lower => Some(SprtVerdict::H0),
            _ => None,
        };
        SprtState { llr, lower, upper, verdict }
    }

    fn llr<const N: usize>(&self, counts: &[u64; N], games: f64) -> f64 {
        let counts = counts.map(|count| if count == 0 { 1e-3 } else { count as f64 });
        let total: f64 = counts.iter().sum();
        let observed = counts.map(|count| count / total);
        let likeliest = |elo: f64| match self.model {
            EloModel::Logistic => with_mean(&observed, expected_score(elo)),
            EloModel::Normalised => with_ratio(&observed, games.sqrt() * elo / NORMALISED),
        };
        let (under_0, under_1) = (likeliest(self.elo0), likeliest(self.elo1));
        let ratios = (0..N).map(|at| observed[at] * (ln(under_1[at]) - ln(under_0[at])));
        total * ratios.sum::<f64>()
    }
}

/// The score of each of `N` equally spaced outcomes from 0 to 1.
fn score<const N: usize>(at: usize) -> f64 {
    at as f64 / (N - 1) as f64
}

/// The likeliest distribution with expectation `mean`.
fn with_mean<const N: usize>(observed: &[f64; N], mean: f64) -> [f64; N] {
    tilted(observed, &std::array::from_fn(|at| score::<N>(at) - mean))
}

/// The likeliest distribution in which the distance of the expectation from ½ is `ratio`
/// deviations. The equation is not linear in the distribution, so it is solved repeatedly around
/// the latest solution.
fn with_ratio<const N: usize>(observed: &[f64; N], ratio: f64) -> [f64; N] {
    let mut latest = [1.0 / N as f64; N];
    for _ in 0..200 {
        let mean: f64 = (0..N).map(|at| score::<N>(at) * latest[at]).sum();
        let variance: f64 =
            (0..N).map(|at| latest[at] * (score::<N>(at) - mean) * (score::<N>(at) - mean)).sum();
        let deviation = variance.sqrt();
        let shift = |at: usize| {
            let distance = (score::<N>(at) - mean) / deviation;
            score::<N>(at) - 0.5 - 0.5 * ratio * deviation * (1.0 + distance * distance)
        };
        let next = tilted(observed, &std::array::from_fn(shift));
        let moved = (0..N).map(|at| (next[at] - latest[at]).abs()).fold(0.0, f64::max);
        latest = next;
        // fastchess stops here as well.
        if moved < 1e-4 {
            break;
        }
    }
    latest
}

/// The likeliest distribution under which `values` have expectation 0: each observed share divided
/// by `1 + θ · value`, for the θ at which the expectation vanishes.
fn tilted<const N: usize>(observed: &[f64; N], values: &[f64; N]) -> [f64; N] {
    let most = values.iter().fold(f64::MIN, |most, value| most.max(*value));
    let least = values.iter().fold(f64::MAX, |least, value| least.min(*value));
    if most <= 0.0 || least >= 0.0 {
        return *observed;
    }
    // The expectation falls from infinity to minus infinity between these bounds. Newton's method
    // finds its zero; a step that would leave the bounds becomes a bisection.
    let (mut low, mut high, mut theta) = (-1.0 / most, -1.0 / least, 0.0);
    for _ in 0..200 {
        let (mut expectation, mut slope) = (0.0, 0.0);
        for at in 0..N {
            let share = values[at] / (1.0 + theta * values[at]);
            expectation += observed[at] * share;
            slope -= observed[at] * share * share;
        }
        if expectation > 0.0 {
            low = theta
        } else {
            high = theta
        }
        let newton = theta - expectation / slope;
        let next = if newton > low && newton < high { newton } else { (low + high) / 2.0 };
        let moved = (next - theta).abs();
        theta = next;
        if moved <= 1e-13 * (1.0 + theta.abs()) {
            break;
        }
    }
    std::array::from_fn(|at| observed[at] / (1.0 + theta * values[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sprt(alpha: f64, beta: f64) -> Sprt {
        Sprt { elo0: 0.0, elo1: 10.0, alpha, beta, model: EloModel::Logistic }
    }

    #[test]
    fn bounds_follow_from_the_error_rates() {
        let state = sprt(0.05, 0.05).after_pairs(&PairCounts::default());
        assert!((state.upper - 2.944_438_979).abs() < 1e-9);
        assert_eq!((state.llr, state.lower, state.verdict), (0.0, -state.upper, None));
        let state = sprt(0.05, 0.1).after_games(&GameCounts { losses: 0, draws: 2, wins: 900 });
        assert_eq!(state.verdict, Some(SprtVerdict::H1));
        let state = sprt(0.05, 0.1).after_games(&GameCounts { losses: 90, draws: 2, wins: 1 });
        assert_eq!(state.verdict, Some(SprtVerdict::H0));
    }

    #[test]
    fn impossible_settings_are_rejected() {
        assert_eq!(sprt(0.05, 0.05).check(), Ok(()));
        let swapped = Sprt { elo0: 10.0, elo1: 0.0, ..sprt(0.05, 0.05) };
        assert!(swapped.check().unwrap_err().contains("elo0 must be less than elo1"));
        for (alpha, beta) in [(0.0, 0.05), (0.05, 0.0), (0.5, 0.5), (f64::NAN, 0.1)] {
            assert!(sprt(alpha, beta).check().unwrap_err().contains("alpha and beta"), "{alpha}");
        }
        let endless = Sprt { elo1: f64::INFINITY, ..sprt(0.05, 0.05) };
        assert!(endless.check().is_err());
    }

    #[test]
    fn exchanging_the_players_exchanges_the_hypotheses() {
        let mirrored = Sprt { elo0: -10.0, elo1: 0.0, ..sprt(0.05, 0.05) };
        for model in [EloModel::Logistic, EloModel::Normalised] {
            let one = Sprt { model, ..sprt(0.05, 0.05) };
            let other = Sprt { model, ..mirrored };
            let (a, b) = ([3, 20, 41, 25, 6], [6, 25, 41, 20, 3]);
            let sum = one.after_pairs(&PairCounts(a)).llr + other.after_pairs(&PairCounts(b)).llr;
            assert!(sum.abs() < 1e-6, "{model:?}: {sum}");
        }
    }
}
