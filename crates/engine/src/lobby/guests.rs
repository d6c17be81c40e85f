//! Guest accounts: their names, and the end of those that nobody uses.

use super::LobbyCell;
use crate::names;
use crate::services::Services;
use agon_core::lobby::{AccountKind, LobbyCommand, LobbyRejection, Role};
use agon_core::{PlayerName, Timestamp};

/// The number of the first guest is this plus the number of accounts, so that names look alike.
const FIRST_NUMBER: u64 = 1_000;

/// How many old guests the lobby looks at for each new one.
const LOOKED_AT: usize = 8;

/// Where the search for unused guests continues.
#[derive(Default)]
pub(super) struct GuestSweep(Option<PlayerName>);

impl LobbyCell {
    /// Makes a guest account with a token; returns its name, and when the token expires.
    pub(crate) fn register_guest(
        &mut self,
        services: &mut Services,
        token: &str,
    ) -> Result<(PlayerName, Timestamp), LobbyRejection> {
        self.drop_unused_guests(services);
        let first = FIRST_NUMBER + self.machine.next_account_number();
        let mut free = (first..).map(names::of_guest);
        let account = free.find(|name| self.machine.account(name).is_none());
        let account = account.expect("there are more numbers than accounts");
        let (name, kind, role, password) =
            (account.clone(), AccountKind::Person, Role::Player, None);
        let command = LobbyCommand::Register { account: name, kind, role, password };
        self.step(services, command, Vec::new())?;
        let expires_at = self.issue_token(services, account.clone(), token)?;
        Ok((account, expires_at))
    }

    /// Drops a few guests who never played and left long ago. Every new guest has the lobby look at
    /// several old ones, so unused accounts do not accumulate.
    fn drop_unused_guests(&mut self, services: &mut Services) {
        let after = self.guests.0.take().unwrap_or_else(names::before_guests);
        let guests = self.machine.accounts_after(&after).map(|(name, _)| name);
        let guests: Vec<PlayerName> =
            guests.take_while(|name| names::is_guest(name)).take(LOOKED_AT).cloned().collect();
        self.guests.0 = guests.last().filter(|_| guests.len() == LOOKED_AT).cloned();
        for account in guests {
            // The lobby refuses to drop accounts that are in use.
            let _ = self.step(services, LobbyCommand::Drop { account }, Vec::new());
        }
    }
}
