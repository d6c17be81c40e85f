//! `verify` on forged logs: it finds the forgery, or the log still means the same.
//!
//! An input selects a log, and up to six changes to it. [`meaning`] defines what a log means, with
//! everything that verification cannot know.

mod meaning;
mod mutate;
mod played;

use crate::boards::GAMES;
use crate::input::Input;
use agon_core::verify::{self, Finding, MatchCheck, RunningMatchCheck, Stream, TournamentCheck};
use agon_core::{Secret, TournamentId};
use played::{Streams, Wanted};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const FISH: &str = r#"{"confirm":true,"rows":4,"columns":4,"difficulty":3}"#;

/// A map on which games are short.
const TRAINS: &str = r#"{"confirm":true,"map":{"width":100,"height":100,"cities":[["A",[0,0]],
    ["B",[9,9]],["C",[9,90]],["D",[90,9]],["E",[50,50]],["F",[99,99]]],"connections":{"A":{"B":
    {"red":3,"blue":4},"C":{"blue":5,"red":3}},"B":{"D":{"green":5},"E":{"white":3,"red":5}},
    "C":{"E":{"green":4}},"D":{"E":{"blue":3}},"E":{"F":{"white":4}}}}}"#;

/// The logs that inputs start from. Short ones are first, because they are tried most.
const WANTED: [Wanted; 10] = [
    wanted("fish", FISH, 3, 0, false),
    wanted("fish", FISH, 4, 4, false),
    wanted("fish", FISH, 5, 20, true),
    wanted("yahtzee-class", "", 2, 0, false),
    wanted("yahtzee-class", "", 3, 15, false),
    wanted("yahtzee-referee", "", 3, 12, true),
    wanted("yahtzee-queue", "", 2, 12, false),
    Wanted { round_robin: true, ..wanted("yahtzee-queue", "", 3, 12, true) },
    wanted("trains", TRAINS, 3, 0, false),
    wanted("trains", TRAINS, 2, 40, true),
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

/// The seed of the first of them.
const SEED: u64 = 1;

static LOGS: LazyLock<Vec<Whole>> = LazyLock::new(|| {
    let logs = WANTED.iter().zip(SEED..).map(|(wanted, seed)| {
        let streams = played::play(*wanted, seed);
        let checked = check(&streams, None);
        let checked = checked.unwrap_or_else(|finding| panic!("{wanted:?}: {finding}"));
        Whole { streams, checked }
    });
    logs.collect()
});

/// A log that verifies, with its results.
struct Whole {
    streams: Streams,
    checked: Checked,
}

/// The verification results of every stream.
#[derive(Clone)]
struct Checked {
    tournaments: BTreeMap<String, TournamentCheck>,
    matches: BTreeMap<String, MatchCheck>,
}

/// Verification finds a forged log, or the log still means the same. Returns whether it verifies.
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

/// Verifies a log as `agon verify` does the database of a server. Streams that are unchanged from
/// `known` are not checked again.
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
            None => verify_both_ways(name, lines, secret(id))?,
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

/// Verifies a match whole and, as `agon verify` does first, while it is read. Both must agree.
fn verify_both_ways(
    name: &str,
    lines: &[String],
    secret: Option<&Secret>,
) -> Result<MatchCheck, Finding> {
    let whole = read(name, lines).and_then(|lines| verify::verify_match(&lines, &GAMES, secret));
    if let Some(secret) = secret {
        let running = RunningMatchCheck::new(name, &GAMES, secret).of_lines(lines);
        let due = whole.as_ref().ok().filter(|check| !check.predates_chain);
        assert_eq!(running.as_ref(), due, "{name}: {:?}", whole.as_ref().err());
    }
    whole
}

/// The lines of a stream. The storage of the log ensures that they belong to this stream.
fn read(name: &str, lines: &[String]) -> Result<Stream, Finding> {
    let read = verify::read(lines)?;
    match read.iter().find(|line| *line.stream != *name) {
        None => Ok(read),
        Some(line) => {
            let (stream, event) = (line.stream.to_string(), line.event.tag().to_owned());
            Err(Finding { stream, seq: line.seq, event, what: format!("kept as {name}") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{change, leaves, records, renumbered};

    /// The comparison for a log with one changed value, as if `verify` were blind.
    fn compared(whole: &Whole, tag: &str, path: &str) -> Option<Result<(), String>> {
        let tagged = format!("\"type\":\"{tag}\"");
        let mut forged = whole.streams.clone();
        let line = forged.values_mut().flatten().find(|line| {
            line.contains(&tagged) && leaves(line).iter().any(|leaf| leaf.path.starts_with(path))
        })?;
        let leaf = leaves(line).into_iter().find(|leaf| leaf.path.starts_with(path))?;
        *line = change(line, &leaf, 0);
        Some(meaning::compare(whole, &forged, &whole.checked))
    }

    #[test]
    fn meaning_covers_public_facts_and_no_unknowable_values() {
        for (tag, path, meant) in [
            ("game-ended", "data.result.scores", true),
            ("game-ended", "data.result.winners", true),
            ("game-ended", "data.secret", true),
            ("game-started", "data.seats", true),
            ("game-started", "data.commitment", true),
            ("answer-accepted", "data.drawn", true),
            ("answer-accepted", "data.seat", true),
            ("player-left", "data.faulted.fault.kind", true),
            ("player-faulted", "data.faulted.player", true),
            ("match-ended", "data.result.faults", true),
            ("match-reported", "data.result.halves", true),
            ("round-paired", "data.matches.0.players", true),
            ("tournament-created", "data.plan.policy.match.best_of", true),
            ("tournament-ended", "data.winners", true),
            ("tournament-finished", "data.winners", true),
            ("tournament-started", "data.plan.players", true),
            ("answer-accepted", "at", false),
            ("answer-accepted", "data.took_ms", false),
            ("tournament-paused", "data.why", false),
        ] {
            let found: Vec<_> =
                LOGS.iter().filter_map(|whole| compared(whole, tag, path)).collect();
            assert!(!found.is_empty(), "no log has {path} of {tag}");
            assert!(found.iter().all(|said| said.is_err() == meant), "{path} of {tag}: {found:?}");
        }
    }

    #[test]
    fn removed_record_changes_the_meaning() {
        for whole in LOGS.iter() {
            for (name, lines) in whole.streams.iter().filter(|(name, _)| *name != "lobby") {
                let mut all = records(lines);
                let long = all.iter().position(|record| record.len() > 1).expect("a long record");
                all.remove(long);
                let mut forged = whole.streams.clone();
                forged.insert(name.clone(), renumbered(&all));
                let said = meaning::compare(whole, &forged, &whole.checked);
                assert!(said.is_err(), "{name} without record {long}");
                forged.remove(name);
                assert!(meaning::compare(whole, &forged, &whole.checked).is_err(), "{name} gone");
            }
        }
    }

    /// Checks that the logs contain the cases that can go wrong.
    #[test]
    fn logs_contain_every_case() {
        let lines = || LOGS.iter().flat_map(|whole| whole.streams.values().flatten());
        let all = [
            "player-dropped",
            "player-left",
            "player-faulted",
            "wait-expired",
            "seat-removed",
            "result-confirmed",
            "farewell-confirmed",
            "result-overridden",
            "replay-ordered",
            "match-reopened",
            "game-voided",
        ];
        let is_there = |tag: &&str| {
            let tagged = format!("\"type\":\"{tag}\"");
            lines().any(|line| line.contains(&tagged))
        };
        let missing: Vec<&str> = all.into_iter().filter(|tag| !is_there(tag)).collect();
        assert!(missing.is_empty(), "in no log: {missing:?}");
        assert!(LOGS.iter().all(|whole| whole.streams.len() > 2), "no matches were played");
    }
}
