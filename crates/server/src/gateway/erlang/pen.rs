//! What is to be written to a node: all its players write into one buffer, and go on.

use crate::clock::now_ms;
use crate::gateway::outbox::Note;
use agon_wire::erlang::control::{self, Control};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Bytes that may wait for a node that does not read.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Where to write to a node.
#[derive(Default)]
pub(super) struct Pen {
    page: Mutex<Page>,
    wake: Notify,
    closed: AtomicBool,
}

#[derive(Default)]
struct Page {
    bytes: Vec<u8>,
    /// Where to note that they were written.
    written: Vec<Note>,
}

impl Pen {
    /// Puts something where it will be written. What is never sent is passed over.
    pub(super) fn write(&self, control: &Control, written: Option<Note>) {
        let mut page = self.page();
        let first = page.bytes.is_empty();
        if !control::encode_to(&mut page.bytes, control) {
            return;
        }
        if page.bytes.len() > BYTES_MAX {
            *page = Page::default();
            drop(page);
            return self.close();
        }
        page.written.extend(written);
        drop(page);
        if first {
            self.wake.notify_one();
        }
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

    /// Writes until the connection is closed or cannot be written to. `tick` is how long nothing
    /// may be said.
    pub(super) async fn run(
        &self,
        to: &mut (impl AsyncWrite + Unpin),
        tick: Duration,
        patience: Duration,
    ) {
        while !self.is_closed() {
            let page = std::mem::take(&mut *self.page());
            let bytes = match page.bytes.is_empty() {
                false => page.bytes,
                true => match tokio::time::timeout(tick, self.wake.notified()).await {
                    Ok(()) => continue,
                    Err(_) => control::tick(),
                },
            };
            match tokio::time::timeout(patience, to.write_all(&bytes)).await {
                Ok(Ok(())) => {}
                _ => break,
            }
            let now = now_ms();
            page.written.iter().for_each(|note| note.store(now, Ordering::Release));
        }
        self.close();
    }
}
