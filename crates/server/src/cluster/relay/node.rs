//! The side of a node that stands by: it has the sockets, and carries their bytes to the node with
//! the lobby.
//!
//! A thread offers the node to the owner of the log, and gives the link up after a gap, a silence,
//! or the loss of the bus. A task for every connection copies bytes both ways. Without a link the
//! node rejects connections.

use super::http::{Route, read_head};
use super::packet::{NodeTime, RelayId, RelayPacket};
use super::pipe::{RelayLink, RelayStream};
use super::subject_of;
use crate::cluster::StandbyMeters;
use crate::cluster::nats::{Bus, BusAddress, BusEvent};
use crate::cluster::sender::send_alone;
use crate::engine::links::{ALIVE_PAUSE, Broken, FORMAT, Frame, LinkReceiver};
use crate::engine::seat_side::error_line;
use crate::lateness::{self, Lateness};
use crate::net::{self, Guest, Guests, Limits, Stream, Tls, socket};
use agon_core::{Millis, Timestamp};
use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How often a node without a link offers itself.
const OFFER_PAUSE: Duration = Duration::from_millis(250);

/// How long connections may take to close when the node stops.
const GOODBYE_MAX: Duration = Duration::from_secs(2);

/// The name of the port for native players.
const PLAYERS: &str = "tcp";

/// The name of the port of the HTTP interface.
pub(super) const HTTP: &str = "http";

/// A listener of a node that stands by.
pub struct StandbyListener<'a> {
    /// The name of the port, the same on all nodes.
    pub port: &'a str,
    /// The listener.
    pub listener: &'a TcpListener,
    /// The certificate, if the port speaks TLS.
    pub tls: Option<Arc<Tls>>,
}

/// The connections of a node that stands by.
pub struct RelayPort {
    limits: Limits,
    guests: Arc<Guests>,
    /// The connections to the HTTP interface, per address.
    visitors: Arc<Guests>,
    places: Arc<Semaphore>,
    /// How late this node reads its sockets.
    reads: Arc<Lateness>,
    /// When this node's steady clock began. The server's clock may jump or stand still.
    started: Instant,
    state: Mutex<NodeState>,
    is_stopping: AtomicBool,
    next: AtomicU64,
    links_lost: AtomicU64,
    bytes_before: AtomicU64,
    /// The other work of this node, for its metrics.
    standing: Arc<StandbyMeters>,
}

#[derive(Default)]
struct NodeState {
    /// The node that owns the log.
    owner: Option<String>,
    link: Option<Arc<RelayLink>>,
    thread: Option<JoinHandle<()>>,
}

/// The counts of a node's relayed connections.
pub(crate) struct RelayCounts {
    pub(crate) is_linked: bool,
    pub(crate) connections: usize,
    pub(crate) bytes: u64,
    pub(crate) links_lost: u64,
}

impl RelayPort {
    /// A node without a link. It measures how late this runtime reads sockets.
    pub fn new(limits: Limits) -> Arc<RelayPort> {
        let (reads, started) = (Arc::<Lateness>::default(), Instant::now());
        let measured = Arc::downgrade(&reads);
        tokio::spawn(lateness::beat_while_used(measured, move || steady_since(started)));
        Arc::new(RelayPort {
            guests: Arc::default(),
            visitors: Arc::default(),
            places: Arc::new(Semaphore::new(limits.connections_max)),
            limits,
            reads,
            started,
            state: Mutex::default(),
            is_stopping: AtomicBool::new(false),
            next: AtomicU64::new(1),
            links_lost: AtomicU64::new(0),
            bytes_before: AtomicU64::new(0),
            standing: Arc::default(),
        })
    }

    /// Begins to offer the node, once the owner of the log is known.
    pub fn start(self: &Arc<RelayPort>, address: BusAddress, node: String) {
        let (bus, events) = Bus::start(address, subject_of(&node));
        let runner = Runner {
            port: Arc::clone(self),
            node,
            bus: Arc::new(bus),
            is_up: false,
            attempt: 1,
            offered: None,
            goodbye_since: None,
            receiver: None,
        };
        self.state().thread = Some(thread::spawn(move || runner.run(&events)));
    }

    /// Notes which node owns the log.
    pub fn follow(&self, owner: &str) {
        let mut state = self.state();
        if state.owner.as_deref() != Some(owner) {
            state.owner = Some(owner.to_owned());
        }
    }

