//! The lobby as text, so that a start need not fold all that ever happened in it.
//!
//! A snapshot is never the truth: the log is. One that cannot be read, or is of another version, is
//! passed over, and the lobby is folded from its first event. Who keeps it, and who says up to
//! which event it goes, is the shell.

use super::Lobby;

/// Text that is no snapshot this program can use.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a snapshot of the lobby: {0}")]
pub struct BadSnapshot(String);

impl Lobby {
    /// The version of snapshots this program writes, and the only one it reads. It changes whenever
    /// the lobby's fields do, or what an event does to them: a new program then folds the log.
    pub const SNAPSHOT_VERSION: u32 = 1;

    /// The lobby as text. It holds hashes of passwords and tokens, as the log does.
    pub fn snapshot(&self) -> String {
        serde_json::to_string(self).expect("a lobby is JSON")
    }

    /// About how many things a snapshot holds: what it costs to take one.
    pub fn size(&self) -> usize {
        self.accounts.len() + self.tokens.len() + self.tournaments.len()
    }

    /// The lobby a snapshot was made of.
    pub fn from_snapshot(text: &str) -> Result<Lobby, BadSnapshot> {
        serde_json::from_str(text).map_err(|error| BadSnapshot(error.to_string()))
    }
}
