//! Replay: the events of a match in order, each with the match before and after it.
//!
//! Two machines follow the stream, one of them an event behind. That costs two folds and copies no
//! state, whether the reader needs a position, an open request, or what an answer changed.

use crate::fold::Misfit;
use crate::line::Line;
use crate::match_::{ApplyError, Match, Secrets};
use crate::plan::MatchPlan;
use agon_games::Registry;

/// The replay of a match from its stream.
pub struct MatchReplay<'a, I> {
    rest: I,
    /// The event that `before` has not applied yet.
    latest: Option<&'a Line>,
    before: Match,
    after: Match,
}

/// One event of a match.
#[derive(Clone, Copy)]
pub struct ReplayStep<'a> {
    /// The event, with its number and its time.
    pub line: &'a Line,
    /// The match before it.
    pub before: &'a Match,
    /// The match after it.
    pub after: &'a Match,
}

impl<'a, I: Iterator<Item = &'a Line>> MatchReplay<'a, I> {
    /// Begins after the first event, which creates the match.
    pub fn new(
        lines: impl IntoIterator<Item = &'a Line, IntoIter = I>,
        games: &Registry,
        secrets: Secrets,
    ) -> Result<MatchReplay<'a, I>, ApplyError> {
        let mut rest = lines.into_iter();
        let first = rest.next().ok_or(ApplyError::Empty)?;
        let before = Match::fold([first], games, secrets)?;
        let after = before.clone();
        Ok(MatchReplay { rest, latest: None, before, after })
    }

    /// The plan of the match.
    pub fn plan(&self) -> &MatchPlan {
        self.after.plan()
    }

    /// The match after the latest step.
    pub fn played(&self) -> &Match {
        &self.after
    }

    /// Advances by one event; `None` after the last.
    pub fn step(&mut self) -> Option<Result<ReplayStep<'_>, Misfit>> {
        let line = self.rest.next()?;
        if let Some(latest) = self.latest.take() {
            let applied = self.before.apply(latest.at, &latest.event);
            applied.expect("the other machine applied it");
        }
        if let Err(error) = self.after.apply(line.at, &line.event) {
            return Some(Err(Misfit { seq: line.seq, error }));
        }
        self.latest = Some(line);
        Some(Ok(ReplayStep { line, before: &self.before, after: &self.after }))
    }
}
