//! The arguments of `agon serve`, and of plain `agon`.

use crate::config::settings;
use crate::exit;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const HELP: &str = "\
The log is DIR/agon.sqlite, or the database of --store (docs/cluster.md). A server that is killed
continues from it when you start it again, and nobody loses a game or a move. Plain `agon` is
`agon serve` with one difference: if its port is in use, it takes the next.

A TOML file may contain any of the fields below. Each field also has an environment variable:
AGON_DATA, AGON_TLS_CERT, AGON_LIMITS_CONNECTIONS_MAX … Flags override variables, and variables
override the file. `agon serve --check` prints the result; docs/operate.md explains more.

Programs of other systems need a table in the file: [fish] and [trains] with `listen`, and [erlang]
with a cookie for Yahtzee players on Erlang nodes.

";

const TOURNAMENT: &str =
    "    [[tournament]]                         # starts as soon as its players are logged in
    name = \"cup\"                           preset = \"yahtzee-queue\"
    players = 8                            # the first in line; or
    # named = [\"ann\", \"house:greedy\"]
    best_of = 5                            start = \"when-ready\"";

fn help() -> String {
    format!("{HELP}{}{TOURNAMENT}\n\n{}", settings::help(), exit::HELP)
}

#[derive(Args, Debug, Default)]
#[command(after_help = help())]
pub(crate) struct ServeArgs {
    /// The folder of the log; by default ./agon-data.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// A PostgreSQL database for the log, instead of the folder: postgres://USER:PASSWORD@HOST/NAME.
    /// Several servers may share it: one plays, and the others stand by.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// A NATS server that the servers of one database share: nats://HOST:PORT. Those that stand by
    /// then play tournaments as well.
    #[arg(long, value_name = "URL")]
    pub(crate) bus: Option<String>,
    /// The address for players; by default 127.0.0.1:7300. Port 0 takes any free port.
    #[arg(long, value_name = "ADDR")]
    pub(crate) tcp: Option<String>,
    /// The address of the page and the HTTP interface; by default 127.0.0.1:7380.
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// A certificate (PEM): every listener then uses TLS. SIGHUP reloads it.
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM).
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Read settings from a TOML file; flags and environment variables override it.
    #[arg(long, value_name = "FILE", env = "AGON_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Derive the luck of all tournaments from this number, to repeat an experiment. Anybody who
    /// knows the number knows all dice.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many threads play; by default 1. With more, the first has the lobby and the connections,
    /// and the others share the tournaments.
    #[arg(long, value_name = "N")]
    pub(crate) engine_threads: Option<u16>,
    /// The newest version of records that this node reads and writes. A lower one keeps the log
    /// readable for the previous version of Agon, in case of a downgrade.
    #[arg(long, value_name = "N")]
    pub(crate) log_version: Option<u32>,
    /// How much to log on stderr: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
    /// The format of these messages: text, or lines of JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Create a new token for the account `operator` and print it. The first start always does so.
    #[arg(long, conflicts_with = "check")]
    pub(crate) operator_token: bool,
    /// Write a new token for `operator` to this file instead of printing it. Only its owner may
    /// read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) operator_token_file: Option<PathBuf>,
    /// Check all settings and print them with their sources, without starting a server.
    #[arg(long)]
    pub(crate) check: bool,
    /// Wait for a database that does not answer: the server was started before, and had one.
    #[arg(long, hide = true)]
    pub(crate) rejoin: bool,
    /// Take no work: an operator drained the node before it started again.
    #[arg(long, hide = true)]
    pub(crate) drained: bool,
    /// Print the server's addresses, or the result of --check, as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The format of the server's messages on stderr.
#[derive(
    ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines: one object per line.
    Json,
}
