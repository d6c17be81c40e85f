//! A client of a NATS server: it publishes messages, and receives those of one subject.
//!
//! Core NATS is a protocol of lines. This client knows `INFO`, `CONNECT`, `SUB`, `PUB`, `MSG`,
//! `HMSG`, `PING`, `PONG` and `-ERR`. It connects again by itself, and reports every loss of the
//! connection: messages may be lost then. See docs/decisions/0038-a-small-client-for-nats.md.

use serde::Deserialize;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The port of a server if its address names none.
const PORT: u16 = 4222;

/// How long to wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// How often the client asks whether the server is there.
const PING_PAUSE: Duration = Duration::from_millis(500);

/// How long the server may be silent before the connection counts as lost.
const SILENCE_MAX: Duration = Duration::from_secs(2);

/// How long to wait before the next attempt to connect.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);

/// The longest line of the protocol.
const LINE_MAX: u64 = 64 * 1024;

/// How many bytes may wait to be written. A connection that is further behind is given up.
const QUEUE_MAX: usize = 64 << 20;

/// From how many waiting bytes on a sender that can wait should wait.
const QUEUE_BUSY: usize = 4 << 20;

/// How much memory a message gets before its bytes arrive.
const FIRST_READ_MAX: usize = 64 << 10;

/// The largest message that a server sends.
const MESSAGE_MAX: usize = 64 << 20;

/// How many messages, and how many bytes of them, may wait to be handled here. A node that is
/// further behind gives the connection up.
const INBOX_MESSAGES_MAX: usize = 100_000;
const INBOX_BYTES_MAX: usize = 128 << 20;

/// The servers of a bus, and who connects to them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BusAddress {
    servers: Vec<String>,
    user: Option<(String, String)>,
}

impl BusAddress {
    /// Reads `nats://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]`.
    pub fn parse(text: &str) -> Result<BusAddress, String> {
        let why = || "the address of a bus is nats://HOST:PORT".to_owned();
        let rest = text.strip_prefix("nats://").ok_or_else(why)?;
        let (user, hosts) = match rest.rsplit_once('@') {
            Some((user, hosts)) => {
                let (user, password) = user.split_once(':').ok_or_else(why)?;
                (Some((user.to_owned(), password.to_owned())), hosts)
            }
            None => (None, rest),
        };
        let hosts = hosts.trim_end_matches('/').split(',');
        let with_port = |host: &str| match host.rsplit_once(':') {
            _ if host.is_empty() || host.contains('/') => Err(why()),
            Some((_, port)) if port.parse::<u16>().is_ok() => Ok(host.to_owned()),
            Some(_) => Err(why()),
            None => Ok(format!("{host}:{PORT}")),
        };
        Ok(BusAddress { servers: hosts.map(with_port).collect::<Result<_, _>>()?, user })
    }

    /// The servers, without the password.
    pub fn servers(&self) -> String {
        self.servers.join(",")
    }
}

/// An event of the bus.
pub(crate) enum BusEvent {
    /// The connection is open, and messages to the subject arrive.
    Up,
    /// The connection is lost. Messages in both directions may be lost.
    Down,
    /// A message to the subject.
    Message(Received),
    /// Nobody receives this subject, which this client probed. Whoever did has closed the
    /// connection, or has died.
    Unheard(String),
}

/// A message that takes a place in the inbox until it is handled.
pub(crate) struct Received {
    bytes: Vec<u8>,
    place: Place,
}

impl Received {
    /// The bytes of the message, which leaves the inbox.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        drop(self.place);
        self.bytes
    }
}

/// The bounds of the inbox, and what is in it.
struct Inbox {
    messages_max: usize,
    bytes_max: usize,
    messages: AtomicUsize,
    bytes: AtomicUsize,
}

impl Inbox {
    fn new(messages_max: usize, bytes_max: usize) -> Arc<Inbox> {
        let (messages, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Inbox { messages_max, bytes_max, messages, bytes })
    }

    /// Adds a message; an error says that the inbox is full.
    fn add(self: &Arc<Inbox>, bytes: Vec<u8>) -> std::io::Result<Received> {
        let messages = self.messages.fetch_add(1, Ordering::AcqRel) + 1;
        let all = self.bytes.fetch_add(bytes.len(), Ordering::AcqRel) + bytes.len();
        let place = Place { inbox: Arc::clone(self), len: bytes.len() };
        if messages > self.messages_max || all > self.bytes_max {
            let why = format!("this node is behind: {messages} messages ({all} bytes) wait");
            return Err(std::io::Error::other(why));
        }
        Ok(Received { bytes, place })
    }
}

/// The place of a message in the inbox.
struct Place {
    inbox: Arc<Inbox>,
    len: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.inbox.messages.fetch_sub(1, Ordering::AcqRel);
        self.inbox.bytes.fetch_sub(self.len, Ordering::AcqRel);
    }
}

