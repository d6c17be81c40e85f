//! The machines of core from outside: whole tournaments in a world of their own, one file a theme.

#[path = "../support/mod.rs"]
mod support;

mod agreement;
mod chain;
mod departures;
mod duplicates;
mod equal;
mod evidence;
mod forgeries;
mod formats;
mod interrupted;
mod known_fish;
mod luck;
mod match_cheats;
mod match_faults;
mod match_games;
mod notices;
mod operators;
mod pebbles;
mod plans;
mod properties;
mod removal;
mod swiss;
mod tournaments;
mod vectors;
