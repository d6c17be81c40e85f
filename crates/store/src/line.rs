//! The three fields of an event line that the store reads: `stream`, `seq` and `more`.
//!
//! A line looks like
//! `{"v":1,"stream":"match/r1m1","seq":5,"at":1763182800000,"more":0,"type":"…","data":{…}}`.
//! `seq` numbers the events of a stream from 1. `more` says how many further events of the same
//! decision follow, so that a decision torn by a crash can be detected.

use std::borrow::Cow;

use serde::Deserialize;

/// The header of an event.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Header<'a> {
    #[serde(borrow)]
    pub(crate) stream: Cow<'a, str>,
    pub(crate) seq: u64,
    pub(crate) more: u64,
}

impl<'a> Header<'a> {
    /// Reads the header and checks that the whole line is one JSON object.
    pub(crate) fn parse(line: &'a str) -> Result<Self, serde_json::Error> {
        let header = serde_json::from_str(line)?;
        // Serde would also accept an array of the three values.
        if !line.trim_ascii_start().starts_with('{') {
            return Err(serde::de::Error::custom("not a JSON object"));
        }
        Ok(header)
    }

    /// Reads only the header if the fields come in the usual order, the whole line otherwise. It is
    /// ten times as fast as [`Header::parse`], for callers that can trust the rest of the line.
    pub(crate) fn peek(line: &'a str) -> Result<Self, serde_json::Error> {
        peek(line).map_or_else(|| Self::parse(line), Ok)
    }

    /// Compares the header with the expected position of the event.
    pub(crate) fn expect(&self, stream: &str, seq: u64, more: Option<u64>) -> Result<(), String> {
        if self.stream != stream {
            return Err(format!("an event of stream {}, not {stream}", self.stream));
        }
        if self.seq != seq {
            return Err(format!("event number {} where {seq} is due", self.seq));
        }
        match more {
            Some(more) if self.more != more => {
                Err(format!("`more` is {} where {more} is due", self.more))
            }
            _ => Ok(()),
        }
    }
}

fn peek(line: &str) -> Option<Header<'_>> {
    let (_, rest) = number(line.strip_prefix(r#"{"v":"#)?)?;
    let rest = rest.strip_prefix(r#","stream":""#)?;
    let (stream, rest) = rest.split_at(rest.bytes().position(|b| b == b'"' || b == b'\\')?);
    let (seq, rest) = number(rest.strip_prefix(r#"","seq":"#)?)?;
    let (_, rest) = number(rest.strip_prefix(r#","at":"#)?)?;
    let (more, rest) = number(rest.strip_prefix(r#","more":"#)?)?;
    (rest.starts_with(',') && rest.ends_with('}')).then_some(Header {
        stream: Cow::Borrowed(stream),
        seq,
        more,
    })
}

/// The number that a text begins with, and the rest, which is not empty.
fn number(text: &str) -> Option<(u64, &str)> {
    let (mut number, mut end) = (0_u64, 0);
    for digit in text.bytes().map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit < 10) {
        number = number.checked_mul(10)?.checked_add(digit.into())?;
        end += 1;
    }
    (end > 0 && end < text.len()).then(|| (number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = r#"{"v":1,"stream":"a/b","seq":5,"at":17,"more":2,"type":"t","data":{}}"#;

    #[test]
    fn peek_and_parse_read_the_same_header() {
        let shuffled = r#" {"seq":5, "data":{"seq":9},"more":2,"stream":"a\/b"}"#;
        for line in [USUAL, shuffled] {
            let whole = Header::parse(line).unwrap();
            assert_eq!(whole, Header { stream: "a/b".into(), seq: 5, more: 2 });
            assert_eq!(Header::peek(line).unwrap(), whole);
        }
        assert!(peek(USUAL).is_some());
        assert!(peek(shuffled).is_none());
    }

    #[test]
    fn line_without_an_event_is_rejected() {
        let cut = &USUAL[..USUAL.len() - 2];
        let twice = USUAL.replace(r#""seq":5"#, r#""seq":5,"seq":5"#);
        let negative = USUAL.replace(r#""seq":5"#, r#""seq":-5"#);
        let huge = USUAL.replace(r#""seq":5"#, r#""seq":99999999999999999999"#);
        for line in ["", "{}", "[]", r#"["s",1,0]"#, "null", "\0\0", cut, &twice, &negative, &huge]
        {
            assert!(Header::parse(line).is_err(), "{line}");
            assert!(Header::peek(line).is_err(), "{line}");
        }
        assert!(Header::parse(&format!("{USUAL}{USUAL}")).is_err());
    }

    #[test]
    fn misplaced_header_is_reported() {
        let header = Header::parse(USUAL).unwrap();
        assert_eq!(header.expect("a/b", 5, Some(2)), Ok(()));
        assert_eq!(header.expect("a/b", 5, None), Ok(()));
        assert!(header.expect("a/c", 5, None).unwrap_err().contains("a/c"));
        assert!(header.expect("a/b", 6, None).unwrap_err().contains("5 where 6"));
        assert!(header.expect("a/b", 5, Some(1)).unwrap_err().contains("2 where 1"));
    }
}