/// A client of the bus. It ends when it is dropped.
pub(crate) struct Bus {
    /// The queue of the present connection.
    queue: Arc<Mutex<Option<Queue>>>,
    /// How the subjects begin under which the server reports that nobody receives a subject.
    unheard: String,
}

/// The messages that wait to be written to a connection.
#[derive(Clone)]
struct Queue {
    messages: Sender<Vec<u8>>,
    /// How many bytes they have.
    waiting: Arc<AtomicUsize>,
    socket: Arc<TcpStream>,
}

impl Queue {
    /// Adds a message, or gives the connection up if too many bytes wait.
    fn add(&self, text: Vec<u8>) {
        if self.waiting.fetch_add(text.len(), Ordering::Relaxed) > QUEUE_MAX {
            // The reader notices at once.
            let _ = self.socket.shutdown(Shutdown::Both);
            return;
        }
        // The connection may be lost in this moment.
        let _ = self.messages.send(text);
    }
}

impl Bus {
    /// Connects to a bus and subscribes to a subject. It tries until it succeeds.
    pub(crate) fn start(address: BusAddress, subject: String) -> (Bus, Receiver<BusEvent>) {
        Bus::start_with(address, subject, Inbox::new(INBOX_MESSAGES_MAX, INBOX_BYTES_MAX))
    }

    fn start_with(
        address: BusAddress,
        subject: String,
        inbox: Arc<Inbox>,
    ) -> (Bus, Receiver<BusEvent>) {
        let (sender, events) = channel();
        let queue = Arc::new(Mutex::new(None));
        let weak = Arc::downgrade(&queue);
        let unheard = format!("{subject}.unheard.");
        let client = Client {
            address,
            subject,
            unheard: unheard.clone(),
            events: sender,
            inbox,
            queue: weak,
        };
        thread::spawn(move || client.run());
        (Bus { queue, unheard }, events)
    }

    /// Publishes a message. It is lost if there is no connection.
    pub(crate) fn publish(&self, subject: &str, message: &[u8]) {
        if let Some(queue) = &*locked(&self.queue) {
            let head = format!("PUB {subject} {}\r\n", message.len());
            let mut text = Vec::with_capacity(head.len() + message.len() + 2);
            text.extend_from_slice(head.as_bytes());
            text.extend_from_slice(message);
            text.extend_from_slice(b"\r\n");
            queue.add(text);
        }
    }

    /// Asks the server whether anybody receives a subject. If nobody does, the client reports it.
    pub(super) fn probe(&self, subject: &str) {
        if let Some(queue) = &*locked(&self.queue) {
            let reply = format!("{}{subject}", self.unheard);
            queue.add(format!("PUB {subject} {reply} 0\r\n\r\n").into_bytes());
        }
    }

    /// Returns whether senders that can wait should wait.
    pub(super) fn is_busy(&self) -> bool {
        self.waiting() > QUEUE_BUSY
    }

