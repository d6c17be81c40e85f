//! The hash chain of a log, and receipts of its players: no byte of a log that is over can be
//! changed unnoticed, and whoever rewrites all of it contradicts those who played.

use crate::support::Played;
use crate::support::chain::{chained, entries, receipt};
use crate::support::chaos::Chaos;
use crate::support::check::verify_all;
use crate::support::forge::{change, leaves};
use agon_core::verify::{self, ReceiptEntry, TournamentCheck};
use agon_core::{Event, FaultKind, Head, Line, PlayerName};
use agon_games::Registry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

type Streams = BTreeMap<String, Vec<String>>;

fn play(preset: &'static str, players: usize, seed: u64, odd_in: usize, ruled: bool) -> Played {
    Chaos { preset, format: "", best_of: 1, players, seed, odd_in, ruled }.play()
}

/// Logs of all games, with faults and with rulings of operators.
static LOGS: LazyLock<Vec<Streams>> = LazyLock::new(|| {
    let played = [
        play("yahtzee-referee", 3, 21, 0, false),
        play("fish", 3, 22, 25, false),
        play("fish", 4, 23, 30, true),
        play("trains", 3, 24, 60, false),
    ];
    let logs: Vec<Streams> = played.iter().map(|played| chained(&played.streams)).collect();
    logs.iter().for_each(|log| assert_eq!(verdict(log), Ok(())));
    logs
});

fn verdict(log: &Streams) -> Result<(), String> {
    verify_all(log, &Registry::standard()).map_err(|finding| finding.to_string())
}

fn check(log: &Streams) -> TournamentCheck {
    let lines = verify::read(&log["tournament/t"]).expect("lines");
    verify::verify_tournament(&lines, &Registry::standard(), None).expect("it follows")
}

/// The result of comparing a player's receipt with a log.
fn dispute(log: &Streams, player: &PlayerName, noted: &[ReceiptEntry]) -> Result<u64, String> {
    let (receipt, games) = (receipt(player, noted), Registry::standard());
    let mut answers = 0;
    for (name, lines) in log {
        let lines = verify::read(lines).expect("lines");
        let seen = match name.starts_with("tournament/") {
            true => receipt.check_tournament(&lines, &check(log)),
            false => receipt.check_match(&lines, &games),
        };
        answers += seen.map_err(|finding| finding.to_string())?.answers;
    }
    Ok(answers)
}

fn swapped(log: &Streams, one: &str, other: &str) -> Streams {
    let swap =
        |line: &String| line.replace(one, "\u{0}").replace(other, one).replace('\u{0}', other);
    log.iter().map(|(name, lines)| (name.clone(), lines.iter().map(swap).collect())).collect()
}

/// One change for every field of every event there is: hundreds, without exception.
#[test]
fn every_field_of_every_event_changed_once_is_found() {
    let mut tried = BTreeSet::new();
    for log in LOGS.iter() {
        for (name, lines) in log {
            for (at, line) in lines.iter().enumerate() {
                let tag = Line::read(line).expect("a line").event.tag();
                for leaf in leaves(line) {
                    let parts = leaf.path.split('.').filter(|part| part.parse::<u32>().is_err());
                    let field = format!("{tag} {}", parts.collect::<Vec<_>>().join("."));
                    if !tried.insert(field.clone()) {
                        continue;
                    }
                    let (mut forged, new) = (log.clone(), change(line, &leaf, 0));
                    assert_ne!(new, *line);
                    forged.get_mut(name).expect("a stream")[at].clone_from(&new);
                    assert!(verdict(&forged).is_err(), "{name}, {field}: {new}");
                }
            }
        }
    }
    assert!(tried.len() > 200, "{} fields", tried.len());
}

#[test]
fn names_swapped_in_every_place_are_found() {
    for log in LOGS.iter() {
        let found = verdict(&swapped(log, "p1", "p2")).expect_err("swapped");
        assert!(found.contains("head should be"), "{found}");
    }
}

