//! How a match processes a command: it records the cause as an event, then the consequences.
//!
//! A rejected command leaves the match unchanged. An accepted command returns the events of one
//! record, which the match has applied already. The caller commits them and then notifies the
//! players. If the log rejects the record, the caller drops the match.

use super::{Match, MatchCommand, Phase, Presence, Rejection, Secrets};
use crate::event::{
    AnswerAccepted, Event, GameEnded, GameStarted, MatchEnded, MatchRestarted, PlayerArrived,
    PlayerFaulted, PlayerLeft, Restart, ResultConfirmed, SeatRemoved, WaitExpired,
};
use crate::fair::Commitment;
use crate::fault::{Fault, FaultKind, Faulted};
use crate::ids::{PlayerName, RequestId, Timestamp};
use crate::line::AnswerText;
use crate::policy::{CheatCost, CrashCost, Ties};
use crate::referee::{Reading, Referee};
use crate::report::{GameEnd, GameResult, How, MatchResult};
use agon_games::{GameState, Luck, Outcome, Seat};

/// The record under construction: its time, and its events so far.
pub(super) struct Record {
    now: Timestamp,
    events: Vec<Event>,
}

impl Match {
    /// Decides a command and applies its consequences.
    pub fn step(&mut self, now: Timestamp, command: MatchCommand) -> Result<Vec<Event>, Rejection> {
        // Only a match that is read from a log can find out midway that a secret is missing.
        let before = matches!(self.secrets, Secrets::Revealed(_)).then(|| self.clone());
        match self.step_as_far(now, command) {
            (events, None) => Ok(events),
            (_, Some(rejection)) => {
                if let Some(before) = before {
                    *self = before;
                }
                Err(rejection)
            }
        }
    }

    /// Like `step`, but keeps the events that were decided before a secret was missing.
    pub(crate) fn step_as_far(
        &mut self,
        now: Timestamp,
        command: MatchCommand,
    ) -> (Vec<Event>, Option<Rejection>) {
        let mut record = Record { now, events: Vec::new() };
        let rejection = self.decide(&mut record, command).err();
        (record.events, rejection)
    }

    /// Decides an answer of a log again. Returns the accepted answer if it has no consequences.
    pub(crate) fn answer_again(
        &mut self,
        now: Timestamp,
        text: &AnswerText<'_>,
    ) -> Option<AnswerAccepted> {
        let AnswerText { request, seat, answer, took_ms, .. } = text;
        let player = self.state.referee.as_ref()?.seats.get(seat.index())?.clone();
        let mut record = Record { now, events: Vec::with_capacity(1) };
        let request = RequestId::from_text(request);
        self.answer(&mut record, player, request, (answer, None), *took_ms).ok()?;
        match (record.events.pop(), record.events.is_empty()) {
            (Some(Event::AnswerAccepted(accepted)), true) => Some(accepted),
            _ => None,
        }
    }

    fn decide(&mut self, record: &mut Record, command: MatchCommand) -> Result<(), Rejection> {
        if let MatchCommand::Order { order, ruling } = command {
            return self.obey(record, order, ruling);
        }
        if matches!(self.state.phase, Phase::Ended(_)) {
            return Err(Rejection::Over);
        }
        if self.state.paused.is_some() && runs_out(&command) {
            return Err(Rejection::Paused);
        }
        match command {
            MatchCommand::Arrive { player, nonce } => {
                let side = self.member(&player)?;
                if self.here(side) || self.is_out(&self.state.sides[side]) {
                    return Ok(());
                }
                self.emit(record, PlayerArrived { player, nonce });
                self.meet(record)
            }
            MatchCommand::Leave { player, fault } => self.leave(record, &player, fault),
            MatchCommand::Answer { player, request, answer, took_ms } => {
                let took_ms = took_ms.unwrap_or_else(|| self.took_ms(&request, record.now));
                self.answer(record, player, request, (&answer, None), took_ms)
            }
            MatchCommand::Translated { player, request, answer, sent, took_ms } => {
                let took_ms = took_ms.unwrap_or_else(|| self.took_ms(&request, record.now));
                self.answer(record, player, request, (&answer, Some(&sent)), took_ms)
            }
            MatchCommand::Charge { player, fault } => self.charge(record, &player, fault),
            MatchCommand::Expire { player } => self.expire(record, &player),
            MatchCommand::Order { .. } => unreachable!("orders are obeyed before"),
        }
    }

