//! One connection from its first byte to its last, over any transport.

use super::direct::{Patient, WriteSocket};
use super::driver_sockets::{OpenSocket, Returned};
use super::framing::Batch;
use super::input_reader::{InputReader, NextInput};
use super::outbox::{Liveness, Out, Outbox};
use super::{Gateway, Limits, Stream};
use crate::clock::now_ms;
use crate::cluster::{RelayStream, SeatGuard};
use crate::driver::Handle;
use crate::engine::seat_side::{Framing, NORMAL};
use crate::engine::{AskId, CloseReason, ConnId, Input, SeatKind, Wire};
use crate::net::socket;
use agon_core::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, Empty, ReadHalf, Sink, WriteHalf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
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
        // People's connections stay with their tasks, which measure their time exactly.
        Stream::Plain(socket) if framing.wire() == Wire::Tcp => {
            let Ok(socket) = socket.into_std().map(Arc::new) else { return };
            let to = To::<Sink>::Everybody(WriteSocket::Driver(Arc::clone(&socket)));
            let from = Source::<Empty>::Driver(socket);
            visit_halves(gateway, peer, from, to, framing, None).await;
        }
        Stream::Plain(socket) => {
            let (from, to) = socket.into_split();
            let to = To::<Sink>::Everybody(WriteSocket::Task(to));
            visit_halves(gateway, peer, Source::Task(from), to, framing, None).await;
        }
        Stream::Tls(tls) => {
            let (from, to) = tokio::io::split(tls);
            visit_halves(gateway, peer, Source::Task(from), To::Task(to), framing, None).await;
        }
        Stream::Relayed(relay) => {
            let (from, to) = (Source::Task(relay.clone()), To::Task(relay.clone()));
            visit_halves(gateway, peer, from, to, framing, Some(relay)).await;
        }
    }
}

/// A reading half, which knows when its bytes were read.
trait TimedRead: AsyncRead + Unpin {
    /// The earliest time at which the bytes that were just read can have arrived.
    fn read_at(&self, engine: &Handle) -> Timestamp {
        engine.read_at()
    }
}

impl TimedRead for Empty {}
impl TimedRead for OwnedReadHalf {}
impl<S: AsyncRead + Unpin> TimedRead for ReadHalf<S> {}
impl TimedRead for RelayStream {
    fn read_at(&self, _: &Handle) -> Timestamp {
        RelayStream::read_at(self)
    }
}

/// A writing half, which knows when its bytes were written.
pub(super) trait TimedWrite: AsyncWrite + Unpin {
    /// Tells the engine when a request was written, which was among the last bytes.
    fn delivered(&self, engine: &Handle, conn: ConnId, ask: AskId, now: Timestamp) {
        engine.send(Input::Delivered { conn, ask, at: now });
    }
}

impl TimedWrite for Sink {}
impl TimedWrite for Patient<'_> {}
impl<S: AsyncWrite + Unpin> TimedWrite for WriteHalf<S> {}
impl TimedWrite for RelayStream {
    fn delivered(&self, engine: &Handle, conn: ConnId, ask: AskId, _: Timestamp) {
        self.deliver(engine, conn, ask);
    }
}

/// A connection whose socket may be on another node.
pub(super) struct RelayedSeat {
    relay: Option<(RelayStream, SeatGuard)>,
}

impl RelayedSeat {
    /// The seat of a connection that the engine knows.
    pub(super) fn new(relay: Option<RelayStream>, conn: ConnId) -> RelayedSeat {
        let seat = |relay: RelayStream| relay.seat(conn).map(|guard| (relay, guard));
        RelayedSeat { relay: relay.and_then(seat) }
    }

    /// Tells the engine that the connection is over, and whether that is our fault.
    pub(super) fn close(self, engine: &Handle, conn: ConnId) {
        match self.relay {
            Some((relay, guard)) if relay.is_lost() => engine.node_gone(conn, guard),
            _ => engine.send(Input::Closed { conn }),
        }
    }
}

/// The reading half of a connection, and who reads it.
enum Source<R> {
    /// The driver's thread.
    Driver(Arc<std::net::TcpStream>),
    /// The connection's task.
    Task(R),
}

/// The writing half of a connection, and who writes to it.
enum To<W> {
    /// Any thread with a message for it.
    Everybody(WriteSocket),
    /// Only the connection's task.
    Task(W),
}

