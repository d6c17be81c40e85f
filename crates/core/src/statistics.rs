//! Statistics: what players have done so far, folded from the streams of tournaments.
//!
//! The streams may be interleaved in any way, and a stream may be fed whole after others. Every
//! number stays the same, ratings included, because a round is rated at the time of its last report
//! and not when this module receives it.
//!
//! Statistics count finished matches. In a match they count the games since the latest restart, and
//! the ties that a restart followed (as ties, without their points). They do not count void
//! matches, games that were broken off or voided, byes and walkovers. If an operator overrides a
//! result or orders a replay, the earlier result is subtracted. A no-show is a match won for one
//! player and a match lost for the other. Cheating counts even if the game does not: it is about
//! conduct, not results.

use crate::event::{Event, RoundPaired, TournamentCreated};
use crate::fault::{FaultKind, Faulted};
use crate::ids::{PlayerName, Timestamp, TournamentId};
use crate::match_::ApplyError;
use crate::rating::{
    Ladder, MatchPlaces, Ranked, Rating, RatingSettings, RatingSystem, counted_games, places,
    rank_in, replayed_ties,
};
use crate::report::{GameEnd, GameResult, How, MatchResult};
use crate::tournament::Round;
use agon_games::Registry;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Won, lost, tied. A first place shared by several is a tie for each of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, JsonSchema)]
pub struct Tally {
    /// Won alone.
    pub won: u32,
    /// Lost.
    pub lost: u32,
    /// Shared.
    pub tied: u32,
}

impl Tally {
    fn add_finish(&mut self, player: &PlayerName, winners: &[PlayerName]) {
        match (winners.contains(player), winners.len()) {
            (true, 1) => self.won += 1,
            (true, _) => self.tied += 1,
            (false, _) => self.lost += 1,
        }
    }

    fn add_order(&mut self, order: Ordering) {
        match order {
            Ordering::Less => self.won += 1,
            Ordering::Greater => self.lost += 1,
            Ordering::Equal => self.tied += 1,
        }
    }

    fn add(&mut self, other: &Tally) {
        self.won += other.won;
        self.lost += other.lost;
        self.tied += other.tied;
    }

    fn take(&mut self, other: &Tally) {
        self.won -= other.won;
        self.lost -= other.lost;
        self.tied -= other.tied;
    }

    fn turned(self) -> Tally {
        Tally { won: self.lost, lost: self.won, tied: self.tied }
    }
}

/// The counts of a player's games, matches and tournaments.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Record")]
pub struct PlayerTallies {
    /// Games.
    pub games: Tally,
    /// Matches.
    pub matches: Tally,
    /// Tournaments that have ended.
    pub tournaments: Tally,
    /// Tournaments entered and not left before the first round; running ones are among them.
    pub tournaments_played: u32,
    /// Games lost by a fault, or by being removed.
    pub games_forfeited: u32,
    /// Matches lost by a forfeit of the whole.
    pub matches_forfeited: u32,
    /// Matches and greetings it did not come to.
    pub no_shows: u32,
    /// Times it was caught cheating.
    pub cheats: u32,
    /// Faults of every kind that it was charged with, cheats and no-shows among them.
    pub faults: u32,
    /// The points of all games that count.
    pub points: i64,
}

impl PlayerTallies {
    fn add(&mut self, other: &PlayerTallies) {
        self.games.add(&other.games);
        self.matches.add(&other.matches);
        self.tournaments.add(&other.tournaments);
        self.tournaments_played += other.tournaments_played;
        self.games_forfeited += other.games_forfeited;
        self.matches_forfeited += other.matches_forfeited;
        self.no_shows += other.no_shows;
        self.cheats += other.cheats;
        self.faults += other.faults;
        self.points += other.points;
    }

    /// Subtracts another record.
    fn take(&mut self, other: &PlayerTallies) {
        self.games.take(&other.games);
        self.matches.take(&other.matches);
        self.tournaments.take(&other.tournaments);
        self.tournaments_played -= other.tournaments_played;
        self.games_forfeited -= other.games_forfeited;
        self.matches_forfeited -= other.matches_forfeited;
        self.no_shows -= other.no_shows;
        self.cheats -= other.cheats;
        self.faults -= other.faults;
        self.points -= other.points;
    }

