//! Folding a stream, and naming the event that does not fit.

use crate::line::Line;
use crate::match_::ApplyError;

/// An event that a machine cannot apply.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("event {seq}: {error}")]
pub struct Misfit {
    /// The event's place among those folded, from 1.
    pub seq: u64,
    /// What is wrong.
    pub error: ApplyError,
}

/// Folds a machine from a stream. If that fails, finds the first event that does not fit, which
/// takes a few more folds: every fold of fewer lines goes well, and of more fails.
pub fn fold<T>(
    lines: &[Line],
    fold: impl Fn(&[Line]) -> Result<T, ApplyError>,
) -> Result<T, Misfit> {
    fold(lines).map_err(|error| {
        let (mut good, mut bad) = (0, lines.len());
        while bad.saturating_sub(good) > 1 {
            let middle = good + (bad - good) / 2;
            match fold(&lines[..middle]) {
                Ok(_) => good = middle,
                Err(_) => bad = middle,
            }
        }
        Misfit { seq: bad as u64, error }
    })
}
