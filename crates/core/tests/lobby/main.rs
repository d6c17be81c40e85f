//! The lobby from outside: lists of commands under virtual time, one file a theme.

#[path = "../support/cases.rs"]
mod cases;

mod absent;
mod accounts;
mod asked;
mod bench;
mod blacklist;
mod draws;
mod invitations;
mod line;
mod luck;
mod operators;
mod properties;
mod queues;
mod reach;
mod results;
mod series;
mod sign_ups;
mod tournaments;