#[test]
fn an_answer_that_took_longer_than_its_limit_is_found_whatever_the_heads_say() {
    for log in LOGS.iter() {
        let (name, at) = answer_in(log);
        let mut forged = log.clone();
        let line = &mut forged.get_mut(&name).expect("a stream")[at];
        let leaf = leaves(line).into_iter().find(|leaf| leaf.path == "data.took_ms").unwrap();
        *line = format!("{}99999999{}", &line[..leaf.from], &line[leaf.to..]);
        let found = verdict(&chained(&forged)).expect_err("too long");
        assert!(found.contains("it took 99999999 ms, and the limit was"), "{found}");
    }
}

#[test]
fn times_that_go_back_are_found_whatever_the_heads_say() {
    for log in LOGS.iter() {
        for name in ["tournament/t", answer_in(log).0.as_str()] {
            let mut forged = log.clone();
            let lines = forged.get_mut(name).expect("a stream");
            let last = lines.len() - 1;
            let mut line = Line::read(&lines[last]).expect("a line");
            line.at = line.at.before(1);
            lines[last] = line.write();
            let found = verdict(&chained(&forged)).expect_err("back");
            assert!(found.contains("time") && found.contains("ms after"), "{found}");
        }
    }
}

/// A stream with an accepted answer, and which line that is.
fn answer_in(log: &Streams) -> (String, usize) {
    let streams = log.iter().filter(|(name, _)| name.starts_with("match/"));
    let found = streams.filter_map(|(name, lines)| {
        Some((name.clone(), lines.iter().position(|line| line.contains("answer-accepted"))?))
    });
    found.into_iter().next().expect("an answer")
}

#[test]
fn removed_heads_are_found() {
    let without = |log: &Streams, tag: &str| -> Streams {
        let strip = |text: &String| {
            let mut line = Line::read(text).expect("a line");
            if line.event.tag() == tag {
                line.event = line.event.with_own_head(None);
                if let Event::MatchReported(reported) = &mut line.event {
                    reported.head = None;
                }
            }
            line.write()
        };
        log.iter().map(|(name, lines)| (name.clone(), lines.iter().map(strip).collect())).collect()
    };
    for log in LOGS.iter() {
        for tag in ["match-ended", "match-reported", "tournament-ended"] {
            assert!(verdict(&without(log, tag)).is_err(), "{tag}");
        }
        // Without any, it is a log of a version that had none.
        let old = ["match-ended", "match-reported", "tournament-ended"];
        let old = old.iter().fold(log.clone(), |log, tag| without(&log, tag));
        assert_eq!(verdict(&old), Ok(()));
        assert!(check(&old).predates_chain && !check(log).predates_chain);
    }
}

/// An attacker who rewrites every stream can write fitting heads, but not the published head.
#[test]
fn a_log_that_was_rewritten_with_its_heads_has_another_head() {
    for log in LOGS.iter() {
        let (name, at) = answer_in(log);
        let mut forged = log.clone();
        let line = &mut forged.get_mut(&name).expect("a stream")[at];
        let mut read = Line::read(line).expect("a line");
        if let Event::AnswerAccepted(accepted) = &mut read.event {
            accepted.took_ms += 1;
        }
        *line = read.write();
        let forged = chained(&forged);
        assert_eq!(verdict(&forged), Ok(()));
        assert_ne!(check(&forged).head, check(log).head);
        assert_eq!(check(log).head, Some(Head::of("tournament/t", &log["tournament/t"])));
    }
}

#[test]
fn a_receipt_agrees_with_the_log_it_was_written_beside() {
    for log in LOGS.iter() {
        for player in &check(log).plan.players {
            let noted = cut_off(entries(log, player));
            let answers = dispute(log, player, &noted).expect("it agrees");
            let sent = noted.iter().filter(|entry| matches!(entry, ReceiptEntry::Answer { .. }));
            assert!(answers <= sent.count() as u64);
        }
    }
}

/// Players of these logs are charged with lost connections.
fn cut_off(mut noted: Vec<ReceiptEntry>) -> Vec<ReceiptEntry> {
    noted.push(ReceiptEntry::Lost {});
    noted
}

