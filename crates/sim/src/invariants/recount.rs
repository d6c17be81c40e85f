//! The players' own records against the log: every connected player was notified, and correctly.
//!
//! Recounts the tournament from the players' records: who won which match, who left, who won.

use super::{Streams, course, matches, tournaments};
use crate::disk::Entry;
use crate::world::World;
use agon_core::{Event, FaultKind, Faulted, Millis, PlayerName, Timestamp, TournamentId};
use std::collections::BTreeSet;

/// How late a notice of an engine on another node may be: the database may not answer for seconds.
const NOTICE_MS_MAX: Millis = 8_000;

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    for (tournament, id, entries) in matches(streams) {
        let key = (tournament.to_owned(), id.to_owned());
        let of = streams.get(&format!("tournament/{tournament}"));
        let course = of.and_then(|entries| course::read(entries));
        let mut of = of.into_iter().flatten();
        let report = of.find(|entry| match &entry.line.event {
            Event::MatchReported(report) => report.id.as_str() == id,
            _ => false,
        });
        // Players are notified of more than one end of a match that was voided or replayed.
        if course.is_some_and(|course| course.is_ruled(id)) {
            continue;
        }
        let Some(last) = entries.last() else { continue };
        let Event::MatchEnded(ended) = &last.line.event else { continue };
        let Some(Event::MatchCreated(created)) = entries.first().map(|entry| &entry.line.event)
        else {
            continue;
        };
        for bot in &world.bots {
            let plays = created.plan.players.contains(&bot.name);
            let won = ended.result.winners.contains(&bot.name);
            match bot.record.matches.get(&key) {
                Some(_) if !plays => {
                    return Err(format!("{} was notified of {tournament}/{id}", bot.name));
                }
                Some(noted) if *noted != won => {
                    return Err(format!(
                        "{} was notified of won={noted} in {tournament}/{id}",
                        bot.name
                    ));
                }
                // Other protocols have no message for it.
                None if bot.is_peer() => {}
                None if plays
                    && stayed(world, &bot.name, last)
                    && report.is_none_or(|report| !is_lost(world, report)) =>
                {
                    return Err(format!(
                        "{} was not notified of the end of {tournament}/{id}",
                        bot.name
                    ));
                }
                _ => {}
            }
        }
    }
    tournaments(streams).try_for_each(|(id, entries)| {
        let Some(last) = entries.last() else { return Ok(()) };
        let Event::TournamentEnded(ended) = &last.line.event else { return Ok(()) };
        champions(world, id, entries, &ended.winners)?;
        let commitment = ended.secret.commitment();
        let commitment = serde_json::json!(commitment);
        for bot in &world.bots {
            let noted = bot.record.commitments.get(id);
            if noted.is_some_and(|noted| commitment != *noted) {
                return Err(format!("{id}: {} got another commitment", bot.name));
            }
        }
        Ok(())
    })
}

/// Checks that the players notified of their win are the winners.
fn champions(
    world: &World,
    id: &str,
    entries: &[Entry],
    winners: &[PlayerName],
) -> Result<(), String> {
    // A player who had lost may win by an award. A crash can lose the second notice.
    let is_award = |entry: &Entry| matches!(entry.line.event, Event::TournamentAwarded(_));
    let is_awarded = entries.iter().any(is_award);
    for bot in &world.bots {
        if let Some((won, rank)) = bot.record.tournaments.get(id)
            && (*won || !is_awarded)
            && !has_left(entries, &bot.name)
            && *won != winners.contains(&bot.name)
        {
            return Err(format!("{id}: {} was notified of won={won}, rank {rank}", bot.name));
        }
    }
    let results: Vec<&Vec<String>> =
        world.bots.iter().filter_map(|bot| bot.record.results.get(id)).collect();
    let due: BTreeSet<&str> = winners.iter().map(PlayerName::as_str).collect();
    let right =
        |names: &&Vec<String>| names.iter().map(String::as_str).collect::<BTreeSet<_>>() == due;
    match results.iter().all(right) {
        true => announced(world, id, results.len()),
        false => Err(format!("{id}: the operator was sent winners {results:?}")),
    }
}

/// Returns whether the log says that a player withdrew, or that an operator withdrew or blacklisted
/// them. Such a player loses a win of which they were already notified. `blame` checks the reason.
fn has_left(entries: &[Entry], player: &PlayerName) -> bool {
    entries.iter().any(|entry| match &entry.line.event {
        Event::PlayerDropped(dropped) => {
            let Faulted { player: of, fault, .. } = &dropped.faulted;
            of == player && fault.kind == FaultKind::Withdrew
        }
        _ => false,
    })
}

/// Checks that the announcer of a tournament, if still connected at its end, was sent its result.
fn announced(world: &World, id: &str, results: usize) -> Result<(), String> {
    let operator = &world.bots[0];
    let finished = world.disk.stream("lobby").into_iter().find(|entry| {
        let of = TournamentId::from_text(id);
        matches!(&entry.line.event, Event::TournamentFinished(end) if end.tournament == of)
    });
    // Tournaments of a series have no announcer.
    let asked = world.plan.cups.iter().any(|cup| cup.id == id);
    match finished.filter(|_| asked) {
        Some(end) if results == 0 && stayed(world, &operator.name, &end) => {
            Err(format!("{id}: {} was not sent the result", operator.name))
        }
        _ => Ok(()),
    }
}

/// Returns whether the notices of a record may be lost: those on a link that is given up are. If a
/// match ended and its report is not durable yet, the engine that reports it notifies the players.
fn is_lost(world: &World, entry: &Entry) -> bool {
    let loan = world.history.loans.get(&entry.writer);
    let lost_at = loan.and_then(|loan| loan.ended);
    lost_at.is_some_and(|lost_at| entry.durable_at + NOTICE_MS_MAX > lost_at)
}

/// Returns whether a player was connected from before a decision to the end of the run, and the
/// engine that decided knew of it.
fn stayed(world: &World, player: &PlayerName, entry: &Entry) -> bool {
    let history = &world.history;
    let (server, at) = (world.seats_of(entry), world.seat_time(entry));
    if is_lost(world, entry) {
        return false;
    }
    let is_known = |from: Timestamp| match world.pass_ms(entry) {
        0 => from < at,
        pass_ms => history.known_at(server, from, pass_ms) < at,
    };
    let here = history.here.get(player.as_str()).into_iter().flatten();
    let mut here = here.filter(|here| here.server == server && is_known(here.from));
    // A server may not have noticed yet that a connection has broken.
    let cuts = history.cuts_of.get(player.as_str()).map_or(&[][..], Vec::as_slice);
    here.any(|here| here.to.is_none() && cuts.iter().all(|cut| *cut < here.from))
}
