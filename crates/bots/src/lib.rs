//! House players: programs that come with Agon and play its games.
//!
//! A house player sees a question and a view, as every player does. So the same code plays inside
//! the server's process and, over a wire, on another server. House players have no memory and no
//! entropy: the same request gets the same answer, even after a crash.
#![forbid(unsafe_code)]

mod house;
mod random;

pub mod fish;
pub mod trains;
pub mod yahtzee;

pub use agon_stats::SplitMix64;
pub use house::{Ask, Bot, HouseError, HousePlayer, Houses, LEVELS};
pub use random::{Dice, Random};
