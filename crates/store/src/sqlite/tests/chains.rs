//! Ends of streams that are not in `streams` yet, and chains that are broken.

use super::*;
use crate::Inspector;

/// A log whose writer was killed: `streams` is out of date, and no other record refers to the last
/// record of each stream.
fn killed_log() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let db = schema::open_writer(&path).unwrap();
    let mut writer = Writer::new(db).unwrap();
    for expected in [0, 3, 6] {
        let appends = (0..20).map(|stream| append(&format!("m/{stream}"), expected, 3));
        commit(&mut writer, appends.collect());
    }
    drop(writer);
    (dir, path)
}

fn commit(writer: &mut Writer, appends: Vec<Append>) {
    let answers = writer.commit(&[&appends], |_| Ok(())).concat();
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
}

fn mark(path: &Path) -> i64 {
    let db = Connection::open(path).unwrap();
    db.query_row("SELECT record_id FROM mark", [], |row| row.get(0)).unwrap()
}

#[test]
fn readers_see_all_records_of_a_killed_writer() {
    let (dir, path) = killed_log();
    assert_eq!(mark(&path), 0);
    let reader = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(reader.load("m/7", 7).unwrap(), append("m/7", 6, 3).lines[1..]);
    assert!(reader.streams().unwrap().iter().all(|(_, version)| *version == 9));
    assert_eq!(SqliteLog::check(&path), Ok(()));
    let copy = dir.path().join("copy.db");
    assert_eq!(SqliteLog::backup(&path, &copy).unwrap().events, 180);
    for path in [path, copy] {
        let log = SqliteLog::open(&path).unwrap();
        let refused = log.append(append("m/7", 0, 1)).unwrap_err();
        assert!(matches!(refused, AppendError::Conflict { actual: 9, .. }), "{refused}");
        assert_eq!(log.append(append("m/7", 9, 1)), Ok(10));
        assert_eq!(log.load("m/7", 0).unwrap().len(), 10);
        drop(log);
        assert_eq!(mark(&path), 61);
        assert_eq!(SqliteLog::check(&path), Ok(()));
    }
}

#[test]
fn the_mark_moves_and_readers_follow() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let db = schema::open_writer(&path).unwrap();
    let mut writer = Writer::new(db).unwrap();
    let reader = SqliteLog::open_read_only(&path).unwrap();
    let streams = 50;
    for version in 0..writer::UNMARKED_MIN * 5 / 2 / streams {
        let appends = (0..streams).map(|stream| append(&format!("m/{stream}"), version, 1));
        commit(&mut writer, appends.collect());
        if version % 97 == 0 {
            assert_eq!(reader.load("m/7", version).unwrap(), append("m/7", version, 1).lines);
            assert_eq!(reader.streams().unwrap()[0].1, version + 1);
        }
    }
    assert_eq!(mark(&path).cast_unsigned(), 2 * writer::UNMARKED_MIN);
    // An old reader and a new one see the same.
    let late = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(reader.streams().unwrap(), late.streams().unwrap());
    assert_eq!(reader.load("m/7", 0).unwrap(), late.load("m/7", 0).unwrap());
    assert_eq!(SqliteLog::check(&path), Ok(()));
}

#[test]
fn a_record_that_is_missing_at_the_end_is_noticed() {
    let (_dir, path) = killed_log();
    // The last record of its stream: only the gap in the ids shows that it is missing.
    sql(&path, "DELETE FROM records WHERE id = 48");
    let refused = SqliteLog::open(&path).err().unwrap().to_string();
    assert!(refused.contains("record 48 is missing"), "{refused}");
    let reader = SqliteLog::open_read_only(&path).unwrap();
    assert!(reader.load("m/7", 0).is_err() && reader.streams().is_err());
    assert_eq!(reader.load("no-such", 0), Ok(vec![]));
    assert!(SqliteLog::check(&path).is_err());
    // The remaining records can be inspected.
    let inspector = Inspector::of_sqlite(&path).unwrap();
    let said = inspector.pages().unwrap_err().to_string();
    assert!(said.contains("record 48 is missing"), "{said}");
    assert_eq!(inspector.streams().unwrap().len(), 20);
    assert_eq!(inspector.inspect("m/7").lines.len(), 6);
    let sound = inspector.inspect("m/6");
    assert_eq!((sound.lines.len(), sound.damage), (9, None));
}

#[test]
fn records_before_a_broken_link_are_recovered() {
    let (_dir, path) = closed_log();
    let inspect = || Inspector::of_sqlite(&path).unwrap();
    let whole = inspect().inspect("m/6").lines;
    sql(&path, "DELETE FROM records WHERE stream_id = 7 AND first_seq = 13");
    let found = inspect().inspect("m/6");
    assert_eq!(found.lines, whole[..12]);
    assert_eq!(found.damage.map(|damage| damage.seq), Some(13));
    let said = inspect().pages().unwrap_err().to_string();
    assert!(said.contains("4 records are out of reach"), "{said}");
    // A wrong link, with all records present.
    sql(&path, "UPDATE records SET prev = 1 WHERE stream_id = 8 AND first_seq = 13");
    let found = inspect().inspect("m/7");
    assert_eq!(found.lines.len(), 30);
    let damage = found.damage.unwrap();
    assert_eq!(damage.seq, 31);
    assert!(damage.reason.contains("before that from 13"), "{}", damage.reason);
}

#[test]
fn rolled_back_group_leaves_no_trace() {
    let (_dir, path) = killed_log();
    let db = schema::open_writer(&path).unwrap();
    let mut writer = Writer::new(db).unwrap();
    commit(&mut writer, vec![append("m/7", 9, 1)]);
    sql(
        &path,
        "CREATE TRIGGER no BEFORE INSERT ON records WHEN new.stream_id = 9
                BEGIN SELECT raise(FAIL, 'not today'); END",
    );
    let group = vec![append("m/7", 10, 1), append("new", 0, 2), append("m/8", 9, 1)];
    let answers = writer.commit(&[&group], |_| Ok(())).concat();
    assert!(answers.iter().all(|answer| matches!(answer, Err(AppendError::Io { .. }))));
    sql(&path, "DROP TRIGGER no");
    commit(&mut writer, vec![append("m/7", 10, 1), append("new", 0, 2), append("m/8", 9, 1)]);
    drop(writer);
    assert_eq!(SqliteLog::check(&path), Ok(()));
    let log = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(log.load("m/7", 0).unwrap().len(), 11);
    assert_eq!(log.streams().unwrap().len(), 21);
}
