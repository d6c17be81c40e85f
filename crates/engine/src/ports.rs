//! The engine's data sources: the log, the list of house players, and randomness.
//!
//! The caller passes all of them when it opens the engine. Every change goes out as an effect.

use super::MatchKey;
use agon_core::{PlayerName, RecoveredMatch, Secret, Secrets};
use agon_games::Registry;
use std::collections::HashMap;

/// Why a stream could not be read.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// The state of the lobby after its first `seq` events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LobbySnapshot {
    /// The version of the state's format.
    pub format: u32,
    /// After how many events.
    pub seq: u64,
    /// The state.
    pub state: String,
}

/// Read access to the log.
pub trait StreamReader: Send {
    /// The lines of a stream after the first `after`; none if there is no such stream.
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, ReadError>;

    /// The lines of several whole streams, in the order of their names here.
    fn load_together(&self, streams: &[String]) -> Result<Vec<Vec<String>>, ReadError> {
        streams.iter().map(|stream| self.load(stream, 0)).collect()
    }

    /// The line that was written last, if it is known.
    fn latest(&self) -> Option<String>;

    /// Folds matches ahead of time, on all cores. The engine folds the others when it resumes them.
    fn fold_matches(
        &self,
        _open: Vec<(MatchKey, Secrets)>,
        _games: &Registry,
    ) -> HashMap<MatchKey, RecoveredMatch> {
        HashMap::new()
    }

    /// The latest snapshot of the lobby, if there is one.
    fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError>;
}

/// The house players.
pub trait HousePlayers: Send {
    /// The house player that plays under a name; `None` if none does. On a server the name itself
    /// says so; a host may give its house players other names.
    fn house_of<'a>(&'a self, player: &'a PlayerName) -> Option<&'a str> {
        player.house()
    }

    /// The names of those that play a game.
    fn names(&self, game: &str) -> Vec<String>;

    /// Checks that a game has such a player; the error says why not.
    fn check(&self, game: &str, name: &str) -> Result<(), String>;

    /// The configuration that a house player proposes for a tournament, as JSON.
    fn proposal(&self, game: &str, name: &str) -> Option<String>;
}

/// Secrets derived from a key: the same key gives the same secrets.
pub(crate) struct Entropy {
    key: Secret,
    count: u32,
}

impl Entropy {
    pub(crate) fn new(key: [u8; 32]) -> Entropy {
        Entropy { key: Secret::from_bytes(key), count: 0 }
    }

    /// A secret that was not used before.
    pub(crate) fn secret(&mut self) -> Secret {
        self.count = self.count.checked_add(1).expect("fewer secrets than numbers");
        self.key.of_game(self.count)
    }

    /// A new token: 256 bits in hexadecimal.
    pub(crate) fn token(&mut self) -> String {
        self.secret().hex()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_give_equal_secrets_and_no_secret_twice() {
        let (mut one, mut same) = (Entropy::new([7; 32]), Entropy::new([7; 32]));
        let tokens = [one.token(), one.token()];
        assert_eq!(tokens, [same.token(), same.token()]);
        assert!(tokens[0] != tokens[1] && tokens[0].len() == 64);
        assert_ne!(Entropy::new([8; 32]).token(), tokens[0]);
    }
}
