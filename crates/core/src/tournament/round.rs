//! A round: its matches, their results, and the rulings of operators about them.

use crate::event::{Event, MatchReported, RoundPaired};
use crate::ids::{MatchId, PlayerName};
use crate::match_::ApplyError;
use crate::plan::MatchPlan;
use crate::report::{Bye, MatchResult, RoundStage};
use crate::ruling::{Override, Ruling};

/// A round and its results so far. All lists run parallel to `matches`.
#[derive(Clone, PartialEq, Debug)]
pub struct Round {
    /// The stage it belongs to, in a tournament of several.
    pub stage: Option<RoundStage>,
    /// Its matches.
    pub matches: Vec<MatchPlan>,
    /// The places without a match.
    pub byes: Vec<Bye>,
    /// The results that count, after overrides.
    pub results: Vec<Option<MatchResult>>,
    /// The results as the matches reported them.
    pub reported: Vec<Option<MatchResult>>,
    /// The results that operators gave instead.
    pub overrides: Vec<Option<Override>>,
    /// Results that counted until a replay was ordered, each with who ordered it and why.
    pub replayed: Vec<Vec<(MatchResult, Ruling)>>,
    /// The state of each match before a ruling of this pause.
    before: Vec<Option<Before>>,
}

/// The values that a ruling about a match changes.
#[derive(Clone, PartialEq, Debug)]
struct Before {
    reported: Option<MatchResult>,
    overridden: Option<Override>,
    replays: usize,
}

impl Round {
    pub(crate) fn new(paired: &RoundPaired) -> Round {
        let count = paired.matches.len();
        Round {
            stage: paired.stage.clone(),
            matches: paired.matches.clone(),
            byes: paired.byes.clone(),
            results: vec![None; count],
            reported: vec![None; count],
            overrides: vec![None; count],
            replayed: vec![Vec::new(); count],
            before: vec![None; count],
        }
    }

    /// The matches without a reported result.
    pub fn open(&self) -> impl Iterator<Item = &MatchPlan> {
        let open = self.matches.iter().zip(&self.reported);
        open.filter(|(_, result)| result.is_none()).map(|(plan, _)| plan)
    }

    /// The players of reported matches who did not win.
    pub fn losers(&self) -> impl Iterator<Item = &PlayerName> {
        let reported = self.matches.iter().zip(&self.results);
        reported.filter_map(|(plan, result)| Some((plan, result.as_ref()?))).flat_map(
            |(plan, result)| plan.players.iter().filter(|player| !result.winners.contains(player)),
        )
    }

    /// Returns whether all matches are reported.
    pub fn is_over(&self) -> bool {
        self.reported.iter().all(Option::is_some)
    }

    /// The index of a match in the lists.
    pub fn place(&self, id: &MatchId) -> Option<usize> {
        self.matches.iter().position(|plan| plan.id == *id)
    }

    /// Returns whether there is a ruling about a match in this pause.
    pub(crate) fn is_ruled(&self, at: usize) -> bool {
        self.before[at].is_some()
    }

    /// Records a match's own result, and returns its index in the lists.
    pub(crate) fn report(&mut self, reported: &MatchReported) -> Result<usize, ApplyError> {
        let at = self.known(&reported.id)?;
        self.reported[at] = Some(reported.result.clone());
        self.settle(at);
        Ok(at)
    }

    /// Applies a ruling about one of the matches; `None` if the event is no such ruling.
    pub(crate) fn rule(&mut self, event: &Event) -> Option<Result<usize, ApplyError>> {
        let out_of_place = || ApplyError::OutOfPlace(event.tag());
        let ruled = match event {
            Event::ResultOverridden(overridden) => self.known(&overridden.id).inspect(|at| {
                self.keep(*at);
                self.overrides[*at] = Some(overridden.result.clone());
            }),
            Event::ReplayOrdered(ordered) => self.known(&ordered.id).and_then(|at| {
                let result = self.reported[at].clone().ok_or_else(out_of_place)?;
                self.keep(at);
                (self.reported[at], self.overrides[at]) = (None, None);
                self.replayed[at].push((result, ordered.ruling.clone()));
                Ok(at)
            }),
            Event::RulingUndone(undone) => self.known(&undone.id).and_then(|at| {
                let before = self.before[at].take().ok_or_else(out_of_place)?;
                self.replayed[at].truncate(before.replays);
                // A match that ended after the ruling keeps its result.
                self.reported[at] = before.reported.or(self.reported[at].take());
                self.overrides[at] = before.overridden;
                Ok(at)
            }),
            _ => return None,
        };
        if let Ok(at) = ruled {
            self.settle(at);
        }
        Some(ruled)
    }

    /// Ends the pause: its rulings can no longer be undone.
    pub(crate) fn resume(&mut self) {
        self.before.fill(None);
    }

    fn known(&self, id: &MatchId) -> Result<usize, ApplyError> {
        self.place(id).ok_or_else(|| ApplyError::UnknownMatch(id.clone()))
    }

    fn keep(&mut self, at: usize) {
        let (reported, overridden) = (self.reported[at].clone(), self.overrides[at].clone());
        let replays = self.replayed[at].len();
        self.before[at] = Some(Before { reported, overridden, replays });
    }

    /// Computes the result that counts: the operator's override, or the match's own result.
    fn settle(&mut self, at: usize) {
        let reported = self.reported[at].as_ref();
        self.results[at] = match &self.overrides[at] {
            Some(by) => reported.map(|result| result.overridden(by)),
            None => reported.cloned(),
        };
    }
}
