//! Tournaments: greetings, rounds, results, the end.

use super::Cells;
use super::play_clock::{PlayClock, last_record};
use super::programs::{AskedProgram, dropped_programs, tell_programs_the_end};
use crate::engines::ToLobby;
use crate::follow_up::{Conclusion, FollowUp};
use crate::journal::StreamKey;
use crate::recover::{StoredTournament, secret_in};
use crate::results::Report;
use crate::services::{Context, Services};
use crate::timers::Timer;
use crate::{Effect, EngineError, MatchKey, Note, PlayedMatch, ReadError, Tell, TournamentPart};
use agon_core::lobby::LobbyRejection;
use agon_core::{
    Event, Fault, FaultKind, Head, Line, MatchId, MatchPlan, MatchResult, PlayerName, RequestId,
    Secret, SecretKept, Timestamp, Tournament, TournamentAsk, TournamentCommand, TournamentId,
    TournamentPending, TournamentPlan,
};
use agon_wire::native::ToPlayer;
use agon_wire::peer::PeerMessage;
use std::collections::{BTreeSet, HashMap};

/// A running tournament.
pub(super) struct LiveTournament {
    pub(super) machine: Tournament,
    pub(super) secret: Secret,
    /// When it began.
    pub(super) began_at: Timestamp,
    /// How long it has played, for formats that end by time.
    pub(super) play_clock: PlayClock,
    /// When unanswered greetings count as refused.
    pub(super) greet_by: Timestamp,
    /// When players who have not reconnected after a pause are charged as absent.
    pub(super) miss_by: Timestamp,
    /// When farewells to absent players count as refused; set when the first is due.
    farewell_by: Option<Timestamp>,
    /// The players who were notified that the tournament is over for them.
    notified: BTreeSet<PlayerName>,
    /// The requests to connections that answer for themselves.
    pub(super) asked: HashMap<RequestId, AskedProgram>,
    /// True if the log may have records of every match. The files of a host are synced one by one,
    /// so after a crash of the machine the record of a round may be missing that a match follows.
    reads_every_match: bool,
    /// The matches of which the log may have records: they were paired before the engine resumed the
    /// tournament, or opened in this run.
    opened: BTreeSet<MatchId>,
    /// The players whose entry the lobby accepted and the tournament has not recorded yet.
    entering: BTreeSet<PlayerName>,
    /// The commands that may pair a round. They wait until `entering` is empty.
    held: Vec<TournamentCommand>,
}

impl LiveTournament {
    fn new(cx: &Context<'_>, machine: Tournament, secret: Secret, began_at: Timestamp) -> Self {
        let greet_by = cx.time.now + cx.settings.reconnect_ms;
        LiveTournament {
            machine,
            secret,
            began_at,
            play_clock: PlayClock::default(),
            greet_by,
            miss_by: greet_by,
            farewell_by: None,
            notified: BTreeSet::new(),
            asked: HashMap::new(),
            reads_every_match: false,
            opened: BTreeSet::new(),
            entering: BTreeSet::new(),
            held: Vec::new(),
        }
    }

    /// A player whom the tournament is about to take in.
    pub(super) fn entrant(&self) -> Option<&PlayerName> {
        self.entering.first()
    }

    /// Notes that a match opens; returns whether the log may have records of it.
    pub(super) fn open(&mut self, id: &MatchId) -> bool {
        !self.opened.insert(id.clone()) || self.reads_every_match
    }
}

impl Cells {
    /// Starts a tournament that the lobby decided on in this run: the log has at most its secret,
    /// which the driver looks up.
    pub(crate) fn start_tournament(&mut self, cx: &mut Context<'_>, plan: TournamentPlan) {
        if !cx.stopping {
            cx.effects.push(Effect::Load(StreamKey::Secret(plan.id.clone())));
            self.starting.insert(plan.id.clone(), plan);
        }
    }