    pub(super) fn emit(&mut self, record: &mut Record, event: impl Into<Event>) {
        let mut event = event.into();
        self.apply(record.now, &event).expect("a match accepts what it decided");
        let mut drawn = || self.state.referee.as_mut().and_then(Referee::drawn);
        match &mut event {
            Event::GameStarted(started) => started.drawn = drawn(),
            Event::SeatRemoved(removed) => removed.drawn = drawn(),
            _ => {}
        }
        record.events.push(event);
    }

    fn took_ms(&self, request: &RequestId, now: Timestamp) -> u64 {
        let delivered = self.clock.iter().find(|(id, _)| id == request);
        let took_ms = delivered.map_or(0, |(_, at)| now.since(*at));
        // An accepted answer was in time, so delays inside the server are not charged.
        let mut open = self.pending().into_iter();
        let open = open.find(|pending| pending.id == *request);
        open.map_or(took_ms, |pending| took_ms.min(pending.limit_ms))
    }

    fn member(&self, player: &PlayerName) -> Result<usize, Rejection> {
        self.side_of(player).ok_or_else(|| Rejection::Stranger(player.clone()))
    }

    fn leave(
        &mut self,
        record: &mut Record,
        player: &PlayerName,
        fault: Fault,
    ) -> Result<(), Rejection> {
        let side = self.member(player)?;
        let withdrew = fault.kind == FaultKind::Withdrew;
        let gone = matches!(self.state.sides[side].presence, Presence::Gone(_));
        if self.is_out(&self.state.sides[side]) || (gone && !withdrew) {
            return Ok(());
        }
        let faulted = self.faulted(player, fault);
        let confirming = matches!(self.state.phase, Phase::Confirming(_));
        self.emit(record, PlayerLeft { faulted });
        if confirming {
            return self.after_game_if_confirmed(record);
        }
        if withdrew && self.crash_cost() != CrashCost::Remove {
            self.forfeit_match(record, side, How::Forfeit, true);
            return Ok(());
        }
        self.lost(record, side)
    }

    /// Applies the consequences of losing a player.
    fn lost(&mut self, record: &mut Record, side: usize) -> Result<(), Rejection> {
        if self.state.phase == Phase::Gathering {
            self.restart_if_all_gone(record);
            return self.gather(record);
        }
        match self.crash_cost() {
            CrashCost::ForfeitGame => self.forfeit_game(record, side),
            CrashCost::Remove => self.remove_seat(record, side),
            CrashCost::Resume => {
                let referee = self.state.referee.as_ref().expect("a game in progress");
                let seat = referee.seat_of(&self.state.sides[side].player).expect("has a seat");
                if referee.lapses(seat) > self.plan.rules.lapses_max {
                    self.forfeit_match(record, side, How::Forfeit, false);
                }
                Ok(())
            }
        }
    }

