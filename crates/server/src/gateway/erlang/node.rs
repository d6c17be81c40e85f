//! One connected node: its socket, its players, and its messages that are for none of them.

use super::dial::{self, Address};
use super::players::Players;
use super::writer::NodeWriter;
use super::{Hub, SILENCE_MS_MIN, TICKS_MAX, again, epmd, handshake, logins, route};
use crate::clock::now_ms;
use crate::gateway::bucket::Bucket;
use crate::gateway::outbox::Receipt;
use crate::net::{self, accept};
use agon_core::{Fault, FaultKind, Timestamp};
use agon_wire::erlang::NAMES;
use agon_wire::erlang::control::{self, Control, Process};
use agon_wire::erlang::decode;
use agon_wire::erlang::frames::Frames;
use agon_wire::erlang::term::{Atom, Pid, Term};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

/// How many bytes to read at once.
const READ_BYTES: usize = 32 * 1024;

/// How many logins and password changes of one node may wait.
const LOGINS_MAX: usize = 256;

/// How long EPMD may take to look up a node's port.
const LOOK_UP: Duration = Duration::from_millis(500);

/// The reason of a monitor whose process had ended before.
const NO_PROCESS: &str = "noproc";

/// The process that OTP nodes ask for permission to connect.
const NET_KERNEL: &str = "net_kernel";

/// The number of the process behind one of [`NAMES`].
pub(super) fn manager(name: u32) -> u32 {
    name + 1
}

/// A connected node.
pub(super) struct Node {
    pub(super) name: Atom,
    /// The number of the node's run.
    pub(super) creation: u32,
    pub(super) from: IpAddr,
    /// The port it listens on, once EPMD has answered.
    port: OnceLock<u16>,
    pub(super) writer: NodeWriter,
    players: Mutex<Players>,
    /// Logins and password changes, processed in order.
    pub(super) logins: mpsc::Sender<logins::LoginRequest>,
    /// Places for logins that wait because of earlier wrong passwords.
    pub(super) waiting: Arc<Semaphore>,
}

impl Node {
    pub(super) fn players(&self) -> MutexGuard<'_, Players> {
        self.players.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Sends a message to a process of the node.
    pub(super) fn tell(&self, to: Pid, message: Term, written: Option<Receipt>) {
        if let Some(control) = self.message(to, message) {
            self.writer.write(&control, written);
        }
    }

    /// Like `tell`, for a caller that flushes the writer itself.
    pub(super) fn put(&self, to: Pid, message: Term, written: Option<Receipt>) {
        if let Some(control) = self.message(to, message) {
            self.writer.put(&control, written);
        }
    }

    fn message(&self, to: Pid, message: Term) -> Option<Control> {
        if to.node != self.name {
            tracing::debug!(node = self.name.as_str(), "a process of another node cannot be told");
            return None;
        }
        Some(Control::Send { from: None, to: Process::Pid(to), message })
    }
}

impl Node {
    /// The address to reach it again, if the connection closes.
    pub(super) fn address(&self) -> Address {
        Address { node: self.name.clone(), from: self.from, port: self.port.get().copied() }
    }
}

/// A node that connects, or was connected to.
pub(super) struct Visitor {
    pub(super) name: Atom,
    pub(super) creation: u32,
    pub(super) from: IpAddr,
}

/// Accepts nodes until the task is dropped.
pub(super) async fn accept_all(listener: TcpListener, hub: Arc<Hub>) {
    loop {
        let place = hub.gateway.place().await;
        let (mut socket, from) = accept(&listener).await;
        let Some(guest) = hub.gateway.guest(from) else {
            hub.gateway.engine().meters().turned_away.add();
            continue;
        };
        let hub = Arc::clone(&hub);
        tokio::spawn(async move {
            net::tune(&socket, hub.gateway.limits());
            if let Some((peer, frames)) = handshake::let_in(&hub, from, &mut socket).await {
                let visitor = Visitor { name: peer.node, creation: peer.creation, from };
                stay(&hub, visitor, socket, frames).await;
            }
            drop((place, guest));
        });
    }
}

