//! The native protocol: JSON lines between Agon and a player. `docs/protocol/native.md` is the
//! contract; this file is its codec.

use agon_core::lobby::AccountKind;
use agon_core::{
    Age, Commitment, Head, MatchId, MatchView, Nonce, PlayerName, RequestId, TournamentId,
};
use agon_games::brief;
use agon_games::{Json, Seat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The version of the protocol spoken here.
pub const PROTOCOL_VERSION: u32 = 1;

/// The longest line a player may send: a proposed map is the largest of messages.
pub const LINE_BYTES_MAX: usize = 256 * 1024;

/// Every value of `code` in an error, in the order of the tables in `docs/protocol/native.md`.
pub const ERROR_CODES: [&str; 20] = [
    // About answers, over every transport.
    "repeated",
    "late",
    "foreign",
    "malformed",
    // Over sockets only.
    "unexpected",
    "not-logged-in",
    "wrong-credentials",
    "busy",
    "refused",
    "failed",
    "taken-over",
    "logged-in-elsewhere",
    "slow-down",
    "bad-name",
    "weak-password",
    "login-timeout",
    "too-many-connections",
    "standby",
    "logged-out",
    "flood",
];

/// Writes a code. A build for development panics at one that the protocol page does not list.
fn known_code<S: serde::Serializer>(code: &str, serializer: S) -> Result<S::Ok, S::Error> {
    debug_assert!(ERROR_CODES.contains(&code), "{code} is not in ERROR_CODES");
    serializer.serialize_str(code)
}

/// A message from Agon to a player.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[schemars(rename = "Message")]
pub enum ToPlayer<'a> {
    /// The first line.
    Hello {
        /// The protocol's version.
        protocol: u32,
        /// The program and its version.
        server: &'a str,
        /// Under which name the player plays.
        player: &'a PlayerName,
        /// The tournament.
        tournament: &'a TournamentId,
        /// Its game.
        game: &'a str,
        /// The commitment to the tournament's secret.
        commitment: &'a Commitment,
    },
    /// The first line over a socket.
    Greeting {
        /// The protocol's version.
        protocol: u32,
        /// The program and its version.
        server: &'a str,
    },
    /// The answer to a good login.
    Welcome {
        /// The account of the connection.
        account: &'a PlayerName,
        /// A token to come back with; absent where it came with one.
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<&'a str>,
        /// Tournaments it plays in.
        active: usize,
        /// Tournaments and queue places it waits for.
        waiting: usize,
    },
    /// The answer to a request to the lobby that was done.
    Done {
        /// Which request.
        what: &'a str,
        /// The tournament it was about: of a series, the one that was meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        tournament: Option<&'a TournamentId>,
    },
    /// The sign of life that was asked for.
    Pong,
    /// A sign of life that nobody asked for.
    Heartbeat,
    /// Something the player need not answer.
    Notice {
        /// The subject of the notice.
        about: &'a str,
        /// The tournament, where a connection may play in several.
        #[serde(skip_serializing_if = "Option::is_none")]
        tournament: Option<&'a TournamentId>,
        /// Its match.
        #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
        in_match: Option<&'a MatchId>,
        /// Details.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Json>,
    },
    /// Something the player sent was not accepted.
    Error {
        /// A stable word for programs; the protocol page lists all of them.
        #[serde(serialize_with = "known_code")]
        #[schemars(with = "String")]
        code: &'a str,
        /// The request concerned.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        /// A sentence that says what to do.
        detail: String,
        /// The answer that was accepted before, if this one is a repetition.
        #[serde(skip_serializing_if = "Option::is_none")]
        accepted: Option<Json>,
    },
    /// The last line: the player may go.
    End {
        /// True if it won; absent if the tournament goes on without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        won: Option<bool>,
        /// Why it ends, for people.
        reason: &'a str,
        /// The head of the tournament's log, once that is over.
        #[serde(skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    },
}

impl<'a> ToPlayer<'a> {
    /// A notice whose details say all.
    pub fn notice(about: &'a str, data: Option<Json>) -> ToPlayer<'a> {
        ToPlayer::Notice { about, tournament: None, in_match: None, data }
    }
}

/// A question, with everything a player needs to answer it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Request<'a> {
    /// Always `request`.
    #[serde(rename = "type")]
    #[schemars(extend("const" = "request"))]
    pub kind: &'static str,
    /// The id the answer must carry.
    pub id: &'a RequestId,
    /// How many milliseconds the player has from reading this.
    pub deadline_ms: u64,
    /// The seat it plays.
    pub seat: Seat,
    /// The game's question.
    pub question: Json,
    /// The game as the player may see it.
    pub view: Json,
    /// The match as everybody may see it.
    #[serde(rename = "match")]
    pub in_match: MatchView<'a>,
}

/// A message from a player.
#[derive(Debug)]
pub enum FromPlayer {
    /// Its first line.
    Hello(Hello),
    /// Something for the lobby; only over sockets.
    Lobby(ToLobby),
    /// An answer to a request.
    Answer {
        /// The request's id.
        id: RequestId,
        /// The answer, as JSON text.
        answer: String,
    },
}

/// A message from a player to the lobby of a server.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ToLobby {
    /// Prove who it is, by name and password or by a token.
    Login {
        /// The account's name.
        #[serde(default)]
        account: Option<PlayerName>,
        /// Its password.
        #[serde(default)]
        password: Option<String>,
        /// A token from an earlier welcome, instead of both.
        #[serde(default)]
        token: Option<String>,
        /// Make the account if there is none.
        #[serde(default)]
        register: bool,
        /// The kind of player of a new account.
        #[serde(default)]
        kind: Option<AccountKind>,
    },
    // Braces on those without fields: serde takes any field without them.
    /// Leave the line. Places in queues and sign-ups stay.
    Logout {},
    /// Change the password.
    ChangePassword {
        /// The old one.
        old: String,
        /// The new one.
        new: String,
    },
    /// Wait in a queue once more.
    Enqueue {
        /// Which.
        queue: String,
    },
    /// Wait in a queue once less.
    Dequeue {
        /// Which.
        queue: String,
    },
    /// Sign up for a tournament.
    SignUp {
        /// Which.
        tournament: TournamentId,
        /// The player's age, which decides the order of play in games that go by it.
        #[serde(default)]
        age: Option<Age>,
    },
    /// Take a sign-up back, or leave a tournament that runs.
    Withdraw {
        /// Which.
        tournament: TournamentId,
    },
    /// Accept an invitation.
    Accept {
        /// To which tournament.
        tournament: TournamentId,
    },
    /// Reject an invitation.
    Reject {
        /// To which tournament.
        tournament: TournamentId,
    },
    /// Be ready for a tournament one was invited to.
    Ready {
        /// For which.
        tournament: TournamentId,
    },
    /// Be told of sign-ups that open, as long as the connection lasts.
    Subscribe {},
    /// Hold a tournament.
    Announce {
        /// Which, as over HTTP.
        tournament: serde_json::Map<String, serde_json::Value>,
    },
    /// Ask for a sign of life.
    Ping {},
}