    /// Waits until everything is written, but not long.
    pub(super) fn flush(&self, patience: Duration) {
        let give_up = Instant::now() + patience;
        while self.waiting() > 0 && Instant::now() < give_up {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn waiting(&self) -> usize {
        let queue = locked(&self.queue);
        queue.as_ref().map_or(0, |queue| queue.waiting.load(Ordering::Relaxed))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first line of a server.
#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    tls_required: bool,
}

/// The thread that connects and reads.
struct Client {
    address: BusAddress,
    subject: String,
    unheard: String,
    events: Sender<BusEvent>,
    inbox: Arc<Inbox>,
    queue: std::sync::Weak<Mutex<Option<Queue>>>,
}

impl Client {
    fn run(self) {
        let mut has_failed = false;
        while self.queue.strong_count() > 0 {
            for server in &self.address.servers {
                match self.connect(server) {
                    Ok(reader) => {
                        tracing::info!(server, "connected to the bus");
                        has_failed = false;
                        if let Some(why) = self.serve(reader) {
                            tracing::warn!(server, "the connection to the bus is lost: {why}");
                        }
                    }
                    Err(error) if !has_failed => {
                        tracing::warn!(server, "the bus does not answer: {error}; trying again");
                        has_failed = true;
                    }
                    Err(_) => {}
                }
            }
            thread::sleep(RECONNECT_PAUSE);
        }
    }

    /// Opens a connection; it is ready when the server has answered a ping.
    fn connect(&self, server: &str) -> std::io::Result<BufReader<TcpStream>> {
        let mut last = std::io::Error::new(ErrorKind::NotFound, "no such host");
        for address in server.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_MAX) {
                Ok(socket) => return self.shake_hands(socket),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn shake_hands(&self, mut socket: TcpStream) -> std::io::Result<BufReader<TcpStream>> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(SILENCE_MAX))?;
        socket.set_write_timeout(Some(SILENCE_MAX))?;
        let mut reader = BufReader::with_capacity(256 * 1024, socket.try_clone()?);
        let info = read_line(&mut reader)?;
        let info = info.strip_prefix("INFO ").unwrap_or("{}");
        if serde_json::from_str::<Info>(info).is_ok_and(|info| info.tls_required) {
            return Err(invalid("the server demands TLS, which Agon does not use here"));
        }
        let mut connect = serde_json::json!({
            "verbose": false, "pedantic": false, "lang": "rust", "name": self.subject,
            "version": env!("CARGO_PKG_VERSION"), "protocol": 0, "headers": true,
            "no_responders": true,
        });
        if let Some((user, password)) = &self.address.user {
            connect["user"] = user.as_str().into();
            connect["pass"] = password.as_str().into();
        }
        let (subject, unheard) = (&self.subject, &self.unheard);
        let hello = format!("CONNECT {connect}\r\nSUB {subject} 1\r\nSUB {unheard}> 2\r\nPING\r\n");
        socket.write_all(hello.as_bytes())?;
        loop {
            match read_line(&mut reader)?.as_str() {
                "PONG" => return Ok(reader),
                error if error.starts_with("-ERR") => return Err(invalid(error)),
                _ => {}
            }
        }
    }

    /// Writes and reads until the connection is lost; returns why, unless this node has closed it.
    fn serve(&self, mut reader: BufReader<TcpStream>) -> Option<String> {
        let sockets = (reader.get_ref().try_clone(), reader.get_ref().try_clone());
        let (Ok(socket), Ok(other)) = sockets else { return Some("no socket".to_owned()) };
        let (messages, outgoing) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let own = Queue { messages, waiting: Arc::clone(&waiting), socket: Arc::new(other) };
        let queue = self.queue.upgrade()?;
        *locked(&queue) = Some(own.clone());
        drop(queue);
        let writer = thread::spawn(move || write_all(socket, &outgoing, &waiting));
        let mut is_heard = self.events.send(BusEvent::Up).is_ok();
        let mut lost = None;
        while is_heard && self.queue.strong_count() > 0 {
            let answer_ping = || own.add(b"PONG\r\n".to_vec());
            let read = read_operation(&mut reader, answer_ping);
            match read.and_then(|read| self.event_of(read)) {
                Ok(Some(event)) => is_heard = self.events.send(event).is_ok(),
                Ok(None) => {}
                Err(error) => {
                    lost = Some(error.to_string());
                    break;
                }
            }
        }
        if let Some(queue) = self.queue.upgrade() {
            *locked(&queue) = None;
        }
        drop(own);
        let _ = self.events.send(BusEvent::Down);
        // The writer ends when its queue is closed.
        let _ = writer.join();
        lost
    }

    /// The event of what the server sent.
    fn event_of(&self, operation: Operation) -> std::io::Result<Option<BusEvent>> {
        match operation {
            Operation::Message(bytes) => Ok(Some(BusEvent::Message(self.inbox.add(bytes)?))),
            Operation::WithHead { subject } => {
                let probed = subject.strip_prefix(&self.unheard);
                Ok(probed.map(|probed| BusEvent::Unheard(probed.to_owned())))
            }
            Operation::Other => Ok(None),
        }
    }
}

fn invalid(why: &str) -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, why.to_owned())
}

