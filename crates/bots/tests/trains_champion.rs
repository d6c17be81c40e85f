//! The champion of Trains and its levels: it wins, it repeats itself, and it plays on any map.
//! `docs/strength.md` has the figures of long runs.

use agon_bots::Houses;
use agon_bots::trains::cost;
use agon_games::trains::{Answer, Config, Map, Question, Trains};
use agon_games::{Game, GameState, Registry, Seat, Seed, Viewer, json};
use std::time::Duration;

/// Plays a game of house players and returns its end.
fn play(names: &[&str], config: &str, seed: u64) -> Box<dyn GameState> {
    let (houses, registry) = (Houses::standard(), Registry::standard());
    let kind = registry.kind("trains").unwrap();
    let mut game = kind.set_up(config, names.len(), &Seed::from_number(seed)).unwrap();
    let mut step = 0;
    while let Some(seat) = game.awaiting().first() {
        let name = names[seat.index()];
        let mut player = houses.make("trains", name).unwrap();
        let answer = player.answer(name, &format!("{seed}/{step}"), seat, &*game);
        game.apply(seat, answer.get()).unwrap();
        step += 1;
    }
    game
}

/// How often the first of these players wins, with another seat in every game.
fn wins(names: &[&str], games: usize) -> usize {
    (0..games)
        .filter(|number| {
            let mut turned = names.to_vec();
            turned.rotate_right(number % names.len());
            let own = Seat((number % names.len()) as u8);
            let game = play(&turned, "{}", *number as u64);
            game.outcome().unwrap().winners().contains(own)
        })
        .count()
}

/// One win of six would be luck alone.
#[test]
fn few_rollouts_win_most_games_against_five_others() {
    let names = ["level-4", "greedy", "hold-10", "buy-now", "greedy", "buy-now"];
    let won = wins(&names, 12);
    assert!(won >= 5, "{won} of 12");
}

/// The luck of these games is fixed, so the champion always wins the same ones.
#[test]
fn champion_wins_most_games_against_five_others() {
    let names = ["champion", "greedy", "hold-10", "buy-now", "greedy", "buy-now"];
    let won = wins(&names, 10);
    assert!(won >= 5, "{won} of 10");
}

/// The luck of these games is fixed, so every level always wins the same ones.
#[test]
fn every_level_beats_the_one_below() {
    for (level, games) in [(2, 24), (3, 24), (4, 24), (5, 14)] {
        let (upper, lower) = (format!("level-{level}"), format!("level-{}", level - 1));
        let won = wins(&[&upper, &lower], games);
        assert!(2 * won > games, "{upper} won {won} of {games} against {lower}");
    }
}

/// All answers of a game of house players, in order.
fn record(names: &[&str], seed: u64) -> Vec<String> {
    let (houses, registry) = (Houses::standard(), Registry::standard());
    let kind = registry.kind("trains").unwrap();
    let mut game = kind.set_up("{}", names.len(), &Seed::from_number(seed)).unwrap();
    let mut players: Vec<_> =
        names.iter().map(|name| houses.make("trains", name).unwrap()).collect();
    let mut answers = Vec::new();
    while let Some(seat) = game.awaiting().first() {
        let key = format!("{seed}/{}", answers.len());
        let answer = players[seat.index()].answer(names[seat.index()], &key, seat, &*game);
        game.apply(seat, answer.get()).unwrap();
        answers.push(answer.get().to_owned());
    }
    answers
}

/// Both champions play the whole game again in the same way, also beside each other.
#[test]
fn twin_champions_play_the_same_game_again() {
    let names = ["champion", "greedy", "champion"];
    let [first, again] = std::thread::scope(|scope| {
        let games = [(); 2].map(|()| scope.spawn(|| record(&names, 7)));
        games.map(|game| game.join().unwrap())
    });
    assert_eq!(first, again);
}

#[test]
fn champion_repeats_its_answers_and_keeps_short_time_limits() {
    let registry = Registry::standard();
    let houses = Houses::standard();
    let kind = registry.kind("trains").unwrap();
    let mut game = kind.set_up("{}", 3, &Seed::from_number(5)).unwrap();
    for step in 0..24 {
        let seat = game.awaiting().first().unwrap();
        let name = if seat == Seat(0) { "level-4" } else { "champion" };
        let mut player = houses.make("trains", name).unwrap();
        if seat == Seat(2) {
            // A short limit ends the rollouts early; the answer is legal all the same.
            player.limit_time(Duration::from_millis(1));
        }
        let answer = player.answer(name, &step.to_string(), seat, &*game);
        if seat == Seat(0) {
            let again =
                houses.make("trains", name).unwrap().answer(name, &step.to_string(), seat, &*game);
            assert_eq!(answer.get(), again.get());
        }
        game.apply(seat, answer.get()).unwrap();
    }
}

#[test]
fn champion_plays_on_maps_that_are_not_connected_and_with_a_fixed_deck() {
    let map = r#"{"width":100,"height":100,
        "cities":[["A",[0,0]],["B",[10,10]],["C",[20,20]],["D",[30,30]],["E",[40,40]],
                  ["F",[50,50]],["G",[60,60]],["H",[70,70]]],
        "connections":{"A":{"B":{"red":3,"blue":3},"C":{"green":5}},"B":{"C":{"white":4}},
                       "C":{"D":{"red":3}},"E":{"F":{"blue":4},"G":{"red":3}},
                       "F":{"G":{"white":5,"green":3}},"G":{"H":{"blue":3}}}}"#;
    let map = std::sync::Arc::new(Map::parse(map).unwrap());
    let config = Config { map, confirm: true, ..Config::default() };
    for seed in 0..4 {
        let names = ["level-4", "champion", "level-3"];
        let game = play(&names, json(&config).get(), seed);
        assert!(game.removed().is_empty());
    }
}

#[test]
fn giving_up_a_cheap_destination_costs_points() {
    let game = Trains::new(&Config::default(), 2, &Seed::from_number(2)).unwrap();
    let (seat, question) = (Seat(0), game.question(Seat(0)).unwrap());
    let view = game.view(Viewer::Seat(seat));
    let Question::Pick { .. } = &question else { panic!("destinations come first") };
    let costs: Vec<f64> = game
        .legal(seat)
        .iter()
        .map(|answer| cost(&view, seat, &question, answer, 600).unwrap().points)
        .collect();
    assert!(costs.contains(&0.0), "{costs:?}");
    assert!(costs.iter().any(|cost| *cost > 5.0), "{costs:?}");
    assert_eq!(cost(&view, seat, &question, &Answer::Ok, 600), None);
}
