//! Sign-ups: how long they wait for how many, under the windows of Fish and of Trains.

use crate::bench::{
    Bench, DAWN, FISH, TRAINS, announce, announcement, log_out, name, numbered, sign_up,
    sign_up_aged, withdraw,
};
use agon_core::lobby::{Lobby, LobbyCommand, LobbyRejection, Selection, Standing, Window};
use agon_core::verify::verify_lobby;
use agon_core::{Age, Event, Line, Millis, Preset, Timestamp};
use std::collections::BTreeSet;

fn resume(away_ms: Millis) -> LobbyCommand {
    LobbyCommand::Resume { away_ms, answers_until: Timestamp::default() }
}

/// A sign-up called `t` for these players, of whom the first `count` sign up at once.
fn opened(window: &Window, players: usize, count: usize) -> Bench {
    let mut bench = Bench::with(&numbered(players));
    bench.ok(announce("t", Selection::SignUp(window.clone())));
    sign_up_each(&mut bench, 1, count);
    bench
}

/// Signs up `p{from}` to `p{to}`.
fn sign_up_each(bench: &mut Bench, from: usize, to: usize) {
    for number in from..=to {
        bench.ok(sign_up("t", &format!("p{number}")));
    }
}

fn running(count: usize) -> String {
    format!("running: {}", numbered(count).join(" "))
}

fn closes_at(bench: &Bench) -> Timestamp {
    match bench.lobby.tournament(&"t".into()) {
        Some(Standing::Open(sign_up)) => sign_up.closes_at,
        other => panic!("{other:?}"),
    }
}

#[test]
fn fish_starts_with_five_when_the_first_wait_is_over() {
    let mut bench = opened(&FISH, 5, 4);
    assert_eq!(bench.lobby.deadline(), Some(DAWN + 30_000));
    assert!(bench.wait(29_999).is_empty(), "it waits for more");
    bench.ok(sign_up("t", "p5"));
    assert!(bench.standing("t").starts_with("open"), "five are enough, but the time is not over");
    assert_eq!(bench.wait(1), ["tournament-started"]);
    assert_eq!(bench.standing("t"), running(5));
    assert_eq!(bench.lobby.deadline(), None);
}

#[test]
fn fish_waits_once_more_for_the_fifth() {
    let mut bench = opened(&FISH, 6, 4);
    assert_eq!(bench.wait(30_000), ["sign-up-extended"]);
    assert_eq!(closes_at(&bench), DAWN + 60_000);
    sign_up_each(&mut bench, 5, 6);
    assert!(bench.wait(29_999).is_empty(), "in the second wait five do not start it at once");
    assert_eq!(bench.wait(1), ["tournament-started"]);
    assert_eq!(bench.standing("t"), running(6));
}

#[test]
fn fish_with_four_is_called_off_after_both_waits() {
    let mut bench = opened(&FISH, 5, 4);
    assert_eq!(bench.wait(60_000), ["sign-up-extended", "tournament-called-off"]);
    assert_eq!(bench.standing("t"), "called off: 4 players signed up, and 5 are needed");
    assert_eq!(bench.no(sign_up("t", "p5")), LobbyRejection::NotOpen("t".into()));
    assert_eq!(bench.involvement("p1"), (0, 0), "they are free again");
    assert!(bench.wait(600_000).is_empty(), "and nothing comes of it any more");
}

#[test]
fn the_tenth_starts_fish_at_once() {
    for already in [0, 30_000] {
        let mut bench = opened(&FISH, 11, 1);
        bench.wait(already);
        sign_up_each(&mut bench, 2, 9);
        let tags = bench.ok(sign_up("t", "p10"));
        assert_eq!(tags, ["player-signed-up", "tournament-started"]);
        assert_eq!(bench.standing("t"), running(10));
        assert_eq!(bench.no(sign_up("t", "p11")), LobbyRejection::NotOpen("t".into()));
        assert!(bench.wait(60_000).is_empty());
    }
}

#[test]
fn eleventh_player_waits_for_the_next_tournament() {
    let mut bench = opened(&FISH, 12, 10);
    assert_eq!(bench.no(sign_up("t", "p11")), LobbyRejection::NotOpen("t".into()));
    bench.ok(announce("next", Selection::SignUp(FISH)));
    for player in ["p11", "p12", "p1"] {
        bench.ok(sign_up("next", player));
    }
    assert_eq!(bench.standing("next"), "open: p11 p12 p1");
    assert_eq!(bench.involvement("p1"), (1, 1), "who plays may wait for the next as well");
}

