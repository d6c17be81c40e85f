//! Effects: the engine's output, as data.
//!
//! Handling an input fills a list of effects. The driver carries them out in order and feeds the
//! outcomes back as inputs: [`Delivered`](super::Input::Delivered),
//! [`Committed`](super::Input::Committed), [`Checked`](super::Input::Checked) and so on.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::cells::watch::{Shown, WatcherId};
use super::engines::{EngineId, EngineMessage};
use super::journal::StreamKey;
use super::query::{AnyAnswer, AnyQuery, QueryId};
use super::{ConnId, MatchKey};
use agon_core::lobby::PasswordHash;
use agon_core::{
    Faulted, GameResult, Head, MatchId, MatchPlan, MatchResult, Millis, PlayerName, RequestId,
    Timestamp, TournamentId,
};
use agon_games::Seat;
use agon_wire::peer::PeerMessage;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;

/// Which request a player answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AskId {
    /// A request of a match.
    Match(MatchKey, RequestId),
    /// A request of a tournament, outside matches.
    Tournament(TournamentId, RequestId),
}

impl AskId {
    /// The tournament that asks.
    pub(crate) fn tournament(&self) -> &TournamentId {
        match self {
            AskId::Match(key, _) => &key.tournament,
            AskId::Tournament(id, _) => id,
        }
    }

    /// Returns whether a request of a match was sent under this name. Requests to a program that
    /// the host runs do not name the tournament.
    pub(crate) fn is_sent_as(&self, name: &RequestId) -> bool {
        let AskId::Match(key, request) = self else { return false };
        let rest = name.as_str().strip_prefix(key.tournament.as_str());
        let rest = rest.and_then(|rest| rest.strip_prefix(':'));
        rest == Some(request.as_str()) || name == request
    }
}

/// A request for which the driver reports when it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerAsk {
    /// Which request it is.
    pub id: AskId,
    /// How long the answer may take.
    pub limit_ms: Millis,
}

/// A structured call to a player.
#[derive(Clone, Debug)]
pub struct Tell {
    /// The content.
    pub message: PeerMessage,
    /// The request, if the call needs an answer.
    pub ask: Option<PeerAsk>,
}

/// A line in the buffer of [`Effects`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineRange(Range<usize>);

/// A record to append to the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The stream.
    pub stream: StreamKey,
    /// The stream's name in the log.
    pub name: Arc<str>,
    /// How many events the stream has before this record.
    pub expected: u64,
    /// One line per event.
    pub lines: Vec<String>,
}

/// A password to check or hash. Hashing is slow on purpose, so the engine does not do it itself.
#[derive(Clone, PartialEq, Eq)]
pub enum PasswordCheck {
    /// Does the password belong to an account? No password is right for an account without one.
    Verify { password: String, hash: Option<PasswordHash> },
    /// A password for a name without an account: it takes as long, and the result is always wrong.
    VerifyNobody { password: String },
    /// The first password of a new account.
    Hash { password: String },
    /// Checks the old password, and makes the hash of the new one.
    Change { old: String, new: String, hash: Option<PasswordHash> },
}

/// The outcome of a [`PasswordCheck`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PasswordResult {
    /// The password is right.
    Right,
    /// The password is wrong.
    Wrong,
    /// The password is right or new, and this is the hash to keep.
    Hashed(PasswordHash),
    /// Hashing failed.
    Failed(String),
    /// The password was not checked, and why.
    NotChecked(String),
}

/// A request to a house player.
pub struct HouseQuestion {
    /// The match.
    pub key: MatchKey,
    /// The house player.
    pub player: PlayerName,
    /// Its name among the house players of the game.
    pub name: Arc<str>,
    /// The request.
    pub request: RequestId,
    /// The time limit of the request. No clock runs for house players, but those that search stop
    /// in time.
    pub limit_ms: Millis,
    /// The player's seat in the game, which [`Engine::game_of`](crate::Engine::game_of) returns.
    pub seat: Seat,
}

/// The result of a match, for its tournament.
pub struct PlayedMatch {
    /// The match.
    pub key: MatchKey,
    /// How it ended.
    pub result: MatchResult,
    /// The head of its log.
    pub head: Option<Head>,
}

