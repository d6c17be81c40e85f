//! The log in PostgreSQL: the suite of every log, and the fence between nodes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agon_servers::Postgres;
use agon_store::{AppendError, Claim, Log, Node, PostgresLog};

use crate::conformance::CASES;
use crate::place::{Place, decision};
use crate::proxy::{Cut, Proxy};

pub(crate) fn node(id: &str) -> Node {
    Node {
        id: id.to_owned(),
        address: "127.0.0.1:1".to_owned(),
        version: "test".to_owned(),
        lease: Duration::from_millis(1500),
        log_version: 1,
        drained: false,
    }
}

/// The cell of a stream in these tests: the first part of its name.
pub(crate) fn cell_of(stream: &str) -> &str {
    stream.split('/').next().unwrap_or(stream)
}

fn open(url: &str, id: &str) -> PostgresLog {
    PostgresLog::open(url, node(id), cell_of).unwrap()
}

fn is_fenced(result: &Result<u64, AppendError>) -> bool {
    matches!(result, Err(AppendError::Fenced { .. }))
}

/// Lets the lease of a node look expired to all others.
fn expire(server: &Postgres, url: &str, id: &str) {
    let database = url.rsplit('/').next().unwrap();
    let mut client = postgres::Client::connect(&server.address(database), postgres::NoTls).unwrap();
    client.execute("DELETE FROM agon.nodes WHERE id = $1", &[&id]).unwrap();
}

/// Lets all heartbeats look an hour old, until the next ones.
fn age_all(server: &Postgres, url: &str) {
    let database = url.rsplit('/').next().unwrap();
    let mut client = postgres::Client::connect(&server.address(database), postgres::NoTls).unwrap();
    client
        .execute("UPDATE agon.nodes SET renewed_at = renewed_at - interval '1 hour'", &[])
        .unwrap();
}

#[test]
fn postgres_does_what_every_log_does() {
    let server = Postgres::start();
    for (name, case) in CASES {
        eprintln!("{name}");
        case(&Place::Postgres(server.database()));
    }
}

#[test]
fn tournaments_that_were_lent_are_written_by_the_borrower_until_they_are_taken_back() {
    let server = Postgres::start();
    let url = server.database();
    let whole = |id| PostgresLog::open(&url, node(id), |_| PostgresLog::WHOLE).unwrap();
    let (lobby, cells, other) = (whole("a"), whole("b"), whole("bc"));
    assert_eq!(cells.lend("b").unwrap(), None, "only the owner of the log lends");
    lobby.claim(PostgresLog::WHOLE).unwrap();
    for borrower in [&cells, &other] {
        let node = borrower.lease().unwrap().node;
        borrower.borrow_cells(lobby.lend(&node).unwrap().unwrap()).unwrap();
    }
    assert_eq!(cells.append(decision("tournament/t", 0, 1, "")), Ok(1));
    assert_eq!(other.append(decision("tournament/u", 0, 1, "")), Ok(1));
    assert_eq!(lobby.append(decision("lobby", 0, 1, "")), Ok(1));
    lobby.take_back(Some("b")).unwrap();
    assert!(is_fenced(&cells.append(decision("tournament/t", 1, 1, ""))));
    assert_eq!(lobby.append(decision("tournament/t", 1, 1, "")), Ok(2));
    assert_eq!(other.append(decision("tournament/u", 1, 1, "")), Ok(2), "another node's loan");
    // The same node borrows again, under another epoch.
    cells.end_loan().unwrap();
    assert!(is_fenced(&cells.append(decision("tournament/v", 0, 1, ""))));
    cells.borrow_cells(lobby.lend("b").unwrap().unwrap()).unwrap();
    assert_eq!(cells.append(decision("tournament/v", 0, 1, "")), Ok(1));
    // The next owner of the log takes everything back, and the earlier one lends nothing more.
    expire(&server, &url, "a");
    let next = whole("d");
    next.claim(PostgresLog::WHOLE).unwrap();
    next.take_back(None).unwrap();
    assert!(is_fenced(&other.append(decision("tournament/u", 2, 1, ""))));
    assert!(is_fenced(&cells.append(decision("tournament/v", 1, 1, ""))));
    assert_eq!(lobby.lend("b").unwrap(), None);
    assert_eq!(next.append(decision("tournament/v", 1, 1, "")), Ok(2));
}

