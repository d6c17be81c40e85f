//! Streams that contradict each other, and checks before secrets are known: forgeries that once
//! got past `verify`.

use crate::support::Played;
use crate::support::chaos::Chaos;
use crate::support::forge::{records, renumbered};
use agon_core::verify::{self, LobbyCheck, MatchCheck, TournamentCheck};
use agon_core::{MatchId, PlayerName};
use agon_games::Registry;
use std::collections::BTreeMap;

fn played(odd_in: usize) -> Played {
    let (preset, format, best_of) = ("yahtzee-referee", "", 1);
    Chaos { preset, format, best_of, players: 4, seed: 11, odd_in, ruled: false }.play()
}

fn tournament(played: &Played) -> TournamentCheck {
    let lines = verify::read(&played.streams["tournament/t"]).expect("lines");
    verify::verify_tournament(&lines, &Registry::standard(), None).expect("a good log")
}

fn check_match(lines: &[String], of: Option<&TournamentCheck>) -> Result<MatchCheck, String> {
    let secret = of.and_then(|check| check.secret.as_ref());
    let checked = verify::read(lines)
        .and_then(|lines| verify::verify_match(&lines, &Registry::standard(), secret));
    checked.map_err(|finding| finding.to_string())
}

fn matches(played: &Played, of: &TournamentCheck) -> BTreeMap<String, MatchCheck> {
    let streams = played.streams.iter().filter(|(name, _)| name.starts_with("match/"));
    let checks = streams
        .map(|(name, lines)| (name.clone(), check_match(lines, Some(of)).expect("a good log")));
    checks.collect()
}

/// The lobby's events about this tournament.
fn lobby(of: &TournamentCheck) -> LobbyCheck {
    let id = of.plan.id.clone();
    LobbyCheck {
        started: BTreeMap::from([(id.clone(), of.plan.clone())]),
        finished: BTreeMap::from([(id, of.results.winners.clone())]),
        ..LobbyCheck::default()
    }
}

fn name(text: &str) -> PlayerName {
    PlayerName::new(text).expect("a name")
}

#[test]
fn a_match_under_the_name_of_another_is_found() {
    let played = played(0);
    let of = tournament(&played);
    let (one, other) = ("\"stream\":\"match/t/r1m1\"", "\"stream\":\"match/t/r1m2\"");
    let copied: Vec<String> =
        played.streams["match/t/r1m1"].iter().map(|line| line.replacen(one, other, 1)).collect();
    let found = check_match(&copied, Some(&of)).unwrap_err();
    assert!(found.contains("it is about match/t/r1m1"), "{found}");
    let renamed: Vec<String> = played.streams["tournament/t"]
        .iter()
        .map(|line| line.replacen("\"stream\":\"tournament/t\"", "\"stream\":\"tournament/u\"", 1))
        .collect();
    let lines = verify::read(&renamed).expect("lines");
    assert!(verify::verify_tournament(&lines, &Registry::standard(), None).is_err());
}

#[test]
fn a_game_that_runs_started_as_it_had_to() {
    let played = played(0);
    let mut cut = records(&played.streams["match/t/r1m1"]);
    let start = cut.iter().position(|record| record.len() > 1).expect("a game starts");
    cut.truncate(start + 3);
    // Nothing is known of its luck, and all is well.
    let running = check_match(&renumbered(&cut), None).expect("a log of a running game");
    assert!(running.unchecked >= 2, "{running:?}");
    // Another cannot start before it is over, and then its luck would be known.
    let mut again = cut.clone();
    let started = cut[start].last().expect("its start").clone();
    again.push(vec![started]);
    let found = check_match(&renumbered(&again), None).unwrap_err();
    assert!(found.contains("the secret of game 1 is not revealed, and it is over"), "{found}");
    let mut unstarted = cut.clone();
    unstarted[start].pop();
    unstarted.truncate(start + 1);
    let found = check_match(&renumbered(&unstarted), None).unwrap_err();
    assert!(found.contains("game-started is missing"), "{found}");
    let mut swapped = cut.clone();
    let line = &swapped[start][1];
    let seats = played.tournament.rounds()[0].matches[0].players.clone();
    let (first, second) = (&seats[0], &seats[1]);
    let forged = line
        .replace(&format!("[\"{first}\",\"{second}\"]"), &format!("[\"{second}\",\"{first}\"]"));
    assert_ne!(&forged, line);
    swapped[start][1] = forged;
    let found = check_match(&renumbered(&swapped), None).unwrap_err();
    assert!(found.contains("seats"), "{found}");
    // An event that should not be there, instead of it.
    cut[start][1] = cut[start + 1][0].clone();
    assert!(check_match(&renumbered(&cut), None).is_err());
}

