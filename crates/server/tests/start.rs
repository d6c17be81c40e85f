//! Starting: how much of the log is read, what becomes of snapshots, and what an hour without a
//! server means to sign-ups.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use agon_bots::Houses;
use agon_core::lobby::{
    AccountKind, Lobby, LobbyCommand, PasswordHash, QueueName, Role, Selection, Standing, Window,
};
use agon_core::{Line, Timestamp, record_lines};
use agon_games::Registry;
use agon_server::query::Register;
use agon_server::{Driver, Handle, Limits, ServerError, Settings};
use agon_store::{Append, AppendError, Done, Log, LogError, MemoryLog, Snapshot};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use support::{Server, announcement, name, named, until};

/// A log that counts how much of it is read.
#[derive(Default)]
struct Counted {
    log: MemoryLog,
    lines: AtomicU64,
    past: AtomicU64,
    lists: AtomicU64,
}

impl Log for Counted {
    fn submit(&self, append: Append, done: Done) {
        self.log.submit(append, done);
    }

    fn append(&self, append: Append) -> Result<u64, AppendError> {
        self.log.append(append)
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        let lines = self.log.load(stream, after)?;
        self.lines.fetch_add(lines.len() as u64, Ordering::SeqCst);
        self.past.fetch_add(u64::from(stream.contains("past")), Ordering::SeqCst);
        Ok(lines)
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        self.log.streams()
    }

    fn flush(&self) -> Result<(), LogError> {
        self.log.flush()
    }

    fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<(), LogError> {
        self.log.keep_snapshot(snapshot)
    }

    fn snapshot(&self, stream: &str) -> Result<Option<Snapshot>, LogError> {
        self.log.snapshot(stream)
    }
}

impl Counted {
    /// Lines read since the last time it was asked.
    fn lines_read(&self) -> u64 {
        self.lines.swap(0, Ordering::SeqCst)
    }

    /// The lobby as all its events make it.
    fn folded(&self) -> Lobby {
        let lines = self.log.load("lobby", 0).unwrap();
        Lobby::fold(&lines.iter().map(|text| Line::read(text).unwrap()).collect::<Vec<_>>())
            .unwrap()
    }
}

/// Accounts, a hundred tournaments that are over, and players who come and go in a queue.
fn busy_lobby(events: u64) -> Counted {
    let counted = Counted::default();
    let (mut lobby, mut version) = (Lobby::default(), 0);
    let mut step = |command: LobbyCommand| {
        let events = lobby.step(Timestamp::from_ms(1_000 + version), command).unwrap();
        let lines = record_lines("lobby", version, Timestamp::from_ms(1_000 + version), &events);
        let append = Append { stream: "lobby".into(), expected: version, lines };
        version = counted.append(append).unwrap();
        version
    };
    for number in 0..50 {
        let (kind, role) = (AccountKind::Program, Role::Player);
        let account = name(&format!("p{number}"));
        step(LobbyCommand::Register { account, kind, role, password: None });
    }
    for number in 0..100 {
        let mut past = announcement(&format!("past-{number}"), "yahtzee-queue", 1, 2);
        past.selection = named(&["p1", "p2"]);
        let (tournament, winners) = (past.id.clone(), vec![name("p1")]);
        let (announcement, absent) = (Box::new(past), std::collections::BTreeSet::new());
        step(LobbyCommand::Announce { announcement, secret: None, absent });
        step(LobbyCommand::Finish { tournament, winners, head: None });
    }
    let queue = QueueName::new("yahtzee-queue").unwrap();
    for number in 0.. {
        let (player, queue) = (name(&format!("p{}", number % 50)), queue.clone());
        let command = match number / 50 % 2 {
            0 => LobbyCommand::Enqueue { player, queue },
            _ => LobbyCommand::Dequeue { player, queue },
        };
        if step(command) >= events {
            return counted;
        }
    }
    unreachable!("numbers do not end")
}

/// An engine that runs.
struct Running {
    runtime: tokio::runtime::Runtime,
    handle: Handle,
    thread: JoinHandle<Result<(), ServerError>>,
}

impl Running {
    fn over(log: &Arc<Counted>) -> Running {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let engine = open(log, &runtime);
        let handle = engine.handle();
        Running { runtime, handle, thread: std::thread::spawn(move || engine.run()) }
    }

    fn stop(self) {
        self.handle.stop();
        self.thread.join().unwrap().unwrap();
    }
}

fn open(log: &Arc<Counted>, runtime: &tokio::runtime::Runtime) -> Driver {
    let log: Arc<dyn Log> = Arc::clone(log) as Arc<dyn Log>;
    let (games, houses) = (Registry::standard(), Houses::standard());
    let (settings, limits) = (Settings::default(), Limits::default());
    Driver::open(log, games, houses, settings, &limits, runtime.handle().clone()).unwrap()
}

