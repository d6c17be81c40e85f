//! Every scoring rule as data: `tests/data/yahtzee/*.json`.
//!
//! A file is a list of cases. A case plays the turns in `before` (first roll and box), then rolls
//! `dice`; `points` has every box that is open to them and what it gets. `bonus` is the Yahtzee
//! bonus, and `total`, where given, the grand total for each box.

use crate::common::{BOTH, first_roll, fixed, keep, stand};
use agon_games::yahtzee::{Answer, Config, Rule, ScoreBox};
use agon_games::{Game, Seat, Viewer};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    rules: Vec<Rule>,
    #[serde(default)]
    before: Vec<(Vec<u8>, ScoreBox)>,
    dice: Vec<u8>,
    points: BTreeMap<ScoreBox, u8>,
    #[serde(default)]
    bonus: u16,
    #[serde(default)]
    total: BTreeMap<ScoreBox, u16>,
}

fn run(case: &Case, rule: Rule) {
    let mut turns: Vec<Vec<u8>> = case.before.iter().map(|(dice, _)| first_roll(dice)).collect();
    turns.push(first_roll(&case.dice));
    let mut game = fixed(Config { rule, ..Config::default() }, &turns);
    for (_, at) in &case.before {
        BOTH.iter().for_each(|seat| stand(&mut game, *seat, *at));
    }
    let turn = case.before.len();
    for seat in BOTH {
        keep(&mut game, seat, [true; 5]);
    }
    for at in ScoreBox::ALL {
        let mut game = game.clone();
        let place = format!("{} ({rule:?}): {at}", case.name);
        let Some(points) = case.points.get(&at) else {
            assert!(game.apply(Seat(0), &Answer::score(at)).is_err(), "{place} is not open");
            continue;
        };
        for seat in BOTH {
            game.apply(seat, &Answer::score(at)).unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        let view = game.view(Viewer::Public);
        for seat in [0, 1] {
            let scored = view.history[turn][seat].scored.unwrap();
            assert_eq!((scored.points, scored.bonus), (*points, case.bonus), "{place}");
            assert_eq!(view.cards[seat].boxes.of(at), Some(*points), "{place}");
            if let Some(total) = case.total.get(&at) {
                assert_eq!(view.cards[seat].total, *total, "{place}");
            }
        }
    }
}

fn run_file(text: &str) {
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    for case in cases {
        let every = [Rule::Tournament, Rule::ForcedJoker, Rule::FreeJoker];
        let rules = if case.rules.is_empty() { &every[..] } else { &case.rules };
        rules.iter().for_each(|rule| run(&case, *rule));
    }
}

#[test]
fn yahtzee_hands_on_an_empty_card() {
    run_file(include_str!("../data/yahtzee/hands.json"));
}

#[test]
fn yahtzee_jokers() {
    run_file(include_str!("../data/yahtzee/jokers.json"));
}

#[test]
fn yahtzee_bonuses() {
    run_file(include_str!("../data/yahtzee/bonuses.json"));
}
