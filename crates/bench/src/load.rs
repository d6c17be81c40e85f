//! Load: many connections that answer every request, as fast as they are allowed to.
//!
//! One loop drives both the players of the server and the bare ping-pong, so that their rates
//! differ only by the server.

use super::latencies::Latencies;
use super::wire::{Inbox, Wire};
use anyhow::{Result, bail};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// State that all connections share. They run on one thread.
#[derive(Default)]
pub(super) struct Load {
    open: Cell<bool>,
    opened: Notify,
    /// The time between two answers of one connection; `None` means as fast as possible.
    apart: Cell<Option<Duration>>,
    /// Answers written.
    pub(super) answers: Cell<u64>,
    pub(super) bytes_up: Cell<u64>,
    pub(super) bytes_down: Cell<u64>,
    /// From writing an answer to reading the request that follows.
    pub(super) latency: RefCell<Latencies>,
}

impl Load {
    /// Releases answers, at this interval per connection or without a limit.
    pub(super) fn start(&self, apart: Option<Duration>) {
        self.apart.set(apart);
        self.open.set(true);
        self.opened.notify_waiters();
    }

    /// Holds answers back.
    pub(super) fn stop(&self) {
        self.open.set(false);
    }

    /// Holds answers back and waits until nothing is in flight.
    pub(super) async fn drain(&self) {
        self.stop();
        let mut last = (self.answers.get(), self.bytes_down.get());
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(30)).await;
            let now = (self.answers.get(), self.bytes_down.get());
            if now == last {
                return;
            }
            last = now;
        }
    }

    /// Waits until an answer may be written.
    async fn pass(&self, due: &mut Option<Instant>) {
        loop {
            while !self.open.get() {
                *due = None;
                self.opened.notified().await;
            }
            let Some(apart) = self.apart.get() else { return };
            let now = Instant::now();
            // Connections start at different moments, and a late one makes up at most one interval.
            let at = due.get_or_insert_with(|| now + apart.mul_f64(spread()));
            if *at <= now {
                *at = (*at + apart).max(now - apart);
                return;
            }
            tokio::time::sleep_until((*at).into()).await;
        }
    }
}

/// A number from 0 to 1, different for every call.
fn spread() -> f64 {
    thread_local!(static ASKED: Cell<u64> = const { Cell::new(0) });
    let number = ASKED.replace(ASKED.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
    (number >> 11) as f64 / (1_u64 << 53) as f64
}

/// The player behind a connection.
pub(super) trait Responder {
    /// Processes a message, writes the answers to `out`, and returns how many there are.
    fn take(&mut self, message: &[u8], at: Instant, out: &mut Vec<u8>) -> Result<u64>;

    /// Records when the answers were written.
    fn wrote(&mut self, _at: Instant) {}
}

/// Answers on a connection until it closes.
pub(super) async fn drive(
    stream: &mut TcpStream,
    inbox: &mut Inbox,
    wire: Wire,
    load: &Load,
    responder: &mut impl Responder,
) -> Result<()> {
    let (mut out, mut due) = (Vec::new(), None);
    loop {
        let at = Instant::now();
        let mut answers = 0;
        while let Some(message) = wire.next(inbox)? {
            answers += responder.take(message, at, &mut out)?;
        }
        if !out.is_empty() {
            load.pass(&mut due).await;
            stream.write_all(&out).await?;
            responder.wrote(Instant::now());
            load.answers.set(load.answers.get() + answers);
            load.bytes_up.set(load.bytes_up.get() + out.len() as u64);
            out.clear();
        }
        match inbox.fill(stream).await? {
            0 => bail!("the connection ended"),
            count => load.bytes_down.set(load.bytes_down.get() + count as u64),
        }
    }
}
