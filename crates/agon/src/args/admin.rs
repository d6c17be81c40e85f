//! The command line of operators.

use super::PairingArg;
use clap::{Args as ClapArgs, Subcommand};
use std::path::PathBuf;

const ADMIN_HELP: &str = "\
Commands that change something need an operator's token: `agon serve` prints one at its first start.
Put it into AGON_TOKEN, or into a file for --token-file. Use https://HOST:PORT for a server with a
certificate; AGON_CERTIFICATES names a file of certificates to trust instead of the system's.

Examples:
    agon admin status
    agon admin tournament create cup --preset yahtzee-class --named ann bob house:optimal
    agon admin tournament create spring --preset fish --sign-up 2 8 --wait-ms 600000 --best-of 3
    agon admin tournament create league --preset yahtzee-class --format 'swiss -> top 4' --line 16
    agon admin tournament create show --preset fish --named house:greedy house:search --pace 800
    agon admin tournament pause cup --why 'the network of room 3 is down'
    agon admin tournament award cup --winner ann --why 'led when the server crashed'
    agon admin tournament enter league dan --why 'came by the late train'
    agon admin match override cup r1m2 --winner ann --why 'bob left'
    agon admin game void cup r1m2 3 --why 'a power cut'
    agon admin blacklist add eve --why 'two accounts'
    agon admin --json tournament list";

