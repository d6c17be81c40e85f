//! No player is charged for a delay of the server: every charged player committed the fault, as the
//! world saw it on the connections.

use super::{Streams, matches, tournaments};
use crate::disk::Entry;
use crate::history::{History, Written};
use crate::plan::player_name;
use crate::world::World;
use agon_core::{Event, Fault, FaultKind, Faulted, Millis, Timestamp};
use agon_engine::query::Order;

/// How late an engine of cells may charge a player who did not reconnect, beside the time that
/// messages take.
const CHARGE_LATE_MS: Millis = 140;

/// How long a person may be disconnected, as docs/protocol/native.md says.
const AWAY_MS: Millis = 15_000;

/// A charge in the log, as the server saw it that had the connections.
struct Charge {
    server: u32,
    /// When it was decided, by the clock of that server.
    at: Timestamp,
    /// When the engine that decided started.
    started: Option<Timestamp>,
    /// How late that engine may learn of something.
    pass_ms: Millis,
}

impl Charge {
    fn of(world: &World, entry: &Entry) -> Charge {
        let (server, at) = (world.seats_of(entry), world.seat_time(entry));
        Charge { server, at, started: world.started_at(entry), pass_ms: world.pass_ms(entry) }
    }
}

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
            let charge = &Charge::of(world, entry);
            let found = match waited {
                _ if was_cut_off(world, (streams, tournament), (faulted, charge)) => {
                    Err("a restart cut it off".into())
                }
                true => waited_in_vain(&world.history, faulted, charge, wait_ms),
                false => judge(world, tournament, faulted, charge),
            };
            found.map_err(|what| {
                let (player, at, fault) = (&faulted.player, charge.at, &faulted.fault);
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
            let (history, charge) = (&world.history, &Charge::of(world, entry));
            let found = match fault.kind {
                _ if was_cut_off(world, (streams, id), (&dropped.faulted, charge)) => {
                    Err("a restart cut it off".into())
                }
                // A program of another system that leaves again before its turn counts as a
                // no-show.
                FaultKind::NoShow if is_peer(world, player.as_str()) => {
                    not_here(history, player.as_str(), charge, charge.at)
                }
                FaultKind::NoShow => {
                    let wait_ms = world.plan.reconnect_ms;
                    let waited = waited_in_vain(history, &dropped.faulted, charge, wait_ms);
                    waited.or_else(|what| {
                        paused(world, id, player.as_str(), charge).map_err(|_| what)
                    })
                }
                FaultKind::Timeout => {
                    let gone = not_here(history, player.as_str(), charge, charge.at);
                    gone.or_else(|what| out_of_courtesy(world, player.as_str(), charge).ok_or(what))
                }
                // The server does not wait for programs of other systems.
                FaultKind::Disconnected => {
                    let gone = not_here(history, player.as_str(), charge, charge.at);
                    gone.or_else(|_| disconnected(world, player.as_str(), charge))
                }
                FaultKind::Withdrew if fault.code == "blacklisted" => {
                    listed(world, player.as_str())
                }
                // A restart cut the player off after they signed up, and the tournament begins
                // without them.
                FaultKind::Withdrew if fault.code == "cut-off" => {
                    not_here(history, player.as_str(), charge, charge.at)
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

/// Returns whether a restart of the server cut off a program that cannot reconnect by itself, and
/// that was not back when it was charged in a tournament of before the restart. Such a charge is
/// wrong.
fn was_cut_off(world: &World, (streams, id): (&Streams, &str), one: (&Faulted, &Charge)) -> bool {
    let (faulted, charge) = one;
    let player = faulted.player.as_str();
    let absent = matches!(
        faulted.fault.kind,
        FaultKind::Disconnected | FaultKind::NoShow | FaultKind::Timeout
    );
    if !absent || !is_peer(world, player) || lost_now(world, player, charge) {
        return false;
    }
    let here = world.history.here.get(player).into_iter().flatten();
    let latest = here.filter(|here| here.from < charge.at).max_by_key(|here| here.from);
    let started = |server: u32| world.history.servers.get(&server).map(|one| one.started);
    let announced = streams.get("lobby").into_iter().flatten().find(|entry| {
        let event = &entry.line.event;
        matches!(event, Event::TournamentAnnounced(one) if one.announcement.id.as_str() == id)
    });
    latest.is_some_and(|latest| {
        let server = world.history.servers.get(&latest.server);
        let ended = server.and_then(|server| server.ended);
        // Another server that raced this one is no restart.
        let is_restart = started(latest.server) < started(charge.server);
        let is_older = announced.is_none_or(|one| started(one.writer) <= started(latest.server));
        is_restart && is_older && ended.is_some() && latest.to == ended
    })
}

/// Returns whether the server noticed the end of a connection of the player when it wrote an entry.
/// The player was back then, although perhaps only while the server stood still. An engine of cells
/// learns of it by a message, which takes a while.
fn lost_now(world: &World, player: &str, charge: &Charge) -> bool {
    let Charge { server, pass_ms, .. } = *charge;
    let ends = world.history.ends.get(&(player.to_owned(), server));
    ends.into_iter().flatten().flatten().any(|noticed| {
        let known_at = world.history.known_at(server, *noticed, pass_ms);
        (*noticed..=known_at).contains(&charge.at)
    })
}

fn judge(world: &World, id: &str, faulted: &Faulted, charge: &Charge) -> Result<(), String> {
    let (player, fault) = (faulted.player.as_str(), &faulted.fault);
    let history = &world.history;
    match fault.kind {
        FaultKind::Timeout => {
            let request = faulted.request.as_ref().ok_or("nothing was asked")?;
            let late = out_of_time(history, player, &format!("{id}:{request}"), charge);
            // A program that reconnected may have timed out in a repeated call of the beginning.
            late.or_else(|what| out_of_courtesy(world, player, charge).ok_or(what))
        }
        FaultKind::Cheat | FaultKind::Illegal | FaultKind::Malformed => {
            said(history, player, fault)
        }
        // The connection may close at the very moment the player should have been back.
        FaultKind::Disconnected if fault.detail.contains("after a pause") => {
            let gone = paused(world, id, player, charge);
            gone.or_else(|what| disconnected(world, player, charge).map_err(|_| what))
        }
        FaultKind::Disconnected => disconnected(world, player, charge),
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

/// `Some` if a call outside matches was written to a player of another system and not answered in
/// time.
fn out_of_courtesy(world: &World, player: &str, charge: &Charge) -> Option<()> {
    let own = world.links.iter().filter(|link| player_name(link.bot) == player);
    let open = own.flat_map(|link| link.calls.iter().filter(|call| call.request.is_none()));
    let open = open.map(|call| call.written);
    let answered = world.history.courtesies.get(player).into_iter().flatten();
    let late = answered.filter(|(_, in_time)| !in_time).map(|(written, _)| *written);
    let mut missed = open.chain(late);
    let due = |written: &Written| written.at + written.limit_ms <= charge.at;
    missed.find(|written| written.server == charge.server && due(written)).map(|_| ())
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
    charge: &Charge,
) -> Result<(), String> {
    let key = (player.to_owned(), request.to_owned());
    let own = |server: u32| server == charge.server;
    let written = history.written.get(&key).into_iter().flatten();
    let mut written = written.filter(|written| own(written.server) && written.at < charge.at);
    let Some(last) = written.next_back() else {
        return Err("the request was never written".into());
    };
    if charge.at < last.at + last.limit_ms {
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
fn disconnected(world: &World, player: &str, charge: &Charge) -> Result<(), String> {
    let (at, history) = (charge.at, &world.history);
    let started = charge.started.unwrap_or(at);
    if lost_now(world, player, charge) {
        return Ok(());
    }
    let reconnect_ms = world.plan.reconnect_ms;
    let person = world.bots.iter().any(|bot| bot.name.as_str() == player && bot.temper.person);
    let away_ms = if person { AWAY_MS.min(reconnect_ms - 1) } else { reconnect_ms };
    // The server with the connections waits for a person, whoever plays their tournament.
    let server = history.servers.get(&charge.server).filter(|_| person);
    if at < server.map_or(started, |server| server.started) + away_ms {
        return Err("its connection was there".into());
    }
    let gone = not_here(history, player, charge, at.before(away_ms));
    let gone = gone.or_else(|what| came_late(history, player, charge, away_ms).ok_or(what));
    // After a start, an engine of cells charges when it has all messages of the lobby's engine up to
    // the end of the time to reconnect. The server may stand still meanwhile.
    let due = started + reconnect_ms;
    let is_late = charge.pass_ms > 0
        && at >= due
        && at.before(CHARGE_LATE_MS) < history.known_at(charge.server, due, charge.pass_ms);
    let times = (due.before(away_ms), due);
    gone.or_else(|what| match is_late {
        true => not_here_until(history, player, charge.server, times),
        false => Err(what),
    })
}

/// Checks that the player was absent when they should have been back after a pause.
fn paused(world: &World, id: &str, player: &str, charge: &Charge) -> Result<(), String> {
    let at = charge.at;
    let stream = world.disk.stream(&format!("tournament/{id}"));
    let mut resumed = stream.iter().filter(|one| match one.line.event {
        Event::TournamentResumed(_) => one.line.at + world.plan.reconnect_ms <= at,
        _ => false,
    });
    resumed.next().ok_or("its time is not over")?;
    not_here(&world.history, player, charge, at)
}

/// Checks that the server was up all the time, and the player was not connected.
fn waited_in_vain(
    history: &History,
    faulted: &Faulted,
    charge: &Charge,
    wait_ms: Millis,
) -> Result<(), String> {
    let since = charge.at.before(wait_ms);
    let started = charge.started.unwrap_or_default();
    if started > since {
        return Err(format!("the server was only there since {started}"));
    }
    let player = faulted.player.as_str();
    let gone = not_here(history, player, charge, since);
    gone.or_else(|what| came_late(history, player, charge, wait_ms).ok_or(what))
}

/// `Some` if the player came just before an engine of cells charged them, after so long a time of
/// absence. The engine charges when it has all messages of the lobby's engine up to the end of the
/// wait, and the player may arrive meanwhile.
fn came_late(history: &History, player: &str, charge: &Charge, wait_ms: Millis) -> Option<()> {
    let late = charge.at.before(charge.pass_ms + CHARGE_LATE_MS)..charge.at;
    let here = history.here.get(player).into_iter().flatten();
    let mut here = here.filter(|here| here.server == charge.server && charge.pass_ms > 0);
    let came_late = here.any(|here| {
        let times = (here.from.before(wait_ms), here.from);
        late.contains(&here.from) && not_here_until(history, player, charge.server, times).is_ok()
    });
    came_late.then_some(())
}

fn not_here(
    history: &History,
    player: &str,
    charge: &Charge,
    since: Timestamp,
) -> Result<(), String> {
    not_here_until(history, player, charge.server, (since, charge.at))
}

/// Checks that a server did not see the player between two times.
fn not_here_until(
    history: &History,
    player: &str,
    server: u32,
    (since, until): (Timestamp, Timestamp),
) -> Result<(), String> {
    let here = history.here.get(player).into_iter().flatten();
    let mut here = here.filter(|here| here.server == server);
    let there = here
        .find(|here| here.from < until && here.to.is_none_or(|to| to > since.min(until.before(1))));
    match there {
        Some(here) => Err(format!("it was there from {} to {:?}", here.from, here.to)),
        None => Ok(()),
    }
}
