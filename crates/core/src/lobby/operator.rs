//! What an operator may decide in the lobby, each with who and why.

use super::{Lobby, LobbyRejection};
use crate::event::{
    CallOffOrdered, Event, LogOutOrdered, StartOrdered, TournamentCalledOff, WithdrawalOrdered,
};
use crate::ids::{Millis, PlayerName, TournamentId};
use crate::ruling::Ruling;

/// What an operator may decide in the lobby.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LobbyOrder {
    /// A sign-up starts now, with those who are there.
    Start(TournamentId),
    /// A sign-up is given up, and those that would repeat it.
    CallOff(TournamentId),
    /// A player is taken out of a sign-up.
    Withdraw {
        /// Which.
        tournament: TournamentId,
        /// Who.
        player: PlayerName,
    },
    /// An account leaves the line, and its tokens are good no more.
    LogOut(PlayerName),
}

impl Lobby {
    pub(super) fn obey(
        &mut self,
        now: Millis,
        events: &mut Vec<Event>,
        order: LobbyOrder,
        ruling: Ruling,
    ) -> Result<(), LobbyRejection> {
        match order {
            LobbyOrder::Start(tournament) => {
                let tournament = self.latest_of(tournament);
                if self.sign_up_of(&tournament)?.players.is_empty() {
                    return Err(LobbyRejection::Nobody);
                }
                let ordered = StartOrdered { tournament: tournament.clone(), ruling };
                self.emit(now, events, ordered);
                self.start(now, events, &tournament)
            }
            LobbyOrder::CallOff(tournament) => {
                let tournament = self.latest_of(tournament);
                self.sign_up_of(&tournament)?;
                let reason = ruling.why.to_string();
                let ordered = CallOffOrdered { tournament: tournament.clone(), ruling };
                self.emit(now, events, ordered);
                self.emit(now, events, TournamentCalledOff { tournament, reason });
                Ok(())
            }
            LobbyOrder::Withdraw { tournament, player } => {
                if !self.sign_up_of(&tournament)?.players.contains(&player) {
                    return Err(LobbyRejection::NotSignedUp(player));
                }
                self.emit(now, events, WithdrawalOrdered { tournament, player, ruling });
                Ok(())
            }
            LobbyOrder::LogOut(account) => {
                self.known(&account)?;
                self.emit(now, events, LogOutOrdered { account, ruling });
                Ok(())
            }
        }
    }

    pub(super) fn forget_session(&mut self, account: &PlayerName) {
        self.line.retain(|player| player != account);
        self.tokens.retain(|_, token| token.account != *account);
    }
}
