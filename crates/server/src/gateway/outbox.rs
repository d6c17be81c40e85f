//! The state of a connection that the engine and the gateway share: its outbox, and its liveness.
//!
//! A message goes straight to the socket, if that has room and no earlier message waits; few have
//! to wait. The connection's task writes those and reports to the engine when a request was
//! written.

use super::Limits;
use super::direct::{Direct, WriteSocket, Wrote};
use crate::clock::{AtomicTimestamp, now_ms};
use crate::driver::Handle;
use crate::engine::{AskId, CloseReason, ConnId, Input, SeatKind, Tell, Wire};
use agon_core::Timestamp;
use agon_wire::peer::PeerMessage;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// The outcome of sending a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// It was written to the socket at this time.
    At(Timestamp),
    /// It waits for the connection's task, which reports to the engine when a request was written.
    Later,
    /// The outbox is full: the other end does not read.
    Full,
}

/// The task to notify when a waiting message was written.
#[derive(Clone)]
pub(crate) enum Receipt {
    /// The engine: it is a request.
    Engine { engine: Handle, conn: ConnId, ask: AskId },
    /// A flag for a caller that polls: whether the message was written.
    Flag(Arc<AtomicBool>),
}

impl Receipt {
    /// Reports that the message was written.
    pub(crate) fn written(&self, now: Timestamp) {
        match self {
            Receipt::Engine { engine, conn, ask } => {
                let (conn, ask) = (*conn, ask.clone());
                engine.send(Input::Delivered { conn, ask, at: now });
            }
            Receipt::Flag(flag) => flag.store(true, Ordering::Release),
        }
    }
}

/// A queued message.
pub(crate) enum Out {
    /// A message with its line end, and its request.
    Line(Vec<u8>, Option<AskId>),
    /// The rest of a message that is partly written.
    Rest(Vec<u8>, Option<AskId>),
    /// A call to translate for another system.
    Tell(Box<Tell>),
    /// A message for an observer on the wire of another system, and when it may be sent.
    Observed(Box<PeerMessage>, Timestamp),
    /// A heartbeat.
    Heartbeat,
    /// The answer to a ping frame.
    Pong(Vec<u8>),
    /// The last message. The code is for WebSockets.
    Close(u16),
}

/// Takes a connection's requests at once, on the engine's thread: it must not block.
pub(super) trait Taker: Send + Sync {
    /// Takes a request and reports when it was written, or leaves it to the connection's task;
    /// returns whether it was taken.
    fn take(&self, line: &[u8], ask: &AskId) -> bool;

    /// Writes the requests that were taken.
    fn flush(&self);
}

/// A taker, which is used only while no earlier message waits for the task.
pub(super) struct AtOnce {
    taker: Box<dyn Taker>,
    /// How many messages the task has not finished yet.
    waiting: AtomicUsize,
}

impl AtOnce {
    /// The task has finished a message.
    pub(super) fn done(&self) {
        self.waiting.fetch_sub(1, Ordering::Release);
    }
}

/// The queue of messages to a connection. It is bounded: a reader that falls behind is
/// disconnected. When it is dropped, the gateway writes its contents and closes the socket.
pub(crate) struct Outbox {
    lines: mpsc::Sender<Out>,
    liveness: Arc<Liveness>,
}

impl Outbox {
    /// An outbox, and the queue of its task. With a socket, the task writes only messages that
    /// cannot be written at once.
    pub(crate) fn new(
        conn: ConnId,
        seat: SeatKind,
        lines_max: usize,
        socket: Option<WriteSocket>,
    ) -> (Outbox, mpsc::Receiver<Out>) {
        Outbox::make(conn, seat, lines_max, socket.map(Direct::new), None)
    }

    /// Like `new`, for a connection that shares its socket with others.
    pub(super) fn shared(
        conn: ConnId,
        seat: SeatKind,
        lines_max: usize,
        taker: Box<dyn Taker>,
    ) -> (Outbox, mpsc::Receiver<Out>) {
        let at_once = AtOnce { taker, waiting: AtomicUsize::new(0) };
        Outbox::make(conn, seat, lines_max, None, Some(at_once))
    }

    fn make(
        conn: ConnId,
        seat: SeatKind,
        lines_max: usize,
        direct: Option<Direct>,
        at_once: Option<AtOnce>,
    ) -> (Outbox, mpsc::Receiver<Out>) {
        let (lines, receiver) = mpsc::channel(lines_max.max(1));
        let now = now_ms();
        let liveness = Liveness {
            conn,
            seat,
            wire: seat.wire,
            outbox: lines.downgrade(),
            direct,
            at_once,
            opened_at: now,
            heard_at: AtomicTimestamp::new(now),
            said_at: AtomicTimestamp::new(now),
            beat_at: AtomicTimestamp::new(now),
            logged_in: AtomicBool::new(false),
            end: OnceLock::new(),
        };
        (Outbox { lines, liveness: Arc::new(liveness) }, receiver)
    }

