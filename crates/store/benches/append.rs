//! Durable appends per second, beside a bare loop of write and fdatasync of the same bytes.
//!
//! `cargo bench -p agon-store` prints medians of five rounds; every round measures every log once,
//! so that a slow moment of the machine does not fall on one of them alone. A stream has one
//! append in flight: its next is submitted when the last is answered, as a match would do it.
//! `AGON_BENCH_DIR` names another disk to measure; an argument picks logs by a part of their name.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use agon_store::{Append, FileLog, Log, MemoryLog, SqliteLog, Sync};

const ROUNDS: usize = 5;
const IN_FLIGHT: [usize; 3] = [1, 64, 1024];

/// One way to keep events, how many appends to measure it with, and how to run it.
struct Subject {
    name: &'static str,
    appends: [usize; 3],
    run: fn(&Path, Vec<Vec<Append>>) -> Duration,
}

const SUBJECTS: [Subject; 5] = [
    Subject { name: "write + fdatasync", appends: [500, 32_000, 200_000], run: bare },
    Subject {
        name: "SqliteLog",
        appends: [500, 20_000, 60_000],
        run: |dir, work| drive(&SqliteLog::open(dir.join("log.db")).unwrap(), work),
    },
    Subject {
        name: "FileLog, Sync::Always",
        appends: [500, 4_000, 8_000],
        run: |dir, work| drive(&FileLog::open(dir, Sync::Always).unwrap(), work),
    },
    Subject {
        name: "FileLog, Sync::Process",
        appends: [50_000, 50_000, 50_000],
        run: |dir, work| drive(&FileLog::open(dir, Sync::Process).unwrap(), work),
    },
    Subject {
        name: "MemoryLog",
        appends: [200_000, 200_000, 200_000],
        run: |_, work| drive(&MemoryLog::new(), work),
    },
];

fn main() {
    // `cargo test --benches` only asks whether it runs.
    let (rounds, share) =
        if std::env::args().any(|arg| arg == "--bench") { (ROUNDS, 1) } else { (1, 100) };
    let mut rates = vec![[const { Vec::new() }; IN_FLIGHT.len()]; SUBJECTS.len()];
    // On the disk the build is on: a folder in memory would make every sync free.
    let disk = std::env::var_os("AGON_BENCH_DIR").unwrap_or(env!("CARGO_TARGET_TMPDIR").into());
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    for _ in 0..rounds {
        let subjects = SUBJECTS.iter().zip(&mut rates);
        for (subject, rates) in subjects.filter(|(subject, _)| subject.name.contains(&wanted)) {
            for (column, in_flight) in IN_FLIGHT.into_iter().enumerate() {
                let each = (subject.appends[column] / share / in_flight).max(1);
                let dir = tempfile::tempdir_in(&disk).unwrap();
                let took = (subject.run)(dir.path(), work(in_flight, each));
                rates[column].push((in_flight * each) as f64 / took.as_secs_f64());
            }
        }
    }
    report(&mut rates).unwrap();
}

fn report(rates: &mut [[Vec<f64>; IN_FLIGHT.len()]]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let bytes = work(1, 1)[0][0].lines[0].len() + 1;
    writeln!(out, "appends per second, one event of {bytes} bytes each; median (lowest, highest)")?;
    write!(out, "{:24}", "streams in flight")?;
    IN_FLIGHT.iter().try_for_each(|in_flight| write!(out, "{in_flight:>32}"))?;
    let measured = |(_, columns): &(_, &mut [Vec<f64>; IN_FLIGHT.len()])| !columns[0].is_empty();
    for (subject, columns) in SUBJECTS.iter().zip(rates).filter(measured) {
        write!(out, "\n{:24}", subject.name)?;
        for rates in columns {
            rates.sort_by(f64::total_cmp);
            let (low, high) = (rates[0], rates[rates.len() - 1]);
            let cell = format!("{:.0} ({low:.0}, {high:.0})", rates[rates.len() / 2]);
            write!(out, "{cell:>32}")?;
        }
    }
    writeln!(out)
}

/// The appends of each stream, built beforehand.
fn work(streams: usize, each: usize) -> Vec<Vec<Append>> {
    let append = |stream: usize, seq: usize| {
        let data = r#"{"seat":1,"request":42,"answer":{"score":"full-house","dice":[3,3,5,5,5]}}"#;
        let stream = format!("match/r1m{stream}");
        let head = format!(r#""v":1,"stream":"{stream}","seq":{seq},"at":1763182800000,"more":0"#);
        let line = format!(r#"{{{head},"type":"answer-accepted","data":{data}}}"#);
        Append { stream: stream.into(), expected: seq as u64 - 1, lines: vec![line] }
    };
    let stream = |stream| (1..=each).map(|seq| append(stream, seq)).collect();
    (0..streams).map(stream).collect()
}

/// Runs all streams at once, each waiting for its last append before the next.
fn drive(log: &dyn Log, work: Vec<Vec<Append>>) -> Duration {
    let mut open: usize = work.iter().map(Vec::len).sum();
    let mut work: Vec<_> = work.into_iter().map(Vec::into_iter).collect();
    let (tx, rx) = channel();
    let submit = |stream: usize, append: Append| {
        let tx = tx.clone();
        log.submit(
            append,
            Box::new(move |answer| {
                answer.unwrap();
                tx.send(stream).unwrap();
            }),
        );
    };
    let start = Instant::now();
    for (stream, appends) in work.iter_mut().enumerate() {
        appends.next().into_iter().for_each(|append| submit(stream, append));
    }
    while open > 0 {
        // An answer that panicked would never arrive.
        let stream = rx.recv_timeout(Duration::from_secs(60)).unwrap();
        open -= 1;
        work[stream].next().into_iter().for_each(|append| submit(stream, append));
    }
    start.elapsed()
}

/// The most a disk could do: the same bytes to one file, all streams in one write and one sync.
fn bare(dir: &Path, work: Vec<Vec<Append>>) -> Duration {
    let mut file = File::create(dir.join("bare.jsonl")).unwrap();
    let start = Instant::now();
    for turn in 0..work[0].len() {
        let mut text = String::new();
        for line in work.iter().flat_map(|stream| &stream[turn].lines) {
            text.push_str(line);
            text.push('\n');
        }
        file.write_all(text.as_bytes()).unwrap();
        file.sync_data().unwrap();
    }
    start.elapsed()
}