#[test]
fn node_does_not_claim_a_log_with_records_of_a_newer_version() {
    let server = Postgres::start();
    let url = server.database();
    let whole = |id, log_version| {
        let node = Node { log_version, ..node(id) };
        PostgresLog::open(&url, node, |_| PostgresLog::WHOLE).unwrap()
    };
    let (new, old) = (whole("new", 2), whole("old", 1));
    assert_eq!(new.raise_log_version().unwrap(), None, "only the owner of the log raises it");
    assert_eq!(new.claim(PostgresLog::WHOLE).unwrap(), Claim::Owned(1));
    assert_eq!(new.raise_log_version().unwrap(), Some(1), "an old node lives");
    assert!(new.lend("old").unwrap().is_some());
    new.take_back(Some("old")).unwrap();
    new.release(PostgresLog::WHOLE).unwrap();
    assert_eq!(old.claim(PostgresLog::WHOLE).unwrap(), Claim::Owned(3), "it reads everything");
    old.release(PostgresLog::WHOLE).unwrap();
    drop(old);
    assert_eq!(new.claim(PostgresLog::WHOLE).unwrap(), Claim::Owned(5));
    assert_eq!(new.raise_log_version().unwrap(), Some(2));
    let old = whole("old", 1);
    assert_eq!(new.raise_log_version().unwrap(), Some(2), "it never goes back");
    assert_eq!(new.lend("old").unwrap(), None);
    let newer = |owner: &str| Claim::Newer { version: 2, owner: owner.to_owned() };
    assert_eq!(old.claim(PostgresLog::WHOLE).unwrap(), newer("new"));
    new.release(PostgresLog::WHOLE).unwrap();
    assert_eq!(old.claim(PostgresLog::WHOLE).unwrap(), newer(""));
    assert_eq!(old.claim_unowned(PostgresLog::WHOLE).unwrap(), newer(""));
    let newer = whole("newer", 3);
    assert_eq!(newer.claim(PostgresLog::WHOLE).unwrap(), Claim::Owned(7));
    let versions: Vec<_> = newer.nodes().unwrap().iter().map(|node| node.log_version).collect();
    assert_eq!(versions, [2, 3, 1]);
    assert_eq!(newer.cells().unwrap()[0].log_version, 2);
    let lease = Duration::from_secs(60);
    assert!(!newer.hand_over(PostgresLog::WHOLE, "old", lease).unwrap());
    assert!(newer.hand_over(PostgresLog::WHOLE, "new", lease).unwrap());
}

#[test]
fn drained_node_learns_of_it_and_is_lent_nothing() {
    let server = Postgres::start();
    let url = server.database();
    let whole = |id| PostgresLog::open(&url, node(id), |_| PostgresLog::WHOLE).unwrap();
    let (a, b) = (whole("a"), whole("b"));
    a.claim(PostgresLog::WHOLE).unwrap();
    assert!(!b.is_drained() && !a.set_drained("nobody", true).unwrap());
    assert!(a.set_drained("b", true).unwrap());
    assert_eq!(a.lend("b").unwrap(), None);
    poll(|| b.is_drained());
    assert!(a.set_drained("b", false).unwrap());
    poll(|| !b.is_drained());
    assert!(a.lend("b").unwrap().is_some());
    let node = Node { drained: true, ..node("c") };
    let c = PostgresLog::open(&url, node, |_| PostgresLog::WHOLE).unwrap();
    assert!(c.is_drained() && a.nodes().unwrap().iter().any(|node| node.drained));
}

