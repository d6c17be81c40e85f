//! The lobby: accounts, who is here, queues, sign-ups, invitations, and which tournaments run.
//!
//! It answers for who may do what, in which order players are taken, how long a sign-up or an
//! invitation waits, and who still has to be told of a result. It leaves connections, hashing of
//! passwords and making of tokens to the shell, and everything that happens in a tournament to the
//! tournament.
//!
//! First come, first served: players wait in the order they logged in; those a tournament takes
//! move to the end of the line.

mod account;
mod announce;
mod apply;
mod cause;
mod command;
mod index;
mod invitation;
mod invite;
mod operator;
mod queue;
mod reach;
mod signup;
mod snapshot;
mod step;
mod tokens;

pub use account::{Account, AccountKind, BadQueueName, PasswordHash, QueueName, Role, TokenHash};
pub use cause::{Cause, Cheat};
pub use command::{LobbyCommand, LobbyRejection};
pub use invitation::{Draw, Invitation, Reply, Terms};
pub use operator::LobbyOrder;
pub use queue::Queue;
pub use reach::Request;
pub use signup::{Announcement, Selection, SignUp, Window};
pub use snapshot::BadSnapshot;

use crate::ids::{Millis, PlayerName, Raw, TournamentId};
use crate::line::Line;
use crate::match_::ApplyError;
use crate::plan::TournamentPlan;
use index::Index;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tokens::Tokens;

/// Where a tournament stands, as far as the lobby knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Players may sign up.
    Open(Box<SignUp>),
    /// Players are invited, and have not all answered.
    Inviting(Box<Invitation>),
    /// It runs.
    Running(Box<TournamentPlan>),
    /// It is over.
    Finished(Vec<PlayerName>),
    /// It found too few players.
    CalledOff(String),
}

