//! Times the exact solver of solitaire Yahtzee, for each rule, and one decision by its table.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use agon_bots::yahtzee::{Card, Roll, Rule, solve, solve_on};
use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

const RUNS: usize = 9;

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    for rule in Rule::ALL {
        println!("{rule}: optimum {:.6}", solve(rule, &mut |_| ()).optimum());
        for threads in [1, cores] {
            let (fastest, median) = time(|| drop(solve_on(rule, threads, &mut |_| ())));
            println!("  {threads} threads: median {median:.1?}, fastest {fastest:.1?}");
        }
    }
    let table = solve(Rule::Tournament, &mut |_| ());
    let roll = Roll::new([2, 3, 6, 4, 6]).expect("five dice");
    let (fastest, median) = time(|| {
        black_box(table.best_keepers(&Card::EMPTY, roll, 2));
    });
    println!("keepers of a first roll: median {median:.1?}, fastest {fastest:.1?}");
}

/// The fastest and the median of [`RUNS`] runs.
fn time(mut run: impl FnMut()) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    (times[0], times[RUNS / 2])
}
