//! The champion of Fish and its levels: it wins, it repeats itself, and it plays on any board.
//! `docs/strength.md` has the figures of long runs.

use agon_bots::Houses;
use agon_games::{Registry, Seat, Seed};
use std::time::Duration;

/// The games that the first player wins and loses against the second, on `boards` boards with both
/// seats each.
fn duel(first: &str, second: &str, boards: u64) -> [u32; 2] {
    let (houses, registry) = (Houses::standard(), Registry::standard());
    let kind = registry.kind("fish").unwrap();
    let mut won = [0, 0];
    for number in 0..2 * boards {
        let mut game = kind.set_up("{}", 2, &Seed::from_number(number / 2)).unwrap();
        let own = Seat((number % 2) as u8);
        let mut step = 0;
        while let Some(seat) = game.awaiting().first() {
            let name = if seat == own { first } else { second };
            let key = format!("{number}/{step}");
            let answer = houses.make("fish", name).unwrap().answer(name, &key, seat, &*game);
            game.apply(seat, answer.get()).unwrap();
            step += 1;
        }
        let winners = game.outcome().unwrap().winners();
        if winners.len() == 1 {
            won[usize::from(!winners.contains(own))] += 1;
        }
    }
    won
}

#[test]
fn champion_wins_four_of_five_games_against_richest() {
    let [won, lost] = duel("champion", "richest", 8);
    assert!(won >= 13, "{won} won and {lost} lost of 16");
}

#[test]
fn richest_beats_the_search_that_places_on_the_first_tile() {
    let [won, lost] = duel("richest", "search:3", 20);
    assert!(won > 2 * lost, "{won} won and {lost} lost of 40");
}

#[test]
fn every_level_beats_the_one_below() {
    for (level, boards) in [(2, 20), (3, 20), (4, 12), (5, 6)] {
        let (upper, lower) = (format!("level-{level}"), format!("level-{}", level - 1));
        let [won, lost] = duel(&upper, &lower, boards);
        assert!(won > lost, "{upper} against {lower}: {won} won and {lost} lost");
    }
}

#[test]
fn champion_answers_legally_on_any_board_and_after_removals() {
    let (houses, registry) = (Houses::standard(), Registry::standard());
    let kind = registry.kind("fish").unwrap();
    for (config, seats) in [
        (r#"{"rows": 1, "columns": 9}"#, 2),
        (r#"{"rows": 20, "columns": 20}"#, 4),
        (r#"{"rows": 9, "columns": 7, "difficulty": 30, "confirm": true}"#, 3),
        (r#"{"rows": 2, "columns": 3, "room_check": false}"#, 4),
    ] {
        let mut game = kind.set_up(config, seats, &Seed::from_number(3)).unwrap();
        let mut step = 0;
        while let Some(seat) = game.awaiting().first() {
            let name = if seat.index() == 0 { "champion" } else { "level-2" };
            let mut player = houses.make("fish", name).unwrap();
            // A short limit ends the search early; the answer is legal all the same.
            player.limit_time(Duration::from_millis(2));
            let answer = player.answer(name, &step.to_string(), seat, &*game);
            game.apply(seat, answer.get()).unwrap();
            step += 1;
            if step == 14 && seats > 2 {
                game.remove(Seat(1));
            }
        }
    }
}

#[test]
fn champion_repeats_its_answers() {
    let (houses, registry) = (Houses::standard(), Registry::standard());
    let kind = registry.kind("fish").unwrap();
    let mut game = kind.set_up("{}", 2, &Seed::from_number(11)).unwrap();
    for step in 0..12 {
        let seat = game.awaiting().first().unwrap();
        let mut answers = (0..2).map(|_| {
            let mut player = houses.make("fish", "champion").unwrap();
            player.answer("champion", &step.to_string(), seat, &*game).get().to_owned()
        });
        let first = answers.next().unwrap();
        assert_eq!(answers.next().as_ref(), Some(&first));
        game.apply(seat, &first).unwrap();
    }
}