#[test]
fn trains_starts_with_five_after_the_first_wait() {
    let mut bench = opened(&TRAINS, 5, 5);
    assert!(bench.wait(19_999).is_empty());
    assert_eq!(bench.wait(1), ["tournament-started"]);
    assert_eq!(bench.standing("t"), running(5));
}

#[test]
fn trains_starts_with_two_after_the_second_wait() {
    for count in 2..5 {
        let mut bench = opened(&TRAINS, 5, count);
        assert_eq!(bench.wait(20_000), ["sign-up-extended"]);
        assert!(bench.wait(19_999).is_empty());
        assert_eq!(bench.wait(1), ["tournament-started"]);
        assert_eq!(bench.standing("t"), running(count));
    }
}

#[test]
fn trains_with_one_or_none_is_called_off() {
    for count in 0..2 {
        let mut bench = opened(&TRAINS, 1, count);
        assert_eq!(bench.wait(40_000), ["sign-up-extended", "tournament-called-off"]);
        let why = format!("called off: {count} players signed up, and 2 are needed");
        assert_eq!(bench.standing("t"), why);
    }
}

#[test]
fn the_fiftieth_ends_the_wait_of_trains() {
    let mut bench = opened(&TRAINS, 50, 49);
    let tags = bench.ok(sign_up("t", "p50"));
    assert_eq!(tags, ["player-signed-up", "tournament-started"]);
    assert_eq!(bench.standing("t"), running(50));
}

#[test]
fn without_a_second_wait_too_few_are_called_off_at_once() {
    let window = Window { second_wait_ms: 0, ..FISH };
    let mut bench = opened(&window, 4, 4);
    assert_eq!(bench.wait(30_000), ["tournament-called-off"]);
}

#[test]
fn a_tournament_of_nobody_never_starts() {
    // A second wait that ends well with anybody still needs somebody.
    let window = Window { at_least: 1, second_at_least: 0, ..FISH };
    let mut bench = opened(&window, 1, 0);
    assert_eq!(bench.wait(60_000), ["sign-up-extended", "tournament-called-off"]);
}

#[test]
fn a_player_signs_up_once() {
    let mut bench = opened(&FISH, 2, 2);
    assert_eq!(bench.no(sign_up("t", "p1")), LobbyRejection::SignedUp(name("p1")));
    assert_eq!(bench.no(sign_up("t", "eve")), LobbyRejection::Unknown(name("eve")));
    assert_eq!(bench.no(sign_up("other", "p1")), LobbyRejection::NotOpen("other".into()));
}

#[test]
fn player_who_withdraws_makes_room_and_returns_to_the_end() {
    let mut bench = opened(&FISH, 3, 3);
    assert_eq!(bench.ok(withdraw("t", "p1")), ["sign-up-withdrawn"]);
    assert_eq!(bench.no(withdraw("t", "p1")), LobbyRejection::NotSignedUp(name("p1")));
    bench.ok(sign_up("t", "p1"));
    assert_eq!(bench.standing("t"), "open: p2 p3 p1");
}

#[test]
fn withdrawn_player_does_not_count_when_the_wait_ends() {
    let mut bench = opened(&FISH, 5, 5);
    bench.ok(withdraw("t", "p5"));
    assert_eq!(bench.wait(30_000), ["sign-up-extended"]);
}

#[test]
fn started_tournament_cannot_be_withdrawn_from_in_the_lobby() {
    let mut bench = opened(&FISH, 10, 10);
    assert_eq!(bench.no(withdraw("t", "p1")), LobbyRejection::NotOpen("t".into()));
}

#[test]
fn a_sign_up_outlasts_a_logout_and_moves_nobody_in_line() {
    let mut bench = opened(&FISH, 6, 5);
    bench.ok(log_out("p2"));
    bench.wait(30_000);
    assert_eq!(bench.standing("t"), running(5));
    assert_eq!(bench.line(), "p1 p3 p4 p5 p6");
}

#[test]
fn a_server_that_was_down_still_gives_the_whole_second_wait() {
    let mut bench = opened(&FISH, 5, 4);
    // Nobody looked at the clock for an hour.
    bench.now += 3_600_000;
    assert_eq!(bench.wait(0), ["sign-up-extended"]);
    assert_eq!(closes_at(&bench), bench.now + 30_000);
    bench.ok(sign_up("t", "p5"));
    assert_eq!(bench.wait(30_000), ["tournament-started"]);
}

