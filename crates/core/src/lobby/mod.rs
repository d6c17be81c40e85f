//! The lobby: accounts, logins, queues, sign-ups, invitations, and the running tournaments.
//!
//! The lobby decides whether a command is allowed, in which order players are taken, how long a
//! sign-up or an invitation waits, and which results still have to be delivered. The shell handles
//! connections, hashes passwords and creates tokens. The tournament handles everything inside a
//! tournament.
//!
//! First come, first served: players wait in the order in which they logged in. Players whom a
//! tournament takes move to the end of the line.

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
pub use operator::{LobbyOrder, LobbyRuling, LobbyRulingKind};
pub use queue::Queue;
pub use reach::Request;
pub use signup::{Announcement, Selection, SignUp, Window};
pub use snapshot::BadSnapshot;

use crate::ids::{Millis, PlayerName, Raw, Timestamp, TournamentId};
use crate::line::Line;
use crate::match_::ApplyError;
use crate::plan::TournamentPlan;
use index::Index;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use tokens::Tokens;

/// The state of a tournament, as far as the lobby knows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Players may sign up.
    Open(Box<SignUp>),
    /// Players are invited, and have not all answered.
    Inviting(Box<Invitation>),
    /// The tournament runs.
    Running(Box<TournamentPlan>),
    /// The tournament is over, with these winners.
    Finished(Vec<PlayerName>),
    /// The tournament was called off, for this reason.
    CalledOff(String),
}

/// The lobby.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lobby {
    accounts: BTreeMap<PlayerName, Account>,
    /// How many accounts were deleted: numbers of accounts are never reused.
    dropped: u64,
    tokens: Tokens,
    /// The players who are logged in, the longest waiting first.
    line: Queue,
    queues: BTreeMap<QueueName, Queue>,
    tournaments: BTreeMap<TournamentId, Standing>,
    /// The rulings of operators about tournaments, in order of time.
    rulings: BTreeMap<TournamentId, Vec<LobbyRuling>>,
    /// The rulings of operators about accounts, in order of time.
    account_rulings: BTreeMap<PlayerName, Vec<LobbyRuling>>,
    /// An index over all tournaments.
    index: Index,
    /// The selection of a tournament, between its announcement and its start in the same record.
    selections: BTreeMap<TournamentId, Selection>,
    /// The latest tournament of each series, by the first one.
    series: BTreeMap<TournamentId, TournamentId>,
    /// The first tournament of the series that a tournament continues, until the tournament is
    /// over.
    continues: BTreeMap<TournamentId, TournamentId>,
    /// The account that asked for each tournament.
    askers: BTreeMap<TournamentId, PlayerName>,
    /// The results that have not been delivered to the accounts that asked, the oldest first.
    owed: BTreeMap<PlayerName, VecDeque<TournamentId>>,
    /// How to reach programs that cannot reconnect by themselves, by account.
    locations: BTreeMap<PlayerName, Raw>,
    /// Requests for tournaments from senders without an account that are not answered yet, the
    /// oldest first.
    requests: VecDeque<Request>,
    /// The cheats in running tournaments for which a policy has blacklisted a player.
    causes: BTreeSet<Cause>,
    /// Accounts that a policy blacklisted before the log named causes, each with the reason.
    unnamed_causes: BTreeSet<(PlayerName, String)>,
}

impl Lobby {
    /// The most accounts that can exist.
    pub const ACCOUNTS_MAX: usize = 1_000_000;
    /// The most places that one player may have in one queue.
    pub const QUEUED_MAX: usize = 16;
    /// The most queues one player may wait in.
    pub const QUEUES_MAX: usize = 16;
    /// The most tokens of one account; the token that expires first makes room.
    pub const TOKENS_MAX: usize = 32;
    /// How long a guest who never played keeps the account.
    pub const GUEST_IDLE_MS: Millis = 3_600_000;
    /// The most tournaments that may be open or running at once.
    pub const TOURNAMENTS_MAX: usize = 10_000;
    /// The most undelivered results kept for one account; the oldest makes room.
    pub const OWED_MAX: usize = 16;
    /// The most requests kept from senders without an account; the oldest makes room.
    pub const REQUESTS_MAX: usize = 1_000;
    /// How long such a request is kept: one week.
    pub const REQUEST_MS_MAX: Millis = 7 * 24 * 3_600_000;
    /// The longest description of a program's location, or of the sender of a request, in bytes.
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

    /// The accounts whose names follow `name`, in order.
    pub fn accounts_after(
        &self,
        name: &PlayerName,
    ) -> impl Iterator<Item = (&PlayerName, &Account)> {
        self.accounts.range((Bound::Excluded(name.clone()), Bound::Unbounded))
    }

    /// The number of the next account; numbers are never reused.
    pub fn next_account_number(&self) -> u64 {
        self.accounts.len() as u64 + self.dropped
    }

    /// The queues in which a player waits, by name.
    pub fn queues_of(&self, player: &PlayerName) -> impl Iterator<Item = &QueueName> {
        self.index.queues_of(player)
    }

