//! Tournaments: greetings, rounds, results, the end.

use super::follow_up::FollowUp;
use super::journal::StreamKey;
use super::peers::AskedProgram;
use super::results::Report;
use super::{ConnId, Engine, EngineError, MatchKey, Note, Timer};
use agon_core::lobby::{LobbyCommand, LobbyRejection};
use agon_core::{
    Event, Fault, FaultKind, Head, Line, MatchPlan, MatchResult, Millis, PlayerName, RequestId,
    Results, Secret, SecretKept, Tournament, TournamentAsk, TournamentCommand, TournamentId,
    TournamentPending, TournamentPlan,
};
use agon_wire::native::ToPlayer;
use std::collections::{BTreeSet, HashMap};

/// A running tournament.
pub(crate) struct LiveTournament {
    pub(super) machine: Tournament,
    pub(super) secret: Secret,
    /// When it began.
    pub(super) began_at: Millis,
    /// When unanswered greetings count as refused.
    pub(super) greet_by: u64,
    /// When players who have not reconnected after a pause are charged as absent.
    pub(super) miss_by: u64,
    /// When farewells to absent players count as refused; set when the first is due.
    farewell_by: Option<u64>,
    /// The players who were notified that the tournament is over for them.
    told: BTreeSet<PlayerName>,
    /// The requests to connections that answer for themselves.
    pub(super) asked: HashMap<RequestId, AskedProgram>,
}

impl Engine {
    /// The results of a running tournament.
    pub fn results(&self, id: &TournamentId) -> Option<Results> {
        self.tournaments.get(id).map(|live| live.machine.results())
    }

    /// The results of a finished tournament, read from the log.
    pub fn past_results(&self, id: &TournamentId) -> Result<Option<Results>, EngineError> {
        let stream = StreamKey::Tournament(id.clone());
        let lines = self.load(&stream.name())?;
        if lines.is_empty() {
            return Ok(None);
        }
        let fold = |lines: &[_]| Tournament::fold(lines, &self.games, None);
        Ok(Some(Engine::fold(&stream, &lines, fold)?.results()))
    }

    pub(super) fn recover_tournaments(&mut self) -> Result<(), EngineError> {
        let running = self.lobby.running().cloned();
        for plan in running.collect::<Vec<_>>() {
            self.take_up(plan)?;
        }
        Ok(())
    }

    /// Starts a tournament, or resumes it from the log.
    fn take_up(&mut self, plan: TournamentPlan) -> Result<(), EngineError> {
        let id = plan.id.clone();
        let Some(secret) = self.known_secret(&id)? else {
            self.make_secret(plan);
            return Ok(());
        };
        self.journals.close(&StreamKey::Secret(id.clone()));
        let stream = StreamKey::Tournament(id.clone());
        let (lines, end) = self.load_chained(&stream.name())?;
        let greet_by = self.now_ms() + self.settings.reconnect_ms;
        let taken_up = !lines.is_empty();
        let began_at = lines.first().map_or(self.now_ms(), |line| line.at);
        let mut told = BTreeSet::new();
        let machine = if !taken_up {
            let kind = self.games.kind(&plan.game).expect("checked when announced").clone();
            let players = plan.players.clone();
            match Tournament::create(plan, kind, secret.clone()) {
                Ok((machine, events)) => {
                    self.commit(stream, &events, Vec::new());
                    machine
                }
                // The players who signed up cannot play it (too few for the groups), so nobody
                // wins.
                Err(error) => {
                    let (tournament, why) = (id.clone(), error.to_string());
                    self.note(Note::NotPlayable { tournament, why });
                    self.dismiss_unplayed(&players);
                    let (tournament, winners) = (id.clone(), Vec::new());
                    let finish = LobbyCommand::Finish { tournament, winners, head: None };
                    let report = Report::without_play(id.clone(), "not played");
                    let deliver = FollowUp::Deliver(id, Box::new(report));
                    let _ = self.step_lobby(finish, vec![deliver]);
                    return Ok(());
                }
            }
        } else {
            let fold = |lines: &[_]| Tournament::fold(lines, &self.games, Some(secret.clone()));
            let machine = Engine::fold(&stream, &lines, fold)?;
            // Players who left before a restart are notified when they log in. During a pause this
            // can still change for players who left since the pause.
            told = match machine.paused() {
                Some(_) => departed(&Engine::fold(&stream, before_pause(&lines), fold)?),
                None => departed(&machine),
            };
            self.journals.open(stream, end);
            machine
        };
        let players = machine.plan().players.clone();
        let (miss_by, farewell_by) = (greet_by, None);
        let asked = HashMap::new();
        let live = LiveTournament {
            machine,
            secret,
            began_at,
            greet_by,
            miss_by,
            farewell_by,
            told,
            asked,
        };
        self.tournaments.insert(id.clone(), live);
        if taken_up {
            self.blacklist_again_in(&id)?;
        }
        let (tournament, count) = (id.clone(), players.len());
        self.counted.tournaments_started += 1;
        self.note(Note::TournamentStarted { tournament, players: count });
        for player in &players {
            if let Some(conn) = self.conn_of(player) {
                self.tell_tournament(conn, &id, false);
            }
        }
        self.begin_for_observers(&id);
        self.timers.set(greet_by, Timer::Greeting(id.clone()));
        // This sends native players nothing, so it need not wait for the disk.
        self.expel_listed(&id, &players);
        players.iter().for_each(|player| self.greet_in(&id, player));
        self.go_on(&id);
        Ok(())
    }

