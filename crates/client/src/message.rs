//! Messages of a server, as far as a player needs them. The client ignores messages and fields of
//! later versions.

use crate::ClientError;
use agon_core::{MatchId, PlayerName, TournamentId};
use agon_games::{Game, Json, Seat};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;

/// A question, with everything a player needs to answer it.
#[derive(Clone, Debug, Deserialize)]
pub struct Request {
    /// The id its answer carries.
    pub id: String,
    /// The time to answer, in milliseconds.
    pub deadline_ms: u64,
    /// The seat that is asked.
    pub seat: Seat,
    /// The game's question.
    pub question: Json,
    /// All the seat may know of the game.
    pub view: Json,
    /// The match it is in.
    #[serde(rename = "match")]
    pub in_match: InMatch,
    /// The game's name.
    #[serde(skip)]
    pub game: String,
    /// The message as it was received.
    #[serde(skip)]
    pub line: String,
}

impl Request {
    /// The question, as the type of a known game.
    pub fn question_as<G: Game>(&self) -> Result<G::Question, ClientError> {
        read::<G, _>(&self.question)
    }

    /// The view, as the type of a known game.
    pub fn view_as<G: Game>(&self) -> Result<G::View, ClientError> {
        read::<G, _>(&self.view)
    }

    /// The players by seat, derived from the known seat of `own`: seats may rotate from game to
    /// game.
    pub fn names_by_seat(&self, own: &PlayerName) -> Vec<String> {
        let players = &self.in_match.players;
        let at = players.iter().position(|player| player == own).unwrap_or(self.seat.index());
        let shift = at + players.len() - self.seat.index().min(players.len());
        let names = (0..players.len()).map(|seat| &players[(seat + shift) % players.len()]);
        names.map(ToString::to_string).collect()
    }
}

fn read<'a, G: Game, T: Deserialize<'a>>(json: &'a Json) -> Result<T, ClientError> {
    let wrong =
        |error: serde_json::Error| ClientError::Request(format!("not of {}: {error}", G::NAME));
    serde_json::from_str(json.get()).map_err(wrong)
}

/// The match a request is about.
#[derive(Clone, Debug, Deserialize)]
pub struct InMatch {
    /// Its tournament.
    pub tournament: TournamentId,
    /// Its id.
    pub id: MatchId,
    /// Its round, from 1.
    pub round: u32,
    /// The players.
    pub players: Vec<PlayerName>,
    /// The most games of the match, as in "best of five".
    pub best_of: u32,
    /// Games won by player; a shared game counts one half.
    pub won: Vec<f32>,
    /// The number of the game.
    pub game: u32,
}

/// A notification, which needs no answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Notice {
    /// A stable word: `tournament`, `told`, `game-over`, `match-over`, `tournament-over` …
    pub about: String,
    /// Details.
    #[serde(default)]
    pub data: Value,
    /// The tournament, if it is not among the details.
    #[serde(default, rename = "tournament")]
    pub beside: Option<TournamentId>,
    /// The message as it was received.
    #[serde(skip)]
    pub line: String,
}

impl Notice {
    /// The tournament that the notification names, if any.
    pub fn tournament(&self) -> Option<TournamentId> {
        self.data["tournament"].as_str().map(TournamentId::from).or_else(|| self.beside.clone())
    }

    /// Returns whether the player won, if the notification says so.
    pub fn won(&self) -> Option<bool> {
        self.data["won"].as_bool()
    }
}

/// The server rejected a message; it changed nothing.
#[derive(Clone, Debug, Deserialize)]
pub struct Refused {
    /// A stable word, such as `repeated`.
    pub code: String,
    /// An explanation for people.
    #[serde(default)]
    pub detail: String,
    /// The request concerned.
    #[serde(default)]
    pub id: Option<String>,
    /// The message as it was received.
    #[serde(skip)]
    pub line: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.detail, self.code)
    }
}

/// The answer to a successful login.
#[derive(Debug, Deserialize)]
pub(super) struct Welcome {
    pub(super) account: PlayerName,
    #[serde(default)]
    pub(super) token: Option<String>,
    #[serde(default)]
    pub(super) active: u64,
}

/// All messages of a server.
#[derive(Debug)]
pub(super) enum Message {
    Welcome(Welcome),
    Request(Request),
    Notice(Notice),
    Refused(Refused),
    Done(String),
    /// A message without interest, or of a later version.
    Other,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    what: Option<String>,
}

impl Message {
    /// Reads a line. A line that cannot be read counts as one of a later version.
    pub(super) fn read(line: String) -> Message {
        let Ok(Kind { kind, what }) = serde_json::from_str(&line) else { return Message::Other };
        let message = match kind.as_str() {
            "welcome" => serde_json::from_str(&line).map(Message::Welcome),
            "request" => serde_json::from_str(&line)
                .map(|request| Message::Request(Request { line, ..request })),
            "notice" => {
                serde_json::from_str(&line).map(|notice| Message::Notice(Notice { line, ..notice }))
            }
            "error" => serde_json::from_str(&line)
                .map(|refused| Message::Refused(Refused { line, ..refused })),
            "done" => Ok(Message::Done(what.unwrap_or_default())),
            _ => Ok(Message::Other),
        };
        message.unwrap_or(Message::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_games::yahtzee::Yahtzee;

    const REQUEST: &str = r#"{"type":"request","id":"cup:r1m1.2.1.0","deadline_ms":10,"seat":1,
        "question":{"ask":"score","dice":[2,2,2,4,2]},"view":{"odd":1},"match":{"tournament":"cup",
        "id":"r1m1","round":1,"players":["ann","bob","cat"],"best_of":3,"won":[0.5,0,0],"game":2,
        "games":[]},"later":true}"#;

    #[test]
    fn request_is_parsed_with_typed_and_untyped_parts() {
        let Message::Request(request) = Message::read(REQUEST.into()) else { panic!() };
        assert_eq!((request.id.as_str(), request.seat), ("cup:r1m1.2.1.0", Seat(1)));
        assert!(request.question_as::<Yahtzee>().is_ok());
        let error = request.view_as::<Yahtzee>().unwrap_err().to_string();
        assert!(error.contains("not of yahtzee"), "{error}");
        let own = PlayerName::new("cat").unwrap();
        assert_eq!(request.names_by_seat(&own), ["bob", "cat", "ann"]);
    }

    #[test]
    fn unknown_messages_are_ignored() {
        for line in ["", "{", "7", r#"{"type":"dance"}"#, r#"{"type":"request"}"#, "{}"] {
            assert!(matches!(Message::read(line.into()), Message::Other), "{line}");
        }
    }
}
