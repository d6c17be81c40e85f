//! The blacklist: the consequences of a cheat, and the consequences of being listed.
//!
//! A policy lists a cheater once the cheat is durable; the lobby's event names the cheat. A listed
//! player leaves every running tournament once the listing is durable. Both consequences reach from
//! one stream into others, so a crash may come in between. The engine derives both from the log
//! again when it resumes a tournament or a match, until they are recorded there.

use super::follow_up::FollowUp;
use super::journal::StreamKey;
use super::{CloseReason, Engine, EngineError, MatchKey, Note};
use agon_core::lobby::{Cheat, LobbyCommand};
use agon_core::{
    CheatCost, Event, Fault, FaultKind, How, MatchPlan, MatchResult, PlayerName, TournamentId,
};
use serde_json::json;

impl Engine {
    /// The listings that follow from a match's events, which are about to be committed.
    pub(super) fn blacklisted_by(&self, key: &MatchKey, events: &[Event]) -> Vec<FollowUp> {
        let Some(live) = self.matches.get(key) else { return Vec::new() };
        let version = self.journals.version(&StreamKey::Match(key.clone()));
        let numbered = (version + 1..).zip(events);
        let cheats = numbered.filter_map(|(seq, event)| Cheat::of(live.played.plan(), seq, event));
        cheats.map(|cheat| FollowUp::Blacklist(Box::new(cheat))).collect()
    }

    /// Lists the player of a durable cheat, unless the lobby has recorded that.
    pub(super) fn blacklist_for(&mut self, cheat: Cheat) {
        if self.lobby.has_recorded(&cheat) {
            return;
        }
        let Cheat { account, reason, cause } = cheat;
        let command = LobbyCommand::Blacklist { account, reason, by: None, cause: Some(cause) };
        // The lobby rejects only a name without an account, and no tournament of the lobby takes
        // such a name.
        let _ = self.step_lobby(command, Vec::new());
    }

    /// Blacklists for cheats in finished matches, if a crash kept the lobby from recording them.
    /// Open matches follow when the engine resumes them.
    pub(super) fn blacklist_again_in(&mut self, id: &TournamentId) -> Result<(), EngineError> {
        let Some(live) = self.tournaments.get(id) else { return Ok(()) };
        if live.machine.plan().policy.rules.cheat != CheatCost::Blacklist {
            return Ok(());
        }
        let rounds = live.machine.rounds().iter();
        let over = rounds.flat_map(|round| round.matches.iter().zip(&round.results));
        let suspect = over.filter(|(_, result)| result.as_ref().is_some_and(may_hold_cheats));
        let plans: Vec<MatchPlan> = suspect.map(|(plan, _)| plan.clone()).collect();
        for plan in plans {
            let key = MatchKey::new(id.clone(), plan.id.clone());
            let lines = self.load(&StreamKey::Match(key).name())?;
            let cheats: Vec<Cheat> = Cheat::all(&plan, &lines).map(|(cheat, _)| cheat).collect();
            cheats.into_iter().for_each(|cheat| self.blacklist_for(cheat));
        }
        Ok(())
    }

    /// Removes a listed player from every running tournament, and tells them why.
    pub(super) fn expel(&mut self, player: &PlayerName) {
        for id in self.lobby.playing_in(player).cloned().collect::<Vec<_>>() {
            self.expel_from(&id, player);
        }
        self.tell_blacklisted(player);
    }

    /// Removes the listed players from a tournament once their listing is durable.
    pub(super) fn expel_listed(&mut self, id: &TournamentId, players: &[PlayerName]) {
        for player in players {
            if self.why_listed(player).is_none() {
                continue;
            }
            let expel = FollowUp::ExpelFrom(id.clone(), player.clone());
            self.once_durable(vec![StreamKey::Lobby], expel);
        }
    }

    /// Removes a listed player from one tournament, unless they have left it: a player who has lost
    /// keeps their place.
    pub(super) fn expel_from(&mut self, id: &TournamentId, player: &PlayerName) {
        let Some(fault) = self.listed_fault(player) else { return };
        let Some(live) = self.tournaments.get(id) else { return };
        let wins = live.machine.winners().contains(player);
        let left = live.machine.departure(player).is_some() && !wins;
        if !left && !live.machine.is_over() && !live.machine.is_out(player) {
            self.take_out(id, player, fault);
        }
    }

    /// The fault that a listed player is charged with where they would play on.
    pub(super) fn listed_fault(&self, player: &PlayerName) -> Option<Fault> {
        let why = self.why_listed(player)?;
        let detail = format!("is on the blacklist: {why}");
        Some(Fault::new(FaultKind::Withdrew, "blacklisted", detail))
    }

    /// Why a player is on the blacklist, if they are.
    pub(super) fn why_listed(&self, player: &PlayerName) -> Option<&str> {
        self.lobby.account(player)?.blacklisted.as_deref()
    }

    /// Tells a listed player why. Wires of other systems cannot express it: the server closes those
    /// connections and logs the reason.
    pub(super) fn tell_blacklisted(&mut self, player: &PlayerName) {
        let Some(why) = self.why_listed(player).map(str::to_owned) else { return };
        let conn = self.conn_of(player);
        let (account, listed) = (player.clone(), why.clone());
        self.note(Note::Blacklisted { conn, account, why: listed });
        let Some(conn) = conn else { return };
        match self.peer_conn(player) {
            Some(conn) => self.end(conn, CloseReason::Dismissed),
            None => self.notify(conn, "blacklisted", &json!({"reason": why})),
        }
    }
}

/// Whether the stream of a match with this result may contain a cheat. An operator's result may
/// hide one.
fn may_hold_cheats(result: &MatchResult) -> bool {
    let cheated = result.faults.iter().any(|faulted| faulted.fault.is_cheat());
    cheated || matches!(result.how, How::Overridden | How::Void)
}
