//! The analysis of Yahtzee in whole games: values add up, luck has mean zero, words are right.

mod support;

use agon_analysis::{
    AdjustedStandings, Change, Estimate, GameAnalysis, Models, RecordedGame, Refused, Step,
    analyse_game,
};
use agon_bots::yahtzee::{self, Champion, Greedy, Optimal};
use agon_bots::{Bot, Random};
use agon_core::GameEnd;
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
    recorded.moves.push(agon_analysis::Move::Removed { seat: Seat(0) });
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

/// The differences of points per game between two players, as scored and without luck.
struct Differences {
    raw: Vec<f64>,
    adjusted: Vec<f64>,
}

/// Plays pairs of games with the same luck and exchanged seats.
fn duplicate_games(
    pairs: u64,
    one: &mut dyn Bot<Yahtzee>,
    other: &mut dyn Bot<Yahtzee>,
) -> Differences {
    let config = config(Rule::Tournament, DiceSource::Duplicate);
    let mut all = Differences { raw: Vec::new(), adjusted: Vec::new() };
    for seed in 0..pairs {
        for exchanged in [false, true] {
            let bots: [&mut dyn Bot<Yahtzee>; 2] =
                if exchanged { [&mut *other, &mut *one] } else { [&mut *one, &mut *other] };
            let game = analysed(&play(&config, seed, bots));
            let (own, theirs) =
                (&game.players[usize::from(exchanged)], &game.players[usize::from(!exchanged)]);
            all.raw.push((own.score - theirs.score) as f64);
            all.adjusted.push(own.adjusted.unwrap() - theirs.adjusted.unwrap());
        }
    }
    all
}

/// Checks that luck adjustment does not shift the mean, and returns the ratio of the deviations.
fn deviation_ratio(differences: &Differences) -> f64 {
    let luck: Vec<f64> =
        differences.raw.iter().zip(&differences.adjusted).map(|(raw, own)| raw - own).collect();
    // The two games of a pair have the same luck, so only every second one is independent.
    let independent: Vec<f64> = luck.iter().step_by(2).copied().collect();
    let [low, high] = Estimate::of(&independent).interval.unwrap();
    let (raw, adjusted) = (Estimate::of(&differences.raw), Estimate::of(&differences.adjusted));
    let ratio = adjusted.deviation / raw.deviation;
    eprintln!(
        "{} games: raw {:+.2} (deviation {:.1}), without luck {:+.2} (deviation {:.1}), ratio \
         {ratio:.3}; mean luck {:+.2}, 95 % from {low:+.2} to {high:+.2}",
        differences.raw.len(),
        raw.mean,
        raw.deviation,
        adjusted.mean,
        adjusted.deviation,
        Estimate::of(&independent).mean,
    );
    let reach = (high - low) / 2.0;
    assert!((low - reach..=high + reach).contains(&0.0), "the mean luck is not zero");
    ratio
}

/// The short version of the run below.
#[test]
fn luck_has_mean_zero_and_most_of_the_deviation() {
    let ratio = deviation_ratio(&duplicate_games(150, &mut Optimal, &mut Greedy));
    assert!(ratio < 0.5, "{ratio}");
}

/// Ten thousand games each: `cargo nextest run -p agon-analysis --run-ignored only --no-capture`.
#[test]
#[ignore = "takes minutes; docs/analysis.md has its figures"]
fn ten_thousand_duplicate_games_need_a_quarter_of_the_games() {
    for (name, one, other) in pairings() {
        let mut one = one;
        let mut other = other;
        eprintln!("{name}");
        let ratio = deviation_ratio(&duplicate_games(5_000, &mut *one, &mut *other));
        // The table values the luck of a player who will use it. A random player does not.
        let limit = if name.contains("random") { 0.7 } else { 0.5 };
        assert!(ratio <= limit, "{name}: {ratio}");
    }
}

type Pairing = (&'static str, Box<dyn Bot<Yahtzee>>, Box<dyn Bot<Yahtzee>>);

fn pairings() -> Vec<Pairing> {
    vec![
        ("optimal against greedy", Box::new(Optimal), Box::new(Greedy)),
        ("champion against optimal", Box::new(Champion::default()), Box::new(Optimal)),
        ("level 3 against greedy", yahtzee::level(3), Box::new(Greedy)),
        ("greedy against random", Box::new(Greedy), Box::new(Random)),
    ]
}
