//! Connections: bytes each way in order and in any pieces, or cut. Different connections overtake
//! each other.
//!
//! That is what TCP leaves of a network that drops, doubles and reorders: bytes come late, once and
//! in order, or the connection breaks. What is dropped, doubled and reordered are connections: one
//! end may not know that it is gone, a login is made twice, a later one arrives first.

use crate::history::Written;
use crate::said::Said;
use crate::way::{Reader, Way};
use agon_bots::SplitMix64 as Rng;
use agon_core::Millis;
use std::collections::VecDeque;
use std::rc::Rc;

/// A message on its way to a server.
pub(crate) struct Sent {
    /// How many bytes of the connection have arrived when this has.
    end: u64,
    /// As its player meant it.
    pub(crate) text: String,
}

/// A message on its way to a player.
pub(crate) struct Coming {
    pub(crate) said: Option<Rc<Said>>,
    /// As it was said.
    pub(crate) text: Vec<u8>,
}

/// A call that has to be answered, on a wire where answers have no ids.
pub(crate) struct Call {
    /// The request of a match it is, if it is one.
    pub(crate) request: Option<String>,
    pub(crate) written: Written,
}

/// A connection of a player to a server.
pub(crate) struct Link {
    pub(crate) bot: usize,
    pub(crate) server: u32,
    pub(crate) way: Way,
    /// Whether anything sent on it still arrives.
    pub(crate) up: bool,
    /// Whether the player believes it to be open.
    pub(crate) open: bool,
    /// Whether the server is done with it.
    pub(crate) dropped: bool,
    /// Until when the player reads nothing from it.
    pub(crate) unread_until: Millis,
    to_server_at: Millis,
    to_bot_at: Millis,
    /// Messages the network takes before a reader that reads nothing is noticed.
    pub(crate) window: usize,
    /// Bytes the player has sent and its system has not.
    unsent: Vec<u8>,
    sent: VecDeque<Sent>,
    sent_bytes: u64,
    arrived_bytes: u64,
    /// Messages on their way to the player.
    pub(crate) coming: VecDeque<Coming>,
    pub(crate) reader: Reader,
    /// Calls that are not answered, and values that answer nothing yet.
    pub(crate) calls: VecDeque<Call>,
    pub(crate) values: VecDeque<(Millis, String)>,
    /// Whether something has waited to be written since nothing did.
    pub(crate) behind: bool,
    /// When the server's end is looked at, if nothing happens before.
    pub(crate) looked_at: Option<Millis>,
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
            unread_until: 0,
            to_server_at: 0,
            to_bot_at: 0,
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
        at: Millis,
        delay_ms_max: u64,
        rng: &mut Rng,
    ) -> Millis {
        self.to_server_at = (at + rng.between(0, delay_ms_max)).max(self.to_server_at);
        self.to_server_at
    }

    /// When bytes that are written at `at` arrive at the player.
    pub(crate) fn reaches_bot(&mut self, at: Millis, delay_ms_max: u64, rng: &mut Rng) -> Millis {
        let at = (at + rng.between(0, delay_ms_max)).max(self.unread_until);
        self.to_bot_at = at.max(self.to_bot_at);
        self.to_bot_at
    }

    /// A message is handed to the player's system. `text` is what it is known by when it arrives.
    pub(crate) fn put(&mut self, bytes: &[u8], text: String) {
        // A value is whole before the line end that may follow it, unless it is a number or a word.
        let whole = bytes.strip_suffix(b"\n").and_then(|bytes| bytes.last());
        let whole = whole.is_some_and(|last| !last.is_ascii_alphanumeric());
        let after = usize::from(!self.way.is_native() && whole);
        let end = self.sent_bytes + (bytes.len() - after) as u64;
        self.unsent.extend_from_slice(bytes);
        self.sent_bytes += bytes.len() as u64;
        self.sent.push_back(Sent { end, text });
    }

    /// A piece of what is to be sent, cut anywhere; whether something is left.
    pub(crate) fn piece(&mut self, rng: &mut Rng) -> (Vec<u8>, bool) {
        let count = self.unsent.len();
        let cut = count > 1 && rng.chance(120);
        let end = if cut { rng.between(1, count as u64 - 1) as usize } else { count };
        let rest = self.unsent.split_off(end);
        (std::mem::replace(&mut self.unsent, rest), cut)
    }

    /// Bytes have arrived at the server: the messages that are whole now.
    pub(crate) fn arrived(&mut self, bytes: usize) -> Vec<Sent> {
        self.arrived_bytes += bytes as u64;
        let mut whole = Vec::new();
        while let Some(sent) = self.sent.pop_front_if(|sent| sent.end <= self.arrived_bytes) {
            whole.push(sent);
        }
        whole
    }
}
