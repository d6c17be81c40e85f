//! Fish: penguins on hexagonal tiles of ice, for two to four players.
//!
//! Players place their penguins in turn, then slide them in straight lines; the tile a penguin
//! leaves melts, and its fish count for the player. A player who cannot move is skipped; when no
//! player can move, the most fish win.
//!
//! - [`Fish`] is the game as the referee runs it ([`crate::Game`]), set up from a [`Config`];
//! - [`Question`], [`Answer`] and [`View`] are its messages;
//! - [`State`] is a position as players outside Agon write it, with the usual questions about one;
//! - [`Ice`] and [`Shape`] are the board underneath, fast enough for programs that search.

mod bits;
mod board;
mod check;
mod config;
mod game;
mod hex;
mod ice;
mod messages;
mod play;
mod small;
mod speech;
mod state;
mod text;
mod write;

pub use board::{Board, FISH_MAX};
pub use config::Config;
pub use game::Fish;
pub use hex::{Action, DIRECTIONS, Position, Shape, TILES_MAX, Tile};
pub use ice::{Ice, TileSet};
pub use messages::{Answer, Color, Drawn, Phase, PlayerView, Question, View};
pub use state::{Player, State};

/// The most players of one game.
pub(crate) const SEATS_MAX: usize = 4;

/// How many penguins each of `seats` players has.
pub fn penguins_each(seats: usize) -> usize {
    6usize.saturating_sub(seats)
}
