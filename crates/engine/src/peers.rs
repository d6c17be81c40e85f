//! Players on the wires of other systems. The engine treats them like other players, except that:
//!
//! - they only have a name, so their account has no password and is for such wires only. Programs
//!   may have the same name: Agon then appends a number (`AIClient`, `AIClient-2`);
//! - a program that disconnects loses the places it has signed up for;
//! - they confirm messages that native players only receive, and have a deadline for that;
//! - the engine closes the connection of a player who is out, or whose tournament is over.
//!
//! The gateway translates the messages.

use super::follow_up::FollowUp;
use super::journal::StreamKey;
use super::matches::ON_ITS_WAY_MS;
use super::{
    AskId, BadReply, CloseReason, ConnId, Engine, LoginOutcome, MatchKey, Note, PeerAsk, PeerSaid,
    Tell, Timer,
};
use crate::names;
use agon_core::lobby::{AccountKind, Announcement, LobbyCommand, LobbyRejection, Role};
use agon_core::{
    Ask, Command, CrashCost, Event, Fault, FaultKind, Millis, Pending, PlayerName, RequestClock,
    RequestId, TournamentAsk, TournamentCommand, TournamentId, TournamentPending,
};
use agon_games::Viewer;
use agon_wire::peer::Told;
use std::collections::BTreeSet;

/// How many characters of a reply a fault quotes.
const REPLY_CHARS_MAX: usize = 200;

impl BadReply {
    /// The fault for this reply. The reply is in another system's form, and a verifier of the log
    /// cannot read it as an answer. So the fault quotes it as text and does not store it as an
    /// answer.
    fn fault(&self) -> Fault {
        let told: String = self.text.chars().take(REPLY_CHARS_MAX).collect();
        let mut fault = Fault::refused(&self.refusal, &self.text);
        if fault.kind != FaultKind::Malformed {
            fault.answer = None;
            fault.detail = format!("{}; it said {told}", fault.detail);
        }
        fault
    }
}

/// A tournament's request that was sent to a connection.
pub(super) struct AskedProgram {
    player: PlayerName,
    pub(super) to: (ConnId, RequestClock),
    farewell: bool,
}

/// The players who are shown every change of a match, and how much they were shown.
#[derive(Default)]
pub(super) struct Listeners {
    /// Whether there may be any.
    pub(super) any: bool,
    /// How many games' ends they were sent.
    games: usize,
}

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

/// Whether `first` is the first tournament of a series, or of the same series in an earlier run:
/// `fish`, or `fish-7`.
pub(super) fn is_of_series(first: &TournamentId, series: &TournamentId) -> bool {
    let rest = first.as_str().strip_prefix(series.as_str());
    rest.is_some_and(|rest| {
        let number = rest.strip_prefix('-').filter(|number| !number.is_empty());
        let plain = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
        rest.is_empty() || number.is_some_and(plain)
    })
}

impl Engine {
    pub(super) fn peer_said(&mut self, conn: ConnId, said: PeerSaid, at: Millis) {
        match said {
            PeerSaid::SignUp { name, strict, listens, series } => {
                let Some(session) = self.sessions.get_mut(conn) else { return };
                session.listens = listens;
                self.sign_up_peer(conn, &name, strict, &series);
            }
            PeerSaid::Observe { follow, series } => self.observe_series(conn, follow, &series),
            PeerSaid::Answer { ask, answer } => {
                let session = self.sessions.get(conn);
                let Some(player) = session.and_then(|session| session.account.clone()) else {
                    return;
                };
                match ask {
                    AskId::Match(key, request) => {
                        self.peer_plays(&key, player, request, answer, at);
                    }
                    AskId::Tournament(id, request) => {
                        self.peer_greets(&id, player, request, answer, at);
                    }
                }
            }
        }
    }

    /// Whether an account is for the wires of other systems.
    pub(super) fn is_peer(&self, name: &PlayerName) -> bool {
        self.lobby.account(name).is_some_and(|account| {
            account.password.is_none()
                && account.kind == AccountKind::Program
                && account.role == Role::Player
        })
    }

