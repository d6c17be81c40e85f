//! A tiny HTTP client: one connection a request, and one that stays for events.

use super::contract;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The program's reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The status must be this one; errors must be problems of that status.
    pub(crate) fn expect(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{self:?}");
        if status >= 400 {
            assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
            let problem = self.json();
            assert_eq!(problem["status"], status, "{problem}");
            for field in ["type", "title", "detail"] {
                assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
            }
            // A person may read it on the page; what only a programmer understands is in `hint`.
            let detail = problem["detail"].as_str().unwrap_or_default();
            let foreign = FOREIGN.iter().find(|word| detail.contains(*word));
            assert_eq!(foreign, None, "{problem}");
        }
        self
    }
}

/// Words of HTTP and of parsers.
const FOREIGN: [&str; 12] = [
    "GET ", "POST ", "PUT ", "DELETE ", "HTTP", "JSON", " body", "header", " column ", "at line ",
    "at_least", "at_most",
];

fn open(address: SocketAddr, head: &str, body: &str) -> BufReader<TcpStream> {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = body.len();
    let json = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    let message = format!("{head}host: test\r\n{json}content-length: {length}\r\n\r\n{body}");
    // A server that has heard enough may close before all is written.
    let _ = socket.write_all(message.as_bytes());
    BufReader::new(socket)
}

fn head_of(from: &mut impl BufRead) -> (u16, BTreeMap<String, String>) {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}")).parse().unwrap();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        from.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    (status, headers)
}

/// The head of what comes back for a head; nothing if the connection is closed over it.
pub(crate) fn head(address: SocketAddr, head: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let _ = socket.write_all(head.as_bytes());
    let lines = BufReader::new(socket).lines().map_while(Result::ok);
    let mut text = String::new();
    for line in lines {
        text += &line;
        text += "\n";
        if line.is_empty() && text.starts_with("HTTP/1.1 101") {
            break;
        }
    }
    text
}

/// One request with everything said by hand.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: &str,
) -> Reply {
    let token = token.map_or(String::new(), |t| format!("authorization: Bearer {t}\r\n"));
    let head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n{token}");
    let mut from = open(address, &head, body);
    let (status, headers) = head_of(&mut from);
    let mut body = Vec::new();
    // Events may never end.
    if headers.get("content-type").is_none_or(|media| media != "text/event-stream") {
        from.read_to_end(&mut body).unwrap();
    }
    // The archive of the Python client is no text.
    let body = String::from_utf8_lossy(&body).into_owned();
    let reply = Reply { status, headers, body };
    contract::check(method, path, &reply);
    reply
}

/// One server-sent event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: String,
}

/// Events as they come.
pub(crate) struct Events {
    pub(crate) status: u16,
    path: String,
    from: BufReader<TcpStream>,
}

impl Events {
    pub(crate) fn open(address: SocketAddr, path: &str, last: Option<&str>) -> Events {
        let last = last.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        // Under HTTP/1.0 the body is not cut into chunks.
        let head = format!("GET {path} HTTP/1.0\r\naccept: text/event-stream\r\n{last}");
        let mut from = open(address, &head, "");
        let (status, _) = head_of(&mut from);
        Events { status, path: path.to_owned(), from }
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let mut event = Event { name: String::new(), id: String::new(), data: String::new() };
        let mut line = String::new();
        loop {
            line.clear();
            if self.from.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("event", name)) => event.name = name.into(),
                Some(("id", id)) => event.id = id.into(),
                Some(("data", data)) => event.data = data.into(),
                // A comment that keeps the connection alive.
                Some(_) => {}
                None if event.name.is_empty() => {}
                None => {
                    contract::check_event(&self.path, &event.data);
                    return Some(event);
                }
            }
        }
    }
}
