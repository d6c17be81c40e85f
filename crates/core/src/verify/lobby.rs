//! Verifies a lobby's stream: tournaments must take the players whom they have to take.
//!
//! Accounts, logins and replies come from outside and are taken as they are. The consequences are
//! decided again. That includes the draw of a random selection, once the tournament's secret is
//! known.

use super::stream::records;
use super::{Finding, Listing, compare, finding};
use crate::chain::Head;
use crate::event::{
    AccountBlacklisted, Event, PasswordChanged, TournamentAnnounced, TournamentStarted,
};
use crate::fair::Secret;
use crate::ids::{PlayerName, Timestamp, TournamentId};
use crate::line::Line;
use crate::lobby::{Lobby, LobbyCommand, LobbyOrder, Selection, TokenHash};
use crate::plan::TournamentPlan;
use crate::ruling::Ruling;
use std::collections::{BTreeMap, BTreeSet};

/// The result of verifying a lobby.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LobbyCheck {
    /// The number of verified announcements, with all their consequences.
    pub announcements: u64,
    /// The number of random selections that cannot be verified: the secret is not revealed yet, or
    /// the log is older than commitments.
    pub unchecked: u64,
    /// The tournaments that started, with their plans.
    pub started: BTreeMap<TournamentId, TournamentPlan>,
    /// The players whom operators entered into tournaments that had begun.
    pub entered: BTreeSet<(TournamentId, PlayerName)>,
    /// The tournaments that are over, with their winners.
    pub finished: BTreeMap<TournamentId, Vec<PlayerName>>,
    /// The blacklistings by policies, in order.
    pub listings: Vec<Listing>,
    /// When the lobby made its latest decision.
    pub last_at: Timestamp,
    /// The heads of the tournaments that are over, as they were reported to the lobby.
    pub heads: BTreeMap<TournamentId, Head>,
}

/// Verifies a lobby. `secret` returns the secrets of tournaments that are over.
pub fn verify_lobby(
    lines: &[Line],
    secret: impl Fn(&TournamentId) -> Option<Secret>,
) -> Result<LobbyCheck, Finding> {
    let mut lobby = Lobby::default();
    let mut check = LobbyCheck::default();
    for record in records(lines) {
        match &record[0].event {
            Event::TournamentAnnounced(announced) => {
                let secret = secret(&announced.announcement.id);
                announcement(&mut lobby, record, announced, secret, &mut check)?;
            }
            _ => decide(&mut lobby, record)?,
        }
        for line in record {
            match &line.event {
                Event::TournamentStarted(started) => {
                    check.started.insert(started.plan.id.clone(), started.plan.clone());
                }
                Event::EntryOrdered(entry) => {
                    check.entered.insert((entry.tournament.clone(), entry.player.clone()));
                }
                Event::TournamentFinished(over) => {
                    check.finished.insert(over.tournament.clone(), over.winners.clone());
                    let head = over.head.clone().map(|head| (over.tournament.clone(), head));
                    check.heads.extend(head);
                }
                _ => {}
            }
        }
    }
    check.listings = listings(lines)?;
    check.last_at = lines.last().map_or(Timestamp::default(), |line| line.at);
    Ok(check)
}

/// The blacklistings by policies. One that names its cause must be in order of time between the
/// lines around it.
fn listings(lines: &[Line]) -> Result<Vec<Listing>, Finding> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Event::AccountBlacklisted(listed) = &line.event else { continue };
        if listed.by.is_some() {
            continue;
        }
        let before = lines[..at].last().is_none_or(|before| before.at <= line.at);
        let after = lines.get(at + 1).is_none_or(|after| line.at <= after.at);
        if listed.cause.is_some() && !(before && after) {
            let what = "its time does not fit between those of the events around it";
            return Err(finding(line, what.into()));
        }
        let AccountBlacklisted { account, reason, cause, .. } = listed.clone();
        found.push(Listing { seq: line.seq, at: line.at, account, reason, cause });
    }
    Ok(found)
}

/// Decides a record again from its cause.
fn decide(lobby: &mut Lobby, record: &[Line]) -> Result<(), Finding> {
    let command = account_cause(lobby, record)
        .or_else(|| play_cause(&record[0].event))
        .or_else(|| order_cause(&record[0].event));
    let unknown = || finding(&record[0], "nothing from outside brings this about".into());
    let events = lobby
        .step(record[0].at, command.ok_or_else(unknown)?)
        .map_err(|rejection| finding(&record[0], rejection.to_string()))?;
    compare(record, &events)
}

