//! One event as one line of a log: the envelope, its version, reading and writing.

use crate::event::{AnswerAccepted, Event};
use crate::ids::{JsonText, RequestId, Timestamp};
use agon_games::Seat;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// The version of the log format that this program writes. It reads all versions up to this one.
pub const FORMAT_VERSION: u32 = 1;

/// One line of a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The stream of the line.
    pub stream: Arc<str>,
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
        Line::read_of(text, None)
    }

    /// Reads a line that probably belongs to a stream. Lines of one stream then share its name.
    pub fn read_of(text: &str, stream: Option<&Arc<str>>) -> Result<Line, BadLine> {
        match Line::read_own(text, stream) {
            Some(line) => Ok(line),
            None => Line::read_any(text),
        }
    }

    /// Reads a line as this program writes it: fields in order, without spaces. Returns `None` for
    /// all other lines, valid or not.
    fn read_own(text: &str, known: Option<&Arc<str>>) -> Option<Line> {
        let (stream, rest) = plain(text.strip_prefix(LINE_BEGINS)?)?;
        let LineHeader { seq, at, more, tag, data } = LineHeader::read(rest)?;
        // Most lines of a log are accepted answers.
        let answer = match tag {
            AnswerAccepted::TAG => AnswerText::split(data).and_then(AnswerText::to_event),
            _ => None,
        };
        let event = match answer {
            Some(answer) => answer.into(),
            None => Event::read(tag, data)?.ok()?,
        };
        let stream = match known.filter(|known| ***known == *stream) {
            Some(known) => Arc::clone(known),
            None => stream.into(),
        };
        Some(Line { stream, seq, at, more, event })
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
        Ok(Line { stream: envelope.stream.into(), seq, at, more, event })
    }

    /// Writes the line, without a line end.
    pub fn write(&self) -> String {
        write_line(&self.stream, self.seq, self.at, self.more, &self.event)
    }
}

/// How many bytes the buffer of a new line has. Most lines of a log are shorter.
const LINE_BYTES_USUAL: usize = 384;

/// How this program begins every line, up to the name of the stream: with [`FORMAT_VERSION`].
const LINE_BEGINS: &str = r#"{"v":1,"stream":""#;

/// The fields between the name of the stream and the end of the line.
struct LineHeader<'a> {
    seq: u64,
    at: Timestamp,
    more: u32,
    tag: &'a str,
    data: &'a str,
}

