//! Whole tournaments over TCP: an engine on a real SQLite log, real sockets, players that think
//! like house players.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use agon_core::TournamentId;
use support::{Server, announcement, player, until};

#[test]
fn four_players_play_a_cup_and_the_log_is_right() {
    let server = Server::start();
    let players: Vec<_> =
        ["ann", "bob", "cat", "dan"].iter().map(|name| player(&server, name, "greedy")).collect();
    until("everybody is in line", || server.line().len() == 4);
    server.announce(announcement("cup", "yahtzee-class", 3, 4));
    until("the cup is over", || server.finished("cup").is_some());
    let winners = server.finished("cup").unwrap();
    assert_eq!(winners.len(), 1);
    let results = server.past_results("cup");
    assert_eq!(results.status, "ended");
    assert_eq!(results.standings.len(), 4);
    assert!(results.standings.iter().all(|summary| summary.faults.is_empty()), "{results:?}");
    assert_eq!(server.line().len(), 4, "whoever played is back in line");
    drop(players);
    server.verify();
}

#[test]
fn house_players_and_remote_ones_meet() {
    let server = Server::start();
    let ann = player(&server, "ann", "random");
    until("ann is in line", || server.line().len() == 1);
    let mut cup = announcement("mixed", "fish", 1, 0);
    let names = ["ann", "house:greedy", "house:random"];
    cup.selection = support::named(&names);
    server.announce(cup);
    until("it is over", || server.finished("mixed").is_some());
    let results = server.past_results("mixed");
    assert!(results.failing.is_empty() && results.cheating.is_empty(), "{results:?}");
    drop(ann);
    server.verify();
}

#[test]
fn a_player_that_loses_its_connection_finds_its_request_waiting() {
    let server = Server::start();
    let bob = player(&server, "bob", "greedy");
    // ann answers three requests, then drops the connection, again and again.
    let ann = support::flaky_player(&server, "ann", "greedy", 3);
    until("both are in line", || server.line().len() == 2);
    server.announce(announcement("queue", "yahtzee-queue", 1, 2));
    until("it is over", || server.finished("queue").is_some());
    let results = server.past_results("queue");
    let summary = |name: &str| {
        results.standings.iter().find(|summary| summary.player.as_str() == name).unwrap()
    };
    // Under `resume` a lapse costs nothing, up to the bound of lapses.
    assert!(summary("ann").faults.len() >= 3, "{results:?}");
    assert!(summary("bob").faults.is_empty(), "{results:?}");
    drop((ann, bob));
    server.verify();
}

#[test]
fn a_server_that_is_started_again_goes_on_where_it_stood() {
    let mut server = Server::start();
    let mut players: Vec<_> =
        ["ann", "bob", "cat", "dan"].iter().map(|name| player(&server, name, "greedy")).collect();
    until("everybody is in line", || server.line().len() == 4);
    server.announce(announcement("cup", "yahtzee-queue", 5, 4));
    for _ in 0..5 {
        until("some decisions", || server.decisions() > 40 || server.finished("cup").is_some());
        server = server.started_again();
        players = ["ann", "bob", "cat", "dan"]
            .iter()
            .map(|name| player(&server, name, "greedy"))
            .collect();
    }
    until("the cup is over", || server.finished("cup").is_some());
    let results = server.past_results("cup");
    assert_eq!(results.status, "ended");
    drop(players);
    server.verify();
}

#[test]
fn an_hour_without_a_server_counts_against_nobody() {
    for preset in ["yahtzee-queue", "yahtzee-class"] {
        let server = Server::start();
        // Both have accounts, and are away when their match is drawn up.
        for name in ["ann", "bob"] {
            drop(player(&server, name, "greedy"));
        }
        let mut duel = announcement("duel", preset, 3, 0);
        duel.selection = support::named(&["ann", "bob"]);
        server.announce(duel);
        until("the match is drawn up", || server.log_text().contains("match-created"));
        let server = server.started_much_later();
        let players = ["ann", "bob"].map(|name| player(&server, name, "greedy"));
        until("the duel is over", || server.finished("duel").is_some());
        let results = server.past_results("duel");
        assert!(results.standings.iter().all(|summary| summary.faults.is_empty()), "{results:?}");
        drop(players);
        server.verify();
    }
}

#[test]
fn player_disconnected_before_a_restart_can_still_reconnect() {
    let server = Server::start();
    let bob = player(&server, "bob", "random");
    let ann = player(&server, "ann", "random");
    until("both are in line", || server.line().len() == 2);
    // Long enough that it cannot end before ann is dropped.
    server.announce(announcement("duel", "yahtzee-queue", 25, 2));
    until("some decisions", || server.decisions() > 20);
    drop(ann);
    until("ann is missed", || server.log_text().contains("player-left"));
    let server = server.started_much_later();
    drop(bob);
    let players = ["ann", "bob"].map(|name| player(&server, name, "random"));
    until("the duel is over", || server.finished("duel").is_some());
    let results = server.past_results("duel");
    for summary in &results.standings {
        let own = usize::from(summary.player.as_str() == "ann");
        assert_eq!(summary.faults.len(), own, "{results:?}");
    }
    drop(players);
    server.verify();
}

#[test]
fn wrong_passwords_tokens_and_strangers_are_turned_away() {
    let server = Server::start();
    let mut ann = server.connect();
    ann.say(r#"{"type":"login","account":"ann","password":"secret word"}"#);
    ann.expect("error", "say hello first");
    ann.say(r#"{"type":"hello","protocol":1,"name":"t"}"#);
    ann.say(r#"{"type":"login","account":"ann","password":"secret word"}"#);
    ann.expect("error", "no such account");
    ann.say(r#"{"type":"enqueue","queue":"yahtzee-queue"}"#);
    ann.expect("error", "log in first");
    ann.say(r#"{"type":"login","account":"ann","password":"secret word","register":true}"#);
    let welcome = ann.expect("welcome", "ann");
    ann.say(r#"{"type":"enqueue","queue":"yahtzee-queue"}"#);
    ann.expect("done", "enqueue");
    ann.say(r#"{"type":"enqueue","queue":"no queue"}"#);
    ann.expect("error", "names no queue");
    let token = welcome["token"].as_str().unwrap().to_owned();
    let mut again = server.connect();
    again.say(r#"{"type":"hello","protocol":1,"name":"t"}"#);
    again.say(&format!(r#"{{"type":"login","token":"{}"}}"#, "0".repeat(64)));
    again.expect("error", "token is not good");
    again.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
    let welcome = again.expect("welcome", "ann");
    assert_eq!(welcome["waiting"], 1);
    ann.expect("error", "another connection");
    again.say("garbage");
    again.expect("error", "not JSON");
    again.say(r#"{"type":"ping"}"#);
    again.expect("pong", "");
    again.say(r#"{"type":"answer","id":"cup:r1m1.1.0.0","answer":1}"#);
    again.expect("error", "late");
    again.say(r#"{"type":"change-password","old":"wrong","new":"another word"}"#);
    again.expect("error", "another password");
    again.say(r#"{"type":"change-password","old":"secret word","new":"better word"}"#);
    again.expect("done", "change-password");
    again.say(r#"{"type":"logout"}"#);
    again.expect("done", "logout");
    until("nobody is in line", || server.line().is_empty());
    let text = server.log_text();
    assert!(!text.contains("secret word") && !text.contains(&token), "no password, no token");
    assert!(server.tournament_is_unknown(&TournamentId::from("cup")));
}
