//! Several engines of one server: one has the lobby and the seats, the others own cells.
//!
//! ```text
//!   lobby's engine                                                engines of cells
//!   seats, lobby, some cells  ── Lobby, Start, Arrive, Answer ──▶ replica of the lobby,
//!                             ◀── Ask, Recall, Line, Conclude ──  tournaments, matches
//! ```
//!
//! The engines share no memory. They exchange messages, which the driver carries: each pair of
//! engines has its own queue, and a queue keeps its order. The lobby's engine decides which engine
//! owns a tournament. It holds all connections and their request clocks.
//!
//! Engines of cells may be threads of one server, or nodes of a cluster. A node joins and leaves
//! while the lobby's engine runs. When one is lost, its tournaments are resumed from the log.
//!
//! An engine of cells is an ordinary engine without connections. Its lobby is a replica, which
//! applies the durable events that the lobby's engine publishes. It knows the players who can be
//! reached from messages. News for the lobby (a tournament ended, a player cheated) goes
//! back as a message. A crash may lose it; the next start derives it from the log again.
//!
//! Programs of other systems cannot reconnect by themselves, and their sign-ups depend on the state
//! of their tournaments. So the lobby's engine keeps the tournaments of such players itself.

use crate::cells::{CellCounts, CellReport};
use crate::follow_up::{Conclusion, FollowUp};
use crate::journal::StreamKey;
use crate::moves::Moves;
use crate::port::{Answer, FromSeat};
use crate::recover::StoredTournament;
use crate::seats::PlayerSeat;
use crate::services::Services;
use crate::timers::Timer;
use crate::{AskId, ConnId, Effect, Engine, EngineError};
use agon_core::lobby::Cheat;
use agon_core::{
    Event, PlayerName, RequestClock, RequestId, Timestamp, TournamentId, TournamentPlan,
};
use agon_wire::native::ToPlayer;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of an engine among those of its server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EngineId(pub u16);

impl EngineId {
    /// The engine that has the lobby and the seats.
    pub const LOBBY: EngineId = EngineId(0);
}

impl Default for EngineId {
    fn default() -> EngineId {
        EngineId::LOBBY
    }
}

/// The task of an engine in its server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineRole {
    /// It has the lobby and the seats. So many other engines, numbered from 1, own cells. If there
    /// are none, it owns all cells itself.
    Lobby {
        /// The number of the other engines.
        cell_engines: u16,
    },
    /// It has the lobby, the seats and some cells. Engines on other nodes join and leave; so many,
    /// numbered from 1, have joined before the start.
    LobbyOfNodes {
        /// The number of engines that have joined.
        joined: u16,
    },
    /// It owns cells that the lobby's engine gives it.
    Cells,
}

impl EngineRole {
    /// An engine without others.
    pub const ALONE: EngineRole = EngineRole::Lobby { cell_engines: 0 };

    /// The number of other engines at the start.
    fn others(self) -> u16 {
        match self {
            EngineRole::Lobby { cell_engines } => cell_engines,
            EngineRole::LobbyOfNodes { joined } => joined,
            EngineRole::Cells => 0,
        }
    }
}

/// A message from one engine to another. Between nodes it travels as JSON.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct EngineMessage(Carried);

impl EngineMessage {
    /// The tournament of a result that the lobby must record; `None` if the message is none. A
    /// crash may lose it. Whoever resumes the tournament derives it from the log again.
    pub fn result_of(&self) -> Option<&TournamentId> {
        match &self.0 {
            Carried::ToLobby(ToLobby::Conclude(conclusion)) => Some(&conclusion.tournament),
            Carried::ToLobby(ToLobby::Blacklist { cheat, .. }) => Some(&cheat.cause.tournament),
            Carried::ToLobby(_) | Carried::ToCells(_) => None,
        }
    }
}

#[derive(Serialize, Deserialize)]
enum Carried {
    ToCells(ToCells),
    ToLobby(ToLobby),
}

