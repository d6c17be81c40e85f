//! The engine's handlers, for an engine that owns all cells itself.

#[path = "handlers/cases.rs"]
mod cases;
mod support;

/// How many other engines own cells.
const CELL_ENGINES: u16 = 0;