    fn answer(
        &mut self,
        record: &mut Record,
        player: PlayerName,
        request: RequestId,
        (answer, sent): (&str, Option<&str>),
        took_ms: u64,
    ) -> Result<(), Rejection> {
        let with_sent = |fault: Fault| match sent {
            Some(sent) => fault.with_sent(sent),
            None => fault,
        };
        let side = self.member(&player)?;
        if self.is_out(&self.state.sides[side]) {
            return Err(Rejection::Late);
        }
        if let Phase::Confirming(open) = &self.state.phase {
            return match open[side] && request == self.confirm_id(side) {
                true => self.confirm(record, player, request, answer),
                false => Err(Rejection::Late),
            };
        }
        let Some(referee) = &self.state.referee else { return Err(Rejection::Late) };
        match referee.read(&request) {
            Reading::Open(seat) if referee.seats[seat.index()] != player => {
                let fault = Fault::foreign_request(&referee.seats[seat.index()]);
                self.fault(record, side, with_sent(fault.with_answer(answer)))
            }
            Reading::Open(_) if !self.here(side) => Err(Rejection::Late),
            // `accept` parses, checks and applies the answer; the event records the result.
            Reading::Open(seat) => match self.accept(&request, seat, answer, took_ms) {
                Ok(answer) => {
                    let drawn = self.state.referee.as_mut().and_then(Referee::drawn);
                    let accepted = AnswerAccepted { request, seat, answer, drawn, took_ms };
                    record.events.push(accepted.into());
                    self.settle(record)
                }
                Err(refusal) => {
                    self.fault(record, side, with_sent(Fault::refused(&refusal, answer)))
                }
            },
            // A player must not learn what others answered, or how often.
            Reading::Answered(seat, _) | Reading::Closed(seat)
                if referee.seats[seat.index()] != player =>
            {
                Err(Rejection::Foreign)
            }
            Reading::Answered(_, accepted) => {
                let accepted = accepted.map(|answer| answer.to_raw());
                Err(Rejection::Repeated { accepted })
            }
            Reading::Closed(_) | Reading::Past => Err(Rejection::Late),
            Reading::Foreign => Err(Rejection::Foreign),
        }
    }

    fn confirm(
        &mut self,
        record: &mut Record,
        player: PlayerName,
        request: RequestId,
        answer: &str,
    ) -> Result<(), Rejection> {
        if answer.trim() == "\"ok\"" {
            self.emit(record, ResultConfirmed { request, player });
        } else {
            let detail = "a result is confirmed with \"ok\"";
            let faulted = self.faulted(&player, Fault::malformed(detail, answer));
            self.emit(record, PlayerFaulted { faulted });
        }
        self.after_game_if_confirmed(record)
    }

    fn charge(
        &mut self,
        record: &mut Record,
        player: &PlayerName,
        fault: Fault,
    ) -> Result<(), Rejection> {
        let side = self.member(player)?;
        if !self.pending().iter().any(|pending| pending.player == *player) || !self.here(side) {
            return Err(Rejection::NotAsked(player.clone()));
        }
        self.fault(record, side, fault)
    }

    /// Charges a fault to a connected player.
    fn fault(&mut self, record: &mut Record, side: usize, fault: Fault) -> Result<(), Rejection> {
        let player = self.state.sides[side].player.clone();
        let cheat = fault.is_cheat();
        let faulted = self.faulted(&player, fault);
        let playing = self.state.phase == Phase::Playing;
        if playing && !cheat && self.crash_cost() == CrashCost::Resume {
            self.emit(record, PlayerLeft { faulted });
            return self.lost(record, side);
        }
        self.emit(record, PlayerFaulted { faulted });
        if !playing {
            return self.after_game_if_confirmed(record);
        }
        match (cheat, self.plan.rules.cheat, self.crash_cost()) {
            (true, CheatCost::Blacklist, _) => {
                self.forfeit_match(record, side, How::Forfeit, true);
                Ok(())
            }
            (true, CheatCost::Remove, _) | (_, _, CrashCost::Remove) => {
                self.remove_seat(record, side)
            }
            _ => self.forfeit_game(record, side),
        }
    }

    fn expire(&mut self, record: &mut Record, player: &PlayerName) -> Result<(), Rejection> {
        let side = self.member(player)?;
        if self.waited_since(side).is_none() {
            return Err(Rejection::NotAwaited(player.clone()));
        }
        let faulted = self.faulted(player, Fault::no_show(self.plan.rules.time.wait_ms));
        self.emit(record, WaitExpired { faulted });
        let mut sides = 0..self.state.sides.len();
        if sides.clone().any(|side| self.here(side)) {
            return self.meet(record);
        }
        // Every absent player has a wait of their own: one who was lost later may still reconnect
        // and win.
        if sides.all(|side| self.waited_since(side).is_none()) {
            self.end_game_without_winner(record);
            self.end_match(record, Vec::new(), How::Void, Vec::new());
        }
        Ok(())
    }