#[test]
fn only_the_owner_writes_a_cell() {
    let server = Postgres::start();
    let url = server.database();
    let (a, b) = (open(&url, "a"), open(&url, "b"));
    assert!(is_fenced(&a.append(decision("t1/m", 0, 1, ""))), "nobody owns the cell yet");
    assert_eq!(a.claim("t1").unwrap(), Claim::Owned(1));
    assert_eq!(a.append(decision("t1/m", 0, 1, "")), Ok(1));
    assert_eq!(b.claim("t1").unwrap(), Claim::Taken { owner: "a".to_owned() });
    assert!(is_fenced(&b.append(decision("t1/m", 1, 1, ""))));
    // A group with records of several cells: the fence rejects only those of the lost cell.
    assert_eq!(a.claim("t2").unwrap(), Claim::Owned(1));
    expire(&server, &url, "a");
    assert_eq!(b.claim("t1").unwrap(), Claim::Owned(2));
    let (sender, results) = std::sync::mpsc::channel();
    let group = vec![decision("t1/m", 1, 1, ""), decision("t2/m", 0, 1, "")];
    a.submit_all(group, Box::new(move |results| sender.send(results).unwrap()));
    let results = results.recv().unwrap();
    assert!(is_fenced(&results[0]), "{results:?}");
    assert_eq!(results[1], Ok(1));
    assert_eq!((a.owned(), a.lease().unwrap().fenced), (vec!["t2".to_owned()], 2));
    assert_eq!(b.append(decision("t1/m", 1, 1, "")), Ok(2));
    // A released cell is free at once, and a restarted node takes back its own.
    b.release("t1").unwrap();
    assert_eq!(a.claim("t1").unwrap(), Claim::Owned(4));
    drop(b);
    assert_eq!(a.append(decision("t1/m", 2, 1, "")), Ok(3));
    drop(a);
    let a = open(&url, "a");
    assert_eq!(a.claim("t1").unwrap(), Claim::Owned(5));
    assert_eq!(a.append(decision("t1/m", 3, 1, "")), Ok(4));
    let epochs: Vec<_> = a.cells().unwrap().into_iter().map(|cell| (cell.id, cell.epoch)).collect();
    assert_eq!(epochs, [("t1".to_owned(), 5), ("t2".to_owned(), 1)]);
    assert_eq!(a.nodes().unwrap().len(), 1);
}

#[test]
fn new_owner_with_an_old_heartbeat_is_not_followed_at_once() {
    let server = Postgres::start();
    let url = server.database();
    // With so long a lease there are no heartbeats during the test.
    let [a, b, c] = ["a", "b", "c"].map(|id| {
        let node = Node { lease: Duration::from_secs(600), ..node(id) };
        PostgresLog::open(&url, node, cell_of).unwrap()
    });
    assert_eq!(a.claim("t").unwrap(), Claim::Owned(1));
    // After the database was away all heartbeats are old.
    age_all(&server, &url);
    assert_eq!(b.claim_unowned("t").unwrap(), Claim::Taken { owner: "a".to_owned() });
    assert_eq!(b.claim("t").unwrap(), Claim::Owned(2));
    assert_eq!(c.claim("t").unwrap(), Claim::Taken { owner: "b".to_owned() });
}

#[test]
fn log_of_an_owner_that_has_left_the_bus_is_taken_after_two_heartbeats() {
    let server = Postgres::start();
    let url = server.database();
    // Heartbeats are one hour apart, so there are none during the test.
    let lease = Duration::from_secs(6 * 3_600);
    let [a, b] =
        ["a", "b"].map(|id| PostgresLog::open(&url, Node { lease, ..node(id) }, cell_of).unwrap());
    assert_eq!(a.claim("t").unwrap(), Claim::Owned(1));
    assert_eq!(agon_store::patience(lease, true), Duration::from_secs(2 * 3_600));
    let taken = || Claim::Taken { owner: "a".to_owned() };
    for is_due in [false, false, true] {
        assert_eq!(b.claim("t").unwrap(), taken(), "its lease has not expired");
        assert_eq!(b.claim_as("t", true, Some("c")).unwrap(), taken(), "another one has left");
        let claim = b.claim_as("t", false, Some("a")).unwrap();
        assert_eq!(claim, if is_due { Claim::Owned(2) } else { taken() });
        age_all(&server, &url);
    }
}

#[test]
fn one_of_several_nodes_that_claim_at_once_succeeds() {
    let server = Postgres::start();
    let url = server.database();
    let long = |id: &str| Node { lease: Duration::from_secs(600), ..node(id) };
    let logs = ["a", "b", "c", "d"].map(|id| PostgresLog::open(&url, long(id), cell_of).unwrap());
    assert_eq!(logs[0].claim("t").unwrap(), Claim::Owned(1));
    for round in 0..5 {
        age_all(&server, &url);
        let claims: Vec<Claim> = thread::scope(|scope| {
            let claiming = logs.each_ref().map(|log| scope.spawn(|| log.claim("t").unwrap()));
            claiming.map(|one| one.join().unwrap()).into_iter().collect()
        });
        let owners = claims.iter().filter(|claim| matches!(claim, Claim::Owned(_))).count();
        // The owner may claim its cell first, and so renew its lease.
        assert_eq!(owners, 1, "round {round}: {claims:?}");
    }
}

