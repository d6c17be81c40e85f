//! Formats: who meets whom, who is ahead, and when a tournament is over.
//!
//! A format is one file beside this one: a struct with its options, and [`TournamentFormat`] for
//! it. The table at the end of this file lists all formats. Nothing else names them, except what
//! draws a format for people and the simulator, which counts champions again without this code.

use super::bracket::Bracket;
use super::knockout::Knockout;
use super::round::Round;
use super::round_robin::RoundRobin;
#[cfg(test)]
use super::winner_stays::WinnerStays;
use crate::fault::Faulted;
use crate::ids::{MatchId, PlayerName};
use crate::policy::{MatchRules, Pairing};
use crate::report::{Bye, PlayerSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// What one format decides. The tournament machine asks, and records the answers as events.
pub trait TournamentFormat {
    /// The format with its usual options, for games of so many seats.
    fn for_seats(seats: RangeInclusive<usize>) -> Self
    where
        Self: Sized;

    /// One line for people: how a tournament of this format goes.
    fn about(&self) -> &'static str;

    /// Changes the rules of a match that cannot go with this format.
    fn adapt(&self, _rules: &mut MatchRules) {}

    /// Whether the options make sense, also beside the rules of a match; otherwise why not.
    fn check(&self, rules: &MatchRules) -> Result<(), String>;

    /// The fewest players of a tournament.
    fn players_min(&self) -> usize {
        1
    }

    /// Whether a tournament of so many players can be paired; otherwise why not.
    fn check_players(&self, _players: usize) -> Result<(), String> {
        Ok(())
    }

    /// How many seats a game may have while so many players are in.
    fn game_sizes(&self, _players: usize) -> RangeInclusive<usize> {
        2..=2
    }

    /// Whether a match and a tournament have at most one winner.
    fn has_one_winner(&self) -> bool {
        false
    }

    /// The next round, or the winners if there is none. `order` holds the players in order of seed,
    /// without those who left before the first round.
    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound;

    /// What each of the `records` is ranked by.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit>;

    /// The players who leave the tournament because they lost in `round`, each with its place.
    fn eliminated<'a>(&self, _round: &'a Round, _field: &Field<'a>) -> Vec<(&'a PlayerName, u32)> {
        Vec::new()
    }

    /// The place of a player who was thrown out, or withdrew, before the rounds are over.
    fn place_of_leaver(&self, _player: &PlayerName, field: &Field<'_>) -> u32 {
        field.place_behind_all()
    }

    /// How many matches a tournament of so many players has. `drawn` holds the number of matches of
    /// each round so far.
    fn matches_total(&self, players: usize, drawn: &[usize]) -> MatchCount;
}

/// What a player is ranked by: the first number that differs decides, and more is better.
pub type Merit = Vec<i64>;

/// How many matches a tournament has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchCount {
    /// The number.
    pub matches: usize,
    /// Whether that is certain already.
    pub is_exact: bool,
}

/// What a format says when a round is over.
#[derive(Clone, PartialEq, Debug)]
pub enum NextRound {
    /// These matches and byes come next.
    Round(Vec<DrawnMatch>, Vec<Bye>),
    /// All rounds are over, and these players won.
    Winners(Vec<PlayerName>),
}

/// Players who meet, before it is known under which configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnMatch {
    /// The id of their match.
    pub id: MatchId,
    /// The players, in the order of seats of the first game.
    pub players: Vec<PlayerName>,
    /// Why they meet, for people.
    pub reason: String,
}

/// What one player did so far.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerRecord {
    /// Matches, games and points. Its rank is not known yet.
    pub summary: PlayerSummary,
    /// The latest round in which the player finished a match or had a bye; 0 if there is none.
    pub reached: u32,
    /// Whether the player won the tournament.
    pub has_won: bool,
    /// Whether the player may not play on.
    pub is_out: bool,
}

/// A tournament as a format sees it.
pub struct Field<'a> {
    /// Everybody who was in the plan, in order of sign-up.
    pub players: &'a [PlayerName],
    /// In which order players are put into slots and games.
    pub pairing: Pairing,
    /// The rounds so far.
    pub rounds: &'a [Round],
    /// The winners, once the rounds are over.
    pub winners: &'a [PlayerName],
    /// Faults outside matches.
    pub(super) faults: &'a [Faulted],
    pub(super) out: HashSet<&'a PlayerName>,
}

