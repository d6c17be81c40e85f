//! Every way an answer can be wrong, its kind and code, and that it changes nothing.

use crate::common::{BOTH, VECTOR, answer, first_roll, fixed, keep, stand};
use agon_games::yahtzee::{Config, Rule, ScoreBox, Yahtzee};
use agon_games::{Game, RefusalKind, Registry, Seat, Seed};

fn refused(game: &Yahtzee, seat: Seat, json: &str, kind: RefusalKind, code: &str) {
    let mut after = game.clone();
    let refusal = after.apply(seat, &answer(json)).expect_err(json);
    assert_eq!((refusal.kind, refusal.code.as_ref()), (kind, code), "{json}");
    assert_eq!(game.check(seat, &answer(json)), Err(refusal), "{json}");
    assert_eq!(&after, game, "{json}");
}

#[test]
fn yahtzee_refuses_keepers_that_are_not_held() {
    let game = fixed(Config::default(), &[VECTOR.to_vec()]);
    for keep in ["[1]", "[6,6,6]", "[2,2]", "[7]", "[0]", "[2,3,6,4,6,6]", "[2,3,6,4,6,2,3]"] {
        let json = format!("{{\"keep\":{keep}}}");
        refused(&game, Seat(0), &json, RefusalKind::Illegal, "keepers-not-held");
    }
}

#[test]
fn yahtzee_refuses_answers_of_the_other_kind() {
    let mut game = fixed(Config::default(), &[VECTOR.to_vec()]);
    let score = r#"{"score":"chance"}"#;
    refused(&game, Seat(0), score, RefusalKind::WrongKind, "wrong-kind");
    keep(&mut game, Seat(0), [true; 5]);
    refused(&game, Seat(0), r#"{"keep":[2]}"#, RefusalKind::WrongKind, "wrong-kind");
    refused(&game, Seat(1), score, RefusalKind::WrongKind, "wrong-kind");
}

#[test]
fn yahtzee_refuses_seats_that_were_not_asked() {
    let mut game = fixed(Config::default(), &[VECTOR.to_vec()]);
    stand(&mut game, Seat(0), ScoreBox::Chance);
    for seat in [Seat(0), Seat(2), Seat(200)] {
        refused(&game, seat, r#"{"keep":[]}"#, RefusalKind::NotAsked, "not-asked");
    }
}

#[test]
fn yahtzee_refuses_filled_boxes_and_false_claims() {
    let mut game = fixed(Config::default(), &[VECTOR.to_vec(), first_roll(&[6, 5, 6, 6, 6])]);
    BOTH.iter().for_each(|seat| stand(&mut game, *seat, ScoreBox::Sixes));
    keep(&mut game, Seat(0), [true; 5]);
    for (json, code) in [
        (r#"{"score":"sixes"}"#, "box-filled"),
        (r#"{"score":"chance","dice":[6,6,6,6,6]}"#, "wrong-dice"),
        (r#"{"score":"chance","dice":[6,6,6,6]}"#, "wrong-dice"),
        (r#"{"score":"chance","dice":[6,6,6,6,5,5]}"#, "wrong-dice"),
        (r#"{"score":"chance","points":30}"#, "wrong-points"),
        (r#"{"score":"yahtzee","dice":[5,6,6,6,6],"points":50}"#, "wrong-points"),
    ] {
        refused(&game, Seat(0), json, RefusalKind::Illegal, code);
    }
    game.apply(Seat(0), &answer(r#"{"score":"chance","dice":[5,6,6,6,6],"points":29}"#)).unwrap();
}

#[test]
fn yahtzee_refuses_to_dodge_a_forced_joker() {
    let rule = Rule::ForcedJoker;
    let turns = [first_roll(&[6; 5]), first_roll(&[4; 5])];
    let mut game = fixed(Config { rule, ..Config::default() }, &turns);
    BOTH.iter().for_each(|seat| stand(&mut game, *seat, ScoreBox::Yahtzee));
    keep(&mut game, Seat(0), [true; 5]);
    refused(&game, Seat(0), r#"{"score":"chance"}"#, RefusalKind::Illegal, "joker-forced");
    game.apply(Seat(0), &answer(r#"{"score":"fours","points":20}"#)).unwrap();
}

#[test]
fn yahtzee_refuses_what_does_not_parse() {
    let registry = Registry::standard();
    let kind = registry.kind("yahtzee").unwrap();
    let game = kind.set_up("{}", 2, &Seed::from_number(1)).unwrap();
    for json in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"keep":null}"#,
        r#"{"keep":[true,true]}"#,
        r#"{"keep":[true,true,true,true,true,true]}"#,
        r#"{"keep":[true,1,2,3,4]}"#,
        r#"{"keep":[1.5]}"#,
        r#"{"keep":[1],"score":"aces"}"#,
        r#"{"keep":[1],"points":1}"#,
        r#"{"keep":[1],"extra":1}"#,
        r#"{"score":1}"#,
        r#"{"dice":[1,2,3,4,5]}"#,
    ] {
        let refusal = game.check(Seat(0), json).expect_err(json);
        assert_eq!(refusal.kind, RefusalKind::Malformed, "{json}");
    }
}

/// An answer with impossible dice, boxes or points is an attempt to cheat, not a typing error.
#[test]
fn yahtzee_takes_impossible_claims_for_cheating() {
    let registry = Registry::standard();
    let kind = registry.kind("yahtzee").unwrap();
    let mut game = kind.set_up("{}", 2, &Seed::from_number(1)).unwrap();
    for json in [
        r#"{"keep":[-1]}"#,
        r#"{"keep":[7]}"#,
        r#"{"keep":[300]}"#,
        r#"{"keep":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}"#,
    ] {
        let refusal = game.check(Seat(0), json).expect_err(json);
        assert_eq!(refusal.code, "keepers-not-held", "{json}");
    }
    game.apply(Seat(0), r#"{"keep":[true,true,true,true,true]}"#).unwrap();
    for (json, code) in [
        (r#"{"score":"nines"}"#, "no-such-box"),
        (r#"{"score":""}"#, "no-such-box"),
        (r#"{"score":"aces","points":-1}"#, "wrong-points"),
        (r#"{"score":"aces","points":99999999999}"#, "wrong-points"),
        (r#"{"score":"aces","dice":[9,9,9,9,9]}"#, "wrong-dice"),
    ] {
        let refusal = game.check(Seat(0), json).expect_err(json);
        assert_eq!((refusal.kind, &*refusal.code), (RefusalKind::Illegal, code), "{json}");
    }
}
