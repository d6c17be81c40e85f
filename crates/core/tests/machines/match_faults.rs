//! "Crashes, logouts, forfeits", sentence by sentence.

use crate::support::bench::Bench;
use crate::support::plan::name;
use agon_core::{CrashCost, FaultKind, GameEnd, How, MatchCommand, RequestId, Timestamp};

const WAIT_MS: u64 = 60_000;

fn kinds(bench: &Bench) -> Vec<FaultKind> {
    bench.live.faults().iter().map(|faulted| faulted.fault.kind).collect()
}

#[test]
fn a_lost_connection_forfeits_the_game_and_not_the_match() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    assert_eq!(bench.crash("bob"), ["player-left", "game-ended"]);
    let (result, _) = bench.live.finished().next().unwrap();
    assert_eq!(result.end, GameEnd::Forfeited { by: name("bob") });
    assert_eq!(result.winners, [name("ann")]);
    assert!(bench.live.result().is_none() && bench.live.referee().is_none());
    assert_eq!(bench.crash("bob"), [""; 0], "once is enough");
}

#[test]
fn no_answer_in_time_forfeits_the_game_and_not_the_match() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    bench.live.delivered(&bench.open("bob"), bench.now);
    assert_eq!(bench.pass(9_999), [""; 0]);
    assert_eq!(bench.pass(1), ["player-faulted", "game-ended", "game-started"]);
    assert!(bench.live.is_here(&name("bob")) && bench.plays(2));
    assert_eq!(kinds(&bench), [FaultKind::Timeout]);
    bench.verified();
}

/// An answer in the words of another system: the evidence has both, and the rules decide again
/// about the translation when the log is verified.
#[test]
fn evidence_keeps_what_was_sent_and_its_translation() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    let translated = |bench: &Bench, answer: &str| MatchCommand::Translated {
        player: name("bob"),
        request: bench.open("bob"),
        answer: answer.into(),
        sent: "{\"bob\",\"…\",modification,[7]}".into(),
        took_ms: Some(5),
    };
    let legal = translated(&bench, &bench.legal("bob"));
    assert_eq!(bench.step(legal).unwrap(), ["answer-accepted"]);
    let illegal = translated(&bench, r#"{"keep":[7]}"#);
    let events = bench.step(illegal).unwrap();
    assert_eq!(events, ["player-faulted", "game-ended", "game-started"]);
    let fault = &bench.live.faults()[0].fault;
    assert_eq!((fault.kind, &*fault.code), (FaultKind::Cheat, "keepers-not-held"));
    assert_eq!(fault.answer.as_deref(), Some(r#"{"keep":[7]}"#));
    assert_eq!(fault.sent.as_deref(), Some("{\"bob\",\"…\",modification,[7]}"));
    bench.verified();
}

#[test]
fn a_request_that_could_not_be_delivered_has_no_clock() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    let (ann, bob) = (bench.open("ann"), bench.open("bob"));
    bench.live.delivered(&ann, bench.now);
    bench.live.delivered(&bob, bench.now + 5);
    bench.live.recalled(&ann);
    assert_eq!(bench.live.deadline(), Some(bench.now + 5 + 10_000));
    bench.live.delivered(&bob, bench.now + 7);
    assert_eq!(bench.live.deadline(), Some(bench.now + 7 + 10_000), "sent again");
    bench.live.recalled(&bob);
    assert_eq!(bench.live.deadline(), None);
}

#[test]
fn a_request_that_was_never_delivered_is_never_late() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    assert_eq!(bench.live.deadline(), None);
    assert_eq!(bench.pass(1_000_000), [""; 0]);
}

#[test]
fn player_who_reconnects_in_time_gets_all_notices_and_plays_the_next_game() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    bench.crash("bob");
    assert_eq!(bench.pass(WAIT_MS - 1), [""; 0]);
    assert_eq!(bench.arrive("bob"), ["player-arrived", "game-started"]);
    assert!(bench.plays(2));
    let view = serde_json::to_value(bench.live.view()).unwrap();
    assert_eq!(view["won"], serde_json::json!([1.0, 0.0]));
    assert_eq!(view["games"][0]["end"], "forfeited");
    assert_eq!(view["games"][0]["by"], "bob");
    bench.play(Some("bob"));
    bench.play(Some("bob"));
    assert_eq!(bench.verified().winners(), ["bob"]);
}