    /// The record of one player in one match.
    fn of_match(player: &PlayerName, result: &MatchResult) -> PlayerTallies {
        let mut record = PlayerTallies::default();
        record.add_match(player, result);
        record
    }

    fn add_match(&mut self, player: &PlayerName, result: &MatchResult) {
        let own = || result.faults.iter().filter(|faulted| faulted.player == *player);
        self.cheats += own().filter(|faulted| faulted.fault.is_cheat()).count() as u32;
        self.faults += own().count() as u32;
        if result.how == How::Void {
            return;
        }
        self.matches.add_finish(player, &result.winners);
        let lost = !result.winners.contains(player);
        let absent = own().any(|faulted| faulted.fault.kind == FaultKind::NoShow);
        match result.how {
            How::Forfeit => self.matches_forfeited += u32::from(lost),
            How::NoShow => self.no_shows += u32::from(lost),
            // The player was removed from a match of several, which continued without them.
            _ => self.no_shows += u32::from(absent),
        }
        counted_games(result).for_each(|game| self.add_game(player, game));
        let ties = replayed_ties(result).filter(|game| game.winners.contains(player));
        self.games.tied += ties.count() as u32;
    }

    fn add_game(&mut self, player: &PlayerName, game: &GameResult) {
        let Some(seat) = game.seats.iter().position(|seated| seated == player) else { return };
        self.games.add_finish(player, &game.winners);
        self.points += game.scores.get(seat).copied().unwrap_or(0);
        let forfeited = matches!(&game.end, GameEnd::Forfeited { by } if by == player);
        self.games_forfeited += u32::from(forfeited || rank_in(game, player).is_none());
    }
}

/// A player's record in one game, with its place on the game's ladder.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct GameStatistics {
    /// The player's statistics.
    #[serde(flatten)]
    pub record: PlayerTallies,
    /// How strong it is; `None` without a result that counts.
    pub rating: Option<Rating>,
    /// Its rank on the ladder, from 1.
    pub rank: Option<u32>,
}

/// Everything there is to say about a player.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PlayerStatistics {
    /// The player.
    pub player: PlayerName,
    /// All games together.
    pub total: PlayerTallies,
    /// By the name of the game.
    pub by_game: BTreeMap<String, GameStatistics>,
}

impl PlayerStatistics {
    /// Adds the games of the guest whose games the player continues. Rating and rank stay the
    /// player's own.
    pub fn add_guest(&mut self, guest: &PlayerStatistics) {
        self.total.add(&guest.total);
        for (game, played) in &guest.by_game {
            let unplayed =
                GameStatistics { record: PlayerTallies::default(), rating: None, rank: None };
            self.by_game.entry(game.clone()).or_insert(unplayed).record.add(&played.record);
        }
    }
}

/// How one player did against another, where both took part: who finished ahead of whom.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, JsonSchema)]
pub struct Meetings {
    /// Games.
    pub games: Tally,
    /// Matches.
    pub matches: Tally,
}

impl Meetings {
    fn add(&mut self, other: &Meetings) {
        self.games.add(&other.games);
        self.matches.add(&other.matches);
    }

    fn turned(self) -> Meetings {
        Meetings { games: self.games.turned(), matches: self.matches.turned() }
    }
}

/// One player against another.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, JsonSchema)]
pub struct HeadToHead {
    /// All games together.
    pub total: Meetings,
    /// By the name of the game.
    pub by_game: BTreeMap<String, Meetings>,
}

impl HeadToHead {
    /// Adds other games against the same opponent.
    pub fn add(&mut self, other: &HeadToHead) {
        self.total.add(&other.total);
        for (game, meetings) in &other.by_game {
            self.by_game.entry(game.clone()).or_default().add(meetings);
        }
    }
}

