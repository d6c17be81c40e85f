//! The command line.

mod admin;
mod clients;
pub(crate) mod cluster;
mod doctor;
mod export;
mod format;
pub(crate) mod log;
mod sandbox;
mod serve;

pub(crate) use admin::{
    AccountCommand, AdminArgs, AdminCommand, AdminMatch, AdminTournament, BlacklistCommand,
    CreateArgs, GameCommand, Named, Pick, QueueCommand,
};
pub(crate) use clients::{JoinArgs, LoginArgs, PlayArgs, WatchArgs};
pub(crate) use doctor::DoctorArgs;
pub(crate) use export::{ExportArgs, ExportTable};
pub(crate) use format::{FormatArgs, FormatCommand, SeedingArg, SimulateArgs};
pub(crate) use sandbox::{SANDBOX_HELP, SandboxArgs};
pub(crate) use serve::{LogFormat, ServeArgs};

use crate::exit;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Tournaments of turn-based games between programs and people.
#[derive(Parser, Debug)]
#[command(name = "agon", version, after_help = exit::HELP, max_term_width = 100)]
pub(crate) struct Args {
    /// The command; without one, `agon` starts a server with default settings.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// A system whose programs can play on this server.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, Debug)]
pub(crate) enum DemoSystem {
    /// The penguin game, in both of its vocabularies.
    Fish,
    /// The rail-building game.
    Trains,
    /// Yahtzee players on Erlang nodes.
    Erlang,
    /// Three nodes over PostgreSQL and NATS: one is killed in the middle of a cup.
    Cluster,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Play a small tournament between house players and verify it; or, with the name of another
    /// system, start a server for programs of that system.
    Demo(DemoArgs),
    /// Play a whole tournament between programs on this machine.
    Run(Box<RunArgs>),
    /// Show a game as text: dice, boards and maps, move by move.
    Replay(ReplayArgs),
    /// Separate luck from skill: the luck of every roll, the cost of every decision, and results
    /// without luck.
    Analyse(AnalyseArgs),
    /// Verify a log, or a whole run, against the rules: every die, card, pairing and result.
    Verify(VerifyArgs),
    /// Be a house player that speaks on stdin and stdout, like any other program.
    Bot(BotArgs),
    /// Run a server for players that connect over the network.
    Serve(ServeArgs),
    /// Play on a server with a house player or a program.
    Join(JoinArgs),
    /// Play in the terminal: on a server, or at once against house players and programs.
    Play(PlayArgs),
    /// Watch a match, a tournament or a server live.
    Watch(WatchArgs),
    /// Administer a server over HTTP: tournaments, matches, accounts, the blacklist.
    Admin(AdminArgs),
    /// Check, repair or back up the log of a server or a run.
    Log(log::LogArgs),
    /// Show the servers that share one database, and choose the one that plays.
    Cluster(cluster::ClusterArgs),
    /// Examine a program before its first tournament, and report what would fail there.
    Doctor(DoctorArgs),
    /// Solve Yahtzee for the best expected score, and cache the table.
    Solve(SolveArgs),
    /// Measure the speed of a server on this machine, compared with a bare ping-pong over TCP.
    Bench(agon_bench::BenchArgs),
    /// A child process of `agon bench`.
    #[command(hide = true)]
    BenchPart(agon_bench::BenchPartArgs),
    /// Export games as text records, and results as CSV or JSON.
    Export(ExportArgs),
    /// Compare formats of tournaments before you choose one.
    Format(FormatArgs),
    /// List games, presets and house players.
    List {
        /// Print the list as JSON.
        #[arg(long)]
        json: bool,
    },
}

const RUN_HELP: &str = "\
Players are given in order of sign-up, each as
    house:NAME          a house player (see `agon list`)
    'COMMAND ARGS'      a program that speaks the native protocol on stdin and stdout
                        (docs/protocol/native.md)
    NAME=…              either of them, under the name NAME

Examples:
    agon run --preset yahtzee-class --player house:optimal house:greedy 'python3 bot.py' --out cup
    agon run --preset fish --player house:search:2 house:greedy house:random --seed 7
    agon run --preset yahtzee-class --player new=./new.py old=./old.py --sprt elo1=20
    agon run --game yahtzee --format swiss:rounds=5 --player house:optimal house:greedy house:random
    agon run --game fish --format 'groups:size=4 -> top 4' --config players.toml
    agon run --config cup.toml
    agon run --resume cup

A TOML file may contain any of these fields; flags override it:
    preset = \"yahtzee-class\"               name = \"summer-cup\"
    players = [\"house:greedy\", \"eve=python3 bot.py\"]
    format = \"bracket:slots=8\"             pairing = \"seeded\"
    best_of = 3                            rotate_seats = true
    ratings = { eve = 1600 }               # for pairing = \"rating\" and format = \"arena\"
    concurrency = 2                        seed = 7
    out = \"cup\"
    crash = \"forfeit-game\"                 # or resume, remove
    cheat = \"as-crash\"                     # or remove, blacklist
    ties = \"replay\"                        # or share
    duplicate = true                       sprt = { elo0 = 0, elo1 = 10 }
    config = { dice = \"independent\" }      # the game's own settings
    limits = { answer_ms = 10000, bank_ms = 0, wait_ms = 60000, hello_ms = 10000, lapses_max = 3 }";

/// The help with the exit codes.
fn run_help() -> String {
    format!("{RUN_HELP}\n\n{SANDBOX_HELP}\n\n{}", exit::HELP)
}

#[derive(ClapArgs, Debug, Default)]
#[command(after_help = run_help())]
pub(crate) struct RunArgs {
    /// Continue the run in this folder, with the settings stored there. A run with --seed needs the
    /// same --seed again to keep its luck, unless its sandbox hides files.
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "preset", "game", "player", "out", "config", "format", "best_of", "slots", "pairing",
        "game_config", "answer_ms", "bank_ms", "wait_ms", "hello_ms", "concurrency", "name",
        "duplicate", "sprt", "until_sure", "ratings",
    ])]
    pub(crate) resume: Option<PathBuf>,
    /// Read settings from a TOML file; flags override it.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A set of policies, such as yahtzee-class; see `agon list`.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The game, if no preset names it.
    #[arg(long, value_name = "NAME")]
    pub(crate) game: Option<String>,
    /// The format of the tournament, with options after a colon; see `agon list`.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// A player; give several, or repeat the flag.
    #[arg(long, short, value_name = "SPEC", num_args = 1..)]
    pub(crate) player: Vec<String>,
    /// A match is a best of K games; K is odd.
    #[arg(long, value_name = "K")]
    pub(crate) best_of: Option<u32>,
    /// Play duplicate games: groups of games with the same luck, in which every player takes every
    /// seat once. Then --best-of counts groups.
    #[arg(long)]
    pub(crate) duplicate: bool,
    /// Test whether the first player is stronger than the second, and stop as soon as that is known.
    /// Settings, with their defaults: elo0=0 elo1=10 alpha=0.05 beta=0.05 pairs=20000
    /// model=logistic (or normalised). Implies --duplicate.
    #[arg(long, value_name = "KEY=VALUE", num_args = 0.., conflicts_with = "best_of")]
    pub(crate) sprt: Option<Vec<String>>,
    /// Play the matches that tell most until the podium is this sure, in percent. Implies
    /// --duplicate.
    #[arg(long, value_name = "PERCENT", conflicts_with_all = ["format", "sprt"])]
    pub(crate) until_sure: Option<u32>,
    /// The option `slots` of the format, as older command lines write it.
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) slots: Option<u32>,
    /// The order in which players are paired.
    #[arg(long, value_enum)]
    pub(crate) pairing: Option<PairingArg>,
    /// A rating list, for --pairing rating and for an arena: CSV with the columns player and
    /// rating, or the answer of /api/v1/ladders/GAME.
    #[arg(long, value_name = "FILE")]
    pub(crate) ratings: Option<PathBuf>,
    /// The game's configuration as JSON, for example '{"rows":6,"columns":4}'.
    #[arg(long, value_name = "JSON")]
    pub(crate) game_config: Option<String>,
    /// Time limit for an answer, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) answer_ms: Option<u64>,
    /// Time bank per player and game, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) bank_ms: Option<u64>,
    /// How long a match waits for an absent player, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) wait_ms: Option<u64>,
    /// Time limit for a program to start and say hello, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) hello_ms: Option<u64>,
    /// The number of matches at a time; by default one per core.
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<usize>,
    /// Derive all luck from this number, to repeat a run. Anybody who knows the number knows all
    /// dice.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The tournament's name; by default the name of the preset.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The folder for log and results; by default a new one named after the tournament.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Sync every decision to the disk, so that not even a power failure loses one.
    #[arg(long)]
    pub(crate) fsync: bool,
    /// Print only the results on stdout, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// List the reason of every pairing and every bye.
    #[arg(long, conflicts_with = "json")]
    pub(crate) reasons: bool,
    /// Do not show progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Exit with code 6 if any player was at fault.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// Let programs compute while it is not their turn; by default they are paused.
    #[arg(long)]
    pub(crate) ponder: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PairingArg {
    /// In order of sign-up: the first meets the second.
    Order,
    /// As seeds: the first meets the last.
    Seeded,
    /// In a random order, drawn from the committed luck.
    Random,
    /// As seeds by rating, the highest first; see --ratings.
    Rating,
}

