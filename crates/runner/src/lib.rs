//! The host of tournaments between programs on this machine.
//!
//! ```text
//!   host ── driver ──▶ engine          decides, as on a server
//!             │  ├──── programs ─────── local_program ── process group of a player
//!             │  ├──── house            house players
//!             │  └──── match_threads    matches between house players
//!             └─────── log              a folder of JSON-lines files
//! ```
//!
//! The engine of `agon-engine` decides; this crate carries out. It starts and ends processes,
//! writes requests, reads answers, keeps the time, and commits every decision before a player
//! learns of it. A run that was killed at any moment continues from its folder.
#![forbid(unsafe_code)]

mod clock;
pub mod doctor;
mod driver;
mod evidence;
mod folder;
mod host;
mod house;
mod leftovers;
mod local_program;
mod lookup;
mod match_threads;
mod ports;
mod program;
mod programs;
mod progress;
mod sandbox;
mod spec;

pub use evidence::StderrTail;
pub use folder::{Folder, FolderError, RunSettings};
pub use host::{Known, RunError, RunOutcome, run};
pub use local_program::{Ended, LocalProgram, Output, ProgramOutput, Stderr};
pub use lookup::{NotStartable, find_program};
pub use progress::{Progress, Stop};
pub use sandbox::{
    CONFINE, InsideHidden, Protection, Sandbox, SandboxError, SandboxLimits, SandboxSettings,
    confine, protect_memory,
};
pub use spec::{BadSpec, PlayerSpec, Plays, name_players};
