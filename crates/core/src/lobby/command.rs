//! Commands to the lobby, and the reasons to reject them.

use super::{
    AccountKind, Announcement, Cause, Lobby, LobbyOrder, PasswordHash, QueueName, Role, TokenHash,
};
use crate::chain::Head;
use crate::fair::Secret;
use crate::ids::{Age, Millis, PlayerName, Raw, Timestamp, TournamentId};
use crate::ruling::Ruling;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An input to the lobby from outside. The shell has the connection and checks who may send a
/// command. The lobby decides whether the command is possible.
#[derive(Clone, PartialEq, Debug)]
pub enum LobbyCommand {
    /// Create an account.
    Register {
        /// Its name.
        account: PlayerName,
        /// The kind of player.
        kind: AccountKind,
        /// The role of the account.
        role: Role,
        /// Its password.
        password: Option<PasswordHash>,
    },
    /// Give a guest a name and a password: a new account continues the guest's.
    Claim {
        /// The guest.
        guest: PlayerName,
        /// The new account.
        account: PlayerName,
        /// Its password.
        password: PasswordHash,
    },
    /// Change a password after the old one was checked.
    ChangePassword {
        /// The account.
        account: PlayerName,
        /// The new one.
        password: PasswordHash,
        /// The token of the session that asks; all others are revoked.
        keep: Option<TokenHash>,
    },
    /// Put an account on the blacklist.
    Blacklist {
        /// The account.
        account: PlayerName,
        /// The reason.
        reason: String,
        /// The operator; `None` if a policy blacklisted the account.
        by: Option<PlayerName>,
        /// The cheat that a policy blacklisted for.
        cause: Option<Cause>,
    },
    /// Take an account off the blacklist.
    Lift {
        /// The account.
        account: PlayerName,
        /// The operator.
        by: PlayerName,
        /// The reason.
        reason: String,
    },
    /// Give an account a token.
    IssueToken {
        /// The account.
        account: PlayerName,
        /// The hash of the token.
        token: TokenHash,
        /// When the token expires.
        expires_at: Timestamp,
    },
    /// Revoke a token.
    RevokeToken {
        /// The hash of the token.
        token: TokenHash,
    },
    /// An authenticated account logs in.
    LogIn {
        /// The account.
        account: PlayerName,
    },
    /// An account logs out.
    LogOut {
        /// The account.
        account: PlayerName,
    },
    /// Store how to reach an account's program, or that it reconnects by itself.
    Locate {
        /// The account.
        account: PlayerName,
        /// The data that the gateway needs to reach the program.
        location: Option<Raw>,
    },
    /// Store the sender of a request for a tournament who has no account.
    NoteRequester {
        /// The tournament.
        tournament: TournamentId,
        /// The data that the gateway needs to reply.
        reply_to: Raw,
    },
    /// Delete an account that never played: one that nobody can log in to, or an old guest's.
    Drop {
        /// The account.
        account: PlayerName,
    },
    /// Add one place in a queue.
    Enqueue {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    },
    /// Give up one place in a queue.
    Dequeue {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    },
    /// Announce a tournament.
    Announce {
        /// The tournament.
        announcement: Box<Announcement>,
        /// The tournament's secret, from which a random selection gets its luck; other selections
        /// do not need it yet.
        secret: Option<Secret>,
        /// Players in line or in queues who are not connected. They are not taken, and keep their
        /// places.
        absent: BTreeSet<PlayerName>,
    },
    /// Sign up for a tournament.
    SignUp {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
        /// The player's age, if the player gave one.
        age: Option<Age>,
    },
    /// Withdraw a sign-up.
    Withdraw {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    },
    /// Accept an invitation.
    Accept {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    },
    /// Reject an invitation, or withdraw an acceptance.
    Reject {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    },
    /// Report that an invited player is ready.
    BeReady {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    },
    /// The wait of a sign-up or of invitations is over.
    Close {
        /// The tournament.
        tournament: TournamentId,
    },
    /// A tournament is over.
    Finish {
        /// The tournament.
        tournament: TournamentId,
        /// The winners.
        winners: Vec<PlayerName>,
        /// The head of the tournament's stream, including its last event.
        head: Option<Head>,
    },
    /// The account that asked for a tournament was notified of its result.
    Deliver {
        /// The tournament.
        tournament: TournamentId,
    },
    /// The server is up again after an outage.
    Resume {
        /// The length of the outage.
        away_ms: Millis,
        /// The earliest deadline for replies to invitations: invited players have to reconnect
        /// first.
        answers_until: Timestamp,
    },
    /// An operator gives an order.
    Order {
        /// The order.
        order: LobbyOrder,
        /// The operator and their reason.
        ruling: Ruling,
    },
}

