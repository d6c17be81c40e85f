//! Remote control of a browser: commands and events as JSON over one WebSocket.
//!
//! Chromium speaks the DevTools protocol and Firefox WebDriver BiDi. Both number their commands and
//! answer with `result` or `error`, so one connection serves for both.

use crate::support::PATIENCE;
use agon_wire::websocket::{Frames, Incoming, Opcode, encode};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Larger than any screenshot.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A connection to a browser.
pub(crate) struct Remote {
    stream: TcpStream,
    frames: Frames,
    latest: u64,
    events: Vec<Value>,
}

impl Remote {
    /// Connects to `ws://HOST:PORT/PATH`.
    pub(crate) fn connect(address: &str) -> Remote {
        let rest = address.strip_prefix("ws://").expect("an address of a WebSocket");
        let (host, path) = rest.split_once('/').expect("a path");
        let mut stream = TcpStream::connect(host).expect("the browser listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        let request = format!(
            "GET /{path} HTTP/1.1\r\nhost: {host}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("the browser takes the request");
        let (started, mut head) = (Instant::now(), Vec::new());
        while !head.ends_with(b"\r\n\r\n") {
            assert!(started.elapsed() < PATIENCE, "the browser does not shake hands");
            let mut byte = [0];
            match stream.read(&mut byte) {
                Ok(0) => panic!("the browser is gone"),
                Ok(_) => head.push(byte[0]),
                Err(error) => assert!(is_timeout(&error), "{error}"),
            }
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        let frames = Frames::of_server(MESSAGE_BYTES_MAX);
        Remote { stream, frames, latest: 0, events: Vec::new() }
    }

    /// Sends a command, and waits for its result.
    pub(crate) fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.try_call(session, method, params)
            .unwrap_or_else(|error| panic!("{method} failed: {error}"))
    }

    /// The same, where that may fail.
    pub(crate) fn try_call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, Value> {
        self.latest += 1;
        let id = self.latest;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = Vec::new();
        encode(&mut bytes, Opcode::Text, message.to_string().as_bytes(), Some([1, 2, 3, 4]));
        self.stream.write_all(&bytes).expect("the browser listens");
        let started = Instant::now();
        loop {
            assert!(started.elapsed() < PATIENCE, "the browser does not answer to {method}");
            let Some(came) = self.next() else { continue };
            if came["id"] != id {
                self.events.push(came);
            } else if came.get("error").is_some() {
                return Err(came);
            } else {
                return Ok(came["result"].clone());
            }
        }
    }

    /// Everything that happened since the last time.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        while let Some(came) = self.next() {
            self.events.push(came);
        }
        std::mem::take(&mut self.events)
    }

    /// The next message, if one is there or comes in a moment.
    fn next(&mut self) -> Option<Value> {
        loop {
            match self.frames.take() {
                Some(Ok(Incoming::Text(text))) => {
                    return Some(serde_json::from_slice(text).expect("messages are JSON"));
                }
                Some(Ok(Incoming::Close(_))) => panic!("the browser ends"),
                Some(Ok(_)) => continue,
                Some(Err(bad)) => panic!("{bad}"),
                None => {}
            }
            let mut piece = [0; 64 * 1024];
            match self.stream.read(&mut piece) {
                Ok(0) => panic!("the browser is gone"),
                Ok(count) => self.frames.push(&piece[..count]),
                Err(error) => {
                    assert!(is_timeout(&error), "{error}");
                    return None;
                }
            }
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
