//! Programs of other systems: how they sign up, return and leave. They differ from other players:
//!
//! - they only have a name, so their account has no password and is for such wires only. Programs
//!   may have the same name: Agon then appends a number (`AIClient`, `AIClient-2`);
//! - a program that disconnects loses the places it has signed up for;
//! - the engine closes the connection of a player who is out, or whose tournament is over.
//!
//! Their requests and answers are in `cells/programs.rs`. The gateway translates the messages.

use crate::cells::OBSERVERS_MAX;
use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::port::{Answer, FromSeat, GivenAnswer};
use crate::{CloseReason, ConnId, Effect, Engine, LoginOutcome, Note, PeerSaid, Tell, names};
use agon_core::lobby::{AccountKind, Announcement, LobbyCommand, LobbyRejection, Role};
use agon_core::{PlayerName, Timestamp, TournamentId};
use agon_wire::fish::observer::Follow;
use agon_wire::peer::PeerMessage;
use std::collections::BTreeSet;

/// The name itself, then the name with a number appended, from 2 on.
fn numbered(name: &PlayerName) -> impl Iterator<Item = PlayerName> + use<> {
    let base = name.clone();
    let others = (2_u64..).map(move |number| {
        let end = format!("-{number}");
        let room = PlayerName::CHARS_MAX - end.len();
        let short: String = base.as_str().chars().take(room).collect();
        PlayerName::new(&format!("{short}{end}")).expect("a name and a number are a name")
    });
    std::iter::once(name.clone()).chain(others)
}

/// Returns whether `first` is the first tournament of a series, or of the same series in an earlier
/// run: `fish`, or `fish-7`.
pub(crate) fn is_of_series(first: &TournamentId, series: &TournamentId) -> bool {
    let rest = first.as_str().strip_prefix(series.as_str());
    rest.is_some_and(|rest| {
        let number = rest.strip_prefix('-').filter(|number| !number.is_empty());
        let plain = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
        rest.is_empty() || number.is_some_and(plain)
    })
}

impl Engine {
    pub(crate) fn peer_said(&mut self, conn: ConnId, said: PeerSaid, at: Timestamp) {
        match said {
            PeerSaid::SignUp { name, strict, listens, series } => {
                if self.seats.sessions.is_open(conn) {
                    self.seats.sessions.set_listens(conn, listens);
                    self.sign_up_peer(conn, &name, strict, &series);
                }
            }
            PeerSaid::Observe { follow, series } => self.observe_series(conn, follow, &series),
            PeerSaid::Answer { ask, answer } => {
                let Some(player) = self.seats.sessions.account(conn).cloned() else { return };
                let timing = self.timing(&player, |open| *open == ask, at);
                let given = GivenAnswer::Reply(ask, answer);
                // A program is not told why its answer was rejected.
                self.tell_cells(&player, FromSeat::Answer(Answer { given, timing, at }));
            }
        }
    }

    /// Returns whether a program that signs up now may play under this name.
    fn is_free(&self, name: &PlayerName) -> bool {
        let known = self.lobby.state().account(name);
        let listed = known.is_some_and(|account| account.blacklisted.is_some());
        (known.is_none() || (self.lobby.accounts().is_peer(name) && !listed))
            && !self.is_connected(name)
            && !self.seats.arriving.contains(name)
    }

