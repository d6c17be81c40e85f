//! Yahtzee's champion against other house players, in pairs of games with the same luck and
//! exchanged seats.

use agon_bots::yahtzee::{Champion, Greedy, Optimal};
use agon_bots::{Ask, Bot};
use agon_games::yahtzee::{Config, DiceSource, Yahtzee};
use agon_games::{Game, Seat, Seed, Viewer};
use std::time::{Duration, Instant};

/// The points of each player, by seat.
fn play(
    config: &Config,
    seed: u64,
    bots: [&mut dyn Bot<Yahtzee>; 2],
    clock: &mut Clock,
) -> [i64; 2] {
    let mut game = Yahtzee::new(config, 2, &Seed::from_number(seed)).unwrap();
    let mut step = 0;
    while let Some(seat) = game.awaiting().next() {
        let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
        let key = format!("{seed}.{step}");
        let ask = Ask { player: "bot", key: &key, seat, question: &question, view: &view };
        let started = Instant::now();
        let answer = bots[seat.index()].answer(&ask);
        if seat == clock.seat {
            clock.spent += started.elapsed();
            clock.decisions += 1;
        }
        game.apply(seat, &answer).unwrap();
        step += 1;
    }
    let scores = game.outcome().unwrap().scores;
    [scores[0], scores[1]]
}

/// The time that one seat takes.
struct Clock {
    seat: Seat,
    spent: Duration,
    decisions: u32,
}

/// The outcome of many games for the champion.
#[derive(Default, Debug)]
struct Tally {
    won: u32,
    lost: u32,
    tied: u32,
    points: i64,
    /// The share of each pair of games, with ties as halves.
    pairs: Vec<f64>,
}

impl Tally {
    /// The share of games won, and half of its 95 % interval, over pairs.
    fn share(&self) -> (f64, f64) {
        let count = self.pairs.len() as f64;
        let mean = self.pairs.iter().sum::<f64>() / count;
        let squares: f64 = self.pairs.iter().map(|share| (share - mean).powi(2)).sum();
        (mean, 1.96 * (squares / (count - 1.0) / count).sqrt())
    }
}

fn duplicate_games(
    source: DiceSource,
    seeds: std::ops::Range<u64>,
    other: &mut dyn Bot<Yahtzee>,
) -> Tally {
    duplicate_games_with(&mut Champion::default(), source, seeds, other)
}

fn duplicate_games_with(
    champion: &mut Champion,
    source: DiceSource,
    seeds: std::ops::Range<u64>,
    other: &mut dyn Bot<Yahtzee>,
) -> Tally {
    let config = Config { dice: source, ..Config::default() };
    let (mut tally, mut clock) =
        (Tally::default(), Clock { seat: Seat(0), spent: Duration::ZERO, decisions: 0 });
    for seed in seeds {
        let mut share = 0.0;
        for seat in [0, 1] {
            clock.seat = Seat(seat);
            let own = usize::from(seat);
            let bots: [&mut dyn Bot<Yahtzee>; 2] = if seat == 0 {
                [&mut *champion, &mut *other]
            } else {
                [&mut *other, &mut *champion]
            };
            let scores = play(&config, seed, bots, &mut clock);
            let lead = scores[own] - scores[1 - own];
            tally.points += lead;
            match lead {
                1.. => (tally.won, share) = (tally.won + 1, share + 0.5),
                0 => (tally.tied, share) = (tally.tied + 1, share + 0.25),
                _ => tally.lost += 1,
            }
        }
        tally.pairs.push(share);
    }
    let (share, reach) = tally.share();
    eprintln!(
        "{source:?}: won {} lost {} tied {}: {:.2} % ± {:.2}, {:+.2} points a game, {:.2} ms a decision",
        tally.won,
        tally.lost,
        tally.tied,
        100.0 * share,
        100.0 * reach,
        tally.points as f64 / (2.0 * tally.pairs.len() as f64),
        clock.spent.as_secs_f64() * 1e3 / f64::from(clock.decisions.max(1)),
    );
    tally
}