/// The lobby.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lobby {
    accounts: BTreeMap<PlayerName, Account>,
    /// How many accounts were dropped: numbers of accounts are not used again.
    dropped: u64,
    tokens: Tokens,
    /// Who is logged in, first the one who waits longest.
    line: Queue,
    queues: BTreeMap<QueueName, Queue>,
    tournaments: BTreeMap<TournamentId, Standing>,
    /// What would otherwise be looked for among all tournaments.
    index: Index,
    /// Whom a tournament takes, between its announcement and its start in the same record.
    selections: BTreeMap<TournamentId, Selection>,
    /// Of sign-ups that repeat each other, the latest by the first.
    series: BTreeMap<TournamentId, TournamentId>,
    /// The first of the series that a tournament continues, until the tournament is over.
    continues: BTreeMap<TournamentId, TournamentId>,
    /// Who asked for a tournament.
    askers: BTreeMap<TournamentId, PlayerName>,
    /// Which results those who asked have not been told yet, the oldest first.
    owed: BTreeMap<PlayerName, VecDeque<TournamentId>>,
    /// How programs are reached that cannot reconnect by themselves, by account.
    locations: BTreeMap<PlayerName, Raw>,
    /// Who asked for a tournament without an account and was not told of it yet, the oldest first.
    requests: VecDeque<Request>,
    /// The cheats in tournaments that run for which a policy has blacklisted a player.
    causes: BTreeSet<Cause>,
    /// Accounts, with the reason, that a policy blacklisted before the log named causes.
    unnamed_causes: BTreeSet<(PlayerName, String)>,
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
    /// The most results kept for one account to be told; the oldest makes room.
    pub const OWED_MAX: usize = 16;
    /// The most requests of processes without an account that are kept; the oldest makes room.
    pub const REQUESTS_MAX: usize = 1_000;
    /// How long such a request is kept: a week.
    pub const REQUEST_MS_MAX: Millis = 7 * 24 * 3_600_000;
    /// The longest description of where a program is, or of who asked for a tournament, in bytes.
    pub const LOCATION_BYTES_MAX: usize = 4_096;

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

    /// Whether the blacklisting that follows from a cheat is recorded. An operator may have lifted
    /// it since.
    pub fn has_recorded(&self, cheat: &Cheat) -> bool {
        let unnamed = || (cheat.account.clone(), cheat.reason.clone());
        self.causes.contains(&cheat.cause) || self.unnamed_causes.contains(&unnamed())
    }

    /// Whose token this is, if it is good at `now`.
    pub fn holder(&self, token: &TokenHash, now: Millis) -> Option<&PlayerName> {
        self.tokens.holder(token, now)
    }

    /// The tokens of an account that were not revoked.
    pub(crate) fn tokens_of(&self, account: &PlayerName) -> impl Iterator<Item = &TokenHash> {
        self.tokens.of(account)
    }

    /// Who is logged in, first the one who waits longest.
    pub fn line(&self) -> &Queue {
        &self.line
    }

    /// Who waits in a queue, in order.
    pub fn queue(&self, queue: &QueueName) -> &Queue {
        self.queues.get(queue).unwrap_or(Queue::EMPTY)
    }

    /// All queues somebody waits in, by name.
    pub fn queues(&self) -> impl Iterator<Item = (&QueueName, &Queue)> {
        self.queues.iter()
    }

    /// All tournaments, by name.
    pub fn tournaments(&self) -> impl Iterator<Item = (&TournamentId, &Standing)> {
        self.tournaments.iter()
    }

    /// One tournament.
    pub fn tournament(&self, id: &TournamentId) -> Option<&Standing> {
        self.tournaments.get(id)
    }

    /// The tournaments that run, by name.
    pub fn running(&self) -> impl Iterator<Item = &TournamentPlan> {
        self.index.running().filter_map(|id| match self.tournaments.get(id) {
            Some(Standing::Running(plan)) => Some(&**plan),
            _ => None,
        })
    }

    /// The sign-ups that are open, by name.
    pub fn sign_ups(&self) -> impl Iterator<Item = &SignUp> {
        self.index.open().filter_map(|id| match self.tournaments.get(id) {
            Some(Standing::Open(sign_up)) => Some(&**sign_up),
            _ => None,
        })
    }

    /// The running tournaments a player is in, by name.
    pub fn playing_in(&self, player: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.index.playing_in(player)
    }

    /// The open sign-ups a player has a place in, by name.
    pub fn signed_up_for(&self, player: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.index.signed_up_for(player)
    }

    /// The open invitations of a player, by tournament. A player whom a draw has not asked yet is
    /// not invited.
    pub fn invited_to(&self, player: &PlayerName) -> impl Iterator<Item = &Invitation> {
        self.index.invited_to(player).filter_map(move |id| match self.tournaments.get(id) {
            Some(Standing::Inviting(invitation)) => {
                Some(&**invitation).filter(|it| it.reply(player) != Some(Reply::Reserve))
            }
            _ => None,
        })
    }

    /// In how many running tournaments a player is, and in how many it waits to be.
    pub fn involvement(&self, player: &PlayerName) -> (usize, usize) {
        let places = self.index.queues_of(player).map(|queue| self.queue(queue).times(player));
        let accepted = self.invited_to(player).filter(|invitation| {
            matches!(invitation.reply(player), Some(Reply::Accepted | Reply::Ready))
        });
        let waits = self.index.signed_up_for(player).count() + accepted.count();
        (self.index.playing_in(player).count(), waits + places.sum::<usize>())
    }

    /// Who asked for a tournament, if anybody with an account did.
    pub fn asker(&self, id: &TournamentId) -> Option<&PlayerName> {
        self.askers.get(id)
    }

    /// The tournaments whose end an account asked for and was not told yet, the oldest first.
    pub fn owed_to(&self, account: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.owed.get(account).into_iter().flatten()
    }

    /// The name of the first in a series stands for the latest.
    pub fn latest_of(&self, tournament: TournamentId) -> TournamentId {
        self.series.get(&tournament).cloned().unwrap_or(tournament)
    }

    /// The first tournament of the series that a tournament belongs to: its own name if it is the
    /// first or alone. Of tournaments that are over, nobody asks.
    pub fn series_of<'a>(&'a self, tournament: &'a TournamentId) -> &'a TournamentId {
        self.continues.get(tournament).unwrap_or(tournament)
    }

    /// Which tournament a player means that wants to leave one: the one of that name if it is in
    /// it, else the latest that repeats it.
    pub fn left_by(&self, tournament: TournamentId, player: &PlayerName) -> TournamentId {
        let own = match self.tournaments.get(&tournament) {
            Some(Standing::Open(sign_up)) => sign_up.players.contains(player),
            Some(Standing::Running(_)) => self.playing_in(player).any(|id| *id == tournament),
            _ => false,
        };
        if own { tournament } else { self.latest_of(tournament) }
    }

    /// When the next sign-up or invitation has to be decided, if any waits.
    pub fn deadline(&self) -> Option<Millis> {
        self.index.first_deadline().map(|(at, _)| *at)
    }

    /// The command that time alone makes due at `now`, if any. Callers step it and ask again.
    pub fn due(&self, now: Millis) -> Option<LobbyCommand> {
        let (at, id) = self.index.first_deadline()?;
        (*at <= now).then(|| LobbyCommand::Close { tournament: id.clone() })
    }
}