/// Rewritten as carefully as possible, heads included, each of these contradicts a receipt.
#[test]
fn a_receipt_contradicts_a_log_that_was_rewritten() {
    let log = &LOGS[0];
    let player = PlayerName::new("p2").expect("a name");
    let noted = entries(log, &player);
    assert!(dispute(log, &player, &noted).is_ok_and(|answers| answers > 10));
    let disputed = |forged: &Streams, what: &str| {
        assert_eq!(verdict(forged), Ok(()), "{what}: a careful forger");
        let found = dispute(forged, &player, &noted).expect_err(what);
        assert!(found.contains("by its receipt, p2"), "{what}: {found}");
    };
    disputed(&chained(&swapped(log, "p1", "p2")), "renamed");
    let again = chained(&play("yahtzee-referee", 3, 25, 0, false).streams);
    disputed(&again, "played again");
    // The same luck, and other answers.
    let other = Chaos {
        preset: "yahtzee-referee",
        format: "",
        best_of: 1,
        players: 3,
        seed: 21,
        odd_in: 40,
        ruled: false,
    };
    disputed(&chained(&other.play().streams), "played with other answers");
}

#[test]
fn a_receipt_that_says_otherwise_is_a_finding() {
    let log = &LOGS[0];
    let player = PlayerName::new("p2").expect("a name");
    let noted = entries(log, &player);
    for at in 0..noted.len() {
        let mut said = noted.clone();
        match &mut said[at] {
            ReceiptEntry::Hello { nonce, .. } => *nonce = None,
            ReceiptEntry::Answer { answer, .. } => *answer = serde_json::json!("another"),
            ReceiptEntry::MatchOver { won, .. } => *won = !*won,
            ReceiptEntry::TournamentEnded { winners, .. } => winners.clear(),
            _ => continue,
        }
        // A hello is there for every match.
        let changed = said[at].clone();
        let is_hello = |entry: &ReceiptEntry| matches!(entry, ReceiptEntry::Hello { .. });
        if is_hello(&changed) {
            said.retain(|entry| *entry == changed || !is_hello(entry));
        }
        assert!(dispute(log, &player, &said).is_err(), "{changed:?}");
    }
    // An answer that nobody sent.
    let answer = noted.iter().position(|entry| matches!(entry, ReceiptEntry::Answer { .. }));
    let mut said = noted.clone();
    said.remove(answer.expect("an answer"));
    assert!(dispute(log, &player, &said).unwrap_err().contains("never answered this request"));
}

/// A timeout can be disputed by whoever answered, was not refused and lost no connection.
#[test]
fn an_invented_timeout_is_disputed() {
    let mut disputed = 0;
    let wild = (30..40).map(|seed| chained(&play("yahtzee-class", 3, seed, 12, false).streams));
    for log in &wild.collect::<Vec<_>>() {
        for player in &check(log).plan.players {
            let late = log.values().flatten().find_map(|line| {
                let faulted = match Line::read(line).expect("a line").event {
                    Event::PlayerLeft(left) => left.faulted,
                    Event::PlayerFaulted(faulted) => faulted.faulted,
                    _ => return None,
                };
                let own = faulted.player == *player && faulted.fault.kind == FaultKind::Timeout;
                faulted.request.filter(|_| own)
            });
            let Some(request) = late else { continue };
            let mut noted: Vec<ReceiptEntry> = vec![ReceiptEntry::Lost {}];
            noted.extend(entries(log, player));
            noted.retain(|entry| !matches!(entry, ReceiptEntry::Hello { .. }));
            let id = format!("t:{request}");
            let has = |entry: &ReceiptEntry| match entry {
                ReceiptEntry::Answer { id: sent, .. } => *sent == id,
                _ => false,
            };
            if noted.iter().any(has) {
                continue;
            }
            assert!(dispute(log, player, &noted).is_ok());
            let at = noted.len() - 1;
            let answer = serde_json::json!("whatever");
            noted.insert(at, ReceiptEntry::Answer { id: id.clone(), answer });
            let found = dispute(log, player, &noted).unwrap_err();
            assert!(found.contains("did not refuse the answer"), "{found}");
            // If the server said that it was late, it was.
            noted.push(ReceiptEntry::Refused { id, code: "late".into() });
            assert!(dispute(log, player, &noted).is_ok());
            disputed += 1;
        }
    }
    assert!(disputed > 0, "nobody was late");
}
