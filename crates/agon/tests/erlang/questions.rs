//! Questions that need no account: the state of tournaments, and players' statistics.

use crate::vm::Host;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Asks the HTTP interface for something, and fails if it does not do it.
pub(crate) fn post(http: &str, token: &str, path: &str, body: &str) {
    let answer = send(http, "POST", token, path, body);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

/// A request to the HTTP interface, and what comes back.
pub(crate) fn send(http: &str, method: &str, token: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(http).expect("the server is there");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {http}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn questions_are_answered_before_during_and_after() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    // It plays on when it is told to, and is asked about meanwhile.
    vm.log_in("bob", "referee", "{boxes,last},{mute_at,5}");
    vm.say("{user_info,\"ann\"}");
    assert_eq!(vm.hear("{user_status,"), "{user_status,{\"ann\",0,0,0,0}}");
    vm.say("{stats,\"bob\"}");
    let stats = vm.hear("{stats,");
    assert!(stats.contains("{matches_won,0}") && stats.contains("{tournaments_played,0}"));
    vm.say("{request,2,1}");
    vm.hear("{tournament_started,");
    vm.say("{info}");
    let status = vm.hear("{tournament_status,");
    assert_eq!(status, "{tournament_status,true,in_progress,undefined}");
    vm.say("{user_info,\"ann\"}");
    assert_eq!(vm.hear("{user_status,"), "{user_status,{\"ann\",0,0,1,0}}");
    vm.say("{queue_stats,\"bob\"}");
    assert!(vm.hear("{queue_stats,\"bob\"").contains("{tournaments_played,1}"));
    // Over the API, each seat is on its wire.
    let http = host.server.said["http"].as_str().expect("an address");
    let seen = send(http, "GET", "", "/api/v1/tournaments/class-1/matches/r1m1", "");
    assert!(seen.contains(r#""wires":{"ann":"erlang","bob":"erlang"}"#), "{seen}");
    // The match is lost by who says nothing and goes.
    vm.say("{kill,\"bob\"}");
    vm.log_in("bob", "referee", "{boxes,last}");
    vm.hear("{end_tournament,\"ann\"}");
    host.wait_until_over("class-1");
    let winner = host.winner("class-1").expect("somebody wins");
    vm.say("{info}");
    let status = vm.hear("{tournament_status,");
    assert_eq!(status, format!("{{tournament_status,true,complete,{winner:?}}}"));
    let (mine, others) =
        if winner == "ann" { ("1,0,1,1", "0,1,1,0") } else { ("0,1,1,0", "1,0,1,1") };
    vm.say("{user_info,\"ann\"}");
    assert_eq!(vm.hear("{user_status,"), format!("{{user_status,{{\"ann\",{mine}}}}}"));
    vm.say("{user_info,\"bob\"}");
    assert_eq!(vm.hear("{user_status,"), format!("{{user_status,{{\"bob\",{others}}}}}"));
    vm.say("{stats,\"bob\"}");
    assert!(vm.hear("{stats,").contains("{games_forfeited,1}"));
    host.verify();
}

#[test]
fn senseless_message_is_not_answered() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "class", "{boxes,last}");
    for nonsense in [
        "{info,make_ref}",
        "{request,2,2}",
        "{request,2,0}",
        "{request,0,1}",
        "{request,-4,-3}",
        "{user_info,\"nobody\"}",
        "{raw,yahtzee_manager,{request_tournament,1,2}}",
        "{raw,yahtzee_manager,hello}",
        "{raw,yahtzee_manager,{play_action,x,y,z}}",
        "{raw,main_manager,{[],[],[]}}",
        "{raw,nobody,hello}",
    ] {
        vm.say(nonsense);
    }
    vm.say("{user_info,\"ann\"}");
    assert_eq!(vm.hear("{user_status,"), "{user_status,{\"ann\",0,0,0,0}}");
    let rest: Vec<String> = vm.rest().into_iter().filter(|line| !line.contains("bob")).collect();
    assert_eq!(rest, Vec::<String>::new());
    assert!(host.place.events("tournament/").is_empty());
}
