//! Waits and limits hold in virtual time: an answer's duration in the log equals the time that
//! passed on the connections, and no player is given up before their wait is over.

use super::{Streams, matches};
use crate::world::World;
use agon_core::{Event, Millis, PlayerName, Timestamp};
use std::collections::BTreeMap;

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    for (tournament, id, entries) in matches(streams) {
        let mut seats = Vec::new();
        let mut wait_ms = 0;
        // When the match was paused: no clock runs in a pause.
        let mut rests = None;
        let mut since: BTreeMap<PlayerName, Timestamp> = BTreeMap::new();
        for entry in entries {
            let at = world.seat_time(entry);
            match &entry.line.event {
                Event::MatchCreated(created) => {
                    wait_ms = created.plan.rules.time.wait_ms;
                    since = created.plan.players.iter().map(|one| (one.clone(), at)).collect();
                }
                Event::MatchPaused(_) => rests = Some(at),
                Event::MatchResumed(_) | Event::MatchEnded(_) => rests = None,
                Event::GameStarted(started) => seats.clone_from(&started.seats),
                Event::PlayerLeft(left) => drop(since.insert(left.faulted.player.clone(), at)),
                Event::WaitExpired(expired) => {
                    let player = &expired.faulted.player;
                    let began = since.get(player).copied().unwrap_or(at);
                    if at < began + wait_ms {
                        let early = (began + wait_ms).since(at);
                        return Err(format!(
                            "{tournament}/{id}: {player} is given up {early} ms early"
                        ));
                    }
                }
                Event::AnswerAccepted(accepted) if accepted.answer.get() != "\"ok\"" => {
                    let Some(player) = seats.get(accepted.seat.index()) else { continue };
                    if player.house().is_some() {
                        continue;
                    }
                    let request = format!("{tournament}:{}", accepted.request);
                    // In a pause an engine of cells only estimates how long an answer took: the seat
                    // measures it, and does not know of the pause. No answer is late then.
                    if rests.is_none() || world.pass_ms(entry) == 0 {
                        let timing = (accepted.took_ms, rests);
                        took(world, player, request, timing, world.seats_of(entry))?;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn took(
    world: &World,
    player: &PlayerName,
    request: String,
    (took_ms, rests): (Millis, Option<Timestamp>),
    server: u32,
) -> Result<(), String> {
    let key = (player.to_string(), request);
    let written = world.history.written.get(&key).map_or(&[][..], Vec::as_slice);
    let heard = world.history.heard.get(&key).map_or(&[][..], Vec::as_slice);
    let until = |at: Timestamp| rests.map_or(at, |since: Timestamp| since.min(at));
    let own = || written.iter().filter(|written| written.server == server);
    // A player who changes their connection gets the request again with the time that is left.
    let whole_ms = own().map(|written| written.limit_ms).max().unwrap_or(0);
    let fits = own().any(|written| {
        let spent_ms = whole_ms - written.limit_ms;
        let mut own = heard.iter().filter(|heard| heard.server == server);
        let due = written.at + took_ms;
        took_ms <= whole_ms && own.any(|heard| until(heard.at) + spent_ms == due)
    });
    // An answer may precede its request on this connection, if another connection carried the
    // request before. It then took no time.
    let early = took_ms == 0 && heard.iter().any(|heard| heard.server == server);
    // During a pause no answer is late, even if the server stalled when the time ran out.
    let all = rests.is_some() && took_ms == whole_ms;
    match fits || early || all {
        true => Ok(()),
        false => Err(format!("{}: the log says {took_ms} ms; {written:?}, {heard:?}", key.1)),
    }
}
