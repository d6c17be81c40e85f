//! Black-box tests of a server: the real `agon serve` and real `agon join` players.

mod admin;
mod cup;
mod errors;
mod joining;
mod kill;
mod persons;
mod strangers;
mod support;
