//! Several tournaments at once: their names, their ends, and players in more than one.

use crate::bench::{
    Bench, DAWN, FISH, TRAINS, announce, announcement, enqueue, exactly, finish, from_line,
    from_queue, numbered, sign_up,
};
use agon_core::lobby::{Lobby, LobbyRejection, Selection};
use agon_core::{Event, TournamentAnnounced};

#[test]
fn a_name_is_used_once_whatever_became_of_it() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("open", Selection::SignUp(FISH)));
    bench.ok(announce("off", Selection::SignUp(TRAINS)));
    bench.ok(announce("running", from_line(2)));
    bench.ok(announce("finished", from_line(2)));
    bench.ok(finish("finished", &["ann"]));
    bench.wait(40_000);
    assert!(bench.standing("off").starts_with("called off"));
    for id in ["open", "off", "running", "finished"] {
        assert_eq!(bench.no(announce(id, from_line(2))), LobbyRejection::Announced(id.into()));
    }
}

#[test]
fn names_that_would_spoil_a_log_are_refused() {
    let mut bench = Bench::with(&["ann"]);
    let long = "t".repeat(61);
    for id in ["", "a:b", "a/b", "..", "a b", "a\"b", "é", "Cup", "-x", long.as_str()] {
        for selection in [from_line(1), Selection::SignUp(FISH)] {
            let refused = bench.no(announce(id, selection));
            assert_eq!(refused, LobbyRejection::BadId(id.into()));
        }
    }
    bench.ok(announce("friday-2", from_line(1)));
}

#[test]
fn a_plan_has_what_was_announced() {
    let mut bench = Bench::with(&["ann"]);
    let events = bench.step(announce("cup", from_line(1))).unwrap();
    let [Event::TournamentAnnounced(announced), Event::TournamentStarted(started)] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(announced.announcement, announcement("cup", from_line(1)));
    assert_eq!(started.plan, announced.announcement.plan(started.plan.players.clone()));
    assert_eq!(started.plan.preset.as_deref(), Some("yahtzee-queue"));
}

#[test]
fn a_player_may_be_in_several_tournaments() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("lined", from_line(2)));
    bench.ok(announce("named", exactly(&["bob", "ann"])));
    bench.ok(enqueue("ann", "q"));
    bench.ok(announce("queued", from_queue("q", 2)));
    bench.ok(announce("open", Selection::SignUp(FISH)));
    bench.ok(sign_up("open", "ann"));
    assert_eq!(bench.involvement("ann"), (3, 1));
    assert_eq!(bench.involvement("bob"), (2, 0));
    bench.ok(finish("named", &["bob"]));
    assert_eq!(bench.involvement("ann"), (2, 1));
    assert_eq!(bench.standing("named"), "finished: bob");
    assert_eq!(bench.standing("lined"), "running: ann bob", "the others go on");
}

#[test]
fn sign_ups_that_overlap_are_decided_each_at_its_time() {
    let mut bench = Bench::with(&numbered(6));
    bench.ok(announce("fish", Selection::SignUp(FISH)));
    bench.wait(5_000);
    bench.ok(announce("trains", Selection::SignUp(TRAINS)));
    for player in numbered(6) {
        bench.ok(sign_up("fish", &player));
    }
    bench.ok(sign_up("trains", "p1"));
    bench.ok(sign_up("trains", "p2"));
    assert_eq!(bench.lobby.deadline(), Some(DAWN + 25_000));
    assert_eq!(bench.wait(20_000), ["sign-up-extended"], "trains has two of five");
    assert_eq!(bench.wait(5_000), ["tournament-started"], "fish has six");
    assert_eq!(bench.standing("trains"), "open: p1 p2");
    assert_eq!(bench.wait(15_000), ["tournament-started"]);
    assert_eq!(bench.involvement("p1"), (2, 0));
    assert_eq!(bench.involvement("p3"), (1, 0));
}

#[test]
fn sign_ups_that_end_together_are_all_decided() {
    let mut bench = Bench::with(&numbered(5));
    for id in ["a", "b", "c"] {
        bench.ok(announce(id, Selection::SignUp(FISH)));
    }
    for player in numbered(5) {
        bench.ok(sign_up("b", &player));
    }
    let tags = bench.wait(30_000);
    assert_eq!(tags, ["sign-up-extended", "tournament-started", "sign-up-extended"]);
}

#[test]
fn only_what_runs_can_finish_and_only_once() {
    let mut bench = Bench::with(&["ann", "bob"]);
    let not_running = |id: &str| LobbyRejection::NotRunning(id.into());
    assert_eq!(bench.no(finish("cup", &["ann"])), not_running("cup"));
    bench.ok(announce("open", Selection::SignUp(FISH)));
    assert_eq!(bench.no(finish("open", &["ann"])), not_running("open"));
    bench.ok(announce("cup", from_line(2)));
    assert_eq!(bench.ok(finish("cup", &[])), ["tournament-finished"], "a bye may win");
    assert_eq!(bench.standing("cup"), "finished: ");
    assert_eq!(bench.no(finish("cup", &["ann"])), not_running("cup"));
}

#[test]
fn there_is_a_bound_on_tournaments_and_the_end_of_one_makes_room() {
    let mut lobby = Bench::with(&["ann"]).lobby.clone();
    for number in 1..Lobby::TOURNAMENTS_MAX {
        let announcement = announcement(&format!("t{number}"), Selection::SignUp(FISH));
        lobby
            .apply(
                DAWN,
                &Event::from(TournamentAnnounced {
                    announcement,
                    repeats: None,
                    commitment: None,
                    passed_over: Vec::new(),
                    draw_order: Vec::new(),
                }),
            )
            .unwrap();
    }
    assert!(lobby.step(DAWN, announce("last", from_line(1))).is_ok());
    let late = announce("late", from_line(1));
    assert_eq!(lobby.step(DAWN, late.clone()), Err(LobbyRejection::TooMany));
    lobby.step(DAWN, finish("last", &["ann"])).unwrap();
    assert!(lobby.step(DAWN, late).is_ok());
}
