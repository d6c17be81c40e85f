//! Orders of an operator to the lobby, each with the operator and their reason.

use super::{Lobby, LobbyRejection, Reply, Standing};
use crate::event::{
    CallOffOrdered, EntryOrdered, Event, LogOutOrdered, StartOrdered, TournamentCalledOff,
    TournamentStarted, WithdrawalOrdered,
};
use crate::ids::{PlayerName, Timestamp, TournamentId};
use crate::plan::TournamentPlan;
use crate::ruling::{Ruling, Why};
use serde::{Deserialize, Serialize};

/// An order of an operator to the lobby.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LobbyOrder {
    /// Start a sign-up now with the players who signed up, or invitations with those who accepted.
    Start(TournamentId),
    /// Call off a sign-up and its repetitions, or invitations.
    CallOff(TournamentId),
    /// Remove a player from a sign-up, or from the invited players.
    Withdraw {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    },
    /// Enter a player into a tournament that runs.
    Enter {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    },
    /// Log an account out: remove it from the line, and revoke its tokens.
    LogOut(PlayerName),
}

/// The kinds of rulings that the lobby records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LobbyRulingKind {
    /// Started it before its time.
    Started,
    /// Called it off.
    CalledOff,
    /// Removed a player before it began.
    Withdrawn,
    /// Entered a player after it had begun.
    Entered,
    /// Put an account on the blacklist.
    Blacklisted,
    /// Removed an account from the blacklist.
    Lifted,
    /// Logged an account out.
    LoggedOut,
}

/// A ruling about a tournament or an account that the lobby keeps, so that everybody can read its
/// reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LobbyRuling {
    /// When the operator ruled.
    pub at: Timestamp,
    /// The kind of ruling.
    pub kind: LobbyRulingKind,
    /// The player it is about, if it is about one.
    pub player: Option<PlayerName>,
    /// The operator and their reason.
    pub ruling: Ruling,
}

impl Lobby {
    /// The rulings of operators about a tournament, in order of time.
    pub fn rulings(&self, tournament: &TournamentId) -> &[LobbyRuling] {
        self.rulings.get(tournament).map_or(&[], Vec::as_slice)
    }

    /// The rulings of operators about an account, in order of time.
    pub fn account_rulings(&self, account: &PlayerName) -> &[LobbyRuling] {
        self.account_rulings.get(account).map_or(&[], Vec::as_slice)
    }

    /// Keeps the ruling that an event records, if it records one.
    pub(super) fn keep_ruling(&mut self, at: Timestamp, event: &Event) {
        if let Some((account, kind, ruling)) = account_ruling(event) {
            let ruling = LobbyRuling { at, kind, player: Some(account.clone()), ruling };
            return self.account_rulings.entry(account).or_default().push(ruling);
        }
        let (tournament, kind, player, ruling) = match event {
            Event::StartOrdered(one) => {
                (&one.tournament, LobbyRulingKind::Started, None, &one.ruling)
            }
            Event::CallOffOrdered(one) => {
                (&one.tournament, LobbyRulingKind::CalledOff, None, &one.ruling)
            }
            Event::WithdrawalOrdered(one) => {
                (&one.tournament, LobbyRulingKind::Withdrawn, Some(&one.player), &one.ruling)
            }
            Event::EntryOrdered(one) => {
                (&one.tournament, LobbyRulingKind::Entered, Some(&one.player), &one.ruling)
            }
            _ => return,
        };
        let (player, ruling) = (player.cloned(), ruling.clone());
        let ruling = LobbyRuling { at, kind, player, ruling };
        self.rulings.entry(tournament.clone()).or_default().push(ruling);
    }