/// A tournament that is not over.
#[derive(Clone, Debug)]
struct Running {
    game: String,
    /// The players: everybody who was not out before the first round.
    players: BTreeSet<PlayerName>,
    /// The number of the latest round; 0 before the first.
    number: u32,
    round: Option<Round>,
    /// The key under which the round is rated, once it is over.
    rated: Option<RoundKey>,
    /// When the latest result was reported. It never goes back, even if clocks do.
    at: Timestamp,
    /// True if an operator abandoned the tournament. Then nobody has lost it.
    given_up: bool,
    /// True if its results leave ratings alone.
    unrated: bool,
}

/// When a round was over, then its tournament and number, so that the order is total.
type RoundKey = (Timestamp, TournamentId, u32);

/// The rounds of a game, and the ladder that follows from them.
#[derive(Clone, Debug)]
struct Rounds {
    empty: Ladder,
    rounds: BTreeMap<RoundKey, Vec<MatchPlaces>>,
    /// Computed on first use, and kept up to date while rounds come in order.
    ladder: OnceLock<Ladder>,
}

impl Rounds {
    fn add(&mut self, key: RoundKey, outcomes: Vec<MatchPlaces>) {
        let latest = self.rounds.last_key_value().is_none_or(|(last, _)| *last < key);
        match self.ladder.get_mut() {
            Some(ladder) if latest => ladder.apply_round(&key.1, key.2, &outcomes),
            _ => self.ladder = OnceLock::new(),
        }
        self.rounds.insert(key, outcomes);
    }

    /// Removes a round that is no longer rated, or whose rating changes.
    fn remove(&mut self, key: &RoundKey) {
        if self.rounds.remove(key).is_some() {
            self.ladder = OnceLock::new();
        }
    }

    fn ladder(&self) -> &Ladder {
        self.ladder.get_or_init(|| {
            let mut ladder = self.empty.clone();
            for ((_, tournament, round), outcomes) in &self.rounds {
                ladder.apply_round(tournament, *round, outcomes);
            }
            ladder
        })
    }
}

/// The records of all players so far.
#[derive(Clone, Debug)]
pub struct Statistics {
    settings: RatingSettings,
    systems: BTreeMap<String, RatingSystem>,
    /// `None` for tournaments that are over.
    tournaments: BTreeMap<TournamentId, Option<Running>>,
    records: BTreeMap<PlayerName, BTreeMap<String, PlayerTallies>>,
    /// By the two names in order, from the view of the first.
    meetings: BTreeMap<(PlayerName, PlayerName), BTreeMap<String, Meetings>>,
    ladders: BTreeMap<String, Rounds>,
}

impl Statistics {
    /// Empty statistics. The number of seats of a game decides its rating system.
    pub fn new(games: &Registry, settings: RatingSettings) -> Statistics {
        let seats_max = |name: &str| games.kind(name).map_or(0, |kind| *kind.seats().end());
        let system = |name: &str| (name.to_owned(), RatingSystem::for_seats(seats_max(name)));
        Statistics {
            settings,
            systems: games.names().into_iter().map(system).collect(),
            tournaments: BTreeMap::new(),
            records: BTreeMap::new(),
            meetings: BTreeMap::new(),
            ladders: BTreeMap::new(),
        }
    }

