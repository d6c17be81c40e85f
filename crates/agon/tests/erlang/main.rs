//! Erlang players on nodes of OTP, against the real `agon serve`: `tests/erlang/player.erl` in
//! every vocabulary.

mod absent;
mod cheats;
mod crashes;
mod cups;
mod examples;
mod hangs;
mod logins;
mod nodes;
mod parallel;
mod questions;
mod restarts;
mod silence;
#[path = "../server/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the server")]
mod support;
mod vm;
mod websocket;
