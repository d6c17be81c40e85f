//! Sockets of players: both transports, TLS, limits, signs of life and clocks, over a real engine.

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

mod clocks;
mod http_limits;
mod limits;
mod passwords;
mod tls;
mod tokens;
mod websocket;
