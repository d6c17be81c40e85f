//! What the engine and the gateway share about a connection: its outbox, and signs of life.
//!
//! A message goes straight to the socket, if that has room and nothing waits before it; few have to
//! wait. Those that do are handed over to the connection's task, and the engine goes on. When each
//! was written is noted, and looked at only when it matters: when a deadline seems to have passed,
//! or an answer came.

use super::Limits;
use super::direct::{Direct, Wrote};
use crate::clock::now_ms;
use crate::engine::{AskId, ConnId, Handle, Input};
use crate::meters::End;
use crate::wires::Wire;
use agon_core::Millis;
use agon_wire::peer::Told;
use agon_wire::request::Shows;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// When a message was written to its socket, once it was.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// At once.
    At(Millis),
    /// When its turn comes; 0 as long as it waits.
    Later(Arc<AtomicU64>),
}

impl Written {
    /// Not yet.
    pub(crate) fn not_yet() -> Written {
        Written::Later(Note::default())
    }

    /// Notes when one that waited was written.
    pub(super) fn set(&self, now: Millis) {
        if let Written::Later(at) = self {
            at.store(now, Ordering::Release);
        }
    }

    /// When; `None` as long as it waits.
    pub(crate) fn at(&self) -> Option<Millis> {
        match self {
            Written::At(at) => Some(*at),
            Written::Later(at) => Some(at.load(Ordering::Acquire)).filter(|at| *at > 0),
        }
    }
}

/// Where to note when a message was written that has to wait.
pub(crate) type Note = Arc<AtomicU64>;

/// Something to be written.
pub(crate) enum Out {
    /// A message with its line end, and where to note that it was written.
    Line(Vec<u8>, Option<Note>),
    /// The end of a message whose beginning is written.
    Rest(Vec<u8>, Option<Note>),
    /// Something to be put into the words of another system.
    Tell(Box<Tell>),
    /// Something for an observer on the wire of another system, and when it may be sent.
    Observed(Box<Told>, Millis),
    /// A sign of life.
    Heartbeat,
    /// The answer to a ping frame.
    Pong(Vec<u8>),
    /// The last one. The code is for WebSockets.
    Close(u16),
}

/// Something a player on the wire of another system is told.
pub(crate) struct Tell {
    pub(crate) told: Told,
    /// If it has to be answered: as what, and how soon.
    pub(crate) ask: Option<PeerAsk>,
}

/// What is answered, how long that may take, and where to note when it was asked.
#[derive(Clone)]
pub(crate) struct PeerAsk {
    pub(crate) id: AskId,
    pub(crate) limit_ms: Millis,
    pub(crate) written: Written,
}

/// Who takes requests for a connection at once, on the engine's thread: it must not wait.
pub(super) trait Taker: Send + Sync {
    /// Takes a message, or leaves it to the connection's task.
    fn take(&self, line: &[u8]) -> Option<Written>;

    /// Writes what was taken.
    fn flush(&self);
}

/// Somebody who takes requests at once, as long as nothing waits for the task before them.
pub(super) struct AtOnce {
    taker: Box<dyn Taker>,
    /// Messages that were handed to the task, which is not done with them.
    waiting: AtomicUsize,
}

impl AtOnce {
    /// The task is done with a message.
    pub(super) fn done(&self) {
        self.waiting.fetch_sub(1, Ordering::Release);
    }
}

/// Where messages for a connection go. It has a bound: a reader that falls behind is cut off. When
/// it is dropped, the gateway writes what is in it and closes the socket.
pub(crate) struct Outbox {
    lines: mpsc::Sender<Out>,
    pulse: Arc<Pulse>,
}

impl Outbox {
    /// An outbox, and what its task has to write. With a socket, the task writes only what cannot
    /// be written at once.
    pub(crate) fn new(
        conn: ConnId,
        wire: Wire,
        lines_max: usize,
        socket: Option<OwnedWriteHalf>,
    ) -> (Outbox, mpsc::Receiver<Out>) {
        let direct = socket.map(Direct::new);
        Outbox::make(conn, wire, lines_max, (direct, None, Shows::Score))
    }

    /// The same for a connection that shares its socket with others.
    pub(super) fn shared(
        conn: ConnId,
        wire: Wire,
        lines_max: usize,
        shows: Shows,
        taker: Box<dyn Taker>,
    ) -> (Outbox, mpsc::Receiver<Out>) {
        let at_once = AtOnce { taker, waiting: AtomicUsize::new(0) };
        Outbox::make(conn, wire, lines_max, (None, Some(at_once), shows))
    }

    fn make(
        conn: ConnId,
        wire: Wire,
        lines_max: usize,
        (direct, at_once, shows): (Option<Direct>, Option<AtOnce>, Shows),
    ) -> (Outbox, mpsc::Receiver<Out>) {
        let (lines, receiver) = mpsc::channel(lines_max.max(1));
        let now = now_ms();
        let pulse = Pulse {
            conn,
            wire,
            shows,
            outbox: lines.downgrade(),
            direct,
            at_once,
            opened_at: now,
            heard_at: AtomicU64::new(now),
            said_at: AtomicU64::new(now),
            beat_at: AtomicU64::new(now),
            logged_in: AtomicBool::new(false),
            end: OnceLock::new(),
        };
        (Outbox { lines, pulse: Arc::new(pulse) }, receiver)
    }

