//! Questions to a seat and its answers, in Rust and in JSON.
//!
//! Questions: `{"ask":"keep","roll":1,"dice":[2,3,6,4,6]}`, `{"ask":"score","dice":[2,3,5,4,1]}`.
//! Answers: `{"keep":[true,true,false,true,false]}` by place, `{"keep":[2,3,4]}` by value (an empty
//! list keeps none), `{"score":"large-straight"}`. A score may come with the dice and the points
//! the player believes in, `{"score":"chance","dice":[2,3,5,4,1],"points":15}`; a game refuses it
//! if it knows better.

use super::{Dice, ScoreBox};
use schemars::JsonSchema;
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A question to a seat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// Which dice to keep. Keeping all five after the first roll goes straight to scoring.
    Keep {
        /// 1 after the first roll of a turn, 2 after the second.
        roll: u8,
        /// The dice on the table.
        dice: Dice,
    },
    /// Which box to fill.
    Score {
        /// The dice on the table.
        dice: Dice,
    },
}

/// A seat's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Keep these dice and roll the others.
    Keep(Keep),
    /// Fill this box.
    Score(Score),
    /// Fill a box that no card has: an attempt to cheat, so it has to be an answer.
    NoSuchBox,
}

/// Dice to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// By where they lie.
    Places(Places),
    /// By what they show, in any order. Of dice that show the same, the leftmost are kept.
    Values(Values),
}

/// A box to fill, and optionally what the player believes about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Score {
    /// The box.
    pub at: ScoreBox,
    /// The dice on the table, in any order, as the player believes.
    pub dice: Option<Values>,
    /// The points this box gets, as the player believes. Neither the Yahtzee bonus nor the upper
    /// bonus counts.
    pub points: Option<i32>,
}

impl Answer {
    /// Keep the dice at these places.
    #[inline]
    pub fn keep_places(keep: [bool; 5]) -> Answer {
        Answer::Keep(Keep::Places(Places::from(keep)))
    }

    /// Fill a box.
    #[inline]
    pub fn score(at: ScoreBox) -> Answer {
        Answer::Score(Score { at, dice: None, points: None })
    }
}

impl Answer {
    /// Reads five flags, or the name of a box alone, without spaces.
    pub(super) fn usual(text: &str) -> Option<Answer> {
        if let Some(name) = text.strip_prefix(r#"{"score":""#) {
            let name = name.strip_suffix(r#""}"#)?;
            return ScoreBox::ALL.into_iter().find(|at| at.name() == name).map(Answer::score);
        }
        let mut rest = text.strip_prefix(r#"{"keep":["#)?;
        let mut flags = [false; 5];
        for (at, flag) in flags.iter_mut().enumerate() {
            if at > 0 {
                rest = rest.strip_prefix(',')?;
            }
            *flag = rest.starts_with("true");
            rest = rest.strip_prefix(if *flag { "true" } else { "false" })?;
        }
        (rest == "]}").then(|| Answer::keep_places(flags))
    }
}

/// A set of places among the five dice; bit 0 is the leftmost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Places(u8);

impl Places {
    /// No place.
    pub const NONE: Places = Places(0);
    /// Every place.
    pub const ALL: Places = Places(31);

    /// The five lowest bits of `bits`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Places {
        Places(bits & 31)
    }

    /// The places as bits.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns whether the set has place `at`, from 0.
    #[inline]
    pub const fn has(self, at: usize) -> bool {
        self.0 >> at & 1 != 0
    }

    /// For each place whether it is in the set.
    pub fn flags(self) -> [bool; 5] {
        std::array::from_fn(|at| self.has(at))
    }

    /// The dice of `values`, from the left, among `dice`; `None` if there are not that many.
    pub fn of_values(values: &[u8], dice: Dice) -> Option<Places> {
        let mut kept = Places::NONE;
        for value in values {
            let at = (0..5).find(|at| !kept.has(*at) && dice[*at] == *value)?;
            kept.0 |= 1 << at;
        }
        Some(kept)
    }
}

impl From<[bool; 5]> for Places {
    fn from(flags: [bool; 5]) -> Places {
        Places(flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag)))
    }
}

/// A short list of dice as a player wrote it: nothing says that they are five, or dice at all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Values {
    count: u8,
    values: [u8; Values::CAPACITY],
}

impl Values {
    /// The longest list that is taken for dice.
    pub const CAPACITY: usize = 15;

    /// A list; `None` if it is longer than [`Values::CAPACITY`].
    pub fn new(list: &[u8]) -> Option<Values> {
        let mut values = [0; Values::CAPACITY];
        values.get_mut(..list.len())?.copy_from_slice(list);
        Some(Values { count: list.len() as u8, values })
    }

    /// The list.
    pub fn as_slice(&self) -> &[u8] {
        &self.values[..usize::from(self.count)]
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        // An impossible value becomes a die that shows nothing, and extra dice are cut off. Both
        // are claims for the rules to reject, not syntax errors.
        let list = Vec::<i64>::deserialize(deserializer)?;
        let dice = list.iter().map(|value| u8::try_from(*value).unwrap_or(0));
        let dice: Vec<u8> = dice.take(Values::CAPACITY).collect();
        Ok(Values::new(&dice).expect("no more than fit"))
    }
}

impl Serialize for Keep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Keep::Places(places) => places.flags().serialize(serializer),
            Keep::Values(values) => values.serialize(serializer),
        }
    }
}

/// The forms of a list of keepers; `Flags` comes first, because an empty list must be one of
/// values.
#[derive(Deserialize)]
#[serde(untagged, expecting = "keep lists five booleans, or the values of dice")]
enum KeepForm {
    Flags([bool; 5]),
    Values(Values),
}

