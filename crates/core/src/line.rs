//! One event as one line of a log: the envelope, its version, reading and writing.

use crate::event::{AnswerAccepted, Event};
use crate::ids::{Raw, RequestId, Timestamp};
use agon_games::Seat;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The version of the log format that this program writes. It reads all versions up to this one.
pub const FORMAT_VERSION: u32 = 1;

/// One line of a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The stream of the line.
    pub stream: String,
    /// Its number in the stream, from 1.
    pub seq: u64,
    /// When the event was decided.
    pub at: Timestamp,
    /// How many more events of the same decision follow.
    pub more: u32,
    /// The event.
    pub event: Event,
}

/// Why a line cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadLine {
    /// The line is not JSON, or not an envelope.
    #[error("not an event: {0}")]
    Envelope(String),
    /// A newer program wrote the line.
    #[error("format version {0}, and this program reads up to {FORMAT_VERSION}: use a newer agon")]
    Newer(u32),
    /// The event is not in this vocabulary.
    #[error("unknown event {0:?}")]
    Unknown(String),
    /// The event's data is invalid.
    #[error("bad {tag} event: {why}")]
    Data {
        /// The event's name.
        tag: String,
        /// The problem with the data.
        why: String,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    v: u32,
    #[serde(borrow)]
    stream: Cow<'a, str>,
    seq: u64,
    at: Timestamp,
    more: u32,
    #[serde(borrow, rename = "type")]
    tag: Cow<'a, str>,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl Line {
    /// Reads a line.
    pub fn read(text: &str) -> Result<Line, BadLine> {
        match Line::read_own(text) {
            Some(line) => Ok(line),
            None => Line::read_any(text),
        }
    }

    /// Reads a line as this program writes it: fields in order, without spaces. Returns `None` for
    /// all other lines, valid or not.
    fn read_own(text: &str) -> Option<Line> {
        let (stream, rest) = plain(text.strip_prefix(r#"{"v":1,"stream":""#)?)?;
        let (seq, rest) = number(rest.strip_prefix(r#"","seq":"#)?)?;
        let (at, rest) = number(rest.strip_prefix(r#","at":"#)?)?;
        let (more, rest) = number(rest.strip_prefix(r#","more":"#)?)?;
        let (tag, rest) = plain(rest.strip_prefix(r#","type":""#)?)?;
        let data = rest.strip_prefix(r#"","data":"#)?.strip_suffix('}')?;
        // Most lines of a log are accepted answers.
        let answer = match tag {
            AnswerAccepted::TAG => read_answer(data),
            _ => None,
        };
        let event = match answer {
            Some(answer) => answer.into(),
            None => Event::read(tag, data)?.ok()?,
        };
        let more = more.try_into().ok()?;
        Some(Line { stream: stream.to_owned(), seq, at: Timestamp::from_ms(at), more, event })
    }

    /// Reads any line of the format.
    fn read_any(text: &str) -> Result<Line, BadLine> {
        let envelope: Envelope<'_> =
            serde_json::from_str(text).map_err(|error| BadLine::Envelope(error.to_string()))?;
        if envelope.v > FORMAT_VERSION {
            return Err(BadLine::Newer(envelope.v));
        }
        if envelope.v == 0 {
            return Err(BadLine::Envelope("there is no format version 0".into()));
        }
        let event = Event::read(&envelope.tag, envelope.data.get())
            .ok_or_else(|| BadLine::Unknown(envelope.tag.to_string()))?
            .map_err(|e| BadLine::Data { tag: envelope.tag.to_string(), why: e.to_string() })?;
        let (seq, at, more) = (envelope.seq, envelope.at, envelope.more);
        Ok(Line { stream: envelope.stream.into_owned(), seq, at, more, event })
    }

    /// Writes the line, without a line end.
    pub fn write(&self) -> String {
        write_line(&self.stream, self.seq, self.at, self.more, &self.event)
    }
}

/// Reads the data of an accepted answer as this program writes it. Returns `None` for all other
/// data, valid or not.
fn read_answer(data: &str) -> Option<AnswerAccepted> {
    let (request, rest) = plain(data.strip_prefix(r#"{"request":""#)?)?;
    let (seat, rest) = number(rest.strip_prefix(r#"","seat":"#)?)?;
    let (answer, rest) = value(rest.strip_prefix(r#","answer":"#)?)?;
    let (drawn, rest) = match rest.strip_prefix(r#","drawn":"#) {
        Some(rest) => value(rest).map(|(drawn, rest)| (Some(drawn), rest))?,
        None => (None, rest),
    };
    let (took_ms, rest) = number(rest.strip_prefix(r#","took_ms":"#)?)?;
    let (request, seat) = (RequestId::from_text(request), Seat(seat.try_into().ok()?));
    (rest == "}").then_some(AnswerAccepted { request, seat, answer, drawn, took_ms })
}

/// The JSON value that the text begins with, and the rest. `None` for `null`, because a field that
/// is not set is left out.
fn value(text: &str) -> Option<(Raw, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok().filter(|value| value.get() != "null")?;
    let rest = &text[values.byte_offset()..];
    // Spaces around a value are not part of it, and this program writes none.
    text.starts_with(value.get()).then(|| (Raw(value.to_owned()), rest))
}

/// The text before the next quotation mark, and the rest from there on; `None` if the text holds a
/// character that JSON escapes or forbids.
fn plain(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_graphic() || b"\"\\".contains(&byte))?;
    text[end..].starts_with('"').then(|| text.split_at(end))
}

/// A number as JSON writes it, and the rest: digits only, no sign, no leading zero.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let is_plain = digits == "0" || !digits.starts_with('0');
    is_plain.then(|| Some((digits.parse().ok()?, rest))).flatten()
}

/// The lines of one decision that extends `stream` from version `version`.
pub fn record_lines(stream: &str, version: u64, at: Timestamp, events: &[Event]) -> Vec<String> {
    let count = events.len();
    let lines = events.iter().enumerate().map(|(place, event)| {
        let more = (count - 1 - place) as u32;
        write_line(stream, version + 1 + place as u64, at, more, event)
    });
    lines.collect()
}

pub(crate) fn write_line(
    stream: &str,
    seq: u64,
    at: Timestamp,
    more: u32,
    event: &Event,
) -> String {
    use std::io::Write;
    let mut out = Vec::with_capacity(256);
    // Stream names and tags are plain ASCII without quotes, so they need no escaping.
    write!(
        out,
        r#"{{"v":{FORMAT_VERSION},"stream":"{stream}","seq":{seq},"at":{at},"more":{more},"type":"{}","data":"#,
        event.tag()
    )
    .expect("a buffer accepts the header");
    event.write(&mut out);
    out.push(b'}');
    String::from_utf8(out).expect("JSON is UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::PlayerArrived;
    use crate::ids::PlayerName;

    fn line() -> Line {
        let player = PlayerName::new("a \"b\" \\ é").unwrap();
        let event = PlayerArrived { player, nonce: None }.into();
        Line { stream: "match/r1m1".into(), seq: 2, at: Timestamp::from_ms(3), more: 0, event }
    }

    #[test]
    fn a_line_reads_back_as_itself() {
        let line = line();
        let text = line.write();
        assert!(!text.contains('\n'));
        assert_eq!(Line::read(&text), Ok(line));
    }

    #[test]
    fn the_order_of_fields_and_spaces_do_not_matter() {
        let text = line().write();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let other = serde_json::to_string_pretty(&value).unwrap();
        assert_ne!(other, text);
        assert_eq!(Line::read(&other), Ok(line()));
        assert_eq!(Line::read_own(&text), Some(line()));
        assert_eq!(Line::read_own(&text.replace("\"seq\":2", "\"seq\":02")), None);
        let control = text.replace("match/r1m1", "match/\r1m1");
        assert!(Line::read(&control).is_err(), "a control character that JSON would have escaped");
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let good = line().write();
        assert!(matches!(Line::read("{"), Err(BadLine::Envelope(_))));
        assert!(matches!(Line::read(&good.replace("\"v\":1", "\"v\":9")), Err(BadLine::Newer(9))));
        let unknown = good.replace("player-arrived", "player-danced");
        assert_eq!(Line::read(&unknown), Err(BadLine::Unknown("player-danced".into())));
        let data = good.replace("\"player\"", "\"payer\"");
        assert!(matches!(Line::read(&data), Err(BadLine::Data { .. })));
    }

    #[test]
    fn versions_begin_with_one() {
        let none = line().write().replace("\"v\":1", "\"v\":0");
        let why = BadLine::Envelope("there is no format version 0".into());
        assert_eq!(Line::read(&none), Err(why));
        let next = line().write().replace("\"v\":1", "\"v\":2");
        assert_eq!(Line::read(&next), Err(BadLine::Newer(2)));
        assert_eq!(Line::read_any(&line().write()), Ok(line()));
    }

    #[test]
    fn numbers_are_digits_without_a_zero_in_front() {
        let most = u64::MAX.to_string();
        for (text, due) in [("0", 0), ("7", 7), ("10", 10), (&most, u64::MAX)] {
            assert_eq!(number(&format!("{text},")), Some((due, ",")));
        }
        for text in ["", "00", "07", "+7", "-7", "18446744073709551616"] {
            assert_eq!(number(text), None, "{text:?}");
        }
        for (text, rest) in [("7 ", " "), ("7.0", ".0"), ("1e3", "e3")] {
            assert_eq!(number(text).map(|(_, rest)| rest), Some(rest), "what follows is not ours");
        }
    }

    #[test]
    fn both_readers_of_an_accepted_answer_agree() {
        let data = [
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":{"keep":[true]},"drawn":[1,6],"took_ms":5}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":"ok \" }","took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":7,"took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":null,"took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":[],"drawn":null,"took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer": [1 , 2] ,"took_ms":0}"#,
            r#"{"seat":1,"request":"r1m1.1.0.3","answer":[],"took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":256,"answer":[],"took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":[1,],"took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":[1}],"took_ms":0}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":[],"took_ms":0,"took_ms":1}"#,
            r#"{"request":"r1m1.1.0.3","seat":1,"answer":[],"took_ms":0}}"#,
        ];
        let mut quick = 0;
        for data in data {
            let head = r#"{"v":1,"stream":"match/t/r1m1","seq":1,"at":2,"more":0,"#;
            let text = format!(r#"{head}"type":"answer-accepted","data":{data}}}"#);
            assert_eq!(Line::read(&text), Line::read_any(&text), "{data}");
            quick += u32::from(read_answer(data).is_some());
        }
        assert_eq!(quick, 3, "only lines as this program writes them take the short way");
    }

    #[test]
    fn lines_of_a_record_count_down_the_events_that_follow() {
        let event =
            || Event::from(PlayerArrived { player: PlayerName::new("ann").unwrap(), nonce: None });
        let lines =
            record_lines("match/t/r1m1", 5, Timestamp::from_ms(9), &[event(), event(), event()]);
        let lines: Vec<Line> = lines.iter().map(|text| Line::read(text).unwrap()).collect();
        let numbers: Vec<(u64, u32)> = lines.iter().map(|line| (line.seq, line.more)).collect();
        assert_eq!(numbers, [(6, 2), (7, 1), (8, 0)]);
        assert!(
            lines
                .iter()
                .all(|line| line.at == Timestamp::from_ms(9) && line.stream == "match/t/r1m1")
        );
    }
}
