//! The server's end of a connection, without a socket: bytes in, bytes out, through the framing and
//! the translation that gateways use.

use crate::driver::Driver;
use agon_core::{Millis, Timestamp};
use agon_engine::Peers;
use agon_engine::seat_side::{
    Framing, GRACE_MS, NORMAL, PAUSE_MS, Received, Talk, Words, error_line, received,
};
use agon_engine::{AskId, ConnId, Input, PeerSaid, SeatKind, Tell, Wire};
use agon_wire::peer::PeerMessage;
use agon_wire::sign_up::Newcomer;
use agon_wire::values;
use agon_wire::websocket::{self, Opcode};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::Arc;

/// The protocol of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Over {
    /// The native protocol in lines.
    Lines,
    /// The native protocol in WebSocket frames, after the handshake.
    Frames,
    /// The protocol of another system.
    Peers(Peers),
}

/// When an engine decided on a message, by the world's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// When the engine decided that owns the tournament.
    pub(crate) decided_at: Timestamp,
    /// When the engine that has the connections put the message into the outbox.
    pub(crate) put_at: Timestamp,
}

impl Origin {
    /// The time before which nobody decided on the message. An engine that passes a message on may
    /// decide something else in the same millisecond, before the message is written.
    pub(crate) fn not_before(self) -> Timestamp {
        match self.decided_at < self.put_at {
            true => self.decided_at.before(1),
            false => self.decided_at,
        }
    }
}

/// A message to be written.
pub(crate) enum Out {
    /// A message with its line end, the request it carries, and its origin if an engine sends it.
    Line(Vec<u8>, Option<AskId>, Option<Origin>),
    /// A message to translate into another system's protocol.
    Tell(Box<Tell>),
    /// The answer to a ping frame.
    Pong(Vec<u8>),
    /// Closes the connection. The code is for WebSockets.
    Close(u16),
}

/// Messages for a connection. It is bounded: the server drops a connection that falls behind.
pub(crate) struct Outbox {
    queue: VecDeque<Out>,
    max: usize,
    /// True if the engine has closed the connection.
    closed: bool,
    /// True if the connection is closed. The engine learns of it after the input read before.
    gone: bool,
}

impl Outbox {
    pub(crate) fn new(max: usize) -> Outbox {
        Outbox { queue: VecDeque::new(), max, closed: false, gone: false }
    }

    /// Adds a message; `false` if there is no room.
    pub(crate) fn put(&mut self, out: Out) -> bool {
        if self.gone {
            return true;
        }
        let has_room = self.queue.len() < self.max && !self.closed;
        if has_room {
            self.queue.push_back(out);
        }
        has_room
    }

    pub(crate) fn close(&mut self) {
        self.closed = true;
    }
}

/// A gateway's state for one connection.
pub(crate) struct Socket {
    conn: ConnId,
    wire: Wire,
    body: Body,
    /// `None` until the engine knows of the connection.
    outbox: Option<Rc<RefCell<Outbox>>>,
    /// True if reading has ended, while the last messages are still being written.
    deaf: bool,
    /// True if writing has ended.
    ended: bool,
    /// When a number or a word counts as complete, if nothing follows.
    pause_at: Option<Timestamp>,
    /// When the gateway gives the connection up, if the expected message does not arrive.
    silent_at: Option<Timestamp>,
}

enum Body {
    Native(Framing),
    /// The program has not sent its name yet.
    Newcomer(Box<(Newcomer, Peers)>),
    /// The sign-up is complete; also holds when the last bytes were read.
    Talk(Box<Talk>, Timestamp),
}

/// A message that was written.
pub(crate) struct Wrote {
    /// Its bytes on the connection.
    pub(crate) bytes: Vec<u8>,
    /// The message, on the native protocol.
    pub(crate) line: Option<Vec<u8>>,
    /// The call, on other protocols.
    pub(crate) call: Option<WrittenCall>,
    /// Its origin, if an engine sent it on the native protocol.
    pub(crate) origin: Option<Origin>,
}

/// A call on another system's protocol.
pub(crate) struct WrittenCall {
    /// The request of a match, with its id in the native protocol; `None` outside matches.
    pub(crate) request: Option<String>,
    /// How long the answer may take.
    pub(crate) limit_ms: Millis,
    /// The question and the view, in the game's own format.
    pub(crate) question: Option<(Vec<u8>, Vec<u8>)>,
    /// True if the other end must reply. If not, its protocol has no message for this.
    pub(crate) replies: bool,
}

impl Socket {
    /// Messages that wait to be written.
    pub(crate) fn waiting(&self) -> usize {
        self.outbox.as_ref().map_or(0, |outbox| outbox.borrow().queue.len())
    }

    /// Returns whether nothing more will be put into the outbox.
    pub(crate) fn is_dropped(&self) -> bool {
        self.ended || self.is_left()
    }

    /// Returns whether the engine closed the connection, rather than the gateway.
    pub(crate) fn is_left(&self) -> bool {
        self.outbox.as_ref().is_some_and(|outbox| outbox.borrow().closed)
    }

