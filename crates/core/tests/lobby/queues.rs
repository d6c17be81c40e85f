//! Queues: wait as often as you like, enter one tournament once.

use crate::bench::{
    Bench, DAWN, announce, dequeue, enqueue, finish, from_line, from_queue, issue, log_out, name,
};
use agon_core::lobby::{Lobby, LobbyRejection, QueueName};

#[test]
fn a_player_may_wait_several_times_and_enters_a_tournament_once() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    bench.all(["ann", "ann", "bob", "ann", "cat"].map(|player| enqueue(player, "q")));
    assert_eq!(bench.involvement("ann"), (0, 3));
    bench.ok(announce("cup", from_queue("q", 8)));
    assert_eq!(bench.standing("cup"), "running: ann bob cat");
    assert_eq!(bench.queue("q"), "ann ann");
    assert_eq!(bench.involvement("ann"), (1, 2));
    bench.ok(announce("second", from_queue("q", 8)));
    assert_eq!(bench.standing("second"), "running: ann");
    assert_eq!(bench.queue("q"), "ann");
    assert_eq!(bench.involvement("ann"), (2, 1));
}

#[test]
fn a_tournament_takes_the_first_so_many_that_differ() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    bench.all(["bob", "bob", "ann", "cat", "ann"].map(|player| enqueue(player, "q")));
    bench.ok(announce("cup", from_queue("q", 2)));
    assert_eq!(bench.standing("cup"), "running: bob ann");
    assert_eq!(bench.queue("q"), "bob cat ann", "each gave up its first place");
}

#[test]
fn player_who_leaves_a_queue_gives_up_the_last_place() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.all(["ann", "bob", "ann", "bob"].map(|player| enqueue(player, "q")));
    assert_eq!(bench.ok(dequeue("ann", "q")), ["player-dequeued"]);
    assert_eq!(bench.queue("q"), "ann bob bob");
    bench.ok(dequeue("ann", "q"));
    assert_eq!(bench.queue("q"), "bob bob");
    assert_eq!(bench.no(dequeue("ann", "q")), LobbyRejection::NotQueued(name("ann")));
}

#[test]
fn one_queue_is_not_another() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.all([enqueue("ann", "fast"), enqueue("bob", "slow"), enqueue("ann", "slow")]);
    assert_eq!(bench.no(dequeue("bob", "fast")), LobbyRejection::NotQueued(name("bob")));
    bench.ok(announce("cup", from_queue("slow", 8)));
    assert_eq!(bench.standing("cup"), "running: bob ann");
    assert_eq!((bench.queue("fast"), bench.queue("slow")), ("ann".into(), String::new()));
    assert_eq!(bench.no(announce("b", from_queue("slow", 8))), LobbyRejection::Nobody);
}

#[test]
fn all_queues_are_listed_by_name_and_the_size_counts_what_is_kept() {
    let mut bench = Bench::with(&["ann", "bob"]);
    assert_eq!(bench.lobby.size(), 2, "two accounts");
    bench.all([enqueue("bob", "slow"), enqueue("ann", "fast"), enqueue("ann", "slow")]);
    let listed: Vec<String> = bench
        .lobby
        .queues()
        .map(|(name, queue)| format!("{}: {:?}", name.as_str(), queue.to_vec()))
        .collect();
    assert_eq!(listed, [r#"fast: ["ann"]"#, r#"slow: ["bob", "ann"]"#]);
    bench.ok(issue("ann", "a token", DAWN + 1_000_000));
    bench.ok(issue("bob", "another", DAWN + 1_000_000));
    bench.ok(issue("bob", "a third", DAWN + 1_000_000));
    assert_eq!(bench.lobby.size(), 5, "and three tokens");
    bench.ok(announce("cup", from_queue("slow", 8)));
    assert_eq!(bench.lobby.size(), 6, "and a tournament");
}

#[test]
fn queues_and_the_line_do_not_touch_each_other() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(enqueue("ann", "q"));
    bench.ok(announce("queued", from_queue("q", 2)));
    assert_eq!(bench.line(), "ann bob");
    bench.ok(enqueue("bob", "q"));
    bench.ok(announce("lined", from_line(2)));
    assert_eq!(bench.queue("q"), "bob");
}

#[test]
fn a_place_in_a_queue_outlasts_a_logout() {
    let mut bench = Bench::with(&["ann"]);
    bench.all([enqueue("ann", "q"), log_out("ann")]);
    assert_eq!((bench.queue("q").as_str(), bench.involvement("ann")), ("ann", (0, 1)));
    bench.ok(announce("cup", from_queue("q", 2)));
    assert_eq!(bench.standing("cup"), "running: ann");
}

#[test]
fn a_finished_tournament_does_not_queue_anybody_again() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.all([enqueue("ann", "q"), enqueue("bob", "q")]);
    bench.ok(announce("cup", from_queue("q", 2)));
    bench.ok(finish("cup", &["ann"]));
    assert_eq!((bench.queue("q").as_str(), bench.involvement("ann")), ("", (0, 0)));
}

#[test]
fn places_have_a_bound() {
    let mut bench = Bench::with(&["ann", "bob"]);
    for _ in 0..Lobby::QUEUED_MAX {
        bench.ok(enqueue("ann", "q"));
    }
    assert_eq!(bench.no(enqueue("ann", "q")), LobbyRejection::QueuedEnough(name("ann")));
    // Others and other queues are not concerned, and room can be made.
    bench.all([enqueue("bob", "q"), enqueue("ann", "other"), dequeue("ann", "q")]);
    bench.ok(enqueue("ann", "q"));
}

#[test]
fn queues_have_a_bound_for_each_player() {
    let mut bench = Bench::with(&["ann", "bob"]);
    for number in 0..Lobby::QUEUES_MAX {
        bench.ok(enqueue("ann", &format!("q{number}")));
    }
    assert_eq!(bench.no(enqueue("ann", "more")), LobbyRejection::ManyQueues(name("ann")));
    bench.all([enqueue("ann", "q0"), enqueue("bob", "more"), dequeue("ann", "q1")]);
    bench.ok(enqueue("ann", "more"));
}

#[test]
fn unknown_players_do_not_wait() {
    let mut bench = Bench::new();
    assert_eq!(bench.no(enqueue("eve", "q")), LobbyRejection::Unknown(name("eve")));
}

#[test]
fn names_of_queues_are_plain() {
    assert!(QueueName::new("yahtzee-queue-2").is_ok());
    let long = "q".repeat(61);
    for bad in ["", "Q", "a b", "a/b", "é", long.as_str()] {
        assert!(QueueName::new(bad).is_err(), "{bad}");
    }
}