/// Why a node disconnected.
enum Gone {
    /// It closed the connection, or its system did because it was killed.
    Ended,
    /// It connected again.
    Again,
    /// It sent nothing for too long, or writing to it failed.
    Silent,
    /// Its input cannot be parsed, and neither can the rest of it.
    Broken(String),
}

impl Gone {
    fn fault(&self) -> Fault {
        let (code, detail) = match self {
            Gone::Ended => ("node-ended", "its node ended the connection, or was killed".into()),
            Gone::Again => ("node-ended", "its node connected again".into()),
            Gone::Silent => ("connection-lost", "its node gave no sign of life".into()),
            Gone::Broken(why) => ("connection-lost", format!("its node sent {why}")),
        };
        let detail: String = detail;
        Fault::new(FaultKind::Disconnected, code, detail)
    }
}

/// Serves a node until the connection closes.
pub(super) async fn stay(hub: &Arc<Hub>, visitor: Visitor, socket: TcpStream, frames: Frames) {
    let Visitor { name, creation, from } = visitor;
    let (logins_in, logins) = mpsc::channel(LOGINS_MAX);
    let (mut read, write) = socket.into_split();
    let (writer, players) = (NodeWriter::new(write), Mutex::default());
    let (own, port) = (name.clone(), OnceLock::new());
    let waiting = Arc::new(Semaphore::new(logins::WAITING_MAX));
    let node = Arc::new(Node {
        name: own,
        creation,
        from,
        port,
        writer,
        players,
        logins: logins_in,
        waiting,
    });
    let old = hub.nodes().insert(name.clone(), Arc::clone(&node));
    if let Some(old) = old {
        // The node's system lost the old connection without closing it.
        lose_all(hub, &old, &Gone::Again);
        old.writer.close();
    }
    tracing::info!(node = name.as_str(), %from, "an Erlang node is connected");
    hub.connected.notify_waiters();
    tokio::spawn(again::attach_players(Arc::clone(hub), Arc::clone(&node)));
    let opened = tokio::spawn({
        let (hub, node) = (Arc::clone(hub), Arc::clone(&node));
        async move {
            // Logins record the node's port, so EPMD is asked first.
            look_up(&hub, &node).await;
            logins::keep(hub, node, logins).await;
        }
    });
    let tick = Duration::from_millis(hub.settings.tick_ms.max(1));
    let patience = Duration::from_millis(hub.gateway.limits().write_ms_max);
    let gone = tokio::select! {
        gone = listen(hub, &node, &mut read, frames) => gone,
        () = node.writer.run(tick, patience) => Gone::Silent,
    };
    node.writer.close();
    node.writer.end().await;
    opened.abort();
    let mut all = hub.nodes();
    if all.get(&name).is_some_and(|current| Arc::ptr_eq(current, &node)) {
        all.remove(&name);
    }
    drop(all);
    let why = gone.fault();
    tracing::info!(node = name.as_str(), why = &*why.code, "an Erlang node is gone");
    lose_all(hub, &node, &gone);
}

/// Asks EPMD for a node's port. An EPMD that restarts together with this server would not know it.
async fn look_up(hub: &Hub, node: &Node) {
    let alive = node.name.as_str().split('@').next().unwrap_or_default();
    let asked = epmd::port_of(dial::epmd_of(hub, &node.address()), alive);
    if let Ok(Ok(Some(port))) = tokio::time::timeout(LOOK_UP, asked).await {
        let _ = node.port.set(port);
    }
}

fn lose_all(hub: &Hub, node: &Node, gone: &Gone) {
    let all = node.players().all();
    all.iter().for_each(|player| player.lose(hub, gone.fault()));
}

