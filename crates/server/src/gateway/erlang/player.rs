//! One player on a node: a connection to the engine that shares its socket with others.

use super::again::CutOff;
use super::node::Node;
use super::{Hub, logins, node};
use crate::auth;
use crate::clock::now_ms;
use crate::driver::Handle;
use crate::engine::query::{AttachAgain, Locate, Relocate, ReportNotThere};
use crate::engine::{AskId, ConnId, Input, SeatKind, TranslatedAnswer};
use crate::gateway::bucket::Bucket;
use crate::gateway::connection;
use crate::gateway::outbox::{Liveness, Out, Outbox, Receipt, Taker};
use agon_core::{Fault, Millis, PlayerName, Timestamp};
use agon_wire::erlang::control::{Control, Process};
use agon_wire::erlang::location::Location;
use agon_wire::erlang::queue;
use agon_wire::erlang::refs::Key;
use agon_wire::erlang::session::{ErlangLogin, Session, SessionOutput, Speaks};
use agon_wire::erlang::term::{Pid, Ref};
use agon_wire::native::FromPlayer;
use agon_wire::request::Shows;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};

/// One player, from their login on.
pub(super) struct Player {
    pub(super) key: Key,
    pub(super) user: PlayerName,
    /// The process that logged in.
    pub(super) pid: Pid,
    conn: ConnId,
    session: Mutex<Session<Receipt>>,
    /// The player's places in the engine's inbox.
    room: Arc<Semaphore>,
    bucket: Mutex<Bucket>,
    /// The login until it succeeds, and when the player first asked, for protocols without a
    /// rejection.
    login: Mutex<Option<(ErlangLogin, Timestamp)>>,
    /// Notified when a deadline may be earlier than before.
    wake: Notify,
    /// The processes whose end disconnects the player.
    monitors: Mutex<Vec<(Ref, Pid)>>,
    /// Where the player is, in the log's format.
    location: Mutex<Location>,
    /// True if they were found after a restart, and did not log in.
    pub(super) found_again: bool,
    _place: OwnedSemaphorePermit,
}

/// Starts a session: opens a connection to the engine, says hello and logs in. `since` is when the
/// player first asked.
pub(super) async fn visit(hub: &Arc<Hub>, node: &Arc<Node>, login: ErlangLogin, since: Timestamp) {
    let places = Arc::clone(&hub.gateway.0.places).try_acquire_owned();
    let (Ok(place), Ok(random)) = (places, auth::random::<8>()) else {
        hub.gateway.engine().meters().turned_away.add();
        let (node_name, user) = (node.name.as_str(), login.user.as_str());
        let reason = "too many players are connected";
        tracing::warn!(node = node_name, user, reason, "a login was refused");
        if let Speaks::Queue { .. } = login.speaks {
            node.tell(login.pid, queue::not_authenticated(), None);
        }
        return;
    };
    let again = match login.speaks {
        Speaks::Queue { .. } => None,
        Speaks::Class(_) | Speaks::Referee { .. } => Some((login.clone(), since)),
    };
    let key = Key::new(random);
    let (manager, refs) = (manager(hub, &login.speaks), Arc::clone(&hub.refs));
    let mut location = Location::new(&manager, &login, key, node.from);
    location.port = node.address().port;
    let kept = location.write();
    let (user, pid, shows) = (login.user.clone(), login.pid.clone(), shows(&login.speaks));
    let (session, first) = Session::new(login, manager, refs, key, hub.settings.accept_ms);
    let who = Who { user, pid, key, login: again, location, found_again: false };
    let player = begin(hub, who, session, place, first.len());
    let (conn, now) = (player.conn, now_ms());
    open(hub, node, &player, shows);
    drop(hub.gateway.engine().post(Locate { conn, location: kept }));
    for message in first {
        player.say(hub, message, now).await;
    }
}

