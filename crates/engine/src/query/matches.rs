//! Matches: the state of one, access to its log, and watching.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::super::cells::watch::{NoWatch, Shown, Topic, WatcherId};
use super::super::journal::StreamKey;
use super::super::show::{self, ComingMatch, LiveScore, ShownMatch, ViewText};
use super::super::{Engine, MatchKey};
use super::Query;
use agon_core::lobby::{Lobby, Standing};
use agon_core::{MatchName, Millis, PlayerName, Secrets, TournamentId};
use agon_games::{Json, Viewer};
use serde::{Deserialize, Serialize};

/// A match as the engine knows it.
#[derive(Serialize, Deserialize)]
pub enum FoundMatch {
    /// There is no such tournament.
    NoTournament,
    /// There is no such match in it.
    Nothing,
    /// It runs or starts in a moment: a [`ShownMatch`] as JSON, as observers see it.
    Running(ViewText),
    /// The match is over; the log has it.
    Over,
    /// The tournament is over; the log knows whether there was such a match.
    PerhapsOver,
}

/// Asks for the state of a match.
#[derive(Clone, Serialize, Deserialize)]
pub struct FindMatch(pub MatchKey);

impl Query for FindMatch {
    type Answer = FoundMatch;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.0.tournament.clone())
    }

    fn streams(&self) -> Vec<StreamKey> {
        let tournament = StreamKey::Tournament(self.0.tournament.clone());
        vec![StreamKey::Lobby, tournament, StreamKey::Match(self.0.clone())]
    }

    fn answer(self, engine: &mut Engine) -> FoundMatch {
        if let Some(visible) = engine.in_cells(|cells, cx| cells.visible_match(cx, &self.0)) {
            return FoundMatch::Running(visible);
        }
        let MatchName { tournament, id } = &*self.0;
        match (engine.lobby.state().tournament(tournament), engine.cells.tournament(tournament)) {
            (None, _) => FoundMatch::NoTournament,
            (Some(Standing::Finished(_)), _) => FoundMatch::PerhapsOver,
            (_, None) => FoundMatch::Nothing,
            (_, Some(live)) => {
                let mut planned =
                    live.rounds().iter().flat_map(|r| r.matches.iter().zip(&r.results));
                match planned.find(|(plan, _)| plan.id == *id) {
                    None => FoundMatch::Nothing,
                    Some((_, Some(_))) => FoundMatch::Over,
                    Some((plan, None)) => {
                        let shown = ShownMatch::Waiting {
                            game: &plan.game,
                            reason: &plan.reason,
                            in_match: ComingMatch { tournament, id, players: &plan.players },
                        };
                        FoundMatch::Running(show::text(&shown).into())
                    }
                }
            }
        }
    }
}

/// Asks for the scores of the running matches of a tournament, in the order of the pairings.
#[derive(Clone, Serialize, Deserialize)]
pub struct ListLiveScores(pub TournamentId);

impl Query for ListLiveScores {
    type Answer = Vec<LiveScore>;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.0.clone())
    }

    fn answer(self, engine: &mut Engine) -> Vec<LiveScore> {
        engine.cells.live_scores(&self.0)
    }
}

/// Asks for the public view of a finished game in a running match.
#[derive(Clone, Serialize, Deserialize)]
pub struct FindFinishedView {
    pub key: MatchKey,
    pub number: u32,
}

impl Query for FindFinishedView {
    type Answer = Option<Json>;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.key.tournament.clone())
    }

    fn answer(self, engine: &mut Engine) -> Option<Json> {
        let mut finished = engine.cells.live_match(&self.key)?.finished();
        let (_, game) = finished.find(|(result, _)| result.game == self.number)?;
        Some(game.view(Viewer::Public))
    }
}

/// Asks for the version of the logs of a tournament's finished matches. A match can be replayed as
/// long as its tournament runs.
#[derive(Clone, Serialize, Deserialize)]
pub struct ArchiveVersion(pub TournamentId);

impl Query for ArchiveVersion {
    type Answer = u64;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.0.clone())
    }

    fn answer(self, engine: &mut Engine) -> u64 {
        match engine.lobby.state().tournament(&self.0) {
            Some(Standing::Finished(_)) => 0,
            _ => engine.cells.counts().tournament_records,
        }
    }
}

/// The data that a reader of a match's log needs.
#[derive(Serialize, Deserialize)]
pub struct MatchSecrets {
    /// The secrets its games are drawn from, while it runs. Use them to fold its log; never show
    /// them.
    pub secrets: Option<Secrets>,
    /// By how much the view of the match is delayed.
    pub held_ms: Millis,
}

/// Asks for the secrets of a match.
#[derive(Clone, Serialize, Deserialize)]
pub struct FindSecrets(pub MatchKey);

impl Query for FindSecrets {
    type Answer = MatchSecrets;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.0.tournament.clone())
    }

    fn answer(self, engine: &mut Engine) -> MatchSecrets {
        let secrets = engine.cells.match_secrets(&self.0);
        MatchSecrets { secrets, held_ms: engine.cells.held_ms(&Topic::Match(self.0)) }
    }
}

/// Asks for the running tournaments of a player.
pub struct ListPlaying(pub PlayerName);

impl Query for ListPlaying {
    type Answer = Vec<TournamentId>;

    fn answer(self, engine: &mut Engine) -> Vec<TournamentId> {
        engine.lobby.state().playing_in(&self.0).cloned().collect()
    }
}

/// Asks for the running matches of a tournament in which a player was charged with a fault, with
/// their secrets.
#[derive(Clone, Serialize, Deserialize)]
pub struct ListFaultyMatches {
    pub player: PlayerName,
    pub tournament: TournamentId,
}

impl Query for ListFaultyMatches {
    type Answer = Vec<(Option<Secrets>, MatchKey)>;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.tournament.clone())
    }

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let ListFaultyMatches { player, tournament } = self;
        let keys = engine.cells.matches_of(&player).filter(|key| key.tournament == tournament);
        let faulty = keys.filter(|key| {
            let faults = engine.cells.live_match(key).map_or(&[][..], |live| live.faults());
            faults.iter().any(|faulted| faulted.player == player)
        });
        faulty.map(|key| (engine.cells.match_secrets(key), key.clone())).collect()
    }
}

/// Starts to watch a running tournament or match.
#[derive(Clone, Serialize, Deserialize)]
pub struct StartWatching {
    /// The watcher.
    pub watcher: WatcherId,
    /// The topic.
    pub topic: Topic,
}

impl Query for StartWatching {
    /// The delayed messages that come first.
    type Answer = Result<Vec<Shown>, NoWatch>;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        self.topic.stream().tournament().cloned()
    }

    fn watcher(&self) -> Option<WatcherId> {
        Some(self.watcher)
    }

    fn streams(&self) -> Vec<StreamKey> {
        vec![StreamKey::Lobby, self.topic.stream()]
    }

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.in_cells(|cells, cx| cells.watch(cx, self.watcher, self.topic))
    }
}
