//! Messages that the server rejects: the reply to the sender and the line in the operator's log, as
//! the table "Refusals" of docs/protocol/erlang.md has them, row by row.

use crate::support::until;
use crate::vm::{Host, Vm};

/// Waits for a line of the operator's log that has all of these.
fn logged(host: &Host, parts: &[&str]) {
    until(&format!("the log says {parts:?}"), || {
        host.words()
            .lines()
            .any(|line| line.contains(" INFO ") && parts.iter().all(|part| line.contains(part)))
    });
}

/// Everything that was said before is done: an answer to a question comes after it.
fn nothing_heard(vm: &mut Vm) {
    vm.say("{queue_stats,\"nobody at all\"}");
    vm.hear("{queue_stats,\"nobody at all\"");
    let heard: Vec<String> = vm.rest().into_iter().filter(|l| l.starts_with("{heard,")).collect();
    assert_eq!(heard, Vec::<String>::new());
}

/// A message that gets no answer but a line in the log.
fn silent(host: &Host, vm: &mut Vm, message: &str, user: &str, reason: &str) {
    vm.say(&format!("{{send,{message}}}"));
    logged(host, &["one@localhost", &format!("user={user:?}"), reason]);
    nothing_heard(vm);
}

/// A message that is answered with `{not_authenticated}`, and is in the log.
fn unauthenticated(host: &Host, vm: &mut Vm, message: &str, user: &str, reason: &str) {
    vm.say(&format!("{{send,{message}}}"));
    assert_eq!(vm.hear("{heard,"), "{heard,{not_authenticated}}", "{message}");
    logged(host, &["one@localhost", &format!("user={user:?}"), reason]);
}

#[test]
fn refusals_of_the_class_protocol_are_in_the_log() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    for (message, user, reason) in [
        ("{login,self,\"ann\",{\"ann\",\"tuna\"}}", "ann", "wrong-credentials"),
        ("{login,self,\"\",{\"\",\"pw\"}}", "unknown", "login: "),
        ("{login,self,\"x\",{17,\"pw\"}}", "unknown", "neither a string nor an atom"),
        ("{login,self,\"x\",nothing}", "unknown", "not {User, Password}"),
        ("{logout,self,\"ann\",ref}", "unknown", "nobody is logged in"),
        ("{accept_tournament,self,\"ann\",{ref,ref}}", "unknown", "nobody is logged in"),
        (
            "{play_action,self,\"ann\",{ref,ref,ref,1,[true,true,true,true,true],1}}",
            "unknown",
            "nobody",
        ),
        ("{play_action,self,\"ann\",{ref}}", "unknown", "play_action: not {Ref"),
        ("{request_tournament,self,{2,2}}", "unknown", "an odd number of games"),
        ("{request_tournament,self,{1,1}}", "unknown", "needs 2 players"),
        ("{request_tournament,self,{2,1}}", "unknown", "cannot be held"),
        ("{request_tournament,self,7}", "unknown", "not {NumPlayers, GamesPerMatch}"),
        ("{tournament_info,self,ref}", "unknown", "no such tournament"),
        ("{user_info,self,\"nobody\"}", "nobody", "nobody has that name"),
        ("hello", "unknown", "not a message"),
    ] {
        silent(&host, &mut vm, &format!("yahtzee_manager,{message}"), user, reason);
    }
    assert!(!host.words().contains("tuna"));
}

#[test]
fn refusals_of_the_referee_protocol_are_in_the_log() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "referee", "");
    for (message, user, reason) in [
        ("{self,ref,player_registration,\"ann\",\"tuna\"}", "ann", "wrong-credentials"),
        ("{self,ref,player_registration,\"\",\"pw\"}", "unknown", "player_registration: "),
        ("{self,ref,start_tournament,1,2}", "unknown", "K odd"),
        ("{self,ref,start_tournament,0,1}", "unknown", "M has to be 1 to 13"),
        ("{self,ref,start_tournament,14,1}", "unknown", "M has to be 1 to 13"),
        ("{self,ref,start_tournament,many,1}", "unknown", "M and K are not numbers"),
        ("{ref,first_modification_attempt,[1]}", "unknown", "nobody is logged in"),
        ("{ref,score_selection,aces}", "unknown", "nobody is logged in"),
    ] {
        silent(&host, &mut vm, &format!("main_manager,{message}"), user, reason);
    }
    vm.say("{stats,\"nobody\"}");
    assert_eq!(vm.hear("{stats,"), "{stats,[]}");
}

