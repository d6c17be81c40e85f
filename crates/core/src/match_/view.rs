//! The part of a match that requests show.

use super::Match;
use crate::ids::{MatchId, PlayerName, TournamentId};
use crate::report::GameResult;
use schemars::JsonSchema;
use serde::Serialize;

/// The match as everybody may see it.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct MatchView<'a> {
    tournament: &'a TournamentId,
    id: &'a MatchId,
    round: u32,
    players: &'a [PlayerName],
    best_of: u32,
    /// Games won by player; a shared game counts one half.
    won: Vec<f32>,
    /// The number of the game in progress, or of the next one.
    game: u32,
    /// Finished games, forfeits and replays included. Empty in requests that show the score only.
    games: Vec<&'a GameResult>,
}

impl MatchView<'_> {
    /// Games won by player; a shared game counts one half.
    pub fn won(&self) -> &[f32] {
        &self.won
    }
}

impl Match {
    /// The match as everybody may see it.
    pub fn view(&self) -> MatchView<'_> {
        let games = self.state.finished.iter().map(|finished| &finished.result).collect();
        MatchView { games, ..self.score() }
    }

    /// The match without its finished games, so that its size does not grow.
    pub fn score(&self) -> MatchView<'_> {
        let finished = self.state.finished.len() as u32;
        MatchView {
            tournament: &self.plan.tournament,
            id: &self.plan.id,
            round: self.plan.round,
            players: &self.plan.players,
            best_of: self.plan.rules.best_of,
            won: self.state.sides.iter().map(|side| side.halves as f32 / 2.0).collect(),
            game: self.state.referee.as_ref().map_or(finished + 1, |referee| referee.number),
            games: Vec::new(),
        }
    }
}
