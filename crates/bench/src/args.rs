//! The arguments of `agon bench` and of the processes that it starts.

use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

const BENCH_HELP: &str = "\
The command starts a server in a new folder, with a durable log, and plays on it over loopback. In
between, slice by slice, it measures a bare ping-pong with as many connections and messages of the
same size. Ratios are medians of such pairs, so they can be compared between machines. Games that
ask one player at a time are also compared with a ping-pong that has as few messages in flight, and
the latency of a single match (--players 2) with a ping-pong that syncs a file for every message.

Examples:
    agon bench --game yahtzee --players 1000 --seconds 20 --json
    agon bench --players 10000 --half-load --restart
    agon bench --players 1000 --observers 4
    agon bench --players 2 --seconds 10
    agon bench --store postgres://agon@localhost/bench
    agon bench --store postgres://agon@localhost/bench --bus nats://localhost --remote
    agon bench --players 10000 --steady 20000 --seconds 600";

/// The arguments of `agon bench`.
#[derive(ClapArgs, Clone, Debug)]
#[command(after_help = BENCH_HELP)]
pub struct BenchArgs {
    /// The game.
    #[arg(long, default_value = "yahtzee", value_parser = ["yahtzee", "fish", "trains"])]
    pub(crate) game: String,
    /// The number of players; must be even.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) players: usize,
    /// The number of matches at once; by default every player is in one.
    #[arg(long, value_name = "M")]
    pub(crate) matches: Option<usize>,
    /// How many seconds to measure; half of them is ping-pong.
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    pub(crate) seconds: f64,
    /// The transport between players and server.
    #[arg(long, visible_alias = "wire", value_enum, default_value_t = TransportArg::Tcp)]
    pub(crate) transport: TransportArg,
    /// Measure again with this many observers on every match.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) observers: usize,
    /// Measure this many watchers of one match with ten events a second instead.
    #[arg(long, value_name = "N", conflicts_with_all = [
        "players", "matches", "observers", "half_load", "restart",
    ])]
    pub(crate) watchers: Option<usize>,
    /// Measure a steady load of this many decisions a second instead, with the usual time limits.
    /// Reports latencies, faults and the server's memory.
    #[arg(long, value_name = "RATE", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = [
        "observers", "watchers", "half_load", "restart",
    ])]
    pub(crate) steady: Option<u32>,
    /// Measure latencies at half the maximum rate.
    #[arg(long)]
    pub(crate) half_load: bool,
    /// Kill the server, start it again, and measure how soon all players are back.
    #[arg(long)]
    pub(crate) restart: bool,
    /// Keep the log in this PostgreSQL database, which must be empty, and not in a file.
    #[arg(long, value_name = "URL", conflicts_with = "keep")]
    pub(crate) store: Option<String>,
    /// Share the work with other nodes over this NATS server.
    #[arg(long, value_name = "URL", requires = "store")]
    pub(crate) bus: Option<String>,
    /// Start a second node, and connect all players to it: it carries their bytes to the first one.
    #[arg(long, requires = "bus", conflicts_with_all = ["restart", "engine_threads"])]
    pub(crate) remote: bool,
    /// How many threads of the server play.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) engine_threads: u16,
    /// The address of this machine to use.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) address: std::net::IpAddr,
    /// The parent of the server's folder; choose a real disk for a durable log.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Keep the server's folder.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl BenchArgs {
    /// How many matches there are at once.
    pub(crate) fn matches_wanted(&self) -> usize {
        self.matches.unwrap_or(self.players / 2)
    }
}

/// The transport between players and server.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransportArg {
    /// Lines over TCP.
    Tcp,
    /// WebSocket.
    Ws,
    /// Calls of the Fish system, for --game fish.
    Fish,
    /// Erlang nodes with ten players each.
    Erlang,
}

impl TransportArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            TransportArg::Tcp => "tcp",
            TransportArg::Ws => "ws",
            TransportArg::Fish => "fish",
            TransportArg::Erlang => "erlang",
        }
    }
}

/// One process of a ping-pong.
#[derive(ClapArgs, Debug)]
pub struct BenchPartArgs {
    /// The role of this process.
    #[arg(value_parser = ["echo", "ping"])]
    pub part: String,
    /// The address on which the echo listens.
    pub address: std::net::SocketAddr,
    /// The number of connections.
    #[arg(default_value_t = 10_000)]
    pub connections: usize,
    /// A file that the echo may sync.
    #[arg(long)]
    pub file: Option<PathBuf>,
}