/// The deals of a long run. Those before 400 chose the champion's settings, so it plays on others.
fn deals() -> std::ops::Range<u64> {
    let pairs = std::env::var("AGON_PAIRS").ok().and_then(|text| text.parse().ok());
    400..400 + pairs.unwrap_or(300)
}

/// The short version of the run below, with luck that is fixed.
#[test]
fn champion_beats_greedy_and_is_level_with_optimal_at_least() {
    let tally = duplicate_games(DiceSource::Duplicate, 0..20, &mut Greedy);
    assert!(tally.share().0 > 0.6, "{tally:?}");
    let tally = duplicate_games(DiceSource::Duplicate, 0..40, &mut Optimal);
    assert!(tally.share().0 >= 0.5, "{tally:?}");
}

#[test]
fn champion_repeats_its_answers_whatever_it_answered_before() {
    let game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(5)).unwrap();
    let mut used = Champion::default();
    duplicate_games_with(&mut used, DiceSource::Independent, 0..2, &mut Optimal);
    let (seat, mut fresh) = (Seat(1), Champion::default());
    let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
    let ask = Ask { player: "bot", key: "k", seat, question: &question, view: &view };
    assert_eq!(used.answer(&ask), fresh.answer(&ask));
    fresh.limit_time(Duration::from_millis(20));
    assert!(game.check(seat, &fresh.answer(&ask)).is_ok());
}

#[test]
fn levels_rise_in_mean_score() {
    let mean = |level: u8| {
        let mut bot = agon_bots::yahtzee::level(level);
        let mut twin = agon_bots::yahtzee::level(level);
        let mut clock = Clock { seat: Seat(0), spent: Duration::ZERO, decisions: 0 };
        let config = Config { dice: DiceSource::Independent, ..Config::default() };
        let scores = (0..60).map(|seed| play(&config, seed, [&mut bot, &mut twin], &mut clock));
        scores.map(|[one, other]| one + other).sum::<i64>() as f64 / 120.0
    };
    let means = [1, 2, 3, 4].map(mean);
    assert!(means.is_sorted() && means[0] > 90.0 && means[3] > 240.0, "{means:?}");
}

/// The luck of these pairs is fixed, so every level always wins the same games.
#[test]
fn every_level_beats_the_one_below() {
    let config = Config { dice: DiceSource::Duplicate, ..Config::default() };
    for (level, pairs) in [(2, 10), (3, 10), (4, 20), (5, 40)] {
        let mut upper = agon_bots::yahtzee::level(level);
        let mut lower = agon_bots::yahtzee::level(level - 1);
        let mut clock = Clock { seat: Seat(0), spent: Duration::ZERO, decisions: 0 };
        let [mut won, mut lost] = [0, 0];
        for seed in 0..pairs {
            let first = play(&config, seed, [&mut upper, &mut lower], &mut clock);
            let [low, high] = play(&config, seed, [&mut lower, &mut upper], &mut clock);
            for [own, other] in [first, [high, low]] {
                won += u32::from(own > other);
                lost += u32::from(own < other);
            }
        }
        assert!(won > lost, "level {level} won {won} and lost {lost} games");
    }
}

/// The figures of docs/analysis.md: AGON_PAIRS=2000 plays 2,000 pairs.
#[test]
#[ignore = "takes minutes; docs/analysis.md has its figures"]
fn champion_beats_optimal_significantly() {
    let tally = duplicate_games(DiceSource::Duplicate, deals(), &mut Optimal);
    let (share, reach) = tally.share();
    assert!(share - reach > 0.5, "{share} ± {reach}");
}

#[test]
#[ignore = "takes minutes; docs/analysis.md has its figures"]
fn champion_beats_greedy_significantly() {
    let tally = duplicate_games(DiceSource::Duplicate, deals(), &mut Greedy);
    let (share, reach) = tally.share();
    assert!(share - reach > 0.5, "{share} ± {reach}");
}

#[test]
#[ignore = "takes minutes; docs/analysis.md has its figures"]
fn champion_is_not_worse_than_optimal_with_independent_dice() {
    let tally = duplicate_games(DiceSource::Independent, deals(), &mut Optimal);
    let (share, reach) = tally.share();
    assert!(share + reach > 0.5, "{share} ± {reach}");
}
