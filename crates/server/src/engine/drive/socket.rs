//! The server's end of a connection, without a socket: bytes in, bytes out, through the framing and
//! the translation that gateways use.

use super::super::{AskId, ConnId, Input, PeerSaid};
use super::Driven;
use crate::gateway::{
    Batch, Framing, GRACE_MS, NORMAL, Out, Outbox, PAUSE_MS, Peers, Pulse, Talk, Todo, Words,
    end_with, todo,
};
use crate::wires::Wire;
use agon_core::Millis;
use agon_wire::peer::Told;
use agon_wire::sign_up::Newcomer;
use agon_wire::values;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{Semaphore, mpsc};

/// Over which wire a connection comes.
#[derive(Clone, Debug)]
pub enum Over {
    /// The native protocol in lines.
    Lines,
    /// The native protocol in WebSocket frames; the handshake is done.
    Frames,
    /// The wire of another system.
    Peers(Peers),
}

/// What a gateway holds of a connection.
pub struct Socket {
    conn: ConnId,
    wire: Wire,
    body: Body,
    /// `None` until the engine knows of it.
    outbox: Option<(mpsc::Receiver<Out>, Arc<Pulse>)>,
    room: Arc<Semaphore>,
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
pub struct Wrote {
    /// As it goes over the wire.
    pub bytes: Vec<u8>,
    /// The message, where the wire is native.
    pub line: Option<Vec<u8>>,
    /// What is asked, where it is not.
    pub asked: Option<Asked>,
}

/// A call on the wire of another system.
pub struct Asked {
    /// Which request of a match it is, as native players are told it; `None` outside matches.
    pub request: Option<String>,
    /// How long the answer may take.
    pub limit_ms: Millis,
    /// The question and the view, as the game has them.
    pub question: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether the other end has to reply; otherwise its wire has no words for it.
    pub replies: bool,
}

impl Socket {
    /// Messages that wait to be written.
    pub fn waiting(&self) -> usize {
        self.outbox.as_ref().map_or(0, |(outbox, _)| outbox.len())
    }

    /// Whether nothing more will be said on it, but for what waits.
    pub fn is_dropped(&self) -> bool {
        self.ended || self.is_left()
    }

    /// Whether that is the engine's doing, which knows it, and not the gateway's.
    pub fn is_left(&self) -> bool {
        self.outbox.as_ref().is_some_and(|(outbox, _)| outbox.is_closed())
    }

    /// Whether there is nothing more to say on it: it is to be closed.
    pub fn is_over(&self) -> bool {
        self.ended
    }

    /// When to call [`Driven::look`] if nothing happens before.
    pub fn due(&self) -> Option<Millis> {
        self.pause_at.into_iter().chain(self.silent_at).min()
    }
}

impl Driven {
    /// Opens a connection at `now`.
    pub fn connect(&mut self, over: Over, now: Millis) -> Socket {
        let conn = self.next_conn;
        self.next_conn += 1;
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
        let room = Arc::new(Semaphore::new(self.limits.inbox_lines_max));
        let (outbox, deaf, ended, pause_at) = (None, false, false, None);
        let mut socket =
            Socket { conn, wire, body, outbox, room, deaf, ended, pause_at, silent_at };
        if wire.is_native() {
            self.open_outbox(&mut socket);
        }
        socket
    }

    fn open_outbox(&mut self, socket: &mut Socket) {
        let Socket { conn, wire, .. } = *socket;
        let (out, outbox) = Outbox::new(conn, wire, self.limits.outbox_lines_max, None);
        let (from, pulse) = (IpAddr::V4(Ipv4Addr::LOCALHOST), Arc::clone(out.pulse()));
        self.engine.handle.send(Input::Opened { conn, out, from });
        socket.outbox = Some((outbox, pulse));
    }

