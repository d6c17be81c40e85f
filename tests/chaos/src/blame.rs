//! Checks that a disturbance of the player explains every charged fault. Players who were left
//! alone have none; disturbances of the server explain nothing.

use crate::check::Charged;
use crate::history::{Ms, Outage, Touch, beyond};
use crate::player::Player;
use agon_core::FaultKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long a player may take to be back after a disturbance ends.
const BACK_MS: Ms = 20_000;

/// The disturbances to judge by.
pub(crate) struct Deeds<'a> {
    pub(crate) players: &'a [Arc<Player>],
    pub(crate) touches: &'a [Touch],
    pub(crate) outages: &'a [Outage],
    pub(crate) stalls: &'a [Outage],
    pub(crate) answer_ms: Ms,
}

/// Counts explained faults by kind, and lists those without an explanation.
pub(crate) fn judge(
    charged: &[Charged],
    deeds: &Deeds<'_>,
) -> (BTreeMap<String, u64>, Vec<String>) {
    let (mut explained, mut wrong) = (BTreeMap::new(), Vec::new());
    for one in charged {
        let fault = &one.faulted.fault;
        match explain(one, deeds) {
            Ok(Why::Touched) => *explained.entry(fault.code.to_string()).or_default() += 1,
            Ok(Why::Starved) => {
                let what = format!("{} (by this harness, which did not get on)", fault.code);
                *explained.entry(what).or_default() += 1;
            }
            Err(why) => {
                let (stream, event, player) = (&one.stream, one.event, &one.faulted.player);
                let (after, before) = (one.after, one.before);
                wrong.push(format!(
                    "{stream}: {event} charges {player} with {fault} between {after} and {before} \
                     ms, but {why}"
                ));
            }
        }
    }
    (explained, wrong)
}

/// The explanation of a fault.
enum Why {
    Touched,
    /// The harness itself stalled, for more than half of the time to answer.
    Starved,
}

fn explain(charged: &Charged, deeds: &Deeds<'_>) -> Result<Why, String> {
    let name = charged.faulted.player.as_str();
    let player = deeds.players.iter().find(|player| player.name == name);
    let player = player.ok_or("nobody knows it")?;
    match charged.faulted.fault.kind {
        FaultKind::Timeout | FaultKind::Disconnected | FaultKind::NoShow => {}
        kind => return Err(format!("no player here does such a thing ({kind})")),
    }
    let grace = deeds.answer_ms + BACK_MS;
    let near = |from: Ms, to: Ms| {
        from <= charged.before && beyond(deeds.outages, to, grace) >= charged.after
    };
    let mut touches = deeds.touches.iter().filter(|touch| touch.player == player.number);
    if touches.clone().any(|touch| near(touch.from, touch.to)) {
        return Ok(Why::Touched);
    }
    if starved_ms(charged, deeds) > deeds.answer_ms / 2 {
        return Ok(Why::Starved);
    }
    let last = touches.rfind(|touch| touch.from <= charged.before);
    match (player.touchable, last) {
        (false, _) => Err("it was left alone all the time".into()),
        (true, None) => Err("nothing was done to it before".into()),
        (true, Some(Touch { what, from, to, .. })) => {
            Err(format!("the last that was done to it is: {what}, from {from} to {to} ms"))
        }
    }
}

/// How long the harness stalled while the player could have answered.
fn starved_ms(charged: &Charged, deeds: &Deeds<'_>) -> Ms {
    let from = charged.after.saturating_sub(2 * deeds.answer_ms);
    let overlap =
        |stall: &Outage| stall.to.min(charged.before).saturating_sub(stall.from.max(from));
    deeds.stalls.iter().map(overlap).sum()
}
