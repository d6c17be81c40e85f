//! The organiser of a tournament gets its result once.

use crate::bench::{
    Bench, FISH, announce, announcement, call_off, deliver, exactly, finish, name, sign_up,
    withdraw,
};
use agon_core::lobby::{Lobby, LobbyCommand, LobbyRejection, Selection, Window};
use agon_core::verify::verify_lobby;
use std::collections::{BTreeMap, BTreeSet};

fn owed(bench: &Bench) -> String {
    let op = name("op");
    let ids = bench.lobby.owed_to(&op).map(|id| id.as_str());
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_result_is_owed_from_the_end_until_it_is_delivered() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.all([announce("t", exactly(&["ann"])), announce("u", exactly(&["bob"]))]);
    assert_eq!(bench.lobby.asker(&"t".into()), Some(&name("op")));
    assert_eq!(bench.no(deliver("t")), LobbyRejection::NotOwed("t".into()), "it runs");
    bench.all([finish("u", &["bob"]), finish("t", &["ann"])]);
    assert_eq!(owed(&bench), "u t");
    assert_eq!(bench.ok(deliver("u")), ["result-delivered"]);
    assert_eq!(bench.no(deliver("u")), LobbyRejection::NotOwed("u".into()), "once");
    assert_eq!(owed(&bench), "t");
}

#[test]
fn a_tournament_that_was_called_off_is_a_result_as_well() {
    let mut bench = Bench::with(&["ann"]);
    bench.ok(announce("t", Selection::SignUp(FISH)));
    bench.ok(call_off("t", "rain"));
    assert_eq!(owed(&bench), "t");
}

#[test]
fn results_are_owed_only_to_requesters() {
    let mut bench = Bench::with(&["ann"]);
    let mut nobodys = announcement("t", exactly(&["ann"]));
    nobodys.by = None;
    let (announcement, secret, absent) = (Box::new(nobodys), None, BTreeSet::new());
    bench.ok(LobbyCommand::Announce { announcement, secret, absent });
    bench.ok(finish("t", &[]));
    assert_eq!(owed(&bench), "");
    assert_eq!(bench.no(deliver("t")), LobbyRejection::NotOwed("t".into()));
}

#[test]
fn the_oldest_of_too_many_results_makes_room() {
    let mut bench = Bench::with(&["ann"]);
    for number in 0..=Lobby::OWED_MAX {
        bench.ok(announce(&format!("t{number}"), exactly(&["ann"])));
        bench.ok(finish(&format!("t{number}"), &[]));
    }
    assert!(owed(&bench).starts_with("t1 t2 "), "{}", owed(&bench));
    assert_eq!(bench.lobby.owed_to(&name("op")).count(), Lobby::OWED_MAX);
}

#[test]
fn the_first_name_of_a_series_takes_back_the_latest_sign_up() {
    let window = Window { at_least: 2, at_most: 2, second_at_least: 2, repeat: true, ..FISH };
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("fish", Selection::SignUp(window)));
    bench.all([sign_up("fish", "ann"), sign_up("fish", "bob")]);
    bench.ok(sign_up("fish", "ann"));
    assert_eq!(bench.standing("fish-2"), "open: ann");
    assert_eq!(
        bench.lobby.left_by("fish".into(), &name("ann")).as_str(),
        "fish",
        "who plays in the first means the first"
    );
    bench.ok(finish("fish", &["ann"]));
    assert_eq!(bench.ok(withdraw("fish", "ann")), ["sign-up-withdrawn"]);
    assert_eq!(bench.standing("fish-2"), "open: ");
    assert_eq!(bench.no(withdraw("fish", "ann")), LobbyRejection::NotSignedUp(name("ann")));
}

#[test]
fn a_check_of_the_log_tells_what_started_and_who_won() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("one", exactly(&["ann", "bob"])));
    bench.ok(announce("two", exactly(&["ann", "bob"])));
    bench.ok(finish("one", &["bob"]));
    let check = verify_lobby(&bench.lines, |_| None).expect("a log that follows");
    let started: Vec<&str> = check.started.keys().map(|id| id.as_str()).collect();
    assert_eq!(started, ["one", "two"]);
    assert_eq!(check.finished, BTreeMap::from([("one".into(), vec![name("bob")])]));
}
