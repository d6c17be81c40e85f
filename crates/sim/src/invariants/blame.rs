//! No player is charged for a delay of the server: every charged player committed the fault, as the
//! world saw it on the connections.

use super::{Streams, matches, tournaments};
use crate::disk::Entry;
use crate::history::{History, Written};
use crate::plan::player_name;
use crate::world::World;
use agon_core::{Event, Fault, FaultKind, Faulted, Millis, Timestamp};
use agon_engine::query::Order;

/// How long a person may be disconnected, as docs/protocol/native.md says.
const AWAY_MS: Millis = 15_000;

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    check_matches(world, streams)?;
    check_tournaments(world, streams)
}

fn check_matches(world: &World, streams: &Streams) -> Result<(), String> {
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
                _ if was_cut_off(world, faulted, entry) => Err("a restart cut it off".into()),
                true => waited_in_vain(&world.history, faulted, entry, wait_ms),
                false => judge(world, tournament, faulted, entry),
            };
            found.map_err(|what| {
                let (player, at, fault) = (&faulted.player, entry.line.at, &faulted.fault);
                format!("{tournament}/{id}: {player} is charged at {at} with {fault}, but {what}")
            })?;
        }
    }
    Ok(())
}

fn check_tournaments(world: &World, streams: &Streams) -> Result<(), String> {
    for (id, entries) in tournaments(streams) {
        for entry in entries {
            let Event::PlayerDropped(dropped) = &entry.line.event else { continue };
            let Faulted { player, fault, .. } = &dropped.faulted;
            let history = &world.history;
            let found = match fault.kind {
                _ if was_cut_off(world, &dropped.faulted, entry) => {
                    Err("a restart cut it off".into())
                }
                // A program of another system that leaves again before its turn counts as a
                // no-show.
                FaultKind::NoShow if is_peer(world, player.as_str()) => {
                    not_here(history, player.as_str(), entry, entry.line.at)
                }
                FaultKind::NoShow => {
                    let wait_ms = world.plan.reconnect_ms;
                    let waited = waited_in_vain(history, &dropped.faulted, entry, wait_ms);
                    waited
                        .or_else(|what| paused(world, id, player.as_str(), entry).map_err(|_| what))
                }
                FaultKind::Timeout => {
                    let gone = not_here(history, player.as_str(), entry, entry.line.at);
                    gone.or_else(|what| out_of_courtesy(world, player.as_str(), entry).ok_or(what))
                }
                // The server does not wait for programs of other systems.
                FaultKind::Disconnected => {
                    let gone = not_here(history, player.as_str(), entry, entry.line.at);
                    gone.or_else(|_| disconnected(world, player.as_str(), entry))
                }
                FaultKind::Withdrew if fault.code == "blacklisted" => {
                    listed(world, player.as_str())
                }
                // A restart cut the player off after they signed up, and the tournament begins
                // without them.
                FaultKind::Withdrew if fault.code == "cut-off" => {
                    not_here(history, player.as_str(), entry, entry.line.at)
                }
                FaultKind::Withdrew => withdrew(world, id, player.as_str()),
                FaultKind::Cheat | FaultKind::Illegal | FaultKind::Malformed => {
                    said(history, player.as_str(), fault)
                }
            };
            found.map_err(|what| format!("{id}: {player} is dropped for {fault}, but {what}"))?;
        }
    }
    Ok(())
}

/// Whether a restart of the server cut off a program that cannot reconnect by itself, and that was
/// not back when it was charged. Such a charge is wrong.
fn was_cut_off(world: &World, faulted: &Faulted, entry: &Entry) -> bool {
    let player = faulted.player.as_str();
    let absent = matches!(
        faulted.fault.kind,
        FaultKind::Disconnected | FaultKind::NoShow | FaultKind::Timeout
    );
    if !absent || !is_peer(world, player) || lost_now(world, player, entry) {
        return false;
    }
    let here = world.history.here.get(player).into_iter().flatten();
    let latest = here.filter(|here| here.from < entry.line.at).max_by_key(|here| here.from);
    latest.is_some_and(|latest| {
        let server = world.history.servers.get(&latest.server);
        let ended = server.and_then(|server| server.ended);
        latest.server != entry.writer && ended.is_some() && latest.to == ended
    })
}

