//! Bytes to messages, for each native transport.

use crate::Wire;
use agon_wire::lines::Lines;
use agon_wire::native::{self, FromPlayer, ToPlayer};
use agon_wire::websocket::{BadFrame, Frames, Incoming};

/// The close code of a WebSocket that ended normally.
pub const NORMAL: u16 = 1000;

/// The close code of a WebSocket whose other end is gone.
pub const GOING_AWAY: u16 = 1001;

/// The close code of a WebSocket that broke the protocol.
pub const PROTOCOL_ERROR: u16 = 1002;

/// Received bytes that are not parsed into messages yet.
pub enum Framing {
    /// Lines of TCP.
    Lines(Lines),
    /// Frames of WebSocket.
    Frames(Frames),
}

/// A parsed piece of input.
pub enum Framed<'a> {
    /// A message.
    Message(&'a [u8]),
    /// Not a message, and why.
    Bad(String),
    /// The rest of the input cannot be parsed.
    Broken(String),
    /// A ping frame.
    Ping(&'a [u8]),
    /// A pong frame.
    Pong,
    /// The other end wants to close.
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

    /// The wire of this framing.
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

    /// The next complete piece of input.
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

/// A parsed input of a native wire.
pub enum Received {
    /// A message.
    Message(FromPlayer),
    /// A line that is not a message.
    Bad {
        /// Why it is not a message.
        why: String,
        /// The part of it that may be quoted.
        line: String,
    },
    /// A ping frame, to be answered with this.
    Ping(Vec<u8>),
    /// Nothing to handle.
    Nothing,
    /// Close with this code, after this message.
    End(u16, Option<String>),
}

/// Parses a piece of input.
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

/// Parses a message; otherwise returns why the line is not a message, and the part that may be
/// quoted. The quote may become evidence in the log, where no password and no token belongs. So
/// nothing is quoted of a line that mentions either.
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
