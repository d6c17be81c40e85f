//! Black-box tests: the real `agon` binary with real players, as people use it.

mod analyse;
mod cli;
mod doctor;
mod document;
mod hostile;
mod kill;
mod logs;
mod misbehaviour;
mod seeds;
mod settings;
mod show;
mod signals;
mod sizes;
mod statistics;
mod support;
mod twins;
mod verifying;
