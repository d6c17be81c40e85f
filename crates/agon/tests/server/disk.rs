//! A disk that is full: nothing is said that is not kept, the server says what to do, and once
//! there is room everything goes on and nobody is charged.
//!
//! The disk is a small file system in memory that only the server sees. Where the system does not
//! let us make one, a limit on the size of files stands in for it.

use crate::support::{AGON, Place, Process, Server, until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

/// Runs `agon serve` with these arguments where agon-data has room for so many kilobytes; what was
/// in it afterwards is in `saved`.
fn on_a_small_disk(place: &Place, kilobytes: u32, serve: &str) -> Command {
    let unshare = ["--user", "--map-root-user", "--mount"];
    let quiet = |command: &mut Command| command.stderr(Stdio::null()).status();
    let mounts = quiet(Command::new("unshare").args(unshare).args([
        "sh",
        "-c",
        "mount -t tmpfs -o size=64k none /mnt",
    ]))
    .is_ok_and(|status| status.success());
    let run = format!("'{AGON}' serve {serve}; code=$?; cp -a agon-data/. saved; exit $code");
    let mut shell = if mounts {
        let mut shell = Command::new("unshare");
        let mount = format!("mount -t tmpfs -o size={kilobytes}k none agon-data");
        shell.args(unshare).args(["sh", "-c", &format!("{mount} && {{ {run}; }}")]);
        shell
    } else {
        eprintln!("no file system of our own here: a limit on files stands in for it");
        let mut shell = Command::new("bash");
        let limit = format!("trap '' XFSZ; ulimit -S -f {}", kilobytes / 2);
        let run = run.replacen(&format!("'{AGON}'"), &format!("({limit}; exec '{AGON}'"), 1);
        shell.args(["-c", &run.replacen("; code", "); code", 1)]);
        shell
    };
    for dir in ["agon-data", "saved"] {
        fs::create_dir_all(place.path(dir)).expect("a folder");
    }
    shell.current_dir(place.path("")).stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// Puts what the full disk held on one with room.
fn make_room(place: &Place) {
    let _ = fs::remove_dir_all(place.path("agon-data"));
    fs::rename(place.path("saved"), place.path("agon-data")).expect("the saved folder");
}

/// The ids of requests or answers a program has noted, in order, each once.
fn noted(place: &Place, file: &str, kind: &str) -> Vec<String> {
    let text = fs::read_to_string(place.path(file)).unwrap_or_default();
    let mut ids: Vec<String> = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a whole line");
        if line["type"] == kind {
            let id = line["id"].as_str().expect("an id").to_owned();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    ids
}

fn accepted(place: &Place) -> BTreeSet<String> {
    let events = place.events("match/cup/").into_iter();
    let accepted = events.filter(|(_, event)| event["type"] == "answer-accepted");
    let ids = accepted
        .map(|(_, event)| format!("cup:{}", event["data"]["request"].as_str().expect("a request")));
    let all: Vec<String> = ids.collect();
    let once: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(once.len(), all.len(), "an answer was accepted twice");
    once
}

#[test]
fn full_disk_charges_nobody() {
    let names = ["p0", "p1", "p2", "p3"];
    let place = Place::new(
        "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-queue\"\n\
         players = 4\nbest_of = 9\nstart = \"when-ready\"\n",
    );
    let serve = "--config agon.toml --json --tcp 127.0.0.1:0 --http 127.0.0.1:0";
    let mut server =
        Server::from_command(on_a_small_disk(&place, 900, serve)).expect("there is room to start");
    let mut players: Vec<Process> = Vec::new();
    for name in names {
        let line = format!("tee -a {name}.in | '{AGON}' bot greedy | tee -a {name}.out");
        let words = ["--no-sandbox", "--", "sh", "-c", &line];
        players.push(place.player(&server.address, name, &words));
    }
    assert_eq!(server.process.code(), Some(1), "it ends when there is no more room");
    let said = server.process.all_output();
    assert!(said.contains("has room, then start again"), "{said}");
    assert!(said.contains("the log did not take a record"), "{said}");
    make_room(&place);
    place.verify();
    let kept = accepted(&place);
    assert!(!kept.is_empty() && !place.is_over("cup"), "it filled up during the tournament");
    for name in names {
        // A player who gets the next request may rely on the answer to the previous one.
        let asked = noted(&place, &format!("{name}.in"), "request");
        let (_, before) = asked.split_last().expect("everybody was asked");
        for id in before {
            assert!(kept.contains(id), "{name} was told more than is kept: {id}");
        }
    }
    let address = server.address.clone();
    let server = Server::start_again(&place, &address);
    until("the cup is over", || place.is_over("cup"));
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    drop(server);
    place.verify();
    assert_eq!(place.faults(), Vec::<String>::new(), "a full disk is nobody's fault but ours");
    let all = accepted(&place);
    assert!(kept.is_subset(&all));
    for name in names {
        for id in noted(&place, &format!("{name}.out"), "answer") {
            assert!(all.contains(&id), "{name}'s answer to {id} is lost");
        }
    }
}

#[test]
fn full_disk_at_the_start_is_reported() {
    let place = Place::new("");
    let serve = "--json --tcp 127.0.0.1:0 --http 127.0.0.1:0";
    let mut command = on_a_small_disk(&place, 12, serve);
    let mut process = Process(command.spawn().expect("a shell"));
    let code = process.code();
    let said = process.all_output();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("has room, then start again"), "{said}");
    // With room, what is there is as good as nothing.
    make_room(&place);
    drop(Server::start(&place));
}
