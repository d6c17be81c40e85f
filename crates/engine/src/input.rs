//! Inputs of the engine, as data.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::cells::watch::WatcherId;
use super::effect::{AskId, PasswordResult, PlayedMatch};
use super::engines::{EngineId, EngineMessage};
use super::journal::StreamKey;
use super::ports::ReadError;
use super::query::{AnyQuery, QueryId};
use super::recover::StoredTournament;
use super::seat::SeatKind;
use super::{ConnId, EngineError, MatchKey};
use agon_core::lobby::Announcement;
use agon_core::{Fault, MatchPlan, PlayerName, RequestId, Ruling, Timestamp, TournamentId};
use agon_games::Refusal;
use agon_wire::fish::observer::Follow;
use agon_wire::native::{FromPlayer, Hello};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;

/// The time at which an input is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Time {
    /// The server's clock.
    pub now: Timestamp,
    /// All bytes that arrived by then have been read. No deadline after this time has passed yet.
    pub read_until: Timestamp,
}

impl Time {
    /// A time at which no socket is read late.
    pub fn at(now: Timestamp) -> Time {
        Time { now, read_until: now }
    }
}

/// An event outside the engine.
pub enum Input {
    /// A connection was opened.
    Opened { conn: ConnId, seat: SeatKind, from: IpAddr },
    /// A connection was opened by a host that knows its player: it started the player's program,
    /// which said hello.
    Seated { conn: ConnId, seat: SeatKind, player: PlayerName, hello: Hello },
    /// The host replaced the program behind a connection. The new one said hello and knows nothing.
    Restarted { conn: ConnId, hello: Hello },
    /// The host gave up on a player's program: it does not start.
    Absent { player: PlayerName, fault: Fault },
    /// Somebody outside ended or stopped the program of a player, so their game counts for nothing.
    Void { key: MatchKey, ruling: Ruling },
    /// A match to play, which another engine handed out.
    Play(Box<MatchPlan>),
    /// A match that was handed out is over.
    Reported(Box<PlayedMatch>),
    /// A match cannot be decided, so nobody wins it.
    Abandon { key: MatchKey, ruling: Ruling },
    /// A connection sent a message, which was read at `at`.
    Said { conn: ConnId, message: FromPlayer, at: Timestamp },
    /// A connection sent a line that is not a message.
    Bad { conn: ConnId, why: String, line: String },
    /// A program of another system sent something, which was read at `at`.
    Peer { conn: ConnId, said: PeerSaid, at: Timestamp },
    /// An Erlang process sent an answer, which its gateway translated and which was read at `at`.
    Translated { conn: ConnId, said: TranslatedAnswer, at: Timestamp },
    /// A request was written to the player's socket.
    Delivered { conn: ConnId, ask: AskId, at: Timestamp },
    /// A connection was closed.
    Closed { conn: ConnId },
    /// A connection was closed, and its gateway knows the reason.
    Lost { conn: ConnId, fault: Fault },
    /// Another node has the socket of a connection, and that node is lost, or it stops. A node that
    /// stops can still tell the player.
    NodeGone { conn: ConnId, is_stopping: bool },
    /// The login deadline of a connection passed.
    LoginDue { conn: ConnId },
    /// A password was hashed or checked.
    Checked { conn: ConnId, result: PasswordResult },
    /// A house player answered.
    House { key: MatchKey, player: PlayerName, request: RequestId, answer: String },
    /// The oldest record in flight of a stream is durable.
    Committed(StreamKey),
    /// The log refused a record: another server owns the stream. The engine drops the tournament of
    /// the stream and sends nothing more about it. Without the lobby's stream it does nothing more.
    Refused(StreamKey),
    /// The lines of a stream that the engine asked for.
    Loaded { stream: StreamKey, lines: Result<Vec<String>, ReadError> },
    /// A running tournament that the engine wanted to read.
    TournamentRead { reading: u64, stored: Result<Box<StoredTournament>, EngineError> },
    /// The snapshot is stored, or storing it failed.
    SnapshotKept,
    /// A query. The engine answers it once the records it depends on are durable.
    Query { id: QueryId, query: Box<dyn AnyQuery> },
    /// Another engine of the server sent a message.
    Passed { from: EngineId, message: Box<EngineMessage> },
    /// An engine on another node can own cells. It will read the lobby from the log.
    EngineJoined(EngineId),
    /// An engine on another node is gone, and cannot write to the log any more.
    EngineLost(EngineId),
    /// An operator moves a running tournament to another engine.
    Move { tournament: TournamentId, to: EngineId },
    /// All nodes of the cluster read records up to this version now.
    LogVersion(u32),
    /// A watcher ended its subscription.
    Unwatch(WatcherId),
    /// The server stops.
    Stop,
}

/// A message of a program of another system.
pub enum PeerSaid {
    /// The program's name. It wants to play where `series` is open, and to be sent every change if
    /// it `listens`. If names are `strict`, no other program may have the same.
    SignUp { name: PlayerName, strict: bool, listens: bool, series: Arc<Announcement> },
    /// The program only watches the tournaments of `series`.
    Observe { follow: Follow, series: Arc<Announcement> },
    /// An answer, or a reply that is not one.
    Answer { ask: AskId, answer: Result<String, BadReply> },
}

/// A reply that is not an answer.
#[derive(Serialize, Deserialize)]
pub struct BadReply {
    /// Why it is not an answer.
    pub refusal: Refusal,
    /// The reply, as evidence.
    pub text: String,
}

/// An answer in another system's form, with its translation.
#[derive(Serialize, Deserialize)]
pub struct TranslatedAnswer {
    /// Which request it is for.
    pub id: RequestId,
    /// The game's answer, or why the message is not an answer.
    pub answer: Result<String, Refusal>,
    /// The original text, without passwords.
    pub sent: String,
}