    /// Applies an event of the stream of `tournament` that was decided at `at`. Events of one
    /// stream come in order; streams come in any order. An event that does not fit changes nothing.
    pub fn apply(
        &mut self,
        tournament: &TournamentId,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), ApplyError> {
        match event {
            Event::TournamentCreated(created) => self.create(tournament, at, created),
            Event::RoundPaired(paired) => self.pair(tournament, paired),
            Event::MatchReported(_)
            | Event::ResultOverridden(_)
            | Event::ReplayOrdered(_)
            | Event::RulingUndone(_) => self.settle(tournament, at, event),
            Event::TournamentResumed(_) => {
                let running = self.running(tournament, event.tag())?;
                running.round.iter_mut().for_each(Round::resume);
                Ok(())
            }
            Event::PlayerDropped(dropped) => self.drop_player(tournament, &dropped.faulted),
            Event::PlayerEntered(entered) => {
                let running = self.running(tournament, event.tag())?;
                running.players.insert(entered.player.clone());
                let game = running.game.clone();
                self.record(&entered.player, &game).tournaments_played += 1;
                Ok(())
            }
            Event::TournamentAwarded(awarded) => {
                let given_up = awarded.result.winners.is_empty();
                let running = self.running(tournament, event.tag())?;
                running.round.iter_mut().for_each(Round::resume);
                running.given_up = given_up;
                Ok(())
            }
            Event::TournamentEnded(ended) => {
                let given_up = self.running(tournament, event.tag())?.given_up;
                let winners = Some(&ended.winners).filter(|_| !given_up);
                self.end(tournament, event, winners)
            }
            Event::TournamentAborted(_) => self.end(tournament, event, None),
            _ => Ok(()),
        }
    }

    /// The statistics of a player; empty for a player who never played.
    pub fn player(&self, player: &PlayerName) -> PlayerStatistics {
        let mut total = PlayerTallies::default();
        let mut by_game = BTreeMap::new();
        for (game, record) in self.records.get(player).into_iter().flatten() {
            total.add(record);
            let ladder = self.ladder(game);
            let rating = ladder.and_then(|ladder| ladder.rating(player));
            let rank = ladder.and_then(|ladder| ladder.rank(player));
            by_game.insert(game.clone(), GameStatistics { record: *record, rating, rank });
        }
        PlayerStatistics { player: player.clone(), total, by_game }
    }

    /// All players with statistics, by name.
    pub fn players(&self) -> impl Iterator<Item = &PlayerName> {
        self.records.keys()
    }

    /// The record of `one` against `other`.
    pub fn head_to_head(&self, one: &PlayerName, other: &PlayerName) -> HeadToHead {
        let turned = one > other;
        let (first, second) = if turned { (other, one) } else { (one, other) };
        let mut met = HeadToHead::default();
        let by_game = self.meetings.get(&(first.clone(), second.clone()));
        for (game, meetings) in by_game.into_iter().flatten() {
            let meetings = if turned { meetings.turned() } else { *meetings };
            met.total.add(&meetings);
            met.by_game.insert(game.clone(), meetings);
        }
        met
    }

    /// All opponents of a player, by name.
    pub fn opponents(&self, player: &PlayerName) -> Vec<&PlayerName> {
        let met = self.meetings.keys().filter_map(|(one, other)| match (one, other) {
            (own, other) if own == player => Some(other),
            (other, own) if own == player => Some(other),
            _ => None,
        });
        let mut met: Vec<&PlayerName> = met.collect();
        met.sort();
        met
    }

    /// The ratings of a game; `None` before its first rated round.
    pub fn ladder(&self, game: &str) -> Option<&Ladder> {
        self.ladders.get(game).map(Rounds::ladder)
    }

    /// All rated players of a game, the strongest first.
    pub fn ranking(&self, game: &str) -> Vec<Ranked> {
        self.ladder(game).map_or_else(Vec::new, Ladder::ranking)
    }

    fn running(
        &mut self,
        tournament: &TournamentId,
        tag: &'static str,
    ) -> Result<&mut Running, ApplyError> {
        let known = self.tournaments.get_mut(tournament);
        let known = known.ok_or(ApplyError::NotATournament(tag))?;
        known.as_mut().ok_or(ApplyError::OutOfPlace(tag))
    }

    fn record(&mut self, player: &PlayerName, game: &str) -> &mut PlayerTallies {
        let by_game = self.records.entry(player.clone()).or_default();
        by_game.entry(game.to_owned()).or_default()
    }

