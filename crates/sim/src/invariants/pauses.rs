//! During a pause only rulings and earlier requests have effects: no game or round starts, nobody
//! runs out of time, no match ends by its games. (`when_spoken` checks that no request is sent.)

use super::{Streams, matches, tournaments};
use crate::world::World;
use agon_core::{Event, FaultKind, How};

pub(super) fn check(_world: &World, streams: &Streams) -> Result<(), String> {
    for (tournament, id, entries) in matches(streams) {
        let mut rests = false;
        for entry in entries {
            let seq = entry.line.seq;
            let wrong = match &entry.line.event {
                Event::MatchPaused(_) => {
                    rests = true;
                    false
                }
                Event::MatchResumed(_) | Event::MatchCalledOff(_) | Event::MatchReopened(_) => {
                    rests = false;
                    false
                }
                Event::GameStarted(_) | Event::WaitExpired(_) => true,
                // A player who withdraws forfeits, also in a pause.
                Event::MatchEnded(ended) => matches!(ended.result.how, How::Played | How::Lot),
                Event::PlayerLeft(left) => left.faulted.fault.kind == FaultKind::Timeout,
                Event::PlayerFaulted(faulted) => faulted.faulted.fault.kind == FaultKind::Timeout,
                _ => false,
            };
            if rests && wrong {
                let tag = entry.line.event.tag();
                return Err(format!("{tournament}/{id}: event {seq}, {tag}, in a pause"));
            }
        }
    }
    for (id, entries) in tournaments(streams) {
        let mut paused = false;
        for entry in entries {
            let wrong = match &entry.line.event {
                Event::TournamentPaused(_) | Event::TournamentInterrupted(_) => {
                    paused = true;
                    false
                }
                Event::TournamentResumed(_) | Event::TournamentAwarded(_) => {
                    paused = false;
                    false
                }
                Event::RoundPaired(_) | Event::RoundsEnded(_) | Event::TournamentEnded(_) => true,
                _ => false,
            };
            if paused && wrong {
                let (seq, tag) = (entry.line.seq, entry.line.event.tag());
                return Err(format!("{id}: event {seq}, {tag}, in a pause"));
            }
        }
    }
    Ok(())
}