#[test]
fn player_who_does_not_reconnect_forfeits_the_match() {
    for wait_ms in [WAIT_MS, 5] {
        let mut bench = Bench::absent("yahtzee-class", 5, |plan| plan.rules.time.wait_ms = wait_ms);
        bench.arrive("ann");
        bench.arrive("bob");
        bench.crash("bob");
        assert_eq!(bench.pass(wait_ms - 1), [""; 0]);
        assert_eq!(bench.pass(1), ["wait-expired", "match-ended"]);
        assert_eq!(bench.verified().winners(), ["ann"]);
        assert_eq!(bench.result().how, How::Forfeit);
        assert_eq!(kinds(&bench), [FaultKind::Disconnected, FaultKind::NoShow]);
        assert!(bench.result().out.is_empty());
    }
}

#[test]
fn player_absent_at_the_start_loses_after_a_wait() {
    let mut bench = Bench::absent("yahtzee-class", 3, |_| {});
    assert_eq!(bench.arrive("ann"), ["player-arrived"]);
    assert_eq!(bench.pass(WAIT_MS - 1), [""; 0]);
    assert_eq!(bench.pass(1), ["wait-expired", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["ann"]);
    assert_eq!(bench.result().how, How::NoShow);
}

#[test]
fn both_absent_and_nobody_wins() {
    for preset in ["yahtzee-class", "yahtzee-queue"] {
        let mut bench = Bench::absent(preset, 3, |_| {});
        assert_eq!(bench.pass(WAIT_MS), ["wait-expired", "wait-expired", "match-ended"]);
        assert_eq!(bench.verified().winners(), [""; 0]);
        assert_eq!(bench.result().how, How::Void);
    }
}

/// Both crash after a game that ann has won.
fn both_gone() -> Bench {
    let mut bench = Bench::yahtzee("yahtzee-class", 5);
    bench.play(Some("ann"));
    bench.crash("bob");
    bench.pass(10_000);
    assert_eq!(bench.crash("ann"), ["player-left", "match-restarted"]);
    bench
}

#[test]
fn both_crashed_is_void_and_starts_again_if_they_return() {
    let mut bench = both_gone();
    assert_eq!(bench.pass(WAIT_MS - 1), [""; 0], "both waits start with the second crash");
    bench.arrive("ann");
    assert_eq!(bench.arrive("bob"), ["player-arrived", "game-started"]);
    bench.play(Some("ann"));
    assert!(bench.live.result().is_none(), "the games before do not count");
    (0..3).for_each(|_| bench.play(Some("bob")));
    assert_eq!(bench.verified().winners(), ["bob"]);
    assert_eq!((bench.result().halves[0], bench.result().counts_from), (2, 3));
}

#[test]
fn both_crashed_and_neither_returns_is_nobodys_win() {
    let mut bench = both_gone();
    assert_eq!(bench.pass(WAIT_MS), ["wait-expired", "wait-expired", "match-ended"]);
    assert_eq!(bench.verified().winners(), [""; 0]);
    assert_eq!(bench.result().how, How::Void);
}

#[test]
fn both_crashed_and_one_returns_is_its_win() {
    let mut bench = both_gone();
    bench.pass(WAIT_MS - 1);
    assert_eq!(bench.arrive("bob"), ["player-arrived"]);
    assert_eq!(bench.pass(1), ["wait-expired", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["bob"]);
    assert_eq!(bench.result().how, How::Forfeit);
}

/// Everybody has a wait of its own: the first one's being over does not end that of the second.
#[test]
fn later_disconnected_player_may_reconnect_later() {
    let mut bench = Bench::absent("yahtzee-class", 3, |_| {});
    bench.arrive("ann");
    bench.pass(40_000);
    bench.crash("ann");
    assert_eq!(bench.pass(20_000), ["wait-expired"], "bob never came");
    assert_eq!(bench.pass(39_999), [""; 0]);
    assert_eq!(bench.arrive("ann"), ["player-arrived", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["ann"]);
    assert_eq!(bench.result().how, How::NoShow);
}

#[test]
fn charged_player_may_still_reconnect_while_all_are_away() {
    let mut bench = Bench::absent("yahtzee-class", 3, |_| {});
    bench.arrive("ann");
    bench.pass(40_000);
    bench.crash("ann");
    assert_eq!(bench.pass(30_000), ["wait-expired"]);
    assert_eq!(bench.arrive("bob"), ["player-arrived"]);
    assert_eq!(bench.pass(30_000), ["wait-expired", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["bob"]);
}

#[test]
fn resume_keeps_the_open_request_and_forfeits_no_game() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 1);
    let open = bench.open("bob");
    let answer = bench.legal("bob");
    bench.live.delivered(&open, bench.now);
    assert_eq!(bench.crash("bob"), ["player-left"]);
    assert_eq!(bench.open("bob"), open, "still pending");
    assert!(bench.answer("bob", &open, &answer).is_err(), "it is not there");
    bench.play_one("ann");
    assert_eq!(bench.pass(WAIT_MS - 1), [""; 0], "no clock runs but the wait");
    assert_eq!(bench.arrive("bob"), ["player-arrived"]);
    assert_eq!(bench.open("bob"), open);
    assert_eq!(bench.answer("bob", &open, &answer), Ok(vec!["answer-accepted"]));
    bench.play(Some("bob"));
    assert_eq!(bench.verified().winners(), ["bob"]);
    assert_eq!(bench.result().how, How::Played);
    assert_eq!(bench.result().games.len(), 1);
}

#[test]
fn resume_without_return_forfeits_the_match() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 3);
    bench.crash("bob");
    assert_eq!(bench.pass(WAIT_MS), ["wait-expired", "game-ended", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["ann"]);
    assert_eq!(bench.result().games[0].end, GameEnd::Forfeited { by: name("bob") });
}

#[test]
fn resume_with_both_gone_waits_for_each_and_then_is_void() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 3);
    bench.crash("bob");
    bench.pass(30_000);
    bench.crash("ann");
    assert_eq!(bench.pass(30_000), ["wait-expired"]);
    let mut later = Bench { live: bench.live.clone(), now: bench.now, lines: bench.lines.clone() };
    assert_eq!(bench.pass(30_000), ["wait-expired", "game-ended", "match-ended"]);
    assert_eq!((bench.verified().winners(), bench.result().how), (vec![], How::Void));
    assert_eq!(bench.result().games[0].end, GameEnd::Void);
    assert_eq!(later.arrive("ann"), ["player-arrived", "game-ended", "match-ended"]);
    assert_eq!((later.verified().winners(), later.result().how), (vec!["ann"], How::Forfeit));
}

