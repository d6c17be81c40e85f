//! Tests of questions as text, of typed answers, and of the errors for invalid ones.

use super::*;
use crate::trains::Config;
use crate::{Seed, Viewer};

#[test]
fn every_legal_answer_is_understood_as_it_is_phrased() {
    let config = Config { confirm: true, ..Config::default() };
    let mut game = Trains::new(&config, 2, &Seed::from_number(5)).unwrap();
    let mut built = 0;
    while let Some(seat) = game.awaiting().first() {
        let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
        let legal = Trains::legal_in(&question, &view);
        for answer in &legal {
            let text = phrase(answer, &question);
            assert_eq!(understand(&text, &question, &view).as_ref(), Ok(answer), "{text}");
        }
        built += usize::from(legal.len() > 1);
        game.apply(seat, legal.last().unwrap()).unwrap();
    }
    assert!(built > 10, "{built}");
}

#[test]
fn invalid_input_is_explained() {
    let mut game = Trains::new(&Config::default(), 2, &Seed::from_number(5)).unwrap();
    for _ in 0..2 {
        let seat = game.awaiting().first().unwrap();
        let question = game.question(seat).unwrap();
        let view = game.view(Viewer::Seat(seat));
        let wrong = |text: &str| understand(text, &question, &view).unwrap_err();
        assert!(wrong("keep Atlantis-Rome").contains("none of the five"));
        assert!(wrong("keep").contains("two different ones"));
        game.apply(seat, &Trains::legal_in(&question, &view)[0]).unwrap();
    }
    let seat = game.awaiting().first().unwrap();
    let (question, view) = (Question::Play {}, game.view(Viewer::Seat(seat)));
    let wrong = |text: &str| understand(text, &question, &view).unwrap_err();
    assert!(wrong("what?").contains("`take`"));
    assert!(wrong("build Atlantis-Rome").contains("no city \"atlantis\""));
    let dear = view.map.connections().iter().find(|c| c.length.segments() == 5).unwrap();
    let text = phrase(&Answer::Acquire(*dear), &question);
    let said = wrong(&text);
    assert!(said.contains("costs 5") || said.contains("is taken"), "{text}: {said}");
    assert!(wrong(&format!("{text} pink")).contains("neither a colour nor a length"));
    assert_eq!(understand(" Draw ", &question, &view), Ok(Answer::MoreCards));
}

fn parsed<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A turn of seat 0, which holds one connection and has little of everything.
fn turn(deck: u8) -> View {
    parsed(serde_json::json!({
        "map": {
            "width": 100, "height": 100,
            "cities": [
                ["Bonn", [0, 0]], ["New York", [50, 0]], ["York", [0, 50]], ["New", [50, 50]]
            ],
            "connections": {
                "Bonn": {
                    "New": {"white": 5},
                    "New York": {"red": 3, "blue": 3, "white": 4},
                    "York": {"blue": 4, "green": 3}
                },
                "New": {"York": {"red": 4, "green": 5}}
            },
        },
        "you": 0,
        "players": [
            {
                "rails": 4, "cards": 15, "hand": {"blue": 5, "red": 4, "white": 5, "green": 1},
                "destinations": [["Bonn", "York"], ["Bonn", "New"]],
                "acquired": [["New", "York", "red", 4]],
            },
            {"rails": 42, "cards": 1, "acquired": [["Bonn", "York", "green", 3]]},
        ],
        "turn": 0, "deck": deck, "history": [],
    }))
}

#[test]
fn questions_are_asked_in_words() {
    let (more, none) = (turn(7), turn(0));
    let [pick, setup, drew]: [Question; 3] = [
        serde_json::json!({"ask": "pick", "destinations": [
            ["A", "B"], ["A", "C"], ["A", "D"], ["A", "E"], ["B", "C"]
        ]}),
        serde_json::json!({"ask": "setup", "rails": 45, "cards": ["red", "red", "blue", "white"]}),
        serde_json::json!({"ask": "more", "cards": ["green", "red"]}),
    ]
    .map(parsed);
    let begin = "You begin with 45 rails and red, red, blue, white. Ready?";
    assert_eq!((ask(&setup, &more), examples(&setup)), (begin.into(), "ok"));
    assert_eq!((ask(&drew, &more), examples(&drew)), ("You draw green, red.".into(), "ok"));
    assert_eq!(
        ask(&pick, &more),
        "Which two of these do you want to join? A – B; A – C; A – D; A – E; B – C"
    );
    assert_eq!(examples(&pick), "keep Boston-Rome, Paris-Rome");
    let play = Question::Play {};
    assert_eq!(ask(&play, &more), "Your turn: take two cards, or build a connection?");
    assert_eq!(ask(&play, &none), "Your turn: build a connection? The deck is used up.");
    assert_eq!(examples(&play), "take · build Boston-Rome red 3");
    for told in [setup, drew] {
        assert_eq!(understand("yes", &told, &more), Ok(Answer::Ok));
    }
}

