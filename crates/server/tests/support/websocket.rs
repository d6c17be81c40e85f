//! A WebSocket made by hand, over any stream.

use agon_wire::websocket::{Frames, Incoming, Opcode, accept_key, encode};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// A message that a client receives.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Heard {
    Message(Value),
    Ping,
    Pong(Vec<u8>),
    Close(Option<u16>),
    /// The end of the connection.
    End,
}

pub(crate) struct Client<S> {
    pub(crate) stream: S,
    frames: Frames,
}

/// The head of a handshake, with more headers.
pub(crate) fn handshake(more: &str) -> String {
    handshake_at("/api/v1/play", more)
}

/// A handshake from another page.
pub(crate) fn handshake_at(path: &str, more: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\n\
         connection: keep-alive, Upgrade\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: {KEY}\r\n{more}\r\n"
    )
}

impl Client<TcpStream> {
    /// Over a plain socket, with patience.
    pub(crate) fn open(socket: TcpStream) -> Client<TcpStream> {
        Client::open_at(socket, "/api/v1/play")
    }

    /// The same, to another page.
    pub(crate) fn open_at(socket: TcpStream, path: &str) -> Client<TcpStream> {
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket.set_nodelay(true).unwrap();
        Client::over_at(socket, path)
    }
}

impl<S: Read + Write> Client<S> {
    /// Shakes hands over a stream.
    pub(crate) fn over(stream: S) -> Client<S> {
        Client::over_at(stream, "/api/v1/play")
    }

    fn over_at(mut stream: S, path: &str) -> Client<S> {
        stream.write_all(handshake_at(path, "").as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains(&accept_key(KEY)), "{head}");
        Client { stream, frames: Frames::of_server(16 * 1024 * 1024) }
    }

    pub(crate) fn say(&mut self, message: &str) {
        self.frame(Opcode::Text, message.as_bytes());
    }

    pub(crate) fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        let mut bytes = Vec::new();
        encode(&mut bytes, opcode, payload, Some([7, 77, 177, 201]));
        self.stream.write_all(&bytes).unwrap();
    }

    /// A frame whose first byte is made by hand.
    pub(crate) fn frame_with(&mut self, first: u8, payload: &[u8]) {
        let mut bytes = Vec::new();
        encode(&mut bytes, Opcode::Text, payload, Some([7, 77, 177, 201]));
        bytes[0] = first;
        self.stream.write_all(&bytes).unwrap();
    }

    pub(crate) fn hear(&mut self) -> Heard {
        loop {
            match self.frames.take() {
                Some(Ok(Incoming::Text(text))) => {
                    return Heard::Message(serde_json::from_slice(text).unwrap());
                }
                Some(Ok(Incoming::Ping(_))) => return Heard::Ping,
                Some(Ok(Incoming::Pong(payload))) => return Heard::Pong(payload.to_vec()),
                Some(Ok(Incoming::Close(code))) => return Heard::Close(code),
                Some(Err(bad)) => panic!("{bad}"),
                None => {}
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(count @ 1..) => self.frames.push(&piece[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    panic!("waited in vain for a message")
                }
                _ => return Heard::End,
            }
        }
    }

    /// The next message, which must be of this type and hold this text.
    pub(crate) fn expect(&mut self, kind: &str, text: &str) -> Value {
        match self.hear() {
            Heard::Message(message) => {
                assert_eq!(message["type"], kind, "{message}");
                assert!(message.to_string().contains(text), "{text:?} in {message}");
                message
            }
            other => panic!("{other:?} instead of {kind}"),
        }
    }

    /// The next message of this type.
    pub(crate) fn expect_soon(&mut self, kind: &str) -> Value {
        loop {
            match self.hear() {
                Heard::Message(message) if message["type"] == kind => return message,
                Heard::Message(_) | Heard::Ping => {}
                other => panic!("{other:?} instead of {kind}"),
            }
        }
    }

    pub(crate) fn log_in(&mut self, account: &str) -> Value {
        self.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
        self.say(&format!(
            r#"{{"type":"login","account":"{account}","password":"the pw of {account}","register":true}}"#
        ));
        self.expect_soon("welcome")
    }

    pub(crate) fn log_in_with(&mut self, token: &str) {
        self.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
        self.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
    }
}