impl std::fmt::Debug for ToLobby {
    /// Without passwords and tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ToLobby::Login { .. } => "Login",
            ToLobby::Logout {} => "Logout",
            ToLobby::ChangePassword { .. } => "ChangePassword",
            ToLobby::Enqueue { .. } => "Enqueue",
            ToLobby::Dequeue { .. } => "Dequeue",
            ToLobby::SignUp { .. } => "SignUp",
            ToLobby::Withdraw { .. } => "Withdraw",
            ToLobby::Accept { .. } => "Accept",
            ToLobby::Reject { .. } => "Reject",
            ToLobby::Ready { .. } => "Ready",
            ToLobby::Subscribe {} => "Subscribe",
            ToLobby::Announce { .. } => "Announce",
            ToLobby::Ping {} => "Ping",
        })
    }
}

/// A player's first line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Hello {
    /// The protocol's version.
    pub protocol: u32,
    /// The name of the program.
    pub name: String,
    /// The nonce that the player adds to the luck of their games.
    #[serde(default)]
    pub nonce: Option<Nonce>,
    /// The configuration it proposes where a tournament asks for one.
    #[serde(default)]
    pub proposal: Option<Json>,
    /// True if every request shows past turns and finished games, and not only the first request
    /// of a match on this connection.
    #[serde(default)]
    pub history: bool,
}

/// A line that is no message of this protocol.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadMessage {
    /// Not JSON at all.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON, but not a message.
    #[error("not a message: {0}")]
    NotAMessage(String),
    /// Another version.
    #[error("protocol {0} is not spoken here, only {PROTOCOL_VERSION}")]
    Version(u32),
}

