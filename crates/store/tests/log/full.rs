//! A disk that takes no more: refused with a reason, and used again once there is room.
//!
//! A limit on the size of a file stands in for the full disk. It is set for a child process by
//! the shell, with the signal ignored that would end the child, and lifted by `prlimit`.
#![cfg(target_os = "linux")]

use std::process::Command;

use agon_store::AppendError;

use crate::child::{self, Kind};
use crate::place::decision;

/// In blocks of 512 bytes, or of 1,024 in some shells: room for SQLite's own files and for some
/// decisions of 9 kB.
const LIMIT: &str = "trap '' XFSZ; ulimit -S -f 128;";

#[test]
fn child_fills_the_disk() {
    let Some((kind, dir)) = child::place() else { return };
    let log = kind.open(&dir);
    let tag = "x".repeat(3000);
    let mut version = 0;
    let refused = loop {
        match log.append(decision("m/1", version, 3, &tag)) {
            Ok(after) => version = after,
            Err(refused) => break refused,
        }
    };
    assert!(version > 0, "there was room for something");
    assert!(matches!(refused, AppendError::Io { .. }), "{refused:?}");
    // Refused whole, and again, and still readable.
    let again = log.append(decision("m/1", version, 3, &tag));
    assert!(matches!(again, Err(AppendError::Io { .. })), "{again:?}");
    assert_eq!(log.load("m/1", 0).unwrap().len() as u64, version);
    if kind != Kind::Sqlite {
        // In a file of its own there is room, and for less there is room in the same.
        assert_eq!(log.append(decision("m/2", 0, 1, "x")), Ok(1));
    }

    let pid = std::process::id().to_string();
    let lifted = Command::new("prlimit").args(["--pid", &pid, "--fsize=unlimited"]).status();
    if lifted.is_ok_and(|status| status.success()) {
        assert_eq!(log.append(decision("m/1", version, 3, &tag)), Ok(version + 3));
        version += 3;
    }
    drop(log);
    let log = kind.open(&dir);
    assert_eq!(log.load("m/1", 0).unwrap().len() as u64, version);
    child::say("went well");
}

fn survives(kind: Kind) {
    let dir = tempfile::tempdir().unwrap();
    let child = child::command("full::child_fills_the_disk", kind, dir.path(), LIMIT).output();
    let child = child.unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success() && said.contains("went well"), "{said}");
}

#[test]
fn a_file_log_survives_a_full_disk() {
    survives(Kind::FileProcess);
}

#[test]
fn a_synced_file_log_survives_a_full_disk() {
    survives(Kind::FileAlways);
}

#[test]
fn a_sqlite_log_survives_a_full_disk() {
    survives(Kind::Sqlite);
}
