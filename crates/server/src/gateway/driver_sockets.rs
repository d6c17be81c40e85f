//! The sockets that the driver's thread reads: plain TCP connections of native players.
//!
//! The driver polls them once in every turn and handles what they sent at once. A decision then
//! needs no switch between threads. While the engine is busy nobody reads these sockets, so bytes
//! count from the earliest time at which they can have arrived
//! (`PollTimes` in `lateness.rs`); see docs/decisions/0036-sockets-on-the-engine-thread.md.
//!
//! A connection that sends too fast goes back to its task, which waits and then returns it.

use super::input_reader::{InputReader, NextInput};
use crate::clock::now_ms;
use crate::engine::{ConnId, Input};
use crate::lateness::{PollTimes, Polled};
use crate::meters::Meters;
use agon_core::{Millis, Timestamp};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How many sockets one poll reports at most.
const EVENTS_MAX: usize = 256;

/// How many bytes to read at once.
const READ_BYTES: usize = 8 * 1024;

/// The longest poll while sockets are open: a poll that takes longer shows that the thread was
/// late.
const POLL_MAX: Duration = Duration::from_millis(10);

/// The token of the waker. Connections are numbered from 1.
const WAKER: Token = Token(0);

/// A socket that the driver's thread reads.
pub(crate) struct OpenSocket {
    socket: Arc<TcpStream>,
    reader: Box<InputReader>,
    /// True if there may be bytes to read.
    may_read: bool,
    /// True if the other end sends nothing more.
    is_closing: bool,
    /// True if it is among the sockets of this turn or the next.
    is_queued: bool,
    back: oneshot::Sender<Returned>,
}

/// How a socket comes back to its connection's task.
pub(crate) enum Returned {
    /// It sends too fast: the task waits so many milliseconds.
    Paused(Box<InputReader>, Millis),
    /// The writer sends the last message and closes.
    LetWrite,
    /// The connection is over, and the driver reports that to the engine.
    Closed,
    /// The socket cannot be read, and nobody has told the engine.
    Unreadable,
}

impl OpenSocket {
    /// A socket to read, and where it comes back.
    pub(super) fn new(
        socket: Arc<TcpStream>,
        reader: Box<InputReader>,
    ) -> (OpenSocket, oneshot::Receiver<Returned>) {
        let (back, returned) = oneshot::channel();
        let (may_read, is_closing, is_queued) = (true, false, false);
        (OpenSocket { socket, reader, may_read, is_closing, is_queued, back }, returned)
    }

    /// The connection's number.
    pub(crate) fn conn(&self) -> ConnId {
        self.reader.liveness().conn
    }

    /// Reads some bytes. Returns the next step if it is not to take a message of them.
    fn read(&mut self, buffer: &mut [u8], at: Timestamp, now: Timestamp) -> Option<NextInput> {
        match self.socket.as_ref().read(buffer) {
            Ok(0) => Some(NextInput::Leave),
            Ok(count) => {
                // After a short read the socket is empty. The next bytes cause an event, but an end
                // that was reported together with these bytes does not.
                self.may_read = count == buffer.len() || self.is_closing;
                self.reader.push(&buffer[..count], at);
                match count == buffer.len() {
                    true => self.reader.pay(count, now).err().map(NextInput::Wait),
                    false => None,
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => None,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.may_read = false;
                None
            }
            Err(_) => Some(NextInput::Leave),
        }
    }
}

/// All sockets that the driver's thread reads.
pub(crate) struct DriverSockets {
    poll: Poll,
    events: Events,
    buffer: Box<[u8]>,
    open: FxHashMap<ConnId, OpenSocket>,
    /// The sockets that may have input in this turn.
    ready: VecDeque<ConnId>,
    /// How many steps of the first of these were taken in this turn.
    steps: usize,
    steps_max: usize,
    /// The sockets with more input than one turn takes, and new ones.
    unfinished: Vec<ConnId>,
    times: PollTimes,
    /// When the last poll returned, and when the bytes it found count as read.
    now: Timestamp,
    at: Timestamp,
}

impl DriverSockets {
    /// No sockets yet. Takes at most `inputs_max` inputs of a connection in one turn. The waker
    /// ends a poll.
    pub(crate) fn new(inputs_max: usize) -> io::Result<(DriverSockets, Waker)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let now = now_ms();
        let sockets = DriverSockets {
            poll,
            events: Events::with_capacity(EVENTS_MAX),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            open: FxHashMap::default(),
            ready: VecDeque::new(),
            steps: 0,
            // Every read is a step as well.
            steps_max: inputs_max.saturating_add(2),
            unfinished: Vec::new(),
            times: PollTimes::new(now),
            now,
            at: now,
        };
        Ok((sockets, waker))
    }

