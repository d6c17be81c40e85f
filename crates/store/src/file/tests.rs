//! Tests that only concern the file log: torn ends, damage, locks, full disks.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

/// The lines of one decision.
fn decision(stream: &str, expected: u64, count: u64) -> Vec<String> {
    let line = |index| {
        let (seq, more) = (expected + 1 + index, count - 1 - index);
        let head = format!(r#""v":1,"stream":"{stream}","seq":{seq},"at":0,"more":{more}"#);
        format!(r#"{{{head},"type":"t","data":"é"}}"#)
    };
    (0..count).map(line).collect()
}

fn append(stream: &str, expected: u64, count: u64) -> Append {
    Append { stream: stream.into(), expected, lines: decision(stream, expected, count) }
}

/// A log with one stream `m/1` of decisions of 1, 3 and 2 events.
fn small_log() -> (TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let log = FileLog::open(dir.path(), Sync::Process).unwrap();
    log.append(append("m/1", 0, 1)).unwrap();
    log.append(append("m/1", 1, 3)).unwrap();
    log.append(append("m/1", 4, 2)).unwrap();
    let lines = log.load("m/1", 0).unwrap();
    (dir, lines)
}

fn file_of(dir: &TempDir) -> PathBuf {
    dir.path().join("m/1.jsonl")
}

/// The largest version at the end of a decision that fits in `bytes`.
fn whole(lines: &[String], bytes: usize) -> u64 {
    let mut end = 0;
    let ends = lines.iter().map(|line| {
        end += line.len() + 1;
        end
    });
    let complete = ends.take_while(|end| *end <= bytes).count();
    [6, 4, 1, 0].into_iter().find(|version| *version <= complete).unwrap() as u64
}

#[test]
fn torn_at_every_byte_leaves_whole_decisions() {
    let (dir, lines) = small_log();
    let path = file_of(&dir);
    let bytes = fs::read(&path).unwrap();
    for len in 0..=bytes.len() {
        fs::write(&path, &bytes[..len]).unwrap();
        let due = whole(&lines, len);

        let reader = FileLog::open_read_only(dir.path()).unwrap();
        assert_eq!(reader.load("m/1", 0).unwrap(), lines[..due as usize], "cut at {len}");
        assert_eq!(fs::read(&path).unwrap().len(), len, "a reader changed the file");
        let alone = read_file(&path).unwrap();
        assert_eq!(alone.lines, lines[..due as usize]);

        let sync = if len % 2 == 0 { Sync::Process } else { Sync::Always };
        let log = FileLog::open(dir.path(), sync).unwrap();
        let streams = if due == 0 { vec![] } else { vec![("m/1".to_owned(), due)] };
        assert_eq!(log.streams().unwrap(), streams, "cut at {len}");
        assert_eq!(log.load("m/1", 0).unwrap(), lines[..due as usize], "cut at {len}");
        let kept: usize = lines[..due as usize].iter().map(|line| line.len() + 1).sum();
        let lost: Vec<_> = log.repairs().iter().map(|repair| repair.torn.bytes).collect();
        let due_lost = if kept == len { vec![] } else { vec![(len - kept) as u64] };
        assert_eq!(lost, due_lost, "cut at {len}");
        assert_eq!(alone.torn.map(|torn| torn.bytes), due_lost.first().copied());

        assert_eq!(log.append(append("m/1", due, 2)), Ok(due + 2), "cut at {len}");
        drop(log);
        let again = FileLog::open(dir.path(), Sync::Process).unwrap();
        assert_eq!(again.load("m/1", due).unwrap(), decision("m/1", due, 2));
        assert_eq!(again.repairs(), []);
    }
}

#[test]
fn a_tail_of_zeros_is_torn() {
    let (dir, lines) = small_log();
    let mut bytes = fs::read(file_of(&dir)).unwrap();
    bytes.extend([0; 4096]);
    fs::write(file_of(&dir), &bytes).unwrap();
    let log = FileLog::open(dir.path(), Sync::Process).unwrap();
    assert_eq!(log.load("m/1", 0).unwrap(), lines);
    assert_eq!(log.repairs()[0].torn, Torn { lines: 1, bytes: 4096 });
    assert!(log.repairs()[0].cut);
}

#[test]
fn damage_in_the_middle_is_named_and_left_alone() {
    let (dir, lines) = small_log();
    let path = file_of(&dir);
    let damage: [(&str, usize, String); 6] = [
        ("not JSON", 3, "{\"v\":1".to_owned()),
        ("an empty line", 2, String::new()),
        ("a wrong number", 4, lines[3].replace("\"seq\":4", "\"seq\":5")),
        ("another stream", 1, lines[0].replace("m/1", "m/2")),
        ("too few of a decision", 3, lines[2].replace("\"more\":1", "\"more\":0")),
        ("the last line", 6, lines[5].replace("\"v\":1", "\"v\":")),
    ];
    for (what, number, text) in damage {
        let mut lines = lines.clone();
        lines[number - 1] = text;
        let text = lines.join("\n") + "\n";
        fs::write(&path, &text).unwrap();
        let log = FileLog::open(dir.path(), Sync::Process).unwrap();
        let refused = log.load("m/1", 0).unwrap_err();
        let LogError::Damaged { path: named, line, .. } = &refused else {
            panic!("{what}: {refused}")
        };
        assert_eq!((named, *line), (&path, number as u64), "{what}");
        assert_eq!(log.streams(), Err(refused.clone()), "{what}");
        let unreadable = Err(AppendError::Unreadable(refused));
        assert_eq!(log.append(append("m/1", 6, 1)), unreadable, "{what}");
        assert_eq!(log.append(append("other", 0, 1)), Ok(1), "{what}: other streams go on");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{what}: the file was changed");
        drop(log);
        fs::remove_file(dir.path().join("other.jsonl")).unwrap();
    }
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let (dir, _) = small_log();
    let mut bytes = fs::read(file_of(&dir)).unwrap();
    bytes[3] = 0xff;
    fs::write(file_of(&dir), &bytes).unwrap();
    let refused = read_file(file_of(&dir)).unwrap_err();
    assert!(matches!(refused, LogError::Damaged { line: 1, .. }), "{refused}");
}

#[test]
fn a_second_writer_is_kept_out_and_a_reader_is_not() {
    let (dir, lines) = small_log();
    let log = FileLog::open(dir.path(), Sync::Always).unwrap();
    let refused = FileLog::open(dir.path(), Sync::Process).err().unwrap();
    let holder = format!(" (pid {})", std::process::id());
    assert_eq!(refused, LogError::Locked { path: dir.path().to_owned(), holder });
    let reader = FileLog::open_read_only(dir.path()).unwrap();
    assert_eq!(reader.load("m/1", 0).unwrap(), lines);
    assert_eq!(reader.append(append("m/1", 6, 1)), Err(AppendError::ReadOnly));
    // A reader follows the writer.
    assert_eq!(log.append(append("m/1", 6, 1)), Ok(7));
    assert_eq!(reader.streams().unwrap(), [("m/1".to_owned(), 7)]);
    drop(log);
    FileLog::open(dir.path(), Sync::Process).unwrap();
}

#[test]
fn a_reader_needs_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    assert!(matches!(FileLog::open_read_only(&missing), Err(LogError::Io { .. })));
    assert!(!missing.exists());
    FileLog::open(missing.join("deeper"), Sync::Process).unwrap();
    assert!(missing.join("deeper/.lock").exists());
}

#[test]
fn other_files_in_the_folder_are_not_ours() {
    let (dir, _) = small_log();
    for name in ["README", "m/notes.txt", "m/Upper.jsonl", "m/.hidden.jsonl"] {
        fs::write(dir.path().join(name), "hello").unwrap();
    }
    fs::create_dir_all(dir.path().join(".git/a.jsonl")).unwrap();
    let log = FileLog::open(dir.path(), Sync::Process).unwrap();
    assert_eq!(log.streams().unwrap(), [("m/1".to_owned(), 6)]);
}

#[test]
fn more_streams_than_handles() {
    let dir = tempfile::tempdir().unwrap();
    let log = FileLog::open(dir.path(), Sync::Process).unwrap();
    for round in 0..3 {
        for stream in 0..600 {
            assert_eq!(log.append(append(&format!("s/{stream}"), round, 1)), Ok(round + 1));
        }
    }
    log.flush().unwrap();
    assert_eq!(log.streams().unwrap().len(), 600);
    assert!(open_files(dir.path()) <= 256 + 1, "handles are bounded");
}

/// How many files below `dir` this process has open; 0 if the system does not say.
fn open_files(dir: &Path) -> usize {
    let Ok(open) = fs::read_dir("/proc/self/fd") else { return 0 };
    let links = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.filter(|link| link.starts_with(dir)).count()
}

#[test]
fn foreign_change_of_a_file_is_detected() {
    let (dir, lines) = small_log();
    let log = FileLog::open(dir.path(), Sync::Process).unwrap();
    assert_eq!(log.load("m/1", 0).unwrap(), lines);
    fs::write(file_of(&dir), "short\n").unwrap();
    assert!(matches!(log.load("m/1", 0), Err(LogError::Damaged { .. })));
}
