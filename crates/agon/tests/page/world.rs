//! A server of its own with people, programs and tournaments, as the API has them.

use crate::browser::Browser;
use crate::support::{PATIENCE, Place, Process, Server, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

/// The password of every account in these tests.
pub(crate) const PASSWORD: &str = "swordfish";

/// A server, and the way to its page.
pub(crate) struct World {
    place: Place,
    server: Server,
    http: String,
    /// The operator's token.
    pub(crate) operator: String,
}

impl World {
    pub(crate) fn start() -> World {
        World::with("")
    }

    /// With this configuration of the server.
    pub(crate) fn with(config: &str) -> World {
        let place = Place::new(config);
        let server = Server::start(&place);
        let http = address(&server);
        let operator = server.said["operator"]["token"].as_str().expect("a token").to_owned();
        World { place, server, http, operator }
    }

    /// The address of a view.
    pub(crate) fn url(&self, hash: &str) -> String {
        format!("http://{}/{hash}", self.http)
    }

    /// Where players connect over TCP.
    pub(crate) fn tcp(&self) -> &str {
        &self.server.address
    }

    /// A browser that shows a view.
    pub(crate) fn browser(&self, hash: &str) -> Browser {
        let mut browser = Browser::start();
        browser.open(&self.url(hash));
        browser
    }

    /// The same, logged in by this token.
    pub(crate) fn browser_of(&self, token: &str, hash: &str) -> Browser {
        let whose = self.get_as(Some(token), "/api/v1/sessions");
        let mut session = whose.clone();
        session["token"] = token.into();
        session["expires_at"] = json!(9_000_000_000_000_u64);
        let mut browser = self.browser("#/docs");
        let kept = json!(session.to_string());
        browser.eval(&format!("localStorage.setItem('agon.session', {kept})"));
        browser.open(&self.url(hash));
        browser
    }

    /// Registers a person, for a token.
    pub(crate) fn person(&self, name: &str) -> String {
        let account = json!({"account": name, "password": PASSWORD, "kind": "person"});
        assert_eq!(self.send("POST", None, "/api/v1/accounts", &account).0, 201);
        let login = json!({"account": name, "password": PASSWORD});
        let (status, session) = self.send("POST", None, "/api/v1/sessions", &login);
        assert_eq!(status, 201, "{session}");
        session["token"].as_str().expect("a token").to_owned()
    }

    /// A program that plays one tournament, as a house player does.
    pub(crate) fn program(&self, name: &str, bot: &str) -> Process {
        self.place.player(self.tcp(), name, &["--bot", bot])
    }

    /// A program that plays one tournament and records what it writes to stderr; and its receipt.
    pub(crate) fn recorded_program(&self, name: &str, words: &[&str]) -> (Process, PathBuf) {
        let file = self.place.path("receipt.jsonl");
        let receipt = file.to_str().expect("a path in UTF-8").to_owned();
        let mut more = vec!["--no-sandbox", "--receipt", &receipt, "--"];
        more.extend(words);
        (self.place.player(self.tcp(), name, &more), file)
    }

    /// Announces a tournament, as the operator.
    pub(crate) fn announce(&self, wanted: Value) {
        let (status, body) =
            self.send("POST", Some(&self.operator), "/api/v1/tournaments", &wanted);
        assert_eq!(status, 201, "{body}");
    }

    /// Announces a tournament that at least two and at most so many may sign up for.
    pub(crate) fn open_sign_up(&self, id: &str, at_most: u32) {
        let selection = json!({
            "by": "sign-up", "at_least": 2, "at_most": at_most, "wait_ms": 600_000,
            "second_wait_ms": 0, "second_at_least": 2,
        });
        self.announce(json!({"id": id, "preset": "yahtzee-class", "selection": selection}));
    }

    /// Announces a tournament of house players.
    pub(crate) fn house_cup(&self, id: &str, preset: &str, players: &[&str]) {
        let selection = json!({"by": "named", "players": players});
        self.announce(json!({"id": id, "preset": preset, "selection": selection}));
    }

    /// Waits until a tournament is over.
    pub(crate) fn until_over(&self, id: &str) {
        let path = format!("/api/v1/tournaments/{id}");
        until("it is over", || self.get(&path)["standing"] == "over");
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.get_as(None, path)
    }

    pub(crate) fn get_as(&self, token: Option<&str>, path: &str) -> Value {
        let (status, body) = self.send("GET", token, path, &Value::Null);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// An order of the operator.
    pub(crate) fn order(&self, path: &str, body: Value) {
        let (status, answer) = self.send("POST", Some(&self.operator), path, &body);
        assert_eq!(status, 204, "{path}: {answer}");
    }

    /// A request made by hand: the status, and the body if it is JSON.
    pub(crate) fn send(
        &self,
        method: &str,
        token: Option<&str>,
        path: &str,
        body: &Value,
    ) -> (u16, Value) {
        let (head, text) = self.raw(method, token, path, body);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.expect("a status"), serde_json::from_str(&text).unwrap_or_default())
    }

    /// A request made by hand: the head of the answer, and its body.
    pub(crate) fn raw(
        &self,
        method: &str,
        token: Option<&str>,
        path: &str,
        body: &Value,
    ) -> (String, String) {
        let mut socket = TcpStream::connect(&self.http).expect("the server is there");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
        let (token, body) = (token.unwrap_or_default(), body.to_string());
        let (host, length) = (&self.http, body.len());
        let request = format!(
            "{method} {path} HTTP/1.0\r\nhost: {host}\r\ncontent-type: application/json\r\n{token}content-length: {length}\r\n\r\n\
             {body}"
        );
        socket.write_all(request.as_bytes()).expect("the server takes the request");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("an answer");
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_owned(), text.to_owned())
    }

    /// Kills the server where it stands.
    pub(crate) fn kill(&mut self) {
        self.server.process.signal(Signal::KILL);
        self.server.process.code();
    }

    /// Starts it again where it was.
    pub(crate) fn start_again(&mut self) {
        self.server = Server::start_with_http(&self.place, &self.server.address, &self.http);
        assert_eq!(address(&self.server), self.http);
    }
}

fn address(server: &Server) -> String {
    let http = server.said["http"].as_str().expect("an address");
    let http = http.trim_start_matches("http://");
    http.split('/').next().expect("a host").to_owned()
}
