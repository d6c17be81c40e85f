//! Stored data: lines of logs, files of them, snapshots, and the names in all of these.

use agon_core::lobby::{Lobby, QueueName};
use agon_core::{Commitment, Fault, Line, Nonce, PlayerName, Secret, Why};
use agon_store::{STREAM_NAME_CHARS_MAX, check_stream_name, read_stream};
use agon_wire::erlang::term::Atom;

/// One line of a log. A line that is read reads the same after writing, whatever its form was.
pub fn line(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let line = match Line::read(text) {
        Ok(line) => line,
        Err(bad) => {
            let _ = bad.to_string();
            return false;
        }
    };
    // White space in front selects the parser for lines that other programs wrote.
    assert_eq!(Line::read(&format!(" {text}")).as_ref(), Ok(&line), "two ways to read {text}");
    // Invalid stream names would need quoting; no log accepts them.
    if check_stream_name(&line.stream).is_ok() {
        assert_eq!(Line::read(&line.write()).as_ref(), Ok(&line), "{text}");
    }
    // A line either folds or is rejected as unfitting.
    let _ = Lobby::fold([&line]);
    true
}

/// A file of lines: whole decisions are read, a torn end is cut off, everything else is rejected.
pub fn file(data: &[u8]) -> bool {
    let Ok(read) = read_stream(data, "fuzz".as_ref()) else { return false };
    let bytes: usize = read.lines.iter().map(|line| line.len() + 1).sum();
    let torn = read.torn.as_ref().map_or(0, |torn| torn.bytes as usize);
    assert_eq!(bytes + torn, data.len(), "bytes were lost");
    // The remaining file is complete.
    let again = read_stream(&data[..bytes], "fuzz".as_ref()).expect("whole decisions");
    assert_eq!((again.lines, again.torn), (read.lines.clone(), None));
    if let Ok(lines) = agon_core::verify::read(&read.lines) {
        assert_eq!(lines.len(), read.lines.len());
    }
    !read.lines.is_empty()
}

/// Names, ids, secrets, tokens: an accepted one is within its bounds and keeps its text.
pub fn names(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut good = false;
    if let Ok(name) = PlayerName::new(text) {
        assert!(name.as_str() == text && text.chars().count() <= 50 && !text.contains('\n'));
        good = true;
    }
    if let Ok(why) = Why::new(text) {
        assert!(why.as_str() == text && text.chars().count() <= Why::CHARS_MAX);
        good = true;
    }
    if let Ok(queue) = QueueName::new(text) {
        assert!(queue.as_str() == text && text.len() <= 60);
        good = true;
    }
    if let Ok(nonce) = Nonce::new(text) {
        assert!(String::from(nonce) == text && text.len() <= 64);
        good = true;
    }
    if let Ok(secret) = Secret::try_from(text.to_owned()) {
        assert_eq!(secret.hex(), text.to_ascii_lowercase());
        assert!(Commitment::try_from(text.to_owned()).is_ok());
        good = true;
    }
    if check_stream_name(text).is_ok() {
        assert!(text.len() <= STREAM_NAME_CHARS_MAX && !text.contains("..") && text.is_ascii());
        assert!(!text.starts_with(['/', '.']) && !text.contains("//"));
        good = true;
    }
    if let Some(atom) = Atom::new(text) {
        assert_eq!(atom.as_str(), text);
    }
    let fault = Fault::malformed("x", text);
    assert!(fault.answer.is_some_and(|kept| kept.len() <= Fault::EVIDENCE_MAX));
    good
}
