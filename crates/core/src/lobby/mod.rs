//! The lobby: accounts, who is here, queues, sign-ups, and which tournaments run.
//!
//! It answers for who may do what, in which order players are taken, and how long a sign-up waits.
//! It leaves connections, hashing of passwords and making of tokens to the shell, and everything
//! that happens in a tournament to the tournament.
//!
//! First come, first served: players wait in the order they logged in; those a tournament takes
//! move to the end of the line.

mod account;
mod apply;
mod operator;
mod signup;
mod snapshot;
mod step;

pub use account::{Account, AccountKind, BadQueueName, PasswordHash, QueueName, Role, TokenHash};
pub use operator::LobbyOrder;
pub use signup::{Announcement, Selection, SignUp, Window};
pub use snapshot::BadSnapshot;
pub use step::{LobbyCommand, LobbyRejection};

use crate::ids::{Millis, PlayerName, TournamentId};
use crate::line::Line;
use crate::match_::ApplyError;
use crate::plan::TournamentPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A token that is good until it ends or is revoked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    account: PlayerName,
    expires_at: Millis,
}

/// Where a tournament stands, as far as the lobby knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Players may sign up.
    Open(Box<SignUp>),
    /// It runs.
    Running(Box<TournamentPlan>),
    /// It is over.
    Finished(Vec<PlayerName>),
    /// It found too few players.
    CalledOff(String),
}

/// The lobby.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lobby {
    accounts: BTreeMap<PlayerName, Account>,
    tokens: BTreeMap<TokenHash, Token>,
    /// Who is logged in, first the one who waits longest.
    line: Vec<PlayerName>,
    queues: BTreeMap<QueueName, Vec<PlayerName>>,
    tournaments: BTreeMap<TournamentId, Standing>,
    /// Whom a tournament takes, between its announcement and its start in the same record.
    selections: BTreeMap<TournamentId, Selection>,
    /// Of sign-ups that repeat each other, the latest by the first.
    series: BTreeMap<TournamentId, TournamentId>,
}

impl Lobby {
    /// The most accounts there may be.
    pub const ACCOUNTS_MAX: usize = 1_000_000;
    /// The most times one player may wait in one queue.
    pub const QUEUED_MAX: usize = 16;
    /// The most queues one player may wait in.
    pub const QUEUES_MAX: usize = 16;
    /// The most tokens one account may have; the one that ends first makes room.
    pub const TOKENS_MAX: usize = 32;
    /// The most tournaments that may be open or running at once.
    pub const TOURNAMENTS_MAX: usize = 10_000;

    /// Folds the lobby from its stream.
    pub fn fold<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Result<Lobby, ApplyError> {
        let mut lobby = Lobby::default();
        for line in lines {
            lobby.apply(line.at, &line.event)?;
        }
        Ok(lobby)
    }

    /// An account.
    pub fn account(&self, name: &PlayerName) -> Option<&Account> {
        self.accounts.get(name)
    }

    /// All accounts, by name.
    pub fn accounts(&self) -> impl Iterator<Item = (&PlayerName, &Account)> {
        self.accounts.iter()
    }

    /// Whose token this is, if it is good at `now`.
    pub fn holder(&self, token: &TokenHash, now: Millis) -> Option<&PlayerName> {
        let token = self.tokens.get(token)?;
        (token.expires_at > now).then_some(&token.account)
    }

    /// Who is logged in, first the one who waits longest.
    pub fn line(&self) -> &[PlayerName] {
        &self.line
    }

    /// Who waits in a queue, in order; a player that wants to play twice is there twice.
    pub fn queue(&self, queue: &QueueName) -> &[PlayerName] {
        self.queues.get(queue).map_or(&[], Vec::as_slice)
    }

    /// All queues somebody waits in, by name.
    pub fn queues(&self) -> impl Iterator<Item = (&QueueName, &[PlayerName])> {
        self.queues.iter().map(|(name, waiting)| (name, waiting.as_slice()))
    }

    /// All tournaments, by name.
    pub fn tournaments(&self) -> impl Iterator<Item = (&TournamentId, &Standing)> {
        self.tournaments.iter()
    }

    /// One tournament.
    pub fn tournament(&self, id: &TournamentId) -> Option<&Standing> {
        self.tournaments.get(id)
    }

    /// In how many running tournaments a player is, and in how many it waits to be.
    pub fn involvement(&self, player: &PlayerName) -> (usize, usize) {
        let mut counts = (0, 0);
        for standing in self.tournaments.values() {
            match standing {
                Standing::Running(plan) if plan.players.contains(player) => counts.0 += 1,
                Standing::Open(sign_up) if sign_up.players.contains(player) => counts.1 += 1,
                _ => {}
            }
        }
        let queued = self.queues.values().flatten().filter(|waiting| *waiting == player).count();
        (counts.0, counts.1 + queued)
    }

    /// When the next sign-up has to be decided, if any waits.
    pub fn deadline(&self) -> Option<Millis> {
        self.waiting_sign_ups().map(|(_, sign_up)| sign_up.closes_at).min()
    }

    /// The command that time alone makes due at `now`, if any. Callers step it and ask again.
    pub fn due(&self, now: Millis) -> Option<LobbyCommand> {
        let (id, _) = self.waiting_sign_ups().find(|(_, sign_up)| sign_up.closes_at <= now)?;
        Some(LobbyCommand::Close { tournament: id.clone() })
    }

    fn waiting_sign_ups(&self) -> impl Iterator<Item = (&TournamentId, &SignUp)> {
        self.tournaments.iter().filter_map(|(id, standing)| match standing {
            Standing::Open(sign_up) if !sign_up.rests() => Some((id, &**sign_up)),
            _ => None,
        })
    }
}
