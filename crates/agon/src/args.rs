//! The command line.

mod admin;
mod clients;
mod doctor;
pub(crate) mod log;
mod sandbox;
mod serve;

pub(crate) use admin::{
    AccountCommand, AdminArgs, AdminCommand, BlacklistCommand, CreateArgs, GameCommand,
    MatchCommand, Named, Pick, QueueCommand, TournamentCommand,
};
pub(crate) use clients::{JoinArgs, LoginArgs, PlayArgs, WatchArgs};
pub(crate) use doctor::DoctorArgs;
pub(crate) use sandbox::{SANDBOX_HELP, SandboxArgs};
pub(crate) use serve::{LogFormat, ServeArgs};

use crate::exit;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Tournaments of turn-based games between programs and people.
#[derive(Parser, Debug)]
#[command(name = "agon", version, after_help = exit::HELP, max_term_width = 100)]
pub(crate) struct Args {
    /// What to do; without it, a server with default settings.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// A system whose programs can play here.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, Debug)]
pub(crate) enum DemoSystem {
    /// The penguin game, in both of its vocabularies.
    Fish,
    /// The rail-building game.
    Trains,
    /// Yahtzee players on Erlang nodes.
    Erlang,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// See it work: a tournament between house players, shown and checked; or, with the name of
    /// another system, one between programs of that system.
    Demo(DemoArgs),
    /// Play a whole tournament between programs on this machine.
    Run(Box<RunArgs>),
    /// Show a game as text: dice, boards and maps, move by move.
    Replay(ReplayArgs),
    /// Check a log, or a whole run, against the rules: every die, card, pairing and result.
    Verify(VerifyArgs),
    /// Play as a house player over stdin and stdout, as any program would.
    Bot(BotArgs),
    /// Run a server: accounts, and tournaments of players that come over the network.
    Serve(ServeArgs),
    /// Play on a server as a house player, or with a program that speaks on stdin and stdout.
    Join(JoinArgs),
    /// Play yourself, in the terminal: on a server, or here and now against house players.
    Play(PlayArgs),
    /// Watch a match, a tournament or a server as it happens.
    Watch(WatchArgs),
    /// Run a server from elsewhere: tournaments, matches, accounts, the blacklist.
    Admin(AdminArgs),
    /// Check, repair or copy the log of a server or a run.
    Log(log::LogArgs),
    /// Put a program through an entrance exam, and say what it would fail in a tournament.
    Doctor(DoctorArgs),
    /// Solve Yahtzee for the best expected score, and keep the table.
    Solve(SolveArgs),
    /// Measure how fast a server is on this machine, beside a bare ping-pong over TCP.
    Bench(agon_bench::BenchArgs),
    /// A process of `agon bench`.
    #[command(hide = true)]
    BenchPart(agon_bench::BenchPartArgs),
    /// List games, presets and house players.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

const RUN_HELP: &str = "\
Players are given in order of sign-up, each as
    house:NAME          a house player (see `agon list`)
    'COMMAND ARGS'      a program that speaks the native protocol on stdin and stdout
                        (docs/protocol/native.md)
    NAME=…              either of them under a name of its own

Examples:
    agon run --preset yahtzee-class --player house:optimal house:greedy 'python3 bot.py' --out cup
    agon run --preset fish --player house:search:2 house:greedy house:random --seed 7
    agon run --config cup.toml
    agon run --resume cup

A TOML file has any of these fields; flags win over it:
    preset = \"yahtzee-class\"               name = \"summer-cup\"
    players = [\"house:greedy\", \"eve=python3 bot.py\"]
    format = \"bracket\"                     pairing = \"seeded\"
    best_of = 3                            slots = 8
    concurrency = 2                        seed = 7
    out = \"cup\"                            rotate_seats = true
    crash = \"forfeit-game\"                 # or resume, remove
    cheat = \"as-crash\"                     # or remove, blacklist
    ties = \"replay\"                        # or share
    config = { dice = \"independent\" }      # the game's own settings
    limits = { answer_ms = 10000, bank_ms = 0, wait_ms = 60000, hello_ms = 10000, lapses_max = 3 }";

/// The help with the exit codes.
fn run_help() -> String {
    format!("{RUN_HELP}\n\n{SANDBOX_HELP}\n\n{}", exit::HELP)
}

#[derive(ClapArgs, Debug, Default)]
#[command(after_help = run_help())]
pub(crate) struct RunArgs {
    /// Go on with the run in this folder. All other settings come from there; a run whose luck was
    /// not kept in a file goes on with the same luck if --seed is given again.
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "preset", "game", "player", "out", "config", "format", "best_of", "slots", "pairing",
        "game_config", "answer_ms", "bank_ms", "wait_ms", "hello_ms", "concurrency", "name",
    ])]
    pub(crate) resume: Option<PathBuf>,
    /// Settings from a TOML file; flags win over it.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The policies of a known system: yahtzee-class, yahtzee-referee, yahtzee-queue, fish, trains.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The game, where no preset says so.
    #[arg(long, value_name = "NAME")]
    pub(crate) game: Option<String>,
    /// Who meets whom.
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArg>,
    /// Who plays; repeat it or give several.
    #[arg(long, short, value_name = "SPEC", num_args = 1..)]
    pub(crate) player: Vec<String>,
    /// Best of how many games a match is; odd.
    #[arg(long, value_name = "K")]
    pub(crate) best_of: Option<u32>,
    /// How many slots a bracket has: 2, 4, 8 …
    #[arg(long, value_name = "N")]
    pub(crate) slots: Option<u32>,
    /// In which order players are paired.
    #[arg(long, value_enum)]
    pub(crate) pairing: Option<PairingArg>,
    /// The game's configuration as JSON, for example '{"rows":6,"columns":4}'.
    #[arg(long, value_name = "JSON")]
    pub(crate) game_config: Option<String>,
    /// How long an answer may take, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) answer_ms: Option<u64>,
    /// Extra time per player and game, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) bank_ms: Option<u64>,
    /// How long to wait for a player to come back, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) wait_ms: Option<u64>,
    /// How long a program may take to start and say hello, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) hello_ms: Option<u64>,
    /// How many matches run at once; by default one per core.
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<usize>,
    /// Take all luck from this number, to repeat a run. Whoever knows it knows all dice.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The tournament's name; by default the preset's.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The folder for log and results; by default a new one named after the tournament.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Make every decision safe from a power failure too, not only from a killed process.
    #[arg(long)]
    pub(crate) fsync: bool,
    /// Print the results as JSON on stdout, and nothing else there.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// End with code 6 if any player was at fault.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// Let programs compute while it is not their turn; by default they are stopped meanwhile.
    #[arg(long)]
    pub(crate) ponder: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FormatArg {
    /// Single elimination.
    Bracket,
    /// Rounds of games for several players; all first-placed advance.
    Knockout,
    /// Everybody meets everybody.
    RoundRobin,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PairingArg {
    /// In order of sign-up, neighbours meet.
    Order,
    /// As seeds: the first meets the last.
    Seeded,
    /// By a fair shuffle.
    Random,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReplayArgs {
    /// The log of a match (DIR/match/…/r1m1.jsonl), or the folder of a run.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Which match, in a folder; by default the last.
    #[arg(long = "match", value_name = "ID")]
    pub(crate) match_id: Option<String>,
    /// Which game of the match; by default all.
    #[arg(long, value_name = "N")]
    pub(crate) game: Option<u32>,
    /// Only the last position of every game.
    #[arg(long)]
    pub(crate) last: bool,
    /// Draw the position after every so many moves; 0: only at the end.
    #[arg(long, value_name = "N")]
    pub(crate) every: Option<u32>,
    /// Colours: auto, always or never.
    #[arg(long, value_enum, default_value_t = ColourArg::Auto)]
    pub(crate) colour: ColourArg,
    /// The events with views as JSON lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColourArg {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(ClapArgs, Debug, Default)]
#[command(after_help = exit::HELP)]
pub(crate) struct VerifyArgs {
    /// Logs (*.jsonl, *.sqlite), or folders of runs and servers.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The head that was published: a tournament or match in the log must have it.
    #[arg(long, value_name = "HEX")]
    pub(crate) head: Option<String>,
    /// The player that the receipt belongs to.
    #[arg(long = "as", value_name = "PLAYER", requires = "receipt")]
    pub(crate) player: Option<String>,
    /// A player's own receipt, as `agon join --receipt` writes it: the log must agree with it.
    #[arg(long, value_name = "FILE", requires = "player")]
    pub(crate) receipt: Vec<PathBuf>,
    /// The findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const BOT_HELP: &str = "\
Reads the native protocol (docs/protocol/native.md) from stdin and writes its answers to stdout,
until it is told to end or its input ends. With the same name in a tournament it plays the same
moves as house:NAME inside `agon run`: a partner to test against, and a bot to look at.

Examples:
    agon run --preset fish --player 'agon bot greedy' house:random 'python3 bot.py'
    agon bot --game yahtzee optimal < requests.jsonl";

#[derive(ClapArgs, Debug)]
#[command(after_help = BOT_HELP)]
pub(crate) struct BotArgs {
    /// The game; by default the one of the tournament that says hello.
    #[arg(long, value_name = "GAME")]
    pub(crate) game: Option<String>,
    /// Which house player, without `house:`; see `agon list`.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct SolveArgs {
    /// The game; only yahtzee has been solved.
    #[arg(value_name = "GAME", value_parser = ["yahtzee"])]
    pub(crate) game: String,
    /// Whose rules.
    #[arg(long, value_enum, default_value_t = RuleArg::Tournament)]
    pub(crate) rule: RuleArg,
    /// Solve again even if the table is in the cache.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// The folder for the table; by default a cache folder of the user.
    #[arg(long, value_name = "DIR", env = "AGON_CACHE")]
    pub(crate) cache: Option<PathBuf>,
    /// The result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RuleArg {
    /// Tournament Yahtzee, as played here.
    Tournament,
    /// The boxed game with forced jokers.
    ForcedJoker,
    /// The boxed game with free choice.
    FreeJoker,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct DemoArgs {
    /// The system whose programs play: they connect to a server on this machine.
    #[arg(value_enum)]
    pub(crate) system: Option<DemoSystem>,
}
