//! One relayed connection, on either of its two nodes: bytes both ways, each within a window.
//!
//! A side sends no more than [`WINDOW`] bytes that the other side has not used. The node with the
//! socket reports every write with its time; the node with the lobby reports what its gateway has
//! read. On that node the connection is a [`RelayStream`], which gateways treat like a socket.

use super::LINK_CONNECTIONS_MAX;
use super::owner::SeatGuard;
use super::packet::{NodeTime, RelayId, RelayPacket, data};
use crate::clock;
use crate::cluster::LinkSender;
use crate::cluster::nats::Bus;
use crate::driver::Handle;
use crate::engine::links::Broken;
use crate::engine::{AskId, ConnId, Input};
use agon_core::Timestamp;
use std::collections::{HashMap, VecDeque};
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How many bytes may be on their way in one direction, unused by the other side.
const WINDOW: usize = 64 * 1024;

/// How many bytes one packet has at most.
const DATA_MAX: usize = 16 * 1024;

/// After how many bytes the node with the lobby reports what it has read.
const REPORT_BYTES: u64 = (WINDOW / 4) as u64;

type Pipes = HashMap<RelayId, Arc<Pipe>>;

/// A link and its connections.
pub(super) struct RelayLink {
    pub(super) number: u64,
    sender: LinkSender,
    bus: Arc<Bus>,
    /// The open connections; none once the link is lost.
    pipes: Mutex<Option<Pipes>>,
    /// The lobby's engine, if it is on this node. Otherwise this node has the sockets.
    engine: Option<Handle>,
    /// True if somebody waits for the bus to be less busy.
    has_waiting: AtomicBool,
    bytes: AtomicU64,
}

impl RelayLink {
    pub(super) fn new(
        bus: Arc<Bus>,
        node: &str,
        number: u64,
        engine: Option<Handle>,
    ) -> Arc<RelayLink> {
        let sender = LinkSender::to(Arc::clone(&bus), super::subject_of(node), number);
        let (has_waiting, bytes) = Default::default();
        let pipes = Mutex::new(Some(Pipes::new()));
        Arc::new(RelayLink { number, sender, bus, pipes, engine, has_waiting, bytes })
    }

    pub(super) fn send(&self, packet: &RelayPacket) {
        self.sender.send_encoded(&packet.encode());
    }

    /// Asks the bus whether the other side is there.
    pub(super) fn probe(&self) {
        self.sender.probe();
    }

    /// Opens a connection; `None` if there are too many.
    pub(super) fn open(self: &Arc<RelayLink>, id: RelayId) -> Option<RelayStream> {
        let mut pipes = self.pipes();
        let open = |pipes: &&mut Pipes| pipes.len() < LINK_CONNECTIONS_MAX;
        let pipes = pipes.as_mut().filter(open).filter(|pipes| !pipes.contains_key(&id))?;
        let state = Mutex::default();
        let pipe = Arc::new(Pipe { id, link: Arc::clone(self), state });
        pipes.insert(id, Arc::clone(&pipe));
        Some(RelayStream(Arc::new(PipeEnd(pipe))))
    }

    /// How many connections are open.
    pub(super) fn len(&self) -> usize {
        self.pipes().as_ref().map_or(0, HashMap::len)
    }

