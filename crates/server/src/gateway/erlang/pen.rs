//! What is to be written to a node: all its players write into one buffer, and go on.
//!
//! A task writes it. The engine has much for many at once and writes it itself when it has put all
//! of it there, if the socket has room and the task is not at it.

use crate::clock::now_ms;
use crate::gateway::direct::{Direct, Patient, Wrote};
use crate::gateway::outbox::Note;
use crate::wires::Wire;
use agon_wire::erlang::control::{self, Control};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::Notify;

/// Bytes that may wait for a node that does not read.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Where to write to a node.
pub(super) struct Pen {
    socket: Direct,
    page: Mutex<Page>,
    wake: Notify,
    closed: AtomicBool,
}

#[derive(Default)]
struct Page {
    bytes: Vec<u8>,
    /// Where to note that they were written.
    written: Vec<Note>,
    /// The task writes what came before.
    is_busy: bool,
}

impl Pen {
    pub(super) fn new(socket: OwnedWriteHalf) -> Pen {
        let (page, wake, closed) = (Mutex::default(), Notify::new(), AtomicBool::new(false));
        Pen { socket: Direct::new(socket), page, wake, closed }
    }

    /// Puts something where it will be written. What is never sent is passed over.
    pub(super) fn write(&self, control: &Control, written: Option<Note>) {
        self.put(control, written);
        self.wake.notify_one();
    }

    /// The same for who will [`flush`](Pen::flush) it.
    pub(super) fn put(&self, control: &Control, written: Option<Note>) {
        let mut page = self.page();
        if !control::encode_to(&mut page.bytes, control) {
            return;
        }
        page.written.extend(written);
        if page.bytes.len() > BYTES_MAX {
            (page.bytes, page.written) = (Vec::new(), Vec::new());
            drop(page);
            self.close();
        }
    }

    /// Writes as much as there is room for; the task writes the rest.
    pub(super) fn flush(&self) {
        let mut page = self.page();
        // Whoever is busy looks for more afterwards.
        if page.is_busy || page.bytes.is_empty() || self.is_closed() {
            return;
        }
        match self.socket.write(Wire::Erlang, &page.bytes) {
            Wrote::All => {
                page.bytes.clear();
                let now = now_ms();
                page.written.drain(..).for_each(|note| note.store(now, Ordering::Release));
                return;
            }
            Wrote::Some(rest) => page.bytes = rest,
            Wrote::Nothing => {}
        }
        drop(page);
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

    fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// What is to be written now; nobody else writes until it is [`done`](Pen::done).
    fn begin(&self) -> Option<(Vec<u8>, Vec<Note>)> {
        let mut page = self.page();
        page.is_busy = !page.bytes.is_empty();
        let (bytes, written) = (std::mem::take(&mut page.bytes), std::mem::take(&mut page.written));
        page.is_busy.then_some((bytes, written))
    }

    fn done(&self, written: &[Note]) {
        let now = now_ms();
        written.iter().for_each(|note| note.store(now, Ordering::Release));
        self.page().is_busy = false;
    }

    /// Writes until the connection is closed or cannot be written to. `tick` is how long the task
    /// may say nothing.
    pub(super) async fn run(&self, tick: Duration, patience: Duration) {
        let mut to = Patient(&self.socket);
        while !self.is_closed() {
            let (bytes, written) = match self.begin() {
                Some(page) => page,
                None => {
                    if tokio::time::timeout(tick, self.wake.notified()).await.is_err() {
                        self.page().bytes.extend(control::tick());
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
