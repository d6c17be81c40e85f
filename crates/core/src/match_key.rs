//! The key of a match. Keys are hashed and compared several times for every decision, so each is
//! made once, with its hash, and shared.

use crate::ids::{MatchId, TournamentId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A match of a tournament.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "(TournamentId, MatchId)", into = "(TournamentId, MatchId)")]
pub struct MatchKey {
    shared: Arc<Shared>,
}

struct Shared {
    name: MatchName,
    hash: u64,
}

/// The match and its tournament.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchName {
    /// The tournament.
    pub tournament: TournamentId,
    /// The match in it.
    pub id: MatchId,
}

impl MatchKey {
    /// The key of a match.
    pub fn new(tournament: TournamentId, id: MatchId) -> MatchKey {
        let name = MatchName { tournament, id };
        let hash = rustc_hash::FxBuildHasher.hash_one(&name);
        MatchKey { shared: Arc::new(Shared { name, hash }) }
    }
}

impl From<(TournamentId, MatchId)> for MatchKey {
    fn from((tournament, id): (TournamentId, MatchId)) -> MatchKey {
        MatchKey::new(tournament, id)
    }
}

impl From<MatchKey> for (TournamentId, MatchId) {
    fn from(key: MatchKey) -> (TournamentId, MatchId) {
        (key.tournament.clone(), key.id.clone())
    }
}

impl Deref for MatchKey {
    type Target = MatchName;

    fn deref(&self) -> &MatchName {
        &self.shared.name
    }
}

impl PartialEq for MatchKey {
    fn eq(&self, other: &MatchKey) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
            || (self.shared.hash == other.shared.hash && self.shared.name == other.shared.name)
    }
}

impl Eq for MatchKey {}

impl PartialOrd for MatchKey {
    fn partial_cmp(&self, other: &MatchKey) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MatchKey {
    fn cmp(&self, other: &MatchKey) -> std::cmp::Ordering {
        self.shared.name.cmp(&other.shared.name)
    }
}

impl Hash for MatchKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.shared.hash);
    }
}

impl fmt::Debug for MatchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tournament, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_equal_if_they_name_the_same_match() {
        let key = |t: &str, m: &str| MatchKey::new(TournamentId::from(t), MatchId::from(m));
        let hash = |key: &MatchKey| rustc_hash::FxBuildHasher.hash_one(key);
        let (one, same) = (key("cup", "r1m1"), key("cup", "r1m1"));
        assert!(one == same && one == one.clone() && hash(&one) == hash(&same));
        for other in [key("cup", "r1m2"), key("cu", "pr1m1"), key("cap", "r1m1")] {
            assert!(one != other && hash(&one) != hash(&other), "{other:?}");
        }
        assert!(key("a", "z") < key("b", "a"));
    }
}
