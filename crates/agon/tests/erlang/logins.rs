//! The messages that a player gets when it logs in again.

use crate::support::until;
use crate::vm::Host;

/// Tournaments that a player is out of are not active, and nobody waits there for it.
#[test]
fn tournaments_a_player_is_out_of_are_not_active() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "queue", "");
    vm.log_in("bob", "queue", "{boxes,last}");
    // It plays so slowly that the tournament goes on without the others.
    vm.log_in("cat", "queue", "{boxes,last},{mute_at,1}");
    vm.log_in("dan", "queue", "");
    until("all wait", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 4
    });
    vm.say("{waiting,4}");
    // In a bracket of four the match without the silent one is over first.
    let mut ended = None;
    until("somebody is out", || {
        let tell = ["ann", "bob", "dan"];
        ended = tell
            .into_iter()
            .find(|user| vm.heard_already(&format!("{{tournament_over,{user:?}}}")));
        ended.is_some()
    });
    let out = ended.expect("a loser");
    vm.say(&format!("{{logout,{out:?}}}"));
    vm.hear(&format!("{{logged_out,{out:?}}}"));
    until("it can log in", || {
        vm.player(out, "queue", "{insists,true}");
        vm.hear(&format!("{{authenticated,{out:?},")).ends_with(",0,0}")
    });
}

/// A class player that was knocked out and logs in again is invited before it plays elsewhere.
#[test]
fn a_knocked_out_class_player_is_invited_to_the_next_tournament() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "class", "{boxes,last}");
    vm.log_in("cat", "class", "{boxes,last},{mute_at,1}");
    vm.log_in("dan", "class", "");
    vm.say("{request,4,1}");
    vm.hear("{tournament_started,");
    let mut ended = None;
    until("somebody is out", || {
        let tell = ["ann", "bob", "dan"];
        ended =
            tell.into_iter().find(|user| vm.heard_already(&format!("{{end_tournament,{user:?}}}")));
        ended.is_some()
    });
    let out = ended.expect("a loser");
    while vm.heard_already("{start_tournament,") {}
    vm.log_in(out, "class", "");
    // An operator's tournament names it: it is told, and plays once it accepts.
    let http = host.server.said["http"].as_str().expect("an address");
    let token = host.server.said["operator"]["token"].as_str().expect("a token");
    let body = format!(
        r#"{{"id":"next","preset":"yahtzee-class",
        "selection":{{"by":"named","players":[{out:?},"house:greedy"]}}}}"#
    );
    crate::questions::post(http, token, "/api/v1/tournaments", &body);
    assert_eq!(vm.hear("{start_tournament,"), format!("{{start_tournament,{out:?}}}"));
    vm.hear(&format!("{{end_tournament,{out:?}}}"));
    host.wait_until_over("next");
}
