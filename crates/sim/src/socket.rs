//! The server's end of a connection, without a socket: bytes in, bytes out, through the framing and
//! the translation that gateways use.

use crate::driver::Driver;
use agon_core::Millis;
use agon_engine::Peers;
use agon_engine::seat_side::{
    Framing, GRACE_MS, NORMAL, PAUSE_MS, Received, Talk, Words, error_line, received,
};
use agon_engine::{AskId, ConnId, Input, PeerSaid, Seat, Tell, Wire};
use agon_wire::peer::Told;
use agon_wire::sign_up::Newcomer;
use agon_wire::values;
use agon_wire::websocket::{self, Opcode};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::Arc;

/// Over which wire a connection comes.
#[derive(Clone, Debug)]
pub(crate) enum Over {
    /// The native protocol in lines.
    Lines,
    /// The native protocol in WebSocket frames; the handshake is done.
    Frames,
    /// The wire of another system.
    Peers(Peers),
}

/// Something to be written.
pub(crate) enum Out {
    /// A message with its line end, and which request it is.
    Line(Vec<u8>, Option<AskId>),
    /// Something to be put into the words of another system.
    Tell(Box<Tell>),
    /// The answer to a ping frame.
    Pong(Vec<u8>),
    /// The last one. The code is for WebSockets.
    Close(u16),
}

/// Messages for a connection. It has a bound: a reader that falls behind is cut off.
pub(crate) struct Outbox {
    queue: VecDeque<Out>,
    max: usize,
    /// The engine is done with the connection.
    closed: bool,
    /// The connection is gone, and the engine hears of that after what was read from it before.
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

/// What a gateway holds of a connection.
pub(crate) struct Socket {
    conn: ConnId,
    wire: Wire,
    body: Body,
    /// `None` until the engine knows of it.
    outbox: Option<Rc<RefCell<Outbox>>>,
    /// Nothing more is read from it: its last words are on their way.
    deaf: bool,
    /// Nothing more is written to it.
    ended: bool,
    /// When a number or a word is whole, if nothing follows.
    pause_at: Option<Millis>,
    /// When it is given up, if it does not say what is waited for.
    silent_at: Option<Millis>,
}

enum Body {
    Native(Framing),
    /// It has yet to say its name.
    Newcomer(Box<(Newcomer, Peers)>),
    /// It talks; what was read last was read then.
    Talk(Box<Talk>, Millis),
}

/// Something that was written.
pub(crate) struct Wrote {
    /// As it goes over the wire.
    pub(crate) bytes: Vec<u8>,
    /// The message, where the wire is native.
    pub(crate) line: Option<Vec<u8>>,
    /// What is asked, where it is not.
    pub(crate) call: Option<WrittenCall>,
}

/// A call on the wire of another system.
pub(crate) struct WrittenCall {
    /// Which request of a match it is, as native players are told it; `None` outside matches.
    pub(crate) request: Option<String>,
    /// How long the answer may take.
    pub(crate) limit_ms: Millis,
    /// The question and the view, as the game has them.
    pub(crate) question: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether the other end has to reply; otherwise its wire has no words for it.
    pub(crate) replies: bool,
}

impl Socket {
    /// Messages that wait to be written.
    pub(crate) fn waiting(&self) -> usize {
        self.outbox.as_ref().map_or(0, |outbox| outbox.borrow().queue.len())
    }

    /// Whether nothing more will be said on it, but for what waits.
    pub(crate) fn is_dropped(&self) -> bool {
        self.ended || self.is_left()
    }

    /// Whether that is the engine's doing, which knows it, and not the gateway's.
    pub(crate) fn is_left(&self) -> bool {
        self.outbox.as_ref().is_some_and(|outbox| outbox.borrow().closed)
    }

    /// Whether there is nothing more to say on it: it is to be closed.
    pub(crate) fn is_over(&self) -> bool {
        self.ended
    }

    /// When to call [`Driver::look`] if nothing happens before.
    pub(crate) fn due(&self) -> Option<Millis> {
        self.pause_at.into_iter().chain(self.silent_at).min()
    }

