//! Whole turns and games: the worked turn of the rules, waiting, skipping, removal, and what
//! people read.

use crate::common::{BOTH, VECTOR, answer, drawn, first_roll, fixed, keep, stand};
use agon_games::yahtzee::{Answer, Config, DiceSource, Places, Question, ScoreBox, Yahtzee};
use agon_games::{Game, GameState, Registry, Seat, SeatSet, Seed, Viewer};
use serde_json::json;

fn vector_game() -> Yahtzee {
    fixed(Config::default(), &[VECTOR.to_vec()])
}

/// The turn of the rules: the same dice for both seats, each re-rolls others.
#[test]
fn yahtzee_worked_turn() {
    let mut game = vector_game();
    assert_eq!(
        game.drawn_value(),
        Some(json!({"turn": 1, "dice": [[2, 3, 6, 4, 6], [2, 3, 6, 4, 6]]}))
    );
    for seat in BOTH {
        let dice = [2, 3, 6, 4, 6];
        assert_eq!(game.question(seat), Some(Question::Keep { roll: 1, dice }));
    }
    keep(&mut game, Seat(0), [true, true, false, true, false]);
    assert_eq!(game.drawn_value(), Some(json!({"seat": 0, "dice": [2, 6]})));
    let dice = [2, 3, 2, 4, 6];
    assert_eq!(game.question(Seat(0)), Some(Question::Keep { roll: 2, dice }));
    keep(&mut game, Seat(1), [false, false, true, false, true]);
    assert_eq!(game.drawn_value(), Some(json!({"seat": 1, "dice": [2, 6, 5]})));
    keep(&mut game, Seat(0), [true, true, false, true, false]);
    assert_eq!(game.question(Seat(0)), Some(Question::Score { dice: [2, 3, 5, 4, 1] }));
    keep(&mut game, Seat(1), [false, true, true, false, true]);
    assert_eq!(game.question(Seat(1)), Some(Question::Score { dice: [1, 6, 6, 4, 6] }));

    let large = r#"{"score":"large-straight","dice":[1,2,3,4,5],"points":40}"#;
    game.apply(Seat(0), &answer(large)).unwrap();
    assert_eq!((game.drawn_value(), game.awaiting()), (None, SeatSet::one(Seat(1))));
    assert_eq!(game.question(Seat(0)), None);
    let three = r#"{"score":"three-of-a-kind","dice":[1,6,6,4,6],"points":23}"#;
    game.apply(Seat(1), &answer(three)).unwrap();
    assert_eq!(game.awaiting(), SeatSet::first_n(2));

    let view = game.view(Viewer::Public);
    assert_eq!((view.turn, view.cards[0].total, view.cards[1].total), (2, 40, 23));
    let [first, second] = &view.history[0];
    assert_eq!(first.rolls, [[2, 3, 6, 4, 6], [2, 3, 2, 4, 6], [2, 3, 5, 4, 1]]);
    assert_eq!(second.rolls, [[2, 3, 6, 4, 6], [2, 6, 6, 5, 6], [1, 6, 6, 4, 6]]);
    let kept = [[false, false, true, false, true], [false, true, true, false, true]];
    assert_eq!(second.kept, kept);
}

#[test]
fn yahtzee_keepers_by_value_are_the_leftmost() {
    for (values, places) in [
        ("[6]", [false, false, true, false, false]),
        ("[4,6,6]", [false, false, true, true, true]),
        ("[]", [false; 5]),
        ("[6,6,4,3,2]", [true; 5]),
    ] {
        let (mut by_value, mut by_place) = (vector_game(), vector_game());
        by_value.apply(Seat(0), &answer(&format!("{{\"keep\":{values}}}"))).unwrap();
        keep(&mut by_place, Seat(0), places);
        assert_eq!(by_value, by_place, "{values}");
    }
}

#[test]
fn yahtzee_keeping_all_of_the_first_roll_goes_to_scoring() {
    let mut game = vector_game();
    keep(&mut game, Seat(1), [true; 5]);
    assert_eq!(game.drawn_value(), None);
    assert_eq!(game.question(Seat(1)), Some(Question::Score { dice: [2, 3, 6, 4, 6] }));
    keep(&mut game, Seat(0), [true, true, true, true, false]);
    keep(&mut game, Seat(0), [true; 5]);
    assert_eq!(game.question(Seat(0)), Some(Question::Score { dice: [2, 3, 6, 4, 2] }));
}

#[test]
fn yahtzee_removal_ends_the_game_for_the_other_seat() {
    let mut game = vector_game();
    stand(&mut game, Seat(0), ScoreBox::Sixes);
    game.remove(Seat(0));
    assert!(game.awaiting().is_empty());
    let outcome = game.outcome().unwrap();
    assert_eq!(
        (outcome.scores.as_slice(), outcome.winners()),
        (&[12, 0][..], SeatSet::one(Seat(1)))
    );
    let ended = game.clone();
    game.remove(Seat(1));
    game.remove(Seat(0));
    assert_eq!(game, ended);
    assert!(game.apply(Seat(1), &Answer::score(ScoreBox::Aces)).is_err());
}

