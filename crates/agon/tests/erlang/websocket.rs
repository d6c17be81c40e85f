//! A player over WebSocket, as a page in a browser is one.

use crate::support::until;
use agon_bots::Houses;
use agon_games::Seat;
use agon_wire::websocket::{Frames, Incoming, Opcode, encode};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;

/// Logs in and plays by a house player's bot until its tournament is over.
pub(crate) fn plays(http: &str, user: &'static str, bot: &'static str) -> JoinHandle<()> {
    let mut socket = TcpStream::connect(http).expect("the server is there");
    let key = "dGhlIHNhbXBsZSBub25jZQ==";
    let head = format!(
        "GET /api/v1/play HTTP/1.1\r\nhost: {http}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).expect("it reads");
    let mut page = Page { socket, frames: Frames::of_server(1 << 20) };
    page.pass_head();
    page.say(&json!({"type": "hello", "protocol": 1, "name": "a page"}));
    let password = format!("pw of {user}");
    let login = json!({"type": "login", "account": user, "password": password, "register": true});
    page.say(&login);
    std::thread::spawn(move || page.play(user, bot))
}

struct Page {
    socket: TcpStream,
    frames: Frames,
}

impl Page {
    /// Reads to the end of the answer's head, and no further.
    fn pass_head(&mut self) {
        let mut head = Vec::new();
        until("the handshake is over", || {
            let mut byte = [0];
            self.socket.read_exact(&mut byte).expect("a head");
            head.push(byte[0]);
            head.ends_with(b"\r\n\r\n")
        });
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    }

    fn say(&mut self, message: &Value) {
        let mut out = Vec::new();
        encode(&mut out, Opcode::Text, message.to_string().as_bytes(), Some([1, 2, 3, 4]));
        self.socket.write_all(&out).expect("it reads");
    }

    fn play(mut self, user: &str, bot: &str) {
        let mut bot = Houses::standard().make("yahtzee", bot).expect("a house player");
        let mut bytes = [0; 8192];
        loop {
            while let Some(came) = self.frames.take() {
                let Ok(Incoming::Text(text)) = came else { continue };
                let message: Value = serde_json::from_slice(text).expect("JSON");
                if message["about"] == "tournament-over" {
                    return;
                }
                if message["type"] != "request" {
                    continue;
                }
                let id = message["id"].as_str().expect("an id").to_owned();
                let seat = Seat(message["seat"].as_u64().expect("a seat") as u8);
                let (asked, view) = (message["question"].to_string(), message["view"].to_string());
                let answer = bot.answer_text(user, &id, seat, &asked, &view).expect("an answer");
                let answer: Value = serde_json::from_str(answer.get()).expect("JSON");
                self.say(&json!({"type": "answer", "id": id, "answer": answer}));
            }
            let count = self.socket.read(&mut bytes).expect("a socket");
            assert!(count > 0, "the server hung up");
            self.frames.push(&bytes[..count]);
        }
    }
}
