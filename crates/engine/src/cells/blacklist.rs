//! The blacklist: the consequences of a cheat, and the consequences of being listed.
//!
//! A policy lists a cheater once the cheat is durable; the lobby's event names the cheat. A listed
//! player leaves every running tournament once the listing is durable. Both consequences reach from
//! one stream into others, so a crash may come in between. The engine derives both from the log
//! again when it resumes a tournament or a match, until they are recorded there.

use super::Cells;
use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::services::Context;
use crate::{EngineError, MatchKey};
use agon_core::lobby::Cheat;
use agon_core::{
    CheatCost, Event, Fault, FaultKind, How, MatchPlan, MatchResult, PlayerName, TournamentId,
};

impl Cells {
    /// The listings that follow from a match's events, which are about to be committed.
    pub(super) fn blacklisted_by(
        &self,
        cx: &Context<'_>,
        key: &MatchKey,
        events: &[Event],
    ) -> Vec<FollowUp> {
        let Some(live) = self.matches.get(key) else { return Vec::new() };
        let version = cx.journals.version(&StreamKey::Match(key.clone()));
        let numbered = (version + 1..).zip(events);
        let cheats = numbered.filter_map(|(seq, event)| Cheat::of(live.played.plan(), seq, event));
        cheats.map(|cheat| FollowUp::Blacklist(Box::new(cheat))).collect()
    }

    /// Blacklists for cheats in finished matches, if a crash kept the lobby from recording them.
    /// Open matches follow when the engine resumes them.
    pub(super) fn blacklist_again_in(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
    ) -> Result<(), EngineError> {
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
            let lines = cx.load(&StreamKey::Match(key).name())?;
            let cheats: Vec<Cheat> = Cheat::all(&plan, &lines).map(|(cheat, _)| cheat).collect();
            cheats.into_iter().for_each(|cheat| cx.then(FollowUp::Blacklist(Box::new(cheat))));
        }
        Ok(())
    }

    /// Removes the listed players from a tournament once their listing is durable.
    pub(super) fn expel_listed(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        players: &[PlayerName],
    ) {
        for player in players {
            if cx.accounts.why_listed(player).is_none() {
                continue;
            }
            match cx.is_durable(&StreamKey::Lobby) {
                true => self.expel_from(cx, id, player),
                false => {
                    let expel = FollowUp::ExpelFrom(id.clone(), player.clone());
                    cx.once_durable(vec![StreamKey::Lobby], expel);
                }
            }
        }
    }

    /// Removes a listed player from one tournament, unless they have left it: a player who has lost
    /// keeps their place.
    pub(crate) fn expel_from(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        player: &PlayerName,
    ) {
        let Some(fault) = self.listed_fault(cx, player) else { return };
        let Some(live) = self.tournaments.get(id) else { return };
        let wins = live.machine.winners().contains(player);
        let left = live.machine.departure(player).is_some() && !wins;
        if !left && !live.machine.is_over() && !live.machine.is_out(player) {
            self.take_out(cx, id, player, fault);
        }
    }

    /// The fault that a listed player is charged with where they would play on.
    pub(super) fn listed_fault(&self, cx: &Context<'_>, player: &PlayerName) -> Option<Fault> {
        let why = cx.accounts.why_listed(player)?;
        let detail = format!("is on the blacklist: {why}");
        Some(Fault::new(FaultKind::Withdrew, "blacklisted", detail))
    }
}

/// Returns whether the stream of a match with this result may contain a cheat. An operator's result
/// may hide one.
fn may_hold_cheats(result: &MatchResult) -> bool {
    let cheated = result.faults.iter().any(|faulted| faulted.fault.is_cheat());
    cheated || matches!(result.how, How::Overridden | How::Void)
}
