//! House players of Yahtzee, and the exact solution of its solitaire game.
//!
//! The solution is a [`Table`] that [`solve()`] computes: the expected points from every state of a
//! [`Card`] between two turns, if every choice is the best. It does not hold choices within a turn;
//! [`Table::best_keepers`] and [`Table::best_box`] compute them for the current turn. The solver
//! has its own types for cards, dice and rules, reduced to what it needs.
//!
//! Players call [`table()`] (or [`prepare`], which reports more) for the one table that a process
//! has for each rule. [`use_cache`] sets where tables are kept between runs.

mod bots;
mod cache;
mod card;
mod champion;
mod lattice;
mod levels;
mod playing;
mod roll;
mod rule;
mod shared;
mod solve;
mod states;
mod table;
mod turn;
mod widget;
mod win_model;

pub use bots::{Greedy, Optimal};
pub use cache::CacheError;
pub use card::{BadCard, Boxes, Card, UPPER_BONUS, UPPER_GOAL};
pub use champion::Champion;
pub use levels::level;
pub use roll::{Keepers, Roll};
pub use rule::{Rule, UnknownRule};
pub use shared::{Origin, prepare, table, use_cache};
pub use solve::{solve, solve_on};
pub use table::{Best, Table};
pub use turn::TurnValues;
