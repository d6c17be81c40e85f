//! Fish under random play: it agrees with a second, naive writing of the rules at every step, ends,
//! replays, and accepts exactly the answers it lists.

#[path = "fish_support/naive.rs"]
mod naive;

use agon_games::fish::{Action, Answer, Config, Fish, Phase, Position, View};
use agon_games::{Game, RefusalKind, Seat, Seed, Viewer};
use naive::{Naive, Place};
use proptest::prelude::*;

/// One thing that happens: somebody answers, chosen by a number, or a seat is removed.
#[derive(Clone, Copy, Debug)]
enum Event {
    Answer(u64),
    Remove(u8),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        60 => any::<u64>().prop_map(Event::Answer),
        1 => (0..5u8).prop_map(Event::Remove),
    ];
    prop::collection::vec(event, 500)
}

fn configs(side_max: u32) -> impl Strategy<Value = Config> {
    let fish = prop::option::weighted(0.3, 1..=5u8);
    (1..=side_max, 1..=side_max, fish, 0..20u32).prop_map(|(rows, columns, fish, difficulty)| {
        Config { rows, columns, fish, difficulty, room_check: false, ..Config::default() }
    })
}

fn at((row, column): Place) -> Position {
    Position::new(row, column)
}

fn legal(naive: &Naive, seat: usize) -> Vec<Answer> {
    if naive.placing {
        return naive.placements().into_iter().map(|place| Answer::Place(at(place))).collect();
    }
    let action = |(from, to)| Answer::Move(Action { from: at(from), to: at(to) });
    naive.moves(seat).into_iter().map(action).collect()
}

fn follow(naive: &mut Naive, seat: usize, answer: &Answer) {
    let place = |position: Position| (position.row, position.column);
    match answer {
        Answer::Ok => unreachable!("nobody is asked to confirm"),
        Answer::Place(position) => naive.place(seat, place(*position)),
        Answer::Move(action) => naive.slide(seat, place(action.from), place(action.to)),
    }
}

/// Both writings of the rules see the same game.
fn compare(game: &Fish, naive: &Naive) {
    let view = game.view(Viewer::Public);
    assert_eq!(view.turn.map(Seat::index), naive.turn);
    assert_eq!(game.awaiting().first(), view.turn);
    let phase = match (naive.turn, naive.placing) {
        (None, _) => Phase::Over,
        (_, true) => Phase::Place,
        (_, false) => Phase::Move,
    };
    assert_eq!(view.phase, phase);
    for (row, fish) in view.board.rows().enumerate() {
        for (column, fish) in fish.iter().enumerate() {
            let tile = naive.tiles.get(&(row as i64, column as i64)).copied().unwrap_or(0);
            assert_eq!(u32::from(*fish), tile, "{row},{column}");
        }
    }
    for (seen, seat) in view.players.iter().zip(&naive.seats) {
        let places: Vec<Position> = seat.places.iter().map(|place| at(*place)).collect();
        assert_eq!((seen.score, &seen.places, seen.removed), (seat.score, &places, seat.removed));
    }
}

