//! Reads a JSON-lines file of events, and finds where it ends.
//!
//! A crash can only tear the end of a file: an incomplete last line, or a decision whose further
//! events are missing. Both are cut back to the last whole decision. Any other error is damage that
//! a person must examine: the scan fails with file and line.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use crate::line::Header;
use crate::{Damage, Inspection, LogError};

/// The incomplete data that a crash left at the end of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// Lines of a decision that is not whole, counting an incomplete one.
    pub lines: u64,
    /// The size of these lines in bytes.
    pub bytes: u64,
}

/// A stream read from one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStream {
    /// The name in its events, or the name of the file if there are none.
    pub stream: String,
    /// The events of all whole decisions.
    pub lines: Vec<String>,
    /// The incomplete data after them, if any.
    pub torn: Option<Torn>,
}

/// Reads one `.jsonl` file by itself, wherever it comes from. Changes nothing.
pub fn read_file(path: impl AsRef<Path>) -> Result<FileStream, LogError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|error| LogError::io("open", path, &error))?;
    read_stream(BufReader::with_capacity(64 << 10, file), path)
}

/// Reads a stream from the contents of a file. `path` is for error messages, and names the stream
/// if it has no events.
pub fn read_stream(input: impl BufRead, path: &Path) -> Result<FileStream, LogError> {
    let mut lines = Vec::new();
    let scan = scan_from(input, path, None, Check::Whole, |line| lines.push(line.to_owned()))?;
    lines.truncate(usize::try_from(scan.version).unwrap_or(usize::MAX));
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(FileStream { stream: scan.stream.unwrap_or_else(stem), lines, torn: scan.torn })
}

/// Reads the file of a stream up to its first bad record.
pub(crate) fn inspect_file(dir: &Path, stream: &str) -> Inspection {
    let mut lines: Vec<String> = Vec::new();
    let path = dir.join(format!("{stream}.jsonl"));
    let scanned = scan(&path, Some(stream), Check::Whole, |line| lines.push(line.to_owned()));
    let damage = match scanned {
        Ok(found) => {
            lines.truncate(usize::try_from(found.version).unwrap_or(usize::MAX));
            found.torn.map(|torn| {
                let reason = format!("its last decision is not whole: {} bytes of it", torn.bytes);
                Damage { seq: found.version + 1, reason, torn: true }
            })
        }
        Err(error) => {
            // Only whole decisions count: the bad line may be in the middle of one.
            let whole = |line: &String| Header::peek(line).is_ok_and(|header| header.more == 0);
            lines.truncate(lines.iter().rposition(whole).map_or(0, |last| last + 1));
            Some(Damage { seq: lines.len() as u64 + 1, reason: error.to_string(), torn: false })
        }
    };
    Inspection { lines, damage }
}

/// How far a scan checks a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// The whole line is one JSON object.
    Whole,
    /// Only the header is checked; the caller parses the rest.
    Header,
}

impl Check {
    fn header(self, line: &str) -> Result<Header<'_>, serde_json::Error> {
        match self {
            Check::Whole => Header::parse(line),
            Check::Header => Header::peek(line),
        }
    }
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The stream, if at least one line was whole.
    pub(super) stream: Option<String>,
    /// Events of whole decisions.
    pub(super) version: u64,
    /// Bytes of whole decisions.
    pub(super) len: u64,
    pub(super) torn: Option<Torn>,
}

/// Scans a file from the start; `each` sees every whole line, even those of a torn decision. A
/// missing file is an empty one.
pub(super) fn scan(
    path: &Path,
    stream: Option<&str>,
    check: Check,
    each: impl FnMut(&str),
) -> Result<Scan, LogError> {
    match File::open(path) {
        Ok(file) => scan_from(BufReader::with_capacity(64 << 10, file), path, stream, check, each),
        Err(error) if error.kind() == ErrorKind::NotFound && stream.is_some() => {
            Ok(Scan { stream: stream.map(str::to_owned), ..Scan::default() })
        }
        Err(error) => Err(LogError::io("open", path, &error)),
    }
}

fn scan_from(
    mut input: impl BufRead,
    path: &Path,
    stream: Option<&str>,
    check: Check,
    mut each: impl FnMut(&str),
) -> Result<Scan, LogError> {
    let mut found = Scan { stream: stream.map(str::to_owned), ..Scan::default() };
    let mut place = ScanPosition { path: path.to_owned(), check, seq: 0, len: 0, more: 0 };
    let mut line = Vec::new();
    loop {
        line.clear();
        input.read_until(b'\n', &mut line).map_err(|e| LogError::io("read", path, &e))?;
        let Some((b'\n', text)) = line.split_last() else {
            break;
        };
        each(place.accept(text, &mut found.stream)?);
        if place.more == 0 {
            (found.version, found.len) = (place.seq, place.len);
        }
    }
    let torn = Torn {
        lines: place.seq - found.version + u64::from(!line.is_empty()),
        bytes: place.len + line.len() as u64 - found.len,
    };
    found.torn = (torn.bytes > 0).then_some(torn);
    Ok(found)
}

/// The position of the scan: after `seq` whole lines of `len` bytes, with `more` of a decision due.
struct ScanPosition {
    path: PathBuf,
    check: Check,
    seq: u64,
    len: u64,
    more: u64,
}

impl ScanPosition {
    fn accept<'a>(
        &mut self,
        line: &'a [u8],
        stream: &mut Option<String>,
    ) -> Result<&'a str, LogError> {
        let text = std::str::from_utf8(line).map_err(|error| self.damaged(error.to_string()))?;
        let header = self.check.header(text).map_err(|error| self.damaged(error.to_string()))?;
        let stream = stream.get_or_insert_with(|| header.stream.clone().into_owned());
        let due = self.more.checked_sub(1);
        header.expect(stream, self.seq + 1, due).map_err(|reason| self.damaged(reason))?;
        self.seq += 1;
        self.len += line.len() as u64 + 1;
        self.more = header.more;
        Ok(text)
    }

    fn damaged(&self, reason: String) -> LogError {
        LogError::Damaged { path: self.path.clone(), line: self.seq + 1, reason }
    }
}
