//! The page in real browsers: headless Chromium, and Firefox for the journeys in `firefox`, against
//! the real binary. Each test has a server, a folder and a browser of its own, and fails on any error
//! in the browser's console.

mod accounts;
mod boards;
mod browser;
mod checks;
mod firefox;
mod formats;
mod live;
mod look;
mod luck;
mod mixed;
mod operator;
mod organisers;
mod playing;
mod presence;
mod remote;
mod replaying;
mod screenshots;
mod showing;
mod start;
#[expect(dead_code, reason = "the tests of the server use the rest")]
#[path = "../server/support.rs"]
mod support;
mod transport;
mod views;
#[expect(dead_code, reason = "the tests of Erlang players use the rest")]
#[path = "../erlang/vm.rs"]
mod vm;
mod watching;
mod wording;
mod world;