/// Writes messages until the queue is closed, and pings the server in between.
fn write_all(mut socket: TcpStream, outgoing: &Receiver<Vec<u8>>, waiting: &AtomicUsize) {
    let mut pinged = Instant::now();
    loop {
        let mut text = match outgoing.recv_timeout(PING_PAUSE) {
            Ok(text) => text,
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let mut taken = text.len();
        if pinged.elapsed() >= PING_PAUSE {
            pinged = Instant::now();
            text.extend_from_slice(b"PING\r\n");
        }
        while text.len() < 64 * 1024
            && let Ok(more) = outgoing.try_recv()
        {
            taken += more.len();
            text.extend_from_slice(&more);
        }
        if socket.write_all(&text).is_err() {
            break;
        }
        waiting.fetch_sub(taken, Ordering::Relaxed);
    }
    // The reader notices at once.
    let _ = socket.shutdown(Shutdown::Both);
}

fn read_line(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    reader.by_ref().take(LINE_MAX).read_line(&mut line)?;
    match line.strip_suffix("\r\n") {
        Some(text) => Ok(text.to_owned()),
        None if line.is_empty() => Err(invalid("the server closed the connection")),
        None => Err(invalid("a line that does not end")),
    }
}

/// An operation of a server.
enum Operation {
    /// A message.
    Message(Vec<u8>),
    /// A message with headers to this subject. Nodes send none, so it is the server's.
    WithHead { subject: String },
    /// Something else.
    Other,
}

/// Reads one operation. The memory for a message grows as it arrives.
fn read_operation(
    reader: &mut impl BufRead,
    answer_ping: impl FnOnce(),
) -> std::io::Result<Operation> {
    let line = read_line(reader)?;
    if let Some(fields) = line.strip_prefix("MSG ") {
        return read_payload(reader, fields).map(Operation::Message);
    }
    if let Some(fields) = line.strip_prefix("HMSG ") {
        read_payload(reader, fields)?;
        let subject = fields.split(' ').next().unwrap_or_default().to_owned();
        return Ok(Operation::WithHead { subject });
    }
    if line == "PING" {
        answer_ping();
    }
    match line.starts_with("-ERR") {
        true => Err(invalid(&line)),
        false => Ok(Operation::Other),
    }
}

/// Reads the bytes of a message, whose length is the last of the fields.
fn read_payload(reader: &mut impl BufRead, fields: &str) -> std::io::Result<Vec<u8>> {
    let len: Option<usize> = fields.rsplit(' ').next().and_then(|len| len.parse().ok());
    let len = len.filter(|len| *len <= MESSAGE_MAX);
    let len = len.ok_or_else(|| invalid("a message without a length"))?;
    let mut message = Vec::with_capacity(len.min(FIRST_READ_MAX) + 2);
    reader.by_ref().take(len as u64 + 2).read_to_end(&mut message)?;
    if message.len() != len + 2 {
        return Err(invalid("the server closed the connection"));
    }
    message.truncate(len);
    Ok(message)
}

/// Reads the messages in what a server sends, for the fuzzer.
#[doc(hidden)]
pub fn messages_in(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Ok(read) = read_operation(&mut bytes, || {}) {
        if let Operation::Message(message) = read {
            messages.push(message);
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_names_servers_and_a_user() {
        let plain = BusAddress::parse("nats://bus.example").unwrap();
        assert_eq!((plain.servers().as_str(), plain.user), ("bus.example:4222", None));
        let full = BusAddress::parse("nats://agon:se@cret@a:1,b:2").unwrap();
        assert_eq!(full.servers(), "a:1,b:2");
        assert_eq!(full.user, Some(("agon".to_owned(), "se@cret".to_owned())));
        for bad in ["", "a:1", "http://a:1", "nats://", "nats://a:x", "nats://u@a:1", "nats://a/b"]
        {
            assert!(BusAddress::parse(bad).is_err(), "{bad}");
        }
    }

    /// Plays a NATS server that sends messages without end, as fast as they are read.
    fn flood(message: &'static [u8]) -> (BusAddress, thread::JoinHandle<()>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("nats://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            socket.write_all(b"INFO {}\r\n").unwrap();
            let mut reader = BufReader::new(socket.try_clone().unwrap());
            while read_line(&mut reader).unwrap() != "PING" {}
            socket.write_all(b"PONG\r\n").unwrap();
            let head = format!("MSG a 1 {}\r\n", message.len());
            let text = [head.as_bytes(), message, b"\r\n"].concat();
            while socket.write_all(&text).is_ok() {}
        });
        (BusAddress::parse(&address).unwrap(), server)
    }

    #[test]
    fn node_that_is_too_far_behind_gives_the_connection_up() {
        for (messages_max, bytes_max, fits) in [(10, 1 << 20, 10), (1_000, 7 * 20, 20)] {
            let (address, server) = flood(b"message");
            let inbox = Inbox::new(messages_max, bytes_max);
            let (bus, events) = Bus::start_with(address, "a".to_owned(), Arc::clone(&inbox));
            // Nothing is taken out, until the connection is given up.
            server.join().unwrap();
            assert!(matches!(events.recv(), Ok(BusEvent::Up)));
            let mut taken = 0;
            while let Ok(BusEvent::Message(message)) = events.recv() {
                assert_eq!(message.into_bytes(), b"message");
                taken += 1;
            }
            assert_eq!(taken, fits);
            let left =
                (inbox.messages.load(Ordering::Acquire), inbox.bytes.load(Ordering::Acquire));
            assert_eq!(left, (0, 0), "everything that was taken has left its place");
            drop(bus);
        }
    }

    #[test]
    fn reader_takes_messages_and_stops_at_what_is_none() {
        let text = b"INFO {}\r\nMSG a 1 2\r\nhi\r\nPING\r\nHMSG a.unheard.b 2 16 16\r\n\
            NATS/1.0 503\r\n\r\n\r\nMSG a 1 0\r\n\r\nMSG a 1 9\r\nhi\r\n";
        assert_eq!(messages_in(text), [b"hi".to_vec(), Vec::new()]);
        assert!(messages_in(b"MSG a 1 99999999999\r\n").is_empty());
        assert!(messages_in(&[0xff; 100]).is_empty());
    }
}
