//! `verify` on forged logs: it finds the forgery, or the log means what it meant.
//!
//! An input is which log to begin with, and up to six changes to it. What a log means is in
//! [`meaning`], with everything that verification cannot know.

mod meaning;
mod mutate;
mod played;

use crate::boards::GAMES;
use crate::input::Input;
use agon_core::verify::{self, Finding, MatchCheck, TournamentCheck};
use agon_core::{Line, Secret, TournamentId};
use played::{Streams, Wanted};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const FISH: &str = r#"{"confirm":true,"rows":4,"columns":4,"difficulty":3}"#;

/// The logs inputs begin with. Short ones first, which are tried most.
const WANTED: [Wanted; 10] = [
    wanted("fish", FISH, 3, 0, false),
    wanted("fish", FISH, 4, 9, false),
    wanted("fish", FISH, 5, 20, true),
    wanted("yahtzee-class", "", 2, 0, false),
    wanted("yahtzee-class", "", 3, 15, false),
    wanted("yahtzee-referee", "", 3, 12, true),
    wanted("yahtzee-queue", "", 2, 12, false),
    Wanted { round_robin: true, ..wanted("yahtzee-queue", "", 3, 12, true) },
    wanted("trains", "", 3, 30, false),
    wanted("trains", "", 2, 15, true),
];

const fn wanted(
    preset: &'static str,
    config: &'static str,
    players: usize,
    odd_in: usize,
    ruled: bool,
) -> Wanted {
    Wanted { preset, config, players, round_robin: false, odd_in, ruled }
}

static LOGS: LazyLock<Vec<Whole>> = LazyLock::new(|| {
    let logs = WANTED.iter().zip(1..).map(|(wanted, seed)| {
        let streams = played::play(*wanted, seed);
        let checked = check(&streams, None);
        let checked = checked.unwrap_or_else(|finding| panic!("{wanted:?}: {finding}"));
        Whole { streams, checked }
    });
    logs.collect()
});

/// A log that verifies, with what was found.
struct Whole {
    streams: Streams,
    checked: Checked,
}

/// What was found of every stream.
#[derive(Clone)]
struct Checked {
    tournaments: BTreeMap<String, TournamentCheck>,
    matches: BTreeMap<String, MatchCheck>,
}

/// A forged log is found, or means what it meant. Good is one that verifies.
pub fn verifies(data: &[u8]) -> bool {
    let mut input = Input(data);
    let whole = &LOGS[input.below(LOGS.len())];
    let forgery = mutate::forged(&whole.streams, &mut input);
    let checked = match check(&forgery.streams, Some(whole)) {
        Ok(checked) => checked,
        Err(finding) => {
            let _ = finding.to_string();
            return false;
        }
    };
    if let Err(what) = meaning::compare(whole, &forgery.streams, &checked) {
        panic!("verified, and {what}, after\n{}", forgery.done.join("\n"));
    }
    true
}

/// Verifies a log as `agon verify` does the database of a server. What is as it was in `known` is
/// not checked again.
fn check(streams: &Streams, known: Option<&Whole>) -> Result<Checked, Finding> {
    let same = |name: &str, lines: &[String]| {
        let known = known.filter(|known| known.streams.get(name).is_some_and(|old| old == lines));
        known.map(|known| &known.checked)
    };
    let of = |prefix: &str| {
        streams.iter().filter(move |(name, _)| name.starts_with(prefix)).collect::<Vec<_>>()
    };
    let mut tournaments = BTreeMap::new();
    for (name, lines) in of("tournament/") {
        let id = name.trim_start_matches("tournament/").to_owned();
        let check = match same(name, lines).and_then(|known| known.tournaments.get(&id)) {
            Some(check) => check.clone(),
            None => verify::verify_tournament(&read(name, lines)?, &GAMES, None)?,
        };
        tournaments.insert(id, check);
    }
    let secret = |id: &str| -> Option<&Secret> { tournaments.get(id)?.secret.as_ref() };
    let mut matches = BTreeMap::new();
    for (name, lines) in of("match/") {
        let id = name.split('/').nth(1).unwrap_or_default();
        let known = same(name, lines).filter(|known| {
            known.tournaments.get(id).and_then(|check| check.secret.as_ref()) == secret(id)
        });
        let check = match known.and_then(|known| known.matches.get(name)) {
            Some(check) => check.clone(),
            None => verify::verify_match(&read(name, lines)?, &GAMES, secret(id))?,
        };
        matches.insert(name.clone(), check);
    }
    let lobby = match streams.get("lobby") {
        Some(lines) => {
            let secret = |id: &TournamentId| secret(id.as_str()).cloned();
            Some(verify::verify_lobby(&read("lobby", lines)?, secret)?)
        }
        None => None,
    };
    verify::agree(lobby.as_ref(), &tournaments, &matches)?;
    Ok(Checked { tournaments, matches })
}

/// The lines of a stream. That they are of this stream is seen to by whatever keeps the log.
fn read(name: &str, lines: &[String]) -> Result<Vec<Line>, Finding> {
    let read = verify::read(lines)?;
    match read.iter().find(|line| line.stream != name) {
        None => Ok(read),
        Some(line) => {
            let (stream, event) = (line.stream.clone(), line.event.tag().to_owned());
            Err(Finding { stream, seq: line.seq, event, what: format!("kept as {name}") })
        }
    }
}