    /// Continues once at least one player is connected. A player whose wait timed out loses the
    /// match. Where lost players are removed, the others play on without them.
    fn meet(&mut self, record: &mut Record) -> Result<(), Rejection> {
        let missed = self.state.sides.iter().position(|side| side.missed && !self.is_out(side));
        let Some(side) = missed else { return self.gather(record) };
        let started = self.state.referee.is_some() || !self.state.finished.is_empty();
        let how = if started { How::Forfeit } else { How::NoShow };
        self.forfeit_match(record, side, how, false);
        Ok(())
    }

    /// Starts the next game if every player is connected or out for good.
    pub(super) fn gather(&mut self, record: &mut Record) -> Result<(), Rejection> {
        let ready = |side: &super::Side| self.is_out(side) || side.presence == Presence::Here;
        let gathering = self.state.phase == Phase::Gathering && self.state.paused.is_none();
        if !gathering || !self.state.sides.iter().all(ready) {
            return Ok(());
        }
        if self.state.sides.iter().all(|side| self.is_out(side)) {
            self.end_match(record, Vec::new(), How::Void, Vec::new());
            return Ok(());
        }
        let game = self.state.finished.len() as u32 + 1;
        let luck = self.luck_of(game);
        let secret = self.secrets.of_game(luck).ok_or(Rejection::NoSecret(luck))?;
        let started = self.coming_game(secret.commitment());
        self.emit(record, started);
        for side in 0..self.state.sides.len() {
            if self.is_out(&self.state.sides[side]) && self.state.phase == Phase::Playing {
                self.remove_seat(record, side)?;
            }
        }
        Ok(())
    }

    /// The `game-started` event of the next game, without what luck gives.
    pub(crate) fn coming_game(&self, commitment: Commitment) -> GameStarted {
        let (game, count) = (self.state.finished.len() as u32 + 1, self.state.sides.len());
        let luck = self.luck_of(game);
        let shift = match (self.plan.rules.duplicate, self.plan.rules.rotate_seats) {
            (true, _) => (game - luck) as usize,
            (false, true) => (game as usize - 1) % count,
            (false, false) => 0,
        };
        let order = || (0..count).map(|seat| &self.state.sides[(seat + shift) % count]);
        let nonces = match luck == game {
            true => order().map(|side| side.nonce.clone()).collect(),
            false => self.state.group_nonces.clone(),
        };
        GameStarted {
            game,
            seats: order().map(|side| side.player.clone()).collect(),
            config: self.state.config.clone(),
            commitment,
            nonces,
            duplicate_of: (luck != game).then_some(luck),
            drawn: None,
        }
    }

    fn remove_seat(&mut self, record: &mut Record, side: usize) -> Result<(), Rejection> {
        let player = &self.state.sides[side].player;
        let referee = self.state.referee.as_ref().expect("a game in progress");
        let seat = referee.seat_of(player).expect("players have seats");
        self.emit(record, SeatRemoved { seat, drawn: None });
        self.settle(record)
    }

    /// Ends the game if the rules say it is over.
    fn settle(&mut self, record: &mut Record) -> Result<(), Rejection> {
        let referee = self.state.referee.as_ref().expect("a game in progress");
        let Some(outcome) = referee.game.outcome() else { return Ok(()) };
        self.end_game(record, GameEnd::Played, outcome);
        self.after_game_if_confirmed(record)
    }

    fn forfeit_game(&mut self, record: &mut Record, side: usize) -> Result<(), Rejection> {
        self.end_game_by(record, side);
        self.after_game_if_confirmed(record)
    }

    /// Ends the game in progress, if any, as a forfeit by `side`.
    fn end_game_by(&mut self, record: &mut Record, side: usize) {
        let Some(referee) = &self.state.referee else { return };
        let by = self.state.sides[side].player.clone();
        let loser = referee.seat_of(&by).expect("players have seats");
        let mut rest = referee.game.boxed_clone();
        rest.remove(loser);
        let count = referee.seats.len();
        let scores = rest.outcome().map_or_else(|| vec![0; count], |outcome| outcome.scores);
        let ranks = Seat::all(count).map(|seat| (seat != loser).then_some(1)).collect();
        self.end_game(record, GameEnd::Forfeited { by }, Outcome { scores, ranks });
    }

