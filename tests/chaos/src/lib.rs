//! Chaos on the real binary, with a network between.
//!
//! A run starts `agon serve` as it is shipped, and players of its own that play tournaments of all
//! games, one after the other and several at once. Meanwhile the server is killed, stopped, starved
//! of disk and files and shown a clock that jumps (`trouble`); players are killed and stopped, and
//! the relay that each of them has between itself and the server loses, delays and cuts (`harm`,
//! `link`). A third of the players is left alone.
//!
//! Then everything is healed, every tournament has to end, and the log is held against what the
//! players noted themselves (`check`, `blame`).
//!
//! What is done, to whom and for how long is drawn from a seed. When each thing happens in the
//! server is up to the machine: a seed repeats the weather, not the run.
#![forbid(unsafe_code)]

mod blame;
mod chance;
mod check;
mod cups;
mod harm;
mod history;
mod link;
mod player;
mod process;
mod record;
mod report;
mod run;
#[cfg(test)]
mod selftest;
mod server;
mod trouble;
mod watch;
mod wire;

pub use report::Report;
pub use run::{Settings, run};
