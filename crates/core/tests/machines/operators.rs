//! Operators' orders about matches and tournaments; see decision 0008.

use crate::support::bench::Bench;
use crate::support::chaos::Chaos;
use crate::support::plan::{match_of, name, names, numbered, of_preset};
use crate::support::ruling;
use agon_core::{
    Bracket, Event, Fault, FaultKind, GameEnd, How, Line, MatchCommand, MatchOrder, MatchResult,
    Pairing, Rejection, RoundRobin, Secret, Timestamp, Tournament, TournamentCommand,
    TournamentOrder, TournamentRejection, record_lines, verify,
};
use agon_games::Registry;
use std::collections::BTreeSet;

/// The tests in which operators interfere by chance see every ruling there is.
#[test]
fn operators_that_interfere_by_chance_do_everything_they_can() {
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let preset = ["yahtzee-class", "yahtzee-queue", "fish"][seed as usize % 3];
        let (best_of, players, odd_in) = (3, 4, 50);
        let chaos = Chaos { preset, format: "", best_of, players, seed, odd_in, ruled: true };
        let played = chaos.play();
        played.assert_verifies();
        for line in played.streams.values().flatten() {
            seen.insert(Line::read(line).unwrap().event.tag());
        }
    }
    let rulings = [
        "tournament-paused",
        "tournament-resumed",
        "result-overridden",
        "replay-ordered",
        "ruling-undone",
        "match-paused",
        "match-resumed",
        "game-voided",
        "void-undone",
        "match-called-off",
        "match-reopened",
    ];
    for tag in rulings {
        assert!(seen.contains(tag), "{tag} in {seen:?}");
    }
}

/// Gives an order to a match; what follows by tag.
fn order(bench: &mut Bench, order: MatchOrder) -> Result<Vec<&'static str>, Rejection> {
    bench.step(MatchCommand::Order { order, ruling: ruling("a test") })
}

#[test]
fn in_a_pause_nothing_runs_out_and_nothing_follows() {
    for preset in ["yahtzee-class", "yahtzee-queue"] {
        let mut bench = Bench::yahtzee(preset, 3);
        let asked = bench.open("ann");
        bench.live.delivered(&asked, bench.now);
        assert_eq!(bench.live.paused(), None);
        assert_eq!(order(&mut bench, MatchOrder::Pause).unwrap(), ["match-paused"]);
        assert_eq!(bench.live.paused(), Some(&ruling("a test")));
        assert_eq!(order(&mut bench, MatchOrder::Pause), Err(Rejection::Paused));
        assert_eq!(bench.live.deadline(), None);
        assert_eq!(bench.pass(3_600_000), [""; 0]);
        let fault = Fault::disconnected("lost");
        let leave = MatchCommand::Leave { player: name("ann"), fault };
        assert_eq!(bench.step(leave), Err(Rejection::Paused));
        let charge = MatchCommand::Charge { player: name("ann"), fault: Fault::timeout(1) };
        assert_eq!(bench.step(charge), Err(Rejection::Paused));
        // Open requests may be answered: the game may even end, but nothing follows.
        assert_eq!(bench.open("ann"), asked);
        bench.play(Some("ann"));
        assert_eq!(bench.live.referee().map(|referee| referee.number()), None);
        let tags = order(&mut bench, MatchOrder::Resume).unwrap();
        assert_eq!(tags, ["match-resumed", "game-started"]);
        assert_eq!(order(&mut bench, MatchOrder::Resume), Err(Rejection::NotPaused));
        bench.play(Some("ann"));
        let result = bench.verified().result();
        assert_eq!((&result.halves[..], result.faults.len()), (&[4, 0][..], 0), "{preset}");
    }
}

