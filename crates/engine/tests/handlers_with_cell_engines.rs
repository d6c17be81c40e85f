//! The engine's handlers, for an engine whose tournaments other engines own: players, spectators and
//! operators see no difference.

#[path = "handlers/cases.rs"]
mod cases;
mod support;

/// How many other engines own cells.
const CELL_ENGINES: u16 = 2;
