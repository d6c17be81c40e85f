//! What the lobby has to tell players that did not ask just now: invitations, questions whether
//! they are ready, what was called off, and sign-ups that opened.
//!
//! Invitations and their ends go to those invited. Sign-ups go to those who subscribed, at most one
//! notice a second: what opened meanwhile is in it, and what has closed again is not.

use super::follow_up::{FollowUp, Notices};
use super::journal::StreamKey;
use super::{ConnId, Engine, Timer};
use agon_core::lobby::{Invitation, LobbyCommand, LobbyOrder, Reply, Selection, SignUp, Standing};
use agon_core::{Event, Millis, PlayerName, TournamentId};
use agon_wire::native::ToPlayer;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How long news are gathered before subscribers are told.
const NEWS_MS: Millis = 1_000;

/// The most sign-ups one notice lists.
const LISTED_MAX: usize = 100;

/// Sign-ups that opened, and who wants to know.
#[derive(Default)]
pub(crate) struct News {
    subscribers: BTreeSet<ConnId>,
    opened: BTreeSet<TournamentId>,
    /// When the next notice may be sent.
    next_at: Millis,
}

/// Who waits for a tournament that may be decided now.
pub(super) type Waiting = Vec<(TournamentId, Vec<PlayerName>)>;

/// What is to be told of a record of the lobby, once it is durable. `waiting` is who waited before.
pub(super) fn news_of(events: &[Event], waiting: Waiting) -> Vec<FollowUp> {
    let waited = |id: &TournamentId| {
        let mut found = waiting.iter().filter(|(waited_for, _)| waited_for == id);
        found.next().map(|(_, players)| players.clone()).unwrap_or_default()
    };
    let mut follow_ups = Vec::new();
    for event in events {
        match event {
            Event::TournamentAnnounced(announced) => {
                let id = announced.announcement.id.clone();
                match announced.announcement.selection {
                    Selection::SignUp(_) => follow_ups.push(FollowUp::SignUpOpened(id)),
                    Selection::Invitation(_) | Selection::Draw(_) => {
                        follow_ups.push(FollowUp::TellInvited(id, None));
                    }
                    _ => {}
                }
            }
            Event::PlayersDrawn(drawn) => {
                let (id, players) = (drawn.tournament.clone(), drawn.players.clone());
                follow_ups.push(FollowUp::TellInvited(id, Some(players)));
            }
            Event::ReadinessAsked(asked) => {
                follow_ups.push(FollowUp::TellInvited(asked.tournament.clone(), None));
            }
            Event::TournamentStarted(started) => {
                let id = started.plan.id.clone();
                let left_out = waited(&id).into_iter();
                let left_out: Vec<_> =
                    left_out.filter(|player| !started.plan.players.contains(player)).collect();
                follow_ups.push(FollowUp::TellLeftOut(id, left_out));
            }
            Event::TournamentCalledOff(off) => {
                let (tournament, reason) = (off.tournament.clone(), off.reason.clone());
                let players = waited(&tournament);
                follow_ups.push(FollowUp::TellCalledOff { tournament, players, reason });
            }
            _ => {}
        }
    }
    follow_ups
}

impl Engine {
    /// Who waits for what a command may decide.
    pub(super) fn waiting_for(&self, command: &LobbyCommand) -> Waiting {
        let ends = matches!(command, LobbyCommand::Close { .. } | LobbyCommand::Order { .. });
        let ids: Vec<TournamentId> = match command {
            LobbyCommand::Accept { tournament, .. }
            | LobbyCommand::Reject { tournament, .. }
            | LobbyCommand::BeReady { tournament, .. }
            | LobbyCommand::Withdraw { tournament, .. }
            | LobbyCommand::Close { tournament } => vec![tournament.clone()],
            LobbyCommand::Order { order, .. } => match order {
                LobbyOrder::Start(tournament) | LobbyOrder::CallOff(tournament) => {
                    vec![self.lobby.latest_of(tournament.clone())]
                }
                LobbyOrder::Withdraw { tournament, .. } => vec![tournament.clone()],
                LobbyOrder::LogOut(_) => Vec::new(),
            },
            LobbyCommand::Blacklist { account, .. } => {
                let invited = self.lobby.invited_to(account);
                invited.map(|invitation| invitation.announcement.id.clone()).collect()
            }
            _ => Vec::new(),
        };
        // Who goes knows that.
        let going = match command {
            LobbyCommand::Reject { player, .. }
            | LobbyCommand::Withdraw { player, .. }
            | LobbyCommand::Order { order: LobbyOrder::Withdraw { player, .. }, .. } => {
                Some(player)
            }
            _ => None,
        };
        let waiting = ids.into_iter().filter_map(|id| match self.lobby.tournament(&id)? {
            Standing::Open(sign_up) if ends => Some((id, sign_up.players.clone())),
            Standing::Inviting(invitation) => {
                let still = invitation.replies.iter().filter(|(player, reply)| {
                    matches!(reply, Reply::Open | Reply::Accepted | Reply::Ready | Reply::Silent)
                        && going != Some(player)
                });
                Some((id, still.map(|(player, _)| player.clone()).collect()))
            }
            _ => None,
        });
        waiting.collect()
    }

    /// What somebody that logged in is told of what it is invited to.
    pub(super) fn invitations_of(&self, player: &PlayerName) -> Notices {
        let now = self.now_ms();
        let invited = self.lobby.invited_to(player);
        invited.filter_map(|invited| question(invited, player, now)).collect()
    }