#[test]
fn a_start_reads_what_came_after_the_snapshot_and_nothing_else() {
    let log = Arc::new(busy_lobby(200_000));
    let first = Running::over(&log);
    assert!(log.lines_read() >= 200_000, "without a snapshot all is read");
    // It is taken in the background, as soon as there is enough new; no stop is needed for it.
    until("a snapshot was taken", || log.log.snapshot("lobby").unwrap().is_some());
    log.lines_read();
    let second = open(&log, &first.runtime);
    assert!(log.lines_read() < 100, "only what came after it");
    assert_eq!(*second.lobby(), log.folded());
    drop(second);
    let registered = first.runtime.block_on(first.handle.ask(Register {
        account: name("new"),
        kind: AccountKind::Program,
        role: Role::Player,
        password: PasswordHash::new("x"),
    }));
    registered.unwrap().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    first.stop();
    log.lines_read();
    let third = open(&log, &runtime);
    assert!(log.lines_read() <= 3, "a stop takes a snapshot of everything");
    assert!(third.lobby().account(&name("new")).is_some());
    assert_eq!(*third.lobby(), log.folded());
    assert_eq!(log.past.load(Ordering::SeqCst), 0, "what is over is not opened");
    assert_eq!(log.lists.load(Ordering::SeqCst), 0, "streams are not listed");
}

#[test]
fn a_snapshot_of_another_version_is_passed_over() {
    let log = Arc::new(busy_lobby(1_000));
    let (stream, format, seq) = ("lobby".to_owned(), Lobby::SNAPSHOT_VERSION, 1_000);
    let good = Snapshot { stream, format, seq, state: log.folded().snapshot() };
    let other = Snapshot { format: good.format + 1, ..good.clone() };
    let unreadable = Snapshot { state: "{}".into(), ..good.clone() };
    // It knows no accounts, and the next event is about one.
    let lying = Snapshot { state: Lobby::default().snapshot(), ..good };
    let changed = "{\"v\":1,\"stream\":\"lobby\",\"seq\":1001,\"at\":9,\"more\":0,\
                   \"type\":\"password-changed\",\
                   \"data\":{\"account\":\"p1\",\"password\":\"x\"}}";
    let append = Append { stream: "lobby".into(), expected: seq, lines: vec![changed.to_owned()] };
    log.append(append).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for bad in [other, unreadable, lying] {
        log.keep_snapshot(&bad).unwrap();
        log.lines_read();
        let engine = open(&log, &runtime);
        assert!(log.lines_read() >= 1_000, "all is read: {bad:?}");
        let accounts = engine.lobby().accounts().filter(|(name, _)| !is_house(name.as_str()));
        assert_eq!(accounts.count(), 50);
    }
}

fn is_house(name: &str) -> bool {
    name.starts_with("house:")
}

#[test]
fn a_damaged_event_is_named() {
    let log = Arc::new(busy_lobby(1_000));
    let stranger = "{\"v\":1,\"stream\":\"lobby\",\"seq\":1001,\"at\":9,\"more\":0,\
                    \"type\":\"blacklist-lifted\",\"data\":{\"account\":\"nobody\",\
                    \"by\":\"op\",\"reason\":\"\"}}";
    let append =
        Append { stream: "lobby".into(), expected: 1_000, lines: vec![stranger.to_owned()] };
    log.append(append).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (games, houses) = (Registry::standard(), Houses::standard());
    let dynamic: Arc<dyn Log> = Arc::clone(&log) as Arc<dyn Log>;
    let handle = runtime.handle().clone();
    let (settings, limits) = (Settings::default(), Limits::default());
    let refused = Driver::open(dynamic, games, houses, settings, &limits, handle).err().unwrap();
    assert!(refused.to_string().starts_with("lobby, event 1001:"), "{refused}");
}

#[test]
fn an_hour_without_a_server_is_no_time_to_sign_up_in() {
    let server = Server::start();
    let players = ["ann", "bob"].map(|name| support::player(&server, name, "greedy"));
    let (wait_ms, hour) = (600_000, 3_600_000);
    let window = Window {
        at_least: 2,
        at_most: 8,
        wait_ms,
        second_wait_ms: 0,
        second_at_least: 0,
        repeat: false,
    };
    let mut cup = announcement("cup", "yahtzee-class", 1, 0);
    cup.selection = Selection::SignUp(window);
    server.announce(cup);
    let closes_at = |server: &Server| match server.standing("cup") {
        Some(Standing::Open(sign_up)) => sign_up.closes_at,
        other => panic!("{other:?}"),
    };
    let before = closes_at(&server);
    drop(players);
    let server = server.started_much_later();
    // As the log tells it, an hour earlier was when the wait began.
    let after = closes_at(&server);
    assert!(after > before.before(hour / 2), "it waits for those who could not come");
    assert!(after <= before + wait_ms, "and not for ever");
    // The next start knows of it.
    let server = server.started_again();
    assert!(closes_at(&server) >= after);
}
