//! Messages between server and players, as far as the simulator parses them.

use agon_core::{MatchId, TournamentId};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A message of the server.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Said {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) detail: Option<String>,
    pub(crate) what: Option<String>,
    pub(crate) account: Option<String>,
    pub(crate) tournament: Option<String>,
    pub(crate) data: Option<Box<RawValue>>,
    pub(crate) accepted: Option<Box<RawValue>>,
    pub(crate) seat: Option<u8>,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) question: Option<Box<RawValue>>,
    pub(crate) view: Option<Box<RawValue>>,
}

/// The structured details of a notification.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct About {
    pub(crate) tournament: Option<String>,
    #[serde(rename = "match")]
    pub(crate) in_match: Option<String>,
    #[serde(default)]
    pub(crate) won: bool,
    pub(crate) rank: Option<u32>,
    pub(crate) commitment: Option<String>,
    #[serde(default)]
    pub(crate) winners: Vec<String>,
}

impl Said {
    /// The details of a notification that names its tournament.
    pub(crate) fn about(&self) -> Option<About> {
        serde_json::from_str(self.data.as_ref()?.get()).ok()
    }
}

/// An answer of a player.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) answer: Box<RawValue>,
}

/// The parts of a request's id: `cup:r1m1.1.0.4`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Asked {
    pub(crate) tournament: TournamentId,
    pub(crate) in_match: MatchId,
    pub(crate) game: u32,
    pub(crate) seat: u8,
    pub(crate) turn: u32,
}

impl Asked {
    pub(crate) fn parse(id: &str) -> Option<Asked> {
        let (tournament, rest) = id.split_once(':')?;
        let mut parts = rest.split('.');
        let in_match = MatchId::from_text(parts.next()?);
        let game = parts.next()?.parse().ok()?;
        let seat = parts.next()?.parse().ok()?;
        let turn = parts.next()?.parse().ok()?;
        let tournament = TournamentId::from_text(tournament);
        Some(Asked { tournament, in_match, game, seat, turn })
    }

    /// The id of the same game with another seat or turn.
    pub(crate) fn id(&self, seat: u8, turn: u32) -> String {
        format!("{}:{}.{}.{seat}.{turn}", self.tournament, self.in_match, self.game)
    }

    /// The stream of its match.
    pub(crate) fn stream(&self) -> String {
        format!("match/{}/{}", self.tournament, self.in_match)
    }
}