    /// Writes a message, or hands it over to be written later; `None` if there is no room.
    pub(crate) fn send(&self, line: &[u8]) -> Option<Written> {
        let Some(direct) = &self.pulse.direct else { return self.pass(line) };
        let mut waiting = direct.waiting();
        let sent = match *waiting {
            0 => direct.write(self.pulse.wire, line),
            _ => Wrote::Nothing,
        };
        let written = match sent {
            Wrote::All => {
                let now = now_ms();
                self.pulse.said(now);
                return Some(Written::At(now));
            }
            Wrote::Nothing => self.queue(line),
            Wrote::Some(rest) => self.hand_over(Out::Rest, rest),
        };
        *waiting += usize::from(written.is_some());
        written
    }

    /// Has a message taken at once, or hands it over.
    fn pass(&self, line: &[u8]) -> Option<Written> {
        let Some(AtOnce { taker, waiting }) = &self.pulse.at_once else { return self.queue(line) };
        // Nobody else hands anything over, so what does not wait now will not.
        if waiting.load(Ordering::Acquire) == 0
            && let Some(written) = taker.take(line)
        {
            return Some(written);
        }
        waiting.fetch_add(1, Ordering::Relaxed);
        let written = self.queue(line);
        if written.is_none() {
            waiting.fetch_sub(1, Ordering::Relaxed);
        }
        written
    }

    fn queue(&self, line: &[u8]) -> Option<Written> {
        self.hand_over(Out::Line, line.to_vec())
    }

    fn hand_over(&self, out: fn(Vec<u8>, Option<Note>) -> Out, bytes: Vec<u8>) -> Option<Written> {
        let note = Note::default();
        let room = self.put(out(bytes, Some(Arc::clone(&note))));
        room.then_some(Written::Later(note))
    }

    /// Hands over what the gateway puts into words; `false` if there is no room.
    pub(crate) fn tell(&self, tell: Tell) -> bool {
        self.put(Out::Tell(Box::new(tell)))
    }

    /// Hands over what an observer may be sent from then on; `false` if there is no room.
    pub(crate) fn observe(&self, told: Told, due: Millis) -> bool {
        self.put(Out::Observed(Box::new(told), due))
    }

    fn put(&self, out: Out) -> bool {
        match self.lines.try_send(out) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.ends(End::SlowReader);
                false
            }
            // It is gone, and the engine hears of that after what was read from it before.
            Err(TrySendError::Closed(_)) => true,
        }
    }

    /// Whether what is sent has to be flushed: several connections have one socket.
    pub(crate) fn is_shared(&self) -> bool {
        self.pulse.at_once.is_some()
    }

    /// Writes what was sent, if it is shared.
    pub(crate) fn flush(&self) {
        if let Some(at_once) = &self.pulse.at_once {
            at_once.taker.flush();
        }
    }

    /// Over which wire it goes.
    pub(crate) fn wire(&self) -> Wire {
        self.pulse.wire
    }

    /// How much its requests show.
    pub(crate) fn shows(&self) -> Shows {
        self.pulse.shows
    }

    /// Notes why the connection ends; the first reason counts.
    pub(crate) fn ends(&self, end: End) {
        self.pulse.ends(end);
    }

    /// Notes that the connection has logged in.
    pub(crate) fn logged_in(&self) {
        self.pulse.logged_in.store(true, Ordering::Relaxed);
    }

    pub(crate) fn pulse(&self) -> &Arc<Pulse> {
        &self.pulse
    }
}

/// Signs of life of a connection.
pub(crate) struct Pulse {
    conn: ConnId,
    pub(super) wire: Wire,
    outbox: mpsc::WeakSender<Out>,
    /// The socket, if it can be written to without further ado.
    pub(super) direct: Option<Direct>,
    /// Who takes its requests otherwise.
    pub(super) at_once: Option<AtOnce>,
    shows: Shows,
    opened_at: Millis,
    heard_at: AtomicU64,
    said_at: AtomicU64,
    beat_at: AtomicU64,
    logged_in: AtomicBool,
    /// Why it ends, once that is known.
    end: OnceLock<End>,
}

impl Pulse {
    pub(super) fn heard(&self, now: Millis) {
        self.heard_at.store(now, Ordering::Relaxed);
    }

    /// Notes why the connection ends; the first reason counts.
    pub(super) fn ends(&self, end: End) {
        let _ = self.end.set(end);
    }

    /// Why it ended, and whether it had logged in.
    pub(super) fn ended(&self) -> (End, bool) {
        let end = self.end.get().copied().unwrap_or(End::Left);
        (end, self.logged_in.load(Ordering::Relaxed))
    }

    pub(super) fn said(&self, now: Millis) {
        self.said_at.store(now, Ordering::Relaxed);
    }

