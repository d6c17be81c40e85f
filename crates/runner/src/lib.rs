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
mod play;
mod program;
mod progress;
mod spec;

pub use connection::{Connection, Ended, Incoming};
pub use evidence::Evidence;
pub use folder::{Folder, FolderError, RunSettings};
pub use host::{Outcome, RunError, run};
pub use progress::{Progress, Stop};
pub use spec::{BadSpec, PlayerSpec, Plays, name_players};