/// Resumes the session of a process that was found again after a restart.
pub(super) async fn visit_again(hub: &Arc<Hub>, node: &Arc<Node>, found: CutOff) {
    let CutOff { user, location, tournaments } = found;
    let places = Arc::clone(&hub.gateway.0.places).try_acquire_owned();
    let (Ok(place), Ok(random)) = (places, auth::random::<4>()) else { return };
    let (Some(pid), Some(speaks)) = (location.pid(), location.speaks()) else { return };
    let (manager, refs, key) = (manager(hub, &speaks), Arc::clone(&hub.refs), location.key());
    let (accept_ms, last) = (hub.settings.accept_ms, u32::from_be_bytes(random));
    let session =
        Session::again(&location, user.clone(), manager, refs, accept_ms, &tournaments, last);
    let Some(session) = session else { return };
    let played: Vec<Pid> = session.plays_elsewhere().map(|(_, pid)| pid.clone()).collect();
    let kept = location.write();
    let own = (user.clone(), pid.clone());
    let who = Who { user: own.0, pid: own.1, key, login: None, location, found_again: true };
    let player = begin(hub, who, session, place, 0);
    open(hub, node, &player, shows(&speaks));
    node.players().logged_in(&player);
    // Before any request: the end of a process must be noticed first.
    player.monitor(hub, node, pid);
    played.into_iter().for_each(|pid| player.monitor(hub, node, pid));
    let (conn, account, name) = (player.conn, user.clone(), user);
    let asked = hub.gateway.engine().ask(AttachAgain { conn, account, location: kept });
    let (user, node) = (name.as_str(), node.name.as_str());
    match asked.await {
        Some(true) => tracing::info!(conn = conn.0, user, node, "a player was found again"),
        _ => hub.gateway.engine().send(Input::Closed { conn }),
    }
}

/// The process of ours that a player talks to.
fn manager(hub: &Hub, speaks: &Speaks) -> Pid {
    hub.refs.pid(node::manager(match speaks {
        Speaks::Class(_) => 0,
        Speaks::Referee { .. } => 1,
        Speaks::Queue { .. } => 2,
    }))
}

/// How much of a match the requests of a protocol need.
fn shows(speaks: &Speaks) -> Shows {
    match speaks {
        Speaks::Referee { .. } => Shows::Ends,
        Speaks::Class(_) | Speaks::Queue { .. } => Shows::Game,
    }
}

/// The player of a session.
struct Who {
    user: PlayerName,
    pid: Pid,
    key: Key,
    /// The login to retry after too many wrong passwords, and when the player first asked.
    login: Option<(ErlangLogin, Timestamp)>,
    location: Location,
    found_again: bool,
}

/// Creates a player; `first` is how many messages they send at once.
fn begin(
    hub: &Hub,
    who: Who,
    session: Session<Receipt>,
    place: OwnedSemaphorePermit,
    first: usize,
) -> Arc<Player> {
    let Who { user, pid, key, login, location, found_again } = who;
    let limits = hub.gateway.limits();
    let bucket = Bucket::new(limits.lines_per_second_max, limits.lines_burst_max, now_ms());
    Arc::new(Player {
        key,
        user,
        pid,
        conn: connection::number(),
        session: Mutex::new(session),
        room: Arc::new(Semaphore::new(limits.inbox_lines_max.max(first))),
        bucket: Mutex::new(bucket),
        login: Mutex::new(login),
        wake: Notify::new(),
        monitors: Mutex::default(),
        location: Mutex::new(location),
        found_again,
        _place: place,
    })
}

/// Opens the player's connection: to the engine it is like any other.
fn open(hub: &Arc<Hub>, node: &Arc<Node>, player: &Arc<Player>, shows: Shows) {
    let (limits, engine, conn) = (hub.gateway.limits(), hub.gateway.engine(), player.conn);
    let requests = RequestTranslator {
        player: Arc::clone(player),
        node: Arc::clone(node),
        engine: engine.clone(),
    };
    let (seat, requests) = (SeatKind::process(shows), Box::new(requests));
    let (out, outbox) = Outbox::shared(conn, seat, limits.outbox_lines_max, requests);
    let liveness = Arc::clone(out.liveness());
    engine.meters().opened(seat.wire).add();
    tracing::debug!(conn = conn.0, from = %node.from, node = node.name.as_str(), "a player begins a visit");
    node.players().add(Arc::clone(player));
    engine.open(conn, out, node.from);
    tokio::spawn(attend(Arc::clone(hub), Arc::clone(node), Arc::clone(player), liveness, outbox));
}

