//! Connections: each delivers its bytes in order and in pieces of any size, or is cut. Different
//! connections overtake each other.
//!
//! TCP turns a network that drops, duplicates and reorders packets into this: bytes arrive late,
//! once and in order, or the connection breaks. The simulator therefore drops, duplicates and
//! reorders connections: one end may not know that the other has closed, a player logs in twice, or
//! a later login arrives first.

use crate::history::Written;
use crate::said::Said;
use crate::way::{Reader, Way};
use agon_bots::SplitMix64 as Rng;
use agon_core::Timestamp;
use std::collections::VecDeque;
use std::rc::Rc;

/// A message in flight to a server.
pub(crate) struct Sent {
    /// How many bytes of the connection have arrived once this message has.
    end: u64,
    /// The message as the player meant it.
    pub(crate) text: String,
}

/// A message in flight to a player.
pub(crate) struct Coming {
    pub(crate) said: Option<Rc<Said>>,
    /// The message as the server sent it.
    pub(crate) text: Vec<u8>,
}

/// A call that needs a reply, on a protocol whose replies have no ids.
pub(crate) struct Call {
    /// The request of a match, if the call is one.
    pub(crate) request: Option<String>,
    pub(crate) written: Written,
}

/// A connection of a player to a server.
pub(crate) struct Link {
    pub(crate) bot: usize,
    pub(crate) server: u32,
    pub(crate) way: Way,
    /// True if anything sent on it still arrives.
    pub(crate) up: bool,
    /// True if the player believes that the connection is open.
    pub(crate) open: bool,
    /// True if the server has dropped the connection.
    pub(crate) dropped: bool,
    /// Until when the player reads nothing from it.
    pub(crate) unread_until: Timestamp,
    to_server_at: Timestamp,
    to_bot_at: Timestamp,
    /// How many messages the network buffers for a player that does not read.
    pub(crate) window: usize,
    /// Bytes that the player has written and its system has not sent.
    unsent: Vec<u8>,
    sent: VecDeque<Sent>,
    sent_bytes: u64,
    arrived_bytes: u64,
    /// Messages in flight to the player.
    pub(crate) coming: VecDeque<Coming>,
    pub(crate) reader: Reader,
    /// Calls without a reply, and values that are no reply yet.
    pub(crate) calls: VecDeque<Call>,
    pub(crate) values: VecDeque<(Timestamp, String)>,
    /// True if the connection has a backlog.
    pub(crate) behind: bool,
    /// When the world next runs the timers of the server's end.
    pub(crate) looked_at: Option<Timestamp>,
}

impl Link {
    pub(crate) fn new(bot: usize, server: u32, way: Way, window: usize) -> Link {
        Link {
            bot,
            server,
            way,
            up: true,
            open: true,
            dropped: false,
            unread_until: Timestamp::default(),
            to_server_at: Timestamp::default(),
            to_bot_at: Timestamp::default(),
            window,
            unsent: Vec::new(),
            sent: VecDeque::new(),
            sent_bytes: 0,
            arrived_bytes: 0,
            coming: VecDeque::new(),
            reader: Reader::new(way),
            calls: VecDeque::new(),
            values: VecDeque::new(),
            behind: false,
            looked_at: None,
        }
    }

    /// When bytes that are sent at `at` arrive at the server.
    pub(crate) fn reaches_server(
        &mut self,
        at: Timestamp,
        delay_ms_max: u64,
        rng: &mut Rng,
    ) -> Timestamp {
        self.to_server_at = (at + rng.between(0, delay_ms_max)).max(self.to_server_at);
        self.to_server_at
    }

    /// When bytes that are written at `at` arrive at the player.
    pub(crate) fn reaches_bot(
        &mut self,
        at: Timestamp,
        delay_ms_max: u64,
        rng: &mut Rng,
    ) -> Timestamp {
        let at = (at + rng.between(0, delay_ms_max)).max(self.unread_until);
        self.to_bot_at = at.max(self.to_bot_at);
        self.to_bot_at
    }

    /// Hands a message to the player's system. `text` identifies it on arrival.
    pub(crate) fn put(&mut self, bytes: &[u8], text: String) {
        // A value is complete before the line end that may follow it, unless it is a number or a
        // word.
        let whole = bytes.strip_suffix(b"\n").and_then(|bytes| bytes.last());
        let whole = whole.is_some_and(|last| !last.is_ascii_alphanumeric());
        let after = usize::from(!self.way.is_native() && whole);
        let end = self.sent_bytes + (bytes.len() - after) as u64;
        self.unsent.extend_from_slice(bytes);
        self.sent_bytes += bytes.len() as u64;
        self.sent.push_back(Sent { end, text });
    }

    /// A piece of the unsent bytes, cut anywhere, and whether more is left.
    pub(crate) fn piece(&mut self, rng: &mut Rng) -> (Vec<u8>, bool) {
        let count = self.unsent.len();
        let cut = count > 1 && rng.chance(120);
        let end = if cut { rng.between(1, count as u64 - 1) as usize } else { count };
        let rest = self.unsent.split_off(end);
        (std::mem::replace(&mut self.unsent, rest), cut)
    }

    /// Counts bytes that arrived at the server. Returns the messages that are now complete.
    pub(crate) fn arrived(&mut self, bytes: usize) -> Vec<Sent> {
        self.arrived_bytes += bytes as u64;
        let mut whole = Vec::new();
        while let Some(sent) = self.sent.pop_front_if(|sent| sent.end <= self.arrived_bytes) {
            whole.push(sent);
        }
        whole
    }
}
