//! Settings that no server can play with: `serve` and `serve --check` refuse the same ones, with
//! the same sentence.

use crate::support::Place;

/// The messages of both commands about a file, which must be equal.
fn refused(file: &str) -> String {
    let place = Place::new(file);
    let (code, checked) = place.agon(&["serve", "--check", "--config", "agon.toml"]);
    assert_eq!(code, Some(2), "{checked}");
    let (code, served) = place.agon(&[
        "serve",
        "--tcp",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--config",
        "agon.toml",
    ]);
    assert_eq!(code, Some(2), "{served}");
    assert_eq!(checked, served);
    assert!(!place.path("agon-data").exists(), "nothing was begun");
    checked
}

fn fish(settings: &str) -> String {
    format!("[fish]\nlisten = \"127.0.0.1:0\"\n{settings}\n")
}

fn trains(settings: &str) -> String {
    format!("[trains]\nlisten = \"127.0.0.1:0\"\n{settings}\n")
}

/// Three cities in a row: three destinations.
const SMALL_MAP: &str = r#"{ width = 10, height = 10, cities = [["A", [0, 0]], ["B", [1, 1]], ["C", [2, 2]]], connections = { A = { B = { red = 3 } }, B = { C = { red = 3 } } } }"#;

#[test]
fn board_that_cannot_hold_all_penguins_is_refused() {
    let said = refused(&fish("config = { rows = 2, columns = 2 }"));
    assert!(said.contains("[fish]") && said.contains("4 tiles do not hold 8 penguins"), "{said}");
    assert!(said.contains("give a board with more tiles"), "{said}");
    // Eight tiles are enough for two players and not for three.
    let said = refused(&fish("config = { rows = 2, columns = 4 }"));
    assert!(said.contains("8 tiles do not hold 9 penguins of 3 players"), "{said}");
}

#[test]
fn map_with_too_few_destinations_is_refused() {
    for vocabulary in ["course", "memo"] {
        let map = format!("vocabulary = \"{vocabulary}\"\nconfig = {{ map = {SMALL_MAP} }}");
        let said = refused(&trains(&map));
        let why = "the map has 3 destinations, and a game of 8 players needs 19";
        assert!(said.contains("[trains]") && said.contains(why), "{said}");
        assert!(said.contains("lower at_most"), "{said}");
    }
}

#[test]
fn confirm_false_is_rejected_on_ports_that_need_confirmations() {
    let said = refused(&fish("config = { confirm = false }"));
    assert!(said.contains("never be told their colour"), "{said}");
    let said = refused(&trains("config = { confirm = false }"));
    assert!(said.contains("never be sent the map and their cards"), "{said}");
}

#[test]
fn files_are_relative_to_the_file_that_names_them() {
    let place = Place::new("");
    std::fs::create_dir(place.path("conf")).expect("a folder");
    let file = format!(
        "{}config_file = \"fish.json\"\n[erlang]\ncookie_file = \"cookie\"\n",
        fish("at_most = 4")
    );
    std::fs::write(place.path("conf/agon.toml"), file).expect("a file");
    std::fs::write(place.path("conf/cookie"), "secret\n").expect("a file");
    let check = || place.agon(&["serve", "--check", "--config", "conf/agon.toml"]);
    // The server's own folder has a file of that name, which is not meant.
    std::fs::write(place.path("fish.json"), r#"{"rows":5,"columns":5}"#).expect("a file");
    let (code, said) = check();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("conf/fish.json"), "{said}");
    std::fs::write(place.path("conf/fish.json"), r#"{"rows":2,"columns":2}"#).expect("a file");
    let (code, said) = check();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("4 tiles do not hold 8 penguins"), "{said}");
    std::fs::write(place.path("conf/fish.json"), r#"{"rows":4,"columns":4}"#).expect("a file");
    let (code, said) = check();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn help_mentions_the_ports_and_the_node() {
    let (code, said) = Place::new("").agon(&["serve", "--help"]);
    assert_eq!(code, Some(0), "{said}");
    for table in ["[fish]", "[trains]", "[erlang]"] {
        assert!(said.contains(table), "{table} is missing");
    }
}
