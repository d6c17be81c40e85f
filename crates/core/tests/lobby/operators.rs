//! Operators' decisions in the lobby.

use crate::bench::{
    Bench, FISH, TRAINS, accept, announce, call_off, invite, issue, kick, name, numbered, pull,
    ready, reject, sign_up, start,
};
use agon_core::Event;
use agon_core::Timestamp;
use agon_core::lobby::{
    LobbyCommand, LobbyRejection, LobbyRulingKind, Selection, TokenHash, Window,
};

#[test]
fn a_sign_up_starts_when_an_operator_says_so() {
    let mut bench = Bench::with(&numbered(3));
    assert_eq!(bench.no(start("t", "now")), LobbyRejection::NotOpen("t".into()));
    bench.ok(announce("t", Selection::SignUp(FISH)));
    assert_eq!(bench.no(start("t", "now")), LobbyRejection::Nobody);
    bench.all([sign_up("t", "p1"), sign_up("t", "p3")]);
    assert_eq!(bench.ok(start("t", "two are enough")), ["start-ordered", "tournament-started"]);
    assert_eq!(bench.standing("t"), "running: p1 p3");
    let ordered = bench.lines.iter().find_map(|line| match &line.event {
        Event::StartOrdered(ordered) => Some(&ordered.ruling),
        _ => None,
    });
    let ruling = ordered.expect("who and why are in the log");
    assert_eq!((ruling.by.as_str(), ruling.why.as_str()), ("olga", "two are enough"));
    assert_eq!(bench.no(start("t", "again")), LobbyRejection::NotOpen("t".into()));
    assert_eq!(bench.no(call_off("t", "rain")), LobbyRejection::NotOpen("t".into()));
}

#[test]
fn in_a_series_the_next_sign_up_opens_at_once() {
    let mut bench = Bench::with(&numbered(2));
    bench.ok(announce("t", Selection::SignUp(Window { repeat: true, ..TRAINS })));
    bench.ok(sign_up("t", "p1"));
    let tags = bench.ok(start("t", "now"));
    assert_eq!(tags, ["start-ordered", "tournament-started", "tournament-announced"]);
    bench.ok(sign_up("t", "p2"));
    bench.ok(start("t", "the name of the first stands for the latest"));
    assert_eq!(bench.standing("t-2"), "running: p2");
}

#[test]
fn a_player_is_taken_out_of_a_sign_up() {
    let mut bench = Bench::with(&numbered(2));
    bench.ok(announce("t", Selection::SignUp(FISH)));
    bench.all([sign_up("t", "p1"), sign_up("t", "p2")]);
    assert_eq!(bench.ok(pull("t", "p1", "is ill")), ["withdrawal-ordered"]);
    assert_eq!(bench.standing("t"), "open: p2");
    assert_eq!(bench.no(pull("t", "p1", "still")), LobbyRejection::NotSignedUp(name("p1")));
}

#[test]
fn logged_out_player_leaves_the_waiting_list_and_loses_tokens() {
    let mut bench = Bench::with(&numbered(2));
    bench.all([
        issue("p1", "one", Timestamp::from_ms(9_000_000)),
        issue("p2", "two", Timestamp::from_ms(9_000_000)),
    ]);
    assert_eq!(bench.ok(kick("p1", "a stolen token")), ["log-out-ordered"]);
    assert_eq!(bench.line(), "p2");
    let holder = |token| bench.lobby.holder(&TokenHash::of(token), bench.now).cloned();
    assert_eq!((holder("one"), holder("two")), (None, Some(name("p2"))));
    let unknown = LobbyRejection::Unknown(name("nobody"));
    assert_eq!(bench.no(kick("nobody", "who?")), unknown);
}

#[test]
fn reasons_of_rulings_about_an_account_are_kept() {
    let mut bench = Bench::with(&numbered(2));
    let (account, by) = (name("p1"), name("olga"));
    let (reason, listed_by) = ("sold a match".into(), Some(by.clone()));
    bench.ok(LobbyCommand::Blacklist {
        account: account.clone(),
        reason,
        by: listed_by,
        cause: None,
    });
    bench.ok(LobbyCommand::Lift { account, by, reason: "it was a twin".into() });
    bench.ok(kick("p1", "a stolen token"));
    let all = bench.lobby.account_rulings(&name("p1")).iter();
    let kept: Vec<_> = all.map(|one| (one.kind, one.ruling.why.as_str())).collect();
    let expected = [
        (LobbyRulingKind::Blacklisted, "sold a match"),
        (LobbyRulingKind::Lifted, "it was a twin"),
        (LobbyRulingKind::LoggedOut, "a stolen token"),
    ];
    assert_eq!(kept, expected);
    assert_eq!(bench.lobby.account_rulings(&name("p2")), []);
}

#[test]
fn invitations_start_with_those_who_accepted() {
    let mut bench = Bench::with(&numbered(4));
    bench.ok(announce("t", Selection::Invitation(invite(&["p1", "p2", "p3", "p4"], 3))));
    assert_eq!(bench.no(start("t", "now")), LobbyRejection::Nobody);
    bench.all([accept("t", "p3"), accept("t", "p1"), reject("t", "p2")]);
    assert_eq!(bench.ok(start("t", "two will do")), ["start-ordered", "tournament-started"]);
    assert_eq!(bench.standing("t"), "running: p1 p3");
    assert_eq!(bench.lobby.invited_to(&name("p4")).count(), 0);
    assert_eq!(bench.no(pull("t", "p1", "ill")), LobbyRejection::NotOpen("t".into()));
}

#[test]
fn cancelled_invitation_holds_up_nobody() {
    let mut bench = Bench::with(&numbered(3));
    bench.ok(announce("t", Selection::Invitation(invite(&["p1", "p2", "p3"], 2))));
    assert_eq!(bench.no(pull("t", "p9", "who?")), LobbyRejection::NotInvited(name("p9")));
    bench.all([accept("t", "p1"), accept("t", "p2")]);
    assert_eq!(bench.ok(pull("t", "p3", "ill")), ["withdrawal-ordered", "readiness-asked"]);
    assert_eq!(bench.no(pull("t", "p3", "still")), LobbyRejection::NotInvited(name("p3")));
    bench.ok(ready("t", "p2"));
    let tags = bench.ok(pull("t", "p1", "ill as well"));
    assert_eq!(tags, ["withdrawal-ordered", "tournament-called-off"], "too few are left");
}
