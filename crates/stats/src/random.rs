//! Random numbers for simulations and sampling. The same seed gives the same numbers everywhere.

use crate::elementary::ln;
use crate::splitmix::SplitMix64;

/// Random numbers of several distributions. They are not for luck that players must not foresee.
#[derive(Clone, Debug)]
pub struct RandomNumbers {
    words: SplitMix64,
    /// The second number of the latest pair of normal numbers.
    spare: Option<f64>,
}

impl RandomNumbers {
    /// The generator with this seed.
    pub fn new(seed: u64) -> RandomNumbers {
        RandomNumbers { words: SplitMix64::new(seed), spare: None }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.words.next_word()
    }

    /// A number between 0 and 1, without both ends.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A standard normal number, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square.is_normal() {
                let scale = (-2.0 * ln(square) / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_moments_of_their_distribution() {
        let mut random = RandomNumbers::new(1);
        let values: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let square = values.iter().map(|value| value * value).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01 && (square - 1.0).abs() < 0.02, "{mean} {square}");
        let mut counts = [0; 7];
        (0..70_000).for_each(|_| counts[random.below(7)] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
        let again: Vec<u64> = [1, 1].map(|seed| RandomNumbers::new(seed).bits()).to_vec();
        assert_eq!(again[0], again[1]);
    }
}
