//! One connection from its first byte to its last, over any transport.

use super::bucket::Bucket;
use super::direct::Patient;
use super::framing::Batch;
use super::outbox::{Liveness, Out, Outbox};
use super::{Gateway, Limits, Stream};
use crate::clock::now_ms;
use crate::driver::{Handle, Place};
use crate::engine::seat_side::{Framed, Framing, NORMAL, Received, error_line, received};
use crate::engine::{CloseReason, ConnId, Input, Seat};
use crate::net::socket;
use agon_core::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Sink};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::{Semaphore, mpsc};

/// About how many bytes to write at once.
const WRITE_BYTES: usize = 64 * 1024;

/// The next connection number, shared by all gateways.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A new connection number.
pub(super) fn number() -> ConnId {
    ConnId(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Serves a connection until one of the ends closes it.
pub(super) async fn visit(gateway: &Gateway, peer: IpAddr, stream: Stream, framing: Framing) {
    match stream {
        Stream::Plain(socket) => {
            let (from, to) = socket.into_split();
            visit_halves(gateway, peer, from, To::<Sink>::Everybody(to), framing).await;
        }
        Stream::Tls(tls) => {
            let (from, to) = tokio::io::split(tls);
            visit_halves(gateway, peer, from, To::Task(to), framing).await;
        }
    }
}

/// The writing half of a connection, and who writes to it.
enum To<W> {
    /// Any thread with a message for it.
    Everybody(OwnedWriteHalf),
    /// Only the connection's task.
    Task(W),
}

async fn visit_halves(
    gateway: &Gateway,
    peer: IpAddr,
    mut from: impl AsyncRead + Unpin,
    to: To<impl AsyncWrite + Unpin + Send + 'static>,
    framing: Framing,
) {
    let (engine, limits) = (gateway.engine(), gateway.limits());
    let conn = number();
    let wire = framing.wire();
    let (direct, to) = match to {
        To::Everybody(direct) => (Some(direct), None),
        To::Task(to) => (None, Some(to)),
    };
    let (out, outbox) = Outbox::new(conn, Seat::native(wire), limits.outbox_lines_max, direct);
    let liveness = Arc::clone(out.liveness());
    gateway.0.connections.add(&liveness);
    engine.meters().opened(wire).add();
    tracing::debug!(conn = conn.0, from = %peer, wire = wire.word(), "a connection was opened");
    engine.open(conn, out, peer);
    let now = now_ms();
    let reader = Reader {
        conn,
        engine,
        liveness: &liveness,
        framing,
        bucket: Bucket::new(limits.lines_per_second_max, limits.lines_burst_max, now),
        warned: false,
        room: Arc::new(Semaphore::new(limits.inbox_lines_max.max(1))),
    };
    // A task of its own: it has little to do, and the reading task need not poll it.
    let mut writing = tokio::spawn({
        let (gateway, liveness) = (gateway.clone(), Arc::clone(&liveness));
        async move { write_to(to, outbox, &liveness, gateway.limits(), gateway.engine()).await }
    });
    // The first to end closes the connection: the reader, or the writer of a dropped outbox.
    let said_all = tokio::select! {
        biased;
        () = reader.read(&mut from) => false,
        said_all = &mut writing => said_all.unwrap_or(false),
    };
    writing.abort();
    engine.send(Input::Closed { conn });
    note_end(engine, &liveness, conn);
    if said_all {
        socket::linger(&mut from).await;
    }
}

/// Counts and logs why a connection was closed.
pub(super) fn note_end(engine: &Handle, liveness: &Liveness, conn: ConnId) {
    let (end, logged_in) = liveness.ended();
    engine.meters().closed(liveness.wire, end).add();
    let why = end.word();
    let trouble = match end {
        CloseReason::Flood
        | CloseReason::SlowReader
        | CloseReason::Unwritable
        | CloseReason::Silent
        | CloseReason::Broken => true,
        CloseReason::LoginTimeout
        | CloseReason::Left
        | CloseReason::LoggedOut
        | CloseReason::TakenOver => false,
        CloseReason::ByOperator | CloseReason::Dismissed | CloseReason::Stopping => false,
    };
    // Connections without a login come and go; they must not fill the operator's log.
    match trouble && logged_in {
        true => tracing::info!(conn = conn.0, why, "a connection was ended"),
        false => tracing::debug!(conn = conn.0, why, "a connection was closed"),
    }
}

/// The reading half.
struct Reader<'a> {
    conn: ConnId,
    engine: &'a Handle,
    liveness: &'a Liveness,
    framing: Framing,
    bucket: Bucket,
    /// Whether it was sent a warning that it sends too fast.
    warned: bool,
    room: Arc<Semaphore>,
}

/// The reader's next step.
enum Next {
    Read,
    /// The writer sends the last message and closes.
    LetWrite,
    Leave,
}

impl Reader<'_> {
    /// Reads until the input ends.
    async fn read(mut self, from: &mut (impl AsyncRead + Unpin)) {
        // Bytes that arrived with the handshake are in the buffer already.
        let mut at = now_ms();
        loop {
            while let Some(framed) = self.framing.take() {
                let bytes = match &framed {
                    Framed::Message(message) => message.len(),
                    _ => 0,
                };
                let received = received(framed);
                self.wait_its_turn(bytes).await;
                match self.act(received, at).await {
                    Next::Read => {}
                    Next::LetWrite => return std::future::pending().await,
                    Next::Leave => return,
                }
            }
            match socket::read(from, &mut self.framing).await {
                Ok(1..) => at = self.engine.read_at(),
                _ => return,
            }
            self.liveness.heard(at);
        }
    }

    /// Delays a connection that sends too fast: nothing is read meanwhile.
    async fn wait_its_turn(&mut self, bytes: usize) {
        while let Err(wait_ms) = self.bucket.take(bytes, now_ms()) {
            if !self.warned {
                self.warned = true;
                self.engine.meters().slowed.add();
                tracing::info!(
                    conn = self.conn.0,
                    "a connection speaks too fast; it is read slower"
                );
                let detail = "more messages than a connection may send; they are read slower";
                self.liveness.send(Out::Line(error_line("slow-down", detail.into()), None));
            }
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
    }

    /// Passes a received message on.
    async fn act(&mut self, received: Received, at: Timestamp) -> Next {
        let conn = self.conn;
        match received {
            Received::Nothing => {}
            Received::Ping(payload) => self.liveness.answer_ping(payload),
            Received::Message(message) => {
                let place = self.place().await;
                self.engine.send_placed(Input::Said { conn, message, at }, place);
            }
            Received::Bad { why, line } => {
                let place = self.place().await;
                self.engine.send_placed(Input::Bad { conn, why, line }, place);
            }
            Received::End(code, why) => {
                let room = end_with(self.liveness, code, why);
                return if room { Next::LetWrite } else { Next::Leave };
            }
        }
        Next::Read
    }

    /// Waits for a place in the engine's inbox.
    async fn place(&self) -> Place {
        let place = Arc::clone(&self.room).acquire_owned().await;
        place.expect("the semaphore is never closed")
    }
}

/// Sends the error that closes a connection, if there is one, and closes it; `false` if there is no
/// room for the last message.
fn end_with(liveness: &Liveness, code: u16, why: Option<String>) -> bool {
    if let Some(why) = why {
        liveness.ends(CloseReason::Broken);
        liveness.send(Out::Line(error_line("malformed", why), None));
    }
    liveness.send(Out::Close(code))
}

/// Writes to the half that exists.
pub(super) async fn write_to(
    to: Option<impl AsyncWrite + Unpin>,
    outbox: mpsc::Receiver<Out>,
    liveness: &Liveness,
    limits: &Limits,
    engine: &Handle,
) -> bool {
    match (to, &liveness.direct) {
        (Some(mut to), _) => write(&mut to, outbox, liveness, limits, engine).await,
        (None, Some(direct)) => write(&mut Patient(direct), outbox, liveness, limits, engine).await,
        (None, None) => false,
    }
}

/// Writes the outbox until it is closed; `false` if the other end is gone or does not read.
async fn write(
    to: &mut (impl AsyncWrite + Unpin),
    mut outbox: mpsc::Receiver<Out>,
    liveness: &Liveness,
    limits: &Limits,
    engine: &Handle,
) -> bool {
    let patience = Duration::from_millis(limits.write_ms_max);
    let mut last = false;
    while !last {
        let mut batch = Batch::default();
        match outbox.recv().await {
            Some(out) => batch.add(liveness.wire, out),
            None => batch.add(liveness.wire, Out::Close(NORMAL)),
        }
        while batch.bytes.len() < WRITE_BYTES
            && !batch.last
            && let Ok(out) = outbox.try_recv()
        {
            batch.add(liveness.wire, out);
        }
        last = batch.last;
        if let Err(error) = socket::write(to, &batch.bytes, patience).await {
            if error.kind() == std::io::ErrorKind::TimedOut {
                liveness.ends(CloseReason::Unwritable);
            }
            return false;
        }
        let now = now_ms();
        for ask in batch.asks {
            engine.send(Input::Delivered { conn: liveness.conn, ask, at: now });
        }
        liveness.said(now);
        if let Some(direct) = &liveness.direct {
            direct.wrote(batch.count);
        }
    }
    tokio::time::timeout(patience, to.shutdown()).await.is_ok_and(|shut| shut.is_ok())
}
