//! Confidence intervals of proportions and means.

use crate::{normal, student};

/// A confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// The interval of a normally distributed estimate with this standard error.
    pub fn of_normal(value: f64, error: f64, confidence: f64) -> Interval {
        let reach = error * normal::quantile(0.5 + confidence / 2.0);
        Interval { low: value - reach, high: value + reach }
    }

    /// Wilson's score interval of a proportion: `successes` among `trials`. Half successes are
    /// allowed; they make the interval wider than it has to be.
    pub fn of_proportion(successes: f64, trials: f64, confidence: f64) -> Interval {
        if trials <= 0.0 {
            return Interval { low: 0.0, high: 1.0 };
        }
        let z = normal::quantile(0.5 + confidence / 2.0);
        let (share, square) = (successes / trials, z * z);
        let scale = 1.0 + square / trials;
        let centre = (share + square / (2.0 * trials)) / scale;
        let spread = share * (1.0 - share) / trials + square / (4.0 * trials * trials);
        let reach = z * spread.max(0.0).sqrt() / scale;
        Interval { low: (centre - reach).max(0.0), high: (centre + reach).min(1.0) }
    }

    /// The interval of the mean of independent values, by Student's t distribution. Fewer than two
    /// values say nothing.
    pub fn of_mean(values: &[f64], confidence: f64) -> Interval {
        let count = values.len() as f64;
        if values.len() < 2 {
            return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        let error = (squares / (count - 1.0) / count).sqrt();
        let reach = error * student::quantile(0.5 + confidence / 2.0, count - 1.0);
        Interval { low: mean - reach, high: mean + reach }
    }

    /// Returns whether the interval contains `value`.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Half of the width.
    pub fn reach(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_match_published_examples() {
        let close = |interval: Interval, low: f64, high: f64| {
            let fits = (interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5;
            assert!(fits, "{interval:?} instead of {low} to {high}");
        };
        // Newcombe (1998), Statistics in Medicine 17, 857–872, table I, method 3.
        close(Interval::of_proportion(81.0, 263.0, 0.95), 0.2553, 0.3662);
        close(Interval::of_proportion(15.0, 148.0, 0.95), 0.0624, 0.1605);
        close(Interval::of_proportion(0.0, 20.0, 0.95), 0.0, 0.1611);
        close(Interval::of_proportion(1.0, 29.0, 0.95), 0.0061, 0.1718);
        close(Interval::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95), 1.03676, 4.96324);
        close(Interval::of_normal(10.0, 2.0, 0.95), 6.08007, 13.91993);
    }

    #[test]
    fn without_data_everything_is_possible() {
        let nothing = Interval::of_proportion(0.0, 0.0, 0.95);
        assert!(nothing.contains(0.0) && nothing.contains(1.0));
        assert!(Interval::of_mean(&[3.0], 0.95).contains(1e300));
    }
}
