//! Fuzz targets: functions over bytes that strangers may send, store or write.
//!
//! A target panics if it finds a bug. Otherwise it returns whether anything in the input was valid,
//! so that tests see that inputs get that far. Each target has a small corpus in `fuzz/corpus`. The
//! tests of this crate run all of it and reproducible mutations of it; `make fuzz` runs cargo-fuzz,
//! which is guided by code coverage.
#![forbid(unsafe_code)]

pub mod boards;
pub mod bus;
pub mod campaign;
pub mod config;
pub mod erlang;
pub mod http;
pub mod input;
pub mod lobby;
pub mod logs;
pub mod mutations;
pub mod native;
pub mod peers;
pub mod rules;
pub mod verify;
pub mod websocket;

/// The log forgeries of `core`'s tests.
#[path = "../../crates/core/tests/support/forge.rs"]
mod forge;

/// A target returns whether anything in the input was valid.
pub type Target = fn(&[u8]) -> bool;

/// All targets, by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("native-to-server", native::to_server),
    ("native-to-player", native::to_player),
    ("websocket", websocket::frames),
    ("http-events", http::events),
    ("values", peers::values),
    ("sign-up", peers::sign_up),
    ("fish-wire", peers::fish_reply),
    ("trains-wire", peers::trains_reply),
    ("erlang-term", erlang::term),
    ("erlang-handshake", erlang::handshake),
    ("erlang-epmd", erlang::portmapper),
    ("erlang-frames", erlang::frames),
    ("erlang-session", erlang::session),
    ("bus-frames", bus::frames),
    ("bus-packet", bus::packet),
    ("bus-relay", bus::relay_packet),
    ("bus-nats", bus::nats),
    ("log-line", logs::line),
    ("log-file", logs::file),
    ("names", logs::names),
    ("announcement", lobby::announcement),
    ("snapshot", lobby::snapshot),
    ("game-config", boards::configs),
    ("trains-map", boards::maps),
    ("game-view", boards::views),
    ("rules-yahtzee", rules::of_yahtzee),
    ("rules-fish", rules::of_fish),
    ("rules-trains", rules::of_trains),
    ("config-serve", config::of_server),
    ("config-run", config::of_run),
    ("verify", verify::verifies),
];

/// The target of a name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no fuzz target {name}")).1
}
