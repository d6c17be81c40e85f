//! Draws: connected players are asked in an order that is drawn by lot, and the next one is asked
//! for every one who does not come.

use crate::bench::{
    Bench, accept, announce_by_lot, announce_without, blacklist, numbered, pull, reject,
};
use agon_core::lobby::{Draw, LobbyRejection, Selection, Standing};
use agon_core::verify::verify_lobby;
use agon_core::{Event, PlayerName, Secret};
use std::collections::BTreeMap;

fn draw(at_most: u32) -> Selection {
    Selection::Draw(Draw { at_least: 2, at_most, wait_ms: 4_000 })
}

/// Two of five, by the luck of secret 7; the order in which they are asked.
fn drawn() -> (Bench, Vec<String>) {
    let mut bench = Bench::with(&numbered(5));
    assert_eq!(bench.ok(announce_by_lot("t", draw(2), 7)), ["tournament-announced"]);
    let Some(Standing::Inviting(invitation)) = bench.lobby.tournament(&"t".into()) else {
        panic!("players are asked")
    };
    let order = invitation.replies.iter().map(|(player, _)| player.to_string()).collect();
    (bench, order)
}

fn verified(bench: &Bench) {
    for secret in [Some(Secret::from_seed_number(7)), None] {
        verify_lobby(&bench.lines, |_| secret.clone()).unwrap();
    }
}

#[test]
fn first_players_of_the_draw_are_asked_and_play_when_they_accept() {
    let (mut bench, order) = drawn();
    let [a, b, c, d, e] = &order[..] else { panic!("{order:?}") };
    assert_eq!(bench.standing("t"), format!("inviting: {a} {b} ({c}) ({d}) ({e})"));
    let early = bench.no(accept("t", c));
    assert_eq!(early, LobbyRejection::NotInvited(PlayerName::new(c).unwrap()));
    bench.ok(accept("t", b));
    assert_eq!(bench.ok(accept("t", a)), ["invitation-accepted", "tournament-started"]);
    assert_eq!(bench.standing("t"), format!("running: {a} {b}"));
    verified(&bench);
}

#[test]
fn next_player_is_asked_when_one_rejects() {
    let (mut bench, order) = drawn();
    let [a, b, c, d, e] = &order[..] else { panic!("{order:?}") };
    assert_eq!(bench.ok(reject("t", a)), ["invitation-rejected", "players-drawn"]);
    assert_eq!(bench.standing("t"), format!("inviting: {a}- {b} {c} ({d}) ({e})"));
    bench.ok(accept("t", b));
    assert_eq!(bench.ok(blacklist(c, "cheated")), ["account-blacklisted", "players-drawn"]);
    assert_eq!(bench.ok(pull("t", d, "ill")), ["withdrawal-ordered", "players-drawn"]);
    assert_eq!(bench.ok(accept("t", e)), ["invitation-accepted", "tournament-started"]);
    assert_eq!(bench.standing("t"), format!("running: {b} {e}"));
    verified(&bench);
}

#[test]
fn silent_players_are_replaced_and_may_still_accept() {
    let (mut bench, order) = drawn();
    let [a, b, c, d, e] = &order[..] else { panic!("{order:?}") };
    bench.ok(accept("t", b));
    assert_eq!(bench.wait(1_000), ["silence-noted", "players-drawn"], "a quarter of the wait");
    assert_eq!(bench.standing("t"), format!("inviting: {a}… {b}+ {c} ({d}) ({e})"));
    assert_eq!(bench.wait(1_000), ["silence-noted", "players-drawn"]);
    assert_eq!(bench.standing("t"), format!("inviting: {a}… {b}+ {c}… {d} ({e})"));
    assert_eq!(bench.ok(accept("t", a)), ["invitation-accepted", "tournament-started"]);
    assert_eq!(bench.standing("t"), format!("running: {a} {b}"));
    verified(&bench);
}

#[test]
fn draw_of_silent_players_ends_with_its_wait() {
    let (mut bench, order) = drawn();
    let tags = bench.wait(4_000);
    let due = [
        "silence-noted",
        "players-drawn",
        "silence-noted",
        "players-drawn",
        "tournament-called-off",
    ];
    assert_eq!(tags, due, "{order:?}");
    assert_eq!(bench.standing("t"), "called off: 0 of 5 invited accepted, and 2 are needed");
    verified(&bench);
}

#[test]
fn draw_starts_with_enough_players_when_its_wait_is_over() {
    let mut bench = Bench::with(&numbered(3));
    bench.ok(announce_by_lot("t", draw(8), 7));
    bench.ok(accept("t", "p1"));
    bench.ok(accept("t", "p3"));
    assert_eq!(bench.wait(4_000), ["tournament-started"]);
    let standing = bench.standing("t");
    assert!(standing == "running: p1 p3" || standing == "running: p3 p1", "{standing}");
    verified(&bench);
}

#[test]
fn draw_needs_enough_connected_players() {
    let mut bench = Bench::with(&["ann", "bob"]);
    let refused = bench.no(announce_without("t", draw(2), &["bob"]));
    assert_eq!(refused, LobbyRejection::TooFew(1, 2));
    for (at_least, at_most, due) in
        [(0, 2, "minimum is 0"), (3, 2, "is above the maximum of 2"), (1, 1_001, "at most 1000")]
    {
        let selection = Selection::Draw(Draw { at_least, at_most, wait_ms: 1 });
        let LobbyRejection::BadWindow(why) = bench.no(announce_without("t", selection, &[])) else {
            panic!("a draw of {at_least} to {at_most}")
        };
        assert!(why.contains(due), "{why}");
    }
}

#[test]
fn every_player_is_drawn_as_often_as_the_others() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for luck in 0..500 {
        let mut bench = Bench::with(&numbered(5));
        bench.ok(announce_by_lot("t", draw(2), luck));
        let standing = bench.standing("t");
        let asked = standing.split(' ').skip(1).filter(|one| !one.starts_with('('));
        asked.for_each(|one| *counts.entry(one.to_owned()).or_default() += 1);
    }
    // 200 each on average; the deviation is below 11.
    assert!(counts.values().all(|count| (150..250).contains(count)), "{counts:?}");
}

#[test]
fn another_order_than_the_drawn_one_is_found() {
    let (mut bench, _) = drawn();
    let mut lines = std::mem::take(&mut bench.lines);
    for line in &mut lines {
        if let Event::TournamentAnnounced(announced) = &mut line.event {
            announced.draw_order.reverse();
        }
    }
    let finding = verify_lobby(&lines, |_| Some(Secret::from_seed_number(7))).unwrap_err();
    assert!(finding.to_string().contains("draw_order"), "{finding}");
    verify_lobby(&lines, |_| None).expect("that would be luck");
    for line in &mut lines {
        if let Event::TournamentAnnounced(announced) = &mut line.event {
            announced.draw_order.pop();
        }
    }
    assert!(verify_lobby(&lines, |_| None).is_err(), "somebody is missing");
}
