//! The arguments of `agon bench` and of the processes that it starts.

use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

const BENCH_HELP: &str = "\
Starts a server of its own in a new folder, with a durable log, and plays on it over loopback. In
between, slice by slice, a bare ping-pong with as many connections and messages of the same size is
measured; ratios are medians of such pairs, so they can be compared between machines. Games that ask
one player at a time are also compared with a ping-pong that has as few messages in flight, and the
latency of a single match (--players 2) with a ping-pong that syncs a file for every message.

Examples:
    agon bench --game yahtzee --players 1000 --seconds 20 --json
    agon bench --players 10000 --half-load --restart
    agon bench --players 1000 --observers 4
    agon bench --players 2 --seconds 10
    agon bench --players 10000 --steady 20000 --seconds 600";

/// What `agon bench` measures, and how.
#[derive(ClapArgs, Clone, Debug)]
#[command(after_help = BENCH_HELP)]
pub struct BenchArgs {
    /// What is played.
    #[arg(long, default_value = "yahtzee", value_parser = ["yahtzee", "fish", "trains"])]
    pub(crate) game: String,
    /// How many players there are; even.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) players: usize,
    /// How many matches there are at once; by default everybody is in one.
    #[arg(long, value_name = "M")]
    pub(crate) matches: Option<usize>,
    /// How long is measured, half of it ping-pong.
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    pub(crate) seconds: f64,
    /// Over what players play.
    #[arg(long, visible_alias = "wire", value_enum, default_value_t = TransportArg::Tcp)]
    pub(crate) transport: TransportArg,
    /// Measure again with so many observers on every match.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) observers: usize,
    /// Measure something else: so many who watch one match that has ten events a second.
    #[arg(long, value_name = "N", conflicts_with_all = [
        "players", "matches", "observers", "half_load", "restart",
    ])]
    pub(crate) watchers: Option<usize>,
    /// Measure something else: everybody plays all of the time, so many decisions a second in all,
    /// against the usual time limits. Tells latencies, faults and how the server grows.
    #[arg(long, value_name = "RATE", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = [
        "observers", "watchers", "half_load", "restart",
    ])]
    pub(crate) steady: Option<u32>,
    /// Measure latencies at half the rate that was reached.
    #[arg(long)]
    pub(crate) half_load: bool,
    /// Kill the server, start it again, and measure how soon everybody is back.
    #[arg(long)]
    pub(crate) restart: bool,
    /// The address of this machine to use.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) address: std::net::IpAddr,
    /// Where to make the server's folder; on a disk, if the log is to be durable.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Keep the server's folder.
    #[arg(long)]
    pub(crate) keep: bool,
    /// The result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl BenchArgs {
    /// How many matches there are at once.
    pub(crate) fn matches_wanted(&self) -> usize {
        self.matches.unwrap_or(self.players / 2)
    }
}

/// Over what players play.
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
    /// Which.
    #[arg(value_parser = ["echo", "ping"])]
    pub part: String,
    /// Where the one that answers listens.
    pub address: std::net::SocketAddr,
    /// How many connections there are.
    #[arg(default_value_t = 10_000)]
    pub connections: usize,
    /// A file that the echo may sync.
    #[arg(long)]
    pub file: Option<PathBuf>,
}