    /// Sends a player who logged in the tournaments they play in.
    pub(super) fn tell_tournaments(&mut self, conn: ConnId, player: &PlayerName) {
        for id in self.lobby.playing_in(player).cloned().collect::<Vec<_>>() {
            match self.place_in(&id, player) {
                Some(rank) => self.tell_over(conn, &id, player, rank),
                None => self.tell_tournament(conn, &id, true),
            }
        }
    }

    /// How many tournaments a player still has games in, or may have when they start.
    pub(super) fn active_tournaments(&self, player: &PlayerName) -> usize {
        self.lobby.playing_in(player).filter(|id| self.place_in(id, player).is_none()).count()
    }

    /// The final place of a player in a running tournament, if they have left it. The player learns
    /// of it once it is durable.
    fn place_in(&self, id: &TournamentId, player: &PlayerName) -> Option<u32> {
        let live = self.tournaments.get(id)?;
        live.machine.departure(player).filter(|_| live.told.contains(player))
    }

    /// Sends a program the facts it needs before its first request: the game, and the commitment.
    /// `resumed` says that the tournament ran before the player logged in.
    fn tell_tournament(&mut self, conn: ConnId, id: &TournamentId, resumed: bool) {
        let Some(live) = self.tournaments.get(id) else { return };
        let (game, commitment) = (&live.machine.plan().game, live.secret.commitment());
        let mut data =
            serde_json::json!({"tournament": id, "game": game, "commitment": commitment});
        if resumed {
            data["resumed"] = true.into();
        }
        let data = Some(agon_games::json(&data));
        self.send(conn, &ToPlayer::notice("tournament", data));
        self.tell_pause(conn, id);
    }

    pub(super) fn known_secret(&self, id: &TournamentId) -> Result<Option<Secret>, EngineError> {
        let lines = self.load(&StreamKey::Secret(id.clone()).name())?;
        Ok(lines.into_iter().find_map(|line| match line.event {
            Event::SecretKept(kept) => Some(kept.secret),
            _ => None,
        }))
    }

    /// A new secret for a tournament, before it is committed.
    pub(super) fn new_secret(&mut self, id: &TournamentId) -> Secret {
        match self.settings.seed {
            Some(number) => Secret::from_seed_number(number).of_tournament(id),
            None => self.entropy.secret(),
        }
    }

    /// Makes the tournament's secret; the tournament starts when the secret is durable.
    fn make_secret(&mut self, plan: TournamentPlan) {
        let secret = self.new_secret(&plan.id);
        let kept = SecretKept { tournament: plan.id.clone(), secret };
        let stream = StreamKey::Secret(plan.id.clone());
        self.commit(stream, &[kept.into()], vec![FollowUp::Start(Box::new(plan))]);
    }