/// A report to the operator. The driver counts all of them and logs some.
#[derive(Clone, PartialEq, Debug)]
pub enum Note {
    /// An attempt to log in.
    Login {
        /// The connection, if it was not over HTTP.
        conn: Option<ConnId>,
        /// The address.
        from: Option<IpAddr>,
        /// The account, if there is one of this name.
        account: Option<PlayerName>,
        /// The outcome.
        outcome: LoginOutcome,
    },
    /// A program of another system was rejected.
    SignUpRefused { conn: ConnId, name: PlayerName, why: String },
    /// An observer was rejected because there are too many.
    ObserverRefused { conn: ConnId, max: usize },
    /// A player was charged with a fault.
    Fault {
        conn: Option<ConnId>,
        tournament: TournamentId,
        of_match: Option<MatchId>,
        faulted: Box<Faulted>,
    },
    /// A blacklisted player was notified.
    Blacklisted { conn: Option<ConnId>, account: PlayerName, why: String },
    /// A match started, or was resumed.
    MatchStarted { key: MatchKey, players: Vec<PlayerName> },
    /// A game ended.
    GameEnded { key: MatchKey, result: Box<GameResult> },
    /// A match ended.
    MatchEnded { key: MatchKey, result: Box<MatchResult> },
    /// A tournament started, or was resumed.
    TournamentStarted { tournament: TournamentId, players: usize },
    /// A tournament ended.
    TournamentEnded { tournament: TournamentId, winners: usize },
    /// A tournament moves to another engine, because one node has twice the players of another.
    Rebalanced { tournament: TournamentId, to: EngineId },
    /// All players of a tournament from the settings are connected, so it is announced.
    PlayersPresent(TournamentId),
    /// A tournament that was asked for cannot be announced.
    NotHeld { tournament: TournamentId, why: String },
    /// A tournament cannot be played.
    NotPlayable { tournament: TournamentId, why: String },
    /// A restart of the server interrupted a tournament.
    Interrupted { tournament: TournamentId, missing: usize },
    /// A timer was handled this many milliseconds late.
    TimerLate(Millis),
    /// Another warning for the operator.
    Warning(String),
}

/// The outcome of an attempt to log in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoginOutcome {
    /// The account is logged in.
    Good,
    /// The password or the token is wrong.
    Wrong,
    /// The password was not checked, after too many wrong ones.
    Throttled,
    /// The account is on another connection, or may not log in.
    Refused,
}

impl LoginOutcome {
    /// All outcomes.
    pub const ALL: [LoginOutcome; 4] =
        [LoginOutcome::Good, LoginOutcome::Wrong, LoginOutcome::Throttled, LoginOutcome::Refused];

    /// Its name in metrics.
    pub fn word(self) -> &'static str {
        match self {
            LoginOutcome::Good => "good",
            LoginOutcome::Wrong => "wrong",
            LoginOutcome::Throttled => "throttled",
            LoginOutcome::Refused => "refused",
        }
    }
}

/// Why a connection was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseReason {
    /// The other end closed it, or the connection was lost.
    Left,
    /// The player logged out.
    LoggedOut,
    /// The player did not log in in time.
    LoginTimeout,
    /// The account logged in on another connection.
    TakenOver,
    /// An operator closed it.
    ByOperator,
    /// The other end sent too many useless messages.
    Flood,
    /// The other end did not read: its outbox was full.
    SlowReader,
    /// A write took too long, or failed.
    Unwritable,
    /// The other end sent nothing for too long.
    Silent,
    /// The input cannot be parsed, and neither can the rest of it.
    Broken,
    /// The player has nothing more to play: the tournament is over, the player is out of it, or was
    /// not admitted.
    Dismissed,
    /// The server stops.
    Stopping,
    /// The node that has its socket is lost, or stops.
    NodeGone,
}

impl CloseReason {
    /// All reasons.
    pub const ALL: [CloseReason; 13] = [
        CloseReason::Left,
        CloseReason::LoggedOut,
        CloseReason::LoginTimeout,
        CloseReason::TakenOver,
        CloseReason::ByOperator,
        CloseReason::Flood,
        CloseReason::SlowReader,
        CloseReason::Unwritable,
        CloseReason::Silent,
        CloseReason::Broken,
        CloseReason::Dismissed,
        CloseReason::Stopping,
        CloseReason::NodeGone,
    ];

