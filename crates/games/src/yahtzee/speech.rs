//! Yahtzee for people: questions as text, and the answers that a person may type.

use super::answer::{Answer, Keep, Places, Question};
use super::card::Card;
use super::dice::Hand;
use super::view::{CardView, View};
use super::{Dice, ScoreBox, Yahtzee};
use crate::Game;

/// Short names of boxes that people use.
const SHORT: [(&str, ScoreBox); 18] = [
    ("ones", ScoreBox::Aces),
    ("1s", ScoreBox::Aces),
    ("2s", ScoreBox::Twos),
    ("3s", ScoreBox::Threes),
    ("4s", ScoreBox::Fours),
    ("5s", ScoreBox::Fives),
    ("6s", ScoreBox::Sixes),
    ("3-of-a-kind", ScoreBox::ThreeOfAKind),
    ("3k", ScoreBox::ThreeOfAKind),
    ("4-of-a-kind", ScoreBox::FourOfAKind),
    ("4k", ScoreBox::FourOfAKind),
    ("full", ScoreBox::FullHouse),
    ("fh", ScoreBox::FullHouse),
    ("small", ScoreBox::SmallStraight),
    ("ss", ScoreBox::SmallStraight),
    ("large", ScoreBox::LargeStraight),
    ("ls", ScoreBox::LargeStraight),
    ("y", ScoreBox::Yahtzee),
];

pub(super) fn ask(question: &Question) -> String {
    match question {
        Question::Keep { roll, dice } => {
            let left = if *roll == 1 { "two rolls are" } else { "one roll is" };
            format!("You rolled {}; {left} left. Which dice do you keep?", shown(dice))
        }
        Question::Score { dice } => format!("You have {}. Which box do you fill?", shown(dice)),
    }
}

pub(super) fn examples(question: &Question) -> &'static str {
    match question {
        Question::Keep { .. } => "keep 6 6 · keep all · roll all",
        Question::Score { .. } => "fours · full house · chance",
    }
}

pub(super) fn phrase(answer: &Answer, question: &Question, view: &View) -> String {
    match (answer, question) {
        (Answer::Keep(Keep::Places(places)), Question::Keep { dice, .. }) => match *places {
            Places::ALL => "keep all".into(),
            Places::NONE => "roll all".into(),
            places => {
                let kept = (0..5).filter(|at| places.has(*at)).map(|at| dice[at]);
                let mut kept: Vec<u8> = kept.collect();
                kept.sort_unstable();
                format!("keep {}", shown(&kept))
            }
        },
        (Answer::Score(score), Question::Score { dice }) => {
            let worth = own_card(view).zip(Hand::of(*dice)).map(|(card, hand)| {
                let (points, bonus) =
                    Card::from_boxes(&card.boxes).worth(hand, score.at, view.rule);
                format!(" ({points}{})", if bonus { " and a bonus of 100" } else { "" })
            });
            format!("{}{}", score.at, worth.unwrap_or_default())
        }
        _ => crate::json(answer).to_string(),
    }
}

pub(super) fn understand(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
    let text = text.trim().to_lowercase();
    match question {
        Question::Keep { dice, .. } => understand_keep(&text, *dice),
        Question::Score { .. } => understand_score(&text, question, view),
    }
}

fn understand_keep(text: &str, dice: Dice) -> Result<Answer, String> {
    let rest = ["keep", "hold"].iter().find_map(|verb| text.strip_prefix(verb));
    match rest.unwrap_or(text).trim() {
        "all" | "stand" => return Ok(Answer::keep_places([true; 5])),
        "" if rest.is_some() => return Ok(Answer::keep_places([false; 5])),
        "none" | "nothing" | "roll" | "roll all" => return Ok(Answer::keep_places([false; 5])),
        _ => {}
    }
    if box_of(text).is_some() {
        return Err("the box comes later: say which dice to keep; `keep all` goes on to it".into());
    }
    let rest = rest.unwrap_or(text);
    let plain = |letter: char| letter.is_ascii_digit() || letter == ',' || letter.is_whitespace();
    if !rest.chars().all(plain) {
        return Err("say which dice to keep, such as `keep 6 6`, `keep all` or `roll all`".into());
    }
    let values: Vec<u8> =
        rest.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    let lacks = || format!("you do not have {}; your dice are {}", shown(&values), shown(&dice));
    let places = Places::of_values(&values, dice).ok_or_else(lacks)?;
    Ok(Answer::Keep(Keep::Places(places)))
}

fn understand_score(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
    let Some(at) = box_of(text) else {
        return Err(format!("there is no box {text:?}; boxes are {}", open(question, view)));
    };
    let answer = Answer::score(at);
    if Yahtzee::legal_in(question, view).contains(&answer) {
        return Ok(answer);
    }
    match own_card(view).and_then(|card| card.boxes.of(at)) {
        Some(points) => Err(format!("{at} is filled already, with {points}")),
        None => Err(format!("a joker may not go there; you may fill {}", open(question, view))),
    }
}

fn box_of(text: &str) -> Option<ScoreBox> {
    let text = text.strip_prefix("score").unwrap_or(text).trim();
    // In the form of the list: `fours (8)`.
    let name = text.split('(').next().unwrap_or(text).trim();
    let name = name.split([' ', '-', '_']).collect::<Vec<_>>().join("-");
    let known = ScoreBox::ALL.into_iter().find(|at| at.name() == name);
    known.or_else(|| SHORT.iter().find(|(short, _)| *short == name).map(|(_, at)| *at))
}

fn open(question: &Question, view: &View) -> String {
    let legal = Yahtzee::legal_in(question, view).into_iter().filter_map(|answer| match answer {
        Answer::Score(score) => Some(score.at.to_string()),
        _ => None,
    });
    legal.collect::<Vec<_>>().join(", ")
}