/// Translates requests on the engine's thread.
struct RequestTranslator {
    player: Arc<Player>,
    node: Arc<Node>,
    engine: Handle,
}

impl Taker for RequestTranslator {
    fn take(&self, line: &[u8], ask: &AskId) -> bool {
        let (engine, conn, ask) = (self.engine.clone(), self.player.conn, ask.clone());
        let receipt = Receipt::Engine { engine, conn, ask };
        let now = now_ms();
        let Some(outputs) = self.player.session().ask(line, receipt, now) else { return false };
        for output in outputs {
            match output {
                SessionOutput::Tell { to, term, written } => self.node.put(to, term, written),
                SessionOutput::Running(receipt) => receipt.written(now),
                _ => {}
            }
        }
        if self.player.session().deadline().is_some() {
            self.player.wake.notify_one();
        }
        true
    }

    fn flush(&self) {
        self.node.writer.flush();
    }
}

/// Passes the engine's messages on to a player, until the connection closes.
async fn attend(
    hub: Arc<Hub>,
    node: Arc<Node>,
    player: Arc<Player>,
    liveness: Arc<Liveness>,
    mut outbox: mpsc::Receiver<Out>,
) {
    loop {
        let deadline = player.session().deadline();
        let (outputs, is_line) = tokio::select! {
            came = outbox.recv() => match came {
                Some(out) => (player.take(&hub, out), true),
                None => break,
            },
            () = pass(deadline) => (player.session().due(now_ms()), false),
            () = player.wake.notified() => continue,
        };
        player.perform(&hub, &node, outputs, now_ms()).await;
        if is_line && let Some(at_once) = &liveness.at_once {
            at_once.done();
        }
    }
    hub.gateway.engine().send(Input::Closed { conn: player.conn });
    node.players().remove(&player);
    for (reference, pid) in std::mem::take(&mut *player.monitors()) {
        let to = Process::Pid(pid);
        let from = hub.refs.pid(node::manager(0));
        node.writer.write(&Control::Demonitor { from, to, reference }, None);
    }
    connection::note_end(hub.gateway.engine(), &liveness, player.conn);
}

/// Waits for a deadline, for ever if there is none.
async fn pass(deadline: Option<Timestamp>) {
    match deadline {
        Some(at) => {
            tokio::time::sleep(Duration::from_millis(at.since(now_ms()))).await;
        }
        None => std::future::pending().await,
    }
}

impl Player {
    pub(super) fn session(&self) -> MutexGuard<'_, Session<Receipt>> {
        self.session.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn monitors(&self) -> MutexGuard<'_, Vec<(Ref, Pid)>> {
        self.monitors.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// The outputs for a message of the engine.
    fn take(&self, hub: &Hub, out: Out) -> Vec<SessionOutput<Receipt>> {
        match out {
            Out::Line(line, ask) | Out::Rest(line, ask) => {
                let (engine, conn) = (hub.gateway.engine().clone(), self.conn);
                let receipt = ask.map(|ask| Receipt::Engine { engine, conn, ask });
                self.session().line(&line, receipt, now_ms())
            }
            // The node has ticks instead, and no close codes; calls to other systems are not for
            // it.
            Out::Tell(_) | Out::Observed(..) | Out::Heartbeat | Out::Pong(_) | Out::Close(_) => {
                Vec::new()
            }
        }
    }

