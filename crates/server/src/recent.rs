//! Where to find the recent past: the latest matches of a player, those in which they were charged
//! with a fault, and finished tournaments. It is a projection of tournaments' streams; the details
//! are read from them.

use crate::engine::names_casual_game;
use agon_core::{Event, Faulted, MatchId, PlayerName, Timestamp, TournamentId};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// How many entries are kept for a player.
pub(crate) const KEPT_MAX: usize = 20;

/// How many finished tournaments are kept.
const PAST_MAX: usize = 1_000;

/// A match that was reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct At {
    pub(crate) tournament: TournamentId,
    pub(crate) id: MatchId,
    pub(crate) at: Timestamp,
}

/// A player who dropped out before or after the rounds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Dropped {
    pub(crate) tournament: TournamentId,
    pub(crate) at: Timestamp,
    pub(crate) faulted: Faulted,
}

/// The entries of a player.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lately {
    pub(crate) played: VecDeque<At>,
    pub(crate) faulty: VecDeque<At>,
    pub(crate) dropped: VecDeque<Dropped>,
}

/// A finished tournament.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(crate) struct PastTournament {
    id: TournamentId,
    game: String,
    /// The kind of its format: `bracket`, `round-robin`, ….
    format: &'static str,
    /// How many players it had.
    players: usize,
    began_at: Timestamp,
    ended_at: Timestamp,
    /// Nobody, where a bye won or nobody was left.
    winners: Vec<PlayerName>,
    /// Why it was not played to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    aborted: Option<String>,
}

/// The recent matches of all players.
#[derive(Default)]
pub(crate) struct Recent {
    /// The tournaments that run; the times and winners of their ends are not known.
    running: BTreeMap<TournamentId, PastTournament>,
    /// The finished tournaments, the latest first.
    past: VecDeque<PastTournament>,
    players: BTreeMap<PlayerName, Lately>,
    /// The latest matches of all players.
    played: VecDeque<At>,
    /// The players of the matches in running tournaments' latest rounds.
    open: BTreeMap<TournamentId, BTreeMap<MatchId, Vec<PlayerName>>>,
}

impl Recent {
    pub(crate) fn of(&self, player: &PlayerName) -> Lately {
        self.players.get(player).cloned().unwrap_or_default()
    }

    /// The latest matches of all players, the latest first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &At> {
        self.played.iter()
    }

    /// The finished tournaments, the latest first.
    pub(crate) fn past(&self) -> impl Iterator<Item = &PastTournament> {
        self.past.iter()
    }

    /// Moves a tournament from those that run to those that are over.
    fn end(
        &mut self,
        id: &TournamentId,
        ended_at: Timestamp,
        winners: &[PlayerName],
        aborted: Option<String>,
    ) {
        self.open.remove(id);
        let Some(tournament) = self.running.remove(id) else { return };
        let winners = winners.to_vec();
        let ended = PastTournament { ended_at, winners, aborted, ..tournament };
        keep(&mut self.past, ended, PAST_MAX);
    }

    /// Applies an event of the stream of `tournament`.
    pub(crate) fn apply(&mut self, tournament: &TournamentId, at: Timestamp, event: &Event) {
        match event {
            // There are many casual games, and nobody looks for them among past tournaments.
            Event::TournamentCreated(created) if !names_casual_game(tournament) => {
                let plan = &created.plan;
                let begun = PastTournament {
                    id: tournament.clone(),
                    game: plan.game.clone(),
                    format: plan.policy.format.name(),
                    players: plan.players.len(),
                    began_at: at,
                    ended_at: at,
                    winners: Vec::new(),
                    aborted: None,
                };
                self.running.insert(tournament.clone(), begun);
            }
            Event::RoundPaired(paired) => {
                let players = paired.matches.iter().map(|m| (m.id.clone(), m.players.clone()));
                self.open.insert(tournament.clone(), players.collect());
            }
            Event::MatchReported(reported) => {
                let open = self.open.get(tournament).and_then(|open| open.get(&reported.id));
                let place = At { tournament: tournament.clone(), id: reported.id.clone(), at };
                keep_match(&mut self.played, &place);
                for player in open.into_iter().flatten() {
                    let faults = &reported.result.faults;
                    let faulty = faults.iter().any(|faulted| faulted.player == *player);
                    let lately = self.players.entry(player.clone()).or_default();
                    keep_match(&mut lately.played, &place);
                    if faulty {
                        keep_match(&mut lately.faulty, &place);
                    }
                }
            }
            Event::PlayerDropped(dropped) => {
                let faulted = dropped.faulted.clone();
                let lately = self.players.entry(faulted.player.clone()).or_default();
                let dropped = Dropped { tournament: tournament.clone(), at, faulted };
                keep(&mut lately.dropped, dropped, KEPT_MAX);
            }
            Event::TournamentEnded(ended) => self.end(tournament, at, &ended.winners, None),
            Event::TournamentAborted(aborted) => {
                self.end(tournament, at, &[], Some(aborted.reason.clone()));
            }
            _ => {}
        }
    }
}

/// Adds a match; one that was replayed is kept once.
fn keep_match(list: &mut VecDeque<At>, place: &At) {
    list.retain(|kept| (&kept.tournament, &kept.id) != (&place.tournament, &place.id));
    keep(list, place.clone(), KEPT_MAX);
}

/// Adds an entry, with the latest first. Streams are read one after the other, so entries come in
/// any order.
fn keep<T: Dated>(list: &mut VecDeque<T>, entry: T, most: usize) {
    let place = list.partition_point(|kept| kept.at() > entry.at());
    list.insert(place, entry);
    list.truncate(most);
}

trait Dated {
    fn at(&self) -> Timestamp;
}

impl Dated for At {
    fn at(&self) -> Timestamp {
        self.at
    }
}

impl Dated for PastTournament {
    fn at(&self) -> Timestamp {
        self.ended_at
    }
}

impl Dated for Dropped {
    fn at(&self) -> Timestamp {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u32, at: Timestamp) -> At {
        At { tournament: TournamentId::from("cup"), id: MatchId::of(1, number), at }
    }

    #[test]
    fn the_latest_are_kept_in_order_and_each_once() {
        let mut list = VecDeque::new();
        for at in [5, 1, 9, 3, 7] {
            keep_match(&mut list, &place(at as u32, Timestamp::from_ms(at)));
        }
        keep_match(&mut list, &place(3, Timestamp::from_ms(8)));
        assert_eq!(list.iter().map(|kept| kept.at.as_ms()).collect::<Vec<_>>(), [9, 8, 7, 5, 1]);
        (10..100).for_each(|at| keep_match(&mut list, &place(at as u32, Timestamp::from_ms(at))));
        assert_eq!((list.len(), list[0].at.as_ms()), (KEPT_MAX, 99));
    }
}
