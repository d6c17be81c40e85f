//! No fault is charged to a player for a delay of ours: whoever is charged did it, as the world saw
//! it on the wires.

use super::{Streams, matches, tournaments};
use crate::disk::Entry;
use crate::history::History;
use crate::world::World;
use agon_core::{Event, FaultKind, Faulted, Millis};

/// How long a server may stand still before it notices what it read: the world stalls one up to
/// three times, for up to three seconds each, and one may follow upon another.
const STALL_MS_MAX: Millis = 9_100;

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    for (tournament, id, entries) in matches(streams) {
        let wait_ms = entries.first().map_or(0, |entry| match &entry.line.event {
            Event::MatchCreated(created) => created.plan.rules.time.wait_ms,
            _ => 0,
        });
        for entry in entries {
            let (faulted, waited) = match &entry.line.event {
                Event::PlayerLeft(left) => (&left.faulted, false),
                Event::PlayerFaulted(faulted) => (&faulted.faulted, false),
                Event::WaitExpired(expired) => (&expired.faulted, true),
                _ => continue,
            };
            let found = match waited {
                true => waited_in_vain(&world.history, faulted, entry, wait_ms),
                false => judge(world, tournament, faulted, entry),
            };
            found.map_err(|what| {
                let (player, at, fault) = (&faulted.player, entry.line.at, &faulted.fault);
                format!("{tournament}/{id}: {player} is charged at {at} with {fault}, but {what}")
            })?;
        }
    }
    for (id, entries) in tournaments(streams) {
        for entry in entries {
            let Event::PlayerDropped(dropped) = &entry.line.event else { continue };
            let Faulted { player, fault, .. } = &dropped.faulted;
            let history = &world.history;
            let found = match fault.kind {
                FaultKind::NoShow => {
                    waited_in_vain(history, &dropped.faulted, entry, world.plan.reconnect_ms)
                }
                FaultKind::Timeout => not_here(history, player.as_str(), entry, entry.line.at),
                _ => Ok(()),
            };
            found.map_err(|what| format!("{id}: {player} is dropped for {fault}, but {what}"))?;
        }
    }
    Ok(())
}

fn judge(world: &World, id: &str, faulted: &Faulted, entry: &Entry) -> Result<(), String> {
    let (player, fault) = (faulted.player.as_str(), &faulted.fault);
    let history = &world.history;
    match fault.kind {
        FaultKind::Timeout => {
            let request = faulted.request.as_ref().ok_or("nothing was asked")?;
            out_of_time(history, player, &format!("{id}:{request}"), entry)
        }
        FaultKind::Cheat | FaultKind::Illegal | FaultKind::Malformed => {
            let evidence = fault.answer.as_deref().unwrap_or_default();
            let answers = history.heard.iter().filter(|((who, _), _)| who == player);
            let mut answers = answers.flat_map(|(_, all)| all.iter().map(|one| &one.answer));
            let mut bad = history.bad.get(player).into_iter().flatten();
            let said = answers.any(|text| text.starts_with(evidence));
            match said || bad.any(|text| text.starts_with(evidence)) {
                true => Ok(()),
                false => Err(format!("never sent {evidence:?}")),
            }
        }
        FaultKind::Disconnected => disconnected(world, player, entry),
        FaultKind::Withdrew if fault.code == "blacklisted" => Ok(()),
        FaultKind::Withdrew => Err("never withdrew".into()),
        FaultKind::NoShow => Err("was not waited for".into()),
    }
}

/// A request was written to it, the time it was given passed, and nothing was read from it.
fn out_of_time(
    history: &History,
    player: &str,
    request: &str,
    entry: &Entry,
) -> Result<(), String> {
    let key = (player.to_owned(), request.to_owned());
    let own = |server: u32| server == entry.writer;
    let written = history.written.get(&key).into_iter().flatten();
    let mut written = written.filter(|written| own(written.server) && written.at < entry.line.at);
    let Some(last) = written.next_back() else {
        return Err("the request was never written".into());
    };
    if entry.line.at < last.at + last.limit_ms {
        return Err(format!("it had until {}", last.at + last.limit_ms));
    }
    let heard = history.heard.get(&key).into_iter().flatten();
    let mut in_time = heard.filter(|heard| {
        own(heard.server) && heard.at > last.at && heard.at <= last.at + last.limit_ms
    });
    match in_time.next() {
        Some(heard) => Err(format!("its answer was read at {}", heard.at)),
        None => Ok(()),
    }
}

fn disconnected(world: &World, player: &str, entry: &Entry) -> Result<(), String> {
    let at = entry.line.at;
    let started = world.history.servers.get(&entry.writer).map_or(at, |server| server.started);
    let ends = world.history.ends.get(&(player.to_owned(), entry.writer));
    let lost =
        ends.into_iter().flatten().any(|end| (at.saturating_sub(STALL_MS_MAX)..=at).contains(end));
    let absent = at >= started + world.plan.reconnect_ms;
    match lost || (absent && not_here(&world.history, player, entry, at).is_ok()) {
        true => Ok(()),
        false => Err("its connection was there".into()),
    }
}

/// The server was there all the time, and the player was not.
fn waited_in_vain(
    history: &History,
    faulted: &Faulted,
    entry: &Entry,
    wait_ms: Millis,
) -> Result<(), String> {
    let since = entry.line.at.saturating_sub(wait_ms);
    let started = history.servers.get(&entry.writer).map_or(0, |server| server.started);
    if started > since {
        return Err(format!("the server was only there since {started}"));
    }
    not_here(history, faulted.player.as_str(), entry, since)
}

fn not_here(history: &History, player: &str, entry: &Entry, since: Millis) -> Result<(), String> {
    let here = history.here.get(player).into_iter().flatten();
    let mut here = here.filter(|here| here.server == entry.writer);
    let there = here.find(|here| {
        here.from < entry.line.at && here.to.is_none_or(|to| to > since.min(entry.line.at - 1))
    });
    match there {
        Some(here) => Err(format!("it was there from {} to {:?}", here.from, here.to)),
        None => Ok(()),
    }
}
