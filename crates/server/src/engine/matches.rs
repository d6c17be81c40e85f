//! Matches: requests out, answers in, time.

use super::journal::{Effect, StreamKey};
use super::peers::Listeners;
use super::{ConnId, Engine, MatchKey, Timer, house};
use crate::gateway::Written;
use agon_core::{
    Command, Event, Fault, FaultKind, GameEnd, Match, MatchId, MatchOrder, MatchPlan, Millis,
    Notice, Pending, PlayerName, RecoveredMatch, Rejection, RequestId, Secrets, TournamentId,
};
use agon_wire::native::ToPlayer;
use agon_wire::request::{RequestWriter, Shows};
use std::collections::BTreeSet;

/// A match that runs.
pub(crate) struct LiveMatch {
    pub(super) played: Match,
    /// Requests that were handed to a connection, or to a house player.
    pub(super) sent: Vec<Sent>,
    /// Requests whose player changed its connection, and how much of their time is spent.
    pub(super) begun: Vec<Begun>,
    /// When its timer rings next.
    timer: Option<u64>,
    /// Until when no wait runs out: time the server was down counts against nobody.
    held_until: u64,
    /// Writes its requests.
    pub(super) requests: RequestWriter,
    /// The connection on which each player was shown the history of the match.
    shown: Vec<(PlayerName, ConnId)>,
    /// Who is shown every change.
    pub(super) listeners: Listeners,
    /// Something has changed that time depends on, besides the game going on.
    stirred: bool,
    /// When the first answer was read that the next requests follow from.
    answered_at: Option<Millis>,
    /// Since when it rests: no clock runs in a pause.
    pub(super) rests_since: Option<Millis>,
}

/// A request that is to be handed over again.
pub(super) struct Begun {
    id: RequestId,
    /// How much of its time is spent.
    spent_ms: Millis,
    /// When its clock began to run on the connection before, if it did.
    began: Option<Millis>,
}

/// A request that was handed over.
pub(super) struct Sent {
    id: RequestId,
    player: PlayerName,
    limit_ms: Millis,
    /// When it was written to its player's socket; house players have no clock.
    written: Option<Written>,
    /// How much of its time was spent before, if its player has changed its connection since.
    spent_ms: Millis,
}

impl Sent {
    /// When its clock began to run: so long before it was written as was spent by then.
    fn began(&self) -> Option<Millis> {
        Some(self.written.as_ref()?.at()?.saturating_sub(self.spent_ms))
    }

    /// How much of its time is spent. What it has waited for us to write it again is not.
    fn spent_ms(&self, now: Millis) -> Millis {
        self.began().map_or(self.spent_ms, |began| now.saturating_sub(began))
    }
}

/// How long an answer may be on its way from its socket to the engine: so much later than a
/// deadline it is looked whether it passed. When the answer was read decides.
pub(super) const ON_ITS_WAY_MS: Millis = 20;

/// How long after a deadline to look again, if sockets are read late.
const LATE_LOOK_MS: Millis = 10;

impl LiveMatch {
    /// Notes that a request was handed over.
    fn mark_sent(&mut self, now: Millis, pending: Pending, written: Option<Written>) {
        let Pending { id, player, limit_ms, .. } = pending;
        let begun = self.begun.iter().position(|begun| begun.id == id);
        let spent_ms = begun.map_or(0, |at| self.begun.swap_remove(at).spent_ms);
        let began = now.saturating_sub(spent_ms);
        let due = began.saturating_add(limit_ms);
        self.stirred |= self.timer.is_none_or(|at| due < at);
        if written.is_some() {
            // No earlier than now; when it is written is looked up when that seems to be over.
            self.played.delivered(&id, began);
        }
        self.sent.push(Sent { id, player, limit_ms, written, spent_ms });
    }

    /// How long the player of an open request has for it: the longest an accepted answer can have
    /// taken.
    fn limit_ms(&self, request: &RequestId) -> Millis {
        let mut open = self.played.pending().into_iter();
        open.find(|pending| pending.id == *request).map_or(Millis::MAX, |pending| pending.limit_ms)
    }

