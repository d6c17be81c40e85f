//! Tests that only concern the SQLite log: formats, damage, a full database, foreign writers.

use std::fs;
use std::io;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

mod chains;
mod format_1;

fn append(stream: &str, expected: u64, count: u64) -> Append {
    let line = |index| {
        let (seq, more) = (expected + 1 + index, count - 1 - index);
        format!(r#"{{"v":1,"stream":"{stream}","seq":{seq},"at":0,"more":{more},"type":"t"}}"#)
    };
    Append { stream: stream.into(), expected, lines: (0..count).map(line).collect() }
}

/// A closed log of 200 streams with 30 events each.
fn closed_log() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let log = SqliteLog::open(&path).unwrap();
    for expected in (0..30).step_by(3) {
        for stream in 0..200 {
            log.submit(append(&format!("m/{stream}"), expected, 3), Box::new(|_| ()));
        }
    }
    drop(log);
    (dir, path)
}

fn sql(path: &Path, batch: &str) {
    Connection::open(path).unwrap().execute_batch(batch).unwrap();
}

#[test]
fn a_closed_log_has_no_write_ahead_log_and_is_sound() {
    let (dir, path) = closed_log();
    let mut names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["log.db", "log.db.lock", "log.db.watermark"]);
    assert_eq!(SqliteLog::check(&path), Ok(()));
}

#[test]
fn a_second_writer_is_kept_out_and_a_reader_is_not() {
    let (_dir, path) = closed_log();
    let log = SqliteLog::open(&path).unwrap();
    let refused = SqliteLog::open(&path).err().unwrap();
    assert!(matches!(refused, LogError::Locked { .. }), "{refused}");
    let reader = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(log.append(append("m/7", 30, 1)), Ok(31));
    assert_eq!(reader.load("m/7", 29).unwrap().len(), 2);
    assert_eq!(reader.append(append("m/7", 31, 1)), Err(AppendError::ReadOnly));
    assert_eq!(SqliteLog::check(&path), Ok(()));
    drop(log);
    SqliteLog::open(&path).unwrap();
}

#[test]
fn a_reader_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let refused = SqliteLog::open_read_only(&path).err().unwrap();
    assert!(matches!(refused, LogError::Io { kind: io::ErrorKind::NotFound, .. }), "{refused}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_later_format_is_refused() {
    let (_dir, path) = closed_log();
    sql(&path, "PRAGMA user_version = 3");
    let refused = SqliteLog::open(&path).err();
    assert_eq!(refused, Some(LogError::Newer { path: path.clone(), found: 3, known: 2 }));
    assert_eq!(SqliteLog::check(&path).err(), refused);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.db");
    sql(&path, "CREATE TABLE users (name)");
    let refused = SqliteLog::open(&path).err().unwrap();
    assert!(refused.to_string().contains("another program"), "{refused}");
}

#[test]
fn file_that_is_no_database_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("text.db");
    fs::write(&path, "no database at all, but longer than a header has to be. ".repeat(20))
        .unwrap();
    for refused in [SqliteLog::open(&path).err(), SqliteLog::check(&path).err()] {
        assert!(matches!(refused, Some(LogError::BadDatabase { .. })), "{refused:?}");
    }
}

