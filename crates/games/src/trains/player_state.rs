//! The state that the Trains protocol shows to the player whose turn it is, and what follows from
//! it.
//!
//! A [`PlayerState`] is enough to decide a turn, so strategies use only it: the same code plays
//! here, over Agon's protocols and against servers of others.

use super::{Connection, Map, Pair};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A natural number of any size in foreign JSON; a number that does not fit becomes the largest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug, Serialize)]
#[serde(transparent)]
pub struct Natural(pub u64);

impl<'de> Deserialize<'de> for Natural {
    /// Reads JSON text only: a number of any size survives nothing else.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Natural, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let digits = raw.get().trim();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(de::Error::custom("not a natural number"));
        }
        Ok(Natural(digits.parse().unwrap_or(u64::MAX)))
    }
}

/// The possessions of the active player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Own {
    /// One destination it keeps.
    pub destination1: Pair,
    /// The other one.
    pub destination2: Pair,
    /// How many rails it has left.
    pub rails: Natural,
    /// Its cards by colour; colours it has none of may be left out.
    pub cards: BTreeMap<super::Color, Natural>,
    /// The connections it holds.
    pub acquired: Vec<Connection>,
}

/// The game as the active player sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayerState {
    /// Its own things.
    pub this: Own,
    /// The connections of every other player still in, in turn order from the next one.
    pub acquired: Vec<Vec<Connection>>,
}

impl PlayerState {
    /// How many cards the active player holds.
    pub fn cards_total(&self) -> u64 {
        self.this.cards.values().fold(0, |sum, count| sum.saturating_add(count.0))
    }

    /// Returns whether a player holds a connection.
    pub fn is_held(&self, connection: &Connection) -> bool {
        self.this.acquired.contains(connection)
            || self.acquired.iter().any(|acquired| acquired.contains(connection))
    }

    /// Returns whether the active player has the cards and rails for a connection.
    pub fn can_pay(&self, connection: &Connection) -> bool {
        let price = u64::from(connection.length.segments());
        let cards = self.this.cards.get(&connection.color).map_or(0, |count| count.0);
        cards >= price && self.this.rails.0 >= price
    }

    /// Returns whether the active player may acquire a connection.
    pub fn may_acquire(&self, map: &Map, connection: &Connection) -> bool {
        map.find(connection).is_some() && self.can_pay(connection) && !self.is_held(connection)
    }

    /// The connections the active player may acquire, in the map's order.
    pub fn choices<'a>(&'a self, map: &'a Map) -> impl Iterator<Item = &'a Connection> {
        map.connections()
            .iter()
            .filter(|connection| self.can_pay(connection) && !self.is_held(connection))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Color;
    use super::*;

    const STATE: &str = r#"{"this":{"destination1":["A","B"],"destination2":["B","C"],"rails":4,
        "cards":{"red":3,"blue":99999999999999999999999999},
        "acquired":[]},"acquired":[[["A","B","red",3]],[]]}"#;

    const MAP: &str = r#"{"width":10,"height":10,"cities":[["A",[0,0]],["B",[1,1]],["C",[2,2]]],
        "connections":{"A":{"B":{"red":3,"blue":4},"C":{"white":3,"blue":5}},"B":{"C":{"red":3}}}}"#;

    #[test]
    fn counts_may_be_of_any_size_and_left_out() {
        let state: PlayerState = serde_json::from_str(STATE).expect("a state");
        assert_eq!(state.this.cards[&Color::Blue], Natural(u64::MAX));
        assert_eq!(state.cards_total(), u64::MAX);
        for bad in ["4.0", "-1", "\"4\"", "4e1"] {
            let text = STATE.replace(":4,", &format!(":{bad},"));
            assert!(serde_json::from_str::<PlayerState>(&text).is_err(), "{bad}");
        }
    }

    #[test]
    fn choices_are_free_and_paid_for_with_cards_and_rails() {
        let map = Map::parse(MAP).expect("a map");
        let state: PlayerState = serde_json::from_str(STATE).expect("a state");
        let choices: Vec<String> = state.choices(&map).map(ToString::to_string).collect();
        assert_eq!(choices, ["A – B (blue, 4)", "B – C (red, 3)"]);
        for connection in map.connections() {
            let chosen = choices.contains(&connection.to_string());
            assert_eq!(state.may_acquire(&map, connection), chosen);
        }
        let mut held = state.clone();
        held.this.acquired = vec![*state.choices(&map).next().expect("a choice")];
        let choices: Vec<String> = held.choices(&map).map(ToString::to_string).collect();
        assert_eq!(choices, ["B – C (red, 3)"], "not what it holds itself");
        let elsewhere: Connection = serde_json::from_str(r#"["A","B","blue",3]"#).expect("one");
        assert!(state.can_pay(&elsewhere) && !state.may_acquire(&map, &elsewhere));
    }
}
