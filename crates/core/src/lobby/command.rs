//! What can be asked of the lobby, and why it says no.

use super::{
    AccountKind, Announcement, Cause, Lobby, LobbyOrder, PasswordHash, QueueName, Role, TokenHash,
};
use crate::chain::Head;
use crate::fair::Secret;
use crate::ids::{Age, Millis, PlayerName, Raw, TournamentId};
use crate::ruling::Ruling;
use std::collections::BTreeSet;

/// What comes to the lobby from outside. Who is allowed to say it is known to the shell, which has
/// the connection; whether it can be done is decided here.
#[derive(Clone, PartialEq, Debug)]
pub enum LobbyCommand {
    /// Make an account.
    Register {
        /// Its name.
        account: PlayerName,
        /// What sort of player.
        kind: AccountKind,
        /// What it may do.
        role: Role,
        /// Its password.
        password: Option<PasswordHash>,
    },
    /// Change a password that was checked.
    ChangePassword {
        /// The account.
        account: PlayerName,
        /// The new one.
        password: PasswordHash,
        /// The token of whoever asks; all others are revoked.
        keep: Option<TokenHash>,
    },
    /// Put an account on the blacklist.
    Blacklist {
        /// The account.
        account: PlayerName,
        /// The reason.
        reason: String,
        /// The operator, unless a policy did it.
        by: Option<PlayerName>,
        /// The cheat that a policy did it for.
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
        /// When it ends.
        expires_at: Millis,
    },
    /// Revoke a token.
    RevokeToken {
        /// The hash of the token.
        token: TokenHash,
    },
    /// An account that proved itself is here.
    LogIn {
        /// The account.
        account: PlayerName,
    },
    /// An account leaves.
    LogOut {
        /// The account.
        account: PlayerName,
    },
    /// Keep how an account's program is reached, or that it reconnects by itself.
    Locate {
        /// The account.
        account: PlayerName,
        /// What its gateway needs.
        location: Option<Raw>,
    },
    /// Keep who asked for a tournament without an account.
    NoteRequester {
        /// The tournament.
        tournament: TournamentId,
        /// What the gateway needs to answer.
        reply_to: Raw,
    },
    /// An account that never played and that nobody can log in to goes for good.
    Drop {
        /// The account.
        account: PlayerName,
    },
    /// Wait in a queue once more.
    Enqueue {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    },
    /// Wait in a queue once less.
    Dequeue {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    },
    /// Hold a tournament.
    Announce {
        /// Which.
        announcement: Box<Announcement>,
        /// The tournament's secret, which the luck of a random selection comes from; others need
        /// none yet.
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
    /// Take a sign-up back.
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
    /// Reject an invitation, or take its acceptance back.
    Reject {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    },
    /// Be ready for a tournament one was invited to.
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
        /// The head of the tournament's stream, its last event included.
        head: Option<Head>,
    },
    /// Whoever asked for a tournament was told what came of it.
    Deliver {
        /// The tournament.
        tournament: TournamentId,
    },
    /// The server is back, after nobody could reach it for a while.
    Resume {
        /// For how long.
        away_ms: Millis,
        /// Until when those who are invited may answer in any case: they have to come back first.
        answers_until: Millis,
    },
    /// An operator decides something.
    Order {
        /// The order.
        order: LobbyOrder,
        /// The operator and their reason.
        ruling: Ruling,
    },
}

/// A command that changes nothing, with the reason for whoever sent it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LobbyRejection {
    /// The name is taken.
    #[error("the name {0} is taken; log in, or choose another")]
    Taken(PlayerName),
    /// There are too many accounts.
    #[error("there is no room for another account")]
    NoRoom,
    /// There is no such account.
    #[error("there is no account {0}; register first")]
    Unknown(PlayerName),
    /// The account may not enter tournaments.
    #[error("{0} is on the blacklist: {1}; only an operator can lift it")]
    Blacklisted(PlayerName, String),
    /// The account is not on the blacklist.
    #[error("{0} is not on the blacklist")]
    NotBlacklisted(PlayerName),
    /// The account stays: it has played, takes part in something, or can log in.
    #[error("the account {0} stays: it has played, takes part in something, or can log in")]
    Stays(PlayerName),
    /// The token is not known.
    #[error("there is no such token")]
    NoToken,
    /// The player waits often enough.
    #[error("{0} waits {max} times in this queue already", max = Lobby::QUEUED_MAX)]
    QueuedEnough(PlayerName),
    /// The player waits in enough queues.
    #[error("{0} waits in {max} queues already; leave one first", max = Lobby::QUEUES_MAX)]
    ManyQueues(PlayerName),
    /// The player does not wait there.
    #[error("{0} does not wait in this queue")]
    NotQueued(PlayerName),
    /// There is a tournament of that name.
    #[error("there is a tournament {0} already; choose another name")]
    Announced(TournamentId),
    /// The name would spoil the log or the ids of requests.
    #[error("{0:?} names no tournament: use a-z, 0-9 and -, up to 60")]
    BadId(String),
    /// The sign-up contradicts itself.
    #[error("{0}")]
    BadWindow(String),
    /// A player is named twice.
    #[error("{0} is named twice; a player enters a tournament once")]
    Twice(PlayerName),
    /// Too many tournaments at once.
    #[error("too many tournaments are open or running; wait for one to end")]
    TooMany,
    /// There is no such tournament, or it takes nobody any more.
    #[error("tournament {0} takes no sign-ups")]
    NotOpen(TournamentId),
    /// The player signed up before.
    #[error("{0} is signed up already")]
    SignedUp(PlayerName),
    /// The player is not signed up.
    #[error("{0} is not signed up")]
    NotSignedUp(PlayerName),
    /// The player was not invited, or not in time.
    #[error("{0} has no open invitation to this tournament")]
    NotInvited(PlayerName),
    /// It is asked whether it comes, not whether it is ready.
    #[error("{0} is not asked to be ready yet; accept first, and wait until you are asked")]
    NotAsked(PlayerName),
    /// The description of a program is too long to be kept.
    #[error("a program is described in at most {max} bytes", max = Lobby::LOCATION_BYTES_MAX)]
    LongLocation,
    /// Nobody waits to be told.
    #[error("nobody waits for the result of {0}")]
    NotOwed(TournamentId),
    /// A random selection without luck.
    #[error("a random selection needs the tournament's secret")]
    NoSecret,
    /// Too few players are connected for a draw.
    #[error("{0} players are connected, and {1} are needed")]
    TooFew(usize, u32),
    /// Nobody to play.
    #[error("no connected player waits for this tournament")]
    Nobody,
    /// It does not run.
    #[error("tournament {0} does not run")]
    NotRunning(TournamentId),
    /// It is about to run.
    #[error("tournament {0} is about to start; ask again in a moment")]
    Starting(TournamentId),
}
