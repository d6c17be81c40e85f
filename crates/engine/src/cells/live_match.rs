//! Running matches: their machines, their requests with their clocks, and their players.

use super::programs::Listeners;
use crate::names::PlayerMap;
use crate::port::ToSeat;
use crate::services::Services;
use crate::{AskId, ConnId, MatchKey};
use agon_core::{
    Match, Millis, Pending, PlayerName, RequestClock, RequestId, Timestamp, TournamentId,
};
use agon_wire::request::RequestWriter;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A running match.
pub(super) struct LiveMatch {
    pub(super) played: Match,
    /// Requests that were sent to a connection or a house player.
    pub(super) sent: Vec<Sent>,
    /// The clocks of requests to send again, because their player changed the connection.
    pub(super) recalled: Vec<(RequestId, RequestClock)>,
    /// When its timer fires next.
    pub(super) timer: Option<Timestamp>,
    /// Until when no wait expires: time the server was down is charged to nobody.
    pub(super) held_until: Timestamp,
    /// Writes its requests.
    pub(super) requests: RequestWriter,
    /// The connection on which each player was shown the history of the match.
    pub(super) shown: Vec<(PlayerName, ConnId)>,
    /// The players who are shown every change.
    pub(super) listeners: Listeners,
    /// True if a deadline may have changed for a reason other than the game's progress.
    pub(super) stirred: bool,
    /// When the first answer that leads to the next requests was read.
    pub(super) answered_at: Option<Timestamp>,
    /// Since when the match is paused: no clock runs in a pause.
    pub(super) rests_since: Option<Timestamp>,
}

/// A request that was sent.
pub(super) struct Sent {
    pub(super) id: RequestId,
    pub(super) player: PlayerName,
    /// The connection it was sent to, and the cell's own clock; house players have neither.
    pub(super) to: Option<(ConnId, RequestClock)>,
}

impl LiveMatch {
    pub(super) fn new(played: Match, held_until: Timestamp) -> LiveMatch {
        LiveMatch {
            played,
            sent: Vec::new(),
            recalled: Vec::new(),
            timer: None,
            held_until,
            requests: RequestWriter::default(),
            shown: Vec::new(),
            listeners: Listeners::default(),
            stirred: true,
            answered_at: None,
            rests_since: None,
        }
    }

    /// Records that a request was sent to a connection or a house player; returns its clock.
    pub(super) fn mark_sent(
        &mut self,
        now: Timestamp,
        pending: Pending,
        to: Option<ConnId>,
    ) -> RequestClock {
        let Pending { id, player, limit_ms, .. } = pending;
        let recalled = self.recalled.iter().position(|(recalled, _)| *recalled == id);
        let recalled = recalled.map(|at| self.recalled.swap_remove(at).1.resume());
        let clock = recalled.unwrap_or_else(|| RequestClock::new(limit_ms));
        let began = now.before(clock.spent_before_ms());
        self.stirred |= self.timer.is_none_or(|at| began.saturating_add(limit_ms) < at);
        if to.is_some() {
            // The estimate, and never too early. `match_due` sets the exact time once the deadline
            // may have passed.
            self.played.delivered(&id, began);
        }
        self.sent.push(Sent { id, player, to: to.map(|conn| (conn, clock.clone())) });
        clock
    }

    /// Forgets what was sent to a connection: the program behind it is a new one. Its requests have
    /// their full time again once they are sent.
    pub(super) fn forget_sent_to(&mut self, conn: ConnId) {
        let LiveMatch { sent, played, shown, .. } = self;
        shown.retain(|(_, on)| *on != conn);
        sent.retain(|sent| {
            let is_to = sent.to.as_ref().is_some_and(|(to, _)| *to == conn);
            if is_to {
                played.recalled(&sent.id);
            }
            !is_to
        });
    }

    /// Returns whether a request is open.
    pub(super) fn is_open(&self, request: &RequestId) -> bool {
        self.played.pending().iter().any(|pending| pending.id == *request)
    }

    /// The time left for a request.
    pub(super) fn left_ms(&self, pending: &Pending) -> Millis {
        let mut recalled = self.recalled.iter();
        let recalled = recalled.find(|(id, _)| *id == pending.id);
        recalled.map_or(pending.limit_ms, |(_, clock)| clock.left_ms())
    }
}

impl Sent {
    /// Has the player's seat forget the request, which is not open any more.
    pub(super) fn recall(&self, services: &mut Services, key: &MatchKey) {
        if self.to.is_some() {
            let ask = AskId::Match(key.clone(), self.id.clone());
            services.send_to_seat(&self.player, ToSeat::Recall(&ask));
        }
    }
}

/// All running matches.
#[derive(Default)]
pub(super) struct Matches {
    live: FxHashMap<MatchKey, LiveMatch>,
    /// The matches of each player.
    playing: PlayerMap<BTreeSet<MatchKey>>,
}

impl Matches {
    pub(super) fn insert(&mut self, key: MatchKey, live: LiveMatch) {
        for player in &live.played.plan().players {
            self.playing.entry(player.clone()).or_default().insert(key.clone());
        }
        self.live.insert(key, live);
    }

    pub(super) fn remove(&mut self, key: &MatchKey) -> Option<LiveMatch> {
        let live = self.live.remove(key)?;
        for player in &live.played.plan().players {
            if let Some(keys) = self.playing.get_mut(player) {
                keys.remove(key);
                if keys.is_empty() {
                    self.playing.remove(player);
                }
            }
        }
        Some(live)
    }

    pub(super) fn get(&self, key: &MatchKey) -> Option<&LiveMatch> {
        self.live.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &MatchKey) -> Option<&mut LiveMatch> {
        self.live.get_mut(key)
    }

    pub(super) fn is_live(&self, key: &MatchKey) -> bool {
        self.live.contains_key(key)
    }

    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&MatchKey, &LiveMatch)> {
        self.live.iter()
    }

    /// The matches of a tournament.
    pub(super) fn in_tournament(&self, id: &TournamentId) -> Vec<MatchKey> {
        self.live.keys().filter(|key| key.tournament == *id).cloned().collect()
    }

    /// The matches of a player.
    pub(super) fn keys_of(&self, player: &PlayerName) -> impl Iterator<Item = &MatchKey> + use<'_> {
        self.playing.get(player).into_iter().flatten()
    }

    /// The matches of a player, cloned so that the caller may change them.
    pub(super) fn of(&self, player: &PlayerName) -> Vec<MatchKey> {
        self.keys_of(player).cloned().collect()
    }

    /// All players of running matches.
    pub(super) fn players(&self) -> impl Iterator<Item = &PlayerName> {
        self.playing.keys()
    }
}
