//! In a format whose rounds fill a tree, a player has at most one bye. A player who has another one
//! advances because the other side of the round before has no winner.

use super::{Streams, champion, tournaments};
use crate::world::World;
use agon_core::{Event, PlayerName};
use std::collections::BTreeMap;

pub(super) fn check(_world: &World, streams: &Streams) -> Result<(), String> {
    for (id, entries) in tournaments(streams) {
        let mut byes: BTreeMap<&PlayerName, u32> = BTreeMap::new();
        let is_tree = entries.first().is_some_and(|entry| match &entry.line.event {
            Event::TournamentCreated(created) => champion::is_tree(&created.plan.policy.format),
            _ => false,
        });
        for entry in entries.iter().filter(|_| is_tree) {
            let Event::RoundPaired(paired) = &entry.line.event else { continue };
            // Later rounds have byes only where a match had no winner, or its winner is gone.
            let drawn = paired.byes.iter().filter(|bye| bye.walkover.is_none());
            let drawn = drawn.filter(|_| paired.round == 1);
            for player in drawn.filter_map(|bye| bye.player.as_ref()) {
                *byes.entry(player).or_default() += 1;
            }
            let seats = paired.matches.len() * 2 + paired.byes.len() * 2;
            if !seats.is_power_of_two() {
                return Err(format!("{id}: round {} has {seats} places", paired.round));
            }
        }
        if let Some((player, count)) = byes.iter().find(|(_, count)| **count > 1) {
            return Err(format!("{id}: {player} has {count} byes"));
        }
    }
    Ok(())
}
