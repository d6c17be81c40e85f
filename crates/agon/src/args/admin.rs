//! The command line of operators.

use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

const ADMIN_HELP: &str = "\
The token is an operator's: `agon serve` prints one at its first start. Put it into AGON_TOKEN, or
into a file for --token-file; what only looks needs none. A server with a certificate is at
https://HOST:PORT; AGON_CERTIFICATES names a file of certificates to trust, if not the system's.

Examples:
    agon admin status
    agon admin tournament create cup --preset yahtzee-class --named ann bob house:optimal
    agon admin tournament create spring --preset fish --sign-up 2 8 --wait-ms 600000 --best-of 3
    agon admin tournament pause cup --why 'the network of room 3 is down'
    agon admin tournament award cup --winner ann --why 'led when the server crashed'
    agon admin match override cup r1m2 --winner ann --why 'bob left'
    agon admin game void cup r1m2 3 --why 'a power cut'
    agon admin blacklist add eve --why 'two accounts'
    agon admin --json tournament list";

#[derive(ClapArgs, Debug)]
#[command(after_help = ADMIN_HELP)]
pub(crate) struct AdminArgs {
    /// The server's HTTP interface.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:7380",
        env = "AGON_SERVER",
        global = true
    )]
    pub(crate) server: String,
    /// A file whose first line is the operator's token; by default it is in AGON_TOKEN.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// The server's answer as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: AdminCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum AdminCommand {
    /// Whether the server is well, and what it does.
    Status,
    /// Tournaments: create, list, show, start, call-off, pause, resume, award, withdraw.
    #[command(subcommand)]
    Tournament(TournamentCommand),
    /// Matches: show, override, replay, undo.
    #[command(subcommand)]
    Match(MatchCommand),
    /// Games: void, undo.
    #[command(subcommand)]
    Game(GameCommand),
    /// Accounts: list, show, register, logout.
    #[command(subcommand)]
    Account(AccountCommand),
    /// The blacklist: add, lift.
    #[command(subcommand)]
    Blacklist(BlacklistCommand),
    /// Queues: show.
    #[command(subcommand)]
    Queue(QueueCommand),
}

#[derive(Subcommand, Debug)]
pub(crate) enum TournamentCommand {
    /// Announce a tournament. With --sign-up it waits for players, else it starts at once.
    Create(CreateArgs),
    /// All tournaments.
    List,
    /// One tournament: pairings, results, standings.
    Show {
        /// Which.
        id: String,
    },
    /// Start one that waits for players, with those it has.
    Start(Named),
    /// Call one off.
    CallOff(Named),
    /// No new games until it is resumed.
    Pause(Named),
    /// Go on.
    Resume(Named),
    /// End a paused or interrupted tournament: its open matches are void.
    Award {
        /// Which tournament.
        id: String,
        /// A player who wins. Without this flag nobody wins, and nobody has lost.
        #[arg(long, value_name = "PLAYER", num_args = 1..)]
        winner: Vec<String>,
        /// Why; it is kept in the log for all to see.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Take a player out; its matches are forfeited.
    Withdraw {
        /// Which tournament.
        id: String,
        /// Whom.
        player: String,
        /// Why; it is kept in the log for all to see.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

/// A tournament, and why.
#[derive(ClapArgs, Debug)]
pub(crate) struct Named {
    /// Which tournament.
    pub(crate) id: String,
    /// Why; it is kept in the log for all to see.
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: String,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CreateArgs {
    /// Its name: a-z, 0-9 and -.
    pub(crate) id: String,
    /// The policies of a known system; see `agon list`.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The game, where no preset says so.
    #[arg(long, value_name = "NAME")]
    pub(crate) game: Option<String>,
    /// Best of how many games a match is.
    #[arg(long, value_name = "K")]
    pub(crate) best_of: Option<u32>,
    /// The fields of the policy that differ, as JSON.
    #[arg(long, value_name = "JSON")]
    pub(crate) policy: Option<String>,
    /// The fields of the game's configuration that differ, as JSON.
    #[arg(long, value_name = "JSON")]
    pub(crate) game_config: Option<String>,
    #[command(flatten)]
    pub(crate) pick: Pick,
    /// How long sign-ups are waited for, with --sign-up.
    #[arg(long, value_name = "MS", default_value_t = 600_000)]
    pub(crate) wait_ms: u64,
}

/// Whom a tournament takes.
#[derive(ClapArgs, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct Pick {
    /// These players, in this order.
    #[arg(long, value_name = "PLAYER", num_args = 1..)]
    pub(crate) named: Vec<String>,
    /// The first N of those logged in.
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    /// The first of a queue, at most N: QUEUE N.
    #[arg(long, value_names = ["QUEUE", "N"], num_args = 2)]
    pub(crate) queue: Vec<String>,
    /// Who signs up, at least MIN and at most MAX: MIN MAX.
    #[arg(long, value_names = ["MIN", "MAX"], num_args = 2)]
    pub(crate) sign_up: Vec<u32>,
    /// As JSON, for anything else: {"by":"…",…}.
    #[arg(long, value_name = "JSON")]
    pub(crate) selection: Option<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum MatchCommand {
    /// One match: its games and result.
    Show {
        /// Which tournament.
        tournament: String,
        /// Which match, such as r1m2.
        id: String,
    },
    /// Decide a match by word of the operator.
    Override {
        /// Which tournament.
        tournament: String,
        /// Which match.
        id: String,
        /// Who wins; several share.
        #[arg(long, value_name = "PLAYER", num_args = 1.., required = true)]
        winner: Vec<String>,
        /// Why; it is kept in the log for all to see.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Play a match again from its first game.
    Replay {
        /// Which tournament.
        tournament: String,
        /// Which match.
        id: String,
        /// Why; it is kept in the log for all to see.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Take back the latest decision about a match.
    Undo {
        /// Which tournament.
        tournament: String,
        /// Which match.
        id: String,
        /// Why; it is kept in the log for all to see.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum GameCommand {
    /// Break off a game; it is played anew.
    Void {
        /// Which tournament.
        tournament: String,
        /// Which match.
        id: String,
        /// Which game of it, from 1.
        game: u32,
        /// Why; it is kept in the log for all to see.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Let a voided game count again.
    Undo {
        /// Which tournament.
        tournament: String,
        /// Which match.
        id: String,
        /// Which game of it, from 1.
        game: u32,
        /// Why; it is kept in the log for all to see.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum AccountCommand {
    /// All accounts.
    List,
    /// One account and its statistics.
    Show {
        /// Whose.
        name: String,
    },
    /// Make an account; its password is in AGON_PASSWORD or in a file.
    Register {
        /// Its name.
        name: String,
        /// A file whose first line is the password.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// End somebody's connection.
    Logout {
        /// Whose.
        name: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum BlacklistCommand {
    /// Keep somebody out of tournaments.
    Add {
        /// Whom.
        name: String,
        /// Why; everybody can read it.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Let them in again.
    Lift {
        /// Whom.
        name: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum QueueCommand {
    /// Who waits in a queue, in order.
    Show {
        /// Which.
        name: String,
    },
}