/// Answers to what was asked before are taken in a pause, also those that are none: what they cost
/// follows, and the log verifies.
#[test]
fn faults_during_a_pause_are_charged() {
    let long = format!("[{}0]", "0,".repeat(Fault::EVIDENCE_MAX));
    for preset in ["yahtzee-class", "yahtzee-queue"] {
        for answer in ["nonsense", "{\"score\":\"aces\",\"points\":99}", "[]", &long] {
            let mut bench = Bench::yahtzee(preset, 1);
            let request = bench.open("ann");
            order(&mut bench, MatchOrder::Pause).unwrap();
            let (player, answer) = (name("ann"), answer.to_owned());
            let took_ms = Some(0);
            let tags =
                bench.step(MatchCommand::Answer { player, request, answer, took_ms }).unwrap();
            assert!(["player-faulted", "player-left"].contains(&tags[0]), "{tags:?}");
            order(&mut bench, MatchOrder::Resume).unwrap_or_default();
            bench.verified();
        }
    }
}

#[test]
fn waits_begin_anew_after_a_pause() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 1);
    bench.crash("ann");
    bench.pass(59_999);
    order(&mut bench, MatchOrder::Pause).unwrap();
    bench.pass(1_000_000);
    order(&mut bench, MatchOrder::Resume).unwrap();
    assert_eq!(bench.pass(59_999), [""; 0]);
    let over = ["wait-expired", "game-ended", "match-ended"];
    assert_eq!(bench.pass(1), over);
    bench.verified();
}

#[test]
fn a_voided_game_counts_for_nothing_and_another_takes_its_place() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    bench.play(Some("ann"));
    bench.play_one("ann");
    assert_eq!(order(&mut bench, MatchOrder::Void(1)), Err(Rejection::NotPaused));
    order(&mut bench, MatchOrder::Pause).unwrap();
    for game in [0, 3, u32::MAX] {
        assert_eq!(order(&mut bench, MatchOrder::Void(game)), Err(Rejection::NoGame(game)));
    }
    assert_eq!(order(&mut bench, MatchOrder::Void(1)).unwrap(), ["game-voided"]);
    assert_eq!(bench.live.void_in_progress(), None, "that one is over");
    assert_eq!(order(&mut bench, MatchOrder::Void(1)), Err(Rejection::Void(1)));
    let tags = order(&mut bench, MatchOrder::Resume).unwrap();
    assert_eq!(tags, ["match-resumed"], "the second game goes on");
    bench.play(Some("ann"));
    assert!(bench.live.result().is_none(), "one game each counts: {:?}", bench.live.view());
    bench.play(Some("ann"));
    let result = bench.verified().result().clone();
    assert_eq!((&result.halves[..], result.games.len()), (&[4, 0][..], 3));
    assert_eq!((&result.games[0].end, &result.games[0].winners[..]), (&GameEnd::Void, &[][..]));
    assert_eq!(result.games[0].voided, Some(ruling("a test")));
    assert_eq!(order(&mut bench, MatchOrder::Void(2)), Err(Rejection::Over));
}

#[test]
fn a_game_in_progress_that_is_voided_ends_when_the_match_goes_on() {
    let mut bench = Bench::yahtzee("yahtzee-class", 1);
    bench.play_one("ann");
    let asked = bench.open("ann");
    order(&mut bench, MatchOrder::Pause).unwrap();
    order(&mut bench, MatchOrder::Void(1)).unwrap();
    assert!(bench.plays(1), "until then it can be undone, for its luck is not revealed");
    assert_eq!(bench.live.void_in_progress(), Some(&ruling("a test")));
    assert_eq!(order(&mut bench, MatchOrder::UndoVoid(1)).unwrap(), ["void-undone"]);
    assert_eq!(order(&mut bench, MatchOrder::UndoVoid(1)), Err(Rejection::NotVoid(1)));
    assert_eq!(bench.open("ann"), asked, "as if nothing had been");
    order(&mut bench, MatchOrder::Void(1)).unwrap();
    let tags = order(&mut bench, MatchOrder::Resume).unwrap();
    assert_eq!(tags, ["match-resumed", "game-ended", "game-started"]);
    order(&mut bench, MatchOrder::Pause).unwrap();
    assert_eq!(order(&mut bench, MatchOrder::UndoVoid(1)), Err(Rejection::NotVoid(1)));
    order(&mut bench, MatchOrder::Resume).unwrap();
    bench.play(Some("bob"));
    assert_eq!(bench.verified().winners(), ["bob"]);
}

