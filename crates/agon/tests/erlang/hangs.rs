//! Processes that hang: the assignment treats them as crashes that are found by a timeout.

use crate::support::until;
use crate::vm::Host;

#[test]
fn a_process_that_hangs_costs_a_game_and_the_match_only_after_the_wait() {
    for vocabulary in ["class", "referee"] {
        let host = Host::with("answer_ms = 300\nwait_ms = 100000");
        let mut vm = host.vm("one");
        vm.log_in("ann", "class", "");
        vm.log_in("bob", vocabulary, "{boxes,last},{mute_at,5}");
        vm.say("{request,2,5}");
        vm.hear("{tournament_started,");
        until("it is charged", || !host.codes().is_empty());
        // One game is lost. The next one waits for it, so it is not charged again.
        vm.say("{ping}");
        vm.hear("{ping,");
        let over = host.count("class-1", "game-ended");
        assert_eq!((host.codes(), over), (vec!["timeout".to_owned()], 1), "{vocabulary}");
        // A new process takes the place of the hung one and plays on.
        vm.log_in("bob", vocabulary, "{boxes,last}");
        vm.hear("{end_tournament,\"ann\"}");
        host.wait_until_over("class-1");
        assert_eq!(host.codes(), ["timeout"], "{vocabulary}");
        host.verify();
    }
}

#[test]
fn a_process_that_hangs_for_ever_loses_the_match_when_the_wait_is_over() {
    for (vocabulary, cup) in [("class", "class-1"), ("queue", "queue-1")] {
        let host = Host::with("answer_ms = 300\nwait_ms = 700\nqueue_games = 5");
        let mut vm = host.vm("one");
        vm.log_in("ann", vocabulary, "");
        vm.log_in("bob", vocabulary, "{boxes,last},{mute_at,5}");
        match vocabulary {
            "queue" => {
                until("both wait", || {
                    let lobby = host.place.events("lobby");
                    let waits = |event: &serde_json::Value| event["type"] == "player-enqueued";
                    lobby.iter().filter(|(_, event)| waits(event)).count() == 2
                });
                vm.say("{waiting,2}");
            }
            _ => vm.say("{request,2,5}"),
        }
        host.wait_until_over(cup);
        assert_eq!(host.codes(), ["timeout", "no-show"], "{vocabulary}");
        assert_eq!(host.winner(cup).as_deref(), Some("ann"));
        host.verify();
    }
}

#[test]
fn a_process_that_hung_is_back_when_it_answers() {
    let host = Host::with("answer_ms = 300\nwait_ms = 100000");
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "class", "{boxes,last},{late_at,5,1000}");
    vm.say("{request,2,3}");
    vm.hear("{end_tournament,\"ann\"}");
    vm.hear("{end_tournament,\"bob\"}");
    host.wait_until_over("class-1");
    assert_eq!(host.codes(), ["timeout"]);
    host.verify();
}
