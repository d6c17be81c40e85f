//! A world in memory under virtual time: whole tournaments without a socket, a task or a clock.
//!
//! [`World`] plays a tournament between scripts, [`bench`] takes one match step by step. [`script`]
//! has the players and [`chaos`] the worst of them; [`check`] verifies what came of it, and
//! [`forge`] changes it first.

pub(crate) mod bench;
pub(crate) mod cases;
pub(crate) mod chain;
pub(crate) mod chaos;
pub(crate) mod check;
pub(crate) mod forge;
pub(crate) mod plan;
pub(crate) mod script;
pub(crate) mod vectors;
mod world;

pub(crate) use script::{Call, CallKind, Reply, Script};
pub(crate) use world::{Operator, Played, World, ruling};
