//! Formats: they pair players, rank them, and decide when a tournament is over.
//!
//! A format is one file beside this one: a struct with its options, and its implementation of
//! [`TournamentFormat`]. The table at the end of this file lists all formats. Only two other places
//! name formats: the code that draws a format for people, and the simulator, which counts champions
//! without this code.

use super::arena::Arena;
use super::bracket::Bracket;
use super::double_elimination::DoubleElimination;
use super::gauntlet::Gauntlet;
use super::groups::Groups;
use super::knockout::Knockout;
use super::round::Round;
use super::round_robin::RoundRobin;
use super::stages::Stages;
use super::swiss::Swiss;
use super::until_sure::UntilSure;
#[cfg(test)]
use super::winner_stays::WinnerStays;
use crate::fault::Faulted;
use crate::ids::{MatchId, Millis, PlayerName};
use crate::policy::{MatchRules, Pairing};
use crate::report::{Bye, PlayerSummary, RoundStage, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

/// The decisions of one format. The tournament asks for them and records them as events.
pub trait TournamentFormat {
    /// The format with its default options, for games with this many seats.
    fn for_seats(seats: RangeInclusive<usize>) -> Self
    where
        Self: Sized;

    /// One line for people: how a tournament of this format works.
    fn about(&self) -> &'static str;

    /// Changes rules of a match that do not work with this format.
    fn adapt(&self, _rules: &mut MatchRules) {}

    /// Sets the options that say which edition of its own rules the format follows. New tournaments
    /// follow the current one; recorded tournaments keep theirs, so that old logs verify.
    fn use_current_rules(&mut self, _rules: &MatchRules) {}

    /// Checks the options, also against the rules of a match; the error says what is wrong.
    fn check(&self, rules: &MatchRules) -> Result<(), String>;

    /// The fewest players of a tournament.
    fn players_min(&self) -> usize {
        1
    }

    /// Checks that a tournament of this many players can be paired; the error says why not.
    fn check_players(&self, _players: usize) -> Result<(), String> {
        Ok(())
    }

    /// How many seats a game may have while this many players are in.
    fn game_sizes(&self, _players: usize) -> RangeInclusive<usize> {
        2..=2
    }

    /// Returns whether a match and a tournament have at most one winner.
    fn has_one_winner(&self) -> bool {
        false
    }

    /// The next round, or the winners if there is none. `order` holds the players in order of seed,
    /// without those who left before the first round.
    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound;

    /// Returns whether an earlier version paired some rounds otherwise. The format pairs as that
    /// version did if `Field::as_earlier` says so; the verifier accepts both.
    fn has_earlier_pairings(&self) -> bool {
        false
    }

    /// The merit of each of the `records`, by which players are ranked.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit>;

    /// Changes the order in which players enter a next stage, which is the order of merit.
    fn reorder_advancing(&self, _ranked: &mut [PlayerName], _field: &Field<'_>) {}

    /// How many of this many players enter a next stage that does not say it.
    fn advancing_count(&self, _players: usize) -> usize {
        8
    }

    /// The numbers of a merit that people see in the standings, in order.
    fn shown(&self, _merit: &[i64]) -> Vec<TieBreakValue> {
        Vec::new()
    }

    /// Returns whether the format ranks players by their points without luck, so that matches
    /// measure luck.
    fn measures_luck(&self) -> bool {
        false
    }

    /// Checks that a player can still enter after the first round has begun; the error says why not.
    fn check_late_entry(&self, _field: &Field<'_>) -> Result<(), &'static str> {
        Err("this format fixes its pairings when the first round begins")
    }

    /// How long after the start rounds are paired; `None` if time does not end the tournament.
    fn play_ms(&self) -> Option<Millis> {
        None
    }

    /// The players who leave the tournament because they lost in `round`, each with their place.
    fn eliminated<'a>(&self, _round: &'a Round, _field: &Field<'a>) -> Vec<(&'a PlayerName, u32)> {
        Vec::new()
    }

    /// The place of a player who is out, or withdrew, before the rounds are over.
    fn place_of_leaver(&self, _player: &PlayerName, field: &Field<'_>) -> u32 {
        field.place_behind_all()
    }

    /// How many matches a tournament of this many players has. `drawn` holds the number of matches
    /// of each round so far.
    fn matches_total(&self, players: usize, drawn: &[usize]) -> MatchCount;
}

/// The merit of a player: the first number that differs decides, and more is better.
pub type Merit = Vec<i64>;

/// How many matches a tournament has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchCount {
    /// The number.
    pub matches: usize,
    /// True if the number is final.
    pub is_exact: bool,
}

/// The decision of a format when a round is over.
#[derive(Clone, PartialEq, Debug)]
pub enum NextRound {
    /// The next round has these matches and byes.
    Round(Vec<DrawnMatch>, Vec<Bye>),
    /// The next round has these matches and byes, and belongs to this stage.
    StageRound(RoundStage, Vec<DrawnMatch>, Vec<Bye>),
    /// All rounds are over, and these players won.
    Winners(Vec<PlayerName>),
}

/// A pairing whose game configuration is not known yet.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnMatch {
    /// The id of their match.
    pub id: MatchId,
    /// The players, in the order of seats of the first game.
    pub players: Vec<PlayerName>,
    /// Why these players meet, for people.
    pub reason: String,
}

