//! House players of Fish: a search of given depth, the greedy player that looks one move ahead, and
//! the search itself for programs that embed it.

mod bots;
mod search;

pub use bots::{Greedy, Searcher};
pub use search::{best_action, best_action_within};
