//! Folds a stream, and names the event that does not fit.

use crate::chain::StreamEnd;
use crate::ids::Timestamp;
use crate::line::{AnswerLine, BadLine, Line};
use crate::lobby::Cheat;
use crate::match_::{ApplyError, Match, Secrets};
use agon_games::Registry;

/// An event that a machine cannot apply.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("event {seq}: {error}")]
pub struct Misfit {
    /// The event's index among the folded events, from 1.
    pub seq: u64,
    /// The reason.
    pub error: ApplyError,
}

/// A match recovered from its stream, with everything needed to continue it.
#[derive(Clone, Debug)]
pub struct RecoveredMatch {
    /// The match.
    pub played: Match,
    /// The end of its stream.
    pub end: StreamEnd,
    /// The cheats in its stream that its policy blacklists for.
    pub cheats: Vec<Cheat>,
    /// When its latest event was decided.
    pub latest_at: Timestamp,
}

/// Why no match can be recovered from a stream.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum BadStream {
    /// An event cannot be read.
    #[error("event {seq}: {bad}")]
    Line {
        /// The event's number.
        seq: u64,
        /// The reason.
        bad: BadLine,
    },
    /// An event does not fit.
    #[error(transparent)]
    Misfit(#[from] Misfit),
}

impl RecoveredMatch {
    /// Folds the match of the stream called `name`, line by line; `None` if it has no lines.
    pub fn read(
        name: &str,
        texts: &[String],
        games: &Registry,
        secrets: Secrets,
    ) -> Result<Option<RecoveredMatch>, BadStream> {
        let mut match_fold = MatchFold::new(name, secrets);
        texts.iter().try_for_each(|text| match_fold.add(text, games))?;
        Ok(match_fold.finish())
    }
}

/// A match that is folded while its stream is read.
#[derive(Clone, Debug)]
pub struct MatchFold {
    end: StreamEnd,
    /// Taken by the first line.
    secrets: Option<Secrets>,
    played: Option<Match>,
    cheats: Vec<Cheat>,
    latest_at: Timestamp,
}

impl MatchFold {
    /// The match of the stream called `name`, before its first line.
    pub fn new(name: &str, secrets: Secrets) -> MatchFold {
        let (end, secrets) = (StreamEnd::new(name), Some(secrets));
        MatchFold {
            end,
            secrets,
            played: None,
            cheats: Vec::new(),
            latest_at: Timestamp::default(),
        }
    }

    /// Applies the next line of the stream.
    pub fn add(&mut self, text: &str, games: &Registry) -> Result<(), BadStream> {
        let seq = self.end.version() + 1;
        if let Some(played) = &mut self.played
            && let Some(line) = AnswerLine::split(text, self.end.name())
            && let Ok(is_same_draw) = played.apply_answer(&line.answer)
        {
            if !is_same_draw {
                // A fold trusts the draws of a log, but not that they are JSON.
                Line::read(text).map_err(|bad| BadStream::Line { seq, bad })?;
            }
            self.end.add(text);
            self.latest_at = self.latest_at.max(line.at);
            return Ok(());
        }
        let line = Line::read_of(text, Some(self.end.name()))
            .map_err(|bad| BadStream::Line { seq, bad })?;
        let misfit = |error| Misfit { seq, error };
        match (&mut self.played, self.secrets.take()) {
            (Some(played), _) => {
                played.apply(line.at, &line.event).map_err(misfit)?;
                self.cheats.extend(Cheat::of(played.plan(), line.seq, &line.event));
            }
            (None, secrets) => {
                let secrets = secrets.ok_or(ApplyError::Empty).map_err(misfit)?;
                self.played = Some(Match::fold([&line], games, secrets).map_err(misfit)?);
            }
        }
        self.end.add(text);
        self.latest_at = self.latest_at.max(line.at);
        Ok(())
    }

    /// The match after all lines; `None` if there were none.
    pub fn finish(self) -> Option<RecoveredMatch> {
        let MatchFold { end, played, cheats, latest_at, .. } = self;
        played.map(|played| RecoveredMatch { played, end, cheats, latest_at })
    }
}

/// Folds a machine from a stream. If that fails, it searches for the first event that does not fit,
/// with a few more folds: every shorter fold succeeds, and every longer one fails.
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
            Line { stream: "s".into(), seq, at: Timestamp::default(), more: 0, event }
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