#[test]
fn partial_name_of_a_connection_matches() {
    let (view, question) = (turn(7), Question::Play {});
    let said = |text: &str| understand(text, &question, &view);
    let typed = |text: &str| phrase(&said(text).unwrap(), &question);
    for text in [
        "build Bonn-New York red",
        "BUY bonn – new york RED 3",
        "acquire New York to Bonn 3 red",
        "new york-bonn red",
    ] {
        assert_eq!(typed(text), "build Bonn-New York red 3", "{text}");
    }
    assert_eq!(typed("Bonn-New York white"), "build Bonn-New York white 4");
    // Of two, the one that can be had.
    assert_eq!(typed("Bonn-York"), "build Bonn-York blue 4");
    for text in ["take", "take cards", "draw", "cards", "more", "more cards"] {
        assert_eq!(said(text), Ok(Answer::MoreCards));
    }
}

#[test]
fn unavailable_connection_is_explained() {
    let (view, question) = (turn(7), Question::Play {});
    let wrong = |text: &str| understand(text, &question, &view).unwrap_err();
    assert_eq!(
        wrong("Bonn-New York"),
        "which one: build Bonn-New York blue 3, or build Bonn-New York red 3, \
         or build Bonn-New York white 4?"
    );
    assert_eq!(
        wrong("Bonn-New York 3"),
        "which one: build Bonn-New York blue 3, or build Bonn-New York red 3?"
    );
    assert_eq!(wrong("York-New red"), "New – York (red, 4) is taken");
    assert_eq!(wrong("Bonn-York green"), "Bonn – York (green, 3) is taken");
    assert_eq!(
        wrong("York-New green"),
        "New – York (green, 5) costs 5 green cards, and you have 1"
    );
    assert_eq!(wrong("Bonn-New"), "Bonn – New (white, 5) takes 5 rails, and you have 4");
    assert_eq!(wrong("York-New York"), "there is no such connection on the map");
    assert_eq!(wrong("Bonn-York red"), "there is no such connection on the map");
    assert_eq!(wrong("Bonn-York blue 5"), "there is no such connection on the map");
    assert_eq!(wrong("Bonn-Yorkshire"), "there is no city \"yorkshire\"");
    assert_eq!(wrong("Rome-York"), "there is no city \"rome\"");
    assert_eq!(wrong("Bonn-York x"), "\"x\" is neither a colour nor a length");
    assert_eq!(wrong("build"), "say `take`, or `build CITY-CITY COLOUR LENGTH`");
    let public = View { you: None, ..view.clone() };
    let nothing = understand("Bonn-York blue", &question, &public);
    assert_eq!(nothing, Err("nothing can be built yet".into()));
}

#[test]
fn two_of_five_are_kept_by_name() {
    let view = turn(7);
    let pick: Question = parsed(serde_json::json!({"ask": "pick", "destinations": [
        ["A", "B"], ["A", "Ba"], ["A", "D"], ["B", "Bandon"], ["D", "E"]
    ]}));
    let back = |places: &[[&str; 2]]| {
        let pairs = places.iter().map(|pair| parsed(serde_json::json!(pair)));
        Answer::Return(pairs.collect())
    };
    let rest = back(&[["A", "B"], ["A", "D"], ["D", "E"]]);
    for text in
        ["keep A-Ba, B-Bandon", "ba-a and bandon-b", "KEEP Bandon – B; A–Ba", "A-Ba&B-Bandon"]
    {
        assert_eq!(understand(text, &pick, &view).as_ref(), Ok(&rest), "{text}");
    }
    assert_eq!(phrase(&rest, &pick), "keep A-Ba, B-Bandon");
    let json = r#"{"return":[["A","B"],["A","D"],["D","E"]]}"#;
    assert_eq!(phrase(&rest, &Question::Play {}), json, "no answer to that question");
    let wrong = |text: &str| understand(text, &pick, &view).unwrap_err();
    assert_eq!(wrong("A-B"), "two different ones are kept, not 1");
    assert_eq!(wrong("A-B, B-A"), "two different ones are kept, not 2");
    assert_eq!(wrong("A-B, A-D, D-E"), "two different ones are kept, not 3");
    assert_eq!(wrong("A-B, X-Y"), "\"x-y\" is none of the five; say `keep A-B, C-D`");
}
