//! The CPU time of an append to the SQLite log, including the kernel's.
//!
//! `cargo bench -p agon-store --bench cost` hands groups of 300 decisions of 400 bytes to a log of
//! 1,024 streams, as a busy server does, and prints the processor time of the writer's thread for
//! each. The first groups, which create the streams, are not counted. Needs Linux.
//! `AGON_BENCH_DIR` names another disk to measure.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use agon_store::{Append, Log, SqliteLog};

const STREAMS: usize = 1024;
const GROUP: usize = 300;
const BYTES: usize = 400;
const ROUNDS: usize = 5;

/// Groups before the measure begins, and groups that are measured.
const GROUPS: (usize, usize) = (20, 700);

fn main() {
    // `cargo test --benches` only asks whether it runs.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let (rounds, groups) = if measured { (ROUNDS, GROUPS) } else { (1, (4, 2)) };
    let disk = std::env::var_os("AGON_BENCH_DIR").unwrap_or(env!("CARGO_TARGET_TMPDIR").into());
    let mut costs: Vec<(f64, f64)> = Vec::new();
    for _ in 0..rounds {
        let dir = tempfile::tempdir_in(&disk).unwrap();
        costs.push(round(&dir.path().join("log.db"), groups));
    }
    costs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = (costs[0].0, costs[rounds - 1].0);
    let (cpu, rate) = costs[rounds / 2];
    let mut out = std::io::stdout().lock();
    writeln!(out, "{cpu:.2} us of CPU an append ({low:.2}, {high:.2}); {rate:.0} a second")
        .unwrap();
}

/// Microseconds of the writer's processor time for an append, and appends in a second.
fn round(path: &Path, (before, counted): (usize, usize)) -> (f64, f64) {
    let log = SqliteLog::open(path).unwrap();
    let (tx, rx) = channel();
    let mut started = (Instant::now(), Duration::ZERO);
    for group in 0..before + counted {
        let places = group * GROUP..(group + 1) * GROUP;
        let appends = places.map(|place| append(place % STREAMS, place / STREAMS)).collect();
        let tx = tx.clone();
        if group == before {
            started = (Instant::now(), writer_time());
        }
        log.submit_all(appends, Box::new(move |answers| tx.send(answers).unwrap()));
        let answers = rx.recv_timeout(Duration::from_secs(60)).unwrap();
        answers.into_iter().for_each(|answer| assert!(answer.is_ok(), "{answer:?}"));
    }
    let appends = (counted * GROUP) as f64;
    let cpu = writer_time().saturating_sub(started.1);
    (cpu.as_secs_f64() * 1e6 / appends, appends / started.0.elapsed().as_secs_f64())
}

fn append(stream: usize, expected: usize) -> Append {
    let (stream, seq) = (format!("match/cup/r1m{stream}"), expected + 1);
    let head = format!(r#""v":1,"stream":"{stream}","seq":{seq},"at":1763182800000,"more":0"#);
    let line = format!(r#"{{{head},"type":"answer-accepted","data":""#);
    let line = format!("{line:x<width$}\"}}", width = BYTES - 2);
    Append { stream: stream.into(), expected: expected as u64, lines: vec![line] }
}

/// How long the thread that writes has been on a processor; nothing where nobody can tell.
fn writer_time() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let is_writer = |path: &Path| {
        fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "log-writer")
    };
    let writer = tasks.map(|task| task.path()).find(|path| is_writer(path));
    let time = writer.and_then(|path| fs::read_to_string(path.join("schedstat")).ok());
    let nanos = time.and_then(|time| time.split(' ').next()?.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