    /// Starts a tournament the lobby decided on.
    pub(super) fn start_tournament(&mut self, plan: TournamentPlan) {
        if self.stopping {
            return;
        }
        if let Err(error) = self.take_up(plan) {
            self.fail(error);
        }
    }

    /// Continues a tournament once its latest record is durable.
    pub(super) fn go_on(&mut self, id: &TournamentId) {
        if !self.is_durable(&StreamKey::Tournament(id.clone())) {
            return;
        }
        self.tell_departed(id);
        let Some(live) = self.tournaments.get(id) else { return };
        if live.machine.is_over() {
            return self.tournament_over(id);
        }
        if self.stopping {
            // The next start continues from here.
            return;
        }
        let paused = live.machine.paused().is_some();
        let ruled = paused || live.machine.resumed().is_some();
        let pending = if paused { Vec::new() } else { live.machine.pending() };
        let open: Vec<MatchPlan> = live.machine.open_matches().cloned().collect();
        for pending in pending {
            self.greet(id, pending);
        }
        for plan in open {
            let key = MatchKey::new(id.clone(), plan.id.clone());
            if !self.matches.is_live(&key) {
                self.open_match(&plan);
            } else if ruled {
                self.follow(&key);
            }
        }
    }

    /// Answers the open greetings and farewells of a player who is connected now.
    pub(super) fn greet_player(&mut self, player: &PlayerName) {
        for id in self.lobby.playing_in(player).cloned().collect::<Vec<_>>() {
            self.greet_in(&id, player);
        }
    }

    fn greet_in(&mut self, id: &TournamentId, player: &PlayerName) {
        let live = self.tournaments.get(id).filter(|live| live.machine.paused().is_none());
        if let Some(pending) = live.and_then(|live| live.machine.pending_of(player)) {
            self.greet(id, pending);
        }
    }

    /// Answers a greeting or farewell for a connected native player, who is sent notices instead.
    fn greet(&mut self, id: &TournamentId, pending: TournamentPending) {
        match self.seat_of(&pending.player) {
            // A program answers for itself, so the request waits until it is durable.
            Some(seat) if !seat.takes_lines() => {
                if self.is_durable(&StreamKey::Tournament(id.clone())) {
                    self.greet_peer(id, pending);
                }
                return;
            }
            Some(_) => {}
            None => self.miss_peer(id, &pending.player),
        }
        let player = pending.player;
        let (conn, house) = (self.conn_of(&player), player.house());
        let answer = match pending.ask {
            // A connected player has confirmed, and is sent a notice once that is durable. So after
            // a crash in between, no player has to return for a win they know of.
            TournamentAsk::Farewell { .. } if self.is_seated(&player) => "\"ok\"".to_owned(),
            TournamentAsk::Farewell { .. } => return self.expect_farewell(id, pending.limit_ms),
            TournamentAsk::Ready if self.is_seated(&player) => "true".into(),
            TournamentAsk::Propose { .. } if house.is_some() => {
                let game = &self.tournaments[id].machine.plan().game;
                let proposal = house.and_then(|name| self.houses.proposal(game, name));
                proposal.unwrap_or_else(|| "null".into())
            }
            TournamentAsk::Propose { .. } if conn.is_some() => {
                let session = conn.and_then(|conn| self.sessions.get(conn));
                let hello = session.and_then(|session| session.hello.as_ref());
                let proposal = hello.and_then(|hello| hello.proposal.clone());
                proposal.map_or("null".into(), |proposal| proposal.get().to_owned())
            }
            // The player is absent: wait until the greeting is due.
            _ => return,
        };
        let request = pending.id;
        self.step_tournament(id, TournamentCommand::Answer { player, request, answer });
    }

    /// Sets the deadline by which an absent player must return for the farewell.
    fn expect_farewell(&mut self, id: &TournamentId, limit_ms: u64) {
        let by = self.grace_until.max(self.now_ms() + limit_ms);
        let Some(live) = self.tournaments.get_mut(id) else { return };
        if live.farewell_by.is_none() {
            live.farewell_by = Some(by);
            self.timers.set(by, Timer::Greeting(id.clone()));
        }
    }

