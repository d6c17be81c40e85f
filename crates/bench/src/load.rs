//! Load: many connections that answer whatever they are asked, as fast as they are let.
//!
//! Players of the server and the bare ping-pong are driven by the same loop, so that what differs
//! between their rates is the server.

use super::latencies::Latencies;
use super::wire::{Inbox, Wire};
use anyhow::{Result, bail};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// What all connections share. They live on one thread.
#[derive(Default)]
pub(super) struct Load {
    open: Cell<bool>,
    opened: Notify,
    /// How far the answers of one connection lie apart; as fast as possible without it.
    apart: Cell<Option<Duration>>,
    /// Answers written.
    pub(super) answers: Cell<u64>,
    pub(super) bytes_up: Cell<u64>,
    pub(super) bytes_down: Cell<u64>,
    /// From an answer being written to the request that followed being read.
    pub(super) latency: RefCell<Latencies>,
}

impl Load {
    /// Lets answers through, one every so often per connection or as many as there are.
    pub(super) fn start(&self, apart: Option<Duration>) {
        self.apart.set(apart);
        self.open.set(true);
        self.opened.notify_waiters();
    }

    /// Holds answers back.
    pub(super) fn stop(&self) {
        self.open.set(false);
    }

    /// Holds answers back and waits until nothing more is on its way.
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
            // All begin at different moments, and who is late does not make up for it at once.
            let at = due.get_or_insert_with(|| now + apart.mul_f64(spread()));
            if *at <= now {
                *at = (*at + apart).max(now - apart);
                return;
            }
            tokio::time::sleep_until((*at).into()).await;
        }
    }
}

/// A number from 0 to 1 that is another for everybody who asks.
fn spread() -> f64 {
    thread_local!(static ASKED: Cell<u64> = const { Cell::new(0) });
    let number = ASKED.replace(ASKED.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
    (number >> 11) as f64 / (1_u64 << 53) as f64
}

/// The player behind a connection.
pub(super) trait Responder {
    /// Takes a message, writes the answers to `out`, and returns how many there are.
    fn take(&mut self, message: &[u8], at: Instant, out: &mut Vec<u8>) -> Result<u64>;

    /// Notes when the answers were written.
    fn wrote(&mut self, _at: Instant) {}
}

/// Answers on a connection until it ends.
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
