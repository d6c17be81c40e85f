//! Messages of a player, translated for the server.

use super::{Open, Session, SessionOutput, Speaks, Stands, reject, withdraw};
use crate::erlang::queue::{Owned, without_password};
use crate::erlang::request::{Hand, turn_of};
use crate::erlang::term::{Pid, Ref, Term};
use crate::erlang::{Answers, BadMessage, Message, Password, class, queue, referee};
use crate::native::{FromPlayer, ToLobby};
use agon_core::{Timestamp, TournamentId};
use agon_games::Refusal;

/// The queue for players of the queue protocol, shared with players of other protocols.
pub const QUEUE: &str = "yahtzee-queue";

/// Why a message of a player is rejected. It changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAccepted {
    /// A reference that is foreign, or no longer open.
    #[error("a reference that is foreign or no longer open")]
    Stale,
    /// The end of a turn that is already over: it arrived too late.
    #[error("the end of a turn that is over already")]
    Late,
    /// A message of another vocabulary than the login's, or one that players may not send.
    #[error("not a message of this player's vocabulary")]
    Unexpected,
}

impl<W> Session<W> {
    /// Processes a message of the player, given decoded and as a term; `from` is the sending
    /// process, if known.
    pub fn hear(
        &mut self,
        message: &Message,
        term: &Term,
        from: Option<&Pid>,
        now: Timestamp,
    ) -> Result<Vec<SessionOutput<W>>, NotAccepted> {
        match (message, &self.speaks) {
            (Message::Class(said), Speaks::Class(variant)) => self.hear_class(*variant, said, term),
            (
                Message::Referee(referee::FromPlayer::Answer { reference, to, choice }),
                Speaks::Referee { .. },
            ) => {
                let open = self.open_at(reference)?;
                let answers = referee::answers(&open.question, *to, choice);
                Ok(vec![answer(open, answers, term.to_string())])
            }
            (
                Message::Queue(queue::FromPlayer::Owned { password, what, .. }),
                Speaks::Queue { password: own },
            ) => {
                if !same(password, own) {
                    let to = from.unwrap_or(&self.pid).clone();
                    let term = queue::not_authenticated();
                    let (code, detail) = ("wrong-credentials".into(), "a wrong password".into());
                    let refused = SessionOutput::Refused { code, detail };
                    return Ok(vec![SessionOutput::Tell { to, term, written: None }, refused]);
                }
                self.hear_queue(what, term, now)
            }
            _ => Err(NotAccepted::Unexpected),
        }
    }

    /// Processes an invalid message that names an open request: it counts as a malformed answer.
    pub fn hear_garbled(
        &mut self,
        reference: &Ref,
        bad: &BadMessage,
        term: &Term,
    ) -> Result<Vec<SessionOutput<W>>, NotAccepted> {
        let open = self.open_at(reference)?;
        let refusal = Refusal::malformed(bad.to_string());
        Ok(vec![answer(open, Err(refusal), term.to_string())])
    }

    fn hear_class(
        &mut self,
        variant: class::Variant,
        said: &class::FromPlayer,
        term: &Term,
    ) -> Result<Vec<SessionOutput<W>>, NotAccepted> {
        match said {
            class::FromPlayer::Logout { ticket, .. } => match *ticket == self.ticket().into() {
                true => Ok(vec![SessionOutput::Say(FromPlayer::Lobby(ToLobby::Logout {}))]),
                false => Err(NotAccepted::Stale),
            },
            class::FromPlayer::Invited { pid, accepts, tournament, ticket } => {
                let right = match (variant, ticket) {
                    (class::Variant::NoUser, None) => true,
                    (_, ticket) => *ticket == Some(self.ticket().into()),
                };
                // Agon cannot send to a process of another node.
                let reachable = pid.node == self.pid.node;
                self.invitation_answered(tournament, pid, *accepts && right && reachable)
            }
            class::FromPlayer::Action(action) => {
                let reference = action.reference.as_reference().ok_or(NotAccepted::Stale)?;
                let open = self.open_at(reference)?;
                let about = |own: &Ref, said: &Term| said.as_reference() == Some(own);
                if !about(&open.tournament, &action.tournament) || !about(&open.game, &action.game)
                {
                    return Err(NotAccepted::Stale);
                }
                let answers = class::answers(variant, &open.question, action);
                Ok(vec![answer(open, answers, term.to_string())])
            }
            _ => Err(NotAccepted::Unexpected),
        }
    }

