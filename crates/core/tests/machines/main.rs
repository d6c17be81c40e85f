//! The machines of core from outside: whole tournaments in a world of their own, one file a theme.

#[path = "../support/mod.rs"]
mod support;

mod known_fish;
mod match_cheats;
mod match_faults;
mod match_games;
mod properties;
mod removal;
mod tournaments;
mod vectors;