/// One message as a line, with its end.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let mut line = Vec::with_capacity(512);
    serde_json::to_writer(&mut line, message).expect("messages are JSON");
    line.push(b'\n');
    line
}

#[derive(Deserialize)]
struct Tagged<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    answer: Option<&'a RawValue>,
}

/// Reads a line from a player.
pub fn decode(line: &[u8]) -> Result<FromPlayer, BadMessage> {
    let text = std::str::from_utf8(line).map_err(|error| BadMessage::NotJson(error.to_string()))?;
    let wrong = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => BadMessage::NotAMessage(brief(error.to_string())),
        _ => BadMessage::NotJson(brief(error.to_string())),
    };
    if let Some(answer) = usual_answer(text) {
        return Ok(answer);
    }
    let tagged: Tagged<'_> = serde_json::from_str(text).map_err(wrong)?;
    // A list of values is a struct to serde, and no message to anybody.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(BadMessage::NotAMessage("a message is an object".into()));
    }
    match &*tagged.kind {
        "answer" => {
            let missing = |what: &str| BadMessage::NotAMessage(format!("an answer has {what}"));
            let id = tagged.id.ok_or_else(|| missing("the id of its request"))?;
            let answer = tagged.answer.ok_or_else(|| missing("a field named answer"))?;
            let (id, answer) = (RequestId::from_text(&id), answer.get().to_owned());
            Ok(FromPlayer::Answer { id, answer })
        }
        "hello" => {
            let hello: Hello = serde_json::from_str(text).map_err(wrong)?;
            match hello.protocol {
                PROTOCOL_VERSION => Ok(FromPlayer::Hello(hello)),
                other => Err(BadMessage::Version(other)),
            }
        }
        "login" | "logout" | "change-password" | "enqueue" | "dequeue" | "sign-up" | "withdraw"
        | "accept" | "reject" | "ready" | "subscribe" | "announce" | "ping" => {
            Ok(FromPlayer::Lobby(serde_json::from_str(text).map_err(wrong)?))
        }
        other => Err(BadMessage::NotAMessage(brief(format!("there is no message {other:?}")))),
    }
}

