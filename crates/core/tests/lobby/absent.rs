//! Players who are not connected when a tournament is drawn: they are passed over and keep their
//! places.

use crate::bench::{
    Bench, announce, announce_without, enqueue, from_line, from_queue, log_out, numbered,
};
use agon_core::lobby::{LobbyRejection, Selection};
use agon_core::verify::verify_lobby;
use agon_core::{Event, PlayerName, Secret};

#[test]
fn absent_players_are_passed_over_and_stay_first_in_line() {
    let mut bench = Bench::with(&["ann", "bob", "cat", "dan"]);
    bench.ok(announce_without("t", from_line(2), &["ann", "cat"]));
    assert_eq!(bench.standing("t"), "running: bob dan");
    assert_eq!(bench.line(), "ann cat bob dan");
    bench.ok(announce("u", from_line(2)));
    assert_eq!(bench.standing("u"), "running: ann cat", "they are back");
}

#[test]
fn absent_players_keep_their_places_in_a_queue() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    bench.all([enqueue("ann", "q"), enqueue("bob", "q"), enqueue("ann", "q"), enqueue("cat", "q")]);
    bench.ok(log_out("ann"));
    bench.ok(announce_without("t", from_queue("q", 2), &["ann"]));
    assert_eq!(bench.standing("t"), "running: bob cat");
    assert_eq!(bench.queue("q"), "ann ann");
}

#[test]
fn no_selection_takes_an_absent_player() {
    for selection in [from_line(4), Selection::Age { at_most: 4 }, Selection::Random { at_most: 4 }]
    {
        let mut bench = Bench::with(&["ann", "bob", "cat"]);
        bench.ok(announce_without("t", selection.clone(), &["bob"]));
        let standing = bench.standing("t");
        assert!(!standing.contains("bob"), "{selection:?}: {standing}");
        assert!(standing.contains("ann") && standing.contains("cat"), "{selection:?}: {standing}");
        let all = ["ann", "bob", "cat"];
        let nobody = bench.no(announce_without("u", selection, &all));
        assert_eq!(nobody, LobbyRejection::Nobody);
    }
}

#[test]
fn only_players_who_would_have_been_taken_are_in_the_log() {
    let mut bench = Bench::with(&numbered(5));
    bench.ok(announce_without("t", from_line(2), &["p1", "p5"]));
    let passed_over = bench.lines.iter().find_map(|line| match &line.event {
        Event::TournamentAnnounced(announced) => Some(announced.passed_over.clone()),
        _ => None,
    });
    assert_eq!(passed_over, Some(vec![PlayerName::new("p1").unwrap()]));
}

#[test]
fn verification_decides_again_with_the_players_passed_over() {
    for selection in [from_line(2), Selection::Random { at_most: 2 }] {
        let mut bench = Bench::with(&numbered(6));
        bench.ok(announce_without("t", selection, &["p1", "p2", "p3"]));
        for secret in [Some(Secret::from_seed_number(1)), None] {
            verify_lobby(&bench.lines, |_| secret.clone()).unwrap();
        }
        let mut forged = bench.lines.clone();
        for line in &mut forged {
            if let Event::TournamentAnnounced(announced) = &mut line.event {
                announced.passed_over = vec![PlayerName::new("p4").unwrap()];
            }
        }
        let secret = Some(Secret::from_seed_number(1));
        assert!(verify_lobby(&forged, |_| secret.clone()).is_err());
    }
}
