//! First come, first served: who logs in when, whom tournaments take, where they stand then.

use crate::bench::{
    Bench, announce, announce_by_lot, exactly, from_line, log_in, log_out, name, numbered, register,
};
use agon_core::lobby::{LobbyRejection, Selection};
use std::collections::BTreeMap;

#[test]
fn players_wait_in_the_order_they_logged_in() {
    let mut bench = Bench::new();
    bench.all(["ann", "bob", "cat"].map(register));
    bench.all(["cat", "ann", "bob"].map(log_in));
    assert_eq!(bench.line(), "cat ann bob");
}

#[test]
fn logging_in_again_keeps_the_place() {
    let mut bench = Bench::with(&["ann", "bob"]);
    assert!(bench.ok(log_in("ann")).is_empty(), "nothing happens, so nothing is logged");
    assert_eq!(bench.line(), "ann bob");
}

#[test]
fn player_who_logs_out_and_returns_is_last() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    assert_eq!(bench.ok(log_out("ann")), ["account-logged-out"]);
    assert_eq!(bench.line(), "bob cat");
    assert!(bench.ok(log_out("ann")).is_empty(), "gone already");
    assert!(bench.ok(log_out("eve")).is_empty(), "never was here");
    bench.ok(log_in("ann"));
    assert_eq!(bench.line(), "bob cat ann");
}

#[test]
fn the_first_are_taken_and_move_to_the_end_of_the_line() {
    let mut bench = Bench::with(&numbered(6));
    let tags = bench.ok(announce("cup", from_line(4)));
    assert_eq!(tags, ["tournament-announced", "tournament-started"]);
    assert_eq!(bench.standing("cup"), "running: p1 p2 p3 p4");
    assert_eq!(bench.line(), "p5 p6 p1 p2 p3 p4");
    bench.ok(announce("second", from_line(4)));
    assert_eq!(bench.standing("second"), "running: p5 p6 p1 p2");
    assert_eq!(bench.line(), "p3 p4 p5 p6 p1 p2");
    // A new player is last in the queue.
    bench.all([register("new"), log_in("new")]);
    bench.ok(announce("third", from_line(2)));
    assert_eq!(bench.standing("third"), "running: p3 p4");
    assert_eq!(bench.line(), "p5 p6 p1 p2 new p3 p4");
}

#[test]
fn a_tournament_takes_as_many_as_there_are() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    bench.ok(log_out("bob"));
    bench.ok(announce("cup", from_line(8)));
    assert_eq!(bench.standing("cup"), "running: ann cat");
    assert_eq!(bench.line(), "ann cat");
}

#[test]
fn a_tournament_for_nobody_is_refused() {
    let mut bench = Bench::with(&["ann"]);
    assert_eq!(bench.no(announce("none", from_line(0))), LobbyRejection::Nobody);
    assert_eq!(bench.no(announce("none", exactly(&[]))), LobbyRejection::Nobody);
    bench.ok(log_out("ann"));
    for selection in [from_line(4), Selection::Age { at_most: 4 }, Selection::Random { at_most: 4 }]
    {
        assert_eq!(bench.no(announce("none", selection)), LobbyRejection::Nobody);
    }
    assert_eq!(bench.standing("none"), "unknown", "the name is still free");
}

#[test]
fn by_age_the_oldest_accounts_are_taken_in_order() {
    let mut bench = Bench::new();
    bench.all(["ann", "bob", "cat", "dan"].map(register));
    bench.all(["dan", "cat", "ann"].map(log_in));
    bench.ok(announce("cup", Selection::Age { at_most: 2 }));
    assert_eq!(bench.standing("cup"), "running: ann cat", "bob is older than cat, but not here");
    assert_eq!(bench.line(), "dan cat ann", "those taken moved to the end, in order of the line");
    // Age does not rotate: the same are taken again.
    bench.ok(announce("again", Selection::Age { at_most: 2 }));
    assert_eq!(bench.standing("again"), "running: ann cat");
}

#[test]
fn a_random_draw_depends_on_its_luck_alone() {
    let draw = |luck| {
        let mut bench = Bench::with(&numbered(8));
        bench.ok(announce_by_lot("cup", Selection::Random { at_most: 3 }, luck));
        bench.standing("cup")
    };
    assert_eq!(draw(7), draw(7));
    assert!((8..40).any(|luck| draw(luck) != draw(7)));
}

#[test]
fn a_random_draw_is_fair_and_moves_those_drawn_to_the_end() {
    let mut drawn: BTreeMap<String, u32> = BTreeMap::new();
    for luck in 0..1_000 {
        let mut bench = Bench::with(&numbered(5));
        bench.ok(announce_by_lot("cup", Selection::Random { at_most: 2 }, luck));
        let standing = bench.standing("cup");
        let mut players: Vec<&str> =
            standing.strip_prefix("running: ").unwrap().split(' ').collect();
        assert_eq!(players.len(), 2);
        for player in &players {
            *drawn.entry((*player).to_owned()).or_default() += 1;
        }
        // p1 to p5 sort as they stand in line.
        players.sort_unstable();
        assert!(bench.line().ends_with(&players.join(" ")), "{} {players:?}", bench.line());
    }
    // Of 2,000 places a fair draw gives each of five 400, within five standard deviations of 15.5.
    assert!(drawn.values().all(|count| (322..=478).contains(count)), "{drawn:?}");
}

#[test]
fn named_players_need_not_be_here_and_keep_their_place() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    bench.ok(log_out("cat"));
    bench.ok(announce("cup", exactly(&["cat", "ann"])));
    assert_eq!(bench.standing("cup"), "running: cat ann", "in the order they were named");
    assert_eq!(bench.line(), "ann bob");
    let strangers = exactly(&["ann", "eve"]);
    assert_eq!(bench.no(announce("b", strangers)), LobbyRejection::Unknown(name("eve")));
}

#[test]
fn a_player_cannot_be_named_twice() {
    let mut bench = Bench::with(&["ann", "bob"]);
    let twice = exactly(&["ann", "bob", "ann"]);
    assert_eq!(bench.no(announce("cup", twice)), LobbyRejection::Twice(name("ann")));
}
