//! The players of a node, indexed by everything a message may name.

use super::player::Player;
use agon_core::PlayerName;
use agon_wire::erlang::refs::Key;
use agon_wire::erlang::term::Pid;
use std::collections::HashMap;
use std::sync::Arc;

/// The players of a node.
#[derive(Default)]
pub(super) struct Players {
    by_key: HashMap<Key, Arc<Player>>,
    /// The players who are logged in.
    by_user: HashMap<PlayerName, Key>,
    by_pid: HashMap<Pid, Key>,
}

impl Players {
    /// Adds a player who begins to log in.
    pub(super) fn add(&mut self, player: Arc<Player>) {
        self.by_key.insert(player.key, player);
    }

    /// Records that a player is logged in.
    pub(super) fn logged_in(&mut self, player: &Player) {
        self.by_user.insert(player.user.clone(), player.key);
        self.by_pid.insert(player.pid.clone(), player.key);
    }

    /// Removes a player. Another session of the same player may have begun.
    pub(super) fn remove(&mut self, player: &Player) {
        self.by_key.remove(&player.key);
        if self.by_user.get(&player.user) == Some(&player.key) {
            self.by_user.remove(&player.user);
        }
        if self.by_pid.get(&player.pid) == Some(&player.key) {
            self.by_pid.remove(&player.pid);
        }
    }

    pub(super) fn with_key(&self, key: Key) -> Option<Arc<Player>> {
        self.by_key.get(&key).cloned()
    }

    pub(super) fn with_user(&self, user: &PlayerName) -> Option<Arc<Player>> {
        self.by_user.get(user).and_then(|key| self.with_key(*key))
    }

    pub(super) fn with_pid(&self, pid: &Pid) -> Option<Arc<Player>> {
        self.by_pid.get(pid).and_then(|key| self.with_key(*key))
    }

    pub(super) fn all(&self) -> Vec<Arc<Player>> {
        self.by_key.values().cloned().collect()
    }
}
