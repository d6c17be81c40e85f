//! The blacklist: out of every queue and sign-up, and into no tournament, until it is lifted.

use crate::bench::{
    Bench, FISH, announce, blacklist, enqueue, exactly, finish, from_line, from_queue, lift,
    log_in, log_out, name, sign_up,
};
use agon_core::lobby::{Cause, LobbyCommand, LobbyRejection, Selection};

fn listed(player: &str) -> LobbyRejection {
    LobbyRejection::Blacklisted(name(player), "cheated".into())
}

#[test]
fn a_listed_player_leaves_every_queue_and_every_sign_up() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("one", Selection::SignUp(FISH)));
    bench.ok(announce("two", Selection::SignUp(FISH)));
    for player in ["ann", "bob"] {
        bench.all([enqueue(player, "q"), enqueue(player, "q"), enqueue(player, "r")]);
        bench.all([sign_up("one", player), sign_up("two", player)]);
    }
    assert_eq!(bench.involvement("ann"), (0, 5));
    assert_eq!(bench.ok(blacklist("ann", "cheated")), ["account-blacklisted"]);
    assert_eq!(bench.involvement("ann"), (0, 0));
    assert_eq!((bench.queue("q").as_str(), bench.queue("r").as_str()), ("bob bob", "bob"));
    assert_eq!(bench.standing("one"), "open: bob");
    assert_eq!(bench.standing("two"), "open: bob");
}

#[test]
fn a_listed_player_enters_nothing() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("open", Selection::SignUp(FISH)));
    bench.ok(blacklist("ann", "cheated"));
    assert_eq!(bench.no(enqueue("ann", "q")), listed("ann"));
    assert_eq!(bench.no(sign_up("open", "ann")), listed("ann"));
    assert_eq!(bench.no(announce("named", exactly(&["bob", "ann"]))), listed("ann"));
    let selections =
        [from_line(4), Selection::Age { at_most: 4 }, Selection::Random { at_most: 4 }];
    for (number, selection) in selections.into_iter().enumerate() {
        let id = format!("cup-{number}");
        bench.ok(announce(&id, selection));
        assert_eq!(bench.standing(&id), "running: bob");
    }
    bench.ok(blacklist("bob", "cheated"));
    assert_eq!(bench.no(announce("cup", from_line(4))), LobbyRejection::Nobody);
}

#[test]
fn a_listed_player_may_log_in_and_keeps_its_place_in_line() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    bench.ok(blacklist("ann", "cheated"));
    bench.ok(announce("cup", from_line(1)));
    assert_eq!(bench.standing("cup"), "running: bob");
    assert_eq!(bench.line(), "ann cat bob");
    bench.all([log_out("ann"), log_in("ann")]);
    assert_eq!(bench.line(), "cat bob ann");
}

#[test]
fn a_listed_player_stays_in_what_runs() {
    // The matches decide what the player forfeits there.
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("cup", from_line(2)));
    bench.ok(blacklist("ann", "cheated"));
    assert_eq!(bench.standing("cup"), "running: ann bob");
    assert_eq!(bench.involvement("ann"), (1, 0));
}

#[test]
fn lifting_lets_in_again_and_gives_nothing_back() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.all([enqueue("ann", "q"), blacklist("ann", "cheated")]);
    assert_eq!(bench.ok(lift("ann")), ["blacklist-lifted"]);
    assert_eq!(bench.lobby.account(&name("ann")).unwrap().blacklisted, None);
    assert_eq!(bench.queue("q"), "");
    bench.ok(enqueue("ann", "q"));
    bench.ok(announce("cup", from_queue("q", 2)));
    assert_eq!(bench.standing("cup"), "running: ann");
}

#[test]
fn only_who_is_listed_can_be_lifted_and_only_accounts_can_be_listed() {
    let mut bench = Bench::with(&["ann"]);
    assert_eq!(bench.no(lift("ann")), LobbyRejection::NotBlacklisted(name("ann")));
    assert_eq!(bench.no(lift("eve")), LobbyRejection::Unknown(name("eve")));
    assert_eq!(bench.no(blacklist("eve", "x")), LobbyRejection::Unknown(name("eve")));
}

#[test]
fn the_latest_reason_stands() {
    let mut bench = Bench::with(&["ann"]);
    bench.all([blacklist("ann", "was rude"), blacklist("ann", "cheated")]);
    assert_eq!(bench.no(enqueue("ann", "q")), listed("ann"));
    bench.ok(lift("ann"));
    assert_eq!(bench.no(lift("ann")), LobbyRejection::NotBlacklisted(name("ann")));
}

#[test]
fn a_sign_up_that_a_listed_player_left_may_be_too_small() {
    let mut bench = Bench::with(&["p1", "p2", "p3", "p4", "p5"]);
    bench.ok(announce("fish", Selection::SignUp(FISH)));
    bench.all(["p1", "p2", "p3", "p4", "p5"].map(|player| sign_up("fish", player)));
    bench.ok(blacklist("p5", "cheated"));
    assert_eq!(bench.wait(30_000), ["sign-up-extended"]);
}

/// The blacklisting that follows from event `event` of match `r1m1`.
fn listed_for(account: &str, tournament: &str, event: u64) -> LobbyCommand {
    let cause = Cause { tournament: tournament.into(), match_id: "r1m1".into(), event };
    let (account, reason, by) = (name(account), "cheated".into(), None);
    LobbyCommand::Blacklist { account, reason, by, cause: Some(cause) }
}

#[test]
fn a_policy_blacklists_once_for_each_cheat_and_respects_a_lift() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("cup", exactly(&["ann", "bob"])));
    assert_eq!(bench.ok(listed_for("ann", "cup", 7)), ["account-blacklisted"]);
    bench.ok(lift("ann"));
    assert!(bench.ok(listed_for("ann", "cup", 7)).is_empty(), "it is recorded, and was lifted");
    assert_eq!(bench.lobby.account(&name("ann")).unwrap().blacklisted, None);
    assert_eq!(bench.ok(listed_for("ann", "cup", 9)), ["account-blacklisted"]);
}

#[test]
fn a_policy_blacklists_only_for_cheats_in_tournaments_that_run() {
    let mut bench = Bench::with(&["ann", "bob"]);
    let not_running = LobbyRejection::NotRunning("cup".into());
    assert_eq!(bench.no(listed_for("ann", "cup", 7)), not_running);
    bench.all([announce("cup", exactly(&["ann", "bob"])), finish("cup", &["bob"])]);
    assert_eq!(bench.no(listed_for("ann", "cup", 7)), not_running);
}
