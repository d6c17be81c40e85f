//! Processes that end, machines that are killed, logouts: each is told apart, and the tournament's
//! policy says what it costs.

use crate::support::until;
use crate::vm::Host;

/// Waits until somebody has been charged.
fn charged(host: &Host, code: &str) {
    until(&format!("{code} is charged"), || host.codes().iter().any(|known| known == code));
}

#[test]
fn a_process_that_crashes_in_a_game_loses_it_and_plays_the_next() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "class", "{boxes,last},{crash_at,5},{again,true}");
    vm.say("{request,2,3}");
    vm.hear("{ended,\"bob\"}");
    vm.hear("{logged_in,\"bob\"}");
    vm.hear("{end_tournament,\"ann\"}");
    vm.hear("{end_tournament,\"bob\"}");
    host.wait_until_over("class-1");
    assert_eq!(host.codes(), ["process-ended"]);
    assert!(host.place.faults()[0].contains("its process ended: crashed"));
    host.verify();
}

#[test]
fn a_process_that_crashes_between_games_loses_nothing() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "tupled", "{boxes,last},{again,true}");
    for number in 1..=2 {
        vm.say("{request,2,1}");
        vm.hear("{tournament_started,");
        vm.hear("{end_tournament,\"ann\"}");
        vm.hear("{end_tournament,\"bob\"}");
        host.wait_until_over(&format!("class-{number}"));
        if number == 1 {
            vm.say("{kill,\"bob\"}");
            vm.hear("{ended,\"bob\"}");
            vm.hear("{logged_in,\"bob\"}");
        }
    }
    assert_eq!(host.codes(), Vec::<String>::new());
    host.verify();
}

#[test]
fn a_process_that_crashes_between_two_games_of_a_match_loses_neither() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "{again,true}");
    vm.log_in("bob", "tupled", "{boxes,last},{crash_at,5}");
    vm.say("{request,2,3}");
    // Its game is lost, and the match waits for it before the next one.
    vm.hear("{ended,\"bob\"}");
    until("the first game is over", || host.count("class-1", "game-ended") == 1);
    vm.say("{kill,\"ann\"}");
    vm.hear("{ended,\"ann\"}");
    vm.hear("{logged_in,\"ann\"}");
    until("it is back in the match", || host.count("class-1", "player-arrived") == 3);
    assert_eq!((host.codes().len(), host.count("class-1", "game-started")), (2, 1));
    vm.log_in("bob", "tupled", "{boxes,last}");
    vm.hear("{end_tournament,\"ann\"}");
    vm.hear("{end_tournament,\"bob\"}");
    host.wait_until_over("class-1");
    assert_eq!(host.codes(), ["process-ended"; 2]);
    let ends = host.place.events("match/class-1/");
    let ends = ends.iter().filter(|(_, event)| event["type"] == "game-ended");
    let lost: Vec<_> =
        ends.filter_map(|(_, event)| event["data"]["result"]["by"].as_str()).collect();
    assert_eq!(lost, ["bob"]);
    host.verify();
}

#[test]
fn under_resume_a_crash_costs_nothing() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "queue", "");
    vm.log_in("bob", "queue", "{boxes,last},{crash_at,1},{again,true}");
    until("both wait", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 2
    });
    vm.say("{waiting,2}");
    vm.hear("{ended,\"bob\"}");
    // It is in one tournament, and its open dice are sent again.
    vm.hear("{authenticated,\"bob\",1,0}");
    vm.hear("{tournament_over,\"ann\"}");
    vm.hear("{tournament_over,\"bob\"}");
    host.wait_until_over("queue-1");
    assert_eq!(host.codes(), ["process-ended"]);
    let ends = host.place.events("match/");
    let forfeited = ends.iter().filter(|(_, event)| event.to_string().contains("forfeit"));
    assert_eq!(forfeited.count(), 0);
    host.verify();
}

