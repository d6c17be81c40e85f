//! Connections made by hand over either transport, with everything that came over them; pages; and
//! servers whose stderr is kept.

use crate::support::{Place, Server, until};
use agon_bots::Houses;
use agon_wire::lines::Lines;
use agon_wire::websocket::{Frames, Incoming, Opcode, encode};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// The longest message a test reads.
const BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    Tcp,
    WebSocket,
}

pub(crate) const BOTH: [Transport; 2] = [Transport::Tcp, Transport::WebSocket];

enum Framing {
    Lines(Lines),
    Frames(Frames),
}

/// A connection of a player, and all it heard.
pub(crate) struct Wire {
    socket: TcpStream,
    framing: Framing,
    /// Every message that came, as it came.
    pub(crate) heard: Vec<String>,
}

impl Wire {
    pub(crate) fn open(server: &Server, transport: Transport) -> Wire {
        let framing = match transport {
            Transport::Tcp => Framing::Lines(Lines::new(BYTES_MAX)),
            Transport::WebSocket => Framing::Frames(Frames::of_server(BYTES_MAX)),
        };
        let address = match transport {
            Transport::Tcp => server.address.as_str(),
            Transport::WebSocket => server.said["http"].as_str().expect("an address"),
        };
        let mut wire = Wire { socket: connect(address), framing, heard: Vec::new() };
        if transport == Transport::WebSocket {
            wire.shake_hands();
        }
        wire
    }

    /// Says hello and logs in; gives the welcome.
    pub(crate) fn log_in(&mut self, name: &str) -> Value {
        self.say_hello();
        self.say(&login(name));
        self.hear_until("welcome")
    }

    /// Says hello and comes back with a token.
    pub(crate) fn come_back(&mut self, token: &str) {
        self.say_hello();
        self.say(&json!({"type": "login", "token": token}));
    }

    pub(crate) fn say_hello(&mut self) {
        self.say(&json!({"type": "hello", "protocol": 1, "name": "test"}));
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.say_bytes(message.to_string().as_bytes());
    }

    /// Sends bytes as one line, or as one text frame. A closed connection ignores them.
    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        let mut sent = Vec::new();
        match &self.framing {
            Framing::Lines(_) => sent.extend_from_slice(&[bytes, b"\n"].concat()),
            Framing::Frames(_) => encode(&mut sent, Opcode::Text, bytes, Some([7, 77, 177, 201])),
        }
        let _ = self.socket.write_all(&sent);
    }

    /// The socket, for what is no message.
    pub(crate) fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// The next message; `None` at the end of the connection.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        loop {
            if let Some(text) = self.next_text() {
                let message = serde_json::from_str(&text).expect("messages are JSON");
                self.heard.push(text);
                return Some(message);
            }
            let mut piece = [0; 8192];
            let count = match self.socket.read(&mut piece) {
                Ok(count @ 1..) => count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    panic!("waited in vain for a message after {:?}", self.heard.last())
                }
                _ => return None,
            };
            match &mut self.framing {
                Framing::Lines(lines) => lines.push(&piece[..count]),
                Framing::Frames(frames) => frames.push(&piece[..count]),
            }
        }
    }

    fn next_text(&mut self) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("messages are UTF-8");
        match &mut self.framing {
            Framing::Lines(lines) => lines.take().map(|line| text(line.expect("a short line"))),
            Framing::Frames(frames) => loop {
                match frames.take()?.expect("good frames") {
                    Incoming::Text(bytes) => return Some(text(bytes)),
                    Incoming::Ping(_) | Incoming::Pong(_) | Incoming::Close(_) => {}
                }
            },
        }
    }

    /// The next message of this type.
    pub(crate) fn hear_until(&mut self, kind: &str) -> Value {
        let started = Instant::now();
        loop {
            // Signs of life come all the time.
            assert!(started.elapsed() < PATIENCE, "waited in vain for {kind}");
            let message = self.hear().unwrap_or_else(|| panic!("closed before {kind}"));
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// The next notice about this.
    pub(crate) fn notice(&mut self, about: &str) -> Value {
        loop {
            let notice = self.hear_until("notice");
            if notice["about"] == about {
                return notice;
            }
        }
    }

    /// Everything until the server closes the connection.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.hear()).collect()
    }

    fn shake_hands(&mut self) {
        let head = "GET /api/v1/play HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n\
                    connection: Upgrade\r\nsec-websocket-version: 13\r\n\
                    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        self.socket.write_all(head.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.socket.read_exact(&mut byte).expect("it answers");
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&answer));
    }
}

