//! Matches: their requests, answers and deadlines.

use super::Cells;
use super::live_match::LiveMatch;
use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::port::{Answer, AskForm, GivenAnswer, ToSeat};
use crate::recover::read_match;
use crate::seats::{LineSeat, RequestWay};
use crate::services::Context;
use crate::timers::{LATE_LOOK_MS, Timer};
use crate::{AskId, ConnId, EngineError, MatchKey, Note};
use agon_core::{
    Event, Fault, FaultKind, GameEnd, Match, MatchCommand, MatchId, MatchOrder, MatchPlan, Millis,
    Pending, PlayerName, RecoveredMatch, Rejection, RequestId, Secrets, Timestamp, Timing,
    TournamentId,
};
use agon_wire::native::ToPlayer;
use agon_wire::request::Shows;
use std::collections::BTreeSet;

/// How long an answer may take from its socket to the engine. The engine checks a deadline this
/// much later. The time at which the answer was read decides whether it is late.
pub(super) const ON_ITS_WAY_MS: Millis = 20;

/// How long a player took for an answer: the measurement of the seat, if it has one, and when the
/// answer was read.
#[derive(Clone, Copy)]
pub(super) struct TakenTime {
    pub(super) timing: Option<Timing>,
    pub(super) at: Timestamp,
}

/// Why an answer was rejected, and the match it was for, if that is known.
pub(crate) struct RejectedAnswer {
    pub(crate) key: Option<MatchKey>,
    pub(crate) rejection: Rejection,
}

impl Cells {
    /// Opens a match: resumes it from the log, or starts it.
    pub(crate) fn open_match(&mut self, cx: &mut Context<'_>, plan: &MatchPlan) {
        let key = MatchKey::new(plan.tournament.clone(), plan.id.clone());
        let Some(secret) = self.tournaments.get(&plan.tournament).map(|live| live.secret.clone())
        else {
            return;
        };
        let secrets = Secrets::Known(secret.of_match(&plan.id));
        let stream = StreamKey::Match(key.clone());
        let recovered = match self.recover_match(cx, &key, secrets.clone()) {
            Ok(recovered) => recovered,
            Err(error) => return cx.fail(error),
        };
        let now = cx.now_ms();
        let held_until = match (&recovered, &cx.settings.local) {
            (_, Some(local)) => cx.time.now + local.start_ms,
            (None, None) => cx.grace_until,
            (Some(_), None) => cx.time.now + plan.rules.time.wait_ms.max(cx.settings.reconnect_ms),
        };
        let played = if let Some(RecoveredMatch { mut played, end, cheats, .. }) = recovered {
            let replay = self.replay_of(&played);
            if replay.is_some() && self.is_paused(&plan.tournament) {
                return;
            }
            cx.journals.open(stream.clone(), end);
            cheats.into_iter().for_each(|cheat| cx.then(FollowUp::Blacklist(Box::new(cheat))));
            if let Some(ruling) = replay {
                let command = MatchCommand::Order { order: MatchOrder::Reopen, ruling };
                let events = played.step(now, command).expect("a match that is over reopens");
                cx.commit(stream, &events, Vec::new());
            }
            self.counted.games.started += u64::from(played.referee().is_some());
            played
        } else {
            let kind = cx.games.kind(&plan.game).expect("checked when announced").clone();
            let (played, event) = Match::create(plan.clone(), kind, secrets, now)
                .expect("a plan the tournament checked");
            cx.commit(stream, &[event], Vec::new());
            played
        };
        self.matches.insert(key.clone(), LiveMatch::new(played, held_until));
        self.begin_to_hold_back(cx, &key);
        self.counted.matches_started += 1;
        cx.note(Note::MatchStarted { key: key.clone(), players: plan.players.clone() });
        self.follow(cx, &key);
        for player in &plan.players {
            let tournament = self.tournaments.get(&plan.tournament);
            if tournament.is_some_and(|live| live.machine.is_out(player)) {
                // The player left after the pairing and before the match existed.
                let withdrew =
                    || Fault::new(FaultKind::Withdrew, "withdrew", "left the tournament");
                let recorded = tournament.and_then(|live| live.machine.withdrawal(player)).cloned();
                let listed = self.listed_fault(cx, player).or(recorded);
                let fault = listed.unwrap_or_else(withdrew);
                let _ = self.step_match(
                    cx,
                    &key,
                    MatchCommand::Leave { player: player.clone(), fault },
                );
            } else if cx.present.is_here(player) {
                self.arrive(cx, &key, player);
            }
        }
        // A replay may bring back a listed player who had lost.
        self.expel_listed(cx, &plan.tournament, &plan.players);
        self.speak(cx, &key);
    }

