//! Databases of format 1, as earlier programs wrote them: readers use them as they are, writers
//! convert them.

use super::*;

const OLD_TABLES: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        version INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        stream_id INTEGER NOT NULL,
        first_seq INTEGER NOT NULL,
        count INTEGER NOT NULL,
        lines TEXT NOT NULL,
        sum INTEGER,
        UNIQUE (stream_id, first_seq)
    ) STRICT;
    PRAGMA application_id = 0x41474f4e;
    PRAGMA user_version = 1;
";

/// The content of [`closed_log`], in the old format.
fn old_log() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(OLD_TABLES).unwrap();
    db.execute_batch("BEGIN").unwrap();
    let record = "INSERT INTO records (stream_id, first_seq, count, lines, sum)
                  VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut record = db.prepare(record).unwrap();
    for stream in 0..200 {
        let row = "INSERT INTO streams (name, version) VALUES (?1, 30)";
        db.execute(row, [format!("m/{stream}")]).unwrap();
    }
    for expected in (0..30).step_by(3) {
        for stream in 0..200_i64 {
            let text = append(&format!("m/{stream}"), expected as u64, 3).lines.join("\n");
            let sum = crc32fast::hash(text.as_bytes());
            record.execute((stream + 1, expected + 1, 3, text, sum)).unwrap();
        }
    }
    db.execute_batch("COMMIT").unwrap();
    (dir, path)
}

fn format_of(path: &Path) -> i64 {
    let db = Connection::open(path).unwrap();
    db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// The whole content, by stream name.
fn content(log: &SqliteLog) -> Vec<(String, Vec<String>)> {
    let streams = log.streams().unwrap().into_iter();
    streams.map(|(name, _)| (name.clone(), log.load(&name, 0).unwrap())).collect()
}

#[test]
fn an_old_log_is_read_as_it_is() {
    let (dir, path) = old_log();
    let (_new_dir, new) = closed_log();
    let reader = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(content(&reader), content(&SqliteLog::open_read_only(new).unwrap()));
    assert_eq!(reader.load("m/6", 28).unwrap(), append("m/6", 27, 3).lines[1..]);
    assert_eq!(SqliteLog::check(&path), Ok(()));
    let inspector = crate::Inspector::of_sqlite(&path).unwrap();
    assert_eq!(inspector.pages(), Ok(()));
    assert_eq!(inspector.inspect("m/6").lines.len(), 30);
    let copied = SqliteLog::backup(&path, dir.path().join("copy.db")).unwrap();
    assert_eq!((copied.streams, copied.events), (200, 6_000));
    assert_eq!(format_of(&path), 1);
}

#[test]
fn an_old_log_is_converted_and_goes_on() {
    let (_dir, path) = old_log();
    // A reader that opened the old format, and stays open.
    let reader = SqliteLog::open_read_only(&path).unwrap();
    let before = content(&reader);
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(format_of(&path), 2);
    assert_eq!(content(&log), before);
    assert_eq!(log.append(append("m/6", 30, 2)), Ok(32));
    assert_eq!(log.append(append("new", 0, 1)), Ok(1));
    let refused = log.append(append("m/7", 29, 1)).unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { actual: 30, .. }), "{refused}");
    assert_eq!(reader.load("m/6", 28).unwrap().len(), 4);
    assert_eq!(reader.load("m/7", 0).unwrap().len(), 30);
    drop((log, reader));
    assert_eq!(SqliteLog::check(&path), Ok(()));
    let left = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'old%'";
    let db = Connection::open(&path).unwrap();
    assert_eq!(db.query_row(left, [], |row| row.get::<_, i64>(0)), Ok(0));
}

