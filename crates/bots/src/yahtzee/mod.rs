//! House players of Yahtzee, and the exact solution of its solitaire game.
//!
//! The solution is a [`Table`] that [`solve()`] computes: the points to expect from every state of
//! a [`Card`] between two turns, if every choice is the best. Choices within a turn are not in it;
//! [`Table::best_keepers`] and [`Table::best_box`] work them out for the one turn at hand. The
//! solver has types of its own for cards, dice and rules, reduced to what it needs.
//!
//! Programs that play ask [`table()`] (or [`prepare`], which tells more) for the one table that a
//! process has for each rule; [`use_cache`] says where tables are kept between runs.

mod bots;
mod cache;
mod card;
mod lattice;
mod roll;
mod rule;
mod shared;
mod solve;
mod states;
mod table;
mod widget;

pub use bots::{Greedy, Optimal};
pub use cache::CacheError;
pub use card::{BadCard, Boxes, Card, UPPER_BONUS, UPPER_GOAL};
pub use roll::{Keepers, Roll};
pub use rule::{Rule, UnknownRule};
pub use shared::{Origin, prepare, table, use_cache};
pub use solve::{solve, solve_on};
pub use table::{Best, Table};