    /// Goes on with the start of a tournament whose secret was looked up.
    pub(crate) fn secret_loaded(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        lines: Result<Vec<String>, ReadError>,
    ) {
        let Some(plan) = self.starting.remove(id) else { return };
        let stream = StreamKey::Secret(id.clone()).name();
        let lines = lines.map_err(EngineError::Read);
        match lines.and_then(|lines| Ok(secret_in(cx.parse(&stream, &lines, 0)?))) {
            Ok(Some(secret)) => self.start_with(cx, plan, secret),
            Ok(None) => self.make_secret(cx, plan),
            Err(error) => cx.fail(error),
        }
    }

    /// Keeps a new secret for a tournament, which starts once it is durable.
    fn make_secret(&mut self, cx: &mut Context<'_>, plan: TournamentPlan) {
        self.starting.insert(plan.id.clone(), plan.clone());
        cx.journals.claim(&plan.id);
        let secret = cx.new_secret(&plan.id);
        let kept = SecretKept { tournament: plan.id.clone(), secret: secret.clone() };
        let stream = StreamKey::Secret(plan.id.clone());
        cx.commit(stream, &[kept.into()], vec![FollowUp::StartWith(Box::new(plan), secret)]);
    }

    /// Starts a tournament whose secret is durable.
    pub(crate) fn start_with(
        &mut self,
        cx: &mut Context<'_>,
        plan: TournamentPlan,
        secret: Secret,
    ) {
        if !cx.stopping {
            self.starting.remove(&plan.id);
            cx.journals.claim(&plan.id);
            cx.journals.close(&StreamKey::Secret(plan.id.clone()));
            self.create(cx, plan, secret);
        }
    }

    /// Has the driver read a tournament from the log, to resume it then.
    pub(crate) fn begin_resuming(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        if !cx.stopping {
            self.readings += 1;
            self.resuming.insert(id.clone(), self.readings);
            cx.effects.push(Effect::ReadTournament { id: id.clone(), reading: self.readings });
        }
    }

    /// Notes that a tournament was read; returns whether this engine still wants to resume it.
    pub(crate) fn end_resuming(&mut self, id: &TournamentId, reading: u64) -> bool {
        let is_wanted = self.resuming.get(id) == Some(&reading);
        if is_wanted {
            self.resuming.remove(id);
        }
        is_wanted
    }

    /// Returns whether a tournament is being read from the log.
    pub(crate) fn is_resuming(&self, id: &TournamentId) -> bool {
        self.resuming.contains_key(id)
    }

    /// Returns whether any tournament is being read from the log.
    pub(crate) fn is_resuming_any(&self) -> bool {
        !self.resuming.is_empty()
    }

    /// Resumes a tournament from the log, or starts it if the log has no record of it.
    pub(crate) fn take_up(
        &mut self,
        cx: &mut Context<'_>,
        plan: TournamentPlan,
        stored: StoredTournament,
    ) -> Result<(), EngineError> {
        let StoredTournament { secret, lines, end, matches, seen_at, .. } = stored;
        cx.note_seen(seen_at);
        let Some(secret) = secret else {
            self.make_secret(cx, plan);
            return Ok(());
        };
        cx.journals.claim(&plan.id);
        cx.journals.close(&StreamKey::Secret(plan.id.clone()));
        self.folded_ahead.extend(matches);
        let stream = StreamKey::Tournament(plan.id.clone());
        let Some(began_at) = lines.first().map(|line| line.at) else {
            if cx.plays(TournamentPart::Matches) {
                return Ok(());
            }
            self.create(cx, plan, secret);
            return Ok(());
        };
        let fold = |lines: &[_]| Tournament::fold(lines, &cx.games, Some(secret.clone()));
        let machine = Services::fold(&stream, &lines, fold)?;
        // Players who left before a restart are notified when they log in. During a pause this can
        // still change for players who left since the pause.
        let notified = match machine.paused() {
            Some(_) => departed(&Services::fold(&stream, before_pause(&lines), fold)?),
            None => departed(&machine),
        };
        cx.journals.open(stream, end);
        let last_record = last_record(cx, &machine, &lines, &self.folded_ahead)?;
        let mut live = LiveTournament::new(cx, machine, secret, began_at);
        live.play_clock = PlayClock::of(&lines);
        live.reads_every_match = cx.settings.local.is_some();
        let paired = live.machine.rounds().iter().flat_map(|round| &round.matches);
        live.opened = paired.map(|plan| plan.id.clone()).collect();
        notified.iter().for_each(|player| note_departed(cx, &plan.id, player, true));
        live.notified = notified;
        // The lobby records an entry before the tournament does.
        let entering = plan.players.iter().filter(|player| live.machine.may_enter(player).is_ok());
        live.entering = entering.cloned().collect();
        let entering = live.entering.clone();
        self.tournaments.insert(plan.id.clone(), live);
        if cx.plays(TournamentPart::Matches) {
            plan.players.iter().for_each(|player| cx.seat_if_house(player));
            return Ok(());
        }
        self.count_play_time(cx, &plan.id, last_record);
        self.blacklist_again_in(cx, &plan.id)?;
        self.begin(cx, &plan.id);
        entering.iter().for_each(|player| self.enter(cx, &plan.id, player));
        Ok(())
    }

