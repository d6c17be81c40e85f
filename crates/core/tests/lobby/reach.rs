//! Programs that cannot reconnect by themselves, and requests of processes without an account.

use crate::bench::{
    Bench, announce, deliver, exactly, finish, from_line, kick, log_in, log_out, name,
};
use agon_core::Raw;
use agon_core::lobby::{Lobby, LobbyCommand, LobbyRejection};

fn raw(text: &str) -> Raw {
    Raw::parse(text).unwrap()
}

fn locate(account: &str, location: Option<&str>) -> LobbyCommand {
    LobbyCommand::Locate { account: name(account), location: location.map(raw) }
}

fn note(tournament: &str, reply_to: &str) -> LobbyCommand {
    LobbyCommand::NoteRequester { tournament: tournament.into(), reply_to: raw(reply_to) }
}

fn waiting(bench: &Bench) -> Vec<String> {
    bench.lobby.requests().map(|one| format!("{} {:?}", one.tournament, one.reply_to)).collect()
}

#[test]
fn location_is_stored_until_the_account_logs_out() {
    let mut bench = Bench::with(&["ann", "bob"]);
    let at = r#"{"node":"x@y"}"#;
    assert_eq!(bench.ok(locate("ann", Some(at))), ["player-located"]);
    assert_eq!(bench.ok(locate("ann", Some(at))), [""; 0], "nothing is new");
    assert_eq!(bench.lobby.location(&name("ann")), Some(&raw(at)));
    assert_eq!(bench.lobby.locations().count(), 1);
    let text = bench.lobby.snapshot();
    assert_eq!(Lobby::from_snapshot(&text).unwrap(), bench.lobby);
    bench.ok(log_out("ann"));
    assert_eq!(bench.lobby.location(&name("ann")), None);
    bench.ok(log_in("ann"));
    bench.ok(locate("ann", Some(at)));
    assert_eq!(bench.ok(locate("ann", None)), ["player-located"], "it came over another wire");
    assert_eq!(bench.lobby.location(&name("ann")), None);
    bench.ok(locate("bob", Some(at)));
    bench.ok(kick("bob", "a test"));
    assert_eq!(bench.lobby.location(&name("bob")), None);
    assert!(matches!(bench.no(locate("eve", Some(at))), LobbyRejection::Unknown(_)));
    let long = format!("{:?}", "x".repeat(Lobby::LOCATION_BYTES_MAX));
    assert_eq!(bench.no(locate("ann", Some(&long))), LobbyRejection::LongLocation);
}

#[test]
fn a_request_is_kept_until_it_is_answered() {
    let mut bench = Bench::with(&["ann", "bob"]);
    assert!(matches!(bench.no(note("t1", "1")), LobbyRejection::NotOpen(_)));
    bench.ok(announce("t1", from_line(2)));
    bench.ok(announce("t2", exactly(&["ann", "bob"])));
    assert_eq!(bench.ok(note("t1", r#"{"pid":1}"#)), ["requester-noted"]);
    bench.ok(note("t2", r#"{"pid":2}"#));
    assert_eq!(waiting(&bench), [r#"t1 {"pid":1}"#, r#"t2 {"pid":2}"#]);
    let text = bench.lobby.snapshot();
    assert_eq!(Lobby::from_snapshot(&text).unwrap(), bench.lobby);
    assert_eq!(bench.ok(deliver("t2")), ["result-delivered"], "before its end as well");
    bench.ok(finish("t1", &["ann"]));
    assert_eq!(waiting(&bench), [r#"t1 {"pid":1}"#]);
    bench.ok(deliver("t1"));
    assert_eq!(waiting(&bench), [""; 0]);
}

#[test]
fn requests_are_bounded_in_number_and_time() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(announce("t", exactly(&["ann", "bob"])));
    bench.ok(note("t", "0"));
    bench.now += Lobby::REQUEST_MS_MAX;
    for number in 0..3 {
        let id = format!("t{number}");
        bench.ok(announce(&id, exactly(&["ann", "bob"])));
        bench.ok(note(&id, "1"));
    }
    assert_eq!(waiting(&bench), ["t0 1", "t1 1", "t2 1"], "the first one is too old");
}
