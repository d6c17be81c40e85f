//! Control variates: results without the part that known luck explains.
//!
//! A *control* is a number of a game whose mean is zero whoever plays, such as the luck of a roll.
//! Subtracting a fixed multiple of it does not change the mean of a result. The best multiple
//! depends on the player: somebody who wastes luck gains little from it. [`without_controls`] fits
//! the multiples by least squares. The multiples that apply to a game come from other games only,
//! so the mean of the result stays unbiased (cross-fitting).

use crate::bradley_terry::{cholesky, solve};

/// One result with its controls.
#[derive(Clone, PartialEq, Debug)]
pub struct Controlled {
    /// The result.
    pub value: f64,
    /// The controls, as many in every result.
    pub controls: Vec<f64>,
}

/// Into how many parts the results are divided. The multiples for a part come from the others.
const FOLDS: usize = 10;

/// How many results the given multiples weigh. With few results they decide, with many the fit
/// does.
const PRIOR_RESULTS: f64 = 20.0;

/// The results without the luck that their controls measure. `usual` holds the multiple of every
/// control that is right for a player who makes the best of it.
pub fn without_controls(results: &[Controlled], usual: &[f64]) -> Vec<f64> {
    let folds: Vec<Vec<f64>> = (0..FOLDS).map(|fold| multiples(results, usual, fold)).collect();
    let adjusted = results.iter().enumerate().map(|(at, result)| {
        let multiples = &folds[at % FOLDS];
        result.value - dot(&result.controls, multiples)
    });
    adjusted.collect()
}

/// The multiples for one fold, from the results of all others. Least squares with a constant, where
/// every multiple is drawn towards the usual one.
fn multiples(results: &[Controlled], usual: &[f64], fold: usize) -> Vec<f64> {
    let others = || results.iter().enumerate().filter(|(at, _)| at % FOLDS != fold);
    let count = others().count() as f64;
    let size = usual.len() + 1;
    let mut matrix = vec![0.0; size * size];
    let mut right = vec![0.0; size];
    for (_, result) in others() {
        let rest = result.value - dot(&result.controls, usual);
        let row = |at: usize| result.controls.get(at).copied().unwrap_or(1.0);
        for one in 0..size {
            right[one] += row(one) * rest;
            for other in 0..size {
                matrix[one * size + other] += row(one) * row(other);
            }
        }
    }
    // The constant is free. Without any result everything is zero, and the usual multiples stay.
    for at in 0..usual.len() {
        let variance = matrix[at * size + at] / count.max(1.0);
        matrix[at * size + at] += PRIOR_RESULTS * variance + f64::EPSILON;
    }
    matrix[size * size - 1] += f64::EPSILON;
    let change = solve(&cholesky(matrix, size), right);
    usual.iter().zip(change).map(|(usual, change)| usual + change).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RandomNumbers;

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn deviation(values: &[f64]) -> f64 {
        let mean = mean(values);
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64)
            .sqrt()
    }

    /// Results of a player who gets `gain` of every control.
    fn results(seed: u64, count: usize, gain: [f64; 2]) -> Vec<Controlled> {
        let mut random = RandomNumbers::new(seed);
        let result = |_| {
            let controls: Vec<f64> = (0..2).map(|_| 10.0 * random.normal()).collect();
            let value = 100.0 + random.normal() + dot(&controls, &gain);
            Controlled { value, controls }
        };
        (0..count).map(result).collect()
    }

    #[test]
    fn fitted_multiples_remove_the_luck_of_players_who_waste_it() {
        let results = results(1, 2_000, [0.2, 0.6]);
        let adjusted = without_controls(&results, &[1.0, 1.0]);
        assert!(deviation(&adjusted) < 1.1, "{}", deviation(&adjusted));
        assert!((mean(&adjusted) - 100.0).abs() < 0.1, "{}", mean(&adjusted));
    }

    #[test]
    fn few_results_use_the_usual_multiples() {
        for count in 0..3 {
            let results = results(2, count, [1.0, 1.0]);
            for (adjusted, result) in without_controls(&results, &[1.0, 1.0]).iter().zip(&results) {
                let usual = result.value - result.controls.iter().sum::<f64>();
                assert!((adjusted - usual).abs() < 0.5, "{adjusted} {usual}");
            }
        }
    }

    /// The mean over many small experiments: fitting on the same games would shift it.
    #[test]
    fn adjusted_means_are_unbiased() {
        let means: Vec<f64> = (0..2_000)
            .map(|seed| mean(&without_controls(&results(seed, 30, [0.3, 0.9]), &[1.0, 1.0])))
            .collect();
        let error = deviation(&means) / (means.len() as f64).sqrt();
        assert!((mean(&means) - 100.0).abs() < 3.0 * error, "{} ± {error}", mean(&means));
    }
}