async fn visit_halves(
    gateway: &Gateway,
    peer: IpAddr,
    mut from: Source<impl TimedRead>,
    to: To<impl TimedWrite + Send + 'static>,
    framing: Framing,
    relay: Option<RelayStream>,
) {
    let (engine, limits) = (gateway.engine(), gateway.limits());
    let conn = number();
    let wire = framing.wire();
    let (direct, to) = match to {
        To::Everybody(direct) => (Some(direct), None),
        To::Task(to) => (None, Some(to)),
    };
    let (out, outbox) = Outbox::new(conn, SeatKind::native(wire), limits.outbox_lines_max, direct);
    let liveness = Arc::clone(out.liveness());
    gateway.0.connections.add(&liveness);
    engine.meters().opened(wire).add();
    tracing::debug!(conn = conn.0, from = %peer, wire = wire.word(), "a connection was opened");
    engine.open(conn, out, peer);
    let seat = RelayedSeat::new(relay, conn);
    let reader = InputReader::new(Arc::clone(&liveness), framing, limits, now_ms());
    // A task of its own: it has little to do, and the reading task need not poll it.
    let mut writing = tokio::spawn({
        let (gateway, liveness) = (gateway.clone(), Arc::clone(&liveness));
        async move { write_to(to, outbox, &liveness, gateway.limits(), gateway.engine()).await }
    });
    // The first to end closes the connection: the reader, or the writer of a dropped outbox.
    let (is_reported, said_all) = tokio::select! {
        biased;
        is_reported = read(gateway, reader, &mut from) => (is_reported, false),
        said_all = &mut writing => (false, said_all.unwrap_or(false)),
    };
    writing.abort();
    if !is_reported {
        seat.close(engine, conn);
    }
    note_end(engine, &liveness, conn);
    if said_all {
        linger(from).await;
    }
}

/// Reads until the input ends. Returns whether the engine knows of the end already.
async fn read(gateway: &Gateway, reader: InputReader, from: &mut Source<impl TimedRead>) -> bool {
    match from {
        Source::Driver(socket) => read_on_driver(gateway.engine(), Box::new(reader), socket).await,
        Source::Task(from) => {
            read_here(gateway, reader, from).await;
            false
        }
    }
}

/// Gives the discarded rest of the input time to arrive.
async fn linger(from: Source<impl AsyncRead + Unpin>) {
    match from {
        Source::Driver(socket) => {
            if let Ok(mut from) = socket.try_clone().and_then(TcpStream::from_std) {
                socket::linger(&mut from).await;
            }
        }
        Source::Task(mut from) => socket::linger(&mut from).await,
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
        CloseReason::NodeGone => false,
    };
    // Connections without a login come and go; they must not fill the operator's log.
    match trouble && logged_in {
        true => tracing::info!(conn = conn.0, why, "a connection was ended"),
        false => tracing::debug!(conn = conn.0, why, "a connection was closed"),
    }
}

/// Lets the driver's thread read a socket until its input ends. Meanwhile this task only waits, also
/// for connections that send too fast. Returns whether the engine knows of the end already.
async fn read_on_driver(
    engine: &Handle,
    mut reader: Box<InputReader>,
    socket: &Arc<std::net::TcpStream>,
) -> bool {
    loop {
        let (open, returned) = OpenSocket::new(Arc::clone(socket), reader);
        engine.read_socket(Box::new(open));
        match returned.await {
            Ok(Returned::Paused(paused, wait_ms)) => {
                tokio::time::sleep(Duration::from_millis(wait_ms)).await;
                reader = paused;
            }
            Ok(Returned::Closed) => return true,
            Ok(Returned::Unreadable) => return false,
            // The engine has closed the connection; the writer ends it.
            Ok(Returned::LetWrite) | Err(_) => return std::future::pending().await,
        }
    }
}

/// Reads a socket on this task until its input ends.
async fn read_here(gateway: &Gateway, mut reader: InputReader, from: &mut impl TimedRead) {
    let engine = gateway.engine();
    let room = Arc::new(Semaphore::new(gateway.limits().inbox_lines_max.max(1)));
    // Bytes that arrived with the handshake are in the buffer already.
    let mut at = now_ms();
    loop {
        match reader.next(at, now_ms(), engine.meters()) {
            NextInput::Message(input) => {
                let place = Arc::clone(&room).acquire_owned().await;
                engine.send_placed(input, place.expect("the semaphore is never closed"));
            }
            NextInput::ReadMore => match socket::read(from, reader.framing()).await {
                Ok(1..) => {
                    at = from.read_at(engine);
                    reader.liveness().heard(at);
                }
                _ => return,
            },
            NextInput::Wait(wait_ms) => tokio::time::sleep(Duration::from_millis(wait_ms)).await,
            NextInput::LetWrite => return std::future::pending().await,
            NextInput::Leave => return,
        }
    }
}

/// Writes to the half that exists.
pub(super) async fn write_to(
    to: Option<impl TimedWrite>,
    outbox: mpsc::Receiver<Out>,
    liveness: &Liveness,
    limits: &Limits,
    engine: &Handle,
) -> bool {
    match (to, &liveness.direct) {
        (Some(mut to), _) => write(&mut to, outbox, liveness, limits, engine).await,
        (None, Some(direct)) => {
            write(&mut Patient::new(direct), outbox, liveness, limits, engine).await
        }
        (None, None) => false,
    }
}

/// Writes the outbox until it is closed; `false` if the other end is gone or does not read.
async fn write(
    to: &mut impl TimedWrite,
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
            to.delivered(engine, liveness.conn, ask, now);
        }
        liveness.said(now);
        if let Some(direct) = &liveness.direct {
            direct.wrote(batch.count);
        }
    }
    tokio::time::timeout(patience, to.shutdown()).await.is_ok_and(|shut| shut.is_ok())
}
