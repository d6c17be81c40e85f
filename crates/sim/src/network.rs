//! Connections: each way in order and whole, or cut. Different connections overtake each other.

use crate::rng::Rng;
use agon_core::Millis;

/// A connection of a player to a server.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) bot: usize,
    pub(crate) server: u32,
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
    /// Lines on their way to the player.
    pub(crate) coming: usize,
    /// Bytes the network takes before a reader that reads nothing is noticed, in lines.
    pub(crate) window: usize,
}

impl Link {
    pub(crate) fn new(bot: usize, server: u32, window: usize) -> Link {
        Link {
            bot,
            server,
            up: true,
            open: true,
            dropped: false,
            unread_until: 0,
            to_server_at: 0,
            to_bot_at: 0,
            coming: 0,
            window,
        }
    }

    /// When a line that is sent at `at` arrives at the server.
    pub(crate) fn reaches_server(
        &mut self,
        at: Millis,
        delay_ms_max: u64,
        rng: &mut Rng,
    ) -> Millis {
        self.to_server_at = (at + rng.between(0, delay_ms_max)).max(self.to_server_at);
        self.to_server_at
    }

    /// When a line that is written at `at` arrives at the player.
    pub(crate) fn reaches_bot(&mut self, at: Millis, delay_ms_max: u64, rng: &mut Rng) -> Millis {
        let at = (at + rng.between(0, delay_ms_max)).max(self.unread_until);
        self.to_bot_at = at.max(self.to_bot_at);
        self.to_bot_at
    }
}
