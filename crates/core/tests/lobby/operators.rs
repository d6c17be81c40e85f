//! What operators decide in the lobby.

use crate::bench::{
    Bench, FISH, TRAINS, announce, call_off, issue, kick, name, numbered, pull, sign_up, start,
};
use agon_core::Event;
use agon_core::lobby::{LobbyRejection, Selection, TokenHash, Window};

#[test]
fn a_sign_up_starts_when_an_operator_says_so() {
    let mut bench = Bench::with(&numbered(3));
    assert_eq!(bench.no(start("t", "now")), LobbyRejection::NotOpen("t".into()));
    bench.ok(announce("t", Selection::SignUp(FISH)));
    assert_eq!(bench.no(start("t", "now")), LobbyRejection::Nobody);
    bench.all([sign_up("t", "p1"), sign_up("t", "p3")]);
    assert_eq!(bench.ok(start("t", "two are enough")), ["start-ordered", "tournament-started"]);
    assert_eq!(bench.standing("t"), "running: p1 p3");
    let ordered = bench.lines.iter().find_map(|line| match &line.event {
        Event::StartOrdered(ordered) => Some(&ordered.ruling),
        _ => None,
    });
    let ruling = ordered.expect("who and why are in the log");
    assert_eq!((ruling.by.as_str(), ruling.why.as_str()), ("olga", "two are enough"));
    assert_eq!(bench.no(start("t", "again")), LobbyRejection::NotOpen("t".into()));
    assert_eq!(bench.no(call_off("t", "rain")), LobbyRejection::NotOpen("t".into()));
}

#[test]
fn in_a_series_the_next_sign_up_opens_at_once() {
    let mut bench = Bench::with(&numbered(2));
    bench.ok(announce("t", Selection::SignUp(Window { repeat: true, ..TRAINS })));
    bench.ok(sign_up("t", "p1"));
    let tags = bench.ok(start("t", "now"));
    assert_eq!(tags, ["start-ordered", "tournament-started", "tournament-announced"]);
    bench.ok(sign_up("t", "p2"));
    bench.ok(start("t", "the name of the first stands for the latest"));
    assert_eq!(bench.standing("t-2"), "running: p2");
}

#[test]
fn a_player_is_taken_out_of_a_sign_up() {
    let mut bench = Bench::with(&numbered(2));
    bench.ok(announce("t", Selection::SignUp(FISH)));
    bench.all([sign_up("t", "p1"), sign_up("t", "p2")]);
    assert_eq!(bench.ok(pull("t", "p1", "is ill")), ["withdrawal-ordered"]);
    assert_eq!(bench.standing("t"), "open: p2");
    assert_eq!(bench.no(pull("t", "p1", "still")), LobbyRejection::NotSignedUp(name("p1")));
}

#[test]
fn who_is_logged_out_leaves_the_line_and_has_no_tokens() {
    let mut bench = Bench::with(&numbered(2));
    bench.all([issue("p1", "one", 9_000_000), issue("p2", "two", 9_000_000)]);
    assert_eq!(bench.ok(kick("p1", "a stolen token")), ["log-out-ordered"]);
    assert_eq!(bench.line(), "p2");
    let holder = |token| bench.lobby.holder(&TokenHash::of(token), bench.now).cloned();
    assert_eq!((holder("one"), holder("two")), (None, Some(name("p2"))));
    let unknown = LobbyRejection::Unknown(name("nobody"));
    assert_eq!(bench.no(kick("nobody", "who?")), unknown);
}