    /// Tells players who are invited and connected what they are asked: all of them, or `only`
    /// these.
    pub(super) fn tell_invited(&mut self, id: &TournamentId, only: Option<&[PlayerName]>) {
        let now = self.now_ms();
        let Some(Standing::Inviting(invitation)) = self.lobby.tournament(id) else { return };
        let asked = |player: &PlayerName| only.is_none_or(|only| only.contains(player));
        let invited = invitation.replies.iter().filter(|(player, _)| asked(player));
        let told = invited.filter_map(|(player, reply)| {
            let conn = self.conn_of(player)?;
            let (about, data) = match reply {
                // Not in time for the first question.
                Reply::Missed => ("invitation-over", over(id, "you did not answer in time")),
                _ => question(invitation, player, now)?,
            };
            Some((conn, about, data))
        });
        for (conn, about, data) in told.collect::<Vec<_>>() {
            self.notify(conn, about, &data);
        }
    }

    /// Tells those who are left out of a tournament that starts.
    pub(super) fn tell_left_out(&mut self, id: &TournamentId, players: &[PlayerName]) {
        let data = over(id, "it starts without you: you had not accepted, or were not ready");
        self.notify_all(players, "invitation-over", &data);
    }

    pub(super) fn tell_called_off(
        &mut self,
        id: &TournamentId,
        players: &[PlayerName],
        reason: &str,
    ) {
        self.news.opened.remove(id);
        let data = over(id, reason);
        for player in players {
            if let Some(conn) = self.conn_of(player) {
                self.notify(conn, "called-off", &data);
            }
            self.dismiss_idle(player);
        }
    }

    /// Notes that players may sign up, for those who want to know.
    pub(super) fn sign_up_opened(&mut self, id: TournamentId) {
        if self.news.subscribers.is_empty() {
            return;
        }
        if self.news.opened.is_empty() {
            let at = self.news.next_at.max(self.now_ms());
            self.timers.set(at, Timer::News);
        }
        self.news.opened.insert(id);
    }

    /// Tells subscribers what opened, once nothing of the lobby is on its way to the disk.
    pub(super) fn news_due(&mut self) {
        self.once_durable(vec![StreamKey::Lobby], FollowUp::TellNews);
    }

    pub(super) fn tell_news(&mut self) {
        let now = self.now_ms();
        self.news.next_at = now + NEWS_MS;
        let opened = std::mem::take(&mut self.news.opened);
        let open = opened.iter().filter_map(|id| match self.lobby.tournament(id)? {
            Standing::Open(sign_up) => Some(&**sign_up),
            _ => None,
        });
        let Some(data) = listed(open, now) else { return };
        for conn in self.news.subscribers.clone() {
            self.notify(conn, "sign-up-open", &data);
        }
    }

    /// Tells a connection of all sign-ups that are open, and of those that will be.
    pub(super) fn subscribe(&mut self, conn: ConnId) {
        self.news.subscribers.insert(conn);
        self.forgive_junk(conn);
        self.once_durable(vec![StreamKey::Lobby], FollowUp::ConfirmSubscription(conn));
    }

    pub(super) fn confirm_subscription(&mut self, conn: ConnId) {
        self.send(conn, &ToPlayer::Done { what: "subscribe", tournament: None });
        if let Some(data) = listed(self.lobby.sign_ups(), self.now_ms()) {
            self.notify(conn, "sign-up-open", &data);
        }
    }

    pub(super) fn unsubscribe(&mut self, conn: ConnId) {
        self.news.subscribers.remove(&conn);
    }

    /// Sends a notice to those of these players who are connected.
    pub(super) fn notify_all(&mut self, players: &[PlayerName], about: &str, data: &Value) {
        for player in players {
            if let Some(conn) = self.conn_of(player) {
                self.notify(conn, about, data);
            }
        }
    }

    pub(super) fn notify(&mut self, conn: ConnId, about: &str, data: &Value) {
        let data = Some(agon_games::json(data));
        self.send(conn, &ToPlayer::notice(about, data));
    }
}

/// What somebody who is invited is asked, if anything still is.
fn question(
    invitation: &Invitation,
    player: &PlayerName,
    now: Millis,
) -> Option<(&'static str, Value)> {
    let about = match (invitation.reply(player)?, invitation.readying) {
        (Reply::Open | Reply::Accepted | Reply::Silent, false) => "invitation",
        (Reply::Accepted, true) => "ready-asked",
        _ => return None,
    };
    let announcement = &invitation.announcement;
    let data = json!({
        "tournament": announcement.id,
        "game": announcement.game,
        "preset": announcement.preset,
        "by": announcement.by,
        "players": invitation.replies.iter().map(|(player, _)| player).collect::<Vec<_>>(),
        "reply": invitation.reply(player),
        "wait_ms": invitation.closes_at.saturating_sub(now),
    });
    Some((about, data))
}

fn over(id: &TournamentId, reason: &str) -> Value {
    json!({"tournament": id, "reason": reason})
}

/// Sign-ups as a notice lists them; `None` if there are none.
fn listed<'a>(sign_ups: impl Iterator<Item = &'a SignUp>, now: Millis) -> Option<Value> {
    let (mut tournaments, mut left_out) = (Vec::new(), 0);
    for sign_up in sign_ups {
        if tournaments.len() == LISTED_MAX {
            left_out += 1;
            continue;
        }
        let Selection::SignUp(window) = &sign_up.announcement.selection else { continue };
        let waits = !(window.repeat && sign_up.players.is_empty());
        tournaments.push(json!({
            "tournament": sign_up.announcement.id,
            "game": sign_up.announcement.game,
            "preset": sign_up.announcement.preset,
            "at_least": window.at_least,
            "at_most": window.at_most,
            "players": sign_up.players.len(),
            "wait_ms": waits.then(|| sign_up.closes_at.saturating_sub(now)),
        }));
    }
    match tournaments.is_empty() {
        true => None,
        false => Some(json!({"tournaments": tournaments, "left_out": left_out})),
    }
}
