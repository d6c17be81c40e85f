//! Players in the order they came: the line of logged-in players, and the queues.

use crate::ids::PlayerName;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// Players in order. A player who wants to play twice has two places.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<PlayerName>")]
pub struct Queue {
    places: BTreeMap<u64, PlayerName>,
    of: BTreeMap<PlayerName, BTreeSet<u64>>,
    /// The number of the next place.
    next: u64,
}

impl Queue {
    /// The empty queue.
    pub(super) const EMPTY: &'static Queue =
        &Queue { places: BTreeMap::new(), of: BTreeMap::new(), next: 0 };

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no places.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The players in order, the longest waiting first.
    pub fn iter(&self) -> impl Iterator<Item = &PlayerName> {
        self.places.values()
    }

    /// The players in order, as a list.
    pub fn to_vec(&self) -> Vec<PlayerName> {
        self.iter().cloned().collect()
    }

    /// Returns whether a player has a place.
    pub fn contains(&self, player: &PlayerName) -> bool {
        self.of.contains_key(player)
    }

    /// How many places a player has.
    pub fn times(&self, player: &PlayerName) -> usize {
        self.of.get(player).map_or(0, BTreeSet::len)
    }

    /// Adds a place for a player at the end.
    pub(super) fn push(&mut self, player: PlayerName) {
        self.places.insert(self.next, player.clone());
        self.of.entry(player).or_default().insert(self.next);
        self.next += 1;
    }

    /// Gives up a player's first place.
    pub(super) fn remove_first(&mut self, player: &PlayerName) {
        let first = self.of.get(player).and_then(|own| own.first().copied());
        self.remove(player, first);
    }

    /// Gives up a player's last place.
    pub(super) fn remove_last(&mut self, player: &PlayerName) {
        let last = self.of.get(player).and_then(|own| own.last().copied());
        self.remove(player, last);
    }

    /// Gives up all places of a player.
    pub(super) fn remove_all(&mut self, player: &PlayerName) {
        for place in self.of.remove(player).unwrap_or_default() {
            self.places.remove(&place);
        }
    }

    /// Moves the places of these players to the end, in their previous order.
    pub(super) fn move_to_end(&mut self, players: &[PlayerName]) {
        let places = players.iter().filter_map(|player| self.of.get(player)).flatten();
        let places: BTreeSet<u64> = places.copied().collect();
        for place in places {
            let player = self.places.get(&place).expect("a place in `of` is in `places`").clone();
            self.remove(&player, Some(place));
            self.push(player);
        }
    }

    fn remove(&mut self, player: &PlayerName, place: Option<u64>) {
        let (Some(place), Some(own)) = (place, self.of.get_mut(player)) else { return };
        own.remove(&place);
        if own.is_empty() {
            self.of.remove(player);
        }
        self.places.remove(&place);
    }
}

/// Two queues are equal if their players are; the numbers of the places do not matter.
impl PartialEq for Queue {
    fn eq(&self, other: &Queue) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Queue {}

impl From<Vec<PlayerName>> for Queue {
    fn from(players: Vec<PlayerName>) -> Queue {
        let mut queue = Queue::default();
        players.into_iter().for_each(|player| queue.push(player));
        queue
    }
}

impl Serialize for Queue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &str) -> Vec<PlayerName> {
        texts.split_whitespace().map(|text| PlayerName::new(text).unwrap()).collect()
    }

    fn queue(texts: &str) -> Queue {
        Queue::from(names(texts))
    }

    #[test]
    fn players_wait_in_the_order_they_came_as_often_as_they_came() {
        let [ann, eve] = [&names("ann")[0], &names("eve")[0]];
        let mut line = queue("ann bob ann cat ann");
        assert_eq!(
            (line.len(), line.is_empty(), line.times(ann), line.times(eve)),
            (5, false, 3, 0)
        );
        assert!(line.contains(ann) && !line.contains(eve));
        assert_eq!(line.to_vec(), names("ann bob ann cat ann"));
        line.remove_first(ann);
        assert_eq!(line, queue("bob ann cat ann"));
        line.remove_last(ann);
        assert_eq!(line, queue("bob ann cat"));
        line.remove_last(eve);
        line.push(ann.clone());
        assert_eq!(line, queue("bob ann cat ann"));
        line.remove_all(ann);
        assert_eq!((line.to_vec(), line.times(ann)), (names("bob cat"), 0));
        assert!(!line.contains(ann));
        line.remove_first(&names("bob")[0]);
        line.remove_first(&names("cat")[0]);
        assert!(line.is_empty() && line == *Queue::EMPTY);
    }

    #[test]
    fn players_move_to_the_end_in_the_same_order() {
        let mut line = queue("ann bob ann cat dan");
        line.move_to_end(&names("cat ann"));
        assert_eq!(line, queue("bob dan ann ann cat"));
        line.move_to_end(&names("eve"));
        assert_ne!(line, queue("bob dan ann ann"));
        assert_eq!(serde_json::to_string(&line).unwrap(), r#"["bob","dan","ann","ann","cat"]"#);
    }
}
