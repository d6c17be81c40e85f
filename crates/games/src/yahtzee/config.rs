//! The settings of an organiser: the source of dice, and the joker rule.

use super::TURNS;
use super::dice::Sequence;
use crate::SetupError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The configuration of a game of Yahtzee.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// One sequence of dice for both seats, or one for each.
    pub dice: DiceSource,
    /// The value of five alike once the Yahtzee box is filled.
    pub rule: Rule,
    /// Fifteen dice for each of the first turns, for both seats, instead of drawn ones; later turns
    /// are drawn. For tests and examples: a configuration is public, so players could read them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_dice: Option<Vec<Vec<u8>>>,
}

/// One sequence of dice for both seats, or one for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiceSource {
    /// One sequence of dice per turn, the same for both seats.
    #[default]
    Duplicate,
    /// Each seat has its own sequences.
    Independent,
}

/// The value of five alike, and where they may go, once the Yahtzee box is filled.
///
/// Under every rule five alike earn a bonus of 100 if the Yahtzee box holds 50, and a joker needs
/// the upper box of its value to be filled. A joker scores full house, small straight and large
/// straight at full value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A joker counts only if the Yahtzee box holds 50. It may go into any empty box.
    #[default]
    Tournament,
    /// The boxed game's official rule: a joker counts whatever the Yahtzee box holds. Five alike
    /// must go into the upper box of their value if it is empty, else into an empty lower box, else
    /// into any empty box.
    ForcedJoker,
    /// The boxed game with a free choice: a joker counts whatever the Yahtzee box holds, and may go
    /// into any empty box.
    FreeJoker,
}

impl Config {
    /// The sequences that are fixed, in order of turns.
    pub(super) fn fixed_sequences(&self) -> Result<Vec<Sequence>, SetupError> {
        let turns = self.fixed_dice.as_deref().unwrap_or_default();
        if turns.len() > TURNS {
            let count = turns.len();
            return Err(SetupError::Config(format!("fixed_dice for {count} turns of {TURNS}")));
        }
        turns
            .iter()
            .map(|dice| {
                Sequence::from_dice(dice).ok_or_else(|| {
                    SetupError::Config(format!("fixed_dice are 15 of 1 to 6, not {dice:?}"))
                })
            })
            .collect()
    }
}
