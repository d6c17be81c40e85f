//! Limits of the HTTP interface: slow bodies, observers, and whom they do not hold up.

use crate::support::{Server, Setup, announcement, player, until};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// A connection to the HTTP interface from another address of this machine.
fn connect_from(server: &Server, last: u8) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let from = SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0));
    socket.bind(&from.into()).unwrap();
    socket.connect(&server.http_address().into()).unwrap();
    let socket = TcpStream::from(socket);
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket
}

/// The head of a request whose body never comes.
fn slow_post(server: &Server, last: u8, token: Option<&str>) -> TcpStream {
    let mut socket = connect_from(server, last);
    let token = token.map_or(String::new(), |token| format!("authorization: Bearer {token}\r\n"));
    let head = format!(
        "POST /api/v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         {token}content-length: 40\r\n\r\n{{"
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket
}

/// The first bytes of the reply.
fn first_line(socket: &mut TcpStream) -> String {
    let mut bytes = [0; 4_096];
    let count = socket.read(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

#[test]
fn slow_bodies_of_one_address_hold_nobody_up() {
    let mut setup = Setup::default();
    setup.limits.http_bodies_per_address_max = 10;
    setup.limits.http_body_ms_max = 60_000;
    let server = Server::with(setup);
    server.register_operator("olga", "the pw of olga");
    let body = r#"{"account":"olga","password":"the pw of olga"}"#;
    let token = server.http("POST", "/api/v1/sessions", None, body).expect(201).json();
    let token = token["token"].as_str().unwrap().to_owned();
    let mut slow: Vec<TcpStream> = (0..300).map(|_| slow_post(&server, 2, None)).collect();
    // All but ten are told to come back later.
    let mut refused = 0;
    slow.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
    until("all but ten are refused", || {
        let mut bytes = [0; 4_096];
        slow.retain_mut(|socket| match socket.read(&mut bytes) {
            Ok(count) => {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                assert!(text.starts_with("HTTP/1.1 429 "), "{text}");
                assert!(text.contains("retry-after: 1\r\n"), "{text}");
                assert!(text.contains("urn:agon:problem:slow-down"), "{text}");
                refused += 1;
                false
            }
            Err(_) => true,
        });
        refused == 290
    });
    server.http("GET", "/healthz", None, "").expect(200);
    // Others, and operators at the same address, send theirs.
    server.http("POST", "/api/v1/sessions", None, body).expect(201);
    let mut operator = slow_post(&server, 2, Some(&token));
    operator.write_all(&[b' '; 39]).unwrap();
    let answer = first_line(&mut operator);
    assert!(answer.starts_with("HTTP/1.1 400 "), "its body is read: {answer}");
}

#[test]
fn a_body_that_does_not_come_is_given_up() {
    let mut setup = Setup::default();
    setup.limits.http_body_ms_max = 50;
    let server = Server::with(setup);
    let answer = first_line(&mut slow_post(&server, 1, None));
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn one_address_has_so_many_observers() {
    let mut setup = Setup::default();
    setup.limits.watchers_per_address_max = 3;
    let server = Server::with(setup);
    let watch = |last: u8| {
        let mut socket = connect_from(&server, last);
        let head = "GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n";
        socket.write_all(head.as_bytes()).unwrap();
        let answer = first_line(&mut socket);
        (socket, answer)
    };
    let three: Vec<_> = (0..3).map(|_| watch(2)).collect();
    assert!(three.iter().all(|(_, answer)| answer.starts_with("HTTP/1.1 200 ")), "{three:?}");
    let (_, answer) = watch(2);
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("retry-after"), "{answer}");
    assert!(watch(3).1.starts_with("HTTP/1.1 200 "), "others watch");
    drop(three);
    until("there is room again", || watch(2).1.starts_with("HTTP/1.1 200 "));
}

#[test]
fn answers_that_wait_for_our_threads_are_in_time() {
    let server = Server::start();
    let mut cup = announcement("cup", "yahtzee-class", 3, 2);
    cup.policy.rules.time.answer_ms = 500;
    let _players = ["ann", "bob"].map(|name| player(&server, name, "greedy"));
    until("both are here", || server.line().len() == 2);
    server.announce(cup);
    until("they play", || server.decisions() > 10);
    for _ in 0..3 {
        // Longer than an answer may take, while answers come in that nobody can read.
        server.stall(Duration::from_millis(1_500));
        let before = server.decisions();
        until("they go on, or are done", || {
            server.decisions() > before || server.finished("cup").is_some()
        });
    }
    until("it is over", || server.finished("cup").is_some());
    let text = server.log_text();
    assert!(!text.contains("\"timeout\""), "nobody is late: {text}");
}
