//! Random games: they end, agree with the naive implementation, and keep the promises of the
//! trait.

use crate::common::{drawn, pick_seat};
use crate::naive::{BOXES, Table, sequences};
use agon_games::yahtzee::{Answer, Config, DiceSource, Keep, Places, Rule, ScoreBox, Yahtzee};
use agon_games::{Game, Seat, Seed};
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = Config> {
    let dice = prop_oneof![Just(DiceSource::Duplicate), Just(DiceSource::Independent)];
    let rule = prop_oneof![Just(Rule::Tournament), Just(Rule::ForcedJoker), Just(Rule::FreeJoker)];
    // Five alike are rare, so every other game has many of them.
    let fixed = prop::option::of(prop::collection::vec(alike_dice(), 13));
    (dice, rule, fixed).prop_map(|(dice, rule, fixed_dice)| Config { dice, rule, fixed_dice })
}

fn alike_dice() -> impl Strategy<Value = Vec<u8>> {
    (1..=6u8, prop::collection::vec(1..=6u8, 10)).prop_map(|(value, rest)| {
        let mut dice = vec![value; 5];
        dice.extend(rest);
        dice
    })
}

fn naive_of(config: &Config, seed: &Seed) -> Table {
    let rule = serde_json::to_value(config.rule).unwrap();
    let turns = match (&config.fixed_dice, config.dice) {
        (Some(fixed), _) => [fixed.clone(), fixed.clone()],
        (None, DiceSource::Duplicate) => ["dice"; 2].map(|label| sequences(seed, label)),
        (None, DiceSource::Independent) => ["dice.0", "dice.1"].map(|label| sequences(seed, label)),
    };
    Table::new(rule.as_str().unwrap(), turns)
}

/// Applies an answer to the naive game.
fn follow(table: &mut Table, seat: Seat, answer: &Answer) {
    match answer {
        Answer::Keep(Keep::Places(places)) => table.keep(seat.index(), places.flags()),
        Answer::Keep(Keep::Values(_)) | Answer::NoSuchBox => unreachable!("never listed"),
        Answer::Score(score) => {
            table.score(seat.index(), BOXES[score.at.index()]);
        }
    }
}

/// Every spelling of every answer by place and box, legal or not.
fn conceivable() -> Vec<Answer> {
    let keeps = (0..32).map(|bits| Answer::Keep(Keep::Places(Places::from_bits(bits))));
    keeps.chain(ScoreBox::ALL.map(Answer::score)).collect()
}

/// Keeps five alike more often than chance would.
fn choose(game: &Yahtzee, seat: Seat, choice: u64) -> Answer {
    if choice & 3 == 0 && game.legal(seat).len() == 32 {
        return Answer::keep_places([true; 5]);
    }
    game.playout_answer(seat, choice)
}

proptest! {
    #[test]
    fn yahtzee_agrees_with_the_naive_game(
        config in configs(),
        seed in any::<u64>(),
        choices in prop::collection::vec(any::<u64>(), 78),
    ) {
        let mut game = drawn(&config, seed);
        let mut table = naive_of(&config, &Seed::from_number(seed));
        for choice in choices {
            if game.awaiting().is_empty() {
                break;
            }
            for seat in game.awaiting() {
                let open: Vec<&str> = table.open(seat.index());
                let listed = game.legal(seat);
                if table.may_keep(seat.index()) == Some(true) {
                    prop_assert_eq!(listed.len(), 32);
                } else {
                    let names: Vec<&str> = listed.iter().map(|answer| match answer {
                        Answer::Score(score) => score.at.name(),
                        other => unreachable!("{other:?} is no box"),
                    }).collect();
                    prop_assert_eq!(names, open);
                }
            }
            let seat = pick_seat(game.awaiting(), choice);
            let answer = choose(&game, seat, choice);
            game.apply(seat, &answer).unwrap();
            follow(&mut table, seat, &answer);
        }
        let outcome = game.outcome();
        prop_assert!(outcome.is_some(), "78 answers end every game");
        let totals = [0, 1].map(|seat| table.total(seat) as i64);
        prop_assert_eq!(outcome.unwrap().scores, totals);
    }

    /// The game accepts exactly the listed answers, a rejected one changes nothing, and a
    /// playout's answer is one of those listed.
    #[test]
    fn yahtzee_lists_exactly_what_it_accepts(
        config in configs(),
        seed in any::<u64>(),
        choices in prop::collection::vec(any::<u64>(), 0..78),
    ) {
        let mut game = drawn(&config, seed);
        for choice in choices {
            if game.awaiting().is_empty() {
                break;
            }
            let seat = pick_seat(game.awaiting(), choice);
            let answer = choose(&game, seat, choice);
            game.apply(seat, &answer).unwrap();
        }
        for seat in [Seat(0), Seat(1)] {
            let listed = game.legal(seat);
            prop_assert_eq!(listed.is_empty(), !game.awaiting().contains(seat));
            prop_assert_eq!(listed.is_empty(), game.question(seat).is_none());
            for answer in conceivable() {
                let mut after = game.clone();
                let accepted = after.apply(seat, &answer);
                prop_assert_eq!(accepted.is_ok(), listed.contains(&answer));
                prop_assert_eq!(game.check(seat, &answer), accepted.clone());
                prop_assert!(accepted.is_ok() || after == game);
            }
        }
    }

    #[test]
    fn yahtzee_replays_equal(
        config in configs(),
        seed in any::<u64>(),
        choices in prop::collection::vec(any::<u64>(), 0..78),
        removed in prop::option::of(0..2u8),
    ) {
        let play = || {
            let mut game = drawn(&config, seed);
            let mut drawn = vec![game.drawn_value()];
            for choice in &choices {
                if game.awaiting().is_empty() {
                    break;
                }
                let seat = pick_seat(game.awaiting(), *choice);
                let answer = choose(&game, seat, *choice);
                game.apply(seat, &answer).unwrap();
                drawn.push(game.drawn_value());
            }
            if let Some(seat) = removed {
                game.remove(Seat(seat));
            }
            (game, drawn)
        };
        prop_assert_eq!(play(), play());
    }
}

/// Every legal answer is reached by some choice, about equally often.
#[test]
fn yahtzee_playouts_pick_evenly() {
    let mut game = drawn(&Config::default(), 1);
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state.rotate_left(29)
    };
    while !game.awaiting().is_empty() {
        for seat in game.awaiting() {
            let legal = game.legal(seat);
            let mut counts = vec![0usize; legal.len()];
            let draws = 400 * legal.len();
            for _ in 0..draws {
                let answer = game.playout_answer(seat, random());
                counts[legal.iter().position(|listed| *listed == answer).unwrap()] += 1;
            }
            assert!(counts.iter().all(|count| (300..500).contains(count)), "{counts:?}");
            let answer = game.playout_answer(seat, random());
            game.apply(seat, &answer).unwrap();
        }
    }
}