#[test]
fn yahtzee_games_of_equal_totals_are_ties() {
    let mut game = drawn(&Config::default(), 9);
    for at in ScoreBox::ALL {
        BOTH.iter().for_each(|seat| stand(&mut game, *seat, at));
    }
    let outcome = game.outcome().unwrap();
    assert_eq!(outcome.winners().len(), 2);
    assert_eq!(game.view(Viewer::Public).turn, 14);
    assert_eq!(game.view(Viewer::Public).history.len(), 13);
}

#[test]
fn yahtzee_independent_dice_differ_and_follow_an_undecidable_match() {
    let config = Yahtzee::after_undecidable(&Config::default());
    assert_eq!(config.dice, DiceSource::Independent);
    let [one, two] = drawn(&config, 3).view(Viewer::Full).sequences.unwrap();
    assert_ne!(one, two);
    let [one, two] = drawn(&Config::default(), 3).view(Viewer::Full).sequences.unwrap();
    assert_eq!(one, two);
}

#[test]
fn yahtzee_set_up_refuses_what_it_cannot_play() {
    let seed = Seed::from_number(1);
    let with = |fixed_dice| Config { fixed_dice: Some(fixed_dice), ..Config::default() };
    for seats in [0, 1, 3] {
        assert!(Yahtzee::new(&Config::default(), seats, &seed).is_err());
    }
    for bad in [vec![vec![1; 14]], vec![vec![7; 15]], vec![vec![0; 15]], vec![vec![1; 15]; 14]] {
        assert!(Yahtzee::new(&with(bad), 2, &seed).is_err());
    }
    assert!(Yahtzee::new(&with(vec![]), 2, &seed).is_ok());
    assert!(serde_json::from_str::<Config>(r#"{"die":"duplicate"}"#).is_err());
    let config: Config = serde_json::from_str(r#"{"rule":"forced-joker"}"#).unwrap();
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(text, r#"{"dice":"duplicate","rule":"forced-joker"}"#);
}

#[test]
fn yahtzee_is_told_to_people() {
    let mut game = vector_game();
    let mut told = Vec::new();
    let mut play = |seat: Seat, json: &str| {
        let before = game.clone();
        game.apply(seat, &answer(json)).unwrap();
        told.push(game.tell(&before, seat, &answer(json)));
    };
    play(Seat(0), r#"{"keep":[2,3,4]}"#);
    play(Seat(0), r#"{"keep":[true,true,true,true,true]}"#);
    play(Seat(0), r#"{"score":"twos"}"#);
    play(Seat(1), r#"{"keep":[]}"#);
    assert_eq!(
        told,
        [
            "keeps 2 3 4 and rolls two dice: 2 6",
            "keeps all of 2 3 2 4 6",
            "scores 4 in twos with 2 3 2 4 6",
            "rolls all five dice: 2 6 5 1 4",
        ]
    );
}

#[test]
fn yahtzee_bonus_is_told() {
    let mut game = fixed(Config::default(), &[first_roll(&[5; 5]), first_roll(&[5; 5])]);
    BOTH.iter().for_each(|seat| stand(&mut game, *seat, ScoreBox::Yahtzee));
    keep(&mut game, Seat(0), [true; 5]);
    let before = game.clone();
    game.apply(Seat(0), &Answer::score(ScoreBox::Fives)).unwrap();
    let told = game.tell(&before, Seat(0), &Answer::score(ScoreBox::Fives));
    assert_eq!(told, "scores 25 in fives with 5 5 5 5 5 and a bonus of 100");
}

#[test]
fn yahtzee_renders_both_cards() {
    let mut game = vector_game();
    stand(&mut game, Seat(0), ScoreBox::Sixes);
    keep(&mut game, Seat(1), [false, false, true, false, true]);
    let names = ["Ann".to_owned(), "Bartholomew the Great".to_owned()];
    let text = game.render(&names, false);
    assert_eq!(text, include_str!("../data/yahtzee/rendered.txt"));
    let coloured = game.render(&names, true);
    assert!(coloured.contains('\x1b') && !text.contains('\x1b'));
}

#[test]
fn yahtzee_is_registered() {
    let registry = Registry::standard();
    let kind = registry.kind("yahtzee").unwrap();
    let config = kind.default_config();
    let mut game = kind.set_up(config.get(), 2, &Seed::from_number(4)).unwrap();
    let canonical = game.check(Seat(1), r#" {"keep" : []} "#).unwrap();
    assert_eq!(canonical.get(), r#"{"keep":[]}"#);
    let before: Box<dyn GameState> = game.clone();
    game.apply(Seat(1), canonical.get()).unwrap();
    let told = game.tell(&*before, Seat(1), canonical.get());
    assert!(told.starts_with("rolls all five dice"), "{told}");
    assert_eq!(game.legal(Seat(1)).len(), 32);
    assert!(Places::ALL.flags().iter().all(|kept| *kept));
}
