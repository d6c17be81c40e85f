//! Coverage by simulation: 95 % intervals contain the truth in 94 to 96 % of 10,000 runs, and the
//! sequential test keeps its error rates. All seeds are fixed, so a failure is a change of the code.

use agon_stats::elo::expected_score;
use agon_stats::{
    Controlled, EloEstimate, EloModel, GameCounts, Interval, Meeting, PairCounts, RandomNumbers,
    Sprt, SprtVerdict, Strengths, TableResults, without_controls,
};

const RUNS: u32 = 10_000;

/// Asserts that `hit` is true in 94 to 96 % of all runs.
fn assert_coverage(what: &str, mut hit: impl FnMut(&mut RandomNumbers) -> bool) {
    let mut random = RandomNumbers::new(15);
    let hits = (0..RUNS).filter(|_| hit(&mut random)).count() as u32;
    let share = f64::from(hits) / f64::from(RUNS);
    eprintln!("{what}: {:.2} %", share * 100.0);
    assert!((0.94..=0.96).contains(&share), "{what}: {share}");
}

#[test]
fn interval_of_a_proportion_has_its_coverage() {
    assert_coverage("proportion", |random| {
        let (chance, trials) = (0.05 + 0.9 * random.unit(), 200);
        let successes = (0..trials).filter(|_| random.unit() < chance).count();
        Interval::of_proportion(successes as f64, f64::from(trials), 0.95).contains(chance)
    });
}

#[test]
fn interval_of_a_mean_has_its_coverage() {
    assert_coverage("mean of 8", |random| {
        let values: Vec<f64> = (0..8).map(|_| 3.0 + 2.0 * random.normal()).collect();
        Interval::of_mean(&values, 0.95).contains(3.0)
    });
}

/// The outcome of a game with this chance of a draw: 0 lost, 1 drawn, 2 won.
fn outcome(random: &mut RandomNumbers, score: f64, draws: f64) -> usize {
    let number = random.unit();
    let wins = score - draws / 2.0;
    if number < wins { 2 } else { usize::from(number < wins + draws) }
}

#[test]
fn interval_of_an_elo_difference_has_its_coverage() {
    assert_coverage("Elo of 400 games", |random| {
        let elo = 200.0 * random.unit() - 100.0;
        let mut counts = [0; 3];
        (0..400).for_each(|_| counts[outcome(random, expected_score(elo), 0.3)] += 1);
        let [losses, draws, wins] = counts;
        GameCounts { losses, draws, wins }.estimate().unwrap().interval.contains(elo)
    });
}

/// A duplicate pair: its luck favours one seat by `luck`, and the players exchange seats.
fn pair(random: &mut RandomNumbers, elo: f64) -> usize {
    let luck = 150.0 * random.normal();
    let first = outcome(random, expected_score(elo + luck), 0.1);
    first + outcome(random, expected_score(elo - luck), 0.1)
}

/// The mean score of such pairs, by numerical integration over the luck.
fn mean_score(elo: f64) -> f64 {
    let weights = (-80..=80).map(|step| f64::from(step) / 16.0);
    let weighted = weights.map(|z| {
        let weight = agon_stats::normal::density(z) / 16.0;
        weight * expected_score(elo + 150.0 * z)
    });
    weighted.sum()
}

#[test]
fn interval_of_an_elo_difference_from_pairs_has_its_coverage() {
    let truth = agon_stats::elo::difference(mean_score(35.0));
    assert_coverage("Elo of 300 pairs", |random| {
        let mut counts = PairCounts::default();
        (0..300).for_each(|_| counts.add(pair(random, 35.0)));
        counts.estimate().unwrap().interval.contains(truth)
    });
}

/// Two players in duplicate groups of three games, whose luck helps the same player in all of them.
#[test]
fn interval_of_an_elo_difference_from_groups_of_three_has_its_coverage() {
    let truth = agon_stats::elo::difference(mean_score(35.0));
    assert_coverage("Elo of 200 groups of three", |random| {
        let group = |random: &mut RandomNumbers| {
            let score = expected_score(35.0 + 150.0 * random.normal());
            (0..3).map(|_| outcome(random, score, 0.1) as f64 / 2.0).sum()
        };
        let points: Vec<f64> = (0..200).map(|_| group(random)).collect();
        EloEstimate::of_groups(3, &points).unwrap().interval.contains(truth)
    });
}

