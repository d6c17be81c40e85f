//! The Python client: its own tests, and tournaments of its example bots on a server that is
//! killed.

use crate::support::{AGON, Place, Process, Server, until};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How often the server is killed in each tournament.
const KILLS: u32 = 4;

/// Something of the client.
fn client(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python")).join(path)
}

/// A bot of the examples that plays one tournament.
fn bot(place: &Place, game: &str, server: &str, name: &str) -> Process {
    let mut command = Command::new("python3");
    command.arg("-B").arg(client("examples").join(game).with_extension("py"));
    command.args(["--server", &format!("tcp://{server}"), "--account", name]);
    command.args(["--register", "--once"]);
    command.env("PYTHONPATH", client("src")).env("AGON_PASSWORD", "swordfish");
    let said = File::create(place.path(&format!("{name}.said"))).expect("a file");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    Process(command.spawn().expect("python3 starts"))
}

/// Four bots play a tournament while the server is killed every time the log has grown enough.
fn bots_outlive_the_server(game: &str, preset: &str, best_of: u32, grow: u64) {
    let place = Place::new(&format!(
        "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\npreset = \"{preset}\"\n\
         players = 4\nbest_of = {best_of}\nstart = \"when-ready\"\n"
    ));
    let mut server = Server::start(&place);
    let address = server.address.clone();
    let names = ["ann", "bob", "cat", "dan"];
    let mut bots: Vec<Process> =
        names.into_iter().map(|name| bot(&place, game, &address, name)).collect();
    until("the cup has begun", || !place.events("match/cup").is_empty());
    let mut killed = 0;
    while killed < KILLS && !place.is_over("cup") {
        let limit = place.log_len() + grow;
        until("the log has grown", || place.log_len() >= limit || place.is_over("cup"));
        drop(server);
        killed += 1;
        server = Server::start_again(&place, &address);
    }
    until("the cup is over", || place.is_over("cup"));
    for (bot, name) in bots.iter_mut().zip(names) {
        let code = bot.code();
        let said = fs::read_to_string(place.path(&format!("{name}.said"))).expect("a file");
        assert_eq!(code, Some(0), "{name} said: {said}");
    }
    drop(server);
    place.verify();
    assert_eq!(place.faults(), Vec::<String>::new(), "a restart costs nobody anything");
    let mut requests = BTreeSet::new();
    for (stream, event) in place.events("match/") {
        if event["type"] == "answer-accepted" {
            let request = format!("{stream} {}", event["data"]["request"]);
            assert!(requests.insert(request), "accepted twice: {event}");
        }
    }
    assert!(killed > 1 && requests.len() > 20, "{killed} kills in {} answers", requests.len());
}

#[test]
fn yahtzee_bots_in_python_outlive_the_server() {
    bots_outlive_the_server("yahtzee", "yahtzee-queue", 3, 100);
}

#[test]
fn fish_bots_in_python_outlive_the_server() {
    bots_outlive_the_server("fish", "fish", 1, 8);
}

#[test]
fn trains_bots_in_python_outlive_the_server() {
    bots_outlive_the_server("trains", "trains", 1, 30);
}

/// `unittest` reports tests that it skips because something is not installed.
#[test]
fn the_tests_of_the_python_client_pass() {
    let mut command = Command::new("python3");
    command.args(["-B", "-W", "error", "-m", "unittest", "--verbose"]).current_dir(client("tests"));
    command.env("PYTHONPATH", client("src")).env("AGON_BIN", AGON).stdin(Stdio::null());
    let done = command.output().expect("python3 starts");
    let said = String::from_utf8_lossy(&done.stderr);
    eprintln!("{said}");
    assert!(done.status.success());
}
