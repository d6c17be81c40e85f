//! Honest players of the queue protocol in several tournaments at once. They play as the document's
//! own programs do: they keep a card for each game, and end turns without naming the game.

use crate::support::until;
use crate::vm::{Host, Vm};

/// Starts `cups` tournaments of everybody at once, and waits until all are over.
fn play(host: &Host, vm: &mut Vm, cups: usize, users: &[(&str, &str)]) {
    for (user, options) in users {
        let comma = if options.is_empty() { "" } else { "," };
        vm.log_in(user, "queue", &format!("{{places,{cups}}}{comma}{options}"));
    }
    until("all wait", || {
        let lobby = host.place.events("lobby");
        let waits = lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count();
        waits == cups * users.len()
    });
    for _ in 0..cups {
        vm.say(&format!("{{waiting,{}}}", users.len()));
    }
    for number in 1..=cups {
        host.wait_until_over(&format!("queue-{number}"));
    }
    let lobby = host.place.events("lobby");
    let at = |kind: &str| {
        let mut places = lobby.iter().enumerate().filter(|(_, (_, event))| event["type"] == kind);
        places.next().expect(kind).0
    };
    let started = |(_, event): &&(String, serde_json::Value)| event["type"] == "tournament-started";
    let before = lobby[..at("tournament-finished")].iter().filter(started).count();
    assert!(before > 1, "they ran at the same time");
    assert!(lobby.iter().all(|(_, event)| event["type"] != "account-blacklisted"));
}

#[test]
fn two_tournaments_at_once_convict_nobody() {
    let host = Host::start();
    let mut vm = host.vm("one");
    play(&host, &mut vm, 2, &[("ann", ""), ("bob", "{boxes,last}")]);
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn four_tournaments_at_once_convict_nobody_whatever_the_order_of_answers() {
    let host = Host::with("answer_ms = 100000\nwait_ms = 100000\nqueue_games = 3");
    let mut vm = host.vm("one");
    let users = [("ann", "{order,reverse}"), ("bob", "{boxes,last}"), ("cat", "{order,reverse}")];
    play(&host, &mut vm, 4, &users);
    vm.hear("{several,");
    assert_eq!(host.place.faults(), Vec::<String>::new());
    let games = host.count("queue-1", "game-started");
    assert!(games >= 4, "two matches of up to three games: {games}");
    host.verify();
}

#[test]
fn players_who_finish_a_turn_before_the_next_are_not_convicted() {
    let host = Host::start();
    let mut vm = host.vm("one");
    let users = [("ann", "{sequential,true}"), ("bob", "{boxes,last},{sequential,true}")];
    play(&host, &mut vm, 3, &users);
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn late_answers_in_three_tournaments_convict_nobody() {
    let host = Host::with("answer_ms = 500\nwait_ms = 100000");
    let mut vm = host.vm("one");
    let late = "{late_at,4,1500},{late_at,9,1200},{order,reverse}";
    play(&host, &mut vm, 3, &[("ann", late), ("bob", "{boxes,last}")]);
    vm.hear("{late,\"ann\"}");
    let codes = host.codes();
    assert!(!codes.is_empty() && codes.iter().all(|code| code == "timeout"), "{codes:?}");
    host.verify();
}
