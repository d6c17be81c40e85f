//! Results of a game, a match and a tournament. They hold no times, so two runs with the same
//! answers and luck have byte-identical results, except for the head of the log, which covers
//! times.

use crate::chain::Head;
use crate::fault::Faulted;
use crate::ids::{MatchId, PlayerName, TournamentId};
use crate::policy::SprtRule;
use crate::ruling::{Interruption, Override, Ruling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a game ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum GameEnd {
    /// By the rules of the game.
    Played,
    /// A player lost it by a fault.
    Forfeited {
        /// The player at fault.
        by: PlayerName,
    },
    /// Broken off without a result.
    Void,
}

/// One finished game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameResult {
    /// Its number in the match, from 1.
    pub game: u32,
    /// The players by seat.
    pub seats: Vec<PlayerName>,
    /// How it ended.
    #[serde(flatten)]
    pub end: GameEnd,
    /// Points by seat.
    pub scores: Vec<i64>,
    /// Rank by seat, 1 is first; `None` for who was removed.
    pub ranks: Vec<Option<u8>>,
    /// The winners; several where first place is shared.
    pub winners: Vec<PlayerName>,
    /// The luck of each player by seat, in points; empty if it was not measured, or if the game was
    /// not played to its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub luck: Vec<i64>,
    /// The operator that voided it, if one did; then it ended `void`, whatever was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voided: Option<Ruling>,
}

impl GameResult {
    /// The result of the same game as a void game.
    pub(crate) fn void(&self, ruling: &Ruling) -> GameResult {
        GameResult {
            end: GameEnd::Void,
            winners: Vec::new(),
            voided: Some(ruling.clone()),
            ..self.clone()
        }
    }
}

/// How a match was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// By games.
    Played,
    /// A player forfeited it.
    Forfeit,
    /// A player was not there when it should have started.
    NoShow,
    /// Counts for nobody.
    Void,
    /// By lot, after too many replays without a decision.
    Lot,
    /// By an operator.
    Overridden,
}

/// One finished match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatchResult {
    /// The winners: one, several where first place is shared, or none.
    pub winners: Vec<PlayerName>,
    /// How it was decided.
    pub how: How,
    /// Games won, in the order of the match's players, in halves: a shared game counts 1, a won
    /// game 2.
    pub halves: Vec<u32>,
    /// The games, those discarded by a restart included.
    pub games: Vec<GameResult>,
    /// The number of the first game that counts: those before it were discarded by a restart.
    pub counts_from: u32,
    /// Everything players did wrong.
    pub faults: Vec<Faulted>,
    /// Players that may not go on in the tournament: removed or blacklisted.
    pub out: Vec<PlayerName>,
}

impl MatchResult {
    /// The result after an operator's override. The games stay, the winners change, and no winner
    /// is out. Without a winner the match is void.
    pub(crate) fn overridden(&self, by: &Override) -> MatchResult {
        let winners = by.winners.clone();
        let out = self.out.iter().filter(|player| !winners.contains(player)).cloned().collect();
        let how = if winners.is_empty() { How::Void } else { How::Overridden };
        MatchResult { winners, how, out, ..self.clone() }
    }
}

/// A match as a tournament's result shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatchReport {
    /// Its name.
    pub id: MatchId,
    /// The players.
    pub players: Vec<PlayerName>,
    /// Why.
    pub reason: String,
    /// The result.
    pub result: MatchResult,
    /// The operator's ruling, where the result is not the one it came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<Override>,
}

/// A bye or a pause: a place in a round without a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bye {
    /// The player who advances without playing; `None` where a bye meets a bye.
    pub player: Option<PlayerName>,
    /// Why, for people.
    pub reason: String,
    /// The opponent who is out of the tournament, if there should have been one: that is a win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walkover: Option<PlayerName>,
}

/// The stage that a round belongs to, in a tournament of several stages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundStage {
    /// The number of the stage, from 1.
    pub number: u32,
    /// The players who entered the stage, best first. Only its first round lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub players: Vec<PlayerName>,
}

/// One number by which a format ranks players, for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TieBreakValue {
    /// The name: `score` first, then the tie-breaks in order.
    pub by: String,
    /// The player's value; more is better.
    pub value: i64,
}

/// One round of a tournament.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundResult {
    /// Its number, from 1.
    pub round: u32,
    /// The stage it belongs to, in a tournament of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<RoundStage>,
    /// Byes.
    pub byes: Vec<Bye>,
    /// Matches in order.
    pub matches: Vec<MatchReport>,
}

/// One player's tournament.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlayerSummary {
    /// Place in the standings, from 1, shared by equals.
    pub rank: u32,
    /// The player.
    pub player: PlayerName,
    /// Matches won, lost and drawn; byes and void matches count for nobody.
    pub matches_won: u32,
    /// See `matches_won`.
    pub matches_lost: u32,
    /// See `matches_won`.
    pub matches_drawn: u32,
    /// Games won; a shared first place of several is a tie.
    pub games_won: u32,
    /// Games lost.
    pub games_lost: u32,
    /// Games tied.
    pub games_tied: u32,
    /// Points of all finished games added up.
    pub points: i64,
    /// Byes received.
    pub byes: u32,
    /// The player's faults by match (`-` for before and after the rounds).
    pub faults: Vec<(MatchId, Faulted)>,
    /// The score and the tie-breaks that decided the rank, in formats that have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie_breaks: Vec<TieBreakValue>,
}

/// The result of a tournament.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Its name.
    pub tournament: TournamentId,
    /// The preset, if any.
    pub preset: Option<String>,
    /// The game.
    pub game: String,
    /// The format's name.
    pub format: String,
    /// Best of how many games a match was.
    pub best_of: u32,
    /// True if games came in groups with the same luck; then `best_of` counts groups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
    /// The sequential test that every match was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtRule>,
    /// `ended`, `running`, `interrupted: why` or `aborted: why`.
    pub status: String,
    /// The players whom a restart of the server cut off, while the tournament is paused for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interruption>,
    /// The operator's decision that ended the tournament before its rounds did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awarded: Option<Override>,
    /// The winners; empty where a bye won or nobody was left.
    pub winners: Vec<PlayerName>,
    /// Everybody by rank, then in order of sign-up.
    pub standings: Vec<PlayerSummary>,
    /// The players who cheated, by name.
    pub cheating: Vec<PlayerName>,
    /// The players who failed otherwise, by name.
    pub failing: Vec<PlayerName>,
    /// All rounds.
    pub rounds: Vec<RoundResult>,
    /// The head of the tournament's log, in the `results.json` of a run without a seed. It covers times,
    /// and results of the same answers and luck must be equal to the byte everywhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
}

impl Results {
    /// The names of the numbers by which the format ranks, without the points of games, which every
    /// table shows. In stages not everybody has all of them.
    pub fn tie_breaks(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for one in self.standings.iter().flat_map(|summary| &summary.tie_breaks) {
            if one.by != "points" && !names.contains(&one.by.as_str()) {
                names.push(&one.by);
            }
        }
        names
    }
}