    /// Returns whether writing has ended and the connection can be closed.
    pub(crate) fn is_over(&self) -> bool {
        self.ended
    }

    /// When to call [`Driver::look`] if nothing happens before.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.pause_at.into_iter().chain(self.silent_at).min()
    }

    fn put(&self, out: Out) -> bool {
        self.outbox.as_ref().is_some_and(|outbox| outbox.borrow_mut().put(out))
    }
}

impl Driver {
    /// Opens a connection at `now`.
    pub(crate) fn connect(&mut self, over: Over, now: Timestamp) -> Socket {
        let conn = self.next_conn();
        let max = self.limits.line_bytes_max;
        let (wire, body, silent_at) = match over {
            Over::Lines => (Wire::Tcp, Body::Native(Framing::lines(max)), None),
            Over::Frames => (Wire::WebSocket, Body::Native(Framing::frames(max)), None),
            Over::Peers(peers) => {
                let newcomer = Newcomer::new(values::Limits::default(), peers.strict_names);
                let (wire, by) = (peers.wire(), now + peers.sign_up_ms);
                (wire, Body::Newcomer(Box::new((newcomer, peers))), Some(by))
            }
        };
        let (outbox, deaf, ended, pause_at) = (None, false, false, None);
        let mut socket = Socket { conn, wire, body, outbox, deaf, ended, pause_at, silent_at };
        if let Body::Native(_) = socket.body {
            self.open_socket(&mut socket, SeatKind::native(wire));
        }
        socket
    }

    fn open_socket(&mut self, socket: &mut Socket, seat: SeatKind) {
        let (conn, from) = (socket.conn, IpAddr::V4(Ipv4Addr::LOCALHOST));
        socket.outbox = Some(self.open_outbox(conn));
        self.send(Input::Opened { conn, seat, from });
    }

    /// Processes bytes that were read from a connection at `at`.
    pub(crate) fn hear(&mut self, socket: &mut Socket, bytes: &[u8], at: Timestamp) {
        match &mut socket.body {
            Body::Native(framing) => {
                framing.push(bytes);
                self.hear_native(socket, at);
            }
            Body::Newcomer(newcomer) => {
                newcomer.0.push(bytes);
                self.sign_up(socket, at, false);
            }
            Body::Talk(talk, read_at) => {
                talk.push(bytes);
                *read_at = at;
                socket.pause_at = Some(at + PAUSE_MS);
                self.pair(socket);
            }
        }
    }

    fn hear_native(&mut self, socket: &mut Socket, at: Timestamp) {
        let conn = socket.conn;
        while !socket.deaf {
            let Body::Native(framing) = &mut socket.body else { return };
            let Some(framed) = framing.take() else { return };
            match received(framed) {
                Received::Message(message) => self.send(Input::Said { conn, message, at }),
                Received::Bad { why, line } => self.send(Input::Bad { conn, why, line }),
                Received::Nothing => {}
                Received::Ping(payload) => drop(socket.put(Out::Pong(payload))),
                Received::End(code, why) => {
                    if let Some(why) = why {
                        socket.put(Out::Line(error_line("malformed", why), None, None));
                    }
                    let has_room = socket.put(Out::Close(code));
                    (socket.deaf, socket.ended) = (true, !has_room);
                }
            }
        }
    }

    /// Reads the sign-up; `silent` says that nothing has followed for a while.
    fn sign_up(&mut self, socket: &mut Socket, at: Timestamp, silent: bool) {
        let Body::Newcomer(newcomer) = &mut socket.body else { return };
        let (reader, peers) = &mut **newcomer;
        let first = reader.take().or_else(|| if silent { reader.flush() } else { None });
        let Some(first) = first else {
            socket.pause_at = (!silent).then_some(at + PAUSE_MS);
            return;
        };
        let read =
            first.ok().and_then(|first| peers.language.sign_up(&first, peers.strict_names).ok());
        let Some((name, speaker)) = read else {
            socket.ended = true;
            return;
        };
        let talk = Talk::new(speaker, reader.clone().into_values());
        let (listens, series) = (talk.listens(), Arc::clone(&peers.series));
        let (strict, seat) = (peers.strict_names, SeatKind::program(socket.wire));
        socket.body = Body::Talk(Box::new(talk), at);
        (socket.pause_at, socket.silent_at) = (None, None);
        self.open_socket(socket, seat);
        let said = PeerSaid::SignUp { name, strict, listens, series };
        self.send(Input::Peer { conn: socket.conn, said, at });
    }

    /// Matches the replies that have arrived to their calls.
    fn pair(&mut self, socket: &mut Socket) {
        let Body::Talk(talk, read_at) = &mut socket.body else { return };
        // No other call is sent in between, so there is at most one.
        if let Some(said) = talk.pair() {
            self.send(Input::Peer { conn: socket.conn, said, at: *read_at });
        }
    }

