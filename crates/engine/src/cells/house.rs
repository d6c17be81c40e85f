//! House players: the engine sends them requests through an effect, and no clock runs for them.

use super::Cells;
use crate::services::Context;
use crate::{Effect, HouseQuestion, MatchKey};
use agon_core::{Ask, Command, Pending, PlayerName, RequestId};
use std::sync::Arc;

impl Cells {
    /// Has a house player answer a request.
    pub(super) fn ask_house(&mut self, cx: &mut Context<'_>, key: &MatchKey, pending: Pending) {
        let Some(live) = self.matches.get_mut(key) else { return };
        live.mark_sent(cx.services.now_ms(), pending.clone(), None);
        let (player, request, limit_ms) = (pending.player, pending.id, pending.limit_ms);
        match (pending.ask, live.played.referee()) {
            (Ask::Game(seat), Some(_)) => {
                let Some(name) = cx.present.seat(&player).and_then(|seat| seat.house()) else {
                    return;
                };
                let (key, name) = (key.clone(), Arc::clone(name));
                let question = HouseQuestion { key, player, name, request, limit_ms, seat };
                cx.effects.push(Effect::AskHouse(Box::new(question)));
            }
            _ => self.house_answered(cx, key, player, request, "\"ok\"".into()),
        }
    }

    /// Handles the answer of a house player.
    pub(crate) fn house_answered(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        player: PlayerName,
        request: RequestId,
        answer: String,
    ) {
        let took_ms = Some(0);
        let _ = self.step_match(cx, key, Command::Answer { player, request, answer, took_ms });
    }
}
