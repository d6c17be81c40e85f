//! Guests, and the casual games that players start by themselves.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::{NotAnnounced, Query};
use crate::{Engine, LoginOutcome};
use agon_core::lobby::{LobbyCommand, LobbyRejection, PasswordHash, TokenHash};
use agon_core::{PlayerName, Timestamp, TournamentId};
use std::net::IpAddr;

/// Why a stranger gets no guest account.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NoGuest {
    #[error("this server has no guests; register an account")]
    Off,
    #[error(transparent)]
    Refused(#[from] LobbyRejection),
}

/// Makes a guest account with this token; the answer is its name, and when the token expires.
pub struct RegisterGuest {
    pub token: String,
    pub from: IpAddr,
}

impl Query for RegisterGuest {
    type Answer = Result<(PlayerName, Timestamp), NoGuest>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        if !engine.services.settings.guests {
            return Err(NoGuest::Off);
        }
        let (account, expires_at) = engine.register_guest(&self.token)?;
        engine.note_login(None, Some(self.from), Some(&account), LoginOutcome::Good);
        Ok((account, expires_at))
    }
}

/// Gives a guest a name and a password. A guest who keeps the name keeps the session `keep`.
pub struct ClaimGuest {
    pub guest: PlayerName,
    pub account: PlayerName,
    pub password: PasswordHash,
    pub keep: TokenHash,
}

impl Query for ClaimGuest {
    type Answer = Result<(), LobbyRejection>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let ClaimGuest { guest, account, password, keep } = self;
        let known = engine.lobby.state().account(&guest);
        if !known.is_some_and(agon_core::lobby::Account::is_guest) {
            return Err(LobbyRejection::NotGuest(guest));
        }
        engine.command(match guest == account {
            true => LobbyCommand::ChangePassword { account, password, keep: Some(keep) },
            false => LobbyCommand::Claim { guest, account, password },
        })
    }
}

/// Starts a casual game, or invites people to it. `players` has everybody in the order of seats.
pub struct PlayCasual {
    pub by: PlayerName,
    pub game: String,
    pub players: Vec<PlayerName>,
}

impl Query for PlayCasual {
    type Answer = Result<TournamentId, NotAnnounced>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.play_casual(&self.by, &self.game, self.players)
    }
}