#[test]
fn refusals_of_the_queue_protocol_are_answered_or_in_the_log() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "queue", "{places,0}");
    let me = "{\"ann\",\"pw of ann\"";
    for (message, user, reason) in [
        ("{self,login,\"ann\",\"pw of ann\"}".to_owned(), "ann", "the name is logged in"),
        ("{self,login,\"ann\",false}".into(), "ann", "the name is logged in"),
        ("{self,login,\"\",\"pw\"}".into(), "unknown", "login: "),
        ("{self,login,\"x\",17}".into(), "unknown", "the password is neither"),
        ("{new_password,\"ann\",\"new\",\"tuna\"}".into(), "ann", "the old password is wrong"),
        ("{new_password,\"ann\",\"new\",false}".into(), "ann", "the old password is missing"),
        ("{new_password,\"zoe\",\"new\",\"old\"}".into(), "zoe", "not registered"),
        ("{new_password,\"zoe\",\"\",false}".into(), "zoe", "too short or too long"),
        ("{\"zoe\",\"pw\",enqueueMe}".into(), "zoe", "nobody is logged in"),
        ("{\"zoe\",\"pw\",logout}".into(), "zoe", "nobody is logged in"),
        ("{\"zoe\",\"pw\",end_turn,[1,2,3,4,5],aces}".into(), "zoe", "nobody is logged in"),
    ] {
        unauthenticated(&host, &mut vm, &format!("tournament_manager,{message}"), user, reason);
    }
    for kind in [
        "logout",
        "enqueueMe",
        "dequeueMe",
        "drop_tournament,ref",
        "modification,ref,ref,[]",
        "end_turn,[1,2,3,4,5],aces",
    ] {
        vm.say(&format!("{{send,tournament_manager,{{\"ann\",\"tuna\",{kind}}}}}"));
        assert_eq!(vm.hear("{heard,"), "{heard,{not_authenticated}}", "{kind}");
    }
    for (message, user, reason) in [
        (format!("{me},dequeueMe}}"), "ann", "a message was refused"),
        (format!("{me},drop_tournament,ref}}"), "ann", "foreign or no longer open"),
        (format!("{me},modification,ref,ref,[1]}}"), "ann", "foreign or no longer open"),
        (format!("{me},end_turn,[1,2,3,4,5],aces}}"), "ann", "a turn that is over"),
        ("{start_tournament,1}".into(), "unknown", "MaxPlayers has to be at least 2"),
        ("{start_tournament,many}".into(), "unknown", "MaxPlayers is not a number"),
        ("{start_tournament,2}".into(), "unknown", "cannot be held"),
    ] {
        silent(&host, &mut vm, &format!("tournament_manager,{message}"), user, reason);
    }
    vm.say("{send,tournament_manager,{\"nobody\",stats_request}}");
    assert_eq!(vm.hear("{queue_stats,"), "{queue_stats,\"nobody\",[]}");
    for _ in 0..17 {
        vm.say(&format!("{{send,tournament_manager,{me},enqueueMe}}}}"));
    }
    logged(&host, &["user=\"ann\"", "waits 16 times in this queue"]);
    assert!(!host.words().contains("tuna") && !host.words().contains("pw of"));
}

/// The password is what counts, not the process or the node that a message comes from.
#[test]
fn the_right_password_counts_from_every_process_and_node() {
    let host = Host::start();
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "queue", "{places,0}");
    let enqueued = || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count()
    };
    for (number, vm) in [&mut one, &mut two].into_iter().enumerate() {
        vm.say("{send,tournament_manager,{\"ann\",\"pw of ann\",enqueueMe}}");
        until("it waits", || enqueued() == number + 1);
        vm.say("{send,tournament_manager,{\"ann\",\"tuna\",enqueueMe}}");
        assert_eq!(vm.hear("{heard,"), "{heard,{not_authenticated}}");
    }
    assert_eq!(enqueued(), 2);
}

/// Programs that write names as atoms are understood, and read them as atoms.
#[test]
fn names_may_be_atoms() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.say("{send,yahtzee_manager,{login,self,eve,{eve,secret}}}");
    let heard = vm.hear("{heard,{logged_in,");
    assert!(heard.contains(",eve,#Ref<"), "{heard}");
    vm.say("{user_info,eve}");
    assert_eq!(vm.hear("{user_status,"), "{user_status,{eve,0,0,0,0}}");
    vm.say("{queue_stats,eve}");
    assert!(vm.hear("{queue_stats,eve,[{cheats,0}").contains("{rank,no_value}"));
}

