//! Observers on the Fish port, and the game each of them is shown.
//!
//! The protocol cannot say which game a message is about, so an observer is shown one game at a
//! time. When that game is over, the observer is shown another one of the same tournament.

use super::Cells;
use crate::seats::is_of_series;
use crate::services::Context;
use crate::{ConnId, Effect, MatchKey};
use agon_core::{Millis, TournamentId};
use agon_games::Viewer;
use agon_wire::fish::observer::Follow;
use agon_wire::peer::PeerMessage;
use std::collections::BTreeMap;

/// How many observers may watch at once.
pub(crate) const OBSERVERS_MAX: usize = 100;

/// All observers by connection, in an order that is the same in every run.
#[derive(Default)]
pub(super) struct PeerObservers(BTreeMap<ConnId, PeerObserver>);

impl PeerObservers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Has the observers of a tournament wait for the next one.
    pub(super) fn forget_tournament(&mut self, id: &TournamentId) {
        for observer in self.0.values_mut().filter(|one| one.tournament.as_ref() == Some(id)) {
            (observer.tournament, observer.shown) = (None, None);
        }
    }

    fn that(&self, is: impl Fn(&PeerObserver) -> bool) -> Vec<ConnId> {
        let those = self.0.iter().filter(|(_, observer)| is(observer));
        those.map(|(conn, _)| *conn).collect()
    }
}

/// One observer, and the game they are shown.
struct PeerObserver {
    follow: Follow,
    /// The tournaments they watch.
    series: TournamentId,
    /// The tournament whose start was sent to them.
    tournament: Option<TournamentId>,
    /// The match they are shown.
    shown: Option<MatchKey>,
}

impl PeerObserver {
    fn wants(&self, id: &TournamentId) -> bool {
        is_of_series(id, &self.series)
    }
}

impl Cells {
    /// Adds an observer of the tournaments of a series; returns whether there was room.
    pub(crate) fn observe_series(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        follow: Follow,
        series: TournamentId,
    ) -> bool {
        let accepted = self.observers.0.len() < OBSERVERS_MAX;
        tell_observer(cx, conn, PeerMessage::SignedUp { next: accepted }, 0);
        if !accepted {
            return false;
        }
        let observer = PeerObserver { follow, series, tournament: None, shown: None };
        let mut running: Vec<&TournamentId> = self.tournaments.keys().collect();
        running.sort();
        let first = running.into_iter().find(|id| observer.wants(id)).cloned();
        self.observers.0.insert(conn, observer);
        if let Some(id) = first {
            self.begin_for_observer(cx, conn, &id);
            self.show_some_match(cx, conn, None);
        }
        true
    }

    /// Forgets the observer behind a connection, if there is one.
    pub(crate) fn forget_observer(&mut self, conn: ConnId) {
        self.observers.0.remove(&conn);
    }

    /// Sends observers the start of a tournament of their series.
    pub(super) fn begin_for_observers(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let idle = |one: &PeerObserver| one.tournament.is_none() && one.wants(id);
        for conn in self.observers.that(idle) {
            self.begin_for_observer(cx, conn, id);
        }
    }

    fn begin_for_observer(&mut self, cx: &mut Context<'_>, conn: ConnId, id: &TournamentId) {
        if let Some(observer) = self.observers.0.get_mut(&conn) {
            observer.tournament = Some(id.clone());
        }
        let delay_ms = self.observer_delay_ms(cx, id);
        tell_observer(cx, conn, PeerMessage::Begin { proposes: false }, delay_ms);
    }

    /// Shows a change of a match to the observers who watch it and to those who watch nothing.
    pub(super) fn show_observers(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        all: &[PeerMessage],
    ) {
        let Some(live) = self.live_match(key) else { return };
        let (over, plan) = (live.result().is_some(), live.plan());
        let delay_ms = self.observer_delay_ms(cx, &key.tournament);
        let takes = |one: &PeerObserver| match &one.shown {
            Some(shown) => shown == key,
            None => !over && follows(one, key, &plan.players),
        };
        for conn in self.observers.that(takes) {
            if let Some(observer) = self.observers.0.get_mut(&conn) {
                observer.shown = (!over).then(|| key.clone());
            }
            all.iter().for_each(|message| tell_observer(cx, conn, message.clone(), delay_ms));
            if over {
                self.show_some_match(cx, conn, Some(key));
            }
        }
    }

    /// Shows an observer the present state of another match of their tournament.
    fn show_some_match(&mut self, cx: &mut Context<'_>, conn: ConnId, but: Option<&MatchKey>) {
        let Some(observer) = self.observers.0.get(&conn) else { return };
        let open = self.matches.iter().filter(|(key, live)| {
            let players = &live.played.plan().players;
            Some(*key) != but && live.played.result().is_none() && follows(observer, key, players)
        });
        let Some(key) = open.map(|(key, _)| key.clone()).min() else { return };
        let Some(referee) = self.live_match(&key).and_then(|played| played.referee()) else {
            return;
        };
        let (mut view, seats) = (Vec::new(), referee.seats().into());
        referee.game().write_view(Viewer::Public, &mut view);
        let delay_ms = self.observer_delay_ms(cx, &key.tournament);
        if let Some(observer) = self.observers.0.get_mut(&conn) {
            observer.shown = Some(key);
        }
        tell_observer(cx, conn, PeerMessage::View { view, seats }, delay_ms);
    }

    /// Sends observers the end of a tournament, and the start of the next one if it runs already.
    pub(super) fn end_for_observers(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let delay_ms = self.observer_delay_ms(cx, id);
        for conn in self.observers.that(|one| one.tournament.as_ref() == Some(id)) {
            tell_observer(cx, conn, PeerMessage::End { won: false }, delay_ms);
            let Some(observer) = self.observers.0.get_mut(&conn) else { continue };
            (observer.tournament, observer.shown) = (None, None);
            let others = self.tournaments.keys().filter(|other| *other != id);
            let next = others.filter(|other| self.observers.0[&conn].wants(other)).min();
            if let Some(next) = next.cloned() {
                self.begin_for_observer(cx, conn, &next);
                self.show_some_match(cx, conn, None);
            }
        }
    }
}

/// Sends an observer a message. The driver closes a connection that does not read.
fn tell_observer(cx: &mut Context<'_>, conn: ConnId, message: PeerMessage, delay_ms: Millis) {
    let due = cx.time.now.saturating_add(delay_ms);
    cx.effects.push(Effect::Observe { conn, message: Box::new(message), due });
}

fn follows(observer: &PeerObserver, key: &MatchKey, players: &[agon_core::PlayerName]) -> bool {
    let among = match &observer.follow {
        Follow::Any => true,
        Follow::Player(name) => players.contains(name),
    };
    observer.tournament.as_ref() == Some(&key.tournament) && among
}
