//! House players of Yahtzee, and the exact solution of its solitaire game.
//!
//! The solution is a [`Table`] that [`solve`] computes: the points to expect from every state of a
//! [`Card`] between two turns, if every choice is the best. Choices within a turn are not in it;
//! [`Table::best_keepers`] and [`Table::best_box`] work them out for the one turn at hand. The
//! solver has types of its own for cards, dice and rules, reduced to what it needs.

mod cache;
mod card;
mod lattice;
mod roll;
mod rule;
mod solve;
mod states;
mod table;
mod widget;

pub use cache::CacheError;
pub use card::{BadCard, Boxes, Card, UPPER_BONUS, UPPER_GOAL};
pub use roll::{Keepers, Roll};
pub use rule::{Rule, UnknownRule};
pub use solve::{solve, solve_on};
pub use table::{Best, Table};
