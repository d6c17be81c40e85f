//! Duplicate games: the same luck with exchanged seats, what a match counts, and when the log reveals
//! the luck. Every bench verifies its log when it is dropped.

use crate::support::bench::Bench;
use crate::support::plan::{match_of, name, names, numbered, of_preset};
use crate::support::ruling;
use agon_core::{
    Ask, Decimal, Event, GameEnded, GameStarted, MatchCommand, MatchOrder, MatchPlan, Policy,
    Preset, SprtRule, Ties,
};
use agon_stats::{PairCounts, SprtVerdict};

fn duplicate(best_of: u32, change: impl Fn(&mut MatchPlan)) -> Bench {
    let mut bench = Bench::absent("yahtzee-class", best_of, |plan| {
        plan.rules.duplicate = true;
        change(plan);
    });
    bench.arrive("ann");
    bench.arrive("bob");
    bench
}

fn started(bench: &Bench) -> Vec<GameStarted> {
    let lines = bench.read().to_vec().into_iter();
    let started = lines.filter_map(|line| match line.event {
        Event::GameStarted(started) => Some(started),
        _ => None,
    });
    started.collect()
}

fn ended(bench: &Bench) -> Vec<GameEnded> {
    let lines = bench.read().to_vec().into_iter();
    let ended = lines.filter_map(|line| match line.event {
        Event::GameEnded(ended) => Some(ended),
        _ => None,
    });
    ended.collect()
}

/// Plays to the end of the match with the first legal answer each time.
fn play_out(bench: &mut Bench) {
    while bench.live.result().is_none() {
        let pending = bench.live.pending().into_iter().next().expect("somebody is asked");
        let player = pending.player.as_str().to_owned();
        let answer = match pending.ask {
            Ask::Game(_) => bench.legal(&player),
            Ask::Confirm { .. } => "\"ok\"".into(),
        };
        bench.answer(&player, &pending.id, &answer).expect("a legal answer");
    }
}