/// Verifies an announcement by lot as far as possible without its luck. It must take or invite the
/// right number of connected players, and nobody whom it passed over.
fn undrawn(lobby: &Lobby, record: &[Line], announced: &TournamentAnnounced) -> Result<(), Finding> {
    let TournamentAnnounced { announcement, repeats, passed_over, draw_order, .. } = announced;
    let is_draw = matches!(announcement.selection, Selection::Draw(_));
    let (players, expected) = match &record[1..] {
        [] if is_draw => (draw_order, Vec::new()),
        [line] if !is_draw && draw_order.is_empty() => match &line.event {
            Event::TournamentStarted(started) => {
                let plan = announcement.plan(started.plan.players.clone());
                (&started.plan.players, vec![TournamentStarted { plan }.into()])
            }
            _ => return Err(finding(line, "tournament-started should be here".into())),
        },
        _ => return Err(finding(&record[0], "its players should follow, and no more".into())),
    };
    let (some, absent) = (Secret::from_bytes([0; 32]), passed_over.iter().cloned().collect());
    let count = lobby
        .try_take(announcement, Some(&some), &absent)
        .map_err(|rejection| finding(&record[0], rejection.to_string()))?
        .len();
    let taken: BTreeSet<&PlayerName> = players.iter().collect();
    let here = |player: &PlayerName| {
        lobby.line().contains(player) && lobby.may_play(player).is_ok() && !absent.contains(player)
    };
    if taken.len() != players.len() || players.len() != count || !players.iter().all(here) {
        let last = record.last().expect("records are not empty");
        return Err(finding(last, "it does not take as many of those there as it should".into()));
    }
    if repeats.is_some() {
        return Err(finding(&record[0], "no sign-up is repeated by a draw".into()));
    }
    compare(&record[1..], &expected)
}

/// Reconstructs the announcement with its inputs from outside: the tournament's luck, and the
/// players who were not connected.
fn announcing(announced: &TournamentAnnounced, secret: Option<Secret>) -> LobbyCommand {
    LobbyCommand::Announce {
        announcement: Box::new(announced.announcement.clone()),
        secret,
        absent: announced.passed_over.iter().cloned().collect(),
    }
}

/// The command about accounts that caused a record.
fn account_cause(lobby: &Lobby, record: &[Line]) -> Option<LobbyCommand> {
    Some(match record[0].event.clone() {
        Event::AccountRegistered(made) => LobbyCommand::Register {
            account: made.account,
            kind: made.kind,
            role: made.role,
            password: made.password,
        },
        Event::GuestClaimed(claimed) => LobbyCommand::Claim {
            guest: claimed.guest,
            account: claimed.account,
            password: claimed.password,
        },
        Event::PasswordChanged(PasswordChanged { account, password }) => {
            let revoked = |token: &TokenHash| {
                record.iter().any(|line| match &line.event {
                    Event::TokenRevoked(revoked) => revoked.token == *token,
                    _ => false,
                })
            };
            let keep = lobby.tokens_of(&account).find(|token| !revoked(token)).cloned();
            LobbyCommand::ChangePassword { account, password, keep }
        }
        Event::AccountBlacklisted(listed) => LobbyCommand::Blacklist {
            account: listed.account,
            reason: listed.reason,
            by: listed.by,
            cause: listed.cause,
        },
        Event::BlacklistLifted(lifted) => {
            LobbyCommand::Lift { account: lifted.account, by: lifted.by, reason: lifted.reason }
        }
        Event::TokenIssued(issued) => LobbyCommand::IssueToken {
            account: issued.account,
            token: issued.token,
            expires_at: issued.expires_at,
        },
        Event::TokenRevoked(revoked) => LobbyCommand::RevokeToken { token: revoked.token },
        Event::AccountLoggedIn(here) => LobbyCommand::LogIn { account: here.account },
        Event::AccountLoggedOut(gone) => LobbyCommand::LogOut { account: gone.account },
        Event::PlayerLocated(here) => {
            LobbyCommand::Locate { account: here.account, location: here.location }
        }
        Event::AccountDropped(gone) => LobbyCommand::Drop { account: gone.account },
        _ => return None,
    })
}