    /// Whether a program that signs up now may play under this name.
    fn is_free(&self, name: &PlayerName) -> bool {
        let known = self.lobby.account(name);
        let listed = known.is_some_and(|account| account.blacklisted.is_some());
        (known.is_none() || (self.is_peer(name) && !listed))
            && !self.is_connected(name)
            && !self.arriving.contains(name)
    }

    /// The account that a program plays under. Unless names are strict, programs may have the same
    /// name, and Agon appends a number to tell them apart.
    fn account_for(&self, name: &PlayerName, strict: bool) -> Result<PlayerName, &'static str> {
        if name.house().is_some() {
            return Err("the name is that of a house player");
        }
        if self.lobby.account(name).is_some_and(|account| account.blacklisted.is_some()) {
            return Err("the name is on the blacklist");
        }
        if strict {
            return if self.is_free(name) { Ok(name.clone()) } else { Err("the name is taken") };
        }
        let seat = self.seat_to_return_to(name);
        let new = || {
            let free = |account: &PlayerName| self.is_free(account) && !self.still_plays(account);
            numbered(name).find(free).expect("fewer accounts than numbers")
        };
        Ok(seat.unwrap_or_else(new))
    }

    /// The free seat that a program of this name resumes after a restart of the server.
    fn seat_to_return_to(&self, name: &PlayerName) -> Option<PlayerName> {
        let mut known = numbered(name).take_while(|one| self.lobby.account(one).is_some());
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
        if self.lobby.account(&name).is_none() {
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
        self.arriving.insert(name.clone());
        let (player, returns) = (name.clone(), self.still_plays(&name));
        let attach = FollowUp::AttachProgram { conn, player, returns };
        let _ = self.step_lobby(LobbyCommand::LogIn { account: name.clone() }, vec![attach]);
        if !returns {
            self.enter(conn, name, series);
        }
    }

    /// Attaches a program whose sign-up is durable.
    pub(super) fn attach_program(&mut self, conn: ConnId, player: &PlayerName, returns: bool) {
        self.arriving.remove(player);
        if !self.sessions.is_open(conn) {
            // The connection was closed while the sign-up was in flight.
            return self.peer_is_gone(player);
        }
        if returns {
            self.call(conn, Tell { told: Told::SignedUp { next: true }, ask: None });
        }
        self.attach(conn, player);
    }

    /// Whether a returning player is in a tournament that they can continue.
    fn still_plays(&self, name: &PlayerName) -> bool {
        let mut playing = self.lobby.playing_in(name).filter(|id| !self.is_interrupted(id));
        playing.any(|id| self.live_tournament(id).is_some_and(|live| !live.is_out(name)))
    }

    /// Signs a player up for the series of their wire.
    fn enter(&mut self, conn: ConnId, player: PlayerName, series: &Announcement) {
        let Some(tournament) = self.sign_up_like(series) else {
            return self.turn_away(conn, &player, "no sign-up is open");
        };
        let first = self.lobby.series_of(&tournament);
        let next = !self.lobby.running().any(|plan| self.lobby.series_of(&plan.id) == first);
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

    fn turn_away(&mut self, conn: ConnId, name: &PlayerName, why: &str) {
        let (refused, why) = (name.clone(), why.to_owned());
        self.note(Note::SignUpRefused { conn, name: refused, why });
        self.login_was(conn, Some(name), LoginOutcome::Refused);
        self.end(conn, CloseReason::Dismissed);
    }

    /// Opens a sign-up for a series. It reuses an open one from an earlier run if that was
    /// announced alike.
    pub fn open_sign_up(&mut self, series: &Announcement) -> Result<(), super::AnnounceError> {
        if self.sign_up_like(series).is_some() {
            return Ok(());
        }
        let names = (2..).map(|number| TournamentId::from(format!("{}-{number}", series.id)));
        let mut names = std::iter::once(series.id.clone()).chain(names);
        let free = names.find(|id| self.lobby.tournament(id).is_none());
        let id = free.expect("fewer tournaments than numbers");
        self.announce(Announcement { id, ..series.clone() })
    }

    fn sign_up_like(&self, series: &Announcement) -> Option<TournamentId> {
        let alike = |other: &Announcement| {
            let bare = Announcement { id: series.id.clone(), ..other.clone() };
            is_of_series(self.lobby.series_of(&other.id), &series.id) && bare == *series
        };
        let mut open = self.lobby.sign_ups();
        open.find(|one| alike(&one.announcement)).map(|one| one.announcement.id.clone())
    }

    /// Sends a player a match's request. They confirm messages that native players only receive.
    pub(super) fn ask_program(&mut self, key: &MatchKey, conn: ConnId, pending: Pending) {
        let Some(live) = self.matches.get(key) else { return };
        let listens = self.sessions.get(conn).is_some_and(|session| session.listens);
        let told = match (pending.ask, live.played.referee()) {
            (Ask::Confirm { won }, _) => Told::Won(won),
            (Ask::Game(seat), Some(referee)) => {
                let (mut question, mut view) = (Vec::new(), Vec::new());
                if !referee.game().write_question(seat, &mut question) {
                    return;
                }
                referee.game().write_view(Viewer::Seat(seat), &mut view);
                let seats = if listens { referee.seats() } else { &[] };
                Told::Question { question, view, seats: seats.into() }
            }
            _ => return,
        };
        let id = AskId::Match(key.clone(), pending.id.clone());
        let ask = Some(PeerAsk { id, limit_ms: pending.limit_ms });
        self.mark_sent(key, pending, Some(conn));
        self.call(conn, Tell { told, ask });
    }

    fn peer_plays(
        &mut self,
        key: &MatchKey,
        player: PlayerName,
        request: RequestId,
        answer: Result<String, BadReply>,
        at: Millis,
    ) {
        let Ok(took_ms) = self.took_ms(key, &player, &request, at) else { return };
        let command = match answer {
            Ok(answer) => Command::Answer { player, request, answer, took_ms },
            Err(bad) => {
                let Some(live) = self.matches.get(key) else { return };
                let mut open = live.played.pending().into_iter();
                if !open.any(|pending| pending.id == request && pending.player == player) {
                    return;
                }
                Command::Charge { player, fault: bad.fault() }
            }
        };
        // If the answer was late, or the game went on without it, the player gets no reply.
        let _ = self.step_match(key, command);
    }

    /// Sends a player a tournament's request, once for each connection.
    pub(super) fn greet_peer(&mut self, id: &TournamentId, pending: TournamentPending) {
        let now = self.now_ms();
        let Some(conn) = self.conn_of(&pending.player) else { return };
        let Some(live) = self.tournaments.get_mut(id) else { return };
        if live.asked.get(&pending.id).is_some_and(|asked| asked.to.0 == conn) {
            return;
        }
        let (told, farewell) = match pending.ask {
            TournamentAsk::Ready => (Told::Begin { proposes: false }, false),
            TournamentAsk::Propose { .. } => (Told::Begin { proposes: true }, false),
            TournamentAsk::Farewell { won } => (Told::End { won }, true),
        };
        let limit_ms = pending.limit_ms;
        let (player, to) = (pending.player, (conn, RequestClock::new(limit_ms)));
        live.asked.insert(pending.id.clone(), AskedProgram { player, to, farewell });
        let ask = Some(PeerAsk { id: AskId::Tournament(id.clone(), pending.id), limit_ms });
        self.call(conn, Tell { told, ask });
        self.timers.set(now + limit_ms + ON_ITS_WAY_MS, Timer::Greeting(id.clone()));
    }

    /// When the answer to a tournament's request is overdue, if a connection was sent the request.
    pub(super) fn peer_due(&self, id: &TournamentId, request: &RequestId) -> Option<Millis> {
        let asked = self.tournaments.get(id)?.asked.get(request)?;
        let (now, (_, clock)) = (self.time.now, &asked.to);
        // The answer may be in a socket that is read late.
        let late_ms = now.saturating_sub(self.time.read_until);
        Some(clock.due_at(now).saturating_add(ON_ITS_WAY_MS + late_ms))
    }

    fn peer_greets(
        &mut self,
        id: &TournamentId,
        player: PlayerName,
        request: RequestId,
        answer: Result<String, BadReply>,
        at: Millis,
    ) {
        let Some(live) = self.tournaments.get(id) else { return };
        let open = live.machine.pending_of(&player).is_some_and(|pending| pending.id == request);
        let Some(asked) = live.asked.get(&request).filter(|_| open) else { return };
        let (_, clock) = &asked.to;
        let command = match answer {
            _ if clock.timing(at).is_late => {
                TournamentCommand::Drop { player, fault: Fault::timeout(clock.limit_ms()) }
            }
            Ok(answer) => TournamentCommand::Answer { player, request, answer },
            Err(bad) => TournamentCommand::Drop { player, fault: bad.fault() },
        };
        self.step_tournament(id, command);
    }

    /// Handles the lost connection of such a player: they lose the places they have signed up for,
    /// and their tournaments drop them where a request is open.
    pub(super) fn peer_is_gone(&mut self, player: &PlayerName) {
        self.withdraw_all(player);
        for id in self.lobby.playing_in(player).cloned().collect::<Vec<_>>() {
            self.miss_peer(&id, player);
        }
        let _ = self.step_lobby(LobbyCommand::LogOut { account: player.clone() }, Vec::new());
        self.drop_newcomer(player);
    }

    /// Frees the name of a player who left before they ever played, so that strangers cannot occupy
    /// names for ever. A player whose sign-up is in flight has not left, so this waits for the log.
    pub(super) fn drop_newcomer(&mut self, player: &PlayerName) {
        self.once_durable(vec![StreamKey::Lobby], FollowUp::DropNewcomer(player.clone()));
    }

    pub(super) fn drop_if_gone(&mut self, player: &PlayerName) {
        let newcomer = self.lobby.account(player).is_some_and(|account| !account.played);
        let here = self.conn_of(player).is_some() || self.lobby.line().contains(player);
        if !newcomer || here || !self.is_peer(player) {
            return;
        }
        self.withdraw_all(player);
        let _ = self.step_lobby(LobbyCommand::Drop { account: player.clone() }, Vec::new());
    }

    fn withdraw_all(&mut self, player: &PlayerName) {
        for tournament in self.lobby.signed_up_for(player).cloned().collect::<Vec<_>>() {
            let command = LobbyCommand::Withdraw { tournament, player: player.clone() };
            let _ = self.step_lobby(command, Vec::new());
        }
    }

    /// Withdraws the sign-ups of programs of other systems at a start: their connections ended with
    /// the previous server. They sign up again as new processes.
    pub(super) fn withdraw_lost_programs(&mut self) {
        let signed_up = self.lobby.sign_ups().flat_map(|sign_up| &sign_up.players);
        let lost: BTreeSet<PlayerName> =
            signed_up.filter(|player| self.is_peer(player)).cloned().collect();
        lost.iter().for_each(|player| self.withdraw_all(player));
    }

    /// Drops an absent player whose tournament waits for their answer, unless players may still
    /// return after a restart.
    pub(super) fn miss_peer(&mut self, id: &TournamentId, player: &PlayerName) {
        let live = self.tournaments.get(id).filter(|live| live.machine.paused().is_none());
        let asked = live.is_some_and(|live| live.machine.pending_of(player).is_some());
        let missed = self.now_ms() >= self.grace_until && !self.is_cut_off(player);
        if asked && self.is_peer(player) && missed {
            let fault = Fault::disconnected("the connection was lost");
            let player = player.clone();
            self.step_tournament(id, TournamentCommand::Drop { player, fault });
        }
    }

    /// Shows all listeners the progress of a match: every change, and the end of every game.
    pub(super) fn show_listeners(&mut self, key: &MatchKey) {
        let Some(live) = self.matches.get_mut(key) else { return };
        let mut all = Vec::new();
        let finished = live.played.finished();
        for (result, game) in finished.skip(live.listeners.games) {
            live.listeners.games += 1;
            let (mut view, seats) = (Vec::new(), result.seats.as_slice().into());
            game.write_view(Viewer::Public, &mut view);
            all.push(Told::View { view: view.clone(), seats });
            all.push(Told::GameOver { view, result: Box::new(result.clone()) });
        }
        if let Some(referee) = live.played.referee() {
            let (mut view, seats) = (Vec::new(), referee.seats().into());
            referee.game().write_view(Viewer::Public, &mut view);
            all.push(Told::View { view, seats });
        }
        let players = live.played.plan().players.clone();
        self.show_observers(key, &all);
        for conn in players.iter().filter_map(|player| self.conn_of(player)).collect::<Vec<_>>() {
            if self.sessions.get(conn).is_some_and(|session| session.listens) {
                for told in &all {
                    self.call(conn, Tell { told: told.clone(), ask: None });
                }
            }
        }
    }

    /// The dismissals of players whom a fault removes from a match.
    pub(super) fn partings(&self, key: &MatchKey, events: &[Event]) -> Vec<FollowUp> {
        let live = self.matches.get(key);
        if live.is_none_or(|live| live.played.plan().rules.crash != CrashCost::Remove) {
            return Vec::new();
        }
        let out = events.iter().filter_map(|event| match event {
            Event::PlayerFaulted(faulted) => Some(&faulted.faulted.player),
            _ => None,
        });
        out.filter_map(|player| self.dismissal(player, Some(key.clone()))).collect()
    }

    /// The dismissals of players who are out of a tournament.
    pub(super) fn dropped_peers(&self, events: &[Event]) -> Vec<FollowUp> {
        let out = events.iter().filter_map(|event| match event {
            Event::PlayerDropped(dropped) => self.dismissal(&dropped.faulted.player, None),
            _ => None,
        });
        out.collect()
    }

    fn dismissal(&self, player: &PlayerName, shown: Option<MatchKey>) -> Option<FollowUp> {
        Some(FollowUp::Dismiss { conn: self.peer_conn(player)?, shown })
    }

    /// The connection of a player who is connected over the wire of another system.
    pub(super) fn peer_conn(&self, player: &PlayerName) -> Option<ConnId> {
        let conn = self.conn_of(player)?;
        self.sessions.get(conn).filter(|session| !session.seat.takes_lines()).map(|_| conn)
    }

    /// Sends the remaining players the end of a tournament, unless they were asked to confirm it,
    /// and dismisses all.
    pub(super) fn dismiss(&mut self, live: &super::LiveTournament) {
        let asked = |player: &PlayerName| {
            live.asked.values().any(|asked| asked.farewell && asked.player == *player)
        };
        // If the tournament could not be played, all players are told that it is over and that they
        // did not win.
        for (player, won) in live.machine.told_at_end() {
            if let Some(conn) = self.peer_conn(&player).filter(|_| !asked(&player)) {
                self.call(conn, Tell { told: Told::End { won }, ask: None });
            }
        }
        for player in &live.machine.plan().players {
            self.dismiss_idle(player);
        }
    }

    /// Sends the players of a tournament that could not begin its end, and dismisses them.
    pub(super) fn dismiss_unplayed(&mut self, players: &[PlayerName]) {
        for player in players {
            if let Some(conn) = self.peer_conn(player) {
                self.call(conn, Tell { told: Told::End { won: false }, ask: None });
            }
            self.dismiss_idle(player);
        }
    }

    /// Closes the connection of a player who waits for nothing more. The one tournament they may
    /// still be in is about to end.
    pub(super) fn dismiss_idle(&mut self, player: &PlayerName) {
        let (_, waiting) = self.lobby.involvement(player);
        let idle = waiting == 0 && self.active_in(player) <= 1;
        if let Some(conn) = self.peer_conn(player).filter(|_| idle) {
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