/// Whether the server noticed the end of a connection of the player when it wrote an entry. The
/// player was back then, although perhaps only while the server stood still.
fn lost_now(world: &World, player: &str, entry: &Entry) -> bool {
    let ends = world.history.ends.get(&(player.to_owned(), entry.writer));
    ends.into_iter().flatten().any(|noticed| *noticed == Some(entry.line.at))
}

fn judge(world: &World, id: &str, faulted: &Faulted, entry: &Entry) -> Result<(), String> {
    let (player, fault) = (faulted.player.as_str(), &faulted.fault);
    let history = &world.history;
    match fault.kind {
        FaultKind::Timeout => {
            let request = faulted.request.as_ref().ok_or("nothing was asked")?;
            let late = out_of_time(history, player, &format!("{id}:{request}"), entry);
            // A program that reconnected may have timed out in a repeated call of the beginning.
            late.or_else(|what| out_of_courtesy(world, player, entry).ok_or(what))
        }
        FaultKind::Cheat | FaultKind::Illegal | FaultKind::Malformed => {
            said(history, player, fault)
        }
        // The connection may close at the very moment the player should have been back.
        FaultKind::Disconnected if fault.detail.contains("after a pause") => {
            let gone = paused(world, id, player, entry);
            gone.or_else(|what| disconnected(world, player, entry).map_err(|_| what))
        }
        FaultKind::Disconnected => disconnected(world, player, entry),
        FaultKind::Withdrew if fault.code == "blacklisted" => listed(world, player),
        FaultKind::Withdrew => withdrew(world, id, player),
        FaultKind::NoShow => Err("was not waited for".into()),
    }
}

/// Checks that an operator or a policy put the player on the blacklist.
fn listed(world: &World, player: &str) -> Result<(), String> {
    let listed = world.disk.look(|index| index.blacklisted.contains(player));
    listed.then_some(()).ok_or_else(|| "was never on the blacklist".into())
}

fn is_peer(world: &World, player: &str) -> bool {
    world.bots.iter().any(|bot| bot.name.as_str() == player && bot.is_peer())
}

/// Checks that the player sent what they are charged with. For other systems' protocols, the fault
/// quotes the beginning of the reply.
fn said(history: &History, player: &str, fault: &Fault) -> Result<(), String> {
    let quoted = fault.detail.rsplit_once("; it said ").map(|(_, quoted)| quoted);
    let evidence = fault.answer.as_deref().or(quoted).unwrap_or_default();
    let answers = history.heard.iter().filter(|((who, _), _)| who == player);
    let mut answers = answers.flat_map(|(_, all)| all.iter().map(|one| &one.answer));
    let mut bad = history.bad.get(player).into_iter().flatten();
    // The evidence may wrap the bare value that a player of another system sent.
    let value = evidence.split_once(':').map_or(evidence, |(_, value)| value.trim_end_matches('}'));
    let said = answers.any(|text| text.starts_with(evidence))
        || history
            .spoken
            .get(player)
            .is_some_and(|all| all.contains(evidence) || all.contains(value));
    match said || bad.any(|text| text.starts_with(evidence)) {
        true => Ok(()),
        false => Err(format!("never sent {evidence:?}")),
    }
}