/// The command about playing that caused a record.
fn play_cause(event: &Event) -> Option<LobbyCommand> {
    Some(match event.clone() {
        Event::PlayerEnqueued(one) => {
            LobbyCommand::Enqueue { player: one.player, queue: one.queue }
        }
        Event::PlayerDequeued(one) => {
            LobbyCommand::Dequeue { player: one.player, queue: one.queue }
        }
        Event::PlayerSignedUp(one) => {
            let (tournament, player) = (one.tournament, one.player);
            LobbyCommand::SignUp { tournament, player, age: one.age }
        }
        Event::SignUpWithdrawn(one) => {
            LobbyCommand::Withdraw { tournament: one.tournament, player: one.player }
        }
        Event::InvitationAccepted(one) => {
            LobbyCommand::Accept { tournament: one.tournament, player: one.player }
        }
        Event::InvitationRejected(one) => {
            LobbyCommand::Reject { tournament: one.tournament, player: one.player }
        }
        Event::PlayerReady(one) => {
            LobbyCommand::BeReady { tournament: one.tournament, player: one.player }
        }
        // A wait timed out. That leaves no event of its own, so the record begins with its first
        // consequence.
        Event::SignUpExtended(one) => LobbyCommand::Close { tournament: one.tournament },
        Event::SilenceNoted(one) => LobbyCommand::Close { tournament: one.tournament },
        Event::ReadinessAsked(one) => LobbyCommand::Close { tournament: one.tournament },
        Event::TournamentCalledOff(off) => LobbyCommand::Close { tournament: off.tournament },
        Event::TournamentStarted(started) => LobbyCommand::Close { tournament: started.plan.id },
        Event::TournamentFinished(over) => {
            let head = over.head;
            LobbyCommand::Finish { tournament: over.tournament, winners: over.winners, head }
        }
        Event::RequesterNoted(one) => {
            LobbyCommand::NoteRequester { tournament: one.tournament, reply_to: one.reply_to }
        }
        Event::ResultDelivered(told) => LobbyCommand::Deliver { tournament: told.tournament },
        Event::ServerResumed(back) => {
            LobbyCommand::Resume { away_ms: back.away_ms, answers_until: back.answers_until }
        }
        _ => return None,
    })
}

/// The order of an operator that caused a record.
fn order_cause(event: &Event) -> Option<LobbyCommand> {
    let order = |order: LobbyOrder, ruling: Ruling| Some(LobbyCommand::Order { order, ruling });
    match event.clone() {
        Event::StartOrdered(one) => order(LobbyOrder::Start(one.tournament), one.ruling),
        Event::CallOffOrdered(one) => order(LobbyOrder::CallOff(one.tournament), one.ruling),
        Event::WithdrawalOrdered(one) => {
            let (tournament, player) = (one.tournament, one.player);
            order(LobbyOrder::Withdraw { tournament, player }, one.ruling)
        }
        Event::EntryOrdered(one) => {
            let (tournament, player) = (one.tournament, one.player);
            order(LobbyOrder::Enter { tournament, player }, one.ruling)
        }
        Event::LogOutOrdered(one) => order(LobbyOrder::LogOut(one.account), one.ruling),
        _ => None,
    }
}

fn fold(lobby: &mut Lobby, record: &[Line]) -> Result<(), Finding> {
    for line in record {
        lobby.apply(line.at, &line.event).map_err(|error| finding(line, error.to_string()))?;
    }
    Ok(())
}

fn announcement(
    lobby: &mut Lobby,
    record: &[Line],
    announced: &TournamentAnnounced,
    secret: Option<Secret>,
    check: &mut LobbyCheck,
) -> Result<(), Finding> {
    let by_lot = announced.announcement.selection.is_by_lot();
    if by_lot && (secret.is_none() || announced.commitment.is_none()) {
        check.unchecked += 1;
        undrawn(lobby, record, announced)?;
        return fold(lobby, record);
    }
    let revealed = secret.as_ref().map(Secret::commitment);
    if by_lot && revealed != announced.commitment {
        let what = "it is no commitment to the secret the tournament revealed";
        return Err(finding(&record[0], what.into()));
    }
    let events = lobby
        .step(record[0].at, announcing(announced, secret))
        .map_err(|rejection| finding(&record[0], rejection.to_string()))?;
    check.announcements += 1;
    compare(record, &events)
}
