//! What is durable, looked up fast: whatever a server says is held against this at that moment.

use crate::said::Asked;
use agon_core::{Event, Line, Millis, PlayerName};
use std::collections::{BTreeMap, BTreeSet};

/// Facts from events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// Answers accepted, by stream, game and seat.
    answers: BTreeMap<(String, u32, u8), u32>,
    /// What was accepted, by stream and request.
    pub(crate) accepted: BTreeMap<(String, String), String>,
    /// Who sits where, by stream and game.
    pub(crate) seats: BTreeMap<(String, u32), Vec<PlayerName>>,
    /// Matches that are over, and when that was decided.
    pub(crate) ended: BTreeMap<String, Millis>,
    pub(crate) announced: BTreeSet<String>,
    pub(crate) started: BTreeSet<String>,
    pub(crate) secrets: BTreeSet<String>,
    pub(crate) finished: BTreeMap<String, Vec<PlayerName>>,
    pub(crate) called_off: BTreeSet<String>,
    pub(crate) signed_up: BTreeSet<(String, String)>,
    pub(crate) logged_in: BTreeSet<String>,
    /// Who is known to have no more games in a tournament: lost, was dropped, or it is over.
    pub(crate) reported: BTreeSet<String>,
    pub(crate) dropped: BTreeSet<String>,
    pub(crate) over: BTreeSet<String>,
}

impl Index {
    pub(crate) fn add(&mut self, line: &Line) {
        let stream = || line.stream.clone();
        let tournament = || line.stream.split('/').nth(1).unwrap_or_default().to_owned();
        match &line.event {
            Event::GameStarted(started) => {
                self.seats.insert((stream(), started.game), started.seats.clone());
            }
            Event::AnswerAccepted(accepted) => {
                let request = accepted.request.as_str();
                let asked = Asked::parse(&format!("x:{request}"));
                if let Some(Asked { game, seat, .. }) = asked {
                    *self.answers.entry((stream(), game, seat)).or_default() += 1;
                }
                let answer = accepted.answer.get().to_owned();
                self.accepted.insert((stream(), request.to_owned()), answer);
            }
            Event::MatchEnded(_) => drop(self.ended.insert(stream(), line.at)),
            Event::MatchReported(_) => drop(self.reported.insert(tournament())),
            Event::PlayerDropped(_) => drop(self.dropped.insert(tournament())),
            Event::TournamentEnded(_) | Event::TournamentAborted(_) => {
                self.over.insert(tournament());
            }
            Event::TournamentAnnounced(announced) => {
                self.announced.insert(announced.announcement.id.to_string());
            }
            Event::TournamentStarted(started) => {
                self.started.insert(started.plan.id.to_string());
            }
            Event::TournamentFinished(finished) => {
                let (id, winners) = (finished.tournament.to_string(), finished.winners.clone());
                self.finished.insert(id, winners);
            }
            Event::TournamentCalledOff(off) => {
                self.called_off.insert(off.tournament.to_string());
            }
            Event::SecretKept(kept) => drop(self.secrets.insert(kept.tournament.to_string())),
            Event::PlayerSignedUp(signed) => {
                self.signed_up.insert((signed.tournament.to_string(), signed.player.to_string()));
            }
            Event::AccountLoggedIn(account) => {
                self.logged_in.insert(account.account.to_string());
            }
            _ => {}
        }
    }

    /// How many answers of a seat were accepted in the game a request belongs to.
    pub(crate) fn answers(&self, asked: &Asked) -> u32 {
        let key = (asked.stream(), asked.game, asked.seat);
        self.answers.get(&key).copied().unwrap_or(0)
    }
}
