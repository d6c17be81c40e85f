//! `agon log check`, `repair` and `backup` on the log of a server.

use crate::support::{Client, Place, Server, until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;

/// Two who never answer, and two house players whose match is over in no time.
const CUP: &str = "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\n\
                   preset = \"yahtzee-referee\"\nbest_of = 1\n\
                   named = [\"ann\", \"bob\", \"house:greedy\", \"house:random\"]\n";

/// A stopped server with a cup of which one match is reported and the other goes on.
fn half_a_cup() -> Place {
    let place = Place::new(CUP);
    let mut server = Server::start(&place);
    let _clients = ["ann", "bob"].map(|name| Client::logged_in(&server.address, name));
    until("a match was reported", || {
        place.events("tournament/").iter().any(|(_, event)| event["type"] == "match-reported")
    });
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    place
}

/// Plays the cup to its end with players that answer, and checks everything.
fn goes_on(place: &Place) {
    let server = Server::start(place);
    let mut players =
        ["ann", "bob"].map(|name| place.player(&server.address, name, &["--bot", "house:greedy"]));
    until("the cup is over", || place.is_over("cup"));
    players.iter_mut().for_each(|player| assert_eq!(player.code(), Some(0)));
    drop(server);
    place.verify();
    let (code, said) = place.agon(&["log", "check", "agon-data"]);
    assert_eq!(code, Some(0), "{said}");
}

/// Changes one digit of the time of an event, wherever its text is in the file.
fn damage(place: &Place, stream: &str, seq: u64) {
    let path = place.path("agon-data/agon.sqlite");
    let mut bytes = fs::read(&path).expect("the database");
    let needle = format!("\"stream\":\"{stream}\",\"seq\":{seq},\"at\":");
    let places = bytes.windows(needle.len()).enumerate();
    let found = places.filter(|(_, window)| *window == needle.as_bytes());
    let found: Vec<usize> = found.map(|(at, _)| at + needle.len()).collect();
    assert!(!found.is_empty(), "there is no event {seq} of {stream}");
    found.iter().for_each(|at| bytes[*at] = if bytes[*at] == b'1' { b'2' } else { b'1' });
    fs::write(&path, bytes).expect("the database");
}

/// The number of the first event of this type.
fn seq_of(place: &Place, stream: &str, kind: &str) -> u64 {
    let events = place.events(stream);
    let found = events.iter().find(|(name, event)| name == stream && event["type"] == kind);
    found.expect("such an event").1["seq"].as_u64().expect("a number")
}

fn check(place: &Place) -> (Option<i32>, Value) {
    let (code, said) = place.agon(&["log", "check", "--json", "agon-data"]);
    (code, serde_json::from_str(&said).expect("JSON"))
}

/// Repairs the log and checks that nothing was changed before it was asked for.
fn repair(place: &Place) -> Value {
    let database = place.path("agon-data/agon.sqlite");
    let before = fs::read(&database).expect("the database");
    let (code, said) = place.agon(&["log", "repair", "--json", "agon-data"]);
    assert_eq!(code, Some(5), "{said}");
    assert_eq!(fs::read(&database).expect("the database"), before, "it only says what it would do");
    let planned: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(planned["applied"], false);
    let (code, said) = place.agon(&["log", "repair", "--apply", "--json", "agon-data"]);
    assert_eq!(code, Some(0), "{said}");
    let done: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(done["losses"], planned["losses"], "it does what it said");
    let kept = fs::read(place.path("agon-data/agon.sqlite.damaged-1")).expect("a copy");
    assert_eq!(kept, before, "the damaged log is kept");
    let (code, found) = check(place);
    assert_eq!(code, Some(0), "{found}");
    place.verify();
    done
}

fn loss_of<'a>(done: &'a Value, stream: &str) -> &'a Value {
    let losses = done["losses"].as_array().expect("losses");
    losses.iter().find(|loss| loss["stream"] == stream).unwrap_or(&Value::Null)
}

