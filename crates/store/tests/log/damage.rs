//! A log that lost what it had acknowledged says so: changed bits, removed files, a folder that
//! went.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use agon_store::{Inspector, Log, LogError, SqliteLog};

use crate::child::Kind;
use crate::crash::write_and_kill;
use crate::place::decision;

/// Bits that are changed, half of them in the write-ahead log and half in the database.
const FLIPS: u64 = 200;

const DATABASE: &str = "log.db";
const WAL: &str = "log.db-wal";
const WATERMARK: &str = "log.db.watermark";

type Streams = BTreeMap<String, Vec<String>>;

/// A folder as a killed process left it: much is in the database, and the rest in the write-ahead
/// log.
fn crashed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(dir.path().join(DATABASE)).unwrap();
    for stream in 0..20 {
        let stream = format!("old/{stream}");
        for at in 0..10 {
            log.append(decision(&stream, at, 1, "some text")).unwrap();
        }
    }
    drop(log);
    write_and_kill(Kind::Sqlite, dir.path(), 300);
    assert!(fs::metadata(dir.path().join(WAL)).unwrap().len() > 100_000);
    dir
}

/// A copy of a folder, without what SQLite makes anew.
fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for name in [DATABASE, WAL, WATERMARK] {
        fs::copy(from.join(name), to.path().join(name)).unwrap();
    }
    to
}

fn all(log: &SqliteLog) -> Result<Streams, LogError> {
    let streams = log.streams()?.into_iter();
    streams.map(|(name, _)| Ok((name.clone(), log.load(&name, 0)?))).collect()
}

fn open(dir: &Path) -> Result<SqliteLog, LogError> {
    SqliteLog::open(dir.join(DATABASE))
}

/// How many records streams hold: each ends with an event that no other follows.
fn records(streams: &Streams) -> u64 {
    let lines = streams.values().flatten();
    lines.filter(|line| line.contains("\"more\":0")).count() as u64
}

/// Returns whether every stream of `some` begins the same stream of `all`.
fn is_prefix(some: &Streams, all: &Streams) -> bool {
    some.iter().all(|(name, lines)| all.get(name).is_some_and(|all| all.starts_with(lines)))
}

/// How many records a log says it has lost.
fn lost(dir: &Path) -> Option<u64> {
    match open(dir).err()? {
        LogError::Lost { found, acknowledged, .. } => Some(acknowledged - found),
        other => panic!("{other}"),
    }
}

#[test]
fn a_changed_bit_after_a_crash_is_noticed_or_harmless() {
    let dir = crashed();
    let whole = all(&open(copy(dir.path()).path()).unwrap()).unwrap();
    let acknowledged = SqliteLog::acknowledged(dir.path().join(DATABASE)).unwrap();
    let (mut noticed, mut harmless) = (0, 0);
    for flip in 0..FLIPS {
        let name = if flip % 2 == 0 { WAL } else { DATABASE };
        let copy = copy(dir.path());
        let path = copy.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        // Spread over the file, at another bit every time.
        let at = (bytes.len() as u64 * flip / FLIPS + flip * 37) as usize % bytes.len();
        bytes[at] ^= 1 << (flip % 8);
        fs::write(&path, bytes).unwrap();
        let read = open(copy.path()).and_then(|log| all(&log));
        match read {
            Err(_) => noticed += 1,
            Ok(found) if found == whole => harmless += 1,
            // The killed process may have left a record that it had not acknowledged.
            Ok(found) if records(&found) >= acknowledged && is_prefix(&found, &whole) => {
                harmless += 1;
            }
            Ok(found) => {
                let differs = whole.iter().find(|(name, lines)| found.get(*name) != Some(lines));
                panic!("bit {} of byte {at} of {name}: {:?}", flip % 8, differs.map(|(n, _)| n));
            }
        }
    }
    eprintln!("{FLIPS} bits: {noticed} noticed, {harmless} harmless");
    assert!(noticed > FLIPS / 4, "{noticed}");
}

