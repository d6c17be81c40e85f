//! Black-box tests of a server: the real `agon serve` and real `agon join` players.

mod bench;
mod cup;
mod errors;
mod kill;
mod strangers;
mod support;
mod tls;