/// A match of one game whose result is confirmed.
fn confirmed() -> Bench {
    let mut bench = Bench::absent("yahtzee-class", 1, |plan| plan.rules.confirm_result = true);
    bench.arrive("ann");
    bench.arrive("bob");
    bench
}

#[test]
fn a_void_game_is_not_confirmed() {
    let mut bench = confirmed();
    order(&mut bench, MatchOrder::Pause).unwrap();
    order(&mut bench, MatchOrder::Void(1)).unwrap();
    let tags = order(&mut bench, MatchOrder::Resume).unwrap();
    assert_eq!(tags, ["match-resumed", "game-ended", "game-started"]);
    bench.play(Some("ann"));
    assert_eq!(bench.open("bob").as_str(), "r1m1.2.1.result");
    order(&mut bench, MatchOrder::Pause).unwrap();
    order(&mut bench, MatchOrder::Void(2)).unwrap();
    let tags = order(&mut bench, MatchOrder::Resume).unwrap();
    assert_eq!(tags, ["match-resumed", "game-started"], "nothing is left to confirm");
}

#[test]
fn open_confirmation_stays_open_after_a_pause() {
    let mut bench = confirmed();
    bench.play(Some("ann"));
    order(&mut bench, MatchOrder::Pause).unwrap();
    assert_eq!(order(&mut bench, MatchOrder::Resume).unwrap(), ["match-resumed"]);
    for player in ["bob", "ann"] {
        let request = bench.open(player);
        bench.answer(player, &request, "\"ok\"").unwrap();
    }
    assert_eq!(bench.verified().winners(), ["ann"]);
}

#[test]
fn undoing_a_void_gives_back_what_would_have_followed() {
    let mut bench = Bench::yahtzee("yahtzee-class", 1);
    order(&mut bench, MatchOrder::Pause).unwrap();
    bench.play(Some("ann"));
    order(&mut bench, MatchOrder::Void(1)).unwrap();
    order(&mut bench, MatchOrder::UndoVoid(1)).unwrap();
    let tags = order(&mut bench, MatchOrder::Resume).unwrap();
    assert_eq!(tags, ["match-resumed", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["ann"]);
}

/// A player that a game removed plays in the game that takes its place; its fault stays.
#[test]
fn player_removed_from_a_voided_game_plays_again() {
    let mut bench = Bench::new(match_of(&of_preset("fish", "", numbered(3))), 1);
    ["p1", "p2", "p3"].iter().for_each(|player| {
        bench.arrive(player);
    });
    let open = bench.open("p2");
    bench.answer("p2", &open, "garbage").unwrap();
    order(&mut bench, MatchOrder::Pause).unwrap();
    order(&mut bench, MatchOrder::Void(1)).unwrap();
    let tags = order(&mut bench, MatchOrder::Resume).unwrap();
    assert_eq!(tags, ["match-resumed", "game-ended", "game-started"]);
    while let Some(pending) = bench.live.pending().first().cloned() {
        bench.play_one(pending.player.as_str());
    }
    let result = bench.verified().result();
    assert_eq!((result.out.len(), result.faults.len(), result.games.len()), (0, 1, 2));
}

#[test]
fn player_who_withdraws_in_a_pause_is_out() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    order(&mut bench, MatchOrder::Pause).unwrap();
    order(&mut bench, MatchOrder::Void(1)).unwrap();
    assert_eq!(bench.withdraw("ann"), ["player-left", "game-ended", "match-ended"]);
    assert_eq!(bench.verified().winners(), ["bob"]);
    assert_eq!(bench.result().out, [name("ann")]);
}

