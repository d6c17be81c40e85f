//! People whose connection was lost. A page that is loaded again, or a phone that changes networks,
//! comes back within seconds, and nothing happened: a match hears of a lost connection only when
//! its player stays away. The clocks of open requests run on meanwhile.
//!
//! Programs are missed at once: they need no second to come back, and what a crash costs them is
//! the policy's business.

use super::{Engine, Timer};
use agon_core::lobby::AccountKind;
use agon_core::{Command, Fault, Millis, PlayerName};

/// For how long a person may be without a connection before its matches miss it.
const AWAY_MS: Millis = 15_000;

impl Engine {
    /// An account's connection was lost.
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

    /// Whether somebody who is not here when everybody should be back has its own time to be: a
    /// person that was lost since. Then it is missed when that is over.
    pub(super) fn has_own_time(&mut self, account: &PlayerName) -> bool {
        let known = self.lobby.account(account);
        let person = known.is_some_and(|known| known.kind == AccountKind::Person);
        let since = self.sessions.gone_since(account).filter(|_| person);
        let until = since.map(|since| since + self.away_ms());
        let own = until.filter(|until| *until > self.now_ms());
        own.into_iter().for_each(|until| self.timers.set(until, Timer::Away(account.clone())));
        own.is_some()
    }

    /// The matches that have seen a player miss it. Those that have yet to see it wait for it, and
    /// after a pause everybody has its time again.
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

    /// Its time is over, unless it came back, or was lost again later.
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

    /// No longer than anybody may be gone.
    fn away_ms(&self) -> Millis {
        AWAY_MS.min(self.settings.reconnect_ms.saturating_sub(1))
    }
}
