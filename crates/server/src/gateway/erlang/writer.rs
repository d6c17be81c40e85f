//! The bytes that wait to be written to a node. All players of the node write into one buffer.
//!
//! A task empties the buffer. The engine writes to many players at once, so it fills the buffer
//! first. Then it writes the buffer itself, if the socket has room and the task is not writing.

use crate::clock::now_ms;
use crate::engine::Wire;
use crate::gateway::direct::{Direct, Patient, WriteSocket, Wrote};
use crate::gateway::outbox::Receipt;
use agon_wire::erlang::control::{self, Control};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::Notify;

/// How many bytes may wait for a node that does not read.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// The writing half of a node's connection.
pub(super) struct NodeWriter {
    socket: Direct,
    pending: Mutex<Pending>,
    wake: Notify,
    closed: AtomicBool,
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    /// The receipts to notify when the bytes are written.
    written: Vec<Receipt>,
    /// True if the task is writing earlier bytes.
    is_busy: bool,
}

impl NodeWriter {
    pub(super) fn new(socket: OwnedWriteHalf) -> NodeWriter {
        let (pending, wake, closed) = (Mutex::default(), Notify::new(), AtomicBool::new(false));
        NodeWriter { socket: Direct::new(WriteSocket::Task(socket)), pending, wake, closed }
    }

    /// Queues a control message for the task. Messages that cannot be encoded are dropped.
    pub(super) fn write(&self, control: &Control, written: Option<Receipt>) {
        self.put(control, written);
        self.wake.notify_one();
    }

    /// Like `write`, for a caller that will [`flush`](NodeWriter::flush).
    pub(super) fn put(&self, control: &Control, written: Option<Receipt>) {
        let mut pending = self.pending();
        if !control::encode_to(&mut pending.bytes, control) {
            return;
        }
        pending.written.extend(written);
        if pending.bytes.len() > BYTES_MAX {
            (pending.bytes, pending.written) = (Vec::new(), Vec::new());
            drop(pending);
            self.close();
        }
    }

    /// Writes as much as the socket has room for; the task writes the rest.
    pub(super) fn flush(&self) {
        let mut pending = self.pending();
        // A busy task checks for more bytes afterwards.
        if pending.is_busy || pending.bytes.is_empty() || self.is_closed() {
            return;
        }
        match self.socket.write(Wire::Erlang, &pending.bytes) {
            Wrote::All => {
                pending.bytes.clear();
                let now = now_ms();
                pending.written.drain(..).for_each(|receipt| receipt.written(now));
                return;
            }
            Wrote::Some(rest) => pending.bytes = rest,
            Wrote::Nothing => {}
        }
        drop(pending);
        self.wake.notify_one();
    }

    /// Closes the connection.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Takes the bytes to write now; nobody else writes until [`done`](NodeWriter::done).
    fn begin(&self) -> Option<(Vec<u8>, Vec<Receipt>)> {
        let mut pending = self.pending();
        pending.is_busy = !pending.bytes.is_empty();
        let (bytes, written) =
            (std::mem::take(&mut pending.bytes), std::mem::take(&mut pending.written));
        pending.is_busy.then_some((bytes, written))
    }

    fn done(&self, written: &[Receipt]) {
        let now = now_ms();
        written.iter().for_each(|receipt| receipt.written(now));
        self.pending().is_busy = false;
    }

    /// Writes until the connection is closed or a write fails. After `tick` without a message the
    /// task sends a tick.
    pub(super) async fn run(&self, tick: Duration, patience: Duration) {
        let mut to = Patient::new(&self.socket);
        while !self.is_closed() {
            let (bytes, written) = match self.begin() {
                Some(pending) => pending,
                None => {
                    if tokio::time::timeout(tick, self.wake.notified()).await.is_err() {
                        self.pending().bytes.extend(control::tick());
                    }
                    continue;
                }
            };
            match tokio::time::timeout(patience, to.write_all(&bytes)).await {
                Ok(Ok(())) => self.done(&written),
                _ => break,
            }
        }
        self.close();
    }

    /// Shuts the socket down for writing, even if others still hold it.
    pub(super) async fn end(&self) {
        let _ = Patient::new(&self.socket).shutdown().await;
    }
}