/// A message from the lobby's engine to an engine of cells.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToCells {
    /// Durable events of the lobby. The first of them has the number `seq`.
    Lobby {
        seq: u64,
        at: Timestamp,
        #[serde(with = "tagged_events")]
        events: Vec<Event>,
    },
    /// All nodes read records of this version. An engine of cells assumes the first one before.
    LogVersion(u32),
    /// Start a tournament that the lobby decided on.
    Start(TournamentPlan),
    /// Resume a tournament from the log.
    TakeUp(TournamentPlan),
    /// Forget a tournament, which moves to another engine.
    Release(TournamentId),
    /// Enter a player into a running tournament, as the lobby recorded.
    Enter(TournamentId, PlayerName),
    /// The lobby rejected an entry that the tournament expects.
    CancelEntry(TournamentId, PlayerName),
    /// Remove a blacklisted player from a tournament.
    Expel(TournamentId, PlayerName),
    /// A player can be reached, and what their seat can do.
    Arrive(PlayerName, PlayerSeat),
    /// A player cannot be reached; this engine may know them from an earlier tournament.
    Absent(PlayerName),
    /// A player's connection is closed.
    Detach(PlayerName, ConnId),
    /// Another message from the seat of a player.
    FromSeat(PlayerName, FromSeat),
    /// The answer of a player. A rejection goes to the connection.
    Answer { conn: ConnId, player: PlayerName, id: RequestId, answer: Answer },
    /// A player leaves a running tournament. The confirmation goes to the connection.
    Withdraw { conn: ConnId, player: PlayerName, tournament: TournamentId },
}

/// A message from an engine of cells to the lobby's engine.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToLobby {
    /// A tournament is over in its cell.
    Conclude(Conclusion),
    /// A player cheated, and the policy demands their listing. The cheat was decided by `at`.
    Blacklist { cheat: Cheat, at: Timestamp },
    /// Send a player a request on a connection, and measure the answer.
    Ask { player: PlayerName, conn: ConnId, ask: SentAsk },
    /// Forget a request, which is not open any more.
    Recall(PlayerName, AskId),
    /// Send a connection a line. A notice may wait for the next message. A line for a player goes
    /// to the connection that the player has changed to meanwhile.
    Line {
        conn: ConnId,
        player: Option<PlayerName>,
        #[serde(with = "text")]
        line: Vec<u8>,
        is_notice: bool,
    },
    /// A connection sent an answer that was rejected.
    CountJunk(ConnId),
    /// A player has no more games in a tournament, or plays on after a ruling.
    Departed { tournament: TournamentId, player: PlayerName, is_out: bool },
    /// A tournament is forgotten here, and its records are durable.
    Released(TournamentId),
    /// The counts of the engine's cells.
    Report(CellReport),
}

/// A request as a line, with its clock.
#[derive(Serialize, Deserialize)]
pub(crate) struct SentAsk {
    pub(crate) id: AskId,
    #[serde(with = "text")]
    pub(crate) line: Vec<u8>,
    pub(crate) clock: RequestClock,
    pub(crate) follows: Option<Timestamp>,
}

/// Events as in the log: the name of each, and its data.
mod tagged_events {
    use agon_core::Event;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::value::RawValue;