#[test]
fn a_log_without_checksums_is_read_and_gets_them() {
    let (_dir, path) = old_log();
    sql(&path, "ALTER TABLE records DROP COLUMN sum");
    let reader = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(reader.load("m/6", 0).unwrap().len(), 30);
    drop(reader);
    assert_eq!(SqliteLog::check(&path), Ok(()));
    let log = SqliteLog::open(&path).unwrap();
    assert_eq!(log.append(append("m/6", 30, 2)), Ok(32));
    drop(log);
    assert_eq!(SqliteLog::check(&path), Ok(()));
    // Records without a checksum are accepted as they are; later records are checked.
    sql(&path, "UPDATE records SET lines = replace(lines, '\"at\":0', '\"at\":8')");
    let refused = SqliteLog::check(&path).unwrap_err().to_string();
    assert!(refused.contains("stream m/6, event 31: the checksum"), "{refused}");
}

#[test]
fn a_crash_while_it_is_converted_leaves_the_old_log() {
    let (dir, path) = old_log();
    let before = content(&SqliteLog::open_read_only(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    // With so little cache, SQLite writes uncommitted pages to the file.
    db.execute_batch("PRAGMA cache_size = 1; BEGIN").unwrap();
    migrate::rebuild(&db).unwrap();
    let crashed = dir.path().join("crashed.db");
    fs::copy(&path, &crashed).unwrap();
    fs::copy(beside(&path, "-wal"), beside(&crashed, "-wal")).unwrap();
    assert!(fs::metadata(beside(&crashed, "-wal")).unwrap().len() > 100_000);
    drop(db);
    for path in [&crashed, &path] {
        assert_eq!(format_of(path), 1);
        assert_eq!(content(&SqliteLog::open_read_only(path).unwrap()), before);
        assert_eq!(content(&SqliteLog::open(path).unwrap()), before);
        assert_eq!((format_of(path), SqliteLog::check(path)), (2, Ok(())));
    }
}

#[test]
fn a_full_disk_while_it_is_converted_leaves_the_old_log() {
    let (_dir, path) = old_log();
    let before = content(&SqliteLog::open_read_only(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let room = format!("PRAGMA max_page_count = {}", pages + 50);
    db.query_row(&room, [], |_| Ok(())).unwrap();
    let refused = migrate::migrate(&db).unwrap_err();
    let full = Some(rusqlite::ErrorCode::DiskFull);
    assert_eq!(refused.sqlite_error_code(), full, "{refused}");
    drop(db);
    assert_eq!(format_of(&path), 1);
    assert_eq!(content(&SqliteLog::open_read_only(&path).unwrap()), before);
}

#[test]
fn conversion_keeps_damage_in_the_same_place() {
    let damage = [
        ("DELETE FROM records WHERE stream_id = 7 AND first_seq = 13", Some(13)),
        ("DELETE FROM records WHERE stream_id = 7 AND first_seq = 1", Some(1)),
        ("DELETE FROM records WHERE stream_id = 7 AND first_seq = 28", Some(28)),
        ("DELETE FROM records WHERE stream_id = 7", Some(1)),
        ("DELETE FROM records WHERE id = 2000", None),
        ("DELETE FROM streams WHERE id = 8", None),
        ("UPDATE records SET sum = sum + 1 WHERE stream_id = 7 AND first_seq = 13", Some(13)),
        ("UPDATE records SET count = 2 WHERE stream_id = 7 AND first_seq = 4", Some(4)),
    ];
    for (change, bad) in damage {
        let (_dir, path) = old_log();
        sql(&path, change);
        let look = || {
            let inspector = crate::Inspector::of_sqlite(&path).unwrap();
            let found = inspector.inspect("m/6");
            assert_eq!(found.damage.map(|damage| damage.seq), bad, "{change}");
            found.lines
        };
        assert!(SqliteLog::check(&path).is_err(), "{change}");
        let before = look();
        let log = SqliteLog::open(&path).unwrap();
        assert_eq!(log.load("m/6", 0).is_err(), bad.is_some(), "{change}");
        drop(log);
        assert_eq!(look(), before, "{change}");
        assert!(SqliteLog::check(&path).is_err(), "{change}");
    }
}
