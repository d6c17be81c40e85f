//! Players whose gateway translates their messages, and seats where a timeout is a crash:
//!
//! - a fault quotes the player's original message, not its translation;
//! - a process that does not answer in time counts as crashed. It forfeits its game; or, where a
//!   crash costs nothing, the game is paused and the match waits until the process sends something.

use super::{ConnId, Engine, MatchKey, TranslatedAnswer};
use agon_core::{Command, Event, Fault, FaultKind, Millis, PlayerName, Rejection, RequestId};
use agon_games::Refusal;

impl Engine {
    pub(super) fn translated(&mut self, conn: ConnId, said: TranslatedAnswer, at: Millis) {
        let session = self.sessions.get(conn);
        let Some(player) = session.and_then(|session| session.account.clone()) else { return };
        self.hear_from(conn, &player);
        let TranslatedAnswer { id, answer, sent } = said;
        self.answered_by(conn, player, &id, at, move |engine, key, player, request, took_ms| {
            let command = match answer {
                Ok(answer) => Command::Translated { player, request, answer, sent, took_ms },
                Err(refusal) => {
                    engine.expects(key, &player, &request)?;
                    Command::Charge { player, fault: not_an_answer(&refusal, &sent) }
                }
            };
            engine.step_match(key, command)
        });
    }

    fn expects(
        &self,
        key: &MatchKey,
        player: &PlayerName,
        request: &RequestId,
    ) -> Result<(), Rejection> {
        let live = self.matches.get(key).ok_or(Rejection::Over)?;
        let mut open = live.played.pending().into_iter();
        match open.any(|pending| pending.id == *request && pending.player == *player) {
            true => Ok(()),
            false => Err(Rejection::Late),
        }
    }

    /// The command for a request that timed out: a process that hangs counts as crashed.
    pub(super) fn timed_out(&mut self, command: Command) -> Command {
        match command {
            Command::Charge { player, fault } if self.is_hung(&player, &fault) => {
                let conn = self.conn_of(&player);
                if let Some(session) = conn.and_then(|conn| self.sessions.get_mut(conn)) {
                    session.is_silent = true;
                }
                Command::Leave { player, fault }
            }
            command => command,
        }
    }

    fn is_hung(&self, player: &PlayerName, fault: &Fault) -> bool {
        let seat = self.seat_of(player);
        fault.kind == FaultKind::Timeout && seat.is_some_and(|seat| seat.timeout_is_crash)
    }

    /// Players who lapsed (no answer in time, malformed answer) while their connection is open.
    /// They return at once, and their requests are sent again. A hung process returns when it sends
    /// something.
    pub(super) fn lapsed(&self, events: &[Event]) -> Vec<PlayerName> {
        let lapsed = events.iter().filter_map(|event| match event {
            Event::PlayerLeft(left) if left.faulted.fault.kind != FaultKind::Withdrew => {
                Some(&left.faulted)
            }
            _ => None,
        });
        let back = lapsed.filter(|faulted| {
            self.conn_of(&faulted.player).is_some()
                && !self.is_hung(&faulted.player, &faulted.fault)
        });
        back.map(|faulted| faulted.player.clone()).collect()
    }

    /// Returns a hung process to its matches when it sends something.
    pub(super) fn hear_from(&mut self, conn: ConnId, player: &PlayerName) {
        let Some(session) = self.sessions.get_mut(conn) else { return };
        if !std::mem::take(&mut session.is_silent) {
            return;
        }
        for key in self.matches.of(player) {
            if self.live_match(&key).is_some_and(|played| !played.is_here(player)) {
                self.arrive(&key, player);
            }
        }
    }
}

/// The fault for a message that is not an answer.
fn not_an_answer(refusal: &Refusal, sent: &str) -> Fault {
    let mut fault = Fault::refused(refusal, "").with_sent(sent);
    fault.answer = None;
    fault
}
