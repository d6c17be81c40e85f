//! The analysis of Yahtzee in whole games: values add up, luck has mean zero, words are right.

mod support;

use agon_analysis::{
    AdjustedStandings, Change, Estimate, GameAnalysis, Models, Move, RecordedGame, Refused, Sample,
    Step, analyse_game,
};
use agon_bots::yahtzee::{self, Champion, Greedy, Optimal};
use agon_bots::{Bot, Random};
use agon_core::{GameEnd, MatchId, PlayerName};
use agon_games::yahtzee::{Config, DiceSource, Rule, Yahtzee};
use agon_games::{Registry, Seat};
use support::play;

const RULES: [Rule; 3] = [Rule::Tournament, Rule::ForcedJoker, Rule::FreeJoker];

fn analysed(game: &RecordedGame) -> GameAnalysis {
    analyse_game(game, &Models::standard()).unwrap()
}

fn config(rule: Rule, dice: DiceSource) -> Config {
    Config { rule, dice, fixed_dice: None }
}

#[test]
fn score_is_the_optimum_plus_luck_minus_cost() {
    for rule in RULES {
        let optimum = yahtzee::table(rule.into()).optimum();
        for dice in [DiceSource::Duplicate, DiceSource::Independent] {
            for seed in 0..12 {
                let bots: [&mut dyn Bot<Yahtzee>; 2] = if seed % 2 == 0 {
                    [&mut Random, &mut Greedy]
                } else {
                    [&mut Greedy, &mut Optimal]
                };
                let game = analysed(&play(&config(rule, dice), seed, bots));
                for player in &game.players {
                    let sum = optimum + player.luck.unwrap() - player.cost;
                    let score = player.score as f64;
                    assert!((sum - score).abs() < 1e-6, "{rule:?} {dice:?} {seed}: {player:?}");
                    assert!((player.adjusted.unwrap() - (optimum - player.cost)).abs() < 1e-6);
                    assert_eq!(player.error, 0.0);
                }
            }
        }
    }
}

#[test]
fn measured_luck_of_a_game_is_that_of_its_analysis() {
    let kind = agon_analysis::registry().kind("yahtzee").unwrap().clone();
    for (seed, rule) in (40..).zip(RULES) {
        let game = play(&config(rule, DiceSource::Duplicate), seed, [&mut Greedy, &mut Random]);
        let mut end = game.start.boxed_clone();
        assert_eq!(kind.luck(game.config.get(), &*end), Some(vec![0, 0]), "nothing happened yet");
        for done in &game.moves {
            let Move::Answered { seat, answer } = done else { continue };
            end.apply(*seat, answer).unwrap();
        }
        let players = analysed(&game).players;
        let luck = players.iter().map(|one| one.luck.unwrap().round() as i64).collect();
        assert_eq!(kind.luck(game.config.get(), &*end), Some(luck));
        let fixed = r#"{"fixed_dice":[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]}"#;
        assert_eq!(kind.luck(fixed, &*end), None, "players may know dice that are fixed");
    }
}

