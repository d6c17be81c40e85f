//! Why a policy blacklisted an account: the cheat, identified by its event.

use crate::event::Event;
use crate::ids::{MatchId, PlayerName, TournamentId};
use crate::line::Line;
use crate::plan::MatchPlan;
use crate::policy::CheatCost;
use serde::{Deserialize, Serialize};

/// The event of a match that a policy blacklists a player for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Cause {
    /// The tournament.
    pub tournament: TournamentId,
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// The number of the `player-faulted` event in the match's stream.
    pub event: u64,
}

/// A cheat that a policy blacklists for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cheat {
    /// The player who cheated.
    pub account: PlayerName,
    /// The reason that the lobby records.
    pub reason: String,
    /// The event that records the cheat.
    pub cause: Cause,
}

impl Cheat {
    /// The cheat that event number `seq` of a match's stream shows, if the match's policy
    /// blacklists for it.
    pub fn of(plan: &MatchPlan, seq: u64, event: &Event) -> Option<Cheat> {
        let Event::PlayerFaulted(faulted) = event else { return None };
        let faulted = &faulted.faulted;
        if plan.rules.cheat != CheatCost::Blacklist || !faulted.fault.is_cheat() {
            return None;
        }
        let (tournament, match_id) = (plan.tournament.clone(), plan.id.clone());
        Some(Cheat {
            account: faulted.player.clone(),
            reason: faulted.fault.to_string(),
            cause: Cause { tournament, match_id, event: seq },
        })
    }

    /// All cheats in a match's stream that its policy blacklists for, each with its line.
    pub fn all<'a>(
        plan: &'a MatchPlan,
        lines: &'a [Line],
    ) -> impl Iterator<Item = (Cheat, &'a Line)> {
        lines.iter().filter_map(|line| Some((Cheat::of(plan, line.seq, &line.event)?, line)))
    }
}