#[test]
fn waits_survive_the_log() {
    let mut bench = opened(&FISH, 4, 4);
    bench.wait(45_000);
    let texts: Vec<String> = bench.lines.iter().map(Line::write).collect();
    let lines: Vec<Line> = texts.iter().map(|text| Line::read(text).unwrap()).collect();
    let folded = Lobby::fold(&lines).unwrap();
    assert_eq!(folded.deadline(), Some(DAWN + 60_000));
    assert_eq!(folded, bench.lobby);
}

#[test]
fn windows_that_contradict_themselves_are_refused() {
    let mut bench = Bench::new();
    for window in [
        Window { at_least: 0, ..FISH },
        Window { at_least: 11, ..FISH },
        Window { at_least: 0, at_most: 0, second_at_least: 0, ..FISH },
        Window { second_at_least: 6, ..FISH },
    ] {
        let refused = bench.no(announce("t", Selection::SignUp(window.clone())));
        assert!(matches!(refused, LobbyRejection::BadWindow(_)), "{window:?}");
    }
}

#[test]
fn a_wait_without_end_is_just_that() {
    let forever = Window { wait_ms: Millis::MAX, ..FISH };
    let mut bench = opened(&forever, 10, 9);
    assert!(bench.wait(1_000_000_000).is_empty());
    bench.ok(sign_up("t", "p10"));
    assert_eq!(bench.standing("t"), running(10));
}

#[test]
fn time_the_server_was_away_is_no_time_to_sign_up_in() {
    let mut bench = opened(&FISH, 5, 4);
    bench.wait(10_000);
    // Down for an hour, in which nothing could be decided: the clock moves, the lobby does not.
    bench.now += 3_600_000;
    assert_eq!(bench.ok(resume(3_600_000)), ["server-resumed"]);
    assert_eq!(closes_at(&bench), bench.now + 20_000, "what was left of the wait is left");
    assert!(bench.wait(19_999).is_empty());
    assert_eq!(bench.wait(1), ["sign-up-extended"]);
    bench.now += 100_000;
    // The last event can be long before the server went: then a whole wait is enough.
    assert_eq!(bench.ok(resume(200_000)), ["server-resumed"]);
    assert_eq!(closes_at(&bench), bench.now + 30_000);
    bench.ok(sign_up("t", "p5"));
    assert_eq!(bench.wait(30_000), ["tournament-started"]);
    assert!(bench.ok(resume(1)).is_empty(), "nothing waits any more");
}

#[test]
fn invalid_snapshot_is_rejected() {
    let text = opened(&FISH, 5, 4).lobby.snapshot();
    assert!(Lobby::from_snapshot(&text).is_ok());
    let cut = &text[..text.len() - 1];
    // A field that another version knows and this one does not, and one that it lacks.
    let more = text.replacen('{', "{\"clocks\":{},", 1);
    let less = text.replacen("\"line\"", "\"row\"", 1);
    for bad in ["", "{}", cut, &more, &less] {
        assert!(Lobby::from_snapshot(bad).is_err(), "{bad}");
    }
}

#[test]
fn ages_decide_the_order_of_play_and_verification_recomputes_it() {
    for (preset, order) in [("fish", "cat bob ann dan"), ("trains", "ann bob cat dan")] {
        let mut bench = Bench::with(&["ann", "bob", "cat", "dan"]);
        let mut cup = announcement(
            "t",
            Selection::SignUp(Window { at_most: 4, at_least: 4, second_at_least: 4, ..FISH }),
        );
        cup.policy = Preset::named(preset).unwrap().policy;
        let (announcement, secret, absent) = (Box::new(cup), None, BTreeSet::new());
        bench.ok(LobbyCommand::Announce { announcement, secret, absent });
        bench.ok(sign_up_aged("t", "ann", 60));
        bench.ok(sign_up("t", "bob"));
        bench.ok(sign_up_aged("t", "cat", 20));
        assert_eq!(bench.standing("t"), "open: ann bob cat");
        let last = bench.ok(sign_up("t", "dan"));
        assert_eq!(last, ["player-signed-up", "tournament-started"]);
        assert_eq!(bench.standing("t"), format!("running: {order}"));
        verify_lobby(&bench.lines, |_| None).unwrap();
        let mut forged = bench.lines.clone();
        for line in &mut forged {
            if let Event::PlayerSignedUp(one) = &mut line.event {
                one.age = one.age.map(|Age(age)| Age(100 - age));
            }
        }
        assert!(verify_lobby(&forged, |_| None).is_err());
    }
}
