//! The chance to win between two turns, as a function of both cards.
//!
//! If both players go on with the highest mean score, the final difference of points has a known
//! mean: what is scored plus what the table expects. Its spread depends on how the cards differ:
//! with the same dice for both, boxes that are open on both cards mostly cancel out. The model
//! gives every box a share of the variance and a shift (the median is not the mean: a player with
//! an open Yahtzee box has a rare, large gain to come). The final difference is taken to have
//! Student's t distribution with four degrees of freedom, which needs only a square root.
//!
//! The weights are fitted to played-out games; `fit` in the tests prints them.

use super::card::{Boxes, Card, UPPER_GOAL, face_of};
use agon_games::yahtzee::{DiceSource, ScoreBox};

/// Boxes of a card.
const BOXES: usize = 13;

/// Features of the variance: by box, open on one card only; by box, open on both; then the four
/// others of [`Spread`].
pub(super) const VARIANCE: usize = 2 * BOXES + 4;

/// Features of the shift: by box; then the two others of [`Spread`].
pub(super) const SHIFT: usize = BOXES + 2;

/// The weights for one source of dice. Those of the variance are squared, so that none is negative.
pub(super) struct Weights {
    pub(super) variance: [f64; VARIANCE],
    pub(super) shift: [f64; SHIFT],
}

/// The features of one card.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardFeatures {
    boxes: Boxes,
    is_full: bool,
    /// An estimate of the chance of the upper bonus.
    bonus: f64,
    /// The share of turns to come if the Yahtzee box holds 50, else 0.
    fifty: f64,
}

impl CardFeatures {
    pub(super) fn of(card: &Card) -> CardFeatures {
        let boxes = card.boxes();
        let open = BOXES - boxes.filled();
        CardFeatures {
            boxes,
            is_full: open == 0,
            bonus: bonus_chance(card),
            fifty: if boxes.yahtzee_is_50() { open as f64 / BOXES as f64 } else { 0.0 },
        }
    }
}

/// An estimate of the chance of the upper bonus: three of each face reach it exactly.
fn bonus_chance(card: &Card) -> f64 {
    let upper = ScoreBox::ALL.into_iter().filter_map(face_of).map(f64::from).zip(ScoreBox::ALL);
    let open: f64 = upper.filter(|(_, at)| card.boxes().is_open(*at)).map(|(face, _)| face).sum();
    let missing = f64::from(UPPER_GOAL) - f64::from(card.upper());
    if missing <= 0.0 {
        return 1.0;
    }
    if 5.0 * open < missing {
        return 0.0;
    }
    let ahead = (3.0 * open - missing + 0.1 * open) / (0.3 * open + 0.5);
    0.5 + 0.5 * ahead / (1.0 + ahead * ahead).sqrt()
}

/// The features that make the final difference of points uncertain.
pub(super) struct Spread {
    pub(super) variance: [f64; VARIANCE],
    pub(super) shift: [f64; SHIFT],
}

impl Spread {
    pub(super) fn of(own: &CardFeatures, other: &CardFeatures) -> Spread {
        let (mut variance, mut shift) = ([0.0; VARIANCE], [0.0; SHIFT]);
        for at in ScoreBox::ALL {
            let index = at.index();
            match (own.boxes.is_open(at), other.boxes.is_open(at)) {
                (true, true) => variance[BOXES + index] = 1.0,
                (true, false) => (variance[index], shift[index]) = (1.0, 1.0),
                (false, true) => (variance[index], shift[index]) = (1.0, -1.0),
                (false, false) => {}
            }
        }
        let doubt = |features: &CardFeatures| features.bonus * (1.0 - features.bonus);
        let skew = |features: &CardFeatures| doubt(features) * (features.bonus - 0.5);
        variance[2 * BOXES] = (own.bonus - other.bonus).abs();
        variance[2 * BOXES + 1] = doubt(own) + doubt(other);
        variance[2 * BOXES + 2] = own.fifty + other.fifty;
        variance[2 * BOXES + 3] = (own.fifty - other.fifty).abs();
        shift[BOXES] = skew(own) - skew(other);
        shift[BOXES + 1] = own.fifty - other.fifty;
        Spread { variance, shift }
    }
}

impl Weights {
    /// The weights for a source of dice.
    pub(super) fn of(dice: DiceSource) -> &'static Weights {
        match dice {
            DiceSource::Duplicate => &DUPLICATE,
            DiceSource::Independent => &INDEPENDENT,
        }
    }

    /// The chance to win, with a tie as half a win. `mean` is the expected final difference of
    /// points.
    pub(super) fn chance(&self, own: &CardFeatures, other: &CardFeatures, mean: f64) -> f64 {
        if own.is_full && other.is_full {
            // Nothing is to come, so the mean is the final difference, up to rounding.
            return if mean > 0.5 {
                1.0
            } else if mean < -0.5 {
                0.0
            } else {
                0.5
            };
        }
        let Spread { variance, shift } = Spread::of(own, other);
        let weigh = |weights: &[f64], features: &[f64]| -> f64 {
            weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
        };
        let squared = self.variance.map(|weight| weight * weight);
        let scale = (1.0 + weigh(&squared, &variance)).sqrt();
        student4((mean + weigh(&self.shift, &shift)) / scale)
    }
}

/// The distribution function of Student's t distribution with four degrees of freedom.
pub(super) fn student4(t: f64) -> f64 {
    let square = 1.0 + t * t / 4.0;
    0.5 + 0.375 * t / square.sqrt() * (1.0 - t * t / (12.0 * square))
}

static DUPLICATE: Weights = Weights {
    variance: [
        7.4, 6.9, 9.4, 14.3, 11.6, 8.9, 7.8, 4.7, 10.0, 11.4, 18.2, 7.6, 1.2, 5.5, 4.7, 3.5, 4.2,
        5.5, 0.1, 2.7, 1.1, 8.5, 7.1, 9.8, 1.7, 6.1, 0.3, 21.6, 5.7, 40.0,
    ],
    shift: [0.0, -0.2, 0.0, 0.2, 0.3, -0.1, 0.4, -0.5, -0.5, 0.1, 1.2, -0.3, 0.4, 14.5, -10.4],
};

static INDEPENDENT: Weights = Weights {
    variance: [
        0.0, 0.0, 0.0, 5.2, 8.7, 11.9, 6.0, 5.9, 12.4, 10.0, 15.5, 0.0, 0.0, 16.6, 4.5, 1.4, 20.5,
        16.2, 14.9, 13.5, 12.9, 17.8, 10.8, 25.2, 6.4, 0.0, 0.0, 41.2, 34.9, 31.5,
    ],
    shift: [0.7, 1.4, -0.1, 0.2, 0.5, -0.1, 1.0, 0.5, 1.0, 1.0, 0.7, -1.1, 0.2, 15.3, -14.8],
};

#[cfg(test)]
mod fit;
