//! Logs in which one thing was changed: `verify` finds it, and never breaks down over it.
//!
//! A log says what came from outside and what followed. The consequences are computed again, so any
//! change to it is found. Input from outside cannot be: a changed answer, say, is another
//! history if everything that followed would have been the same. The tests name all such places.

use crate::support::cases::cases;
use crate::support::chaos::Chaos;
use crate::support::check::verify_all;
use crate::support::forge::{Leaf, change, leaves, records, renumbered, without};
use agon_bots::Dice;
use agon_core::{Event, GameEnd, Line, verify};
use agon_games::Registry;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::LazyLock;

type Streams = BTreeMap<String, Vec<String>>;

/// A few tournaments of every preset, with and without faults.
static LOGS: LazyLock<Vec<Streams>> = LazyLock::new(|| {
    let mut logs = Vec::new();
    for (preset, players, best_of) in [
        ("yahtzee-class", 3, 3),
        ("yahtzee-referee", 4, 1),
        ("yahtzee-queue", 3, 1),
        ("fish", 5, 1),
        ("fish", 3, 1),
        ("trains", 3, 1),
    ] {
        for (seed, odd_in, ruled) in
            [(11, 0, false), (12, 25, false), (13, 60, false), (14, 0, true), (15, 60, true)]
        {
            for format in ["", "round-robin", "swiss:rounds=2", "groups:size=2 -> top 2"] {
                if !format.is_empty() && (preset != "yahtzee-queue" || odd_in == 0) {
                    continue;
                }
                let chaos = Chaos { preset, format, best_of, players, seed, odd_in, ruled };
                let played = chaos.play();
                played.assert_verifies();
                logs.push(played.streams);
            }
        }
    }
    logs
});

/// Which log, stream, line and leaf, as fractions of however many there are.
fn any_place() -> impl Strategy<Value = [usize; 5]> {
    any::<[u32; 5]>().prop_map(|parts| parts.map(|part| part as usize))
}

fn stream_at(place: [usize; 5]) -> (&'static Streams, &'static str, &'static [String]) {
    let log = &LOGS[place[0] % LOGS.len()];
    let (name, lines) = log.iter().nth(place[1] % log.len()).expect("a stream");
    (log, name, lines)
}

fn verdict(log: &Streams, name: &str, lines: Vec<String>) -> Result<(), String> {
    let mut forged = log.clone();
    forged.insert(name.to_owned(), lines);
    verify_all(&forged, &Registry::standard()).map_err(|finding| finding.to_string())
}

/// Returns whether a value came from outside and has, or may have, no other trace in the log.
fn carries_no_meaning(lines: &[String], at: usize, leaf: &Leaf) -> bool {
    let line = Line::read(&lines[at]).expect("a line");
    let path = leaf.path.as_str();
    let later = |what: fn(&Event) -> bool| {
        lines[at..].iter().any(|line| what(&Line::read(line).expect("a line").event))
    };
    match &line.event {
        // When things happened, and how long answers took.
        _ if path == "at" => true,
        Event::AnswerAccepted(_) if path == "data.took_ms" => true,
        // A confirmation may be part of the record before it, or a record by itself.
        Event::AnswerAccepted(_) if path == "more" => lines.get(at + 1).is_some_and(|next| {
            let next = Line::read(next).expect("a line").event;
            matches!(next, Event::AnswerAccepted(next) if next.took_ms == 0)
        }),
        // Another answer with the same consequences is another history.
        Event::AnswerAccepted(_) => path.starts_with("data.answer"),
        // Which preset a plan was made from: the policy itself is in the plan.
        Event::TournamentCreated(_) if path == "data.plan.preset" => true,
        // Limits of the format that so few players never came near.
        Event::TournamentCreated(_) if path.starts_with("data.plan.policy.format.") => true,
        // The map that was there before players proposed another.
        Event::TournamentCreated(_) => {
            path.starts_with("data.plan.config.map")
                && later(|event| matches!(event, Event::ConfigChosen(_)))
        }
        // Proposals after the one that was chosen.
        Event::PlayerGreeted(greeted) => {
            path.starts_with("data.proposal")
                && lines[at..].iter().any(|line| match Line::read(line).expect("a line").event {
                    Event::ConfigChosen(chosen) => chosen.by != greeted.player,
                    _ => false,
                })
        }
        // Why somebody failed before or after the rounds: timeouts and the like leave no other
        // trace. (In a match the result repeats them.)
        Event::PlayerDropped(_) => path.starts_with("data.faulted.fault."),
        // A nonce that no game used.
        Event::PlayerArrived(_) => {
            path == "data.nonce" && !later(|event| matches!(event, Event::GameStarted(_)))
        }
        // The operator and their reason, where no result repeats them; and the result, if
        // everything would also follow from another.
        Event::GameVoided(_) => {
            by_whom(path) && later(|event| matches!(event, Event::VoidUndone(_)))
        }
        Event::ResultOverridden(_) => by_whom(path) || path.starts_with("data.winners"),
        event => is_ruling(event) && by_whom(path),
    }
}

