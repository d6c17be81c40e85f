//! The command line of clients: who joins, plays and watches.

use super::{ColourArg, SANDBOX_HELP, SandboxArgs};
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// Where, and as whom.
#[derive(ClapArgs, Debug, Default)]
pub(crate) struct LoginArgs {
    /// The account to play as, with its password. A token says itself whose it is: with this flag
    /// the token in AGON_TOKEN is not used.
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// A file whose first line is the password; by default it is in AGON_PASSWORD.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// A file whose first line is a token, instead of a password; without --account the token may
    /// be in AGON_TOKEN.
    #[arg(long, value_name = "FILE", conflicts_with = "password_file")]
    pub(crate) token_file: Option<PathBuf>,
    /// Make the account if there is none.
    #[arg(long)]
    pub(crate) register: bool,
}

const JOIN_HELP: &str = "\
A program gets the messages of docs/protocol/native.md on stdin, as from `agon run`: a process of
its own for every tournament, with the same ids in requests and answers. It is started once before
that and asked for its hello: the nonce and the proposal in it are passed on to the server. When the
connection is lost it goes on, and `agon join` comes back with a token until the server is there
again.

A server with a certificate is at tls://HOST:PORT or wss://HOST:PORT; trusted is what the system
trusts, or the certificates in the file that AGON_CERTIFICATES names.

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
    /// The server's address: HOST:PORT, tls://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT.
    #[arg(long, value_name = "ADDR")]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) login: LoginArgs,
    /// Play as a house player: house:NAME; see `agon list`.
    #[arg(long, value_name = "house:NAME", conflicts_with = "program")]
    pub(crate) bot: Option<String>,
    /// Wait in this queue, and after every tournament once more.
    #[arg(long, value_name = "NAME")]
    pub(crate) queue: Option<String>,
    /// Sign up for a tournament.
    #[arg(long, value_name = "ID")]
    pub(crate) sign_up: Option<String>,
    /// The age of the player, which orders players in games that go by it.
    #[arg(long, value_name = "YEARS", requires = "sign_up")]
    pub(crate) age: Option<u16>,
    /// End when so many tournaments are over.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) times: Option<u64>,
    /// End when a tournament is over: --times 1.
    #[arg(long, conflicts_with = "times")]
    pub(crate) once: bool,
    /// The game the program is told of when it is asked for its nonce and proposal.
    #[arg(long, value_name = "GAME")]
    pub(crate) game: Option<String>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// Write down what the player sends and is told, for `agon verify --as NAME --receipt FILE`.
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    /// The program that plays, and its arguments.
    #[arg(last = true, value_name = "CMD ARGS")]
    pub(crate) program: Vec<String>,
}

const PLAY_HELP: &str = "\
You are shown the board and asked in words. Type an answer (`keep 6 6`, `2,3 > 4,5`, `take`), the
number of one that is listed, `list`, `help`, `clock` or `quit`. What is against the rules is
explained and not sent.

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
    /// Play here, at once, against these house players (see `agon list`) and programs.
    #[arg(long, value_name = "SPEC", num_args = 1.., conflicts_with = "server")]
    pub(crate) vs: Vec<String>,
    /// The game to play here.
    #[arg(long, value_name = "NAME", default_value = "yahtzee")]
    pub(crate) game: String,
    /// The game's configuration as JSON, for a game here.
    #[arg(long, value_name = "JSON", requires = "vs")]
    pub(crate) game_config: Option<String>,
    /// Take all luck of a game here from this number.
    #[arg(long, value_name = "N", requires = "vs")]
    pub(crate) seed: Option<u64>,
    /// Play on this server: HOST:PORT, tls://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT.
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
    /// The age of the player, which orders players in games that go by it.
    #[arg(long, value_name = "YEARS", requires = "sign_up")]
    pub(crate) age: Option<u16>,
    /// Colours: auto, always or never.
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) colour: ColourArg,
}

const WATCH_HELP: &str = "\
Only what everybody may see is shown; hands and hidden dice are shown when a match is over.

Examples:
    agon watch http://127.0.0.1:7380                 # what there is; follows what runs
    agon watch http://127.0.0.1:7380/cup             # a tournament: pairings, results, standings
    agon watch http://127.0.0.1:7380/cup/r1m1        # a match: the board, as it changes
    agon watch --json http://127.0.0.1:7380/cup      # the events, one line of JSON each";

#[derive(ClapArgs, Debug)]
#[command(after_help = WATCH_HELP)]
pub(crate) struct WatchArgs {
    /// http://HOST:PORT or https://HOST:PORT, with /TOURNAMENT or /TOURNAMENT/MATCH.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The events as they come, one JSON line each: event, id, data.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show how things stand now, and end.
    #[arg(long)]
    pub(crate) once: bool,
    /// Colours: auto, always or never.
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) colour: ColourArg,
}
