//! Lines over a socket: the only file that knows what carries them. Today that is TCP; addresses of
//! WebSockets are known and refused with a reason.

use super::ClientError;
use agon_wire::lines::Lines;
use std::fmt;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest line a server sends.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long connecting and one write may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a server listens for players.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address(String);

impl Address {
    /// `HOST:PORT`, or the same after `tcp://`.
    pub fn parse(text: &str) -> Result<Address, ClientError> {
        let place = match text.split_once("://") {
            None => text,
            Some(("tcp", place)) => place,
            Some((scheme @ ("ws" | "wss" | "tcps"), _)) => {
                return Err(ClientError::Transport(format!("{scheme}://")));
            }
            Some(_) => return Err(ClientError::Address(text.into())),
        };
        let port = place.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        match port.map(|(_, port)| port.parse::<u16>()) {
            Some(Ok(_)) => Ok(Address(place.into())),
            _ => Err(ClientError::Address(text.into())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Wire {
    socket: TcpStream,
    lines: Lines,
    piece: Vec<u8>,
}

impl Wire {
    pub(super) async fn open(address: &Address) -> io::Result<Wire> {
        let connecting = tokio::time::timeout(PATIENCE, TcpStream::connect(&address.0));
        let socket = connecting.await.map_err(|_| io::ErrorKind::TimedOut)??;
        if socket.local_addr()? == socket.peer_addr()? {
            // On one machine, whoever knocks at a free port often enough is let in by itself.
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        socket.set_nodelay(true)?;
        Ok(Wire { socket, lines: Lines::new(LINE_BYTES_MAX), piece: vec![0; 16 * 1024] })
    }

    /// The next line. Can be dropped and called again without loss.
    pub(super) async fn receive(&mut self) -> io::Result<String> {
        loop {
            while let Some(line) = self.lines.take() {
                let Ok(line) = line else { continue };
                return Ok(String::from_utf8_lossy(line).into_owned());
            }
            match self.socket.read(&mut self.piece).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.lines.push(&self.piece[..count]),
            }
        }
    }

    /// Sends a line.
    pub(super) async fn send(&mut self, line: &str) -> io::Result<()> {
        let line = format!("{line}\n");
        let sending = tokio::time::timeout(PATIENCE, self.socket.write_all(line.as_bytes()));
        sending.await.map_err(|_| io::ErrorKind::TimedOut)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_is_wrong_with_them() {
        for good in ["127.0.0.1:7300", "tcp://example.org:1", "[::1]:80"] {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "host", ":1", "host:x", "host:70000", "http://host:1"] {
            assert!(matches!(Address::parse(bad), Err(ClientError::Address(_))), "{bad}");
        }
        let error = Address::parse("wss://host/api/v1/play").unwrap_err();
        assert!(matches!(error, ClientError::Transport(_)), "{error}");
    }
}