impl<'a> LineHeader<'a> {
    /// Reads the rest of a line behind the name of its stream.
    fn read(text: &'a str) -> Option<LineHeader<'a>> {
        let (seq, rest) = number(text.strip_prefix(r#"","seq":"#)?)?;
        let (at, rest) = number(rest.strip_prefix(r#","at":"#)?)?;
        let (more, rest) = number(rest.strip_prefix(r#","more":"#)?)?;
        let (tag, rest) = plain(rest.strip_prefix(r#","type":""#)?)?;
        let data = rest.strip_prefix(r#"","data":"#)?.strip_suffix('}')?;
        let (at, more) = (Timestamp::from_ms(at), more.try_into().ok()?);
        Some(LineHeader { seq, at, more, tag, data })
    }
}

/// An accepted answer whose texts are still those of its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerText<'a> {
    pub(crate) request: &'a str,
    pub(crate) seat: Seat,
    pub(crate) answer: &'a str,
    pub(crate) drawn: Option<&'a str>,
    pub(crate) took_ms: u64,
}

/// A line that records an accepted answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerLine<'a> {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) more: u32,
    pub(crate) answer: AnswerText<'a>,
}

impl<'a> AnswerLine<'a> {
    /// Splits a line of the stream without copying anything, and without reading the answer and the
    /// draw in it. A line is good if the game accepts the answer and gives the same draw. Returns
    /// `None` for lines of other streams, for other events, and for lines that another program
    /// wrote.
    pub(crate) fn split(text: &'a str, stream: &str) -> Option<AnswerLine<'a>> {
        let rest = text.strip_prefix(LINE_BEGINS)?.strip_prefix(stream)?;
        let LineHeader { seq, at, more, tag, data } = LineHeader::read(rest)?;
        let answer = (tag == AnswerAccepted::TAG).then(|| AnswerText::split(data))??;
        Some(AnswerLine { seq, at, more, answer })
    }
}

impl<'a> AnswerText<'a> {
    /// Splits the data of an accepted answer as this program writes it. The places of the answer
    /// and of the draw are right if both are JSON. Returns `None` for all other data, valid or not.
    fn split(data: &'a str) -> Option<AnswerText<'a>> {
        let (request, rest) = plain(data.strip_prefix(r#"{"request":""#)?)?;
        let (seat, rest) = number(rest.strip_prefix(r#"","seat":"#)?)?;
        let rest = rest.strip_prefix(r#","answer":"#)?.strip_suffix('}')?;
        let digits = rest.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (rest, took_ms) = rest.split_at(rest.len() - digits);
        let (took_ms, _) = number(took_ms)?;
        let values = rest.strip_suffix(r#","took_ms":"#)?;
        let (answer, drawn) =
            match values.as_bytes().windows(DRAWN.len()).position(|at| at == DRAWN) {
                Some(at) => (&values[..at], Some(&values[at + DRAWN.len()..])),
                None => (values, None),
            };
        let seat = Seat(seat.try_into().ok()?);
        Some(AnswerText { request, seat, answer, drawn, took_ms })
    }

    /// The event, if answer and draw are JSON as this program writes it.
    fn to_event(self) -> Option<AnswerAccepted> {
        let AnswerText { request, seat, answer, drawn, took_ms } = self;
        let (answer, drawn) = (value(answer)?, drawn.map(value));
        let drawn = match drawn {
            Some(drawn) => Some(drawn?.into()),
            None => None,
        };
        let request = RequestId::from_text(request);
        Some(AnswerAccepted { request, seat, answer: answer.into(), drawn, took_ms })
    }

    /// Returns whether the event holds the same, to the byte.
    pub(crate) fn is(&self, event: &AnswerAccepted) -> bool {
        let AnswerAccepted { request, seat, answer, drawn, took_ms } = event;
        self.request == request.as_str()
            && self.seat == *seat
            && self.answer == answer.get()
            && self.drawn == drawn.as_ref().map(JsonText::get)
            && self.took_ms == *took_ms
    }
}

/// The text between an answer and a draw. It begins no such text within a value that has no field
/// of this name, because strings escape quotation marks.
const DRAWN: &[u8] = br#","drawn":"#;

/// The JSON value that a text without outer spaces is. `None` for `null`, because a field that is
/// not set is left out.
fn value(text: &str) -> Option<&RawValue> {
    let value: &RawValue = serde_json::from_str(text).ok()?;
    (value.get() == text && text != "null").then_some(value)
}

/// The text before the next quotation mark, and the rest from there on; `None` if the text holds a
/// character that JSON escapes or forbids.
fn plain(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_graphic() || b"\"\\".contains(&byte))?;
    text[end..].starts_with('"').then(|| text.split_at(end))
}

/// A number as JSON writes it, and the rest: digits only, no sign, no leading zero.
fn number(text: &str) -> Option<(u64, &str)> {
    let (mut number, mut end) = (0_u64, 0);
    for digit in text.bytes().map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit < 10) {
        number = number.checked_mul(10)?.checked_add(digit.into())?;
        end += 1;
    }
    let is_plain = end == 1 || (end > 1 && !text.starts_with('0'));
    is_plain.then(|| (number, &text[end..]))
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
    let mut out = Vec::with_capacity(LINE_BYTES_USUAL);
    // Stream names and tags are plain ASCII without quotes, so they need no escaping.
    out.extend_from_slice(LINE_BEGINS.as_bytes());
    out.extend_from_slice(stream.as_bytes());
    let numbers =
        [(r#"","seq":"#, seq), (r#","at":"#, at.as_ms()), (r#","more":"#, u64::from(more))];
    for (name, number) in numbers {
        out.extend_from_slice(name.as_bytes());
        write_number(&mut out, number);
    }
    out.extend_from_slice(br#","type":""#);
    out.extend_from_slice(event.tag().as_bytes());
    out.extend_from_slice(br#"","data":"#);
    match event {
        // Most lines of a log are accepted answers.
        Event::AnswerAccepted(accepted) if is_plain(accepted.request.as_str()) => {
            write_answer(accepted, &mut out);
        }
        _ => event.write(&mut out),
    }
    out.push(b'}');
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Writes the data of an accepted answer whose request needs no escaping, as serde writes it: a
/// third of the instructions.
fn write_answer(accepted: &AnswerAccepted, out: &mut Vec<u8>) {
    let AnswerAccepted { request, seat, answer, drawn, took_ms } = accepted;
    out.extend_from_slice(br#"{"request":""#);
    out.extend_from_slice(request.as_str().as_bytes());
    out.extend_from_slice(br#"","seat":"#);
    write_number(out, seat.0.into());
    out.extend_from_slice(br#","answer":"#);
    out.extend_from_slice(answer.get().as_bytes());
    if let Some(drawn) = drawn {
        out.extend_from_slice(br#","drawn":"#);
        out.extend_from_slice(drawn.get().as_bytes());
    }
    out.extend_from_slice(br#","took_ms":"#);
    write_number(out, *took_ms);
    out.push(b'}');
}

fn write_number(out: &mut Vec<u8>, number: u64) {
    serde_json::to_writer(out, &number).expect("a buffer accepts a number");
}

/// Returns whether JSON writes a text as it is, between quotation marks.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
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
        assert_eq!(Line::read_own(&text, None), Some(line()));
        for known in ["match/r1m1", "match/r1m2"] {
            assert_eq!(Line::read_of(&text, Some(&known.into())), Ok(line()), "{known}");
        }
        assert_eq!(Line::read_own(&text.replace("\"seq\":2", "\"seq\":02"), None), None);
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
            quick += u32::from(AnswerText::split(data).is_some_and(|own| own.to_event().is_some()));
        }
        assert_eq!(quick, 3, "only lines as this program writes them take the short way");
    }

    #[test]
    fn accepted_answers_are_written_as_serde_writes_them() {
        let raw = |text: &str| JsonText::from(serde_json::from_str::<&RawValue>(text).unwrap());
        let requests = ["r1m1.1.0.3", "", "a \"b\"", "\\", "é", "\n", "r1m1.1.0.4294967295"];
        for (request, took_ms) in requests.into_iter().zip([0, 7, 10, 99, 1_000, 5, u64::MAX]) {
            for drawn in [None, Some(raw(r#"{"seat":1,"dice":[1,6]}"#))] {
                let (request, answer) = (RequestId::from_text(request), raw(r#"{"a":[" }"]}"#));
                let seat = Seat(if drawn.is_some() { 11 } else { 0 });
                let event: Event = AnswerAccepted { request, seat, answer, drawn, took_ms }.into();
                let mut data = Vec::new();
                event.write(&mut data);
                let text = write_line("s", 1, Timestamp::from_ms(2), 0, &event);
                let head = r#"{"v":1,"stream":"s","seq":1,"at":2,"more":0,"#;
                let data = String::from_utf8(data).unwrap();
                let due = format!(r#"{head}"type":"answer-accepted","data":{data}}}"#);
                assert_eq!(text, due);
                assert_eq!(Line::read(&text).map(|line| line.event), Ok(event));
            }
        }
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
                .all(|line| line.at == Timestamp::from_ms(9) && *line.stream == *"match/t/r1m1")
        );
    }
}