    /// The time that is left for a request.
    fn left_ms(&self, pending: &Pending) -> Millis {
        let begun = self.begun.iter().find(|begun| begun.id == pending.id);
        pending.limit_ms.saturating_sub(begun.map_or(0, |begun| begun.spent_ms))
    }
}

impl Engine {
    /// Takes a match up: from the log, or new.
    pub(super) fn open_match(&mut self, plan: &MatchPlan) {
        let key = MatchKey::new(plan.tournament.clone(), plan.id.clone());
        let Some(secret) = self.tournaments.get(&plan.tournament).map(|live| live.secret.clone())
        else {
            return;
        };
        let secrets = Secrets::Known(secret.of_match(&plan.id));
        let stream = StreamKey::Match(key.clone());
        let recovered = match self.recover_match(&key, secrets.clone()) {
            Ok(recovered) => recovered,
            Err(error) => return self.fail(error),
        };
        let now = self.now_ms();
        let held_until = match &recovered {
            None => self.grace_until,
            Some(_) => now + plan.rules.time.wait_ms.max(self.settings.reconnect_ms),
        };
        let played = if let Some(RecoveredMatch { mut played, end, cheats, .. }) = recovered {
            let replay = self.replay_of(&played);
            if replay.is_some() && self.is_paused(&plan.tournament) {
                return;
            }
            self.journals.insert(stream.clone(), super::Journal::new(end));
            cheats.into_iter().for_each(|cheat| self.blacklist_for(cheat));
            if let Some(ruling) = replay {
                let command = Command::Order { order: MatchOrder::Reopen, ruling };
                let events = played.step(now, command).expect("a match that is over reopens");
                self.commit(stream, &events, Vec::new());
            }
            self.games_seen.started += u64::from(played.referee().is_some());
            played
        } else {
            let kind = self.games.kind(&plan.game).expect("checked when announced").clone();
            let (played, event) = Match::create(plan.clone(), kind, secrets, now)
                .expect("a plan the tournament checked");
            self.commit(stream, &[event], Vec::new());
            played
        };
        for player in &plan.players {
            self.playing.entry(player.clone()).or_default().insert(key.clone());
        }
        let live = LiveMatch {
            played,
            sent: Vec::new(),
            begun: Vec::new(),
            timer: None,
            held_until,
            requests: RequestWriter::default(),
            shown: Vec::new(),
            listeners: Listeners::default(),
            stirred: true,
            answered_at: None,
            rests_since: None,
        };
        self.matches.insert(key.clone(), live);
        self.begin_to_hold_back(&key);
        self.handle.meters().matches_started.add();
        self.follow(&key);
        for player in &plan.players {
            let tournament = self.tournaments.get(&plan.tournament);
            if tournament.is_some_and(|live| live.machine.is_out(player)) {
                // It left after the pairing, and before there was a match to leave.
                let withdrew =
                    || Fault::new(FaultKind::Withdrew, "withdrew", "left the tournament");
                let fault = self.listed_fault(player).unwrap_or_else(withdrew);
                let _ = self.step_match(&key, Command::Leave { player: player.clone(), fault });
            } else if self.is_house(player) || self.conn_of(player).is_some() {
                self.arrive(&key, player);
            }
        }
        // A replay may bring a listed player back that had lost.
        self.expel_listed(&plan.tournament, &plan.players);
        self.speak(&key);
    }

    /// Lets a match decide, and commits what it decided.
    pub(super) fn step_match(&mut self, key: &MatchKey, command: Command) -> Result<(), Rejection> {
        let now = self.now_ms();
        let live = self.matches.get_mut(key).ok_or(Rejection::Over)?;
        let events = live.played.step(now, command)?;
        self.decisions += u64::from(matches!(events[..], [Event::AnswerAccepted(_), ..]));
        self.commit_match(key, now, events);
        Ok(())
    }

