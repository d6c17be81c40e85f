//! House players: the engine sends them requests through an effect, and no clock runs for them.

use super::Cells;
use crate::services::Context;
use crate::timers::Timer;
use crate::{Effect, HouseQuestion, MatchKey};
use agon_core::{Ask, Match, MatchCommand, Millis, Pending, PlayerName, RequestId};
use std::sync::Arc;

impl Cells {
    /// Has a house player answer a request, after its wait if the tournament is paced.
    pub(super) fn ask_house(&mut self, cx: &mut Context<'_>, key: &MatchKey, pending: Pending) {
        let Some(live) = self.matches.get_mut(key) else { return };
        live.mark_sent(cx.time.now, pending.clone(), None);
        match pace_ms(&live.played, &pending) {
            0 => self.ask_house_now(cx, key, pending),
            pace_ms => {
                let at = cx.time.now.saturating_add(pace_ms);
                cx.timers.set(at, Timer::HousePace(key.clone(), pending.id));
            }
        }
    }

    /// Has a house player answer the request that it waited with, if the request is still open.
    pub(super) fn pace_due(&mut self, cx: &mut Context<'_>, key: &MatchKey, request: &RequestId) {
        let Some(live) = self.matches.get(key) else { return };
        let mut open = live.played.pending().into_iter();
        if let Some(pending) = open.find(|pending| pending.id == *request) {
            self.ask_house_now(cx, key, pending);
        }
    }

    fn ask_house_now(&mut self, cx: &mut Context<'_>, key: &MatchKey, pending: Pending) {
        let (player, request, limit_ms) = (pending.player, pending.id, pending.limit_ms);
        let game = self.matches.get(key).and_then(|live| live.played.referee());
        match (pending.ask, game) {
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
        let _ = self.step_match(cx, key, MatchCommand::Answer { player, request, answer, took_ms });
    }
}

/// How long a house player waits before it answers. It waits only with decisions.
fn pace_ms(played: &Match, pending: &Pending) -> Millis {
    match (pending.ask, played.referee()) {
        (Ask::Game(seat), Some(referee)) if !referee.game().only_tells(seat) => {
            played.plan().rules.time.house_pace_ms
        }
        _ => 0,
    }
}