    /// Puts something into the outbox for the gateway itself; `false` if there is no room, or the
    /// engine has closed it.
    pub(super) fn send(&self, out: Out) -> bool {
        let Some(outbox) = self.outbox.upgrade() else { return false };
        let Some(direct) = &self.direct else { return outbox.try_send(out).is_ok() };
        let mut waiting = direct.waiting();
        let room = outbox.try_send(out).is_ok();
        *waiting += usize::from(room);
        room
    }

    /// Answers a ping frame. Who does not read its pongs needs none.
    pub(crate) fn answer_ping(&self, payload: Vec<u8>) {
        self.send(Out::Pong(payload));
    }

    /// Does what is due at `now`.
    pub(super) fn look(&self, now: Millis, limits: &Limits, engine: &Handle) {
        let since = |at: &AtomicU64| now.saturating_sub(at.load(Ordering::Relaxed));
        if !self.logged_in.load(Ordering::Relaxed) {
            // The greeting comes first, and whoever does not log in is not here for long.
            if now.saturating_sub(self.opened_at) >= limits.login_ms_max {
                engine.send(Input::LoginDue { conn: self.conn });
            }
            return;
        }
        // Whoever reads lines need not speak, so only its system can tell whether it is there;
        // a WebSocket has to answer pings. The wires of others have no words for either.
        if !self.wire.is_native() {
            return;
        }
        let quiet = match self.wire {
            Wire::WebSocket => since(&self.heard_at),
            _ => since(&self.said_at),
        };
        if self.wire == Wire::WebSocket && quiet >= limits.silence_ms_max {
            self.ends(End::Silent);
            // If there is no room for it, a write is stuck, and that has a deadline of its own.
            self.send(Out::Close(super::websocket::GOING_AWAY));
        } else if quiet.min(since(&self.beat_at)) >= limits.heartbeat_ms {
            self.beat_at.store(now, Ordering::Relaxed);
            self.send(Out::Heartbeat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(receiver: &mut mpsc::Receiver<Out>) -> Vec<&'static str> {
        let outs = std::iter::from_fn(|| receiver.try_recv().ok());
        let words = outs.map(|out| match out {
            Out::Line(..) | Out::Rest(..) => "line",
            Out::Tell(_) | Out::Observed(..) => "tell",
            Out::Heartbeat => "heartbeat",
            Out::Pong(_) => "pong",
            Out::Close(_) => "close",
        });
        words.collect()
    }

    /// A connection opened at `start`, and what happens to it at times after that.
    fn looked_at(wire: Wire, times: &[(u64, &str)]) -> Vec<Vec<&'static str>> {
        let (engine, _inbox) = Handle::detached();
        let (outbox, mut receiver) = Outbox::new(1, wire, 8, None);
        outbox.logged_in();
        let (pulse, limits) = (outbox.pulse(), Limits::default());
        let start = pulse.opened_at;
        let looked = times.iter().map(|(at, what_happens)| {
            match *what_happens {
                "hears" => pulse.heard(start + at),
                "says" => pulse.said(start + at),
                _ => {}
            }
            pulse.look(start + at, &limits, &engine);
            what(&mut receiver)
        });
        looked.collect()
    }

    #[test]
    fn a_silent_websocket_is_pinged_and_then_given_up() {
        let times = [(14_999, ""), (15_000, ""), (15_001, ""), (30_000, ""), (45_000, "")];
        let expected = [&[][..], &["heartbeat"], &[], &["heartbeat"], &["close"]];
        assert_eq!(looked_at(Wire::WebSocket, &times), expected);
        // What is said to it does not matter, what it says does.
        let times = [(15_000, "says"), (20_000, "hears"), (34_000, ""), (36_000, ""), (64_000, "")];
        let expected = [&["heartbeat"][..], &[], &[], &["heartbeat"], &["heartbeat"]];
        assert_eq!(looked_at(Wire::WebSocket, &times), expected);
    }

    #[test]
    fn over_tcp_nobody_has_to_speak() {
        let times = [(10_000, "says"), (15_000, ""), (25_000, ""), (3_600_000, "")];
        let expected = [&[][..], &[], &["heartbeat"], &["heartbeat"]];
        assert_eq!(looked_at(Wire::Tcp, &times), expected);
    }

    #[test]
    fn observer_that_does_not_read_is_cut_off() {
        let (outbox, _unread) = Outbox::new(1, Wire::Fish, 1, None);
        let told = || Told::SignedUp { next: true };
        assert!(outbox.observe(told(), 0));
        assert!(!outbox.observe(told(), 0), "there is no room");
        assert_eq!(outbox.pulse().ended().0, End::SlowReader);
    }

    #[test]
    fn an_outbox_that_is_gone_gets_nothing() {
        let (outbox, mut receiver) = Outbox::new(1, Wire::Tcp, 1, None);
        let pulse = Arc::clone(outbox.pulse());
        assert!(outbox.send(b"x\n").is_some() && outbox.send(b"y\n").is_none());
        assert!(!pulse.send(Out::Heartbeat), "full");
        assert_eq!(what(&mut receiver), ["line"]);
        drop(outbox);
        assert!(!pulse.send(Out::Heartbeat), "closed by the engine");
    }
}