    pub(super) fn serialize<S: Serializer>(events: &[Event], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(events.iter().map(|event| {
            let mut data = Vec::new();
            event.write(&mut data);
            let data = String::from_utf8(data).expect("JSON is UTF-8");
            (event.tag(), RawValue::from_string(data).expect("events are JSON"))
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Event>, D::Error> {
        let tagged = Vec::<(String, Box<RawValue>)>::deserialize(from)?;
        let event = |(tag, data): (String, Box<RawValue>)| match Event::read(&tag, data.get()) {
            Some(event) => event.map_err(D::Error::custom),
            None => Err(D::Error::custom(format!("there is no event {tag}"))),
        };
        tagged.into_iter().map(event).collect()
    }
}

/// A line as text: lines are UTF-8.
mod text {
    use serde::de::Deserialize;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(line: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(std::str::from_utf8(line).expect("lines are UTF-8"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        String::deserialize(from).map(String::into_bytes)
    }
}

/// An engine's knowledge of the others.
#[derive(Default)]
pub(crate) struct CellEngines {
    /// The engines that own cells for this one.
    members: BTreeSet<EngineId>,
    /// The engines of running tournaments that this engine does not own itself.
    owners: HashMap<TournamentId, EngineId>,
    /// How many players the tournaments of each engine have.
    load: BTreeMap<EngineId, usize>,
    /// The players who have no more games in tournaments of other engines.
    departed: BTreeSet<(TournamentId, PlayerName)>,
    reports: BTreeMap<EngineId, CellReport>,
    /// The counts of engines that were lost.
    lost: CellCounts,
    /// The tournaments that the lobby's engine gave to this one.
    given: BTreeSet<TournamentId>,
    /// The tournaments that are on their way to another engine.
    pub(crate) moves: Moves,
    /// True once every tournament that ran before the start is resumed. One that moved before would
    /// be resumed twice.
    pub(crate) may_rebalance: bool,
    /// The tournaments that an operator has moved. They stay where they are.
    pinned: BTreeSet<TournamentId>,
}

impl CellEngines {
    /// The engines of a server at its start.
    pub(crate) fn new(role: EngineRole) -> CellEngines {
        let members = (1..=role.others()).map(EngineId).collect();
        CellEngines { members, ..CellEngines::default() }
    }

    /// The engine that owns a tournament; `None` if it is this one.
    pub(crate) fn owner(&self, id: &TournamentId) -> Option<EngineId> {
        self.owners.get(id).copied()
    }

    /// The engine that owns the tournament of a request; `None` if it is this one.
    pub(crate) fn owner_of_request(&self, name: &RequestId) -> Option<EngineId> {
        if self.owners.is_empty() {
            return None;
        }
        self.owner(&tournament_of(name)?)
    }

    /// The engine with the fewest players, of those that may own a tournament.
    fn least_loaded(&self, and_this_one: bool) -> EngineId {
        let this = (and_this_one || self.members.is_empty()).then_some(EngineId::LOBBY);
        let engines = this.into_iter().chain(self.members.iter().copied());
        engines.min_by_key(|id| self.load_of(*id)).unwrap_or(EngineId::LOBBY)
    }

    /// Returns whether there is such an engine.
    pub(crate) fn has(&self, engine: EngineId) -> bool {
        engine == EngineId::LOBBY || self.members.contains(&engine)
    }

    /// Notes that an operator has moved a tournament.
    pub(crate) fn pin(&mut self, id: &TournamentId) {
        self.pinned.insert(id.clone());
    }

    /// Returns whether a tournament stays where an operator has moved it.
    pub(crate) fn is_pinned(&self, id: &TournamentId) -> bool {
        self.pinned.contains(id)
    }

    /// The engines with the most and the fewest players, if the first has at least twice as many,
    /// and how many players may move at most without making the second the fuller one.
    pub(crate) fn imbalance(&self) -> Option<(EngineId, EngineId, usize)> {
        let engines = || std::iter::once(EngineId::LOBBY).chain(self.members.iter().copied());
        let fullest = engines().max_by_key(|engine| self.load_of(*engine))?;
        let emptiest = engines().min_by_key(|engine| self.load_of(*engine))?;
        let (most, fewest) = (self.load_of(fullest), self.load_of(emptiest));
        let may_move = most.saturating_sub(fewest) / 2;
        (most >= 2 * fewest && may_move > 0).then_some((fullest, emptiest, may_move))
    }

    /// How many players the tournaments of an engine have.
    fn load_of(&self, engine: EngineId) -> usize {
        self.load.get(&engine).copied().unwrap_or(0)
    }

    /// Records which engine owns a new tournament.
    fn assign(&mut self, plan: &TournamentPlan, to: EngineId) {
        *self.load.entry(to).or_default() += plan.players.len();
        self.own(&plan.id, to);
    }

    /// Records which engine owns a tournament.
    pub(crate) fn own(&mut self, id: &TournamentId, owner: EngineId) {
        match owner {
            EngineId::LOBBY => self.owners.remove(id),
            owner => self.owners.insert(id.clone(), owner),
        };
        // A new owner reports departed players again.
        self.departed.retain(|(tournament, _)| tournament != id);
    }

    /// Counts the players of a tournament for another engine.
    pub(crate) fn shift(&mut self, from: EngineId, to: EngineId, players: usize) {
        self.unload(from, players);
        *self.load.entry(to).or_default() += players;
    }

    fn unload(&mut self, engine: EngineId, players: usize) {
        if let Some(load) = self.load.get_mut(&engine) {
            *load = load.saturating_sub(players);
        }
    }

    /// Forgets that the lobby's engine gave a tournament to this one.
    pub(crate) fn give_back(&mut self, id: &TournamentId) {
        self.given.remove(id);
    }

    /// Forgets a tournament that is over.
    pub(crate) fn forget(&mut self, id: &TournamentId, players: &[PlayerName]) {
        let owner = self.owners.remove(id).unwrap_or(EngineId::LOBBY);
        self.pinned.remove(id);
        let counted_for = self.moves.take(id).unwrap_or(owner);
        self.unload(counted_for, players.len());
        for player in players.iter().filter(|_| owner != EngineId::LOBBY) {
            self.departed.remove(&(id.clone(), player.clone()));
        }
    }

    /// The tournaments of an engine.
    fn owned_by(&self, engine: EngineId) -> Vec<TournamentId> {
        let owned = self.owners.iter().filter(|(_, owner)| **owner == engine);
        owned.map(|(id, _)| id.clone()).collect()
    }

    /// Forgets an engine; returns the tournaments that it owned, sorted by name.
    fn remove(&mut self, engine: EngineId) -> Vec<TournamentId> {
        self.members.remove(&engine);
        self.load.remove(&engine);
        if let Some(report) = self.reports.remove(&engine) {
            self.lost = self.lost.plus(&report.counts.ended());
        }
        let owned = self.owners.extract_if(|_, owner| *owner == engine);
        let mut owned: Vec<TournamentId> = owned.map(|(id, _)| id).collect();
        owned.sort();
        self.departed.retain(|(id, _)| owned.binary_search(id).is_err());
        owned
    }

    /// Returns whether a player has no more games in a tournament of another engine.
    pub(crate) fn has_departed(&self, id: &TournamentId, player: &PlayerName) -> bool {
        !self.departed.is_empty() && self.departed.contains(&(id.clone(), player.clone()))
    }

    /// Returns whether a tournament of another engine is paused, and whether it is interrupted.
    pub(crate) fn rests(&self, id: &TournamentId) -> (bool, bool) {
        let report = self.owner(id).and_then(|owner| self.reports.get(&owner));
        report.map_or((false, false), |report| report.rests(id))
    }

    /// The reports of all other engines.
    pub(crate) fn reports(&self) -> impl Iterator<Item = &CellReport> {
        self.reports.values()
    }

    /// The counts of all other engines, and of those that were lost.
    pub(crate) fn counts(&self) -> CellCounts {
        self.reports().fold(self.lost, |sum, report| sum.plus(&report.counts))
    }
}

/// The tournament of a request, by the request's name.
pub(crate) fn tournament_of(name: &RequestId) -> Option<TournamentId> {
    name.as_str().split_once(':').map(|(tournament, _)| TournamentId::from_text(tournament))
}

impl Services {
    /// Returns whether this engine only owns cells.
    pub(crate) fn has_only_cells(&self) -> bool {
        self.settings.role == EngineRole::Cells
    }

    /// Returns whether other engines own cells for this one, or may join.
    pub(crate) fn has_cell_engines(&self) -> bool {
        let role = self.settings.role;
        matches!(role, EngineRole::Lobby { cell_engines: 1.. } | EngineRole::LobbyOfNodes { .. })
    }

    /// Sends a message to the lobby's engine.
    pub(crate) fn pass_to_lobby(&mut self, message: ToLobby) {
        let message = Box::new(EngineMessage(Carried::ToLobby(message)));
        self.effects.push(Effect::Pass { to: EngineId::LOBBY, message });
    }
}

impl Engine {
    /// Sends a message to an engine of cells.
    pub(crate) fn pass(&mut self, to: EngineId, message: ToCells) {
        let message = Box::new(EngineMessage(Carried::ToCells(message)));
        self.services.effects.push(Effect::Pass { to, message });
    }

    /// The engine that answers queries about a tournament; `None` if it is this one. The lobby's
    /// engine answers those about a tournament that has just ended here.
    pub(crate) fn answers_for(&self, id: &TournamentId) -> Option<EngineId> {
        match self.services.has_only_cells() {
            true => (!self.cell_engines.given.contains(id)).then_some(EngineId::LOBBY),
            false => self.cell_engines.owner(id),
        }
    }

    /// Tells the lobby's engine that a tournament is over.
    pub(crate) fn pass_conclusion(&mut self, conclusion: Conclusion) {
        self.cell_engines.given.remove(&conclusion.tournament);
        self.services.pass_to_lobby(ToLobby::Conclude(conclusion));
    }

    /// Chooses the engine for a tournament; `None` if this engine owns it.
    pub(crate) fn place(&mut self, plan: &TournamentPlan) -> Option<EngineId> {
        if !self.services.has_cell_engines() {
            return None;
        }
        // The threads of one server leave their lobby's engine to its seats.
        let among_nodes = matches!(self.services.settings.role, EngineRole::LobbyOfNodes { .. });
        let to = match plan.players.iter().any(|player| self.cannot_reconnect(player)) {
            true => EngineId::LOBBY,
            false => self.cell_engines.least_loaded(among_nodes),
        };
        self.cell_engines.assign(plan, to);
        self.cell_engines.owner(&plan.id)
    }

    /// Lets an engine on another node own cells. It reads the lobby from the log after this.
    pub(crate) fn engine_joined(&mut self, engine: EngineId) {
        self.cell_engines.members.insert(engine);
        self.pass(engine, ToCells::LogVersion(self.services.settings.log_version));
        self.rebalance();
    }

    /// Notes the version of records that all nodes read, and tells the engines of cells.
    pub(crate) fn set_log_version(&mut self, version: u32) {
        self.services.settings.log_version = version;
        for to in self.cell_engines.members.clone() {
            self.pass(to, ToCells::LogVersion(version));
        }
    }

    /// Resumes the tournaments of an engine that was lost. It cannot write to the log any more.
    /// Players have the time to reconnect again, as after a restart.
    pub(crate) fn engine_lost(&mut self, engine: EngineId) {
        self.tell_unreachable(engine);
        let owned = self.cell_engines.remove(engine);
        if owned.is_empty() {
            return;
        }
        self.services.give_time_to_reconnect();
        for id in owned {
            let Some(plan) = self.running(&id) else { continue };
            if let Some(to) = self.cell_engines.moves.take(&id) {
                self.cell_engines.unload(to, plan.players.len());
            }
            self.place(&plan);
            self.resume_in_place(plan);
        }
    }

    /// Notifies the players of an engine that was lost: nobody hears their answers until their
    /// tournaments are resumed.
    fn tell_unreachable(&mut self, engine: EngineId) {
        let mut ids = self.cell_engines.owned_by(engine);
        ids.sort();
        for id in ids {
            let Some(plan) = self.running(&id) else { continue };
            let data = agon_games::json(&serde_json::json!({"tournament": id}));
            let notice = ToPlayer::notice("unreachable", Some(data));
            let playing =
                plan.players.iter().filter(|player| !self.cell_engines.has_departed(&id, player));
            let conns: Vec<ConnId> =
                playing.filter_map(|player| self.line_conn_of(player)).collect();
            conns.into_iter().for_each(|conn| self.send(conn, &notice));
        }
    }

    /// Starts a tournament in its engine.
    pub(crate) fn start_in_place(&mut self, plan: TournamentPlan) {
        let Some(to) = self.place(&plan) else {
            return self.in_cells(|cells, cx| cells.start_tournament(cx, plan));
        };
        plan.players.iter().for_each(|player| self.pass_seat(to, player));
        self.pass(to, ToCells::Start(plan));
    }

    /// Resumes a tournament in its engine.
    pub(crate) fn take_up_in_place(&mut self, plan: TournamentPlan) {
        match self.cell_engines.owner(&plan.id) {
            Some(to) => self.pass(to, ToCells::TakeUp(plan)),
            None => self.in_cells(|cells, cx| cells.begin_resuming(cx, &plan.id)),
        }
    }

    /// Resumes a tournament that was read from the log, unless it has gone to another engine
    /// meanwhile.
    pub(crate) fn tournament_read(
        &mut self,
        reading: u64,
        stored: Result<Box<StoredTournament>, EngineError>,
    ) {
        let stored = match stored {
            Ok(stored) => stored,
            Err(error) => return self.services.fail(error),
        };
        if !self.cells.end_resuming(stored.id(), reading) {
            return;
        }
        // Players may have entered since the reading began.
        let Some(plan) = self.running(stored.id()) else { return };
        self.services.give_time_to_reconnect();
        if let Err(error) = self.in_cells(|cells, cx| cells.take_up(cx, plan, *stored)) {
            self.services.fail(error);
        }
        self.report_counts();
    }

    /// Enters a player into a running tournament.
    pub(crate) fn enter_in_place(&mut self, id: TournamentId, player: PlayerName) {
        match self.cell_engines.owner(&id) {
            Some(to) => {
                self.pass_seat(to, &player);
                self.pass(to, ToCells::Enter(id, player));
            }
            None => self.in_cells(|cells, cx| cells.enter(cx, &id, &player)),
        }
    }

    /// Tells the engine of a tournament that the lobby rejected an entry.
    pub(crate) fn cancel_entry(&mut self, id: TournamentId, player: PlayerName) {
        if let Some(to) = self.cell_engines.owner(&id) {
            self.pass(to, ToCells::CancelEntry(id, player));
        }
    }

    /// Removes a blacklisted player from a tournament.
    pub(crate) fn expel_in_place(&mut self, id: &TournamentId, player: &PlayerName) {
        match self.cell_engines.owner(id) {
            Some(to) => self.pass(to, ToCells::Expel(id.clone(), player.clone())),
            None => self.in_cells(|cells, cx| cells.expel_from(cx, id, player)),
        }
    }

    /// Tells an engine how a player is reached, or that they are not.
    pub(crate) fn pass_seat(&mut self, to: EngineId, player: &PlayerName) {
        let seat = self.services.present.seat(player).filter(|seat| seat.conn().is_some());
        let message = match seat.map(PlayerSeat::without_requests) {
            Some(seat) => ToCells::Arrive(player.clone(), seat),
            None => ToCells::Absent(player.clone()),
        };
        self.pass(to, message);
    }

    /// The other engines in which a player plays.
    fn engines_of(&self, player: &PlayerName) -> BTreeSet<EngineId> {
        if self.cell_engines.owners.is_empty() {
            return BTreeSet::new();
        }
        let playing = self.lobby.accounts().playing_in(player);
        playing.filter_map(|id| self.cell_engines.owner(id)).collect()
    }

    /// Tells the other engines of a player how the player is reached now.
    pub(crate) fn pass_arrival(&mut self, player: &PlayerName) {
        self.engines_of(player).into_iter().for_each(|to| self.pass_seat(to, player));
    }

    /// Tells the other engines of a player that a connection of theirs is closed.
    pub(crate) fn pass_detached(&mut self, player: &PlayerName, conn: ConnId) {
        for to in self.engines_of(player) {
            self.pass(to, ToCells::Detach(player.clone(), conn));
        }
    }

    /// Hands a message from a player's seat to the other engines in which the player plays.
    pub(crate) fn pass_from_seat(&mut self, player: &PlayerName, message: &FromSeat) {
        for to in self.engines_of(player) {
            if let Some(message) = message.to_all_cells() {
                self.pass(to, ToCells::FromSeat(player.clone(), message));
            }
        }
    }

    /// Publishes durable events of the lobby to all engines of cells.
    pub(crate) fn publish(&mut self, seq: u64, at: Timestamp, events: &[Event]) {
        for to in self.cell_engines.members.clone() {
            self.pass(to, ToCells::Lobby { seq, at, events: events.to_vec() });
        }
    }

    /// Returns whether a tournament is paused, and whether it is interrupted, whichever engine owns
    /// it.
    pub(crate) fn rests(&self, id: &TournamentId) -> (bool, bool) {
        match self.cell_engines.owner(id) {
            Some(_) => self.cell_engines.rests(id),
            None => (self.cells.is_paused(id), self.cells.is_interrupted(id)),
        }
    }

    /// The counts of the cells of all engines.
    pub(crate) fn counts(&self) -> CellCounts {
        self.cells.counts().plus(&self.cell_engines.counts())
    }

    /// Handles a message of another engine.
    pub(crate) fn passed(&mut self, from: EngineId, message: EngineMessage) {
        match message.0 {
            Carried::ToCells(message) => self.passed_to_cells(message),
            Carried::ToLobby(message) if self.cell_engines.members.contains(&from) => {
                self.passed_to_lobby(from, message);
            }
            // The engine was lost, and its tournaments have other owners.
            Carried::ToLobby(_) => {}
        }
    }

    fn passed_to_cells(&mut self, message: ToCells) {
        match message {
            ToCells::Lobby { seq, at, events } => self.follow_lobby(seq, at, &events),
            ToCells::LogVersion(version) => self.services.settings.log_version = version,
            ToCells::Start(plan) => {
                self.cell_engines.given.insert(plan.id.clone());
                self.in_cells(|cells, cx| cells.start_tournament(cx, plan));
            }
            ToCells::TakeUp(plan) => {
                self.cell_engines.given.insert(plan.id.clone());
                self.in_cells(|cells, cx| cells.begin_resuming(cx, &plan.id));
            }
            ToCells::Release(id) => self.release(id),
            ToCells::Enter(id, player) => self.in_cells(|cells, cx| cells.enter(cx, &id, &player)),
            ToCells::CancelEntry(id, player) => {
                self.in_cells(|cells, cx| cells.cancel_entry(cx, &id, &player));
            }
            ToCells::Expel(id, player) => {
                self.in_cells(|cells, cx| cells.expel_from(cx, &id, &player));
            }
            // The player may be known from another tournament of this engine.
            ToCells::Arrive(player, seat) if self.conn_of(&player) == seat.conn() => {}
            ToCells::Arrive(player, seat) => {
                self.services.present.arrive(&player, seat);
                self.tell_cells(&player, FromSeat::Arrive);
            }
            ToCells::Absent(player) => {
                if let Some(conn) = self.conn_of(&player) {
                    self.services.present.leave(&player, conn);
                }
            }
            ToCells::Detach(player, conn) => {
                if self.services.present.leave(&player, conn) {
                    self.services.present.note_gone(player, self.services.time.now);
                }
            }
            ToCells::FromSeat(player, message) => self.tell_cells(&player, message),
            ToCells::Answer { conn, player, id, answer } => {
                self.decide_answer(conn, &player, id, answer);
            }
            ToCells::Withdraw { conn, player, tournament } => self.leave(conn, player, tournament),
        }
        self.report_counts();
    }

    fn passed_to_lobby(&mut self, from: EngineId, message: ToLobby) {
        match message {
            ToLobby::Conclude(over) => self.follow_up(FollowUp::Conclude(Box::new(over))),
            ToLobby::Blacklist { cheat, at } => {
                // The clock of that engine may be ahead: the listing is no earlier than the cheat.
                self.services.note_seen(at);
                self.follow_up(FollowUp::Blacklist(Box::new(cheat)));
            }
            ToLobby::Ask { player, conn, ask } => self.ask_on(&player, conn, ask),
            ToLobby::Recall(player, ask) => {
                if let Some(seat) = self.services.present.seat_mut(&player) {
                    seat.close_request(&ask);
                }
            }
            ToLobby::Line { conn, player, line, is_notice } => {
                let current = player.and_then(|player| self.line_conn_of(&player));
                if let Some(conn) = Some(conn).filter(|conn| self.seats.is_open(*conn)).or(current)
                {
                    let line = self.services.effects.write(&line);
                    self.services.effects.push(match is_notice {
                        true => Effect::Notice { conn, line },
                        false => Effect::Send { conn, line },
                    });
                }
            }
            ToLobby::CountJunk(conn) => self.count_junk(conn),
            ToLobby::Departed { tournament, player, is_out } => {
                match is_out {
                    true => self.cell_engines.departed.insert((tournament, player)),
                    false => self.cell_engines.departed.remove(&(tournament, player)),
                };
            }
            ToLobby::Released(id) => self.released(&id),
            ToLobby::Report(report) => {
                self.cell_engines.reports.insert(from, report);
            }
        }
    }

    /// The connection of a player who takes lines.
    fn line_conn_of(&self, player: &PlayerName) -> Option<ConnId> {
        let seat = self.services.present.seat(player).filter(|seat| !seat.takes_calls())?;
        seat.conn().filter(|conn| self.seats.is_open(*conn))
    }

    /// Sends a player a request of another engine's match, if they still have the connection.
    /// Otherwise that engine sends it again when it learns of the new connection.
    fn ask_on(&mut self, player: &PlayerName, conn: ConnId, ask: SentAsk) {
        let SentAsk { id, line, clock, follows } = ask;
        let seat = self.services.present.seat_mut(player);
        let Some(seat) = seat.filter(|seat| seat.conn() == Some(conn)) else { return };
        let limit_ms = clock.left_ms();
        seat.open_line(id.clone(), clock);
        let line = self.services.effects.write(&line);
        self.services.effects.push(Effect::Ask { conn, ask: id, line, limit_ms, follows });
    }

    /// Applies durable events of the lobby to the replica.
    fn follow_lobby(&mut self, seq: u64, at: Timestamp, events: &[Event]) {
        let known = self.services.journals.version(&StreamKey::Lobby);
        // The replica may have read these events from the log already.
        let new = events.iter().zip(seq..).skip_while(|(_, seq)| *seq <= known);
        for (event, seq) in new {
            if let Err(error) = self.lobby.follow(&mut self.services, seq, at, event) {
                let stream = StreamKey::Lobby.name();
                return self.services.fail(EngineError::Fold { stream, seq, error });
            }
        }
    }

    /// Resumes an engine of cells: it reads the lobby, and waits for cells.
    pub(crate) fn recover_replica(&mut self, version: u64) {
        let (now, reconnect_ms) = (self.now_ms(), self.services.settings.reconnect_ms);
        if version > 0 {
            self.services.grace_until = now + reconnect_ms;
        }
        self.services.timers.set(now + reconnect_ms, Timer::Reconnect);
    }

    /// Sends the lobby's engine the counts of the cells, if they have changed. Accepted answers
    /// wait for the next report a moment.
    pub(crate) fn report_counts(&mut self) {
        if self.services.has_only_cells() {
            let now = self.now_ms();
            match self.cells.new_report(now) {
                Ok(None) => {}
                Ok(Some(report)) => self.services.pass_to_lobby(ToLobby::Report(report)),
                Err(due) => self.services.timers.set(due, Timer::Report),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engines_with(loads: &[usize]) -> CellEngines {
        let members = (1..loads.len() as u16).map(EngineId).collect();
        let load = (0..).map(EngineId).zip(loads.iter().copied()).collect();
        CellEngines { members, load, ..CellEngines::default() }
    }

    #[test]
    fn imbalance_is_two_to_one_and_no_move_turns_it_round() {
        let imbalance = |loads: &[usize]| engines_with(loads).imbalance();
        let (a, b, c) = (EngineId(0), EngineId(1), EngineId(2));
        assert_eq!(imbalance(&[10]), None, "there is no other engine");
        assert_eq!(imbalance(&[0, 0]), None);
        assert_eq!(imbalance(&[8, 5]), None);
        assert_eq!(imbalance(&[8, 4]), Some((a, b, 2)));
        assert_eq!(imbalance(&[2, 20, 8]), Some((b, a, 9)));
        assert_eq!(imbalance(&[6, 6, 0]), Some((b, c, 3)));
        assert_eq!(imbalance(&[1, 0]), None, "a move would only swap them");
    }
}
