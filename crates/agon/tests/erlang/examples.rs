//! The players of `examples/erlang`, started as their README says: each plays a whole tournament.

use crate::support::{Process, until};
use crate::vm::{COOKIE, Host};
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts an example with a name of its own, and waits until it is logged in.
fn start(host: &Host, example: &str, name: &str) -> Process {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/erlang");
    let home = host.place.path(&format!("home-{name}"));
    std::fs::create_dir(&home).expect("a folder");
    let said = host.place.path(&format!("{name}.stdout"));
    let mut escript = Command::new("escript");
    escript.arg(folder.join(format!("{example}_player.erl")));
    escript.args([name, &format!("pw of {name}"), COOKIE]);
    escript.env("ERL_EPMD_PORT", host.epmd.to_string()).env("HOME", &home);
    escript.stdin(Stdio::null()).stdout(std::fs::File::create(&said).expect("a file"));
    let player = Process(escript.spawn().expect("escript starts: it comes with erlang-base"));
    until(&format!("{name} is logged in"), || {
        std::fs::read_to_string(&said).unwrap_or_default().contains("is logged in")
    });
    player
}

/// Two players of one example play a tournament that `asks` for, against each other.
fn plays(example: &str, asks: &str, cup: &str) {
    let host = Host::start();
    let mut vm = host.vm("one");
    let _players = ["ann", "bob"].map(|name| start(&host, example, name));
    if example == "queue" {
        until("both wait", || {
            let lobby = host.place.events("lobby");
            lobby.iter().filter(|(_, event)| event["type"] == "player-enqueued").count() == 2
        });
    }
    vm.say(asks);
    host.wait_until_over(cup);
    assert!(host.winner(cup).is_some());
    assert_eq!(host.place.faults(), Vec::<String>::new());
    host.verify();
}

#[test]
fn the_class_example_plays_a_tournament() {
    plays("class", "{request,2,3}", "class-1");
}

#[test]
fn the_referee_example_plays_a_tournament() {
    plays("referee", "{bracket,1,3}", "referee-1");
}

#[test]
fn the_queue_example_plays_a_tournament() {
    plays("queue", "{waiting,2}", "queue-1");
}