    pub(super) fn obey(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        order: LobbyOrder,
        ruling: Ruling,
    ) -> Result<(), LobbyRejection> {
        match order {
            LobbyOrder::Start(tournament) => {
                let plan = self.try_start(tournament)?;
                let closed = self.sign_up_of(&plan.id).ok().cloned();
                self.emit(now, events, StartOrdered { tournament: plan.id.clone(), ruling });
                self.emit(now, events, TournamentStarted { plan });
                if let Some(closed) = closed {
                    self.repeat(now, events, closed);
                }
                Ok(())
            }
            LobbyOrder::CallOff(tournament) => {
                let tournament = self.latest_of(tournament);
                if !self.is_inviting(&tournament) {
                    self.sign_up_of(&tournament)?;
                }
                let reason = ruling.why.to_string();
                let ordered = CallOffOrdered { tournament: tournament.clone(), ruling };
                self.emit(now, events, ordered);
                self.emit(now, events, TournamentCalledOff { tournament, reason });
                Ok(())
            }
            LobbyOrder::Withdraw { tournament, player } => {
                let tournament = self.left_by(tournament, &player);
                self.may_withdraw(&tournament, &player)?;
                let id = tournament.clone();
                self.emit(now, events, WithdrawalOrdered { tournament, player, ruling });
                self.settle(now, events, id, false);
                Ok(())
            }
            LobbyOrder::Enter { tournament, player } => {
                self.may_enter(&tournament, &player)?;
                self.emit(now, events, EntryOrdered { tournament, player, ruling });
                Ok(())
            }
            LobbyOrder::LogOut(account) => {
                self.known(&account)?;
                self.emit(now, events, LogOutOrdered { account, ruling });
                Ok(())
            }
        }
    }

    /// Checks that a player can enter a tournament that runs. Its format may still reject them.
    pub fn may_enter(
        &self,
        tournament: &TournamentId,
        player: &PlayerName,
    ) -> Result<(), LobbyRejection> {
        let Some(Standing::Running(plan)) = self.tournaments.get(tournament) else {
            return Err(LobbyRejection::NotRunning(tournament.clone()));
        };
        if plan.players.contains(player) {
            return Err(LobbyRejection::SignedUp(player.clone()));
        }
        self.may_play(player)
    }

    /// The plan with which a waiting tournament would start now. Changes nothing.
    pub fn try_start(&self, tournament: TournamentId) -> Result<TournamentPlan, LobbyRejection> {
        let tournament = self.latest_of(tournament);
        let (announcement, players) = match self.tournaments.get(&tournament) {
            Some(Standing::Open(sign_up)) => (&sign_up.announcement, sign_up.in_playing_order()),
            Some(Standing::Inviting(invitation)) => (&invitation.announcement, invitation.there()),
            _ => return Err(LobbyRejection::NotOpen(tournament)),
        };
        match players.is_empty() {
            true => Err(LobbyRejection::Nobody),
            false => Ok(announcement.plan(players)),
        }
    }

    fn may_withdraw(
        &self,
        tournament: &TournamentId,
        player: &PlayerName,
    ) -> Result<(), LobbyRejection> {
        if let Some(Standing::Inviting(invitation)) = self.tournaments.get(tournament) {
            return match invitation.reply(player) {
                Some(
                    Reply::Open | Reply::Accepted | Reply::Ready | Reply::Reserve | Reply::Silent,
                ) => Ok(()),
                _ => Err(LobbyRejection::NotInvited(player.clone())),
            };
        }
        match self.sign_up_of(tournament)?.players.contains(player) {
            true => Ok(()),
            false => Err(LobbyRejection::NotSignedUp(player.clone())),
        }
    }

    fn is_inviting(&self, tournament: &TournamentId) -> bool {
        matches!(self.tournaments.get(tournament), Some(Standing::Inviting(_)))
    }
}

/// The account that an operator's ruling in an event is about, with the kind and the reason.
fn account_ruling(event: &Event) -> Option<(PlayerName, LobbyRulingKind, Ruling)> {
    // Every operator gives a reason that can be read.
    let ruling =
        |by: &PlayerName, why: &str| Some(Ruling { by: by.clone(), why: Why::new(why).ok()? });
    let (account, kind, ruling) = match event {
        Event::AccountBlacklisted(one) => {
            (&one.account, LobbyRulingKind::Blacklisted, ruling(one.by.as_ref()?, &one.reason)?)
        }
        Event::BlacklistLifted(one) => {
            (&one.account, LobbyRulingKind::Lifted, ruling(&one.by, &one.reason)?)
        }
        Event::LogOutOrdered(one) => (&one.account, LobbyRulingKind::LoggedOut, one.ruling.clone()),
        _ => return None,
    };
    Some((account.clone(), kind, ruling))
}
