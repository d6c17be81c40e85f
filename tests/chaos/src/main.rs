//! `agon-chaos`: arguments, progress, exit codes.
#![forbid(unsafe_code)]

use agon_chaos::{Drill, Settings, drill, run};
use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Chaos on the real binary: kills, stops, a full disk, no open files, a clock that jumps and a
/// bad network, under load; then everything is healed, and the log is held against what players
/// noted.
///
/// Ends with 0 if everything holds, with 1 if something does not, with 2 if it could not run.
/// Ctrl-C ends the trouble early: everything is healed and looked at as usual; a second one ends
/// it at once.
#[derive(Parser)]
#[command(
    name = "agon-chaos",
    after_help = "\
Examples:
  agon-chaos --agon target/sim/agon --minutes 1
  agon-chaos --agon target/release/agon --minutes 60 --players 100 --seed 7 --json chaos.json
  agon-chaos --agon target/sim/agon --minutes 5 --nodes 3
  agon-chaos --agon target/sim/agon --drill 1000 --nodes 3

The seed determines all random choices: which players are disturbed, how, and for how long. The
timing depends on the machine, so it may take several runs to see a failure again."
)]
struct Args {
    /// The binary under test.
    #[arg(long)]
    agon: PathBuf,
    /// How many minutes the disturbances last. Each kind happens at least once.
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// The number of nodes. Two or more share a PostgreSQL database and a NATS server, which are
    /// started for the run.
    #[arg(long, default_value_t = 1)]
    nodes: usize,
    /// Instead of chaos: play this many matches of two players on the nodes, perform every fault of
    /// nodes once, and print how long each kept the matches waiting.
    #[arg(long, value_name = "MATCHES", conflicts_with_all = ["minutes", "players", "brief"])]
    drill: Option<usize>,
    /// The number of players. A third of them is never disturbed and must not be charged.
    #[arg(long, default_value_t = 24)]
    players: usize,
    /// The seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Disturbances take seconds instead of tens of seconds.
    #[arg(long)]
    brief: bool,
    /// Write the figures to this file, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// An empty folder for the log and the players' records. By default a temporary folder, which
    /// is kept after a failure.
    #[arg(long)]
    dir: Option<PathBuf>,
}

fn main() -> ExitCode {
    match start(Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("agon-chaos: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn start(args: Args) -> Result<bool> {
    if !(args.minutes > 0.0 && args.minutes <= 10_000.0) {
        bail!("--minutes must be more than 0 and at most 10,000, not {}", args.minutes);
    }
    let dir = args
        .dir
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("agon-chaos-{}", std::process::id())));
    std::fs::create_dir_all(&dir).with_context(|| format!("failed to make {}", dir.display()))?;
    if std::fs::read_dir(&dir)?.next().is_some() {
        bail!("{} is not empty; name another folder with --dir", dir.display());
    }
    eprintln!("agon-chaos: everything is in {}", dir.display());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let tell = |line: &str| eprintln!("agon-chaos: {line}");
    let (holds, report, json) = match args.drill {
        Some(matches) => {
            let (agon, dir) = (args.agon, dir.clone());
            let settings = Drill { agon, dir, nodes: args.nodes, matches, seed: args.seed };
            let interrupted = watch::Sender::new(false);
            let seen = interrupted.subscribe();
            let running = drill(&settings, tell, seen);
            let report = runtime.block_on(until_signals(running, &interrupted))?;
            (report.holds(), report.to_string(), serde_json::to_string_pretty(&report)?)
        }
        None => {
            let settings = Settings {
                agon: args.agon,
                dir: dir.clone(),
                lasting: Duration::from_secs_f64(args.minutes * 60.0),
                nodes: args.nodes,
                players: args.players,
                seed: args.seed,
                brief: args.brief,
            };
            let interrupted = watch::Sender::new(false);
            let running = run(&settings, tell, interrupted.subscribe());
            let report = runtime.block_on(until_signals(running, &interrupted))?;
            (report.holds(), report.to_string(), serde_json::to_string_pretty(&report)?)
        }
    };
    if let Some(file) = args.json {
        std::fs::write(&file, json + "\n")
            .with_context(|| format!("failed to write {}", file.display()))?;
    }
    eprintln!("{report}");
    if holds && args.dir.is_none() {
        std::fs::remove_dir_all(&dir)?;
    }
    Ok(holds)
}

/// Runs to the end. The first signal ends the trouble early, the second one everything.
async fn until_signals<R>(
    running: impl Future<Output = Result<R>>,
    interrupted: &watch::Sender<bool>,
) -> Result<R> {
    let mut running = std::pin::pin!(running);
    let mut terminate = signal(SignalKind::terminate())?;
    for _ in 0..2 {
        tokio::select! {
            report = &mut running => return report,
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        eprintln!("agon-chaos: healing; once more ends it at once");
        interrupted.send_replace(true);
    }
    bail!("ended at once; nothing was looked at")
}
