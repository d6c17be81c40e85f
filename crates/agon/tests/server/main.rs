//! Black-box tests of a server: the real `agon serve` and real `agon join` players.

mod admin;
mod cup;
mod disk;
mod errors;
mod four;
mod garbage;
mod hidden;
mod joining;
mod kill;
mod log;
mod malformed;
mod observed;
mod operator;
mod persons;
mod python;
mod rejoin;
mod rights;
mod stop;
mod strangers;
mod support;
mod tls;
mod wire;