    /// Its name in metrics.
    pub fn word(self) -> &'static str {
        match self {
            CloseReason::Left => "left",
            CloseReason::LoggedOut => "logged-out",
            CloseReason::LoginTimeout => "login-timeout",
            CloseReason::TakenOver => "taken-over",
            CloseReason::ByOperator => "by-operator",
            CloseReason::Flood => "flood",
            CloseReason::SlowReader => "slow-reader",
            CloseReason::Unwritable => "unwritable",
            CloseReason::Silent => "silent",
            CloseReason::Broken => "broken",
            CloseReason::Dismissed => "dismissed",
            CloseReason::Stopping => "stopping",
            CloseReason::NodeGone => "node-gone",
        }
    }
}

/// One action for the driver.
pub enum Effect {
    /// Write a line to a connection.
    Send { conn: ConnId, line: LineRange },
    /// Write a notice of a match to a connection. It may wait a moment, so that it goes out
    /// together with the next message.
    Notice { conn: ConnId, line: LineRange },
    /// Write a request to a connection and report when it was written. The answer may take
    /// `limit_ms` from then on. `follows` is when the answer that led to the request was read.
    Ask { conn: ConnId, ask: AskId, line: LineRange, limit_ms: Millis, follows: Option<Timestamp> },
    /// Send a structured call to a connection; report when a request was written.
    Call { conn: ConnId, tell: Box<Tell> },
    /// Send a message to an observer on the wire of another system, not before `due`.
    Observe { conn: ConnId, message: Box<PeerMessage>, due: Timestamp },
    /// Stop waiting for a login: the connection is logged in, or belongs to an observer.
    Admit { conn: ConnId },
    /// Write all queued messages to a connection, then close it.
    Close { conn: ConnId, why: CloseReason },
    /// Append a record to the log and report when it is durable.
    Append(Record),
    /// Load a stream from the log and report its lines. The engine itself reads only when it
    /// starts, when a match is replayed, and when a tournament draws its players by lot.
    Load(StreamKey),
    /// Read a running tournament with [`read_tournaments`](crate::read_tournaments), and report it
    /// with the number of this reading.
    ReadTournament { id: TournamentId, reading: u64 },
    /// Check a password and report the result, unless the connection is closed before.
    CheckPassword { conn: ConnId, from: IpAddr, account: PlayerName, check: PasswordCheck },
    /// Have a house player answer a request.
    AskHouse(Box<HouseQuestion>),
    /// Have another engine play a match: see [`TournamentPart`](crate::TournamentPart).
    HandOut(Box<MatchPlan>),
    /// Report a match that is over to the engine that plays the tournament.
    Report(Box<PlayedMatch>),
    /// Store a snapshot of the lobby after its first `seq` events, and report when that is done.
    KeepSnapshot { seq: u64, lobby: Box<agon_core::lobby::Lobby> },
    /// Send a watcher a message.
    Show { watcher: WatcherId, shown: Shown },
    /// End a watcher's subscription.
    EndWatch { watcher: WatcherId },
    /// Answer a query.
    Reply { query: QueryId, answer: AnyAnswer },
    /// Send a message to another engine of the server. Messages to one engine keep their order.
    Pass { to: EngineId, message: Box<EngineMessage> },
    /// Have another engine of the server answer a query, after the messages that went there before.
    Forward { to: EngineId, query: QueryId, what: Box<dyn AnyQuery> },
    /// Drop a query that has no answer: the log refused a record that the answer depends on.
    NoReply { query: QueryId },
    /// Report something to the operator.
    Note(Note),
}

/// The effects of an input, and the lines that they write.
#[derive(Default)]
pub struct Effects {
    list: Vec<Effect>,
    bytes: Vec<u8>,
}

impl Effects {
    /// Returns whether there are no effects.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes all effects, in their order. The lines stay until [`clear`](Effects::clear).
    pub fn take(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.list)
    }

    /// The text of a line.
    pub fn line(&self, line: &LineRange) -> &[u8] {
        &self.bytes[line.0.clone()]
    }

    /// Forgets everything and keeps the memory. `list` is the result of [`take`](Effects::take).
    pub fn clear(&mut self, mut list: Vec<Effect>) {
        list.clear();
        self.list = list;
        self.bytes.clear();
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.list.push(effect);
    }

    pub(super) fn write(&mut self, line: &[u8]) -> LineRange {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line);
        LineRange(start..self.bytes.len())
    }
}