    /// Commits what a match decided, if anything, with the confirmations of what players are only
    /// told.
    fn commit_match(&mut self, key: &MatchKey, now: Millis, mut events: Vec<Event>) {
        let Some(live) = self.matches.get_mut(key) else { return };
        let (here, sessions) = (&self.here, &self.sessions);
        let confirms_for = |player: &PlayerName| {
            let session = here.get(player).and_then(|conn| sessions.get(conn));
            is_house(player) || session.is_some_and(|session| session.wire().is_native())
        };
        let notices = live.played.confirm_notices(now, &mut events, confirms_for);
        if events.is_empty() {
            return;
        }
        let mut effects: Vec<Effect> =
            notices.into_iter().map(|notice| send_notice(key.clone(), notice)).collect();
        let mut lapsed = Vec::new();
        // Mostly answers are accepted, and nothing follows from them but the next request.
        if !events.iter().all(|event| matches!(event, Event::AnswerAccepted(_))) {
            live.requests.forget();
            live.stirred = true;
            self.count_games(&events);
            effects.extend(self.blacklisted_by(key, &events));
            lapsed = self.lapsed(&events);
            effects.extend(self.notes(key, &events));
            effects.extend(self.partings(key, &events));
        }
        self.commit(StreamKey::Match(key.clone()), &events, effects);
        // At once, so that no wait runs while the disk is slow; asked again is who is back durably.
        lapsed.iter().for_each(|player| self.arrive(key, player));
    }

