//! How long matches wait for the server: from the answer of a player, or the loss of the connection of
//! the player who was asked, to the next request of the match.

use crate::history::Ms;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The waits of all matches, by tournament. In each tournament there is one match at a time, and it
/// asks one player at a time.
#[derive(Default, Debug)]
pub(crate) struct Waits(Mutex<BTreeMap<Box<str>, Wait>>);

/// The waits of one match.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Wait {
    /// Since when the match waits for a request.
    since: Option<Ms>,
    /// The longest wait since the latest [`begin`](Waits::begin).
    pub(crate) longest: Ms,
    /// When a player was last asked.
    pub(crate) asked_at: Ms,
}

impl Waits {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Wait>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request reached a player.
    pub(crate) fn asked(&self, request: &str, now: Ms) {
        let mut all = self.all();
        let wait = all.entry(tournament_of(request).into()).or_default();
        if let Some(since) = wait.since.take() {
            wait.longest = wait.longest.max(now - since);
        }
        wait.asked_at = now;
    }

    /// The player answered, or lost the connection before the answer.
    pub(crate) fn waiting(&self, request: &str, now: Ms) {
        let mut all = self.all();
        all.entry(tournament_of(request).into()).or_default().since.get_or_insert(now);
    }

    /// Forgets the longest waits.
    pub(crate) fn begin(&self) {
        self.all().values_mut().for_each(|wait| wait.longest = 0);
    }

    /// The waits of all matches.
    pub(crate) fn snapshot(&self) -> BTreeMap<Box<str>, Wait> {
        self.all().clone()
    }
}

/// The tournament in the name of a request.
fn tournament_of(request: &str) -> &str {
    request.split_once(':').map_or(request, |(tournament, _)| tournament)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_wait_of_a_match_is_kept_until_the_next_beginning() {
        let waits = Waits::default();
        waits.asked("cup-1:1", 100);
        waits.waiting("cup-1:1", 250);
        waits.asked("cup-1:2", 950);
        waits.waiting("cup-1:2", 1_000);
        waits.asked("cup-1:3", 1_100);
        let all = waits.snapshot();
        assert_eq!((all["cup-1"].longest, all["cup-1"].asked_at), (700, 1_100));
        waits.begin();
        assert_eq!(waits.snapshot()["cup-1"].longest, 0);
    }

    #[test]
    fn match_waits_from_the_loss_of_the_connection_to_the_request_on_the_next_one() {
        let waits = Waits::default();
        waits.asked("cup-1:1", 100);
        // The connection is lost at 200; the player has thought at 400 and cannot send the answer.
        waits.waiting("cup-1:1", 200);
        waits.waiting("cup-1:1", 400);
        waits.asked("cup-1:1", 3_200);
        assert_eq!(waits.snapshot()["cup-1"].longest, 3_000);
    }

    #[test]
    fn matches_of_other_tournaments_are_apart() {
        let waits = Waits::default();
        waits.waiting("cup-1:1", 0);
        waits.asked("cup-2:1", 500);
        assert_eq!(waits.snapshot()["cup-2"].longest, 0);
    }
}
