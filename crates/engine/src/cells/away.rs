//! Players who are absent: when their matches are told, and when they are charged.
//!
//! A person whose page is reloaded, or whose phone changes networks, reconnects within seconds, and
//! that costs nothing. The seat side reports the lost connection only when they stay away. The
//! clocks of open requests run on meanwhile. Programs are charged as absent at once: they need no
//! time to reconnect, and the policy decides what a crash costs them.

use super::Cells;
use crate::services::Context;
use crate::timers::Timer;
use agon_core::{Fault, MatchCommand, PlayerName};

impl Cells {
    /// Returns whether an absent player still has a personal reconnect deadline: a person who lost
    /// their connection a moment ago. Their own timer charges them then.
    pub(super) fn has_own_time(&self, cx: &mut Context<'_>, account: &PlayerName) -> bool {
        let person = cx.accounts.is_person(account);
        let since = cx.present.gone_since(account).filter(|_| person);
        let until = since.map(|since| since + cx.away_ms());
        let own = until.filter(|until| *until > cx.time.now);
        own.into_iter().for_each(|until| cx.timers.set(until, Timer::Away(account.clone())));
        own.is_some()
    }

    /// Charges an absent player in the matches that they had joined. Matches that they have not
    /// joined yet wait for them. After a pause everybody has the full reconnect time again.
    pub(super) fn miss_where_here(
        &mut self,
        cx: &mut Context<'_>,
        player: &PlayerName,
        fault: &Fault,
    ) {
        let now = cx.time.now;
        let keys = self.matches.keys_of(player);
        let here = keys.filter(|key| self.live_match(key).is_some_and(|one| one.is_here(player)));
        let due = here.filter(|key| {
            let live = self.tournaments.get(&key.tournament);
            live.is_none_or(|live| live.machine.resumed().is_none() || live.miss_by <= now)
        });
        for key in due.cloned().collect::<Vec<_>>() {
            let (player, fault) = (player.clone(), fault.clone());
            let _ = self.step_match(cx, &key, MatchCommand::Leave { player, fault });
        }
    }
}