    /// Creates a tournament and commits its first record.
    fn create(&mut self, cx: &mut Context<'_>, plan: TournamentPlan, secret: Secret) {
        let kind = cx.games.kind(&plan.game).expect("checked when announced").clone();
        let (id, players) = (plan.id.clone(), plan.players.clone());
        match Tournament::create(plan, kind, secret.clone()) {
            Ok((machine, events)) => {
                cx.commit(StreamKey::Tournament(id.clone()), &events, Vec::new());
                let live = LiveTournament::new(cx, machine, secret, cx.now_ms());
                self.tournaments.insert(id.clone(), live);
                self.follow_play_time(cx, &id, &events);
                self.begin(cx, &id);
            }
            // The players who signed up cannot play it (too few for the groups), so nobody wins.
            Err(error) => {
                let (tournament, why) = (id.clone(), error.to_string());
                cx.note(Note::NotPlayable { tournament, why });
                let message = Tell { message: PeerMessage::End { won: false }, ask: None };
                players.iter().for_each(|player| cx.call(player, message.clone()));
                let report = Report::without_play(id.clone(), "not played");
                let (tournament, winners, head) = (id, Vec::new(), None);
                let conclusion = Conclusion { tournament, players, winners, head, report };
                cx.then(FollowUp::Conclude(Box::new(conclusion)));
            }
        }
    }

    /// Begins to run a tournament that was created or resumed.
    fn begin(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let Some(live) = self.tournaments.get(id) else { return };
        cx.timers.set(live.greet_by, Timer::Greeting(id.clone()));
        let players = live.machine.plan().players.clone();
        players.iter().for_each(|player| cx.seat_if_house(player));
        let (tournament, count) = (id.clone(), players.len());
        self.counted.tournaments_started += 1;
        cx.note(Note::TournamentStarted { tournament, players: count });
        players.iter().for_each(|player| self.tell_tournament(cx, player, id, false));
        self.begin_for_observers(cx, id);
        // This sends native players nothing, so it need not wait for the disk.
        self.expel_listed(cx, id, &players);
        players.iter().for_each(|player| self.greet_in(cx, id, player));
        self.go_on(cx, id);
    }

    /// Notes that the lobby accepted an entry. The tournament pairs no round until it has taken the
    /// player in: otherwise that round could be the last one, and the entry would have no effect.
    pub(crate) fn expect_entry(&mut self, id: &TournamentId, player: PlayerName) {
        if let Some(live) = self.tournaments.get_mut(id) {
            live.entering.insert(player);
        }
    }

