//! The player's end of a connection: encodes and decodes messages with the codecs that clients use.

use crate::socket::Over;
use agon_bots::SplitMix64 as Rng;
use agon_engine::Peers;
use agon_wire::lines::Lines;
use agon_wire::values::{self, Values};
use agon_wire::websocket::{self, Frames, Incoming, Opcode};

/// The longest message a player reads.
const READ_MAX: usize = 1 << 20;

/// The protocol a player uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Lines,
    Frames,
    /// Fish, calls and replies.
    Call,
    /// Fish, messages.
    Message,
    Trains,
}

impl Way {
    /// Returns whether messages are those of the native protocol.
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Way::Lines | Way::Frames)
    }

    /// The server's end of the same protocol.
    pub(crate) fn over(self, peers: Option<&Peers>) -> Over {
        match (self, peers) {
            (Way::Lines, _) => Over::Lines,
            (Way::Frames, _) => Over::Frames,
            (_, Some(peers)) => Over::Peers(peers.clone()),
            (_, None) => unreachable!("nobody comes over a wire that is closed"),
        }
    }

    /// The sign-up message of a player, on protocols where it is only a name.
    pub(crate) fn sign_up(self, name: &str) -> String {
        match self {
            Way::Message => format!(r#"{{"type":"signup_request","value":"{name}"}}"#),
            _ => format!("{name:?}"),
        }
    }

    /// Encodes a message as bytes.
    pub(crate) fn encode(self, text: &str, rng: &mut Rng) -> Vec<u8> {
        match self {
            Way::Lines => format!("{text}\n").into_bytes(),
            Way::Frames => {
                let (mut bytes, mask) = (Vec::new(), (rng.next_word() as u32).to_be_bytes());
                websocket::encode(&mut bytes, Opcode::Text, text.as_bytes(), Some(mask));
                bytes
            }
            // Some players send nothing after a value, some a line end. Numbers and words need one.
            _ if !text.ends_with(char::is_alphanumeric) && rng.chance(500) => {
                text.as_bytes().to_vec()
            }
            _ => format!("{text}\n").into_bytes(),
        }
    }

    /// Translates an answer into the protocol. A text that is no answer of the game stays as it is.
    pub(crate) fn words(self, answer: &str) -> String {
        let inner = |field: &str| {
            let start = format!("{{\"{field}\":");
            Some(answer.strip_prefix(start.as_str())?.strip_suffix('}')?.to_owned())
        };
        let message = |kind: &str, value: String| {
            format!(r#"{{"type":"player_respond_{kind}","value":{value}}}"#)
        };
        let words = match self {
            Way::Lines | Way::Frames => None,
            Way::Call => inner("place").or_else(|| inner("move")),
            Way::Message => inner("place")
                .map(|value| message("placement", value))
                .or_else(|| inner("move").map(|value| message("move", value))),
            Way::Trains if answer == "\"more-cards\"" => Some("\"more_cards\"".into()),
            Way::Trains => inner("return").or_else(|| inner("acquire")),
        };
        match words {
            Some(words) => words,
            None if answer == "\"ok\"" => "\"void\"".into(),
            None => answer.to_owned(),
        }
    }

    /// The reply to a call that is no question of the game.
    pub(crate) fn courtesy(self, call: &str) -> String {
        match self {
            Way::Message if call.contains("tournament_start") => {
                r#"{"type":"tournament_ready","value":true}"#.into()
            }
            Way::Message => r#"{"type":"tournament_end_response","value":true}"#.into(),
            _ => "\"void\"".into(),
        }
    }
}

/// Decodes the bytes a player reads into messages.
pub(crate) enum Reader {
    Lines(Lines),
    Frames(Box<Frames>),
    Values(Values),
}

/// A decoded message.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Read {
    Text(Vec<u8>),
    /// A frame without a message, such as a ping.
    Nothing,
    Broken(String),
}

impl Reader {
    pub(crate) fn new(way: Way) -> Reader {
        match way {
            Way::Lines => Reader::Lines(Lines::new(READ_MAX)),
            Way::Frames => Reader::Frames(Box::new(Frames::of_server(READ_MAX))),
            _ => Reader::Values(Values::new(values::Limits::default())),
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        match self {
            Reader::Lines(lines) => lines.push(bytes),
            Reader::Frames(frames) => frames.push(bytes),
            Reader::Values(values) => values.push(bytes),
        }
    }

    pub(crate) fn take(&mut self) -> Option<Read> {
        Some(match self {
            Reader::Lines(lines) => match lines.take()? {
                Ok(line) => Read::Text(line.to_vec()),
                Err(long) => Read::Broken(long.to_string()),
            },
            Reader::Frames(frames) => match frames.take()? {
                Ok(Incoming::Text(text)) => Read::Text(text.to_vec()),
                Ok(_) => Read::Nothing,
                Err(bad) => Read::Broken(bad.to_string()),
            },
            Reader::Values(values) => match values.take()? {
                Ok(value) => Read::Text(value.as_bytes().to_vec()),
                Err(bad) => Read::Broken(bad.to_string()),
            },
        })
    }
}
