//! `kill -9` in the middle of writing: whatever was acknowledged is there afterwards.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::thread;

use crate::child::{self, Kind};
use crate::place::decision;

/// Acknowledged appends before the kill; different each time, so that it hits other places.
const ACKNOWLEDGED: [usize; 4] = [1, 37, 150, 400];

const WRITERS: u64 = 4;

/// The child: four writers with a stream each, for ever; says `stream version` for each answer.
#[test]
fn child_writes_until_killed() {
    let Some((kind, dir)) = child::place() else { return };
    let log = kind.open(&dir);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let log = &log;
            scope.spawn(move || {
                let stream = format!("m/{writer}");
                let mut version = log.load(&stream, 0).unwrap().len() as u64;
                loop {
                    let count = 1 + version % 3;
                    version = log.append(decision(&stream, version, count, "x")).unwrap();
                    child::say(&format!("ack {stream} {version}"));
                }
            });
        }
    });
}

/// Lets a child write, kills it, and gives the last version acknowledged for each stream.
pub(crate) fn write_and_kill(
    kind: Kind,
    dir: &std::path::Path,
    enough: usize,
) -> BTreeMap<String, u64> {
    let name = "crash::child_writes_until_killed";
    let mut child = child::command(name, kind, dir, "").spawn().unwrap();
    let mut acknowledged = BTreeMap::new();
    let mut count = 0;
    // Once the child is dead its pipe ends, after what it had still said.
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // The test harness prints its own words before and between ours.
        let line = line.unwrap();
        let Some((_, answer)) = line.split_once("ack ") else { continue };
        let (stream, version) = answer.split_once(' ').unwrap();
        acknowledged.insert(stream.to_owned(), version.parse().unwrap());
        count += 1;
        if count == enough {
            child.kill().unwrap();
        }
    }
    assert!(!child.wait().unwrap().success());
    assert!(count >= enough, "the child ended by itself after {count} answers");
    acknowledged
}

fn loses_nothing(kind: Kind) {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeMap::new();
    for enough in ACKNOWLEDGED {
        acknowledged.extend(write_and_kill(kind, dir.path(), enough));
        let log = kind.open(dir.path());
        let versions: BTreeMap<_, _> = log.streams().unwrap().into_iter().collect();
        for (stream, version) in &acknowledged {
            let found = versions[stream];
            assert!(found >= *version, "{stream}: {version} acknowledged, {found} kept");
        }
        for (stream, version) in versions {
            // Whole decisions, each as it was written.
            let mut due = Vec::new();
            while (due.len() as u64) < version {
                let before = due.len() as u64;
                due.extend(decision(&stream, before, 1 + before % 3, "x").lines);
            }
            assert_eq!(log.load(&stream, 0).unwrap(), due, "{stream}");
        }
    }
}

#[test]
fn a_killed_file_log_loses_nothing() {
    loses_nothing(Kind::FileProcess);
}

#[test]
fn a_killed_synced_file_log_loses_nothing() {
    loses_nothing(Kind::FileAlways);
}

#[test]
fn a_killed_sqlite_log_loses_nothing() {
    loses_nothing(Kind::Sqlite);
}