    pub(super) fn end_game_without_winner(&mut self, record: &mut Record) {
        if let Some(referee) = &self.state.referee {
            let count = referee.seats.len();
            let outcome = Outcome { scores: vec![0; count], ranks: vec![None; count] };
            self.end_game(record, GameEnd::Void, outcome);
        }
    }

    fn end_game(&mut self, record: &mut Record, end: GameEnd, outcome: Outcome) {
        let referee = self.state.referee.as_ref().expect("a game in progress");
        let winners = outcome.winners().map(|seat| referee.seats[seat.index()].clone()).collect();
        let (game, seats) = (referee.number, referee.seats.clone());
        let Outcome { scores, ranks } = outcome;
        let luck = if end == GameEnd::Played { self.luck(&*referee.game) } else { Vec::new() };
        let ruling = self.state.voids.get(&game).filter(|_| end == GameEnd::Void);
        let voided = ruling.cloned();
        let result = GameResult { game, seats, end, scores, ranks, winners, luck, voided };
        let secret = self.is_last_of_group(game).then(|| referee.secret.clone());
        self.emit(record, GameEnded { result, secret });
    }

    /// The luck of each seat in the game in progress; empty if the rules do not ask for it.
    fn luck(&self, game: &dyn GameState) -> Vec<i64> {
        let config = self.state.config.as_ref().unwrap_or(&self.plan.config);
        let is_wanted = self.plan.rules.measure_luck;
        let luck = is_wanted.then(|| self.kind.luck(config.get(), game));
        luck.flatten().unwrap_or_default()
    }

    /// Continues after a game once nobody has to confirm its result.
    pub(super) fn after_game_if_confirmed(&mut self, record: &mut Record) -> Result<(), Rejection> {
        let gathering = self.state.phase == Phase::Gathering && self.state.paused.is_none();
        if !gathering || self.state.finished.is_empty() {
            return Ok(());
        }
        let rules = &self.plan.rules;
        if rules.duplicate {
            return self.after_duplicate_game(record);
        }
        let need = rules.best_of.div_ceil(2);
        match rules.ties {
            Ties::Share => self.after_shared_game(record),
            Ties::Replay if self.state.sides.iter().any(|side| self.is_out(side)) => {
                let winners = self.players(|side| !self.is_out(side));
                self.end_match(record, winners, How::Forfeit, Vec::new());
                Ok(())
            }
            Ties::Replay if self.state.sides.iter().any(|side| side.halves >= 2 * need) => {
                let winners = self.players(|side| side.halves >= 2 * need);
                self.end_match(record, winners, How::Played, Vec::new());
                Ok(())
            }
            Ties::Replay if self.state.ties_in_row >= need => self.undecidable(record),
            Ties::Replay => {
                self.restart_if_all_gone(record);
                self.gather(record)
            }
        }
    }

    fn after_shared_game(&mut self, record: &mut Record) -> Result<(), Rejection> {
        let best_of = self.plan.rules.best_of;
        let finished = self.state.finished.iter().map(|finished| &finished.result);
        let counted = finished.filter(|result| result.game >= self.state.counts_from);
        let played = counted.filter(|result| result.voided.is_none()).count() as u32;
        let ahead = self.state.sides.iter().any(|side| side.halves > best_of);
        let broken = self.state.sides.iter().any(|side| self.is_out(side));
        if played < best_of && !ahead && !broken {
            return self.gather(record);
        }
        self.end_by_score(record);
        Ok(())
    }

    /// Ends the match: the players with the most games won are its winners.
    pub(super) fn end_by_score(&mut self, record: &mut Record) {
        let most = self.state.sides.iter().map(|side| side.halves).max().unwrap_or(0);
        let winners = self.players(|side| most != 0 && side.halves == most && !self.is_out(side));
        self.end_match(record, winners, How::Played, Vec::new());
    }

