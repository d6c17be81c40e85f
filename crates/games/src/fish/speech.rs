//! Fish for people: questions as text, and the answers that a person may type.

use super::{Action, Answer, Fish, Position, Question, View};
use crate::Game;

pub(super) fn ask(question: &Question, view: &View) -> String {
    match question {
        Question::PlayingAs { color } => format!("You play {color}. Ready?"),
        Question::PlayingWith { colors } => {
            let colors: Vec<String> = colors.iter().map(ToString::to_string).collect();
            format!("You play against {}. Ready?", colors.join(", "))
        }
        Question::Place => {
            let own = view.you.and_then(|seat| view.players.get(seat.index()));
            let number = own.map_or(0, |own| own.places.len()) + 1;
            format!("Where do you place penguin {number} of {}?", view.penguins)
        }
        Question::Move => "Which penguin slides where?".into(),
    }
}

pub(super) fn examples(question: &Question) -> &'static str {
    match question {
        Question::PlayingAs { .. } | Question::PlayingWith { .. } => "ok",
        Question::Place => "2,3 (row, column)",
        Question::Move => "2,3 > 4,5 (row, column of the penguin and of its goal)",
    }
}

pub(super) fn phrase(answer: &Answer) -> String {
    match answer {
        Answer::Ok => "ok".into(),
        Answer::Place(at) => at.to_string(),
        Answer::Move(Action { from, to }) => format!("{from} > {to}"),
    }
}

pub(super) fn understand(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
    let numbers = numbers(text)?;
    let answer = match (question, &numbers[..]) {
        (Question::PlayingAs { .. } | Question::PlayingWith { .. }, _) => Answer::Ok,
        (Question::Place, [row, column]) => Answer::Place(Position::new(*row, *column)),
        (Question::Move, [row, column, to_row, to_column]) => Answer::Move(Action {
            from: Position::new(*row, *column),
            to: Position::new(*to_row, *to_column),
        }),
        (Question::Place, _) => return Err("say a row and a column, such as `2,3`".into()),
        (Question::Move, _) => return Err("say from where to where, such as `2,3 > 4,5`".into()),
    };
    let legal = Fish::legal_in(question, view);
    if legal.contains(&answer) {
        return Ok(answer);
    }
    Err(match answer {
        Answer::Ok => "nothing can be answered here".into(),
        Answer::Place(at) => not_free(at, view),
        Answer::Move(action) => no_such_move(action, view, &legal),
    })
}

/// The numbers in a typed text; letters and signs only separate them.
fn numbers(text: &str) -> Result<Vec<i64>, String> {
    let mut before = ' ';
    let words = text.split(|letter: char| {
        // A dash between two numbers is no sign: `2,3-4,5`.
        let sign = letter == '-' && !before.is_ascii_digit();
        before = letter;
        !letter.is_ascii_digit() && !sign
    });
    let words = words.filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    let read = words.map(|word| word.parse().map_err(|_| format!("{word:?} is no row or column")));
    read.collect()
}

fn not_free(at: Position, view: &View) -> String {
    let stands = view.players.iter().any(|player| player.places.contains(&at));
    match view.board.shape().tile(at) {
        None => format!("{at} is off the board"),
        Some(_) if stands => format!("a penguin stands at {at}"),
        Some(_) => format!("there is no tile at {at}"),
    }
}

