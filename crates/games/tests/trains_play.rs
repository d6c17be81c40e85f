//! Random play of Trains, with random removals: what must hold whatever happens.

use agon_games::trains::{
    Answer, Color, Config, Connection, Length, Map, Name, Pair, Question, Trains,
};
use agon_games::{Game, Outcome, Registry, Seat, Seed, Viewer, json};
use proptest::prelude::*;

/// A map with up to `cities` cities and a number of connections, whatever they join.
fn maps() -> impl Strategy<Value = Map> {
    let connection = (0..12usize, 0..12usize, 0..4usize, 3..6u64);
    (6..12usize, prop::collection::vec(connection, 20..70)).prop_map(|(cities, wanted)| {
        let names = "Z Y9 a b Ba B 1 10 2 M.N x,y Q".split(' ').collect::<Vec<_>>();
        let spots: Vec<_> = (0..cities).map(|at| (names[at % 12], [at, 7 * at % 10])).collect();
        let mut connections = serde_json::Map::new();
        // A way through all cities, so that there are destinations enough.
        let way = (1..cities).map(|at| (at - 1, at, at % 4, 3));
        for (one, other, color, length) in way.chain(wanted) {
            let (one, other) = (names[one % cities].to_owned(), names[other % cities].to_owned());
            if one < other {
                let targets = connections.entry(one).or_insert_with(|| serde_json::json!({}));
                targets[&other][Color::ALL[color].name()] = length.into();
            }
        }
        let map = serde_json::json!({
            "width": 20, "height": 20, "cities": spots, "connections": connections,
        });
        Map::parse(&map.to_string()).expect("a map")
    })
}

fn configs() -> impl Strategy<Value = Config> {
    let deck =
        prop::option::of(prop::collection::vec(prop::sample::select(&Color::ALL[..]), 32..=250));
    let map = prop_oneof![
        Just(None),
        maps().prop_filter_map("too small", |map| map.serves(2).then_some(Some(map))),
    ];
    (map, deck, any::<bool>()).prop_map(|(map, deck, confirm)| {
        let config = Config { deck, confirm, ..Config::default() };
        map.into_iter().fold(config, |config, map| config.with_map(map))
    })
}

/// A new game for as many of `seats` players as the map serves.
fn begin(config: &Config, seats: usize, seed: u64) -> Trains {
    let seats = (2..=seats).rev().find(|seats| config.map.serves(*seats)).expect("two");
    Trains::new(config, seats, &Seed::from_number(seed)).expect("the map serves")
}

/// Plays one step: usually an answer picked by `choice`, sometimes a removal.
fn step(game: &mut Trains, choice: u64) {
    let seat = game.awaiting().first().expect("not over");
    if choice.is_multiple_of(61) {
        game.remove(Seat((choice / 61 % 8) as u8));
    } else {
        let legal = game.legal(seat);
        // Acquisitions end games sooner than cards do.
        let at =
            if choice.is_multiple_of(3) { legal.len() - 1 } else { choice as usize % legal.len() };
        game.apply(seat, &legal[at]).expect("legal");
    }
}

/// Points counted anew from the full view, without the sets and numbers the game uses.
fn naive_scores(game: &Trains) -> Vec<i64> {
    let view = game.view(Viewer::Full);
    let longest = |acquired: &[Connection]| {
        let ends = acquired.iter().flat_map(|held| [held.pair.first(), held.pair.second()]);
        ends.map(|start| naive_longest(acquired, &mut vec![start])).max().unwrap_or(0)
    };
    let longest_all: Vec<u32> =
        view.players.iter().map(|player| longest(&player.acquired)).collect();
    let best = *longest_all.iter().max().expect("players");
    let points = view.players.iter().zip(longest_all).map(|(player, longest)| {
        if player.out {
            return 0;
        }
        let segments = player.acquired.iter().map(|held| i64::from(held.length.segments()));
        let joined = player
            .destinations
            .iter()
            .flatten()
            .map(|pair| if naive_joined(&player.acquired, pair) { 10 } else { -10 });
        let longest = if best > 0 && longest == best { 20 } else { 0 };
        segments.sum::<i64>() + joined.sum::<i64>() + longest
    });
    points.collect()
}