    /// Runs the timers that are due at `now`.
    pub(crate) fn look(&mut self, socket: &mut Socket, now: Timestamp) {
        if socket.pause_at.take_if(|at| *at <= now).is_some() {
            match &mut socket.body {
                Body::Native(_) => {}
                Body::Newcomer(_) => self.sign_up(socket, now, true),
                Body::Talk(talk, read_at) => {
                    let at = *read_at;
                    if let Some(said) = talk.is_inside().then(|| talk.flush()).flatten() {
                        self.send(Input::Peer { conn: socket.conn, said, at });
                    }
                }
            }
        }
        if socket.silent_at.take_if(|at| *at <= now).is_some() {
            socket.ended = match &socket.body {
                Body::Talk(talk, _) => talk.limit_ms().is_some(),
                _ => true,
            };
        }
    }

    /// Writes the next message; it counts as written at `now`.
    pub(crate) fn write_one(&mut self, socket: &mut Socket, now: Timestamp) -> Option<Wrote> {
        match socket.body {
            Body::Native(_) => self.write_native(socket, now),
            Body::Newcomer(_) => None,
            Body::Talk(..) => self.write_talk(socket, now),
        }
    }

    fn write_native(&mut self, socket: &mut Socket, now: Timestamp) -> Option<Wrote> {
        let outbox = socket.outbox.as_ref().filter(|_| !socket.ended)?;
        let (next, closed) = {
            let mut outbox = outbox.borrow_mut();
            (outbox.queue.pop_front(), outbox.closed)
        };
        let out = match next {
            Some(out) => out,
            None if closed => Out::Close(NORMAL),
            None => return None,
        };
        let frame = |opcode: Opcode, payload: &[u8]| {
            let mut bytes = Vec::new();
            websocket::encode(&mut bytes, opcode, payload, None);
            bytes
        };
        let framed = socket.wire == Wire::WebSocket;
        let mut from = None;
        let (bytes, line) = match out {
            Out::Line(line, ask, origin) => {
                from = origin;
                if let Some(ask) = ask {
                    self.send(Input::Delivered { conn: socket.conn, ask, at: now });
                }
                let text = line.strip_suffix(b"\n").unwrap_or(&line);
                let bytes = if framed { frame(Opcode::Text, text) } else { line.clone() };
                (bytes, Some(line))
            }
            Out::Pong(payload) if framed => (frame(Opcode::Pong, &payload), None),
            Out::Close(code) => {
                socket.ended = true;
                let last = framed.then(|| frame(Opcode::Close, &code.to_be_bytes()));
                (last.unwrap_or_default(), None)
            }
            Out::Pong(_) | Out::Tell(_) => (Vec::new(), None),
        };
        Some(Wrote { bytes, line, call: None, origin: from })
    }

    fn write_talk(&mut self, socket: &mut Socket, now: Timestamp) -> Option<Wrote> {
        loop {
            self.pair(socket);
            let Body::Talk(talk, _) = &mut socket.body else { return None };
            let tell = match talk.next_waiting() {
                Some(tell) => Some(tell),
                None if !talk.takes_more() => return None,
                None => {
                    let mut outbox = socket.outbox.as_ref()?.borrow_mut();
                    match outbox.queue.pop_front() {
                        Some(Out::Tell(tell)) => talk.take(*tell),
                        Some(_) => None,
                        None => {
                            socket.ended |= outbox.closed;
                            return None;
                        }
                    }
                }
            };
            let Some(tell) = tell else { continue };
            let question = match &tell.message {
                PeerMessage::Question { question, view, .. } => {
                    Some((question.clone(), view.clone()))
                }
                _ => None,
            };
            let words = talk.say(tell);
            let call = written_call(&words, question);
            let bytes = words.text.clone().into_bytes();
            if let Some(limit_ms) = words.limit_ms() {
                socket.silent_at = Some(now.saturating_add(limit_ms).saturating_add(GRACE_MS));
            }
            let (delivered, said) = talk.said(words);
            if let Some(ask) = delivered {
                self.send(Input::Delivered { conn: socket.conn, ask, at: now });
            }
            if let Some(said) = said {
                self.send(Input::Peer { conn: socket.conn, said, at: now });
            }
            if !bytes.is_empty() || call.is_some() {
                return Some(Wrote { bytes, line: None, call, origin: None });
            }
        }
    }

    /// Notifies the engine that a connection is closed.
    pub(crate) fn hang_up(&mut self, socket: Socket) {
        if let Some(outbox) = socket.outbox {
            outbox.borrow_mut().gone = true;
            self.send(Input::Closed { conn: socket.conn });
        }
    }
}

/// The call that these words make to a player.
fn written_call(words: &Words, question: Option<(Vec<u8>, Vec<u8>)>) -> Option<WrittenCall> {
    let (ask, replies) = (words.ask(), words.limit_ms());
    let request = match ask.map(|ask| &ask.id) {
        Some(AskId::Match(key, request)) => Some(format!("{}:{request}", key.tournament)),
        Some(AskId::Tournament(..)) | None => None,
    };
    let limit_ms = replies.or(ask.map(|ask| ask.limit_ms))?;
    Some(WrittenCall { request, limit_ms, question, replies: replies.is_some() })
}