    /// Returns whether the log records the blacklisting for a cheat. An operator may have lifted it
    /// since.
    pub fn has_recorded(&self, cheat: &Cheat) -> bool {
        let unnamed = || (cheat.account.clone(), cheat.reason.clone());
        self.causes.contains(&cheat.cause) || self.unnamed_causes.contains(&unnamed())
    }

    /// The account that owns a token; `None` if the token is not valid at `now`.
    pub fn holder(&self, token: &TokenHash, now: Timestamp) -> Option<&PlayerName> {
        self.tokens.holder(token, now)
    }

    /// The tokens of an account that are not revoked.
    pub(crate) fn tokens_of(&self, account: &PlayerName) -> impl Iterator<Item = &TokenHash> {
        self.tokens.of(account)
    }

    /// The players who are logged in, the longest waiting first.
    pub fn line(&self) -> &Queue {
        &self.line
    }

    /// The players who wait in a queue, in order.
    pub fn queue(&self, queue: &QueueName) -> &Queue {
        self.queues.get(queue).unwrap_or(Queue::EMPTY)
    }

    /// All queues that are not empty, by name.
    pub fn queues(&self) -> impl Iterator<Item = (&QueueName, &Queue)> {
        self.queues.iter()
    }

    /// All tournaments, by name.
    pub fn tournaments(&self) -> impl ExactSizeIterator<Item = (&TournamentId, &Standing)> {
        self.tournaments.iter()
    }

    /// One tournament.
    pub fn tournament(&self, id: &TournamentId) -> Option<&Standing> {
        self.tournaments.get(id)
    }

    /// The running tournaments, by name.
    pub fn running(&self) -> impl Iterator<Item = &TournamentPlan> {
        self.index.running().filter_map(|id| match self.tournaments.get(id) {
            Some(Standing::Running(plan)) => Some(&**plan),
            _ => None,
        })
    }

    /// The open sign-ups, by name.
    pub fn sign_ups(&self) -> impl Iterator<Item = &SignUp> {
        self.index.open().filter_map(|id| match self.tournaments.get(id) {
            Some(Standing::Open(sign_up)) => Some(&**sign_up),
            _ => None,
        })
    }

    /// The running tournaments of a player, by name.
    pub fn playing_in(&self, player: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.index.playing_in(player)
    }

    /// The open sign-ups in which a player has a place, by name.
    pub fn signed_up_for(&self, player: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.index.signed_up_for(player)
    }

    /// The open invitations of a player, by tournament. A player whom a draw has not reached yet is
    /// not invited.
    pub fn invited_to(&self, player: &PlayerName) -> impl Iterator<Item = &Invitation> {
        self.index.invited_to(player).filter_map(move |id| match self.tournaments.get(id) {
            Some(Standing::Inviting(invitation)) => {
                Some(&**invitation).filter(|it| it.reply(player) != Some(Reply::Reserve))
            }
            _ => None,
        })
    }

    /// How many running tournaments a player is in, and how many they wait for.
    pub fn involvement(&self, player: &PlayerName) -> (usize, usize) {
        let places = self.index.queues_of(player).map(|queue| self.queue(queue).times(player));
        let accepted = self.invited_to(player).filter(|invitation| {
            matches!(invitation.reply(player), Some(Reply::Accepted | Reply::Ready))
        });
        let waits = self.index.signed_up_for(player).count() + accepted.count();
        (self.index.playing_in(player).count(), waits + places.sum::<usize>())
    }

    /// The account that asked for a tournament, if one did.
    pub fn asker(&self, id: &TournamentId) -> Option<&PlayerName> {
        self.askers.get(id)
    }

    /// The tournaments that an account asked for and whose results are not delivered yet, the
    /// oldest first.
    pub fn owed_to(&self, account: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.owed.get(account).into_iter().flatten()
    }

    /// The latest tournament of the series that begins with `tournament`; itself if there is no
    /// series.
    pub fn latest_of(&self, tournament: TournamentId) -> TournamentId {
        self.series.get(&tournament).cloned().unwrap_or(tournament)
    }

    /// The first tournament of the series that a tournament belongs to: itself if it is the first
    /// or alone. Callers ask only about tournaments that are not over.
    pub fn series_of<'a>(&'a self, tournament: &'a TournamentId) -> &'a TournamentId {
        self.continues.get(tournament).unwrap_or(tournament)
    }

    /// The tournament that a player wants to leave: the one of that name if they are in it,
    /// otherwise the latest that repeats it.
    pub fn left_by(&self, tournament: TournamentId, player: &PlayerName) -> TournamentId {
        let own = match self.tournaments.get(&tournament) {
            Some(Standing::Open(sign_up)) => sign_up.players.contains(player),
            Some(Standing::Running(_)) => self.playing_in(player).any(|id| *id == tournament),
            _ => false,
        };
        if own { tournament } else { self.latest_of(tournament) }
    }

    /// The deadline of the next sign-up or invitation, if any waits.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.index.first_deadline().map(|(at, _)| *at)
    }

    /// The command that is due at `now` because time has passed, if any. Callers step it and ask
    /// again.
    pub fn due(&self, now: Timestamp) -> Option<LobbyCommand> {
        let (at, id) = self.index.first_deadline()?;
        (*at <= now).then(|| LobbyCommand::Close { tournament: id.clone() })
    }
}
