//! Services that all components use and none of them owns: the time, the settings, timers, journals
//! and effects.

use super::engines::ToLobby;
use super::follow_up::FollowUp;
use super::journal::{Journals, StreamKey};
use super::lobby::Accounts;
use super::ports::Entropy;
use super::seats::PresentPlayers;
use super::timers::{Timer, Timers};
use super::{
    ConnId, Effect, Effects, EngineError, HousePlayers, Note, Settings, StreamReader, Tell, Time,
    TournamentPart,
};
use agon_core::{Event, Millis, PlayerName, Secret, Timestamp, TournamentId};
use agon_games::Registry;
use agon_wire::native::{self, ToPlayer};
use serde_json::Value;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};

/// How long a person may be without a connection before they are charged as absent.
const AWAY_MS: Millis = 15_000;

/// The parts of the engine that all components use.
pub(crate) struct Services {
    pub(crate) reader: Box<dyn StreamReader>,
    pub(crate) games: Registry,
    pub(crate) houses: Box<dyn HousePlayers>,
    pub(crate) settings: Settings,
    pub(crate) entropy: Entropy,
    /// The time of the input that is being handled.
    pub(crate) time: Time,
    pub(crate) effects: Effects,
    pub(crate) timers: Timers,
    pub(crate) journals: Journals,
    /// The players who can be reached.
    pub(crate) present: PresentPlayers,
    /// Until when no player is charged as absent, because the server itself was down.
    pub(crate) grace_until: Timestamp,
    pub(crate) stopping: bool,
    /// The time of the latest event read from the log: a server ran until then.
    pub(crate) seen_at: Cell<Timestamp>,
    /// Follow-ups that wait for no record, for the engine to carry out next.
    ready: Vec<FollowUp>,
    failed: Option<EngineError>,
}

impl Services {
    pub(crate) fn new(
        reader: Box<dyn StreamReader>,
        games: Registry,
        houses: Box<dyn HousePlayers>,
        settings: Settings,
        key: [u8; 32],
        now: Timestamp,
    ) -> Services {
        Services {
            reader,
            games,
            houses,
            settings,
            entropy: Entropy::new(key),
            time: Time::at(now),
            effects: Effects::default(),
            timers: Timers::default(),
            journals: Journals::default(),
            present: PresentPlayers::default(),
            grace_until: Timestamp::default(),
            stopping: false,
            seen_at: Cell::new(Timestamp::default()),
            ready: Vec::new(),
            failed: None,
        }
    }

    /// The time of the events that the engine decides now. The clock of the node that wrote a
    /// stream before may be ahead of this one, and no event is earlier than one that was read. So
    /// this time may jump forward. Deadlines of players and timers are set and compared by
    /// `time.now`, which does not.
    pub(crate) fn now_ms(&self) -> Timestamp {
        self.time.now.max(self.seen_at.get())
    }

    /// Reports something to the operator.
    pub(crate) fn note(&mut self, note: Note) {
        self.effects.push(Effect::Note(note));
    }

    /// Records an error that keeps the engine from continuing.
    pub(crate) fn fail(&mut self, error: EngineError) {
        self.failed.get_or_insert(error);
    }

    pub(crate) fn take_failure(&mut self) -> Option<EngineError> {
        self.failed.take()
    }

    /// Submits a record to the log. Its follow-ups run when it is durable.
    pub(crate) fn commit(
        &mut self,
        stream: StreamKey,
        events: &[Event],
        follow_ups: Vec<FollowUp>,
    ) {
        self.commit_at(self.now_ms(), stream, events, follow_ups);
    }

    /// Like `commit`, but records `now` as the decision time; wait deadlines count from it.
    pub(crate) fn commit_at(
        &mut self,
        now: Timestamp,
        stream: StreamKey,
        events: &[Event],
        follow_ups: Vec<FollowUp>,
    ) {
        if events.is_empty() {
            // A message may report records that are still in flight, so it waits for them.
            self.ready.extend(self.journals.wait(&stream, follow_ups).into_iter().flatten());
            return;
        }
        let written = events.iter().map(Event::log_version).max().unwrap_or(1);
        assert!(
            written <= self.settings.log_version,
            "nothing leads to a record that a node cannot read"
        );
        let record = self.journals.add(stream, now, events, follow_ups);
        self.effects.push(Effect::Append(record));
    }

    /// Has the engine carry out a follow-up as soon as the present handler is done.
    pub(crate) fn then(&mut self, what: FollowUp) {
        self.ready.push(what);
    }

    /// Has the engine carry out a follow-up once every record of these streams that is in flight
    /// now is durable.
    pub(crate) fn once_durable(&mut self, mut streams: Vec<StreamKey>, what: FollowUp) {
        while let Some(stream) = streams.pop() {
            if self.journals.is_refused(&stream) {
                return self.drop_follow_up(what);
            }
            if !self.journals.is_durable(&stream) {
                let rest = FollowUp::Await(streams, Box::new(what));
                self.journals.wait(&stream, vec![rest]);
                return;
            }
        }
        self.then(what);
    }

