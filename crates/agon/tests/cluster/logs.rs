//! Logs move between a file of one machine and a database.

use crate::nodes::Cluster;
use crate::support::{Place, Server, until};
use agon_store::{Log, PostgresLog, SqliteLog};
use rustix::process::Signal;

/// All streams with their lines.
fn contents(log: &dyn Log) -> Vec<(String, Vec<String>)> {
    let streams = log.streams().expect("a log").into_iter();
    streams.map(|(name, _)| (name.clone(), log.load(&name, 0).expect("a stream"))).collect()
}

#[test]
fn speed_of_a_log_in_a_database_can_be_measured() {
    let cluster = Cluster::new("");
    let args = ["bench", "--seconds", "1", "--players", "4", "--engine-threads", "2", "--quiet"];
    let with_store = [&args[..], &["--store", &cluster.url]].concat();
    let (code, said) = cluster.place.agon(&with_store);
    assert_eq!(code, Some(0), "{said}");
    assert!(cluster.log_len() > 100, "the log is in the database");
    let (code, said) = cluster.place.agon(&["verify", "--quiet", &cluster.url]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = cluster.place.agon(&with_store);
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains("createdb bench"), "{said}");
}

#[test]
fn log_moves_into_a_database_and_back_without_a_change() {
    let cluster = Cluster::new("");
    let config = "[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-class\"\n\
         named = [\"house:greedy\", \"house:random\", \"house:optimal\"]\n";
    let place = Place::new(config);
    let mut server = Server::start(&place);
    until("the cup is over", || place.is_over("cup"));
    server.process.signal(Signal::TERM);
    server.process.code();
    let (code, said) = place.agon(&["log", "import", "agon-data", &cluster.url]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("Imported: "), "{said}");
    let file = SqliteLog::open_read_only(place.path("agon-data/agon.sqlite")).expect("a log");
    let database = PostgresLog::open_read_only(&cluster.url).expect("a log");
    assert_eq!(contents(&database), contents(&file));
    let (code, said) = place.agon(&["verify", &cluster.url]);
    assert_eq!(code, Some(0), "{said}");
    let (code, again) = place.agon(&["log", "import", "agon-data", &cluster.url]);
    assert_eq!(code, Some(2), "{again}");
    assert!(again.contains("has a log already"), "{again}");
    // The server continues from the database, and everybody is still there.
    let mut node = cluster.node("a");
    node.await_ready();
    let (status, page) = node.get("/api/v1/tournaments/cup").expect("a page");
    assert!(status == 200 && page.contains("house:optimal"), "{page}");
    node.process().signal(Signal::TERM);
    assert_eq!(node.process().code(), Some(0));
    let (code, said) = place.agon(&["log", "backup", &cluster.url, "copy"]);
    assert_eq!(code, Some(0), "{said}");
    let copy = SqliteLog::open_read_only(place.path("copy/agon.sqlite")).expect("a log");
    assert_eq!(contents(&copy), contents(&database));
    let exported = |path: &str| place.agon(&["export", path, "--what", "standings"]);
    assert_eq!(exported(&cluster.url), exported("agon-data"));
}
