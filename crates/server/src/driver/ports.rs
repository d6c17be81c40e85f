//! The engine's data sources, over the log and the list of house players.

use crate::engine::{
    HousePlayers, LobbySnapshot, MatchKey, ReadError, StreamKey, StreamReader, read_match,
};
use agon_bots::Houses;
use agon_core::{RecoveredMatch, Secrets};
use agon_games::Registry;
use agon_store::Log;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Read access to the log.
pub(super) struct LogReader(pub(super) Arc<dyn Log>);

impl StreamReader for LogReader {
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, ReadError> {
        Ok(self.0.load(stream, after)?)
    }

    fn latest(&self) -> Option<String> {
        // An error here is reported when the stream is folded.
        self.0.latest().ok().flatten()
    }

    fn reads_ahead(&self) -> bool {
        matches!(self.0.another_reader(), Ok(Some(_)))
    }

    fn fold_matches(
        &self,
        open: Vec<(MatchKey, Secrets)>,
        games: &Registry,
    ) -> HashMap<MatchKey, RecoveredMatch> {
        let mut readers = Vec::new();
        for _ in 0..std::thread::available_parallelism().map_or(1, |cores| cores.get()) {
            readers.extend(self.0.another_reader().ok().flatten());
        }
        let (open, folded) = (Mutex::new(open.into_iter()), Mutex::new(HashMap::new()));
        let next = || open.lock().expect("no thread panics").next();
        let fold = |reader: LogReader| {
            while let Some((key, secrets)) = next() {
                if let Ok(Some(recovered)) = read_match(&reader, &key, games, secrets) {
                    folded.lock().expect("no thread panics").insert(key, recovered);
                }
            }
        };
        std::thread::scope(|scope| {
            for log in readers {
                scope.spawn(|| fold(LogReader(Arc::from(log))));
            }
        });
        folded.into_inner().expect("no thread panics")
    }

    fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError> {
        let found = self.0.snapshot(&StreamKey::Lobby.name())?;
        Ok(found.map(|found| LobbySnapshot {
            format: found.format,
            seq: found.seq,
            state: found.state,
        }))
    }
}

/// The house players of a server.
pub(super) struct HouseList(pub(super) Arc<Houses>);

impl HousePlayers for HouseList {
    fn names(&self, game: &str) -> Vec<String> {
        self.0.list(game).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn check(&self, game: &str, name: &str) -> Result<(), String> {
        self.0.make(game, name).map(|_| ()).map_err(|error| error.to_string())
    }

    fn proposal(&self, game: &str, name: &str) -> Option<String> {
        let mut house = self.0.make(game, name).ok()?;
        Some(house.propose()?.get().to_owned())
    }
}