/// Logins are looked at later after too many wrong passwords. Nobody waits for ever.
#[test]
fn a_login_during_the_slow_down_is_answered() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("cat", "referee", "");
    vm.log_in("bob", "queue", "{places,0}");
    vm.say("{logout,\"bob\"}");
    vm.hear("{logged_out,\"bob\"}");
    for _ in 0..5 {
        vm.say("{send,yahtzee_manager,{login,self,\"ann\",{\"ann\",\"tuna\"}}}");
        vm.say("{send,main_manager,{self,ref,player_registration,\"cat\",\"tuna\"}}");
        vm.say("{send,tournament_manager,{self,login,\"bob\",\"tuna\"}}");
        assert_eq!(vm.hear("{heard,"), "{heard,{not_authenticated}}");
    }
    until("they are wrong", || host.words().matches("reason=\"wrong-credentials\"").count() == 15);
    vm.say("{send,tournament_manager,{self,login,\"bob\",\"pw of bob\"}}");
    assert_eq!(vm.hear("{heard,"), "{heard,{not_authenticated}}");
    // The two vocabularies without a word for it hear of their login when the time is over.
    vm.say("{send,yahtzee_manager,{login,self,\"ann\",{\"ann\",\"pw of ann\"}}}");
    vm.say("{send,main_manager,{self,ref,player_registration,\"cat\",\"pw of cat\"}}");
    logged(&host, &["one@localhost", "user=\"ann\"", "slow-down"]);
    vm.hear("{heard,{logged_in,");
    until("both are in", || vm.hear("{heard,{#Ref<").ends_with("login_success}}"));
}

/// Nothing can be sent to a process of a node by way of another one.
#[test]
fn logins_for_processes_of_other_nodes_are_refused() {
    let host = Host::start();
    let (mut one, _two) = (host.vm("one"), host.vm("two"));
    let reason = "the process runs on another node";
    silent(
        &host,
        &mut one,
        "yahtzee_manager,{login,elsewhere,\"ann\",{\"ann\",\"pw\"}}",
        "ann",
        reason,
    );
    let login = "main_manager,{elsewhere,ref,player_registration,\"bob\",\"pw\"}";
    silent(&host, &mut one, login, "bob", reason);
    let login = "tournament_manager,{elsewhere,login,\"cat\",\"pw\"}";
    unauthenticated(&host, &mut one, login, "cat", reason);
}

#[test]
fn a_login_is_refused_when_too_many_players_are_connected() {
    let host = Host::with("answer_ms = 100000\n[limits]\nconnections_max = 8");
    let mut vm = host.vm("one");
    // Listeners and the node itself have places as well: one of eight players finds none.
    let refused = (1..=8).map(|number| format!("p{number}")).find(|user| {
        vm.say(&format!("{{send,tournament_manager,{{new_password,{user:?},\"pw\",false}}}}"));
        vm.say(&format!("{{send,tournament_manager,{{self,login,{user:?},\"pw\"}}}}"));
        vm.hear("{heard,") == "{heard,{not_authenticated}}"
    });
    let user = format!("user={:?}", refused.expect("there is no room for eight"));
    until("the operator is told", || {
        let parts = [" WARN ", "one@localhost", &user, "too many players"];
        host.words().lines().any(|line| parts.iter().all(|part| line.contains(part)))
    });
}

#[test]
fn a_blacklisted_player_cannot_enter_the_queue() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "queue", "");
    vm.log_in("bad", "queue", "{cheat_at,1,dice}");
    until("both wait", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 2
    });
    vm.say("{waiting,2}");
    host.wait_until_over("queue-1");
    silent(
        &host,
        &mut vm,
        "tournament_manager,{\"bad\",\"pw of bad\",enqueueMe}",
        "bad",
        "blacklist",
    );
}

#[test]
fn tournament_without_players_is_logged() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "{rejects,true}");
    vm.log_in("bob", "class", "{rejects,true}");
    silent(
        &host,
        &mut vm,
        "yahtzee_manager,{request_tournament,self,{2,1}}",
        "unknown",
        "called off",
    );
}
