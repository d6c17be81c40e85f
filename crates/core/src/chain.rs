//! The hash chain of a stream: one head that covers every line before it, to the byte.
//!
//! ```text
//! head before the first line = SHA-256("agon chain 1\n" ‖ name of the stream)
//! head after a line          = SHA-256(head before it ‖ the line without its line end)
//! ```
//!
//! Lines carry no head of their own: the writer or reader of a stream computes it. Some events
//! record it. The last event of a match and of a tournament holds the head of the lines before it.
//! `match-reported` holds the head of the whole match, and `tournament-finished` in the lobby holds
//! the head of the whole tournament. So the head of a tournament covers all its matches.

use crate::event::Event;
use crate::fair::{BadHex, from_hex, to_hex};
use crate::ids::Timestamp;
use crate::line::write_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;

/// The head of a stream's chain at one place: a hash of every line before it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Head([u8; 32]);

impl Head {
    /// The head of a stream without lines.
    pub fn first(stream: &str) -> Head {
        let mut hash = Sha256::new();
        hash.update(b"agon chain 1\n");
        hash.update(stream.as_bytes());
        Head(hash.finalize().into())
    }

    /// The head after one more line, given without its line end.
    #[must_use]
    pub fn after(&self, line: &str) -> Head {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(line.as_bytes());
        Head(hash.finalize().into())
    }

    /// The head of a stream with these lines.
    pub fn of<'a>(stream: &str, lines: impl IntoIterator<Item = &'a String>) -> Head {
        lines.into_iter().fold(Head::first(stream), |head, line| head.after(line))
    }
}

impl TryFrom<String> for Head {
    type Error = BadHex;

    fn try_from(text: String) -> Result<Head, BadHex> {
        from_hex(&text).map(Head)
    }
}

impl From<Head> for String {
    fn from(head: Head) -> String {
        to_hex(&head.0)
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({self})")
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

/// The end of a stream as its writer knows it: the number of events, and the head of its chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamEnd {
    name: Arc<str>,
    version: u64,
    /// `None` for the streams of the lobby and of secrets, which have no chain.
    head: Option<Head>,
}

impl StreamEnd {
    /// The end of a new stream with a chain.
    pub fn new(name: impl Into<Arc<str>>) -> StreamEnd {
        let name = name.into();
        let head = Some(Head::first(&name));
        StreamEnd { name, version: 0, head }
    }

    /// The end of a stream with a chain, after these lines.
    pub fn of(name: impl Into<Arc<str>>, lines: &[String]) -> StreamEnd {
        let name = name.into();
        let head = Some(Head::of(&name, lines));
        StreamEnd { name, version: lines.len() as u64, head }
    }

    /// Adds a line that the stream already has.
    pub(crate) fn add(&mut self, line: &str) {
        self.version += 1;
        self.head = self.head.as_ref().map(|head| head.after(line));
    }

    /// The end of a stream without a chain.
    pub fn unchained(name: impl Into<Arc<str>>, version: u64) -> StreamEnd {
        StreamEnd { name: name.into(), version, head: None }
    }

    /// The stream's name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The number of events in the stream.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The head of its chain, if it has one.
    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Writes one more decision, and returns its lines. This also fills in the heads of events that
    /// hold the head of their own stream.
    pub fn record(&mut self, at: Timestamp, events: &[Event]) -> Vec<String> {
        let count = events.len();
        let lines = events.iter().enumerate().map(|(place, event)| {
            let (seq, more) = (self.version + 1 + place as u64, (count - 1 - place) as u32);
            let ending = self.head.is_some() && event.own_head().is_some();
            let with_head = ending.then(|| event.with_own_head(self.head.clone()));
            let line = write_line(&self.name, seq, at, more, with_head.as_ref().unwrap_or(event));
            self.head = self.head.as_ref().map(|head| head.after(&line));
            line
        });
        let lines = lines.collect();
        self.version += count as u64;
        lines
    }
}

impl Event {
    /// The head of its own stream that an event holds; `None` for events that hold none.
    pub fn own_head(&self) -> Option<Option<&Head>> {
        match self {
            Event::MatchEnded(ended) => Some(ended.head.as_ref()),
            Event::TournamentEnded(ended) => Some(ended.head.as_ref()),
            Event::TournamentAborted(aborted) => Some(aborted.head.as_ref()),
            _ => None,
        }
    }

    /// The event with another head of its own stream, if it holds one.
    #[must_use]
    pub fn with_own_head(&self, head: Option<Head>) -> Event {
        let mut event = self.clone();
        match &mut event {
            Event::MatchEnded(ended) => ended.head = head,
            Event::TournamentEnded(ended) => ended.head = head,
            Event::TournamentAborted(aborted) => aborted.head = head,
            _ => {}
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{PlayerArrived, TournamentAborted};
    use crate::fair::Secret;
    use crate::ids::PlayerName;
    use crate::line::{Line, record_lines};

    fn arrived(name: &str) -> Event {
        PlayerArrived { player: PlayerName::new(name).unwrap(), nonce: None }.into()
    }

    fn aborted() -> Event {
        let (reason, secret) = ("test".into(), Secret::from_seed_number(1));
        TournamentAborted { reason, secret, head: None }.into()
    }

    #[test]
    fn the_head_is_the_documented_hash() {
        let hash = |bytes: &[u8]| -> [u8; 32] { Sha256::digest(bytes).into() };
        let first = hash(b"agon chain 1\nmatch/t/r1m1");
        assert_eq!(Head::first("match/t/r1m1").0, first);
        let second = hash(&[&first[..], b"{}"].concat());
        let lines = ["{}".to_owned(), "[]".to_owned()];
        assert_eq!(Head::of("match/t/r1m1", &lines[..1]).0, second);
        assert_eq!(Head::of("match/t/r1m1", &lines).0, hash(&[&second[..], b"[]"].concat()));
        let text = serde_json::to_string(&Head(first)).unwrap();
        assert_eq!(serde_json::from_str::<Head>(&text).unwrap(), Head(first));
        assert!(serde_json::from_str::<Head>("\"00\"").is_err());
    }

    #[test]
    fn a_writer_and_a_reader_come_to_the_same_head() {
        let mut end = StreamEnd::new("tournament/t");
        let mut lines = end.record(Timestamp::from_ms(1), &[arrived("ann")]);
        lines.extend(end.record(Timestamp::from_ms(2), &[arrived("bob"), aborted()]));
        assert_eq!(end, StreamEnd::of("tournament/t", &lines));
        let last = Line::read(&lines[2]).unwrap();
        let before = Head::of("tournament/t", &lines[..2]);
        assert_eq!(last.event.own_head(), Some(Some(&before)));
        assert_eq!((last.seq, last.more), (3, 0));
    }

    #[test]
    fn a_stream_without_a_chain_is_written_as_before() {
        let events = [arrived("ann"), aborted()];
        let mut end = StreamEnd::unchained("lobby", 4);
        assert_eq!(
            end.record(Timestamp::from_ms(9), &events),
            record_lines("lobby", 4, Timestamp::from_ms(9), &events)
        );
        assert_eq!((end.version(), end.head()), (6, None));
    }
}
