//! The arguments of clients: `agon join`, `agon play` and `agon watch`.

use super::{ColourArg, SANDBOX_HELP, SandboxArgs};
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// The account and its credentials.
#[derive(ClapArgs, Debug, Default)]
pub(crate) struct LoginArgs {
    /// The account to log in to with a password. This flag makes agon ignore AGON_TOKEN, because a
    /// token already names its account.
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// A file whose first line is the password; by default AGON_PASSWORD holds it.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// A file whose first line is a token, instead of a password; without --account AGON_TOKEN may
    /// hold it.
    #[arg(long, value_name = "FILE", conflicts_with = "password_file")]
    pub(crate) token_file: Option<PathBuf>,
    /// Register the account if it does not exist.
    #[arg(long)]
    pub(crate) register: bool,
}

const JOIN_HELP: &str = "\
A program gets the messages of docs/protocol/native.md on stdin, as under `agon run`, in a separate
process for every tournament. Before that, `agon join` starts the program once for its hello, and
passes the nonce and the proposal in it to the server. If the connection is lost, the program keeps
running and `agon join` reconnects with a token.

Use tls://HOST:PORT or wss://HOST:PORT for a server with a certificate. AGON_CERTIFICATES names a
file of certificates to trust instead of the system's.

Examples:
    AGON_PASSWORD=secret agon join --server 127.0.0.1:7300 --account ann --register \\
        --bot house:greedy
    agon join --server 127.0.0.1:7300 --account eve --password-file pw --once -- python3 bot.py
    AGON_TOKEN=… agon join --server 127.0.0.1:7300 --queue yahtzee-queue --times 10 -- ./bot
    agon join --server 127.0.0.1:7300 --token-file token --sign-up spring --once -- ./bot";

fn join_help() -> String {
    format!("{JOIN_HELP}\n\n{SANDBOX_HELP}")
}

#[derive(ClapArgs, Debug)]
#[command(after_help = join_help())]
pub(crate) struct JoinArgs {
    /// The server's address: HOST:PORT, tls://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT; commas
    /// separate the nodes of a cluster.
    #[arg(long, value_name = "ADDR")]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) login: LoginArgs,
    /// Play as a house player: house:NAME; see `agon list`.
    #[arg(long, value_name = "house:NAME", conflicts_with = "program")]
    pub(crate) bot: Option<String>,
    /// Wait in this queue, again after every tournament.
    #[arg(long, value_name = "NAME")]
    pub(crate) queue: Option<String>,
    /// Sign up for a tournament.
    #[arg(long, value_name = "ID")]
    pub(crate) sign_up: Option<String>,
    /// The player's age, for games in which age decides the order of play.
    #[arg(long, value_name = "YEARS", requires = "sign_up")]
    pub(crate) age: Option<u16>,
    /// Exit after N tournaments.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) times: Option<u64>,
    /// Exit after one tournament, like --times 1.
    #[arg(long, conflicts_with = "times")]
    pub(crate) once: bool,
    /// The game to name in the hello when the program is asked for its nonce and proposal.
    #[arg(long, value_name = "GAME")]
    pub(crate) game: Option<String>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// Record what the player sends and receives, and what a program writes to stderr, for `agon
    /// verify --as NAME --receipt FILE` and for replays on the page.
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    /// The program that plays, and its arguments.
    #[arg(last = true, value_name = "CMD ARGS")]
    pub(crate) program: Vec<String>,
}

const PLAY_HELP: &str = "\
Agon draws the board and asks you in words. Type an answer (`keep 6 6`, `2,3 > 4,5`, `take`), the
number of a listed answer, `list`, `help`, `clock` or `quit`. It explains illegal answers and does
not send them.

Examples:
    agon play --game yahtzee --vs house:optimal
    agon play --game fish --vs 'python3 bot.py' house:random
    agon play --game fish --vs house:greedy house:search:3 --game-config '{\"rows\":6,\"columns\":5}'
    agon play --server 127.0.0.1:7300 --account ann --register --queue yahtzee-queue
    AGON_TOKEN=… agon play --server 127.0.0.1:7300 --sign-up spring";

fn play_help() -> String {
    format!("{PLAY_HELP}\n\n{SANDBOX_HELP}")
}

#[derive(ClapArgs, Debug)]
#[command(after_help = play_help())]
pub(crate) struct PlayArgs {
    /// Play at once, without a server, against these house players (see `agon list`) and programs.
    #[arg(long, value_name = "SPEC", num_args = 1.., conflicts_with = "server")]
    pub(crate) vs: Vec<String>,
    /// The game, with --vs.
    #[arg(long, value_name = "NAME", default_value = "yahtzee")]
    pub(crate) game: String,
    /// The game's configuration as JSON, with --vs.
    #[arg(long, value_name = "JSON", requires = "vs")]
    pub(crate) game_config: Option<String>,
    /// Derive all luck from this number, with --vs.
    #[arg(long, value_name = "N", requires = "vs")]
    pub(crate) seed: Option<u64>,
    /// Play on this server: HOST:PORT, tls://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT; commas
    /// separate the nodes of a cluster.
    #[arg(long, value_name = "ADDR")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) login: LoginArgs,
    /// Wait in this queue.
    #[arg(long, value_name = "NAME", requires = "server")]
    pub(crate) queue: Option<String>,
    /// Sign up for a tournament.
    #[arg(long, value_name = "ID", requires = "server")]
    pub(crate) sign_up: Option<String>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// The player's age, for games in which age decides the order of play.
    #[arg(long, value_name = "YEARS", requires = "sign_up")]
    pub(crate) age: Option<u16>,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) colour: ColourArg,
}

const WATCH_HELP: &str = "\
Agon shows what everybody may see; hands and hidden dice appear when a match is over.

Examples:
    agon watch http://127.0.0.1:7380                 # lists tournaments, then follows one
    agon watch http://127.0.0.1:7380/cup             # a tournament: pairings, results, standings
    agon watch http://127.0.0.1:7380/cup/r1m1        # a match: the board, as it changes
    agon watch --json http://127.0.0.1:7380/cup      # the events, one line of JSON each";

#[derive(ClapArgs, Debug)]
#[command(after_help = WATCH_HELP)]
pub(crate) struct WatchArgs {
    /// http://HOST:PORT or https://HOST:PORT, with /TOURNAMENT or /TOURNAMENT/MATCH; commas separate
    /// the nodes of a cluster: http://A:PORT,http://B:PORT/TOURNAMENT.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Print the events as they come, one JSON line each: event, id, data.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show the current state and exit.
    #[arg(long)]
    pub(crate) once: bool,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) colour: ColourArg,
}