    pub(super) fn undecidable(&mut self, record: &mut Record) -> Result<(), Rejection> {
        if self.state.restarts >= Match::RESTARTS_MAX {
            let winner = self.draw_lots();
            self.end_match(record, vec![winner], How::Lot, Vec::new());
            return Ok(());
        }
        let config = self.kind.after_undecidable(self.plan.config.get());
        let config = Some(config.expect("the match's configuration was checked").into());
        self.emit(record, MatchRestarted { why: Restart::Undecidable, config, secret: None });
        self.gather(record)
    }

    /// Draws lots among all players, from the luck of the latest game (label `lot`, index 0).
    fn draw_lots(&self) -> PlayerName {
        let game = self.luck_of(self.state.finished.len() as u32);
        let secret = self.secrets.of_game(game).expect("the secret of a finished game");
        let seed = secret.game_seed(&self.plan.tournament, &self.plan.id, game, &[]);
        let lot = Luck::new(&seed, "lot").below(0, self.plan.players.len() as u64);
        self.plan.players[lot as usize].clone()
    }

    /// Restarts the match if every player is gone between two games: the games so far do not count.
    pub(super) fn restart_if_all_gone(&mut self, record: &mut Record) {
        let all_gone = self.state.sides.iter().all(|side| side.presence != Presence::Here);
        let begun = self.state.sides.iter().any(|side| side.halves > 0)
            || self.state.ties_in_row > 0
            || self.state.config.is_some();
        if all_gone && begun && self.crash_cost() != CrashCost::Remove {
            let secret = self.secret_of_open_group();
            self.emit(record, MatchRestarted { why: Restart::AllGone, config: None, secret });
        }
    }

    fn forfeit_match(&mut self, record: &mut Record, side: usize, how: How, out: bool) {
        self.end_game_by(record, side);
        let loser = self.state.sides[side].player.clone();
        let winners =
            self.players(|side| side.player != loser && !self.is_out(side) && !side.missed);
        let how = if winners.is_empty() { How::Void } else { how };
        let out = if out { vec![loser] } else { Vec::new() };
        self.end_match(record, winners, how, out);
    }

    pub(super) fn end_match(
        &mut self,
        record: &mut Record,
        winners: Vec<PlayerName>,
        how: How,
        out: Vec<PlayerName>,
    ) {
        let mut all_out = self.players(|side| self.is_out(side) || out.contains(&side.player));
        all_out.dedup();
        let result = MatchResult {
            winners,
            how,
            halves: self.state.sides.iter().map(|side| side.halves).collect(),
            games: self.state.finished.iter().map(|finished| finished.result.clone()).collect(),
            counts_from: self.state.counts_from,
            faults: self.state.faults.clone(),
            out: all_out,
        };
        let secret = self.secret_of_open_group();
        self.emit(record, MatchEnded { result, head: None, secret });
    }

    pub(super) fn players(&self, which: impl Fn(&super::Side) -> bool) -> Vec<PlayerName> {
        let sides = self.state.sides.iter().filter(|side| which(side));
        sides.map(|side| side.player.clone()).collect()
    }

    /// A fault, with the game and the open request that it belongs to.
    fn faulted(&self, player: &PlayerName, fault: Fault) -> Faulted {
        let game = self.state.referee.as_ref().map(|referee| referee.number);
        let open = self.pending().into_iter().find(|pending| pending.player == *player);
        let request = open.map(|pending| pending.id);
        Faulted { player: player.clone(), game, request, fault }
    }
}

/// Returns whether a command is caused by time or by a connection. Such commands are rejected in a
/// pause.
fn runs_out(command: &MatchCommand) -> bool {
    match command {
        // Other faults are charged even in a pause.
        MatchCommand::Leave { fault, .. } | MatchCommand::Charge { fault, .. } => {
            matches!(fault.kind, FaultKind::Timeout | FaultKind::Disconnected | FaultKind::NoShow)
        }
        MatchCommand::Expire { .. } => true,
        _ => false,
    }
}
