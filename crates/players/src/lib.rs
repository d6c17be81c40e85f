//! House players: programs that come with Agon and play its games. With the feature `client`, also
//! what any Rust program needs to play on a server: [`client`].
//!
//! A house player sees what any player sees, a question and a view, and nothing else; so the same
//! code plays inside the server's process and, over a wire, against somebody else's server. It has
//! no memory and no entropy: the same request gets the same answer, today and after a crash.
#![forbid(unsafe_code)]

mod house;
mod random;

#[cfg(feature = "client")]
pub mod client;
pub mod fish;
pub mod trains;
pub mod yahtzee;

pub use house::{Ask, Bot, HouseError, HousePlayer, Houses};
pub use random::{Dice, Random};
