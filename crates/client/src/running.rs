//! Tracks which tournaments a player is in, also when one ends while the connection is lost.
//!
//! The server does not report such an end; the tournament is missing from those it lists after a
//! reconnect. The server reports a tournament that the player has left as over after every login;
//! that counts once.

use super::ClientEvent;
use agon_core::TournamentId;
use std::collections::BTreeSet;

/// How many left tournaments are remembered; beyond that, the first by name are forgotten.
const LEFT_MAX: usize = 4_096;

/// The tournaments a player is in.
#[derive(Debug, Default)]
pub struct Running {
    known: BTreeSet<TournamentId>,
    /// Tournaments that are over for the player.
    left: BTreeSet<TournamentId>,
    /// After a reconnect: how many tournaments the server will list, and those it has listed.
    returning: Option<(u64, BTreeSet<TournamentId>)>,
}

impl Running {
    /// Processes an event; returns the tournaments that it ends.
    pub fn heard(&mut self, event: &ClientEvent) -> Vec<TournamentId> {
        match event {
            ClientEvent::Back { active } => {
                self.returning = Some((*active, BTreeSet::new()));
                self.settle()
            }
            ClientEvent::Notice(notice) => match (notice.about.as_str(), notice.tournament()) {
                ("tournament", Some(id)) => {
                    if let Some((_, reported)) = &mut self.returning {
                        reported.insert(id.clone());
                    }
                    self.left.remove(&id);
                    self.known.insert(id);
                    self.settle()
                }
                ("tournament-over", Some(id)) => {
                    let returning = self.returning.is_some();
                    if let Some((active, reported)) = &mut self.returning {
                        *active = active.saturating_sub(1);
                        reported.remove(&id);
                    }
                    // At the first login, such a tournament ended earlier.
                    let was_in = self.known.remove(&id) || returning;
                    let mut over = self.settle();
                    if self.leave(id.clone()) && was_in {
                        over.push(id);
                    }
                    over
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Records that a tournament is over; returns whether that is new.
    fn leave(&mut self, id: TournamentId) -> bool {
        while self.left.len() >= LEFT_MAX {
            self.left.pop_first();
        }
        self.left.insert(id)
    }

    /// Once the server has listed all active tournaments, the others are over.
    fn settle(&mut self) -> Vec<TournamentId> {
        match self.returning.take() {
            Some((active, reported)) if reported.len() as u64 >= active => {
                let over = self.known.difference(&reported).cloned().collect();
                self.known = reported;
                over
            }
            still => {
                self.returning = still;
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Notice;
    use serde_json::json;

    fn notice(about: &str, id: &str) -> ClientEvent {
        let (about, data) = (about.to_owned(), json!({"tournament": id}));
        ClientEvent::Notice(Notice { about, data, beside: None, line: String::new() })
    }

    fn over(running: &mut Running, event: &ClientEvent) -> Vec<String> {
        running.heard(event).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tournament_not_listed_after_a_reconnect_is_over() {
        let mut running = Running::default();
        for id in ["a", "b", "c"] {
            assert_eq!(over(&mut running, &notice("tournament", id)), [""; 0]);
        }
        assert_eq!(over(&mut running, &notice("tournament-over", "b")), ["b"]);
        // The connection closes again before the server has listed all.
        assert_eq!(over(&mut running, &ClientEvent::Back { active: 2 }), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament", "c")), [""; 0]);
        assert_eq!(over(&mut running, &ClientEvent::Back { active: 2 }), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament", "c")), [""; 0]);
        // A new one began while another ended.
        assert_eq!(over(&mut running, &notice("tournament", "d")), ["a"]);
        assert_eq!(over(&mut running, &ClientEvent::Back { active: 0 }), ["c", "d"]);
        assert_eq!(over(&mut running, &ClientEvent::Back { active: 0 }), [""; 0]);
    }

    #[test]
    fn left_tournament_counts_once() {
        let mut running = Running::default();
        // It ended before this client started.
        assert_eq!(over(&mut running, &notice("tournament-over", "old")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament", "a")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "a")), ["a"]);
        assert_eq!(over(&mut running, &ClientEvent::Back { active: 3 }), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "a")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "old")), [""; 0]);
        // It began and ended while the connection was lost.
        assert_eq!(over(&mut running, &notice("tournament-over", "b")), ["b"]);
        // An operator orders a replay: the player is in again, and then out again.
        assert_eq!(over(&mut running, &notice("tournament", "a")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "a")), ["a"]);
    }
}
