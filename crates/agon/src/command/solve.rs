//! `agon solve yahtzee`: computes the best expected score exactly.

use crate::args::{RuleArg, SolveArgs};
use crate::exit::Exit;
use agon_bots::yahtzee::{self, Rule};
use anyhow::Result;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) fn solve(args: &SolveArgs) -> Result<Exit> {
    let rule = match args.rule {
        RuleArg::Tournament => Rule::Tournament,
        RuleArg::ForcedJoker => Rule::ForcedJoker,
        RuleArg::FreeJoker => Rule::FreeJoker,
    };
    let started = Instant::now();
    let mut bar = Bar::new(args.json);
    let dir = args.cache.clone().or_else(default_cache);
    if let (true, Some(dir)) = (args.fresh, &dir) {
        let _ = std::fs::remove_file(dir.join(format!("yahtzee-{rule}.table")));
    }
    use_cache(dir);
    let (table, origin) = yahtzee::prepare(rule, &mut |done| bar.draw(done));
    bar.clear();
    let seconds = started.elapsed().as_secs_f64();
    if let Some(refused) = &origin.refused {
        eprintln!("agon: ignored the cached table: {refused}");
    }
    if let Some(error) = &origin.not_saved {
        eprintln!("agon: failed to cache the table: {error}");
    }
    let text = if args.json {
        let result = serde_json::json!({
            "game": "yahtzee",
            "rule": rule.to_string(),
            "optimum": table.optimum(),
            "solved": origin.solved,
            "seconds": seconds,
            "file": origin.file,
        });
        format!("{result}\n")
    } else {
        let how = if origin.solved { "solved" } else { "read from the cache" };
        format!(
            "Yahtzee, {rule}: {:.4} points expected ({how} in {seconds:.2} s)\n",
            table.optimum()
        )
    };
    super::print(&text)?;
    Ok(Exit::Success)
}

/// Caches tables in `dir`, or in the user's cache folder.
pub(crate) fn use_cache(dir: Option<PathBuf>) {
    if let Some(dir) = dir.or_else(default_cache) {
        yahtzee::use_cache(dir);
    }
}

fn default_cache() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    given("AGON_CACHE")
        .map(PathBuf::from)
        .or_else(|| given("XDG_CACHE_HOME").map(|dir| PathBuf::from(dir).join("agon")))
        .or_else(|| given("HOME").map(|dir| PathBuf::from(dir).join(".cache/agon")))
}

/// A progress bar on a terminal.
struct Bar {
    shown: bool,
    started: Instant,
    drawn: Option<Instant>,
}

impl Bar {
    fn new(quiet: bool) -> Bar {
        let shown = !quiet && std::io::stderr().is_terminal();
        Bar { shown, started: Instant::now(), drawn: None }
    }

    fn draw(&mut self, done: f64) {
        let recent = self.drawn.is_some_and(|at| at.elapsed() < Duration::from_millis(50));
        if !self.shown || recent {
            return;
        }
        self.drawn = Some(Instant::now());
        let filled = (done * 30.0).round() as usize;
        let elapsed = self.started.elapsed().as_secs_f64();
        let left = if done > 0.0 { elapsed * (1.0 - done) / done } else { 0.0 };
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(30usize.saturating_sub(filled)));
        eprint!("\r\x1b[Ksolving {bar} {:3.0} % · ETA {left:.1} s", done * 100.0);
        let _ = std::io::stderr().flush();
    }

    fn clear(&self) {
        if self.drawn.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}