/// Whether a call outside matches was written to a player of another system and not answered in
/// time.
fn out_of_courtesy(world: &World, player: &str, entry: &Entry) -> Option<()> {
    let own = world.links.iter().filter(|link| player_name(link.bot) == player);
    let open = own.flat_map(|link| link.calls.iter().filter(|call| call.request.is_none()));
    let open = open.map(|call| call.written);
    let answered = world.history.courtesies.get(player).into_iter().flatten();
    let late = answered.filter(|(_, in_time)| !in_time).map(|(written, _)| *written);
    let mut missed = open.chain(late);
    let due = |written: &Written| written.at + written.limit_ms <= entry.line.at;
    missed.find(|written| written.server == entry.writer && due(written)).map(|_| ())
}

/// Checks that the player or an operator withdrew them.
fn withdrew(world: &World, id: &str, player: &str) -> Result<(), String> {
    let bot = world.bots.iter().find(|bot| bot.name.as_str() == player);
    let key = ("withdraw".to_owned(), id.to_owned());
    let own = bot.is_some_and(|bot| bot.record.asked.contains(&key));
    let mut given = world.operator.given.iter();
    let ordered = given.any(|given| match &given.order {
        Order::Withdraw(of, who) => of.as_str() == id && who.as_str() == player,
        _ => false,
    });
    match own || ordered {
        true => Ok(()),
        false => Err("never withdrew".into()),
    }
}

/// Checks that the server wrote a request, the time for it passed, and no answer arrived.
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
        let in_time = heard.at > last.at && heard.at <= last.at + last.limit_ms;
        own(heard.server) && in_time && !history.is_unheard(heard)
    });
    match in_time.next() {
        Some(heard) => Err(format!("its answer was read at {}", heard.at)),
        None => Ok(()),
    }
}

/// Checks that the player had no connection when the server looked, or did not reconnect in time:
/// after an outage, after a pause, or, as a person, within their grace period.
fn disconnected(world: &World, player: &str, entry: &Entry) -> Result<(), String> {
    let (at, history) = (entry.line.at, &world.history);
    let started = history.servers.get(&entry.writer).map_or(at, |server| server.started);
    if lost_now(world, player, entry) {
        return Ok(());
    }
    let reconnect_ms = world.plan.reconnect_ms;
    let person = world.bots.iter().any(|bot| bot.name.as_str() == player && bot.temper.person);
    let away_ms = if person { AWAY_MS.min(reconnect_ms - 1) } else { reconnect_ms };
    match at >= started + away_ms {
        true => not_here(history, player, entry, at.before(away_ms)),
        false => Err("its connection was there".into()),
    }
}

/// Checks that the player was absent when they should have been back after a pause.
fn paused(world: &World, id: &str, player: &str, entry: &Entry) -> Result<(), String> {
    let at = entry.line.at;
    let stream = world.disk.stream(&format!("tournament/{id}"));
    let mut resumed = stream.iter().filter(|one| match one.line.event {
        Event::TournamentResumed(_) => one.line.at + world.plan.reconnect_ms <= at,
        _ => false,
    });
    resumed.next().ok_or("its time is not over")?;
    not_here(&world.history, player, entry, at)
}

/// Checks that the server was up all the time, and the player was not connected.
fn waited_in_vain(
    history: &History,
    faulted: &Faulted,
    entry: &Entry,
    wait_ms: Millis,
) -> Result<(), String> {
    let since = entry.line.at.before(wait_ms);
    let started =
        history.servers.get(&entry.writer).map_or(Timestamp::default(), |server| server.started);
    if started > since {
        return Err(format!("the server was only there since {started}"));
    }
    not_here(history, faulted.player.as_str(), entry, since)
}

fn not_here(
    history: &History,
    player: &str,
    entry: &Entry,
    since: Timestamp,
) -> Result<(), String> {
    let here = history.here.get(player).into_iter().flatten();
    let mut here = here.filter(|here| here.server == entry.writer);
    let there = here.find(|here| {
        here.from < entry.line.at
            && here.to.is_none_or(|to| to > since.min(entry.line.at.before(1)))
    });
    match there {
        Some(here) => Err(format!("it was there from {} to {:?}", here.from, here.to)),
        None => Ok(()),
    }
}