#[test]
fn intervals_of_strengths_have_their_coverage() {
    const ELO: [f64; 5] = [120.0, 60.0, 0.0, -60.0, -120.0];
    let mut player = 0;
    assert_coverage("strength among five", |random| {
        let mut meetings = Vec::new();
        for (one, own) in ELO.iter().enumerate() {
            for (other, against) in ELO.iter().enumerate().take(one) {
                let score = expected_score(own - against);
                let points = (0..60).filter(|_| random.unit() < score).count() as f64;
                meetings.push(Meeting::of_games(one, other, points, 60.0));
            }
        }
        player = (player + 1) % 5;
        let fitted = Strengths::fit(5, &meetings, 0.1);
        fitted.interval(player, 0.95).contains(ELO[player])
    });
}

/// Asserts the coverage of strengths from duplicate pairs, whose points `draw` gives for a score.
fn assert_coverage_of_pairs(what: &str, draw: impl Fn(&mut RandomNumbers, f64) -> f64) {
    const ELO: [f64; 5] = [120.0, 60.0, 0.0, -60.0, -120.0];
    let mut player = 0;
    assert_coverage(what, |random| {
        let mut meetings = Vec::new();
        for (one, own) in ELO.iter().enumerate() {
            for (other, against) in ELO.iter().enumerate().take(one) {
                let score = expected_score(own - against);
                let points: Vec<f64> = (0..60).map(|_| draw(random, score)).collect();
                meetings.push(Meeting::of_groups(one, other, 2, &points));
            }
        }
        player = (player + 1) % 5;
        Strengths::fit(5, &meetings, 0.1).interval(player, 0.95).contains(ELO[player])
    });
}

#[test]
fn intervals_of_strengths_have_their_coverage_when_pairs_mirror() {
    assert_coverage_of_pairs(
        "mirrored pairs",
        |random, score| {
            if random.unit() < score { 2.0 } else { 0.0 }
        },
    );
}

#[test]
fn intervals_of_strengths_have_their_coverage_when_the_luck_of_a_board_cancels() {
    // The lucky seat of one game is the unlucky seat of the other: U and 1 - U.
    assert_coverage_of_pairs("pairs whose luck cancels", |random, score| {
        let luck = random.unit();
        f64::from(u8::from(luck < score)) + f64::from(u8::from(1.0 - luck < score))
    });
}

#[test]
fn intervals_of_strengths_have_their_coverage_when_pairs_are_independent() {
    assert_coverage_of_pairs("independent pairs", |random, score| {
        (0..2).map(|_| f64::from(u8::from(random.unit() < score))).sum()
    });
}

/// Players of a table in the order of their luck and strength: each next place goes to a player
/// with a chance in proportion to `10^(Elo / 400)`, so every two of them fulfil the Elo model.
fn ranked_table(random: &mut RandomNumbers, elo: &[f64], players: &[usize]) -> Vec<usize> {
    let mut late: Vec<(f64, usize)> = players
        .iter()
        .map(|player| {
            let rate = f64::powf(10.0, elo[*player] / 400.0);
            (-f64::ln(1.0 - random.unit()) / rate, *player)
        })
        .collect();
    late.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    late.into_iter().map(|(_, player)| player).collect()
}

