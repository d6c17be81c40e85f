//! The engine's reports to the operator: counts, and lines on stderr.
//!
//! Names and ids only. Reports never contain a password, token, answer, view or evidence: those are
//! in the log, for the players they concern. The engine reports on a match when its records are
//! durable.

use super::follow_up::FollowUp;
use super::{ConnId, Engine, LoginOutcome, MatchKey, Note};
use agon_core::{Event, Faulted, MatchId, PlayerName, TournamentId};
use std::net::IpAddr;

impl Engine {
    /// Reports the outcome of a connection's attempt to log in.
    pub(super) fn login_was(
        &mut self,
        conn: ConnId,
        account: Option<&PlayerName>,
        outcome: LoginOutcome,
    ) {
        let from = self.sessions.get(conn).map(|session| session.from);
        self.note_login(Some(conn), from, account, outcome);
    }

    /// Reports the outcome of an attempt to log in, over any wire.
    pub(crate) fn note_login(
        &mut self,
        conn: Option<ConnId>,
        from: Option<IpAddr>,
        account: Option<&PlayerName>,
        outcome: LoginOutcome,
    ) {
        // A name without an account may be a password in the wrong field.
        let account = account.filter(|name| self.lobby.account(name).is_some()).cloned();
        self.note(Note::Login { conn, from, account, outcome });
    }

    /// The reports about a match's events, for when they are durable.
    pub(super) fn notes(&self, key: &MatchKey, events: &[Event]) -> Vec<FollowUp> {
        let notes = events.iter().filter_map(|event| {
            let faulted = match event {
                Event::GameEnded(ended) => {
                    let result = Box::new(ended.result.clone());
                    return Some(FollowUp::NoteGame(key.clone(), result));
                }
                Event::PlayerLeft(left) => &left.faulted,
                Event::PlayerFaulted(faulted) => &faulted.faulted,
                Event::WaitExpired(expired) => &expired.faulted,
                _ => return None,
            };
            let (tournament, of_match) = (key.tournament.clone(), Some(key.id.clone()));
            Some(FollowUp::NoteFault(tournament, of_match, Box::new(faulted.clone())))
        });
        notes.collect()
    }

    /// Like `notes`, for a tournament.
    pub(super) fn tournament_notes(&self, id: &TournamentId, events: &[Event]) -> Vec<FollowUp> {
        let notes = events.iter().filter_map(|event| {
            let Event::PlayerDropped(dropped) = event else { return None };
            let faulted = Box::new(dropped.faulted.clone());
            Some(FollowUp::NoteFault(id.clone(), None, faulted))
        });
        notes.collect()
    }

    pub(super) fn note_fault(
        &mut self,
        tournament: TournamentId,
        of_match: Option<MatchId>,
        faulted: Box<Faulted>,
    ) {
        let conn = self.conn_of(&faulted.player);
        self.note(Note::Fault { conn, tournament, of_match, faulted });
    }
}
