//! The server is killed and started again: players whose programs never log in twice play on,
//! nobody is charged, and whoever asked for a tournament is told of it.

use crate::support::until;
use crate::vm::{Host, Vm};

/// Waits until a tournament has played so much.
fn played(host: &Host, tournament: &str, answers: usize) {
    until(&format!("{tournament} has {answers} answers"), || {
        host.count(tournament, "answer-accepted") >= answers
    });
}

/// How often a player was told that it is logged in, or that a tournament starts.
fn heard(vm: &mut Vm, begin: &str) -> usize {
    let lines = vm.rest();
    lines.iter().filter(|line| line.starts_with(begin)).count()
}

#[test]
fn class_players_that_never_log_in_twice_play_on_after_a_crash() {
    let mut host = Host::with_wait(20_000, "answer_ms = 100000\nwait_ms = 100000");
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "tupled", "{boxes,last}");
    vm.log_in("cat", "no_user", "");
    vm.log_in("dan", "class", "{plays,other},{boxes,last}");
    vm.say("{request,4,7}");
    vm.hear("{tournament_started,");
    for answers in [100, 300] {
        played(&host, "class-1", answers);
        assert!(!host.place.is_over("class-1"), "play longer matches");
        host.restart();
    }
    for user in ["ann", "bob", "cat", "dan"] {
        vm.hear(&format!("{{end_tournament,{user:?}}}"));
    }
    host.wait_until_over("class-1");
    assert!(host.winner("class-1").is_some());
    assert_eq!(host.place.faults(), Vec::<String>::new());
    let lobby = host.place.events("lobby");
    let logins = lobby.iter().filter(|(_, event)| event["type"] == "account-logged-in");
    assert_eq!(logins.count(), 4, "nobody logged in twice");
    assert_eq!(heard(&mut vm, "{player_heard,"), 0, "nothing unexpected was said");
    // Tickets and references of before are good: the next tournament starts by the same words.
    vm.say("{info}");
    assert!(vm.hear("{tournament_status,").starts_with("{tournament_status,true,complete,"));
    vm.say("{request,4,1}");
    vm.hear("{tournament_started,");
    host.wait_until_over("class-2");
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn referee_and_queue_players_play_on_after_a_crash() {
    let mut host = Host::with_wait(20_000, "answer_ms = 100000\nwait_ms = 100000");
    let mut vm = host.vm("one");
    vm.log_in("ann", "referee", "");
    vm.log_in("bob", "queue", "{boxes,last}");
    vm.say("{bracket,1,9}");
    played(&host, "referee-1", 50);
    host.restart();
    // The server notifies the requester, although another run of the server took the request.
    let ended = vm.hear("{tournament_ended,");
    let winner = host.winner("referee-1").expect("a winner");
    assert_eq!(ended, format!("{{tournament_ended,{winner:?}}}"));
    assert_eq!(host.place.faults(), Vec::<String>::new());
    until("the answer is in the log", || {
        let lobby = host.place.events("lobby");
        lobby.iter().any(|(_, event)| event["type"] == "result-delivered")
    });
    // A wrong password is not good because the right one was forgotten.
    vm.say("{raw,tournament_manager,{\"bob\",\"\",dequeueMe}}");
    assert_eq!(vm.hear("{heard,"), "{heard,{not_authenticated}}");
    host.verify();
}

#[test]
fn processes_that_cannot_be_reached_are_not_charged_and_the_tournament_is_interrupted() {
    let mut host = Host::with_wait(1_500, "answer_ms = 100000\nwait_ms = 100");
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "class", "");
    two.log_in("bob", "class", "{boxes,last}");
    one.log_in("cat", "class", "{boxes,last}");
    one.log_in("dan", "class", "");
    one.say("{request,4,9}");
    one.hear("{tournament_started,");
    played(&host, "class-1", 100);
    host.kill();
    // One machine goes while the server is down, and one process on the other.
    two.kill();
    one.say("{kill,\"cat\"}");
    one.hear("{ended,\"cat\"}");
    host.start_again();
    let interrupted = || {
        let events = host.place.events("tournament/class-1");
        let one = events.iter().find(|(_, event)| event["type"] == "tournament-interrupted");
        // In the order in which they were drawn.
        let missing = one.map(|(_, event)| event["data"]["missing"].as_array().cloned());
        missing.flatten().map(|names| {
            let names = names.iter().map(|name| name.as_str().unwrap_or_default().to_owned());
            names.collect::<std::collections::BTreeSet<String>>()
        })
    };
    until("it is interrupted", || interrupted().is_some());
    assert_eq!(interrupted(), Some(["bob", "cat"].map(String::from).into()));
    assert_eq!(host.place.faults(), Vec::<String>::new());
    let http = host.server.said["http"].as_str().expect("an address").to_owned();
    let award = |winner: &str| {
        let body = format!(r#"{{"winners":[{winner:?}],"why":"the machine of room 3 is gone"}}"#);
        let path = "/api/v1/tournaments/class-1/award";
        crate::questions::send(&http, "POST", &host.token, path, &body)
    };
    // If the draw paired ann with dan, their match may be over by now, and ann may have lost it.
    let mut answers = ["ann", "dan"].into_iter().map(|winner| (winner, award(winner)));
    let awarded = answers.find(|(_, answer)| answer.starts_with("HTTP/1.1 204"));
    let (winner, _) = awarded.expect("one of them may win");
    one.hear(&format!("{{end_tournament,{winner:?}}}"));
    host.wait_until_over("class-1");
    assert_eq!(host.winner("class-1").as_deref(), Some(winner));
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn requester_gets_the_result_when_its_node_is_back() {
    let host = Host::start();
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "referee", "");
    one.log_in("bob", "referee", "{boxes,last}");
    two.say("{bracket,1,9}");
    played(&host, "referee-1", 10);
    // The connection is cut and made again; the process that asked lives on.
    two.say("{disconnect}");
    two.hear("{disconnected,true}");
    host.wait_until_over("referee-1");
    let ended = two.hear("{tournament_ended,");
    let winner = host.winner("referee-1").expect("a winner");
    assert_eq!(ended, format!("{{tournament_ended,{winner:?}}}"));
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn an_interrupted_tournament_goes_on_when_a_node_is_back_and_an_operator_resumes_it() {
    let mut host = Host::with_wait(1_500, "answer_ms = 100000\nwait_ms = 100");
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "class", "");
    two.log_in("bob", "class", "{boxes,last}");
    one.say("{request,2,9}");
    one.hear("{tournament_started,");
    played(&host, "class-1", 50);
    two.process.signal(rustix::process::Signal::STOP);
    host.restart();
    let interrupted = || {
        let events = host.place.events("tournament/class-1");
        events.iter().any(|(_, event)| event["type"] == "tournament-interrupted")
    };
    until("it is interrupted", interrupted);
    two.process.signal(rustix::process::Signal::CONT);
    two.say("{ping}");
    two.hear("{ping,pong}");
    until("bob is found again", || {
        host.words().lines().filter(|line| line.contains("a player was found again")).count() == 2
    });
    let http = host.server.said["http"].as_str().expect("an address").to_owned();
    let path = "/api/v1/tournaments/class-1/resume";
    let answer =
        crate::questions::send(&http, "POST", &host.token, path, r#"{"why":"bob is back"}"#);
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    two.hear("{end_tournament,\"bob\"}");
    host.wait_until_over("class-1");
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}
