//! Reading, writing and closing a socket, the same for every kind of connection.

use crate::engine::seat_side::Framing;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

/// How many bytes to read at once. The buffer is on the stack during a read, so an idle connection
/// needs none.
const READ_BYTES: usize = 8 * 1024;

/// How long the other end has to read the last messages before the socket is closed.
const LINGER: Duration = Duration::from_millis(1_000);

/// Reads some bytes into a framing; 0 at the end of the input.
pub(crate) async fn read(
    from: &mut (impl AsyncRead + Unpin),
    framing: &mut Framing,
) -> io::Result<usize> {
    read_some(from, READ_BYTES, |bytes| framing.push(bytes)).await
}

/// Reads at most so many bytes; returns how many there were, 0 at the end of the input.
pub(crate) async fn read_some(
    from: &mut (impl AsyncRead + Unpin),
    max: usize,
    mut take: impl FnMut(&[u8]),
) -> io::Result<usize> {
    poll_fn(|context| poll_read(from, context, max, &mut take)).await
}

fn poll_read(
    from: &mut (impl AsyncRead + Unpin),
    context: &mut Context<'_>,
    max: usize,
    take: impl FnOnce(&[u8]),
) -> Poll<io::Result<usize>> {
    let mut bytes = [const { MaybeUninit::uninit() }; READ_BYTES];
    let mut piece = ReadBuf::uninit(&mut bytes[..max.min(READ_BYTES)]);
    ready!(Pin::new(from).poll_read(context, &mut piece))?;
    take(piece.filled());
    Poll::Ready(Ok(piece.filled().len()))
}

/// Writes with a timeout. Only a write that has to wait sets a timer, and few have to.
pub(crate) async fn write(
    to: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    patience: Duration,
) -> io::Result<()> {
    let mut written = pin!(async {
        to.write_all(bytes).await?;
        to.flush().await
    });
    let at_once = poll_fn(|context| Poll::Ready(written.as_mut().poll(context))).await;
    match at_once {
        Poll::Ready(done) => done,
        Poll::Pending => tokio::time::timeout(patience, written).await?,
    }
}

/// Reads and discards the rest of the input for a short time. Closing a socket with unread input
/// would discard the last messages to the other end.
pub(crate) async fn linger(from: &mut (impl AsyncRead + Unpin)) {
    let drained = async { while let Ok(1..) = read_some(from, READ_BYTES, |_| ()).await {} };
    let _ = tokio::time::timeout(LINGER, drained).await;
}
