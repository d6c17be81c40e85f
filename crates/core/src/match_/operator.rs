//! Orders of an operator to a match: `docs/decisions/0008-rulings-wait-for-resume.md`.
//!
//! In a pause an operator may void games and count them again. Such a ruling takes effect when the
//! match is resumed. The tournament decides who has won and whether a match is replayed; on its
//! behalf, this module calls a match off or reopens it.

use super::step::Record;
use super::{ApplyError, Match, Phase, Presence, Rejection};
use crate::event::{
    Event, GameVoided, MatchCalledOff, MatchPaused, MatchReopened, MatchResumed, VoidUndone,
};
use crate::ids::Timestamp;
use crate::report::How;
use crate::ruling::Ruling;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An order of an operator to a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum MatchOrder {
    /// Pause the match.
    Pause,
    /// Resume the match.
    Resume,
    /// Void a game.
    Void(u32),
    /// Count a game again that was voided in this pause.
    UndoVoid(u32),
    /// End the match, because the tournament has a result for it.
    CallOff,
    /// Start a finished match again from the beginning.
    Reopen,
}

impl Match {
    /// The ruling that paused the match; `None` if it is not paused.
    pub fn paused(&self) -> Option<&Ruling> {
        self.state.paused.as_ref()
    }

    /// The ruling that voids the game in progress, if any. The game then ends when the match
    /// resumes.
    pub fn void_in_progress(&self) -> Option<&Ruling> {
        self.state.voids.get(&self.state.referee.as_ref()?.number)
    }

    /// How often the match was reopened after its end.
    pub fn reopened(&self) -> u32 {
        self.state.reopened
    }

    pub(super) fn obey(
        &mut self,
        record: &mut Record,
        order: MatchOrder,
        ruling: Ruling,
    ) -> Result<(), Rejection> {
        let over = matches!(self.state.phase, Phase::Ended(_));
        let paused = self.state.paused.is_some();
        match order {
            MatchOrder::Reopen if !over => Err(Rejection::NotOver),
            MatchOrder::Reopen => {
                self.emit(record, MatchReopened { ruling });
                Ok(())
            }
            _ if over => Err(Rejection::Over),
            MatchOrder::Pause if paused => Err(Rejection::Paused),
            MatchOrder::Pause => {
                self.emit(record, MatchPaused { ruling });
                Ok(())
            }
            MatchOrder::CallOff => {
                self.emit(record, MatchCalledOff { ruling });
                self.end_game_without_winner(record);
                self.end_match(record, Vec::new(), How::Void, Vec::new());
                Ok(())
            }
            _ if !paused => Err(Rejection::NotPaused),
            MatchOrder::Resume => {
                self.emit(record, MatchResumed { ruling });
                self.proceed(record)
            }
            MatchOrder::Void(game) => {
                self.may_void(game)?;
                self.emit(record, GameVoided { game, ruling });
                Ok(())
            }
            MatchOrder::UndoVoid(game) => {
                if !self.state.undoable.contains(&game) {
                    return Err(Rejection::NotVoid(game));
                }
                self.emit(record, VoidUndone { game, ruling });
                Ok(())
            }
        }
    }

    fn may_void(&self, game: u32) -> Result<(), Rejection> {
        let running = self.state.referee.as_ref().is_some_and(|referee| referee.number == game);
        let counts = (self.state.counts_from..=self.state.finished.len() as u32).contains(&game);
        match running || counts {
            false => Err(Rejection::NoGame(game)),
            true if self.state.voids.contains_key(&game) => Err(Rejection::Void(game)),
            true => Ok(()),
        }
    }

    /// Continues after a pause as if there had been none, except that void games do not count.
    fn proceed(&mut self, record: &mut Record) -> Result<(), Rejection> {
        if self.void_in_progress().is_some() {
            self.end_game_without_winner(record);
        }
        match self.state.finished.is_empty() {
            true => self.gather(record),
            false => self.after_game_if_confirmed(record),
        }
    }

    pub(super) fn apply_order(&mut self, at: Timestamp, event: &Event) -> Result<(), ApplyError> {
        match event {
            Event::MatchPaused(paused) => {
                self.state.paused = Some(paused.ruling.clone());
                // After the pause the server sends requests again, with the full time limit.
                self.clock.clear();
            }
            Event::MatchResumed(_) => self.apply_resumed(at),
            Event::GameVoided(voided) => {
                self.state.undoable.push(voided.game);
                self.state.voids.insert(voided.game, voided.ruling.clone());
                self.judge(voided.game);
            }
            Event::VoidUndone(undone) => {
                self.state.undoable.retain(|game| *game != undone.game);
                self.state.voids.remove(&undone.game);
                self.judge(undone.game);
            }
            // The events that follow hold the consequences.
            Event::MatchCalledOff(_) => self.state.paused = None,
            Event::MatchReopened(_) => self.apply_reopened(at),
            _ => return Err(ApplyError::OutOfPlace(event.tag())),
        }
        Ok(())
    }

    /// Makes the result of a finished game agree with whether it is void.
    fn judge(&mut self, game: u32) {
        let finished = self.state.finished.iter_mut();
        if let Some(one) = finished.into_iter().find(|one| one.result.game == game) {
            let one = Arc::make_mut(one);
            match self.state.voids.get(&game) {
                Some(ruling) => {
                    let void = one.result.void(ruling);
                    one.played = Some(Box::new(std::mem::replace(&mut one.result, void)));
                }
                None => {
                    if let Some(played) = one.played.take() {
                        one.result = *played;
                    }
                }
            }
        }
        self.recount();
    }

    /// Restarts all waits, and drops requests to confirm the result of a void game.
    fn apply_resumed(&mut self, at: Timestamp) {
        self.state.paused = None;
        self.state.undoable.clear();
        for side in &mut self.state.sides {
            match &mut side.presence {
                Presence::Awaited(since) | Presence::Gone(since) => *since = at,
                Presence::Here => {}
            }
        }
        let latest = self.state.finished.last();
        let void = latest.is_some_and(|finished| finished.result.voided.is_some());
        if void && matches!(self.state.phase, Phase::Confirming(_)) {
            self.state.phase = Phase::Gathering;
        }
    }

    /// Resets the match to its beginning, except for the numbers of games and the faults.
    fn apply_reopened(&mut self, at: Timestamp) {
        self.state.phase = Phase::Gathering;
        self.state.paused = None;
        self.state.undoable.clear();
        self.state.restarts = 0;
        self.state.counts_from = self.state.finished.len() as u32 + 1;
        self.state.config = None;
        self.state.reopened += 1;
        for side in &mut self.state.sides {
            side.presence = Presence::Awaited(at);
            (side.out, side.removed_in, side.missed) = (false, None, false);
        }
        self.recount();
    }
}
