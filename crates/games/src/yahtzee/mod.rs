//! The rules of tournament Yahtzee: two players, thirteen turns, the same dice for both.
//!
//! In a turn a player rolls five dice, may re-roll any of them twice, and writes the result into
//! one empty box of its card. Both players play a turn at the same time without seeing each other;
//! when both have scored, the turn is laid open and the next begins.
//!
//! # Where the dice come from
//! A turn has a sequence of fifteen dice: five for the first roll, and as many as a player can
//! re-roll in two attempts. The sequence of turn `t` (0 to 12) is made of one number `w` below
//! 6^15, drawn by [`Luck`](crate::Luck) at index `t`. Die `j` of the sequence (0 to 14) is
//! `1 + floor(w / 6^j) mod 6`. Dice are used in that order. A re-rolled die is replaced where it
//! lies, from left to right; a die that is not needed in a turn is never used.
//!
//! The label of the stream is `dice` for duplicate dice, where both seats have the same sequences,
//! and `dice.0` and `dice.1`, by seat, for independent dice.
//!
//! # How the modules divide it
//! `dice` has the sequences and what a player kept, `tables` what a hand is worth before jokers,
//! `card` jokers, bonuses and totals, `state` whose turn it is, and `game` puts them behind the
//! trait. `answer` and `view` are what crosses a wire, `write` writes views quickly, `text` is for
//! people.

mod answer;
mod boxes;
mod card;
mod config;
mod dice;
mod game;
mod speech;
mod state;
mod tables;
mod text;
mod view;
mod write;

pub use answer::{Answer, Keep, Places, Question, Score, Values};
pub use boxes::{Boxes, ScoreBox};
pub use config::{Config, DiceSource, Rule};
pub use dice::Dice;
pub use state::Yahtzee;
pub use view::{CardView, Drawn, Play, Scored, View};

/// Turns in a game: one per box.
pub const TURNS: usize = 13;
