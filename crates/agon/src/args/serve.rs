//! The arguments of `agon serve`, and of plain `agon`.

use crate::exit;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const HELP: &str = "\
Everything that happened is in DIR/agon.sqlite: a server that is killed and started again goes on
where it stood, and nobody loses anything by it. Plain `agon` is `agon serve` that takes the next
free port where its own is taken.

A TOML file has any of these fields. Each can also be set by a variable of the environment, named
after it: AGON_DATA, AGON_TLS_CERT, AGON_LIMITS_CONNECTIONS_MAX … Flags win over variables, and
those over the file. `agon serve --check` shows what comes of it; docs/operate.md has the rest.
    data = \"agon-data\"                    tcp = \"127.0.0.1:7300\"
    http = \"127.0.0.1:7380\"               second_login = \"takeover\"
    token_ms = 2592000000                  reconnect_ms = 60000
    log = \"info\"                           log_format = \"text\"
    operator_token_file = \"operator.token\"
    [tls]
    cert = \"cert.pem\"                      key = \"key.pem\"
    [limits]
    connections_max = 20000                connections_per_address_max = 2000
    outbox_lines_max = 64                  inbox_lines_max = 32
    line_bytes_max = 262144                write_ms_max = 10000
    lines_per_second_max = 2000            lines_burst_max = 4000
    login_ms_max = 10000                   heartbeat_ms = 15000
    silence_ms_max = 45000
    [fish]                                 # a port for programs of the Fish system; closed otherwise
    listen = \"127.0.0.1:7310\"             vocabulary = \"auto\"
    [trains]                               # a port for programs of the Trains system
    listen = \"127.0.0.1:7320\"             vocabulary = \"course\"
    [erlang]                               # a node for Yahtzee players in Erlang; none otherwise
    node = \"agon@localhost\"               cookie_file = \"erlang.cookie\"
    [[tournament]]                         # starts as soon as its players are logged in
    name = \"cup\"                           preset = \"yahtzee-queue\"
    players = 8                            # the first in line; or
    # named = [\"ann\", \"house:greedy\"]
    best_of = 5                            start = \"when-ready\"";

fn help() -> String {
    format!("{HELP}\n\n{}", exit::HELP)
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
