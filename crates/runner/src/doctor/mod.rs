//! The exam behind `agon doctor`: it sends a program everything that a tournament may send,
//! restarts it again and again, and reports what would fail in a tournament.
//!
//! ```text
//!   program ─┬─ exam/ ──── session ──┬── a LocalProgram ── a process and its pipes
//!   server  ─┘    │                  └── socket ─────────────── whoever connects
//!                 └── positions ──── table (a match of core, others play at random) ── shapes
//! ```
//!
//! It judges by what a tournament would do: what costs something fails, what is merely odd is a
//! note.

mod candidate;
mod exam;
mod host;
mod positions;
mod program;
mod report;
mod server;
mod session;
mod settings;
mod shapes;
mod socket;
mod table;

pub use program::examine_program;
pub use report::{Exam, ExamReport, Failure, Verdict};
pub use server::examine_guest;
pub use settings::{ExamSettings, ExamStep, GameExam, SettingsError};