    /// Passes on bytes that were read from a connection at `at`. Stops when as many messages wait
    /// as may: the others come with the next bytes.
    pub fn hear(&mut self, socket: &mut Socket, bytes: &[u8], at: Millis) {
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
        let (conn, handle) = (socket.conn, &self.engine.handle);
        let Body::Native(framing) = &mut socket.body else { return };
        while !socket.deaf
            && let Ok(place) = Arc::clone(&socket.room).try_acquire_owned()
        {
            let Some(came) = framing.take() else { return };
            match todo(came) {
                Todo::Said(message) => handle.send(Input::Said { conn, message, at, place }),
                Todo::Bad { why, line } => handle.send(Input::Bad { conn, why, line, place }),
                Todo::Nothing => {}
                Todo::Pong(payload) => {
                    socket.outbox.iter().for_each(|(_, pulse)| pulse.answer_ping(payload.clone()));
                }
                Todo::End(code, why) => {
                    let has_room = |(_, pulse): &(_, Arc<Pulse>)| end_with(pulse, code, why);
                    (socket.deaf, socket.ended) =
                        (true, !socket.outbox.as_ref().is_some_and(has_room));
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
        let strict = peers.strict_names;
        socket.body = Body::Talk(Box::new(talk), at);
        (socket.pause_at, socket.silent_at) = (None, None);
        self.open_outbox(socket);
        let said = PeerSaid::SignUp { name, strict, listens, series };
        self.engine.handle.send(Input::Peer { conn: socket.conn, said, at });
    }

    /// Answers calls with the replies that are there.
    fn pair(&mut self, socket: &mut Socket) {
        let Body::Talk(talk, read_at) = &mut socket.body else { return };
        // Nothing is asked in between, so there is one at most.
        if let Some(said) = talk.pair() {
            self.engine.handle.send(Input::Peer { conn: socket.conn, said, at: *read_at });
        }
    }

    /// Does what is due at `now` although nothing came.
    pub fn look(&mut self, socket: &mut Socket, now: Millis) {
        if socket.pause_at.take_if(|at| *at <= now).is_some() {
            match &mut socket.body {
                Body::Native(_) => {}
                Body::Newcomer(_) => self.sign_up(socket, now, true),
                Body::Talk(talk, read_at) => {
                    let at = *read_at;
                    if let Some(said) = talk.is_inside().then(|| talk.flush()).flatten() {
                        self.engine.handle.send(Input::Peer { conn: socket.conn, said, at });
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
    pub fn write_one(&mut self, socket: &mut Socket, now: Millis) -> Option<Wrote> {
        match socket.body {
            Body::Native(_) => write_native(socket, now),
            Body::Newcomer(_) => None,
            Body::Talk(..) => self.write_talk(socket, now),
        }
    }

    fn write_talk(&mut self, socket: &mut Socket, now: Millis) -> Option<Wrote> {
        loop {
            self.pair(socket);
            let Body::Talk(talk, _) = &mut socket.body else { return None };
            let tell = match talk.next() {
                Some(tell) => Some(tell),
                None if !talk.takes_more() => return None,
                None => match socket.outbox.as_mut()?.0.try_recv() {
                    Ok(Out::Tell(tell)) => talk.take(*tell),
                    Ok(_) => None,
                    Err(empty) => {
                        socket.ended |= empty == TryRecvError::Disconnected;
                        return None;
                    }
                },
            };
            let Some(tell) = tell else { continue };
            let question = match &tell.told {
                Told::Question { question, view, .. } => Some((question.clone(), view.clone())),
                _ => None,
            };
            let words = talk.say(tell);
            let asked = asked(&words, question);
            let bytes = words.text.clone().into_bytes();
            if let Some(limit_ms) = words.limit_ms() {
                socket.silent_at = Some(now.saturating_add(limit_ms).saturating_add(GRACE_MS));
            }
            if let Some(said) = talk.said(words, now) {
                self.engine.handle.send(Input::Peer { conn: socket.conn, said, at: now });
            }
            if !bytes.is_empty() || asked.is_some() {
                return Some(Wrote { bytes, line: None, asked });
            }
        }
    }

    /// Tells the engine that a connection is gone.
    pub fn close(&mut self, socket: Socket) {
        if socket.outbox.is_some() {
            self.engine.handle.send(Input::Closed { conn: socket.conn });
        }
    }
}

/// Writes the next message of a native wire.
fn write_native(socket: &mut Socket, now: Millis) -> Option<Wrote> {
    let (outbox, _) = socket.outbox.as_mut().filter(|_| !socket.ended)?;
    let out = match outbox.try_recv() {
        Ok(out) => out,
        Err(TryRecvError::Disconnected) => Out::Close(NORMAL),
        Err(TryRecvError::Empty) => return None,
    };
    let line = match &out {
        Out::Line(line, _) => Some(line.clone()),
        _ => None,
    };
    let mut batch = Batch::default();
    batch.add(socket.wire, out);
    batch.notes.iter().for_each(|note| note.store(now, Ordering::Release));
    socket.ended = batch.last;
    Some(Wrote { bytes: batch.bytes, line, asked: None })
}

/// What a player is asked with these words.
fn asked(words: &Words, question: Option<(Vec<u8>, Vec<u8>)>) -> Option<Asked> {
    let (ask, replies) = (words.ask(), words.limit_ms());
    let request = match ask.map(|ask| &ask.id) {
        Some(AskId::Match(key, request)) => Some(format!("{}:{request}", key.0)),
        Some(AskId::Tournament(..)) | None => None,
    };
    let limit_ms = replies.or(ask.map(|ask| ask.limit_ms))?;
    Some(Asked { request, limit_ms, question, replies: replies.is_some() })
}