    fn create(
        &mut self,
        tournament: &TournamentId,
        at: Timestamp,
        created: &TournamentCreated,
    ) -> Result<(), ApplyError> {
        if self.tournaments.contains_key(tournament) {
            return Err(ApplyError::OutOfPlace("tournament-created"));
        }
        let game = created.plan.game.clone();
        let players: BTreeSet<PlayerName> = created.plan.players.iter().cloned().collect();
        for player in &players {
            self.record(player, &game).tournaments_played += 1;
        }
        let unrated = created.plan.policy.unrated;
        let (number, round, rated, given_up) = (0, None, None, false);
        let running = Running { game, players, number, round, rated, at, given_up, unrated };
        self.tournaments.insert(tournament.clone(), Some(running));
        Ok(())
    }

    fn pair(&mut self, tournament: &TournamentId, paired: &RoundPaired) -> Result<(), ApplyError> {
        let running = self.running(tournament, "round-paired")?;
        let open = running.round.as_ref().is_some_and(|round| !round.is_over());
        if open || paired.round != running.number + 1 {
            return Err(ApplyError::OutOfPlace("round-paired"));
        }
        running.number = paired.round;
        running.round = Some(Round::new(paired));
        running.rated = None;
        Ok(())
    }

    /// Records the result of a match, or replaces it with a new one.
    fn settle(
        &mut self,
        tournament: &TournamentId,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), ApplyError> {
        let running = self.running(tournament, event.tag())?;
        let round = running.round.as_mut().ok_or(ApplyError::OutOfPlace(event.tag()))?;
        let id = match event {
            Event::MatchReported(reported) => &reported.id,
            Event::ResultOverridden(overridden) => &overridden.id,
            Event::ReplayOrdered(ordered) => &ordered.id,
            Event::RulingUndone(undone) => &undone.id,
            _ => return Err(ApplyError::OutOfPlace(event.tag())),
        };
        let unknown = || ApplyError::UnknownMatch(id.clone());
        let place = round.place(id).ok_or_else(unknown)?;
        let old = round.results[place].clone();
        match event {
            Event::MatchReported(_) if round.reported[place].is_some() => return Err(unknown()),
            Event::MatchReported(reported) => {
                running.at = running.at.max(at);
                round.report(reported)?;
            }
            _ => {
                round.rule(event).unwrap_or_else(|| Err(unknown()))?;
            }
        }
        let new = round.results[place].clone();
        let players = round.matches[place].players.clone();
        let game = running.game.clone();
        self.rate(tournament)?;
        if let Some(old) = old {
            self.count(&players, &game, &old, false);
        }
        if let Some(new) = new {
            self.count(&players, &game, &new, true);
        }
        Ok(())
    }

    /// Rates the latest round of a tournament with its current results, if it is over.
    fn rate(&mut self, tournament: &TournamentId) -> Result<(), ApplyError> {
        let count_forfeits = self.settings.count_forfeits;
        let running = self.running(tournament, "match-reported")?;
        let Some(round) = running.round.as_ref().filter(|_| !running.unrated) else {
            return Ok(());
        };
        let results = round.matches.iter().zip(&round.results);
        let outcomes = results.filter_map(|(plan, result)| {
            MatchPlaces::of(&plan.players, result.as_ref()?, count_forfeits)
        });
        let outcomes: Vec<MatchPlaces> =
            if round.is_over() { outcomes.collect() } else { Vec::new() };
        let key = (running.at, tournament.clone(), running.number);
        let rated = (!outcomes.is_empty()).then(|| key.clone());
        let before = std::mem::replace(&mut running.rated, rated);
        let game = running.game.clone();
        if let Some(before) = before {
            self.rounds(&game).remove(&before);
        }
        if !outcomes.is_empty() {
            self.rounds(&game).add(key, outcomes);
        }
        Ok(())
    }

    /// Adds a result, or subtracts it.
    fn count(&mut self, players: &[PlayerName], game: &str, result: &MatchResult, add: bool) {
        for player in players {
            let own = PlayerTallies::of_match(player, result);
            let record = self.record(player, game);
            if add { record.add(&own) } else { record.take(&own) }
        }
        if result.how != How::Void {
            self.meet(players, game, result, add);
        }
    }

