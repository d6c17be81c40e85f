//! The first request of an HTTP connection to a node that stands by: the node answers questions
//! about itself, and relays all other connections.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// The longest first line that is looked at. The node with the lobby judges longer ones.
const LINE_MAX: usize = 8 * 1024;

/// The paths that every node answers for itself.
const ABOUT_THE_NODE: [&str; 2] = ["/healthz", "/metrics"];

/// The node that answers a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// This node.
    Here,
    /// The node with the lobby.
    Lobby,
}

/// The beginning of a connection.
pub(super) struct Head {
    pub(super) route: Route,
    /// Everything that was read.
    pub(super) read: Vec<u8>,
}

/// Reads until it is known who answers; `None` if the connection closes before.
pub(super) async fn read_head(from: &mut (impl AsyncRead + Unpin)) -> Option<Head> {
    let mut read = Vec::with_capacity(1024);
    loop {
        if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            return Some(Head { route: route_of(&read[..end]), read });
        }
        if read.len() >= LINE_MAX {
            return Some(Head { route: Route::Lobby, read });
        }
        from.read_buf(&mut read).await.ok().filter(|count| *count > 0)?;
    }
}

/// Returns which node answers a request with this first line.
fn route_of(line: &[u8]) -> Route {
    let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    match ABOUT_THE_NODE.iter().any(|own| own.as_bytes() == path) {
        true => Route::Here,
        false => Route::Lobby,
    }
}

/// A stream whose first bytes were read before.
pub(crate) struct Rewound<S> {
    pub(crate) read: Vec<u8>,
    pub(crate) stream: S,
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewound<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let count = buffer.remaining().min(self.read.len());
        buffer.put_slice(&self.read[..count]);
        self.read.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewound<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_answers_questions_about_itself_only() {
        let cases: [(&[u8], Route); 6] = [
            (b"GET /healthz HTTP/1.1\r", Route::Here),
            (b"GET /healthz?ready HTTP/1.1\r", Route::Here),
            (b"GET /metrics HTTP/1.1\r", Route::Here),
            (b"GET / HTTP/1.1\r", Route::Lobby),
            (b"GET /metrics/x HTTP/1.1\r", Route::Lobby),
            (b"rubbish", Route::Lobby),
        ];
        for (line, route) in cases {
            assert_eq!(route_of(line), route, "{}", String::from_utf8_lossy(line));
        }
    }

    #[tokio::test]
    async fn bytes_that_were_read_are_not_lost() {
        let mut from = &b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\nmore"[..];
        let Head { route, read } = read_head(&mut from).await.unwrap();
        assert_eq!(route, Route::Here);
        let (mut whole, stream) = (String::new(), from);
        let mut rewound = Rewound { read, stream };
        rewound.read_to_string(&mut whole).await.unwrap();
        assert_eq!(whole, "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\nmore");
        assert!(read_head(&mut &b"GET /"[..]).await.is_none(), "it closed too early");
        let long = vec![b'x'; LINE_MAX + 1];
        assert_eq!(read_head(&mut &long[..]).await.unwrap().route, Route::Lobby);
    }
}
