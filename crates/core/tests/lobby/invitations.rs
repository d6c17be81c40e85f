//! Invitations: who comes, who is ready, and what becomes of it.

use crate::bench::{
    Bench, DAWN, FISH, accept, announce, blacklist, call_off, invite, log_out, name, ready,
    register, reject, sign_up, withdraw,
};
use agon_core::lobby::{
    AccountKind, LobbyCommand, LobbyRejection, Role, Selection, Standing, Terms,
};
use agon_core::{Line, Millis, Timestamp};

const ALL: [&str; 4] = ["ann", "bob", "cat", "dan"];

/// All four are invited to `t` for at least so many.
fn invited(terms: Terms) -> Bench {
    let mut bench = Bench::with(&ALL);
    bench.ok(register("eve"));
    bench.ok(announce("t", Selection::Invitation(terms)));
    bench
}

fn down(away_ms: Millis, answers_until: Timestamp) -> LobbyCommand {
    LobbyCommand::Resume { away_ms, answers_until }
}

fn closes_at(bench: &Bench) -> Timestamp {
    match bench.lobby.tournament(&"t".into()) {
        Some(Standing::Inviting(invitation)) => invitation.closes_at,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_accept_and_all_are_ready() {
    let mut bench = invited(invite(&ALL, 2));
    assert_eq!(bench.standing("t"), "inviting: ann bob cat dan");
    for player in ["dan", "ann", "cat"] {
        assert_eq!(bench.ok(accept("t", player)), ["invitation-accepted"]);
    }
    assert_eq!(bench.involvement("ann"), (0, 1));
    assert_eq!(bench.involvement("bob"), (0, 0), "who is only invited waits for nothing");
    bench.wait(5_000);
    assert_eq!(bench.ok(accept("t", "bob")), ["invitation-accepted", "readiness-asked"]);
    assert_eq!(closes_at(&bench), DAWN + 15_000, "ten seconds from the question on");
    for player in ["ann", "dan", "bob"] {
        assert_eq!(bench.ok(ready("t", player)), ["player-ready"]);
    }
    assert_eq!(bench.ok(ready("t", "cat")), ["player-ready", "tournament-started"]);
    assert_eq!(bench.standing("t"), "running: ann bob cat dan", "in the order of the invitation");
    assert_eq!(bench.involvement("ann"), (1, 0));
    assert!(bench.wait(60_000).is_empty());
}

#[test]
fn silent_player_is_left_out() {
    let mut bench = invited(invite(&ALL, 2));
    for player in ["ann", "bob", "dan"] {
        bench.ok(accept("t", player));
    }
    assert!(bench.wait(29_999).is_empty(), "cat may still come");
    assert_eq!(bench.wait(1), ["readiness-asked"]);
    assert_eq!(bench.standing("t"), "readying: ann+ bob+ cat? dan+");
    assert_eq!(bench.no(accept("t", "cat")), LobbyRejection::NotInvited(name("cat")));
    assert_eq!(bench.no(reject("t", "cat")), LobbyRejection::NotInvited(name("cat")));
    assert_eq!(bench.no(ready("t", "cat")), LobbyRejection::NotInvited(name("cat")));
    bench.ok(ready("t", "dan"));
    bench.ok(ready("t", "bob"));
    assert!(bench.wait(9_999).is_empty());
    assert_eq!(bench.wait(1), ["tournament-started"]);
    assert_eq!(bench.standing("t"), "running: bob dan");
}

#[test]
fn too_few_who_accept_call_it_off() {
    let mut bench = invited(invite(&ALL, 3));
    bench.ok(accept("t", "ann"));
    bench.ok(accept("t", "bob"));
    assert_eq!(bench.wait(30_000), ["tournament-called-off"]);
    let why = "called off: 2 of 4 invited accepted, and 3 are needed";
    assert_eq!(bench.standing("t"), why);
    assert_eq!(bench.involvement("ann"), (0, 0));
    assert_eq!(bench.no(accept("t", "cat")), LobbyRejection::NotInvited(name("cat")));
}

#[test]
fn too_few_who_are_ready_call_it_off() {
    let mut bench = invited(invite(&ALL, 3));
    ALL.iter().for_each(|player| drop(bench.ok(accept("t", player))));
    bench.ok(ready("t", "ann"));
    assert_eq!(bench.wait(10_000), ["tournament-called-off"]);
    assert_eq!(bench.standing("t"), "called off: 1 of 4 invited are ready, and 3 are needed");
}

#[test]
fn invitation_with_too_few_players_left_is_called_off_at_once() {
    let mut bench = invited(invite(&ALL, 3));
    assert_eq!(bench.ok(reject("t", "ann")), ["invitation-rejected"]);
    assert_eq!(bench.ok(reject("t", "bob")), ["invitation-rejected", "tournament-called-off"]);
    let mut bench = invited(invite(&ALL, 3));
    ALL.iter().for_each(|player| drop(bench.ok(accept("t", player))));
    bench.ok(reject("t", "ann"));
    let tags = bench.ok(withdraw("t", "bob"));
    assert_eq!(tags, ["invitation-rejected", "tournament-called-off"], "leaving is rejecting");
}

#[test]
fn answer_to_an_invitation_may_change_until_the_deadline() {
    let mut bench = invited(invite(&ALL, 2));
    bench.ok(reject("t", "ann"));
    bench.ok(accept("t", "ann"));
    bench.ok(accept("t", "bob"));
    bench.ok(reject("t", "bob"));
    assert_eq!(bench.standing("t"), "inviting: ann+ bob- cat dan");
    bench.ok(reject("t", "cat"));
    assert_eq!(bench.ok(accept("t", "dan")), ["invitation-accepted", "readiness-asked"]);
    assert_eq!(bench.no(accept("t", "bob")), LobbyRejection::NotInvited(name("bob")));
}

#[test]
fn an_answer_that_is_said_again_changes_nothing() {
    let mut bench = invited(invite(&ALL, 2));
    bench.ok(accept("t", "ann"));
    assert!(bench.ok(accept("t", "ann")).is_empty());
    bench.ok(reject("t", "bob"));
    assert!(bench.ok(reject("t", "bob")).is_empty());
    bench.ok(reject("t", "cat"));
    bench.ok(accept("t", "dan"));
    bench.ok(ready("t", "ann"));
    assert!(bench.ok(ready("t", "ann")).is_empty());
    assert!(bench.ok(accept("t", "ann")).is_empty(), "ready is more than accepted");
    assert_eq!(bench.standing("t"), "readying: ann! bob- cat- dan+");
}

#[test]
fn uninvited_players_and_early_ready_messages_are_rejected() {
    let mut bench = invited(invite(&["ann", "bob"], 2));
    for command in [accept("t", "cat"), reject("t", "cat"), ready("t", "cat")] {
        assert_eq!(bench.no(command), LobbyRejection::NotInvited(name("cat")));
    }
    assert_eq!(bench.no(accept("u", "ann")), LobbyRejection::NotInvited(name("ann")));
    assert_eq!(bench.no(ready("t", "ann")), LobbyRejection::NotAsked(name("ann")));
    bench.ok(accept("t", "ann"));
    assert_eq!(bench.no(ready("t", "ann")), LobbyRejection::NotAsked(name("ann")));
    assert_eq!(bench.no(sign_up("t", "cat")), LobbyRejection::NotOpen("t".into()));
}

#[test]
fn without_the_second_question_who_accepts_plays() {
    let terms = Terms { ready_ms: 0, ..invite(&ALL, 2) };
    let mut bench = invited(terms);
    bench.ok(accept("t", "bob"));
    bench.ok(accept("t", "ann"));
    bench.ok(reject("t", "cat"));
    assert_eq!(bench.wait(30_000), ["tournament-started"]);
    assert_eq!(bench.standing("t"), "running: ann bob");
}

#[test]
fn the_last_of_at_most_ends_the_wait() {
    let terms = Terms { at_most: Some(2), ..invite(&ALL, 2) };
    let mut bench = invited(terms);
    bench.ok(accept("t", "dan"));
    assert_eq!(bench.ok(accept("t", "bob")), ["invitation-accepted", "readiness-asked"]);
    assert_eq!(bench.standing("t"), "readying: ann? bob+ cat? dan+");
}

#[test]
fn house_players_come_and_are_ready() {
    let mut bench = Bench::with(&["ann"]);
    for house in ["house:one", "house:two"] {
        let (account, kind) = (name(house), AccountKind::House);
        let (role, password) = (Role::Player, None);
        bench.ok(LobbyCommand::Register { account, kind, role, password });
    }
    bench.ok(announce("t", Selection::Invitation(invite(&["house:one", "ann"], 2))));
    assert_eq!(bench.standing("t"), "inviting: house:one! ann");
    assert_eq!(bench.ok(accept("t", "ann")), ["invitation-accepted", "readiness-asked"]);
    assert_eq!(bench.ok(ready("t", "ann")), ["player-ready", "tournament-started"]);
    let among_themselves = Selection::Invitation(invite(&["house:one", "house:two"], 2));
    assert_eq!(
        bench.ok(announce("u", among_themselves)),
        ["tournament-announced", "tournament-started"],
        "nobody is waited for"
    );
}

#[test]
fn blacklisted_player_is_out_of_an_invitation() {
    let mut bench = invited(invite(&ALL, 3));
    ALL.iter().take(3).for_each(|player| drop(bench.ok(accept("t", player))));
    assert_eq!(bench.ok(blacklist("ann", "cheated")), ["account-blacklisted"]);
    assert_eq!(bench.standing("t"), "inviting: ann- bob+ cat+ dan");
    assert!(matches!(bench.no(accept("t", "ann")), LobbyRejection::Blacklisted(..)));
    let tags = bench.ok(blacklist("bob", "cheated"));
    assert_eq!(tags, ["account-blacklisted", "tournament-called-off"]);
    let refused = bench.no(announce("u", Selection::Invitation(invite(&["ann", "cat"], 1))));
    assert!(matches!(refused, LobbyRejection::Blacklisted(..)));
}

#[test]
fn invitations_outlast_a_logout_and_can_be_called_off() {
    let mut bench = invited(invite(&ALL, 2));
    bench.ok(log_out("ann"));
    bench.ok(accept("t", "ann"));
    assert_eq!(bench.lobby.invited_to(&name("ann")).count(), 1);
    assert_eq!(bench.ok(call_off("t", "rain")), ["call-off-ordered", "tournament-called-off"]);
    assert_eq!(bench.lobby.invited_to(&name("ann")).count(), 0);
    assert_eq!(bench.lobby.deadline(), None);
}

#[test]
fn time_the_server_was_down_is_added_to_all_waits() {
    let mut bench = invited(invite(&ALL, 2));
    bench.now += 3_600_000;
    assert_eq!(bench.ok(down(3_600_000, Timestamp::default())), ["server-resumed"]);
    assert_eq!(closes_at(&bench), bench.now + 30_000);
    bench.ok(accept("t", "ann"));
    bench.ok(accept("t", "bob"));
    assert_eq!(bench.wait(30_000), ["readiness-asked"]);
    bench.now += 600_000;
    bench.ok(down(600_000, bench.now + 9_000));
    assert!(bench.wait(9_999).is_empty(), "ten seconds were left");
    assert_eq!(bench.wait(1), ["tournament-called-off"]);
    assert!(bench.ok(down(1_000, Timestamp::default())).is_empty(), "nothing waits");
}

#[test]
fn no_wait_is_longer_than_a_new_one() {
    let mut bench = invited(invite(&ALL, 2));
    bench.wait(10_000);
    bench.now += 100_000;
    // The last event can be long before the server went.
    bench.ok(down(500_000, Timestamp::default()));
    assert_eq!(closes_at(&bench), bench.now + 30_000);
}

#[test]
fn absent_player_gets_the_full_time_after_reconnecting() {
    let mut bench = invited(invite(&ALL, 2));
    bench.ok(announce("u", Selection::SignUp(FISH)));
    bench.wait(29_000);
    bench.ok(down(0, bench.now + 60_000));
    assert_eq!(bench.wait(1_000), ["sign-up-extended"], "nobody has to be here for that");
    assert_eq!(closes_at(&bench), DAWN + 89_000);
}

#[test]
fn waits_survive_the_log() {
    let mut bench = invited(invite(&ALL, 2));
    bench.ok(accept("t", "ann"));
    bench.ok(accept("t", "bob"));
    bench.wait(30_000);
    let texts: Vec<String> = bench.lines.iter().map(Line::write).collect();
    let lines: Vec<Line> = texts.iter().map(|text| Line::read(text).unwrap()).collect();
    let folded = agon_core::lobby::Lobby::fold(&lines).unwrap();
    assert_eq!(folded.deadline(), Some(DAWN + 40_000));
    assert_eq!(folded, bench.lobby);
}

#[test]
fn terms_that_contradict_themselves_are_refused() {
    let mut bench = Bench::with(&ALL);
    for terms in [
        invite(&[], 0),
        invite(&ALL, 0),
        invite(&ALL, 5),
        invite(&["ann", "ann"], 1),
        Terms { at_most: Some(5), ..invite(&ALL, 2) },
        Terms { at_most: Some(1), ..invite(&ALL, 2) },
    ] {
        let refused = bench.no(announce("t", Selection::Invitation(terms.clone())));
        assert!(matches!(refused, LobbyRejection::BadWindow(_)), "{terms:?}");
    }
    let refused = bench.no(announce("t", Selection::Invitation(invite(&["ann", "eve"], 1))));
    assert_eq!(refused, LobbyRejection::Unknown(name("eve")));
}

#[test]
fn invited_players_are_asked_whether_they_are_ready_by_default() {
    let text = r#"{"by":"invitation","players":["ann"],"at_least":1,"wait_ms":5}"#;
    let Selection::Invitation(terms) = serde_json::from_str(text).unwrap() else {
        panic!("an invitation");
    };
    assert_eq!((terms.ready_ms, terms.most()), (10_000, 1));
    let more = r#"{"by":"invitation","players":["ann"],"at_least":1,"wait_ms":5,"x":1}"#;
    assert!(serde_json::from_str::<Selection>(more).is_err());
}
