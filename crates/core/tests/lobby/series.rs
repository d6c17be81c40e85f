//! Sign-ups that repeat: when one is over the next opens, and who came too late is first there.

use crate::bench::{
    Bench, DAWN, FISH, TRAINS, announce, blacklist, call_off, from_line, log_in, name, numbered,
    register, sign_up, withdraw,
};
use agon_core::lobby::{LobbyRejection, Selection, Window};

/// A series called `t`, of whose players the first `count` sign up at once.
fn opened(window: &Window, players: usize, count: usize) -> Bench {
    let mut bench = Bench::with(&numbered(players));
    let window = Window { repeat: true, ..window.clone() };
    bench.ok(announce("t", Selection::SignUp(window)));
    for number in 1..=count {
        bench.ok(sign_up("t", &format!("p{number}")));
    }
    bench
}

#[test]
fn eleventh_player_is_first_in_the_next_tournament() {
    let mut bench = opened(&FISH, 12, 9);
    let tags = bench.ok(sign_up("t", "p10"));
    assert_eq!(tags, ["player-signed-up", "tournament-started", "tournament-announced"]);
    assert!(bench.standing("t").starts_with("running: p1 p2"));
    bench.wait(10_000);
    bench.ok(sign_up("t", "p12"));
    bench.ok(sign_up("t-2", "p11"));
    bench.ok(sign_up("t", "p1"));
    assert_eq!(bench.standing("t-2"), "open: p12 p11 p1", "the first name leads to the latest");
    assert_eq!(bench.involvement("p1"), (1, 1));
    assert_eq!(bench.no(sign_up("t", "p12")), LobbyRejection::SignedUp(name("p12")));
}

#[test]
fn a_series_counts_on_from_start_to_start() {
    let window = Window { at_least: 2, at_most: 2, second_at_least: 2, ..FISH };
    let mut bench = opened(&window, 9, 9);
    assert_eq!(bench.standing("t"), "running: p1 p2");
    assert_eq!(bench.standing("t-2"), "running: p3 p4");
    assert_eq!(bench.standing("t-4"), "running: p7 p8");
    assert_eq!(bench.standing("t-5"), "open: p9");
    assert_eq!(bench.no(sign_up("t-2", "p1")), LobbyRejection::NotOpen("t-2".into()));
}

#[test]
fn a_start_by_the_clock_opens_the_next_too() {
    let mut bench = opened(&FISH, 6, 5);
    assert_eq!(bench.wait(30_000), ["tournament-started", "tournament-announced"]);
    assert_eq!(bench.standing("t-2"), "open: ");
}

#[test]
fn repeating_sign_up_opens_again_without_the_players_of_a_cancelled_one() {
    let mut bench = opened(&TRAINS, 2, 1);
    let tags = bench.wait(40_000);
    assert_eq!(tags, ["sign-up-extended", "tournament-called-off", "tournament-announced"]);
    assert_eq!(bench.standing("t-2"), "open: ");
    assert_eq!(bench.involvement("p1"), (0, 0), "it was told, and may sign up again");
}

#[test]
fn nothing_happens_while_nobody_comes() {
    let mut bench = opened(&FISH, 5, 0);
    assert_eq!(bench.lobby.deadline(), None);
    assert!(bench.wait(86_400_000).is_empty());
    bench.ok(sign_up("t", "p1"));
    assert_eq!(bench.lobby.deadline(), Some(DAWN + 86_400_000 + 30_000));
}

#[test]
fn a_wait_that_everybody_left_begins_anew() {
    let mut bench = opened(&FISH, 2, 2);
    assert_eq!(bench.wait(40_000), ["sign-up-extended"]);
    bench.ok(withdraw("t", "p1"));
    bench.ok(blacklist("p2", "cheated"));
    assert!(bench.wait(100_000).is_empty());
    bench.ok(sign_up("t", "p1"));
    assert_eq!(bench.wait(30_000), ["sign-up-extended"], "with both waits before it");
}

#[test]
fn an_operator_ends_a_series_by_its_name() {
    let mut bench = opened(&FISH, 11, 10);
    bench.ok(sign_up("t", "p11"));
    assert_eq!(bench.ok(call_off("t", "rain")), ["call-off-ordered", "tournament-called-off"]);
    assert_eq!(bench.standing("t-2"), "called off: rain");
    assert!(bench.standing("t").starts_with("running"), "what runs goes on");
    assert_eq!(bench.no(call_off("t", "rain")), LobbyRejection::NotOpen("t-2".into()));
    assert_eq!(bench.no(sign_up("t", "p11")), LobbyRejection::NotOpen("t-2".into()));
}

#[test]
fn a_sign_up_that_does_not_repeat_can_be_called_off_as_well() {
    let mut bench = Bench::with(&["ann"]);
    bench.ok(announce("fish", Selection::SignUp(FISH)));
    bench.ok(sign_up("fish", "ann"));
    bench.ok(call_off("fish", "rain"));
    assert_eq!(bench.standing("fish"), "called off: rain");
    assert!(bench.wait(60_000).is_empty());
    bench.ok(announce("cup", from_line(1)));
    assert_eq!(bench.no(call_off("cup", "rain")), LobbyRejection::NotOpen("cup".into()));
}

#[test]
fn names_that_are_taken_are_passed_over() {
    let mut bench = opened(&FISH, 10, 9);
    bench.ok(announce("t-2", from_line(1)));
    bench.ok(sign_up("t", "p10"));
    assert_eq!(bench.standing("t-3"), "open: ");
    bench.all([register("late"), log_in("late"), sign_up("t", "late")]);
    assert_eq!(bench.standing("t-3"), "open: late");
}