    /// Adds a socket.
    pub(crate) fn add(&mut self, mut open: OpenSocket) {
        let conn = open.conn();
        let (fd, token) = (open.socket.as_raw_fd(), Token(conn.0 as usize));
        match self.poll.registry().register(&mut SourceFd(&fd), token, Interest::READABLE) {
            Ok(()) => {
                open.is_queued = true;
                self.open.insert(conn, open);
                self.unfinished.push(conn);
            }
            Err(error) => {
                tracing::warn!(conn = conn.0, %error, "a connection cannot be read");
                let _ = open.back.send(Returned::Unreadable);
            }
        }
    }

    /// Stops reading a socket. Its task is not notified.
    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<OpenSocket> {
        let open = self.open.remove(&conn)?;
        // A socket that cannot be removed reports nothing more either.
        let _ = self.poll.registry().deregister(&mut SourceFd(&open.socket.as_raw_fd()));
        Some(open)
    }

    /// Waits for input, at most for a time. `next_input` takes it, and the rest of the turn before.
    /// Returns by how many milliseconds the input counts as earlier than it was read.
    pub(crate) fn poll(&mut self, pause: Duration) -> Millis {
        let began = now_ms();
        let has_rest = !self.ready.is_empty() || !self.unfinished.is_empty();
        let may_wait = !has_rest && self.times.may_wait(began);
        let pause = match (may_wait, self.open.is_empty()) {
            (false, _) => Duration::ZERO,
            (true, false) => pause.min(POLL_MAX),
            (true, true) => pause,
        };
        if let Err(error) = self.poll.poll(&mut self.events, Some(pause)) {
            assert_eq!(error.kind(), ErrorKind::Interrupted, "poll of players' sockets: {error}");
            self.events.clear();
        }
        self.now = now_ms();
        self.ready.extend(self.unfinished.drain(..));
        let mut count = 0;
        for event in &self.events {
            count += 1;
            let conn = ConnId(event.token().0 as u64);
            if let Some(open) = self.open.get_mut(&conn) {
                open.may_read = true;
                open.is_closing |= event.is_read_closed() || event.is_error();
                if !std::mem::replace(&mut open.is_queued, true) {
                    self.ready.push_back(conn);
                }
            }
        }
        let returned = self.now;
        let polled = Polled { began, pause, returned, events: count, events_max: EVENTS_MAX };
        self.at = self.times.polled(&polled, self.open.len());
        self.now.since(self.at)
    }

    /// Returns whether the last poll found nothing.
    pub(crate) fn is_quiet(&self) -> bool {
        self.ready.is_empty()
    }

    /// The next input of this turn.
    pub(crate) fn next_input(&mut self, meters: &Meters) -> Option<Input> {
        while let Some(conn) = self.ready.front().copied() {
            let Some(open) = self.open.get_mut(&conn) else {
                self.advance(conn);
                continue;
            };
            if self.steps >= self.steps_max {
                self.unfinished.push(conn);
                self.ready.pop_front();
                self.steps = 0;
                continue;
            }
            self.steps += 1;
            let mut next = open.reader.next(self.at, self.now, meters);
            if matches!(next, NextInput::ReadMore) && open.may_read {
                match open.read(&mut self.buffer, self.at, self.now) {
                    None => continue,
                    Some(other) => next = other,
                }
            }
            match next {
                NextInput::Message(input) => return Some(input),
                NextInput::ReadMore => self.advance(conn),
                NextInput::Wait(wait_ms) => {
                    self.give_back(conn, |reader| Returned::Paused(reader, wait_ms));
                }
                NextInput::LetWrite => self.give_back(conn, |_| Returned::LetWrite),
                // The engine learns of it before it handles what came later on other sockets: a
                // player who reconnects was away.
                NextInput::Leave => {
                    self.give_back(conn, |_| Returned::Closed);
                    return Some(Input::Closed { conn });
                }
            }
        }
        self.times.end_turn();
        None
    }