#[test]
fn late_second_record_of_an_old_owner_is_fenced() {
    let server = Postgres::start();
    let url = server.database();
    let (a, b) = (open(&url, "a"), open(&url, "b"));
    assert_eq!(a.claim("t").unwrap(), Claim::Owned(1));
    assert_eq!(a.append(decision("t/m", 0, 1, "a")), Ok(1));
    expire(&server, &url, "a");
    assert_eq!(b.claim("t").unwrap(), Claim::Owned(2));
    assert_eq!(b.append(decision("t/m", 1, 3, "b")), Ok(4));
    // The old owner had decided two records of two events each. The second one would fit exactly
    // behind the record of the new owner: no unique key rejects it.
    let (sender, results) = std::sync::mpsc::channel();
    let pair = vec![decision("t/m", 1, 3, "a"), decision("t/m", 4, 1, "a")];
    a.submit_all(pair, Box::new(move |results| sender.send(results).unwrap()));
    assert!(results.recv().unwrap().iter().all(is_fenced));
    assert!(is_fenced(&a.append(decision("t/m", 4, 1, "a"))));
    let lines = b.load("t/m", 0).unwrap();
    assert_eq!(lines.len(), 4);
    assert!(lines[1..].iter().all(|line| line.ends_with(r#""data":"b"}"#)), "{lines:?}");
}

#[test]
fn claim_waits_for_a_commit_and_sees_it() {
    let server = Postgres::start();
    let url = server.database();
    let (a, b) = (open(&url, "a"), open(&url, "b"));
    assert_eq!(a.claim("t").unwrap(), Claim::Owned(1));
    // A transaction of the owner that has locked its cell and is not committed yet.
    let mut slow = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let mut commit = slow.transaction().unwrap();
    commit.execute("SELECT FROM agon.cells WHERE id = 't' FOR SHARE", &[]).unwrap();
    let append = decision("t/m", 0, 1, "late");
    let sum = i64::from(crc32fast::hash(append.lines[0].as_bytes()));
    let insert = "
        INSERT INTO agon.records (stream, first_seq, count, cell, epoch, checksum, lines)
        VALUES ('t/m', 1, 1, 't', 1, $1, $2)";
    commit.execute(insert, &[&sum, &append.lines[0]]).unwrap();
    expire(&server, &url, "a");
    let is_claimed = AtomicBool::new(false);
    thread::scope(|scope| {
        let claim = scope.spawn(|| {
            let claim = b.claim("t").unwrap();
            is_claimed.store(true, Ordering::SeqCst);
            claim
        });
        let mut observer = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
        poll(|| observer.query_one(waits, &[]).unwrap().get::<_, i64>(0) > 0);
        assert!(!is_claimed.load(Ordering::SeqCst), "the claim did not wait");
        commit.commit().unwrap();
        assert_eq!(claim.join().unwrap(), Claim::Owned(2));
    });
    assert_eq!(b.load("t/m", 0).unwrap(), append.lines);
    assert!(is_fenced(&a.append(decision("t/m", 1, 1, ""))));
}

/// Opens the log of node `a` through a proxy. Its lease sends no heartbeat meanwhile, so the proxy
/// cuts an append and not a heartbeat.
fn open_through_proxy(server: &Postgres, url: &str) -> (PostgresLog, Proxy) {
    let proxy = Proxy::start(server.port());
    let through = url.replace(&server.port().to_string(), &proxy.port().to_string());
    let calm = Node { lease: Duration::from_secs(3600), ..node("a") };
    (PostgresLog::open(&through, calm, cell_of).unwrap(), proxy)
}

#[test]
fn append_whose_answer_is_lost_is_written_once() {
    let server = Postgres::start();
    let url = server.database();
    let (a, proxy) = open_through_proxy(&server, &url);
    assert_eq!(a.claim("t").unwrap(), Claim::Owned(1));
    let mut version = 0;
    for round in 0..6 {
        let cut = [Cut::Answer, Cut::Request, Cut::Nothing][round % 3];
        proxy.arm(cut);
        // Two streams, one of which is new in each round.
        let (sender, results) = std::sync::mpsc::channel();
        let new = format!("t/new{round}");
        let group = vec![decision("t/m", version, 2, "x"), decision(&new, 0, 1, "y")];
        a.submit_all(group, Box::new(move |results| sender.send(results).unwrap()));
        assert_eq!(results.recv().unwrap(), [Ok(version + 2), Ok(1)], "{cut:?}");
        assert!(proxy.has_cut());
        version += 2;
        // A repeated append is refused, even though equal lines are there.
        let again = a.append(decision("t/m", version - 2, 2, "x"));
        assert!(matches!(again, Err(AppendError::Conflict { .. })), "{again:?}");
        assert_eq!(a.load("t/m", 0).unwrap().len() as u64, version);
    }
}

#[test]
fn append_whose_answer_is_lost_is_fenced_by_a_claim() {
    let server = Postgres::start();
    let url = server.database();
    let (a, proxy) = open_through_proxy(&server, &url);
    let b = open(&url, "b");
    assert_eq!(a.claim("t").unwrap(), Claim::Owned(1));
    assert_eq!(a.append(decision("t/m", 0, 1, "a")), Ok(1));
    expire(&server, &url, "a");
    assert_eq!(b.claim("t").unwrap(), Claim::Owned(2));
    proxy.arm(Cut::Answer);
    assert!(is_fenced(&a.append(decision("t/m", 1, 1, "a"))));
    assert_eq!(b.append(decision("t/m", 1, 1, "b")), Ok(2));
}

#[test]
fn restarted_database_loses_nothing() {
    let mut server = Postgres::start();
    let url = server.database();
    let a = open(&url, "a");
    assert_eq!(a.claim("t").unwrap(), Claim::Owned(1));
    let written = AtomicU64::new(0);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for expected in 0..600 {
                assert_eq!(a.append(decision("t/m", expected, 1, "x")), Ok(expected + 1));
                written.store(expected + 1, Ordering::SeqCst);
            }
        });
        for kills in 1..=2 {
            poll(|| written.load(Ordering::SeqCst) >= kills * 150);
            server.kill();
            server.resume();
        }
        writer.join().unwrap();
    });
    assert_eq!(a.load("t/m", 0).unwrap().len(), 600);
    assert_eq!(a.append(decision("t/m", 600, 1, "x")), Ok(601));
}

