//! The engine: all live machines as one deterministic component. Inputs come in, effects go out.
//!
//! ```text
//!   inputs                              engine                                    effects
//!   Opened Said Closed   ──▶ seats ─────────────────┐                      ──▶  Send Ask Call Close
//!   Checked Delivered        connections, logins    │ arrive, leave,            CheckPassword Admit
//!                              │ commands           ▼ answer, delivered         AskHouse
//!   Committed Refused          ▼                  cells                         Append
//!   Query Stop               lobby ──▶ start ──▶  tournaments, matches,         KeepSnapshot Note
//!   elapse(time)             accounts ◀── end ──  their spectators              Show Reply
//!                              └──────┬─────────────┘
//!                                  services: time, timers, journals, who is present
//! ```
//!
//! Each side keeps its state private. A side speaks to players through effects, and to another side
//! through the [`Engine`], which carries follow-ups from one to the other.
//!
//! The engine has no clock, no thread, no channel and no socket. Time and randomness come in, and
//! the driver carries the effects out. The engine guarantees the order: decide, commit, then send.
//! The follow-ups of a record wait in its stream's journal until the log reports the record as
//! durable. A match sends its players messages only while none of its records is in flight.

#![forbid(unsafe_code)]

mod ask;
mod casual;
mod cells;
mod effect;
mod engines;
mod follow_up;
mod input;
mod journal;
pub mod links;
mod lobby;
mod moves;
pub mod names;
mod operator;
pub mod password;
mod port;
mod ports;
pub mod query;
mod recover;
mod results;
mod seat;
pub mod seat_side;
mod seats;
mod services;
pub mod show;
mod stop;
mod timers;
mod wanted;

pub use agon_core::MatchKey;
use agon_core::lobby::{Lobby, LobbyCommand, LobbyRejection};
use agon_core::{
    ApplyError, BadLine, LOG_VERSION, Match, Millis, PlayerName, Secret, Timestamp, Tournament,
    TournamentId,
};
use agon_games::{GameState, Registry};
pub use casual::names_casual_game;
use cells::{CellReport, Cells, RejectedAnswer};
pub use cells::{GameTotals, delay, watch};
pub use effect::{
    AskId, CloseReason, Effect, Effects, HouseQuestion, LineRange, LoginOutcome, Note,
    PasswordCheck, PasswordResult, PeerAsk, PlayedMatch, Record, Tell,
};
use engines::CellEngines;
pub use engines::{EngineId, EngineMessage, EngineRole};
use follow_up::FollowUp;
pub use input::{BadReply, Input, PeerSaid, Time, TranslatedAnswer};
pub use journal::StreamKey;
use lobby::LobbyCell;
pub use lobby::{AnnounceError, check_announcement};
pub use operator::NotObeyed;
use port::FromSeat;
pub use ports::{HousePlayers, LobbySnapshot, ReadError, StreamReader};
use query::AnyQuery;
pub use query::QueryId;
pub use recover::{StoredTournament, read_tournaments};
pub use results::Report;
pub use seat::Wires;
pub use seat::{Form, SeatKind, Wire};
pub use seat_side::Peers;
use seats::Seats;
use serde::{Deserialize, Serialize};
use services::{Context, Services};
use timers::{LATE_LOOK_MS, Timer};
pub use wanted::Wanted;

/// The number of a connection, unique while the server runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ConnId(pub u64);

impl std::fmt::Display for ConnId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How the engine handles a login of an account that is on another connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondLogin {
    /// The newest connection takes the account over.
    #[default]
    Takeover,
    /// The oldest connection keeps the account.
    Refuse,
}