impl PairingArg {
    /// The same in a policy.
    pub(crate) fn policy(self) -> agon_core::Pairing {
        match self {
            PairingArg::Order => agon_core::Pairing::Order,
            PairingArg::Seeded => agon_core::Pairing::Seeded,
            PairingArg::Random => agon_core::Pairing::Random,
            PairingArg::Rating => agon_core::Pairing::Rating,
        }
    }
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReplayArgs {
    /// The log of a match (DIR/match/…/r1m1.jsonl), or the folder of a run.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The match, in the folder of a run; by default the last.
    #[arg(long = "match", value_name = "ID")]
    pub(crate) match_id: Option<String>,
    /// The game of the match; by default all.
    #[arg(long, value_name = "N")]
    pub(crate) game: Option<u32>,
    /// Show only the last position of every game.
    #[arg(long)]
    pub(crate) last: bool,
    /// Draw the position after every N moves; 0 draws only the last.
    #[arg(long, value_name = "N")]
    pub(crate) every: Option<u32>,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) colour: ColourArg,
    /// Print the events with their views as JSON lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColourArg {
    /// Use colours on a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(ClapArgs, Debug, Default)]
#[command(after_help = exit::HELP)]
pub(crate) struct VerifyArgs {
    /// Logs (*.jsonl, *.sqlite, postgres://…), or folders of runs and servers.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// A published head of the hash chain; a tournament or match in the log must have it.
    #[arg(long, value_name = "HEX")]
    pub(crate) head: Option<String>,
    /// The player who owns the receipt.
    #[arg(long = "as", value_name = "PLAYER", requires = "receipt")]
    pub(crate) player: Option<String>,
    /// A receipt written by `agon join --receipt`; the log must agree with it.
    #[arg(long, value_name = "FILE", requires = "player")]
    pub(crate) receipt: Vec<PathBuf>,
    /// Print the findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const ANALYSE_HELP: &str = "\
Luck is the value of a position after a random draw minus its expected value before. The cost of a
decision is the value of the best choice minus that of the chosen one. Adjusted points are the
score without luck; they have the same mean as the score, and need fewer games to show it.

Examples:
    agon analyse cup                          a whole run: standings without luck
    agon analyse cup --match r1m1 --game 1    one game, decision by decision
    agon analyse agon.sqlite --json           all finished games of a server";

#[derive(ClapArgs, Debug)]
#[command(after_help = ANALYSE_HELP)]
pub(crate) struct AnalyseArgs {
    /// The log of a match (DIR/match/…/r1m1.jsonl), the folder of a run, or the log of a server.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The tournament, in the log of a server; by default all.
    #[arg(long, value_name = "NAME")]
    pub(crate) tournament: Option<String>,
    /// The match; by default all.
    #[arg(long = "match", value_name = "ID")]
    pub(crate) match_id: Option<String>,
    /// The game of a match; by default all.
    #[arg(long, value_name = "N", requires = "match_id")]
    pub(crate) game: Option<u32>,
    /// Show every step of every game, not only the costliest decisions.
    #[arg(long)]
    pub(crate) steps: bool,
    /// Print the analysis as JSON; with --steps or --game it has every step.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const BOT_HELP: &str = "\
The bot reads the native protocol (docs/protocol/native.md) from stdin and writes its answers to
stdout, until the message `end` or the end of its input. Under the same name in a tournament it
plays the same moves as house:NAME inside `agon run`: a partner to test against, and a bot to look
at.

Examples:
    agon run --preset fish --player 'agon bot greedy' house:random 'python3 bot.py'
    agon bot --game yahtzee optimal < requests.jsonl";

#[derive(ClapArgs, Debug)]
#[command(after_help = BOT_HELP)]
pub(crate) struct BotArgs {
    /// The game; by default the one that the hello names.
    #[arg(long, value_name = "GAME")]
    pub(crate) game: Option<String>,
    /// The house player, without `house:`; see `agon list`.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct SolveArgs {
    /// The game; only yahtzee is supported.
    #[arg(value_name = "GAME", value_parser = ["yahtzee"])]
    pub(crate) game: String,
    /// The variant of the rules.
    #[arg(long, value_enum, default_value_t = RuleArg::Tournament)]
    pub(crate) rule: RuleArg,
    /// Solve again even if the table is in the cache.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// The folder for the table; by default the user's cache folder.
    #[arg(long, value_name = "DIR", env = "AGON_CACHE")]
    pub(crate) cache: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RuleArg {
    /// Tournament Yahtzee, as played here.
    Tournament,
    /// The commercial game with forced jokers.
    ForcedJoker,
    /// The commercial game with free choice.
    FreeJoker,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct DemoArgs {
    /// The system whose programs play; they connect to a server on this machine.
    #[arg(value_enum)]
    pub(crate) system: Option<DemoSystem>,
}