fn other_end(held: &Connection, city: Name) -> Option<Name> {
    let (one, other) = (held.pair.first(), held.pair.second());
    if one == city { Some(other) } else { (other == city).then_some(one) }
}

fn naive_longest(acquired: &[Connection], path: &mut Vec<Name>) -> u32 {
    let here = *path.last().expect("a start");
    let mut longest = 0;
    for held in acquired {
        let Some(next) = other_end(held, here).filter(|next| !path.contains(next)) else {
            continue;
        };
        path.push(next);
        longest = longest.max(u32::from(held.length.segments()) + naive_longest(acquired, path));
        path.pop();
    }
    longest
}

fn naive_joined(acquired: &[Connection], pair: &Pair) -> bool {
    let mut reached = vec![pair.first()];
    let mut at = 0;
    while at < reached.len() {
        let ends = acquired.iter().filter_map(|held| other_end(held, reached[at]));
        let fresh: Vec<Name> = ends.filter(|end| !reached.contains(end)).collect();
        reached.extend(fresh);
        at += 1;
    }
    reached.contains(&pair.second())
}

/// Answers worth trying in any position: every connection there could be, and some of the rest.
fn tries(game: &Trains) -> Vec<Answer> {
    let view = game.view(Viewer::Public);
    let mut tries = vec![Answer::Ok, Answer::MoreCards, Answer::Return(Vec::new())];
    for connection in view.map.connections() {
        for length in Length::ALL {
            tries.push(Answer::Acquire(Connection::new(connection.pair, connection.color, length)));
        }
    }
    if let Some(Question::Pick { destinations }) =
        game.awaiting().first().and_then(|seat| game.question(seat))
    {
        for code in 0..125 {
            let at = [code % 5, code / 5 % 5, code / 25];
            tries.push(Answer::Return(at.map(|at| destinations[at]).to_vec()));
        }
    }
    tries
}

/// Returns whether two answers mean the same.
fn same(one: &Answer, other: &Answer) -> bool {
    match (one, other) {
        (Answer::Return(one), Answer::Return(other)) => {
            let (mut one, mut other) = (one.clone(), other.clone());
            one.sort_unstable();
            other.sort_unstable();
            one == other
        }
        _ => one == other,
    }
}

fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(
    value: &T,
) {
    let text = serde_json::to_string(value).expect("JSON");
    assert_eq!(&serde_json::from_str::<T>(&text).expect("the same type"), value);
    let tree = serde_json::to_value(value).expect("JSON");
    assert_eq!(&serde_json::from_value::<T>(tree).expect("the same type"), value);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_play_ends_and_scores_agree(
        config in configs(), seats in 2..=8usize, seed: u64,
        choices in prop::collection::vec(any::<u64>(), 64),
    ) {
        let mut game = begin(&config, seats, seed);
        let mut steps = 0u64;
        while game.outcome().is_none() {
            prop_assert_eq!(game.awaiting().len(), 1);
            let choice = choices[steps as usize % 64].rotate_left((steps / 64) as u32);
            step(&mut game, choice);
            steps += 1;
            prop_assert!(steps < 3000, "endless");
        }
        prop_assert!(game.awaiting().is_empty());
        let expected = Outcome::by_score(naive_scores(&game), game.removed());
        prop_assert_eq!(game.outcome(), Some(expected));
        let over = game.clone();
        game.remove(Seat(0));
        prop_assert_eq!(game, over);
    }

    #[test]
    fn the_same_answers_give_the_same_game_also_as_json(
        config in configs(), seats in 2..=8usize, seed: u64,
        choices in prop::collection::vec(any::<u64>(), 150),
    ) {
        let mut game = begin(&config, seats, seed);
        let registry = Registry::standard();
        let kind = registry.kind("trains").expect("registered");
        let seed = Seed::from_number(seed);
        let mut again = kind.set_up(json(&config).get(), game.seats(), &seed).expect("a game");
        for choice in choices {
            let Some(seat) = game.awaiting().first() else { break };
            let legal = game.legal(seat);
            let answer = &legal[choice as usize % legal.len()];
            round_trip(answer);
            round_trip(&game.question(seat).expect("asked"));
            game.apply(seat, answer).expect("legal");
            again.apply(seat, json(answer).get()).expect("legal");
            prop_assert_eq!(again.as_any().downcast_ref::<Trains>(), Some(&game));
        }
        round_trip(&config);
        for viewer in [Viewer::Seat(Seat(0)), Viewer::Public, Viewer::Full] {
            round_trip(&game.view(viewer));
        }
    }

    #[test]
    fn legal_is_exactly_what_is_accepted_and_refusals_change_nothing(
        config in configs(), seats in 2..=8usize, seed: u64,
        choices in prop::collection::vec(any::<u64>(), 0..120),
    ) {
        let mut game = begin(&config, seats, seed);
        for choice in choices {
            if game.outcome().is_some() { break }
            step(&mut game, choice);
        }
        for seat in Seat::all(game.seats()) {
            let legal = game.legal(seat);
            let question = game.question(seat);
            prop_assert_eq!(question.is_some(), game.awaiting().contains(seat));
            if let Some(question) = question {
                let view = game.view(Viewer::Seat(seat));
                prop_assert_eq!(&Trains::legal_in(&question, &view), &legal);
                prop_assert!(!legal.is_empty());
            }
            let mut picked = vec![false; legal.len()];
            for at in 0..if legal.is_empty() { 0 } else { 2 * legal.len() as u64 } {
                // The middle of each of as many equal parts of all choices as there are answers.
                let choice = u64::MAX / (4 * legal.len() as u64) * (2 * at + 1);
                let answer = game.playout_answer(seat, choice);
                let at = legal.iter().position(|legal| same(legal, &answer));
                picked[at.expect("legal")] = true;
            }
            prop_assert!(picked.iter().all(|picked| *picked), "every legal answer can be picked");
            for answer in &legal {
                prop_assert_eq!(game.check(seat, answer), Ok(()));
            }
            for answer in tries(&game) {
                let listed = legal.iter().any(|legal| same(legal, &answer));
                prop_assert_eq!(game.check(seat, &answer).is_ok(), listed, "{:?}", answer);
                let mut tried = game.clone();
                if tried.apply(seat, &answer).is_err() {
                    prop_assert_eq!(&tried, &game);
                }
            }
        }
    }

    /// Two games that differ only in what a seat may not know look the same to it: another deck
    /// from the third card of seat 0's on, other picks of the others.
    #[test]
    fn views_do_not_depend_on_what_is_hidden(
        cards in prop::collection::vec(prop::sample::select(&Color::ALL[..]), 250),
        others in prop::collection::vec(prop::sample::select(&Color::ALL[..]), 250),
        picks in prop::collection::vec((0..10usize, 0..10usize), 4),
        seats in 2..=4usize, turns in 0..60usize, confirm: bool,
    ) {
        // Seat 0 is dealt the first four cards and then two cards of every round.
        let mut swapped = others;
        swapped[..4].copy_from_slice(&cards[..4]);
        for round in (4 * seats..249).step_by(2 * seats) {
            swapped[round..round + 2].copy_from_slice(&cards[round..round + 2]);
        }
        let config = |deck| Config { deck: Some(deck), confirm, ..Config::default() };
        let mut games = [begin(&config(cards), seats, 0), begin(&config(swapped), seats, 0)];
        let mut plays = 0;
        while plays < turns {
            let seat = games[0].awaiting().first().expect("nobody acquires");
            prop_assert_eq!(games[1].awaiting(), games[0].awaiting());
            for (at, game) in games.iter_mut().enumerate() {
                let answer = match game.question(seat).expect("asked") {
                    Question::Play {} => Answer::MoreCards,
                    Question::Pick { .. } => {
                        let (one, other) = picks[seat.index()];
                        // The first seat picks the same in both games.
                        let pick = if at == 0 || seat == Seat(0) { one } else { other };
                        game.legal(seat).swap_remove(pick)
                    }
                    _ => Answer::Ok,
                };
                plays += usize::from(at == 0 && answer == Answer::MoreCards);
                game.apply(seat, &answer).expect("legal");
            }
            let [one, other] = &games;
            for viewer in [Viewer::Seat(Seat(0)), Viewer::Public] {
                prop_assert_eq!(one.view(viewer), other.view(viewer));
            }
            prop_assert_eq!(one.question(Seat(0)), other.question(Seat(0)));
        }
    }
}