#[test]
fn a_match_is_called_off_and_reopened() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    bench.play(Some("bob"));
    assert_eq!(order(&mut bench, MatchOrder::Reopen), Err(Rejection::NotOver));
    let tags = order(&mut bench, MatchOrder::CallOff).unwrap();
    assert_eq!(tags, ["match-called-off", "game-ended", "match-ended"]);
    assert_eq!((bench.winners(), bench.result().how), (vec![], How::Void));
    assert_eq!(order(&mut bench, MatchOrder::CallOff), Err(Rejection::Over));
    assert_eq!(bench.live.reopened(), 0);
    assert_eq!(order(&mut bench, MatchOrder::Reopen).unwrap(), ["match-reopened"]);
    assert_eq!(bench.live.reopened(), 1);
    let started = |bench: &Bench| bench.lines.iter().filter(|l| l.contains("game-started")).count();
    assert_eq!(started(&bench), 2, "nobody is there yet");
    bench.arrive("ann");
    assert_eq!(bench.arrive("bob"), ["player-arrived", "game-started"]);
    assert!(bench.plays(3), "games are numbered on, so their luck is new");
    bench.play(Some("ann"));
    bench.play(Some("ann"));
    let result = bench.verified().result();
    assert_eq!((&result.halves[..], result.counts_from), (&[4, 0][..], 3));
}

/// Two matches of a bracket, of which the first was won by `p1`.
fn semi_finals() -> Tournament {
    let mut plan = of_preset("yahtzee-class", "", numbered(4));
    plan.policy.format = Bracket::default().into();
    plan.policy.pairing = Pairing::Order;
    let kind = Registry::standard().kind("yahtzee").unwrap().clone();
    let (mut cup, _) = Tournament::create(plan, kind, Secret::from_seed_number(2)).unwrap();
    report(&mut cup, "r1m1", "p1");
    cup
}

fn report(cup: &mut Tournament, id: &str, winner: &str) -> Vec<&'static str> {
    let result = MatchResult {
        winners: names(&[winner]),
        how: How::Forfeit,
        halves: vec![0, 0],
        games: Vec::new(),
        counts_from: 1,
        faults: Vec::new(),
        // The loser is out, so that overrides have something to take back.
        out: names(&[match winner {
            "p1" => "p2",
            "p2" => "p1",
            _ => "p3",
        }]),
    };
    let command = TournamentCommand::Report { id: id.into(), result, head: None };
    cup.step(command).unwrap().iter().map(Event::tag).collect()
}

fn decide(
    cup: &mut Tournament,
    order: TournamentOrder,
) -> Result<Vec<&'static str>, TournamentRejection> {
    let before = cup.clone();
    let stepped = cup.step(TournamentCommand::Order { order, ruling: ruling("a test") });
    match stepped {
        Ok(events) => Ok(events.iter().map(Event::tag).collect()),
        Err(rejection) => {
            assert!(cup.same_state(&before), "{rejection} changed something");
            Err(rejection)
        }
    }
}

fn overriding(id: &str, winners: &[&str]) -> TournamentOrder {
    TournamentOrder::Override { id: id.into(), winners: names(winners) }
}