    /// Enters a player into a running tournament, unless an operator ended it meanwhile.
    pub(crate) fn enter(&mut self, cx: &mut Context<'_>, id: &TournamentId, player: &PlayerName) {
        let Some(live) = self.tournaments.get_mut(id).filter(|_| !cx.stopping) else { return };
        live.entering.remove(player);
        if live.machine.may_enter(player).is_ok() {
            cx.seat_if_house(player);
            self.tell_tournament(cx, player, id, false);
            self.step_tournament(cx, id, TournamentCommand::Enter { player: player.clone() });
            self.expel_listed(cx, id, std::slice::from_ref(player));
            self.greet_in(cx, id, player);
        }
        self.step_held(cx, id);
    }

    /// Forgets an entry that the lobby rejected.
    pub(crate) fn cancel_entry(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        player: &PlayerName,
    ) {
        if let Some(live) = self.tournaments.get_mut(id) {
            live.entering.remove(player);
        }
        self.step_held(cx, id);
    }

    /// Carries out the commands that waited for entries.
    fn step_held(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let live = self.tournaments.get_mut(id).filter(|live| live.entering.is_empty());
        let held = live.map(|live| std::mem::take(&mut live.held));
        held.into_iter().flatten().for_each(|command| self.step_tournament(cx, id, command));
    }

    /// Sends a player who logged in the tournaments they play in.
    pub(crate) fn tell_tournaments(&mut self, cx: &mut Context<'_>, player: &PlayerName) {
        for id in cx.accounts.playing_in(player).cloned().collect::<Vec<_>>() {
            match self.place_in(&id, player) {
                Some(rank) => self.tell_over(cx, &id, player, rank),
                None => self.tell_tournament(cx, player, &id, true),
            }
        }
    }

    /// Returns whether a player has left a running tournament and was told so.
    pub(crate) fn has_departed(&self, id: &TournamentId, player: &PlayerName) -> bool {
        self.place_in(id, player).is_some()
    }

    /// The final place of a player in a running tournament, if they have left it. The player learns
    /// of it once it is durable.
    fn place_in(&self, id: &TournamentId, player: &PlayerName) -> Option<u32> {
        let live = self.tournaments.get(id)?;
        live.machine.departure(player).filter(|_| live.notified.contains(player))
    }

    /// Sends a program the facts it needs before its first request: the game, and the commitment.
    /// `resumed` says that the tournament ran before the player logged in.
    fn tell_tournament(
        &self,
        cx: &mut Context<'_>,
        player: &PlayerName,
        id: &TournamentId,
        resumed: bool,
    ) {
        let live = self.tournaments.get(id).filter(|_| cx.conn_of(player).is_some());
        let Some(live) = live else { return };
        let (game, commitment) = (&live.machine.plan().game, live.secret.commitment());
        let mut data =
            serde_json::json!({"tournament": id, "game": game, "commitment": commitment});
        if resumed {
            data["resumed"] = true.into();
        }
        let data = Some(agon_games::json(&data));
        cx.tell(player, &ToPlayer::notice("tournament", data));
        self.tell_pause(cx, player, id);
    }

    /// Continues a tournament once its latest record is durable.
    pub(super) fn go_on(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        if !cx.is_durable(&StreamKey::Tournament(id.clone())) {
            return;
        }
        self.tell_departed(cx, id);
        let Some(live) = self.tournaments.get(id) else { return };
        if live.machine.is_over() {
            return self.tournament_over(cx, id);
        }
        if cx.stopping {
            // The next start continues from here.
            return;
        }
        let paused = live.machine.paused().is_some();
        let ruled = paused || live.machine.resumed().is_some();
        let pending = if paused { Vec::new() } else { live.machine.pending() };
        let places = cx.settings.local.map_or(usize::MAX, |local| local.matches_max);
        let places = places.saturating_sub(self.matches.len() + self.handed_out.len());
        let key = |plan: &MatchPlan| MatchKey::new(id.clone(), plan.id.clone());
        let open = live.machine.open_matches();
        let not_live = open.filter(|plan| {
            let key = key(plan);
            !self.matches.is_live(&key) && !self.handed_out.contains(&key)
        });
        let not_live: Vec<MatchPlan> = not_live.take(places).cloned().collect();
        if ruled {
            let open: Vec<MatchKey> = live.machine.open_matches().map(key).collect();
            open.iter().for_each(|key| self.follow(cx, key));
        }
        pending.into_iter().for_each(|pending| self.greet(cx, id, pending));
        for plan in not_live {
            if cx.plays(TournamentPart::Rounds) {
                self.handed_out.insert(MatchKey::new(id.clone(), plan.id.clone()));
                cx.effects.push(Effect::HandOut(Box::new(plan)));
            } else {
                self.open_match(cx, &plan);
            }
        }
    }

