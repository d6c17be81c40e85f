//! Real servers for tests, on loopback and free ports. A server stops when its value is dropped.
//!
//! The programs come from Debian's packages; `scripts/test` installs them.
#![forbid(unsafe_code)]

mod postgres;

pub use postgres::Postgres;

use std::net::TcpListener;

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("a bound socket").port()
}
