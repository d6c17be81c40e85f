//! A socket that any thread may write to directly, as long as no earlier message waits for its
//! task.

use crate::engine::Wire;
use agon_wire::websocket::{Opcode, Opening};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::net::{Shutdown, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio::net::tcp::OwnedWriteHalf;

/// A plain socket for writing.
pub(crate) enum WriteSocket {
    /// A task of the runtime reads the other half.
    Task(OwnedWriteHalf),
    /// The driver's thread reads it.
    Driver(Arc<TcpStream>),
}

impl WriteSocket {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            WriteSocket::Task(half) => half.try_write(bytes),
            WriteSocket::Driver(socket) => socket.as_ref().write(bytes),
        }
    }

    fn try_write_vectored(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            WriteSocket::Task(half) => half.try_write_vectored(parts),
            WriteSocket::Driver(socket) => socket.as_ref().write_vectored(parts),
        }
    }

    fn shut_down(&self) -> io::Result<()> {
        match self {
            WriteSocket::Task(half) => {
                socket2::SockRef::from(half.as_ref()).shutdown(Shutdown::Write)
            }
            WriteSocket::Driver(socket) => socket.shutdown(Shutdown::Write),
        }
    }
}

/// The writing half of a socket, and how many messages wait for it.
pub(super) struct Direct {
    socket: WriteSocket,
    /// How many messages were passed to the task and are not written yet. Writing and passing on
    /// hold the lock, so messages stay whole and in order.
    waiting: Mutex<usize>,
}

/// How much of a message was written.
pub(super) enum Wrote {
    All,
    /// A part; these bytes are left.
    Some(Vec<u8>),
    Nothing,
}

impl Direct {
    pub(super) fn new(socket: WriteSocket) -> Direct {
        Direct { socket, waiting: Mutex::new(0) }
    }

    /// How many messages wait. Nobody else writes while the guard is held.
    pub(super) fn waiting(&self) -> MutexGuard<'_, usize> {
        self.waiting.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Records that the task has written `messages` of the waiting messages.
    pub(super) fn wrote(&self, messages: usize) {
        let mut waiting = self.waiting();
        *waiting = waiting.saturating_sub(messages);
    }

    /// Writes as much of a message as the socket has room for. Socket errors are left to the task,
    /// which is passed the unwritten rest.
    pub(super) fn write(&self, wire: Wire, line: &[u8]) -> Wrote {
        match wire {
            Wire::WebSocket => {
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                self.write_parts(&Opening::new(Opcode::Text, text.len(), false), text)
            }
            _ => self.write_parts(&[], line),
        }
    }

    fn write_parts(&self, head: &[u8], payload: &[u8]) -> Wrote {
        let done = match head {
            [] => self.socket.try_write(payload),
            head => self.socket.try_write_vectored(&[IoSlice::new(head), IoSlice::new(payload)]),
        };
        let whole = head.len() + payload.len();
        match done {
            Ok(bytes) if bytes == whole => Wrote::All,
            Ok(0) | Err(_) => Wrote::Nothing,
            Ok(bytes) => {
                let rest = head.iter().chain(payload).skip(bytes).copied();
                Wrote::Some(rest.collect())
            }
        }
    }
}

/// The same socket, as the task writes to it: it waits for room.
pub(super) struct Patient<'a> {
    direct: &'a Direct,
    /// While the task waits for a socket that the driver's thread reads: the same socket for the
    /// runtime. Otherwise the runtime would be woken for every message from the other end.
    awaited: Option<tokio::net::TcpStream>,
}

impl Patient<'_> {
    pub(super) fn new(direct: &Direct) -> Patient<'_> {
        Patient { direct, awaited: None }
    }

    /// Waits for room.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = match (&self.direct.socket, &mut self.awaited) {
            (WriteSocket::Task(half), _) => half.as_ref(),
            (WriteSocket::Driver(_), Some(awaited)) => awaited,
            (WriteSocket::Driver(socket), awaited) => {
                awaited.insert(tokio::net::TcpStream::from_std(socket.try_clone()?)?)
            }
        };
        socket.poll_write_ready(context)
    }
}

