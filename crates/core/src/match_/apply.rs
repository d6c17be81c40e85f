//! How events change a match. Nothing else changes it.

use super::{Finished, Match, Phase, Presence, Secrets};
use crate::event::{AnswerAccepted, Event, GameEnded, GameStarted, MatchRestarted, Restart};
use crate::fault::{FaultKind, Faulted};
use crate::ids::{JsonText, MatchId, PlayerName, RequestId, Timestamp};
use crate::line::{AnswerText, Line};
use crate::policy::{CrashCost, Ties};
use crate::referee::{Referee, SetUp};
use crate::report::GameEnd;
use agon_games::{GameKind, Refusal, Registry, Seat, SetupError};
use agon_stats::PairCounts;
use std::sync::Arc;

/// An event that does not fit the state: the log is damaged, or belongs to another match.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ApplyError {
    /// The stream does not begin with the creation of a match.
    #[error("a match begins with match-created, not {0}")]
    NotAMatch(&'static str),
    /// The stream does not begin with the creation of a tournament.
    #[error("a tournament begins with tournament-created, not {0}")]
    NotATournament(&'static str),
    /// The event reports a match that is not in the latest round.
    #[error("there is no match {0} in the latest round")]
    UnknownMatch(MatchId),
    /// The stream is empty.
    #[error("the stream is empty")]
    Empty,
    /// The registry has no such game.
    #[error("unknown game {0:?}")]
    UnknownGame(String),
    /// The event belongs to another kind of stream.
    #[error("{0} does not belong here")]
    OutOfPlace(&'static str),
    /// The event names a player who does not play in this match.
    #[error("{0} does not play in this match")]
    Stranger(PlayerName),
    /// The rules reject the answer.
    #[error("the answer is not legal: {0}")]
    Refused(#[from] Refusal),
    /// The game cannot be set up.
    #[error("the game cannot be set up: {0}")]
    SetUp(#[from] SetupError),
    /// The secret of the game is not known.
    #[error("the secret of game {0} is not known yet: the game is not over")]
    NoSecret(u32),
}

impl Match {
    /// Folds a match from its stream.
    pub fn fold<'a>(
        lines: impl IntoIterator<Item = &'a Line>,
        games: &Registry,
        secrets: Secrets,
    ) -> Result<Match, ApplyError> {
        let mut lines = lines.into_iter();
        let first = lines.next().ok_or(ApplyError::Empty)?;
        let Event::MatchCreated(created) = &first.event else {
            return Err(ApplyError::NotAMatch(first.event.tag()));
        };
        let name = &created.plan.game;
        let kind =
            games.kind(name).cloned().ok_or_else(|| ApplyError::UnknownGame(name.clone()))?;
        let mut folded = Match::from_plan(created.plan.clone(), kind, secrets, first.at);
        for line in lines {
            folded.apply(line.at, &line.event)?;
        }
        Ok(folded)
    }

    /// Applies an event of the match's own stream.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Result<(), ApplyError> {
        match event {
            Event::PlayerArrived(arrived) => {
                let side = self.known_side(&arrived.player)?;
                self.state.sides[side].presence = Presence::Here;
                self.state.sides[side].missed = false;
                if arrived.nonce.is_some() {
                    self.state.sides[side].nonce = arrived.nonce.clone();
                }
            }
            Event::PlayerLeft(left) => self.apply_left(at, &left.faulted)?,
            Event::PlayerFaulted(faulted) => {
                let side = self.known_side(&faulted.faulted.player)?;
                self.state.faults.push(faulted.faulted.clone());
                self.apply_unconfirmed(side);
            }
            Event::WaitExpired(expired) => {
                let side = self.known_side(&expired.faulted.player)?;
                self.state.faults.push(expired.faulted.clone());
                self.state.sides[side].missed = true;
                if self.crash_cost() == CrashCost::Remove {
                    self.take_out(side);
                }
            }
            Event::GameStarted(started) => self.apply_started(started)?,
            Event::AnswerAccepted(accepted) => {
                let AnswerAccepted { request, seat, answer, took_ms, .. } = accepted;
                self.referee_mut(event.tag())?;
                self.accept(request, *seat, answer.get(), *took_ms)?;
            }
            Event::SeatRemoved(removed) => {
                let side = self.side_in(removed.seat, event)?;
                self.referee_mut(event.tag())?.remove(removed.seat);
                self.take_out(side);
            }
            Event::GameEnded(ended) => self.apply_ended(ended, event)?,
            Event::ResultConfirmed(confirmed) => {
                let side = self.known_side(&confirmed.player)?;
                self.close_confirmation(side);
            }
            Event::MatchRestarted(restarted) => self.apply_restarted(at, restarted),
            Event::MatchEnded(ended) => {
                for player in &ended.result.out {
                    let side = self.known_side(player)?;
                    self.state.sides[side].out = true;
                }
                self.state.phase = Phase::Ended(ended.result.clone());
                self.state.referee = None;
                self.clock.clear();
            }
            _ => return self.apply_order(at, event),
        }
        Ok(())
    }

    /// Applies an accepted answer from the text of its line, unless the game rejects it. Returns
    /// whether the game gives the draw of the line.
    pub(crate) fn apply_answer(&mut self, accepted: &AnswerText<'_>) -> Result<bool, ApplyError> {
        let AnswerText { request, seat, answer, took_ms, drawn } = accepted;
        self.referee_mut(AnswerAccepted::TAG)?;
        self.accept(&RequestId::from_text(request), *seat, answer, *took_ms)?;
        Ok(self.referee_mut(AnswerAccepted::TAG)?.has_drawn(*drawn))
    }

    /// Applies an answer. Only this function advances a game.
    pub(super) fn accept(
        &mut self,
        request: &RequestId,
        seat: Seat,
        answer: &str,
        took_ms: u64,
    ) -> Result<JsonText, Refusal> {
        let over_ms = took_ms.saturating_sub(self.plan.rules.time.answer_ms);
        let referee = self.state.referee.as_mut().expect("a game in progress");
        let accepted = referee.accept(seat, answer, over_ms)?;
        self.clock.retain(|(id, _)| id != request);
        Ok(accepted)
    }

    fn apply_left(&mut self, at: Timestamp, faulted: &Faulted) -> Result<(), ApplyError> {
        let side = self.known_side(&faulted.player)?;
        self.state.faults.push(faulted.clone());
        self.state.sides[side].presence = Presence::Gone(at);
        if faulted.fault.kind == FaultKind::Withdrew {
            // A player who withdraws is out of the match, even if the game is voided later.
            self.state.sides[side].out = true;
        } else if self.crash_cost() == CrashCost::Remove {
            self.take_out(side);
        }
        if let (Phase::Playing, Some(referee)) = (&self.state.phase, &mut self.state.referee)
            && let Some(seat) = referee.seat_of(&faulted.player)
        {
            referee.add_lapse(seat);
            let request = referee.request_id(seat);
            self.clock.retain(|(id, _)| *id != request);
        }
        self.apply_unconfirmed(side);
        Ok(())
    }

    /// Removes a player who fails instead of confirming a result: they leave the ranking.
    fn apply_unconfirmed(&mut self, side: usize) {
        if let Phase::Confirming(open) = &self.state.phase
            && open[side]
        {
            self.take_out(side);
            self.close_confirmation(side);
        }
    }

    fn close_confirmation(&mut self, side: usize) {
        if let Phase::Confirming(open) = &mut self.state.phase {
            open[side] = false;
            if !open.contains(&true) {
                self.state.phase = Phase::Gathering;
                self.clock.clear();
            }
        }
    }

    fn apply_started(&mut self, started: &GameStarted) -> Result<(), ApplyError> {
        let luck = started.duplicate_of.unwrap_or(started.game);
        let secret = self.secrets.of_game(luck).ok_or(ApplyError::NoSecret(luck))?;
        started.seats.iter().try_for_each(|player| self.known_side(player).map(|_| ()))?;
        let plan = Arc::clone(&self.plan);
        let config = started.config.as_ref().unwrap_or(&plan.config);
        let set_up = SetUp {
            tournament: &plan.tournament,
            id: &plan.id,
            number: started.game,
            luck,
            seats: started.seats.clone(),
            config: config.get(),
            nonces: &started.nonces,
            secret,
            bank_ms: plan.rules.time.bank_ms,
        };
        let kind: &dyn GameKind = &*self.kind;
        self.state.referee = Some(Referee::set_up(kind, set_up)?);
        if plan.rules.duplicate {
            self.state.group_nonces = started.nonces.clone();
        }
        self.state.phase = Phase::Playing;
        self.clock.clear();
        Ok(())
    }

    fn apply_ended(&mut self, ended: &GameEnded, event: &Event) -> Result<(), ApplyError> {
        let referee = self.state.referee.take().ok_or(ApplyError::OutOfPlace(event.tag()))?;
        let result = ended.result.clone();
        result.winners.iter().try_for_each(|player| self.known_side(player).map(|_| ()))?;
        self.clock.clear();
        let ruling = self.state.voids.get(&result.game);
        let (result, played) = match ruling.filter(|_| result.voided.is_none()) {
            Some(ruling) => (result.void(ruling), Some(Box::new(result))),
            None => (result, None),
        };
        let void = result.end == GameEnd::Void;
        self.state.finished.push(Arc::new(Finished { result, played, state: referee.game }));
        match self.plan.rules.duplicate {
            true => self.count_duplicate_game(),
            false => self.recount(),
        }
        let open: Vec<bool> = self.state.sides.iter().map(|side| !self.is_out(side)).collect();
        let confirm = self.plan.rules.confirm_result && open.contains(&true) && !void;
        self.state.phase = if confirm { Phase::Confirming(open) } else { Phase::Gathering };
        Ok(())
    }

    /// Counts the games won since the latest restart, without void games.
    pub(super) fn recount(&mut self) {
        if self.plan.rules.duplicate {
            return self.recount_groups();
        }
        let ties = self.plan.rules.ties;
        let mut halves = vec![0; self.state.sides.len()];
        let mut ties_in_row = 0;
        let counted = self.state.finished.iter().map(|finished| &finished.result);
        let counted = counted
            .filter(|result| result.game >= self.state.counts_from && result.end != GameEnd::Void);
        for result in counted {
            let shared = result.winners.len() > 1;
            for side in result.winners.iter().filter_map(|player| self.side_of(player)) {
                halves[side] += match (shared, ties) {
                    (false, _) => 2,
                    (true, Ties::Share) => 1,
                    (true, Ties::Replay) => 0,
                };
            }
            let tied = shared && ties == Ties::Replay;
            ties_in_row = if tied { ties_in_row + 1 } else { 0 };
        }
        self.state.ties_in_row = ties_in_row;
        let sides = self.state.sides.iter_mut().zip(halves);
        sides.for_each(|(side, halves)| side.halves = halves);
    }

    /// Removes a side from the match. If the game in progress, or the one being confirmed, is
    /// voided later, the side may play on; without such a game the removal is final.
    fn take_out(&mut self, side: usize) {
        let playing = self.state.referee.as_ref().map(|referee| referee.number);
        let confirming = matches!(self.state.phase, Phase::Confirming(_));
        let latest = self.state.finished.last().map(|finished| finished.result.game);
        if self.is_out(&self.state.sides[side]) {
            return;
        }
        match playing.or(latest.filter(|_| confirming)) {
            Some(game) => self.state.sides[side].removed_in = Some(game),
            None => self.state.sides[side].out = true,
        }
    }

    fn apply_restarted(&mut self, at: Timestamp, restarted: &MatchRestarted) {
        self.state.ties_in_row = 0;
        self.state.restarts += u32::from(restarted.why == Restart::Undecidable);
        self.state.counts_from = self.state.finished.len() as u32 + 1;
        self.state.config = restarted.config.clone();
        self.state.pairs = PairCounts::default();
        for side in &mut self.state.sides {
            side.halves = 0;
            if side.presence != Presence::Here {
                side.presence = Presence::Gone(at);
            }
        }
    }

    fn known_side(&self, player: &PlayerName) -> Result<usize, ApplyError> {
        self.side_of(player).ok_or_else(|| ApplyError::Stranger(player.clone()))
    }

    fn referee_mut(&mut self, tag: &'static str) -> Result<&mut Referee, ApplyError> {
        self.state.referee.as_mut().ok_or(ApplyError::OutOfPlace(tag))
    }

    fn side_in(&self, seat: Seat, event: &Event) -> Result<usize, ApplyError> {
        let referee = self.state.referee.as_ref().ok_or(ApplyError::OutOfPlace(event.tag()))?;
        let player = referee.seats.get(seat.index()).ok_or(ApplyError::OutOfPlace(event.tag()))?;
        self.known_side(player)
    }
}
