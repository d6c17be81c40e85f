//! The port between the seat side and the cell side: the messages between them, as data.
//!
//! ```text
//!   seat side                                                  cell side
//!   socket, request clock   ── Arrive, Leave, CutOff,    ──▶   machines, log
//!                              Heard, Malformed, Answer, Delivered
//!                           ◀── Ask, Notice, Recall ──
//! ```
//!
//! In one process a message is a function call: the engine hands a [`FromSeat`] to the cells, and a
//! cell hands a [`ToSeat`] to [`Services::send_to_seat`].
//!
//! The seat that has the socket measures an answer, from when the request was written to when the
//! answer was read, and states the [`Timing`] with the answer. The cell keeps a clock of its own,
//! which the delivery starts. The cell's clock rules about players who do not answer at all, and
//! says how much time a player has left after reconnecting.

use crate::engines::{SentAsk, ToLobby};
use crate::services::Services;
use crate::{AskId, BadReply, ConnId, Effect, MatchKey, PeerAsk, Tell, TranslatedAnswer};
use agon_core::{Fault, Notice, PlayerName, RequestClock, RequestId, Timestamp, Timing};
use agon_wire::native::{self, ToPlayer};
use agon_wire::peer::PeerMessage;
use serde::{Deserialize, Serialize};

/// A message from the seat of a player to the cells in which the player plays.
#[derive(Serialize, Deserialize)]
pub(crate) enum FromSeat {
    /// The player can be reached now, on the connection that the table of present players names.
    Arrive,
    /// The player cannot be reached any more.
    Leave(Fault),
    /// The player cannot be reached any more, and that is our fault: the node that has the socket
    /// of this connection is gone.
    CutOff(ConnId),
    /// The player sent something that is no answer.
    Heard,
    /// The player sent a line that is no message.
    Malformed { why: String, line: String },
    /// The player answered a request.
    Answer(Answer),
    /// A request was written to the player's socket.
    Delivered { conn: ConnId, ask: AskId, at: Timestamp },
}

impl FromSeat {
    /// A copy for the other engines in which the player plays, if the message concerns all of the
    /// player's cells. They learn of an arrival by another message.
    pub(crate) fn to_all_cells(&self) -> Option<FromSeat> {
        match self {
            FromSeat::Leave(fault) => Some(FromSeat::Leave(fault.clone())),
            FromSeat::CutOff(conn) => Some(FromSeat::CutOff(*conn)),
            FromSeat::Heard => Some(FromSeat::Heard),
            FromSeat::Malformed { why, line } => {
                Some(FromSeat::Malformed { why: why.clone(), line: line.clone() })
            }
            FromSeat::Arrive | FromSeat::Answer(_) | FromSeat::Delivered { .. } => None,
        }
    }
}

/// An answer, and how long the player took.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) given: GivenAnswer,
    /// How long the player took, by the clock of the seat; `None` if the seat was not sent the
    /// request, as after reconnecting.
    pub(crate) timing: Option<Timing>,
    /// When the answer was read.
    pub(crate) at: Timestamp,
}

/// An answer in the form in which a seat gives it.
#[derive(Serialize, Deserialize)]
pub(crate) enum GivenAnswer {
    /// The game's answer, to a request with the name that it was sent under.
    Plain(RequestId, String),
    /// An answer that a gateway translated.
    Translated(TranslatedAnswer),
    /// The reply of a program of another system.
    Reply(AskId, Result<String, BadReply>),
}

/// A message from a cell to the seat of a player.
pub(crate) enum ToSeat<'a> {
    /// Send the player a request, and report when it was written. The answer may take what `clock`
    /// leaves. `follows` is when the answer that led to the request was read.
    Ask { ask: AskId, request: AskForm<'a>, clock: RequestClock, follows: Option<Timestamp> },
    /// Send the player a notice of a match.
    Notice { key: &'a MatchKey, notice: Notice },
    /// Forget a request, which is not open any more.
    Recall(&'a AskId),
}

/// A request in the form that the seat takes.
pub(crate) enum AskForm<'a> {
    /// A line of the native protocol.
    Line(&'a [u8]),
    /// A structured call.
    Call(PeerMessage),
}

impl Services {
    /// Hands a message to the seat of a player. The cell sends a request again when a player who
    /// cannot be reached returns.
    pub(crate) fn send_to_seat(&mut self, player: &PlayerName, message: ToSeat<'_>) {
        if self.has_only_cells() {
            return self.pass_to_seat(player, message);
        }
        let Some(seat) = self.present.seat_mut(player) else { return };
        let Some(conn) = seat.conn() else { return };
        match message {
            ToSeat::Ask { ask, request, clock, follows } => {
                let (limit_ms, left_ms) = (clock.limit_ms(), clock.left_ms());
                let effect = match request {
                    AskForm::Line(text) => {
                        seat.open_line(ask.clone(), clock);
                        let line = self.effects.write(text);
                        Effect::Ask { conn, ask, line, limit_ms: left_ms, follows }
                    }
                    AskForm::Call(message) => {
                        seat.open_call(ask.clone(), clock);
                        let ask = Some(PeerAsk { id: ask, limit_ms });
                        Effect::Call { conn, tell: Box::new(Tell { message, ask }) }
                    }
                };
                self.effects.push(effect);
            }
            ToSeat::Notice { key, notice } if !seat.takes_calls() => {
                let Notice { about, data, .. } = notice;
                if seat.is_local() {
                    return self.send_line(conn, &ToPlayer::notice(about, Some(data)));
                }
                let (tournament, in_match) = (Some(&key.tournament), Some(&key.id));
                let notice = ToPlayer::Notice { about, tournament, in_match, data: Some(data) };
                let line = self.effects.write(&native::encode(&notice));
                self.effects.push(Effect::Notice { conn, line });
            }
            // A program of another system confirms notices as requests.
            ToSeat::Notice { .. } => {}
            ToSeat::Recall(ask) => seat.close_request(ask),
        }
    }

    /// Passes a message to the lobby's engine, which has the seat of the player.
    fn pass_to_seat(&mut self, player: &PlayerName, message: ToSeat<'_>) {
        let Some(conn) = self.conn_of(player) else { return };
        let player = player.clone();
        self.pass_to_lobby(match message {
            ToSeat::Ask { ask: id, request: AskForm::Line(line), clock, follows } => {
                let ask = SentAsk { id, line: line.to_vec(), clock, follows };
                ToLobby::Ask { player, conn, ask }
            }
            // The lobby's engine keeps the tournaments of programs that take calls.
            ToSeat::Ask { request: AskForm::Call(_), .. } => return,
            ToSeat::Notice { key, notice: Notice { about, data, .. } } => {
                let (tournament, in_match) = (Some(&key.tournament), Some(&key.id));
                let notice = ToPlayer::Notice { about, tournament, in_match, data: Some(data) };
                let (player, line) = (Some(player), native::encode(&notice));
                ToLobby::Line { conn, player, line, is_notice: true }
            }
            ToSeat::Recall(ask) => ToLobby::Recall(player, ask.clone()),
        });
    }
}
