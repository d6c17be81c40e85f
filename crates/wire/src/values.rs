//! Splits a stream of bytes into JSON values that follow each other with or without space between
//! them, as the Fish and Trains wires send them.
//!
//! Every byte is looked at once, however the stream is cut into pieces, so a peer that sends one
//! byte at a time costs no more than one that sends all at once. Text that is no JSON is reported
//! at the first byte that shows it. Values are checked for their form, not read: that is up to
//! callers, who know what they should be.
//!
//! # Where a value ends
//! A string, an array and an object end with their last byte. A number and `true`, `false` or
//! `null` end with the byte after them: white space or any of `"[]{},:`, whether or not a value can
//! begin with it. At the end of a stream there is no such byte, nor when a peer sends `7` and waits;
//! then [`Values::flush`] says that the value is whole. A number that was flushed and goes on later
//! is two numbers.

use std::fmt;

/// How much room is kept between values.
const KEPT_MAX: usize = 4 * 1024;

/// How much a peer may send as one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most bytes, white space inside included and around it not.
    pub bytes_max: usize,
    /// How deep arrays and objects may lie in each other.
    pub depth_max: usize,
}

impl Default for Limits {
    /// Enough for a large map, printed widely, and far too deep for any message.
    fn default() -> Limits {
        Limits { bytes_max: 256 * 1024, depth_max: 32 }
    }
}

/// Why a stream is invalid. Nothing can be read after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadValues {
    /// A byte that cannot stand where it does.
    #[error("not JSON: {} is out of place", Shown(*.0))]
    NotJson(u8),
    /// A string that is not UTF-8.
    #[error("not JSON: not UTF-8")]
    NotUtf8,
    /// A value of more bytes than allowed.
    #[error("a value of more than {0} bytes")]
    TooLong(usize),
    /// Arrays and objects deeper in each other than allowed.
    #[error("more than {0} arrays and objects in each other")]
    TooDeep(usize),
    /// The stream ended inside a value.
    #[error("the stream ends inside a value")]
    Unfinished,
}

struct Shown(u8);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte @ b'!'..=b'~' => write!(f, "'{}'", byte as char),
            byte => write!(f, "byte {byte}"),
        }
    }
}

/// The parser's state: what may come next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// Between values.
    Outside,
    /// A value, inside an array or object.
    Value,
    /// A value or the end of its array.
    FirstItem,
    /// A key.
    Key,
    /// A key or the end of its object.
    FirstKey,
    Colon,
    /// A comma, or the end of the array or object.
    AfterItem,
    String {
        key: bool,
    },
    Escape {
        key: bool,
    },
    Hex {
        key: bool,
        left: u8,
    },
    /// The rest of `true`, `false` or `null`; with nothing left it is whole.
    Literal(&'static [u8]),
    /// After a minus.
    Minus,
    /// A number that began with 0 and may end.
    Zero,
    /// Digits before the point.
    Whole,
    /// After the point.
    Point,
    /// Digits after the point.
    Fraction,
    /// After the `e`.
    Exponent,
    /// After its sign.
    ExponentSign,
    /// Its digits.
    ExponentDigits,
}

/// The effect of a byte.
enum Step {
    To(At),
    /// A value ended with this byte.
    Ended,
    /// A value ended before this byte.
    EndedBefore,
}

/// Received bytes that are not yet split into values. Holds at most one value of maximum size and
/// one push.
#[derive(Clone, Debug)]
pub struct Values {
    buffer: Vec<u8>,
    /// Where the value begins; bytes before this index are consumed or are white space.
    from: usize,
    /// Bytes before this were looked at.
    scanned: usize,
    at: At,
    /// The arrays (`[`) and objects (`{`) that are open.
    open: Vec<u8>,
    limits: Limits,
    broken: Option<BadValues>,
}