#[derive(ClapArgs, Debug)]
#[command(after_help = ADMIN_HELP)]
pub(crate) struct AdminArgs {
    /// The address of the server's HTTP interface; commas separate the nodes of a cluster.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:7380",
        env = "AGON_SERVER",
        global = true
    )]
    pub(crate) server: String,
    /// A file whose first line is the operator's token; by default AGON_TOKEN holds it.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Print the server's answer as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: AdminCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum AdminCommand {
    /// Show the server's health and its activity.
    Status,
    /// Tournaments: create, list, show, start, call-off, pause, resume, award, enter, withdraw.
    #[command(subcommand)]
    Tournament(AdminTournament),
    /// Matches: show, override, replay, undo.
    #[command(subcommand)]
    Match(AdminMatch),
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
pub(crate) enum AdminTournament {
    /// Create a tournament. With --sign-up it waits for players, otherwise it starts at once.
    Create(Box<CreateArgs>),
    /// List all tournaments.
    List,
    /// Show the pairings, results and standings of a tournament.
    Show {
        /// The name.
        id: String,
    },
    /// Start a tournament that waits for players, with those who signed up.
    Start(Named),
    /// Cancel a tournament that waits for players.
    CallOff(Named),
    /// Pause a tournament: no game starts and no clock runs until it is resumed.
    Pause(Named),
    /// Resume a paused tournament; rulings take effect.
    Resume(Named),
    /// End a paused or interrupted tournament; its open matches become void.
    Award {
        /// The tournament.
        id: String,
        /// A winner. Without this flag the tournament is cancelled and counts for nobody.
        #[arg(long, value_name = "PLAYER", num_args = 1..)]
        winner: Vec<String>,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Enter a player into a tournament that runs. Its format must allow it: a Swiss tournament, an
    /// arena and until-sure do.
    Enter {
        /// The tournament.
        id: String,
        /// The account.
        player: String,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Remove a player, who forfeits all remaining matches.
    Withdraw {
        /// The tournament.
        id: String,
        /// The account.
        player: String,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

/// A tournament and a reason.
#[derive(ClapArgs, Debug)]
pub(crate) struct Named {
    /// The tournament.
    pub(crate) id: String,
    /// The reason; it is public and stays in the log.
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: String,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CreateArgs {
    /// The tournament's name, of a-z, 0-9 and -.
    pub(crate) id: String,
    /// A set of policies; see `agon list`.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The game, if no preset names it.
    #[arg(long, value_name = "NAME")]
    pub(crate) game: Option<String>,
    /// The format, with options after a colon, such as swiss:rounds=5; see `agon list`.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// A match is a best of K games; K is odd.
    #[arg(long, value_name = "K")]
    pub(crate) best_of: Option<u32>,
    /// The order in which players are paired. Ratings come from the ladder of the game.
    #[arg(long, value_enum)]
    pub(crate) pairing: Option<PairingArg>,
    /// House players wait this many milliseconds before each answer, so that people can follow.
    #[arg(long, value_name = "MS")]
    pub(crate) pace: Option<u64>,
    /// Play duplicate games: groups of games with the same luck, in which every player takes every
    /// seat once.
    #[arg(long)]
    pub(crate) duplicate: bool,
    /// Changes to the preset's policy, as JSON.
    #[arg(long, value_name = "JSON")]
    pub(crate) policy: Option<String>,
    /// Changes to the game's configuration, as JSON.
    #[arg(long, value_name = "JSON")]
    pub(crate) game_config: Option<String>,
    #[command(flatten)]
    pub(crate) pick: Pick,
    /// How long to wait for sign-ups, in milliseconds, with --sign-up.
    #[arg(long, value_name = "MS", default_value_t = 600_000)]
    pub(crate) wait_ms: u64,
}

/// How a tournament chooses its players.
#[derive(ClapArgs, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct Pick {
    /// These players, in this order.
    #[arg(long, value_name = "PLAYER", num_args = 1..)]
    pub(crate) named: Vec<String>,
    /// The first N players who are logged in.
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    /// The first players in a queue, at most N.
    #[arg(long, value_names = ["QUEUE", "N"], num_args = 2)]
    pub(crate) queue: Vec<String>,
    /// Players who sign up: at least MIN, at most MAX.
    #[arg(long, value_names = ["MIN", "MAX"], num_args = 2)]
    pub(crate) sign_up: Vec<u32>,
    /// Any other selection, as JSON: {"by":"…",…}.
    #[arg(long, value_name = "JSON")]
    pub(crate) selection: Option<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum AdminMatch {
    /// Show the games and the result of a match.
    Show {
        /// The tournament.
        tournament: String,
        /// The match, such as r1m2.
        id: String,
    },
    /// Override the result of a match.
    Override {
        /// The tournament.
        tournament: String,
        /// The match.
        id: String,
        /// The winner; several players share the win.
        #[arg(long, value_name = "PLAYER", num_args = 1.., required = true)]
        winner: Vec<String>,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Replay a match from its first game.
    Replay {
        /// The tournament.
        tournament: String,
        /// The match.
        id: String,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Undo the latest ruling about a match.
    Undo {
        /// The tournament.
        tournament: String,
        /// The match.
        id: String,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum GameCommand {
    /// Void a game; another one replaces it.
    Void {
        /// The tournament.
        tournament: String,
        /// The match.
        id: String,
        /// The number of the game in the match, from 1.
        game: u32,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Undo the voiding of a game.
    Undo {
        /// The tournament.
        tournament: String,
        /// The match.
        id: String,
        /// The number of the game in the match, from 1.
        game: u32,
        /// The reason; it is public and stays in the log.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum AccountCommand {
    /// List all accounts.
    List,
    /// Show an account and its statistics.
    Show {
        /// The account.
        name: String,
    },
    /// Register an account, with the password from AGON_PASSWORD or a file.
    Register {
        /// The account's name.
        name: String,
        /// A file whose first line is the password.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Close the connection of an account and revoke its tokens.
    Logout {
        /// The account.
        name: String,
        /// The reason.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum BlacklistCommand {
    /// Ban an account from tournaments.
    Add {
        /// The account.
        name: String,
        /// The reason; it is public.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Lift the ban.
    Lift {
        /// The account.
        name: String,
        /// The reason.
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum QueueCommand {
    /// Show who waits in a queue, in order.
    Show {
        /// The name.
        name: String,
    },
}
