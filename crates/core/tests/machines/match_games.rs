//! "A match: best of k, k odd", sentence by sentence.

use crate::support::bench::Bench;
use agon_core::{Event, GameEnd, How, Match, Raw};

/// What luck gave at the start of every game, and under which configuration.
fn starts(bench: &Bench) -> Vec<(Option<Raw>, Option<Raw>)> {
    let started = bench.read().into_iter().filter_map(|line| match line.event {
        Event::GameStarted(started) => Some((started.config, started.drawn)),
        _ => None,
    });
    started.collect()
}

fn restarts(bench: &Bench) -> usize {
    bench.lines.iter().filter(|line| line.contains("\"match-restarted\"")).count()
}

#[test]
fn first_to_more_than_half_of_the_games_wins() {
    for (best_of, games, halves) in [
        (1, &["bob"][..], [0, 2]),
        (3, &["ann", "ann"], [4, 0]),
        (3, &["ann", "bob", "bob"], [2, 4]),
        (5, &["bob", "ann", "bob", "ann", "ann"], [6, 4]),
    ] {
        let mut bench = Bench::yahtzee("yahtzee-class", best_of);
        for winner in games {
            assert!(bench.live.result().is_none(), "{games:?}");
            bench.play(Some(winner));
        }
        let result = bench.verified().result();
        assert_eq!(bench.winners(), [*games.last().unwrap()]);
        assert_eq!((result.how, &result.halves[..]), (How::Played, &halves[..]), "{games:?}");
    }
}

#[test]
fn a_tied_game_is_discarded_and_played_again_with_new_dice() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    bench.play(None);
    assert!(bench.plays(2));
    let starts = starts(&bench);
    assert_ne!(starts[0].1, starts[1].1, "new dice");
    assert_eq!((&starts[0].0, &starts[1].0), (&None, &None), "still the same for both");
    bench.play(Some("ann"));
    bench.play(Some("ann"));
    let result = bench.verified().result();
    assert_eq!((&result.halves[..], result.games.len()), (&[4, 0][..], 3));
    assert_eq!(result.counts_from, 1);
}

#[test]
fn half_of_the_games_tied_in_a_row_make_it_start_again_with_independent_dice() {
    for (best_of, ties) in [(1, 1), (3, 2), (5, 3)] {
        let mut bench = Bench::yahtzee("yahtzee-class", best_of);
        if best_of > 1 {
            bench.play(Some("bob"));
        }
        for _ in 0..ties {
            assert_eq!(restarts(&bench), 0);
            bench.play(None);
        }
        assert_eq!(restarts(&bench), 1, "best of {best_of}");
        let first = bench.live.finished().count() as u32 + 1;
        let config = starts(&bench).pop().unwrap().0.expect("another configuration");
        assert!(config.get().contains("independent"), "{config:?}");
        for _ in 0..best_of.div_ceil(2) {
            bench.play(Some("ann"));
        }
        let result = bench.verified().result();
        assert_eq!(bench.winners(), ["ann"]);
        assert_eq!((result.halves[1], result.counts_from), (0, first), "from 0–0");
    }
}

#[test]
fn ties_that_are_not_in_a_row_do_not_make_it_start_again() {
    let mut bench = Bench::yahtzee("yahtzee-class", 5);
    for strong in [None, None, Some("ann"), None, None, Some("bob")] {
        bench.play(strong);
    }
    assert_eq!(restarts(&bench), 0);
    assert_eq!(bench.live.finished().count(), 6);
    bench.verified();
}

/// Nothing in the rules ends a match that is tied for ever, so lots are drawn in the end.
#[test]
fn a_match_that_stays_undecided_is_ended_by_lot() {
    let mut bench = Bench::absent("yahtzee-class", 1, |plan| {
        // Fixed dice make ties also where each has dice of its own.
        let dice = vec![vec![1u8; 15]; 13];
        let config =
            serde_json::json!({"dice": "duplicate", "rule": "tournament", "fixed_dice": dice});
        plan.config = Raw::parse(&config.to_string()).unwrap();
    });
    bench.arrive("ann");
    bench.arrive("bob");
    while bench.live.result().is_none() {
        bench.play(None);
    }
    assert_eq!(restarts(&bench) as u32, Match::RESTARTS_MAX);
    let result = bench.verified().result();
    assert_eq!((result.how, result.winners.len()), (How::Lot, 1));
    assert!(result.games.iter().all(|game| game.end == GameEnd::Played));
}
