//! The score of a roll in a box, under three rules. They differ in what a *joker* may do: five
//! alike when the Yahtzee box is filled already.

use super::card::{Boxes, upper_box};
use agon_games::yahtzee::ScoreBox;
use std::fmt;
use std::str::FromStr;

/// The bonus of every Yahtzee after a first one that scored 50.
const YAHTZEE_BONUS: u16 = 100;

/// The rules for jokers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rule {
    /// A joker only after 50 in the Yahtzee box, if the upper box of its value is filled; free
    /// choice of box.
    #[default]
    Tournament,
    /// The boxed game: also after 0, and the player must fill the upper box of its value, else a
    /// lower box, else another upper box with 0.
    ForcedJoker,
    /// Also after 0, if the upper box of its value is filled; free choice of box.
    FreeJoker,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 3] = [Rule::Tournament, Rule::ForcedJoker, Rule::FreeJoker];

    /// The rule's name on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Tournament => "tournament",
            Rule::ForcedJoker => "forced-joker",
            Rule::FreeJoker => "free-joker",
        }
    }

    /// The points for dice with these `counts` of 1 … 6 in the open box `at`, with the Yahtzee
    /// bonus and without the upper bonus; `None` if the rule forbids the box.
    pub fn points(self, boxes: Boxes, at: ScoreBox, counts: &[u8; 6]) -> Option<u16> {
        let Some(face) = five_alike(counts) else { return Some(plain(at, counts)) };
        let bonus = if boxes.yahtzee_is_50() { YAHTZEE_BONUS } else { 0 };
        if self == Rule::ForcedJoker && !forced_allows(boxes, at, face) {
            return None;
        }
        let yahtzee_allows = match self {
            Rule::Tournament => boxes.yahtzee_is_50(),
            Rule::ForcedJoker | Rule::FreeJoker => !boxes.is_open(ScoreBox::Yahtzee),
        };
        let joker = yahtzee_allows && !boxes.is_open(upper_box(face));
        let score = match at {
            ScoreBox::FullHouse if joker => 25,
            ScoreBox::SmallStraight if joker => 30,
            ScoreBox::LargeStraight if joker => 40,
            _ => plain(at, counts),
        };
        Some(score + bonus)
    }
}

