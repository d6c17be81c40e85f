//! Matches between house players only: no process, no wire, no waiting.

use crate::host::Shared;
use crate::play::{Commit, MatchOver};
use agon_bots::HousePlayer;
use agon_core::{Ask, Command, Match, PlayerName};
use std::collections::HashMap;

/// House players by name.
pub(crate) type HouseTable = HashMap<PlayerName, Box<dyn HousePlayer>>;

/// Plays a match to its end, or until the run is asked to stop.
pub(crate) fn play(
    shared: &Shared,
    mut played: Match,
    commit: &mut Commit,
    players: &mut HouseTable,
) -> Result<Option<MatchOver>, crate::host::RunError> {
    for player in played.plan().players.clone() {
        let command = Command::Arrive { player, nonce: None };
        commit.step(shared, &mut played, command)?.ok();
    }
    loop {
        if let Some(over) = commit.over(&played) {
            return Ok(Some(over));
        }
        if shared.stop.is_asked() {
            return Ok(None);
        }
        for pending in played.pending() {
            let answer = house_answer(&played, &pending.player, &pending.id, pending.ask, players);
            let (player, request) = (pending.player, pending.id);
            let command = Command::Answer { player, request, answer, took_ms: Some(0) };
            if commit.step(shared, &mut played, command)?.is_err() {
                // An earlier answer closed this request (a game that ended); ask anew.
                break;
            }
        }
    }
}

/// The answer of a house player to a request.
pub(crate) fn house_answer(
    played: &Match,
    player: &PlayerName,
    id: &agon_core::RequestId,
    ask: Ask,
    players: &mut HouseTable,
) -> String {
    match (ask, played.referee()) {
        (Ask::Game(seat), Some(referee)) => {
            let house = players.get_mut(player).expect("house players are made before they play");
            house.answer(player.as_str(), id.as_str(), seat, referee.game()).get().to_owned()
        }
        _ => "\"ok\"".to_owned(),
    }
}
