//! No view tells what its reader may not know: hidden values change, the view stays the same.

use crate::common::{BOTH, drawn, first_roll, fixed, keep, pick_seat, stand};
use agon_games::yahtzee::{Config, DiceSource, Rule, ScoreBox, View, Yahtzee};
use agon_games::{Game, Seat, Viewer};
use proptest::prelude::*;

/// Plays one random step.
fn step(game: &mut Yahtzee, choice: u64) -> (Seat, <Yahtzee as Game>::Answer) {
    let seat = pick_seat(game.awaiting(), choice);
    let answer = game.playout_answer(seat, choice.rotate_left(17));
    game.apply(seat, &answer).unwrap();
    (seat, answer)
}

/// The dice of the game with every die replaced that `seat` (or the public, without a seat) has
/// not seen on the table.
fn with_other_unseen_dice(game: &Yahtzee, seat: Option<Seat>, other: &View) -> Vec<Vec<u8>> {
    let full = game.view(Viewer::Full);
    let (real, others) = (full.sequences.unwrap(), other.sequences.clone().unwrap());
    let turn = usize::from(full.turn) - 1;
    (0..13)
        .map(|at| {
            let seen_by = |player: usize| -> usize {
                let play = match at {
                    past if past < turn => &full.history[past][player],
                    now if now == turn => full.now[player].as_ref().unwrap(),
                    _ => return 0,
                };
                let rolled = |kept: &[bool; 5]| kept.iter().filter(|kept| !**kept).count();
                5 + play.kept.iter().map(rolled).sum::<usize>()
            };
            let seen = match seat {
                _ if at < turn => seen_by(0).max(seen_by(1)),
                Some(seat) => seen_by(seat.index()),
                None => 0,
            };
            [&real[0][at][..seen], &others[0][at][seen..]].concat()
        })
        .collect()
}

/// The direct writer of a view writes the same text as serde.
fn assert_written_alike(game: &Yahtzee) {
    for viewer in [Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1)), Viewer::Public, Viewer::Full] {
        let mut text = Vec::new();
        game.write_view(viewer, &mut text);
        let due = serde_json::to_string(&game.view(viewer)).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), due);
        let (mut text, mut due) = (Vec::new(), game.view(viewer));
        game.write_view_now(viewer, &mut text);
        if viewer != Viewer::Full {
            due.history.clear();
        }
        assert_eq!(serde_json::from_slice::<View>(&text).unwrap(), due);
    }
}

