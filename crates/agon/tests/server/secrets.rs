//! Passwords, tokens and hidden luck are nowhere they do not belong: a run with everything that
//! can go wrong with them, told at the finest level, and then a search of all that is left.

use crate::operations::http;
use crate::support::{Client, Place, Server, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;

const CONFIG: &str = "[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-class\"\n\
                      named = [\"ann\", \"house:greedy\"]\n[[tournament]]\nname = \"duel\"\n\
                      preset = \"yahtzee-queue\"\nnamed = [\"eve\", \"house:greedy\"]\n";

/// Secrets that no output may contain, besides tokens.
const PASSWORDS: [&str; 7] = [
    "swordfish",
    "first-guess",
    "pass-as-name",
    "in-a-list",
    "half-a-change",
    "whole-change",
    "cut-off-body",
];

fn post(address: &str, method: &str, path: &str, token: &str, body: &str) -> Value {
    let length = body.len();
    let answer = http(
        address,
        &format!(
            "{method} /api/v1{path} HTTP/1.0\r\ncontent-type: application/json\r\nauthorization: Bearer {token}\r\n\
             content-length: {length}\r\n\r\n{body}"
        ),
    );
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).unwrap_or(Value::Null)
}

fn token_of(message: &Value) -> String {
    message["token"].as_str().expect("a token").to_owned()
}

/// Logs in and fails to in every way there is; gives all tokens that were made.
fn be_careless(server: &Server) -> Vec<String> {
    let web = server.said["http"].as_str().expect("an address");
    let mut stranger = Client::connect(&server.address);
    stranger.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    for login in [
        r#"{"type":"login","account":"ann","password":"first-guess"}"#,
        r#"{"type":"login","account":"pass-as-name","password":"x"}"#,
        r#"{"type":"login","account":"ann","password":["in-a-list"]}"#,
        r#"{"type":"login","token":"0123456789abcdef-no-token"}"#,
    ] {
        stranger.say(login);
        stranger.hear_until("error");
    }
    // In the middle of a match, so that what cannot be read becomes evidence.
    let mut eve = Client::connect(&server.address);
    eve.log_in("eve", "swordfish");
    let token = token_of(&eve.hear_until("welcome"));
    eve.hear_until("request");
    eve.say(r#"{"type":"change-password","old":5,"new":"half-a-change"}"#);
    eve.hear_until("error");
    eve.say("this is no message");
    eve.hear_until("error");
    let session = json!({"account": "eve", "password": "swordfish"}).to_string();
    let second = token_of(&post(web, "POST", "/sessions", "", &session));
    let change = json!({"old": "swordfish", "new": "whole-change"}).to_string();
    post(web, "PUT", "/accounts/me/password", &second, &change);
    post(web, "POST", "/sessions", "", r#"{"account":"eve","password":"cut-off-body"#);
    post(web, "POST", "/queues/fish", &second, "");
    vec![token, second, "0123456789abcdef-no-token".into()]
}

fn search(dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => search(&path, found),
            path => found.push((path.display().to_string(), std::fs::read(&path).expect("a file"))),
        }
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn nothing_secret_is_left_lying_about() {
    let place = Place::new(CONFIG);
    let args = ["serve", "--config", "agon.toml", "--json", "--log", "trace"];
    let mut command = place.command(&[&args[..], &["--log-format", "json"]].concat());
    command.env("AGON_TCP", "127.0.0.1:0").env("AGON_HTTP", "127.0.0.1:0");
    command.stderr(File::create(place.path("stderr")).expect("a file"));
    let mut server = Server::from_command(command).expect("it starts");
    let mut tokens = vec![token_of(&server.said["operator"])];
    let mut ann = place.player(&server.address, "ann", &["--bot", "house:greedy"]);
    until("the cup is over", || place.is_over("cup"));
    assert_eq!(ann.code(), Some(0));
    tokens.extend(be_careless(&server));
    until("what could not be read is evidence", || {
        let duel = place.events("match/duel");
        duel.iter().any(|(_, event)| event.to_string().contains("\"malformed\""))
    });
    // Both forms of the log: with what is beside the database, and with all of it in it.
    let mut left = Vec::new();
    search(&place.path("agon-data"), &mut left);
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    search(&place.path("agon-data"), &mut left);
    let told = std::fs::read(place.path("stderr")).expect("a file");
    left.push(("stderr".into(), told.clone()));
    assert!(left.len() >= 4, "there is something to search");
    for (name, bytes) in &left {
        for secret in PASSWORDS.iter().copied().chain(tokens.iter().map(String::as_str)) {
            assert!(!holds(bytes, secret), "{secret} is in {name}");
        }
    }
    // Luck that is not revealed is in the log, and told to nobody.
    let kept = place.events("secret/");
    let secrets: Vec<&str> =
        kept.iter().filter_map(|(_, e)| e["data"]["secret"].as_str()).collect();
    assert_eq!(secrets.len(), 2);
    assert!(secrets.iter().all(|secret| !holds(&told, secret)));
    check_told(&String::from_utf8(told).expect("text"));
    place.verify();
}

/// Every line is an object that says how important it is and what happened; with ids.
fn check_told(text: &str) {
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert!(lines.iter().all(|line| line["level"].is_string() && line["message"].is_string()));
    let said = |words: &str| {
        let line = lines.iter().find(|line| line["message"] == words);
        line.unwrap_or_else(|| panic!("{words:?} is not told: {text}")).clone()
    };
    assert_eq!(said("logged in")["account"], "ann");
    assert!(said("a connection was opened")["conn"].is_u64());
    assert_eq!(said("a connection was opened")["wire"], "tcp");
    assert!(said("a connection was closed")["why"].is_string());
    assert_eq!(said("wrong password or token")["account"], "ann");
    assert_eq!(said("a tournament runs")["tournament"], "cup");
    assert_eq!(said("a tournament is over")["tournament"], "cup");
    assert_eq!(said("a match is over")["match"], "r1m1");
    let fault = said("a player is at fault");
    assert_eq!((&fault["account"], &fault["tournament"]), (&"eve".into(), &"duel".into()));
    assert!(fault["game"].is_u64() && fault["request"].is_string(), "{fault}");
    assert_eq!(said("answered")["level"], "DEBUG");
    said("the log was read");
    said("the server is up");
    said("stopped");
    for hidden in ["\"view\"", "\"dice\"", "\"answer\"", "\"keep\""] {
        assert!(!text.contains(hidden), "{hidden} is told");
    }
}
