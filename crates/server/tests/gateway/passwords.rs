//! Guesses of passwords: how many are checked, and who has to wait.

use crate::support::{Client, Server, until, welcomed};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

/// A connection from another address of this machine.
fn connect_from(server: &Server, last: u8) -> Client {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let from = SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0));
    socket.bind(&from.into()).unwrap();
    socket.connect(&server.address().into()).unwrap();
    let mut client = Client::over(TcpStream::from(socket));
    client.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    client
}

fn login(account: &str, password: &str) -> String {
    format!(r#"{{"type":"login","account":"{account}","password":"{password}"}}"#)
}

fn checks(server: &Server) -> u64 {
    let metrics = server.http("GET", "/metrics", None, "").expect(200).body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("agon_password_checks_total "));
    line.expect("a counter").parse().expect("a number")
}

#[test]
fn five_of_300_simultaneous_guesses_are_checked() {
    let server = Server::start();
    let (_ann, _) = welcomed(&server, "ann");
    let before = checks(&server);
    let mut guessers: Vec<Client> = (0..300).map(|_| connect_from(&server, 1)).collect();
    let mut others: Vec<Client> = (0..300).map(|_| connect_from(&server, 2)).collect();
    others.iter_mut().for_each(|guesser| guesser.say(&login("ann", "a wrong one")));
    let codes = others.iter_mut().map(|guesser| guesser.next()["code"].clone());
    assert_eq!(codes.filter(|code| code == "wrong-credentials").count(), 5);
    assert_eq!(checks(&server) - before, 5);
    // Where ann logged in before, she has a count of her own; it has the same bound.
    guessers.iter_mut().for_each(|guesser| guesser.say(&login("ann", "a wrong one")));
    let codes = guessers.iter_mut().map(|guesser| guesser.next()["code"].clone());
    assert_eq!(codes.filter(|code| code == "slow-down").count(), 295);
    assert_eq!(checks(&server) - before, 10);
}

#[test]
fn strangers_cannot_lock_a_player_out() {
    let server = Server::start();
    let (_ann, welcome) = welcomed(&server, "ann");
    let mut stranger = connect_from(&server, 2);
    loop {
        stranger.say(&login("ann", "a wrong one"));
        if stranger.next()["code"] == "slow-down" {
            break;
        }
    }
    let mut again = connect_from(&server, 1);
    again.say(&login("ann", "the pw of ann"));
    again.expect("welcome", "ann");
    stranger.say(&login("ann", "the pw of ann"));
    stranger.expect("error", "too many wrong passwords");
    // A token is never held up, wherever it comes from.
    let mut elsewhere = connect_from(&server, 2);
    let token = welcome["token"].as_str().unwrap();
    elsewhere.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
    elsewhere.expect("welcome", "ann");
}

#[test]
fn passwords_of_connections_that_closed_are_not_checked() {
    let server = Server::start();
    let before = checks(&server);
    for number in 0..200 {
        let mut client = connect_from(&server, 1);
        client.say(&login(&format!("nobody {number}"), "a wrong one"));
    }
    until("all are gone", || server.connections() == 0);
    let (_ann, _) = welcomed(&server, "ann");
    assert!(checks(&server) - before < 50, "{}", checks(&server) - before);
}

#[test]
fn new_passwords_are_neither_short_nor_common() {
    let server = Server::start();
    let mut ann = connect_from(&server, 1);
    let register = |password: &str| {
        let login = login("ann", password);
        login.replace('}', r#","register":true}"#)
    };
    ann.say(&register("1234567"));
    assert_eq!(ann.expect("error", "at least 8 characters")["code"], "weak-password");
    ann.say(&register("Password123"));
    assert_eq!(ann.expect("error", "most common")["code"], "weak-password");
    ann.say(&register("a good one"));
    ann.expect("welcome", "ann");
    ann.say(r#"{"type":"change-password","old":"a good one","new":"short"}"#);
    assert_eq!(ann.expect("error", "at least 8 characters")["code"], "weak-password");
    // An account that has a short password still logs in with it.
    server.register_operator("olga", "pw");
    let mut olga = connect_from(&server, 1);
    olga.say(&login("olga", "pw").replace('}', r#","register":true}"#));
    olga.expect("welcome", "olga");
}