#[test]
fn damaged_pages_are_found_and_never_a_panic() {
    let (_dir, path) = closed_log();
    let sound = fs::read(&path).unwrap();
    let page_count = sound.len() / 4096;
    let mut found_whole = 0;
    for page in 0..page_count {
        let mut bytes = sound.clone();
        bytes[page * 4096..][..512].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
        let refused = SqliteLog::check(&path).unwrap_err();
        assert!(matches!(refused, LogError::BadDatabase { .. }), "page {page}: {refused}");
        // Opening may succeed if it does not read the page; using the log must not panic.
        if let Ok(log) = SqliteLog::open(&path) {
            let _ = log.streams();
            let _ = log.load("m/7", 0);
            let _ = log.append(append("m/7", 30, 1));
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok(inspector) = crate::Inspector::of_sqlite(&path) {
            assert!(inspector.pages().is_err(), "page {page}");
            let whole: Vec<String> = (0..10).flat_map(|n| append("m/7", n * 3, 3).lines).collect();
            let found = inspector.inspect("m/7");
            assert_eq!(found.lines, whole[..found.lines.len()], "page {page}");
            // Records on other pages that can be found are still readable.
            found_whole += usize::from(found.lines.len() == 30);
        }
        let _ = fs::remove_file(path.with_extension("db-wal"));
        let _ = fs::remove_file(path.with_extension("db-shm"));
    }
    assert!(found_whole > page_count / 2, "{found_whole} of {page_count}");
}

#[test]
fn events_that_are_missing_or_changed_are_found() {
    let damage = [
        ("DELETE FROM records WHERE stream_id = 7 AND first_seq = 13", "from 16"),
        ("DELETE FROM records WHERE stream_id = 7 AND first_seq = 1", "from 4"),
        ("DELETE FROM records WHERE stream_id = 7 AND first_seq = 28", "event 27, not at 30"),
        ("DELETE FROM streams WHERE id = 7", "10 records belong to no stream"),
        ("UPDATE streams SET version = 29 WHERE id = 7", "event 30, not at 29"),
        ("UPDATE records SET count = 2 WHERE stream_id = 7 AND first_seq = 4", "3 events from 4"),
        (
            "UPDATE records SET sum = NULL, lines = replace(lines, '\"seq\":5', '\"seq\":6')",
            "event 5:",
        ),
        (
            "UPDATE records SET sum = NULL, lines = replace(lines, 'm/6', 'm/5')",
            "stream m/5, not m/6",
        ),
        // Only the checksum shows this change.
        (
            "UPDATE records SET lines = replace(lines, '\"at\":0', '\"at\":8')
             WHERE stream_id = 7 AND first_seq = 13",
            "stream m/6, event 13: the checksum",
        ),
        // A chain that leads to another stream, round in a circle, past a record, to its middle.
        (
            "UPDATE records SET prev = prev + 1 WHERE stream_id = 7 AND first_seq = 13",
            "event 13: the record before that from 13",
        ),
        (
            "UPDATE records SET prev = id WHERE stream_id = 7 AND first_seq = 13",
            "event 13: the record before that from 13",
        ),
        (
            "UPDATE records SET prev = prev - 200 WHERE stream_id = 7 AND first_seq = 13",
            "event 10: 3 events from 13",
        ),
        ("UPDATE streams SET head = head + 1 WHERE id = 7", "event 31: the end"),
        ("UPDATE streams SET head = head - 200, version = 27 WHERE id = 7", "1 records are out"),
        ("DELETE FROM records WHERE id = 2000", "record 2000 is missing"),
        ("UPDATE mark SET record_id = 2001", "record 2001 is missing"),
        ("DELETE FROM mark", "no mark"),
    ];
    for (change, found) in damage {
        let (_dir, path) = closed_log();
        sql(&path, change);
        let refused = SqliteLog::check(&path).unwrap_err().to_string();
        assert!(refused.contains(found), "{change}: {refused}");
    }
}

#[test]
fn a_gap_is_refused_when_loading() {
    let (_dir, path) = closed_log();
    sql(&path, "DELETE FROM records WHERE stream_id = 7 AND first_seq = 13");
    let log = SqliteLog::open(&path).unwrap();
    for after in [0, 13] {
        let refused = log.load("m/6", after).unwrap_err();
        assert!(matches!(&refused, LogError::BadRecord { .. }), "{refused}");
        let said = refused.to_string();
        assert!(said.contains("stream m/6, event"), "{said}");
    }
    assert_eq!(log.load("m/6", 15).unwrap().len(), 15);
    assert_eq!(log.load("m/5", 0).unwrap().len(), 30);
}

#[test]
fn foreign_writer_causes_a_conflict_and_no_damage() {
    let (_dir, path) = closed_log();
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(log.append(append("m/6", 30, 1)), Ok(31));
    // The writer sees foreign changes before its next append.
    sql(
        &path,
        "INSERT INTO records (stream_id, prev, first_seq, count, lines)
         SELECT stream_id, max(id), 32, 9, 'nine events' FROM records WHERE stream_id = 7;
         UPDATE streams SET version = 50 WHERE name = 'm/8'",
    );
    for (stream, expected, actual) in [("m/6", 31, 40), ("m/8", 30, 50)] {
        let refused = log.append(append(stream, expected, 1));
        let stream = stream.to_owned();
        assert_eq!(refused, Err(AppendError::Conflict { stream, expected, actual }));
    }
    assert_eq!(log.append(append("m/7", 30, 1)), Ok(31));
    // The foreign data is not a decision, and reading it fails.
    assert!(matches!(log.load("m/6", 0), Err(LogError::BadRecord { seq: 32, .. })));
    assert!(matches!(log.load("m/8", 0), Err(LogError::BadRecord { seq: 31, .. })));
    assert_eq!(log.load("m/7", 0).unwrap().len(), 31);
}

#[test]
fn a_full_database_refuses_the_group_and_goes_on_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let db = schema::open_writer(&dir.path().join("log.db")).unwrap();
    let mut writer = Writer::new(db).unwrap();
    let commit = |writer: &mut Writer, appends: Vec<Append>| {
        let group: Vec<_> = appends.iter().map(std::slice::from_ref).collect();
        writer.commit(&group, |_| Ok(())).concat()
    };
    let two = vec![append("a", 0, 1), append("b", 0, 1)];
    assert_eq!(commit(&mut writer, two), [Ok(1), Ok(1)]);

    let room = |writer: &Writer, pages: u32| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        writer.db().query_row(&sql, [], |_| Ok(())).unwrap();
    };
    room(&writer, 1);
    let three = vec![append("a", 1, 1), append("b", 7, 1), append("c", 0, 500)];
    let refused = commit(&mut writer, three);
    for (answer, stream) in refused.iter().zip(["a", "b", "c"]) {
        let Err(AppendError::Io { stream: named, kind, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((named.as_str(), *kind), (stream, io::ErrorKind::StorageFull));
    }
    // Appends that still fit are accepted, and nothing of the rejected group remains.
    assert_eq!(commit(&mut writer, vec![append("a", 1, 1)]), [Ok(2)]);
    room(&writer, 100_000);
    let two = vec![append("b", 1, 1), append("c", 0, 500)];
    assert_eq!(commit(&mut writer, two), [Ok(2), Ok(500)]);
    // The log's connection is still open, which does not affect a check.
    assert_eq!(SqliteLog::check(dir.path().join("log.db")), Ok(()));
}

#[test]
fn a_lost_end_and_a_lost_stream_are_refused_when_loading() {
    let (_dir, path) = closed_log();
    sql(&path, "DELETE FROM records WHERE stream_id = 7 AND first_seq = 28");
    sql(&path, "DELETE FROM records WHERE stream_id = 8");
    let log = SqliteLog::open(&path).unwrap();
    for (stream, seq) in [("m/6", 28), ("m/7", 1)] {
        for after in [0, 27, 30] {
            let refused = log.load(stream, after).unwrap_err();
            let LogError::BadRecord { seq: named, .. } = refused else { panic!("{refused}") };
            assert_eq!(named, seq, "{stream} after {after}");
        }
    }
}

#[test]
fn sound_records_before_damage_can_be_inspected() {
    let (_dir, path) = closed_log();
    sql(&path, "UPDATE records SET sum = sum + 1 WHERE stream_id = 7 AND first_seq = 13");
    let inspector = crate::Inspector::of_sqlite(&path).unwrap();
    assert_eq!(inspector.pages(), Ok(()));
    assert_eq!(inspector.streams().unwrap().len(), 200);
    let found = inspector.inspect("m/6");
    assert_eq!(found.lines.len(), 12);
    assert_eq!(found.damage.map(|damage| (damage.seq, damage.torn)), Some((13, false)));
    let sound = inspector.inspect("m/7");
    assert_eq!((sound.lines.len(), sound.damage), (30, None));
}

fn snapshot(seq: u64) -> Snapshot {
    Snapshot { stream: "m/6".into(), format: 3, seq, state: "{\"é\":\n1}".into() }
}

#[test]
fn a_snapshot_that_was_damaged_or_is_not_of_this_log_is_refused() {
    let (dir, path) = closed_log();
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(log.snapshot("m/6"), Ok(None));
    assert!(log.keep_snapshot(&snapshot(31)).is_err(), "there is no event 31");
    log.keep_snapshot(&snapshot(12)).unwrap();
    log.keep_snapshot(&snapshot(30)).unwrap();
    assert_eq!(log.snapshot("m/6"), Ok(Some(snapshot(30))));
    let file = dir.path().join("log.db.snapshot-m.6");
    let sound = fs::read(&file).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 4;
        fs::write(&file, &bytes).unwrap();
        assert!(log.snapshot("m/6").is_err(), "byte {at} was changed");
        fs::write(&file, &sound[..at]).unwrap();
        assert!(log.snapshot("m/6").is_err(), "cut off at {at}");
    }
    fs::write(&file, &sound).unwrap();
    drop(log);
    // Another history under the same numbers, as after restoring a backup and continuing from it.
    sql(&path, "UPDATE records SET sum = NULL, lines = replace(lines, '\"at\":0', '\"at\":8')");
    let refused = SqliteLog::open(&path).unwrap().snapshot("m/6").unwrap_err();
    assert!(refused.to_string().contains("another log"), "{refused}");
}

