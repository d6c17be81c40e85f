//! The engine's data sources in a run: the folder's log, and the house players by their names.
//!
//! A folder has no lobby and no stream of secrets. The engine needs both, so they come from memory:
//! a lobby in which the one tournament has started, and the secret that the run was given.

use agon_core::{
    Event, PlayerName, Secret, SecretKept, StreamEnd, Timestamp, TournamentPlan, TournamentStarted,
};
use agon_driver::HouseList;
use agon_engine::{HousePlayers, LobbySnapshot, ReadError, StreamKey, StreamReader};
use agon_store::{FileLog, Log};
use std::collections::HashMap;
use std::sync::Arc;

/// Read access to the log of a run.
pub(crate) struct FolderReader {
    log: Arc<FileLog>,
    /// The streams that the folder does not have.
    memory: HashMap<String, Vec<String>>,
}

impl FolderReader {
    pub(crate) fn new(log: Arc<FileLog>, plan: &TournamentPlan, secret: Secret) -> FolderReader {
        let kept = SecretKept { tournament: plan.id.clone(), secret };
        let started = TournamentStarted { plan: plan.clone() };
        let streams: [(StreamKey, Event); 2] =
            [(StreamKey::Secret(plan.id.clone()), kept.into()), (StreamKey::Lobby, started.into())];
        let lines = streams.map(|(stream, event)| {
            // No time of its own: only the folder says how late it is.
            let at: Timestamp = Timestamp::default();
            (stream.name(), StreamEnd::unchained(stream.name(), 0).record(at, &[event]))
        });
        FolderReader { log, memory: lines.into_iter().collect() }
    }
}

impl StreamReader for FolderReader {
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, ReadError> {
        match self.memory.get(stream) {
            Some(lines) => Ok(lines.iter().skip(after as usize).cloned().collect()),
            None => Ok(self.log.load(stream, after)?),
        }
    }

    fn latest(&self) -> Option<String> {
        None
    }

    fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError> {
        Ok(None)
    }
}

/// The house players of a run, by the names they have in it.
pub(crate) struct HouseNames {
    pub(crate) names: HashMap<PlayerName, String>,
    pub(crate) list: HouseList,
}

impl HousePlayers for HouseNames {
    fn house_of<'a>(&'a self, player: &'a PlayerName) -> Option<&'a str> {
        self.names.get(player).map(String::as_str)
    }

    fn names(&self, _game: &str) -> Vec<String> {
        // A run has no accounts, and so none for house players either.
        Vec::new()
    }

    fn check(&self, game: &str, name: &str) -> Result<(), String> {
        self.list.check(game, name)
    }

    fn proposal(&self, game: &str, name: &str) -> Option<String> {
        self.list.proposal(game, name)
    }
}