impl Field<'_> {
    /// Whether a player may not play on.
    pub fn is_out(&self, player: &PlayerName) -> bool {
        self.out.contains(player)
    }

    /// The number of the next round.
    pub fn next_number(&self) -> u32 {
        self.rounds.len() as u32 + 1
    }

    /// The place behind everybody who may play on.
    pub fn place_behind_all(&self) -> u32 {
        1 + (self.players.len() - self.out.len()) as u32
    }

    /// The players with the best merit among those who may play on.
    pub fn leaders(&self, format: &dyn TournamentFormat) -> Vec<PlayerName> {
        let records = self.records();
        let merits = format.merits(&records, self);
        let in_play = || records.iter().zip(&merits).filter(|(record, _)| !record.is_out);
        let best = in_play().map(|(_, merit)| merit).max();
        let leaders = in_play().filter(|(_, merit)| Some(*merit) == best);
        leaders.map(|(record, _)| record.summary.player.clone()).collect()
    }
}

/// What [`TournamentFormat`] is for formats in which whoever loses a match leaves.
pub(super) mod elimination {
    use super::{Field, Merit, PlayerRecord, Round};
    use crate::ids::PlayerName;

    /// Winners first, then by the round that a player reached.
    pub(in super::super) fn merit(record: &PlayerRecord) -> Merit {
        match record.has_won {
            true => vec![i64::MAX],
            false => vec![record.reached.into()],
        }
    }

    /// The players who lost in a round, each with the place behind all who go on.
    pub(in super::super) fn eliminated(round: &Round) -> Vec<(&PlayerName, u32)> {
        let place = place_after(round);
        round.losers().map(|player| (player, place)).collect()
    }

    /// The place of a player after the round that they lost, if they lost one.
    pub(in super::super) fn place_of_loser(player: &PlayerName, field: &Field<'_>) -> Option<u32> {
        let lost = |round: &&Round| round.losers().any(|loser| loser == player);
        field.rounds.iter().find(lost).map(place_after)
    }

    /// The place behind all who go on after a round. One player of each open match does.
    fn place_after(round: &Round) -> u32 {
        let byes = round.byes.iter().filter(|bye| bye.player.is_some()).count();
        let winners = round.results.iter().map(|result| match result {
            Some(result) => result.winners.len(),
            None => 1,
        });
        1 + (byes + winners.sum::<usize>()) as u32
    }
}

macro_rules! formats {
    ($($(#[cfg($cfg:meta)])? $name:literal => $format:ident),* $(,)?) => {
        /// Who meets whom, and when it is over: a format by name, with its options.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[expect(missing_docs, reason = "each format has its own documentation")]
        pub enum Format {
            $($(#[cfg($cfg)])? #[serde(rename = $name)] $format($format)),*
        }

        impl Format {
            /// All formats with their usual options, for games of so many seats.
            pub fn all(seats: &RangeInclusive<usize>) -> Vec<Format> {
                vec![$($(#[cfg($cfg)])? $format::for_seats(seats.clone()).into()),*]
            }

            /// The name of the format.
            pub fn name(&self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Format::$format(_) => $name),* }
            }

            /// What the format decides.
            pub fn rules(&self) -> &dyn TournamentFormat {
                match self { $($(#[cfg($cfg)])? Format::$format(format) => format),* }
            }
        }

        $($(#[cfg($cfg)])? impl From<$format> for Format {
            fn from(format: $format) -> Format {
                Format::$format(format)
            }
        })*
    };
}

formats! {
    "bracket" => Bracket,
    "knockout" => Knockout,
    "round-robin" => RoundRobin,
    // Shows that a format needs one file and one line.
    #[cfg(test)] "winner-stays" => WinnerStays,
}

impl Format {
    /// The format called `name` with its usual options, for games of so many seats.
    pub fn named(name: &str, seats: &RangeInclusive<usize>) -> Option<Format> {
        Format::all(seats).into_iter().find(|format| format.name() == name)
    }
}
