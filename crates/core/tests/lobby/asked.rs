//! The lobby's queries, which shells use besides the results of commands.

use crate::bench::{
    Bench, DAWN, FISH, TRAINS, accept, announce, announcement, enqueue, exactly, finish, from_line,
    from_queue, invite, name, numbered, sign_up, start,
};
use agon_core::Secret;
use agon_core::lobby::{LobbyRejection, Selection, Window};
use std::collections::BTreeSet;

fn spelt<T: ToString>(names: impl Iterator<Item = T>) -> String {
    names.map(|name| name.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn accounts_and_tournaments_are_listed_by_name() {
    let mut bench = Bench::with(&["bob", "ann", "cat"]);
    let listed = bench.lobby.accounts().map(|(name, account)| format!("{name}@{}", account.number));
    assert_eq!(spelt(listed), "ann@1 bob@0 cat@2");
    bench.ok(announce("t2", exactly(&["ann", "bob"])));
    bench.ok(announce("t1", Selection::SignUp(FISH)));
    bench.ok(announce("t3", Selection::Invitation(invite(&["bob", "cat"], 2))));
    bench.ok(announce("t0", exactly(&["cat", "ann"])));
    bench.ok(sign_up("t1", "cat"));
    let lobby = &bench.lobby;
    assert_eq!(spelt(lobby.tournaments().map(|(id, _)| id)), "t0 t1 t2 t3");
    assert_eq!(spelt(lobby.running().map(|plan| &plan.id)), "t0 t2");
    assert_eq!(spelt(lobby.sign_ups().map(|sign_up| &sign_up.announcement.id)), "t1");
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(name);
    assert_eq!(spelt(lobby.playing_in(&ann)), "t0 t2");
    assert_eq!(
        (spelt(lobby.playing_in(&bob)), spelt(lobby.playing_in(&cat))),
        ("t2".into(), "t0".into())
    );
    let invited = lobby.invited_to(&bob).map(|invitation| &invitation.announcement.id);
    assert_eq!((spelt(invited), lobby.invited_to(&ann).count()), ("t3".into(), 0));
    assert_eq!((bench.involvement("ann"), bench.involvement("cat")), ((2, 0), (1, 1)));
    assert_eq!(lobby.asker(&"t2".into()), Some(&name("op")));
    assert_eq!(lobby.asker(&"none".into()), None);
    bench.ok(finish("t2", &["ann"]));
    assert_eq!(spelt(bench.lobby.running().map(|plan| &plan.id)), "t0");
    assert_eq!(
        (spelt(bench.lobby.playing_in(&ann)), bench.involvement("bob")),
        ("t0".into(), (0, 0))
    );
}

#[test]
fn the_name_of_a_series_stands_for_the_one_that_is_meant() {
    let mut bench = Bench::with(&numbered(5));
    let window = Window { at_least: 2, at_most: 2, second_at_least: 2, repeat: true, ..FISH };
    bench.ok(announce("t", Selection::SignUp(window)));
    assert_eq!(bench.lobby.latest_of("t".into()).as_str(), "t", "it is open itself");
    for player in ["p1", "p2", "p3"] {
        bench.ok(sign_up("t", player));
    }
    let lobby = &bench.lobby;
    assert_eq!(lobby.latest_of("t".into()).as_str(), "t-2");
    assert_eq!(lobby.latest_of("t-2".into()).as_str(), "t-2");
    assert_eq!(lobby.latest_of("else".into()).as_str(), "else");
    // A player in the first tournament means that one; a player waiting for the second, that one.
    assert_eq!(lobby.left_by("t".into(), &name("p1")).as_str(), "t");
    assert_eq!(lobby.left_by("t".into(), &name("p3")).as_str(), "t-2");
    assert_eq!(lobby.left_by("t".into(), &name("p5")).as_str(), "t-2");
    assert_eq!(lobby.left_by("t-2".into(), &name("p3")).as_str(), "t-2");
}

#[test]
fn check_of_an_announcement_announces_nothing() {
    let mut bench = Bench::with(&["ann", "bob", "cat"]);
    bench.all([enqueue("cat", "q"), enqueue("ann", "q")]);
    let before = bench.lobby.clone();
    let tried = |selection: Selection| {
        let secret = Secret::from_seed_number(1);
        let cup = announcement("cup", selection);
        let plan = bench.lobby.try_announce(&cup, Some(&secret), &BTreeSet::new())?;
        Ok::<_, LobbyRejection>(plan.map(|plan| (plan.id.to_string(), spelt(plan.players.iter()))))
    };
    let with = |players: &str| Ok(Some(("cup".to_owned(), players.to_owned())));
    assert_eq!(tried(from_line(2)), with("ann bob"));
    assert_eq!(tried(from_queue("q", 5)), with("cat ann"));
    assert_eq!(tried(exactly(&["cat", "bob"])), with("cat bob"));
    assert_eq!(tried(Selection::SignUp(FISH)), Ok(None), "it would wait for players");
    assert_eq!(tried(Selection::Invitation(invite(&["ann", "bob"], 2))), Ok(None));
    assert_eq!(tried(from_queue("empty", 5)), Err(LobbyRejection::Nobody));
    assert_eq!(tried(exactly(&["ann", "eve"])), Err(LobbyRejection::Unknown(name("eve"))));
    let bad = bench.lobby.try_announce(&announcement("a b", from_line(2)), None, &BTreeSet::new());
    assert_eq!(bad, Err(LobbyRejection::BadId("a b".into())));
    assert_eq!(bench.lobby, before);
    bench.ok(announce("cup", from_line(2)));
    let again =
        bench.lobby.try_announce(&announcement("cup", from_line(2)), None, &BTreeSet::new());
    assert_eq!(again, Err(LobbyRejection::Announced("cup".into())));
}

#[test]
fn plan_of_a_sign_up_is_shown_without_starting_it() {
    let mut bench = Bench::with(&numbered(4));
    bench.ok(announce("open", Selection::SignUp(TRAINS)));
    bench.ok(announce("asked", Selection::Invitation(invite(&["p1", "p2", "p3"], 2))));
    let tried = |bench: &Bench, id: &str| {
        bench.lobby.try_start(id.into()).map(|plan| spelt(plan.players.iter()))
    };
    assert_eq!(tried(&bench, "open"), Err(LobbyRejection::Nobody));
    assert_eq!(tried(&bench, "none"), Err(LobbyRejection::NotOpen("none".into())));
    bench.all([sign_up("open", "p3"), sign_up("open", "p1"), accept("asked", "p2")]);
    assert_eq!(tried(&bench, "open"), Ok("p3 p1".into()));
    assert_eq!(tried(&bench, "asked"), Ok("p2".into()));
    assert_eq!(bench.standing("open"), "open: p3 p1");
    bench.ok(start("open", "now"));
    assert_eq!(tried(&bench, "open"), Err(LobbyRejection::NotOpen("open".into())));
    assert!(bench.now == DAWN && bench.lobby.deadline().is_some());
}
