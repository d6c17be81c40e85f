//! `exp` and `ln` from additions and multiplications alone. The standard library's versions come
//! from the host and differ in the last bit between hosts; results that a log records must not.

/// ln 2 in two parts: the first has so few digits that its small multiples are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// e to the power of `x`, to within a few units in the last place. `x` is clamped to ±700.
pub fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let twos = (x / std::f64::consts::LN_2).round();
    let rest = (x - twos * LN_2_HIGH) - twos * LN_2_LOW;
    let series = (1..=14).rev().fold(1.0, |sum, n| 1.0 + sum * rest / f64::from(n));
    let exponent = (1_023 + twos as i64) as u64;
    series * f64::from_bits(exponent << 52)
}

/// The natural logarithm of a positive number that is not subnormal.
pub fn ln(x: f64) -> f64 {
    assert!(x.is_normal() && x > 0.0, "the logarithm of {x}");
    let bits = x.to_bits();
    let mut twos = (bits >> 52) as i64 - 1_023;
    let mut rest = f64::from_bits((bits & ((1 << 52) - 1)) | (1_023 << 52));
    if rest > std::f64::consts::SQRT_2 {
        rest /= 2.0;
        twos += 1;
    }
    let s = (rest - 1.0) / (rest + 1.0);
    let series = (0..=11).rev().fold(0.0, |sum, n| sum * s * s + 1.0 / f64::from(2 * n + 1));
    let twos = twos as f64;
    twos * LN_2_HIGH + (2.0 * s * series + twos * LN_2_LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_ln_agree_with_the_host() {
        for step in -4_000..=4_000 {
            let x = f64::from(step) * 0.171;
            let (ours, host) = (exp(x), x.exp());
            assert!((ours / host - 1.0).abs() < 2e-15, "exp {x}: {ours} and {host}");
            let (back, host) = (ln(ours), ours.ln());
            assert!((back - host).abs() <= 4e-16 * host.abs().max(1.0), "ln {ours}: {back}");
        }
        assert_eq!((exp(0.0), ln(1.0)), (1.0, 0.0));
        assert_eq!((exp(f64::MAX), exp(f64::MIN)), (exp(700.0), exp(-700.0)));
    }
}
