//! One player on a node: a connection of the engine's, whose socket it shares with others.

use super::node::Node;
use super::{Hub, node};
use crate::auth;
use crate::clock::now_ms;
use crate::engine::{ConnId, Input};
use crate::gateway::bucket::Bucket;
use crate::gateway::connection;
use crate::gateway::outbox::{Note, Out, Outbox, Pulse, Shows, Taker, Written};
use crate::wires::Wire;
use agon_core::{Fault, Millis, PlayerName};
use agon_wire::erlang::control::{Control, Process};
use agon_wire::erlang::refs::Key;
use agon_wire::erlang::session::{Deed, Login, Session, Speaks};
use agon_wire::erlang::term::{Pid, Ref};
use agon_wire::native::FromPlayer;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// One player, from its login on.
pub(super) struct Player {
    pub(super) key: Key,
    pub(super) user: PlayerName,
    /// The process that logged in.
    pub(super) pid: Pid,
    conn: ConnId,
    session: Mutex<Session<Note>>,
    /// The engine's inbox has so many places for it.
    room: Arc<Semaphore>,
    bucket: Mutex<Bucket>,
    /// The processes that are missed if they end.
    monitors: Mutex<Vec<(Ref, Pid)>>,
    _place: OwnedSemaphorePermit,
}

/// Begins a visit: to the engine a connection is opened, says hello and logs in.
pub(super) async fn visit(hub: &Arc<Hub>, node: &Arc<Node>, login: Login) {
    let places = Arc::clone(&hub.gateway.0.places).try_acquire_owned();
    let (Ok(_place), Ok(random)) = (places, auth::random::<8>()) else {
        hub.gateway.engine().meters().turned_away.add();
        tracing::warn!(node = node.name.as_str(), "a player was turned away: too many are here");
        return;
    };
    let (limits, engine) = (hub.gateway.limits(), hub.gateway.engine());
    let (conn, key) = (connection::number(), Key::new(random));
    let manager = hub.refs.pid(node::manager(match login.speaks {
        Speaks::Class(_) => 0,
        Speaks::Referee { .. } => 1,
        Speaks::Queue { .. } => 2,
    }));
    let shows = match login.speaks {
        Speaks::Referee { .. } => Shows::Ends,
        Speaks::Class(_) | Speaks::Queue { .. } => Shows::Game,
    };
    let (user, pid) = (login.user.clone(), login.pid.clone());
    let refs = Arc::clone(&hub.refs);
    let (session, first) = Session::new(login, manager, refs, key, hub.settings.accept_ms);
    let now = now_ms();
    let player = Arc::new(Player {
        key,
        user,
        pid,
        conn,
        session: Mutex::new(session),
        room: Arc::new(Semaphore::new(limits.inbox_lines_max.max(first.len()))),
        bucket: Mutex::new(Bucket::new(limits.lines_per_second_max, limits.lines_burst_max, now)),
        monitors: Mutex::default(),
        _place,
    });
    let asked = Box::new(Asked { player: Arc::clone(&player), node: Arc::clone(node) });
    let (out, outbox) = Outbox::shared(conn, Wire::Erlang, limits.outbox_lines_max, shows, asked);
    let pulse = Arc::clone(out.pulse());
    engine.meters().opened(Wire::Erlang).add();
    tracing::debug!(conn, from = %node.from, node = node.name.as_str(), "a player begins a visit");
    node.players().add(Arc::clone(&player));
    engine.send(Input::Opened { conn, out, from: node.from });
    for message in first {
        player.say(hub, message, now).await;
    }
    tokio::spawn(attend(Arc::clone(hub), Arc::clone(node), player, pulse, outbox));
}

/// Puts requests into a player's words where they come from.
struct Asked {
    player: Arc<Player>,
    node: Arc<Node>,
}

impl Taker for Asked {
    fn take(&self, line: &[u8]) -> Option<Written> {
        let note = Note::default();
        let deeds = self.player.session().ask(line, Arc::clone(&note))?;
        for deed in deeds {
            if let Deed::Tell { to, term, written } = deed {
                self.node.put(to, term, written);
            }
        }
        Some(Written::Later(note))
    }

    fn flush(&self) {
        self.node.pen.flush();
    }
}

