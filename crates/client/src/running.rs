//! Which tournaments a player is in, also when one of them ends while the connection is lost: then
//! nobody says so, and it is missing among those that are told of after coming back. One that the
//! player has left and that goes on without it is told to be over after every login: that counts
//! once.

use super::Event;
use agon_core::TournamentId;
use std::collections::BTreeSet;

/// Tournaments that were left and are remembered; the first by name are forgotten.
const LEFT_MAX: usize = 4_096;

/// The tournaments a player is in.
#[derive(Debug, Default)]
pub struct Running {
    known: BTreeSet<TournamentId>,
    /// Those that are over for it.
    left: BTreeSet<TournamentId>,
    /// After coming back: how many will be told of, and those that were.
    returning: Option<(u64, BTreeSet<TournamentId>)>,
}

impl Running {
    /// Takes an event; gives the tournaments that are over by it.
    pub fn heard(&mut self, event: &Event) -> Vec<TournamentId> {
        match event {
            Event::Back { active } => {
                self.returning = Some((*active, BTreeSet::new()));
                self.settle()
            }
            Event::Notice(notice) => match (notice.about.as_str(), notice.tournament()) {
                ("tournament", Some(id)) => {
                    if let Some((_, told)) = &mut self.returning {
                        told.insert(id.clone());
                    }
                    self.left.remove(&id);
                    self.known.insert(id);
                    self.settle()
                }
                ("tournament-over", Some(id)) => {
                    let returning = self.returning.is_some();
                    if let Some((active, told)) = &mut self.returning {
                        *active = active.saturating_sub(1);
                        told.remove(&id);
                    }
                    // At the first login it is one of the past.
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

    /// Notes that a tournament is over; whether that is new.
    fn leave(&mut self, id: TournamentId) -> bool {
        while self.left.len() >= LEFT_MAX {
            self.left.pop_first();
        }
        self.left.insert(id)
    }

    /// Once all that go on were told of, the others are over.
    fn settle(&mut self) -> Vec<TournamentId> {
        match self.returning.take() {
            Some((active, told)) if told.len() as u64 >= active => {
                let over = self.known.difference(&told).cloned().collect();
                self.known = told;
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

    fn notice(about: &str, id: &str) -> Event {
        let (about, data) = (about.to_owned(), json!({"tournament": id}));
        Event::Notice(Notice { about, data, beside: None, line: String::new() })
    }

    fn over(running: &mut Running, event: &Event) -> Vec<String> {
        running.heard(event).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_ended_meanwhile_is_missing_among_those_told_of() {
        let mut running = Running::default();
        for id in ["a", "b", "c"] {
            assert_eq!(over(&mut running, &notice("tournament", id)), [""; 0]);
        }
        assert_eq!(over(&mut running, &notice("tournament-over", "b")), ["b"]);
        // The connection is lost once more before all were told of.
        assert_eq!(over(&mut running, &Event::Back { active: 2 }), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament", "c")), [""; 0]);
        assert_eq!(over(&mut running, &Event::Back { active: 2 }), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament", "c")), [""; 0]);
        // A new one began while another ended.
        assert_eq!(over(&mut running, &notice("tournament", "d")), ["a"]);
        assert_eq!(over(&mut running, &Event::Back { active: 0 }), ["c", "d"]);
        assert_eq!(over(&mut running, &Event::Back { active: 0 }), [""; 0]);
    }

    #[test]
    fn what_was_left_counts_once_however_often_it_is_told() {
        let mut running = Running::default();
        // Of an earlier life.
        assert_eq!(over(&mut running, &notice("tournament-over", "old")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament", "a")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "a")), ["a"]);
        assert_eq!(over(&mut running, &Event::Back { active: 3 }), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "a")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "old")), [""; 0]);
        // It began and was lost while the connection was.
        assert_eq!(over(&mut running, &notice("tournament-over", "b")), ["b"]);
        // An operator has the match replayed: it is in again, and out again.
        assert_eq!(over(&mut running, &notice("tournament", "a")), [""; 0]);
        assert_eq!(over(&mut running, &notice("tournament-over", "a")), ["a"]);
    }
}
