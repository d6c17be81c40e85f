//! Snapshots: the state of a stream after one of its events, so that a start reads only the rest.
//!
//! The log is authoritative, not the snapshot. A snapshot names the event it follows and carries
//! that event's checksum, so a snapshot of another log, for example after a restore, is ignored. It
//! also has a checksum of its own, so a damaged one is ignored too. The caller interprets the
//! state.

use serde::{Deserialize, Serialize};

use crate::{Log, LogError};

/// The state of a stream after its first `seq` events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The stream.
    pub stream: String,
    /// The version of the state's format, chosen by the caller.
    pub format: u32,
    /// The number of events that the state includes.
    pub seq: u64,
    /// The state.
    pub state: String,
}

/// The first line of a snapshot, after the checksum of all that follows it; then comes the state.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    snapshot: u32,
    stream: String,
    format: u32,
    seq: u64,
    /// The checksum of the event it was made after.
    event_sum: u32,
}

/// The version of the first line.
const VERSION: u32 = 1;

impl Snapshot {
    /// The snapshot as text, tied to the event of `log` it was made after.
    pub fn write(&self, log: &dyn Log) -> Result<String, LogError> {
        let head = Head {
            snapshot: VERSION,
            stream: self.stream.clone(),
            format: self.format,
            seq: self.seq,
            event_sum: event_sum(log, &self.stream, self.seq)?,
        };
        let head = serde_json::to_string(&head).expect("numbers and a name are JSON");
        Ok(seal(&format!("{head}\n{}", self.state)))
    }

    /// Reads a snapshot of a stream of `log`.
    pub fn read(text: &str, stream: &str, log: &dyn Log) -> Result<Snapshot, LogError> {
        let bad = |reason: &str| LogError::BadSnapshot {
            stream: stream.to_owned(),
            reason: reason.to_owned(),
        };
        let (sum, text) = text.split_once(' ').ok_or_else(|| bad("it is cut off"))?;
        if sum != format!("{:08x}", crc32fast::hash(text.as_bytes())) {
            return Err(bad("it is damaged: its checksum is wrong"));
        }
        let (head, state) = text.split_once('\n').ok_or_else(|| bad("it is cut off"))?;
        let head: Head = serde_json::from_str(head).map_err(|error| bad(&error.to_string()))?;
        if head.snapshot != VERSION {
            return Err(bad("it is of another version of this program"));
        }
        if head.stream != stream || event_sum(log, stream, head.seq)? != head.event_sum {
            return Err(bad("it belongs to another log"));
        }
        let (format, seq, state) = (head.format, head.seq, state.to_owned());
        Ok(Snapshot { stream: head.stream, format, seq, state })
    }
}

/// The text of a snapshot with its checksum in front.
pub fn seal(text: &str) -> String {
    format!("{:08x} {text}", crc32fast::hash(text.as_bytes()))
}

/// The checksum of an event; an error if the log has no event of that number.
fn event_sum(log: &dyn Log, stream: &str, seq: u64) -> Result<u32, LogError> {
    let lines = log.load(stream, seq.saturating_sub(1))?;
    let line = lines.first().filter(|_| seq > 0).ok_or_else(|| LogError::BadSnapshot {
        stream: stream.to_owned(),
        reason: format!("the log has no event {seq}"),
    })?;
    Ok(crc32fast::hash(line.as_bytes()))
}