fn own_card(view: &View) -> Option<&CardView> {
    view.cards.get(view.seat?.index())
}

fn shown(dice: &[u8]) -> String {
    dice.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yahtzee::Config;
    use crate::{Seat, Seed, Viewer};

    fn game() -> (Yahtzee, Seat) {
        (Yahtzee::new(&Config::default(), 2, &Seed::from_number(7)).unwrap(), Seat(0))
    }

    #[test]
    fn every_legal_answer_is_understood_as_it_is_phrased() {
        let (mut game, seat) = game();
        while let Some(question) = game.question(seat) {
            let view = game.view(Viewer::Seat(seat));
            let legal = Yahtzee::legal_in(&question, &view);
            for answer in &legal {
                let typed = phrase(answer, &question, &view);
                let read = understand(&typed, &question, &view).unwrap();
                // Equal dice may be kept by other places.
                assert_eq!(phrase(&read, &question, &view), typed);
                assert!(game.check(seat, &read).is_ok(), "{typed}");
            }
            game.apply(seat, &legal[0]).unwrap();
        }
    }

    #[test]
    fn illegal_input_is_explained() {
        let (mut game, seat) = game();
        let view = game.view(Viewer::Seat(seat));
        let keep = Question::Keep { roll: 1, dice: [2, 6, 2, 4, 2] };
        let wrong = |text: &str| understand(text, &keep, &view).unwrap_err();
        assert_eq!(wrong("keep 6 6"), "you do not have 6 6; your dice are 2 6 2 4 2");
        assert!(wrong("fours").contains("the box comes later"));
        assert!(wrong("dance").contains("`keep 6 6`"));
        assert_eq!(understand("KEEP 2,22", &keep, &view), understand("2 2 2", &keep, &view));
        game.apply(seat, &Answer::keep_places([true; 5])).unwrap();
        game.apply(seat, &Answer::score(ScoreBox::Chance)).unwrap();
        let view = game.view(Viewer::Seat(seat));
        let score = Question::Score { dice: [2, 6, 2, 4, 2] };
        let wrong = |text: &str| understand(text, &score, &view).unwrap_err();
        assert!(wrong("chance").starts_with("chance is filled already, with "));
        assert!(wrong("nines").contains("boxes are aces, twos"));
        assert_eq!(understand("3k", &score, &view), Ok(Answer::score(ScoreBox::ThreeOfAKind)));
    }

    #[test]
    fn questions_are_asked_in_words() {
        let dice = [2, 6, 2, 4, 2];
        let [first, second] = [1, 2].map(|roll| Question::Keep { roll, dice });
        let score = Question::Score { dice };
        let keep = "Which dice do you keep?";
        assert_eq!(ask(&first), format!("You rolled 2 6 2 4 2; two rolls are left. {keep}"));
        assert_eq!(ask(&second), format!("You rolled 2 6 2 4 2; one roll is left. {keep}"));
        assert_eq!(ask(&score), "You have 2 6 2 4 2. Which box do you fill?");
        assert_eq!(examples(&first), "keep 6 6 · keep all · roll all");
        assert_eq!(examples(&score), "fours · full house · chance");
    }

    #[test]
    fn dice_and_boxes_have_more_than_one_name() {
        let (game, seat) = game();
        let view = game.view(Viewer::Seat(seat));
        let keep = Question::Keep { roll: 1, dice: [2, 6, 2, 4, 2] };
        for (kept, texts) in [
            ([true; 5], &["keep all", "all", "stand", "hold all"][..]),
            ([false; 5], &["keep", "hold", "none", "nothing", "roll", "roll all", "keep none"]),
            ([false, true, false, true, false], &["6 4", "46", " Keep 4, 6", "hold 6 4"]),
        ] {
            for text in texts {
                let read = understand(text, &keep, &view);
                assert_eq!(read, Ok(Answer::keep_places(kept)), "{text}");
            }
        }
        let score = Question::Score { dice: [2, 6, 2, 4, 2] };
        let names = SHORT.iter().map(|(short, at)| (*short, *at));
        let long = [
            ("score sixes", ScoreBox::Sixes),
            ("Small Straight", ScoreBox::SmallStraight),
            ("large_straight", ScoreBox::LargeStraight),
            ("four of a kind (17)", ScoreBox::FourOfAKind),
        ];
        for (text, at) in names.chain(long) {
            assert_eq!(understand(text, &score, &view), Ok(Answer::score(at)), "{text}");
        }
        let (answer, json) = (Answer::score(ScoreBox::Aces), r#"{"score":"aces"}"#);
        assert_eq!(phrase(&answer, &keep, &view), json, "no answer to that question");
        assert_eq!(phrase(&Answer::score(ScoreBox::Twos), &score, &view), "twos (6)");
    }

    #[test]
    fn a_joker_is_told_where_it_may_go_and_what_it_is_worth() {
        let config: Config = serde_json::from_str(r#"{"rule":"forced-joker"}"#).unwrap();
        let game = Yahtzee::new(&config, 2, &Seed::from_number(7)).unwrap();
        let mut view = game.view(Viewer::Seat(Seat(0)));
        let mut card = Card::EMPTY;
        card.fill(ScoreBox::Yahtzee, 50, 13);
        view.cards[0] = card.view();
        let score = Question::Score { dice: [4; 5] };
        let refused = understand("chance", &score, &view).unwrap_err();
        assert_eq!(refused, "a joker may not go there; you may fill fours");
        let fours = phrase(&Answer::score(ScoreBox::Fours), &score, &view);
        assert_eq!(fours, "fours (20 and a bonus of 100)");
        assert_eq!(understand(&fours, &score, &view), Ok(Answer::score(ScoreBox::Fours)));
    }
}
