//! Luck: who could know it, and when.

use crate::support::bench::Bench;
use crate::support::plan::{match_of, name, numbered, of_preset};
use agon_core::{
    Event, Head, How, LuckRenewed, Match, MatchId, MatchResult, Pairing, Secret, StreamEnd,
    Timestamp, Tournament, TournamentCommand, verify,
};
use agon_games::{Registry, Viewer};
use std::collections::BTreeSet;

const SEED: u64 = 9;

fn bench(preset: &str, players: usize, nonces: &[Option<&str>]) -> Bench {
    let mut bench = Bench::new(match_of(&of_preset(preset, "", numbered(players))), SEED);
    for (player, nonce) in (1..=players).map(|number| format!("p{number}")).zip(nonces) {
        match nonce {
            Some(nonce) => bench.arrive_with(&player, nonce),
            None => bench.arrive(&player),
        };
    }
    bench
}

/// Everything luck gave in a match that was played to its end with legal answers.
fn luck_of(mut bench: Bench) -> Vec<String> {
    while let Some(pending) = bench.live.pending().first().cloned() {
        match bench.live.referee() {
            Some(_) => bench.play_one(pending.player.as_str()),
            None => {
                bench
                    .answer(pending.player.as_str(), &pending.id, "\"ok\"")
                    .expect("a confirmation");
            }
        }
    }
    bench.verified();
    let drawn = bench.read().to_vec().into_iter().filter_map(|line| match line.event {
        Event::GameStarted(started) => started.drawn,
        Event::AnswerAccepted(accepted) => accepted.drawn,
        _ => None,
    });
    drawn.map(|raw| raw.get().to_owned()).collect()
}

#[test]
fn a_nonce_of_either_seat_changes_the_luck_and_not_the_commitment() {
    for (preset, players) in [("yahtzee-class", 2), ("fish", 3), ("trains", 3)] {
        let tables: [&[Option<&str>]; 4] = [
            &[None, None, None],
            &[Some("00"), None, None],
            &[None, Some("00"), None],
            &[Some("01"), None, None],
        ];
        let commitment = |bench: &Bench| {
            bench.read().to_vec().into_iter().find_map(|line| match line.event {
                Event::GameStarted(started) => Some(started.commitment),
                _ => None,
            })
        };
        let benches: Vec<Bench> =
            tables.iter().map(|nonces| bench(preset, players, nonces)).collect();
        let committed: Vec<_> = benches.iter().map(commitment).collect();
        assert!(committed.iter().all(|one| *one == committed[0] && one.is_some()), "{preset}");
        let luck: Vec<Vec<String>> = benches.into_iter().map(luck_of).collect();
        for one in 0..luck.len() {
            for other in 0..one {
                assert_ne!(luck[one], luck[other], "{preset}: {one} and {other}");
            }
        }
        assert_eq!(luck_of(bench(preset, players, tables[0])), luck[0], "repeatable");
    }
}

/// Everything that is public while a match runs.
fn everything_shown(live: &Match) -> String {
    let mut shown = format!("{live:?} {}", serde_json::to_string(&live.view()).expect("JSON"));
    if let Some(referee) = live.referee() {
        shown += referee.game().view(Viewer::Public).get();
        for player in referee.seats() {
            let seat = referee.seat_of(player).expect("a seat");
            shown += referee.game().view(Viewer::Seat(seat)).get();
            shown +=
                referee.game().question(seat).map_or(String::new(), |q| q.to_string()).as_str();
        }
    }
    shown
}

#[test]
fn no_view_and_no_debug_form_tells_a_secret() {
    for (preset, players) in [("yahtzee-class", 2), ("fish", 3), ("trains", 3)] {
        let mut bench = bench(preset, players, &[None, Some("77"), None]);
        let of_match = Secret::from_seed_number(SEED).of_match(&bench.live.plan().id);
        let hidden = [of_match.hex(), of_match.of_game(1).hex()];
        for _ in 0..40 {
            let shown = everything_shown(&bench.live);
            assert!(hidden.iter().all(|hex| !shown.contains(hex.as_str())), "{preset}");
            let Some(pending) = bench.live.pending().into_iter().next() else { break };
            bench.play_one(pending.player.as_str());
        }
    }
}

/// Before its end a game's stream can be checked up to where its luck begins, and no further.
#[test]
fn a_running_game_is_checked_as_far_as_its_luck_is_known() {
    let mut bench = bench("yahtzee-class", 2, &[None, None]);
    bench.play_one("p1");
    let games = Registry::standard();
    let check = verify::verify_match(&bench.read(), &games, None).unwrap();
    assert_eq!((check.events, check.unchecked, check.games), (3, 2, 0));
    let secret = Secret::from_seed_number(SEED);
    let check = verify::verify_match(&bench.read(), &games, Some(&secret)).unwrap();
    assert_eq!((check.events, check.unchecked), (5, 0));
    assert_eq!(check.plan.players[0], name("p1"));
}

