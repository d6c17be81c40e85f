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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, PlayerArrived};
    use crate::ids::PlayerName;

    #[test]
    fn the_first_event_that_does_not_fit_is_named() {
        let line = |seq: u64| {
            let player = PlayerName::new("ann").unwrap();
            let event = Event::from(PlayerArrived { player, nonce: None });
            Line { stream: "s".into(), seq, at: 0, more: 0, event }
        };
        for count in 1..20 {
            let lines: Vec<Line> = (1..=count).map(line).collect();
            for bad in 1..=count {
                let folded = fold(&lines, |lines| match lines.iter().any(|line| line.seq == bad) {
                    true => Err(ApplyError::OutOfPlace("a test")),
                    false => Ok(lines.len()),
                });
                let error = ApplyError::OutOfPlace("a test");
                assert_eq!(folded, Err(Misfit { seq: bad, error }), "{bad} of {count}");
            }
            assert_eq!(fold(&lines, |lines| Ok(lines.len())), Ok(lines.len()));
        }
        let empty = fold::<()>(&[], |_| Err(ApplyError::Empty));
        assert_eq!(empty.unwrap_err().to_string(), "event 0: the stream is empty");
    }
}