impl From<agon_games::yahtzee::Rule> for Rule {
    fn from(rule: agon_games::yahtzee::Rule) -> Rule {
        match rule {
            agon_games::yahtzee::Rule::Tournament => Rule::Tournament,
            agon_games::yahtzee::Rule::ForcedJoker => Rule::ForcedJoker,
            agon_games::yahtzee::Rule::FreeJoker => Rule::FreeJoker,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of no rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no rule {0:?}; there are: tournament, forced-joker, free-joker")]
pub struct UnknownRule(String);

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Rule, UnknownRule> {
        let of_that_name = Rule::ALL.into_iter().find(|rule| rule.name() == name);
        of_that_name.ok_or_else(|| UnknownRule(name.into()))
    }
}

/// Returns whether five dice of `face` may go into `at` under the forced-joker rule.
fn forced_allows(boxes: Boxes, at: ScoreBox, face: u8) -> bool {
    if boxes.is_open(ScoreBox::Yahtzee) {
        true
    } else if boxes.is_open(upper_box(face)) {
        at == upper_box(face)
    } else {
        !at.is_upper() || boxes.open().all(|open| open.is_upper())
    }
}

/// The face that all five dice show; `None` if they differ.
pub(super) fn five_alike(counts: &[u8; 6]) -> Option<u8> {
    counts.iter().position(|count| *count == 5).map(|index| index as u8 + 1)
}

/// The score without bonuses and jokers. Five alike are not a full house.
pub(super) fn plain(at: ScoreBox, counts: &[u8; 6]) -> u16 {
    let sum = || (1..).zip(counts).map(|(face, count)| face * u16::from(*count)).sum();
    let most = counts.iter().copied().max().unwrap_or(0);
    let has = |wanted: u8| counts.contains(&wanted);
    let run =
        |length: usize| counts.windows(length).any(|window| window.iter().all(|count| *count > 0));
    let if_so = |met: bool, score: u16| if met { score } else { 0 };
    match at {
        ScoreBox::ThreeOfAKind => if_so(most >= 3, sum()),
        ScoreBox::FourOfAKind => if_so(most >= 4, sum()),
        ScoreBox::FullHouse => if_so(has(3) && has(2), 25),
        ScoreBox::SmallStraight => if_so(run(4), 30),
        ScoreBox::LargeStraight => if_so(run(5), 40),
        ScoreBox::Yahtzee => if_so(most == 5, 50),
        ScoreBox::Chance => sum(),
        upper => {
            let index = upper.index();
            (index as u16 + 1) * u16::from(counts[index])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yahtzee::{Card, Roll};

    fn boxes(filled: &[(ScoreBox, u16)]) -> Boxes {
        let mut scores = [None; 13];
        filled.iter().for_each(|(at, score)| scores[at.index()] = Some(*score));
        Card::new(&scores).unwrap().boxes()
    }

    fn counts(faces: [u8; 5]) -> [u8; 6] {
        Roll::new(faces).unwrap().counts()
    }

    #[test]
    fn plain_scores_are_those_of_the_rules() {
        let score = |at, faces| plain(at, &counts(faces));
        assert_eq!(score(ScoreBox::Twos, [2, 2, 6, 2, 1]), 6);
        assert_eq!(score(ScoreBox::ThreeOfAKind, [1, 6, 6, 4, 6]), 23);
        assert_eq!(score(ScoreBox::FourOfAKind, [1, 6, 6, 4, 6]), 0);
        assert_eq!(score(ScoreBox::FullHouse, [3, 5, 3, 5, 3]), 25);
        assert_eq!(score(ScoreBox::FullHouse, [3, 3, 3, 3, 3]), 0);
        assert_eq!(score(ScoreBox::SmallStraight, [6, 3, 4, 5, 1]), 30);
        assert_eq!(score(ScoreBox::LargeStraight, [2, 3, 5, 4, 1]), 40);
        assert_eq!(score(ScoreBox::LargeStraight, [2, 3, 5, 4, 2]), 0);
        assert_eq!(score(ScoreBox::Yahtzee, [4; 5]), 50);
        assert_eq!(score(ScoreBox::Chance, [1, 2, 3, 4, 6]), 16);
    }

    #[test]
    fn tournament_jokers_want_fifty_and_the_upper_box_filled() {
        let points =
            |filled: &[_], at| Rule::Tournament.points(boxes(filled), at, &counts([4; 5])).unwrap();
        let (fifty, nothing) = ((ScoreBox::Yahtzee, 50), (ScoreBox::Yahtzee, 0));
        let fours = (ScoreBox::Fours, 0);
        assert_eq!(points(&[fifty, fours], ScoreBox::LargeStraight), 140);
        assert_eq!(points(&[fifty], ScoreBox::LargeStraight), 100);
        assert_eq!(points(&[nothing, fours], ScoreBox::LargeStraight), 0);
        assert_eq!(points(&[fours], ScoreBox::FullHouse), 0);
        assert_eq!(points(&[fifty], ScoreBox::Fours), 120);
        assert_eq!(points(&[fifty], ScoreBox::Aces), 100);
    }

    #[test]
    fn boxed_game_allows_jokers_after_a_zero() {
        let after = boxes(&[(ScoreBox::Yahtzee, 0), (ScoreBox::Fours, 0)]);
        for rule in [Rule::ForcedJoker, Rule::FreeJoker] {
            let points = rule.points(after, ScoreBox::SmallStraight, &counts([4; 5]));
            assert_eq!(points, Some(30), "{rule}");
        }
    }

    #[test]
    fn forced_joker_fills_the_upper_box_then_a_lower_one_then_a_zero() {
        let points = |boxes: Boxes, at| Rule::ForcedJoker.points(boxes, at, &counts([4; 5]));
        let first = boxes(&[(ScoreBox::Yahtzee, 50)]);
        assert_eq!(points(first, ScoreBox::Fours), Some(120));
        assert_eq!(points(first, ScoreBox::Chance), None);
        let second = first.with(ScoreBox::Fours);
        assert_eq!(points(second, ScoreBox::Chance), Some(120));
        assert_eq!(points(second, ScoreBox::Aces), None);
        let lower = ScoreBox::ALL.into_iter().filter(|at| !at.is_upper());
        let third = lower.fold(second, Boxes::with);
        assert_eq!(points(third, ScoreBox::Aces), Some(100));
    }

    #[test]
    fn names_are_read_back() {
        Rule::ALL.iter().for_each(|rule| assert_eq!(rule.name().parse(), Ok(*rule)));
        assert!("boxed".parse::<Rule>().is_err());
    }
}
