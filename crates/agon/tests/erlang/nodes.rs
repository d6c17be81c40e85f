//! Nodes: names, cookies, signs of life, monitors.

use crate::support::{Place, Process, Server, until};
use crate::vm::{COOKIE, Host, Vm, config, free_port, serve};
use std::process::{Command, Stdio};

/// An EPMD on a port of its own.
fn epmd(port: u16) -> Process {
    let mut command = Command::new("epmd");
    command.args(["-port", &port.to_string(), "-address", "127.0.0.1"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = Process(command.spawn().expect("epmd starts: it comes with erlang-base"));
    until("epmd listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    process
}

/// The output of `epmd -names`.
fn names(port: u16) -> String {
    let mut command = Command::new("epmd");
    let said = command.args(["-port", &port.to_string(), "-names"]).output().expect("epmd starts");
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn an_epmd_that_runs_is_used_and_a_name_is_taken_once() {
    let port = free_port();
    let _epmd = epmd(port);
    let place = Place::new(&config(port, 1_000, ""));
    let server = Server::from_command(serve(&place)).expect("a server starts");
    assert_eq!(server.said["players"]["erlang"], "agon@localhost");
    assert!(names(port).contains("name agon at port"), "{}", names(port));
    let mut vm = Vm::start(port, "one", COOKIE);
    vm.say("{ping}");
    assert_eq!(vm.hear("{ping,"), "{ping,pong}");
    let other = Place::new(&config(port, 1_000, ""));
    assert!(Server::from_command(serve(&other)).is_none());
    let words = std::fs::read_to_string(other.path("serve.stderr")).expect("its words");
    assert!(words.contains("choose another name with erlang.node"), "{words}");
}

#[test]
fn without_an_epmd_the_server_answers_for_it() {
    let host = Host::start();
    let mut one = host.vm("one");
    let _two = host.vm("two");
    one.say("{ping}");
    assert_eq!(one.hear("{ping,"), "{ping,pong}");
    let seen = names(host.epmd);
    for name in ["name agon at", "name one at", "name two at"] {
        assert!(seen.contains(name), "{name}: {seen}");
    }
    one.kill();
    until("the name is free", || !names(host.epmd).contains("name one at"));
}

#[test]
fn wrong_cookie_is_logged() {
    let host = Host::start();
    let mut vm = Vm::start(host.epmd, "thief", "no-idea");
    vm.say("{ping}");
    assert_eq!(vm.hear("{ping,"), "{ping,pang}");
    until("the operator is told", || host.words().contains("has another cookie"));
    let words = host.words();
    assert!(words.contains("thief@localhost") && words.contains("-setcookie"), "{words}");
    assert!(!words.contains(COOKIE) && !words.contains("no-idea"), "{words}");
    let (code, said) = host.place.agon(&["serve", "--config", "agon.toml", "--check"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("erlang.node = \"agon@localhost\"") && !said.contains(COOKIE), "{said}");
}

#[test]
fn monitors_on_the_server_are_kept_and_hear_of_its_end() {
    let host = Host::start();
    let mut vm = host.vm("one");
    vm.say("{monitor}");
    assert_eq!(vm.hear("{down,"), "{down,{nobody,agon@localhost},noproc}");
    vm.say("{ping}");
    vm.hear("{ping,");
    assert_eq!(vm.rest(), Vec::<String>::new());
    host.server.process.signal(rustix::process::Signal::KILL);
    assert_eq!(vm.hear("{down,"), "{down,{yahtzee_manager,agon@localhost},noconnection}");
}

#[test]
fn an_idle_hour_passes_by_ticks() {
    // An hour has 240 ticks of 15 s. The peer gives up after ten seconds without one.
    let host = Host::with("tick_ms = 50\nanswer_ms = 100000");
    let mut vm = host.vm_with_ticks("one");
    vm.log_in("ann", "class", "");
    vm.log_in("bob", "class", "{boxes,last}");
    let began = std::time::Instant::now();
    until("240 ticks have passed", || began.elapsed().as_millis() >= 240 * 50);
    vm.say("{request,2,1}");
    vm.hear("{tournament_started,");
    vm.hear("{end_tournament,\"ann\"}");
    assert!(!host.words().contains("an Erlang node is gone"), "{}", host.words());
    host.wait_until_over("class-1");
    host.verify();
}

#[test]
fn a_node_without_a_sign_of_life_is_lost() {
    let host = Host::with("tick_ms = 100\nanswer_ms = 100000\nwait_ms = 1000");
    let (mut one, mut two) = (host.vm_with_ticks("one"), host.vm_with_ticks("two"));
    one.log_in("ann", "class", "");
    two.log_in("bob", "class", "{boxes,last},{mute_at,4}");
    one.say("{request,2,1}");
    one.hear("{tournament_started,");
    until("the game runs", || host.count("class-1", "answer-accepted") > 5);
    // It is there, but says nothing.
    two.process.signal(rustix::process::Signal::STOP);
    one.hear("{end_tournament,\"ann\"}");
    host.wait_until_over("class-1");
    assert_eq!(host.codes()[0], "connection-lost");
    assert_eq!(host.winner("class-1").as_deref(), Some("ann"));
    host.verify();
}

#[test]
fn the_games_of_a_queue_match_are_a_setting() {
    for (lines, code, says) in [
        ("queue_games = 5", 0, "erlang.queue_games = 5"),
        ("", 0, "erlang.queue_games = 1"),
        ("queue_games = 2", 2, "queue_games: a match is best of an odd number of games"),
    ] {
        let place = Place::new(&config(free_port(), 1_000, lines));
        let (ended, said) = place.agon(&["serve", "--config", "agon.toml", "--check"]);
        assert!(ended == Some(code) && said.contains(says), "{ended:?} {said}");
    }
}