    pub(super) fn greeting_due(&mut self, id: &TournamentId) {
        let now = self.now_ms();
        self.interrupt_if_cut_off(id);
        let Some(live) = self.tournaments.get(id) else { return };
        if live.machine.paused().is_some() {
            return;
        }
        for pending in live.machine.pending() {
            let Some(live) = self.tournaments.get(id) else { return };
            let answers_by = self.peer_due(id, &pending.id);
            let by = answers_by.or(match pending.ask {
                TournamentAsk::Farewell { .. } => live.farewell_by,
                TournamentAsk::Ready | TournamentAsk::Propose { .. } => Some(live.greet_by),
            });
            if by.is_none_or(|by| by > now) {
                if let Some(by) = answers_by {
                    self.timers.set(by, Timer::Greeting(id.clone()));
                }
                continue;
            }
            if self.is_cut_off(&pending.player) {
                self.spare_cut_off(id, pending);
                continue;
            }
            if self.is_seated(&pending.player) && answers_by.is_none() {
                // The player is connected, and was not greeted only because the disk is slow.
                self.greet(id, pending);
            } else {
                let fault = match pending.ask {
                    TournamentAsk::Ready | TournamentAsk::Propose { .. }
                        if answers_by.is_none() =>
                    {
                        Fault::no_show(self.settings.reconnect_ms)
                    }
                    _ => Fault::timeout(pending.limit_ms),
                };
                self.step_tournament(id, TournamentCommand::Drop { player: pending.player, fault });
            }
        }
    }

    pub(super) fn step_tournament(&mut self, id: &TournamentId, command: TournamentCommand) {
        let Some(live) = self.tournaments.get_mut(id) else { return };
        // A repeated or late command changes nothing.
        let Ok(events) = live.machine.step(command) else { return };
        let mut notes = self.tournament_notes(id, &events);
        notes.extend(self.dropped_peers(&events));
        self.commit(StreamKey::Tournament(id.clone()), &events, notes);
    }

    pub(super) fn report(&mut self, key: &MatchKey, result: MatchResult, head: Option<Head>) {
        let command = TournamentCommand::Report { id: key.id.clone(), result, head };
        self.step_tournament(&key.tournament, command);
    }

    fn tournament_over(&mut self, id: &TournamentId) {
        if self.tournaments.contains_key(id) {
            self.end_for_observers(id);
        }
        let Some(live) = self.tournaments.remove(id) else { return };
        let (tournament, winners) = (id.clone(), live.machine.winners().len());
        self.counted.tournaments_ended += 1;
        self.note(Note::TournamentEnded { tournament, winners });
        let head = self.journals.close(&StreamKey::Tournament(id.clone()));
        self.tell_ended(&live, head.as_ref());
        self.dismiss(&live);
        self.forget_cut_off(id, &live.machine.plan().players);
        let winners = live.machine.winners().to_vec();
        let report = Report::of(id.clone(), &live.machine.results());
        let deliver = FollowUp::Deliver(id.clone(), Box::new(report));
        let finish = LobbyCommand::Finish { tournament: id.clone(), winners, head };
        self.step_lobby(finish, vec![deliver]).expect("a tournament that runs can end");
    }

    /// Sends all players of a tournament its end, with the head of its log. With the head, they can
    /// check whether the log was changed afterwards.
    fn tell_ended(&mut self, live: &LiveTournament, head: Option<&Head>) {
        let (plan, winners) = (live.machine.plan(), live.machine.winners());
        let secret = live.secret.hex();
        let data = serde_json::json!({
            "tournament": plan.id,
            "winners": winners,
            "secret": secret,
            "head": head,
        });
        let data = agon_games::json(&data);
        for player in &plan.players {
            if let Some(conn) = self.conn_of(player) {
                self.send(conn, &ToPlayer::notice("tournament-ended", Some(data.clone())));
            }
        }
    }

