//! Which players count as absent when a tournament is drawn.
//!
//! The lobby is pure and does not know connections, so the engine tells it who is absent, and the
//! log records whom the draw passed over. A player who lost the connection is absent at once and
//! keeps the place.
//!
//! Right after a restart nobody is connected yet. A player who was in line then is *expected* until
//! `reconnect_ms` is over. A draw takes expected players only if connected players do not fill the
//! tournament, so that a tournament asked for in that moment is not held with nobody.

use super::LobbyCell;
use crate::services::Services;
use agon_core::PlayerName;
use agon_core::lobby::{QueueName, Selection};
use std::collections::BTreeSet;

/// A player's presence, which decides whether they can be drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Connected,
    /// In line, and the connection was not lost while this server ran: the player's login is on its
    /// way to the log, or the server was started a moment ago.
    Expected,
    Absent,
}

impl LobbyCell {
    fn presence(&self, services: &Services, player: &PlayerName) -> Presence {
        let present = &services.present;
        if present.conn_of(player).is_some() {
            Presence::Connected
        } else if present.gone_since(player).is_some() || !self.machine.line().contains(player) {
            Presence::Absent
        } else {
            Presence::Expected
        }
    }

    /// How many different connected players wait in a queue and may play.
    pub(crate) fn ready_in(&self, services: &Services, queue: &QueueName) -> usize {
        let may_play = |player: &&PlayerName| {
            self.machine.account(player).is_some_and(|account| account.blacklisted.is_none())
                && self.presence(services, player) == Presence::Connected
        };
        self.machine.queue(queue).iter().filter(may_play).collect::<BTreeSet<_>>().len()
    }

    /// The players a selection must pass over.
    pub(super) fn absent_from(
        &self,
        services: &Services,
        selection: &Selection,
    ) -> BTreeSet<PlayerName> {
        let (waiting, at_most) = match selection {
            Selection::Line { at_most }
            | Selection::Age { at_most }
            | Selection::Random { at_most } => (self.machine.line(), *at_most),
            Selection::Draw(draw) => (self.machine.line(), draw.at_most),
            Selection::Queue { queue, at_most } => (self.machine.queue(queue), *at_most),
            Selection::Named { .. } | Selection::SignUp(_) | Selection::Invitation(_) => {
                return BTreeSet::new();
            }
        };
        let of = |presence: Presence| {
            let found =
                waiting.iter().filter(move |player| self.presence(services, player) == presence);
            found.cloned().collect::<BTreeSet<PlayerName>>()
        };
        let may_play = |player: &&PlayerName| {
            self.machine.account(player).is_some_and(|account| account.blacklisted.is_none())
        };
        let mut absent = of(Presence::Absent);
        if of(Presence::Connected).iter().filter(may_play).count() >= at_most as usize {
            absent.extend(of(Presence::Expected));
        }
        absent
    }
}