/// The invariants of every state.
fn keeps_promises(game: &Fish) {
    assert_eq!(game.outcome().is_none(), !game.awaiting().is_empty());
    for seat in Seat::all(game.seats()) {
        let asked = game.awaiting().contains(seat);
        assert_eq!(game.question(seat).is_some(), asked);
        assert_eq!(game.legal(seat).is_empty(), !asked);
        let view = game.view(Viewer::Seat(seat));
        let text = serde_json::to_string(&view).unwrap();
        assert_eq!(serde_json::from_str::<View>(&text).unwrap(), view);
        for answer in game.legal(seat).iter().take(3) {
            let text = serde_json::to_string(answer).unwrap();
            assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), *answer);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn fish_agrees_with_the_naive_rules_ends_and_replays(
        config in configs(9), seats in 2..=4usize, number: u64, events in events(),
    ) {
        let mut game = Fish::new(&config, seats, &Seed::from_number(number)).unwrap();
        let mut again = game.clone();
        let mut naive = Naive::new(&Vec::from(game.view(Viewer::Public).board), seats);
        prop_assert!(game.drawn().is_some());
        for event in events {
            compare(&game, &naive);
            keeps_promises(&game);
            match (event, game.awaiting().first()) {
                (_, None) => break,
                (Event::Answer(choice), Some(seat)) => {
                    let legal = legal(&naive, seat.index());
                    prop_assert_eq!(&game.legal(seat), &legal);
                    let answer = game.playout_answer(seat, choice);
                    prop_assert!(legal.contains(&answer));
                    game.apply(seat, &answer).unwrap();
                    prop_assert!(again != game);
                    again.apply(seat, &answer).unwrap();
                    follow(&mut naive, seat.index(), &answer);
                    prop_assert!(game.drawn().is_none());
                }
                (Event::Remove(seat), _) => {
                    game.remove(Seat(seat));
                    again.remove(Seat(seat));
                    if usize::from(seat) < seats {
                        naive.remove(seat.into());
                    }
                }
            }
            prop_assert!(again == game);
        }
        // A game has at most 9 placements and as many moves as tiles, so 500 events end it.
        let outcome = game.outcome().unwrap();
        let scores: Vec<i64> = naive.seats.iter().map(|seat| seat.score.into()).collect();
        prop_assert_eq!(outcome.scores, scores);
        let over = game.clone();
        Seat::all(seats).for_each(|seat| game.remove(seat));
        prop_assert!(over == game);
    }

    #[test]
    fn fish_accepts_exactly_what_it_lists_and_refusals_change_nothing(
        config in configs(5), seats in 2..=4usize, number: u64, choices: [u64; 12],
    ) {
        let mut game = Fish::new(&config, seats, &Seed::from_number(number)).unwrap();
        for choice in choices {
            let Some(seat) = game.awaiting().first() else { break };
            try_everything(&game, &config, seat);
            let answer = game.playout_answer(seat, choice);
            game.apply(seat, &answer).unwrap();
        }
    }
}

/// Every answer with coordinates on the board, around it and far off it.
fn try_everything(game: &Fish, config: &Config, seat: Seat) {
    let numbers = |end: u32| (-2..i64::from(end) + 2).chain([i64::MIN, i64::MAX, 1 << 32]);
    let places: Vec<Position> = numbers(config.rows)
        .flat_map(|row| numbers(config.columns).map(move |column| Position::new(row, column)))
        .collect();
    let legal = game.legal(seat);
    let placing = game.phase() == Phase::Place;
    let mut accepted = Vec::new();
    let mut attempt = |answer: Answer, kind: RefusalKind| match game.check(seat, &answer) {
        Ok(()) => accepted.push(answer),
        Err(refusal) => {
            assert_eq!(refusal.kind, kind, "{answer:?}");
            let mut same = game.clone();
            assert_eq!(same.apply(seat, &answer), Err(refusal));
            assert!(same == *game);
        }
    };
    let (place, slide) = match placing {
        true => (RefusalKind::Illegal, RefusalKind::WrongKind),
        false => (RefusalKind::WrongKind, RefusalKind::Illegal),
    };
    attempt(Answer::Ok, RefusalKind::WrongKind);
    for from in &places {
        attempt(Answer::Place(*from), place);
        for to in places.iter().filter(|_| !placing) {
            attempt(Answer::Move(Action { from: *from, to: *to }), slide);
        }
    }
    accepted.sort_by_key(|answer| match answer {
        Answer::Move(action) => (action.from, action.to),
        Answer::Place(position) => (*position, *position),
        Answer::Ok => unreachable!("never accepted here"),
    });
    assert_eq!(accepted, legal);
    for other in Seat::all(game.seats()).filter(|other| *other != seat).chain([Seat(200)]) {
        let refusal = game.check(other, &legal[0]).unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::NotAsked);
    }
}