    /// Goes on with the next socket of this turn, after the first one.
    fn advance(&mut self, first: ConnId) {
        self.ready.pop_front();
        self.steps = 0;
        if let Some(open) = self.open.get_mut(&first) {
            open.is_queued = false;
        }
    }

    fn give_back(&mut self, conn: ConnId, returned: impl FnOnce(Box<InputReader>) -> Returned) {
        self.advance(conn);
        if let Some(open) = self.remove(conn) {
            // If the task is gone, so is the connection.
            let _ = open.back.send(returned(open.reader));
        }
    }

    /// All bytes that arrived by then were read and handled.
    pub(crate) fn heard_until(&self) -> Timestamp {
        self.times.heard_until()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::super::direct::WriteSocket;
    use super::super::outbox::Outbox;
    use super::*;
    use crate::engine::seat_side::Framing;
    use crate::engine::{SeatKind, Wire};
    use std::io::Write;
    use std::net::TcpListener;
    use std::time::Instant;
    use tokio::sync::oneshot::error::TryRecvError;

    /// A client, and everything about its connection that would be dropped otherwise.
    struct Client {
        socket: TcpStream,
        returned: oneshot::Receiver<Returned>,
        _outbox: Outbox,
    }

    fn connect(sockets: &mut DriverSockets, conn: u64, limits: &Limits) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let here = Arc::new(listener.accept().unwrap().0);
        here.set_nonblocking(true).unwrap();
        let to = WriteSocket::Driver(Arc::clone(&here));
        let (outbox, _) = Outbox::new(ConnId(conn), SeatKind::native(Wire::Tcp), 8, Some(to));
        let liveness = Arc::clone(outbox.liveness());
        let reader = InputReader::new(liveness, Framing::lines(100_000), limits, now_ms());
        let (open, returned) = OpenSocket::new(here, Box::new(reader));
        sockets.add(open);
        Client { socket, returned, _outbox: outbox }
    }

    /// The connections of the messages of one turn.
    fn turn(sockets: &mut DriverSockets) -> Vec<u64> {
        sockets.poll(Duration::ZERO);
        let meters = Meters::default();
        let inputs = std::iter::from_fn(|| sockets.next_input(&meters));
        inputs.filter_map(|input| sender(&input)).collect()
    }

    /// The connection that sent a message; `None` for the end of a connection.
    fn sender(input: &Input) -> Option<u64> {
        match input {
            Input::Said { conn, .. } | Input::Bad { conn, .. } => Some(conn.0),
            Input::Closed { .. } => None,
            _ => panic!("only messages and ends are read"),
        }
    }

    /// Takes turns until so many inputs came.
    fn turns(sockets: &mut DriverSockets, count: usize) -> Vec<Vec<u64>> {
        let (mut all, give_up) = (Vec::new(), Instant::now() + Duration::from_secs(20));
        while all.iter().map(Vec::len).sum::<usize>() < count {
            assert!(Instant::now() < give_up, "{all:?}");
            let conns = turn(sockets);
            all.extend((!conns.is_empty()).then_some(conns));
        }
        all
    }

    fn until_returned(sockets: &mut DriverSockets, client: &mut Client) -> Returned {
        let give_up = Instant::now() + Duration::from_secs(20);
        loop {
            turn(sockets);
            match client.returned.try_recv() {
                Ok(returned) => return returned,
                Err(TryRecvError::Empty) => assert!(Instant::now() < give_up),
                Err(TryRecvError::Closed) => panic!("the socket was dropped"),
            }
        }
    }

