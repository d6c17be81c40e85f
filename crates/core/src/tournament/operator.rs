//! Orders of an operator to a tournament: `docs/decisions/0008-rulings-wait-for-resume.md`.
//!
//! A ruling takes effect when its pause ends. Until then it can be undone.

use super::{Phase, Tournament, TournamentRejection};
use crate::event::{
    Event, ReplayOrdered, ResultOverridden, RulingUndone, TournamentAwarded, TournamentPaused,
    TournamentResumed,
};
use crate::ids::{MatchId, PlayerName};
use crate::match_::ApplyError;
use crate::ruling::{Override, Ruling};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An order of an operator to a tournament.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TournamentOrder {
    /// Pause the tournament.
    Pause,
    /// Resume the tournament.
    Resume,
    /// Give a match of the latest round this result.
    Override {
        /// The match.
        id: MatchId,
        /// The winners.
        winners: Vec<PlayerName>,
    },
    /// Replay a finished match of the latest round.
    Replay {
        /// The match.
        id: MatchId,
    },
    /// Undo the ruling about a match in this pause.
    Undo {
        /// The match.
        id: MatchId,
    },
    /// End the tournament early: its open matches are void, and these players win.
    Award {
        /// The winners; empty if the tournament is abandoned.
        winners: Vec<PlayerName>,
    },
}

impl Tournament {
    /// The ruling that paused the tournament; `None` if it is not paused.
    pub fn paused(&self) -> Option<&Ruling> {
        self.state.paused.as_ref()
    }

    /// The ruling that ended the latest pause; `None` if there was none.
    pub fn resumed(&self) -> Option<&Ruling> {
        self.state.resumed.as_ref()
    }

    /// An operator's override of a match of the latest round, if any.
    pub fn overridden(&self, id: &MatchId) -> Option<&Override> {
        let round = self.state.rounds.last()?;
        round.overrides[round.place(id)?].as_ref()
    }

    /// The rulings that ordered replays of a match of the latest round.
    pub fn replays(&self, id: &MatchId) -> Vec<&Ruling> {
        let round = self.state.rounds.last();
        let replayed = round.and_then(|round| Some(&round.replayed[round.place(id)?]));
        replayed.into_iter().flatten().map(|(_, ruling)| ruling).collect()
    }

    pub(super) fn obey(
        &mut self,
        events: &mut Vec<Event>,
        order: TournamentOrder,
        ruling: Ruling,
    ) -> Result<(), TournamentRejection> {
        match (order, self.state.paused.is_some()) {
            (TournamentOrder::Pause, true) => return Err(TournamentRejection::Paused),
            (TournamentOrder::Pause, false) => self.emit(events, TournamentPaused { ruling }),
            (_, false) => return Err(TournamentRejection::NotPaused),
            (TournamentOrder::Resume, true) => self.emit(events, TournamentResumed { ruling }),
            (TournamentOrder::Override { id, winners }, true) => {
                let at = self.place(&id)?;
                self.unruled(at, &id)?;
                self.may_win(at, &winners)?;
                self.emit(events, ResultOverridden { id, result: Override { winners, ruling } });
            }
            (TournamentOrder::Replay { id }, true) => {
                let at = self.place(&id)?;
                self.unruled(at, &id)?;
                self.may_replay(at, &id)?;
                self.emit(events, ReplayOrdered { id, ruling });
            }
            (TournamentOrder::Award { winners }, true) => {
                self.may_be_awarded(&winners)?;
                self.emit(events, TournamentAwarded { result: Override { winners, ruling } });
            }
            (TournamentOrder::Undo { id }, true) => {
                let at = self.place(&id)?;
                if self.unruled(at, &id).is_ok() {
                    return Err(TournamentRejection::NotRuled(id));
                }
                self.emit(events, RulingUndone { id, ruling });
            }
        }
        Ok(())
    }

    /// The index of a match in the latest round. No later round depends on its results yet.
    fn place(&self, id: &MatchId) -> Result<usize, TournamentRejection> {
        if self.state.phase != Phase::Playing {
            return Err(TournamentRejection::NoRound);
        }
        let round = self.state.rounds.last();
        let place = round.and_then(|round| round.place(id));
        place.ok_or_else(|| TournamentRejection::Settled(id.clone()))
    }

