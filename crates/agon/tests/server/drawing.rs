//! The players that a tournament selects: connected ones, and in which order.

use crate::support::{Client, Place, Server, until};
use crate::wire::{http, page};
use serde_json::{Value, json};

fn read(server: &Server, path: &str) -> Value {
    serde_json::from_str(&page(server, &format!("/api/v1{path}"))).expect("JSON")
}

fn operator(server: &Server) -> String {
    server.said["operator"]["token"].as_str().expect("a first token").to_owned()
}

/// Announces a Yahtzee tournament of two from the line; who plays in it.
fn draw(server: &Server, token: &str, id: &str) -> Value {
    let cup =
        json!({"id": id, "preset": "yahtzee-class", "selection": {"by": "line", "at_most": 2}});
    let (status, said) = http(server, token, "POST", "/api/v1/tournaments", &cup);
    assert_eq!(status, 201, "{said}");
    read(server, &format!("/tournaments/{id}"))["plan"]["players"].clone()
}

#[test]
fn lost_player_is_passed_over_and_keeps_the_place_in_line() {
    let place = Place::new("reconnect_ms = 600000\n");
    let server = Server::start(&place);
    let token = operator(&server);
    let ann = Client::logged_in(&server.address, "ann");
    let _others = ["bob", "cat"].map(|name| Client::logged_in(&server.address, name));
    drop(ann);
    until("ann is not connected", || read(&server, "/accounts/ann")["wire"].is_null());
    assert_eq!(draw(&server, &token, "one"), json!(["bob", "cat"]));
    let _ann = Client::logged_in(&server.address, "ann");
    assert_eq!(draw(&server, &token, "two"), json!(["ann", "bob"]));
    drop(server);
    place.verify();
}

#[test]
fn tournament_asked_for_right_after_a_restart_is_held_with_players_who_are_about_to_come_back() {
    let place = Place::new("reconnect_ms = 600000\n");
    let server = Server::start(&place);
    let (token, address) = (operator(&server), server.address.clone());
    let _before = ["ann", "bob", "cat"].map(|name| Client::logged_in(&address, name));
    drop(server);
    let server = Server::start_again(&place, &address);
    assert_eq!(draw(&server, &token, "one"), json!(["ann", "bob"]), "nobody is connected yet");
    // Connected players go first as soon as there are enough of them.
    let _back = ["bob", "ann"].map(|name| Client::logged_in(&address, name));
    assert_eq!(draw(&server, &token, "two"), json!(["ann", "bob"]), "cat is not back");
    drop(server);
    place.verify();
}

#[test]
fn ages_decide_who_plays_first() {
    for (preset, due) in
        [("fish", ["dan", "bob", "cat", "ann"]), ("trains", ["ann", "bob", "cat", "dan"])]
    {
        let place = Place::new("");
        let server = Server::start(&place);
        let token = operator(&server);
        let cup = json!({"id": "cup", "preset": preset, "selection": {"by": "sign-up",
            "at_least": 4, "at_most": 4, "wait_ms": 600_000, "second_wait_ms": 0,
            "second_at_least": 4}});
        assert_eq!(http(&server, &token, "POST", "/api/v1/tournaments", &cup).0, 201);
        let mut ann = Client::logged_in(&server.address, "ann");
        ann.say(r#"{"type":"sign-up","tournament":"cup","age":61}"#);
        assert_eq!(ann.hear_until("done")["what"], "sign-up");
        let mut bob = Client::logged_in(&server.address, "bob");
        bob.say(r#"{"type":"sign-up","tournament":"cup"}"#);
        assert_eq!(bob.hear_until("done")["what"], "sign-up");
        let mut cat = Client::connect(&server.address);
        cat.log_in("cat", "swordfish");
        let welcome = cat.hear_until("welcome");
        let path = "/api/v1/tournaments/cup/signups";
        let own = welcome["token"].as_str().expect("a token");
        assert_eq!(http(&server, own, "POST", path, &json!({"age": "old"})).0, 422);
        assert_eq!(http(&server, own, "POST", path, &json!({"age": 16})).0, 201);
        let plays = ["--bot", "house:greedy", "--sign-up", "cup", "--age", "7"];
        let _dan = place.player(&server.address, "dan", &plays);
        until("it has started", || read(&server, "/tournaments/cup")["standing"] == "running");
        assert_eq!(read(&server, "/tournaments/cup")["plan"]["players"], json!(due));
        drop(server);
        place.verify();
    }
}