impl Values {
    /// A stream of values within `limits`.
    pub fn new(limits: Limits) -> Values {
        Values {
            buffer: Vec::new(),
            from: 0,
            scanned: 0,
            at: At::Outside,
            open: Vec::new(),
            limits,
            broken: None,
        }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        if self.from > 64 * 1024 {
            self.buffer.drain(..self.from);
            self.scanned -= self.from;
            self.from = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next value that is whole, as its text without white space around it. After an error
    /// there is only that error.
    pub fn take(&mut self) -> Option<Result<&str, BadValues>> {
        if let Some(broken) = self.broken {
            return Some(Err(broken));
        }
        while let Some(byte) = self.buffer.get(self.scanned).copied() {
            if self.at == At::Outside && is_space(byte) {
                self.scanned += 1;
                self.from = self.scanned;
                continue;
            }
            let step = match self.step(byte) {
                Ok(Step::EndedBefore) => return Some(self.whole()),
                Ok(step) => step,
                Err(broken) => return Some(Err(self.give_up(broken))),
            };
            self.scanned += 1;
            if self.scanned - self.from > self.limits.bytes_max {
                let broken = BadValues::TooLong(self.limits.bytes_max);
                return Some(Err(self.give_up(broken)));
            }
            match step {
                Step::To(at) => self.at = at,
                Step::Ended | Step::EndedBefore => return Some(self.whole()),
            }
        }
        if self.from == self.buffer.len() {
            // Frees the memory of a large value instead of keeping it for the life of the
            // connection.
            self.buffer.clear();
            self.buffer.shrink_to(KEPT_MAX);
            (self.from, self.scanned) = (0, 0);
        }
        None
    }

    /// The value that is whole if nothing follows: a number or a literal. Call it when
    /// [`take`](Values::take) gives nothing and the peer has been silent for a while.
    pub fn flush(&mut self) -> Option<Result<&str, BadValues>> {
        let whole = self.broken.is_none()
            && self.scanned == self.buffer.len()
            && self.open.is_empty()
            && self.at.may_end();
        whole.then(|| self.whole())
    }

    /// The last value of a stream that ended, if it is a number or a literal. An error if the
    /// stream ended inside a value, or was none.
    pub fn finish(&mut self) -> Option<Result<&str, BadValues>> {
        if let Some(broken) = self.broken {
            return Some(Err(broken));
        }
        if !self.at.may_end() || !self.open.is_empty() {
            let inside = self.is_inside();
            return inside.then(|| Err(self.give_up(BadValues::Unfinished)));
        }
        self.flush()
    }

    /// Returns whether a value has begun that is not whole yet, once [`take`](Values::take) gives
    /// nothing.
    pub fn is_inside(&self) -> bool {
        self.broken.is_none() && self.at != At::Outside
    }

    /// The bytes that were not consumed, for evidence.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.from..]
    }

    fn give_up(&mut self, broken: BadValues) -> BadValues {
        self.broken = Some(broken);
        broken
    }

    /// Takes the bytes of a value that is whole.
    fn whole(&mut self) -> Result<&str, BadValues> {
        let start = std::mem::replace(&mut self.from, self.scanned);
        self.at = At::Outside;
        if std::str::from_utf8(&self.buffer[start..self.scanned]).is_err() {
            self.from = start;
            return Err(self.give_up(BadValues::NotUtf8));
        }
        Ok(std::str::from_utf8(&self.buffer[start..self.scanned]).expect("just checked"))
    }

    fn step(&mut self, byte: u8) -> Result<Step, BadValues> {
        let next = match (self.at, byte) {
            (At::String { key }, _) => return self.string(key, byte),
            (At::Value | At::FirstItem | At::Key | At::FirstKey | At::Colon | At::AfterItem, _)
                if is_space(byte) =>
            {
                self.at
            }
            (At::FirstItem | At::AfterItem, b']') => return self.close(b'[', byte),
            (At::FirstKey | At::AfterItem, b'}') => return self.close(b'{', byte),
            (At::Outside | At::Value | At::FirstItem, _) => self.begin(byte)?,
            (At::Key | At::FirstKey, b'"') => At::String { key: true },
            (At::Colon, b':') => At::Value,
            (At::AfterItem, b',') if self.open.last() == Some(&b'{') => At::Key,
            (At::AfterItem, b',') => At::Value,
            (At::Escape { key }, b'u') => At::Hex { key, left: 4 },
            (At::Escape { key }, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                At::String { key }
            }
            (At::Hex { key, left: 1 }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                At::String { key }
            }
            (At::Hex { key, left }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                At::Hex { key, left: left - 1 }
            }
            (At::Literal([first, rest @ ..]), _) if *first == byte => At::Literal(rest),
            (at, _) => match at.number(byte) {
                Some(next) => next,
                None if at.may_end() => return self.delimit(byte),
                None => return Err(BadValues::NotJson(byte)),
            },
        };
        Ok(Step::To(next))
    }

    /// A byte inside a string.
    fn string(&self, key: bool, byte: u8) -> Result<Step, BadValues> {
        match byte {
            b'"' if key => Ok(Step::To(At::Colon)),
            b'"' if self.open.is_empty() => Ok(Step::Ended),
            b'"' => Ok(Step::To(At::AfterItem)),
            b'\\' => Ok(Step::To(At::Escape { key })),
            0..0x20 => Err(BadValues::NotJson(byte)),
            _ => Ok(Step::To(At::String { key })),
        }
    }

    /// The first byte of a value.
    fn begin(&mut self, byte: u8) -> Result<At, BadValues> {
        Ok(match byte {
            b'"' => At::String { key: false },
            b'[' | b'{' => {
                if self.open.len() == self.limits.depth_max {
                    return Err(BadValues::TooDeep(self.limits.depth_max));
                }
                self.open.push(byte);
                if byte == b'[' { At::FirstItem } else { At::FirstKey }
            }
            b't' => At::Literal(b"rue"),
            b'f' => At::Literal(b"alse"),
            b'n' => At::Literal(b"ull"),
            b'-' => At::Minus,
            b'0' => At::Zero,
            b'1'..=b'9' => At::Whole,
            _ => return Err(BadValues::NotJson(byte)),
        })
    }

    /// The last byte of an array or object that began with `opened`.
    fn close(&mut self, opened: u8, byte: u8) -> Result<Step, BadValues> {
        if self.open.last() != Some(&opened) {
            return Err(BadValues::NotJson(byte));
        }
        self.open.pop();
        Ok(if self.open.is_empty() { Step::Ended } else { Step::To(At::AfterItem) })
    }

    /// The byte after a number or a literal.
    fn delimit(&mut self, byte: u8) -> Result<Step, BadValues> {
        if self.open.is_empty() {
            let apart = is_space(byte) || b"\"[]{},:".contains(&byte);
            return if apart { Ok(Step::EndedBefore) } else { Err(BadValues::NotJson(byte)) };
        }
        self.at = At::AfterItem;
        self.step(byte)
    }
}

impl At {
    /// Returns whether a number or a literal may end here.
    fn may_end(self) -> bool {
        matches!(self, At::Literal([]) | At::Zero | At::Whole | At::Fraction | At::ExponentDigits)
    }

    /// The next state for a byte within a number.
    fn number(self, byte: u8) -> Option<At> {
        Some(match (self, byte) {
            (At::Minus, b'0') => At::Zero,
            (At::Minus, b'1'..=b'9') | (At::Whole, b'0'..=b'9') => At::Whole,
            (At::Zero | At::Whole, b'.') => At::Point,
            (At::Point | At::Fraction, b'0'..=b'9') => At::Fraction,
            (At::Zero | At::Whole | At::Fraction, b'e' | b'E') => At::Exponent,
            (At::Exponent, b'+' | b'-') => At::ExponentSign,
            (At::Exponent | At::ExponentSign | At::ExponentDigits, b'0'..=b'9') => {
                At::ExponentDigits
            }
            _ => return None,
        })
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
