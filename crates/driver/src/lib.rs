//! The parts that all drivers of the engine share: the log and the house players as the engine's
//! data sources, and what a driver does with them in the same way everywhere.
//!
//! The server, the host of a run and the simulator each have a driver of their own, with their own
//! sockets, threads and clocks.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use agon_bots::{HousePlayer, Houses};
use agon_core::lobby::Lobby;
use agon_core::{MatchFold, RecoveredMatch, Secrets};
use agon_engine::{
    HousePlayers, HouseQuestion, Input, LobbySnapshot, MatchKey, ReadError, StreamKey, StreamReader,
};
use agon_games::{GameState, Registry};
use agon_store::{Log, Snapshot, fold_together};
use std::collections::HashMap;
use std::sync::Arc;

/// Read access to a log.
pub struct LogReader(pub Arc<dyn Log>);

impl StreamReader for LogReader {
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, ReadError> {
        Ok(self.0.load(stream, after)?)
    }

    fn load_together(&self, streams: &[String]) -> Result<Vec<Vec<String>>, ReadError> {
        let streams: Vec<&str> = streams.iter().map(String::as_str).collect();
        Ok(self.0.load_together(&streams)?)
    }

    fn latest(&self) -> Option<String> {
        // An error here is reported when the stream is folded.
        self.0.latest().ok().flatten()
    }

    fn fold_matches(
        &self,
        open: Vec<(MatchKey, Secrets)>,
        games: &Registry,
    ) -> HashMap<MatchKey, RecoveredMatch> {
        let names: Vec<String> =
            open.iter().map(|(key, _)| StreamKey::Match(key.clone()).name()).collect();
        let streams: Vec<&str> = names.iter().map(String::as_str).collect();
        let begin = |at: usize| MatchFold::new(streams[at], open[at].1.clone());
        let add = |fold: &mut MatchFold, line: &str| fold.add(line, games).is_ok();
        // The start loads the matches that are missing here, and reports what is wrong with them.
        let folded = fold_together(&*self.0, &streams, begin, add, MatchFold::finish).into_iter();
        folded.map(|(at, recovered)| (open[at].0.clone(), recovered)).collect()
    }

    fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError> {
        let found = self.0.snapshot(&StreamKey::Lobby.name())?;
        Ok(found.map(|Snapshot { format, seq, state, .. }| LobbySnapshot { format, seq, state }))
    }
}

/// A snapshot of the lobby after its first `seq` events, for a log.
pub fn snapshot_of(lobby: &Lobby, seq: u64) -> Snapshot {
    let (stream, format) = (StreamKey::Lobby.name(), Lobby::SNAPSHOT_VERSION);
    Snapshot { stream, format, seq, state: lobby.snapshot() }
}

/// The house players of a server.
pub struct HouseList(pub Arc<Houses>);

impl HousePlayers for HouseList {
    fn names(&self, game: &str) -> Vec<String> {
        self.0.list(game).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn check(&self, game: &str, name: &str) -> Result<(), String> {
        self.0.make(game, name).map(drop).map_err(|error| error.to_string())
    }

    fn proposal(&self, game: &str, name: &str) -> Option<String> {
        Some(self.0.make(game, name).ok()?.propose()?.get().to_owned())
    }
}

/// Has a house player answer a question about a game. The caller limits its time.
pub fn house_answer(
    house: &mut dyn HousePlayer,
    question: HouseQuestion,
    game: &dyn GameState,
) -> Input {
    let HouseQuestion { key, player, request, seat, .. } = question;
    let answer = house.answer(player.as_str(), request.as_str(), seat, game).get().to_owned();
    Input::House { key, player, request, answer }
}
