//! Requests that only notify their player and ask no question.
//!
//! Some wire formats make the player confirm such a request. On the native wire the server sends a
//! notice and confirms in the player's name. These confirmations belong to the record that opened
//! the request, so that one decision is one record.

use super::{Ask, Match, MatchCommand, Pending, Phase, Rejection};
use crate::event::Event;
use crate::ids::{PlayerName, Timestamp};
use agon_games::Json;

/// The only valid answer to a notification.
const OK: &str = "\"ok\"";

/// The content of a notification.
#[derive(Clone, Debug)]
pub struct Notice {
    /// The player.
    pub player: PlayerName,
    /// `told`: something about the game. `game-over`: whether the player won the game.
    pub about: &'static str,
    /// The details.
    pub data: Json,
}

impl Match {
    /// The notification in an open request; `None` if the request asks a question.
    pub fn notice(&self, pending: &Pending) -> Option<Notice> {
        let (about, data) = match (pending.ask, &self.state.referee) {
            (Ask::Confirm { won }, _) => ("game-over", agon_games::json(&won)),
            (Ask::Game(seat), Some(referee)) if referee.game.only_tells(seat) => {
                ("told", referee.game.question(seat)?)
            }
            _ => return None,
        };
        Some(Notice { player: pending.player.clone(), about, data })
    }

    /// Confirms open notifications in the name of every connected player for whom `confirms_for`
    /// holds. Appends the events to those of the command that opened the requests. Returns the
    /// notices to send once the record is durable.
    pub fn confirm_notices(
        &mut self,
        now: Timestamp,
        record: &mut Vec<Event>,
        confirms_for: impl Fn(&PlayerName) -> bool,
    ) -> Vec<Notice> {
        let mut notices = Vec::new();
        while self.may_tell() && self.state.paused.is_none() {
            let mut open = self.pending().into_iter();
            let next = open.find_map(|pending| {
                let here = self.is_here(&pending.player) && confirms_for(&pending.player);
                let notice = self.notice(&pending).filter(|_| here)?;
                Some((notice, pending))
            });
            let Some((notice, Pending { player, id: request, .. })) = next else { break };
            let (answer, took_ms) = (OK.to_owned(), Some(0));
            let Ok(events) =
                self.step(now, MatchCommand::Answer { player, request, answer, took_ms })
            else {
                break;
            };
            record.extend(events);
            notices.push(notice);
        }
        notices
    }

    /// Returns whether a notification may be open. Usually none is.
    fn may_tell(&self) -> bool {
        match (&self.state.phase, &self.state.referee) {
            (Phase::Confirming(_), _) => true,
            (Phase::Playing, Some(referee)) => {
                referee.awaiting().any(|seat| referee.game.only_tells(seat))
            }
            _ => false,
        }
    }

    /// Decides a record of the log again, from its cause and the confirmations in it.
    pub(crate) fn decide_again<'a>(
        &mut self,
        now: Timestamp,
        cause: MatchCommand,
        recorded: impl Fn(usize) -> Option<&'a Event>,
    ) -> (Vec<Event>, Option<Rejection>) {
        let (mut events, mut rejection) = self.step_as_far(now, cause);
        while rejection.is_none()
            && let Some(command) = recorded(events.len()).and_then(|next| self.confirmed(next))
        {
            let (more, why) = self.step_as_far(now, command);
            events.extend(more);
            rejection = why;
        }
        (events, rejection)
    }

    /// The command behind an event that confirms an open notification.
    fn confirmed(&self, event: &Event) -> Option<MatchCommand> {
        let request = match event {
            Event::AnswerAccepted(accepted) => &accepted.request,
            Event::ResultConfirmed(confirmed) => &confirmed.request,
            _ => return None,
        };
        let pending = self.pending().into_iter().find(|pending| pending.id == *request)?;
        let player = self.notice(&pending)?.player;
        let (request, answer, took_ms) = (pending.id, OK.to_owned(), Some(0));
        Some(MatchCommand::Answer { player, request, answer, took_ms })
    }
}
