//! `agon-sim`: runs seeds of the simulator and reports which invariants they violate.

use agon_sim::{Failure, Figures, Sabotage, Trace};
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
    /// Plant this bug in the simulated world.
    #[arg(long)]
    sabotage: Option<Sabotage>,
    /// Plant every bug, one at a time, and check that the simulator finds each.
    #[arg(long)]
    selftest: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    // Panics of the server are reported with their seed.
    std::panic::set_hook(Box::new(|_| {}));
    let ran = match (args.seed, args.selftest) {
        (Some(seed), _) => show(seed, args.sabotage),
        (None, true) => selftest(args.from, args.seeds),
        (None, false) if args.keep_going => survey(args.from, args.seeds, args.sabotage),
        (None, false) => sweep(args.from, args.seeds, args.sabotage),
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

fn show(seed: u64, sabotage: Option<Sabotage>) -> Result<()> {
    let (ran, _) = agon_sim::run_traced(seed, sabotage, Trace::print());
    match ran {
        Ok(figures) => say(&format!("seed {seed} passes: {figures:?}")),
        Err(failure) => bail!("seed {seed} breaks {failure} (commit {})", commit()),
    }
    Ok(())
}

/// Runs all seeds, and reports the failures of each invariant.
fn survey(from: u64, seeds: u64, sabotage: Option<Sabotage>) -> Result<()> {
    let mut found: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
    for seed in from..from + seeds {
        if let Err(failure) = agon_sim::run(seed, sabotage) {
            found.entry(failure.invariant).or_default().push((seed, failure.what));
        }
    }
    for (invariant, all) in &found {
        say(&format!("{invariant}: {} of {seeds} seeds", all.len()));
        for (seed, what) in all.iter().take(5) {
            say(&format!("  seed {seed}: {}", what.chars().take(300).collect::<String>()));
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => bail!("commit {}", commit()),
    }
}

fn sweep(from: u64, seeds: u64, sabotage: Option<Sabotage>) -> Result<()> {
    let started = Instant::now();
    let (figures, failed) = run_all(from, seeds, sabotage);
    if let Some((seed, failure)) = failed {
        say(&agon_sim::report(seed, sabotage, &failure));
        bail!("seed {seed} at commit {}; see it with `make sim SEED={seed}`", commit());
    }
    let seconds = started.elapsed().as_secs_f64();
    let rate = figures.games as f64 / seconds;
    say(&format!("{seeds} seeds pass: {figures:?}"));
    say(&format!("{rate:.0} simulated games a second ({seconds:.1} s)"));
    Ok(())
}

/// Runs seeds on all cores, up to the first that fails.
fn run_all(from: u64, seeds: u64, sabotage: Option<Sabotage>) -> (Figures, Option<(u64, Failure)>) {
    let next = AtomicU64::new(from);
    let failed: Mutex<Option<(u64, Failure)>> = Mutex::new(None);
    let sum = Mutex::new(Figures::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= from + seeds {
                return;
            }
            match agon_sim::run(seed, sabotage) {
                Ok(figures) => sum.lock().expect("no thread panics").add(&figures),
                Err(failure) => {
                    next.store(from + seeds, Ordering::Relaxed);
                    let mut failed = failed.lock().expect("no thread panics");
                    if failed.as_ref().is_none_or(|(other, _)| seed < *other) {
                        *failed = Some((seed, failure));
                    }
                }
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
    let failed = failed.into_inner().expect("no thread panics");
    (sum.into_inner().expect("no thread panics"), failed)
}

fn selftest(from: u64, seeds: u64) -> Result<()> {
    let mut undetected = Vec::new();
    for bug in Sabotage::ALL {
        let (figures, found) = run_all(from, seeds, Some(bug));
        match found {
            Some((seed, failure)) => {
                let what: String = failure.what.chars().take(120).collect();
                let after = seed + 1 - from;
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