fn by_whom(path: &str) -> bool {
    ["data.by", "data.why"].contains(&path)
}

fn is_ruling(event: &Event) -> bool {
    let tags = ["-paused", "-resumed", "-undone", "-ordered", "-reopened", "-called-off"];
    tags.iter().any(|end| event.tag().ends_with(end))
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn a_changed_value_is_found(place in any_place()) {
        let (log, name, lines) = stream_at(place);
        let at = place[2] % lines.len();
        let all = leaves(&lines[at]);
        let leaf = &all[place[3] % all.len()];
        let mut forged = lines.to_vec();
        if place[4].is_multiple_of(5) {
            forged[at] = without(&lines[at], leaf);
        }
        if forged[at] == lines[at] {
            forged[at] = change(&lines[at], leaf, place[4] / 5);
        }
        prop_assume!(forged[at] != lines[at]);
        let harmless = carries_no_meaning(lines, at, leaf);
        let found = verdict(log, name, forged.clone()).is_err();
        prop_assert!(found || harmless, "{}: {}\n{}", name, leaf.path, forged[at]);
        // The stream of a match on its own, before the tournament is over: its plan is then taken
        // as it is.
        if name.starts_with("match/") && at > 0 {
            let games = Registry::standard();
            let alone = verify::read(&forged).and_then(|l| verify::verify_match(&l, &games, None));
            prop_assert!(alone.is_err() || harmless, "{}: {}", name, forged[at]);
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_missing_repeated_or_moved_record_is_found(place in any_place()) {
        let (log, name, lines) = stream_at(place);
        let mut forged = records(lines);
        let at = place[2] % forged.len();
        let record = forged[at].clone();
        match place[3] % 4 {
            0 => {
                prop_assume!(!leaves_no_trace(&forged[at..]));
                forged.remove(at);
            }
            1 => forged.insert(at, forged[at].clone()),
            2 => {
                forged.remove(at);
                let to = place[4] % (forged.len() + 1);
                prop_assume!(to != at && !pass_each_other(lines, at, to));
                forged.insert(to, record.clone());
            }
            _ => {
                let other = (at + 1) % forged.len();
                prop_assume!(!pass_each_other(lines, at, other));
                forged.swap(at, other);
            }
        }
        let verdict = verdict(log, name, renumbered(&forged));
        prop_assert!(verdict.is_err(), "{name}, record {at}: {record:?}");
    }

    #[test]
    fn a_missing_repeated_or_moved_line_of_a_record_is_found(place in any_place()) {
        let (log, name, lines) = stream_at(place);
        let mut forged = records(lines);
        let long: Vec<usize> = (0..forged.len()).filter(|at| forged[*at].len() > 1).collect();
        prop_assume!(!long.is_empty());
        let record = &mut forged[long[place[2] % long.len()]];
        let at = place[3] % record.len();
        match place[4] % 3 {
            0 => drop(record.remove(at)),
            1 => record.insert(at, record[at].clone()),
            _ => record.rotate_left(1),
        }
        let verdict = verdict(log, name, renumbered(&forged));
        prop_assert!(verdict.is_err(), "{name}, line {at} of a record");
    }

    /// As a thoughtless forger would do it, without new numbers.
    #[test]
    fn a_missing_repeated_or_swapped_line_is_found(place in any_place()) {
        let (log, name, lines) = stream_at(place);
        let mut forged = lines.to_vec();
        let at = place[2] % forged.len();
        match place[3] % 3 {
            0 => drop(forged.remove(at)),
            1 => forged.insert(at, forged[at].clone()),
            _ => {
                let other = place[4] % forged.len();
                prop_assume!(other != at);
                forged.swap(at, other);
            }
        }
        prop_assert!(verdict(log, name, forged).is_err(), "{name}, line {at}");
    }
}

/// Returns whether the first of these records is the last answer of a seat in a game that was then
/// broken off: without it, everything would have followed as it did if it brought no points. Or it
/// is an operator's word about a result: the same may have followed without.
fn leaves_no_trace(records: &[Vec<String>]) -> bool {
    let mut events = records.iter().flatten().map(|line| Line::read(line).expect("a line").event);
    let last = match events.next() {
        Some(Event::AnswerAccepted(last)) => last,
        event => {
            return matches!(event, Some(Event::ResultOverridden(_) | Event::RulingUndone(_)));
        }
    };
    let next = events.find(|event| match event {
        Event::AnswerAccepted(other) => other.seat == last.seat,
        event => matches!(event, Event::GameEnded(_)),
    });
    matches!(next, Some(Event::GameEnded(ended)) if ended.result.end != GameEnd::Played)
}

/// Returns whether moving one record past others may be another history: then what came from
/// outside came from different players, or about different matches, and nothing else followed from
/// it.
fn pass_each_other(lines: &[String], at: usize, to: usize) -> bool {
    let records = records(lines);
    let (from, until) = (at.min(to), at.max(to).min(records.len() - 1));
    let moved = &records[at];
    let mut passed = (from..=until).filter(|other| *other != at).map(|other| &records[other]);
    let lone = |record: &[String]| record.len() == 1;
    passed.all(|other| lone(moved) && lone(other) && cause(&moved[0]) != cause(&other[0]))
}

/// The source of a record.
fn cause(line: &str) -> String {
    match Line::read(line).expect("a line").event {
        Event::AnswerAccepted(accepted) => format!("seat {}", accepted.seat),
        Event::PlayerArrived(arrived) => arrived.player.to_string(),
        Event::PlayerLeft(left) => left.faulted.player.to_string(),
        Event::PlayerFaulted(faulted) => faulted.faulted.player.to_string(),
        Event::PlayerGreeted(greeted) => greeted.player.to_string(),
        Event::PlayerDropped(dropped) => dropped.faulted.player.to_string(),
        Event::WaitExpired(expired) => expired.faulted.player.to_string(),
        Event::ResultConfirmed(confirmed) => confirmed.player.to_string(),
        Event::FarewellConfirmed(confirmed) => confirmed.player.to_string(),
        Event::MatchReported(reported) => reported.id.to_string(),
        Event::ResultOverridden(overridden) => overridden.id.to_string(),
        Event::ReplayOrdered(ordered) => ordered.id.to_string(),
        Event::RulingUndone(undone) => undone.id.to_string(),
        Event::GameVoided(voided) => format!("game {}", voided.game),
        Event::VoidUndone(undone) => format!("game {}", undone.game),
        other => other.tag().to_owned(),
    }
}

#[test]
fn leaves_are_found_with_their_paths() {
    let text = r#"{"a":1,"b":{"c":["x",{"d":null}],"e":true},"f":"q\"\\"}"#;
    let found: Vec<String> = leaves(text)
        .iter()
        .map(|leaf| format!("{}={}", leaf.path, &text[leaf.from..leaf.to]))
        .collect();
    assert_eq!(found, ["a=1", "b.c.0=\"x\"", "b.c.1.d=null", "b.e=true", r#"f="q\"\\""#]);
}

/// The values people would forge first, each found at the very event.
#[test]
fn tampering_is_found_at_its_event() {
    let log = &LOGS[0];
    let name = "match/t/r1m2";
    let lines = &log[name];
    for (tag, path) in [
        ("match-created", "data.plan.players.0"),
        ("game-started", "data.seats.0"),
        ("game-started", "data.commitment"),
        ("game-started", "data.nonces.0"),
        ("answer-accepted", "data.request"),
        ("answer-accepted", "data.seat"),
        ("answer-accepted", "data.drawn"),
        ("game-ended", "data.result.scores.0"),
        ("game-ended", "data.result.ranks.0"),
        ("game-ended", "data.result.winners.0"),
        ("game-ended", "data.result.game"),
        ("game-ended", "data.secret"),
        ("match-ended", "data.result.winners.0"),
        ("match-ended", "data.result.halves.0"),
    ] {
        let tagged = format!("\"type\":\"{tag}\"");
        let has = |line: &&String| {
            line.contains(&tagged) && leaves(line).iter().any(|leaf| leaf.path.starts_with(path))
        };
        let line = lines.iter().find(has).unwrap_or_else(|| panic!("no {path} of {tag}"));
        let at = lines.iter().position(|other| other == line).expect("it is one of them");
        let leaf = leaves(line).into_iter().find(|leaf| leaf.path.starts_with(path)).unwrap();
        let mut forged = lines.clone();
        forged[at] = change(line, &leaf, 0);
        let found = verdict(log, name, forged).expect_err(path);
        let place = format!("{name}, event {} (", at + 1);
        // A plan is compared with the tournament's, once the match itself is found to be in order.
        assert!(found.starts_with(&place) || tag == "match-created", "{path}: {found}");
    }
}

/// A forger who takes away the end also takes away the secret; what is left is the log of a
/// tournament that still runs, unless it shows that it does not.
#[test]
fn a_log_without_its_end_is_running_or_forged() {
    let games = Registry::standard();
    for log in LOGS.iter() {
        let lines = verify::read(&log["tournament/t"]).expect("lines");
        let random = log["tournament/t"][0].contains(r#""pairing":"random""#);
        let mut cut = records(&log["tournament/t"]);
        let last = cut.last_mut().expect("a record");
        last.pop();
        if last.is_empty() {
            cut.pop();
            let whole = verify::read(&renumbered(&cut)).expect("lines");
            let check = verify::verify_tournament(&whole, &games, None);
            assert!(
                random || check.is_ok_and(|check| check.secret.is_none()),
                "a prefix is running"
            );
        } else {
            let forged = verify::read(&renumbered(&cut)).expect("lines");
            let found = verify::verify_tournament(&forged, &games, None);
            assert!(random || found.is_err(), "{:?}", lines.last());
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// Many changes at once, read alone and without the tournament's secret, so that the check gets
    /// as far as it can: whatever it says, it says it.
    #[test]
    fn no_log_is_so_bad_that_checking_it_breaks_down(place in any_place(), seed in any::<u32>()) {
        let (_, name, lines) = stream_at(place);
        let mut dice = Dice::new("forger", &seed.to_string());
        let mut forged = lines.to_vec();
        for _ in 0..=dice.below(4) {
            let at = dice.below(forged.len());
            let all = leaves(&forged[at]);
            let leaf = &all[dice.below(all.len())];
            forged[at] = match dice.below(3) {
                0 => without(&forged[at], leaf),
                _ => change(&forged[at], leaf, dice.below(12)),
            };
        }
        if let Ok(lines) = verify::read(&forged) {
            let games = Registry::standard();
            match name.starts_with("tournament/") {
                true => drop(verify::verify_tournament(&lines, &games, None)),
                false => drop(verify::verify_match(&lines, &games, None)),
            }
        }
    }
}