    fn put(&self, out: Out) -> bool {
        self.outbox.as_ref().is_some_and(|outbox| outbox.borrow_mut().put(out))
    }
}

impl Driver {
    /// Opens a connection at `now`.
    pub(crate) fn connect(&mut self, over: Over, now: Millis) -> Socket {
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
            self.open_socket(&mut socket, Seat::native(wire));
        }
        socket
    }

    fn open_socket(&mut self, socket: &mut Socket, seat: Seat) {
        let (conn, from) = (socket.conn, IpAddr::V4(Ipv4Addr::LOCALHOST));
        socket.outbox = Some(self.open_outbox(conn));
        self.send(Input::Opened { conn, seat, from });
    }

    /// Passes on bytes that were read from a connection at `at`.
    pub(crate) fn hear(&mut self, socket: &mut Socket, bytes: &[u8], at: Millis) {
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

    fn hear_native(&mut self, socket: &mut Socket, at: Millis) {
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
                        socket.put(Out::Line(error_line("malformed", why), None));
                    }
                    let has_room = socket.put(Out::Close(code));
                    (socket.deaf, socket.ended) = (true, !has_room);
                }
            }
        }
    }

    /// Reads who it is; with `silent`, nothing has followed for a while.
    fn sign_up(&mut self, socket: &mut Socket, at: Millis, silent: bool) {
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
        let (strict, seat) = (peers.strict_names, Seat::program(socket.wire));
        socket.body = Body::Talk(Box::new(talk), at);
        (socket.pause_at, socket.silent_at) = (None, None);
        self.open_socket(socket, seat);
        let said = PeerSaid::SignUp { name, strict, listens, series };
        self.send(Input::Peer { conn: socket.conn, said, at });
    }

    /// Answers calls with the replies that are there.
    fn pair(&mut self, socket: &mut Socket) {
        let Body::Talk(talk, read_at) = &mut socket.body else { return };
        // Nothing is asked in between, so there is one at most.
        if let Some(said) = talk.pair() {
            self.send(Input::Peer { conn: socket.conn, said, at: *read_at });
        }
    }

    /// Does what is due at `now` although nothing came.
    pub(crate) fn look(&mut self, socket: &mut Socket, now: Millis) {
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
    pub(crate) fn write_one(&mut self, socket: &mut Socket, now: Millis) -> Option<Wrote> {
        match socket.body {
            Body::Native(_) => self.write_native(socket, now),
            Body::Newcomer(_) => None,
            Body::Talk(..) => self.write_talk(socket, now),
        }
    }

    fn write_native(&mut self, socket: &mut Socket, now: Millis) -> Option<Wrote> {
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
        let (bytes, line) = match out {
            Out::Line(line, ask) => {
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
        Some(Wrote { bytes, line, call: None })
    }

    fn write_talk(&mut self, socket: &mut Socket, now: Millis) -> Option<Wrote> {
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
            let question = match &tell.told {
                Told::Question { question, view, .. } => Some((question.clone(), view.clone())),
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
                return Some(Wrote { bytes, line: None, call });
            }
        }
    }

    /// Tells the engine that a connection is gone.
    pub(crate) fn hang_up(&mut self, socket: Socket) {
        if let Some(outbox) = socket.outbox {
            outbox.borrow_mut().gone = true;
            self.send(Input::Closed { conn: socket.conn });
        }
    }
}

/// What a player is asked with these words.
fn written_call(words: &Words, question: Option<(Vec<u8>, Vec<u8>)>) -> Option<WrittenCall> {
    let (ask, replies) = (words.ask(), words.limit_ms());
    let request = match ask.map(|ask| &ask.id) {
        Some(AskId::Match(key, request)) => Some(format!("{}:{request}", key.tournament)),
        Some(AskId::Tournament(..)) | None => None,
    };
    let limit_ms = replies.or(ask.map(|ask| ask.limit_ms))?;
    Some(WrittenCall { request, limit_ms, question, replies: replies.is_some() })
}