#[test]
fn a_write_ahead_log_that_ends_early_is_noticed() {
    let dir = crashed();
    let database = dir.path().join(DATABASE);
    let acknowledged = SqliteLog::acknowledged(&database).unwrap();
    let copied = copy(dir.path());
    let path = copied.path().join(WAL);
    let mut bytes = fs::read(&path).unwrap();
    bytes[32 + 24 + 100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let gone = lost(copied.path()).unwrap();
    assert!(gone > 0 && gone < acknowledged, "{gone} of {acknowledged}");
    // It says so again: nothing was changed by looking.
    assert_eq!(lost(copied.path()), Some(gone));
    let pages = Inspector::of_sqlite(copied.path().join(DATABASE)).unwrap().pages().unwrap_err();
    assert!(
        pages.to_string().contains(&format!("{gone} acknowledged records are gone")),
        "{pages}"
    );
    assert!(SqliteLog::open_read_only(copied.path().join(DATABASE)).is_err());
}

#[test]
fn a_removed_file_is_noticed() {
    let dir = crashed();
    for (gone, words) in [
        (&[WAL][..], "acknowledged records are gone"),
        (&[DATABASE], "acknowledged records are gone"),
        (&[DATABASE, WAL], "acknowledged records are gone"),
        (&[WATERMARK], "it is missing"),
    ] {
        let copy = copy(dir.path());
        gone.iter().for_each(|name| fs::remove_file(copy.path().join(name)).unwrap());
        let error = open(copy.path()).map(drop).unwrap_err().to_string();
        assert!(error.contains(words), "{gone:?}: {error}");
        let there = copy.path().join(DATABASE).exists();
        assert_eq!(there, !gone.contains(&DATABASE), "nothing is made in its place");
    }
}

#[test]
fn an_older_copy_in_the_place_of_a_log_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path()).unwrap();
    log.append(decision("s", 0, 1, "x")).unwrap();
    drop(log);
    let old = fs::read(dir.path().join(DATABASE)).unwrap();
    let log = open(dir.path()).unwrap();
    log.append(decision("s", 1, 1, "x")).unwrap();
    drop(log);
    fs::write(dir.path().join(DATABASE), old).unwrap();
    assert_eq!(lost(dir.path()), Some(1));
}

#[test]
fn a_copy_that_is_put_somewhere_else_goes_on() {
    let dir = crashed();
    let whole = all(&open(dir.path()).unwrap()).unwrap();
    let other = tempfile::tempdir().unwrap();
    SqliteLog::backup(dir.path().join(DATABASE), other.path().join(DATABASE)).unwrap();
    let log = open(other.path()).unwrap();
    assert_eq!(all(&log).unwrap(), whole);
    log.append(decision("new", 0, 1, "x")).unwrap();
}

#[test]
fn a_torn_watermark_is_tolerated_and_hides_no_loss() {
    let dir = crashed();
    for place in [0, 4096] {
        let copied = copy(dir.path());
        let path = copied.path().join(WATERMARK);
        let mut bytes = fs::read(&path).unwrap();
        bytes[place..place + 20].fill(0);
        fs::write(&path, bytes).unwrap();
        let torn = copy(copied.path());
        assert!(open(torn.path()).is_ok());
        fs::remove_file(copied.path().join(WAL)).unwrap();
        assert!(lost(copied.path()).is_some());
    }
    // With neither place it is not known, and that is said.
    let copied = copy(dir.path());
    fs::write(copied.path().join(WATERMARK), [0; 8192]).unwrap();
    let error = open(copied.path()).map(drop).unwrap_err().to_string();
    assert!(error.contains("it is damaged"), "{error}");
}

#[test]
fn a_log_of_a_program_without_watermarks_gets_one() {
    let dir = crashed();
    let whole = all(&open(dir.path()).unwrap()).unwrap();
    let other = tempfile::tempdir().unwrap();
    SqliteLog::backup(dir.path().join(DATABASE), other.path().join(DATABASE)).unwrap();
    drop(open(other.path()).unwrap());
    let records = SqliteLog::acknowledged(other.path().join(DATABASE)).unwrap();
    assert!(records > 0 && whole.len() > 1);
}

#[test]
fn a_folder_that_is_removed_under_a_log_takes_no_more_records() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path()).unwrap();
    log.append(decision("s", 0, 1, "x")).unwrap();
    fs::remove_dir_all(dir.path()).unwrap();
    // The writer looks fifty times a second.
    let refused = (1..1_000_000).find_map(|at| log.append(decision("s", at, 1, "x")).err());
    let error = refused.unwrap().to_string();
    assert!(error.contains("was removed or replaced"), "{error}");
}