#[test]
fn a_result_is_overridden_in_a_pause_and_decides_who_advances() {
    let mut cup = semi_finals();
    let order = overriding("r1m1", &["p2"]);
    assert_eq!(decide(&mut cup, order.clone()), Err(TournamentRejection::NotPaused));
    assert_eq!(decide(&mut cup, TournamentOrder::Pause).unwrap(), ["tournament-paused"]);
    assert_eq!(decide(&mut cup, TournamentOrder::Pause), Err(TournamentRejection::Paused));
    for bad in [&["p3"][..], &["p1", "p2"], &["p2", "p2"], &["nobody"]] {
        let refused = decide(&mut cup, overriding("r1m1", bad)).unwrap_err();
        assert!(matches!(refused, TournamentRejection::Winners(_)), "{bad:?}: {refused}");
    }
    let unknown = overriding("r2m1", &[]);
    assert_eq!(decide(&mut cup, unknown), Err(TournamentRejection::Settled("r2m1".into())));
    assert_eq!((cup.overridden(&"r1m1".into()), cup.resumed()), (None, None));
    assert_eq!(decide(&mut cup, order.clone()).unwrap(), ["result-overridden"]);
    let overridden = cup.overridden(&"r1m1".into()).expect("it is");
    assert_eq!((&overridden.winners, &overridden.ruling), (&names(&["p2"]), &ruling("a test")));
    assert_eq!(cup.overridden(&"r1m2".into()), None);
    assert_eq!(cup.paused(), Some(&ruling("a test")));
    assert_eq!(decide(&mut cup, order), Err(TournamentRejection::Ruled("r1m1".into())));
    let shown = cup.results().rounds[0].matches[0].clone();
    assert_eq!((shown.result.how, shown.result.winners), (How::Overridden, names(&["p2"])));
    assert_eq!(shown.overridden.unwrap().ruling, ruling("a test"));
    // The other match ends in the pause; the next round waits.
    assert_eq!(report(&mut cup, "r1m2", "p4"), ["match-reported"]);
    let tags = decide(&mut cup, TournamentOrder::Resume).unwrap();
    assert_eq!(tags, ["tournament-resumed", "round-paired"]);
    assert_eq!((cup.paused(), cup.resumed()), (None, Some(&ruling("a test"))));
    let players: Vec<_> = cup.open_matches().flat_map(|plan| plan.players.clone()).collect();
    assert_eq!(players, names(&["p2", "p4"]), "who was out by the match is in by the ruling");
    decide(&mut cup, TournamentOrder::Pause).unwrap();
    let late = decide(&mut cup, overriding("r1m1", &["p1"])).unwrap_err();
    assert_eq!(late, TournamentRejection::Settled("r1m1".into()));
}

#[test]
fn in_a_round_robin_a_match_may_be_overridden_to_be_shared() {
    let mut plan = of_preset("yahtzee-class", "", numbered(2));
    plan.policy.format = RoundRobin::default().into();
    let kind = Registry::standard().kind("yahtzee").unwrap().clone();
    let (mut league, _) = Tournament::create(plan, kind, Secret::from_seed_number(2)).unwrap();
    decide(&mut league, TournamentOrder::Pause).unwrap();
    report(&mut league, "r1m1", "p1");
    decide(&mut league, overriding("r1m1", &["p1", "p2"])).unwrap();
    decide(&mut league, TournamentOrder::Resume).unwrap();
    assert_eq!(league.winners(), names(&["p1", "p2"]));
    let drawn: Vec<u32> =
        league.results().standings.iter().map(|summary| summary.matches_drawn).collect();
    assert_eq!(drawn, [1, 1]);
}

#[test]
fn without_a_round_nothing_is_overridden() {
    let plan = of_preset("fish", "", numbered(3));
    let kind = Registry::standard().kind("fish").unwrap().clone();
    let (mut cup, _) = Tournament::create(plan, kind, Secret::from_seed_number(2)).unwrap();
    decide(&mut cup, TournamentOrder::Pause).unwrap();
    let early = decide(&mut cup, overriding("r1m1", &["p1"]));
    assert_eq!(early, Err(TournamentRejection::NoRound));
    assert_eq!((cup.overridden(&"r1m1".into()), cup.replays(&"r1m1".into()).len()), (None, 0));
}