    fn unruled(&self, at: usize, id: &MatchId) -> Result<(), TournamentRejection> {
        match self.state.rounds.last().is_some_and(|round| round.is_ruled(at)) {
            true => Err(TournamentRejection::Ruled(id.clone())),
            false => Ok(()),
        }
    }

    /// Checks that a match can be replayed: it is over, and none of its players has left.
    fn may_replay(&self, at: usize, id: &MatchId) -> Result<(), TournamentRejection> {
        let round = self.state.rounds.last().expect("the match is in the latest round");
        if round.reported[at].is_none() {
            return Err(TournamentRejection::NotOver(id.clone()));
        }
        let players = &round.matches[at].players;
        let gone = self.state.entrants.iter().find(|e| e.dropped && players.contains(&e.player));
        gone.map_or(Ok(()), |entrant| Err(TournamentRejection::Stranger(entrant.player.clone())))
    }

    fn may_win(&self, at: usize, winners: &[PlayerName]) -> Result<(), TournamentRejection> {
        let plan = &self.state.rounds.last().expect("the match is in the latest round").matches[at];
        if let Some(player) = winners.iter().find(|player| !plan.players.contains(player)) {
            let why = format!("{player} does not play in match {}", plan.id);
            return Err(TournamentRejection::Winners(why));
        }
        self.may_all_win(winners, "a match of a ")
    }

    /// Checks that the tournament can be awarded to these players: its last round is not over, and
    /// none of them has left.
    fn may_be_awarded(&self, winners: &[PlayerName]) -> Result<(), TournamentRejection> {
        if !matches!(self.state.phase, Phase::Greeting(_) | Phase::Playing) {
            return Err(TournamentRejection::NoRound);
        }
        self.may_all_win(winners, "a ")?;
        match winners.iter().find(|player| self.departure(player).is_some()) {
            Some(player) => Err(TournamentRejection::Winners(format!(
                "{player} has lost a match; override that result first"
            ))),
            None => Ok(()),
        }
    }

    /// Checks that each of the players may win, and all of them together. `what` begins the error
    /// message for several winners, before the name of the format.
    fn may_all_win(&self, winners: &[PlayerName], what: &str) -> Result<(), TournamentRejection> {
        let refuse = |why: String| Err(TournamentRejection::Winners(why));
        let mut seen = BTreeSet::new();
        for player in winners {
            let entrant = self.state.entrants.iter().find(|entrant| entrant.player == *player);
            if entrant.is_none() {
                return refuse(format!("{player} does not play in this tournament"));
            }
            if entrant.is_none_or(|entrant| entrant.dropped) {
                return refuse(format!("{player} has left the tournament and cannot win"));
            }
            if !seen.insert(player) {
                return refuse(format!("{player} is named twice"));
            }
        }
        let format = &self.plan.policy.format;
        match winners.len() > 1 && format.rules().has_one_winner() {
            true => refuse(format!("{what}{} has one winner, or none", format.name())),
            false => Ok(()),
        }
    }

    pub(super) fn apply_order(&mut self, event: &Event) -> Result<(), ApplyError> {
        match event {
            Event::TournamentPaused(paused) => self.state.paused = Some(paused.ruling.clone()),
            Event::TournamentInterrupted(interrupted) => {
                self.apply_interrupted(&interrupted.interruption);
            }
            Event::TournamentAwarded(awarded) => self.apply_awarded(&awarded.result),
            Event::TournamentResumed(resumed) => {
                self.state.paused = None;
                self.state.interrupted = None;
                self.state.resumed = Some(resumed.ruling.clone());
                self.state.rounds.iter_mut().for_each(super::Round::resume);
            }
            _ => {
                let out_of_place = ApplyError::OutOfPlace(event.tag());
                let ruled = self.state.rounds.last_mut().and_then(|round| round.rule(event));
                ruled.ok_or(out_of_place)??;
                self.count_out();
            }
        }
        Ok(())
    }

    /// Recomputes who is out after results have changed.
    fn count_out(&mut self) {
        let results = self.state.rounds.iter().flat_map(|round| round.results.iter().flatten());
        let out: BTreeSet<&PlayerName> = results.flat_map(|result| &result.out).collect();
        for entrant in &mut self.state.entrants {
            entrant.out = entrant.dropped || out.contains(&entrant.player);
        }
    }
}