/// The engine's settings for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long a token is valid.
    pub token_ms: Millis,
    /// How long players have to reconnect after a restart before they are charged as absent.
    pub reconnect_ms: Millis,
    /// True if players may invite others to a tournament, and not only operators.
    pub players_may_invite: bool,
    /// True if strangers get a guest account for the asking.
    pub guests: bool,
    /// The seed of all tournaments' secrets, for experiments that must be repeatable.
    pub seed: Option<u64>,
    /// Which connection has an account that logs in twice.
    pub second_login: SecondLogin,
    /// The minimum delay with which observers are shown matches.
    pub observer_delay_ms: Millis,
    /// After how many events of the lobby the engine takes a snapshot; by default, the larger the
    /// lobby, the rarer.
    pub snapshot_every: Option<u64>,
    /// The newest version of records that may be written: every node of a cluster must read them.
    pub log_version: u32,
    /// The task of this engine in its server.
    pub role: EngineRole,
    /// Set by a host that starts the programs of its players itself.
    pub local: Option<LocalPlayers>,
}

/// The limits of a host that starts the programs of its players itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalPlayers {
    /// How many matches run at a time.
    pub matches_max: usize,
    /// How long a match waits for programs that the host starts for it.
    pub start_ms: Millis,
    /// Which part of its tournament the engine plays.
    pub part: TournamentPart,
}

/// Which part of a host's tournament an engine plays. Matches between house players need only
/// processor time, so a host may divide them among several engines, each on a thread of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TournamentPart {
    /// The tournament and its matches.
    Whole,
    /// The tournament. Other engines play its matches, which [`Effect::HandOut`] names, and their
    /// results come back as [`Input::Reported`].
    Rounds,
    /// The matches that [`Input::Play`] names. The log has the tournament already.
    Matches,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            token_ms: 30 * 24 * 3_600_000,
            reconnect_ms: 60_000,
            second_login: SecondLogin::default(),
            players_may_invite: false,
            guests: true,
            observer_delay_ms: 0,
            seed: None,
            snapshot_every: None,
            log_version: LOG_VERSION,
            role: EngineRole::ALONE,
            local: None,
        }
    }
}

/// Why the engine cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The log cannot be read.
    #[error("{0}")]
    Read(ReadError),
    /// A line of the log cannot be parsed.
    #[error("{stream}, event {seq}: {bad}")]
    Line {
        /// The stream.
        stream: String,
        /// The event's number.
        seq: u64,
        /// The parse error.
        bad: BadLine,
    },
    /// The machines reject an event of the log.
    #[error("{stream}, event {seq}: {error}")]
    Fold {
        /// The stream.
        stream: String,
        /// The event's number.
        seq: u64,
        /// The machine's error.
        error: ApplyError,
    },
}

/// A summary of the engine's state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EngineStatus {
    /// Accounts.
    pub accounts: usize,
    /// Open connections.
    pub connections: usize,
    /// Running tournaments.
    pub tournaments: usize,
    /// Running matches.
    pub matches: usize,
    /// Answers accepted since the start.
    pub decisions: u64,
}

/// The engine: the three sides, and what they share. It hands inputs to the side they concern, and
/// carries out the follow-ups that one side has for another.
pub struct Engine {
    services: Services,
    seats: Seats,
    lobby: LobbyCell,
    cells: Cells,
    /// The other engines of the server.
    cell_engines: CellEngines,
    /// True if the log refused a record of the lobby. The engine then sends nothing more.
    lost_lobby: bool,
}

impl Engine {
    /// Opens the engine over a log: folds and resumes the live machines. The engine derives its
    /// secrets and tokens from `key`.
    pub fn open(
        reader: Box<dyn StreamReader>,
        games: Registry,
        houses: Box<dyn HousePlayers>,
        settings: Settings,
        key: [u8; 32],
        now: Timestamp,
    ) -> Result<Engine, EngineError> {
        let role = settings.role;
        let log_version = if role == EngineRole::Cells { 1 } else { settings.log_version };
        let settings = Settings { log_version, ..settings };
        let mut engine = Engine {
            services: Services::new(reader, games, houses, settings, key, now),
            seats: Seats::default(),
            lobby: LobbyCell::default(),
            cells: Cells::default(),
            cell_engines: CellEngines::new(role),
            lost_lobby: false,
        };
        engine.recover()?;
        Ok(engine)
    }

