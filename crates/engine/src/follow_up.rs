//! Follow-ups: the engine's actions once a record is durable, as data.
//!
//! A handler decides, commits its events and names their follow-ups. The journal keeps the
//! follow-ups of a record until the log has confirmed it. Then [`Engine::follow_up`] carries them
//! out, in the order in which they were named.

use super::engines::{EngineId, ToLobby};
use super::journal::StreamKey;
use super::port::ToSeat;
use super::query::{AnyAnswer, AnyQuery, QueryId};
use super::results::Report;
use super::{CloseReason, ConnId, Effect, Engine, MatchKey, Note, Tell, lobby};
use agon_core::lobby::{Cheat, LobbyCommand, QueueName, TokenHash};
use agon_core::{
    Event, Faulted, GameResult, Head, MatchId, Notice, PlayerName, RequestId, Secret, Timestamp,
    TournamentId, TournamentPlan,
};
use agon_games::Json;
use agon_wire::native::ToPlayer;
use agon_wire::peer::PeerMessage;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One action for when a record is durable.
pub(crate) enum FollowUp {
    /// Start a tournament that the lobby decided on.
    Start(Box<TournamentPlan>),
    /// Enter a player into a running tournament, as the lobby recorded.
    Enter(TournamentId, PlayerName),
    /// Start a tournament whose secret is durable now.
    StartWith(Box<TournamentPlan>, Secret),
    /// Remove a blacklisted player from every tournament.
    Expel(PlayerName),
    /// Remove a blacklisted player from one tournament.
    ExpelFrom(TournamentId, PlayerName),
    /// Blacklist the player of a cheat.
    Blacklist(Box<Cheat>),
    /// Log in an account that has authenticated.
    Welcome { conn: ConnId, account: PlayerName, hash: TokenHash, token: Option<String> },
    /// Attach a program that signed up over the wire of another system.
    AttachProgram { conn: ConnId, player: PlayerName, returns: bool },
    /// Send a connection that logged in the lobby's notices for its account.
    Inform { conn: ConnId, account: PlayerName, invitations: Notices, owed: Vec<TournamentId> },
    /// Confirm a program's sign-up.
    ConfirmSignUp { conn: ConnId, player: PlayerName, next: bool },
    /// Confirm to a connection that its command is done.
    Done { conn: ConnId, what: &'static str, about: Option<TournamentId> },
    /// Tell a connection why its answer was rejected.
    RejectAnswer {
        conn: ConnId,
        code: &'static str,
        id: RequestId,
        detail: String,
        accepted: Option<Json>,
    },
    /// Send a notice of a match to its player, on the connection they have by then.
    SendNotice(MatchKey, Notice),
    /// Send a notice to those of these players who are connected.
    Notify { players: Vec<PlayerName>, about: &'static str, data: Value },
    /// Close the connection of an account that an operator logged out.
    LogOut { account: PlayerName, why: String },
    /// Close the connection of a player who has left; first show them the match once more, if there
    /// is one.
    Dismiss { conn: ConnId, shown: Option<MatchKey> },
    /// Conclude a tournament that is over in its cell: dismiss its players, and have the lobby
    /// record its end.
    Conclude(Box<Conclusion>),
    /// Send a tournament's result to the player who asked for it.
    Deliver(TournamentId, Box<Report>),
    /// Send invited players their question: all of them, or only these.
    TellInvited(TournamentId, Option<Vec<PlayerName>>),
    /// Notify players that a tournament starts without them.
    TellLeftOut(TournamentId, Vec<PlayerName>),
    /// Notify players that a tournament is cancelled.
    TellCalledOff { tournament: TournamentId, players: Vec<PlayerName>, reason: String },
    /// Queue a sign-up that opened, for subscribers.
    SignUpOpened(TournamentId),
    /// Notify subscribers of sign-ups that opened.
    TellNews,
    /// Confirm a subscription and list the open sign-ups.
    ConfirmSubscription(ConnId),
    /// Start games in a queue, if enough connected players wait in it.
    FillQueue(QueueName),
    /// Give up the places of a player who has logged out in queues that start games by themselves.
    LeaveQueues(PlayerName),
    /// Free the name of a player who left without ever playing.
    DropNewcomer(PlayerName),
    /// Report the end of a game to the operator.
    NoteGame(MatchKey, Box<GameResult>),
    /// Report a fault to the operator.
    NoteFault(TournamentId, Option<MatchId>, Box<Faulted>),
    /// Publish events of the lobby to the engines of cells: the number of the first, and their time.
    Publish(u64, Timestamp, Vec<Event>),
    /// Leave a query to the engine that owns its tournament.
    Forward(EngineId, QueryId, Box<dyn AnyQuery>),
    /// Give back a tournament that moves to another engine.
    Release(TournamentId),
    /// Wait for these streams as well, then carry out the follow-up.
    Await(Vec<StreamKey>, Box<FollowUp>),
    /// Answer a query.
    Reply(QueryId, AnyAnswer),
}

/// A tournament that is over in its cell.
#[derive(Serialize, Deserialize)]
pub(crate) struct Conclusion {
    pub(crate) tournament: TournamentId,
    pub(crate) players: Vec<PlayerName>,
    pub(crate) winners: Vec<PlayerName>,
    /// The head of its log, if it was played.
    pub(crate) head: Option<Head>,
    pub(crate) report: Report,
}

/// Notices: the subject of each, and its data.
pub(crate) type Notices = Vec<(&'static str, Value)>;

impl Engine {
    /// Carries out a follow-up whose record is durable.
    pub(super) fn follow_up(&mut self, what: FollowUp) {
        match what {
            FollowUp::Start(plan) => self.start_in_place(*plan),
            FollowUp::Enter(id, player) => self.enter_in_place(id, player),
            FollowUp::StartWith(plan, secret) => {
                self.in_cells(|cells, cx| cells.start_with(cx, *plan, secret));
            }
            FollowUp::Expel(player) => self.expel(&player),
            FollowUp::ExpelFrom(id, player) => {
                self.in_cells(|cells, cx| cells.expel_from(cx, &id, &player));
            }
            FollowUp::Blacklist(cheat) => self.blacklist_for(*cheat),
            FollowUp::Welcome { conn, account, hash, token } => {
                self.let_in(conn, &account, hash, token.as_deref());
            }
            FollowUp::AttachProgram { conn, player, returns } => {
                self.attach_program(conn, &player, returns);
            }
            FollowUp::Inform { conn, account, invitations, owed } => {
                self.inform(conn, &account, &invitations, &owed);
            }
            FollowUp::ConfirmSignUp { conn, player, next } => {
                self.confirm_sign_up(conn, &player, next);
            }
            FollowUp::Done { conn, what, about } => {
                self.send(conn, &ToPlayer::Done { what, tournament: about.as_ref() });
            }
            FollowUp::RejectAnswer { conn, code, id, detail, accepted } => {
                let id = Some(id.as_str());
                self.send(conn, &ToPlayer::Error { code, id, detail, accepted });
            }
            FollowUp::SendNotice(key, notice) => self.send_notice(&key, notice),
            FollowUp::Notify { players, about, data } => {
                self.services.notify_all(&players, about, &data);
            }
            FollowUp::LogOut { account, why } => self.close_for_operator(&account, &why),
            FollowUp::Dismiss { conn, shown } => self.dismiss(conn, shown),
            FollowUp::Conclude(conclusion) => self.conclude(*conclusion),
            FollowUp::Deliver(id, report) => self.deliver(&id, &report),
            FollowUp::TellInvited(id, only) => {
                self.lobby.tell_invited(&mut self.services, &id, only.as_deref());
            }
            FollowUp::TellLeftOut(id, players) => {
                lobby::tell_left_out(&mut self.services, &id, &players);
            }
            FollowUp::TellCalledOff { tournament, players, reason } => {
                self.called_off(&tournament, &players, &reason);
            }
            FollowUp::SignUpOpened(id) => self.sign_up_opened(id),
            FollowUp::TellNews => self.tell_news(),
            FollowUp::ConfirmSubscription(conn) => self.confirm_subscription(conn),
            FollowUp::FillQueue(queue) => self.fill_queue(&queue),
            FollowUp::LeaveQueues(player) => self.leave_queues(&player),
            FollowUp::DropNewcomer(player) => self.drop_if_gone(&player),
            FollowUp::NoteGame(key, result) => self.note(Note::GameEnded { key, result }),
            FollowUp::NoteFault(tournament, of_match, faulted) => {
                let conn = self.conn_of(&faulted.player);
                self.note(Note::Fault { conn, tournament, of_match, faulted });
            }
            FollowUp::Publish(seq, at, events) => self.publish(seq, at, &events),
            FollowUp::Forward(to, query, what) => {
                self.services.effects.push(Effect::Forward { to, query, what });
            }
            FollowUp::Release(id) => self.release_durable(id),
            FollowUp::Await(streams, then) => self.once_durable(streams, *then),
            FollowUp::Reply(query, answer) => {
                self.services.effects.push(Effect::Reply { query, answer });
            }
        }
    }

    /// Confirms the sign-up of a program that is still connected.
    fn confirm_sign_up(&mut self, conn: ConnId, player: &PlayerName, next: bool) {
        if self.conn_of(player) == Some(conn) {
            self.call(conn, Tell { message: PeerMessage::SignedUp { next }, ask: None });
        }
    }

    fn send_notice(&mut self, key: &MatchKey, notice: Notice) {
        let player = notice.player.clone();
        self.services.send_to_seat(&player, ToSeat::Notice { key, notice });
    }

    /// Closes the connection of a player who has left.
    fn dismiss(&mut self, conn: ConnId, shown: Option<MatchKey>) {
        // The last message to a removed player is the position without its penguins.
        if let Some(key) = shown
            && self.is_durable(&StreamKey::Match(key.clone()))
        {
            self.in_cells(|cells, cx| cells.show_listeners(cx, &key));
        }
        self.end(conn, CloseReason::Dismissed);
    }

    /// Notifies everybody concerned that a tournament is cancelled.
    fn called_off(&mut self, id: &TournamentId, players: &[PlayerName], reason: &str) {
        self.lobby.tell_called_off(&mut self.services, id, players, reason);
        players.iter().for_each(|player| self.dismiss_idle(player));
        let report = Report::without_play(id.clone(), format!("called off: {reason}"));
        self.deliver(id, &report);
    }

    /// Dismisses the players of a tournament that is over, and has the lobby record its end.
    fn conclude(&mut self, conclusion: Conclusion) {
        if self.services.has_only_cells() {
            return self.pass_conclusion(conclusion);
        }
        let Conclusion { tournament, players, winners, head, report } = conclusion;
        self.cell_engines.forget(&tournament, &players);
        players.iter().for_each(|player| self.dismiss_idle(player));
        self.forget_cut_off(&tournament, &players);
        let deliver = FollowUp::Deliver(tournament.clone(), Box::new(report));
        let finish = LobbyCommand::Finish { tournament, winners, head };
        self.step_lobby(finish, vec![deliver]).expect("a tournament that runs can end");
        self.rebalance();
    }

    /// Lists the player of a durable cheat, unless the lobby has recorded that.
    fn blacklist_for(&mut self, cheat: Cheat) {
        if self.services.has_only_cells() {
            let at = self.now_ms();
            return self.services.pass_to_lobby(ToLobby::Blacklist { cheat, at });
        }
        if self.lobby.state().has_recorded(&cheat) {
            return;
        }
        let Cheat { account, reason, cause } = cheat;
        let command = LobbyCommand::Blacklist { account, reason, by: None, cause: Some(cause) };
        // The lobby rejects only a name without an account, and no tournament of the lobby takes
        // such a name.
        let _ = self.step_lobby(command, Vec::new());
    }

    /// Removes a listed player from every running tournament, and tells them why.
    fn expel(&mut self, player: &PlayerName) {
        for id in self.lobby.accounts().playing_in(player).cloned().collect::<Vec<_>>() {
            self.expel_in_place(&id, player);
        }
        self.tell_blacklisted(player);
    }

    /// Tells a listed player why. Wires of other systems cannot express it: the server closes those
    /// connections and logs the reason.
    pub(crate) fn tell_blacklisted(&mut self, player: &PlayerName) {
        let Some(why) = self.lobby.accounts().why_listed(player).map(str::to_owned) else { return };
        let conn = self.conn_of(player);
        let (account, listed) = (player.clone(), why.clone());
        self.note(Note::Blacklisted { conn, account, why: listed });
        match self.services.program_conn(player) {
            Some(conn) => self.end(conn, CloseReason::Dismissed),
            None => self.services.notify(player, "blacklisted", &json!({"reason": why})),
        }
    }
}
