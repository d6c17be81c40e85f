//! Fuzz targets: what strangers may send, keep or write, as functions of bytes.
//!
//! A target panics if something is not as it should be, and says otherwise whether anything in the
//! input was taken for good, so that tests see that inputs get that far. Each has a small corpus in
//! `fuzz/corpus`. The tests of this crate run all of it and mutations of it, by numbers that are the
//! same every time; `make fuzz` runs cargo-fuzz, which looks at the code it reaches.
#![forbid(unsafe_code)]

pub mod boards;
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

/// What the tests of `core` forge logs with.
#[path = "../../crates/core/tests/support/forge.rs"]
mod forge;

/// A target: whether anything in the input was taken for good.
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
