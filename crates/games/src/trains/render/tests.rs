//! Tests of drawn positions, and of sentences about moves.

use super::*;
use crate::trains::Config;
use crate::{Game, Seed};
use serde_json::json;

/// Names where there is room for them: beside, and in a corner left of, below and above their
/// cities; in the thick of it over nothing but dots.
fn crowded() -> serde_json::Value {
    json!({
        "width": 770, "height": 230,
        "cities": [
            ["Alfa", [0, 0]], ["Bravo", [770, 0]], ["Charlie", [770, 230]], ["Delta", [0, 230]],
            ["Echo", [300, 100]], ["Foxtrot", [330, 100]], ["Golf", [380, 100]],
            ["Hotel", [350, 110]], ["India", [310, 90]], ["Juliett", [360, 90]],
            ["Kilo", [340, 100]], ["L", [755, 220]]
        ],
        "connections": {
            "Alfa": {"Bravo": {"red": 3}, "Charlie": {"blue": 5}, "Delta": {"green": 4}},
            "Bravo": {"Charlie": {"white": 3}, "Delta": {"red": 4}},
            "Charlie": {"Delta": {"green": 3}, "Echo": {"white": 4}},
            "Echo": {"Foxtrot": {"red": 3}, "Golf": {"blue": 3}, "India": {"green": 3}}
        },
    })
}

/// Three players: one whose cards are seen, one with one rail left, one that is out.
fn view(more: serde_json::Value) -> View {
    let mut view = json!({
        "map": crowded(),
        "players": [
            {
                "rails": 27, "cards": 7, "hand": {"blue": 1, "red": 4, "white": 2},
                "destinations": [["Alfa", "Bravo"], ["Charlie", "Echo"]],
                "acquired": [
                    ["Alfa", "Bravo", "red", 3], ["Bravo", "Charlie", "white", 3],
                    ["Alfa", "Delta", "green", 4], ["Alfa", "Charlie", "blue", 5],
                    ["Echo", "Foxtrot", "red", 3]
                ],
            },
            {"rails": 1, "cards": 12, "acquired": [["Charlie", "Delta", "green", 3]]},
            {"out": true, "rails": 0, "cards": 0, "acquired": []},
        ],
        "deck": 83,
        "history": [],
    });
    view.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(view).unwrap()
}

/// Compares a drawing with a file; `AGON_BLESS=1` writes the file anew.
fn assert_drawn(file: &str, drawn: &str) {
    let path = format!("{}/tests/data/trains/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(&path, drawn).unwrap();
    }
    assert_eq!(drawn, std::fs::read_to_string(&path).unwrap());
}

#[test]
fn drawn_position_matches_its_file() {
    let names = ["Ann", "Bob"].map(String::from);
    let (plain, running) = (json!({"turn": 1}), json!({"turn": 0, "last_turns": [1, 2]}));
    assert_drawn("drawn.txt", &draw(&view(plain), None, &names, false));
    assert_drawn("drawn-colours.txt", &draw(&view(running), None, &[], true));
}

#[test]
fn the_end_is_drawn_with_points() {
    let text = draw(&view(json!({})), Some(&[42, -7, 0]), &[], false);
    let (_, players) = text.split_once(" 1 seat").unwrap();
    let lines: Vec<&str> = players.lines().filter(|line| !line.contains("   ")).collect();
    assert_eq!(
        lines,
        [
            " 0: 42 points; 27 rails; 1 blue, 0 green, 4 red, 2 white",
            " 2 seat 1: -7 points; 1 rail; 12 cards",
            " 3 seat 2: out",
            "deck: 83 cards; the game is over",
        ]
    );
}

#[test]
fn lists_break_where_the_next_connection_would_pass_the_margin() {
    let held = |count: usize, letters: usize| -> Vec<Connection> {
        let connection = |at: usize| {
            let (one, other) = (format!("City {at:020}"), "Z".repeat(letters));
            serde_json::from_value(json!([one, other, "red", 3])).unwrap()
        };
        (0..count).map(connection).collect()
    };
    for count in 1..7 {
        // Two of them fill a line to the last character; with a letter more, each takes one.
        for (letters, in_a_line) in [(4, 2), (5, 1)] {
            let mut text = String::new();
            write_held(&mut text, &held(count, letters), false);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), count.div_ceil(in_a_line), "{text}");
            assert_eq!(text.matches(';').count(), count - 1);
            assert!(lines.iter().all(|line| line.chars().count() <= LINE), "{text}");
            assert!(lines[0].starts_with("     holds City 0"), "{text}");
            assert!(lines[1..].iter().all(|line| line.starts_with("           City 0")));
        }
    }
}

#[test]
fn every_move_has_a_text() {
    let config = Config { confirm: true, ..Config::default() };
    let mut game = Trains::new(&config, 2, &Seed::from_number(3)).unwrap();
    let mut sentences = Vec::new();
    while let Some(seat) = game.awaiting().first() {
        let before = game.clone();
        let answer = game.legal(seat).pop().unwrap();
        game.apply(seat, &answer).unwrap();
        let sentence = game.describe(&before, seat, &answer);
        let left = game.place(seat).rails;
        if let Answer::Acquire(connection) = answer {
            let end = match left {
                0 | 2 => format!(" and has {left} rails left"),
                1 => " and has 1 rail left".into(),
                _ => String::new(),
            };
            assert_eq!(sentence, format!("takes {connection}{end}"));
        } else if sentences.last() != Some(&sentence) {
            sentences.push(sentence);
        }
    }
    let setup = ["is ready", "keeps two of five destinations"];
    assert_eq!(sentences[..4], [setup, setup].concat());
    assert_eq!(sentences[4..6], ["draws two cards", "takes the cards"]);
    game.deck = crate::trains::deck::Deck::fixed(&[]);
    let more = game.describe(&game, Seat(0), &Answer::MoreCards);
    assert_eq!(more, "asks for cards, but the deck is used up");
}