/// The coverage of strengths from games of `size` of eight players: with tables as units, and with
/// every pair as an independent game.
fn coverage_at_tables(size: usize, games: usize, spread: f64) -> [f64; 2] {
    let elo: [f64; 8] = std::array::from_fn(|at| spread * (3.5 - at as f64));
    let mut random = RandomNumbers::new(41);
    let mut hits = [0u32; 2];
    for run in 0..RUNS {
        let (mut points, mut met) = ([[0.0; 8]; 8], [[0.0; 8]; 8]);
        let mut tables = Vec::new();
        for _ in 0..games {
            let mut players: Vec<usize> = (0..8).collect();
            for at in 0..size {
                players.swap(at, at + (random.unit() * (8 - at) as f64) as usize);
            }
            let ranked = ranked_table(&mut random, &elo, &players[..size]);
            let mut results = Vec::new();
            for (place, better) in ranked.iter().enumerate() {
                for worse in &ranked[place + 1..] {
                    let (one, other) = (*better.min(worse), *better.max(worse));
                    let won = f64::from(u8::from(one == *better));
                    points[one][other] += won;
                    met[one][other] += 1.0;
                    results.push((one, other, won));
                }
            }
            tables.push(TableResults { size, games: 1.0, results });
        }
        let mut meetings = Vec::new();
        for one in 0..8 {
            for other in one + 1..8 {
                let (points, games) = (points[one][other], met[one][other]);
                meetings.push(Meeting::of_games(one, other, points, games));
            }
        }
        let player = run as usize % 8;
        let by_tables = Strengths::fit_tables(8, &meetings, &tables, 0.1);
        let by_pairs = Strengths::fit(8, &meetings, 0.1);
        for (hits, fitted) in hits.iter_mut().zip([by_tables, by_pairs]) {
            *hits += u32::from(fitted.interval(player, 0.95).contains(elo[player]));
        }
    }
    hits.map(|hits| f64::from(hits) / f64::from(RUNS))
}

#[test]
fn intervals_of_strengths_have_their_coverage_at_tables_of_many() {
    for (size, games, spread) in [(3, 100, 40.0), (4, 60, 0.0), (4, 100, 40.0), (6, 60, 40.0)] {
        let [by_tables, by_pairs] = coverage_at_tables(size, games, spread);
        eprintln!("{games} games of {size}, {spread} Elo apart: {by_tables}, by pairs {by_pairs}");
        assert!((0.94..=0.96).contains(&by_tables), "tables of {size}: {by_tables}");
        assert!(by_pairs < 0.93, "pairs of one table are not independent: {by_pairs}");
    }
}

/// How often a test accepts H1 if the player is really `elo` stronger, and its mean length.
fn accepted_h1(sprt: &Sprt, elo: f64, pairs: bool) -> (f64, f64) {
    let mut random = RandomNumbers::new(151);
    let (mut accepted, mut length) = (0u32, 0u64);
    const TESTS: u32 = 1_000;
    for _ in 0..TESTS {
        let (mut of_games, mut of_pairs) = (GameCounts::default(), PairCounts::default());
        let verdict = loop {
            length += 1;
            let state = if pairs {
                of_pairs.add(pair(&mut random, elo));
                sprt.after_pairs(&of_pairs)
            } else {
                match outcome(&mut random, expected_score(elo), 0.3) {
                    0 => of_games.losses += 1,
                    1 => of_games.draws += 1,
                    _ => of_games.wins += 1,
                }
                sprt.after_games(&of_games)
            };
            if let Some(verdict) = state.verdict {
                break verdict;
            }
        };
        accepted += u32::from(verdict == SprtVerdict::H1);
    }
    (f64::from(accepted) / f64::from(TESTS), length as f64 / f64::from(TESTS))
}

/// Three standard errors of a share of 5 % among 1,000 tests.
const SLACK: f64 = 0.021;

#[test]
fn sequential_test_of_games_keeps_its_error_rates() {
    let sprt = Sprt { elo0: 0.0, elo1: 50.0, alpha: 0.05, beta: 0.05, model: EloModel::Logistic };
    let (wrong, length) = accepted_h1(&sprt, 0.0, false);
    eprintln!("H0 is true: H1 accepted in {wrong}, {length} games");
    assert!(wrong <= 0.05 + SLACK, "{wrong}");
    let (right, length) = accepted_h1(&sprt, 50.0, false);
    eprintln!("H1 is true: H1 accepted in {right}, {length} games");
    assert!(right >= 0.95 - SLACK, "{right}");
}

