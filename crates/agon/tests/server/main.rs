//! Black-box tests of a server: the real `agon serve` and real `agon join` players.

mod admin;
mod bench;
mod cup;
mod disk;
mod errors;
mod four;
mod invitations;
mod joining;
mod kill;
mod log;
mod operator;
mod persons;
mod python;
mod stop;
mod strangers;
mod support;
mod tls;
