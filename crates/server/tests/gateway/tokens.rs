//! Coming back with a token, and coming twice.

use crate::support::{Client, Server, Setup, announcement, named, until};
use agon_server::SecondLogin;

fn log_in_with(client: &mut Client, token: &str) {
    client.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    client.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
}

fn refused(server: &Server, token: &str) {
    let mut client = server.connect();
    log_in_with(&mut client, token);
    assert_eq!(client.expect("error", "token is not good")["code"], "wrong-credentials");
    let mut socket = server.connect_websocket();
    socket.log_in_with(token);
    assert_eq!(socket.expect("error", "token is not good")["code"], "wrong-credentials");
}

#[test]
fn tokens_that_are_not_good_are_refused_on_either_transport() {
    let server = Server::start();
    let token = server.connect_websocket().log_in("ann")["token"].as_str().unwrap().to_owned();
    refused(&server, &"0".repeat(64));
    refused(&server, "");
    refused(&server, &token.to_uppercase());
    let mut ann = server.connect();
    log_in_with(&mut ann, &token);
    ann.expect("welcome", "ann");
    server.http("DELETE", "/api/v1/sessions", Some(&token), "").expect(204);
    refused(&server, &token);
    // A connected player stays connected.
    ann.say(r#"{"type":"ping"}"#);
    ann.expect("pong", "");
}

#[test]
fn tokens_that_have_expired_are_refused() {
    let server = Server::with_tokens_for(0);
    let token = server.connect_websocket().log_in("ann")["token"].as_str().unwrap().to_owned();
    refused(&server, &token);
}

#[test]
fn where_the_first_connection_keeps_the_account_the_second_is_refused() {
    let mut setup = Setup::default();
    setup.settings.second_login = SecondLogin::Refuse;
    let server = Server::with(setup);
    let mut first = server.connect_websocket();
    let token = first.log_in("ann")["token"].as_str().unwrap().to_owned();
    let mut second = server.connect();
    log_in_with(&mut second, &token);
    assert_eq!(second.expect("error", "")["code"], "logged-in-elsewhere");
    let login = r#"{"type":"login","account":"ann","password":"the pw of ann"}"#;
    second.say(login);
    assert_eq!(second.expect("error", "")["code"], "logged-in-elsewhere");
    first.say(r#"{"type":"ping"}"#);
    first.expect("pong", "");
    drop(first);
    until("ann may come back", || {
        second.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
        second.hear().expect("an answer")["type"] == "welcome"
    });
}

#[test]
fn notices_say_what_they_are_about() {
    let server = Server::start();
    let mut ann = server.connect_websocket();
    ann.log_in("ann");
    let mut cup = announcement("cup", "fish", 1, 0);
    cup.selection = named(&["ann", "house:greedy"]);
    server.announce(cup);
    loop {
        let notice = ann.expect("notice", "");
        if notice["about"] == "told" {
            assert_eq!((&notice["tournament"], &notice["match"]), (&"cup".into(), &"r1m1".into()));
            assert_eq!(notice["data"]["ask"], "playing-as");
            return;
        }
    }
}
