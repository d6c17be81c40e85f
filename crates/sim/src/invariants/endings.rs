//! Every game ends by a rule: it is played out, forfeited by a player at fault, or void because
//! nobody came. Every match and tournament ends.

use super::{Streams, matches, tournaments};
use crate::world::World;
use agon_core::{Event, GameEnd, PlayerName};

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    for (tournament, id, entries) in matches(streams) {
        let mut open = None;
        let mut charged: Vec<&PlayerName> = Vec::new();
        let mut ruled = false;
        for entry in entries {
            match &entry.line.event {
                Event::GameStarted(started) => {
                    open = Some(started.game);
                    charged.clear();
                    ruled = false;
                }
                Event::GameVoided(voided) => ruled |= open == Some(voided.game),
                Event::VoidUndone(undone) => ruled &= open != Some(undone.game),
                Event::MatchCalledOff(_) => ruled = true,
                Event::PlayerLeft(left) => charged.push(&left.faulted.player),
                Event::PlayerFaulted(faulted) => charged.push(&faulted.faulted.player),
                Event::WaitExpired(expired) => charged.push(&expired.faulted.player),
                Event::GameEnded(ended) => {
                    let game = ended.result.game;
                    if open.take() != Some(game) {
                        return Err(format!("{tournament}/{id}: game {game} ends and never began"));
                    }
                    let by_rule = match &ended.result.end {
                        GameEnd::Played => true,
                        GameEnd::Forfeited { by } => charged.contains(&by),
                        GameEnd::Void => ruled || !charged.is_empty(),
                    };
                    if !by_rule {
                        return Err(format!("{tournament}/{id}: game {game} ends by no rule"));
                    }
                }
                _ => {}
            }
        }
        let over = entries.last().map(|entry| &entry.line.event);
        if !matches!(over, Some(Event::MatchEnded(_))) || open.is_some() {
            return Err(format!("{tournament}/{id} has no end"));
        }
    }
    for (id, entries) in tournaments(streams) {
        let over = entries.last().map(|entry| &entry.line.event);
        let ended = matches!(over, Some(Event::TournamentEnded(_) | Event::TournamentAborted(_)));
        let finished = world.disk.look(|index| index.finished.contains_key(id));
        if !ended || !finished {
            return Err(format!("tournament {id} has no end"));
        }
    }
    Ok(())
}
