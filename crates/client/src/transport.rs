//! Messages over a socket: lines over TCP, or text frames of a WebSocket, each with TLS or without.

use super::socket::Socket;
use crate::ClientError;
use agon_wire::lines::Lines;
use agon_wire::websocket::{self, Frames, Incoming, Opcode};
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The longest message a server sends.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The longest answer to a handshake.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// How long a handshake and one write may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The path on which a server accepts players over WebSocket.
const PLAY: &str = "/api/v1/play";

/// Where a server listens for players: the address of the only node, or those of several nodes of a
/// cluster, which serve the same players.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// At least one.
    nodes: Vec<NodeAddress>,
}

/// Where one node listens for players, and over which transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct NodeAddress {
    /// `HOST:PORT`.
    place: String,
    tls: bool,
    /// The path of a WebSocket; lines over TCP have none.
    path: Option<String>,
}

impl Address {
    /// `HOST:PORT` for lines over TCP, the same after `tcp://`, or after `tls://` where the server
    /// has a certificate; `ws://HOST[:PORT][/PATH]` or `wss://…` for a WebSocket. Commas separate
    /// the addresses of several nodes.
    pub fn parse(text: &str) -> Result<Address, ClientError> {
        let nodes: Result<Vec<NodeAddress>, ClientError> =
            text.split(',').map(NodeAddress::parse).collect();
        Ok(Address { nodes: nodes? })
    }

    /// The addresses of the nodes; at least one.
    pub(super) fn nodes(&self) -> &[NodeAddress] {
        &self.nodes
    }
}

impl NodeAddress {
    fn parse(text: &str) -> Result<NodeAddress, ClientError> {
        let wrong = || ClientError::Address(text.into());
        let (scheme, rest) = text.split_once("://").unwrap_or(("tcp", text));
        let (tls, port) = match scheme {
            "tcp" => (false, None),
            "tls" => (true, None),
            "ws" => (false, Some(80)),
            "wss" => (true, Some(443)),
            _ => return Err(wrong()),
        };
        let (place, path) = match (rest.split_once('/'), port) {
            (None, None) => (rest, None),
            (None | Some((_, "")), Some(_)) => (rest.trim_end_matches('/'), Some(PLAY.to_owned())),
            (Some((place, path)), Some(_)) => (place, Some(format!("/{path}"))),
            (Some(_), None) => return Err(wrong()),
        };
        let odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '@';
        if text.contains(odd) {
            return Err(wrong());
        }
        let named = place.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        let place = match (named, port) {
            (Some((host, port)), _) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                place.to_owned()
            }
            (None, Some(port)) if !place.is_empty() => format!("{place}:{port}"),
            _ => return Err(wrong()),
        };
        Ok(NodeAddress { place, tls, path })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, node) in self.nodes.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { "," })?;
            node.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NodeAddress { place, tls, path } = self;
        match (tls, path) {
            (false, None) => write!(f, "{place}"),
            (true, None) => write!(f, "tls://{place}"),
            (false, Some(path)) => write!(f, "ws://{place}{path}"),
            (true, Some(path)) => write!(f, "wss://{place}{path}"),
        }
    }
}

/// Decodes received bytes into messages.
#[derive(Debug)]
enum Framing {
    Lines(Lines),
    Frames(Frames),
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Wire {
    socket: Socket,
    framing: Framing,
    piece: Vec<u8>,
    /// Bytes that are not written yet.
    unsent: Vec<u8>,
}

impl Wire {
    pub(super) async fn open(address: &NodeAddress) -> io::Result<Wire> {
        let mut socket = Socket::open(&address.place, address.tls).await?;
        let framing = match &address.path {
            None => Framing::Lines(Lines::new(LINE_BYTES_MAX)),
            Some(path) => {
                let asking = upgrade(&mut socket, &address.place, path);
                let rest = tokio::time::timeout(PATIENCE, asking).await;
                let mut frames = Frames::of_server(LINE_BYTES_MAX);
                frames.push(&rest.map_err(|_| io::ErrorKind::TimedOut)??);
                Framing::Frames(frames)
            }
        };
        Ok(Wire { socket, framing, piece: vec![0; 16 * 1024], unsent: Vec::new() })
    }