/// Passes on what the engine says to a player, until it says no more.
async fn attend(
    hub: Arc<Hub>,
    node: Arc<Node>,
    player: Arc<Player>,
    pulse: Arc<Pulse>,
    mut outbox: mpsc::Receiver<Out>,
) {
    loop {
        let deadline = player.session().deadline();
        let came = match deadline {
            None => Ok(outbox.recv().await),
            Some(at) => {
                let left = Duration::from_millis(at.saturating_sub(now_ms()));
                tokio::time::timeout(left, outbox.recv()).await
            }
        };
        let (deeds, is_line) = match came {
            Ok(Some(out)) => (player.take(out), true),
            Ok(None) => break,
            Err(_) => (player.session().due(now_ms()), false),
        };
        player.perform(&hub, &node, deeds, now_ms()).await;
        if is_line && let Some(at_once) = &pulse.at_once {
            at_once.done();
        }
    }
    hub.gateway.engine().send(Input::Closed { conn: player.conn });
    node.players().remove(&player);
    for (reference, pid) in std::mem::take(&mut *player.monitors()) {
        let to = Process::Pid(pid);
        let from = hub.refs.pid(node::manager(0));
        node.pen.write(&Control::Demonitor { from, to, reference }, None);
    }
    connection::note_end(hub.gateway.engine(), &pulse, player.conn);
}

impl Player {
    pub(super) fn session(&self) -> MutexGuard<'_, Session<Note>> {
        self.session.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn monitors(&self) -> MutexGuard<'_, Vec<(Ref, Pid)>> {
        self.monitors.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// What follows from something the engine wrote.
    fn take(&self, out: Out) -> Vec<Deed<Note>> {
        match out {
            Out::Line(line, written) | Out::Rest(line, written) => {
                self.session().line(&line, written, now_ms())
            }
            // Its node has ticks, and no codes; what is told to other systems is not told to it.
            Out::Tell(_) | Out::Observed(..) | Out::Heartbeat | Out::Pong(_) | Out::Close(_) => {
                Vec::new()
            }
        }
    }

    /// Does what follows from something that was read at `at`.
    pub(super) async fn perform(&self, hub: &Hub, node: &Node, deeds: Vec<Deed<Note>>, at: Millis) {
        for deed in deeds {
            match deed {
                Deed::Tell { to, term, written } => node.tell(to, term, written),
                Deed::Say(message) => self.say(hub, message, at).await,
                Deed::LoggedIn => {
                    node.players().logged_in(self);
                    self.monitor(hub, node, self.pid.clone());
                }
                Deed::PlaysFor(pid) => self.monitor(hub, node, pid),
                Deed::NotLetIn(code) => {
                    let (user, node) = (self.user.as_str(), node.name.as_str());
                    tracing::info!(conn = self.conn, user, node, code, "a login was not good");
                    hub.gateway.engine().send(Input::Closed { conn: self.conn });
                }
                Deed::Stirred => hub.stirred.notify_waiters(),
            }
        }
    }

    /// Says something to the engine, when it has room for it.
    async fn say(&self, hub: &Hub, message: FromPlayer, at: Millis) {
        let place = Arc::clone(&self.room).acquire_owned().await;
        let place = place.expect("the room is never closed");
        hub.gateway.engine().send(Input::Said { conn: self.conn, message, at, place });
    }

    /// Misses a process if it ends.
    fn monitor(&self, hub: &Hub, node: &Node, pid: Pid) {
        let known = self.monitors().iter().any(|(_, other)| *other == pid);
        if known || pid.node != node.name {
            return;
        }
        let reference = self.session().mark();
        self.monitors().push((reference.clone(), pid.clone()));
        let (from, to) = (hub.refs.pid(node::manager(0)), Process::Pid(pid));
        node.pen.write(&Control::Monitor { from, to, reference }, None);
    }

    /// Whether a monitor is one of its own.
    pub(super) fn is_monitor(&self, reference: &Ref) -> bool {
        self.monitors().iter().any(|(own, _)| own == reference)
    }

    /// It is gone, and why.
    pub(super) fn lose(&self, hub: &Hub, fault: Fault) {
        hub.gateway.engine().send(Input::Lost { conn: self.conn, fault });
    }

    /// How long to wait before more of it is read.
    pub(super) fn wait_ms(&self, now: Millis) -> Option<Millis> {
        let mut bucket = self.bucket.lock().unwrap_or_else(|broken| broken.into_inner());
        bucket.take(0, now).err()
    }
}
