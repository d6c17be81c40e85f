//! Functions that several queries and handlers share: commands of accounts that reach both the lobby
//! and the cells.

use super::Engine;
use super::journal::StreamKey;
use super::{AnnounceError, NotObeyed};
use agon_core::lobby::{Announcement, LobbyCommand, LobbyRejection, Standing};
use agon_core::{PlayerName, Timestamp, TournamentId};

impl Engine {
    /// Changes whenever the lobby does, or a player connects or disconnects.
    pub(super) fn lobby_version(&self) -> u64 {
        self.services.journals.version(&StreamKey::Lobby) + self.services.present.changes()
    }

    /// Rejects a query about a tournament that does not exist.
    pub(super) fn known_tournament(&self, id: &TournamentId) -> Result<(), NotObeyed> {
        match self.lobby.state().tournament(id) {
            Some(_) => Ok(()),
            None => Err(NotObeyed::NoTournament(id.clone())),
        }
    }

    /// Lets the lobby decide a command of an authenticated account.
    pub(super) fn command(&mut self, command: LobbyCommand) -> Result<(), LobbyRejection> {
        self.step_lobby(command, Vec::new())
    }

    /// Announces a tournament; it starts at once unless it waits for players.
    pub(super) fn announce(&mut self, announcement: Announcement) -> Result<(), AnnounceError> {
        let announced = self.lobby.announce(&mut self.services, announcement);
        self.settle();
        announced
    }

    /// Makes a token for an operator's account, and the account if there is none.
    pub(super) fn operator_token(&mut self, account: PlayerName) -> Result<String, LobbyRejection> {
        let made = self.lobby.operator_token(&mut self.services, account);
        self.settle();
        made
    }

    /// Makes a guest account with a token; returns its name, and when the token expires.
    pub(super) fn register_guest(
        &mut self,
        token: &str,
    ) -> Result<(PlayerName, Timestamp), LobbyRejection> {
        let made = self.lobby.register_guest(&mut self.services, token);
        self.settle();
        made
    }

    /// Gives an account a new token; returns when the token expires.
    pub(super) fn issue_token(
        &mut self,
        account: PlayerName,
        token: &str,
    ) -> Result<Timestamp, LobbyRejection> {
        let issued = self.lobby.issue_token(&mut self.services, account, token);
        self.settle();
        issued
    }

    /// A player withdraws a sign-up, rejects an invitation, or leaves a running tournament and
    /// their matches in it. Returns the streams this was written to, besides the lobby's.
    pub(super) fn withdraw(
        &mut self,
        tournament: TournamentId,
        player: PlayerName,
    ) -> Result<Vec<StreamKey>, LobbyRejection> {
        let tournament = self.lobby.state().left_by(tournament, &player);
        match self.lobby.state().tournament(&tournament) {
            Some(Standing::Running(plan)) if plan.players.contains(&player) => {
                let streams = self.cells.streams_of(&tournament, &player)?;
                self.in_cells(|cells, cx| cells.leave_tournament(cx, &tournament, &player));
                Ok(streams)
            }
            Some(Standing::Running(_)) => Err(LobbyRejection::NotSignedUp(player)),
            // The tournament has just ended in this engine, and the lobby is another's.
            _ if self.services.has_only_cells() => Err(LobbyRejection::NotSignedUp(player)),
            _ => {
                self.command(LobbyCommand::Withdraw { tournament, player })?;
                Ok(Vec::new())
            }
        }
    }
}
