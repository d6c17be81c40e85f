//! `agon-sim`: runs seeds of the simulator and reports which invariants they violate.

use agon_sim::{Arrangement, Failure, Figures, Run, Sabotage, Trace};
use anyhow::{Result, bail};
use clap::Parser;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs the server in a simulated world. The seed determines the whole run.
#[derive(Parser)]
struct Args {
    /// Run this seed only, and print every step.
    #[arg(long, conflicts_with_all = ["seeds", "selftest"])]
    seed: Option<u64>,
    /// The number of seeds to run.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Continue after failures, and report the number of failures of each invariant.
    #[arg(long)]
    keep_going: bool,
    /// Arrange the servers of all seeds like this. Otherwise the seed decides: one in eight has
    /// several engines, one in eight has nodes that share a bus, and one in four has nodes that only
    /// share a database.
    #[arg(long)]
    arrangement: Option<Arrangement>,
    /// Plant this bug in the simulated world.
    #[arg(long)]
    sabotage: Option<Sabotage>,
    /// Plant every bug, one at a time, and check that the simulator finds each.
    #[arg(long)]
    selftest: bool,
}

/// A long run says after so many seeds how far it has come.
const PROGRESS_SEEDS: u64 = 5_000;

/// The runs of several seeds.
#[derive(Clone, Copy)]
struct Runs {
    from: u64,
    seeds: u64,
    arrangement: Option<Arrangement>,
    sabotage: Option<Sabotage>,
}

impl Runs {
    fn of_seed(&self, seed: u64) -> Run {
        let run = Run::of_seed(seed, self.sabotage);
        Run { arrangement: self.arrangement.unwrap_or(run.arrangement), ..run }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    // Where the tables of Yahtzee are kept between runs, as for `agon`.
    if let Some(dir) = std::env::var_os("AGON_CACHE") {
        agon_bots::yahtzee::use_cache(dir);
    }
    // Panics of the server are reported with their seed.
    std::panic::set_hook(Box::new(|_| {}));
    let runs = Runs {
        from: args.from,
        seeds: args.seeds,
        arrangement: args.arrangement,
        sabotage: args.sabotage,
    };
    let ran = match (args.seed, args.selftest) {
        (Some(seed), _) => show(runs.of_seed(seed)),
        (None, true) => selftest(runs),
        (None, false) if args.keep_going => survey(runs),
        (None, false) => sweep(runs),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    // The reader may close the pipe early.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn show(run: Run) -> Result<()> {
    let (ran, _) = agon_sim::run_traced(run, Trace::print());
    let seed = run.seed;
    match ran {
        Ok(figures) => say(&format!("seed {seed} passes: {figures:?}")),
        Err(failure) => bail!("seed {seed} breaks {failure} (commit {})", commit()),
    }
    Ok(())
}

/// Runs all seeds, and reports the failures of each invariant.
fn survey(runs: Runs) -> Result<()> {
    let started = Instant::now();
    let (figures, failed) = run_all(runs, true);
    let mut found: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
    for (seed, failure) in failed {
        found.entry(failure.invariant).or_default().push((seed, failure.what));
    }
    for (invariant, all) in &found {
        say(&format!("{invariant}: {} of {} seeds", all.len(), runs.seeds));
        for (seed, what) in all.iter().take(5) {
            say(&format!("  seed {seed}: {}", what.chars().take(300).collect::<String>()));
        }
    }
    passed(figures, started);
    match found.is_empty() {
        true => Ok(()),
        false => bail!("commit {}", commit()),
    }
}

fn sweep(runs: Runs) -> Result<()> {
    let started = Instant::now();
    let (figures, failed) = run_all(runs, false);
    if let Some((seed, failure)) = failed.first() {
        say(&agon_sim::report(runs.of_seed(*seed), failure));
        bail!("seed {seed} at commit {}; see it with `make sim SEED={seed}`", commit());
    }
    passed(figures, started);
    Ok(())
}

fn passed(figures: Figures, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let (seeds, rate) = (figures.seeds, figures.games as f64 / seconds);
    say(&format!("{seeds} seeds pass: {figures:?}"));
    say(&format!("{rate:.0} simulated games a second ({seconds:.1} s)"));
}

/// Runs seeds on all cores, up to the first that fails unless it keeps going. The failures are
/// sorted by seed.
fn run_all(runs: Runs, keeps_going: bool) -> (Figures, Vec<(u64, Failure)>) {
    let Runs { from, seeds, .. } = runs;
    let started = Instant::now();
    let next = AtomicU64::new(from);
    let failed: Mutex<Vec<(u64, Failure)>> = Mutex::default();
    let sum = Mutex::new(Figures::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= from + seeds {
                return;
            }
            match agon_sim::run(runs.of_seed(seed)) {
                Ok(figures) => {
                    let mut sum = sum.lock().expect("no thread panics");
                    sum.add(&figures);
                    show_progress(&sum, seeds, started);
                }
                Err(failure) => {
                    if !keeps_going {
                        next.store(from + seeds, Ordering::Relaxed);
                    }
                    failed.lock().expect("no thread panics").push((seed, failure));
                }
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
    let mut failed = failed.into_inner().expect("no thread panics");
    failed.sort_by_key(|(seed, _)| *seed);
    (sum.into_inner().expect("no thread panics"), failed)
}

/// Says how far a long run has come.
fn show_progress(sum: &Figures, seeds: u64, started: Instant) {
    if seeds > PROGRESS_SEEDS && sum.seeds.is_multiple_of(PROGRESS_SEEDS) {
        let Figures { seeds: passed, games, answers, crashes, .. } = sum;
        let seconds = started.elapsed().as_secs();
        let far = format!("{passed} of {seeds} seeds pass after {seconds} s");
        let words = format!("{far}: {games} games, {answers} answers, {crashes} crashes");
        let _ = writeln!(std::io::stderr(), "{words}");
    }
}

fn selftest(runs: Runs) -> Result<()> {
    let mut undetected = Vec::new();
    for bug in Sabotage::ALL {
        let (figures, found) = run_all(Runs { sabotage: Some(bug), ..runs }, false);
        match found.first() {
            Some((seed, failure)) => {
                let what: String = failure.what.chars().take(120).collect();
                let after = seed + 1 - runs.from;
                say(&format!("{bug:?}: found by `{}` after {after}: {what}", failure.invariant));
            }
            None => {
                say(&format!("{bug:?}: NOT found in {} seeds", figures.seeds));
                undetected.push(bug);
            }
        }
    }
    match undetected[..] {
        [] => Ok(()),
        _ => bail!("planted and not found: {undetected:?}"),
    }
}

fn commit() -> String {
    let out = Command::new("git").args(["rev-parse", "--short", "HEAD"]).output();
    out.ok().and_then(|out| String::from_utf8(out.stdout).ok()).unwrap_or_default().trim().into()
}
