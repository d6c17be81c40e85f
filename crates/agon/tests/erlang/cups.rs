//! Whole tournaments, in every vocabulary and among them.

use crate::support::until;
use crate::vm::{Host, Vm};

const CLASS: [&str; 3] = ["class", "tupled", "no_user"];

/// Everybody is told the end of a tournament, each in its words.
fn ends(vm: &mut Vm, users: &[&str]) {
    for user in users {
        vm.hear(&format!("{{end_tournament,{user:?}}}"));
    }
}

/// Tournaments of `users` in the class protocol and its variants, with 1, 3 and 5 games a match.
fn class_cups(users: &[&str]) {
    let host = Host::start();
    let mut vm = host.vm("one");
    for (at, user) in users.iter().enumerate() {
        // No two alike with the same dice: they would tie.
        let options = ["", "{boxes,last}", "{plays,other}"][at % 3];
        let vocabulary = if options == "{plays,other}" { "class" } else { CLASS[at % 3] };
        vm.log_in(user, vocabulary, options);
    }
    for (number, games) in [(1, 1), (2, 3), (3, 5)] {
        let cup = format!("class-{number}");
        vm.say(&format!("{{request,{},{games}}}", users.len()));
        let started = vm.hear("{tournament_started,");
        users.iter().for_each(|user| assert!(started.contains(user), "{started}"));
        ends(&mut vm, users);
        host.wait_until_over(&cup);
        let winner = host.winner(&cup).expect("somebody wins");
        vm.say("{info}");
        let status = vm.hear("{tournament_status,");
        assert_eq!(status, format!("{{tournament_status,true,complete,{winner:?}}}"));
        // A bye is no match, and everybody but the winner loses one.
        assert_eq!(host.count(&cup, "match-ended"), users.len() - 1);
    }
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn two_play_class_cups() {
    class_cups(&["ann", "bob"]);
}

#[test]
fn three_play_class_cups_with_a_bye() {
    class_cups(&["ann", "bob", "cat"]);
}

#[test]
fn four_play_class_cups() {
    class_cups(&["ann", "bob", "cat", "dan"]);
}

#[test]
fn eight_play_class_cups() {
    class_cups(&["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal"]);
}

#[test]
fn brackets_of_the_referee_protocol_end_with_their_winner() {
    let host = Host::start();
    let mut vm = host.vm("one");
    // Nobody is here: a bye wins.
    vm.say("{bracket,1,1}");
    assert_eq!(vm.hear("{tournament_ended,"), "{tournament_ended,bye}");
    vm.log_in("ann", "referee", "");
    vm.log_in("bob", "referee", "{boxes,last}");
    for (number, games) in [(1, 1), (2, 3), (3, 5)] {
        vm.say(&format!("{{bracket,1,{games}}}"));
        let ended = vm.hear("{tournament_ended,");
        let winner = host.winner(&format!("referee-{number}")).expect("a winner");
        assert_eq!(ended, format!("{{tournament_ended,{winner:?}}}"));
    }
    // Requests of a second game show the cards of the first; the players check that they are full.
    let games = vm.hear("{games,\"ann\",[{1,");
    assert!(games.matches("{yahtzee,").count() >= 2 && !games.contains("no_value"), "{games}");
    // Eight slots for three: byes.
    vm.log_in("cat", "referee", "");
    vm.say("{bracket,3,3}");
    vm.hear("{tournament_ended,");
    assert_eq!(host.count("referee-4", "match-ended"), 2);
    // Even numbers of games, and no rounds at all, are ignored.
    vm.say("{bracket,1,2}");
    vm.say("{bracket,0,1}");
    vm.say("{stats,\"ann\"}");
    assert!(vm.hear("{stats,").contains("{tournaments_played,4}"));
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn players_in_the_queue_play() {
    let host = Host::start();
    let mut vm = host.vm("one");
    for (user, options) in [("ann", ""), ("bob", "{boxes,last}"), ("cat", "")] {
        vm.log_in(user, "queue", options);
        vm.hear(&format!("{{new_user,{user:?}}}"));
    }
    // One of them twice, which is once for one tournament.
    vm.say("{say,\"cat\",{tournament_manager,{\"cat\",\"pw of cat\",enqueueMe}}}");
    until("all are in the queue", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 4
    });
    vm.say("{waiting,10}");
    ["ann", "bob", "cat"].iter().for_each(|user| {
        vm.hear(&format!("{{tournament_over,{user:?}}}"));
    });
    host.wait_until_over("queue-1");
    // With another password nothing is done, and that is said.
    vm.say("{raw,tournament_manager,{\"cat\",\"tuna\",enqueueMe}}");
    assert_eq!(vm.hear("{heard,"), "{heard,{not_authenticated}}");
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn all_vocabularies_meet_in_two_tournaments_at_once() {
    let host = Host::start();
    let (mut one, mut two) = (host.vm("one"), host.vm("two"));
    one.log_in("ann", "class", "");
    one.log_in("bob", "tupled", "{boxes,last}");
    two.log_in("cat", "no_user", "");
    two.log_in("dan", "referee", "{boxes,last}");
    two.log_in("eve", "referee", "");
    one.say("{request,5,3}");
    two.say("{request,5,5}");
    for vm in [&mut one, &mut two] {
        vm.hear("{tournament_started,");
    }
    for _ in 0..2 {
        ends(&mut one, &["ann", "bob"]);
        ends(&mut two, &["cat"]);
    }
    host.wait_until_over("class-1");
    host.wait_until_over("class-2");
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn identical_players_tie_until_independent_dice_decide() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "class", "");
    vm.say("{request,2,3}");
    ends(&mut vm, &["ann", "bob"]);
    host.wait_until_over("class-1");
    let events = host.place.events("match/class-1/");
    let ended = events.iter().filter(|(_, event)| event["type"] == "game-ended");
    let tied = ended.filter(|(_, event)| {
        event["data"]["result"]["scores"][0] == event["data"]["result"]["scores"][1]
    });
    assert_eq!(tied.count(), 2, "two ties, then the match is played again with other dice");
    assert!(host.winner("class-1").is_some());
    host.verify();
}

/// Ties that were played again are in the state of the match, and count as ties.
#[test]
fn ties_that_were_replayed_can_be_seen() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "referee", "");
    vm.log_in("bob", "referee", "");
    vm.say("{bracket,1,3}");
    vm.hear("{tournament_ended,");
    // Two ties in a row: the match starts again with dice of their own, and both remember.
    let third = vm.hear("{games,\"ann\",[{1,").to_owned();
    let seen = std::iter::once(third)
        .chain(std::iter::from_fn(|| vm.heard_already("{games,\"ann\",[{1,").then(String::new)));
    assert!(seen.count() >= 2, "both ties are shown");
    vm.say("{stats,\"ann\"}");
    let stats = vm.hear("{stats,");
    // With dice of their own they may tie again.
    let (_, tied) = stats.split_once("{games_tied,").expect("ties");
    let tied: u32 = tied.split('}').next().expect("a number").parse().expect("a number");
    assert!(tied >= 2, "{stats}");
    assert!(stats.contains("{rank,") && stats.contains("{tournaments_lost,"), "{stats}");
    host.verify();
}

#[test]
fn an_erlang_player_meets_a_native_bot_and_a_websocket() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.log_in("ann", "class", "");
    let http = host.server.said["http"].as_str().expect("an address");
    let mut bot = host.place.player(&host.server.address, "bot", &["--bot", "house:greedy"]);
    let page = crate::websocket::plays(http, "page", "random");
    until("all are in line", || {
        let lobby = host.place.events("lobby");
        lobby.iter().filter(|(_, event)| event["type"] == "account-logged-in").count() == 3
    });
    let token = host.server.said["operator"]["token"].as_str().expect("a token");
    let body = r#"{"id":"mixed","preset":"yahtzee-class",
        "selection":{"by":"named","players":["ann","bot","page"]}}"#;
    crate::questions::post(http, token, "/api/v1/tournaments", body);
    vm.hear("{end_tournament,\"ann\"}");
    host.wait_until_over("mixed");
    assert_eq!(bot.code(), Some(0));
    page.join().expect("it plays to the end");
    assert_eq!(host.count("mixed", "match-ended"), 2);
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}
