//! Errors at the start name the cause and the next step, and have their own exit codes.

use crate::support::{Place, Server};
use std::fs;

#[test]
fn errors_say_what_to_do_next() {
    let place = Place::new("");
    let server = Server::start(&place);
    let address = server.address.clone();
    let (code, said) =
        place.agon(&["serve", "--data", "other", "--tcp", &address, "--http", "127.0.0.1:0"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("choose another port with --tcp"), "{said}");
    let (code, said) = place.agon(&["serve", "--tcp", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("stop the other server") && said.contains("pid"), "{said}");
    let args = ["join", "--server", &address, "--account", "ann", "--bot", "house:greedy"];
    let (code, said) = place.agon(&args);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--register"), "{said}");
    drop(server);
    let (code, said) = place.agon(&args);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("check that the server runs"), "{said}");
    fs::create_dir(place.path("damaged")).expect("a folder");
    fs::write(place.path("damaged/agon.sqlite"), "this is no database".repeat(100))
        .expect("a file");
    let (code, said) = place.agon(&[
        "serve",
        "--data",
        "damaged",
        "--tcp",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
    ]);
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("restore a backup"), "{said}");
}

#[test]
fn mistakes_in_the_configuration_are_named() {
    let cup = |rest: &str| format!("[[tournament]]\nname = \"cup\"\n{rest}\n");
    let cases = [
        ("dota = 1".to_owned(), "dota"),
        ("[limits]\nlogin_ms = 1".to_owned(), "login_ms"),
        ("[limits]\noutbox_lines_max = 0".to_owned(), "at least 1"),
        ("[limits]\nlines_burst_max = 0".to_owned(), "at least 1"),
        ("[limits]\nheartbeat_ms = 60000".to_owned(), "silence_ms_max"),
        ("second_login = \"both\"".to_owned(), "takeover"),
        ("observer_delay_ms = 3600001".to_owned(), "3600000"),
        ("[tls]\ncert = \"x.pem\"".to_owned(), "key"),
        ("[tls]\ncert = \"x.pem\"\nkey = \"y.pem\"".to_owned(), "x.pem"),
        (cup("preset = \"chess\"\nplayers = 2"), "there are: yahtzee-class"),
        (cup("preset = \"fish\""), "players = N"),
        (cup("preset = \"fish\"\nplayers = 1"), "between 2 and 10000"),
        (cup("preset = \"yahtzee-class\"\nplayers = 4\nbest_of = 2"), "odd"),
        (cup("preset = \"fish\"\nnamed = [\"house:nobody\"]"), "nobody"),
        (cup("preset = \"fish\"\nplayers = 2\nstart = \"now\""), "when-ready"),
    ];
    for (config, needle) in cases {
        let place = Place::new(&config);
        let (code, said) = place.agon(&["serve", "--config", "agon.toml"]);
        assert_eq!(code, Some(2), "{config}: {said}");
        assert!(said.contains(needle), "{config}: {said}");
        assert!(!place.path("agon-data").exists(), "nothing was made");
    }
}
