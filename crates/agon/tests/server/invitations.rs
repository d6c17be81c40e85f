//! Invitations and their answers outlive a server that is killed, and the result finds its asker.

use crate::support::{Client, Place, Server, until};

/// The next notice about this.
fn notice(client: &mut Client, about: &str) -> serde_json::Value {
    loop {
        let notice = client.hear_until("notice");
        if notice["about"] == about {
            return notice["data"].clone();
        }
    }
}

fn operator(server: &Server, token: &str) -> Client {
    let mut operator = Client::connect(&server.address);
    operator.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    operator.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
    operator.hear_until("welcome");
    operator
}

#[test]
fn a_server_is_killed_while_invitations_are_open() {
    let place = Place::new("");
    let server = Server::start(&place);
    let address = server.address.clone();
    let token = server.said["operator"]["token"].as_str().expect("a first token").to_owned();
    let mut asker = operator(&server, &token);
    let mut ann = Client::logged_in(&address, "ann");
    drop(Client::logged_in(&address, "bob"));
    drop(Client::logged_in(&address, "cat"));
    asker.say(
        r#"{"type":"announce","tournament":{"id":"cup","preset":"yahtzee-class","selection":
            {"by":"invitation","players":["ann","bob","cat"],"at_least":2,"wait_ms":600000,
            "ready_ms":600000}}}"#
            .replace('\n', " ")
            .as_str(),
    );
    assert_eq!(asker.hear_until("done")["tournament"], "cup");
    notice(&mut ann, "invitation");
    ann.say(r#"{"type":"accept","tournament":"cup"}"#);
    ann.hear_until("done");
    // Killed, with one answer given and two awaited.
    drop(server);
    let server = Server::start_again(&place, &address);
    let mut ann = Client::logged_in(&address, "ann");
    assert_eq!(notice(&mut ann, "invitation")["reply"], "accepted");
    let mut bob = Client::logged_in(&address, "bob");
    assert_eq!(notice(&mut bob, "invitation")["reply"], "open");
    for (player, answer) in [("cat", "reject"), ("bob", "accept")] {
        let mut client = Client::logged_in(&address, player);
        client.say(&format!(r#"{{"type":"{answer}","tournament":"cup"}}"#));
        assert_eq!(client.hear_until("done")["what"], answer);
    }
    notice(&mut ann, "ready-asked");
    // Killed again, while they are asked to be ready.
    drop(server);
    let server = Server::start_again(&place, &address);
    let mut ann = Client::logged_in(&address, "ann");
    notice(&mut ann, "ready-asked");
    // `agon join` accepts, says that it is ready, and plays.
    let mut players =
        ["ann", "bob"].map(|name| place.player(&server.address, name, &["--bot", "house:greedy"]));
    until("the cup is over", || place.is_over("cup"));
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    // The organiser was disconnected; they get the result when they reconnect, and only once.
    let mut asker = operator(&server, &token);
    let result = notice(&mut asker, "tournament-result");
    assert_eq!(result["status"], "ended");
    assert_eq!(result["standings"].as_array().map(Vec::len), Some(2), "{result}");
    let delivered = |place: &Place| {
        let lobby = place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "result-delivered").count()
    };
    until("that is noted", || delivered(&place) == 1);
    let mut asker = operator(&server, &token);
    asker.say(r#"{"type":"ping"}"#);
    assert_eq!(asker.hear().expect("an answer")["type"], "pong");
    assert_eq!(delivered(&place), 1);
    assert_eq!(place.faults(), Vec::<String>::new());
    place.verify();
}

#[test]
fn player_that_loses_an_invitation_race_plays_in_the_next_tournament() {
    let place = Place::new("");
    let server = Server::start(&place);
    let token = server.said["operator"]["token"].as_str().expect("a first token").to_owned();
    let mut asker = operator(&server, &token);
    let names = ["ann", "bob", "cat"];
    let mut players =
        names.map(|name| place.player(&server.address, name, &["--bot", "house:greedy"]));
    let logged_in = || {
        let lobby = place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "account-logged-in").count()
    };
    until("all are here", || logged_in() >= 4);
    // Three accept, and two of them play.
    asker.say(
        r#"{"type":"announce","tournament":{"id":"race","preset":"yahtzee-class","selection":{"by":"invitation","players":["ann","bob","cat"],"at_least":2,"at_most":2,"wait_ms":60000,"ready_ms":0}}}"#,
    );
    assert_eq!(asker.hear_until("done")["tournament"], "race");
    until("the race is over", || place.is_over("race"));
    let lobby = place.events("lobby");
    let started = lobby.iter().find(|(_, event)| event["type"] == "tournament-started");
    let raced = started.expect("it started").1["data"]["plan"]["players"].to_string();
    let loser = names.iter().position(|name| !raced.contains(name)).expect("one lost the race");
    let next = serde_json::json!({"type": "announce", "tournament": {"id": "next",
        "preset": "yahtzee-class",
        "selection": {"by": "named", "players": [names[loser], "house:greedy"]}}});
    asker.say(&next.to_string());
    until("the next is over", || place.is_over("next"));
    for player in &mut players {
        assert_eq!(player.code(), Some(0), "nobody ended before its tournament");
    }
    assert_eq!(place.faults(), Vec::<String>::new());
    place.verify();
}
