//! Notices that wait a moment for the next message to the same connection.
//!
//! A notice of a match, such as the cards that a player drew, needs no answer. The player's next
//! request often follows within milliseconds. Both then go out in one write, which costs the kernel
//! half as much as two.

use crate::engine::ConnId;
use agon_core::{Millis, Timestamp};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// How long a notice may wait: too short for a person to see.
const HOLD_MS: Millis = 50;

/// How many bytes may wait for one connection.
const BYTES_MAX: usize = 16 * 1024;

/// The notices that wait.
#[derive(Default)]
pub(super) struct HeldNotices {
    lines: FxHashMap<ConnId, Vec<u8>>,
    /// When each connection is due, the earliest first. Some were sent in the meantime.
    due: VecDeque<(Timestamp, ConnId)>,
}

impl HeldNotices {
    /// Holds a notice back; `false` if too much waits for the connection already.
    pub(super) fn hold(&mut self, conn: ConnId, line: &[u8], now: Timestamp) -> bool {
        let lines = self.lines.entry(conn).or_default();
        if lines.len() + line.len() > BYTES_MAX {
            return false;
        }
        if lines.is_empty() {
            self.due.push_back((now + HOLD_MS, conn));
        }
        lines.extend_from_slice(line);
        true
    }

    /// Takes the notices of a connection, which go before its next message.
    pub(super) fn take(&mut self, conn: ConnId) -> Option<Vec<u8>> {
        if self.lines.is_empty() {
            return None;
        }
        self.lines.remove(&conn)
    }

    /// Takes a connection that was due at `until`, with its notices.
    pub(super) fn take_due(&mut self, until: Timestamp) -> Option<(ConnId, Vec<u8>)> {
        while let Some((_, conn)) = self.due.pop_front_if(|(due, _)| *due <= until) {
            if let Some(lines) = self.lines.remove(&conn) {
                return Some((conn, lines));
            }
        }
        None
    }

    /// When the next notices are due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due.front().map(|(due, _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_go_before_the_next_message_of_their_connection() {
        let mut held = HeldNotices::default();
        assert!(
            held.hold(ConnId(1), b"a\n", Timestamp::from_ms(1_000))
                && held.hold(ConnId(2), b"b\n", Timestamp::from_ms(1_001))
        );
        assert!(held.hold(ConnId(1), b"c\n", Timestamp::from_ms(1_002)));
        assert_eq!(held.take(ConnId(1)).as_deref(), Some(&b"a\nc\n"[..]));
        assert_eq!((held.take(ConnId(1)), held.take(ConnId(3))), (None, None));
        assert_eq!(held.take(ConnId(2)).as_deref(), Some(&b"b\n"[..]));
    }

    #[test]
    fn notice_without_a_next_message_is_due_soon() {
        let mut held = HeldNotices::default();
        assert!(
            held.hold(ConnId(1), b"a\n", Timestamp::from_ms(1_000))
                && held.hold(ConnId(2), b"b\n", Timestamp::from_ms(1_010))
        );
        assert_eq!(held.next_due(), Some(Timestamp::from_ms(1_050)));
        assert_eq!(held.take_due(Timestamp::from_ms(1_049)), None);
        held.take(ConnId(1));
        assert_eq!(held.take_due(Timestamp::from_ms(1_060)), Some((ConnId(2), b"b\n".to_vec())));
        assert_eq!((held.take_due(Timestamp::from_ms(9_000)), held.next_due()), (None, None));
    }

    #[test]
    fn queue_of_one_connection_is_bounded() {
        let mut held = HeldNotices::default();
        assert!(held.hold(ConnId(1), &[b'x'; BYTES_MAX], Timestamp::default()));
        assert!(!held.hold(ConnId(1), b"y", Timestamp::default()));
        assert_eq!(held.take(ConnId(1)).map(|lines| lines.len()), Some(BYTES_MAX));
    }
}
