//! A short run of one target, without cargo-fuzz: its corpus, then mutations of that.

use crate::mutations::mutated;
use crate::{Target, target};
use agon_bots::SplitMix64;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Mutations of the corpus in a short run, unless `AGON_FUZZ` asks for another number.
const COUNT: usize = 4_000;

/// A short run ends after this, whatever its count.
const SHORT: Duration = Duration::from_secs(4);

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ran {
    /// Inputs of the corpus.
    pub corpus: usize,
    /// Those of them with something valid in them.
    pub corpus_good: usize,
    /// Mutations.
    pub mutations: usize,
    /// Those of them with something valid in them.
    pub good: usize,
}

/// The corpus of a target: what is committed under `fuzz/corpus`, by name.
pub fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files = std::fs::read_dir(&folder);
    let files = files.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a readable file")).collect()
}

/// Runs the corpus of a target and mutations of it. `AGON_FUZZ=N` runs N mutations, however long
/// that takes, and `AGON_FUZZ_SEED=S` selects others. A failure prints the input.
///
/// # Panics
/// If the target does.
pub fn run(name: &str) -> Ran {
    let (target, corpus) = (target(name), corpus(name));
    assert!(!corpus.is_empty(), "the corpus of {name} is empty");
    let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse().ok());
    let asked = number("AGON_FUZZ").map(|count: u64| count as usize);
    let seed: u64 = number("AGON_FUZZ_SEED").unwrap_or(1);
    let mut ran = Ran { corpus: corpus.len(), ..Ran::default() };
    for (at, input) in corpus.iter().enumerate() {
        let good = guarded(target, input, &format!("{name}, input {at} of the corpus"));
        ran.corpus_good += usize::from(good);
    }
    let (mut random, started) = (SplitMix64::new(seed), Instant::now());
    while ran.mutations < asked.unwrap_or(COUNT) {
        if asked.is_none() && started.elapsed() > SHORT {
            break;
        }
        let input = mutated(&mut random, &corpus);
        let at = format!("{name}, mutation {} of seed {seed}", ran.mutations);
        ran.good += usize::from(guarded(target, &input, &at));
        ran.mutations += 1;
    }
    ran
}

/// Runs a target; if it panics, first prints the input.
fn guarded(target: Target, input: &[u8], at: &str) -> bool {
    match catch_unwind(AssertUnwindSafe(|| target(input))) {
        Ok(good) => good,
        Err(panic) => {
            let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
            eprintln!("{at} fails: {:?}\n  as hex: {hex}", String::from_utf8_lossy(input));
            resume_unwind(panic)
        }
    }
}
