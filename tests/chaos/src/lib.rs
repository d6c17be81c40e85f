//! Chaos on the real binary, with a network between.
//!
//! A run starts `agon serve` as it is shipped, and its own players, who play tournaments of all
//! games, one after the other and several at once. Meanwhile the harness kills and stops the
//! server, starves it of disk and files, and sets its clock (`trouble`). With several nodes it also
//! cuts them off from their database, restarts it and promotes its standby (`node_trouble`). It
//! kills and stops players, and the relay between each player and the server loses, delays and cuts
//! (`harm`, `link`). A third of the players is left alone.
//!
//! Then the harness heals everything, every tournament must end, and the harness checks the log
//! against the players' own records (`check`, `blame`).
//!
//! A drill (`drill`) is a run of another kind: many matches at once, one fault of the nodes after the
//! other, and a table of how long each fault kept the matches waiting.
//!
//! The seed determines what happens, to whom and for how long. When each thing happens in the
//! server depends on the machine: a seed repeats the disturbances, not the run.
#![forbid(unsafe_code)]

mod blame;
mod chance;
mod check;
mod cups;
mod drill;
mod harm;
mod history;
mod host;
mod link;
mod log;
mod node_trouble;
mod nodes;
mod player;
mod process;
mod record;
mod report;
mod run;
#[cfg(test)]
mod selftest;
mod server;
mod trouble;
mod waits;
mod watch;
mod wire;

pub use drill::{Drill, DrillReport, drill};
pub use report::Report;
pub use run::{Settings, run};
