//! The analysis of Fish and Trains: strong players lose less than weak ones, and what is said to be
//! exact is.

use agon_analysis::{Change, FishModel, GameModel, Move, Played, Sample, Step, TrainsModel};
use agon_bots::{Ask, Bot, Random, fish, trains};
use agon_games::fish::{Answer, Fish};
use agon_games::trains::Trains;
use agon_games::{Game, Seat, Seed, Viewer};

/// Plays a game; each bot has the seat of its index. Returns the start and the moves.
fn play<G: Game>(start: &G, bots: &mut [&mut dyn Bot<G>]) -> Vec<Move<G::Answer>> {
    let mut game = start.clone();
    let mut moves = Vec::new();
    while let Some(seat) = game.awaiting().first() {
        let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
        let key = moves.len().to_string();
        let ask = Ask { player: "bot", key: &key, seat, question: &question, view: &view };
        let answer = bots[seat.index()].answer(&ask);
        game.apply(seat, &answer).unwrap();
        moves.push(Move::Answered { seat, answer });
    }
    moves
}

fn cost(steps: &[Step], seat: Seat) -> f64 {
    let of_step = |step: &Step| match step.change {
        Change::Decision { cost, .. } if step.seat == seat => cost,
        _ => 0.0,
    };
    steps.iter().map(of_step).sum()
}

fn fish_steps(seed: u64, bots: &mut [&mut dyn Bot<Fish>]) -> (Fish, Vec<Step>) {
    let config = agon_games::fish::Config { confirm: true, ..Default::default() };
    let start = Fish::new(&config, bots.len(), &Seed::from_number(seed)).unwrap();
    let moves = play(&start, bots);
    let played = Played { config: &config, start: &start, moves: &moves };
    (played.end(), FishModel.steps(&played, Sample::ALL).unwrap())
}

#[test]
fn random_moves_of_fish_cost_more_than_those_of_a_search() {
    let mut totals = [0.0, 0.0];
    for seed in 0..4 {
        let bots: &mut [&mut dyn Bot<Fish>] = &mut [&mut fish::Champion::level(4), &mut Random];
        let (end, steps) = fish_steps(seed, bots);
        assert!(end.outcome().is_some());
        let all = steps.iter().filter(|step| step.seat == Seat(1)).count();
        assert!(all >= 5 && steps[0].place == "placement 1", "{steps:?}");
        totals[0] += cost(&steps, Seat(0));
        totals[1] += cost(&steps, Seat(1));
    }
    assert!(totals[1] > 3.0 * totals[0], "{totals:?}");
}

#[test]
fn last_moves_of_fish_are_exact_and_name_what_is_better() {
    let bots: &mut [&mut dyn Bot<Fish>] = &mut [&mut Random, &mut Random];
    let (_, steps) = fish_steps(7, bots);
    let last: Vec<&Step> = steps.iter().rev().take(4).collect();
    assert!(last.iter().all(|step| step.error == 0.0), "{last:?}");
    for step in &steps {
        let Change::Decision { cost, better } = &step.change else { panic!("no luck in Fish") };
        assert!(*cost >= 0.0 && (better.is_some() == (*cost > 0.0)), "{step:?}");
    }
    assert!(steps.iter().all(|step| !step.what.contains("confirms")));
}

#[test]
fn forced_moves_of_fish_cost_nothing() {
    let config: agon_games::fish::Config =
        serde_json::from_str(r#"{"rows": 1, "columns": 8}"#).unwrap();
    let start = Fish::new(&config, 2, &Seed::from_number(0)).unwrap();
    let moves = play(&start, &mut [&mut Random as &mut dyn Bot<Fish>, &mut Random]);
    let played = Played { config: &config, start: &start, moves: &moves };
    let steps = FishModel.steps(&played, Sample::ALL).unwrap();
    // All tiles of one row are taken by the placements, and none of them is next to another.
    assert_eq!(steps.len(), moves.len());
    assert!(
        moves.iter().all(|done| matches!(done, Move::Answered { answer: Answer::Place(_), .. }))
    );
    assert_eq!(cost(&steps, Seat(0)) + cost(&steps, Seat(1)), 0.0);
}

#[test]
fn random_turns_of_trains_cost_more_than_planned_ones() {
    let config = agon_games::trains::Config::default();
    let mut totals = [0.0, 0.0];
    for seed in 0..2 {
        let start = Trains::new(&config, 2, &Seed::from_number(seed)).unwrap();
        let bots: &mut [&mut dyn Bot<Trains>] =
            &mut [&mut trains::Champion::level(4), &mut trains::Anything::default()];
        let moves = play(&start, bots);
        let played = Played { config: &config, start: &start, moves: &moves };
        let steps = TrainsModel.steps(&played, Sample::ALL).unwrap();
        assert_eq!(
            steps,
            TrainsModel.steps(&played, Sample::ALL).unwrap(),
            "equal games get equal steps"
        );
        assert_eq!(steps[0].place, "destinations");
        totals[0] += cost(&steps, Seat(0));
        totals[1] += cost(&steps, Seat(1));
    }
    assert!(totals[1] > totals[0], "{totals:?}");
}
