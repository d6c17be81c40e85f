//! House players of Fish, and their searches for programs that embed them.
//!
//! `search` looks a given number of own moves ahead and has the result of plain minimax, as the
//! rules of the course define it. `deep` is the search of the champion: it uses every means to
//! play well, and may change with every version.
//!
//! ```text
//!   bots        greedy, search:D, richest     over   search
//!   champion    champion, level-N, cost       over   deep       placements and moves
//!                                                    ├─ estimate    values without looking ahead
//!                                                    ├─ position    what an act changes
//!                                                    └─ field       what stays: tiles, neighbours
//! ```

mod bots;
mod champion;
mod deep;
mod estimate;
mod field;
mod position;
mod search;

pub use bots::{Greedy, Richest, Searcher};
pub use champion::{AnswerCost, Champion, cost};
pub use search::{best_action, best_action_within};