#[test]
fn lapses_in_one_game_are_bounded() {
    for timeouts in [false, true] {
        let mut bench = Bench::yahtzee("yahtzee-queue", 1);
        for lapse in 1..=4 {
            assert!(bench.live.result().is_none(), "lapse {lapse}");
            if timeouts {
                bench.live.delivered(&bench.open("bob"), bench.now);
                bench.pass(10_000);
            } else {
                bench.crash("bob");
            }
            if bench.live.result().is_none() {
                bench.arrive("bob");
            }
        }
        assert_eq!(bench.verified().winners(), ["ann"]);
        assert_eq!(bench.result().how, How::Forfeit);
        assert_eq!(kinds(&bench).len(), 4);
    }
}

#[test]
fn player_who_withdraws_forfeits_the_match_and_is_out() {
    for preset in ["yahtzee-class", "yahtzee-queue"] {
        let mut bench = Bench::yahtzee(preset, 5);
        bench.withdraw("ann");
        assert_eq!(bench.verified().winners(), ["bob"]);
        assert_eq!((bench.result().how, &bench.result().out), (How::Forfeit, &vec![name("ann")]));
        let mut between = Bench::absent(preset, 5, |_| {});
        between.arrive("bob");
        between.withdraw("ann");
        assert_eq!(between.verified().winners(), ["bob"]);
    }
}

