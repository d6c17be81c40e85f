//! Real servers for tests, on loopback and free ports. A server stops when its value is dropped.
//!
//! The programs come from Debian's packages; `scripts/test` installs them.
#![forbid(unsafe_code)]

mod nats;
mod postgres;

pub use nats::{Nats, Stalled};
pub use postgres::{LockedTable, Postgres};

use std::net::TcpListener;
use std::time::{Duration, Instant};

/// How long a server may take to start or stop on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("a bound socket").port()
}

/// Waits until something is so, for as long as a busy machine may take.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
