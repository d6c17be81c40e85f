//! The settings of an organiser, and the built-in map.

use super::deck::DECK_LEN;
use super::{Color, Map, MapError, PROPOSED_CITIES_MAX, PROPOSED_CONNECTIONS_MAX};
use crate::{Proposal, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::sync::{Arc, LazyLock};

/// The settings of a game of Trains.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The map. Games share it, with all that is derived from it.
    pub map: Arc<Map>,
    /// A fixed deck of at most 250 cards, for tests: cards come from the front, and destinations
    /// are offered in order, the first five remaining.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "deck")]
    pub deck: Option<Vec<Color>>,
    /// True if players confirm what they are told, as they do over the Trains wire: their hand
    /// before they pick destinations, and the cards they asked for.
    pub confirm: bool,
}

impl Default for Config {
    fn default() -> Config {
        static MAP: LazyLock<Arc<Map>> = LazyLock::new(|| {
            Arc::new(Map::parse(include_str!("default_map.json")).expect("the map is valid"))
        });
        Config { map: Arc::clone(&MAP), deck: None, confirm: false }
    }
}

impl Config {
    /// The settings with another map.
    #[must_use]
    pub fn with_map(&self, map: Map) -> Config {
        Config { map: Arc::new(map), ..self.clone() }
    }

    /// Judges a map that a player proposes.
    pub(super) fn propose(&self, proposal: &str, seats_max: usize) -> Proposal<Config> {
        match Map::parse(proposal) {
            Ok(map) if is_too_large(&map) => Proposal::Unfit(TOO_LARGE.into()),
            Ok(map) if map.serves(seats_max) => Proposal::Fits(self.with_map(map)),
            Ok(_) => Proposal::Unfit(TOO_SMALL.into()),
            Err(error) => Proposal::Refused(refusal(&error)),
        }
    }
}

/// The error for a map that makes replays too large.
const TOO_LARGE: &str = "more than 100 cities or 300 connections";

fn is_too_large(map: &Map) -> bool {
    map.cities().len() > PROPOSED_CITIES_MAX || map.connections().len() > PROPOSED_CONNECTIONS_MAX
}

/// The error for a map that has too few destinations for the players.
pub(super) const TOO_SMALL: &str = "not enough destinations";

fn refusal(error: &MapError) -> Refusal {
    Refusal::malformed(error.to_string())
}

fn deck<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Color>>, D::Error> {
    let deck: Option<Vec<Color>> = Option::deserialize(deserializer)?;
    match &deck {
        Some(cards) if cards.len() > DECK_LEN => Err(de::Error::custom(too_long(cards.len()))),
        _ => Ok(deck),
    }
}

pub(super) fn too_long(given: usize) -> String {
    format!("a deck of {given} cards; there are at most {DECK_LEN}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs of the course are written for maps of at most 40 connections; some need seconds for
    /// larger ones, and time out.
    #[test]
    fn default_map_serves_eight_players_with_at_most_forty_connections() {
        let map = Config::default().map;
        assert!(map.serves(8));
        assert!(map.connections().len() <= 40, "{}", map.connections().len());
        let cities = map.cities().len();
        assert_eq!(map.destination_count(), cities * (cities - 1) / 2, "all cities are joined");
    }

    #[test]
    fn an_empty_object_is_the_default_and_unknown_fields_are_refused() {
        let read = serde_json::from_str::<Config>;
        assert_eq!(read("{}").expect("settings"), Config::default());
        assert!(read(r#"{"speed":1}"#).is_err());
        let full = format!(r#"{{"deck":[{}"red"]}}"#, r#""red","#.repeat(249));
        assert_eq!(read(&full).expect("settings").deck, Some(vec![Color::Red; 250]));
        assert_eq!(read(r#"{"deck":null}"#).expect("settings"), Config::default());
        let long = format!(r#"{{"deck":[{}"red"]}}"#, r#""red","#.repeat(250));
        let error = read(&long).expect_err("too long").to_string();
        assert!(error.starts_with("a deck of 251 cards"), "{error}");
    }

    #[test]
    fn settings_survive_json() {
        let config = Config { deck: Some(vec![Color::Red; 8]), confirm: true, ..Config::default() };
        let text = serde_json::to_string(&config).expect("JSON");
        assert_eq!(serde_json::from_str::<Config>(&text).expect("settings"), config);
    }

    #[test]
    fn proposals_are_maps_that_serve_the_largest_game() {
        let config = Config { confirm: true, ..Config::default() };
        let small = r#"{"width":10,"height":10,"cities":[["A",[0,0]],["B",[1,1]]],
            "connections":{"A":{"B":{"red":3}}}}"#;
        assert_eq!(config.propose(small, 2), Proposal::Unfit(TOO_SMALL.into()));
        assert!(matches!(config.propose("[]", 2), Proposal::Refused(_)));
        let large = |cities: usize, connections: usize| {
            let spot =
                |number: usize| format!(r#"["C{number}",[{},{}]]"#, number % 30, number / 30);
            let spots: Vec<String> = (0..cities).map(spot).collect();
            let mut left = connections;
            let mut lines = Vec::new();
            for from in 0..cities {
                let to = (from + 1..cities).take(left.min(10));
                let to: Vec<String> = to.map(|to| format!(r#""C{to}":{{"red":3}}"#)).collect();
                left -= to.len();
                lines.push(format!(r#""C{from}":{{{}}}"#, to.join(",")));
            }
            let (spots, lines) = (spots.join(","), lines.join(","));
            format!(r#"{{"width":30,"height":40,"cities":[{spots}],"connections":{{{lines}}}}}"#)
        };
        assert!(matches!(config.propose(&large(100, 300), 8), Proposal::Fits(_)));
        assert_eq!(config.propose(&large(101, 300), 8), Proposal::Unfit(TOO_LARGE.into()));
        assert_eq!(config.propose(&large(100, 301), 8), Proposal::Unfit(TOO_LARGE.into()));
        let map = serde_json::to_string(&config.map).expect("JSON");
        assert_eq!(config.propose(&map, 8), Proposal::Fits(config));
    }
}