#[test]
fn games_of_a_group_have_the_same_luck_and_every_player_takes_every_seat() {
    let cases = [
        ("yahtzee-class", r#"{"dice":"independent"}"#, 2),
        ("fish", r#"{"rows":4,"columns":4}"#, 3),
        ("trains", "", 3),
    ];
    for (preset, config, count) in cases {
        let mut plan = match_of(&of_preset(preset, config, numbered(count)));
        plan.rules.duplicate = true;
        plan.rules.best_of = 1;
        plan.rules.ties = Ties::Share;
        let mut bench = Bench::new(plan, 7);
        for player in numbered(count) {
            bench.arrive(player.as_str());
        }
        play_out(&mut bench);
        let (started, ended) = (started(&bench), ended(&bench));
        assert_eq!((started.len(), ended.len()), (count, count), "{preset}");
        for (at, game) in started.iter().enumerate() {
            let mut seats = numbered(count);
            seats.rotate_left(at);
            assert_eq!(game.seats, seats, "{preset}");
            assert_eq!(game.commitment, started[0].commitment, "{preset}");
            assert_eq!(game.drawn, started[0].drawn, "{preset}");
            assert_eq!(game.duplicate_of, (at > 0).then_some(1), "{preset}");
            assert_eq!(ended[at].secret.is_some(), at + 1 == count, "{preset}");
        }
        // The same answers to the same luck have the same scores by seat.
        assert!(ended.iter().all(|game| game.result.scores == ended[0].result.scores), "{preset}");
    }
}

#[test]
fn every_pair_has_luck_of_its_own() {
    let mut bench = duplicate(3, |_| {});
    for winner in ["ann", "bob", "ann", "bob", "ann", "ann"] {
        bench.play(Some(winner));
    }
    let commitments: Vec<_> = started(&bench).into_iter().map(|game| game.commitment).collect();
    assert!(commitments.chunks(2).all(|pair| pair[0] == pair[1]));
    assert!(commitments[0] != commitments[2] && commitments[2] != commitments[4]);
    assert_eq!((bench.winners(), &bench.result().halves[..]), (vec!["ann"], &[8, 4][..]));
    assert_eq!(bench.live.pairs(), PairCounts([0, 0, 2, 0, 1]));
}

#[test]
fn match_ends_after_the_pair_that_decides_it() {
    let mut bench = duplicate(3, |_| {});
    for _ in 0..3 {
        bench.play(Some("ann"));
    }
    assert!(bench.live.result().is_none(), "the pair is not complete");
    bench.play(Some("ann"));
    assert_eq!(bench.verified().winners(), ["ann"]);
}

#[test]
fn level_match_gets_another_pair_or_is_shared() {
    let mut bench = duplicate(1, |_| {});
    for winner in ["ann", "bob", "bob", "bob"] {
        assert!(bench.live.result().is_none());
        bench.play(Some(winner));
    }
    assert_eq!(bench.winners(), ["bob"]);
    let mut shared = duplicate(1, |plan| plan.rules.ties = Ties::Share);
    shared.play(Some("ann"));
    shared.play(Some("bob"));
    assert_eq!(shared.winners(), ["ann", "bob"]);
}

#[test]
fn match_that_stays_level_restarts_like_any_undecided_match() {
    let mut bench = duplicate(1, |_| {});
    bench.play(Some("ann"));
    bench.play(Some("bob"));
    bench.play(Some("bob"));
    bench.play(Some("ann"));
    let tags: Vec<&str> = bench.read().iter().map(|line| line.event.tag()).collect();
    assert!(tags.contains(&"match-restarted"));
    assert_eq!(started(&bench).last().unwrap().duplicate_of, None, "a new group begins");
}

#[test]
fn tied_game_is_half_a_win_for_both() {
    let mut bench = duplicate(1, |_| {});
    bench.play(None);
    bench.play(Some("bob"));
    assert_eq!((bench.winners(), &bench.result().halves[..]), (vec!["bob"], &[1, 3][..]));
    assert_eq!(bench.live.pairs(), PairCounts([0, 1, 0, 0, 0]));
}

#[test]
fn void_game_takes_its_pair_with_it() {
    let mut bench = duplicate(1, |_| {});
    bench.play(Some("bob"));
    let order = |order| MatchCommand::Order { order, ruling: ruling("wrong map") };
    bench.step(order(MatchOrder::Pause)).unwrap();
    bench.step(order(MatchOrder::Void(1))).unwrap();
    bench.step(order(MatchOrder::Resume)).unwrap();
    bench.play(Some("bob"));
    assert!(bench.live.result().is_none(), "the pair of the void game does not count");
    assert_eq!(bench.live.pairs(), PairCounts::default());
    bench.play(Some("ann"));
    bench.play(Some("ann"));
    assert_eq!((bench.winners(), &bench.result().halves[..]), (vec!["ann"], &[4, 0][..]));
}

#[test]
fn secret_of_a_pair_is_revealed_when_the_match_ends_or_restarts_within_it() {
    let mut bench = duplicate(1, |_| {});
    bench.play(Some("ann"));
    assert_eq!(bench.withdraw("bob"), ["player-left", "game-ended", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["ann"]);

    // Both leave while no game is played: the match restarts.
    let mut bench = duplicate(1, |_| {});
    assert_eq!(bench.crash("ann"), ["player-left", "game-ended"]);
    assert_eq!(bench.crash("bob"), ["player-left", "match-restarted"]);
    let lines = bench.read();
    let Event::MatchRestarted(restarted) = &lines.last().unwrap().event else { panic!() };
    assert!(restarted.secret.is_some());
    bench.arrive("ann");
    bench.arrive("bob");
    bench.play(Some("bob"));
    bench.play(Some("bob"));
    assert_eq!(bench.verified().winners(), ["bob"]);
}

#[test]
fn nonces_of_the_first_game_hold_for_the_whole_pair() {
    let mut bench = Bench::absent("yahtzee-queue", 1, |plan| plan.rules.duplicate = true);
    bench.arrive_with("ann", "aa");
    bench.arrive("bob");
    bench.play(Some("ann"));
    bench.crash("ann");
    bench.arrive_with("ann", "bb");
    bench.play(Some("ann"));
    let started = started(&bench);
    assert_eq!(started[0].nonces, started[1].nonces);
    assert_eq!(started[1].seats, names(&["bob", "ann"]));
}

fn sprt(pairs_max: u32) -> SprtRule {
    let number = |value: f64| Decimal::try_from(value).unwrap();
    SprtRule {
        elo0: number(0.0),
        elo1: number(200.0),
        alpha: number(0.05),
        beta: number(0.05),
        normalised: false,
        pairs_max,
    }
}

#[test]
fn sequential_test_ends_the_match_as_soon_as_it_knows() {
    let verdicts = [("ann", SprtVerdict::H1), ("bob", SprtVerdict::H0)];
    for (strong, verdict) in verdicts {
        let mut bench = duplicate(1, |plan| plan.rules.sprt = Some(sprt(500)));
        let mut counts = PairCounts::default();
        while sprt(500).test().after_pairs(&counts).verdict.is_none() {
            assert!(bench.live.result().is_none(), "{counts:?}");
            bench.play(Some(strong));
            bench.play(Some(strong));
            counts.add(if strong == "ann" { 4 } else { 0 });
        }
        assert_eq!((bench.verified().winners(), counts), (vec![strong], bench.live.pairs()));
        assert_eq!(bench.live.sprt().unwrap().verdict, Some(verdict));
    }
}

#[test]
fn score_decides_a_sequential_test_without_a_verdict() {
    for (ties, winners) in [(Ties::Share, vec!["ann", "bob"]), (Ties::Replay, vec!["bob"])] {
        let mut bench = duplicate(1, |plan| {
            plan.rules.ties = ties;
            plan.rules.sprt = Some(sprt(2));
        });
        for winner in ["ann", "bob", "bob", "ann"] {
            bench.play(Some(winner));
        }
        assert_eq!(bench.winners(), winners);
    }
}

#[test]
fn sequential_test_needs_duplicate_games_and_sound_settings() {
    let checked = |change: &dyn Fn(&mut Policy)| {
        let mut policy = Preset::named("yahtzee-class").unwrap().policy;
        policy.rules.duplicate = true;
        policy.rules.sprt = Some(sprt(100));
        change(&mut policy);
        policy.check()
    };
    assert_eq!(checked(&|_| {}), Ok(()));
    let why = checked(&|policy| policy.rules.duplicate = false).unwrap_err();
    assert_eq!(why, "a sequential test needs duplicate games: duplicate = true");
    let why = checked(&|policy| policy.rules.sprt = Some(sprt(0))).unwrap_err();
    assert_eq!(why, "pairs_max is 1 to 50000, not 0");
    let json = serde_json::to_value(&Preset::named("fish").unwrap().policy).unwrap();
    assert_eq!(json["match"].get("duplicate").or(json["match"].get("sprt")), None);
    assert!(name("ann") != name("bob"));
}
