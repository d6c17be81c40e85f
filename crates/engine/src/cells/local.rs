//! Matches of programs that the host starts itself, as `agon run` does. A signal from outside that
//! ends or stops a program is nobody's fault: the game counts for nothing, and the match plays it
//! again.

use super::Cells;
use crate::services::Context;
use crate::{ConnId, MatchKey};
use agon_core::{
    Fault, MatchCommand, MatchOrder, PlayerName, Ruling, TournamentAsk, TournamentCommand,
    TournamentOrder,
};

impl Cells {
    /// Sends a player's requests again, with the history: the program behind the connection is a
    /// new one.
    pub(crate) fn send_again(&mut self, cx: &mut Context<'_>, player: &PlayerName, conn: ConnId) {
        for key in self.matches.of(player) {
            if let Some(live) = self.matches.get_mut(&key) {
                live.forget_sent_to(conn);
            }
            self.speak(cx, &key);
        }
    }

    /// Charges a player whose program does not start. Nobody waits for them.
    pub(crate) fn give_up(&mut self, cx: &mut Context<'_>, player: &PlayerName, fault: &Fault) {
        for key in self.matches.of(player) {
            let (player, fault) = (player.clone(), fault.clone());
            let _ =
                self.step_match(cx, &key, MatchCommand::Leave { player: player.clone(), fault });
            let _ = self.step_match(cx, &key, MatchCommand::Expire { player });
        }
        for id in cx.accounts.playing_in(player).cloned().collect::<Vec<_>>() {
            let open = self.tournament(&id).and_then(|machine| machine.pending_of(player));
            let greeted =
                open.is_some_and(|open| !matches!(open.ask, TournamentAsk::Farewell { .. }));
            if greeted {
                let (player, fault) = (player.clone(), fault.clone());
                self.step_tournament(cx, &id, TournamentCommand::Drop { player, fault });
            }
        }
    }

    /// Voids the running game of a match. The match itself goes on, with another game.
    pub(crate) fn void_running_game(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        ruling: &Ruling,
    ) {
        let referee = self.live_match(key).and_then(|played| played.referee());
        let Some(game) = referee.map(|referee| referee.number()) else { return };
        for order in [MatchOrder::Pause, MatchOrder::Void(game), MatchOrder::Resume] {
            let _ = self.step_match(cx, key, MatchCommand::Order { order, ruling: ruling.clone() });
        }
    }

    /// Ends a match without a winner. Its tournament decides that, and the match follows.
    pub(crate) fn abandon(&mut self, cx: &mut Context<'_>, key: &MatchKey, ruling: &Ruling) {
        let over = TournamentOrder::Override { id: key.id.clone(), winners: Vec::new() };
        for order in [TournamentOrder::Pause, over, TournamentOrder::Resume] {
            let command = TournamentCommand::Order { order, ruling: ruling.clone() };
            self.step_tournament(cx, &key.tournament, command);
        }
        self.follow(cx, key);
    }
}