impl<'de> Deserialize<'de> for Keep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keep, D::Error> {
        Ok(match KeepForm::deserialize(deserializer)? {
            KeepForm::Flags(flags) => Keep::Places(Places::from(flags)),
            KeepForm::Values(values) => Keep::Values(values),
        })
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Answer::Keep(keep) => map.serialize_entry("keep", keep)?,
            Answer::Score(score) => {
                map.serialize_entry("score", &score.at)?;
                if let Some(dice) = &score.dice {
                    map.serialize_entry("dice", dice)?;
                }
                if let Some(points) = &score.points {
                    map.serialize_entry("points", points)?;
                }
            }
            Answer::NoSuchBox => map.serialize_entry("score", "no-such-box")?,
        }
        map.end()
    }
}

/// Every field an answer may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerForm<'a> {
    keep: Option<Keep>,
    #[serde(borrow)]
    score: Option<Cow<'a, str>>,
    dice: Option<Values>,
    points: Option<i64>,
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Answer, D::Error> {
        match AnswerForm::deserialize(deserializer)? {
            AnswerForm { keep: Some(keep), score: None, dice: None, points: None } => {
                Ok(Answer::Keep(keep))
            }
            AnswerForm { keep: None, score: Some(name), dice, points } => {
                let points = points.map(|points| i32::try_from(points).unwrap_or(i32::MAX));
                let known = ScoreBox::ALL.into_iter().find(|known| known.name() == name);
                Ok(known.map_or(Answer::NoSuchBox, |at| Answer::Score(Score { at, dice, points })))
            }
            _ => Err(D::Error::custom("an answer has either keep, or score with dice and points")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;

    fn read(text: &str) -> Result<Answer, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn usual_spelling_means_the_same_as_any_json() {
        let keeps = (0..32).map(|bits| Answer::Keep(Keep::Places(Places::from_bits(bits))));
        for answer in keeps.chain(ScoreBox::ALL.map(Answer::score)) {
            let text = serde_json::to_string(&answer).unwrap();
            assert_eq!(Answer::usual(&text), Some(answer), "{text}");
            // Every text that differs by one character is read as JSON, or not at all.
            for at in 0..text.len() {
                for other in ["", " ", "}", "0", ","] {
                    let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                    if let Some(usual) = Answer::usual(&changed) {
                        assert_eq!(read(&changed), Ok(usual), "{changed}");
                    }
                }
            }
        }
        for unusual in [r#"{"keep":[]}"#, r#"{"score":"no-such-box"}"#, r#"{"keep":[1,2]}"#] {
            assert_eq!(Answer::usual(unusual), None);
        }
    }

    #[test]
    fn answers_are_written_as_they_are_read() {
        for text in [
            r#"{"keep":[true,false,true,false,false]}"#,
            r#"{"keep":[6,6]}"#,
            r#"{"keep":[]}"#,
            r#"{"score":"full-house"}"#,
            r#"{"score":"aces","dice":[1,2,3,4,5],"points":1}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
        let nothing = read(r#"{"score":"nines","points":9}"#).unwrap();
        assert_eq!(nothing, Answer::NoSuchBox);
        assert_eq!(serde_json::to_string(&nothing).unwrap(), r#"{"score":"no-such-box"}"#);
        assert_eq!(Answer::schema_name(), "Answer");
    }

    #[test]
    fn an_answer_is_one_thing_in_a_known_form() {
        let either = "an answer has either keep, or score with dice and points";
        for text in [r#"{}"#, r#"{"keep":[],"score":"aces"}"#, r#"{"keep":[],"points":1}"#] {
            assert!(read(text).unwrap_err().starts_with(either), "{text}");
        }
        assert!(read(r#"{"keep":[],"dice":[1]}"#).unwrap_err().starts_with(either));
        let lists = "keep lists five booleans, or the values of dice";
        assert!(read(r#"{"keep":[true]}"#).unwrap_err().starts_with(lists));
        assert!(read(r#"{"roll":[]}"#).is_err());
    }

    /// The rules reject claims that no dice can meet.
    #[test]
    fn claims_beyond_all_bounds_are_read() {
        let Answer::Score(score) =
            read(r#"{"score":"aces","dice":[1,300,-1],"points":99999999999}"#).unwrap()
        else {
            panic!("a score")
        };
        assert_eq!((score.dice, score.points), (Values::new(&[1, 0, 0]), Some(i32::MAX)));
        let long = format!(r#"{{"keep":[{}1]}}"#, "1,".repeat(20));
        let Ok(Answer::Keep(Keep::Values(values))) = read(&long) else { panic!("values") };
        assert_eq!(values.as_slice(), [1; Values::CAPACITY]);
        assert_eq!(format!("{values:?}"), format!("{:?}", [1; 15]));
        assert!(Values::new(&[1; 15]).is_some() && Values::new(&[1; 16]).is_none());
    }

    #[test]
    fn values_are_kept_from_the_left() {
        let of = |values: &[u8]| Places::of_values(values, [2, 6, 2, 4, 2]).map(Places::flags);
        assert_eq!(of(&[]), Some([false; 5]));
        assert_eq!(of(&[2]), Some([true, false, false, false, false]));
        assert_eq!(of(&[4, 2, 2]), Some([true, false, true, true, false]));
        assert_eq!(of(&[2, 2, 2, 4, 6]), Some([true; 5]));
        assert_eq!((of(&[6, 6]), of(&[0]), of(&[2; 6])), (None, None, None));
        for bits in 0..32 {
            let flags: [bool; 5] = std::array::from_fn(|at| bits >> at & 1 == 1);
            let places = Places::from(flags);
            assert_eq!((places.flags(), places.bits()), (flags, bits));
            assert_eq!(places, Places::from_bits(bits));
            assert!((0..5).all(|at| places.has(at) == flags[at]));
        }
    }
}
