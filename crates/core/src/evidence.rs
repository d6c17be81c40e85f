//! Evidence: the open request of a player at the time of a fault, recovered by a replay.
//!
//! The evidence holds only what that player was shown. The shell decides who may read it.

use crate::event::Event;
use crate::fault::Faulted;
use crate::ids::{Millis, PlayerName, Raw, RequestId, Timestamp};
use crate::line::Line;
use crate::match_::{ApplyError, Ask, Match, Secrets};
use crate::replay::{MatchReplay, ReplayStep};
use agon_games::{Registry, Seat, Viewer, json};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The request that was open when a fault happened.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Asked")]
pub struct OpenRequest {
    /// Since when the question was open.
    pub since: Timestamp,
    /// How long the answer might take, from when the question was written to the player.
    pub limit_ms: Millis,
    /// From which seat; nothing, where it had to confirm a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// The question; where it had to confirm a result, whether it had won.
    pub question: Raw,
    /// The player's view of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<Raw>,
}

/// A fault, when it happened, and the request that was open.
#[derive(Clone, PartialEq, Debug)]
pub struct Evidence {
    /// When the fault was recorded.
    pub at: Timestamp,
    /// The player and the fault.
    pub faulted: Faulted,
    /// The open request, if there was one.
    pub asked: Option<OpenRequest>,
}

/// The evidence of all faults in a match's stream, in order.
pub fn evidence(
    lines: &[Line],
    games: &Registry,
    secrets: Secrets,
) -> Result<Vec<Evidence>, ApplyError> {
    let mut replay = MatchReplay::new(lines, games, secrets)?;
    let mut since: BTreeMap<RequestId, Timestamp> = BTreeMap::new();
    let mut found = Vec::new();
    while let Some(step) = replay.step() {
        let ReplayStep { line, before, after } = step.map_err(|misfit| misfit.error)?;
        if let Some(faulted) = faulted(&line.event) {
            let asked = asked(before, &faulted.player, &since);
            found.push(Evidence { at: line.at, faulted: faulted.clone(), asked });
        }
        let open = after.pending().into_iter().map(|pending| pending.id);
        since = open.map(|id| (id.clone(), *since.get(&id).unwrap_or(&line.at))).collect();
    }
    Ok(found)
}

fn faulted(event: &Event) -> Option<&Faulted> {
    match event {
        Event::PlayerLeft(left) => Some(&left.faulted),
        Event::PlayerFaulted(faulted) => Some(&faulted.faulted),
        Event::WaitExpired(expired) => Some(&expired.faulted),
        _ => None,
    }
}

fn asked(
    played: &Match,
    player: &PlayerName,
    since: &BTreeMap<RequestId, Timestamp>,
) -> Option<OpenRequest> {
    let pending = played.pending().into_iter().find(|pending| pending.player == *player)?;
    let (since, limit_ms) = (*since.get(&pending.id)?, pending.limit_ms);
    let (seat, question, view) = match pending.ask {
        Ask::Confirm { won } => (None, json(&won), None),
        Ask::Game(seat) => {
            let game = played.referee()?.game();
            (Some(seat), game.question(seat)?, Some(Raw(game.view(Viewer::Seat(seat)))))
        }
    };
    Some(OpenRequest { since, limit_ms, seat, question: Raw(question), view })
}
