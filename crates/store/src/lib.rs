//! Storage of the log.
//!
//! The log is a set of streams; a stream is a sequence of events, each one line of JSON. The only
//! way to change it is to [`Append`] the events of one decision. That succeeds only if the stream
//! has the version that the writer expects. This crate makes that comparison, stores a decision
//! whole or not at all, and makes it durable before it is acknowledged. It does not interpret
//! events: of a line it reads only `stream`, `seq` and `more`.
//!
//! ```text
//!             submit(Append, done)                       load, streams
//!                     │                                        │
//!   MemoryLog         ▼ a map behind a mutex                   │     tests, simulation
//!   FileLog           ▼ one write() on DIR/<stream>.jsonl      │     agon run, replay, verify
//!   SqliteLog         ▼ one transaction for all who wait       ▼     agon serve
//!   PostgresLog       ▼ one statement for all who wait         ▼     agon serve, many nodes
//! ```
//!
//! All four are held to one suite of tests, `tests/log/conformance.rs`.
#![forbid(unsafe_code)]

mod append;
mod disk;
mod error;
mod file;
mod fold;
mod group;
mod inspect;
mod line;
mod lock;
mod log;
mod memory;
mod meter;
mod name;
mod postgres;
mod queue;
mod snapshot;
mod sqlite;
mod standing;

pub use append::{Append, Done, DoneAll};
pub use error::{AppendError, LogError};
pub use file::{FileLog, FileStream, Repair, Sync, Torn, read_file, read_stream};
pub use fold::fold_together;
pub use inspect::{Damage, Hold, Inspection, Inspector};
pub use log::{Lease, Log, ReaderShare, StreamPart};
pub use memory::MemoryLog;
pub use meter::{Histogram, Meter};
pub use name::{STREAM_NAME_CHARS_MAX, check_stream_name};
pub use postgres::{CellOf, CellRow, Claim, Node, NodeRow, PostgresLog, without_password};
pub use snapshot::{Snapshot, seal};
pub use sqlite::{Backup, SqliteLog};
pub use standing::{BEATS_PER_LEASE, Doubt, LeaseCandidate, LogStanding, Turn, patience};