    /// The next message. Cancellation-safe.
    pub(super) async fn receive(&mut self) -> io::Result<String> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(message);
            }
            self.write().await?;
            match self.socket.read(&mut self.piece).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => match &mut self.framing {
                    Framing::Lines(lines) => lines.push(&self.piece[..count]),
                    Framing::Frames(frames) => frames.push(&self.piece[..count]),
                },
            }
        }
    }

    /// The next complete message, if there is one. Answers pings on the way.
    fn take(&mut self) -> io::Result<Option<String>> {
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
        match &mut self.framing {
            Framing::Lines(lines) => {
                while let Some(line) = lines.take() {
                    if let Ok(line) = line {
                        return Ok(text(line));
                    }
                }
            }
            Framing::Frames(frames) => {
                while let Some(came) = frames.take() {
                    match came {
                        Ok(Incoming::Text(message)) => return Ok(text(message)),
                        Ok(Incoming::Ping(payload)) => {
                            let mask = Some(mask());
                            websocket::encode(&mut self.unsent, Opcode::Pong, payload, mask);
                        }
                        Ok(Incoming::Pong(_)) => {}
                        Ok(Incoming::Close(_)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                        Err(bad) => {
                            return Err(io::Error::new(
                                io::ErrorKind::InvalidData,
                                bad.to_string(),
                            ));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, line: &str) -> io::Result<()> {
        match &self.framing {
            Framing::Lines(_) => {
                self.unsent.extend_from_slice(line.as_bytes());
                self.unsent.push(b'\n');
            }
            Framing::Frames(_) => {
                let mask = Some(mask());
                websocket::encode(&mut self.unsent, Opcode::Text, line.as_bytes(), mask);
            }
        }
        let sending = tokio::time::timeout(PATIENCE, self.write());
        sending.await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    /// Writes the unsent bytes. Cancellation-safe.
    async fn write(&mut self) -> io::Result<()> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        while !self.unsent.is_empty() {
            let count = self.socket.write(&self.unsent).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.unsent.drain(..count);
        }
        self.socket.flush().await
    }
}

/// Upgrades an HTTP connection to a WebSocket; returns the bytes after the server's answer.
async fn upgrade(socket: &mut Socket, place: &str, path: &str) -> io::Result<Vec<u8>> {
    let key = websocket::key(std::array::from_fn(|_| random() as u8));
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {place}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).await?;
    socket.flush().await?;
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut came = Vec::new();
    let end = loop {
        if let Some(end) = came.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if came.len() > HEAD_BYTES_MAX {
            return Err(wrong("its answer to the handshake does not end".into()));
        }
        if socket.read_buf(&mut came).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let rest = came.split_off(end + 4);
    let head = String::from_utf8_lossy(&came);
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("101") {
        return Err(wrong(format!("it opens no WebSocket at {path}: {status}")));
    }
    let accepted = websocket::accept_key(&key);
    let is_it = |(name, value): (&str, &str)| {
        name.eq_ignore_ascii_case("sec-websocket-accept") && value.trim() == accepted
    };
    match lines.filter_map(|line| line.split_once(':')).any(is_it) {
        true => Ok(rest),
        false => Err(wrong("it does not answer the key of the handshake".into())),
    }
}

/// Bytes that no intermediary can predict. Masking only protects proxies.
fn mask() -> [u8; 4] {
    (random() as u32).to_be_bytes()
}

fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_or_rejected_with_a_reason() {
        let good = [
            ("127.0.0.1:7300", "127.0.0.1:7300"),
            ("tcp://example.org:1", "example.org:1"),
            ("[::1]:80", "[::1]:80"),
            ("tls://example.org:1", "tls://example.org:1"),
            ("ws://example.org", "ws://example.org:80/api/v1/play"),
            ("wss://example.org/", "wss://example.org:443/api/v1/play"),
            ("ws://[::1]", "ws://[::1]:80/api/v1/play"),
            ("wss://[::1]:9/a/b", "wss://[::1]:9/a/b"),
            ("a:1,tls://b:2", "a:1,tls://b:2"),
        ];
        for (text, shown) in good {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown, "{text}");
        }
        let bad = [
            "",
            "host",
            ":1",
            "host:x",
            "host:70000",
            "http://host:1",
            "ws://",
            "tls://host",
            "tcp://host:1/path",
            "ws://a@b:1",
            "ws://host:x/play",
            "ws://a b",
            "a:1,",
            "a:1, b:2",
        ];
        for bad in bad {
            assert!(matches!(Address::parse(bad), Err(ClientError::Address(_))), "{bad}");
        }
    }

    #[test]
    fn masks_differ() {
        assert!((0..8).any(|_| mask() != mask()));
    }
}
