//! A socket that times out if the other end reads too little for too long.

use std::future::Future;
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// How many bytes a second a reader has to take while output waits.
const BYTES_PER_SECOND_MIN: u64 = 4 * 1024;

/// A socket for writing.
pub(crate) struct Paced<S> {
    inner: S,
    patience: Duration,
    blocked: Option<Blocked>,
}

/// A write that waits for the reader.
struct Blocked {
    until: Pin<Box<Sleep>>,
    written: u64,
}

impl<S> Paced<S> {
    /// A socket whose reader has to take some bytes within `patience`.
    pub(crate) fn new(inner: S, patience: Duration) -> Paced<S> {
        Paced { inner, patience, blocked: None }
    }

    pub(crate) fn into_inner(self) -> S {
        self.inner
    }

    /// Counts written bytes; after enough of them the reader has the full time again.
    fn wrote(&mut self, bytes: usize) {
        let due = self.patience.as_millis() as u64 * BYTES_PER_SECOND_MIN / 1_000;
        if let Some(blocked) = &mut self.blocked {
            blocked.written += bytes as u64;
            if blocked.written >= due {
                self.blocked = None;
            }
        }
    }

    /// Waits for the reader, with a timeout.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        let patience = self.patience;
        let blocked = self.blocked.get_or_insert_with(|| Blocked {
            until: Box::pin(tokio::time::sleep(patience)),
            written: 0,
        });
        let over = blocked.until.as_mut().poll(context);
        over.map(|()| Error::new(ErrorKind::TimedOut, "the reader is too slow"))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match Pin::new(&mut self.inner).poll_write(context, bytes) {
            Poll::Ready(done) => {
                self.wrote(*done.as_ref().unwrap_or(&0));
                Poll::Ready(done)
            }
            Poll::Pending => self.wait(context).map(Err),
        }
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        match Pin::new(&mut self.inner).poll_flush(context) {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => self.wait(context).map(Err),
        }
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