    fn count_games(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::GameStarted(_) => self.games_seen.started += 1,
                Event::GameEnded(ended) if ended.result.end == GameEnd::Void => {
                    self.games_seen.void += 1;
                }
                Event::GameEnded(_) => self.games_seen.finished += 1,
                _ => {}
            }
        }
    }

    pub(super) fn arrive(&mut self, key: &MatchKey, player: &PlayerName) {
        let Some(live) = self.matches.get_mut(key) else { return };
        // Whatever the player was sent before, it may not have got it.
        let own: Vec<RequestId> = live
            .played
            .pending()
            .into_iter()
            .filter(|pending| pending.player == *player)
            .map(|pending| pending.id)
            .collect();
        // Who was not missed gets no more time by coming back.
        let now = self.now;
        let here = live.played.is_here(player);
        let LiveMatch { sent, begun, .. } = live;
        begun.retain(|begun| here || !own.contains(&begun.id));
        sent.retain(|sent| {
            let again = own.contains(&sent.id);
            if again && here {
                let (id, spent_ms, began) = (sent.id.clone(), sent.spent_ms(now), sent.began());
                begun.push(Begun { id, spent_ms, began });
            }
            !again
        });
        own.iter().for_each(|id| live.played.recalled(id));
        let hello = self.here.get(player).and_then(|conn| self.sessions.get(conn));
        live.listeners.any |= hello.is_some_and(|session| session.listens);
        let nonce = hello.and_then(|session| session.hello.as_ref()).and_then(|h| h.nonce.clone());
        let _ = self.step_match(key, Command::Arrive { player: player.clone(), nonce });
    }

    /// A player logged in: it joins its matches, and its open requests are sent again.
    pub(super) fn player_is_here(&mut self, player: &PlayerName) {
        for key in self.playing.get(player).cloned().unwrap_or_default() {
            self.arrive(&key, player);
            self.speak(&key);
        }
        self.greet_player(player);
    }

    pub(super) fn player_is_gone(&mut self, player: &PlayerName, fault: &Fault) {
        for key in self.playing.get(player).cloned().unwrap_or_default() {
            let command = Command::Leave { player: player.clone(), fault: fault.clone() };
            let _ = self.step_match(&key, command);
        }
    }

    /// Says what a match has to say: requests, and its end. Only what is durable is said.
    pub(super) fn speak(&mut self, key: &MatchKey) {
        if self.is_durable(&StreamKey::Match(key.clone())) {
            self.speak_now(key);
        }
    }

    /// The same for a match whose latest record is durable.
    pub(super) fn speak_now(&mut self, key: &MatchKey) {
        let observed = !self.peer_observers.is_empty();
        if self.matches.get(key).is_some_and(|live| live.listeners.any || observed) {
            self.show_listeners(key);
        }
        let Some(live) = self.matches.get_mut(key) else { return };
        if live.played.result().is_some() {
            return self.match_over(key);
        }
        if live.played.paused().is_some() {
            return;
        }
        let mut open = live.played.pending();
        live.sent.retain(|sent| open.iter().any(|pending| pending.id == sent.id));
        live.begun.retain(|begun| open.iter().any(|pending| pending.id == begun.id));
        open.retain(|pending| live.sent.iter().all(|sent| pending.id != sent.id));
        // What is not asked now does not follow from it.
        let mut answered_at = live.answered_at.take();
        for pending in open {
            if self.is_house(&pending.player) {
                self.mark_sent(key, pending.clone(), None);
                self.ask_house(key, pending);
            } else if let Some(conn) = self.conn_of(&pending.player) {
                self.ask(key, conn, pending, answered_at.take());
            }
        }
        self.reset_timer(key, 0);
    }

    /// Asks a player something, which may follow from an answer that was read then.
    fn ask(&mut self, key: &MatchKey, conn: ConnId, pending: Pending, follows: Option<Millis>) {
        let shows = match self.sessions.get(&conn) {
            Some(session) if !session.wire().is_native() => {
                return self.ask_peer(key, conn, pending);
            }
            session => session.map_or(Shows::Score, |session| session.shows()),
        };
        let Some(live) = self.matches.get_mut(key) else { return };
        // A player who was away when it was opened has confirmed it by arriving.
        debug_assert!(live.played.notice(&pending).is_none(), "{} only tells", pending.id);
        let first = !live.shown.iter().any(|(player, on)| *on == conn && *player == pending.player);
        let shows = if first && shows == Shows::Score { Shows::History } else { shows };
        let left_ms = live.left_ms(&pending);
        let LiveMatch { played, requests, .. } = live;
        if !requests.write(played, Some(&key.0), &pending, left_ms, shows, &mut self.line) {
            return;
        }
        let Some(session) = self.sessions.get(&conn) else { return };
        let Some(written) = session.send_line(&self.line) else { return self.closed(conn) };
        if session.is_shared() {
            self.unflushed.push(conn);
        }
        if let Some(at) = follows {
            // One that waits for its reader is no longer ours to hurry.
            let until = written.at().unwrap_or(self.now);
            self.handle.meters().turn_ms.add(until.saturating_sub(at));
        }
        if first {
            live.shown.retain(|(player, _)| *player != pending.player);
            live.shown.push((pending.player.clone(), conn));
        }
        live.mark_sent(self.now, pending, Some(written));
    }

    pub(super) fn mark_sent(&mut self, key: &MatchKey, pending: Pending, written: Option<Written>) {
        let now = self.now_ms();
        if let Some(live) = self.matches.get_mut(key) {
            live.mark_sent(now, pending, written);
        }
    }

    /// Sets the timer of a match, no earlier than this.
    fn reset_timer(&mut self, key: &MatchKey, earliest: Millis) {
        let Some(live) = self.matches.get_mut(key) else { return };
        // What was asked since is due later.
        if !std::mem::take(&mut live.stirred) && live.timer.is_some() {
            return;
        }
        let Some(deadline) = live.played.deadline() else { return };
        let deadline = deadline.saturating_add(ON_ITS_WAY_MS).max(earliest);
        // A timer that rings early finds nothing due and is set again.
        if live.timer.is_none_or(|at| deadline < at) {
            live.timer = Some(deadline);
            self.set_timer(deadline, Timer::Match(key.clone()));
        }
    }

    /// Does what is due in a match now that its timer rang. The clock of a request starts when it was
    /// written; one that still waits to be written has none.
    pub(super) fn match_due(&mut self, key: &MatchKey, now: Millis) {
        // As things stood when everything that was there to be read by then has come in.
        let heard = self.handle.meters().reads.heard_until(now);
        let late = heard < now;
        let now = heard.saturating_sub(ON_ITS_WAY_MS);
        if let Some(live) = self.matches.get_mut(key) {
            live.timer = None;
            for sent in &live.sent {
                if sent.written.is_some() {
                    live.played.delivered(&sent.id, sent.began().unwrap_or(now));
                }
            }
        }
        while let Some(live) = self.matches.get(key)
            && let Some(command) = live.played.due(now)
        {
            if let Command::Expire { player } = &command {
                let held_until = live.held_until;
                if now < held_until {
                    let at = held_until + ON_ITS_WAY_MS;
                    return self.set_timer(at, Timer::Match(key.clone()));
                }
                if self.is_cut_off(player) {
                    let at = self.wait_for_cut_off(&key.0);
                    return self.set_timer(at, Timer::Match(key.clone()));
                }
            }
            let command = self.timed_out(command);
            if self.step_match(key, command).is_err() {
                break;
            }
        }
        // What was not read yet is waited for, and not by asking again and again.
        let earliest = if late { self.now + LATE_LOOK_MS } else { 0 };
        self.reset_timer(key, earliest);
    }

    /// A player answers a request, named as it was sent.
    pub(super) fn answered(
        &mut self,
        conn: ConnId,
        player: PlayerName,
        id: &RequestId,
        answer: String,
        at: Millis,
    ) {
        self.answered_by(conn, player, id, at, |engine, key, player, request, took_ms| {
            engine.step_match(key, Command::Answer { player, request, answer, took_ms })
        });
    }

    /// The same for whatever stands for the answer.
    pub(super) fn answered_by(
        &mut self,
        conn: ConnId,
        player: PlayerName,
        id: &RequestId,
        at: Millis,
        step: impl FnOnce(
            &mut Engine,
            &MatchKey,
            PlayerName,
            RequestId,
            Option<Millis>,
        ) -> Result<(), Rejection>,
    ) {
        let (key, outcome) = match self.asked_by(&player, id.as_str()) {
            Some((key, request)) => {
                let took_ms = self.took_ms(&key, &player, &request, at);
                let outcome =
                    took_ms.and_then(|took_ms| step(self, &key, player, request, took_ms));
                if let Some(live) = self.matches.get_mut(&key).filter(|_| outcome.is_ok()) {
                    live.answered_at.get_or_insert(at);
                }
                (Some(key), outcome)
            }
            None => (None, Err(Rejection::Foreign)),
        };
        let Err(rejection) = outcome else { return self.forgive_junk(conn) };
        let detail = rejection.to_string();
        let (code, accepted) = match rejection {
            Rejection::Repeated { accepted } => ("repeated", accepted.map(|raw| raw.0)),
            Rejection::Late | Rejection::Over => ("late", None),
            _ => ("foreign", None),
        };
        // Which answer counts may be on its way to the disk: nothing is said of it before. That one
        // was never asked needs no disk.
        let told_of = key.filter(|_| code != "foreign");
        let streams = told_of.into_iter().map(StreamKey::Match).collect();
        let id = id.clone();
        let tell: Effect = Box::new(move |engine| {
            engine.send(conn, &ToPlayer::Error { code, id: Some(id.as_str()), detail, accepted });
        });
        self.once_durable(streams, tell);
        self.count_junk(conn);
    }

    /// Which match a request is of, and what that match calls it; `None` if no request looks like it.
    fn asked_by(&self, player: &PlayerName, id: &str) -> Option<(MatchKey, RequestId)> {
        let (tournament, request) = id.split_once(':')?;
        let (match_id, _) = request.split_once('.')?;
        // Mostly one of its matches, whose key is there already.
        let is_it = |key: &&MatchKey| key.1.as_str() == match_id && key.0.as_str() == tournament;
        let own = self.playing.get(player).and_then(|keys| keys.iter().find(is_it));
        let other =
            || MatchKey::new(TournamentId::from_text(tournament), MatchId::from_text(match_id));
        Some((own.cloned().unwrap_or_else(other), RequestId::from_text(request)))
    }

    /// How long an answer took that was read at `at`: from when the request was written, whatever
    /// either had to wait for here. Who answers too late is charged, and its answer is not looked at,
    /// also if the timer did not ring yet.
    pub(super) fn took_ms(
        &mut self,
        key: &MatchKey,
        player: &PlayerName,
        request: &RequestId,
        at: Millis,
    ) -> Result<Option<Millis>, Rejection> {
        let Some(live) = self.matches.get(key) else { return Ok(None) };
        let at = live.rests_since.map_or(at, |since| since.min(at));
        let mut sent = live.sent.iter().filter(|sent| sent.player == *player);
        let Some(sent) = sent.find(|sent| sent.id == *request) else {
            // Who comes back may answer before it is asked again.
            let begun = live.begun.iter().find(|begun| begun.id == *request);
            let took = |begun: &Begun| begun.began.map_or(begun.spent_ms, |b| at.saturating_sub(b));
            return Ok(Some(begun.map_or(0, took).min(live.limit_ms(request))));
        };
        if sent.written.is_none() {
            return Ok(None);
        }
        let written = sent.began().unwrap_or(at);
        let (took_ms, limit_ms) = (at.saturating_sub(written), sent.limit_ms);
        // In a pause nobody is late any more.
        let rests = live.rests_since.is_some();
        let took_ms = if rests { took_ms.min(live.limit_ms(request)) } else { took_ms };
        // Who repeats an answer that was in time is not late, however long the disk takes for it.
        let open = || live.played.pending().iter().any(|pending| pending.id == *request);
        if took_ms > limit_ms && live.played.is_here(player) && open() {
            let (player, fault) = (player.clone(), Fault::timeout(limit_ms));
            let command = self.timed_out(Command::Charge { player: player.clone(), fault });
            let hung = matches!(command, Command::Leave { .. });
            let _ = self.step_match(key, command);
            if !hung {
                return Err(Rejection::Late);
            }
            // It answers, so it is back already, and what is still open may be answered.
            self.arrive(key, &player);
            return Ok(Some(0));
        }
        Ok(Some(took_ms.min(limit_ms)))
    }

    /// A line that is no message counts as the answer to whatever the player was asked. In a pause
    /// nobody waits for one.
    pub(super) fn charge_malformed(&mut self, player: &PlayerName, why: &str, line: &str) {
        for key in self.playing.get(player).cloned().unwrap_or_default() {
            if self.live_match(&key).is_some_and(|played| played.paused().is_some()) {
                continue;
            }
            let fault = Fault::malformed(why, line);
            let _ = self.step_match(&key, Command::Charge { player: player.clone(), fault });
        }
    }

    fn match_over(&mut self, key: &MatchKey) {
        let Some(live) = self.matches.remove(key) else { return };
        self.held_back.remove(key);
        self.handle.meters().matches_ended.add();
        tracing::debug!(tournament = %key.0, r#match = %key.1, "a match is over");
        let Some(result) = live.played.result().cloned() else { return };
        let journal = self.journals.remove(&StreamKey::Match(key.clone()));
        let head = journal.and_then(|journal| journal.head().cloned());
        for player in &live.played.plan().players {
            if let Some(keys) = self.playing.get_mut(player) {
                keys.remove(key);
                if keys.is_empty() {
                    self.playing.remove(player);
                }
            }
            if let Some(conn) = self.conn_of(player) {
                let won = result.winners.contains(player);
                let mut data = serde_json::json!({"match": key.1, "tournament": key.0, "won": won});
                if let Some(head) = &head {
                    data["head"] = serde_json::json!(head);
                }
                let data = Some(agon_games::json(&data));
                self.send(conn, &ToPlayer::notice("match-over", data));
            }
        }
        self.report(key, result, head);
    }

    /// Players that were not back when the server had been up long enough are gone.
    pub(super) fn miss_the_absent(&mut self) {
        self.interrupt_where_cut_off();
        let absent: BTreeSet<PlayerName> = self
            .playing
            .keys()
            .filter(|player| !self.is_house(player) && self.conn_of(player).is_none())
            .filter(|player| !self.is_cut_off(player))
            .cloned()
            .collect();
        // By name, not by chance: the same inputs give the same log.
        for player in absent {
            if !self.has_own_time(&player) {
                let fault = Fault::disconnected("did not come back after the server was restarted");
                self.miss_where_here(&player, &fault);
            }
        }
        self.log_out_absent();
    }

    pub(super) fn is_house(&self, player: &PlayerName) -> bool {
        is_house(player)
    }
}

fn is_house(player: &PlayerName) -> bool {
    player.as_str().starts_with(house::PREFIX)
}

/// Sends a notice to its player, wherever the player is connected by then.
fn send_notice(key: MatchKey, notice: Notice) -> Effect {
    Box::new(move |engine| {
        let Notice { player, about, data } = notice;
        let (tournament, in_match, data) = (Some(&key.0), Some(&key.1), Some(data));
        if let Some(conn) = engine.conn_of(&player) {
            engine.send(conn, &ToPlayer::Notice { about, tournament, in_match, data });
        }
    })
}