    /// Answers the open greetings and farewells of a player who is connected now.
    pub(super) fn greet_player(&mut self, cx: &mut Context<'_>, player: &PlayerName) {
        for id in cx.accounts.playing_in(player).cloned().collect::<Vec<_>>() {
            self.greet_in(cx, &id, player);
        }
    }

    fn greet_in(&mut self, cx: &mut Context<'_>, id: &TournamentId, player: &PlayerName) {
        let live = self.tournaments.get(id).filter(|live| live.machine.paused().is_none());
        if let Some(pending) = live.and_then(|live| live.machine.pending_of(player)) {
            self.greet(cx, id, pending);
        }
    }

    /// Answers a greeting or farewell for a connected native player, who is sent notices instead.
    fn greet(&mut self, cx: &mut Context<'_>, id: &TournamentId, pending: TournamentPending) {
        match cx.present.seat(&pending.player) {
            // A program answers for itself, so the request waits until it is durable.
            Some(seat) if seat.takes_calls() => {
                if cx.is_durable(&StreamKey::Tournament(id.clone())) {
                    self.greet_peer(cx, id, pending);
                }
                return;
            }
            Some(_) => {}
            None => self.miss_peer(cx, id, &pending.player),
        }
        let player = pending.player;
        let seat = cx.present.seat(&player);
        let answer = match pending.ask {
            // A connected player has confirmed, and is sent a notice once that is durable. So after
            // a crash in between, no player has to return for a win they know of.
            // A host ends programs that it does not need any more.
            TournamentAsk::Farewell { .. } if seat.is_some() || cx.settings.local.is_some() => {
                "\"ok\"".to_owned()
            }
            TournamentAsk::Farewell { .. } => {
                return self.expect_farewell(cx, id, pending.limit_ms);
            }
            // The player is absent: wait until the greeting is due.
            TournamentAsk::Ready | TournamentAsk::Propose { .. } => match (&pending.ask, seat) {
                (_, None) => return,
                (TournamentAsk::Propose { .. }, Some(seat)) => {
                    let game = &self.tournaments[id].machine.plan().game;
                    let own = seat.house().and_then(|name| cx.houses.proposal(game, name));
                    own.or_else(|| seat.proposal()).unwrap_or_else(|| "null".into())
                }
                (_, Some(_)) => "true".into(),
            },
        };
        let request = pending.id;
        self.step_tournament(cx, id, TournamentCommand::Answer { player, request, answer });
    }

    /// Sets the deadline by which an absent player must return for the farewell.
    fn expect_farewell(&mut self, cx: &mut Context<'_>, id: &TournamentId, limit_ms: u64) {
        let by = cx.grace_until.max(cx.time.now + limit_ms);
        let Some(live) = self.tournaments.get_mut(id) else { return };
        if live.farewell_by.is_none() {
            live.farewell_by = Some(by);
            cx.timers.set(by, Timer::Greeting(id.clone()));
        }
    }