/// An answer with its fields in the usual order and no spaces between them, which most are. `None`
/// for all others, whatever they are.
fn usual_answer(text: &str) -> Option<FromPlayer> {
    let rest = text.strip_prefix(r#"{"type":"answer","id":""#)?;
    let (id, rest) = rest.split_at(rest.bytes().position(|byte| byte == b'"')?);
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let answer = rest.strip_prefix(r#"","answer":"#)?.strip_suffix('}')?;
    let answer = match plain_value(answer.as_bytes(), PLAIN_DEPTH_MAX) {
        Some([]) => answer,
        _ => serde_json::from_str::<&RawValue>(answer).ok()?.get(),
    };
    let (id, answer) =
        (id.bytes().all(plain).then(|| RequestId::from_text(id))?, answer.to_owned());
    Some(FromPlayer::Answer { id, answer })
}

/// How deep a plain value may be.
const PLAIN_DEPTH_MAX: u32 = 8;

/// Skips a JSON value without spaces, escapes and fractions, as most answers are; returns the rest.
/// Returns `None` for all other text, JSON or not.
fn plain_value(text: &[u8], depth_max: u32) -> Option<&[u8]> {
    match text {
        [b'"', ..] => plain_string(text),
        [b't', b'r', b'u', b'e', rest @ ..] | [b'f', b'a', b'l', b's', b'e', rest @ ..] => {
            Some(rest)
        }
        [b'0', rest @ ..] => (!rest.first().is_some_and(is_of_number)).then_some(rest),
        [b'1'..=b'9', ..] => {
            let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
            let rest = &text[end..];
            (!rest.first().is_some_and(is_of_number)).then_some(rest)
        }
        [b'[', rest @ ..] | [b'{', rest @ ..] if depth_max > 0 => {
            let (is_object, end) = (text[0] == b'{', if text[0] == b'{' { b'}' } else { b']' });
            let mut rest = rest;
            loop {
                if is_object {
                    rest = plain_string(rest)?.strip_prefix(b":")?;
                }
                rest = plain_value(rest, depth_max - 1)?;
                match rest {
                    [b',', more @ ..] => rest = more,
                    [byte, after @ ..] if *byte == end => return Some(after),
                    _ => return None,
                }
            }
        }
        _ => None,
    }
}

/// Skips a string of plain characters.
fn plain_string(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"\"")?;
    let is_end = |byte: &u8| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\');
    let (_, rest) = text.split_at(text.iter().position(is_end)?);
    rest.strip_prefix(b"\"")
}

/// Returns whether a byte continues a number.
fn is_of_number(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_keep_their_text() {
        let line = br#"{"id":"r1m1.1.0.0","answer":{"keep": [1,2]},"type":"answer"}"#;
        match decode(line) {
            Ok(FromPlayer::Answer { id, answer }) => {
                assert_eq!((id.as_str(), answer.as_str()), ("r1m1.1.0.0", r#"{"keep": [1,2]}"#));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_usual_answer_is_read_like_any_other() {
        let answers = ["1", " [1, 2] ", "{}", r#""a\"}""#, r#"{"a":"}"}"#, "", "1,2", "1}", "nul"];
        let ids = ["r1m1.1.0.0", "", "a b", r"\u0061", "é", "a\t"];
        for (id, answer) in ids.iter().flat_map(|id| answers.iter().map(move |a| (id, a))) {
            let usual = format!(r#"{{"type":"answer","id":"{id}","answer":{answer}}}"#);
            let other = format!(r#"{{"id":"{id}","type":"answer","answer":{answer}}}"#);
            let read = |line: &str| decode(line.as_bytes()).ok().map(|read| format!("{read:?}"));
            assert_eq!(read(&usual), read(&other), "{id} {answer}");
        }
        let twice = br#"{"type":"answer","id":"a","answer":1,"answer":2}"#;
        assert!(decode(twice).is_err());
    }

    #[test]
    fn usual_answers_are_plain_values() {
        for answer in [
            r#""more-cards""#,
            r#"{"keep":[true,false,true,false,false]}"#,
            r#"{"move":[[10,0],[3,4]]}"#,
            r#"{"acquire":["A","B c.","red",3]}"#,
        ] {
            assert_eq!(plain_value(answer.as_bytes(), PLAIN_DEPTH_MAX), Some(&b""[..]), "{answer}");
        }
        let other =
            ["", "01", "1.5", "-1", "[]", "{}", "[1,]", "{1:2}", "\"é\"", "\"\\\"", " 1", "nul"];
        for text in other {
            assert_eq!(plain_value(text.as_bytes(), PLAIN_DEPTH_MAX), None, "{text}");
        }
        let deep = format!("{}1{}", "[".repeat(9), "]".repeat(9));
        assert_eq!(plain_value(deep.as_bytes(), PLAIN_DEPTH_MAX), None);
    }

    #[test]
    fn bad_lines_say_why() {
        let error = |line: &str| decode(line.as_bytes()).unwrap_err().to_string();
        assert!(error("hello").starts_with("not JSON"));
        assert!(error(r#"{"type":"dance"}"#).contains("dance"));
        assert!(error(r#"{"type":"answer","answer":1}"#).contains("the id of its request"));
        assert!(error(r#"{"type":"hello","protocol":9,"name":"x"}"#).contains("protocol 9"));
        assert!(
            error(r#"{"type":"hello","protocol":1,"name":"x","nonce":"zz"}"#).contains("nonce")
        );
        assert!(error(r#"["answer","r1m1.1.0.0",1]"#).contains("an object"));
        assert!(decode(b"\xff\xfe").is_err());
        let long = "é".repeat(100_000);
        assert!(error(&format!(r#"{{"type":"{long}"}}"#)).chars().count() < 400);
        assert!(error(&format!(r#"{{"type":"ping","{long}":1}}"#)).chars().count() < 400);
    }

    proptest! {
        #[test]
        fn plain_values_are_json(text in r#"([\[\]{},:"0-9a-e\\ .-]|true|false|null|"a":){0,12}"#) {
            if let Some(rest) = plain_value(text.as_bytes(), PLAIN_DEPTH_MAX) {
                let value = &text[..text.len() - rest.len()];
                prop_assert!(serde_json::from_str::<&RawValue>(value).is_ok(), "{}", value);
            }
        }

        #[test]
        fn no_line_makes_the_decoder_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&line);
        }
    }
}