#[test]
fn a_copy_is_whole_while_the_log_grows() {
    let (dir, path) = closed_log();
    let log = SqliteLog::open(&path).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for expected in (30..330).step_by(3) {
                log.append(append("m/6", expected, 3)).unwrap();
            }
        });
        for number in 0.. {
            let to = dir.path().join(format!("copy-{number}.db"));
            let copied = SqliteLog::backup(&path, &to).unwrap();
            assert_eq!(copied.streams, 200);
            let copy = SqliteLog::open_read_only(&to).unwrap();
            assert_eq!(199 * 30 + copy.load("m/6", 0).unwrap().len() as u64, copied.events);
            if writing.is_finished() {
                break;
            }
        }
    });
    let to = dir.path().join("copy-0.db");
    let before = fs::read(&to).unwrap();
    let refused = SqliteLog::backup(&path, &to).unwrap_err();
    assert!(refused.to_string().contains("already"), "{refused}");
    assert_eq!(fs::read(&to).unwrap(), before, "a copy is not written over");
    // The copy is a normal log.
    let log = SqliteLog::open(&to).unwrap();
    assert_eq!(log.append(append("m/7", 30, 1)), Ok(31));
}

#[test]
fn a_damaged_log_is_not_copied() {
    let (dir, path) = closed_log();
    sql(&path, "UPDATE records SET sum = sum + 1 WHERE stream_id = 7 AND first_seq = 13");
    let to = dir.path().join("copy.db");
    let refused = SqliteLog::backup(&path, &to).unwrap_err();
    assert!(matches!(refused, LogError::BadRecord { seq: 13, .. }), "{refused}");
    assert!(!to.exists() && !dir.path().join("copy.db.part").exists(), "nothing is left");
}

#[test]
fn replaced_database_is_kept_with_its_write_ahead_log() {
    let (dir, path) = closed_log();
    let by = dir.path().join("new.db");
    let new = SqliteLog::open(&by).unwrap();
    new.append(append("n", 0, 1)).unwrap();
    drop(new);
    // Simulates a killed server: its last record is only in the write-ahead log.
    let db = schema::open_writer(&path).unwrap();
    let mut writer = Writer::new(db).unwrap();
    writer.commit(&[&[append("last", 0, 1)]], |_| Ok(()));
    let kept = SqliteLog::replace(&path, &by).unwrap();
    drop(writer);
    assert_eq!(SqliteLog::open_read_only(&path).unwrap().streams(), Ok(vec![("n".into(), 1)]));
    let old = SqliteLog::open_read_only(&kept).unwrap();
    assert_eq!(old.load("last", 0).unwrap().len(), 1);
    assert_eq!(old.streams().unwrap().len(), 201);
}
