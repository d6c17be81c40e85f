//! The side of the node with the lobby: connections whose sockets are on other nodes.
//!
//! A thread reads the bus, and accepts the link of every node that offers one. A new connection
//! goes to the gateway of its port, where [`PortConnections`] gives it out among the accepted
//! sockets of this node. So the limits of a gateway hold for both.

use super::packet::RelayPacket;
use super::pipe::{RelayLink, RelayStream};
use super::subject_of;
use crate::clock;
use crate::cluster::nats::{Bus, BusAddress, BusEvent};
use crate::driver::Handle;
use crate::engine::links::{ALIVE_PAUSE, Broken, FORMAT, Frame, LinkReceiver};
use crate::{auth, net};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// How many new connections may wait for the gateway of a port.
const BACKLOG_MAX: usize = 1_024;

/// How long the last packets may take to be written when the node stops.
const FLUSH_MAX: Duration = Duration::from_millis(500);

/// A connection of a port: a socket of this node, or one on another node.
pub(crate) enum Accepted {
    Socket(TcpStream),
    Relayed(RelayStream),
}

/// The connections of a port.
pub struct PortConnections {
    listener: TcpListener,
    /// Those whose sockets are on other nodes.
    relayed: Option<mpsc::Receiver<(RelayStream, IpAddr)>>,
}

impl From<TcpListener> for PortConnections {
    fn from(listener: TcpListener) -> PortConnections {
        PortConnections { listener, relayed: None }
    }
}

impl PortConnections {
    /// The next connection, and the address of its other end.
    pub(crate) async fn accept(&mut self) -> (Accepted, IpAddr) {
        let Some(relayed) = &mut self.relayed else {
            let (socket, from) = net::accept(&self.listener).await;
            return (Accepted::Socket(socket), from);
        };
        tokio::select! {
            (socket, from) = net::accept(&self.listener) => (Accepted::Socket(socket), from),
            Some((stream, from)) = relayed.recv() => (Accepted::Relayed(stream), from),
        }
    }

    /// Moves the listener to the current runtime.
    pub fn moved_here(self) -> std::io::Result<PortConnections> {
        let listener = TcpListener::from_std(self.listener.into_std()?)?;
        Ok(PortConnections { listener, ..self })
    }
}

/// The connections whose sockets are on other nodes.
pub struct Relays {
    ports: RwLock<HashMap<String, mpsc::Sender<(RelayStream, IpAddr)>>>,
    is_stopping: AtomicBool,
    is_stopped: AtomicBool,
}

impl Relays {
    /// Accepts the links of other nodes from now on.
    pub fn start(address: BusAddress, node: String, engine: Handle) -> Arc<Relays> {
        let (ports, is_stopping, is_stopped) = Default::default();
        let relays = Arc::new(Relays { ports, is_stopping, is_stopped });
        let (bus, events) = Bus::start(address, subject_of(&node));
        let hub = Hub {
            relays: Arc::clone(&relays),
            node,
            bus: Arc::new(bus),
            engine,
            begun: Instant::now(),
            nodes: BTreeMap::new(),
        };
        thread::spawn(move || hub.run(&events));
        relays
    }

    /// The connections of a port, on this node and on others.
    pub fn incoming(&self, port: &str, listener: TcpListener) -> PortConnections {
        let (sender, receiver) = mpsc::channel(BACKLOG_MAX);
        let mut ports = self.ports.write().unwrap_or_else(PoisonError::into_inner);
        ports.insert(port.to_owned(), sender);
        PortConnections { listener, relayed: Some(receiver) }
    }

