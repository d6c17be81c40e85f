//! A short chaos on the real binary: every kind of trouble once, and nothing is lost, doubled or
//! charged to who was left alone. `make chaos` runs longer ones.

use agon_chaos::{Settings, run};
use std::time::Duration;
use tokio::sync::watch;

/// The seed of everything that is drawn.
const SEED: u64 = 6;

#[test]
fn every_trouble_once_and_nothing_is_lost() {
    run_briefly(1);
}

#[test]
fn every_trouble_of_three_nodes_once_and_nothing_is_lost() {
    run_briefly(3);
}

/// Disturbs so many nodes and their players in every way there is.
fn run_briefly(nodes: usize) {
    let dir = tempfile::tempdir().expect("a folder for the test");
    let settings = Settings {
        agon: env!("CARGO_BIN_EXE_agon").into(),
        dir: dir.path().to_owned(),
        lasting: Duration::from_secs(15),
        nodes,
        players: 12,
        seed: SEED,
        brief: true,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let never = watch::Sender::new(false);
    let running = run(&settings, |line| eprintln!("{line}"), never.subscribe());
    let report = runtime.expect("a runtime").block_on(running).expect("the tournament is running");
    if !report.holds() {
        // To be looked at; it goes with the machine's other temporary files.
        eprintln!("everything is in {}", dir.keep().display());
    }
    assert!(report.holds(), "{report}");
}
