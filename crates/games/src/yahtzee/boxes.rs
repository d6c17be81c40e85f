//! The thirteen boxes of a card, by name and by number.

use super::TURNS;
use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A box of the card.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ScoreBox {
    /// The sum of the ones.
    Aces,
    /// The sum of the twos.
    Twos,
    /// The sum of the threes.
    Threes,
    /// The sum of the fours.
    Fours,
    /// The sum of the fives.
    Fives,
    /// The sum of the sixes.
    Sixes,
    /// The sum of all dice, if three are alike.
    ThreeOfAKind,
    /// The sum of all dice, if four are alike.
    FourOfAKind,
    /// 25 for three alike and two others alike.
    FullHouse,
    /// 30 for four in a row.
    SmallStraight,
    /// 40 for five in a row.
    LargeStraight,
    /// 50 for five alike.
    Yahtzee,
    /// The sum of all dice.
    Chance,
}

impl ScoreBox {
    /// All boxes in the order of the card.
    pub const ALL: [ScoreBox; TURNS] = [
        ScoreBox::Aces,
        ScoreBox::Twos,
        ScoreBox::Threes,
        ScoreBox::Fours,
        ScoreBox::Fives,
        ScoreBox::Sixes,
        ScoreBox::ThreeOfAKind,
        ScoreBox::FourOfAKind,
        ScoreBox::FullHouse,
        ScoreBox::SmallStraight,
        ScoreBox::LargeStraight,
        ScoreBox::Yahtzee,
        ScoreBox::Chance,
    ];

    /// The box's place on the card, from 0.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The box at a place of the card, from 0.
    #[inline]
    pub fn at(index: usize) -> Option<ScoreBox> {
        ScoreBox::ALL.get(index).copied()
    }

    /// Returns whether the box counts towards the upper bonus.
    pub const fn is_upper(self) -> bool {
        (self as u8) < 6
    }

    /// The name on wires.
    pub const fn name(self) -> &'static str {
        match self {
            ScoreBox::Aces => "aces",
            ScoreBox::Twos => "twos",
            ScoreBox::Threes => "threes",
            ScoreBox::Fours => "fours",
            ScoreBox::Fives => "fives",
            ScoreBox::Sixes => "sixes",
            ScoreBox::ThreeOfAKind => "three-of-a-kind",
            ScoreBox::FourOfAKind => "four-of-a-kind",
            ScoreBox::FullHouse => "full-house",
            ScoreBox::SmallStraight => "small-straight",
            ScoreBox::LargeStraight => "large-straight",
            ScoreBox::Yahtzee => "yahtzee",
            ScoreBox::Chance => "chance",
        }
    }
}

impl fmt::Display for ScoreBox {
    /// The name with spaces, for sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name().replace('-', " "))
    }
}

/// The points in each box, `None` where it is empty. In JSON an object with all thirteen names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Boxes(pub [Option<u8>; TURNS]);

impl Boxes {
    /// The points in one box, `None` if it is empty.
    pub fn of(&self, at: ScoreBox) -> Option<u8> {
        self.0[at.index()]
    }
}

impl Serialize for Boxes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(ScoreBox::ALL.iter().map(|at| (at, self.of(*at))))
    }
}

impl<'de> Deserialize<'de> for Boxes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Boxes, D::Error> {
        deserializer.deserialize_map(Named)
    }
}

/// Reads boxes by their names.
struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = Boxes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the boxes of a card")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Boxes, A::Error> {
        let (mut boxes, mut named) = ([None; TURNS], [false; TURNS]);
        while let Some((at, points)) = map.next_entry::<ScoreBox, Option<u8>>()? {
            boxes[at.index()] = points;
            named[at.index()] = true;
        }
        match named.contains(&false) {
            true => Err(A::Error::custom("a card has thirteen boxes")),
            false => Ok(Boxes(boxes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_found_by_place_and_by_name() {
        for (place, at) in ScoreBox::ALL.into_iter().enumerate() {
            assert_eq!((at.index(), ScoreBox::at(place)), (place, Some(at)));
            assert_eq!(at.is_upper(), place < 6);
            assert_eq!(serde_json::to_value(at).unwrap(), at.name());
            assert_eq!(at.to_string(), at.name().replace('-', " "));
        }
        assert_eq!(ScoreBox::at(TURNS), None);
    }

    #[test]
    fn a_card_names_all_its_boxes() {
        let mut boxes = Boxes::default();
        boxes.0[ScoreBox::Chance.index()] = Some(17);
        let mut text = serde_json::to_value(boxes).unwrap();
        assert_eq!(serde_json::from_value::<Boxes>(text.clone()).unwrap(), boxes);
        text.as_object_mut().unwrap().remove("aces");
        let why = serde_json::from_value::<Boxes>(text).unwrap_err().to_string();
        assert_eq!(why, "a card has thirteen boxes");
        let why = serde_json::from_str::<Boxes>("5").unwrap_err().to_string();
        assert!(why.contains("expected the boxes of a card"), "{why}");
    }
}