/// Machines are printed when something goes wrong, and what is printed is read by people.
#[test]
fn a_machine_that_is_printed_tells_no_secret() {
    let bench = Bench::yahtzee("yahtzee-class", 1);
    let secret = Secret::from_seed_number(3);
    let plan = of_preset("yahtzee-class", "", numbered(4));
    let kind = Registry::standard().kind("yahtzee").expect("a game").clone();
    let (cup, _) = Tournament::create(plan, kind, secret.clone()).expect("a plan");
    let (printed, cup) = (format!("{:?}", bench.live), format!("{cup:?}"));
    assert!(printed.starts_with("Match { plan: MatchPlan {"), "{printed}");
    assert!(cup.starts_with("Tournament { plan: TournamentPlan {"), "{cup}");
    let own = secret.of_match(&"r1m1".into());
    for hidden in [secret.hex(), own.hex(), own.of_game(1).hex()] {
        assert!(!printed.contains(&hidden) && !cup.contains(&hidden));
    }
}

#[test]
fn a_game_that_is_over_has_its_secret_revealed() {
    let mut bench = Bench::yahtzee("yahtzee-class", 1);
    bench.play(Some("ann"));
    let games = Registry::standard();
    assert!(verify::verify_match(&bench.read(), &games, None).is_ok());
    let mut lines = bench.read().to_vec();
    let at = lines.iter().position(|line| line.event.tag() == "game-ended").expect("an end");
    lines.remove(at);
    for (line, seq) in lines.iter_mut().zip(1..) {
        line.more -= u32::from(line.seq as usize == at);
        line.seq = seq;
    }
    let forged = verify::Stream::of(lines);
    let found = verify::verify_match(&forged, &games, None).expect_err("forged");
    let what = "the secret of game 1 is not revealed, and it is over";
    assert_eq!((found.event.as_str(), found.what.as_str()), ("match-ended", what));
    assert_eq!(found.seq, at as u64 + 1);
}

#[test]
fn nothing_is_no_log() {
    let games = Registry::standard();
    let empty = verify::Stream::default();
    let found = verify::verify_match(&empty, &games, None).expect_err("nothing");
    assert_eq!(found.to_string(), ", event 1 (none) does not follow: the stream is empty");
    assert_eq!(verify::verify_tournament(&empty, &games, None).expect_err("nothing"), found);
}

/// A cup of four whose secret is lost after the first of its three matches.
fn cup_with_renewed_luck(pairing: Pairing) -> (verify::Stream, Secret) {
    let mut plan = of_preset("yahtzee-class", "", numbered(4));
    plan.policy.pairing = pairing;
    let games = Registry::standard();
    let kind = games.kind(&plan.game).expect("a game").clone();
    let (lost, new) = (Secret::from_seed_number(1), Secret::from_seed_number(2));
    let (cup, events) = Tournament::create(plan, kind, lost).expect("a plan");
    let mut end = StreamEnd::new(format!("tournament/{}", cup.plan().id));
    let mut lines = end.record(Timestamp::from_ms(1), &events);
    let mut cup = cup;
    for number in 1..=3 {
        let plan = cup.open_matches().next().expect("an open match").clone();
        let result = MatchResult {
            winners: vec![plan.players[0].clone()],
            how: How::Played,
            halves: vec![2, 0],
            games: Vec::new(),
            counts_from: 1,
            faults: Vec::new(),
            out: Vec::new(),
        };
        let head = Some(Head::first(&plan.id.to_string()));
        let report = TournamentCommand::Report { id: plan.id, result, head };
        lines.extend(end.record(Timestamp::from_ms(2), &cup.step(report).expect("open")));
        if number == 1 {
            let read = verify::read(&lines).expect("lines");
            cup = Tournament::fold(&*read, &games, Some(new.clone())).expect("it folds");
            let commitment = new.commitment();
            let events = cup
                .step(TournamentCommand::RenewLuck { commitment })
                .expect("the tournament is running");
            assert_eq!(events.len(), 1, "nothing follows from it");
            lines.extend(end.record(Timestamp::from_ms(2), &events));
        }
    }
    assert!(cup.is_over());
    (verify::read(&lines).expect("lines"), new)
}

#[test]
fn renewed_luck_is_checked_against_its_own_commitment() {
    for pairing in [Pairing::Seeded, Pairing::Random] {
        let (lines, new) = cup_with_renewed_luck(pairing);
        let games = Registry::standard();
        let check = verify::verify_tournament(&lines, &games, None).expect("it follows");
        assert_eq!(check.secret, Some(new));
        assert_eq!(check.of_lost_luck, BTreeSet::from([MatchId::of(1, 1)]), "{pairing:?}");
        assert_eq!(check.matches.len(), 3);
        assert_eq!((check.head.as_ref(), check.predates_chain), (lines.head(), false));
        // Pairings that were drawn from the lost secret are taken as they are.
        let at = lines.iter().position(|line| matches!(line.event, Event::LuckRenewed(_)));
        let at = at.expect("the event");
        let unchecked = if pairing == Pairing::Random { at as u64 } else { 0 };
        assert_eq!(check.unchecked, unchecked, "{pairing:?}");
        let commitment = Secret::from_seed_number(3).commitment();
        let mut lines = lines.to_vec();
        lines[at].event = LuckRenewed { commitment }.into();
        let forged = verify::Stream::of(lines);
        let finding = verify::verify_tournament(&forged, &games, None).expect_err("it is forged");
        assert_eq!(finding.event, "luck-renewed");
        assert!(finding.what.contains("no commitment to the secret revealed"), "{finding}");
    }
}
