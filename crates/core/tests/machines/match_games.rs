//! "A match: best of k, k odd", sentence by sentence.

use crate::support::bench::Bench;
use crate::support::plan::{match_of, name, names, numbered, of_preset};
use agon_core::{
    CrashCost, Event, Fault, GameEnd, How, JsonText, Match, MatchCommand, Nonce, Raw, Rejection,
    Ties,
};

/// The luck at the start of every game, and its configuration.
fn starts(bench: &Bench) -> Vec<(Option<Raw>, Option<JsonText>)> {
    let started = bench.read().to_vec().into_iter().filter_map(|line| match line.event {
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

/// A match in which ties are shared, by its games: `a` or `b` wins, or they tie.
fn shared(best_of: u32, games: &str) -> Bench {
    let mut bench = Bench::absent("yahtzee-class", best_of, |plan| plan.rules.ties = Ties::Share);
    bench.arrive("ann");
    bench.arrive("bob");
    for game in games.chars() {
        assert!(bench.live.result().is_none(), "over before {game} of {games}");
        bench.play(match game {
            'a' => Some("ann"),
            'b' => Some("bob"),
            _ => None,
        });
    }
    bench
}

#[test]
fn where_ties_are_shared_every_game_counts() {
    for (games, halves, winners) in [
        ("aa", [4, 0], &["ann"][..]),
        ("aba", [4, 2], &["ann"]),
        ("at-", [4, 2], &["ann"]), // a win and a tie are not enough to be out of reach
        ("atb", [3, 3], &["ann", "bob"]),
        ("abt", [3, 3], &["ann", "bob"]),
        ("ttt", [3, 3], &["ann", "bob"]),
        ("ttb", [2, 4], &["bob"]),
    ] {
        let bench = shared(3, games);
        let result = bench.verified().result();
        assert_eq!((&result.halves[..], result.how), (&halves[..], How::Played), "{games}");
        assert_eq!(bench.winners(), winners, "{games}");
    }
    assert_eq!(shared(1, "t").winners(), ["ann", "bob"]);
    assert_eq!(shared(5, "aaa").winners(), ["ann"]);
    assert!(shared(5, "aab").live.result().is_none());
}

#[test]
fn where_ties_are_shared_who_is_out_does_not_win() {
    for (first, winners) in [("ann", "ann"), ("bob", "ann")] {
        let mut bench = Bench::absent("yahtzee-class", 3, |plan| {
            (plan.rules.ties, plan.rules.crash) = (Ties::Share, CrashCost::Remove);
        });
        bench.arrive("ann");
        bench.arrive("bob");
        bench.play(Some(first));
        assert_eq!(
            bench.crash("bob"),
            ["player-left", "seat-removed", "game-ended", "match-ended"]
        );
        assert_eq!(
            (bench.verified().winners(), &bench.result().out[..]),
            (vec![winners], &[name("bob")][..])
        );
    }
}

#[test]
fn seats_and_nonces_rotate_where_the_rules_say_so() {
    for rotate in [true, false] {
        let mut bench = Bench::absent("yahtzee-class", 3, |plan| plan.rules.rotate_seats = rotate);
        bench.arrive_with("ann", "aa");
        bench.arrive("bob");
        bench.play(Some("ann"));
        bench.play(Some("bob"));
        bench.play(Some("ann"));
        let started = bench.read().to_vec().into_iter().filter_map(|line| match line.event {
            Event::GameStarted(started) => Some((started.seats, started.nonces)),
            _ => None,
        });
        let nonce = || Some(Nonce::new("aa").expect("a nonce"));
        let in_order = (names(&["ann", "bob"]), vec![nonce(), None]);
        let turned = (names(&["bob", "ann"]), vec![None, nonce()]);
        let second = if rotate { turned } else { in_order.clone() };
        assert!(started.eq([in_order.clone(), second, in_order]), "{rotate}");
        assert_eq!(bench.verified().winners(), ["ann"]);
    }
}

#[test]
fn how_long_an_answer_took_is_in_the_log() {
    let mut bench = Bench::yahtzee("yahtzee-class", 1);
    bench.live.delivered(&bench.open("bob"), bench.now);
    bench.pass(1_234);
    bench.play_one("bob");
    bench.live.delivered(&bench.open("bob"), bench.now + 50);
    bench.play_one("bob");
    bench.play_one("ann");
    let took = bench.read().to_vec().into_iter().filter_map(|line| match line.event {
        Event::AnswerAccepted(accepted) => Some(accepted.took_ms),
        _ => None,
    });
    // By the clock of that request; nothing if it was delivered later, or never.
    assert!(took.eq([1_234, 0, 0]));
}

#[test]
fn present_player_arrives_once_and_removed_player_never() {
    let mut bench = Bench::absent("yahtzee-queue", 3, |_| {});
    assert!(!bench.live.is_here(&name("ann")) && !bench.live.is_here(&name("eve")));
    assert_eq!(bench.arrive("ann"), ["player-arrived"]);
    assert_eq!(bench.arrive("ann"), [""; 0]);
    assert!(bench.live.is_here(&name("ann")));
    bench.arrive("bob");
    bench.crash("ann");
    let charge = MatchCommand::Charge { player: name("ann"), fault: Fault::timeout(1) };
    assert_eq!(bench.step(charge), Err(Rejection::NotAsked(name("ann"))), "it is gone");
    let stranger = MatchCommand::Arrive { player: name("eve"), nonce: None };
    assert_eq!(bench.step(stranger), Err(Rejection::Stranger(name("eve"))));
    // Gone is no reason not to give up.
    assert_eq!(bench.withdraw("ann"), ["player-left", "game-ended", "match-ended"]);
    assert_eq!(
        (bench.verified().winners(), &bench.result().out[..]),
        (vec!["bob"], &[name("ann")][..])
    );

    let mut fish = Bench::new(match_of(&of_preset("fish", "", numbered(3))), 1);
    fish.arrive("p1");
    fish.withdraw("p2");
    assert_eq!((fish.arrive("p2"), fish.withdraw("p2")), (vec![], vec![]), "it is out");
    assert_eq!(fish.arrive("p3"), ["player-arrived", "game-started", "seat-removed"]);
}
