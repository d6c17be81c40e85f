//! The four colours, and cards counted by colour.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A colour of cards and of connections, in code-point order of the names.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// `"blue"`
    Blue,
    /// `"green"`
    Green,
    /// `"red"`
    Red,
    /// `"white"`
    White,
}

impl Color {
    /// All colours, in code-point order of their names.
    pub const ALL: [Color; 4] = [Color::Blue, Color::Green, Color::Red, Color::White];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Color::Blue => "blue",
            Color::Green => "green",
            Color::Red => "red",
            Color::White => "white",
        }
    }

    /// The colour called `name`.
    pub fn from_name(name: &str) -> Option<Color> {
        Color::ALL.into_iter().find(|color| color.name() == name)
    }

    /// The colour's place in [`Color::ALL`].
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How many cards of each colour somebody holds. `{"red":2}` on the wire; a colour left out is 0.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hand {
    /// Blue cards.
    pub blue: u8,
    /// Green cards.
    pub green: u8,
    /// Red cards.
    pub red: u8,
    /// White cards.
    pub white: u8,
}

impl Hand {
    /// The hand with these counts, in the order of [`Color::ALL`].
    pub fn from_counts([blue, green, red, white]: [u8; 4]) -> Hand {
        Hand { blue, green, red, white }
    }

    /// The counts in the order of [`Color::ALL`].
    pub fn counts(&self) -> [u8; 4] {
        [self.blue, self.green, self.red, self.white]
    }

    /// How many cards of one colour.
    pub fn of(&self, color: Color) -> u8 {
        self.counts()[color.index()]
    }

    /// How many cards in all.
    pub fn total(&self) -> u32 {
        self.counts().into_iter().map(u32::from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_wire_and_in_order() {
        for (at, color) in Color::ALL.into_iter().enumerate() {
            assert_eq!(color.index(), at);
            assert_eq!(Color::from_name(color.name()), Some(color));
            assert_eq!(serde_json::to_value(color).expect("JSON"), color.name());
        }
        assert!(Color::ALL.is_sorted_by_key(|color| color.name()));
        assert_eq!(Color::from_name("Red"), None);
    }
}
