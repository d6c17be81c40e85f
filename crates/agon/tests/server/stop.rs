//! A server that is asked to stop: players are told, nothing is lost, nobody is charged.

use crate::support::{Client, Place, Server};
use rustix::process::Signal;

const DUEL: &str = "[[tournament]]\nname = \"duel\"\npreset = \"yahtzee-queue\"\n\
                    named = [\"ann\", \"house:greedy\"]\n";

#[test]
fn stop_is_announced_and_drains_all_records() {
    let place = Place::new(DUEL);
    let mut server = Server::start(&place);
    let mut ann = Client::logged_in(&server.address, "ann");
    let asked = ann.hear_until("request");
    let mut stranger = Client::connect(&server.address);
    stranger.hear_until("greeting");
    // One that never reads must not hold it up.
    let deaf = Client::logged_in(&server.address, "deaf");
    server.process.signal(Signal::TERM);
    for client in [&mut ann, &mut stranger] {
        let rest = client.rest();
        let told = rest.iter().any(|message| message["about"] == "stopping");
        assert!(told, "the connection ended without a word: {rest:?}");
    }
    assert_eq!(server.process.code(), Some(0));
    drop(deaf);
    assert_eq!(place.faults(), Vec::<String>::new());
    let snapshot = place.path("agon-data/agon.sqlite.snapshot-lobby");
    assert!(snapshot.exists(), "the next start begins with it");
    let server = Server::start_again(&place, &server.address);
    let mut ann = Client::logged_in(&server.address, "ann");
    assert_eq!(ann.hear_until("request")["id"], asked["id"], "the same question, under its id");
    drop(server);
    assert_eq!(place.faults(), Vec::<String>::new());
    place.verify();
}

#[test]
fn damaged_snapshot_is_reported_and_ignored() {
    let place = Place::new("");
    let mut server = Server::start(&place);
    drop(Client::logged_in(&server.address, "ann"));
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    let snapshot = place.path("agon-data/agon.sqlite.snapshot-lobby");
    let mut bytes = std::fs::read(&snapshot).expect("a snapshot");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&snapshot, &bytes).expect("a file");
    let mut command = place.command(&["serve", "--json", "--tcp", "127.0.0.1:0", "--http"]);
    command.arg("127.0.0.1:0");
    let mut server = Server::from_command(command).expect("it starts all the same");
    let mut ann = Client::connect(&server.address);
    // The account is known, so another password is not good.
    ann.log_in("ann", "another");
    assert_eq!(ann.hear_until("error")["code"], "wrong-credentials");
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    let said = server.process.all_output();
    assert!(said.contains("snapshot") && said.contains("all events of the lobby"), "{said}");
    // The stop has left a good one.
    assert_ne!(std::fs::read(&snapshot).expect("a snapshot"), bytes);
}