/// Why a command was rejected, in words for its sender. A rejected command changes nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
pub enum LobbyRejection {
    /// The name is in use.
    #[error("the name {0} is taken; log in, or choose another")]
    Taken(PlayerName),
    /// There are too many accounts.
    #[error("the server has as many accounts as it allows; ask its operator")]
    NoRoom,
    /// There is no such account.
    #[error("there is no account {0}; check the name, or register it first")]
    Unknown(PlayerName),
    /// The account may not enter tournaments.
    #[error("{0} is on the blacklist: {1}; only an operator can lift it")]
    Blacklisted(PlayerName, String),
    /// The account is not on the blacklist.
    #[error("{0} is not on the blacklist")]
    NotBlacklisted(PlayerName),
    /// The account cannot be deleted: it has played, takes part in something, or can log in.
    #[error("the account {0} stays: it has played, takes part in something, or can log in")]
    Stays(PlayerName),
    /// The account is not a guest's.
    #[error("{0} is not a guest; only guests can be claimed")]
    NotGuest(PlayerName),
    /// The guest plays or waits, and the matches know the guest by name.
    #[error("{0} is in a game; finish it first, or keep the name {0}")]
    GuestPlays(PlayerName),
    /// No such token exists.
    #[error("there is no such token")]
    NoToken,
    /// The player has the most places allowed in one queue.
    #[error("{0} waits {max} times in this queue already", max = Lobby::QUEUED_MAX)]
    QueuedEnough(PlayerName),
    /// The player waits in the most queues allowed.
    #[error("{0} waits in {max} queues already; leave one first", max = Lobby::QUEUES_MAX)]
    ManyQueues(PlayerName),
    /// The player does not wait in this queue.
    #[error("{0} does not wait in this queue")]
    NotQueued(PlayerName),
    /// A tournament of that name exists.
    #[error("there is a tournament {0} already; choose another name")]
    Announced(TournamentId),
    /// The name is not valid in the log or in request ids.
    #[error("{0:?} is not a valid name; use up to 60 of a-z, 0-9 and -")]
    BadId(String),
    /// The settings of the sign-up contradict each other.
    #[error("{0}")]
    BadWindow(String),
    /// A player is named twice.
    #[error("{0} is named twice; a player enters a tournament once")]
    Twice(PlayerName),
    /// Too many tournaments are open or running.
    #[error("too many tournaments are open or running; wait for one to end")]
    TooMany,
    /// The tournament does not exist, or takes no more players.
    #[error("tournament {0} takes no sign-ups")]
    NotOpen(TournamentId),
    /// The player is already signed up.
    #[error("{0} is signed up already")]
    SignedUp(PlayerName),
    /// The player is not signed up.
    #[error("{0} is not signed up")]
    NotSignedUp(PlayerName),
    /// The player was not invited, or the invitation has expired.
    #[error("{0} has no open invitation to this tournament")]
    NotInvited(PlayerName),
    /// The player was asked whether they come, but not yet whether they are ready.
    #[error("{0} is not asked to be ready yet; accept first, and wait until you are asked")]
    NotAsked(PlayerName),
    /// The description of a program is too long to store.
    #[error("a program is described in at most {max} bytes", max = Lobby::LOCATION_BYTES_MAX)]
    LongLocation,
    /// Nobody waits for the result.
    #[error("nobody waits for the result of {0}")]
    NotOwed(TournamentId),
    /// A random selection needs the secret, which is not known.
    #[error("a random selection needs the tournament's secret")]
    NoSecret,
    /// Too few players are connected for a draw.
    #[error("{0} players are connected, and {1} are needed")]
    TooFew(usize, u32),
    /// No connected player waits for this tournament.
    #[error("no connected player waits for this tournament")]
    Nobody,
    /// The tournament is not running.
    #[error("tournament {0} does not run")]
    NotRunning(TournamentId),
    /// The tournament is about to start.
    #[error("tournament {0} is about to start; ask again in a moment")]
    Starting(TournamentId),
}
