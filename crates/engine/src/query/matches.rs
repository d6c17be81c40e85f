//! Matches: how one stands, what may be read of its log, and watching.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::super::journal::StreamKey;
use super::super::show::{self, ComingMatch, ShownMatch};
use super::super::watch::{NoWatch, Shown, Topic, WatcherId};
use super::super::{Engine, MatchKey};
use super::Query;
use agon_core::lobby::Standing;
use agon_core::{MatchName, Millis, PlayerName, Secrets, TournamentId};
use agon_games::{Json, Viewer};
use std::sync::Arc;

/// A match as the engine knows it.
pub enum FoundMatch {
    /// There is no such tournament.
    NoTournament,
    /// There is no such match in it.
    Nothing,
    /// It runs or starts in a moment: a [`ShownMatch`] as JSON, as observers see it.
    Running(Arc<str>),
    /// It is over; the log has it.
    Over,
    /// So is the tournament; the log knows whether there was such a match.
    PerhapsOver,
}

/// Asks how a match stands.
pub struct FindMatch(pub MatchKey);

impl Query for FindMatch {
    type Answer = FoundMatch;

    fn streams(&self) -> Vec<StreamKey> {
        let tournament = StreamKey::Tournament(self.0.tournament.clone());
        vec![StreamKey::Lobby, tournament, StreamKey::Match(self.0.clone())]
    }

    fn answer(self, engine: &mut Engine) -> FoundMatch {
        if let Some(visible) = engine.visible_match(&self.0) {
            return FoundMatch::Running(visible);
        }
        let MatchName { tournament, id } = &*self.0;
        match (engine.lobby.tournament(tournament), engine.live_tournament(tournament)) {
            (None, _) => FoundMatch::NoTournament,
            (Some(Standing::Finished(_)), _) => FoundMatch::PerhapsOver,
            (_, None) => FoundMatch::Nothing,
            (_, Some(live)) => {
                let mut planned =
                    live.rounds().iter().flat_map(|r| r.matches.iter().zip(&r.results));
                match planned.find(|(plan, _)| plan.id == *id) {
                    None => FoundMatch::Nothing,
                    Some((_, Some(_))) => FoundMatch::Over,
                    Some((plan, None)) => FoundMatch::Running(show::text(&ShownMatch::Waiting {
                        game: &plan.game,
                        reason: &plan.reason,
                        in_match: ComingMatch { tournament, id, players: &plan.players },
                    })),
                }
            }
        }
    }
}

/// Asks for the public view of a game that is over in a match that runs.
pub struct FindFinishedView {
    pub key: MatchKey,
    pub number: u32,
}

impl Query for FindFinishedView {
    type Answer = Option<Json>;

    fn answer(self, engine: &mut Engine) -> Option<Json> {
        let mut finished = engine.live_match(&self.key)?.finished();
        let (_, game) = finished.find(|(result, _)| result.game == self.number)?;
        Some(game.view(Viewer::Public))
    }
}

/// Asks for the version of what the log has of a tournament's matches that are over. A match can be
/// played again as long as its tournament runs.
pub struct ArchiveVersion(pub TournamentId);

impl Query for ArchiveVersion {
    type Answer = u64;

    fn answer(self, engine: &mut Engine) -> u64 {
        match engine.lobby.tournament(&self.0) {
            Some(Standing::Finished(_)) => 0,
            _ => engine.counted.tournament_records,
        }
    }
}

/// What a reader of a match's log has to know.
pub struct MatchSecrets {
    /// What its games are drawn from, while it runs. For folding its log, and never to be shown.
    pub secrets: Option<Secrets>,
    /// By how much the match is shown late.
    pub held_ms: Millis,
}

/// Asks for the secrets of a match.
pub struct FindSecrets(pub MatchKey);

impl Query for FindSecrets {
    type Answer = MatchSecrets;

    fn answer(self, engine: &mut Engine) -> MatchSecrets {
        let secrets = engine.match_secrets(&self.0);
        MatchSecrets { secrets, held_ms: engine.held_ms(&Topic::Match(self.0)) }
    }
}

/// Asks for the matches that run in which a player was charged with a fault, with their secrets.
pub struct ListFaultyMatches(pub PlayerName);

impl Query for ListFaultyMatches {
    type Answer = Vec<(Option<Secrets>, MatchKey)>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let player = self.0;
        let keys = engine.matches.keys_of(&player);
        let faulty = keys.filter(|key| {
            let faults = engine.live_match(key).map_or(&[][..], |live| live.faults());
            faults.iter().any(|faulted| faulted.player == player)
        });
        faulty.map(|key| (engine.match_secrets(key), key.clone())).collect()
    }
}

/// Begins to watch a tournament or a match that runs.
pub struct StartWatching {
    /// The watcher.
    pub watcher: WatcherId,
    /// What it watches.
    pub topic: Topic,
    /// The mark of the event the watcher has seen last.
    pub seen: Option<u64>,
}

impl Query for StartWatching {
    /// What was held back and comes first.
    type Answer = Result<Vec<Shown>, NoWatch>;

    fn streams(&self) -> Vec<StreamKey> {
        vec![StreamKey::Lobby, self.topic.stream()]
    }

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.watch(self.watcher, self.topic, self.seen)
    }
}
