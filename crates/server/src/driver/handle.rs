//! The handle through which other threads reach the engine's thread.

use super::ServerError;
use crate::clock;
use crate::cluster::{RelayTimes, SeatGuard};
use crate::engine::query::{AnyAnswer, AnyQuery, Query, RemoteQuery, StartWatching};
use crate::engine::watch::{NoWatch, Shown, Topic, WatcherId};
use crate::engine::{ConnId, Input, StreamKey};
use crate::gateway::{OpenSocket, Outbox};
use crate::meters::Meters;
use crate::passwords::Passwords;
use crate::watch::{Watch, Watcher};
use agon_core::{Line, Millis, Results, Timestamp, Tournament, TournamentId};
use agon_games::Registry;
use agon_store::{AppendError, Log};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// A connection's place in the inbox; dropping it frees the place.
pub(crate) type InboxPlace = OwnedSemaphorePermit;

/// A message to the driver.
pub(crate) enum Message {
    /// An input of the engine.
    Input(Input),
    /// An input that holds a place in the inbox.
    Placed(Input, InboxPlace),
    /// A connection was opened.
    Opened { conn: ConnId, out: Outbox, from: IpAddr },
    /// A socket for the driver's thread to read.
    Read(Box<OpenSocket>),
    /// A connection was lost with the node that has its socket. The guard holds deadlines up until
    /// the engine has handled that.
    NodeGone(ConnId, SeatGuard),
    /// A query, and the callback for its answer.
    Query { query: Box<dyn AnyQuery>, reply: Reply },
    /// The answer of another engine to a query. It must not overtake what that engine sent before.
    Answered(Reply, AnyAnswer),
    /// A query of the lobby's engine on another node, with its number there.
    RemoteQuery { id: u64, query: RemoteQuery },
    /// The lobby's engine on another node has passed on all input up to this time.
    PassedUntil(Timestamp),
    /// A message to a watcher, from an engine on another node.
    Show(WatcherId, Shown),
    /// An engine on another node ended the subscription of a watcher.
    EndWatch(WatcherId),
    /// The queue of a watcher.
    Watch(WatcherId, Watcher),
    /// An engine on another thread of this server cannot continue.
    Failed(ServerError),
    /// Records that are durable or refused; each with its stream, in the order of their decisions.
    Committed { streams: Vec<StreamKey>, results: Vec<Result<u64, AppendError>> },
}

/// The callback for the answer to a query.
pub(crate) type Reply = Box<dyn FnOnce(AnyAnswer) + Send>;

/// Wakes the driver's thread, which waits for its sockets rather than for its inbox.
pub(super) struct Alarm {
    waker: mio::Waker,
    is_asleep: AtomicBool,
}

impl Alarm {
    pub(super) fn new(waker: mio::Waker) -> Alarm {
        Alarm { waker, is_asleep: AtomicBool::new(false) }
    }

    /// The thread goes to sleep, unless there is a message: it looks into the inbox once more after
    /// this. The fences order that look and the look of a sender at the flag.
    pub(super) fn set(&self) {
        self.is_asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The thread is awake.
    pub(super) fn unset(&self) {
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread if it sleeps: there is a message.
    fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::Relaxed) && self.is_asleep.swap(false, Ordering::AcqRel) {
            // Without a waker the message waits until the next timer.
            let _ = self.waker.wake();
        }
    }
}

/// The data that the driver shares with its handles.
pub(super) struct Shared {
    /// Wakes the thread of the lobby's engine.
    alarm: Arc<Alarm>,
    meters: Meters,
    passwords: Passwords,
    games: Registry,
    /// Weak: the log closes with the engine, even if handles are left.
    log: Weak<dyn Log>,
    /// How far the lobby's engine has come with its inbox.
    progress: Progress,
    /// How many watchers there have been; the next one's number.
    watchers: AtomicU64,
    /// The times of connections whose sockets are on other nodes.
    relays: RelayTimes,
}

impl Shared {
    pub(super) fn new(
        alarm: Alarm,
        passwords: Passwords,
        games: Registry,
        log: Weak<dyn Log>,
    ) -> Shared {
        let (meters, watchers) = (Meters::default(), AtomicU64::new(0));
        let (alarm, progress, relays) = (Arc::new(alarm), Default::default(), Default::default());
        Shared { alarm, meters, passwords, games, log, progress, watchers, relays }
    }
}

/// Access to the log for reading away from the engine.
#[derive(Clone)]
pub(crate) struct Archive {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) games: Registry,
}

