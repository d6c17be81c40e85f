//! Student's t distribution: what replaces the normal distribution when the deviation itself is
//! estimated from few values.

use crate::elementary::{exp, ln};
use crate::normal;

/// The probability of a value below `t` with `freedom` degrees of freedom.
pub fn below(t: f64, freedom: f64) -> f64 {
    if freedom > 1e7 {
        return normal::below(t);
    }
    let x = freedom / (freedom + t * t);
    let tail = incomplete_beta(x, freedom / 2.0, 0.5) / 2.0;
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The value below which a share `p` of all values lies, by bisection.
pub fn quantile(p: f64, freedom: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    if p == 0.0 || p == 1.0 || freedom > 1e7 {
        return normal::quantile(p);
    }
    if p < 0.5 {
        return -quantile(1.0 - p, freedom);
    }
    let mut high = 1.0;
    while below(high, freedom) < p && high < 1e12 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if below(middle, freedom) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The regularised incomplete beta function, by its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln(x) + b * ln(1.0 - x);
    exp(front) / a / beta_fraction(x, a, b)
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let nonzero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for step in 1..2_000 {
        let m = f64::from(step / 2);
        let coefficient = match step % 2 {
            0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        d = 1.0 / nonzero(1.0 + coefficient * d);
        c = nonzero(1.0 + coefficient / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function of a positive number, by Lanczos' approximation.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let t = x + 7.5;
    let series = COEFFICIENTS.iter().zip(1..);
    let sum = series.fold(0.999_999_999_999_809_9, |sum, (one, n)| sum + one / (x + f64::from(n)));
    0.918_938_533_204_672_8 + (x + 0.5) * ln(t) - t + ln(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        let table = [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 2.0, 4.302_652_730),
            (0.975, 5.0, 2.570_581_836),
            (0.975, 9.0, 2.262_157_163),
            (0.975, 30.0, 2.042_272_456),
            (0.975, 1_000.0, 1.962_339_081),
            (0.95, 10.0, 1.812_461_123),
            (0.995, 20.0, 2.845_339_710),
        ];
        for (p, freedom, t) in table {
            let found = quantile(p, freedom);
            assert!((found - t).abs() < 2e-9 * t, "{p} with {freedom}: {found}");
            assert!((quantile(1.0 - p, freedom) + found).abs() < 1e-9);
        }
        assert_eq!(quantile(0.975, 1e9), normal::quantile(0.975));
        assert_eq!(quantile(0.5, 3.0), 0.0);
        assert!(quantile(0.9, 0.0).is_nan());
    }
}
