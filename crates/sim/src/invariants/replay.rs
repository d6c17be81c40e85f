//! Replay equals live: every stream follows from the rules, and the live machines equal the fold of
//! their streams.

use super::{Streams, matches, tournaments};
use crate::disk::Entry;
use crate::driver::Driver;
use crate::world::World;
use agon_core::lobby::Lobby;
use agon_core::verify::{self, MatchCheck, Stream, TournamentCheck};
use agon_core::{Line, Match, Secrets, TournamentId};
use std::collections::BTreeMap;

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    let read = |entries: &[Entry]| -> Result<Stream, String> {
        let texts: Vec<String> = entries.iter().map(|entry| entry.text.clone()).collect();
        verify::read(&texts).map_err(|finding| finding.to_string())
    };
    let games = &world.games;
    let mut checks: BTreeMap<String, TournamentCheck> = BTreeMap::new();
    for (id, entries) in tournaments(streams) {
        let check = verify::verify_tournament(&read(entries)?, games, None);
        checks.insert(id.to_owned(), check.map_err(|finding| finding.to_string())?);
    }
    let mut played: BTreeMap<String, MatchCheck> = BTreeMap::new();
    for (tournament, id, entries) in matches(streams) {
        let secret = checks.get(tournament).and_then(|check| check.secret.as_ref());
        let check = verify::verify_match(&read(entries)?, games, secret);
        let check = check.map_err(|finding| finding.to_string())?;
        played.insert(format!("match/{tournament}/{id}"), check);
    }
    let lobby = read(streams.get("lobby").map_or(&[][..], Vec::as_slice))?;
    let secret = |id: &TournamentId| checks.get(id.as_str())?.secret.clone();
    let lobby = verify::verify_lobby(&lobby, secret).map_err(|finding| finding.to_string())?;
    verify::agree(Some(&lobby), &checks, &played).map_err(|finding| finding.to_string())?;
    live(world, streams)
}

/// Checks that live machines without records in flight equal the fold of their streams.
pub(super) fn live(world: &World, streams: &Streams) -> Result<(), String> {
    if let Some(what) = world.disk.early_snapshot() {
        return Err(what);
    }
    let lobby = streams.get("lobby").into_iter().flatten().map(|entry| &entry.line);
    let folded = Lobby::fold(lobby).map_err(|error| error.to_string())?;
    for server in world.servers.iter().filter(|server| world.knows_all(server.id)) {
        if server.driver.durable_lobby().is_some_and(|lobby| *lobby != folded) {
            return Err(format!("the lobby of server {} is not what its log says", server.id));
        }
        live_matches(world, &server.driver, streams)?;
    }
    let cells = world.cells.iter().filter(|cells| world.has_loan(cells));
    cells.map(|cells| &cells.driver).try_for_each(|driver| live_matches(world, driver, streams))
}

fn live_matches(world: &World, driver: &Driver, streams: &Streams) -> Result<(), String> {
    for (tournament, live, secret) in driver.durable_matches() {
        let id = &live.plan().id;
        let entries = streams.get(&format!("match/{tournament}/{id}"));
        let lines: Vec<Line> =
            entries.into_iter().flatten().map(|entry| entry.line.clone()).collect();
        let folded = Match::fold(&lines, &world.games, Secrets::Known(secret.of_match(id)));
        let folded = folded.map_err(|error| format!("{tournament}/{id}: {error}"))?;
        if !folded.same_state(live) {
            return Err(format!("{tournament}/{id} is not what its log says"));
        }
    }
    Ok(())
}
