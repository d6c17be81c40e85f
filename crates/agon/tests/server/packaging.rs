//! The files in `packaging/`, checked with the real tools where those are installed.

use crate::support::{AGON, Place, Server};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn packaged(name: &str) -> String {
    let path = root().join("packaging").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn checked(place: &Place, config: &str) -> Value {
    let (code, said) = place.agon(&["serve", "--check", "--json", "--config", config]);
    assert_eq!(code, Some(0), "{said}");
    serde_json::from_str(&said).expect("one line of JSON")
}

#[test]
fn the_example_shows_every_setting_and_its_default() {
    let place = Place::new("");
    let example = packaged("agon.toml");
    std::fs::write(place.path("as-it-is.toml"), &example).expect("a file");
    // A comment that is not a sentence is a setting.
    let taken = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => rest.to_owned(),
        _ => line.to_owned(),
    };
    let changed: Vec<String> = example.lines().map(taken).collect();
    std::fs::write(place.path("changed.toml"), changed.join("\n")).expect("a file");
    let defaults = checked(&place, "agon.toml");
    assert_eq!(checked(&place, "as-it-is.toml"), defaults);
    assert_eq!(checked(&place, "changed.toml"), defaults);
    let (_, said) = place.agon(&["serve", "--check", "--config", "changed.toml"]);
    let untold: Vec<&str> = said.lines().filter(|line| line.ends_with("# default")).collect();
    assert_eq!(untold, Vec::<&str>::new(), "settings that the example lacks");
}

#[test]
fn the_unit_is_one_and_keeps_the_server_in() {
    let place = Place::new("");
    let unit = packaged("agon.service");
    assert!(unit.contains("ExecStart=/usr/bin/agon serve\n"));
    let path = place.path("agon.service");
    std::fs::write(&path, unit.replace("/usr/bin/agon", AGON)).expect("a file");
    let analyze = |args: &[&str]| Command::new("systemd-analyze").args(args).arg(&path).output();
    let Ok(verified) = analyze(&["--man=no", "verify"]) else {
        return eprintln!("not run: there is no systemd-analyze");
    };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.success() && !said.contains("agon.service"), "{said}");
    let rated = analyze(&["security", "--offline=yes", "--threshold=20"]).expect("it was there");
    let said = String::from_utf8_lossy(&rated.stdout).into_owned();
    assert!(rated.status.success(), "more exposed than 2.0: {said}");
}

/// The instructions of the Dockerfile, whole.
fn instructions(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    joined.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// The files and folders that the first stage of the image copies.
fn copied(all: &[String]) -> Vec<&str> {
    let copies = all.iter().filter(|line| line.starts_with("COPY ") && !line.contains("--from="));
    let mut sources = Vec::new();
    for line in copies {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        sources.extend(words.split_last().expect("a place to copy to").1);
    }
    sources
}

#[test]
fn image_copies_the_whole_workspace_and_every_included_file() {
    let all = instructions(&packaged("Dockerfile"));
    let (place, root) = (Place::new(""), root().canonicalize().expect("a repository"));
    for source in copied(&all) {
        std::os::unix::fs::symlink(root.join(source), place.path(source)).expect("a link");
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--offline", "--locked", "--no-deps", "--format-version", "1"]);
    let done = cargo.current_dir(place.path("")).output().expect("cargo starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let demo = include_str!("../../src/command/demo/peers.rs");
    for file in demo.split("include_str!(\"../../../../../").skip(1) {
        let file = file.split('"').next().expect("a path");
        assert!(place.path(file).exists(), "{file} is not copied");
    }
}

#[test]
fn image_is_made_of_existing_files() {
    let all = instructions(&packaged("Dockerfile"));
    let ignored = packaged("Dockerfile.dockerignore");
    let sources = copied(&all);
    for source in &sources {
        assert!(root().join(source).exists(), "{source} does not exist");
        assert!(ignored.lines().any(|line| line == format!("!{source}")), "{source}");
    }
    assert!(sources.len() >= 4, "{all:?}");
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(all[0].starts_with(&format!("FROM rust:{version}-")), "{}", all[0]);
    let user = all.iter().position(|line| line == "USER agon").expect("no root");
    let entry = all.iter().position(|line| line.starts_with("ENTRYPOINT")).expect("an entry");
    assert!(user < entry);
    // Every variable is a setting: the server would say so if not.
    let place = Place::new("");
    let env = all.iter().find(|line| line.starts_with("ENV ")).expect("settings");
    let mut command = place.command(&["serve", "--check", "--json"]);
    for pair in env.split_whitespace().skip(1) {
        let (name, value) = pair.split_once('=').expect("NAME=VALUE");
        command.env(name, value);
    }
    let done = command.output().expect("agon starts");
    assert!(done.status.success(), "{done:?}");
    let found: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(found["data"], "/data");
    assert_eq!(found["log_format"], "json");
}

#[test]
fn the_image_knows_whether_the_server_is_well() {
    let all = instructions(&packaged("Dockerfile"));
    let check = all.iter().find(|line| line.starts_with("HEALTHCHECK")).expect("a check");
    let (_, command) = check.split_once(" CMD ").expect("a command");
    let words: Vec<String> = serde_json::from_str(command).expect("a list in JSON");
    assert_eq!(words[..2], ["bash", "-c"]);
    let healthy = |port: &str| {
        let script = words[2].replace("/7380", &format!("/{port}"));
        assert_ne!(script, words[2]);
        Command::new("bash").args(["-c", &script]).output().map(|done| done.status.success())
    };
    let place = Place::new("");
    let server = Server::start(&place);
    let address = server.said["http"].as_str().expect("an address").to_owned();
    let port = address.rsplit(':').next().expect("a port");
    match healthy(port) {
        Err(_) => eprintln!("not run: there is no bash"),
        Ok(well) => {
            assert!(well, "the server is up");
            drop(server);
            assert!(!healthy(port).expect("bash was there"), "the server is gone");
        }
    }
}
