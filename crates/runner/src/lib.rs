//! Plays whole tournaments between programs on this machine.
//!
//! ```text
//!   host ──── one task a match ──── play ──── connection ──── process group of a player
//!    │                               │
//!    └── tournament stream           └── match stream          (a folder of JSON-lines files)
//! ```
//!
//! The machines of `agon-core` decide; this crate carries: it starts and ends processes, writes
//! requests, reads answers, watches the time, and commits every decision before anybody hears of
//! it. Killed at any moment, it goes on from its folder.
#![forbid(unsafe_code)]

mod connection;
mod evidence;
mod folder;
mod host;
mod house;
mod leftovers;
mod lookup;
mod play;
mod program;
mod progress;
mod sandbox;
mod spec;

pub use connection::{Connection, Ended, Incoming, SECRETS};
pub use evidence::Evidence;
pub use folder::{Folder, FolderError, RunSettings};
pub use host::{Known, Outcome, RunError, run};
pub use lookup::{NotStartable, find_program};
pub use progress::{Progress, Stop};
pub use sandbox::{
    CONFINE, Confined, InsideHidden, Limits, Protection, Sandbox, SandboxError, SandboxSettings,
    confine, protect_memory,
};
pub use spec::{BadSpec, PlayerSpec, Plays, name_players};