/// How far the lobby's engine has come with its inbox. The other engines of the server rule about
/// late players only up to then: an answer that came earlier may wait in that inbox.
#[derive(Default)]
struct Progress {
    /// How many messages were put into the inbox.
    put: AtomicU64,
    /// How many of them the engine has handled.
    handled: AtomicU64,
    /// When the message that the engine handles now was read from its socket.
    until: AtomicU64,
    /// The time up to which the engine's thread has handled the sockets that it reads itself.
    sockets_until: AtomicU64,
}

/// How late the thread of the lobby's engine may wake up when a socket has input, for all that the
/// other engines know.
const WAKE_MS_MAX: Millis = 100;

/// A handle to an engine.
#[derive(Clone)]
pub struct Handle {
    inbox: Sender<Message>,
    alarm: Arc<Alarm>,
    shared: Arc<Shared>,
    /// True if others look at the progress with the inbox.
    counts: bool,
}

impl Handle {
    pub(super) fn new(inbox: Sender<Message>, shared: Shared) -> Handle {
        let alarm = Arc::clone(&shared.alarm);
        Handle { inbox, alarm, shared: Arc::new(shared), counts: false }
    }

    /// The same handle, for an engine that gives work to others.
    pub(super) fn counting(mut self) -> Handle {
        self.counts = true;
        self
    }

    /// A handle to another engine of the same server.
    pub(super) fn of_engine(&self, inbox: Sender<Message>, alarm: Alarm) -> Handle {
        let (alarm, shared) = (Arc::new(alarm), Arc::clone(&self.shared));
        Handle { inbox, alarm, shared, counts: false }
    }

    /// Notes that the engine has handled a message.
    pub(super) fn note_handled(&self) {
        if self.counts {
            self.shared.progress.handled.fetch_add(1, Ordering::Release);
        }
    }

    /// Notes when the message that the engine handles now was read from its socket.
    pub(super) fn note_read_at(&self, at: Timestamp) {
        if self.counts {
            self.shared.progress.until.store(at.as_ms(), Ordering::Release);
        }
    }

    /// The time up to which the lobby's engine has passed on all input, at `now`.
    pub(crate) fn passed_until(&self, now: Timestamp) -> Timestamp {
        let Progress { put, handled, until, sockets_until } = &self.shared.progress;
        // In this order: messages that are put in between only make it look busier.
        let handled = handled.load(Ordering::Acquire);
        let inbox = match handled >= put.load(Ordering::Acquire) {
            true => now,
            false => Timestamp::from_ms(until.load(Ordering::Acquire)),
        };
        let sockets = match self.shared.alarm.is_asleep.load(Ordering::Acquire) {
            true => now.before(WAKE_MS_MAX),
            false => Timestamp::from_ms(sockets_until.load(Ordering::Acquire)),
        };
        inbox.min(sockets).min(self.shared.relays.passed_until()).min(now)
    }

    /// Notes up to which time the engine's thread has handled its own sockets.
    pub(super) fn note_sockets_until(&self, until: Timestamp) {
        if self.counts {
            self.shared.progress.sockets_until.store(until.as_ms(), Ordering::Release);
        }
    }

    #[cfg(test)]
    pub(crate) fn detached() -> (Handle, std::sync::mpsc::Receiver<Message>) {
        let (inbox, receiver) = std::sync::mpsc::channel();
        let (games, passwords) = (Registry::standard(), Passwords::new(None, 1));
        let log = Weak::<agon_store::MemoryLog>::new();
        let (_, waker) = crate::gateway::DriverSockets::new(1).expect("a poll");
        let shared = Shared::new(Alarm::new(waker), passwords, games, log);
        (Handle::new(inbox, shared), receiver)
    }

    pub(crate) fn put(&self, message: Message) {
        if self.counts {
            self.shared.progress.put.fetch_add(1, Ordering::AcqRel);
        }
        // An engine that has ended receives nothing, and callers notice that by their closed
        // channel.
        let _ = self.inbox.send(message);
        self.alarm.ring();
    }

    pub(crate) fn send(&self, input: Input) {
        self.put(Message::Input(input));
    }

    /// Sends an input that holds a place in the inbox.
    pub(crate) fn send_placed(&self, input: Input, place: InboxPlace) {
        self.put(Message::Placed(input, place));
    }

    pub(super) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Lets the driver's thread read a socket.
    pub(crate) fn read_socket(&self, open: Box<OpenSocket>) {
        self.put(Message::Read(open));
    }