    /// Drops a follow-up whose record the log refused. A query that waited for it has no answer.
    pub(crate) fn drop_follow_up(&mut self, what: FollowUp) {
        match what {
            FollowUp::Reply(query, _) | FollowUp::Forward(_, query, _) => {
                self.effects.push(Effect::NoReply { query })
            }
            FollowUp::Await(_, what) => self.drop_follow_up(*what),
            _ => {}
        }
    }

    /// Takes the follow-ups that wait for no record.
    pub(crate) fn take_ready(&mut self) -> Vec<FollowUp> {
        std::mem::take(&mut self.ready)
    }

    /// Returns whether no record of a stream is in flight.
    pub(crate) fn is_durable(&self, stream: &StreamKey) -> bool {
        self.journals.is_durable(stream)
    }

    /// Sends a player a message about accounts, tournaments or matches, if they are connected and
    /// their protocol can express it. A local program knows no lobby, so it is sent none. The
    /// driver closes a connection that does not read.
    pub(crate) fn tell(&mut self, player: &PlayerName, message: &ToPlayer<'_>) {
        if let Some(seat) = self.present.seat(player)
            && let (Some(conn), false, false) = (seat.conn(), seat.takes_calls(), seat.is_local())
        {
            self.send_line_of(Some(player), conn, message);
        }
    }

    /// Writes a message to a connection that takes lines.
    pub(crate) fn send_line(&mut self, conn: ConnId, message: &ToPlayer<'_>) {
        self.send_line_of(None, conn, message);
    }

    fn send_line_of(&mut self, player: Option<&PlayerName>, conn: ConnId, message: &ToPlayer<'_>) {
        let line = native::encode(message);
        if self.has_only_cells() {
            let player = player.cloned();
            return self.pass_to_lobby(ToLobby::Line { conn, player, line, is_notice: false });
        }
        let line = self.effects.write(&line);
        self.effects.push(Effect::Send { conn, line });
    }

    /// Sends a notice to a player, if they are connected.
    pub(crate) fn notify(&mut self, player: &PlayerName, about: &str, data: &Value) {
        if self.present.conn_of(player).is_some() {
            let data = Some(agon_games::json(data));
            self.tell(player, &ToPlayer::notice(about, data));
        }
    }

    /// Sends a notice to those of these players who are connected.
    pub(crate) fn notify_all(&mut self, players: &[PlayerName], about: &str, data: &Value) {
        players.iter().for_each(|player| self.notify(player, about, data));
    }

    /// Sends a structured call to a player whose seat takes calls.
    pub(crate) fn call(&mut self, player: &PlayerName, tell: Tell) {
        if let Some(conn) = self.program_conn(player) {
            self.effects.push(Effect::Call { conn, tell: Box::new(tell) });
        }
    }

    /// Opens the seat of a player who is a house player.
    pub(crate) fn seat_if_house(&mut self, player: &PlayerName) {
        if let Some(name) = self.houses.house_of(player) {
            self.present.seat_house(player, name);
        }
    }

    /// The connection of a player, if they are connected.
    pub(crate) fn conn_of(&self, player: &PlayerName) -> Option<ConnId> {
        self.present.conn_of(player)
    }

    /// The connection of a player who is connected over the wire of another system.
    pub(crate) fn program_conn(&self, player: &PlayerName) -> Option<ConnId> {
        self.present.seat(player).filter(|seat| seat.takes_calls())?.conn()
    }

    /// Lets all absent players reconnect before they are charged; returns until when.
    pub(crate) fn give_time_to_reconnect(&mut self) -> Timestamp {
        let until = self.time.now + self.settings.reconnect_ms;
        if self.grace_until < until {
            self.grace_until = until;
            self.timers.set(until, Timer::Reconnect);
        }
        until
    }

    /// How long a person may be without a connection before they are charged as absent; always
    /// shorter than the reconnect time.
    pub(crate) fn away_ms(&self) -> Millis {
        AWAY_MS.min(self.settings.reconnect_ms.saturating_sub(1))
    }

    /// Returns whether this engine plays only a part of its tournament, and that one.
    pub(crate) fn plays(&self, part: TournamentPart) -> bool {
        self.settings.local.is_some_and(|local| local.part == part)
    }

    /// A new secret for a tournament, before it is committed.
    pub(crate) fn new_secret(&mut self, id: &TournamentId) -> Secret {
        match self.settings.seed {
            Some(number) => Secret::from_seed_number(number).of_tournament(id),
            None => self.entropy.secret(),
        }
    }
}

/// The services, and the facts about accounts that cells read.
pub(crate) struct Context<'a> {
    pub(crate) services: &'a mut Services,
    pub(crate) accounts: Accounts<'a>,
}

impl Deref for Context<'_> {
    type Target = Services;

    fn deref(&self) -> &Services {
        self.services
    }
}

impl DerefMut for Context<'_> {
    fn deref_mut(&mut self) -> &mut Services {
        self.services
    }
}
