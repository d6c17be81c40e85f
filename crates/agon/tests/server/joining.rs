//! `agon join` beyond a cup: tokens, sign-ups, queues, several times, and what a program says of
//! itself.

use crate::support::{AGON, Client, Place, Process, Server, until};
use serde_json::Value;
use std::fs;
use std::process::Stdio;

/// Runs `agon admin` as the operator: its code, and all it said.
pub(crate) fn admin(place: &Place, server: &Server, args: &[&str]) -> (Option<i32>, String) {
    let http = format!("http://{}", server.said["http"].as_str().expect("an address"));
    let mut all = vec!["admin", "--server", &http];
    all.extend(args);
    let token = server.said["operator"]["token"].as_str().expect("a first token");
    let mut command = place.command(&all);
    command.env("AGON_TOKEN", token);
    let mut process = Process(command.spawn().expect("agon starts"));
    let code = process.code();
    (code, process.all_output())
}

/// The same where it must do what it is told.
pub(crate) fn must(place: &Place, server: &Server, args: &[&str]) -> String {
    let (code, said) = admin(place, server, args);
    assert_eq!(code, Some(0), "{args:?}: {said}");
    said
}

/// A token for an account that is made for it.
fn token(server: &Server, account: &str) -> String {
    let mut client = Client::connect(&server.address);
    client.log_in(account, "swordfish");
    client.hear_until("welcome")["token"].as_str().expect("a token").to_owned()
}

#[test]
fn account_flag_wins_over_a_token_in_the_environment() {
    let place = Place::new("");
    let server = Server::start(&place);
    let operator = server.said["operator"]["token"].as_str().expect("a first token").to_owned();
    fs::write(place.path("bob.token"), token(&server, "bob")).expect("a file");
    let join = |flags: &[&str], password: Option<&str>| {
        let bot = ["--bot", "house:random"];
        let args = [&["join", "--server", &server.address], flags, &bot].concat();
        let mut command = place.command(&args);
        command.env("AGON_TOKEN", &operator).env_remove("AGON_PASSWORD").stdout(Stdio::null());
        if let Some(password) = password {
            command.env("AGON_PASSWORD", password);
        }
        Process(command.spawn().expect("agon starts"))
    };
    // Without a password nothing says whether the account or the token is meant.
    for (flags, why) in [
        (&["--account", "ann"][..], "contradict each other"),
        (&["--account", "ann", "--token-file", "bob.token"], "the token belongs to bob"),
        (&["--account", "ann", "--token-file", "bob.token", "--register"], "leave out one"),
    ] {
        let mut process = join(flags, None);
        let (code, said) = (process.code(), process.all_output());
        assert_eq!(code, Some(2), "{flags:?}: {said}");
        assert!(said.contains(why), "{flags:?}: {said}");
    }
    let mut ann = join(&["--account", "ann", "--register", "--times", "9"], Some("swordfish-9"));
    let mut line = String::new();
    let stderr = ann.0.stderr.take().expect("a pipe");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stderr), &mut line).expect("a line");
    assert!(line.contains("logged in as ann"), "{line}");
}

#[test]
fn program_joins_by_token_and_sign_up_with_its_own_name() {
    let place = Place::new("");
    let server = Server::start(&place);
    must(
        &place,
        &server,
        &["tournament", "create", "spring", "--preset", "yahtzee-class", "--sign-up", "2", "2"],
    );
    fs::write(place.path("ann.token"), token(&server, "ann")).expect("a file");
    // Its hello comes before it was told anything, and has a nonce.
    let line = format!(
        r#"echo '{{"type":"hello","protocol":1,"name":"x","nonce":"c0ffee"}}'; exec '{AGON}' bot greedy"#
    );
    let mut ann = place.command(&[
        "join",
        "--server",
        &server.address,
        "--token-file",
        "ann.token",
        "--sign-up",
        "spring",
        "--once",
        "--",
        "sh",
        "-c",
        &line,
    ]);
    ann.env_remove("AGON_PASSWORD").stdout(Stdio::null()).stderr(Stdio::null());
    let mut ann = Process(ann.spawn().expect("agon starts"));
    let bob = ["--bot", "house:random", "--sign-up", "spring"];
    let mut bob = place.player(&server.address, "bob", &bob);
    assert_eq!((ann.code(), bob.code()), (Some(0), Some(0)));
    until("the cup is over", || place.is_over("spring"));
    assert_eq!(place.faults(), Vec::<String>::new());
    let log: Vec<String> =
        place.events("").into_iter().map(|(_, event): (String, Value)| event.to_string()).collect();
    assert!(log.iter().any(|event| event.contains("c0ffee")), "the nonce is in the log");
    place.verify();
}

#[test]
fn a_queue_is_entered_again_as_often_as_was_asked() {
    let place = Place::new("");
    let server = Server::start(&place);
    let join = |name: &'static str, times: &str| {
        let bot = ["--bot", "house:random", "--queue", "q", "--times", times];
        let mut args = vec!["join", "--server", &server.address, "--account", name, "--register"];
        args.extend(bot);
        let mut command = place.command(&args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Process(command.spawn().expect("agon starts"))
    };
    let (mut ann, mut bob) = (join("ann", "2"), join("bob", "2"));
    for cup in ["one", "two"] {
        until("both wait", || {
            let shown = must(&place, &server, &["--json", "queue", "show", "q"]);
            serde_json::from_str::<Value>(&shown).expect("JSON")["players"]
                .as_array()
                .is_some_and(|players| players.len() == 2)
        });
        must(
            &place,
            &server,
            &["tournament", "create", cup, "--preset", "yahtzee-class", "--queue", "q", "2"],
        );
    }
    assert_eq!((ann.code(), bob.code()), (Some(0), Some(0)));
    until("the second is over", || place.is_over("two"));
    assert_eq!(place.faults(), Vec::<String>::new());
    place.verify();
}

#[test]
fn impossible_joins_are_reported_before_play() {
    let place = Place::new("");
    let server = Server::start(&place);
    let address = server.address.as_str();
    let join = |rest: &[&str]| {
        let mut args = vec!["join", "--server", address, "--account", "ann", "--register"];
        args.extend(rest);
        place.agon(&args)
    };
    let (code, said) = join(&["--", "/no/such/program"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("failed to start"), "{said}");
    let (code, said) = join(&["--bot", "house:greedy", "--sign-up", "no-such-cup"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("refused the queue or sign-up"), "{said}");
    let (code, said) = join(&["--bot", "house:greedy", "--token-file", "no-such-file"]);
    assert_eq!(code, Some(2), "{said}");
    for server in ["nonsense", "http://host:7380"] {
        let (code, said) = place.agon(&["join", "--server", server, "--account", "ann"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("HOST:PORT"), "{said}");
    }
}