    /// Recovers a match from its stream, if it has one: folded ahead, or folded now.
    fn recover_match(
        &mut self,
        cx: &Context<'_>,
        key: &MatchKey,
        secrets: Secrets,
    ) -> Result<Option<RecoveredMatch>, EngineError> {
        let tournament = self.tournaments.get_mut(&key.tournament);
        let in_log = tournament.is_none_or(|live| live.open(&key.id));
        let recovered = match self.folded_ahead.remove(key) {
            Some(recovered) => Some(recovered),
            None if !in_log => None,
            None => read_match(&*cx.reader, key, &cx.games, secrets)?,
        };
        cx.note_seen(
            recovered.as_ref().map_or(Timestamp::default(), |recovered| recovered.latest_at),
        );
        Ok(recovered)
    }

    /// Lets a match decide, and commits its events.
    pub(super) fn step_match(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        command: MatchCommand,
    ) -> Result<(), Rejection> {
        let now = cx.now_ms();
        let live = self.matches.get_mut(key).ok_or(Rejection::Over)?;
        let events = live.played.step(now, command)?;
        self.counted.decisions += u64::from(matches!(events[..], [Event::AnswerAccepted(_), ..]));
        self.commit_match(cx, key, now, events);
        Ok(())
    }

    /// Commits the events of a match, if there are any. The engine confirms notices for players
    /// whose protocol has no confirmation.
    fn commit_match(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        now: Timestamp,
        mut events: Vec<Event>,
    ) {
        let Some(live) = self.matches.get_mut(key) else { return };
        let present = &cx.present;
        let confirms_for =
            |player: &PlayerName| present.seat(player).is_some_and(|seat| !seat.takes_calls());
        let notices = live.played.confirm_notices(now, &mut events, confirms_for);
        if events.is_empty() {
            return;
        }
        let mut follow_ups: Vec<FollowUp> =
            notices.into_iter().map(|notice| FollowUp::SendNotice(key.clone(), notice)).collect();
        let mut lapsed = Vec::new();
        // Most records only accept answers, and their only consequence is the next request.
        if !events.iter().all(|event| matches!(event, Event::AnswerAccepted(_))) {
            live.requests.forget();
            live.stirred = true;
            self.count_games(&events);
            follow_ups.extend(self.blacklisted_by(cx, key, &events));
            lapsed = self.lapsed(cx, &events);
            follow_ups.extend(notes(key, &events));
            follow_ups.extend(self.partings(cx, key, &events));
        }
        cx.commit(StreamKey::Match(key.clone()), &events, follow_ups);
        // Now, so that no wait runs while the disk is slow. `speak` repeats their requests once the
        // record is durable.
        lapsed.iter().for_each(|player| self.arrive(cx, key, player));
    }