    /// How many bytes of connections the link has carried.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Handles a packet about a connection.
    pub(super) fn receive(&self, packet: RelayPacket) -> Result<(), Broken> {
        match packet {
            RelayPacket::Data { conn, at, bytes } => {
                self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                self.pipe(conn).map_or(Ok(()), |pipe| pipe.push(at, bytes))
            }
            RelayPacket::Took { conn, count, at } => {
                self.pipe(conn).map_or(Ok(()), |pipe| pipe.took(count, at))
            }
            RelayPacket::End { conn } => {
                if let Some(pipe) = self.pipe(conn) {
                    pipe.change(|state| state.is_ended = true);
                }
                Ok(())
            }
            RelayPacket::Drop { conn } => {
                if let Some(pipe) = self.forget(conn) {
                    pipe.change(|state| state.over(Over::Dropped));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The bus may be less busy now.
    pub(super) fn tick(&self) {
        if self.has_waiting.swap(false, Ordering::Relaxed) {
            self.all().iter().for_each(|pipe| pipe.change(|_| ()));
        }
    }

    /// Closes all connections: the link is lost.
    pub(super) fn lose(&self) {
        self.sender.close_with(&RelayPacket::Close.encode());
        let pipes = self.pipes().take().unwrap_or_default();
        pipes.values().for_each(|pipe| pipe.change(|state| state.over(Over::Lost)));
    }

    /// The node with the sockets stops: closes all its connections, which are still written to.
    pub(super) fn stop(&self) {
        for pipe in self.all() {
            let conn = pipe.state().player;
            match (conn, &self.engine) {
                (Some(conn), Some(engine)) => {
                    engine.send(Input::NodeGone { conn, is_stopping: true });
                }
                _ => pipe.change(|state| state.over(Over::Stopping)),
            }
        }
    }

    fn pipe(&self, id: RelayId) -> Option<Arc<Pipe>> {
        self.pipes().as_ref()?.get(&id).cloned()
    }

    fn forget(&self, id: RelayId) -> Option<Arc<Pipe>> {
        self.pipes().as_mut()?.remove(&id)
    }

    fn all(&self) -> Vec<Arc<Pipe>> {
        self.pipes().iter().flat_map(HashMap::values).cloned().collect()
    }

    fn pipes(&self) -> MutexGuard<'_, Option<Pipes>> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection.
struct Pipe {
    id: RelayId,
    link: Arc<RelayLink>,
    state: Mutex<PipeState>,
}

#[derive(Default)]
struct PipeState {
    /// The input that is not used yet.
    incoming: VecDeque<Chunk>,
    /// How many bytes that is.
    waiting: usize,
    /// How many bytes of input were used in all, and how many the other side knows of.
    used: u64,
    reported: u64,
    /// When the last bytes that were taken were read from the socket.
    read_at: Timestamp,
    /// The time of the oldest input that is being handled, if the connection is a player's.
    handles: Option<Timestamp>,
    /// True if the other side sends no more.
    is_ended: bool,
    /// How many bytes of output were sent, and how many the other side has used.
    sent: u64,
    taken: u64,
    /// When the other side used the last of them.
    taken_at: Timestamp,
    /// True if this side sends no more.
    has_ended: bool,
    over: Option<Over>,
    /// The connection in the engine, if it is a player's.
    player: Option<ConnId>,
    /// The requests in the output, each with the number of bytes up to its end.
    receipts: VecDeque<(u64, AskId)>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Some input.
struct Chunk {
    at: Timestamp,
    bytes: Vec<u8>,
    /// How many of the bytes were taken.
    taken: usize,
}

/// Why a connection is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Over {
    /// The other side has closed it.
    Dropped,
    /// The link is lost.
    Lost,
    /// The node with the socket stops.
    Stopping,
}

impl PipeState {
    fn over(&mut self, why: Over) {
        self.over.get_or_insert(why);
    }

    fn room(&self) -> usize {
        WINDOW.saturating_sub((self.sent - self.taken) as usize)
    }
}

impl Pipe {
    fn state(&self) -> MutexGuard<'_, PipeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes both tasks of the connection.
    fn change(&self, change: impl FnOnce(&mut PipeState)) {
        let mut state = self.state();
        change(&mut state);
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Adds input.
    fn push(&self, at: NodeTime, bytes: Vec<u8>) -> Result<(), Broken> {
        let now = clock::now_ms();
        let times = self.link.engine.as_ref().map(Handle::relay_times);
        let at = times.map_or(now, |times| times.here(self.link.number, at, now));
        let mut state = self.state();
        state.waiting += bytes.len();
        // The other side does not know how much of the first chunk was taken.
        if state.waiting > WINDOW + DATA_MAX {
            return Err(Broken);
        }
        state.incoming.push_back(Chunk { at, bytes, taken: 0 });
        if let Some(times) = times
            && state.player.is_some()
            && state.handles.is_none()
        {
            state.handles = Some(at);
            times.begin(self.link.number, self.id, at, now);
        }
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// The other side has used so many bytes in all. Reports the requests among them as delivered.
    fn took(&self, count: u64, at: NodeTime) -> Result<(), Broken> {
        let now = clock::now_ms();
        let mut state = self.state();
        if count < state.taken || count > state.sent {
            return Err(Broken);
        }
        state.taken = count;
        if let Some(engine) = &self.link.engine {
            state.taken_at = engine.relay_times().here(self.link.number, at, now);
            while state.receipts.front().is_some_and(|(end, _)| *end <= count) {
                let (Some((_, ask)), Some(conn)) = (state.receipts.pop_front(), state.player)
                else {
                    break;
                };
                engine.send(Input::Delivered { conn, ask, at: state.taken_at });
            }
        }
        let writer = state.writer.take();
        drop(state);
        writer.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Notes that all input that a task took was handled.
    fn finish(&self, state: &mut PipeState) {
        if let Some(at) = state.handles.take()
            && let Some(engine) = &self.link.engine
        {
            engine.relay_times().finish(self.link.number, self.id, at);
        }
    }

    fn send_data(&self, at: NodeTime, bytes: &[u8]) {
        self.link.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.link.sender.send_encoded(&data(self.id, at, bytes));
    }

    /// Takes room for output; waits while there is none.
    fn poll_room(&self, context: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        let mut state = self.state();
        if state.over.is_some() || state.has_ended {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let is_busy = self.link.bus.is_busy();
        match state.room() {
            room @ 1.. if !is_busy => Poll::Ready(Ok(room.min(DATA_MAX))),
            _ => {
                if is_busy {
                    self.link.has_waiting.store(true, Ordering::Relaxed);
                }
                state.writer = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// This node's end of a connection. Dropping it closes the connection.
struct PipeEnd(Arc<Pipe>);

impl Drop for PipeEnd {
    fn drop(&mut self) {
        let pipe = &self.0;
        let mut state = pipe.state();
        pipe.finish(&mut state);
        let knows = matches!(state.over, Some(Over::Dropped | Over::Lost));
        drop(state);
        if !knows {
            pipe.link.forget(pipe.id);
            pipe.link.send(&RelayPacket::Drop { conn: pipe.id });
        }
    }
}

/// This node's end of a relayed connection, which may be cloned to read and write at the same time.
#[derive(Clone)]
pub(crate) struct RelayStream(Arc<PipeEnd>);

impl RelayStream {
    fn pipe(&self) -> &Pipe {
        &self.0.0
    }

    /// When the last bytes that were read were read from the socket.
    pub(crate) fn read_at(&self) -> Timestamp {
        self.pipe().state().read_at
    }

    /// The connection is a player's from now on. The guard ends with the engine's knowledge of it.
    pub(crate) fn seat(&self, conn: ConnId) -> Option<SeatGuard> {
        let pipe = self.pipe();
        let engine = pipe.link.engine.clone()?;
        pipe.state().player = Some(conn);
        Some(SeatGuard::new(engine, pipe.link.number))
    }

    /// Returns whether the connection was lost with its link.
    pub(crate) fn is_lost(&self) -> bool {
        self.pipe().state().over == Some(Over::Lost)
    }

    /// Reports to the engine when everything that was sent so far is written to the socket.
    pub(crate) fn deliver(&self, engine: &Handle, conn: ConnId, ask: AskId) {
        let mut state = self.pipe().state();
        let end = state.sent;
        if state.taken == end {
            let at = state.taken_at;
            return engine.send(Input::Delivered { conn, ask, at });
        }
        state.receipts.push_back((end, ask));
    }

    /// Sends a few last words, if there is room.
    pub(crate) fn say_last(&self, words: &[u8]) {
        let pipe = self.pipe();
        let mut state = pipe.state();
        if state.over.is_none() && !state.has_ended && words.len() <= state.room().min(DATA_MAX) {
            state.sent += words.len() as u64;
            drop(state);
            pipe.send_data(NodeTime::default(), words);
        }
    }

    /// Waits until there is room for output; returns how many bytes. For the node with the socket.
    pub(super) async fn room(&self) -> std::io::Result<usize> {
        std::future::poll_fn(|context| self.pipe().poll_room(context)).await
    }

    /// Sends bytes that were read from the socket at `at`, for which there is room.
    pub(super) fn send(&self, at: NodeTime, bytes: &[u8]) {
        let pipe = self.pipe();
        for part in bytes.chunks(DATA_MAX) {
            pipe.state().sent += part.len() as u64;
            pipe.send_data(at, part);
        }
    }

    /// Sends that no more bytes come.
    pub(super) fn end(&self) {
        let pipe = self.pipe();
        let mut state = pipe.state();
        let is_new = state.over.is_none() && !state.has_ended;
        state.has_ended = true;
        drop(state);
        if is_new {
            pipe.link.send(&RelayPacket::End { conn: pipe.id });
        }
    }

    /// The next input for the socket; `None` at the end of it. An error says that the connection is
    /// over.
    pub(super) async fn next(&self) -> std::io::Result<Option<Vec<u8>>> {
        std::future::poll_fn(|context| {
            let mut state = self.pipe().state();
            if state.over == Some(Over::Lost) {
                return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
            }
            if let Some(chunk) = state.incoming.pop_front() {
                state.waiting -= chunk.bytes.len();
                return Poll::Ready(Ok(Some(chunk.bytes)));
            }
            if state.over.is_some() {
                return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
            }
            // The end is reported once.
            if std::mem::take(&mut state.is_ended) {
                return Poll::Ready(Ok(None));
            }
            state.reader = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Reports bytes as written to the socket at `at`.
    pub(super) fn wrote(&self, bytes: usize, at: NodeTime) {
        let pipe = self.pipe();
        let mut state = pipe.state();
        state.used += bytes as u64;
        let (conn, count) = (pipe.id, state.used);
        drop(state);
        pipe.link.send(&RelayPacket::Took { conn, count, at });
    }
}

impl AsyncRead for RelayStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let pipe = self.pipe();
        let mut state = pipe.state();
        let Some(chunk) = state.incoming.front_mut() else {
            // A caller that reads again has handled everything before.
            pipe.finish(&mut state);
            match state.over {
                Some(Over::Lost) => {
                    let lost = Error::new(ErrorKind::ConnectionAborted, "the link is lost");
                    return Poll::Ready(Err(lost));
                }
                Some(Over::Dropped | Over::Stopping) => return Poll::Ready(Ok(())),
                None if state.is_ended => return Poll::Ready(Ok(())),
                None => {}
            }
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        let count = buffer.remaining().min(chunk.bytes.len() - chunk.taken);
        buffer.put_slice(&chunk.bytes[chunk.taken..chunk.taken + count]);
        chunk.taken += count;
        let (at, is_empty) = (chunk.at, chunk.taken == chunk.bytes.len());
        state.read_at = at;
        state.used += count as u64;
        if is_empty {
            let chunk = state.incoming.pop_front().expect("the chunk that was taken");
            state.waiting -= chunk.bytes.len();
        }
        let report = (state.used - state.reported >= REPORT_BYTES).then_some(state.used);
        state.reported = report.unwrap_or(state.reported);
        drop(state);
        if let Some(count) = report {
            let (conn, at) = (pipe.id, NodeTime::default());
            pipe.link.send(&RelayPacket::Took { conn, count, at });
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for RelayStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let pipe = self.pipe();
        match pipe.poll_room(context) {
            Poll::Ready(Ok(room)) => {
                let part = &bytes[..room.min(bytes.len())];
                pipe.state().sent += part.len() as u64;
                pipe.send_data(NodeTime::default(), part);
                Poll::Ready(Ok(part.len()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Waits until everything is written to the socket.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.end();
        let mut state = self.pipe().state();
        if state.over.is_some() {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        if state.taken == state.sent {
            return Poll::Ready(Ok(()));
        }
        state.writer = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::nats::BusAddress;
    use crate::driver::Message;
    use agon_core::RequestId;
    use std::pin::pin;
    use std::sync::mpsc::Receiver;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const ID: RelayId = RelayId(1);

    /// A link over a bus that is not there, and what the engine is told.
    fn link() -> (Arc<RelayLink>, Receiver<Message>) {
        let address = BusAddress::parse("nats://127.0.0.1:1").unwrap();
        let (bus, _) = Bus::start(address, "agon.test".to_owned());
        let (engine, told) = Handle::detached();
        (RelayLink::new(Arc::new(bus), "other", 7, Some(engine)), told)
    }

    fn took(link: &RelayLink, count: u64) -> Result<(), Broken> {
        link.receive(RelayPacket::Took { conn: ID, count, at: NodeTime(5) })
    }

    fn data(link: &RelayLink, bytes: &[u8]) -> Result<(), Broken> {
        link.receive(RelayPacket::Data { conn: ID, at: NodeTime(5), bytes: bytes.to_vec() })
    }

    /// Writes as much as there is room for.
    fn write_all(stream: &mut RelayStream) -> usize {
        let (mut context, mut written) = (Context::from_waker(Waker::noop()), 0);
        while let Poll::Ready(Ok(count)) =
            Pin::new(&mut *stream).poll_write(&mut context, &[0; 4_096])
        {
            written += count;
        }
        written
    }

    #[tokio::test]
    async fn output_stops_at_the_window_until_the_other_side_has_used_it() {
        let (link, _) = link();
        let mut stream = link.open(ID).unwrap();
        assert_eq!(write_all(&mut stream), WINDOW);
        took(&link, 1_000).unwrap();
        assert_eq!(write_all(&mut stream), 1_000);
        assert!(took(&link, 999).is_err() && took(&link, 1 << 20).is_err(), "not plausible");
        // Everything must be written before the connection ends.
        let mut context = Context::from_waker(Waker::noop());
        let mut ending = pin!(stream.shutdown());
        assert!(ending.as_mut().poll(&mut context).is_pending());
        took(&link, WINDOW as u64 + 1_000).unwrap();
        assert!(matches!(ending.as_mut().poll(&mut context), Poll::Ready(Ok(()))));
    }

    #[tokio::test]
    async fn request_is_delivered_when_the_other_node_has_written_it() {
        let (link, told) = link();
        let mut stream = link.open(ID).unwrap();
        let engine = link.engine.clone().unwrap();
        let guard = stream.seat(ConnId(9));
        stream.write_all(b"a request\n").await.unwrap();
        let ask = AskId::Tournament("cup".into(), RequestId::from("r".to_owned()));
        stream.deliver(&engine, ConnId(9), ask.clone());
        took(&link, 9).unwrap();
        assert!(told.try_recv().is_err(), "one byte is not written");
        took(&link, 10).unwrap();
        let delivered = told.try_recv().unwrap();
        let Message::Input(Input::Delivered { conn, ask: written, .. }) = delivered else {
            panic!("a delivery");
        };
        assert_eq!((conn, written), (ConnId(9), ask));
        drop(guard);
    }

    #[tokio::test]
    async fn lost_connection_is_read_to_its_end_and_then_fails() {
        let (link, _) = link();
        let mut stream = link.open(ID).unwrap();
        data(&link, b"first ").unwrap();
        data(&link, b"second").unwrap();
        link.lose();
        let mut read = [0; 12];
        stream.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"first second");
        assert!(stream.read(&mut read).await.is_err() && stream.is_lost());
        assert!(link.open(RelayId(2)).is_none(), "a lost link carries nothing");
    }

    #[tokio::test]
    async fn connection_that_the_other_side_closes_just_ends() {
        let (link, _) = link();
        let mut stream = link.open(ID).unwrap();
        data(&link, b"last").unwrap();
        link.receive(RelayPacket::Drop { conn: ID }).unwrap();
        let mut read = Vec::new();
        stream.read_to_end(&mut read).await.unwrap();
        assert!(read == b"last" && !stream.is_lost() && link.len() == 0);
    }

    #[test]
    fn input_beyond_the_window_breaks_the_link() {
        let (link, _) = link();
        let _stream = link.open(ID).unwrap();
        let piece = [0; DATA_MAX];
        let taken = (0..8).take_while(|_| data(&link, &piece).is_ok()).count();
        assert_eq!(taken, WINDOW / DATA_MAX + 1);
    }
}
