//! Notifications of the lobby that players did not just ask for: invitations, readiness questions,
//! cancellations, and sign-ups that opened.
//!
//! Invitations and their ends go to the invited players. Sign-ups go to subscribers, in at most one
//! notice a second. That notice lists the sign-ups that opened since the last one and are still
//! open.

use super::follow_up::{FollowUp, Notices};
use super::journal::StreamKey;
use super::{ConnId, Engine, Timer};
use agon_core::lobby::{Invitation, LobbyCommand, LobbyOrder, Reply, Selection, SignUp, Standing};
use agon_core::{Event, Millis, PlayerName, TournamentId};
use agon_wire::native::ToPlayer;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How long the engine collects news before it notifies subscribers.
const NEWS_MS: Millis = 1_000;

/// The most sign-ups one notice lists.
const LISTED_MAX: usize = 100;

/// Sign-ups that opened, and their subscribers.
#[derive(Default)]
pub(crate) struct News {
    subscribers: BTreeSet<ConnId>,
    opened: BTreeSet<TournamentId>,
    /// When the next notice may be sent.
    next_at: Millis,
}

/// Tournaments that a command may decide, with the players who wait for them.
pub(super) type Waiting = Vec<(TournamentId, Vec<PlayerName>)>;

/// The notifications of a lobby record, sent once it is durable. `waiting` lists the players who
/// waited before it.
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
    /// The players who wait for the tournaments that a command may decide.
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
        // A player who leaves needs no notification.
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

    /// The notices about open invitations for a player who logged in.
    pub(super) fn invitations_of(&self, player: &PlayerName) -> Notices {
        let now = self.now_ms();
        let invited = self.lobby.invited_to(player);
        invited.filter_map(|invited| question(invited, player, now)).collect()
    }

    /// Sends connected invited players their question: all of them, or `only` these.
    pub(super) fn tell_invited(&mut self, id: &TournamentId, only: Option<&[PlayerName]>) {
        let now = self.now_ms();
        let Some(Standing::Inviting(invitation)) = self.lobby.tournament(id) else { return };
        let asked = |player: &PlayerName| only.is_none_or(|only| only.contains(player));
        let invited = invitation.replies.iter().filter(|(player, _)| asked(player));
        let told = invited.filter_map(|(player, reply)| {
            let conn = self.conn_of(player)?;
            let (about, data) = match reply {
                // The player missed the first question's deadline.
                Reply::Missed => ("invitation-over", over(id, "you did not answer in time")),
                _ => question(invitation, player, now)?,
            };
            Some((conn, about, data))
        });
        for (conn, about, data) in told.collect::<Vec<_>>() {
            self.notify(conn, about, &data);
        }
    }

    /// Notifies players who are left out of a tournament that starts.
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

    /// Queues a sign-up that opened, for subscribers.
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

    /// Notifies subscribers of sign-ups that opened, once no record of the lobby is in flight.
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

    /// Subscribes a connection to sign-ups: it is sent the open ones now, and later ones when they
    /// open.
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

/// The question to an invited player, if one is still open.
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

/// Sign-ups in the form of a notice; `None` if there are none.
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