    /// Opens a connection.
    pub(crate) fn open(&self, conn: ConnId, out: Outbox, from: IpAddr) {
        self.put(Message::Opened { conn, out, from });
    }

    /// Asks the engine to stop once the records in flight are durable.
    pub fn stop(&self) {
        self.shared.meters.stopping.store(true, Ordering::Relaxed);
        self.send(Input::Stop);
    }

    /// Tells the engine that all nodes of the cluster read records up to this version.
    pub fn set_log_version(&self, version: u32) {
        self.send(Input::LogVersion(version));
    }

    /// Notes for the metrics how long this node took to take the log over.
    pub fn note_takeover(&self, took: std::time::Duration) {
        self.shared.meters.takeover_ms.store(took.as_millis() as u64, Ordering::Relaxed);
    }

    /// The earliest time at which bytes that were just read can have arrived: no player is charged
    /// for the server's own lateness.
    pub(crate) fn read_at(&self) -> Timestamp {
        let now = clock::now_ms();
        let at = self.shared.meters.reads.heard_until(now);
        if at < now {
            self.shared.meters.read_late.add();
        }
        at
    }

    /// The times of connections whose sockets are on other nodes.
    pub(crate) fn relay_times(&self) -> &RelayTimes {
        &self.shared.relays
    }

    /// Closes a connection that was lost with its node.
    pub(crate) fn node_gone(&self, conn: ConnId, guard: SeatGuard) {
        self.put(Message::NodeGone(conn, guard));
    }

    /// The server's counters.
    pub(crate) fn meters(&self) -> &Meters {
        &self.shared.meters
    }

    /// The password checks.
    pub(crate) fn passwords(&self) -> &Passwords {
        &self.shared.passwords
    }

    /// The log, for reading finished streams away from the engine; `None` if the engine has ended.
    pub(crate) fn archive(&self) -> Option<Archive> {
        let log = self.shared.log.upgrade()?;
        Some(Archive { log, games: self.shared.games.clone() })
    }

    /// The registered games.
    pub(crate) fn games(&self) -> &Registry {
        &self.shared.games
    }

    /// The results of a finished tournament, read from the log away from the engine; `None` if the
    /// engine has ended, or the log has no such tournament.
    pub async fn past_results(&self, id: TournamentId) -> Option<Results> {
        let Archive { log, games } = self.archive()?;
        let read = tokio::task::spawn_blocking(move || {
            let lines = log.load(&StreamKey::Tournament(id).name(), 0).ok()?;
            let lines = lines.iter().map(|line| Line::read(line).ok()).collect::<Option<Vec<_>>>();
            Tournament::fold(&lines?, &games, None).ok().map(|over| over.results())
        });
        read.await.ok()?
    }

    /// Sends the engine a query and waits for the answer; `None` if the engine ended first.
    pub async fn ask<Q: Query>(&self, query: Q) -> Option<Q::Answer> {
        self.post(query).await.ok()
    }

    /// Sends the engine a query. The caller need not wait for the answer.
    pub(crate) fn post<Q: Query>(&self, query: Q) -> oneshot::Receiver<Q::Answer> {
        let (sender, answer) = oneshot::channel();
        let reply: Reply = Box::new(move |answer| {
            if let Some(answer) = answer.downcast() {
                let _ = sender.send(answer);
            }
        });
        self.put(Message::Query { query: Box::new(query), reply });
        answer
    }

    /// Subscribes to a running topic, after the state with the mark `seen`; `None` if the engine has
    /// ended.
    pub(crate) async fn watch(
        &self,
        topic: Topic,
        seen: Option<u64>,
    ) -> Option<Result<Watch, NoWatch>> {
        let watcher = WatcherId(self.shared.watchers.fetch_add(1, Ordering::Relaxed));
        let (queue, mut watch) = Watcher::new(seen);
        self.put(Message::Watch(watcher, queue));
        let end = EndWatch { handle: self.clone(), watcher };
        let early = self.ask(StartWatching { watcher, topic }).await?;
        Some(early.map(|early| {
            watch.begin(early, Box::new(end));
            watch
        }))
    }
}

/// Ends a watcher's subscription when it is dropped.
struct EndWatch {
    handle: Handle,
    watcher: WatcherId,
}

impl Drop for EndWatch {
    fn drop(&mut self) {
        self.handle.send(Input::Unwatch(self.watcher));
    }
}
