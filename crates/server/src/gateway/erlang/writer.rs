//! The bytes that wait to be written to a node. All players of the node write into one buffer.
//!
//! A task empties the buffer. The engine writes to many players at once, so it fills the buffer
//! first and then writes it itself, if the socket has room and the task is not writing.

use crate::clock::now_ms;
use crate::engine::Wire;
use crate::gateway::direct::{Direct, Patient, Wrote};
use crate::gateway::outbox::Receipt;
use agon_wire::erlang::control::{self, Control};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::Notify;

/// Bytes that may wait for a node that does not read.
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
    /// Whom to tell that they were written.
    written: Vec<Receipt>,
    /// The task writes what came before.
    is_busy: bool,
}

impl NodeWriter {
    pub(super) fn new(socket: OwnedWriteHalf) -> NodeWriter {
        let (pending, wake, closed) = (Mutex::default(), Notify::new(), AtomicBool::new(false));
        NodeWriter { socket: Direct::new(socket), pending, wake, closed }
    }

    /// Puts something where it will be written. What is never sent is passed over.
    pub(super) fn write(&self, control: &Control, written: Option<Receipt>) {
        self.put(control, written);
        self.wake.notify_one();
    }

    /// The same for who will [`flush`](NodeWriter::flush) it.
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

    /// Writes as much as there is room for; the task writes the rest.
    pub(super) fn flush(&self) {
        let mut pending = self.pending();
        // Whoever is busy looks for more afterwards.
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

    /// Ends the connection.
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

    /// What is to be written now; nobody else writes until it is [`done`](NodeWriter::done).
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

    /// Writes until the connection is closed or cannot be written to. `tick` is how long the task
    /// may say nothing.
    pub(super) async fn run(&self, tick: Duration, patience: Duration) {
        let mut to = Patient(&self.socket);
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

    /// Says that nothing more comes, whoever still holds the socket.
    pub(super) async fn end(&self) {
        let _ = Patient(&self.socket).shutdown().await;
    }
}
