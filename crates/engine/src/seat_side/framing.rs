//! Bytes to messages, for each native transport.

use crate::Wire;
use agon_wire::lines::Lines;
use agon_wire::native::{self, FromPlayer, ToPlayer};
use agon_wire::websocket::{BadFrame, Frames, Incoming};

/// The code of a WebSocket that ends because everything was said.
pub const NORMAL: u16 = 1000;

/// The code of a WebSocket whose other end is not there any more.
pub const GOING_AWAY: u16 = 1001;

/// The code of a WebSocket that sends something else.
pub const PROTOCOL_ERROR: u16 = 1002;

/// Bytes that came in, on their way to become messages.
pub enum Framing {
    /// Lines of TCP.
    Lines(Lines),
    /// Frames of WebSocket.
    Frames(Frames),
}

/// What came in.
pub enum Framed<'a> {
    /// A message.
    Message(&'a [u8]),
    /// No message, and why.
    Bad(String),
    /// What follows cannot be understood.
    Broken(String),
    /// A ping frame.
    Ping(&'a [u8]),
    /// A pong frame.
    Pong,
    /// The other end wants to end.
    Close,
}

impl Framing {
    /// Lines of at most `max` bytes.
    pub fn lines(max: usize) -> Framing {
        Framing::Lines(Lines::new(max))
    }

    /// Frames of at most `max` bytes.
    pub fn frames(max: usize) -> Framing {
        Framing::Frames(Frames::of_client(max))
    }

    /// The wire it is.
    pub fn wire(&self) -> Wire {
        match self {
            Framing::Lines(_) => Wire::Tcp,
            Framing::Frames(_) => Wire::WebSocket,
        }
    }

    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            Framing::Lines(lines) => lines.push(bytes),
            Framing::Frames(frames) => frames.push(bytes),
        }
    }

    /// The next thing that is whole.
    pub fn take(&mut self) -> Option<Framed<'_>> {
        Some(match self {
            Framing::Lines(lines) => match lines.take()? {
                Ok(line) => Framed::Message(line),
                Err(long) => Framed::Bad(long.to_string()),
            },
            Framing::Frames(frames) => match frames.take()? {
                Ok(Incoming::Text(text)) => Framed::Message(text),
                Ok(Incoming::Ping(payload)) => Framed::Ping(payload),
                Ok(Incoming::Pong(_)) => Framed::Pong,
                Ok(Incoming::Close(_)) => Framed::Close,
                Err(broken @ BadFrame::Broken(_)) => Framed::Broken(broken.to_string()),
                Err(bad) => Framed::Bad(bad.to_string()),
            },
        })
    }
}

/// What came in over a native wire.
pub enum Received {
    /// A message.
    Message(FromPlayer),
    /// Something that is no message.
    Bad {
        /// Why it is none.
        why: String,
        /// What may be repeated of it.
        line: String,
    },
    /// A ping frame, to be answered with this.
    Ping(Vec<u8>),
    /// Nothing that matters.
    Nothing,
    /// Close with this code, and say this before.
    End(u16, Option<String>),
}

/// Reads what came in.
pub fn received(framed: Framed<'_>) -> Received {
    match framed {
        Framed::Message(line) => match read_line(line) {
            Ok(message) => Received::Message(message),
            Err((why, line)) => Received::Bad { why, line },
        },
        Framed::Bad(why) => Received::Bad { why, line: String::new() },
        Framed::Ping(payload) => Received::Ping(payload.to_vec()),
        Framed::Pong => Received::Nothing,
        Framed::Close => Received::End(NORMAL, None),
        Framed::Broken(why) => Received::End(PROTOCOL_ERROR, Some(why)),
    }
}

/// A message; or why a line is none, and what may be repeated of it. That may become evidence, and
/// so get into the log, where no password and no token belongs: of a line that speaks of either,
/// nothing is repeated.
pub fn read_line(line: &[u8]) -> Result<FromPlayer, (String, String)> {
    let why = match native::decode(line) {
        Ok(message) => return Ok(message),
        Err(bad) => bad.to_string(),
    };
    let line = String::from_utf8_lossy(line);
    let lower = line.to_ascii_lowercase();
    if ["password", "token", "login"].iter().any(|word| lower.contains(word)) {
        let why = "a message with a password or a token cannot be read; it is not repeated";
        return Err((why.into(), String::new()));
    }
    Err((why, line.chars().take(500).collect()))
}

/// An error of the gateway's own, as a line.
pub fn error_line(code: &str, detail: String) -> Vec<u8> {
    let (id, accepted) = (None, None);
    native::encode(&ToPlayer::Error { code, id, detail, accepted })
}
