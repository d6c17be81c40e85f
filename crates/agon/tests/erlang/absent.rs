//! Processes that are gone when a tournament is drawn: it is held without them, and they keep their
//! places.

use crate::questions::send;
use crate::support::until;
use crate::vm::{Host, Vm};
use serde_json::{Value, json};

/// Kills a player's process, and waits until the server knows.
fn kill(host: &Host, vm: &mut Vm, user: &str) {
    vm.say(&format!("{{kill,{user:?}}}"));
    vm.hear(&format!("{{ended,{user:?}}}"));
    let http = host.server.said["http"].as_str().expect("an address");
    until(&format!("{user} is not connected"), || {
        let answer = send(http, "GET", "", &format!("/api/v1/accounts/{user}"), "");
        !answer.contains(r#""wire":"erlang""#)
    });
}

/// The players of a tournament, and those who were passed over.
fn drawn(host: &Host, tournament: &str) -> (Value, Value) {
    let lobby = host.place.events("lobby");
    let find = |kind: &str, path: &str| {
        let found = lobby.iter().find(|(_, event)| {
            event["type"] == kind && event.pointer(path) == Some(&json!(tournament))
        });
        found.unwrap_or_else(|| panic!("no {kind} of {tournament}")).1["data"].clone()
    };
    let started = find("tournament-started", "/data/plan/id");
    let announced = find("tournament-announced", "/data/announcement/id");
    (started["plan"]["players"].clone(), announced["passed_over"].clone())
}

#[test]
fn dead_process_is_passed_over_in_line_and_keeps_its_place() {
    let host = Host::with_wait(600_000, "answer_ms = 100000\nwait_ms = 100000");
    let mut vm = host.vm("one");
    vm.log_in("ann", "referee", "");
    vm.log_in("bob", "referee", "{boxes,last}");
    vm.log_in("cat", "referee", "");
    kill(&host, &mut vm, "ann");
    vm.say("{bracket,1,1}");
    vm.hear("{tournament_ended,");
    assert_eq!(drawn(&host, "referee-1"), (json!(["bob", "cat"]), json!(["ann"])));
    vm.log_in("ann", "referee", "");
    vm.say("{bracket,1,1}");
    vm.hear("{tournament_ended,");
    assert_eq!(drawn(&host, "referee-2"), (json!(["ann", "bob"]), Value::Null));
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn dead_process_is_passed_over_in_the_queue_and_stays_enqueued() {
    let host = Host::with_wait(600_000, "answer_ms = 100000\nwait_ms = 100000");
    let mut vm = host.vm("one");
    for (user, options) in [("ann", ""), ("bob", "{boxes,last}"), ("cat", "")] {
        vm.log_in(user, "queue", options);
        vm.hear(&format!("{{authenticated,{user:?},0,0}}"));
    }
    until("all are in the queue", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 3
    });
    kill(&host, &mut vm, "ann");
    vm.say("{waiting,2}");
    host.wait_until_over("queue-1");
    let (players, passed_over) = drawn(&host, "queue-1");
    let mut players: Vec<&str> =
        players.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    players.sort_unstable();
    assert_eq!((players, passed_over), (vec!["bob", "cat"], json!(["ann"])));
    vm.log_in("ann", "queue", "");
    assert_eq!(vm.hear("{authenticated,\"ann\""), "{authenticated,\"ann\",0,1}");
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn class_tournament_is_drawn_from_living_processes_before_anybody_is_asked() {
    let host = Host::with_wait(600_000, "answer_ms = 100000\nwait_ms = 100000");
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    // They accept without a word, and would be faster than any class player.
    for (user, options) in [("bob", "{boxes,last}"), ("cat", ""), ("dan", "{boxes,last}")] {
        vm.log_in(user, "referee", options);
    }
    vm.log_in("eve", "class", "");
    kill(&host, &mut vm, "eve");
    for number in 1..=4 {
        vm.say("{request,2,1}");
        vm.hear("{tournament_started,");
        let cup = format!("class-{number}");
        host.wait_until_over(&cup);
        let lobby = host.place.events("lobby");
        let announced = lobby
            .iter()
            .find(|(_, event)| event.pointer("/data/announcement/id") == Some(&json!(cup)));
        let order = announced.expect("it was announced").1["data"]["draw_order"].clone();
        assert_eq!(order.as_array().map(Vec::len), Some(4), "{order}");
        let (players, passed_over) = drawn(&host, &cup);
        assert_eq!(players, json!([order[0], order[1]]), "the first two of the draw play");
        assert_eq!(passed_over, json!(["eve"]));
    }
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn next_player_is_drawn_when_a_class_player_rejects() {
    let host = Host::start();
    let mut vm = host.vm("one");
    for user in ["ann", "bob"] {
        vm.log_in(user, "class", "{rejects,true}");
    }
    vm.log_in("cat", "class", "");
    vm.log_in("dan", "class", "{boxes,last}");
    vm.say("{request,2,1}");
    let started = vm.hear("{tournament_started,");
    assert!(started.contains("cat") && started.contains("dan"), "{started}");
    host.wait_until_over("class-1");
    host.verify();
}