#[test]
fn rulings_are_undone_until_the_pause_is_over() {
    let untouched = semi_finals();
    let undo = || TournamentOrder::Undo { id: "r1m1".into() };
    let not_ruled = Err(TournamentRejection::NotRuled("r1m1".into()));
    for order in [overriding("r1m1", &["p2"]), TournamentOrder::Replay { id: "r1m1".into() }] {
        let mut cup = semi_finals();
        decide(&mut cup, TournamentOrder::Pause).unwrap();
        assert_eq!(decide(&mut cup, undo()), not_ruled);
        decide(&mut cup, order.clone()).unwrap();
        assert_ne!(cup.results(), untouched.results());
        assert_eq!(decide(&mut cup, undo()).unwrap(), ["ruling-undone"]);
        assert_eq!(decide(&mut cup, undo()), not_ruled);
        assert_eq!(cup.results(), untouched.results());
        decide(&mut cup, order).unwrap();
        decide(&mut cup, TournamentOrder::Resume).unwrap();
        decide(&mut cup, TournamentOrder::Pause).unwrap();
        assert_eq!(decide(&mut cup, undo()), not_ruled, "it is in effect");
    }
}

#[test]
fn a_replay_opens_the_match_again() {
    let mut cup = semi_finals();
    decide(&mut cup, TournamentOrder::Pause).unwrap();
    let open = TournamentOrder::Replay { id: "r1m2".into() };
    assert_eq!(decide(&mut cup, open), Err(TournamentRejection::NotOver("r1m2".into())));
    decide(&mut cup, TournamentOrder::Replay { id: "r1m1".into() }).unwrap();
    decide(&mut cup, TournamentOrder::Resume).unwrap();
    assert_eq!(cup.open_matches().count(), 2);
    assert_eq!(cup.replays(&"r1m1".into()), [&ruling("a test")]);
    report(&mut cup, "r1m2", "p4");
    report(&mut cup, "r1m1", "p2");
    let players: Vec<_> = cup.open_matches().flat_map(|plan| plan.players.clone()).collect();
    assert_eq!(players, names(&["p2", "p4"]), "p2 was out by a result that counts no more");
}

#[test]
fn player_who_has_left_neither_replays_nor_wins() {
    let mut cup = semi_finals();
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "left");
    cup.step(TournamentCommand::Drop { player: name("p1"), fault }).unwrap();
    decide(&mut cup, TournamentOrder::Pause).unwrap();
    let replay = TournamentOrder::Replay { id: "r1m1".into() };
    assert_eq!(decide(&mut cup, replay), Err(TournamentRejection::Stranger(name("p1"))));
    let refused = decide(&mut cup, overriding("r1m1", &["p1"])).unwrap_err();
    assert!(matches!(refused, TournamentRejection::Winners(_)), "{refused}");
    decide(&mut cup, overriding("r1m1", &["p2"])).unwrap();
}

#[test]
fn no_player_is_charged_as_absent_in_a_pause_and_a_greeting_waits() {
    let plan = of_preset("fish", "", numbered(3));
    let kind = Registry::standard().kind("fish").unwrap().clone();
    let (mut cup, _) = Tournament::create(plan, kind, Secret::from_seed_number(2)).unwrap();
    decide(&mut cup, TournamentOrder::Pause).unwrap();
    let drop = |fault| TournamentCommand::Drop { player: name("p1"), fault };
    assert_eq!(cup.step(drop(Fault::no_show(1))), Err(TournamentRejection::Paused));
    for pending in cup.pending() {
        let (player, request, answer) = (pending.player, pending.id, "true".into());
        let events = cup.step(TournamentCommand::Answer { player, request, answer }).unwrap();
        assert_eq!(events.len(), 1, "the round is not paired");
    }
    let refused = decide(&mut cup, overriding("r1m1", &[])).unwrap_err();
    assert_eq!(refused, TournamentRejection::NoRound);
    let tags = decide(&mut cup, TournamentOrder::Resume).unwrap();
    assert_eq!(tags, ["tournament-resumed", "round-paired"]);
}