/// The password of an account of a test.
pub(crate) fn password(name: &str) -> String {
    format!("the word of {name}")
}

/// A login with a password, for an account that there may be or not.
pub(crate) fn login(name: &str) -> Value {
    json!({"type": "login", "account": name, "password": password(name), "register": true})
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let socket = TcpStream::connect(address).expect("the server is there");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    socket.set_write_timeout(Some(PATIENCE)).expect("a timeout");
    socket.set_nodelay(true).expect("an option");
    socket
}

/// One request to the HTTP interface: its status and body.
pub(crate) fn http(
    server: &Server,
    token: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> (u16, String) {
    let mut socket = connect(server.said["http"].as_str().expect("an address"));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.0\r\ncontent-type: application/json\r\nauthorization: Bearer {token}\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(head.as_bytes()).expect("a request");
    let mut text = String::new();
    socket.read_to_string(&mut text).expect("an answer");
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    (status, text.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned())
}

/// A page that everybody may see.
pub(crate) fn page(server: &Server, path: &str) -> String {
    let (status, body) = http(server, "", "GET", path, &Value::Null);
    assert_eq!(status, 200, "{path}: {body}");
    body
}

/// A server with an operator; what it says on stderr is kept in the file `stderr`.
pub(crate) struct Watched {
    pub(crate) server: Server,
    pub(crate) operator: String,
}

impl Watched {
    pub(crate) fn start(place: &Place, more: &[&str]) -> Watched {
        let args = ["serve", "--config", "agon.toml", "--json", "--tcp", "127.0.0.1:0"];
        let args = [&args[..], &["--http", "127.0.0.1:0"], more].concat();
        let mut command = place.command(&args);
        command.stderr(File::create(place.path("stderr")).expect("a file"));
        let server = Server::from_command(command).expect("a server starts");
        let operator = server.said["operator"]["token"].as_str().expect("a first token").to_owned();
        Watched { server, operator }
    }

    /// Announces a tournament of named players, who must be there.
    pub(crate) fn announce(&self, id: &str, preset: &str, players: &[&str], more: &Value) {
        let mut body = json!({"id": id, "preset": preset});
        body["selection"] = json!({"by": "named", "players": players});
        for (field, value) in more.as_object().expect("fields") {
            body[field] = value.clone();
        }
        let path = "/api/v1/tournaments";
        let (status, said) = http(&self.server, &self.operator, "POST", path, &body);
        assert_eq!(status, 201, "{said}");
    }

    /// Waits for the end of a tournament, and checks what can be checked of any.
    pub(crate) fn finish(self, place: &Place, tournament: &str) {
        until("the tournament is over", || place.is_over(tournament));
        drop(self.server);
        place.verify();
        let said = std::fs::read_to_string(place.path("stderr")).expect("a file");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// The answer of a house player to a request: the same every time.
pub(crate) fn house_answer(game: &str, house: &str, player: &str, request: &Value) -> Value {
    let mut house = Houses::standard().make(game, house).expect("the entry exists");
    let seat = serde_json::from_value(request["seat"].clone()).expect("a seat");
    let id = request["id"].as_str().expect("an id");
    let (question, view) = (request["question"].to_string(), request["view"].to_string());
    let answer = house.answer_text(player, id, seat, &question, &view).expect("a request");
    let answer: Value = serde_json::from_str(answer.get()).expect("answers are JSON");
    json!({"type": "answer", "id": id, "answer": answer})
}
