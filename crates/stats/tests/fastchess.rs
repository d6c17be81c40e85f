//! The figures of fastchess for the same counts.
//!
//! Source of the expected figures: the test suites `app/tests/sprt_test.cpp` and
//! `app/tests/elo_test.cpp` of fastchess (github.com/Disservin/fastchess), whose counts come from
//! tests on fishtest. fastchess publishes two decimals and compares with a tolerance of 1 %.

use agon_stats::{EloModel, GameCounts, PairCounts, Sprt};

/// Wins, losses and draws, `elo0` and `elo1`, and the published LLR.
const GAMES: [(EloModel, [u64; 3], [f64; 2], f64); 5] = [
    (EloModel::Normalised, [36_433, 36_027, 68_692], [0.0, 2.0], 0.92),
    (EloModel::Normalised, [10_871, 10_650, 20_431], [-1.75, 0.25], 2.30),
    (EloModel::Normalised, [4_250, 0, 0], [0.0, 10.0], 120.56),
    (EloModel::Logistic, [21_404, 21_184, 40_708], [0.5, 2.5], -1.57),
    (EloModel::Logistic, [57_433, 57_030, 106_593], [0.0, 2.0], -2.59),
];

/// Pairs with 0, ½, 1 (a win and a loss), 1 (two draws), 1½ and 2 points, `elo0` and `elo1`, and
/// the published LLR.
const PAIRS: [(EloModel, [u64; 6], [f64; 2], f64); 5] = [
    (EloModel::Normalised, [365, 16_618, 36_029, 200, 16_974, 390], [0.0, 2.0], 2.25),
    (EloModel::Normalised, [127, 4_883, 10_311, 401, 5_150, 104], [-1.75, 0.25], 3.01),
    (EloModel::Normalised, [0, 0, 0, 0, 0, 5_550], [0.0, 5.0], 111.82),
    (EloModel::Logistic, [223, 9_863, 20_279, 1_000, 10_037, 246], [0.5, 2.5], -3.07),
    (EloModel::Logistic, [871, 26_175, 55_003, 980, 26_678, 821], [0.0, 2.0], -4.98),
];

fn pairs([lost, half, mixed, drawn, most, won]: [u64; 6]) -> PairCounts {
    PairCounts([lost, half, mixed + drawn, most, won])
}

fn sprt(model: EloModel, [elo0, elo1]: [f64; 2]) -> Sprt {
    Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model }
}

fn assert_close(what: &str, found: f64, published: f64) {
    let error = (found - published).abs();
    assert!(error <= 0.01 * published.abs(), "{what}: {found}, and fastchess says {published}");
}

#[test]
fn llr_of_single_games_equals_that_of_fastchess() {
    for (model, [wins, losses, draws], elo, published) in GAMES {
        let state = sprt(model, elo).after_games(&GameCounts { losses, draws, wins });
        assert_close(&format!("{model:?} {wins}"), state.llr, published);
    }
}

#[test]
fn llr_of_pairs_equals_that_of_fastchess() {
    for (model, counts, elo, published) in PAIRS {
        let state = sprt(model, elo).after_pairs(&pairs(counts));
        assert_close(&format!("{model:?} {counts:?}"), state.llr, published);
    }
}

/// Normalised Elo and its reach, Elo and its reach, and the likelihood of superiority in percent,
/// where fastchess publishes them.
type Published = ([f64; 2], Option<[f64; 2]>, Option<f64>);

#[test]
fn elo_of_single_games_equals_that_of_fastchess() {
    let sets: [([u64; 3], Published); 3] = [
        ([76, 89, 123], ([-20.76, 40.13], None, Some(15.53))),
        ([136, 96, 111], ([49.77, 36.77], Some([40.70, 30.43]), Some(99.60))),
        ([34, 356, 0], ([-508.44, 34.48], None, None)),
    ];
    for ([wins, losses, draws], published) in sets {
        compare(GameCounts { losses, draws, wins }.estimate().unwrap(), published);
    }
}

#[test]
fn elo_of_pairs_equals_that_of_fastchess() {
    let sets: [([u64; 6], Published); 3] = [
        ([34, 54, 31, 32, 64, 75], ([57.94, 28.28], Some([55.58, 27.65]), Some(100.0))),
        ([332, 433, 457, 41, 333, 334], ([-9.17, 10.96], Some([-8.64, 10.33]), Some(5.05))),
        ([7_895, 8_757, 5_485, 200, 568, 9_999], ([-19.01, 2.65], Some([-21.04, 2.95]), None)),
    ];
    for (counts, published) in sets {
        compare(pairs(counts).estimate().unwrap(), published);
    }
}

fn compare(found: agon_stats::EloEstimate, (normalised, elo, superiority): Published) {
    assert_close("normalised Elo", found.normalised.0, normalised[0]);
    assert_close("its reach", found.normalised.1, normalised[1]);
    if let Some([elo, reach]) = elo {
        assert_close("Elo", found.elo, elo);
        assert_close("its reach", found.interval.reach(), reach);
    }
    if let Some(percent) = superiority {
        let error = (found.superiority * 100.0 - percent).abs();
        assert!(error < 0.005 + 1e-9, "superiority {} and {percent}", found.superiority);
    }
}
