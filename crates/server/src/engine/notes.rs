//! What the engine tells whoever runs the server: counts, and lines on stderr.
//!
//! Names and ids only. No password, token, answer, view or evidence is ever in them: those are in
//! the log, for whom they concern. What is told of a match is told when it is durable.

use super::journal::Effect;
use super::{ConnId, Engine, MatchKey};
use crate::meters::Login;
use agon_core::{Event, Faulted, MatchId, PlayerName, TournamentId};
use std::net::IpAddr;

impl Engine {
    /// Notes what came of a connection's try to log in.
    pub(super) fn login_was(&self, conn: ConnId, account: Option<&PlayerName>, login: Login) {
        let from = self.sessions.get(&conn).map(|session| session.from);
        self.note_login(Some(conn), from, account, login);
    }

    /// Notes what came of a try to log in, over any wire.
    pub(crate) fn note_login(
        &self,
        conn: Option<ConnId>,
        from: Option<IpAddr>,
        account: Option<&PlayerName>,
        login: Login,
    ) {
        self.handle.meters().login(login).add();
        let from = from.map(tracing::field::display);
        // A name that nobody has may be a password in the wrong place.
        let account = account.filter(|name| self.lobby.account(name).is_some());
        let account = account.map(PlayerName::as_str);
        match login {
            Login::Good => tracing::info!(conn, from, account, "logged in"),
            Login::Wrong => tracing::info!(conn, from, account, "wrong password or token"),
            Login::Throttled => tracing::debug!(conn, from, account, "login held up"),
            Login::Refused => tracing::info!(conn, from, account, "login refused"),
        }
    }

    /// What is to be noted about a match's events once they are durable.
    pub(super) fn notes(&self, key: &MatchKey, events: &[Event]) -> Vec<Effect> {
        let effects = events.iter().filter_map(|event| -> Option<Effect> {
            let faulted = match event {
                Event::PlayerLeft(left) => &left.faulted,
                Event::PlayerFaulted(faulted) => &faulted.faulted,
                Event::WaitExpired(expired) => &expired.faulted,
                _ => return None,
            };
            let (key, faulted) = (key.clone(), faulted.clone());
            Some(Box::new(move |engine| engine.note_fault(&key.0, Some(&key.1), &faulted)))
        });
        effects.collect()
    }

    /// The same, of a tournament.
    pub(super) fn tournament_notes(&self, id: &TournamentId, events: &[Event]) -> Vec<Effect> {
        let effects = events.iter().filter_map(|event| -> Option<Effect> {
            let Event::PlayerDropped(dropped) = event else { return None };
            let (id, faulted) = (id.clone(), dropped.faulted.clone());
            Some(Box::new(move |engine| engine.note_fault(&id, None, &faulted)))
        });
        effects.collect()
    }

    fn note_fault(&self, tournament: &TournamentId, id: Option<&MatchId>, faulted: &Faulted) {
        let kind = faulted.fault.kind;
        self.handle.meters().fault(kind).add();
        let (tournament, match_id) = (tournament.as_str(), id.map(MatchId::as_str));
        let account = faulted.player.as_str();
        let conn = self.conn_of(&faulted.player);
        let request = faulted.request.as_ref().map(|request| request.as_str());
        let game = faulted.game;
        tracing::info!(
            conn,
            account,
            tournament,
            r#match = match_id,
            game,
            request,
            fault = %kind,
            "a player is at fault"
        );
    }
}
