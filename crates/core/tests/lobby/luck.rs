//! The draw of a random selection can be checked from the log, once the secret is known.

use crate::bench::{Bench, announce_by_lot, exactly, numbered};
use agon_core::lobby::Selection;
use agon_core::verify::verify_lobby;
use agon_core::{Event, Line, PlayerName, Secret, TournamentPlan};

/// Four of ten, by the luck of secret 7.
fn drawn() -> Bench {
    let mut bench = Bench::with(&numbered(10));
    bench.ok(announce_by_lot("t", Selection::Random { at_most: 4 }, 7));
    bench.ok(announce_by_lot("u", exactly(&["p1"]), 7));
    bench
}

fn secret(number: u64) -> Option<Secret> {
    Some(Secret::from_seed_number(number))
}

#[test]
fn an_honest_draw_is_found_in_order() {
    let bench = drawn();
    let check = verify_lobby(&bench.lines, |_| secret(7)).unwrap();
    assert_eq!((check.announcements, check.unchecked), (2, 0));
}

#[test]
fn before_the_secret_is_known_nothing_is_said_about_it() {
    let bench = drawn();
    let check = verify_lobby(&bench.lines, |_| None).unwrap();
    assert_eq!((check.announcements, check.unchecked), (1, 1));
}

#[test]
fn another_secret_than_was_committed_to_is_found() {
    let finding = verify_lobby(&drawn().lines, |_| secret(8)).unwrap_err();
    assert!(finding.to_string().contains("commitment"), "{finding}");
}

#[test]
fn players_that_were_put_there_are_found() {
    let mut lines = std::mem::take(&mut drawn().lines);
    let forged = lines.iter_mut().find_map(|line| match &mut line.event {
        Event::TournamentStarted(started) if started.plan.players.len() == 4 => Some(started),
        _ => None,
    });
    let players = &mut forged.expect("a draw").plan.players;
    players.reverse();
    let finding = verify_lobby(&lines, |_| secret(7)).unwrap_err();
    assert!(finding.to_string().contains("plan.players"), "{finding}");
}

#[test]
fn a_commitment_that_was_left_out_is_not_taken_for_a_check() {
    let mut lines = std::mem::take(&mut drawn().lines);
    for line in &mut lines {
        if let Event::TournamentAnnounced(announced) = &mut line.event {
            announced.commitment = None;
        }
    }
    let lines: Vec<Line> = lines.iter().map(|l| Line::read(&l.write()).unwrap()).collect();
    assert_eq!(verify_lobby(&lines, |_| secret(7)).unwrap().unchecked, 1);
}

/// With any luck, the tournament starts as announced, with as many connected players as fit.
#[test]
fn decisions_without_luck_are_checked_without_the_secret() {
    let forged = |forge: fn(&mut TournamentPlan)| {
        let mut lines = std::mem::take(&mut drawn().lines);
        let started = lines.iter_mut().find_map(|line| match &mut line.event {
            Event::TournamentStarted(started) => Some(started),
            _ => None,
        });
        forge(&mut started.expect("a draw").plan);
        verify_lobby(&lines, |_| None).is_err()
    };
    assert!(!forged(|plan| plan.players.reverse()), "that would be luck");
    assert!(forged(|plan| plan.id = "other".into()));
    assert!(forged(|plan| plan.policy.rules.best_of += 2));
    assert!(forged(|plan| plan.players[0] = plan.players[1].clone()));
    assert!(forged(|plan| drop(plan.players.pop())));
    assert!(forged(|plan| plan.players[0] = PlayerName::new("eve").unwrap()));
}
