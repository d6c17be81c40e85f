//! A thousand seeds of the simulator, twice the same, and every planted bug found.

use agon_sim::{Figures, Sabotage};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Seeds of one run of the tests.
const SEEDS: u64 = 1_000;

/// Runs seeds on two threads; what there was, or the first failure.
fn sweep(first: u64, count: u64, sabotage: Option<Sabotage>) -> Result<Figures, String> {
    let next = AtomicU64::new(first);
    let sum = Mutex::new(Ok(Figures::default()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            let ran = agon_sim::run(seed, sabotage);
            let mut sum = sum.lock().unwrap();
            match (&mut *sum, ran) {
                (Ok(sum), Ok(figures)) => sum.add(&figures),
                (Ok(_), Err(failure)) => {
                    next.store(first + count, Ordering::Relaxed);
                    *sum = Err(agon_sim::report(seed, sabotage, &failure));
                }
                (Err(_), _) => {}
            }
        }
    };
    std::thread::scope(|scope| {
        (0..2).for_each(|_| drop(scope.spawn(work)));
    });
    sum.into_inner().unwrap()
}

#[test]
fn a_thousand_seeds_pass() {
    let started = Instant::now();
    let figures = sweep(1, SEEDS, None).unwrap_or_else(|report| panic!("{report}"));
    let rate = figures.games as f64 / started.elapsed().as_secs_f64();
    eprintln!("{rate:.0} simulated games a second; {figures:?}");
    // A world in which nothing happens, or nothing goes wrong, proves nothing.
    assert_eq!(figures.seeds, SEEDS);
    assert!(figures.games > SEEDS && figures.answers > 50 * SEEDS, "{figures:?}");
    let trouble = [figures.crashes, figures.cuts, figures.faults];
    assert!(trouble.iter().all(|count| *count > SEEDS), "{figures:?}");
    let rare = [figures.lost, figures.torn, figures.conflicts];
    assert!(rare.iter().all(|count| *count > SEEDS / 50), "{figures:?}");
}

#[test]
fn seeds_that_failed_once_pass() {
    // 984: all players of a stage were out, and the next stage paired empty rounds for ever.
    // 2904: a program that a match had removed came back, and the next restart was charged to it.
    // 3189: a program came back and lost its connection while the server stood still.
    // 4620: an operator blacklisted a player who had already been notified of their win.
    // 8528: an operator awarded a tournament to a player on the blacklist.
    // 17332: a match of a player who had been blacklisted said that the player withdrew.
    // 20411: a restart in a pause notified a player of a defeat that the operator could still undo.
    // 22562: the next call to a program waited for an engine that stood still.
    for seed in [984, 2904, 3189, 4620, 8528, 17332, 20411, 22562] {
        if let Err(failure) = agon_sim::run(seed, None) {
            panic!("{}", agon_sim::report(seed, None, &failure));
        }
    }
}

#[test]
fn a_seed_is_a_run() {
    for seed in 1..=25 {
        let runs = [(); 2].map(|()| agon_sim::run(seed, None).unwrap());
        assert_eq!(runs[0], runs[1], "seed {seed}");
    }
}

#[test]
fn every_planted_bug_is_found() {
    for bug in Sabotage::ALL {
        let missed = sweep(1, SEEDS, Some(bug));
        assert!(missed.is_err(), "{bug:?} was not found in {SEEDS} seeds");
    }
}
