//! A cheater of each kind, in every vocabulary: the referee charges it, with the game's own code.

use crate::vm::{Host, Vm};

/// Plays one match of a cheater against an honest player; what was charged, and the winner.
fn charged(vocabulary: &str, request: u32, how: &str) -> (Vec<String>, Option<String>) {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", if vocabulary == "queue" { "queue" } else { "class" }, "");
    vm.log_in("bad", vocabulary, &format!("{{boxes,last}},{{cheat_at,{request},{how}}}"));
    let cup = begin(&host, &mut vm, vocabulary, 3);
    vm.hear("{cheats,");
    host.wait_until_over(cup);
    let seen = (host.codes(), host.winner(cup));
    host.verify();
    seen
}

/// Starts a tournament of two in the words of a vocabulary, and says how it is called.
fn begin(host: &Host, vm: &mut Vm, vocabulary: &str, games: u32) -> &'static str {
    if vocabulary != "queue" {
        vm.say(&format!("{{request,2,{games}}}"));
        return "class-1";
    }
    crate::support::until("both wait", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 2
    });
    vm.say("{waiting,2}");
    "queue-1"
}

/// Under the class protocol's policy a cheat costs the game.
fn costs_a_game(vocabulary: &str, request: u32, how: &str, code: &str) {
    let (codes, winner) = charged(vocabulary, request, how);
    assert_eq!(codes, [code], "{vocabulary} {how}");
    assert!(winner.is_some());
}

#[test]
fn cheats_of_the_class_protocol() {
    costs_a_game("class", 4, "box_filled", "box-filled");
    costs_a_game("class", 1, "no_such_box", "no-such-box");
    costs_a_game("class", 3, "again", "wrong-kind");
    costs_a_game("class", 2, "roll", "wrong-kind");
    costs_a_game("class", 2, "garbled", "malformed");
}

#[test]
fn cheats_of_its_variants() {
    costs_a_game("tupled", 6, "box_filled", "box-filled");
    costs_a_game("tupled", 3, "again", "wrong-kind");
    costs_a_game("no_user", 6, "no_such_box", "no-such-box");
    costs_a_game("no_user", 1, "garbled", "malformed");
}

#[test]
fn cheats_of_the_referee_protocol() {
    costs_a_game("referee", 1, "keepers", "keepers-not-held");
    costs_a_game("referee", 6, "box_filled", "box-filled");
    costs_a_game("referee", 3, "no_such_box", "no-such-box");
    costs_a_game("referee", 2, "again", "wrong-kind");
    costs_a_game("referee", 3, "garbled", "malformed");
}

#[test]
fn cheats_of_the_queue_protocol_cost_everything() {
    for (request, how, code) in [
        (1, "keepers", "keepers-not-held"),
        (4, "box_filled", "box-filled"),
        (1, "no_such_box", "no-such-box"),
        (1, "dice", "wrong-dice"),
        (1, "points", "wrong-points"),
    ] {
        let (codes, winner) = charged("queue", request, how);
        assert_eq!(codes, [code], "{how}");
        assert_eq!(winner.as_deref(), Some("ann"), "{how}");
    }
}

/// The evidence of a fault is the term that the player sent, without its password, in words that
/// its owner knows.
#[test]
fn the_evidence_is_the_term_that_was_sent() {
    for (vocabulary, request, how, sent) in [
        ("class", 4, "box_filled", "{play_action,<one@localhost."),
        ("class", 2, "roll", "{play_action,<one@localhost."),
        ("class", 2, "garbled", "[true,maybe,3]"),
        ("referee", 1, "keepers", "first_modification_attempt,[7,7]}"),
        ("queue", 1, "dice", "{\\\"bad\\\",\\\"…\\\",end_turn,[6,6,6,6,6],chance}"),
        ("queue", 1, "keepers", "{\\\"bad\\\",\\\"…\\\",modification,#Ref<agon@localhost."),
    ] {
        let host = Host::start();
        let mut vm = host.vm("one");
        let other = if vocabulary == "queue" { "queue" } else { "class" };
        vm.log_in("ann", other, "");
        vm.log_in("bad", vocabulary, &format!("{{boxes,last}},{{cheat_at,{request},{how}}}"));
        begin(&host, &mut vm, vocabulary, 1);
        crate::support::until("it is charged", || !host.place.faults().is_empty());
        let fault = host.place.faults().remove(0);
        assert!(fault.contains(sent), "{how}: {fault}");
        for word in ["pw of", "expected", "invalid type", "line 1 column"] {
            assert!(!fault.contains(word), "{how}: {fault}");
        }
        host.verify();
    }
}

#[test]
fn blacklisted_player_is_not_invited() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "queue", "");
    vm.log_in("bad", "queue", "{boxes,last},{cheat_at,1,dice}");
    crate::support::until("both wait", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 2
    });
    vm.say("{waiting,2}");
    host.wait_until_over("queue-1");
    vm.log_in("cat", "class", "");
    vm.say("{request,3,1}");
    let started = vm.hear("{tournament_started,");
    assert!(started.contains("ann") && started.contains("cat") && !started.contains("bad"));
    host.wait_until_over("class-1");
    host.verify();
}

#[test]
fn foreign_references_are_never_accepted() {
    // They are passed over, and the right answer after them counts.
    for (vocabulary, request) in [("class", 2), ("tupled", 2), ("no_user", 2), ("referee", 2)] {
        let (codes, _) = charged(vocabulary, request, "foreign");
        assert_eq!(codes, Vec::<String>::new(), "{vocabulary}");
    }
    assert_eq!(charged("queue", 1, "foreign").0, Vec::<String>::new());
}

#[test]
fn stale_references_are_never_accepted() {
    for vocabulary in ["class", "referee"] {
        let host = Host::with("answer_ms = 1500\nwait_ms = 100000");
        let mut vm = host.vm("one");
        vm.log_in("ann", "class", "");
        vm.log_in("bad", vocabulary, "{boxes,last},{cheat_at,2,stale}");
        vm.say("{request,2,1}");
        vm.hear("{cheats,");
        vm.hear("{end_tournament,\"ann\"}");
        host.wait_until_over("class-1");
        assert_eq!(host.codes(), ["timeout"]);
        host.verify();
    }
}
