//! The standard normal distribution.

use crate::elementary::{exp, ln};

/// The quantile of a two-sided 95 % interval.
pub const Z_95: f64 = 1.959_963_984_540_054;

const SQRT_2_PI: f64 = 2.506_628_274_631_000_7;

/// The density at `x`.
pub fn density(x: f64) -> f64 {
    exp(-x * x / 2.0) / SQRT_2_PI
}

/// The probability of a value below `x`.
pub fn below(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    let tail = upper_tail(x.abs());
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The probability of a value above `x`, for `x` of at least 0.
fn upper_tail(x: f64) -> f64 {
    if x > 38.0 {
        return 0.0;
    }
    if x < 3.0 {
        // The series x + x³/3 + x⁵/15 + … of the integral from 0, divided by the density.
        let mut term = x;
        let mut sum = x;
        let mut odd = 1.0;
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        return 0.5 - density(x) * sum;
    }
    // The continued fraction of Mills' ratio.
    let fraction = (1..=80).rev().fold(x, |rest, n| x + f64::from(n) / rest);
    density(x) / fraction
}

/// The value below which a share `p` of all values lies. Returns an infinity for 0 and 1.
pub fn quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    // Newton's method from an approximation (Abramowitz and Stegun, 26.2.23).
    let t = (-2.0 * ln(p.max(1e-300))).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let under = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = above / under - t;
    for _ in 0..6 {
        let slope = density(x);
        if slope < 1e-290 {
            break;
        }
        let error = (below(x) - p) / slope;
        // Halley's correction: the slope of the density is -x times the density.
        x -= error / (1.0 + error * x / 2.0);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_probabilities_match_published_values() {
        let table = [
            (0.5, 0.0),
            (0.841_344_746_068_542_9, 1.0),
            (0.9, 1.281_551_565_544_600_4),
            (0.95, 1.644_853_626_951_472_2),
            (0.975, Z_95),
            (0.99, 2.326_347_874_040_840_8),
            (0.995, 2.575_829_303_548_900_4),
            (0.999, 3.090_232_306_167_813),
            (0.000_001, -4.753_424_308_822_899),
        ];
        for (p, x) in table {
            assert!((quantile(p) - x).abs() < 1e-11, "quantile of {p}: {}", quantile(p));
            assert!((below(x) - p).abs() < 1e-15 + 1e-12 * p, "below {x}: {}", below(x));
        }
    }

    #[test]
    fn quantile_inverts_the_distribution_and_is_symmetric() {
        for step in 1..2_000 {
            let p = f64::from(step) / 2_000.0;
            assert!((below(quantile(p)) - p).abs() < 1e-14, "{p}");
            assert!((quantile(p) + quantile(1.0 - p)).abs() < 1e-12, "{p}");
        }
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(quantile(-0.1).is_nan() && below(f64::NAN).is_nan());
        // Both forms of the tail meet at 3.
        assert!((upper_tail(2.999_999_999) - upper_tail(3.0)).abs() < 1e-11);
        assert_eq!((below(50.0), below(-50.0)), (1.0, 0.0));
    }
}