    /// The account that a program plays under. Unless names are strict, programs may have the same
    /// name, and Agon appends a number to tell them apart.
    fn account_for(&self, name: &PlayerName, strict: bool) -> Result<PlayerName, &'static str> {
        if self.services.houses.house_of(name).is_some() {
            return Err("the name is that of a house player");
        }
        if self.lobby.state().account(name).is_some_and(|account| account.blacklisted.is_some()) {
            return Err("the name is on the blacklist");
        }
        if strict {
            return if self.is_free(name) { Ok(name.clone()) } else { Err("the name is taken") };
        }
        let seat = self.seat_to_return_to(name);
        let new = || {
            let free = |account: &PlayerName| self.is_free(account) && !self.still_plays(account);
            numbered(name).find(free).expect("there are more numbers than accounts")
        };
        Ok(seat.unwrap_or_else(new))
    }

    /// The free seat that a program of this name resumes after a restart of the server.
    fn seat_to_return_to(&self, name: &PlayerName) -> Option<PlayerName> {
        let mut known = numbered(name).take_while(|one| self.lobby.state().account(one).is_some());
        known.find(|account| {
            self.is_cut_off(account) && self.is_free(account) && self.still_plays(account)
        })
    }

    fn sign_up_peer(
        &mut self,
        conn: ConnId,
        name: &PlayerName,
        strict: bool,
        series: &Announcement,
    ) {
        let name = match self.account_for(name, strict) {
            Ok(account) => account,
            Err(why) => return self.turn_away(conn, name, why),
        };
        if self.lobby.state().account(&name).is_none() {
            if let Err(why) = names::check_new(&name) {
                return self.turn_away(conn, &name, &why);
            }
            let (account, kind) = (name.clone(), AccountKind::Program);
            let (role, password) = (Role::Player, None);
            let command = LobbyCommand::Register { account, kind, role, password };
            if let Err(rejection) = self.step_lobby(command, Vec::new()) {
                return self.turn_away(conn, &name, &rejection.to_string());
            }
        }
        self.seats.arriving.insert(name.clone());
        let (player, returns) = (name.clone(), self.still_plays(&name));
        let attach = FollowUp::AttachProgram { conn, player, returns };
        let _ = self.step_lobby(LobbyCommand::LogIn { account: name.clone() }, vec![attach]);
        if !returns {
            self.enter(conn, name, series);
        }
    }

    /// Attaches a program whose sign-up is durable.
    pub(crate) fn attach_program(&mut self, conn: ConnId, player: &PlayerName, returns: bool) {
        self.seats.arriving.remove(player);
        if !self.seats.sessions.is_open(conn) {
            // The connection was closed while the sign-up was in flight.
            return self.peer_is_gone(player);
        }
        if returns {
            self.call(conn, Tell { message: PeerMessage::SignedUp { next: true }, ask: None });
        }
        self.attach(conn, player);
    }

    /// Returns whether a returning player is in a tournament that they can continue.
    pub(crate) fn still_plays(&self, name: &PlayerName) -> bool {
        let mut playing =
            self.lobby.state().playing_in(name).filter(|id| !self.cells.is_interrupted(id));
        playing.any(|id| self.cells.tournament(id).is_some_and(|live| !live.is_out(name)))
    }

    /// Signs a player up for the series of their wire.
    fn enter(&mut self, conn: ConnId, player: PlayerName, series: &Announcement) {
        let Some(tournament) = self.sign_up_like(series) else {
            return self.turn_away(conn, &player, "no sign-up is open");
        };
        let first = self.lobby.state().series_of(&tournament);
        let next = !self
            .lobby
            .state()
            .running()
            .any(|plan| self.lobby.state().series_of(&plan.id) == first);
        let age = None;
        let command = LobbyCommand::SignUp { tournament, player: player.clone(), age };
        let confirm = || FollowUp::ConfirmSignUp { conn, player: player.clone(), next };
        match self.step_lobby(command, vec![confirm()]) {
            Ok(()) => {}
            // The player returns to a place they have.
            Err(LobbyRejection::SignedUp(_)) => {
                self.once_durable(vec![StreamKey::Lobby], confirm());
            }
            Err(rejection) => self.turn_away(conn, &player, &rejection.to_string()),
        }
    }

    /// Admits an observer of the tournaments of a series, if there is room.
    fn observe_series(&mut self, conn: ConnId, follow: Follow, series: &Announcement) {
        if !self.seats.sessions.is_open(conn) {
            return;
        }
        self.services.effects.push(Effect::Admit { conn });
        let series = series.id.clone();
        if !self.in_cells(|cells, cx| cells.observe_series(cx, conn, follow, series)) {
            self.note(Note::ObserverRefused { conn, max: OBSERVERS_MAX });
            self.end(conn, CloseReason::Dismissed);
        }
    }

    fn turn_away(&mut self, conn: ConnId, name: &PlayerName, why: &str) {
        let (refused, why) = (name.clone(), why.to_owned());
        self.note(Note::SignUpRefused { conn, name: refused, why });
        self.login_was(conn, Some(name), LoginOutcome::Refused);
        self.end(conn, CloseReason::Dismissed);
    }

    /// Opens a sign-up for a series. It reuses an open one from an earlier run if that was
    /// announced alike.
    pub fn open_sign_up(&mut self, series: &Announcement) -> Result<(), crate::AnnounceError> {
        if self.sign_up_like(series).is_some() {
            return Ok(());
        }
        let names = (2..).map(|number| TournamentId::from(format!("{}-{number}", series.id)));
        let mut names = std::iter::once(series.id.clone()).chain(names);
        let free = names.find(|id| self.lobby.state().tournament(id).is_none());
        let id = free.expect("there are more numbers than tournaments");
        self.announce(Announcement { id, ..series.clone() })
    }

    fn sign_up_like(&self, series: &Announcement) -> Option<TournamentId> {
        let alike = |other: &Announcement| {
            let bare = Announcement { id: series.id.clone(), ..other.clone() };
            is_of_series(self.lobby.state().series_of(&other.id), &series.id) && bare == *series
        };
        let mut open = self.lobby.state().sign_ups();
        open.find(|one| alike(&one.announcement)).map(|one| one.announcement.id.clone())
    }

    /// Handles the lost connection of such a player: they lose the places they have signed up for,
    /// and their tournaments drop them where a request is open.
    pub(crate) fn peer_is_gone(&mut self, player: &PlayerName) {
        self.withdraw_all(player);
        for id in self.lobby.state().playing_in(player).cloned().collect::<Vec<_>>() {
            self.in_cells(|cells, cx| cells.miss_peer(cx, &id, player));
        }
        let _ = self.step_lobby(LobbyCommand::LogOut { account: player.clone() }, Vec::new());
        self.drop_newcomer(player);
    }

    /// Frees the name of a player who left before they ever played, so that strangers cannot occupy
    /// names for ever. A player whose sign-up is in flight has not left, so this waits for the log.
    pub(crate) fn drop_newcomer(&mut self, player: &PlayerName) {
        self.once_durable(vec![StreamKey::Lobby], FollowUp::DropNewcomer(player.clone()));
    }

    pub(crate) fn drop_if_gone(&mut self, player: &PlayerName) {
        let newcomer = self.lobby.state().account(player).is_some_and(|account| !account.played);
        let here = self.conn_of(player).is_some() || self.lobby.state().line().contains(player);
        if !newcomer || here || !self.lobby.accounts().is_peer(player) {
            return;
        }
        self.withdraw_all(player);
        let _ = self.step_lobby(LobbyCommand::Drop { account: player.clone() }, Vec::new());
    }

    pub(crate) fn withdraw_all(&mut self, player: &PlayerName) {
        for tournament in self.lobby.state().signed_up_for(player).cloned().collect::<Vec<_>>() {
            let command = LobbyCommand::Withdraw { tournament, player: player.clone() };
            let _ = self.step_lobby(command, Vec::new());
        }
    }

    /// Withdraws the sign-ups of programs of other systems at a start: their connections ended with
    /// the previous server. They sign up again as new processes.
    pub(crate) fn withdraw_lost_programs(&mut self) {
        let signed_up = self.lobby.state().sign_ups().flat_map(|sign_up| &sign_up.players);
        let lost: BTreeSet<PlayerName> =
            signed_up.filter(|player| self.lobby.accounts().is_peer(player)).cloned().collect();
        lost.iter().for_each(|player| self.withdraw_all(player));
    }

    /// Closes the connection of a player who waits for nothing more. The one tournament they may
    /// still be in is about to end.
    pub(crate) fn dismiss_idle(&mut self, player: &PlayerName) {
        let (_, waiting) = self.lobby.state().involvement(player);
        let idle = waiting == 0 && self.active_in(player) <= 1;
        if let Some(conn) = self.services.program_conn(player).filter(|_| idle) {
            self.end(conn, CloseReason::Dismissed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_the_same_name_get_a_number() {
        let names = |text: &str| {
            let all = numbered(&PlayerName::new(text).unwrap());
            all.take(3).map(|name| name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names("AIClient"), ["AIClient", "AIClient-2", "AIClient-3"]);
        let long = "é".repeat(50);
        assert_eq!(names(&long)[1], format!("{}-2", "é".repeat(48)));
        assert_eq!(names(&format!("{} b", "a".repeat(47)))[1], format!("{} -2", "a".repeat(47)));
    }

    #[test]
    fn series_is_known_by_its_whole_name() {
        let is_of = |first: &str| is_of_series(&first.into(), &"fish".into());
        assert!(is_of("fish") && is_of("fish-2") && is_of("fish-41"));
        assert!(!is_of("fishing-club") && !is_of("fish-club") && !is_of("fis") && !is_of("fish2"));
        assert!(!is_of("fish-2-3") && !is_of("fish-"));
    }
}
