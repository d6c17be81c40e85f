//! Whether every fault that was charged is explained by what the harness did to that player. Who was
//! left alone has none; what befell the server explains nothing.

use crate::check::Charged;
use crate::history::{Ms, Outage, Touch};
use crate::player::Player;
use agon_core::FaultKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long a player may take to be back after it was left in peace.
const BACK_MS: Ms = 20_000;

/// What was done, to judge by.
pub(crate) struct Deeds<'a> {
    pub(crate) players: &'a [Arc<Player>],
    pub(crate) touches: &'a [Touch],
    pub(crate) outages: &'a [Outage],
    pub(crate) stalls: &'a [Outage],
    pub(crate) answer_ms: Ms,
}

/// Faults by their kind that are explained, and what is not.
pub(crate) fn judge(
    charged: &[Charged],
    deeds: &Deeds<'_>,
) -> (BTreeMap<String, u64>, Vec<String>) {
    let (mut explained, mut wrong) = (BTreeMap::new(), Vec::new());
    for one in charged {
        let fault = &one.faulted.fault;
        match explain(one, deeds) {
            Ok(()) => *explained.entry(fault.code.to_string()).or_default() += 1,
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

fn explain(charged: &Charged, deeds: &Deeds<'_>) -> Result<(), String> {
    let name = charged.faulted.player.as_str();
    let player = deeds.players.iter().find(|player| player.name == name);
    let player = player.ok_or("nobody knows it")?;
    match charged.faulted.fault.kind {
        FaultKind::Timeout | FaultKind::Disconnected | FaultKind::NoShow => {}
        kind => return Err(format!("no player here does such a thing ({kind})")),
    }
    let grace = deeds.answer_ms + BACK_MS;
    let near = |from: Ms, to: Ms| from <= charged.before && late(to, grace, deeds) >= charged.after;
    if deeds.stalls.iter().any(|stall| near(stall.from, stall.to)) {
        return Ok(());
    }
    let mut touches = deeds.touches.iter().filter(|touch| touch.player == player.number);
    if touches.clone().any(|touch| near(touch.from, touch.to)) {
        return Ok(());
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

/// When the effect of something that was over at `to` has passed: while the server is away nobody
/// can come back.
fn late(to: Ms, grace: Ms, deeds: &Deeds<'_>) -> Ms {
    let mut until = to.saturating_add(grace);
    for outage in deeds.outages {
        let overlap = outage.to.min(until).saturating_sub(outage.from.max(to));
        until = until.saturating_add(overlap);
    }
    until
}
