//! A player's end of a connection: messages over TCP or a WebSocket, without any help. The client
//! library reconnects by itself; here the test must see every loss.

use agon_wire::lines::Lines;
use agon_wire::websocket::{Frames, Incoming, Opcode, encode};
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest message.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest answer to a handshake.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Conceals nothing, but the WebSocket protocol requires clients to mask their frames.
const MASK: [u8; 4] = [7, 77, 177, 201];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    Tcp,
    WebSocket,
}

#[derive(Debug)]
enum Framing {
    Lines(Lines),
    Frames(Frames),
}

#[derive(Debug)]
pub(crate) struct Wire {
    socket: TcpStream,
    framing: Framing,
    piece: Vec<u8>,
}

impl Wire {
    pub(crate) async fn open(address: SocketAddr, transport: Transport) -> io::Result<Wire> {
        let mut socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let framing = match transport {
            Transport::Tcp => Framing::Lines(Lines::new(BYTES_MAX)),
            Transport::WebSocket => {
                let mut frames = Frames::of_server(BYTES_MAX);
                frames.push(&shake_hands(&mut socket).await?);
                Framing::Frames(frames)
            }
        };
        Ok(Wire { socket, framing, piece: vec![0; 16 * 1024] })
    }

    /// The next message. Cancellation-safe, unless a ping is being answered at that moment.
    pub(crate) async fn hear(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let ping = match &mut self.framing {
                Framing::Lines(lines) => match lines.take() {
                    Some(line) => return Ok(line.map_err(invalid)?.to_vec()),
                    None => None,
                },
                Framing::Frames(frames) => match frames.take().transpose().map_err(invalid)? {
                    Some(Incoming::Text(text)) => return Ok(text.to_vec()),
                    Some(Incoming::Ping(payload)) => Some(payload.to_vec()),
                    Some(Incoming::Pong(_)) => continue,
                    Some(Incoming::Close(_)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    None => None,
                },
            };
            if let Some(payload) = ping {
                self.frame(Opcode::Pong, &payload).await?;
                continue;
            }
            match self.socket.read(&mut self.piece).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => match &mut self.framing {
                    Framing::Lines(lines) => lines.push(&self.piece[..count]),
                    Framing::Frames(frames) => frames.push(&self.piece[..count]),
                },
            }
        }
    }

    /// Waits until the connection is lost. Never returns if bytes are waiting to be read.
    pub(crate) async fn lost(&self) {
        if matches!(self.socket.peek(&mut [0]).await, Ok(1..)) {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) async fn say(&mut self, message: &str) -> io::Result<()> {
        match &self.framing {
            Framing::Lines(_) => self.socket.write_all(format!("{message}\n").as_bytes()).await,
            Framing::Frames(_) => self.frame(Opcode::Text, message.as_bytes()).await,
        }
    }

    async fn frame(&mut self, opcode: Opcode, payload: &[u8]) -> io::Result<()> {
        let mut frame = Vec::new();
        encode(&mut frame, opcode, payload, Some(MASK));
        self.socket.write_all(&frame).await
    }
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Upgrades a connection to a WebSocket; returns the bytes after the server's answer.
async fn shake_hands(socket: &mut TcpStream) -> io::Result<Vec<u8>> {
    let head = "GET /api/v1/play HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n\
                connection: Upgrade\r\nsec-websocket-version: 13\r\n\
                sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    socket.write_all(head.as_bytes()).await?;
    let mut came = Vec::new();
    loop {
        if let Some(end) = came.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = came.split_off(end + 4);
            return match came.starts_with(b"HTTP/1.1 101 ") {
                true => Ok(rest),
                false => Err(io::ErrorKind::ConnectionRefused.into()),
            };
        }
        if came.len() > HEAD_BYTES_MAX || socket.read_buf(&mut came).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
