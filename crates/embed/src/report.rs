//! How a game ended: who is on the leaderboard, who cheated and who failed.

use crate::player::SeatedPlayer;
use agon_games::{Outcome, Seat};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The result of one game.
///
/// As JSON it has the shape that observers and tournament managers expect:
/// `{"leaderboard":{"ID":SCORE,…},"cheating_players":["ID",…],"failing_players":["ID",…]}`, with the
/// leaderboard best first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FinalReport {
    /// All players who neither cheated nor failed, best first.
    #[serde(serialize_with = "scores_by_id")]
    pub leaderboard: Vec<LeaderboardEntry>,
    /// The ids of players who broke a rule, in the order of their removal.
    pub cheating_players: Vec<String>,
    /// The ids of players who gave no answer or one of the wrong kind, in the order of their
    /// removal.
    pub failing_players: Vec<String>,
    /// Every removal with its reason, in order. It is not part of the JSON.
    #[serde(skip)]
    pub removals: Vec<Removal>,
}

/// A line of the leaderboard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaderboardEntry {
    /// The player's id.
    pub id: String,
    /// The player's name.
    pub name: String,
    /// The player's colour, where the game has colours.
    pub color: Option<&'static str>,
    /// Points.
    pub score: i64,
    /// The rank. 1 is first; equal players share a rank.
    pub rank: u8,
}

/// A player who is out of the game, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Removal {
    /// The player's seat.
    pub seat: Seat,
    /// The player's id.
    pub id: String,
    /// The player's name.
    pub name: String,
    /// The player's colour, where the game has colours.
    pub color: Option<&'static str>,
    /// The reason for the removal.
    pub kind: RemovalKind,
    /// The reason, as a sentence without its subject: "gave no answer within 10s".
    pub reason: String,
}

/// A reason for which a player was removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemovalKind {
    /// A well-formed answer that breaks a rule.
    Cheating,
    /// No answer in time, an answer to another question, or a panic.
    Failing,
    /// The rules took the player out without a fault of its own: a Fish player that has to place a
    /// penguin where no tile is free. Such a player stays on the leaderboard, in the last rank.
    ByTheRules,
}

fn scores_by_id<S: Serializer>(
    leaderboard: &[LeaderboardEntry],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(leaderboard.len()))?;
    for entry in leaderboard {
        map.serialize_entry(&entry.id, &entry.score)?;
    }
    map.end()
}

impl FinalReport {
    /// The report of a finished game.
    pub(crate) fn new(
        players: &[SeatedPlayer],
        outcome: &Outcome,
        removals: &[Removal],
    ) -> FinalReport {
        let ranked = outcome.ranks.iter().flatten().max().copied().unwrap_or(0);
        let faultless = |seat: Seat| {
            let by_fault = |removal: &Removal| removal.kind != RemovalKind::ByTheRules;
            !removals.iter().any(|removal| removal.seat == seat && by_fault(removal))
        };
        let mut leaderboard: Vec<LeaderboardEntry> = players
            .iter()
            .filter(|player| faultless(player.seat))
            .map(|player| LeaderboardEntry {
                id: player.id.clone(),
                name: player.name.clone(),
                color: player.color,
                score: outcome.scores[player.seat.index()],
                rank: outcome.ranks[player.seat.index()].unwrap_or(ranked + 1),
            })
            .collect();
        leaderboard.sort_by_key(|entry| entry.rank);
        let of_kind = |kind: RemovalKind| {
            let those = removals.iter().filter(|removal| removal.kind == kind);
            those.map(|removal| removal.id.clone()).collect()
        };
        FinalReport {
            leaderboard,
            cheating_players: of_kind(RemovalKind::Cheating),
            failing_players: of_kind(RemovalKind::Failing),
            removals: removals.to_vec(),
        }
    }
}