    /// Notifies players who have no more games in a tournament, each once. During a pause nobody is
    /// notified, because that may change.
    fn tell_departed(&mut self, id: &TournamentId) {
        let Some(live) = self.tournaments.get(id) else { return };
        if live.machine.paused().is_some() {
            return;
        }
        if live.machine.resumed().is_some() {
            self.tell_returned(id);
        }
        let Some(live) = self.tournaments.get(id) else { return };
        for (player, rank) in live.machine.departures(|player| live.told.contains(player)) {
            let Some(live) = self.tournaments.get_mut(id) else { return };
            live.told.insert(player.clone());
            if let Some(conn) = self.conn_of(&player) {
                self.tell_over(conn, id, &player, rank);
            }
        }
    }

    /// Notifies players who are back in a tournament they had left, because an operator ruled about
    /// their match.
    fn tell_returned(&mut self, id: &TournamentId) {
        let Some(live) = self.tournaments.get_mut(id) else { return };
        let departed = departed(&live.machine);
        let returned: Vec<PlayerName> = live.told.difference(&departed).cloned().collect();
        live.told.retain(|player| departed.contains(player));
        for player in returned {
            if let Some(conn) = self.conn_of(&player) {
                self.tell_tournament(conn, id, false);
            }
        }
    }

    /// Notifies a player that they have no more games in a tournament.
    fn tell_over(&mut self, conn: ConnId, id: &TournamentId, player: &PlayerName, rank: u32) {
        let Some(live) = self.tournaments.get(id) else { return };
        let won = live.machine.winners().contains(player);
        let mut data = serde_json::json!({"tournament": id, "won": won, "rank": rank});
        let head = self.journals.head(&StreamKey::Tournament(id.clone()));
        let head = head.filter(|_| live.machine.is_over());
        if let Some(head) = head {
            data["head"] = serde_json::json!(head);
        }
        let data = Some(agon_games::json(&data));
        self.send(conn, &ToPlayer::notice("tournament-over", data));
    }

    /// Lets a player leave a running tournament: they forfeit their matches.
    pub(super) fn leave_tournament(&mut self, id: &TournamentId, player: &PlayerName) {
        let fault = Fault::new(FaultKind::Withdrew, "withdrew", "left the tournament");
        self.take_out(id, player, fault);
    }

    /// The streams that record that a player leaves a running tournament. If the tournament's
    /// secret is still in flight, it has no streams yet and cannot be left.
    pub(super) fn streams_of(
        &self,
        id: &TournamentId,
        player: &PlayerName,
    ) -> Result<Vec<StreamKey>, LobbyRejection> {
        if !self.tournaments.contains_key(id) {
            return Err(LobbyRejection::Starting(id.clone()));
        }
        let keys = self.matches.keys_of(player);
        let matches = keys.filter(|key| key.tournament == *id).cloned().map(StreamKey::Match);
        Ok(matches.chain([StreamKey::Tournament(id.clone())]).collect())
    }

    /// Removes a player from a running tournament, and from their matches in it.
    pub(super) fn take_out(&mut self, id: &TournamentId, player: &PlayerName, fault: Fault) {
        for key in self.matches.of(player) {
            if key.tournament == *id {
                let (player, fault) = (player.clone(), fault.clone());
                let _ = self.step_match(&key, agon_core::Command::Leave { player, fault });
            }
        }
        self.step_tournament(id, TournamentCommand::Drop { player: player.clone(), fault });
    }

    pub(super) fn fail(&mut self, error: EngineError) {
        self.failed.get_or_insert(error);
    }
}

/// Players who have no more games in a tournament.
fn departed(tournament: &Tournament) -> BTreeSet<PlayerName> {
    tournament.departures(|_| false).into_iter().map(|(player, _)| player).collect()
}

/// The events of a paused tournament before its pause.
fn before_pause(lines: &[Line]) -> &[Line] {
    let resumed = lines.iter().rposition(|line| matches!(line.event, Event::TournamentResumed(_)));
    let since = resumed.unwrap_or(0);
    let pauses = |line: &Line| {
        matches!(line.event, Event::TournamentPaused(_) | Event::TournamentInterrupted(_))
    };
    let paused = lines[since..].iter().position(pauses);
    &lines[..paused.map_or(lines.len(), |at| since + at)]
}