    fn count_games(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::GameStarted(_) => self.counted.games.started += 1,
                Event::GameEnded(ended) if ended.result.end == GameEnd::Void => {
                    self.counted.games.void += 1;
                }
                Event::GameEnded(_) => self.counted.games.finished += 1,
                _ => {}
            }
        }
    }

    pub(super) fn arrive(&mut self, cx: &mut Context<'_>, key: &MatchKey, player: &PlayerName) {
        let Some(live) = self.matches.get_mut(key) else { return };
        // The player may not have received earlier requests.
        let own: Vec<RequestId> = live
            .played
            .pending()
            .into_iter()
            .filter(|pending| pending.player == *player)
            .map(|pending| pending.id)
            .collect();
        // A player who was not charged as absent gains no time by reconnecting. But an answer to
        // the earlier connection may not be read yet.
        let now = cx.time.now.min(cx.time.read_until);
        let here = live.played.is_here(player);
        let LiveMatch { sent, recalled, .. } = live;
        recalled.retain(|(id, _)| here || !own.contains(id));
        sent.retain(|sent| {
            let again = own.contains(&sent.id);
            if let (true, true, Some((_, clock))) = (again, here, &sent.to) {
                recalled.push((sent.id.clone(), clock.recall(now)));
            }
            !again
        });
        own.iter().for_each(|id| live.played.recalled(id));
        let seat = cx.present.seat(player);
        live.listeners.any |= seat.is_some_and(|seat| seat.listens());
        let nonce = seat.and_then(|seat| seat.nonce());
        let _ = self.step_match(cx, key, MatchCommand::Arrive { player: player.clone(), nonce });
    }

    /// A player arrived: joins them to their matches, and sends their open requests again.
    pub(super) fn player_is_here(&mut self, cx: &mut Context<'_>, player: &PlayerName) {
        self.silent.remove(player);
        self.tell_tournaments(cx, player);
        for key in self.matches.of(player) {
            self.arrive(cx, &key, player);
            self.speak(cx, &key);
        }
        self.greet_player(cx, player);
    }

    /// A player left: every match of theirs decides what that costs.
    pub(super) fn player_is_gone(
        &mut self,
        cx: &mut Context<'_>,
        player: &PlayerName,
        fault: &Fault,
    ) {
        self.silent.remove(player);
        for key in self.matches.of(player) {
            let command = MatchCommand::Leave { player: player.clone(), fault: fault.clone() };
            let _ = self.step_match(cx, &key, command);
        }
    }

    /// The node that had a player's socket is gone. As after a restart, the player has the time to
    /// reconnect, and their requests have their full time again: an answer may be lost.
    pub(super) fn player_is_cut_off(
        &mut self,
        cx: &mut Context<'_>,
        player: &PlayerName,
        conn: ConnId,
    ) {
        self.silent.remove(player);
        let until = cx.give_time_to_reconnect();
        for key in self.matches.of(player) {
            if let Some(live) = self.matches.get_mut(&key) {
                live.forget_sent_to(conn);
                live.held_until = live.held_until.max(until);
            }
        }
    }

    /// Sends the match's messages (requests, or its end) if all its records are durable.
    pub(super) fn speak(&mut self, cx: &mut Context<'_>, key: &MatchKey) {
        if cx.is_durable(&StreamKey::Match(key.clone())) {
            self.speak_now(cx, key);
        }
    }

    /// Like `speak`, for a match without records in flight.
    pub(super) fn speak_now(&mut self, cx: &mut Context<'_>, key: &MatchKey) {
        let observed = !self.observers.is_empty();
        if self.matches.get(key).is_some_and(|live| live.listeners.any || observed) {
            self.show_listeners(cx, key);
        }
        let Some(live) = self.matches.get_mut(key) else { return };
        if live.played.result().is_some() {
            return self.match_over(cx, key);
        }
        if live.played.paused().is_some() {
            return;
        }
        let mut open = live.played.pending();
        live.sent.retain(|sent| {
            let is_open = open.iter().any(|pending| pending.id == sent.id);
            if !is_open {
                sent.recall(cx, key);
            }
            is_open
        });
        live.recalled.retain(|(id, _)| open.iter().any(|pending| pending.id == *id));
        open.retain(|pending| live.sent.iter().all(|sent| pending.id != sent.id));
        // Requests that are sent later do not follow from this answer.
        let mut answered_at = live.answered_at.take();
        for pending in open {
            match cx.present.seat(&pending.player).map(|seat| seat.way()) {
                Some(RequestWay::Line(seat)) => {
                    self.ask(cx, key, seat, pending, answered_at.take());
                }
                Some(RequestWay::Call(conn)) => {
                    answered_at.take();
                    self.ask_program(cx, key, conn, pending);
                }
                Some(RequestWay::House) => self.ask_house(cx, key, pending),
                None => {}
            }
        }
        self.reset_timer(cx, key, Timestamp::default());
    }

    /// Sends a player a request. `follows` is when the answer that led to it was read.
    fn ask(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        seat: LineSeat,
        pending: Pending,
        follows: Option<Timestamp>,
    ) {
        let LineSeat { conn, shows, is_local } = seat;
        let named = (!is_local).then_some(&key.tournament);
        let Some(live) = self.matches.get_mut(key) else { return };
        // A player who was away when the request was opened has confirmed it by arriving.
        debug_assert!(live.played.notice(&pending).is_none(), "{} only tells", pending.id);
        let first = !live.shown.iter().any(|(player, on)| *on == conn && *player == pending.player);
        let shows = if first && shows == Shows::Score { Shows::History } else { shows };
        let limit_ms = live.left_ms(&pending);
        let LiveMatch { played, requests, .. } = live;
        if !requests.write(played, named, &pending, limit_ms, shows, &mut self.line) {
            return;
        }
        if first {
            live.shown.retain(|(player, _)| *player != pending.player);
            live.shown.push((pending.player.clone(), conn));
        }
        let ask = AskId::Match(key.clone(), pending.id.clone());
        let player = pending.player.clone();
        let clock = live.mark_sent(cx.time.now, pending, Some(conn));
        let request = AskForm::Line(&self.line);
        cx.send_to_seat(&player, ToSeat::Ask { ask, request, clock, follows });
    }

    /// Starts the cell's clock of a request that was written to its player's socket.
    pub(super) fn delivered(&mut self, conn: ConnId, ask: &AskId, at: Timestamp) {
        let clock = match ask {
            AskId::Match(key, request) => self.matches.get_mut(key).and_then(|live| {
                let sent = live.sent.iter_mut().find(|sent| sent.id == *request)?;
                sent.to.as_mut().filter(|(to, _)| *to == conn)
            }),
            AskId::Tournament(id, request) => self
                .tournaments
                .get_mut(id)
                .and_then(|live| live.asked.get_mut(request))
                .map(|asked| &mut asked.to)
                .filter(|(to, _)| *to == conn),
        };
        if let Some((_, clock)) = clock {
            clock.deliver(at);
        }
    }

    /// Sets the timer of a match, no earlier than `earliest`.
    fn reset_timer(&mut self, cx: &mut Context<'_>, key: &MatchKey, earliest: Timestamp) {
        let Some(live) = self.matches.get_mut(key) else { return };
        // Requests sent since then are due later than the timer.
        if !std::mem::take(&mut live.stirred) && live.timer.is_some() {
            return;
        }
        let Some(deadline) = live.played.deadline() else { return };
        let deadline = deadline.saturating_add(ON_ITS_WAY_MS).max(earliest);
        // A timer that fires early finds nothing due and is set again.
        if live.timer.is_none_or(|at| deadline < at) {
            live.timer = Some(deadline);
            cx.timers.set(deadline, Timer::Match(key.clone()));
        }
    }

    /// Handles the deadlines of a match whose timer fired. The clock of a request starts when it is
    /// written; a request that still waits to be written has no clock.
    pub(super) fn match_due(&mut self, cx: &mut Context<'_>, key: &MatchKey, now: Timestamp) {
        // The match as of the time up to which all input has been handled.
        let read = now.min(cx.time.read_until);
        // If input may still be unread in sockets or on its way, the engine checks again a little
        // later. An earlier timer would fire at once, for ever.
        let earliest = match read < now {
            true => cx.time.now + LATE_LOOK_MS,
            false => Timestamp::default(),
        };
        let now = read.before(ON_ITS_WAY_MS);
        if let Some(live) = self.matches.get_mut(key) {
            live.timer = None;
            for sent in &live.sent {
                if let Some((_, clock)) = &sent.to {
                    live.played.delivered(&sent.id, clock.began_at().unwrap_or(now));
                }
            }
        }
        while let Some(live) = self.matches.get(key)
            && let Some(command) = live.played.due(now)
        {
            if let MatchCommand::Expire { player } = &command {
                let held_until = live.held_until;
                if now < held_until {
                    let at = (held_until + ON_ITS_WAY_MS).max(earliest);
                    return cx.timers.set(at, Timer::Match(key.clone()));
                }
                if self.is_cut_off(&cx.present, player) {
                    let at = self.wait_for_cut_off(cx, &key.tournament);
                    return cx.timers.set(at, Timer::Match(key.clone()));
                }
            }
            let command = self.timed_out(cx, command);
            if self.step_match(cx, key, command).is_err() {
                break;
            }
        }
        self.reset_timer(cx, key, earliest);
    }

    /// Handles a player's answer to a request.
    pub(super) fn answer(
        &mut self,
        cx: &mut Context<'_>,
        player: &PlayerName,
        answer: Answer,
    ) -> Result<(), RejectedAnswer> {
        let Answer { given, timing, at } = answer;
        let taken = TakenTime { timing, at };
        let id = match &given {
            GivenAnswer::Plain(id, _) => id,
            GivenAnswer::Translated(said) => &said.id,
            GivenAnswer::Reply(..) => {
                self.program_replied(cx, player.clone(), given, taken);
                return Ok(());
            }
        };
        let Some((key, request)) = self.asked_by(cx, player, id.as_str()) else {
            return Err(RejectedAnswer { key: None, rejection: Rejection::Foreign });
        };
        let took_ms = self.took_ms(cx, &key, player, &request, taken);
        let outcome = took_ms.and_then(|took_ms| {
            let command = self.answer_command(&key, player.clone(), request, given, took_ms)?;
            self.step_match(cx, &key, command)
        });
        match outcome {
            Ok(()) => {
                if let Some(live) = self.matches.get_mut(&key) {
                    live.answered_at.get_or_insert(at);
                }
                Ok(())
            }
            Err(rejection) => Err(RejectedAnswer { key: Some(key), rejection }),
        }
    }

    /// The match of a request, and the request's name within the match; `None` if the id has
    /// another form.
    fn asked_by(
        &self,
        cx: &Context<'_>,
        player: &PlayerName,
        id: &str,
    ) -> Option<(MatchKey, RequestId)> {
        // The request mostly belongs to one of the player's own matches, whose key exists already.
        let own = self.matches.keys_of(player).find_map(|key| {
            let request = id.strip_prefix(key.tournament.as_str())?.strip_prefix(':')?;
            let is_it = request.strip_prefix(key.id.as_str())?.starts_with('.');
            is_it.then(|| (key.clone(), RequestId::from_text(request)))
        });
        if own.is_some() {
            return own;
        }
        let Some((tournament, request)) = id.split_once(':') else {
            let is_local = cx.present.seat(player).is_some_and(|seat| seat.is_local());
            let (match_id, _) = id.split_once('.').filter(|_| is_local)?;
            let mut own = self.matches.keys_of(player);
            let key = own.find(|key| key.id.as_str() == match_id)?;
            return Some((key.clone(), RequestId::from_text(id)));
        };
        let (match_id, _) = request.split_once('.')?;
        let key = MatchKey::new(TournamentId::from_text(tournament), MatchId::from_text(match_id));
        Some((key, RequestId::from_text(request)))
    }

    /// How long an answer took, by the clock of its seat. Time that request and answer spent waiting
    /// in the server does not count. A late answer is charged and rejected, even if the timer has
    /// not fired yet.
    pub(super) fn took_ms(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        player: &PlayerName,
        request: &RequestId,
        taken: TakenTime,
    ) -> Result<Option<Millis>, Rejection> {
        let Some(live) = self.matches.get(key) else { return Ok(None) };
        let at = live.rests_since.map_or(taken.at, |since| since.min(taken.at));
        let mut sent = live.sent.iter().filter(|sent| sent.player == *player);
        let Some(sent) = sent.find(|sent| sent.id == *request) else {
            // A player who reconnects may answer before the request is sent again.
            let recalled = live.recalled.iter().find(|(id, _)| id == request);
            return Ok(Some(recalled.map_or(0, |(_, clock)| clock.timing(at).took_ms)));
        };
        let Some((_, clock)) = &sent.to else { return Ok(None) };
        // In a pause no clock runs, and the seat does not know of the pause. After it, and after a
        // fault, the request is sent again. Until the seat has written it, the seat measures the
        // earlier sending. After a delay it may read an answer and write the request at once.
        let is_earlier = clock.began_at().is_none_or(|began| taken.at <= began);
        let measured = taken.timing.filter(|_| live.rests_since.is_none() && !is_earlier);
        let (timing, limit_ms) = (measured.unwrap_or_else(|| clock.timing(at)), clock.limit_ms());
        // In a pause no answer is late. A repeated answer is not late either if the first was in
        // time, however long the disk takes.
        let rests = live.rests_since.is_some();
        if timing.is_late && !rests && live.played.is_here(player) && live.is_open(request) {
            let (player, fault) = (player.clone(), Fault::timeout(limit_ms));
            let command =
                self.timed_out(cx, MatchCommand::Charge { player: player.clone(), fault });
            let hung = matches!(command, MatchCommand::Leave { .. });
            let _ = self.step_match(cx, key, command);
            if !hung {
                return Err(Rejection::Late);
            }
            // A process that answers is back already, and may answer requests that are still open.
            self.arrive(cx, key, &player);
            return Ok(Some(0));
        }
        Ok(Some(timing.took_ms))
    }

    /// Charges a player for a line that is not a message, as if it were the answer to their open
    /// requests. A paused match charges nothing.
    pub(super) fn charge_malformed(
        &mut self,
        cx: &mut Context<'_>,
        player: &PlayerName,
        why: &str,
        line: &str,
    ) {
        for key in self.matches.of(player) {
            if self.live_match(&key).is_some_and(|played| played.paused().is_some()) {
                continue;
            }
            let fault = Fault::malformed(why, line);
            let _ =
                self.step_match(cx, &key, MatchCommand::Charge { player: player.clone(), fault });
        }
    }

    fn match_over(&mut self, cx: &mut Context<'_>, key: &MatchKey) {
        let Some(live) = self.matches.remove(key) else { return };
        live.sent.iter().for_each(|sent| sent.recall(cx, key));
        self.held_back.remove(key);
        self.counted.matches_ended += 1;
        let Some(result) = live.played.result().cloned() else { return };
        cx.note(Note::MatchEnded { key: key.clone(), result: Box::new(result.clone()) });
        let head = cx.journals.close(&StreamKey::Match(key.clone()));
        for player in &live.played.plan().players {
            if cx.conn_of(player).is_some() {
                let won = result.winners.contains(player);
                let mut data =
                    serde_json::json!({"match": key.id, "tournament": key.tournament, "won": won});
                if let Some(head) = &head {
                    data["head"] = serde_json::json!(head);
                }
                let data = Some(agon_games::json(&data));
                cx.tell(player, &ToPlayer::notice("match-over", data));
            }
        }
        self.report(cx, key, result, head);
    }

    /// Charges the players who have not reconnected in time after a restart.
    pub(crate) fn miss_the_absent(&mut self, cx: &mut Context<'_>) {
        self.interrupt_where_cut_off(cx);
        let absent: BTreeSet<PlayerName> = self
            .matches
            .players()
            .filter(|player| !cx.present.is_here(player))
            .filter(|player| !self.is_cut_off(&cx.present, player))
            .cloned()
            .collect();
        // Sorted by name: the same inputs give the same log.
        for player in absent {
            if !self.has_own_time(cx, &player) {
                let fault = Fault::disconnected("did not come back after the server was restarted");
                self.miss_where_here(cx, &player, &fault);
            }
        }
    }
}

/// The reports about a match's events, for when they are durable.
fn notes(key: &MatchKey, events: &[Event]) -> Vec<FollowUp> {
    let notes = events.iter().filter_map(|event| {
        let faulted = match event {
            Event::GameEnded(ended) => {
                let result = Box::new(ended.result.clone());
                return Some(FollowUp::NoteGame(key.clone(), result));
            }
            Event::PlayerLeft(left) => &left.faulted,
            Event::PlayerFaulted(faulted) => &faulted.faulted,
            Event::WaitExpired(expired) => &expired.faulted,
            _ => return None,
        };
        let (tournament, of_match) = (key.tournament.clone(), Some(key.id.clone()));
        Some(FollowUp::NoteFault(tournament, of_match, Box::new(faulted.clone())))
    });
    notes.collect()
}