#[test]
fn lobby_and_tournament_must_report_the_same_end() {
    let played = played(0);
    let of = tournament(&played);
    let own = matches(&played, &of);
    let tournaments = BTreeMap::from([("t".to_owned(), of.clone())]);
    let good = lobby(&of);
    let agreed = |lobby: &LobbyCheck, tournaments: &BTreeMap<String, TournamentCheck>| {
        verify::agree(Some(lobby), tournaments, &own).map_err(|finding| finding.to_string())
    };
    assert_eq!(agreed(&good, &tournaments), Ok(()));
    let mut forged = good.clone();
    forged.finished.insert("t".into(), vec![name("eve")]);
    assert!(agreed(&forged, &tournaments).unwrap_err().contains("winners"));
    let mut forged = good.clone();
    forged.started.get_mut(&of.plan.id).expect("it started").players.reverse();
    assert!(agreed(&forged, &tournaments).unwrap_err().contains("plan"));
    let mut forged = good.clone();
    forged.started.clear();
    assert!(agreed(&forged, &tournaments).unwrap_err().contains("never started"));
    let mut running = of.clone();
    (running.secret, running.results.status) = (None, "running".into());
    let running = BTreeMap::from([("t".to_owned(), running)]);
    assert!(agreed(&good, &running).unwrap_err().contains("it is not"));
    assert!(agreed(&good, &BTreeMap::new()).unwrap_err().contains("missing"));
}

#[test]
fn a_match_without_its_tournament_is_found_beside_others() {
    let played = played(0);
    let of = tournament(&played);
    let own = matches(&played, &of);
    // By themselves they are replays that somebody keeps.
    assert_eq!(verify::agree(None, &BTreeMap::new(), &own), Ok(()));
    let told = lobby(&of);
    let found = verify::agree(Some(&told), &BTreeMap::new(), &own).unwrap_err().to_string();
    assert!(found.contains("the log of its tournament is missing"), "{found}");
    // A repair gives up a tournament with all its matches.
    assert_eq!(verify::agree(Some(&told), &BTreeMap::new(), &BTreeMap::new()), Ok(()));
    let mut fewer = own.clone();
    let lost = fewer.keys().next().expect("a match").clone();
    fewer.remove(&lost);
    let tournaments = BTreeMap::from([("t".to_owned(), of)]);
    let found = verify::agree(None, &tournaments, &fewer).unwrap_err().to_string();
    assert!(found.contains(&lost) && found.contains("missing"), "{found}");
    assert!(own.contains_key(&format!("match/t/{}", MatchId::of(1, 1))));
}

/// Nobody is called a cheat by a log for an answer that is none.
#[test]
fn player_dropped_for_cheating_has_a_cheat_in_the_log() {
    let preset = "fish";
    let mut tried = 0;
    for seed in 1..40 {
        let chaos =
            Chaos { preset, format: "", best_of: 1, players: 4, seed, odd_in: 6, ruled: false };
        let mut lines = chaos.play().streams["tournament/t"].clone();
        let dropped = lines.iter_mut().find(|line| {
            line.contains("player-dropped")
                && line.contains("\"answer\":")
                && line.contains("malformed")
        });
        let Some(dropped) = dropped else { continue };
        *dropped = dropped.replace("\"kind\":\"malformed\"", "\"kind\":\"cheat\"");
        let lines = verify::read(&lines).expect("lines");
        let found = verify::verify_tournament(&lines, &Registry::standard(), None);
        assert!(found.is_err(), "seed {seed}");
        tried += 1;
    }
    assert!(tried > 0, "nobody answered garbage");
}