    /// The time of the latest input.
    pub fn time(&self) -> Time {
        self.services.time
    }

    /// The time of the latest input, or of the latest event of the log if that is later.
    pub fn now_ms(&self) -> Timestamp {
        self.services.now_ms()
    }

    /// Takes the effects since the last call. `into` is the previous list; its memory is reused.
    pub fn take_effects(&mut self, into: &mut Effects) {
        std::mem::swap(&mut self.services.effects, into);
    }

    /// Takes the error that keeps the engine from continuing, if there is one.
    pub fn take_failure(&mut self) -> Option<EngineError> {
        self.services.take_failure()
    }

    /// Returns whether the server was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.services.stopping
    }

    /// When the next timer is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.services.timers.next_due().filter(|_| !self.services.stopping)
    }

    /// A summary of the engine's state.
    pub fn status(&self) -> EngineStatus {
        let others = |count: fn(&CellReport) -> usize| -> usize {
            self.cell_engines.reports().map(count).sum()
        };
        EngineStatus {
            accounts: self.lobby.state().accounts().count(),
            connections: self.seats.len(),
            tournaments: self.cells.tournament_count() + others(|report| report.tournaments),
            matches: self.cells.match_count() + others(|report| report.matches),
            decisions: self.counts().decisions,
        }
    }

    /// How many answers were accepted since the start.
    pub fn decisions(&self) -> u64 {
        self.counts().decisions
    }

    /// A running tournament.
    pub fn live_tournament(&self, id: &TournamentId) -> Option<&Tournament> {
        self.cells.tournament(id)
    }

    /// A running match.
    pub fn live_match(&self, key: &MatchKey) -> Option<&Match> {
        self.cells.live_match(key)
    }

    /// The lobby, for reading.
    pub fn lobby(&self) -> &Lobby {
        self.lobby.state()
    }

    /// The counts of games.
    pub fn game_counts(&self) -> GameTotals {
        self.cells.game_counts().plus(self.cell_engines.counts().games())
    }

    /// The game that a house player is asked about; `None` if it is over.
    pub fn game_of(&self, question: &HouseQuestion) -> Option<&dyn GameState> {
        Some(self.live_match(&question.key)?.referee()?.game())
    }

    /// The matches that run, each with the secret of its tournament.
    pub fn live_matches(&self) -> impl Iterator<Item = (&MatchKey, &Match, &Secret)> {
        self.cells.live_matches()
    }

    /// Returns whether no record of a stream is in flight.
    pub fn is_durable(&self, stream: &StreamKey) -> bool {
        self.services.is_durable(stream)
    }

    /// Handles an input. Its effects are in [`take_effects`](Engine::take_effects).
    pub fn handle(&mut self, time: Time, input: Input) {
        if self.lost_lobby {
            return;
        }
        self.services.time = time;
        match input {
            input if self.services.stopping => self.handle_last(input),
            Input::Opened { conn, seat, from } => self.opened(conn, seat, from),
            Input::Seated { conn, seat, player, hello } => self.seated(conn, seat, &player, hello),
            Input::Restarted { conn, hello } => self.restarted(conn, hello),
            Input::Absent { player, fault } => self.absent(&player, &fault),
            Input::Void { key, ruling } => {
                self.in_cells(|cells, cx| cells.void_running_game(cx, &key, &ruling));
            }
            Input::Play(plan) => self.in_cells(|cells, cx| cells.open_match(cx, &plan)),
            Input::Reported(report) => self.in_cells(|cells, cx| cells.reported(cx, *report)),
            Input::Abandon { key, ruling } => {
                self.in_cells(|cells, cx| cells.abandon(cx, &key, &ruling));
            }
            Input::Said { conn, message, at } => self.said(conn, message, at),
            Input::Bad { conn, why, line } => self.bad_line(conn, &why, &line),
            Input::Peer { conn, said, at } => self.peer_said(conn, said, at),
            Input::Translated { conn, said, at } => self.translated(conn, said, at),
            Input::Delivered { conn, ask, at } => self.delivered(conn, ask, at),
            Input::Closed { conn } => self.closed(conn),
            Input::Lost { conn, fault } => self.lost(conn, &fault, CloseReason::Left),
            Input::NodeGone { conn, is_stopping } => self.node_gone(conn, is_stopping),
            Input::LoginDue { conn } => self.login_due(conn),
            Input::Checked { conn, result } => self.checked(conn, result),
            Input::House { key, player, request, answer } => {
                self.in_cells(|cells, cx| cells.house_answered(cx, &key, player, request, answer));
            }
            Input::Committed(stream) => self.committed(stream),
            Input::Refused(stream) => self.refused(&stream),
            Input::Loaded { stream: StreamKey::Tournament(id), lines } => {
                self.result_loaded(&id, lines);
            }
            Input::Loaded { stream: StreamKey::Secret(id), lines } => {
                self.in_cells(|cells, cx| cells.secret_loaded(cx, &id, lines));
            }
            // The engine loads nothing else.
            Input::Loaded { .. } => {}
            Input::TournamentRead { reading, stored } => self.tournament_read(reading, stored),
            Input::SnapshotKept => self.lobby.snapshot_kept(),
            Input::Query { id, query } => self.asked(id, query),
            Input::Passed { from, message } => self.passed(from, *message),
            Input::EngineJoined(engine) => self.engine_joined(engine),
            Input::EngineLost(engine) => self.engine_lost(engine),
            Input::Move { tournament, to } => self.order_move(tournament, to),
            Input::LogVersion(version) => self.set_log_version(version),
            Input::Unwatch(watcher) => self.cells.unwatch(watcher),
            Input::Stop => self.stop(),
        }
    }

    /// Runs the timers that were due at `until`. Under load that is earlier than now: a driver that
    /// handles old inputs must not expire requests that later inputs answer. Timers may fire early
    /// or twice, so each handler checks its own deadline.
    pub fn elapse(&mut self, time: Time, until: Timestamp) {
        self.services.time = time;
        if !self.services.stopping && !self.lost_lobby {
            self.on_time(until);
        }
    }

    fn on_time(&mut self, now: Timestamp) {
        while let Some((at, timer)) = self.services.timers.pop_due(now) {
            if self.waits_for_arrivals(at, &timer) {
                let again_at = self.services.time.now + LATE_LOOK_MS;
                self.services.timers.postpone(again_at, timer, at);
                continue;
            }
            self.note(Note::TimerLate(self.now_ms().since(at)));
            match timer {
                Timer::Lobby => self.lobby_due(),
                Timer::Reconnect => self.reconnect_due(),
                Timer::LogOut(account) => self.log_out_if_gone(account),
                Timer::Away(account) => self.miss_if_away(&account),
                Timer::News => self.once_durable(vec![StreamKey::Lobby], FollowUp::TellNews),
                Timer::Report => self.report_counts(),
                Timer::Match(_)
                | Timer::Greeting(_)
                | Timer::PlayTime(_)
                | Timer::Resumed(_)
                | Timer::Watch(_)
                | Timer::HousePace(..) => {
                    self.in_cells(|cells, cx| cells.due(cx, timer, now));
                }
            }
        }
    }

    /// Returns whether a timer that charges absent players must wait: the lobby's engine may have
    /// passed on an arrival that has not come yet.
    fn waits_for_arrivals(&self, due: Timestamp, timer: &Timer) -> bool {
        let charges_absent = matches!(
            timer,
            Timer::Reconnect | Timer::Resumed(_) | Timer::Away(_) | Timer::Greeting(_)
        );
        charges_absent && self.services.has_only_cells() && self.services.time.read_until < due
    }

    /// Charges and logs out the players who did not reconnect after a restart, or after the loss of
    /// a node. A later loss gives everybody more time.
    fn reconnect_due(&mut self) {
        if self.services.time.now < self.services.grace_until {
            return;
        }
        self.in_cells(Cells::miss_the_absent);
        if !self.services.has_only_cells() {
            self.log_out_absent();
        }
    }

    /// Runs the follow-ups of the oldest record in flight of a stream, which is durable now.
    fn committed(&mut self, stream: StreamKey) {
        let Some(follow_ups) = self.services.journals.committed(&stream) else { return };
        self.cells.count_record(&stream);
        follow_ups.into_iter().for_each(|what| self.follow_up(what));
        // A follow-up may have committed another record of the stream, which is not durable yet.
        if !self.is_durable(&stream) {
            return;
        }
        match stream {
            StreamKey::Lobby => self.lobby.snapshot_if_due(&mut self.services),
            stream => self.in_cells(|cells, cx| cells.durable(cx, stream)),
        }
        self.report_counts();
    }

    /// Drops the cell whose record the log refused, and lives on.
    pub(crate) fn refused(&mut self, stream: &StreamKey) {
        let Some(tournament) = stream.tournament() else {
            self.lost_lobby = true;
            return;
        };
        for what in self.services.journals.refuse(tournament) {
            self.services.drop_follow_up(what);
        }
        self.cells.drop_cell(&mut self.services, tournament);
        self.report_counts();
    }

    /// Lets the cells handle something, then carries out what that means for others.
    fn in_cells<T>(&mut self, run: impl FnOnce(&mut Cells, &mut Context<'_>) -> T) -> T {
        let accounts = self.lobby.accounts();
        let done = run(&mut self.cells, &mut Context { services: &mut self.services, accounts });
        self.settle();
        done
    }

    /// Hands a message from a player's seat to the cells.
    fn send_to_cells(
        &mut self,
        player: &PlayerName,
        message: FromSeat,
    ) -> Result<(), RejectedAnswer> {
        self.in_cells(|cells, cx| cells.receive(cx, player, message))
    }

    /// Hands a message from a player's seat to the cells, which need not reply.
    fn tell_cells(&mut self, player: &PlayerName, message: FromSeat) {
        self.pass_from_seat(player, &message);
        let _ = self.send_to_cells(player, message);
    }

    /// Answers a query, or leaves it to the engine that owns the tournament it is about. That
    /// engine must know every record of the lobby that came before.
    fn asked(&mut self, id: QueryId, query: Box<dyn AnyQuery>) {
        let cell = query.cell(self.lobby.state());
        if cell.as_ref().is_some_and(|cell| self.is_on_its_way(cell)) {
            // Its caller asks again.
            return self.services.drop_follow_up(FollowUp::Forward(EngineId::LOBBY, id, query));
        }
        match cell.and_then(|cell| self.answers_for(&cell)) {
            Some(to) => {
                self.once_durable(vec![StreamKey::Lobby], FollowUp::Forward(to, id, query));
            }
            None if self.services.has_only_cells() => match query.for_lobby(self) {
                Some(rest) => self.follow_up(FollowUp::Forward(EngineId::LOBBY, id, rest)),
                None => query.run(id, self),
            },
            None => query.run(id, self),
        }
    }

    /// Lets the lobby decide a command, then carries out what that means for others.
    fn step_lobby(
        &mut self,
        command: LobbyCommand,
        follow_ups: Vec<FollowUp>,
    ) -> Result<(), LobbyRejection> {
        let decided = self.lobby.step(&mut self.services, command, follow_ups);
        self.settle();
        decided
    }

    fn lobby_due(&mut self) {
        while let Some(command) = self.lobby.due(self.now_ms()) {
            if self.step_lobby(command, Vec::new()).is_err() {
                break;
            }
        }
        self.lobby.set_timer(&mut self.services);
    }

    /// Carries out a follow-up once every record of these streams that is in flight now is durable.
    fn once_durable(&mut self, streams: Vec<StreamKey>, what: FollowUp) {
        self.services.once_durable(streams, what);
        self.settle();
    }

    /// Carries out the follow-ups that wait for no record.
    fn settle(&mut self) {
        self.services.take_ready().into_iter().for_each(|what| self.follow_up(what));
    }

    fn note(&mut self, note: Note) {
        self.services.note(note);
    }
}