#[test]
fn a_copy_made_while_the_server_runs_can_take_its_place() {
    let place = Place::new(CUP);
    let mut server = Server::start(&place);
    let clients = ["ann", "bob"].map(|name| Client::logged_in(&server.address, name));
    until("the cup has begun", || !place.events("match/").is_empty());
    let (code, said) = place.agon(&["log", "backup", "agon-data", "copy"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Copied and checked"), "{said}");
    let copied = fs::read(place.path("copy/agon.sqlite")).expect("a copy");
    let (code, said) = place.agon(&["log", "backup", "agon-data", "copy"]);
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(fs::read(place.path("copy/agon.sqlite")).expect("a copy"), copied);
    let (code, said) = place.agon(&["verify", "--quiet", "copy"]);
    assert_eq!(code, Some(0), "{said}");
    // While the server runs it can be checked, too, and not repaired.
    let (code, said) = place.agon(&["log", "check", "agon-data"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = place.agon(&["log", "repair", "--apply", "agon-data"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("in use"), "{said}");
    drop(clients);
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    // The snapshot of the log that went further stays behind: it is not used.
    let snapshot = "agon.sqlite.snapshot-lobby";
    fs::rename(place.path(&format!("agon-data/{snapshot}")), place.path("copy").join(snapshot))
        .expect("a snapshot");
    fs::remove_dir_all(place.path("agon-data")).expect("the old folder");
    fs::rename(place.path("copy"), place.path("agon-data")).expect("the copy");
    goes_on(&place);
}

#[test]
fn a_damaged_match_is_named_and_its_tournament_goes_on_from_before() {
    let place = half_a_cup();
    let (code, found) = check(&place);
    assert_eq!((code, &found["ok"]), (Some(0), &true.into()), "{found}");
    let stream = "match/cup/r1m2";
    damage(&place, stream, 9);
    let (code, found) = check(&place);
    assert_eq!(code, Some(5), "{found}");
    assert_eq!(found["faults"][0]["stream"], stream);
    let seq = found["faults"][0]["seq"].as_u64().expect("a number");
    assert!((1..=9).contains(&seq), "the record that event 9 is in: {found}");
    assert!(found["faults"][0]["what"].to_string().contains("checksum"), "{found}");
    let done = repair(&place);
    assert_eq!(loss_of(&done, stream)["kept"], seq - 1);
    let reported = seq_of_damaged(&place, "tournament/cup", "match-reported");
    assert_eq!(loss_of(&done, "tournament/cup")["kept"], reported - 1);
    goes_on(&place);
}

/// Like `seq_of`, but in the copy of the damaged log.
fn seq_of_damaged(place: &Place, stream: &str, kind: &str) -> u64 {
    use agon_store::{Log, SqliteLog};
    let log = SqliteLog::open_read_only(place.path("agon-data/agon.sqlite.damaged-1"));
    let lines = log.expect("a log").load(stream, 0).expect("a sound stream");
    let kind = format!("\"type\":\"{kind}\"");
    lines.iter().position(|line| line.contains(&kind)).expect("such an event") as u64 + 1
}

#[test]
fn a_damaged_match_that_runs_is_refused_by_the_server() {
    let place = half_a_cup();
    damage(&place, "match/cup/r1m1", 2);
    let (code, said) = place.agon(&[
        "serve",
        "--config",
        "agon.toml",
        "--tcp",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
    ]);
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("stream match/cup/r1m1, event"), "{said}");
    assert!(said.contains("agon log repair agon-data"), "{said}");
    repair(&place);
    goes_on(&place);
}

#[test]
fn repair_drops_what_a_damaged_lobby_no_longer_knows() {
    let place = half_a_cup();
    damage(&place, "lobby", seq_of(&place, "lobby", "tournament-started"));
    // The snapshot would hide it from the server: the log is what counts, and it is damaged.
    let (code, found) = check(&place);
    assert_eq!(code, Some(5), "{found}");
    assert_eq!(found["faults"][0]["stream"], "lobby");
    let done = repair(&place);
    for stream in ["secret/cup", "tournament/cup", "match/cup/r1m1", "match/cup/r1m2"] {
        assert_eq!(loss_of(&done, stream)["kept"], 0, "{done}");
    }
    assert!(!place.path("agon-data/agon.sqlite.snapshot-lobby").exists());
    // Nobody has heard of the cup, so it is held anew.
    goes_on(&place);
}

#[test]
fn a_tournament_that_is_over_is_kept_whole_or_not_at_all() {
    let place = half_a_cup();
    goes_on(&place);
    // Folds the write-ahead log into the file.
    let mut server = Server::start(&place);
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    damage(&place, "match/cup/r1m2", 9);
    // A start does not read finished tournaments.
    let mut server = Server::start(&place);
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    let done = repair(&place);
    assert_eq!(loss_of(&done, "tournament/cup")["kept"], 0);
    assert_eq!(loss_of(&done, "lobby"), &Value::Null);
    assert!(place.is_over("cup"), "who won stays");
}

#[test]
fn log_with_any_damaged_page_is_repaired_or_the_repair_is_refused() {
    let place = half_a_cup();
    let database = place.path("agon-data/agon.sqlite");
    let sound = fs::read(&database).expect("the database");
    let pages = sound.len() / 4096;
    let mut repaired = 0;
    for page in (0..pages).step_by(pages.div_ceil(24)) {
        let mut bytes = sound.clone();
        bytes[page * 4096..][..4096].fill(0xa5);
        for entry in fs::read_dir(place.path("agon-data")).expect("a folder").flatten() {
            fs::remove_file(entry.path()).expect("a file of ours");
        }
        fs::write(&database, &bytes).expect("the database");
        let (code, said) = place.agon(&["log", "check", "agon-data"]);
        assert_eq!(code, Some(5), "page {page}: {said}");
        let (code, said) = place.agon(&["log", "repair", "--apply", "agon-data"]);
        match code {
            Some(0) => {
                repaired += 1;
                let (code, said) = place.agon(&["log", "check", "agon-data"]);
                assert_eq!(code, Some(0), "page {page}: {said}");
                place.verify();
                let kept = fs::read(place.path("agon-data/agon.sqlite.damaged-1"));
                assert_eq!(kept.expect("a copy"), bytes, "page {page}");
            }
            Some(5) => {
                let now = fs::read(&database).expect("the database");
                assert_eq!(now, bytes, "page {page}: refused, and changed all the same: {said}");
            }
            _ => panic!("page {page}: {code:?}: {said}"),
        }
    }
    assert!(repaired > 0, "something can be repaired");
}

/// Runs `agon serve` on a log that it refuses, and gives what it says.
fn refused(place: &Place) -> String {
    let args = ["serve", "--config", "agon.toml", "--tcp", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let (code, said) = place.agon(&args);
    assert_eq!(code, Some(5), "{said}");
    said
}

/// A server that was killed in the middle of a cup.
fn killed_in_a_cup() -> Place {
    let place = Place::new(CUP);
    let mut server = Server::start(&place);
    let _clients = ["ann", "bob"].map(|name| Client::logged_in(&server.address, name));
    until("a match was reported", || {
        place.events("tournament/").iter().any(|(_, event)| event["type"] == "match-reported")
    });
    server.process.signal(Signal::KILL);
    server.process.code();
    place
}

#[test]
fn a_changed_bit_in_the_write_ahead_log_is_noticed_and_the_loss_has_to_be_accepted() {
    let place = killed_in_a_cup();
    let wal = place.path("agon-data/agon.sqlite-wal");
    let mut bytes = fs::read(&wal).expect("a write-ahead log");
    // Behind most of the lobby, before the matches.
    let at = bytes.len() * 3 / 4;
    bytes[at] ^= 1;
    fs::write(&wal, &bytes).expect("a write-ahead log");
    let said = refused(&place);
    assert!(said.contains("acknowledged records are gone") && said.contains("agon log repair"));
    assert_eq!(fs::read(&wal).expect("the entry exists"), bytes, "nothing is changed by looking");
    let (code, found) = check(&place);
    let lost = found["lost_records"].as_u64().expect("a number");
    assert_eq!((code, &found["ok"]), (Some(5), &Value::Bool(false)), "{found}");
    assert!(lost > 0 && found["pages"].as_str().is_some_and(|told| told.contains("are gone")));
    let (code, said) = place.agon(&["log", "repair", "--json", "agon-data"]);
    assert_eq!(code, Some(5), "{said}");
    let (code, said) = place.agon(&["log", "repair", "--apply", "--json", "agon-data"]);
    assert_eq!(code, Some(0), "{said}");
    let done: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(done["lost_records"].as_u64(), Some(lost), "{done}");
    goes_on(&place);
}

#[test]
fn a_database_that_was_removed_is_missed_until_the_loss_is_accepted() {
    let place = killed_in_a_cup();
    for name in ["agon.sqlite", "agon.sqlite-wal"] {
        fs::remove_file(place.path(&format!("agon-data/{name}"))).expect("it was there");
    }
    let said = refused(&place);
    assert!(said.contains("acknowledged records are gone"), "{said}");
    let (code, said) = place.agon(&["log", "check", "agon-data"]);
    assert_eq!(code, Some(5), "{said}");
    let (code, said) = place.agon(&["log", "repair", "agon-data"]);
    assert!(code == Some(5) && said.contains("with --apply"), "{said}");
    assert!(refused(&place).contains("are gone"), "it only says what it would do");
    let (code, said) = place.agon(&["log", "repair", "--apply", "agon-data"]);
    assert!(code == Some(0) && said.contains("begins with an empty log"), "{said}");
    drop(Server::start(&place));
}

#[test]
fn a_server_whose_data_folder_is_removed_ends() {
    let place = Place::new("");
    let mut server = Server::start(&place);
    let mut ann = Client::logged_in(&server.address, "ann");
    fs::remove_dir_all(place.path("agon-data")).expect("it was there");
    // The server looks fifty times a second, when it has something to keep.
    until("the server has ended", || {
        ann.say(r#"{"type":"enqueue","queue":"yahtzee-queue"}"#);
        ann.say(r#"{"type":"dequeue","queue":"yahtzee-queue"}"#);
        server.process.0.try_wait().expect("a child").is_some()
    });
    assert_ne!(server.process.code(), Some(0));
}