    /// Closes all links. Waits until the other nodes can know that, but not long.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        let give_up = Instant::now() + FLUSH_MAX * 2;
        while !self.is_stopped.load(Ordering::Acquire) && Instant::now() < give_up {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Gives a connection to the gateway of its port. Without one, or without room, it closes.
    fn give_out(&self, port: &str, stream: RelayStream, from: IpAddr) {
        let ports = self.ports.read().unwrap_or_else(PoisonError::into_inner);
        let gateway = ports.get(port).cloned();
        drop(ports);
        if gateway.is_none_or(|gateway| gateway.try_send((stream, from)).is_err()) {
            tracing::debug!(port, "a relayed connection was rejected");
        }
    }
}

/// Counts a relayed player until the engine has handled the end of the connection.
pub(crate) struct SeatGuard {
    engine: Handle,
    link: u64,
}

impl SeatGuard {
    pub(super) fn new(engine: Handle, link: u64) -> SeatGuard {
        engine.relay_times().add_player(link);
        SeatGuard { engine, link }
    }
}

impl Drop for SeatGuard {
    fn drop(&mut self) {
        self.engine.relay_times().remove_player(self.link);
    }
}

/// A node with sockets.
struct LinkedNode {
    /// Which of the node's attempts to form a link this is.
    attempt: u64,
    link: Arc<RelayLink>,
    receiver: LinkReceiver,
}

/// The thread that reads the bus.
struct Hub {
    relays: Arc<Relays>,
    node: String,
    bus: Arc<Bus>,
    engine: Handle,
    begun: Instant,
    nodes: BTreeMap<String, LinkedNode>,
}

impl Hub {
    fn run(mut self, events: &Receiver<BusEvent>) {
        let mut due = Instant::now();
        loop {
            match events.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(BusEvent::Up) | Err(RecvTimeoutError::Timeout) => {}
                Ok(BusEvent::Down) => {
                    self.lose_where("the connection to the bus is lost", |_| true)
                }
                Ok(BusEvent::Message(message)) => self.take(message.into_bytes()),
                Ok(BusEvent::Unheard(subject)) => {
                    let mut linked = self.nodes.keys();
                    if let Some(name) = linked.find(|name| subject_of(name) == subject).cloned() {
                        self.lose(&name, "the node has left the bus");
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if due <= Instant::now() {
                due = Instant::now() + ALIVE_PAUSE;
                if self.relays.is_stopping.load(Ordering::Acquire) {
                    return self.stop();
                }
                for node in self.nodes.values() {
                    let (sent, read_until) = Default::default();
                    node.link.send(&RelayPacket::Alive { sent, read_until });
                    node.link.probe();
                    node.link.tick();
                }
                let now = self.begun.elapsed();
                self.lose_where("the node is silent", |node| node.receiver.is_silent(now));
            }
        }
    }

    fn stop(&mut self) {
        self.nodes.values().for_each(|node| node.link.lose());
        self.bus.flush(FLUSH_MAX);
        self.relays.is_stopped.store(true, Ordering::Release);
    }

    fn take(&mut self, bytes: Vec<u8>) {
        let Some(frame) = Frame::read(bytes) else { return };
        if frame.link() == 0 {
            let packet = frame.alone_encoded().and_then(RelayPacket::decode);
            if let Some(RelayPacket::Offer { node, attempt, format }) = packet
                && format == FORMAT
            {
                self.offered(node, attempt);
            }
            return;
        }
        let now = self.begun.elapsed();
        let mut linked = self.nodes.iter_mut();
        let Some((name, node)) = linked.find(|(_, node)| node.link.number == frame.link()) else {
            return;
        };
        let taken = node.receiver.take_encoded(frame, now).and_then(|packet| match packet {
            Some(packet) => RelayPacket::decode(&packet).ok_or(Broken).map(Some),
            None => Ok(None),
        });
        let name = name.clone();
        let handled = taken.and_then(|packet| match packet {
            Some(packet) => self.received(&name, packet),
            None => Ok(()),
        });
        if handled.is_err() {
            self.lose(&name, "a message is missing");
        }
    }

    fn received(&mut self, name: &str, packet: RelayPacket) -> Result<(), Broken> {
        let Some(LinkedNode { link, .. }) = self.nodes.get(name) else { return Ok(()) };
        match packet {
            RelayPacket::Alive { sent, read_until } => {
                let now = clock::now_ms();
                self.engine.relay_times().alive(link.number, sent, read_until, now);
                Ok(())
            }
            // Without room the connection stays unknown here, and the other side is told.
            RelayPacket::Open { conn, from, port } => {
                match link.open(conn) {
                    Some(stream) => self.relays.give_out(&port, stream, from),
                    None => link.send(&RelayPacket::Drop { conn }),
                }
                Ok(())
            }
            RelayPacket::Stopping => {
                tracing::info!(node = name, "a node stops; its players reconnect");
                link.stop();
                Ok(())
            }
            RelayPacket::Close => {
                self.lose(name, "the node has closed it");
                Ok(())
            }
            packet => link.receive(packet),
        }
    }

    /// Opens a link to a node.
    fn offered(&mut self, name: String, attempt: u64) {
        match self.nodes.get(&name) {
            Some(node) if node.attempt >= attempt => return,
            // The node has given its link up.
            Some(_) => self.lose(&name, "the node has given it up"),
            None => {}
        }
        let Ok(number) = auth::random::<8>().map(u64::from_be_bytes) else { return };
        let (bus, engine) = (Arc::clone(&self.bus), Some(self.engine.clone()));
        let link = RelayLink::new(bus, &name, number.max(1), engine);
        link.send(&RelayPacket::Accept { owner: self.node.clone(), attempt });
        tracing::info!(node = name, "a node relays its players");
        let receiver = LinkReceiver::after(0, self.begun.elapsed());
        self.nodes.insert(name, LinkedNode { attempt, link, receiver });
    }

    fn lose_where(&mut self, why: &str, is_lost: impl Fn(&LinkedNode) -> bool) {
        let lost = self.nodes.iter().filter(|(_, node)| is_lost(node));
        for name in lost.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.lose(&name, why);
        }
    }

    /// Gives the link to a node up. Its players may reconnect, and nobody is charged.
    fn lose(&mut self, name: &str, why: &str) {
        let Some(LinkedNode { link, .. }) = self.nodes.remove(name) else { return };
        let connections = link.len();
        tracing::warn!(node = name, connections, "the link to a node with players is lost: {why}");
        link.lose();
        self.engine.relay_times().close(link.number);
    }
}