impl AsyncWrite for Patient<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let patient = self.get_mut();
        loop {
            let written = match &patient.awaited {
                Some(awaited) => awaited.try_write(bytes),
                None => patient.direct.socket.try_write(bytes),
            };
            match written {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => {
                    patient.awaited = None;
                    return Poll::Ready(done);
                }
            }
            ready!(patient.poll_room(context))?;
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.direct.socket.shut_down())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, Outbox, Written, connection::write_to};
    use super::*;
    use crate::driver::{Handle, Message};
    use crate::engine::{AskId, ConnId, Input, SeatKind};
    use agon_core::RequestId;
    use agon_wire::websocket::{Frames, Incoming};
    use tokio::io::{AsyncReadExt, Sink};
    use tokio::net::{TcpListener, TcpStream};

    /// A long line with a number.
    fn line(number: usize) -> Vec<u8> {
        format!("{number} {}\n", "x".repeat(number * 37 % 5_000)).into_bytes()
    }

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        // A small buffer, so that messages have to wait, some of them half-written.
        socket2::SockRef::from(&here).set_send_buffer_size(4_096).unwrap();
        (here, listener.accept().await.unwrap().0)
    }

    /// Writes until messages have to wait, then lets the other end read; returns its input.
    async fn read_late(wire: Wire) -> (Vec<u8>, usize) {
        let (here, mut there) = pair().await;
        let to = match wire {
            Wire::Tcp => WriteSocket::Driver(Arc::new(here.into_std().unwrap())),
            _ => WriteSocket::Task(here.into_split().1),
        };
        let (outbox, receiver) = Outbox::new(ConnId(1), SeatKind::native(wire), 1_000, Some(to));
        let liveness = Arc::clone(outbox.liveness());
        let (limits, (engine, told)) = (Limits::default(), Handle::detached());
        let task = tokio::spawn(async move {
            write_to(None::<Sink>, receiver, &liveness, &limits, &engine).await
        });
        let (mut count, mut late) = (0, Vec::new());
        while late.len() < 500 {
            let ask = AskId::Tournament("cup".into(), RequestId::from(count.to_string()));
            let written = outbox.send(&line(count), Some(&ask));
            assert_ne!(written, Written::Full);
            count += 1;
            late.extend((written == Written::Later).then_some(ask));
        }
        assert!(count > late.len(), "what there is room for is written at once");
        let (mut read, mut delivered) = (Vec::new(), Vec::new());
        while delivered.len() < late.len() {
            there.read_buf(&mut read).await.unwrap();
            delivered.extend(told.try_iter().filter_map(|message| match message {
                Message::Input(Input::Delivered { ask, .. }) => Some(ask),
                _ => None,
            }));
        }
        assert_eq!(delivered, late, "the engine hears of each, in order");
        // Everything is written, so a message goes straight to the socket again.
        while !matches!(outbox.send(&line(count), None), Written::At(_)) {
            count += 1;
            there.read_buf(&mut read).await.unwrap();
        }
        drop(outbox);
        there.read_to_end(&mut read).await.unwrap();
        assert!(task.await.unwrap(), "the last words are written");
        (read, count + 1)
    }

    #[tokio::test]
    async fn lines_stay_whole_and_in_order() {
        let (read, count) = read_late(Wire::Tcp).await;
        let due: Vec<u8> = (0..count).flat_map(line).collect();
        assert!(read == due, "{} bytes for {}", read.len(), due.len());
    }

    #[tokio::test]
    async fn frames_stay_whole_and_in_order() {
        let (read, count) = read_late(Wire::WebSocket).await;
        let mut frames = Frames::of_server(100_000);
        frames.push(&read);
        for number in 0..count {
            match frames.take() {
                Some(Ok(Incoming::Text(text))) => assert_eq!([text, b"\n"].concat(), line(number)),
                other => panic!("{number}: {other:?}"),
            }
        }
        assert!(matches!(frames.take(), Some(Ok(Incoming::Close(_)))));
    }
}