    fn rounds(&mut self, game: &str) -> &mut Rounds {
        let system = self.systems.get(game).copied().unwrap_or(RatingSystem::WengLin);
        let empty = Ladder::new(system, self.settings);
        let (rounds, ladder) = (BTreeMap::new(), OnceLock::new());
        self.ladders.entry(game.to_owned()).or_insert(Rounds { empty, rounds, ladder })
    }

    fn meet(&mut self, players: &[PlayerName], game: &str, result: &MatchResult, add: bool) {
        let places = places(players, result);
        // Players who were removed from a game rank behind all others.
        let rank = |game: &GameResult, player| rank_in(game, player).unwrap_or(u8::MAX);
        for (at, one) in players.iter().enumerate() {
            for (other_at, other) in players.iter().enumerate().filter(|(_, other)| one < *other) {
                let mut now = Meetings::default();
                now.matches.add_order(places[at].cmp(&places[other_at]));
                for game in counted_games(result) {
                    now.games.add_order(rank(game, one).cmp(&rank(game, other)));
                }
                let by_game = self.meetings.entry((one.clone(), other.clone())).or_default();
                let met = by_game.entry(game.to_owned()).or_default();
                let change = if add { Tally::add } else { Tally::take };
                change(&mut met.games, &now.games);
                change(&mut met.matches, &now.matches);
            }
        }
    }

    /// Records a dropped player. One who is out before the first round has not played.
    fn drop_player(
        &mut self,
        tournament: &TournamentId,
        faulted: &Faulted,
    ) -> Result<(), ApplyError> {
        let player = &faulted.player;
        let running = self.running(tournament, "player-dropped")?;
        if !running.players.contains(player) {
            return Err(ApplyError::Stranger(player.clone()));
        }
        let early = running.number == 0;
        if early {
            running.players.remove(player);
        }
        let game = running.game.clone();
        let record = self.record(player, &game);
        record.tournaments_played -= u32::from(early);
        record.cheats += u32::from(faulted.fault.is_cheat());
        record.faults += 1;
        record.no_shows += u32::from(faulted.fault.kind == FaultKind::NoShow);
        Ok(())
    }

    /// Ends a tournament. If `winners` is `None`, it counts as not played.
    fn end(
        &mut self,
        tournament: &TournamentId,
        event: &Event,
        winners: Option<&Vec<PlayerName>>,
    ) -> Result<(), ApplyError> {
        self.running(tournament, event.tag())?;
        let ended = self.tournaments.insert(tournament.clone(), None).flatten();
        let Running { game, players, .. } = ended.expect("the tournament was running");
        for player in &players {
            let record = self.record(player, &game);
            match winners {
                Some(winners) => record.tournaments.add_finish(player, winners),
                None => record.tournaments_played -= 1,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ladder is kept while rounds come in order, and computed again when they do not.
    #[test]
    fn a_ladder_is_kept_while_rounds_come_in_order() {
        let empty = Ladder::new(RatingSystem::Glicko2, RatingSettings::default());
        let mut rounds = Rounds { empty, rounds: BTreeMap::new(), ladder: OnceLock::new() };
        let key = |at: Timestamp| (at, TournamentId::from("t"), 1);
        rounds.add(key(Timestamp::from_ms(5)), Vec::new());
        assert!(rounds.ladder.get().is_none(), "nobody asked for one");
        rounds.ladder();
        rounds.add(key(Timestamp::from_ms(6)), Vec::new());
        assert!(rounds.ladder.get().is_some(), "it went on");
        rounds.add(key(Timestamp::from_ms(6)), Vec::new());
        assert!(rounds.ladder.get().is_none(), "the same round, told otherwise");
        rounds.ladder();
        rounds.add(key(Timestamp::from_ms(4)), Vec::new());
        assert!(rounds.ladder.get().is_none(), "one that comes late");
        rounds.ladder();
        rounds.remove(&key(Timestamp::from_ms(7)));
        assert!(rounds.ladder.get().is_some(), "there is none");
        rounds.remove(&key(Timestamp::from_ms(6)));
        assert!(rounds.ladder.get().is_none());
    }
}