#[test]
fn sequential_test_of_pairs_keeps_its_error_rates() {
    let difference = agon_stats::elo::difference(mean_score(60.0));
    for model in [EloModel::Logistic, EloModel::Normalised] {
        // In normalised Elo the same difference is a larger number, because pairs vary less.
        let elo1 = if model == EloModel::Logistic { difference } else { difference * 1.2 };
        let sprt = Sprt { elo0: 0.0, elo1, alpha: 0.05, beta: 0.05, model };
        let (wrong, length) = accepted_h1(&sprt, 0.0, true);
        eprintln!("{model:?}, H0 is true: H1 accepted in {wrong}, {length} pairs");
        assert!(wrong <= 0.05 + SLACK, "{model:?} {wrong}");
        if model == EloModel::Logistic {
            let (right, length) = accepted_h1(&sprt, 60.0, true);
            eprintln!("{model:?}, H1 is true: H1 accepted in {right}, {length} pairs");
            assert!(right >= 0.95 - SLACK, "{model:?} {right}");
        }
    }
}

#[test]
fn intervals_without_luck_have_their_coverage() {
    for count in [10, 40, 200] {
        assert_coverage(&format!("mean of {count} results without luck"), |random| {
            // A player who makes 0.8 of the first kind of luck and 0.3 of the second.
            let results: Vec<Controlled> = (0..count)
                .map(|_| {
                    let luck = [40.0 * random.normal(), 20.0 * random.normal()];
                    let value = 200.0 + 0.8 * luck[0] + 0.3 * luck[1] + 12.0 * random.normal();
                    Controlled { value, controls: luck.to_vec() }
                })
                .collect();
            let values = without_controls(&results, &[1.0, 1.0]);
            Interval::of_mean(&values, 0.95).contains(200.0)
        });
    }
}

/// Runs a tournament of four players of random strength, 30 duplicate pairs each against each.
/// Returns whether the first of the results is the strongest, and how sure the podium says that is.
fn podium_of_four(random: &mut RandomNumbers, mirror: bool) -> (bool, f64) {
    let elo: Vec<f64> = (0..4).map(|_| 120.0 * random.normal()).collect();
    let mut meetings = Vec::new();
    for one in 0..4 {
        for other in 0..one {
            let score = expected_score(elo[one] - elo[other]);
            let mut won = || f64::from(u8::from(random.unit() < score));
            let points: Vec<f64> =
                (0..30).map(|_| if mirror { 2.0 * won() } else { won() + won() }).collect();
            meetings.push(Meeting::of_groups(one, other, 2, &points));
        }
    }
    let fitted = Strengths::fit(4, &meetings, Strengths::PRIOR_GAMES);
    let ranking = fitted.ranking(|_| true);
    let strongest = (0..4).max_by(|one, other| elo[*one].total_cmp(&elo[*other]));
    let sure = agon_stats::podium(&fitted, &ranking[..3]);
    (strongest == Some(ranking[0]), sure.winner)
}

#[test]
fn confidence_in_a_podium_is_calibrated() {
    for mirror in [false, true] {
        let mut random = RandomNumbers::new(31);
        let mut bins = [(0u32, 0u32, 0.0); 5];
        for _ in 0..RUNS / 4 {
            let (is_right, sure) = podium_of_four(&mut random, mirror);
            let bin = &mut bins[((sure * 5.0) as usize).min(4)];
            *bin = (bin.0 + 1, bin.1 + u32::from(is_right), bin.2 + sure);
        }
        for (count, right, sure) in bins.into_iter().filter(|(count, ..)| *count >= 200) {
            let (found, said) = (f64::from(right) / f64::from(count), sure / f64::from(count));
            eprintln!("mirror {mirror}: said {said:.3}, found {found:.3} of {count}");
            let error = (said * (1.0 - said) / f64::from(count)).sqrt();
            assert!((found - said).abs() < 3.0 * error, "mirror {mirror}: {said} and {found}");
        }
    }
}
