//! Notifications of the lobby that players did not just ask for: invitations, readiness questions,
//! cancellations, and sign-ups that opened.
//!
//! Invitations and their ends go to the invited players. Sign-ups go to subscribers, in at most one
//! notice a second. That notice lists the sign-ups that opened since the last one and are still
//! open.

use super::LobbyCell;
use crate::follow_up::{FollowUp, Notices};
use crate::services::Services;
use crate::timers::Timer;
use agon_core::lobby::{Invitation, LobbyCommand, LobbyOrder, Reply, Selection, SignUp, Standing};
use agon_core::{Event, Millis, PlayerName, Timestamp, TournamentId};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How long the engine collects news before it notifies subscribers.
const NEWS_MS: Millis = 1_000;

/// The most sign-ups one notice lists.
const LISTED_MAX: usize = 100;

/// Sign-ups that opened, for subscribers.
#[derive(Default)]
pub(super) struct News {
    opened: BTreeSet<TournamentId>,
    /// When the next notice may be sent.
    next_at: Timestamp,
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

impl LobbyCell {
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
                    vec![self.machine.latest_of(tournament.clone())]
                }
                LobbyOrder::Withdraw { tournament, .. } => vec![tournament.clone()],
                LobbyOrder::LogOut(_) | LobbyOrder::Enter { .. } => Vec::new(),
            },
            LobbyCommand::Blacklist { account, .. } => {
                let invited = self.machine.invited_to(account);
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
        let waiting = ids.into_iter().filter_map(|id| match self.machine.tournament(&id)? {
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
    pub(crate) fn invitations_of(&self, player: &PlayerName, now: Timestamp) -> Notices {
        let invited = self.machine.invited_to(player);
        invited.filter_map(|invited| question(invited, player, now)).collect()
    }

    /// Sends connected invited players their question: all of them, or `only` these.
    pub(crate) fn tell_invited(
        &self,
        services: &mut Services,
        id: &TournamentId,
        only: Option<&[PlayerName]>,
    ) {
        let now = services.now_ms();
        let Some(Standing::Inviting(invitation)) = self.machine.tournament(id) else { return };
        for (player, reply) in &invitation.replies {
            let asked = only.is_none_or(|only| only.contains(player));
            if !asked || services.conn_of(player).is_none() {
                continue;
            }
            let told = match reply {
                // The player missed the first question's deadline.
                Reply::Missed => Some(("invitation-over", over(id, "you did not answer in time"))),
                _ => question(invitation, player, now),
            };
            if let Some((about, data)) = told {
                services.notify(player, about, &data);
            }
        }
    }

    /// Notifies players who wait for a tournament that it is cancelled.
    pub(crate) fn tell_called_off(
        &mut self,
        services: &mut Services,
        id: &TournamentId,
        players: &[PlayerName],
        reason: &str,
    ) {
        self.news.opened.remove(id);
        services.notify_all(players, "called-off", &over(id, reason));
    }

    /// Queues a sign-up that opened, for subscribers.
    pub(crate) fn sign_up_opened(&mut self, services: &mut Services, id: TournamentId) {
        if self.news.opened.is_empty() {
            let at = self.news.next_at.max(services.now_ms());
            services.timers.set(at, Timer::News);
        }
        self.news.opened.insert(id);
    }

    /// Takes the notice about the sign-ups that opened and are still open, if there are any.
    pub(crate) fn take_news(&mut self, now: Timestamp) -> Option<Value> {
        self.news.next_at = now + NEWS_MS;
        let opened = std::mem::take(&mut self.news.opened);
        let open = opened.iter().filter_map(|id| match self.machine.tournament(id)? {
            Standing::Open(sign_up) => Some(&**sign_up),
            _ => None,
        });
        listed(open, now)
    }

    /// The notice about all open sign-ups, if there are any.
    pub(crate) fn open_sign_ups(&self, now: Timestamp) -> Option<Value> {
        listed(self.machine.sign_ups(), now)
    }
}

/// Notifies players who are left out of a tournament that starts.
pub(crate) fn tell_left_out(services: &mut Services, id: &TournamentId, players: &[PlayerName]) {
    let data = over(id, "it starts without you: you had not accepted, or were not ready");
    services.notify_all(players, "invitation-over", &data);
}

/// The question to an invited player, if one is still open.
fn question(
    invitation: &Invitation,
    player: &PlayerName,
    now: Timestamp,
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
        "wait_ms": invitation.closes_at.since(now),
    });
    Some((about, data))
}

fn over(id: &TournamentId, reason: &str) -> Value {
    json!({"tournament": id, "reason": reason})
}

/// Sign-ups in the form of a notice; `None` if there are none.
fn listed<'a>(sign_ups: impl Iterator<Item = &'a SignUp>, now: Timestamp) -> Option<Value> {
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
            "wait_ms": waits.then(|| sign_up.closes_at.since(now)),
        }));
    }
    match tournaments.is_empty() {
        true => None,
        false => Some(json!({"tournaments": tournaments, "left_out": left_out})),
    }
}