    fn invitation_answered(
        &mut self,
        tournament: &Term,
        pid: &Pid,
        comes: bool,
    ) -> Result<Vec<SessionOutput<W>>, NotAccepted> {
        let reference = tournament.as_reference().ok_or(NotAccepted::Stale)?;
        let at = self.tournaments.iter().position(|known| known.reference == *reference);
        let at = at.ok_or(NotAccepted::Stale)?;
        if !comes {
            let known = self.tournaments.swap_remove(at);
            return Ok(vec![match known.stands {
                Stands::Invited => reject(known.id),
                _ => withdraw(known.id),
            }]);
        }
        let mut outputs = Vec::new();
        if *pid != self.pid {
            outputs.push(SessionOutput::PlaysFor(pid.clone()));
        }
        let known = &mut self.tournaments[at];
        match std::mem::replace(&mut known.stands, Stands::Accepted(pid.clone())) {
            Stands::Invited => {
                let tournament = known.id.clone();
                outputs.push(SessionOutput::Say(FromPlayer::Lobby(ToLobby::Accept { tournament })));
            }
            Stands::Announced { held, .. } => {
                outputs.extend(held.into_iter().map(|(term, written)| {
                    let to = pid.clone();
                    SessionOutput::Tell { to, term, written }
                }))
            }
            Stands::Accepted(_) => {}
        }
        Ok(outputs)
    }

    fn hear_queue(
        &mut self,
        what: &Owned,
        term: &Term,
        now: Timestamp,
    ) -> Result<Vec<SessionOutput<W>>, NotAccepted> {
        let lobby = |what| Ok(vec![SessionOutput::Say(FromPlayer::Lobby(what))]);
        match what {
            Owned::Logout => lobby(ToLobby::Logout {}),
            Owned::Enqueue => lobby(ToLobby::Enqueue { queue: QUEUE.into() }),
            Owned::Dequeue => lobby(ToLobby::Dequeue { queue: QUEUE.into() }),
            Owned::Drop { tournament } => {
                let tournament = self.tournament_of(tournament)?;
                lobby(ToLobby::Withdraw { tournament })
            }
            Owned::Modify { tournament, game, dice } => {
                let about = |own: &Ref, said: &Term| said.as_reference() == Some(own);
                let mut open = self.open.iter_mut().filter(|open| open.is_due());
                let open = open
                    .find(|open| about(&open.tournament, tournament) && about(&open.game, game));
                let open = open.ok_or(NotAccepted::Stale)?;
                let answers = queue::modify(&open.question, dice);
                let mut outputs = vec![answer(open, answers, without_password(term))];
                outputs.extend(self.send_held(now));
                Ok(outputs)
            }
            Owned::EndTurn { dice, score } => {
                let at = match turn_of(&self.open, dice, score) {
                    Ok(at) => at,
                    Err(likely) if !self.has_timed_out(dice) => likely.ok_or(NotAccepted::Late)?,
                    Err(_) => return Err(NotAccepted::Late),
                };
                let open = &mut self.open[at];
                let answers = queue::end_turn(&open.question, dice, score);
                let mut outputs = vec![answer(open, answers, without_password(term))];
                outputs.extend(self.send_held(now));
                Ok(outputs)
            }
        }
    }

    /// Returns whether these are the dice of a turn that ended unanswered. Its late answer is
    /// expected once.
    fn has_timed_out(&mut self, dice: &Term) -> bool {
        let hand = Hand::named(dice);
        let at = self.timed_out.iter().position(|timed_out| Some(timed_out.hand) == hand);
        at.map(|at| self.timed_out.remove(at)).is_some()
    }

    fn tournament_of(&self, said: &Term) -> Result<TournamentId, NotAccepted> {
        let reference = said.as_reference().ok_or(NotAccepted::Stale)?;
        let known = self.tournaments.iter().find(|known| known.reference == *reference);
        known.map(|known| known.id.clone()).ok_or(NotAccepted::Stale)
    }

    fn open_at(&mut self, reference: &Ref) -> Result<&mut Open, NotAccepted> {
        let open = self.open.iter_mut().find(|open| open.reference == *reference);
        open.filter(|open| open.is_due()).ok_or(NotAccepted::Stale)
    }
}

/// Passes on the answer to a request, with the text that was sent.
fn answer<W>(open: &mut Open, answers: Result<Answers, Refusal>, sent: String) -> SessionOutput<W> {
    open.answered = true;
    let answer = answers.map(|Answers { now, then }| {
        open.then = then.map(|then| (then, sent.clone()));
        now
    });
    SessionOutput::Answer { id: open.id.clone(), answer, sent }
}

/// Compares in constant time, so that timing does not reveal where two passwords differ.
fn same(one: &Password, other: &Password) -> bool {
    let (one, other) = (one.0.as_bytes(), other.0.as_bytes());
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |diff, (one, other)| diff | (one ^ other)) == 0
}
