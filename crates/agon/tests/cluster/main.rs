//! Nodes over one database: real `agon serve` processes, a real PostgreSQL, and real players.

mod database;
mod demonstration;
mod logs;
mod nodes;
mod relay;
mod sharing;
#[path = "../server/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the server")]
mod support;
mod takeover;
mod upgrade;
