//! Accepted answers are in the log exactly once and in order, and each is one its player sent.

use super::{Streams, matches};
use crate::said::Asked;
use crate::world::World;
use agon_core::Event;
use std::collections::BTreeMap;

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    for (tournament, id, entries) in matches(streams) {
        let mut next: BTreeMap<(u32, u8), u32> = BTreeMap::new();
        let mut seats = Vec::new();
        for entry in entries {
            let Event::AnswerAccepted(accepted) = &entry.line.event else {
                if let Event::GameStarted(started) = &entry.line.event {
                    seats.clone_from(&started.seats);
                }
                continue;
            };
            let request = format!("{tournament}:{}", accepted.request);
            let asked = Asked::parse(&request).ok_or_else(|| format!("an answer to {request}"))?;
            let due = next.entry((asked.game, asked.seat)).or_default();
            if asked.turn != *due {
                return Err(format!("{id}: answer {request} where {due} was due"));
            }
            *due += 1;
            let Some(player) = seats.get(asked.seat as usize) else {
                return Err(format!("{request}: nobody sits there"));
            };
            let answer = accepted.answer.get();
            if player.house().is_some() || answer == "\"ok\"" {
                continue;
            }
            let bot = world.bots.iter().find(|bot| bot.name == *player);
            let sent = bot.and_then(|bot| bot.record.sent.get(&request));
            if !sent.is_some_and(|sent| sent.iter().any(|sent| sent == answer)) {
                return Err(format!("{request}: {player} never sent {answer}, only {sent:?}"));
            }
            let key = (player.to_string(), request.clone());
            let heard = world.history.heard.get(&key).into_iter().flatten();
            let mut heard = heard.filter(|heard| heard.server == world.seats_of(entry));
            if !heard.any(|heard| heard.answer == answer && heard.at <= world.seat_time(entry)) {
                return Err(format!("{request}: server {} never read {answer}", entry.writer));
            }
        }
    }
    Ok(())
}
