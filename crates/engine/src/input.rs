//! What comes to the engine, as data.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::effect::{AskId, PasswordResult};
use super::journal::StreamKey;
use super::query::{AnyQuery, QueryId};
use super::seat::Seat;
use super::watch::WatcherId;
use super::{ConnId, MatchKey};
use agon_core::lobby::Announcement;
use agon_core::{Fault, Millis, PlayerName, RequestId};
use agon_games::Refusal;
use agon_wire::fish::observer::Follow;
use agon_wire::native::FromPlayer;
use std::net::IpAddr;
use std::sync::Arc;

/// The time at which an input is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Time {
    /// The time of the server's clock.
    pub now: Millis,
    /// Everything that was there to be read by then has been read: no deadline after it has passed.
    pub read_until: Millis,
}

impl Time {
    /// A time at which sockets are read without delay.
    pub fn at(now: Millis) -> Time {
        Time { now, read_until: now }
    }
}

/// What happened outside.
pub enum Input {
    /// A connection was opened.
    Opened { conn: ConnId, seat: Seat, from: IpAddr },
    /// A connection sent a message, which was read at `at`.
    Said { conn: ConnId, message: FromPlayer, at: Millis },
    /// A connection sent something that is no message.
    Bad { conn: ConnId, why: String, line: String },
    /// A program of another system said something, which was read at `at`.
    Peer { conn: ConnId, said: PeerSaid, at: Millis },
    /// A process answered in the words of another system, which were read at `at`.
    Translated { conn: ConnId, said: TranslatedAnswer, at: Millis },
    /// A request was written to the player's socket.
    Delivered { conn: ConnId, ask: AskId, at: Millis },
    /// A connection was closed.
    Closed { conn: ConnId },
    /// A connection was closed, and its gateway knows why.
    Lost { conn: ConnId, fault: Fault },
    /// A connection should have logged in by now.
    LoginDue { conn: ConnId },
    /// A password was hashed or checked.
    Checked { conn: ConnId, result: PasswordResult },
    /// A house player answered.
    House { key: MatchKey, player: PlayerName, request: RequestId, answer: String },
    /// The oldest record of a stream that was in flight is durable.
    Committed(StreamKey),
    /// The log refused a record: from now on the engine does nothing.
    Refused(StreamKey),
    /// The snapshot that was to be kept is kept, or cannot be.
    SnapshotKept,
    /// A query from outside, answered once what the answer rests on is durable.
    Query { id: QueryId, query: Box<dyn AnyQuery> },
    /// A watcher is gone.
    Unwatch(WatcherId),
    /// The server stops.
    Stop,
}

/// What a program of another system says.
pub enum PeerSaid {
    /// Its name. It wants to play where `series` is open, and to hear of every change if it
    /// `listens`. If names are `strict`, no other program may have the same.
    SignUp { name: PlayerName, strict: bool, listens: bool, series: Arc<Announcement> },
    /// That it only watches the tournaments of `series`.
    Observe { follow: Follow, series: Arc<Announcement> },
    /// An answer, or what came instead of one.
    Answer { ask: AskId, answer: Result<String, BadReply> },
}

/// A reply that is no answer.
pub struct BadReply {
    /// Why it is none.
    pub refusal: Refusal,
    /// The reply, as evidence.
    pub text: String,
}

/// An answer in the words of another system, and what it means here.
pub struct TranslatedAnswer {
    /// Which request it is for.
    pub id: RequestId,
    /// The answer of the game, or why the message is none.
    pub answer: Result<String, Refusal>,
    /// What was sent, without passwords.
    pub sent: String,
}
