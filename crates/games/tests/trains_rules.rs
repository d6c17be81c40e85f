//! The rules of Trains on a small map with fixed decks: one test per rule.

use agon_games::trains::{Answer, Color, Config, Deed, Map, Question, Trains};
use agon_games::{Game, RefusalKind, Seat, SeatSet, Seed, SetupError, Viewer};

/// Five cities on a ring: ten destinations, enough for three players.
fn ring() -> Map {
    Map::parse(include_str!("data/trains/ring.json")).expect("a map")
}

fn config(deck: Vec<Color>, confirm: bool) -> Config {
    Config { deck: Some(deck), confirm, ..Config::default() }.with_map(ring())
}

fn game(seats: usize, deck: Vec<Color>) -> Trains {
    Trains::new(&config(deck, false), seats, &Seed::from_number(0)).expect("a game")
}

/// Everybody keeps the first two destinations.
fn picked(seats: usize, deck: Vec<Color>) -> Trains {
    let mut game = game(seats, deck);
    for seat in Seat::all(seats) {
        let first = game.legal(seat).remove(0);
        game.apply(seat, &first).expect("legal");
    }
    game
}

fn answer(text: &str) -> Answer {
    serde_json::from_str(text).expect("an answer")
}

fn acquire(text: &str) -> Answer {
    answer(&format!(r#"{{"acquire":{text}}}"#))
}

fn code(game: &Trains, seat: u8, answer: &Answer) -> String {
    game.check(Seat(seat), answer).expect_err("refused").code.into_owned()
}

/// 250 cards in an even mix.
fn mixed() -> Vec<Color> {
    (0..250).map(|at| Color::ALL[at % 4]).collect()
}

/// Seat 0 acquires whatever it can, the others ask for cards, until seat 0 is short of rails.
fn until_last_turns(seats: usize) -> Trains {
    let mut game = picked(seats, mixed());
    while game.view(Viewer::Public).last_turns.is_none() {
        let seat = game.awaiting().first().expect("not over yet");
        let choice = match seat {
            Seat(0) => game.legal(seat).into_iter().max_by_key(price).expect("legal"),
            _ => Answer::MoreCards,
        };
        game.apply(seat, &choice).expect("legal");
    }
    game
}

fn price(answer: &Answer) -> u8 {
    match answer {
        Answer::Acquire(connection) => connection.length.segments(),
        _ => 0,
    }
}

#[test]
fn players_are_set_up_one_after_the_other_from_the_front() {
    let mut game = game(3, mixed());
    for (seat, first) in [(0, "A"), (1, "A"), (2, "B")] {
        assert_eq!(game.awaiting(), SeatSet::one(Seat(seat)));
        let Some(Question::Pick { destinations }) = game.question(Seat(seat)) else {
            panic!("a pick")
        };
        assert_eq!(destinations[0].first().as_str(), first);
        assert!(destinations.is_sorted());
        game.apply(Seat(seat), &Answer::Return(destinations[2..].to_vec())).expect("legal");
        let own = &game.view(Viewer::Full).players[usize::from(seat)];
        assert_eq!(own.destinations, Some([destinations[0], destinations[1]]));
        assert_eq!((own.rails, own.hand.expect("open").counts()), (45, [1; 4]));
    }
    assert_eq!(game.question(Seat(0)), Some(Question::Play {}));
    assert_eq!(game.view(Viewer::Public).deck, 238);
}

#[test]
fn destinations_of_a_removed_player_are_not_offered_again() {
    let mut game = game(3, mixed());
    let offered = |game: &Trains, seat: u8| match game.question(Seat(seat)) {
        Some(Question::Pick { destinations }) => destinations.to_vec(),
        other => panic!("{other:?}"),
    };
    let first = offered(&game, 0);
    game.apply(Seat(0), &Answer::Return(first[2..].to_vec())).expect("legal");
    game.remove(Seat(0));
    for seat in [1, 2] {
        let next = offered(&game, seat);
        assert!(!next.contains(&first[0]) && !next.contains(&first[1]), "{next:?}");
        game.apply(Seat(seat), &Answer::Return(next[2..].to_vec())).expect("legal");
    }
}

#[test]
fn picks_must_give_back_three_of_the_five() {
    let game = game(2, mixed());
    let of = |pairs: &str| answer(&format!(r#"{{"return":{pairs}}}"#));
    assert_eq!(code(&game, 0, &of(r#"[["A","B"],["A","C"]]"#)), "not-three");
    assert_eq!(code(&game, 0, &of(r#"[["A","B"],["A","C"],["B","A"]]"#)), "twice");
    assert_eq!(code(&game, 0, &of(r#"[["A","B"],["A","C"],["D","E"]]"#)), "not-offered");
    assert_eq!(code(&game, 1, &of(r#"[["A","B"],["A","C"],["A","D"]]"#)), "not-asked");
    let wrong = game.check(Seat(0), &Answer::MoreCards).expect_err("refused");
    assert_eq!(wrong.kind, RefusalKind::WrongKind);
    assert_eq!(game.check(Seat(0), &of(r#"[["E","A"],["B","C"],["A","B"]]"#)), Ok(()));
}

#[test]
fn connections_are_on_the_map_free_and_paid_for() {
    let mut deck = vec![Color::Red; 8];
    deck.extend([Color::Blue; 6]);
    let mut game = picked(2, deck);
    assert_eq!(code(&game, 0, &acquire(r#"["A","D","red",3]"#)), "not-on-map");
    assert_eq!(code(&game, 0, &acquire(r#"["A","C","red",4]"#)), "not-on-map");
    assert_eq!(code(&game, 0, &acquire(r#"["A","B","red",5]"#)), "too-few-cards");
    let wrong = game.check(Seat(0), &Answer::Ok).expect_err("refused");
    assert_eq!(wrong.kind, RefusalKind::WrongKind);
    game.apply(Seat(0), &acquire(r#"["C","A","red",3]"#)).expect("legal");
    assert_eq!(code(&game, 1, &acquire(r#"["A","C","red",3]"#)), "held");
    let own = &game.view(Viewer::Seat(Seat(0))).players[0];
    assert_eq!((own.rails, own.cards), (42, 1));
    // Removal frees what a player holds.
    game.remove(Seat(0));
    game.apply(Seat(1), &acquire(r#"["A","C","red",3]"#)).expect("free again");
    let gone = &game.view(Viewer::Full).players[0];
    assert!(gone.out && gone.acquired.is_empty());
    assert_eq!((gone.rails, gone.cards), (0, 0));
}

/// Two players on a map with many connections who spent all but three of their rails on short
/// connections.
fn nearly_out_of_rails() -> Trains {
    let map = Map::parse(include_str!("data/trains/large_map.json")).expect("a map");
    let config = Config { deck: Some(mixed()), ..Config::default() }.with_map(map);
    let mut game = Trains::new(&config, 2, &Seed::from_number(0)).expect("a game");
    loop {
        let seat = game.awaiting().first().expect("not over yet");
        let rails = |seat: Seat| game.view(Viewer::Public).players[seat.index()].rails;
        let short = game.legal(seat).into_iter().find(|answer| price(answer) == 3);
        let choice = match (game.question(seat), short) {
            (Some(Question::Play {}), Some(short)) if rails(seat) > 3 => short,
            (Some(Question::Play {}), Some(_)) if rails(Seat(0)) + rails(Seat(1)) == 6 => {
                return game;
            }
            (Some(Question::Play {}), _) => Answer::MoreCards,
            _ => game.legal(seat).remove(0),
        };
        game.apply(seat, &choice).expect("legal");
    }
}

#[test]
fn rails_are_needed_too() {
    let mut game = nearly_out_of_rails();
    for _ in 0..20 {
        let seat = game.awaiting().first().expect("a turn");
        game.apply(seat, &Answer::MoreCards).expect("legal");
    }
    let seat = game.awaiting().first().expect("a turn");
    let refused = game.view(Viewer::Public).map.connections().iter().find_map(|connection| {
        let refusal = game.check(seat, &Answer::Acquire(*connection)).err()?;
        (refusal.code == "too-few-rails").then_some(connection.length.segments())
    });
    assert!(refused.expect("cards for a long one") > 3);
}

#[test]
fn two_idle_turns_of_two_players_end_the_game() {
    let mut game = picked(2, vec![Color::White; 9]);
    for seat in [0, 1] {
        assert_eq!(game.outcome(), None);
        game.apply(Seat(seat), &Answer::MoreCards).expect("one card left is none");
    }
    let outcome = game.outcome().expect("over");
    assert_eq!(outcome.scores, [-20, -20], "nobody has a longest path");
    assert_eq!(outcome.ranks, [Some(1), Some(1)]);
}

#[test]
fn idle_turns_are_counted_anew_after_a_removal() {
    let mut game = picked(3, vec![Color::White; 12]);
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    game.apply(Seat(1), &Answer::MoreCards).expect("legal");
    game.remove(Seat(2));
    assert_eq!(game.outcome(), None);
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    assert_eq!(game.outcome(), None);
    game.apply(Seat(1), &Answer::MoreCards).expect("legal");
    assert_eq!(game.outcome().expect("over").ranks, [Some(1), Some(1), None]);
}

#[test]
fn an_acquisition_interrupts_idle_turns() {
    let mut game = picked(2, vec![Color::White; 8]);
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    game.apply(Seat(1), &acquire(r#"["B","C","white",3]"#)).expect("legal");
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    assert_eq!(game.outcome(), None);
    game.apply(Seat(1), &Answer::MoreCards).expect("legal");
    // Seat 0 keeps A–B and A–C, seat 1 the next two; seat 1 has 3 segments and the longest path.
    assert_eq!(game.outcome().expect("over").scores, [-20, 3 + 20 - 20]);
}

#[test]
fn every_other_player_has_exactly_one_last_turn() {
    let mut game = until_last_turns(3);
    for seat in [1, 2] {
        assert_eq!(game.awaiting(), SeatSet::one(Seat(seat)));
        assert_eq!(game.outcome(), None);
        game.apply(Seat(seat), &Answer::MoreCards).expect("legal");
    }
    assert!(game.outcome().is_some());
}

#[test]
fn removals_in_the_last_turns_neither_add_nor_take_turns() {
    let mut game = until_last_turns(3);
    game.remove(Seat(0));
    assert_eq!(game.awaiting(), SeatSet::one(Seat(1)));
    game.remove(Seat(1));
    assert_eq!(game.awaiting(), SeatSet::one(Seat(2)));
    game.apply(Seat(2), &Answer::MoreCards).expect("legal");
    assert!(game.outcome().is_some());

    let mut game = until_last_turns(3);
    game.remove(Seat(2));
    game.remove(Seat(1));
    assert_eq!(game.outcome().expect("over").ranks, [Some(1), None, None]);
}

/// A second player that runs out of rails in the last turns starts no further ones.
#[test]
fn last_turns_come_once() {
    let mut game = nearly_out_of_rails();
    for _ in 0..2 {
        assert_eq!(game.outcome(), None);
        let seat = game.awaiting().first().expect("one more turn");
        let best = game.legal(seat).into_iter().max_by_key(price).expect("legal");
        assert_eq!(price(&best), 3);
        game.apply(seat, &best).expect("legal");
    }
    assert!(game.outcome().is_some());
}

#[test]
fn a_lone_player_goes_on_until_it_is_idle_or_gone() {
    let mut game = picked(2, vec![Color::Red; 10]);
    game.remove(Seat(0));
    game.apply(Seat(1), &Answer::MoreCards).expect("legal");
    game.apply(Seat(1), &acquire(r#"["A","C","red",3]"#)).expect("legal");
    assert_eq!(game.outcome(), None);
    let mut gone = game.clone();
    game.apply(Seat(1), &Answer::MoreCards).expect("legal");
    assert_eq!(game.outcome().expect("over").ranks, [None, Some(1)]);
    gone.remove(Seat(1));
    assert_eq!(gone.outcome().expect("over").ranks, [None, None]);
    assert_eq!(gone.awaiting(), SeatSet::EMPTY);
}

#[test]
fn confirmations_are_asked_for_in_the_order_of_the_wire() {
    let mut game =
        Trains::new(&config(vec![Color::Red; 12], true), 2, &Seed::from_number(0)).expect("a game");
    for seat in [Seat(0), Seat(1)] {
        let cards = [Color::Red; 4];
        assert_eq!(game.question(seat), Some(Question::Setup { rails: 45, cards }));
        assert_eq!(game.check(seat, &Answer::MoreCards).expect_err("refused").code, "wrong-kind");
        game.apply(seat, &Answer::Ok).expect("legal");
        let pick = game.legal(seat).remove(0);
        game.apply(seat, &pick).expect("legal");
    }
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    assert_eq!(game.question(Seat(0)), Some(Question::More { cards: [Color::Red; 2] }));
    game.apply(Seat(0), &Answer::Ok).expect("legal");
    game.apply(Seat(1), &Answer::MoreCards).expect("legal");
    game.remove(Seat(1));
    assert_eq!(game.question(Seat(0)), Some(Question::Play {}));
    // Nothing left: no cards to confirm.
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    assert_eq!(game.outcome().expect("over").ranks, [Some(1), None]);
}

#[test]
fn a_player_lost_before_its_set_up_gets_no_cards() {
    let mut game = game(3, mixed());
    game.remove(Seat(1));
    let pick = game.legal(Seat(0)).remove(0);
    game.apply(Seat(0), &pick).expect("legal");
    assert_eq!(game.awaiting(), SeatSet::one(Seat(2)));
    game.remove(Seat(2));
    assert_eq!(game.question(Seat(0)), Some(Question::Play {}));
    let view = game.view(Viewer::Public);
    assert_eq!(view.deck, 250 - 8, "seat 2 was dealt cards that are gone");
    let deeds: Vec<&Deed> = view.history.iter().map(|action| &action.did).collect();
    assert_eq!(deeds, [&Deed::Removed, &Deed::Picked, &Deed::Removed]);
}

#[test]
fn maps_and_decks_must_serve_the_players() {
    let set_up = |deck: usize, seats| {
        Trains::new(&config(vec![Color::Red; deck], false), seats, &Seed::from_number(0))
    };
    assert_eq!(
        set_up(250, 4).expect_err("ten destinations"),
        SetupError::TooSmall("not enough destinations".into())
    );
    assert!(matches!(set_up(11, 3), Err(SetupError::Config(_))));
    assert!(matches!(set_up(251, 3), Err(SetupError::Config(_))));
    assert!(matches!(set_up(250, 9), Err(SetupError::Seats { .. })));
    assert!(set_up(12, 3).is_ok());
}

#[test]
fn luck_of_the_latest_step_is_told() {
    let mut game = game(2, mixed());
    let drawn = game.drawn_value().expect("cards and destinations");
    assert_eq!(drawn["seat"], 0);
    assert_eq!(drawn["cards"].as_array().map(Vec::len), Some(4));
    assert_eq!(drawn["offered"].as_array().map(Vec::len), Some(5));
    for seat in Seat::all(2) {
        let pick = game.legal(seat).remove(0);
        game.apply(seat, &pick).expect("legal");
    }
    assert_eq!(game.drawn_value(), None);
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    let cards = serde_json::json!({"seat": 0, "cards": ["blue", "green"]});
    assert_eq!(game.drawn_value(), Some(cards));
}

#[test]
fn people_can_read_the_game() {
    let mut game = picked(2, vec![Color::Red; 20]);
    let before = game.clone();
    let take = acquire(r#"["A","C","red",3]"#);
    game.apply(Seat(0), &take).expect("legal");
    assert_eq!(game.tell(&before, Seat(0), &take), "takes A – C (red, 3)");
    let text = game.render(&["Ann".into(), "Bob".into()], false);
    assert!(text.contains(" 1 Ann: 42 rails; 0 blue, 0 green, 1 red, 0 white\n"), "{text}");
    assert!(text.contains("     holds A – C (red, 3)\n"), "{text}");
    assert!(text.contains(">2 Bob: 45 rails"), "{text}");
    assert!(game.render(&[], true).contains("\x1b[31m1\x1b[0m"), "a red line of player 1");
}

#[test]
fn refusals_say_what_is_wrong() {
    let said = |game: &Trains, seat: u8, answer: &Answer| {
        game.check(Seat(seat), answer).expect_err("refused").detail
    };
    let mut game = game(2, vec![Color::White; 9]);
    assert_eq!(said(&game, 1, &Answer::MoreCards), "seat 0 is asked, not seat 1");
    assert_eq!(said(&game, 0, &Answer::Ok), "the answer is return, not ok");
    for seat in Seat::all(2) {
        let first = game.legal(seat).remove(0);
        game.apply(seat, &first).expect("legal");
    }
    let back = Answer::Return(Vec::new());
    assert_eq!(said(&game, 0, &back), "the answer is more-cards or acquire, not return");
    let dear = acquire(r#"["A","B","white",5]"#);
    assert_eq!(said(&game, 0, &dear), "A – B (white, 5) with 4 white cards");
    let none = acquire(r#"["A","D","red",3]"#);
    assert_eq!(said(&game, 0, &none), "the map has no A – D (red, 3)");
    let cheap = acquire(r#"["B","C","white",3]"#);
    game.apply(Seat(0), &cheap).expect("legal");
    assert_eq!(said(&game, 1, &cheap), "somebody holds B – C (white, 3)");
    game.apply(Seat(1), &Answer::MoreCards).expect("legal");
    game.apply(Seat(0), &Answer::MoreCards).expect("legal");
    assert_eq!(said(&game, 0, &Answer::MoreCards), "the game is over");
    assert_eq!(said(&game, 1, &Answer::Ok), "the game is over");
}
