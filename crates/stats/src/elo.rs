//! Differences of strength between two players on the Elo scale, with their errors.
//!
//! A difference of 400 means odds of ten to one. *Normalised* Elo divides the score by its
//! deviation per game instead, so that the same number needs the same number of games in every
//! game: Michel Van den Bergh, "Comments on normalized Elo". The figures are those of fastchess.

use crate::elementary::{exp, ln};
use crate::interval::Interval;
use crate::normal;

const LN_10: f64 = std::f64::consts::LN_10;

/// Normalised Elo per deviation.
pub(crate) const NORMALISED: f64 = 800.0 / LN_10;

/// The expected score of a player who is `elo` stronger.
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + exp(-elo * LN_10 / 400.0))
}

/// The Elo difference at which `score` is expected; infinite for 0 and 1.
pub fn difference(score: f64) -> f64 {
    if score <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if score >= 1.0 {
        return f64::INFINITY;
    }
    400.0 / LN_10 * (ln(score) - ln(1.0 - score))
}

/// Results of single games from the view of one player.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GameCounts {
    /// Games lost.
    pub losses: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games won.
    pub wins: u64,
}

/// Results of duplicate pairs: how many pairs brought 0, ½, 1, 1½ and 2 points. Both games of a
/// pair have the same luck, so a pair has less variance than two independent games.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PairCounts(pub [u64; 5]);

/// How much stronger a player is, and how sure that is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EloEstimate {
    /// The mean score per game, from 0 to 1.
    pub score: f64,
    /// The standard error of the score.
    pub score_error: f64,
    /// The difference on the Elo scale; infinite if one player took every point.
    pub elo: f64,
    /// The 95 % interval of `elo`.
    pub interval: Interval,
    /// The difference in normalised Elo, with the reach of its 95 % interval.
    pub normalised: (f64, f64),
    /// The likelihood of superiority: the probability that the player is the stronger one.
    pub superiority: f64,
}

impl GameCounts {
    /// The number of games.
    pub fn games(&self) -> u64 {
        self.losses + self.draws + self.wins
    }

    /// The estimate; `None` without a game.
    pub fn estimate(&self) -> Option<EloEstimate> {
        estimate(&[self.losses, self.draws, self.wins], 1.0)
    }
}

impl PairCounts {
    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds a pair in which the player took this many half points, 0 to 4.
    pub fn add(&mut self, halves: usize) {
        self.0[halves.min(4)] += 1;
    }

    /// The estimate; `None` without a pair.
    pub fn estimate(&self) -> Option<EloEstimate> {
        estimate(&self.0, 2.0)
    }
}

impl EloEstimate {
    /// The estimate from duplicate groups of `size` games, by a player's points in each of them;
    /// `None` without a group.
    pub fn of_groups(size: usize, points: &[f64]) -> Option<EloEstimate> {
        let mut counts = vec![0; 2 * size + 1];
        for own in points {
            counts[((2.0 * own).round() as usize).min(2 * size)] += 1;
        }
        estimate(&counts, size as f64)
    }
}

/// The estimate from counts of equally spaced scores from 0 to 1, each from `games` games.
fn estimate(counts: &[u64], games: f64) -> Option<EloEstimate> {
    let trials = counts.iter().sum::<u64>() as f64;
    if trials == 0.0 {
        return None;
    }
    let most = (counts.len() - 1) as f64;
    let scored = || counts.iter().enumerate().map(|(at, count)| (at as f64 / most, *count as f64));
    let score = scored().map(|(score, count)| score * count).sum::<f64>() / trials;
    let variance =
        scored().map(|(one, count)| count * (one - score) * (one - score)).sum::<f64>() / trials;
    let error = (variance / trials).sqrt();
    let (low, high) = (score - normal::Z_95 * error, score + normal::Z_95 * error);
    let per_deviation = NORMALISED / (games * variance).sqrt();
    // Results of one kind have no deviation. Then the normal approximation says nothing, and the
    // exact posterior under a uniform prior and Wilson's interval take its place.
    let is_one_sided = error == 0.0 && score != 0.5;
    let surprise = exp(-(trials + 1.0) * std::f64::consts::LN_2);
    let superiority = match score > 0.5 {
        true if is_one_sided => 1.0 - surprise,
        false if is_one_sided => surprise,
        _ if error > 0.0 => normal::below((score - 0.5) / error),
        _ => 0.5,
    };
    let interval = match is_one_sided {
        true => Interval::of_proportion(score * trials, trials, 0.95),
        false => Interval { low, high },
    };
    Some(EloEstimate {
        score,
        score_error: error,
        elo: difference(score),
        interval: Interval { low: difference(interval.low), high: difference(interval.high) },
        normalised: ((score - 0.5) * per_deviation, normal::Z_95 * error * per_deviation),
        superiority,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_and_scores_are_inverse() {
        for elo in [-800.0, -35.0, 0.0, 1.5, 400.0] {
            assert!((difference(expected_score(elo)) - elo).abs() < 1e-9, "{elo}");
        }
        assert!((expected_score(400.0) - 10.0 / 11.0).abs() < 1e-15);
        assert_eq!((difference(0.0), difference(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn one_sided_results_have_no_finite_difference() {
        let all = GameCounts { losses: 0, draws: 0, wins: 7 }.estimate().unwrap();
        assert_eq!((all.score, all.elo), (1.0, f64::INFINITY));
        // Seven heads in a row: 255 of 256, by Laplace's rule of succession.
        assert!((all.superiority - 255.0 / 256.0).abs() < 1e-12, "{}", all.superiority);
        assert!((30.0..150.0).contains(&all.interval.low), "{:?}", all.interval);
        assert_eq!(all.interval.high, f64::INFINITY);
        let none = PairCounts([1, 0, 0, 0, 0]).estimate().unwrap();
        assert!((none.superiority - 0.25).abs() < 1e-12 && none.elo == f64::NEG_INFINITY);
        let level = PairCounts([0, 0, 9, 0, 0]).estimate().unwrap();
        assert_eq!((level.score, level.elo, level.superiority), (0.5, 0.0, 0.5));
        assert_eq!(GameCounts::default().estimate(), None);
    }
}
