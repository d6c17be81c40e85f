//! What a player says, for the server.

use super::{Deed, Open, Session, Speaks, Stands, reject, withdraw};
use crate::erlang::asked::refused;
use crate::erlang::queue::Owned;
use crate::erlang::term::{Pid, Ref, Term};
use crate::erlang::{Answers, BadMessage, Message, Password, class, queue, referee};
use crate::native::{FromPlayer, ToLobby};
use agon_core::TournamentId;
use agon_games::Refusal;

/// The queue that the queue protocol's players wait in, together with those of other wires.
pub const QUEUE: &str = "yahtzee-queue";

/// Why something a player said is not accepted. It changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAccepted {
    /// A reference that is foreign, or no longer open.
    #[error("a reference that is foreign or no longer open")]
    Stale,
    /// A message of another vocabulary than the login's, or one that is not a player's.
    #[error("not a message of this player's vocabulary")]
    Unexpected,
}

impl<W> Session<W> {
    /// Something the player says; `from` is the process that sent it, if that is known.
    pub fn hear(
        &mut self,
        message: &Message,
        from: Option<&Pid>,
    ) -> Result<Vec<Deed<W>>, NotAccepted> {
        match (message, &self.speaks) {
            (Message::Class(said), Speaks::Class(variant)) => self.hear_class(*variant, said),
            (
                Message::Referee(referee::FromPlayer::Answer { reference, to, choice }),
                Speaks::Referee { .. },
            ) => {
                let open = self.open_at(reference)?;
                let answers = referee::answers(&open.question, *to, choice);
                Ok(answer(open, answers, || format!("{to:?}: {choice}")))
            }
            (
                Message::Queue(queue::FromPlayer::Owned { password, what, .. }),
                Speaks::Queue { password: own },
            ) => {
                if !same(password, own) {
                    let to = from.unwrap_or(&self.pid).clone();
                    let term = queue::not_authenticated();
                    return Ok(vec![Deed::Tell { to, term, written: None }]);
                }
                self.hear_queue(what)
            }
            _ => Err(NotAccepted::Unexpected),
        }
    }

    /// A message that is none, but names an open request: a malformed answer to it.
    pub fn hear_garbled(
        &mut self,
        reference: &Ref,
        bad: &BadMessage,
    ) -> Result<Vec<Deed<W>>, NotAccepted> {
        let open = self.open_at(reference)?;
        Ok(answer(open, Err(Refusal::malformed(bad.to_string())), || bad.to_string()))
    }

    fn hear_class(
        &mut self,
        variant: class::Variant,
        said: &class::FromPlayer,
    ) -> Result<Vec<Deed<W>>, NotAccepted> {
        match said {
            class::FromPlayer::Logout { ticket, .. } => match *ticket == self.ticket().into() {
                true => Ok(vec![Deed::Say(FromPlayer::Lobby(ToLobby::Logout {}))]),
                false => Err(NotAccepted::Stale),
            },
            class::FromPlayer::Invited { pid, accepts, tournament, ticket } => {
                let right = match (variant, ticket) {
                    (class::Variant::NoUser, None) => true,
                    (_, ticket) => *ticket == Some(self.ticket().into()),
                };
                // Nothing can be sent to a process of another node.
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
                let evidence = || format!("roll {}, line {}", action.roll, action.line);
                Ok(answer(open, answers, evidence))
            }
            _ => Err(NotAccepted::Unexpected),
        }
    }

    fn invitation_answered(
        &mut self,
        tournament: &Term,
        pid: &Pid,
        comes: bool,
    ) -> Result<Vec<Deed<W>>, NotAccepted> {
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
        let mut deeds = Vec::new();
        if *pid != self.pid {
            deeds.push(Deed::PlaysFor(pid.clone()));
        }
        let known = &mut self.tournaments[at];
        match std::mem::replace(&mut known.stands, Stands::Accepted(pid.clone())) {
            Stands::Invited => {
                let tournament = known.id.clone();
                deeds.push(Deed::Say(FromPlayer::Lobby(ToLobby::Accept { tournament })));
            }
            Stands::Told { held, .. } => deeds.extend(held.into_iter().map(|(term, written)| {
                let to = pid.clone();
                Deed::Tell { to, term, written }
            })),
            Stands::Accepted(_) => {}
        }
        Ok(deeds)
    }

    fn hear_queue(&mut self, what: &Owned) -> Result<Vec<Deed<W>>, NotAccepted> {
        let lobby = |what| Ok(vec![Deed::Say(FromPlayer::Lobby(what))]);
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
                let mut open = self.open.iter_mut().filter(|open| !open.answered);
                let open = open
                    .find(|open| about(&open.tournament, tournament) && about(&open.game, game));
                let open = open.ok_or(NotAccepted::Stale)?;
                let answers = queue::modify(&open.question, dice);
                Ok(answer(open, answers, || format!("roll {dice} again")))
            }
            Owned::EndTurn { dice, score } => {
                // The latest dice that were sent, wherever they were.
                let open = self.open.iter_mut().rev().find(|open| !open.answered);
                let open = open.ok_or(NotAccepted::Stale)?;
                let answers = queue::end_turn(&open.question, dice, score);
                Ok(answer(open, answers, || format!("end of turn: {dice}, {score}")))
            }
        }
    }

    fn tournament_of(&self, said: &Term) -> Result<TournamentId, NotAccepted> {
        let reference = said.as_reference().ok_or(NotAccepted::Stale)?;
        let known = self.tournaments.iter().find(|known| known.reference == *reference);
        known.map(|known| known.id.clone()).ok_or(NotAccepted::Stale)
    }

    fn open_at(&mut self, reference: &Ref) -> Result<&mut Open, NotAccepted> {
        let open = self.open.iter_mut().find(|open| open.reference == *reference);
        open.filter(|open| !open.answered).ok_or(NotAccepted::Stale)
    }
}

/// Passes the answers to a request on; one that is refused here is refused by the referee.
fn answer<W>(
    open: &mut Open,
    answers: Result<Answers, Refusal>,
    evidence: impl Fn() -> String,
) -> Vec<Deed<W>> {
    open.answered = true;
    let answer = match answers {
        Ok(Answers { now, then }) => {
            open.then = then;
            now
        }
        Err(refusal) => refused(&open.question, &refusal, &evidence()),
    };
    vec![Deed::Say(FromPlayer::Answer { id: open.id.clone(), answer })]
}

/// Compares in a time that does not tell where two passwords differ.
fn same(one: &Password, other: &Password) -> bool {
    let (one, other) = (one.0.as_bytes(), other.0.as_bytes());
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |diff, (one, other)| diff | (one ^ other)) == 0
}
