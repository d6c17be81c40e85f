//! The text for a person: a picture, a question, and examples of what they may type.

use agon_games::{Registry, Seed, Viewer};
use std::collections::BTreeMap;

/// The first word, with every digit alike.
fn form(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    first.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

#[test]
fn people_are_shown_who_plays_what_is_asked_and_how_to_answer() {
    for game in ["yahtzee", "fish", "trains"] {
        let kind = Registry::standard().kind(game).expect("a game").clone();
        let (config, names) = (kind.default_config(), ["Ann", "Bob"].map(String::from));
        let mut state = kind.set_up(config.get(), 2, &Seed::from_number(3)).expect("a game");
        // By the examples of a question, whether some answer to it looked like the first of them.
        let mut seen = BTreeMap::new();
        while let Some(seat) = state.awaiting().next() {
            let question = state.question(seat).expect("the seat has an open request");
            let view = state.view(Viewer::Seat(seat));
            let asked = kind.ask(question.get(), view.get()).expect("a question");
            let picture = kind.draw(view.get(), &names, false).expect("a picture");
            assert!(names.iter().all(|name| picture.contains(name.as_str())), "{picture}");
            assert!(asked.words.contains(['?', '.']), "{}", asked.words);
            let (phrase, answer) = asked.choices.first().expect("something is legal");
            let understood = kind.understand(phrase, question.get(), view.get());
            assert_eq!(understood.expect("its own words").get(), answer.get());
            let alike = asked.choices.iter().any(|(one, _)| form(one) == form(asked.examples));
            *seen.entry(asked.examples).or_insert(false) |= alike;
            let before = state.clone();
            state.apply(seat, answer.get()).expect("it is legal");
            let told = state.tell(&*before, seat, answer.get());
            assert!(told.contains(' ') || told == "confirms", "{told}");
        }
        assert!(seen.len() >= 2 && seen.values().all(|alike| *alike), "{game}: {seen:?}");
    }
}