#[test]
fn the_time_bank_lends_what_an_answer_needs_beyond_its_time() {
    let mut bench = Bench::absent("yahtzee-class", 3, |plan| plan.rules.time.bank_ms = 5_000);
    bench.arrive("ann");
    bench.arrive("bob");
    let limit = |bench: &Bench, player: &str| {
        bench.live.pending().iter().find(|p| p.player == name(player)).map(|p| p.limit_ms)
    };
    for (took_ms, left_ms) in [(12_000, 3_000), (9_000, 3_000), (12_999, 1), (10_000, 1)] {
        let request: RequestId = bench.open("bob");
        bench.live.delivered(&request, bench.now);
        assert_eq!(bench.pass(took_ms), [""; 0]);
        bench.play_one("bob");
        while limit(&bench, "bob").is_none() {
            bench.play_one("ann");
        }
        assert_eq!(limit(&bench, "bob"), Some(10_000 + left_ms), "after {took_ms}");
        assert!(matches!(limit(&bench, "ann"), None | Some(15_000)), "each has its own");
    }
    bench.live.delivered(&bench.open("bob"), bench.now);
    assert_eq!(bench.pass(10_000), [""; 0]);
    assert_eq!(bench.pass(1), ["player-faulted", "game-ended", "game-started"]);
    assert_eq!(limit(&bench, "bob"), Some(15_000), "a new game, a new bank");
    bench.verified();
}

#[test]
fn waits_that_cannot_be_added_up_do_not_matter() {
    let mut bench = Bench::absent("yahtzee-class", 1, |plan| {
        plan.rules.crash = CrashCost::Resume;
        plan.rules.time.wait_ms = u64::MAX;
        plan.rules.time.answer_ms = u64::MAX;
        plan.rules.time.bank_ms = u64::MAX;
    });
    bench.arrive("ann");
    bench.arrive("bob");
    bench.live.delivered(&bench.open("bob"), bench.now);
    assert_eq!(bench.live.deadline(), Some(Timestamp::MAX));
    bench.crash("bob");
    assert_eq!(bench.live.deadline(), Some(Timestamp::MAX));
}

#[test]
fn each_request_has_a_clock_of_its_own() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 1);
    let (ann, bob) = (bench.open("ann"), bench.open("bob"));
    bench.live.delivered(&bob, bench.now);
    bench.live.delivered(&ann, bench.now + 100);
    assert_eq!(bench.live.deadline(), Some(bench.now + 10_000));
    bench.play_one("bob");
    assert_eq!(bench.live.deadline(), Some(bench.now + 10_100), "that of ann goes on");
    bench.live.delivered(&bench.open("bob"), bench.now + 50);
    bench.crash("bob");
    bench.pass(10_000);
    assert_eq!(bench.live.deadline(), Some(bench.now + 100), "also when bob is gone");
    assert_eq!(bench.pass(100), ["player-left"]);
    assert_eq!(kinds(&bench), [FaultKind::Disconnected, FaultKind::Timeout]);
}

/// One is lost when it has played its last turn, the other after the tie that this makes.
#[test]
fn a_tie_is_forgotten_when_nobody_is_left() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 3);
    while bench.plays(1) {
        let open = |player: &str| bench.live.pending().iter().any(|one| one.player == name(player));
        let view = bench.live.referee().expect("a game").game().view(agon_games::Viewer::Public);
        let view: serde_json::Value = serde_json::from_str(view.get()).expect("a view");
        match (open("bob"), view["turn"] == 13 && bench.live.is_here(&name("bob"))) {
            (true, _) => bench.play_one("bob"),
            (false, true) => assert_eq!(bench.crash("bob"), ["player-left"]),
            (false, false) => bench.play_one("ann"),
        }
    }
    let (result, _) = bench.live.finished().next().expect("a game");
    assert_eq!(result.winners.len(), 2, "a tie");
    assert_eq!(bench.crash("ann"), ["player-left", "match-restarted"]);
}
