//! House players of Fish in whole games: two tournaments whose course is known, run by hand, and
//! games of all players by name.

use agon_bots::fish::Greedy;
use agon_bots::{Ask, Bot, Houses};
use agon_games::fish::{Config, Fish, Question};
use agon_games::{Game, Registry, Seat, Seed, Viewer};

/// How many placements and moves were asked for.
#[derive(Default, PartialEq, Debug)]
struct QuestionCounts {
    placements: u32,
    moves: u32,
}

/// A game of greedy players on the known board; gives the winners of `players`.
fn play(players: &[u32], asked: &mut QuestionCounts) -> Vec<u32> {
    let config = Config { fish: Some(2), ..Config::default() };
    let mut game = Fish::new(&config, players.len(), &Seed::from_number(0)).unwrap();
    while let Some(seat) = game.awaiting().first() {
        let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
        match question {
            Question::Place => asked.placements += 1,
            _ => asked.moves += 1,
        }
        let ask = Ask { player: "greedy", key: "", seat, question: &question, view: &view };
        game.apply(seat, &Greedy.answer(&ask)).unwrap();
    }
    game.outcome().unwrap().winners().map(|seat| players[seat.index()]).collect()
}

#[test]
fn fish_tournament_of_ten_goes_as_known() {
    let mut asked = QuestionCounts::default();
    assert_eq!(play(&[1, 2, 3, 4], &mut asked), [1, 4]);
    assert_eq!(play(&[5, 6, 7, 8], &mut asked), [5, 8]);
    assert_eq!(play(&[9, 10], &mut asked), [9]);
    let mut winners = play(&[1, 4, 5], &mut asked);
    winners.extend(play(&[8, 9], &mut asked));
    assert_eq!(winners, [1, 8]);
    assert_eq!(play(&[1, 8], &mut asked), [1]);
    assert_eq!(asked, QuestionCounts { placements: 49, moves: 101 });
}

#[test]
fn fish_tournament_of_five_goes_as_known() {
    let mut asked = QuestionCounts::default();
    let mut winners = play(&[1, 2, 3], &mut asked);
    winners.extend(play(&[4, 5], &mut asked));
    assert_eq!(winners, [1, 4]);
    assert_eq!(play(&winners, &mut asked), [1]);
    assert_eq!(asked, QuestionCounts { placements: 25, moves: 50 });
}

#[test]
fn fish_house_players_play_by_name_on_any_board() {
    let houses = Houses::standard();
    let registry = Registry::standard();
    let names = ["search:3", "greedy", "search", "random"];
    for config in [
        r#"{"difficulty": 10, "confirm": true}"#,
        r#"{"rows": 1, "columns": 9}"#,
        r#"{"rows": 9, "columns": 8, "difficulty": 40}"#,
    ] {
        for seats in 2..=4 {
            let kind = registry.kind("fish").unwrap();
            let mut game = kind.set_up(config, seats, &Seed::from_number(5)).unwrap();
            let mut step = 0;
            while let Some(seat) = game.awaiting().first() {
                let mut bot = houses.make("fish", names[seat.index()]).unwrap();
                let key = step.to_string();
                let answer = bot.answer("house", &key, seat, game.as_ref());
                let question = game.question(seat).unwrap();
                let view = game.view(Viewer::Seat(seat));
                let remote = bot.answer_text("house", &key, seat, question.get(), view.get());
                assert_eq!(remote.unwrap().get(), answer.get());
                game.apply(seat, answer.get()).unwrap();
                step += 1;
            }
            assert_eq!(game.removed().len(), 0);
            assert!(step >= 8, "{config} for {seats}");
        }
    }
}

#[test]
fn fish_players_are_listed_and_unknown_ones_refused() {
    let houses = Houses::standard();
    let shown: Vec<&str> = houses.list("fish").into_iter().map(|(name, _)| name).collect();
    let levels = ["level-1", "level-2", "level-3", "level-4", "level-5"];
    assert_eq!(shown[..5], ["random", "greedy", "search:D", "richest", "champion"]);
    assert_eq!(shown[5..], levels);
    assert!(houses.make("fish", "search:7").is_err());
}

/// A deeper search is worth it: that is what players of different strength are for.
#[test]
fn fish_search_beats_greedy_more_often_than_not() {
    let houses = Houses::standard();
    let registry = Registry::standard();
    let kind = registry.kind("fish").unwrap();
    let mut points = [0, 0];
    for number in 0..40 {
        let mut game = kind.set_up("{}", 2, &Seed::from_number(number / 2)).unwrap();
        let strong = Seat((number % 2) as u8);
        while let Some(seat) = game.awaiting().first() {
            let name = if seat == strong { "search:3" } else { "greedy" };
            let answer = houses.make("fish", name).unwrap().answer(name, "", seat, game.as_ref());
            game.apply(seat, answer.get()).unwrap();
        }
        for seat in game.outcome().unwrap().winners() {
            points[usize::from(seat != strong)] += 1;
        }
    }
    assert!(points[0] > points[1], "{points:?}");
}
