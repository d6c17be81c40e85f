//! The arguments of `agon serve`, and of plain `agon`.

use crate::config::settings;
use crate::exit;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const HELP: &str = "\
Everything that happened is in DIR/agon.sqlite: a server that is killed and started again goes on
where it stood, and nobody loses anything by it. Plain `agon` is `agon serve` that takes the next
free port where its own is taken.

A TOML file has any of the fields below. Each can also be set by a variable of the environment,
named after it: AGON_DATA, AGON_TLS_CERT, AGON_LIMITS_CONNECTIONS_MAX … Flags win over variables,
and those over the file. `agon serve --check` prints the result; docs/operate.md has the rest.

Programs of other systems connect where the file has a table for them: [fish] and [trains] with
`listen`, and [erlang] with a cookie for Yahtzee players on Erlang nodes.

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
    /// Where players connect; by default 127.0.0.1:7300. Port 0 is any free one.
    #[arg(long, value_name = "ADDR")]
    pub(crate) tcp: Option<String>,
    /// Where the HTTP interface is; by default 127.0.0.1:7380.
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// A certificate (PEM): everything is TLS then. It is read again on SIGHUP.
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM).
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Settings from a TOML file; flags and variables win over it.
    #[arg(long, value_name = "FILE", env = "AGON_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Take the luck of all tournaments from this number, to repeat an experiment. Whoever knows
    /// it knows all dice.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How much to tell on stderr: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
    /// How to tell it: text, or lines of JSON.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Make a new token for the account `operator` and print it. The first start does so anyway.
    #[arg(long, conflicts_with = "check")]
    pub(crate) operator_token: bool,
    /// Write a new token for `operator` to this file, for its owner only, instead of printing it.
    #[arg(long, value_name = "FILE")]
    pub(crate) operator_token_file: Option<PathBuf>,
    /// Check all settings, print them and where each comes from, and start nothing.
    #[arg(long)]
    pub(crate) check: bool,
    /// Say where the server listens, or what --check found, as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the server tells its operator what goes on.
#[derive(
    ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines: an object a line.
    Json,
}