/// Reads until the connection closes.
async fn listen(
    hub: &Arc<Hub>,
    node: &Arc<Node>,
    from: &mut (impl AsyncRead + Unpin),
    mut frames: Frames,
) -> Gone {
    let limits = hub.gateway.limits();
    let mut bucket = Bucket::new(limits.lines_per_second_max, limits.lines_burst_max, now_ms());
    let silence_ms = hub.settings.tick_ms.saturating_mul(TICKS_MAX).max(SILENCE_MS_MIN);
    let silence = Duration::from_millis(silence_ms);
    let mut bytes = vec![0; READ_BYTES];
    let mut at = now_ms();
    loop {
        loop {
            let control = match frames.take() {
                None => break,
                Some(Err(long)) => return Gone::Broken(long.to_string()),
                Some(Ok(frame)) => control::decode(frame, decode::TermLimits::default()),
            };
            match control {
                Ok(None) => {}
                Ok(Some(control)) => {
                    hear(hub, node, control, at, &mut bucket).await;
                }
                // An invalid message does not affect the next one.
                Err(bad) => tracing::info!(
                    node = node.name.as_str(), reason = %bad, "a message cannot be read"
                ),
            }
        }
        match tokio::time::timeout(silence, from.read(&mut bytes)).await {
            Ok(Ok(0)) => return Gone::Ended,
            Ok(Ok(count)) => frames.push(&bytes[..count]),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::TimedOut => return Gone::Silent,
            Ok(Err(_)) => return Gone::Ended,
            Err(_) => return Gone::Silent,
        }
        at = hub.gateway.engine().read_at();
    }
}

/// Handles a control message of a node.
async fn hear(
    hub: &Arc<Hub>,
    node: &Arc<Node>,
    control: Control,
    at: Timestamp,
    bucket: &mut Bucket,
) {
    match control {
        Control::Send { from, to, message } => match to {
            Process::Name(name) if NAMES.contains(&name.as_str()) => {
                route::deliver(hub, node, from.as_ref(), &message, at, bucket).await;
            }
            Process::Pid(pid) if is_manager(hub, &pid) => {
                route::deliver(hub, node, from.as_ref(), &message, at, bucket).await;
            }
            Process::Name(name) if name.as_str() == NET_KERNEL => greet(node, &message),
            _ => {}
        },
        // Other monitors and links end with the connection, which the node notices itself.
        Control::Monitor { from, to, reference } if !is_here(hub, &to) => {
            let reason = Term::atom("noproc");
            node.writer.write(&Control::Down { from: to, to: from, reference, reason }, None);
        }
        Control::Link { from, to } if !is_manager(hub, &to) => {
            let reason = Term::atom("noproc");
            node.writer.write(&Control::Exit { from: to, to: from, reason }, None);
        }
        Control::Unlink { id, from, to } => {
            node.writer.write(&Control::Unlinked { id, from: to, to: from }, None);
        }
        Control::Down { reference, reason, .. } => {
            let player = hub.refs.key_of(&reference).and_then(|key| node.players().with_key(key));
            if let Some(player) = player.filter(|player| player.is_monitor(&reference)) {
                // Reasons that are not atoms may contain the process's state, including passwords.
                let why = reason.as_atom().unwrap_or("an error");
                if why == NO_PROCESS && player.found_again {
                    return player.was_not_there(hub);
                }
                let detail = format!("its process ended: {why}");
                let fault = Fault::new(FaultKind::Disconnected, "process-ended", detail);
                player.lose(hub, fault);
            }
        }
        _ => {}
    }
}

/// Returns whether a pid belongs to one of our named processes.
fn is_manager(hub: &Hub, pid: &Pid) -> bool {
    let numbers = manager(0)..manager(NAMES.len() as u32);
    hub.refs.is_own(pid) && pid.serial == 0 && numbers.contains(&pid.id)
}

fn is_here(hub: &Hub, process: &Process) -> bool {
    match process {
        Process::Pid(pid) => is_manager(hub, pid),
        Process::Name(name) => name.as_str() == NET_KERNEL || NAMES.contains(&name.as_str()),
    }
}

/// Answers `net_adm:ping`: a call to the kernel process, which replies that the node may connect.
fn greet(node: &Node, message: &Term) {
    let Some([call, caller, asked]) = message.as_tuple() else { return };
    let is_auth = asked.as_tuple().and_then(|asked| asked.first()).and_then(Term::as_atom);
    let (Some("$gen_call"), Some("is_auth")) = (call.as_atom(), is_auth) else { return };
    if let Some([Term::Pid(pid), tag]) = caller.as_tuple() {
        let reply = Term::tuple([tag.clone(), Term::atom("yes")]);
        node.tell(pid.clone(), reply, None);
    }
}