/// The record of one player so far.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerRecord {
    /// Matches, games and points. The rank is not known yet.
    pub summary: PlayerSummary,
    /// The latest round in which the player finished a match or had a bye; 0 if there is none.
    pub reached: u32,
    /// True if the player won the tournament.
    pub has_won: bool,
    /// True if the player is out of the tournament.
    pub is_out: bool,
}

/// A tournament as a format sees it.
pub struct Field<'a> {
    /// All players, in order of sign-up.
    pub players: &'a [PlayerName],
    /// The order in which players are put into slots and games.
    pub pairing: Pairing,
    /// The rounds so far; in a stage only those of the stage.
    pub rounds: &'a [Round],
    /// How many rounds earlier stages had.
    pub rounds_before: u32,
    /// The ratings that the organiser gave.
    pub ratings: &'a BTreeMap<PlayerName, i64>,
    /// True if the time for new rounds is over.
    pub is_time_up: bool,
    /// True if rounds are paired as earlier versions did, to verify their logs.
    pub as_earlier: bool,
    /// The winners, once the rounds are over.
    pub winners: &'a [PlayerName],
    /// Faults outside matches.
    pub(super) faults: &'a [Faulted],
    pub(super) out: HashSet<&'a PlayerName>,
}

impl Field<'_> {
    /// Returns whether a player is out of the tournament.
    pub fn is_out(&self, player: &PlayerName) -> bool {
        self.out.contains(player)
    }

    /// The number of the next round.
    pub fn next_number(&self) -> u32 {
        self.rounds_before + self.rounds.len() as u32 + 1
    }

    /// The place behind everybody who is still in.
    pub fn place_behind_all(&self) -> u32 {
        1 + (self.players.len() - self.out.len()) as u32
    }

    /// The players with the best merit among those who are still in.
    pub fn leaders(&self, format: &dyn TournamentFormat) -> Vec<PlayerName> {
        let records = self.records();
        let merits = format.merits(&records, self);
        let in_play = || records.iter().zip(&merits).filter(|(record, _)| !record.is_out);
        let best = in_play().map(|(_, merit)| merit).max();
        let leaders = in_play().filter(|(_, merit)| Some(*merit) == best);
        leaders.map(|(record, _)| record.summary.player.clone()).collect()
    }
}

/// The players who are still in by their merit, best first.
pub(super) fn by_merit(format: &dyn TournamentFormat, field: &Field<'_>) -> Vec<PlayerName> {
    let records = field.records();
    let mut ranked: Vec<(Merit, &PlayerRecord)> =
        format.merits(&records, field).into_iter().zip(&records).collect();
    ranked.retain(|(_, record)| !record.is_out);
    ranked.sort_by(|(one, _), (other, _)| other.cmp(one));
    ranked.into_iter().map(|(_, record)| record.summary.player.clone()).collect()
}

/// Parts of [`TournamentFormat`] for formats in which the loser of a match leaves.
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

    /// The players who lost in a round, each with the place behind everybody who goes on.
    pub(in super::super) fn eliminated(round: &Round) -> Vec<(&PlayerName, u32)> {
        let place = place_after(round);
        round.losers().map(|player| (player, place)).collect()
    }

    /// The place of a player after the round that they lost; `None` if they lost none.
    pub(in super::super) fn place_of_loser(player: &PlayerName, field: &Field<'_>) -> Option<u32> {
        let lost = |round: &&Round| round.losers().any(|loser| loser == player);
        field.rounds.iter().find(lost).map(place_after)
    }

    /// The place behind everybody who goes on after a round. Each open match counts as one player.
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
        /// A format by name, with its options. It decides who meets whom, and when it is over.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[expect(missing_docs, reason = "each format has its own documentation")]
        pub enum Format {
            $($(#[cfg($cfg)])? #[serde(rename = $name)] $format($format)),*
        }

        impl Format {
            /// All formats with their default options, for games with this many seats.
            pub fn all(seats: &RangeInclusive<usize>) -> Vec<Format> {
                vec![$($(#[cfg($cfg)])? $format::for_seats(seats.clone()).into()),*]
            }

            /// The name of the format.
            pub fn name(&self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Format::$format(_) => $name),* }
            }

            /// Makes the format follow the current edition of its rules, in a new tournament.
            pub(crate) fn use_current_rules(&mut self, rules: &MatchRules) {
                match self {
                    $($(#[cfg($cfg)])? Format::$format(format) => format.use_current_rules(rules)),*
                }
            }

            /// The decisions of the format.
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
    "swiss" => Swiss,
    "double-elimination" => DoubleElimination,
    "groups" => Groups,
    "gauntlet" => Gauntlet,
    "arena" => Arena,
    "stages" => Stages,
    "until-sure" => UntilSure,
    // A format for tests: it shows that a format needs only one file and one line.
    #[cfg(test)] "winner-stays" => WinnerStays,
}

impl Format {
    /// The format called `name` with its default options, for games with this many seats.
    pub fn named(name: &str, seats: &RangeInclusive<usize>) -> Option<Format> {
        Format::all(seats).into_iter().find(|format| format.name() == name)
    }
}