    /// Writes a message, or queues it. `ask` is the message's request, if the engine wants a report
    /// when it was written.
    pub(crate) fn send(&self, line: &[u8], ask: Option<&AskId>) -> Written {
        let Some(direct) = &self.liveness.direct else { return self.pass(line, ask) };
        let mut waiting = direct.waiting();
        let sent = match *waiting {
            0 => direct.write(self.liveness.wire, line),
            _ => Wrote::Nothing,
        };
        let written = match sent {
            Wrote::All => {
                let now = now_ms();
                self.liveness.said(now);
                return Written::At(now);
            }
            Wrote::Nothing => self.put(Out::Line(line.to_vec(), ask.cloned())),
            Wrote::Some(rest) => self.put(Out::Rest(rest, ask.cloned())),
        };
        *waiting += usize::from(written);
        Outbox::later(written)
    }

    /// Passes a request to the taker, or queues the message.
    fn pass(&self, line: &[u8], ask: Option<&AskId>) -> Written {
        let queue = || self.put(Out::Line(line.to_vec(), ask.cloned()));
        let Some(AtOnce { taker, waiting }) = &self.liveness.at_once else {
            return Outbox::later(queue());
        };
        // Only the engine queues messages, so if none waits now, none will come in between.
        if waiting.load(Ordering::Acquire) == 0 && ask.is_some_and(|ask| taker.take(line, ask)) {
            return Written::Later;
        }
        waiting.fetch_add(1, Ordering::Relaxed);
        let has_room = queue();
        if !has_room {
            waiting.fetch_sub(1, Ordering::Relaxed);
        }
        Outbox::later(has_room)
    }

    fn later(has_room: bool) -> Written {
        if has_room { Written::Later } else { Written::Full }
    }

    /// Queues a call, which the gateway translates; `false` if there is no room.
    pub(crate) fn tell(&self, tell: Box<Tell>) -> bool {
        self.put(Out::Tell(tell))
    }

    /// Queues a message that an observer may be sent at `due`; `false` if there is no room.
    pub(crate) fn observe(&self, message: Box<PeerMessage>, due: Timestamp) -> bool {
        self.put(Out::Observed(message, due))
    }

    fn put(&self, out: Out) -> bool {
        match self.lines.try_send(out) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.ends(CloseReason::SlowReader);
                false
            }
            // The connection is closed. The engine is notified of that after the connection's
            // remaining input.
            Err(TrySendError::Closed(_)) => true,
        }
    }

    /// Returns whether several messages can be written as one: they are lines of a socket.
    pub(crate) fn joins_lines(&self) -> bool {
        self.liveness.direct.is_some() && self.liveness.wire == Wire::Tcp
    }

    /// Returns whether messages have to be flushed: several connections share one socket.
    pub(crate) fn is_shared(&self) -> bool {
        self.liveness.at_once.is_some()
    }

    /// Flushes the messages, if the socket is shared.
    pub(crate) fn flush(&self) {
        if let Some(at_once) = &self.liveness.at_once {
            at_once.taker.flush();
        }
    }

    /// The capabilities of the seat behind it.
    pub(crate) fn seat(&self) -> SeatKind {
        self.liveness.seat
    }

    /// Records why the connection closes; the first reason counts.
    pub(crate) fn ends(&self, end: CloseReason) {
        self.liveness.ends(end);
    }

    /// Records that the connection has logged in.
    pub(crate) fn logged_in(&self) {
        self.liveness.logged_in.store(true, Ordering::Relaxed);
    }

    pub(crate) fn liveness(&self) -> &Arc<Liveness> {
        &self.liveness
    }
}

/// The liveness of a connection.
pub(crate) struct Liveness {
    pub(super) conn: ConnId,
    seat: SeatKind,
    pub(super) wire: Wire,
    outbox: mpsc::WeakSender<Out>,
    /// The socket, if any thread may write to it.
    pub(super) direct: Option<Direct>,
    /// The taker of its requests otherwise.
    pub(super) at_once: Option<AtOnce>,
    opened_at: Timestamp,
    heard_at: AtomicTimestamp,
    said_at: AtomicTimestamp,
    beat_at: AtomicTimestamp,
    logged_in: AtomicBool,
    /// Why it closes, once that is known.
    end: OnceLock<CloseReason>,
}

impl Liveness {
    pub(super) fn heard(&self, now: Timestamp) {
        self.heard_at.store(now);
    }

    /// Records why the connection closes; the first reason counts.
    pub(super) fn ends(&self, end: CloseReason) {
        let _ = self.end.set(end);
    }

    /// Why it closed, and whether it had logged in.
    pub(super) fn ended(&self) -> (CloseReason, bool) {
        let end = self.end.get().copied().unwrap_or(CloseReason::Left);
        (end, self.logged_in.load(Ordering::Relaxed))
    }

    pub(super) fn said(&self, now: Timestamp) {
        self.said_at.store(now);
    }