    pub(super) fn greeting_due(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let now = cx.time.now;
        self.interrupt_if_cut_off(cx, id);
        let Some(live) = self.tournaments.get(id) else { return };
        if live.machine.paused().is_some() {
            return;
        }
        for pending in live.machine.pending() {
            let Some(live) = self.tournaments.get(id) else { return };
            let answers_by = self.peer_due(cx, id, &pending.id);
            let by = answers_by.or(match pending.ask {
                TournamentAsk::Farewell { .. } => live.farewell_by,
                TournamentAsk::Ready | TournamentAsk::Propose { .. } => Some(live.greet_by),
            });
            if by.is_none_or(|by| by > now) {
                if let Some(by) = answers_by {
                    cx.timers.set(by, Timer::Greeting(id.clone()));
                }
                continue;
            }
            if self.is_cut_off(&cx.present, &pending.player) {
                self.spare_cut_off(cx, id, pending);
                continue;
            }
            if cx.present.is_here(&pending.player) && answers_by.is_none() {
                // The player is connected, and was not greeted only because the disk is slow.
                self.greet(cx, id, pending);
            } else {
                let fault = match pending.ask {
                    TournamentAsk::Ready | TournamentAsk::Propose { .. }
                        if answers_by.is_none() =>
                    {
                        Fault::no_show(cx.settings.reconnect_ms)
                    }
                    _ => Fault::timeout(pending.limit_ms),
                };
                self.step_tournament(
                    cx,
                    id,
                    TournamentCommand::Drop { player: pending.player, fault },
                );
            }
        }
    }

    pub(super) fn step_tournament(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        command: TournamentCommand,
    ) {
        let Some(live) = self.tournaments.get_mut(id) else { return };
        // A result or the last answer to a greeting pairs a round, after which nobody may enter.
        let may_pair = matches!(
            command,
            TournamentCommand::Report { .. }
                | TournamentCommand::Answer { .. }
                | TournamentCommand::Drop { .. }
                | TournamentCommand::EndPlayTime
        );
        if may_pair && !live.entering.is_empty() {
            return live.held.push(command);
        }
        // A repeated or late command changes nothing.
        let Ok(events) = live.machine.step(command) else { return };
        let mut notes = notes(id, &events);
        notes.extend(dropped_programs(cx, &events));
        cx.commit(StreamKey::Tournament(id.clone()), &events, notes);
        self.follow_play_time(cx, id, &events);
    }

    pub(super) fn report(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        result: MatchResult,
        head: Option<Head>,
    ) {
        if cx.plays(TournamentPart::Matches) {
            let report = PlayedMatch { key: key.clone(), result, head };
            return cx.effects.push(Effect::Report(Box::new(report)));
        }
        let command = TournamentCommand::Report { id: key.id.clone(), result, head };
        self.step_tournament(cx, &key.tournament, command);
    }

    /// Handles the report of a match that another engine played.
    pub(crate) fn reported(&mut self, cx: &mut Context<'_>, report: PlayedMatch) {
        let PlayedMatch { key, result, head } = report;
        if self.handed_out.remove(&key) {
            self.report(cx, &key, result, head);
        }
    }

    fn tournament_over(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        if self.tournaments.contains_key(id) {
            self.end_for_observers(cx, id);
        }
        let Some(live) = self.tournaments.remove(id) else { return };
        let (tournament, winners) = (id.clone(), live.machine.winners().len());
        self.counted.tournaments_ended += 1;
        cx.note(Note::TournamentEnded { tournament, winners });
        let head = cx.journals.close(&StreamKey::Tournament(id.clone()));
        tell_ended(cx, &live, head.as_ref());
        tell_programs_the_end(cx, &live);
        let (tournament, players) = (id.clone(), live.machine.plan().players.clone());
        let winners = live.machine.winners().to_vec();
        let report = Report::of(id.clone(), &live.machine.results());
        let conclusion = Conclusion { tournament, players, winners, head, report };
        cx.then(FollowUp::Conclude(Box::new(conclusion)));
    }