/// A log in which the tournament's ruling about a match is missing, or the match's obedience.
#[test]
fn a_match_does_nothing_its_tournament_did_not_order() {
    let mut found = BTreeSet::new();
    for seed in 0..60 {
        let (preset, best_of, players) = ("yahtzee-class", 1, 4);
        let chaos = Chaos { preset, format: "", best_of, players, seed, odd_in: 0, ruled: true };
        let played = chaos.play();
        let games = Registry::standard();
        let check = |name: &str| verify::read(&played.streams[name]).unwrap();
        let cup = verify::verify_tournament(&check("tournament/t"), &games, None).unwrap();
        for name in played.streams.keys().filter(|name| name.starts_with("match/")) {
            let one = verify::verify_match(&check(name), &games, cup.secret.as_ref()).unwrap();
            assert_eq!(cup.agrees(&one), Ok(()));
            let mut forged = cup.clone();
            if one.called_off {
                forged.overridden.clear();
            } else if !one.earlier.is_empty() {
                forged.earlier.clear();
            } else {
                continue;
            }
            found.insert(forged.agrees(&one).unwrap_err());
        }
        if found.len() == 2 {
            return;
        }
    }
    panic!("not both were found: {found:?}");
}

/// Another winner, another order of things, or a ruling outside a pause: found at the event.
#[test]
fn forged_rulings_of_a_tournament_are_found() {
    let played = semi_finals();
    let mut lines = Vec::new();
    let kind = Registry::standard().kind("yahtzee").unwrap().clone();
    let secret = Secret::from_seed_number(2);
    let (mut cup, first) = Tournament::create(played.plan().clone(), kind, secret).unwrap();
    let mut write = |events: &[Event]| {
        let version = lines.len() as u64;
        lines.extend(record_lines("tournament/t", version, Timestamp::from_ms(1_000), events));
    };
    write(&first);
    let reported = played.rounds()[0].reported[0].clone().unwrap();
    let mut step = |command| write(&cup.step(command).unwrap());
    step(TournamentCommand::Report { id: "r1m1".into(), result: reported.clone(), head: None });
    let order = |order| TournamentCommand::Order { order, ruling: ruling("a test") };
    step(order(TournamentOrder::Pause));
    step(order(overriding("r1m1", &["p2"])));
    let result = MatchResult { winners: names(&["p4"]), out: Vec::new(), ..reported };
    step(TournamentCommand::Report { id: "r1m2".into(), result, head: None });
    step(order(TournamentOrder::Resume));
    let verdict = |lines: &[String]| {
        let lines = verify::read(lines)?;
        verify::verify_tournament(&lines, &Registry::standard(), None).map(|_| ())
    };
    assert_eq!(verdict(&lines), Ok(()));
    // An earlier version worded the reasons of a bracket otherwise.
    let now = "the players who advanced from r1m1 and r1m2";
    let reworded = |words: &str| lines.iter().map(|line| line.replace(now, words)).collect();
    let earlier: Vec<String> = reworded("who came through r1m1 meets who came through r1m2");
    assert_ne!(earlier, lines);
    assert_eq!(verdict(&earlier), Ok(()));
    assert!(verdict(&reworded("a friend of the operator")).is_err());
    let at = |tag: &str| lines.iter().position(|line| line.contains(tag)).unwrap();
    let forge = |tag: &str, from: &str, to: &str| {
        let mut forged = lines.clone();
        let line = &mut forged[at(tag)];
        assert!(line.contains(from), "{line}");
        *line = line.replace(from, to);
        verdict(&forged).expect_err(tag).event
    };
    let winner = |name: &str| format!(r#""winners":["{name}"]"#);
    assert_eq!(forge("result-overridden", &winner("p2"), &winner("p1")), "round-paired");
    assert_eq!(forge("result-overridden", &winner("p2"), &winner("p3")), "result-overridden");
    assert_eq!(forge("result-overridden", r#""id":"r1m1""#, r#""id":"r1m3""#), "result-overridden");
    assert_eq!(forge("result-overridden", "a test", ""), "unreadable");
    assert_eq!(forge("tournament-paused", "-paused", "-resumed"), "tournament-resumed");
}