    /// Carries out outputs that follow from input read at `at`.
    pub(super) async fn perform(
        &self,
        hub: &Arc<Hub>,
        node: &Arc<Node>,
        outputs: Vec<SessionOutput<Receipt>>,
        at: Timestamp,
    ) {
        for output in outputs {
            match output {
                // A message with a wrong password may come from any node.
                SessionOutput::Tell { to, term, .. } if to.node != node.name => hub.tell(to, term),
                SessionOutput::Tell { to, term, written } => node.tell(to, term, written),
                SessionOutput::Running(receipt) => receipt.written(now_ms()),
                SessionOutput::Say(message) => self.say(hub, message, at).await,
                SessionOutput::Answer { id, answer, sent } => {
                    let place = self.place().await;
                    let (conn, said) = (self.conn, TranslatedAnswer { id, answer, sent });
                    let input = Input::Translated { conn, said, at };
                    hub.gateway.engine().send_placed(input, place);
                }
                SessionOutput::Refused { code, detail } => {
                    let (user, node) = (self.user.as_str(), node.name.as_str());
                    tracing::info!(node, user, code, reason = detail, "a message was refused");
                }
                SessionOutput::LoggedIn => {
                    self.login().take();
                    node.players().logged_in(self);
                    self.monitor(hub, node, self.pid.clone());
                }
                SessionOutput::PlaysFor(pid) => {
                    self.monitor(hub, node, pid);
                    self.relocate(hub);
                }
                SessionOutput::NotLetIn(code) => {
                    let (user, name) = (self.user.as_str(), node.name.as_str());
                    tracing::info!(node = name, user, reason = code, "a login was refused");
                    hub.gateway.engine().send(Input::Closed { conn: self.conn });
                    let again = self.login().take().filter(|_| code == "slow-down");
                    if let Some((login, since)) = again {
                        logins::try_again(hub, node, login, since);
                    }
                }
                SessionOutput::Stirred => hub.stirred.notify_waiters(),
            }
        }
    }

    /// Sends the engine a message, when its inbox has a place.
    async fn say(&self, hub: &Hub, message: FromPlayer, at: Timestamp) {
        let place = self.place().await;
        let input = Input::Said { conn: self.conn, message, at };
        hub.gateway.engine().send_placed(input, place);
    }

    async fn place(&self) -> OwnedSemaphorePermit {
        let place = Arc::clone(&self.room).acquire_owned().await;
        place.expect("the semaphore is never closed")
    }

    fn login(&self) -> MutexGuard<'_, Option<(ErlangLogin, Timestamp)>> {
        self.login.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Monitors a process, whose end disconnects the player.
    fn monitor(&self, hub: &Hub, node: &Node, pid: Pid) {
        let known = self.monitors().iter().any(|(_, other)| *other == pid);
        if known || pid.node != node.name {
            return;
        }
        let reference = self.session().mark();
        self.monitors().push((reference.clone(), pid.clone()));
        let (from, to) = (hub.refs.pid(node::manager(0)), Process::Pid(pid));
        node.writer.write(&Control::Monitor { from, to, reference }, None);
    }

    /// Commits which processes play for the player.
    fn relocate(&self, hub: &Hub) {
        let mut location = self.location.lock().unwrap_or_else(|broken| broken.into_inner());
        location.set_plays(self.session().plays_elsewhere());
        let (conn, kept) = (self.conn, location.write());
        drop(hub.gateway.engine().post(Relocate { conn, location: kept }));
    }

    /// Reports that the process had ended before it was looked for: nobody is charged.
    pub(super) fn was_not_there(&self, hub: &Hub) {
        drop(hub.gateway.engine().post(ReportNotThere(self.conn)));
    }

    /// Returns whether a monitor is one of the player's own.
    pub(super) fn is_monitor(&self, reference: &Ref) -> bool {
        self.monitors().iter().any(|(own, _)| own == reference)
    }

    /// Reports the player as disconnected, with the reason.
    pub(super) fn lose(&self, hub: &Hub, fault: Fault) {
        hub.gateway.engine().send(Input::Lost { conn: self.conn, fault });
    }

    /// How long to wait before reading more of the player's input.
    pub(super) fn wait_ms(&self, now: Timestamp) -> Option<Millis> {
        let mut bucket = self.bucket.lock().unwrap_or_else(|broken| broken.into_inner());
        bucket.take(0, now).err()
    }
}