/// How often the next test promotes a standby.
fn promotions() -> u64 {
    std::env::var("AGON_TEST_PROMOTIONS").map_or(1, |count| count.parse().unwrap())
}

#[test]
fn promoted_standby_has_every_acknowledged_record() {
    let mut primary = Postgres::start();
    let url = primary.database();
    let name = url.rsplit('/').next().unwrap().to_owned();
    let mut version = 0;
    for round in 0..promotions() {
        let standby = primary.standby();
        let hosts = format!(
            "postgres://agon@127.0.0.1:{},127.0.0.1:{}/{name}",
            primary.port(),
            standby.port()
        );
        let a = open(&hosts, "a");
        assert!(a.has_synchronous_standby().unwrap());
        assert_eq!(a.claim("t").unwrap(), Claim::Owned(round + 1));
        let written = AtomicU64::new(version);
        let end = version + 200;
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for expected in version..end {
                    let answer = a.append(decision("t/m", expected, 1, "x"));
                    assert_eq!(answer, Ok(expected + 1), "round {round}");
                    written.store(expected + 1, Ordering::SeqCst);
                }
            });
            poll(|| written.load(Ordering::SeqCst) >= version + 60);
            primary.kill();
            let acknowledged = written.load(Ordering::SeqCst);
            standby.promote();
            let there = open_for_reading(&standby.address(&name)).load("t/m", 0).unwrap().len();
            assert!(there as u64 >= acknowledged, "{acknowledged} acknowledged, {there} there");
            writer.join().unwrap();
        });
        assert_eq!(a.load("t/m", 0).unwrap().len() as u64, end);
        (primary, version) = (standby, end);
    }
    eprintln!("{} promotions: 0 of {version} acknowledged records lost", promotions());
}

fn open_for_reading(url: &str) -> PostgresLog {
    PostgresLog::open_read_only(url).unwrap()
}

fn poll(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute");
        thread::park_timeout(Duration::from_millis(5));
    }
}