#[test]
fn a_machine_that_is_killed_comes_back() {
    let host = Host::start();
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "class", "");
    two.log_in("bob", "class", "{boxes,last},{mute_at,4}");
    two.log_in("cat", "referee", "{boxes,last},{mute_at,4}");
    one.say("{request,3,3}");
    one.hear("{tournament_started,");
    until("the first game runs", || host.count("class-1", "answer-accepted") > 5);
    two.kill();
    charged(&host, "node-ended");
    let mut two = host.vm("two");
    two.log_in("bob", "class", "{boxes,last}");
    two.log_in("cat", "referee", "{boxes,last}");
    one.hear("{end_tournament,\"ann\"}");
    host.wait_until_over("class-1");
    assert!(host.codes().iter().all(|code| code == "node-ended"), "{:?}", host.codes());
    assert!(host.words().contains("an Erlang node is gone"));
    host.verify();
}

#[test]
fn a_machine_that_is_killed_and_does_not_come_back_loses() {
    let host = Host::with("answer_ms = 100000\nwait_ms = 1000");
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "class", "");
    two.log_in("bob", "class", "{boxes,last},{mute_at,4}");
    one.say("{request,2,5}");
    one.hear("{tournament_started,");
    until("the game runs", || host.count("class-1", "answer-accepted") > 5);
    two.kill();
    one.hear("{end_tournament,\"ann\"}");
    host.wait_until_over("class-1");
    assert_eq!(host.winner("class-1").as_deref(), Some("ann"));
    host.verify();
}

#[test]
fn a_logout_is_no_crash_and_a_new_login_takes_the_seat() {
    let host = Host::start();
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "class", "");
    one.log_in("bob", "no_user", "{boxes,last},{mute_at,4}");
    one.say("{request,2,3}");
    one.hear("{tournament_started,");
    until("the game runs", || host.count("class-1", "answer-accepted") > 5);
    // A new process on another node has the seat; nobody is charged for that.
    two.log_in("bob", "class", "{boxes,last},{mute_at,4}");
    until("it plays", || host.count("class-1", "answer-accepted") > 8);
    assert_eq!(host.codes(), Vec::<String>::new());
    two.say("{logout,\"bob\"}");
    charged(&host, "logged-out");
    two.log_in("bob", "tupled", "{boxes,last}");
    two.hear("{end_tournament,\"bob\"}");
    one.hear("{end_tournament,\"ann\"}");
    host.wait_until_over("class-1");
    assert_eq!(host.codes(), ["logged-out"]);
    host.verify();
}

#[test]
fn wrong_password_gets_no_reply_in_vocabularies_without_one() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("cat", "queue", "");
    vm.say("{raw,yahtzee_manager,{login,self,\"ann\",{\"ann\",\"tuna\"}}}");
    vm.say("{player,\"ann\",\"tuna\",class,[]}");
    vm.say("{player,\"cat\",\"tuna\",queue,[]}");
    assert_eq!(vm.hear("{not_authenticated,"), "{not_authenticated,\"cat\"}");
    until("it is in the log of the operator", || host.words().contains("wrong password"));
    // Where somebody is, nobody else logs in by the queue protocol; elsewhere the newest has it.
    vm.player("cat", "queue", "");
    assert_eq!(vm.hear("{not_authenticated,"), "{not_authenticated,\"cat\"}");
    assert!(!host.words().contains("tuna") && !host.words().contains("pw of"));
}

#[test]
fn player_who_does_not_accept_does_not_play() {
    let host = Host::with("accept_ms = 2000");
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "tupled", "{boxes,last}");
    vm.log_in("cat", "class", "{rejects,true}");
    vm.log_in("dan", "tupled", "{ticket,bad}");
    vm.say("{request,4,1}");
    let started = vm.hear("{tournament_started,");
    assert!(started.contains("ann") && started.contains("bob"), "{started}");
    assert!(!started.contains("cat") && !started.contains("dan"), "{started}");
    vm.hear("{end_tournament,\"ann\"}");
    host.wait_until_over("class-1");
    host.verify();
}
