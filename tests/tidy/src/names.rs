//! Promises about names: types that other crates can use do not share a name.

use crate::assert_none;
use crate::tree::files;
use std::collections::{BTreeMap, BTreeSet};

/// Names that several types share. The list may only shrink.
const SHARED: &[&str] = &[
    "Action",
    "AgeOrder",
    "Ask",
    "BadMessage",
    "Boxes",
    "Change",
    "Cheat",
    "Dice",
    "Estimate",
    "Frames",
    "FromPlayer",
    "Known",
    "Limits",
    "Node",
    "Notice",
    "Player",
    "Question",
    "Refused",
    "Request",
    "Rule",
    "Speaker",
    "TooLong",
    "Values",
    "Words",
];

/// The family of a file: the games have the same types each, and so have their house players and
/// the vocabularies of Erlang.
fn family(path: &str) -> &str {
    let games = ["/src/fish", "/src/trains", "/src/yahtzee", "/src/erlang"];
    games.iter().find_map(|game| Some(path.split_once(*game)?.0)).unwrap_or(path)
}

#[test]
fn public_types_do_not_share_a_name() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files(".rs") {
        let path = &file.path;
        let is_product = path.starts_with("crates/") && path.contains("/src/");
        if !is_product || path.starts_with("crates/sim/") {
            continue;
        }
        let product = file.text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        for line in product.lines() {
            let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
            let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else {
                continue;
            };
            let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
            // A macro's type has no name here.
            if end > 0 {
                places.entry(rest[..end].to_owned()).or_default().insert(family(path).to_owned());
            }
        }
    }
    let shared = places.iter().filter(|(_, places)| places.len() > 1);
    let shared: BTreeMap<&str, &BTreeSet<String>> =
        shared.map(|(name, places)| (name.as_str(), places)).collect();
    let new = shared.iter().filter(|(name, _)| !SHARED.contains(name));
    let mut complaints: Vec<String> = new
        .map(|(name, places)| {
            format!("{name} is a type in {places:?}; give each a name of its role")
        })
        .collect();
    let gone = SHARED.iter().filter(|name| !shared.contains_key(*name));
    complaints.extend(gone.map(|name| format!("{}: take {name} out of SHARED", file!())));
    assert_none(&complaints);
}