    /// Has the owner close all connections, and ends the link.
    pub fn stop(&self) {
        let link = self.state().link.clone();
        if let Some(link) = link.filter(|link| link.len() > 0) {
            link.send(&RelayPacket::Stopping);
            let give_up = Instant::now() + GOODBYE_MAX;
            while link.len() > 0 && Instant::now() < give_up {
                thread::sleep(Duration::from_millis(10));
            }
        }
        self.end();
    }

    /// Ends the link.
    pub fn end(&self) {
        self.is_stopping.store(true, Ordering::Release);
        let thread = self.state().thread.take();
        if let Some(thread) = thread {
            thread.join().expect("the thread of a node with sockets does not panic");
        }
    }

    pub(crate) fn counts(&self) -> RelayCounts {
        let link = self.state().link.clone();
        let before = self.bytes_before.load(Ordering::Relaxed);
        RelayCounts {
            is_linked: link.is_some(),
            connections: link.as_ref().map_or(0, |link| link.len()),
            bytes: before + link.as_ref().map_or(0, |link| link.bytes()),
            links_lost: self.links_lost.load(Ordering::Relaxed),
        }
    }

    /// The other work of this node, for its metrics.
    pub fn standing(&self) -> &Arc<StandbyMeters> {
        &self.standing
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// The earliest time at which bytes that were just read can have arrived.
    fn read_at(&self) -> NodeTime {
        NodeTime(self.reads.heard_until(steady_since(self.started)).as_ms())
    }

    fn now(&self) -> NodeTime {
        NodeTime(steady_since(self.started).as_ms())
    }

    fn state(&self) -> MutexGuard<'_, NodeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection to the HTTP interface from an address; `None` if there are too many.
    pub(crate) fn visitor(&self, from: IpAddr) -> Option<Guest> {
        self.visitors.enter(from, self.limits.connections_per_address_max)
    }

    /// Opens a connection to the lobby's node; `None` without a link, or if the link is full.
    fn open(&self, port: &str, from: IpAddr) -> Option<RelayStream> {
        let link = self.state().link.clone()?;
        let conn = RelayId(self.next.fetch_add(1, Ordering::Relaxed));
        let stream = link.open(conn)?;
        link.send(&RelayPacket::Open { conn, from, port: port.to_owned() });
        Some(stream)
    }

    /// Accepts connections of players and programs until the task is dropped.
    pub async fn serve(self: Arc<RelayPort>, listeners: &[StandbyListener<'_>]) {
        let accepting = listeners.iter().map(|at| Box::pin(Arc::clone(&self).accept_on(at)));
        let mut accepting: Vec<_> = accepting.collect();
        poll_fn(|context| {
            for one in &mut accepting {
                let _ = one.as_mut().poll(context);
            }
            Poll::<()>::Pending
        })
        .await;
    }

    async fn accept_on(self: Arc<RelayPort>, at: &StandbyListener<'_>) {
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await;
            let place = place.expect("the semaphore is never closed");
            let (socket, from) = net::accept(at.listener).await;
            let per_address_max = self.limits.connections_per_address_max;
            let Some(guest) = self.guests.enter(from, per_address_max) else {
                let detail = "too many connections from this address; close one";
                reject(at, &socket, "too-many-connections", detail);
                continue;
            };
            match &at.tls {
                None => match self.open(at.port, from) {
                    Some(relay) => {
                        net::tune(&socket, &self.limits);
                        let stream = Stream::Plain(socket);
                        tokio::spawn(Arc::clone(&self).carry(stream, relay, (place, guest)));
                    }
                    None => {
                        let detail = "this node stands by for another one; connect to the next \
                             address";
                        reject(at, &socket, "standby", detail);
                    }
                },
                Some(tls) => {
                    let (node, tls, port) =
                        (Arc::clone(&self), Arc::clone(tls), at.port.to_owned());
                    tokio::spawn(async move {
                        let Some(stream) = node.stream(socket, Some(&tls)).await else { return };
                        if let Some(relay) = node.open(&port, from) {
                            node.carry(stream, relay, (place, guest)).await;
                        }
                    });
                }
            }
        }
    }

    /// A stream over an accepted socket; `None` if the TLS handshake fails or takes too long.
    pub(crate) async fn stream(&self, socket: TcpStream, tls: Option<&Arc<Tls>>) -> Option<Stream> {
        net::tune(&socket, &self.limits);
        let patience = Duration::from_millis(self.limits.login_ms_max.max(1));
        let accepted = Stream::accept(socket, tls);
        tokio::time::timeout(patience, accepted).await.ok()?.ok()
    }

    /// Serves one connection of the HTTP interface: relays it, or answers it here. Returns what was
    /// read of a connection to answer here.
    pub(crate) async fn route_http(
        self: &Arc<RelayPort>,
        mut stream: Stream,
        from: IpAddr,
        held: (OwnedSemaphorePermit, Guest),
    ) -> Option<(Stream, Vec<u8>)> {
        let patience = Duration::from_millis(self.limits.login_ms_max.max(1));
        let head = tokio::time::timeout(patience, read_head(&mut stream)).await.ok()??;
        let relay = match head.route {
            Route::Here => None,
            Route::Lobby => self.open(HTTP, from),
        };
        match relay {
            Some(relay) => {
                let _ = relay.room().await;
                relay.send(self.read_at(), &head.read);
                Arc::clone(self).carry(stream, relay, held).await;
                None
            }
            None => Some((stream, head.read)),
        }
    }

    /// Copies bytes both ways until the connection is over.
    async fn carry(
        self: Arc<RelayPort>,
        stream: Stream,
        relay: RelayStream,
        _held: (OwnedSemaphorePermit, Guest),
    ) {
        let patience = Duration::from_millis(self.limits.write_ms_max.max(1));
        match stream {
            Stream::Plain(socket) => {
                let (from, to) = socket.into_split();
                self.copy(from, to, &relay, patience).await;
            }
            stream => {
                let (from, to) = tokio::io::split(stream);
                self.copy(from, to, &relay, patience).await;
            }
        }
    }

    async fn copy(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        relay: &RelayStream,
        patience: Duration,
    ) {
        let input = async {
            loop {
                let Ok(room) = relay.room().await else { break };
                let read = socket::read_some(&mut from, room, |bytes| {
                    relay.send(self.read_at(), bytes);
                });
                match read.await {
                    Ok(1..) => {}
                    // The other direction may go on.
                    Ok(0) => break relay.end(),
                    Err(_) => return,
                }
            }
            std::future::pending().await
        };
        let output = async {
            // An error ends the connection, also if everything is written.
            while let Ok(bytes) = relay.next().await {
                let written = async {
                    match &bytes {
                        Some(bytes) => to.write_all(bytes).await,
                        None => to.shutdown().await,
                    }
                };
                match tokio::time::timeout(patience, written).await {
                    Ok(Ok(())) => relay.wrote(bytes.map_or(0, |bytes| bytes.len()), self.now()),
                    _ => return,
                }
            }
        };
        tokio::select! {
            biased;
            () = output => {}
            () = input => {}
        }
    }
}

/// The time of a clock that began at `started`.
fn steady_since(started: Instant) -> Timestamp {
    Timestamp::from_ms(started.elapsed().as_millis() as Millis)
}

/// Sends the reason, as far as it fits into an empty socket, and closes.
fn reject(at: &StandbyListener<'_>, socket: &TcpStream, code: &str, detail: &str) {
    if at.port == PLAYERS && at.tls.is_none() {
        let _ = socket.try_write(&error_line(code, detail.to_owned()));
    }
}

/// The thread that reads the bus.
struct Runner {
    port: Arc<RelayPort>,
    node: String,
    bus: Arc<Bus>,
    /// True if the bus is connected.
    is_up: bool,
    /// How many links this node has tried to form. The lobby's node knows old offers by it.
    attempt: u64,
    offered: Option<Instant>,
    /// When the owner was asked to close all connections, because an operator drains this node.
    goodbye_since: Option<Instant>,
    /// The receiving end of the link, and the node at the other end.
    receiver: Option<(LinkReceiver, String)>,
}

impl Runner {
    fn run(mut self, events: &Receiver<BusEvent>) {
        let mut due = Instant::now();
        loop {
            match events.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(BusEvent::Up) => self.is_up = true,
                Ok(BusEvent::Down) => {
                    self.is_up = false;
                    self.end_link("the connection to the bus is lost");
                }
                Ok(BusEvent::Message(message)) => self.take(message.into_bytes()),
                Ok(BusEvent::Unheard(subject)) => {
                    let at = self.receiver.as_ref().map(|(_, at)| subject_of(at));
                    if at == Some(subject) {
                        self.end_link("the node with the lobby has left the bus");
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.port.is_stopping.load(Ordering::Acquire) {
                self.end_link("this node stops to stand by");
                return self.bus.flush(Duration::from_millis(200));
            }
            if due <= Instant::now() {
                due = Instant::now() + ALIVE_PAUSE;
                self.look_after_link();
            }
        }
    }

    /// Offers the node, or checks that its link still stands.
    fn look_after_link(&mut self) {
        let (owner, link) = {
            let state = self.port.state();
            (state.owner.clone(), state.link.clone())
        };
        let is_drained = self.port.standing.is_drained();
        if is_drained && link.as_ref().is_some_and(|link| self.is_goodbye_over(link)) {
            return self.end_link("an operator drains this node");
        }
        let (Some(link), Some((receiver, at))) = (link, &self.receiver) else {
            let is_due = self.offered.is_none_or(|at| at.elapsed() >= OFFER_PAUSE);
            let may_offer = self.is_up && is_due && !is_drained;
            if let Some(owner) = owner.filter(|_| may_offer) {
                let (node, format) = (self.node.clone(), FORMAT.to_owned());
                let offer = RelayPacket::Offer { node, attempt: self.attempt, format };
                send_alone(&self.bus, &subject_of(&owner), &offer.encode());
                self.offered = Some(Instant::now());
            }
            return;
        };
        self.say_alive(&link);
        link.tick();
        if receiver.is_silent(self.port.started.elapsed()) {
            self.end_link("the node with the lobby is silent");
        } else if owner.as_ref() != Some(at) {
            self.end_link("another node has the lobby");
        }
    }

    /// Has the owner close all connections of a node that an operator drains; returns whether they
    /// are closed.
    fn is_goodbye_over(&mut self, link: &RelayLink) -> bool {
        let begun = *self.goodbye_since.get_or_insert_with(|| {
            link.send(&RelayPacket::Stopping);
            Instant::now()
        });
        link.len() == 0 || begun.elapsed() > GOODBYE_MAX
    }

    fn say_alive(&self, link: &RelayLink) {
        let (sent, read_until) = (self.port.now(), self.port.read_at());
        link.send(&RelayPacket::Alive { sent, read_until });
        link.probe();
    }

    fn take(&mut self, bytes: Vec<u8>) {
        let Some(frame) = Frame::read(bytes) else { return };
        let (link, now) = (self.port.state().link.clone(), self.port.started.elapsed());
        match (link, &mut self.receiver) {
            (Some(link), Some((receiver, _))) if link.number == frame.link() => {
                let handled = receiver.take_encoded(frame, now).and_then(|packet| match packet {
                    Some(packet) => RelayPacket::decode(&packet).ok_or(Broken).map(Some),
                    None => Ok(None),
                });
                match handled {
                    Ok(Some(RelayPacket::Close)) => {
                        self.end_link("the node with the lobby has ended the link");
                    }
                    Ok(Some(packet)) => {
                        if link.receive(packet).is_err() {
                            self.end_link("a message does not fit");
                        }
                    }
                    Ok(None) => {}
                    Err(Broken) => self.end_link("a message is missing"),
                }
            }
            (Some(_), _) => {}
            (None, _) => {
                let packet = frame.alone_encoded().and_then(RelayPacket::decode);
                let known = self.port.state().owner.clone();
                if let Some(RelayPacket::Accept { owner, attempt }) = packet
                    && Some(&owner) == known.as_ref()
                    && attempt == self.attempt
                {
                    self.begin_link(frame.link(), owner);
                }
            }
        }
    }

    fn begin_link(&mut self, number: u64, owner: String) {
        let link = RelayLink::new(Arc::clone(&self.bus), &owner, number, None);
        // The first packet: it tells the other side this node's time.
        self.say_alive(&link);
        tracing::info!(owner, "this node relays players");
        self.receiver = Some((LinkReceiver::after(1, self.port.started.elapsed()), owner));
        self.port.state().link = Some(link);
    }

    /// Gives the link up, and closes its connections.
    fn end_link(&mut self, why: &str) {
        let Some(link) = self.port.state().link.take() else { return };
        let connections = link.len();
        tracing::warn!(connections, "{why}; this node relays no players now");
        self.port.bytes_before.fetch_add(link.bytes(), Ordering::Relaxed);
        self.port.links_lost.fetch_add(1, Ordering::Relaxed);
        link.lose();
        self.receiver = None;
        self.goodbye_since = None;
        self.attempt += 1;
    }
}
