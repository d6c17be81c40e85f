//! People who lost their connection. A page that is reloaded, or a phone that changes networks,
//! reconnects within seconds, and that costs nothing. The engine reports the lost connection to the
//! player's matches only when they stay away. The clocks of open requests run on meanwhile.
//!
//! Programs are charged as absent at once: they need no time to reconnect, and the policy decides
//! what a crash costs them.

use super::{Engine, Timer};
use agon_core::lobby::AccountKind;
use agon_core::{Command, Fault, Millis, PlayerName};

/// How long a person may be without a connection before they are charged as absent.
const AWAY_MS: Millis = 15_000;

impl Engine {
    /// Handles the lost connection of an account: charges a program at once, and a person after a
    /// while.
    pub(super) fn lose(&mut self, account: &PlayerName) {
        let known = self.lobby.account(account);
        match known.is_some_and(|known| known.kind == AccountKind::Person) && self.away_ms() > 0 {
            true => {
                let at = self.now_ms() + self.away_ms();
                self.timers.set(at, Timer::Away(account.clone()));
            }
            false => self.miss(account),
        }
    }

    /// Whether an absent player still has a personal reconnect deadline: a person who lost their
    /// connection a moment ago. Their own timer charges them then.
    pub(super) fn has_own_time(&mut self, account: &PlayerName) -> bool {
        let known = self.lobby.account(account);
        let person = known.is_some_and(|known| known.kind == AccountKind::Person);
        let since = self.sessions.gone_since(account).filter(|_| person);
        let until = since.map(|since| since + self.away_ms());
        let own = until.filter(|until| *until > self.now_ms());
        own.into_iter().for_each(|until| self.timers.set(until, Timer::Away(account.clone())));
        own.is_some()
    }

    /// Charges an absent player in the matches that they had joined. Matches that they have not
    /// joined yet wait for them. After a pause everybody has the full reconnect time again.
    pub(super) fn miss_where_here(&mut self, player: &PlayerName, fault: &Fault) {
        let now = self.now_ms();
        let keys = self.matches.keys_of(player);
        let here = keys.filter(|key| self.live_match(key).is_some_and(|one| one.is_here(player)));
        let due = here.filter(|key| {
            let live = self.tournaments.get(&key.tournament);
            live.is_none_or(|live| live.machine.resumed().is_none() || live.miss_by <= now)
        });
        for key in due.cloned().collect::<Vec<_>>() {
            let (player, fault) = (player.clone(), fault.clone());
            let _ = self.step_match(&key, Command::Leave { player, fault });
        }
    }

    /// Charges a person as absent, unless they reconnected or lost a later connection since.
    pub(super) fn miss_if_away(&mut self, account: &PlayerName) {
        let since = self.sessions.gone_since(account);
        let due = since.is_some_and(|since| since + self.away_ms() <= self.now_ms());
        if due && self.conn_of(account).is_none() {
            self.miss(account);
        }
    }

    pub(super) fn miss(&mut self, account: &PlayerName) {
        self.player_is_gone(account, &Fault::disconnected("the connection was lost"));
    }

    /// The time a person may be away; always shorter than the reconnect time.
    fn away_ms(&self) -> Millis {
        AWAY_MS.min(self.settings.reconnect_ms.saturating_sub(1))
    }
}
