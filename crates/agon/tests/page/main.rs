//! The page in a real browser: headless Chromium against the real binary. Each test has a server,
//! a folder and a browser of its own, and fails on any error in the browser's console.

mod accounts;
mod boards;
mod browser;
mod cdp;
mod checks;
mod live;
mod mixed;
mod operator;
mod playing;
mod presence;
mod replaying;
mod screenshots;
mod showing;
mod start;
#[expect(dead_code, reason = "the tests of the server use the rest")]
#[path = "../server/support.rs"]
mod support;
mod views;
#[expect(dead_code, reason = "the tests of Erlang players use the rest")]
#[path = "../erlang/vm.rs"]
mod vm;
mod watching;
mod world;
