//! Plans: everything a match or a tournament needs to know before it starts.

use crate::ids::{MatchId, PlayerName, Raw, TournamentId};
use crate::policy::{MatchRules, Policy};
use serde::{Deserialize, Serialize};

/// What a match is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchPlan {
    /// The tournament it belongs to.
    pub tournament: TournamentId,
    /// Its own name.
    pub id: MatchId,
    /// The round, from 1.
    pub round: u32,
    /// Who plays, in the order of seats of the first game.
    pub players: Vec<PlayerName>,
    /// Why these players meet, for people.
    pub reason: String,
    /// The game's name.
    pub game: String,
    /// The game's configuration, in full.
    pub config: Raw,
    /// How it goes.
    pub rules: MatchRules,
}

/// What a tournament is about.
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
    /// Who is in, in order of sign-up.
    pub players: Vec<PlayerName>,
}
