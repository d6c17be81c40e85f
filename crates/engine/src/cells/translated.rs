//! Players whose gateway translates their messages, and seats where a timeout is a crash:
//!
//! - a fault quotes the player's original message, not its translation;
//! - a process that does not answer in time counts as crashed. It forfeits its game; or, where a
//!   crash costs nothing, the game is paused and the match waits until the process sends something.

use super::Cells;
use crate::port::GivenAnswer;
use crate::services::Context;
use crate::{MatchKey, TranslatedAnswer};
use agon_core::{Event, Fault, FaultKind, MatchCommand, Millis, PlayerName, Rejection, RequestId};
use agon_games::Refusal;

impl Cells {
    /// The command for an answer in the form that its seat gave.
    pub(super) fn answer_command(
        &self,
        key: &MatchKey,
        player: PlayerName,
        request: RequestId,
        given: GivenAnswer,
        took_ms: Option<Millis>,
    ) -> Result<MatchCommand, Rejection> {
        let TranslatedAnswer { answer, sent, .. } = match given {
            GivenAnswer::Plain(_, answer) | GivenAnswer::Reply(_, Ok(answer)) => {
                return Ok(MatchCommand::Answer { player, request, answer, took_ms });
            }
            GivenAnswer::Reply(_, Err(bad)) => {
                self.expects(key, &player, &request)?;
                return Ok(MatchCommand::Charge { player, fault: bad.fault() });
            }
            GivenAnswer::Translated(said) => said,
        };
        Ok(match answer {
            Ok(answer) => MatchCommand::Translated { player, request, answer, sent, took_ms },
            Err(refusal) => {
                self.expects(key, &player, &request)?;
                MatchCommand::Charge { player, fault: not_an_answer(&refusal, &sent) }
            }
        })
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
    pub(super) fn timed_out(
        &mut self,
        cx: &mut Context<'_>,
        command: MatchCommand,
    ) -> MatchCommand {
        match command {
            MatchCommand::Charge { player, fault } if is_hung(cx, &player, &fault) => {
                self.silent.insert(player.clone());
                MatchCommand::Leave { player, fault }
            }
            command => command,
        }
    }

    /// Players who lapsed (no answer in time, malformed answer) while their connection is open.
    /// They return at once, and their requests are sent again. A hung process returns when it sends
    /// something.
    pub(super) fn lapsed(&self, cx: &Context<'_>, events: &[Event]) -> Vec<PlayerName> {
        let lapsed = events.iter().filter_map(|event| match event {
            Event::PlayerLeft(left) if left.faulted.fault.kind != FaultKind::Withdrew => {
                Some(&left.faulted)
            }
            _ => None,
        });
        let back = lapsed.filter(|faulted| {
            cx.conn_of(&faulted.player).is_some() && !is_hung(cx, &faulted.player, &faulted.fault)
        });
        back.map(|faulted| faulted.player.clone()).collect()
    }

    /// Returns a hung process to its matches when it sends something.
    pub(super) fn hear_from(&mut self, cx: &mut Context<'_>, player: &PlayerName) {
        if !self.silent.remove(player) {
            return;
        }
        for key in self.matches.of(player) {
            if self.live_match(&key).is_some_and(|played| !played.is_here(player)) {
                self.arrive(cx, &key, player);
            }
        }
    }
}

/// Returns whether a player's process counts as crashed, because it let a request time out.
fn is_hung(cx: &Context<'_>, player: &PlayerName, fault: &Fault) -> bool {
    let seat = cx.present.seat(player);
    fault.kind == FaultKind::Timeout && seat.is_some_and(|seat| seat.timeout_is_crash())
}

/// The fault for a message that is not an answer.
fn not_an_answer(refusal: &Refusal, sent: &str) -> Fault {
    let mut fault = Fault::refused(refusal, "").with_sent(sent);
    fault.answer = None;
    fault
}
