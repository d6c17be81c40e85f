//! The input of one connection: its framing, its rate limit, and the messages in it. A task of
//! the runtime or the driver's thread reads the socket and hands the bytes over.

use super::Limits;
use super::bucket::Bucket;
use super::outbox::{Liveness, Out};
use crate::engine::seat_side::{Framed, Framing, Received, error_line, received};
use crate::engine::{CloseReason, Input};
use crate::meters::Meters;
use agon_core::{Millis, Timestamp};
use std::sync::Arc;

/// The next step of whoever reads a connection.
pub(crate) enum NextInput {
    /// Pass this on to the engine.
    Message(Input),
    /// Read more bytes.
    ReadMore,
    /// The connection sends too fast: read nothing for so many milliseconds.
    Wait(Millis),
    /// The writer sends the last message and closes.
    LetWrite,
    /// Close the connection.
    Leave,
}

/// The input of one connection.
pub(crate) struct InputReader {
    liveness: Arc<Liveness>,
    framing: Framing,
    bucket: Bucket,
    /// True if the connection was sent a warning that it sends too fast.
    warned: bool,
    /// A message that waits for tokens of the bucket, and its length.
    unpaid: Option<Box<(Received, usize)>>,
}

impl InputReader {
    pub(super) fn new(
        liveness: Arc<Liveness>,
        framing: Framing,
        limits: &Limits,
        now: Timestamp,
    ) -> InputReader {
        let bucket = Bucket::new(limits.lines_per_second_max, limits.lines_burst_max, now);
        InputReader { liveness, framing, bucket, warned: false, unpaid: None }
    }

    pub(crate) fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    pub(super) fn framing(&mut self) -> &mut Framing {
        &mut self.framing
    }

    /// Adds bytes that count as read at `at`.
    pub(super) fn push(&mut self, bytes: &[u8], at: Timestamp) {
        self.framing.push(bytes);
        self.liveness.heard(at);
    }

    /// Takes the next message, which was read at `at`.
    pub(crate) fn next(&mut self, at: Timestamp, now: Timestamp, meters: &Meters) -> NextInput {
        let conn = self.liveness.conn;
        loop {
            let Some((received, bytes)) = self.next_received() else { return NextInput::ReadMore };
            if let Err(wait_ms) = self.bucket.take(bytes, now) {
                self.unpaid = Some(Box::new((received, bytes)));
                self.warn(meters);
                return NextInput::Wait(wait_ms);
            }
            return NextInput::Message(match received {
                Received::Nothing => continue,
                Received::Ping(payload) => {
                    self.liveness.answer_ping(payload);
                    continue;
                }
                Received::Message(message) => Input::Said { conn, message, at },
                Received::Bad { why, line } => Input::Bad { conn, why, line },
                Received::End(code, why) => return self.end(code, why),
            });
        }
    }

    /// Takes the tokens for bytes that may hold no message; the error says how long to wait.
    pub(super) fn pay(&mut self, bytes: usize, now: Timestamp) -> Result<(), Millis> {
        self.bucket.take(bytes, now)
    }

    fn next_received(&mut self) -> Option<(Received, usize)> {
        if let Some(unpaid) = self.unpaid.take() {
            return Some(*unpaid);
        }
        let framed = self.framing.take()?;
        let bytes = match &framed {
            Framed::Message(message) => message.len(),
            _ => 0,
        };
        Some((received(framed), bytes))
    }

    /// Warns a connection once that it sends too fast.
    fn warn(&mut self, meters: &Meters) {
        if !self.warned {
            self.warned = true;
            meters.slowed.add();
            let conn = self.liveness.conn.0;
            tracing::info!(conn, "a connection speaks too fast; it is read slower");
            let detail = "more messages than a connection may send; they are read slower";
            self.liveness.send(Out::Line(error_line("slow-down", detail.into()), None));
        }
    }

    /// Sends the error that closes the connection, if there is one, and closes it.
    fn end(&self, code: u16, why: Option<String>) -> NextInput {
        if let Some(why) = why {
            self.liveness.ends(CloseReason::Broken);
            self.liveness.send(Out::Line(error_line("malformed", why), None));
        }
        match self.liveness.send(Out::Close(code)) {
            true => NextInput::LetWrite,
            // There is no room for the last message.
            false => NextInput::Leave,
        }
    }
}