fn no_such_move(Action { from, to }: Action, view: &View, legal: &[Answer]) -> String {
    let own = view.you.or(view.turn).and_then(|seat| view.players.get(seat.index()));
    if !own.is_some_and(|own| own.places.contains(&from)) {
        return format!("no penguin of yours is at {from}");
    }
    let free = view.board.shape().tile(to).is_some_and(|tile| view.board.fish(tile) > 0)
        && !view.players.iter().any(|player| player.places.contains(&to));
    if !free {
        return not_free(to, view);
    }
    let reached: Vec<String> = legal
        .iter()
        .filter_map(|answer| match answer {
            Answer::Move(action) if action.from == from => Some(action.to.to_string()),
            _ => None,
        })
        .collect();
    match reached.is_empty() {
        true => format!("the penguin at {from} cannot move"),
        false => format!(
            "no straight line of free tiles leads from {from} to {to}; it can go to {}",
            reached.join(" ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fish::Config;
    use crate::{Seed, Viewer};

    #[test]
    fn every_legal_answer_is_understood_as_it_is_phrased() {
        let mut game = Fish::new(&Config::default(), 2, &Seed::from_number(3)).unwrap();
        while let Some(seat) = game.awaiting().first() {
            let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
            let legal = Fish::legal_in(&question, &view);
            for answer in &legal {
                assert_eq!(understand(&phrase(answer), &question, &view).as_ref(), Ok(answer));
            }
            game.apply(seat, &legal[legal.len() / 2]).unwrap();
        }
    }

    #[test]
    fn illegal_input_is_explained() {
        let config: Config = serde_json::from_str(r#"{"rows":5,"columns":5}"#).unwrap();
        let mut game = Fish::new(&config, 2, &Seed::from_number(3)).unwrap();
        let mut places = Vec::<String>::new();
        while game.question(game.awaiting().first().unwrap()) == Some(Question::Place) {
            let seat = game.awaiting().first().unwrap();
            let view = game.view(Viewer::Seat(seat));
            let wrong = |text: &str| understand(text, &Question::Place, &view).unwrap_err();
            assert_eq!(wrong("9,9"), "9,9 is off the board");
            assert_eq!(wrong("-1,0"), "-1,0 is off the board");
            assert!(wrong("here").contains("`2,3`"));
            assert!(wrong("99999999999999999999,1").contains("no row or column"));
            if let Some(place) = places.last() {
                assert_eq!(wrong(place), format!("a penguin stands at {place}"));
            }
            let answer = Fish::legal_in(&Question::Place, &view).remove(0);
            places.push(phrase(&answer));
            game.apply(seat, &answer).unwrap();
        }
        let seat = game.awaiting().first().unwrap();
        let view = game.view(Viewer::Seat(seat));
        let wrong = |text: &str| understand(text, &Question::Move, &view).unwrap_err();
        let own = view.players[seat.index()].places[0];
        let other = view.players[1 - seat.index()].places[0];
        assert_eq!(wrong(&format!("{other} > 4,4")), format!("no penguin of yours is at {other}"));
        assert_eq!(wrong(&format!("{own} > {other}")), format!("a penguin stands at {other}"));
        assert!(wrong("1,1").contains("`2,3 > 4,5`"));
        assert_eq!(wrong("9,9-8,8"), wrong("9,9 -> 8,8"));
    }

    fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn questions_are_asked_in_words() {
        let mut game = Fish::new(&parsed(r#"{"confirm":true}"#), 3, &Seed::from_number(3)).unwrap();
        let mut asked = Vec::new();
        while let Some(seat) = game.awaiting().first().filter(|_| asked.len() < 16) {
            let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
            if seat.index() == 0 {
                asked.push(format!("{} {}", ask(&question, &view), examples(&question)));
            }
            let answer = Fish::legal_in(&question, &view).remove(0);
            game.apply(seat, &answer).unwrap();
        }
        let place = |number| format!("Where do you place penguin {number} of 3? 2,3 (row, column)");
        assert_eq!(asked[0], "You play red. Ready? ok");
        assert_eq!(asked[1], "You play against white, brown. Ready? ok");
        assert_eq!(asked[2..5], [place(1), place(2), place(3)]);
        let slide = "2,3 > 4,5 (row, column of the penguin and of its goal)";
        assert_eq!(asked[5], format!("Which penguin slides where? {slide}"));
    }

    #[test]
    fn blocked_slide_is_explained() {
        let config: Config = parsed(r#"{"board":[[1,1,1],[1,1,1],[0,1,1],[1,1,1],[1,1,1]]}"#);
        let mut game = Fish::new(&config, 2, &Seed::from_number(3)).unwrap();
        for (row, column) in [(0, 0), (0, 2), (1, 0), (4, 2), (1, 1), (4, 1), (3, 0), (2, 2)] {
            let seat = game.awaiting().first().unwrap();
            game.apply(seat, &Answer::Place(Position::new(row, column))).unwrap();
        }
        let seat = game.awaiting().first().unwrap();
        let view = game.view(Viewer::Seat(seat));
        let said = |text: &str| understand(text, &Question::Move, &view);
        let wrong = |text: &str| said(text).unwrap_err();
        assert_eq!(wrong("1,0 > 2,0"), "there is no tile at 2,0");
        assert_eq!(wrong("1,0 > 9,0"), "9,0 is off the board");
        assert_eq!(wrong("1,0 > 4,1"), "a penguin stands at 4,1");
        assert_eq!(wrong("0,1 > 2,1"), "no penguin of yours is at 0,1");
        assert_eq!(wrong("0,0 > 2,1"), "the penguin at 0,0 cannot move");
        assert_eq!(
            wrong("1,1 > 4,0"),
            "no straight line of free tiles leads from 1,1 to 4,0; it can go to 0,1 2,1 3,1"
        );
        assert_eq!(said("1,1-3,1"), said("from 1,1 to 3,1"));
        assert!(said("1,1-3,1").is_ok());
        let confirm = Question::PlayingAs { color: super::super::Color::Red };
        assert_eq!(understand("fine", &confirm, &view), Ok(Answer::Ok));
    }
}
