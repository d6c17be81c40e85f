//! Black-box tests of a server: the real `agon serve` and real `agon join` players.

mod cup;
mod errors;
mod four;
mod kill;
mod python;
mod strangers;
mod support;
mod tls;
