//! Plans: everything a match or a tournament must know before it starts.

use crate::ids::{MatchId, PlayerName, Raw, TournamentId};
use crate::policy::{MatchRules, Policy};
use serde::{Deserialize, Serialize};

/// The plan of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchPlan {
    /// The tournament it belongs to.
    pub tournament: TournamentId,
    /// The match's own id.
    pub id: MatchId,
    /// The round, from 1.
    pub round: u32,
    /// The players, in the order of seats of the first game.
    pub players: Vec<PlayerName>,
    /// Why these players meet, for people.
    pub reason: String,
    /// The game's name.
    pub game: String,
    /// The game's configuration, in full.
    pub config: Raw,
    /// The rules of the match.
    pub rules: MatchRules,
}

/// The plan of a tournament.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TournamentPlan {
    /// Its name.
    pub id: TournamentId,
    /// The preset it was made from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The game's name.
    pub game: String,
    /// The game's configuration, in full.
    pub config: Raw,
    /// The policy.
    pub policy: Policy,
    /// The players, in order of sign-up.
    pub players: Vec<PlayerName>,
}
