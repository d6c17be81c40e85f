//! Checking a lobby's stream: did tournaments take whom they had to take?
//!
//! Accounts, logins and answers come from outside and are taken as they are. What follows from them
//! is decided again, the draw of a random selection included, once the tournament's secret is known.

use super::stream::records;
use super::{Finding, compare, finding};
use crate::chain::Head;
use crate::event::{Event, PasswordChanged, TournamentAnnounced, TournamentStarted};
use crate::fair::Secret;
use crate::ids::{PlayerName, TournamentId};
use crate::line::Line;
use crate::lobby::{Lobby, LobbyCommand, LobbyOrder, Selection, TokenHash};
use crate::plan::TournamentPlan;
use crate::ruling::Ruling;
use std::collections::{BTreeMap, BTreeSet};

/// What the check of a lobby found to be in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LobbyCheck {
    /// Announcements checked with everything that follows from them.
    pub announcements: u64,
    /// Random selections that cannot be checked: the secret is not revealed yet, or the log is of
    /// a time before it was committed to.
    pub unchecked: u64,
    /// The tournaments that started, with their plans.
    pub started: BTreeMap<TournamentId, TournamentPlan>,
    /// Those that are over, with their winners.
    pub finished: BTreeMap<TournamentId, Vec<PlayerName>>,
    /// The heads of those that are over, as the lobby was told.
    pub heads: BTreeMap<TournamentId, Head>,
}

/// Checks a lobby. `secret` gives those of tournaments that are over.
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
                Event::TournamentFinished(over) => {
                    check.finished.insert(over.tournament.clone(), over.winners.clone());
                    let head = over.head.clone().map(|head| (over.tournament.clone(), head));
                    check.heads.extend(head);
                }
                _ => {}
            }
        }
    }
    Ok(check)
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

/// Checks an announcement by lot as far as that can be done without its luck: it starts as it was
/// announced, with as many of those who were there as it takes.
fn undrawn(lobby: &Lobby, record: &[Line], announced: &TournamentAnnounced) -> Result<(), Finding> {
    let some = Secret::from_bytes([0; 32]);
    let plan = lobby
        .try_announce(&announced.announcement, Some(&some))
        .map_err(|rejection| finding(&record[0], rejection.to_string()))?;
    let (Some(plan), [_, line], None) = (plan, record, &announced.repeats) else {
        return Err(finding(&record[0], "tournament-started should follow, and no more".into()));
    };
    let Event::TournamentStarted(started) = &line.event else {
        return Err(finding(line, "tournament-started should be here".into()));
    };
    let players = &started.plan.players;
    let taken: BTreeSet<&PlayerName> = players.iter().collect();
    let there = players.iter().all(|player| lobby.line().contains(player))
        && players.iter().all(|player| lobby.may_play(player).is_ok());
    if taken.len() != players.len() || players.len() != plan.players.len() || !there {
        return Err(finding(line, "it does not take as many of those there as it should".into()));
    }
    compare(
        &record[1..],
        &[TournamentStarted { plan: announced.announcement.plan(players.clone()) }.into()],
    )
}

/// The command about accounts that a record began with.
fn account_cause(lobby: &Lobby, record: &[Line]) -> Option<LobbyCommand> {
    Some(match record[0].event.clone() {
        Event::AccountRegistered(made) => LobbyCommand::Register {
            account: made.account,
            kind: made.kind,
            role: made.role,
            password: made.password,
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
        _ => return None,
    })
}

/// The command about playing that a record began with.
fn play_cause(event: &Event) -> Option<LobbyCommand> {
    Some(match event.clone() {
        Event::PlayerEnqueued(one) => {
            LobbyCommand::Enqueue { player: one.player, queue: one.queue }
        }
        Event::PlayerDequeued(one) => {
            LobbyCommand::Dequeue { player: one.player, queue: one.queue }
        }
        Event::PlayerSignedUp(one) => {
            LobbyCommand::SignUp { tournament: one.tournament, player: one.player }
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
        // Time ran out; what follows is the first that is told.
        Event::SignUpExtended(one) => LobbyCommand::Close { tournament: one.tournament },
        Event::ReadinessAsked(one) => LobbyCommand::Close { tournament: one.tournament },
        Event::TournamentCalledOff(off) => LobbyCommand::Close { tournament: off.tournament },
        Event::TournamentStarted(started) => LobbyCommand::Close { tournament: started.plan.id },
        Event::TournamentFinished(over) => {
            let head = over.head;
            LobbyCommand::Finish { tournament: over.tournament, winners: over.winners, head }
        }
        Event::ResultDelivered(told) => LobbyCommand::Deliver { tournament: told.tournament },
        Event::ServerResumed(back) => {
            LobbyCommand::Resume { away_ms: back.away_ms, answers_until: back.answers_until }
        }
        _ => return None,
    })
}

/// The order of an operator that a record began with.
fn order_cause(event: &Event) -> Option<LobbyCommand> {
    let order = |order: LobbyOrder, ruling: Ruling| Some(LobbyCommand::Order { order, ruling });
    match event.clone() {
        Event::StartOrdered(one) => order(LobbyOrder::Start(one.tournament), one.ruling),
        Event::CallOffOrdered(one) => order(LobbyOrder::CallOff(one.tournament), one.ruling),
        Event::WithdrawalOrdered(one) => {
            let (tournament, player) = (one.tournament, one.player);
            order(LobbyOrder::Withdraw { tournament, player }, one.ruling)
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
    let by_lot = matches!(announced.announcement.selection, Selection::Random { .. });
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
    let announcement = Box::new(announced.announcement.clone());
    let command = LobbyCommand::Announce { announcement, secret };
    let events = lobby
        .step(record[0].at, command)
        .map_err(|rejection| finding(&record[0], rejection.to_string()))?;
    check.announcements += 1;
    compare(record, &events)
}
