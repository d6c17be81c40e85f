//! House players: the engine sends them requests through an effect, and no clock runs for them.

use super::{Effect, Engine, HouseQuestion, MatchKey};
use agon_core::{Ask, Command, Pending, PlayerName, RequestId};

impl Engine {
    /// Has a house player answer a request.
    pub(super) fn ask_house(&mut self, key: &MatchKey, pending: Pending) {
        let (player, request) = (pending.player, pending.id);
        let game = self.matches.get(key).and_then(|live| live.played.referee());
        match (pending.ask, game) {
            (Ask::Game(seat), Some(referee)) => {
                let (key, game) = (key.clone(), referee.game().boxed_clone());
                let question = HouseQuestion { key, player, request, seat, game };
                self.effects.push(Effect::AskHouse(Box::new(question)));
            }
            _ => self.house_answered(key, player, request, "\"ok\"".into()),
        }
    }

    pub(super) fn house_answered(
        &mut self,
        key: &MatchKey,
        player: PlayerName,
        request: RequestId,
        answer: String,
    ) {
        let took_ms = Some(0);
        let _ = self.step_match(key, Command::Answer { player, request, answer, took_ms });
    }
}