    #[test]
    fn connection_that_sends_much_does_not_hold_up_the_others() {
        let (mut sockets, _waker) = DriverSockets::new(4).unwrap();
        let mut clients = [1, 2].map(|conn| connect(&mut sockets, conn, &Limits::default()));
        clients[0].socket.write_all(&b"{\"type\":\"ping\"}\n".repeat(40)).unwrap();
        clients[1].socket.write_all(b"{\"type\":\"ping\"}\n").unwrap();
        let taken = turns(&mut sockets, 41);
        assert!(taken.iter().all(|conns| conns.len() <= 7), "{taken:?}");
        assert!(taken.len() >= 40 / 6, "{taken:?}");
        assert_eq!(taken.iter().flatten().filter(|conn| **conn == 2).count(), 1);
    }

    #[test]
    fn next_turn_takes_the_rest_with_its_time() {
        let (mut sockets, _waker) = DriverSockets::new(32).unwrap();
        let mut clients = [1, 2].map(|conn| connect(&mut sockets, conn, &Limits::default()));
        assert!(turn(&mut sockets).is_empty());
        for client in &mut clients {
            client.socket.write_all(b"{\"type\":\"ping\"}\n").unwrap();
        }
        let (meters, give_up) = (Meters::default(), Instant::now() + Duration::from_secs(20));
        while sockets.ready.len() < 2 {
            assert!(Instant::now() < give_up);
            sockets.poll(Duration::ZERO);
        }
        let heard = sockets.heard_until();
        let first = sockets.next_input(&meters).unwrap();
        sockets.poll(Duration::from_secs(60));
        assert_eq!(sockets.heard_until(), heard, "one input is not handled yet");
        let second = sockets.next_input(&meters).unwrap();
        assert!(sockets.next_input(&meters).is_none());
        let mut conns = [sender(&first), sender(&second)];
        conns.sort_unstable();
        assert_eq!(conns, [Some(1), Some(2)]);
    }

    #[test]
    fn closed_connection_is_returned_after_its_input() {
        let (mut sockets, _waker) = DriverSockets::new(32).unwrap();
        let mut client = connect(&mut sockets, 1, &Limits::default());
        client.socket.write_all(b"{\"type\":\"ping\"}\nhello\n").unwrap();
        client.socket.shutdown(std::net::Shutdown::Both).unwrap();
        assert_eq!(turns(&mut sockets, 2).concat(), [1, 1]);
        assert!(matches!(until_returned(&mut sockets, &mut client), Returned::Closed));
        assert!(sockets.open.is_empty());
    }

    #[test]
    fn connection_that_sends_too_fast_goes_back_to_its_task() {
        let (mut sockets, _waker) = DriverSockets::new(32).unwrap();
        let limits = Limits { lines_per_second_max: 1, lines_burst_max: 3, ..Limits::default() };
        let mut client = connect(&mut sockets, 1, &limits);
        client.socket.write_all(&b"{\"type\":\"ping\"}\n".repeat(4)).unwrap();
        assert_eq!(turns(&mut sockets, 3).concat(), [1; 3]);
        let returned = until_returned(&mut sockets, &mut client);
        let Returned::Paused(mut reader, wait_ms) = returned else { panic!("it is too fast") };
        assert!((1..=1_000).contains(&wait_ms), "{wait_ms}");
        // The message that was one too many is not lost.
        let later = now_ms() + wait_ms;
        let next = reader.next(later, later, &Meters::default());
        assert!(matches!(next, NextInput::Message(_)));
    }

    #[test]
    fn bytes_without_a_line_end_are_limited_as_well() {
        let (mut sockets, _waker) = DriverSockets::new(32).unwrap();
        let limits = Limits { lines_per_second_max: 1, lines_burst_max: 10, ..Limits::default() };
        let mut client = connect(&mut sockets, 1, &limits);
        client.socket.write_all(&[b'x'; 80_000]).unwrap();
        let returned = until_returned(&mut sockets, &mut client);
        assert!(matches!(returned, Returned::Paused(..)));
    }

    #[test]
    fn closing_a_connection_wakes_nobody() {
        let (mut sockets, _waker) = DriverSockets::new(32).unwrap();
        let mut client = connect(&mut sockets, 1, &Limits::default());
        client.socket.write_all(b"hello\n").unwrap();
        sockets.remove(ConnId(1));
        assert!(turn(&mut sockets).is_empty());
        assert!(matches!(client.returned.try_recv(), Err(TryRecvError::Closed)));
    }
}
