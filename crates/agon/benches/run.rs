//! Whole tournaments with the real binary: games and decisions per second with house players and
//! with programs over pipes, and Agon's own CPU time per decision.
//!
//! `cargo bench -p agon`. The comparison in the same rounds is a bare ping-pong: this process and a
//! child that sends every line back, with lines as long as a request and an answer.
#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const AGON: &str = env!("CARGO_BIN_EXE_agon");
const ROUNDS: usize = 5;

/// The figures of one run.
struct Run {
    games: f64,
    decisions: f64,
    seconds: f64,
    /// CPU time of agon itself, without its players.
    own_us: f64,
}

fn run(preset: &str, players: &[String], best_of: u32) -> Run {
    let out = tempfile::tempdir().unwrap();
    let dir = out.path().join("run");
    let started = Instant::now();
    let mut child = Command::new(AGON)
        .args(["run", "--preset", preset, "--format", "round-robin", "--seed", "1", "--quiet"])
        .arg("--out")
        .arg(&dir)
        .args(["--best-of", &best_of.to_string(), "--player"])
        .args(players)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let own_us = watch_cpu(child.id());
    assert!(child.wait().unwrap().success(), "the run ends well");
    let seconds = started.elapsed().as_secs_f64();
    let (games, decisions) = count(&dir);
    Run { games, decisions, seconds, own_us }
}

/// CPU time of a process alone, by its last readable accounts: children that were waited for are
/// counted apart by the system, and so are left out here.
fn watch_cpu(process: u32) -> f64 {
    let tasks = format!("/proc/{process}/task");
    let mut latest = 0.0;
    loop {
        let Ok(entries) = std::fs::read_dir(&tasks) else { return latest };
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        if stat.contains(") Z ") || stat.is_empty() {
            return latest;
        }
        let sum: f64 = entries
            .flatten()
            .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
            .filter_map(|text| text.split(' ').next()?.parse::<f64>().ok())
            .sum();
        latest = f64::max(latest, sum / 1_000.0);
        std::thread::park_timeout(std::time::Duration::from_millis(2));
    }
}

fn count(dir: &Path) -> (f64, f64) {
    let (mut games, mut decisions) = (0, 0);
    let mut folders = vec![dir.join("match")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap();
            games += text.matches("\"type\":\"game-ended\"").count();
            decisions += text.matches("\"type\":\"answer-accepted\"").count();
        }
    }
    (games as f64, decisions as f64)
}

/// Round trips per second over a child's pipes.
fn ping_pong(length: usize, trips: usize) -> f64 {
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let line = format!("{}\n", "x".repeat(length - 1));
    let mut back = String::new();
    let started = Instant::now();
    for _ in 0..trips {
        to.write_all(line.as_bytes()).unwrap();
        back.clear();
        from.read_line(&mut back).unwrap();
    }
    let rate = trips as f64 / started.elapsed().as_secs_f64();
    drop(to);
    child.wait().unwrap();
    rate
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn bench(title: &str, preset: &str, players: &[String], best_of: u32) {
    let (mut runs, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        runs.push(run(preset, players, best_of));
        bare.push(ping_pong(2_000, 5_000));
    }
    let of = |figure: fn(&Run) -> f64| median(runs.iter().map(figure).collect());
    let ratios = runs.iter().zip(&bare).map(|(run, bare)| run.decisions / run.seconds / bare);
    println!(
        "{title:<38} {:>8.0} games/s {:>9.0} decisions/s  {:>5.2} of a bare ping-pong  {:>6.1} µs own CPU a decision",
        of(|run| run.games / run.seconds),
        of(|run| run.decisions / run.seconds),
        median(ratios.collect()),
        of(|run| run.own_us / run.decisions),
    );
}

fn main() {
    let house = |names: &[&str], times: usize| -> Vec<String> {
        let all = (0..times).flat_map(|_| names.iter().map(|name| format!("house:{name}")));
        all.collect()
    };
    let programs = |game: &str, names: &[&str], times: usize| -> Vec<String> {
        let one = |name: &&str| format!("'{AGON}' bot --game {game} {name}");
        (0..times).flat_map(|_| names.iter().map(one)).collect()
    };
    let (yahtzee, fish, trains) =
        (["random", "greedy"], ["random", "greedy"], ["buy-now", "random"]);
    bench("yahtzee, house players", "yahtzee-class", &house(&yahtzee, 8), 9);
    bench("fish, house players", "fish", &house(&fish, 8), 9);
    bench("trains, house players", "trains", &house(&trains, 4), 3);
    bench("yahtzee, programs over pipes", "yahtzee-class", &programs("yahtzee", &yahtzee, 2), 9);
    bench("fish, programs over pipes", "fish", &programs("fish", &fish, 2), 9);
    bench("trains, programs over pipes", "trains", &programs("trains", &trains, 2), 3);
}