proptest! {
    #[test]
    fn yahtzee_views_are_written_alike_at_every_step(
        seed in any::<u64>(),
        rule in prop::sample::select(vec![Rule::Tournament, Rule::ForcedJoker, Rule::FreeJoker]),
        dice in prop::sample::select(vec![DiceSource::Duplicate, DiceSource::Independent]),
        choices in prop::collection::vec(any::<u64>(), 0..80),
        removed in prop::option::of((0..80_usize, 0..2_u8)),
    ) {
        let mut game = drawn(&Config { rule, dice, ..Config::default() }, seed);
        assert_written_alike(&game);
        for (at, choice) in choices.into_iter().enumerate() {
            if let Some((when, seat)) = removed && when == at {
                game.remove(Seat(seat));
            } else if !game.awaiting().is_empty() {
                step(&mut game, choice);
            }
            assert_written_alike(&game);
        }
    }

    /// Replays the same choices over dice that differ where the viewer has not looked yet.
    #[test]
    fn yahtzee_views_do_not_depend_on_dice_to_come(
        seed in any::<u64>(),
        other in any::<u64>(),
        choices in prop::collection::vec(any::<u64>(), 0..77),
    ) {
        let mut game = drawn(&Config::default(), seed);
        let mut log = Vec::new();
        for choice in choices {
            if game.awaiting().is_empty() {
                break;
            }
            log.push(step(&mut game, choice));
        }
        prop_assume!(game.outcome().is_none());
        let other = drawn(&Config::default(), other).view(Viewer::Full);
        for viewer in [Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1)), Viewer::Public] {
            let seat = match viewer { Viewer::Seat(seat) => Some(seat), _ => None };
            let dice = with_other_unseen_dice(&game, seat, &other);
            let config = Config { fixed_dice: Some(dice), ..Config::default() };
            let mut twin = drawn(&config, seed);
            for (seat, answer) in &log {
                twin.apply(*seat, answer).unwrap();
            }
            prop_assert_eq!(game.view(viewer), twin.view(viewer));
        }
    }

    /// Lets the opponent play the current turn in another way, as far as it has played it.
    #[test]
    fn yahtzee_views_hide_the_turn_of_the_opponent(
        seed in any::<u64>(),
        independent in any::<bool>(),
        turns in 0..12usize,
        own in prop::collection::vec(any::<u64>(), 0..4),
        first in prop::collection::vec(any::<u64>(), 3),
        second in prop::collection::vec(any::<u64>(), 3),
        finished in any::<bool>(),
    ) {
        let dice = if independent { DiceSource::Independent } else { DiceSource::Duplicate };
        let mut game = drawn(&Config { dice, ..Config::default() }, seed);
        for at in &ScoreBox::ALL[..turns] {
            BOTH.iter().for_each(|seat| stand(&mut game, *seat, *at));
        }
        // The seat itself stays short of scoring, so that the opponent cannot end the turn.
        for choice in own {
            if game.legal(Seat(0)).len() == 32 {
                let answer = game.playout_answer(Seat(0), choice);
                game.apply(Seat(0), &answer).unwrap();
            }
        }
        let mut games = [game.clone(), game.clone()];
        for (game, choices) in games.iter_mut().zip([first, second]) {
            for choice in choices {
                let scores = game.legal(Seat(1)).len() != 32;
                if game.awaiting().contains(Seat(1)) && (finished || !scores) {
                    let answer = game.playout_answer(Seat(1), choice);
                    game.apply(Seat(1), &answer).unwrap();
                }
            }
        }
        for viewer in [Viewer::Seat(Seat(0)), Viewer::Public] {
            prop_assert_eq!(games[0].view(viewer), games[1].view(viewer));
            if !finished {
                prop_assert_eq!(games[0].view(viewer), game.view(viewer));
            }
        }
    }

    /// A view survives a round trip over a wire.
    #[test]
    fn yahtzee_views_questions_and_answers_survive_json(
        seed in any::<u64>(),
        choices in prop::collection::vec(any::<u64>(), 0..80),
    ) {
        let mut game = drawn(&Config { rule: Rule::FreeJoker, ..Config::default() }, seed);
        for choice in choices {
            if game.awaiting().is_empty() {
                break;
            }
            let (_, answer) = step(&mut game, choice);
            prop_assert_eq!(round_trip(&answer), answer);
        }
        for viewer in [Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1)), Viewer::Public, Viewer::Full] {
            let view = game.view(viewer);
            prop_assert_eq!(round_trip(&view), view);
        }
        for seat in game.awaiting() {
            let question = game.question(seat);
            prop_assert_eq!(round_trip(&question), question);
        }
    }
}

fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[test]
fn yahtzee_own_card_is_up_to_date_and_the_other_is_not() {
    let mut game = drawn(&Config::default(), 2);
    stand(&mut game, Seat(0), ScoreBox::Chance);
    keep(&mut game, Seat(1), [false; 5]);
    let own = game.view(Viewer::Seat(Seat(0)));
    let other = game.view(Viewer::Seat(Seat(1)));
    let public = game.view(Viewer::Public);
    assert!(own.cards[0].boxes.of(ScoreBox::Chance).is_some() && own.cards[0].total >= 5);
    assert!(own.now[0].as_ref().unwrap().scored.is_some() && own.now[1].is_none());
    assert_eq!((other.cards[0].total, other.cards[0].boxes.of(ScoreBox::Chance)), (0, None));
    assert_eq!(other.now[1].as_ref().unwrap().rolls.len(), 2);
    assert_eq!((&public.cards, &public.now), (&other.cards, &[None, None]));
    assert_eq!(public.unfinished, [Seat(1)]);
    assert_eq!((own.sequences, other.sequences, public.sequences), (None, None, None));
}

#[test]
fn yahtzee_bonus_of_a_turn_is_hidden_until_both_have_scored() {
    let mut game = fixed(Config::default(), &[first_roll(&[5; 5]), first_roll(&[5; 5])]);
    BOTH.iter().for_each(|seat| stand(&mut game, *seat, ScoreBox::Yahtzee));
    stand(&mut game, Seat(0), ScoreBox::Fives);
    let card = |game: &Yahtzee, viewer| {
        let card = &game.view(viewer).cards[0];
        (card.yahtzee_bonuses, card.total)
    };
    assert_eq!(card(&game, Viewer::Seat(Seat(0))), (1, 175));
    assert_eq!(card(&game, Viewer::Seat(Seat(1))), (0, 50));
    assert_eq!(card(&game, Viewer::Public), (0, 50));
    stand(&mut game, Seat(1), ScoreBox::Fives);
    assert_eq!(card(&game, Viewer::Public), (1, 175));
}