#[test]
fn optimal_player_makes_no_mistakes() {
    for rule in RULES {
        for seed in 0..20 {
            let config = config(rule, DiceSource::Independent);
            let game = analysed(&play(&config, seed, [&mut Optimal, &mut Random]));
            let [optimal, random] = &game.players[..] else { panic!("two players") };
            assert_eq!((optimal.mistakes, optimal.costliest.len()), (0, 0), "{optimal:?}");
            assert!(optimal.cost < 1e-6 && random.cost > 100.0, "{random:?}");
            assert_eq!(random.costliest.len(), 3);
            let costs: Vec<f64> = random.costliest.iter().map(cost).collect();
            assert!(costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
        }
    }
}

fn cost(step: &Step) -> f64 {
    match &step.change {
        Change::Decision { cost, .. } => *cost,
        Change::Luck { .. } => panic!("{step:?} is no decision"),
    }
}

#[test]
fn steps_follow_the_answers_and_name_the_better_choice() {
    let recorded = play(&Config::default(), 3, [&mut Greedy, &mut Optimal]);
    let game = analysed(&recorded);
    let answers = recorded.moves.len() as u32;
    assert!(game.steps.is_sorted_by_key(|step| step.answer));
    let decisions: Vec<&Step> =
        game.steps.iter().filter(|step| matches!(step.change, Change::Decision { .. })).collect();
    let numbers: Vec<u32> = decisions.iter().map(|step| step.answer).collect();
    assert_eq!(numbers, (1..=answers).collect::<Vec<_>>(), "every answer is one decision");
    let first = &game.steps[0];
    assert_eq!((first.answer, first.seat, &*first.place), (0, Seat(0), "turn 1, first roll"));
    assert!(first.what.starts_with("rolls "), "{first:?}");
    for step in decisions {
        let Change::Decision { cost, better } = &step.change else { continue };
        assert_eq!(*cost > 1e-9, better.is_some(), "{step:?}");
        if let Some(better) = better {
            assert!(better.starts_with("keep ") || better.starts_with("score "), "{better}");
        }
    }
    let costliest = &game.players[0].costliest[0];
    assert!(cost(costliest) > 1.0, "{costliest:?}");
}

#[test]
fn games_that_were_broken_off_have_costs_but_no_adjusted_score() {
    let mut recorded = play(&Config::default(), 4, [&mut Greedy, &mut Optimal]);
    recorded.moves.truncate(20);
    recorded.moves.push(Move::Removed { seat: Seat(0) });
    recorded.result.end = GameEnd::Forfeited { by: recorded.result.seats[0].clone() };
    let game = analysed(&recorded);
    assert!(!game.complete && game.players.iter().all(|player| player.adjusted.is_none()));
    assert_eq!(game.players.iter().map(|player| player.decisions).sum::<u32>(), 20);
    assert!(AdjustedStandings::of([&game]).players.is_empty());
}

#[test]
fn fixed_dice_and_unknown_games_are_refused_with_a_reason() {
    let fixed = Config { fixed_dice: Some(vec![vec![1; 15]; 2]), ..Config::default() };
    let recorded = play(&fixed, 5, [&mut Greedy, &mut Optimal]);
    let refused = analyse_game(&recorded, &Models::standard()).unwrap_err();
    assert!(
        refused.to_string().starts_with("the organiser fixed the dice of 2 turns"),
        "{refused}"
    );
    let mut unknown = play(&Config::default(), 5, [&mut Greedy, &mut Optimal]);
    unknown.kind = "chess".into();
    let refused = analyse_game(&unknown, &Models::standard()).unwrap_err();
    assert_eq!(refused, Refused::NoModel("chess".into()));
    assert!(Registry::standard().kind("chess").is_none());
}

/// Plays pairs of games with the same luck and exchanged seats.
fn duplicate_games(
    pairs: u64,
    one: &mut dyn Bot<Yahtzee>,
    other: &mut dyn Bot<Yahtzee>,
) -> Vec<GameAnalysis> {
    let config = config(Rule::Tournament, DiceSource::Duplicate);
    let mut games = Vec::new();
    for seed in 0..pairs {
        for exchanged in [false, true] {
            let bots: [&mut dyn Bot<Yahtzee>; 2] =
                if exchanged { [&mut *other, &mut *one] } else { [&mut *one, &mut *other] };
            let mut game = analysed(&play(&config, seed, bots));
            let [one, other] = ["one", "other"].map(|name| PlayerName::new(name).unwrap());
            let names = if exchanged { [other, one] } else { [one, other] };
            game.players.iter_mut().zip(names).for_each(|(own, name)| own.player = name);
            game.duplicate_of = exchanged.then_some(1);
            game.match_id = MatchId::of(1, seed as u32 + 1);
            game.game = 1 + u32::from(exchanged);
            game.steps.clear();
            games.push(game);
        }
    }
    games
}

/// Checks that luck adjustment does not shift the mean, and returns the ratio of the deviations.
fn deviation_ratio(games: &[GameAnalysis]) -> f64 {
    let standings = AdjustedStandings::of(games);
    let pair = &standings.pairs[0];
    let (raw, adjusted) = (pair.raw, pair.adjusted);
    let ratio = adjusted.deviation / raw.deviation;
    // The luck of both players is that of the dice, and it has mean zero. The two games of a pair
    // have the same luck, so only every second one is independent.
    let luck: Vec<f64> = (games.iter().step_by(2))
        .map(|game| game.players[0].luck.unwrap() - game.players[1].luck.unwrap())
        .collect();
    let [low, high] = Estimate::of(&luck).interval.unwrap();
    let error = raw.deviation * (1.0 - ratio * ratio).sqrt() / (luck.len() as f64).sqrt();
    let shift = raw.mean - adjusted.mean;
    // The same with every game on its own, as if pairs did not share their luck.
    let mut alone = games.to_vec();
    alone.iter_mut().for_each(|game| game.duplicate_of = None);
    let alone = &AdjustedStandings::of(&alone).pairs[0];
    eprintln!(
        "{} games, ratio by game {:.3}; means of pairs: raw {:+.2} (deviation {:.1}), without luck {:+.2} (deviation {:.1}), ratio \
         {ratio:.3}; shift {shift:+.2} (standard error {error:.2}); mean luck {:+.2}, 95 % from \
         {low:+.2} to {high:+.2}",
        games.len(),
        alone.adjusted.deviation / alone.raw.deviation,
        raw.mean,
        raw.deviation,
        adjusted.mean,
        adjusted.deviation,
        Estimate::of(&luck).mean,
    );
    assert!(shift.abs() < 4.0 * error, "the adjustment shifts the mean");
    let reach = (high - low) / 2.0;
    assert!((low - reach..=high + reach).contains(&0.0), "the mean luck is not zero");
    ratio
}

/// The short version of the run below.
#[test]
fn luck_has_mean_zero_and_most_of_the_deviation() {
    let ratio = deviation_ratio(&duplicate_games(150, &mut Optimal, &mut Greedy));
    assert!(ratio < 0.5, "{ratio}");
    // A random player wastes luck, so it must count less.
    let ratio = deviation_ratio(&duplicate_games(300, &mut Greedy, &mut Random));
    assert!(ratio < 0.5, "{ratio}");
}

/// Ten thousand games each: `cargo nextest run -p agon-analysis --run-ignored only --no-capture`.
fn ten_thousand_games(one: &mut dyn Bot<Yahtzee>, other: &mut dyn Bot<Yahtzee>) {
    let ratio = deviation_ratio(&duplicate_games(5_000, one, other));
    assert!(ratio <= 0.5, "{ratio}");
}

#[test]
#[ignore = "takes minutes; docs/analysis.md has its figures"]
fn ten_thousand_games_of_optimal_against_greedy() {
    ten_thousand_games(&mut Optimal, &mut Greedy);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_games_of_champion_against_optimal() {
    ten_thousand_games(&mut Champion::default(), &mut Optimal);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_games_of_level_3_against_greedy() {
    ten_thousand_games(&mut yahtzee::level(3), &mut Greedy);
}

#[test]
#[ignore = "takes minutes; docs/analysis.md has its figures"]
fn ten_thousand_games_of_greedy_against_random() {
    ten_thousand_games(&mut Greedy, &mut Random);
}

/// Of a thousand games some decisions are examined, and of different games different ones.
#[test]
fn sample_has_its_share_of_the_decisions() {
    let mut game = play(&Config::default(), 3, [&mut Greedy, &mut Optimal]);
    let mut counts = [0; 200];
    for number in 1..=1_000 {
        game.match_id = MatchId::of(1, number);
        let sample = Sample::of(&game, 32);
        assert_eq!(sample, Sample::of(&game, 32));
        (0..200).for_each(|answer| counts[answer as usize] += u32::from(sample.contains(answer)));
    }
    assert!(counts.iter().all(|count| (5..70).contains(count)), "{counts:?}");
    let sum: u32 = counts.iter().sum();
    assert!((5_900..6_600).contains(&sum), "{sum} of 200000 / 32");
    assert!((0..200).all(|answer| Sample::ALL.contains(answer)));
}