    /// Notifies players who have no more games in a tournament, each once. During a pause nobody is
    /// notified, because that may change.
    fn tell_departed(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let Some(live) = self.tournaments.get(id) else { return };
        if live.machine.paused().is_some() {
            return;
        }
        if live.machine.resumed().is_some() {
            self.tell_returned(cx, id);
        }
        let Some(live) = self.tournaments.get(id) else { return };
        for (player, rank) in live.machine.departures(|player| live.notified.contains(player)) {
            let Some(live) = self.tournaments.get_mut(id) else { return };
            live.notified.insert(player.clone());
            note_departed(cx, id, &player, true);
            self.tell_over(cx, id, &player, rank);
        }
    }

    /// Notifies players who are back in a tournament they had left, because an operator ruled about
    /// their match.
    fn tell_returned(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let Some(live) = self.tournaments.get_mut(id) else { return };
        let departed = departed(&live.machine);
        let returned: Vec<PlayerName> = live.notified.difference(&departed).cloned().collect();
        live.notified.retain(|player| departed.contains(player));
        for player in &returned {
            note_departed(cx, id, player, false);
            self.tell_tournament(cx, player, id, false);
        }
    }

    /// Notifies a player that they have no more games in a tournament.
    fn tell_over(&self, cx: &mut Context<'_>, id: &TournamentId, player: &PlayerName, rank: u32) {
        let live = self.tournaments.get(id).filter(|_| cx.conn_of(player).is_some());
        let Some(live) = live else { return };
        let won = live.machine.winners().contains(player);
        let mut data = serde_json::json!({"tournament": id, "won": won, "rank": rank});
        let head = cx.journals.head(&StreamKey::Tournament(id.clone()));
        let head = head.filter(|_| live.machine.is_over());
        if let Some(head) = head {
            data["head"] = serde_json::json!(head);
        }
        let data = Some(agon_games::json(&data));
        cx.tell(player, &ToPlayer::notice("tournament-over", data));
    }

    /// Lets a player leave a running tournament: they forfeit their matches.
    pub(crate) fn leave_tournament(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        player: &PlayerName,
    ) {
        let fault = Fault::new(FaultKind::Withdrew, "withdrew", "left the tournament");
        self.take_out(cx, id, player, fault);
    }

    /// The streams that record that a player leaves a running tournament. If the tournament's
    /// secret is still in flight, it has no streams yet and cannot be left.
    pub(crate) fn streams_of(
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
    pub(crate) fn take_out(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        player: &PlayerName,
        fault: Fault,
    ) {
        for key in self.matches.of(player) {
            if key.tournament == *id {
                let (player, fault) = (player.clone(), fault.clone());
                let _ = self.step_match(cx, &key, agon_core::MatchCommand::Leave { player, fault });
            }
        }
        self.step_tournament(cx, id, TournamentCommand::Drop { player: player.clone(), fault });
    }
}

/// Tells the lobby's engine, if that is another one, whether a player has left a tournament.
fn note_departed(cx: &mut Context<'_>, id: &TournamentId, player: &PlayerName, is_out: bool) {
    if cx.has_only_cells() {
        let (tournament, player) = (id.clone(), player.clone());
        cx.pass_to_lobby(ToLobby::Departed { tournament, player, is_out });
    }
}

/// Makes the secret of a tournament, which starts when the secret is durable.
/// Sends all players of a tournament its end, with the head of its log. With the head, they can
/// check whether the log was changed afterwards.
fn tell_ended(cx: &mut Context<'_>, live: &LiveTournament, head: Option<&Head>) {
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
        cx.tell(player, &ToPlayer::notice("tournament-ended", Some(data.clone())));
    }
}

/// The reports about a tournament's events, for when they are durable.
fn notes(id: &TournamentId, events: &[Event]) -> Vec<FollowUp> {
    let notes = events.iter().filter_map(|event| {
        let Event::PlayerDropped(dropped) = event else { return None };
        let faulted = Box::new(dropped.faulted.clone());
        Some(FollowUp::NoteFault(id.clone(), None, faulted))
    });
    notes.collect()
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