    /// Queues a message of the gateway itself; `false` if there is no room, or the engine has
    /// closed the outbox.
    pub(super) fn send(&self, out: Out) -> bool {
        let Some(outbox) = self.outbox.upgrade() else { return false };
        let Some(direct) = &self.direct else { return outbox.try_send(out).is_ok() };
        let mut waiting = direct.waiting();
        let room = outbox.try_send(out).is_ok();
        *waiting += usize::from(room);
        room
    }

    /// Answers a ping frame. A pong that finds no room is dropped.
    pub(crate) fn answer_ping(&self, payload: Vec<u8>) {
        self.send(Out::Pong(payload));
    }

    /// Checks the connection's deadlines at `now`.
    pub(super) fn look(&self, now: Timestamp, limits: &Limits, engine: &Handle) {
        let since = |at: &AtomicTimestamp| now.since(at.load());
        if !self.logged_in.load(Ordering::Relaxed) {
            // Before the login there are no heartbeats, only the login deadline.
            if now.since(self.opened_at) >= limits.login_ms_max {
                engine.send(Input::LoginDue { conn: self.conn });
            }
            return;
        }
        // A TCP client need not send anything, so only its system can tell whether it is connected.
        // A WebSocket has to answer pings. The wires of other systems have neither.
        if !self.seat.takes_lines() {
            return;
        }
        let quiet = match self.wire {
            Wire::WebSocket => since(&self.heard_at),
            _ => since(&self.said_at),
        };
        if self.wire == Wire::WebSocket && quiet >= limits.silence_ms_max {
            self.ends(CloseReason::Silent);
            // If there is no room, a write is stuck, and that has a deadline of its own.
            self.send(Out::Close(crate::engine::seat_side::GOING_AWAY));
        } else if quiet.min(since(&self.beat_at)) >= limits.heartbeat_ms {
            self.beat_at.store(now);
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

    /// Opens a connection and applies events at times after that; returns the messages sent at each.
    fn looked_at(wire: Wire, times: &[(u64, &str)]) -> Vec<Vec<&'static str>> {
        let (engine, _inbox) = Handle::detached();
        let (outbox, mut receiver) = Outbox::new(ConnId(1), SeatKind::native(wire), 8, None);
        outbox.logged_in();
        let (liveness, limits) = (outbox.liveness(), Limits::default());
        let start = liveness.opened_at;
        let looked = times.iter().map(|(at, what_happens)| {
            match *what_happens {
                "hears" => liveness.heard(start + *at),
                "says" => liveness.said(start + *at),
                _ => {}
            }
            liveness.look(start + *at, &limits, &engine);
            what(&mut receiver)
        });
        looked.collect()
    }

    #[test]
    fn silent_websocket_is_pinged_and_then_closed() {
        let times = [(14_999, ""), (15_000, ""), (15_001, ""), (30_000, ""), (45_000, "")];
        let expected = [&[][..], &["heartbeat"], &[], &["heartbeat"], &["close"]];
        assert_eq!(looked_at(Wire::WebSocket, &times), expected);
        // Messages to the connection do not count, messages from it do.
        let times = [(15_000, "says"), (20_000, "hears"), (34_000, ""), (36_000, ""), (64_000, "")];
        let expected = [&["heartbeat"][..], &[], &[], &["heartbeat"], &["heartbeat"]];
        assert_eq!(looked_at(Wire::WebSocket, &times), expected);
    }

    #[test]
    fn silent_tcp_connection_stays_open() {
        let times = [(10_000, "says"), (15_000, ""), (25_000, ""), (3_600_000, "")];
        let expected = [&[][..], &[], &["heartbeat"], &["heartbeat"]];
        assert_eq!(looked_at(Wire::Tcp, &times), expected);
    }

    #[test]
    fn observer_that_does_not_read_is_cut_off() {
        let (outbox, _unread) = Outbox::new(ConnId(1), SeatKind::program(Wire::Fish), 1, None);
        let message = || Box::new(PeerMessage::SignedUp { next: true });
        assert!(outbox.observe(message(), Timestamp::default()));
        assert!(!outbox.observe(message(), Timestamp::default()), "there is no room");
        assert_eq!(outbox.liveness().ended().0, CloseReason::SlowReader);
    }

    #[test]
    fn full_or_closed_outbox_accepts_nothing() {
        let (outbox, mut receiver) = Outbox::new(ConnId(1), SeatKind::native(Wire::Tcp), 1, None);
        let liveness = Arc::clone(outbox.liveness());
        assert_eq!(outbox.send(b"x\n", None), Written::Later);
        assert_eq!(outbox.send(b"y\n", None), Written::Full);
        assert!(!liveness.send(Out::Heartbeat), "full");
        assert_eq!(what(&mut receiver), ["line"]);
        drop(outbox);
        assert!(!liveness.send(Out::Heartbeat), "closed by the engine");
    }
}
