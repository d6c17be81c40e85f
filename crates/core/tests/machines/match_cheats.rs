//! "Cheating", sentence by sentence, and answers that are nobody's fault.

use crate::support::bench::Bench;
use crate::support::plan::name;
use agon_core::{Fault, FaultKind, GameEnd, How, MatchCommand, Rejection, RequestId, verify};
use agon_games::{Registry, Seat};

/// Lets bob play until he is asked for a box, with `boxes` of his filled.
fn until_score(bench: &mut Bench, boxes: usize) -> serde_json::Value {
    loop {
        let referee = bench.live.referee().unwrap();
        let question = referee.game().question(Seat(1));
        let question =
            question.map(|q| serde_json::from_str::<serde_json::Value>(q.get()).unwrap());
        match question {
            Some(question) if question["ask"] == "score" && boxes == 0 => return question,
            Some(question) if question["ask"] == "score" => {
                bench.play_one("bob");
                return until_score(bench, boxes - 1);
            }
            Some(_) => bench.play_one("bob"),
            None => bench.play_one("ann"),
        }
    }
}

/// Every way to cheat, with the state it needs and the code it is caught under.
fn cheats() -> Vec<(&'static str, Bench, RequestId, String)> {
    let mut cheats = Vec::new();
    let mut add = |preset: &str, code, boxes: Option<usize>, answer: &dyn Fn(&Bench) -> String| {
        let mut bench = Bench::yahtzee(preset, 3);
        if let Some(boxes) = boxes {
            until_score(&mut bench, boxes);
        }
        let (request, answer) = (bench.open("bob"), answer(&bench));
        cheats.push((code, bench, request, answer));
    };
    for preset in ["yahtzee-class", "yahtzee-queue"] {
        add(preset, "keepers-not-held", None, &|_| r#"{"keep":[1,1,2,2,3]}"#.into());
        add(preset, "keepers-not-held", None, &|_| r#"{"keep":[7]}"#.into());
        add(preset, "box-filled", Some(1), &|bench| {
            let mut scores = bench.lines.iter().filter(|line| line.contains(r#"{"score":"#));
            let own = scores.find(|line| line.contains(r#""seat":1"#)).expect("a box of bob's");
            let own: serde_json::Value = serde_json::from_str(own).expect("JSON");
            own["data"]["answer"].to_string()
        });
        add(preset, "wrong-points", Some(0), &|_| r#"{"score":"chance","points":99}"#.into());
        add(preset, "wrong-dice", Some(0), &|_| r#"{"score":"chance","dice":[1,1,2,2,3]}"#.into());
    }
    cheats
}

#[test]
fn every_cheat_is_caught_at_its_message_and_costs_what_the_policy_says() {
    let mut codes = Vec::new();
    for (code, mut bench, request, answer) in cheats() {
        let blacklist = bench.live.plan().rules.cheat == agon_core::CheatCost::Blacklist;
        let before = bench.live.finished().count();
        bench.answer("bob", &request, &answer).expect("a cheat is an event");
        let faulted = bench.live.faults().last().expect("a fault").clone();
        assert_eq!(faulted.fault.kind, FaultKind::Cheat, "{code}: {answer} is {faulted:?}");
        assert_eq!(faulted.fault.answer.as_ref(), Some(&answer), "evidence");
        assert_eq!(faulted.request, Some(request), "evidence");
        codes.push((code, faulted.fault.code.to_string()));
        let (game, _) = bench.live.finished().nth(before).expect("the game is lost");
        assert_eq!(game.end, GameEnd::Forfeited { by: name("bob") });
        if blacklist {
            assert_eq!(bench.winners(), ["ann"]);
            assert_eq!(
                (bench.result().how, &bench.result().out[..]),
                (How::Forfeit, &[name("bob")][..])
            );
        } else {
            assert!(bench.live.result().is_none() && bench.plays(before as u32 + 2), "{code}");
        }
        bench.verified();
    }
    assert!(codes.iter().all(|(wanted, given)| wanted == given), "{codes:?}");
}

#[test]
fn an_answer_to_somebody_elses_request_is_a_cheat() {
    for preset in ["yahtzee-class", "yahtzee-queue"] {
        for asked_too in [true, false] {
            let mut bench = Bench::yahtzee(preset, 3);
            while !asked_too && bench.live.pending().iter().any(|p| p.player == name("bob")) {
                bench.play_one("bob");
            }
            let (request, answer) = (bench.open("ann"), bench.legal("ann"));
            bench.answer("bob", &request, &answer).expect("a cheat is an event");
            let fault = &bench.live.faults()[0].fault;
            assert_eq!((fault.kind, &*fault.code), (FaultKind::Cheat, "foreign-request"));
            let (game, _) = bench.live.finished().next().unwrap();
            assert_eq!(game.winners, [name("ann")]);
            bench.verified();
        }
    }
}

#[test]
fn an_answer_that_does_not_parse_costs_as_a_crash_also_under_blacklist() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 3);
    let request = bench.open("bob");
    assert_eq!(bench.answer("bob", &request, "garbage"), Ok(vec!["player-left"]));
    assert_eq!(bench.live.faults()[0].fault.kind, FaultKind::Malformed);
    bench.arrive("bob");
    assert_eq!(bench.open("bob"), request, "resume: asked again");
    for answer in ["{}", "", r#"{"score":"nines"}"#] {
        let mut bench = Bench::yahtzee("yahtzee-class", 3);
        let request = bench.open("bob");
        let tags = bench.answer("bob", &request, answer).unwrap();
        assert_eq!(tags, ["player-faulted", "game-ended", "game-started"]);
        bench.verified();
    }
}

#[test]
fn repeated_late_and_foreign_answers_are_refused_and_change_nothing() {
    let mut bench = Bench::yahtzee("yahtzee-class", 3);
    let (request, answer) = (bench.open("bob"), bench.legal("bob"));
    bench.answer("bob", &request, &answer).unwrap();
    let accepted = match bench.answer("bob", &request, "garbage") {
        Err(Rejection::Repeated { accepted }) => accepted.expect("the latest is known"),
        other => panic!("{other:?}"),
    };
    assert_eq!(accepted.get(), answer);
    // Nobody learns what others answered, or how often, by naming their requests.
    for of_bob in [request.as_str(), "r1m1.1.1.9"] {
        assert_eq!(bench.answer("ann", &of_bob.into(), &answer), Err(Rejection::Foreign));
    }
    for foreign in [
        "r9m9.1.1.1",
        "r1m1",
        "",
        "r1m1.1.7.0",
        "r1m1.1.1.x",
        "r1m1.1.1.1.x",
        "r1m1.1.1.01",
        "r1m1.+1.1.1",
        "r1m1.1.256.0",
        "r1m1.1.1.99999999999",
    ] {
        let given = bench.answer("bob", &foreign.into(), &answer);
        assert_eq!(given, Err(Rejection::Foreign), "{foreign:?}");
    }
    for late in ["r1m1.1.1.9", "r1m1.2.1.0", "r1m1.0.0.0"] {
        assert_eq!(bench.answer("bob", &late.into(), &answer), Err(Rejection::Late), "{late:?}");
    }
    let stranger = bench.answer("eve", &bench.open("ann"), "1");
    assert_eq!(stranger, Err(Rejection::Stranger(name("eve"))));
    let open = bench.open("bob");
    bench.crash("bob");
    assert_eq!(bench.answer("bob", &open, &answer), Err(Rejection::Late), "the game is over");
    let fault = Fault::timeout(1);
    let charge = MatchCommand::Charge { player: name("ann"), fault };
    assert_eq!(bench.step(charge), Err(Rejection::NotAsked(name("ann"))));
    let expire = MatchCommand::Expire { player: name("ann") };
    assert_eq!(bench.step(expire), Err(Rejection::NotAwaited(name("ann"))));
    bench.pass(60_000);
    let over = MatchCommand::Arrive { player: name("bob"), nonce: None };
    assert_eq!(bench.step(over), Err(Rejection::Over));
    bench.verified();
}

#[test]
fn a_result_is_confirmed_once_under_its_own_id() {
    let mut bench = Bench::absent("yahtzee-class", 1, |plan| plan.rules.confirm_result = true);
    bench.arrive("ann");
    bench.arrive("bob");
    let of_game = bench.open("bob");
    bench.play(Some("ann"));
    let (ann, bob) = (bench.open("ann"), bench.open("bob"));
    assert_eq!((ann.as_str(), bob.as_str()), ("r1m1.1.0.result", "r1m1.1.1.result"));
    for other in [&of_game, &ann, &"r1m1.2.1.result".into()] {
        assert_eq!(bench.answer("bob", other, "\"ok\""), Err(Rejection::Late), "{other}");
    }
    assert_eq!(bench.answer("bob", &bob, " \"ok\" "), Ok(vec!["result-confirmed"]));
    assert_eq!(bench.answer("bob", &bob, "\"ok\""), Err(Rejection::Late));
    assert_eq!(bench.live.faults(), []);
    assert_eq!(bench.answer("ann", &ann, "\"ok\""), Ok(vec!["result-confirmed", "match-ended"]));
    bench.verified();
}

/// A player who has moved may guess the id of their next request, which is not open yet.
#[test]
fn a_request_that_is_yet_to_come_is_closed() {
    let mut bench = Bench::yahtzee("yahtzee-class", 1);
    let mut answered = 0;
    while bench.live.pending().iter().any(|pending| pending.player == name("bob")) {
        bench.play_one("bob");
        answered += 1;
    }
    let answer = r#"{"keep":[]}"#;
    for early in [answered, answered + 1] {
        let request = format!("r1m1.1.1.{early}").into();
        assert_eq!(bench.answer("bob", &request, answer), Err(Rejection::Late), "{early}");
        assert_eq!(bench.answer("ann", &request, answer), Err(Rejection::Foreign), "{early}");
    }
    let latest = format!("r1m1.1.1.{}", answered - 1).into();
    let repeated = bench.answer("bob", &latest, answer);
    assert!(matches!(repeated, Err(Rejection::Repeated { accepted: Some(_) })), "{repeated:?}");
    let older = "r1m1.1.1.0".into();
    assert_eq!(bench.answer("bob", &older, answer), Err(Rejection::Repeated { accepted: None }));
}

/// A log that calls a legal answer a cheat is found: the answer is judged again.
#[test]
fn honest_player_cannot_be_convicted_by_a_forged_log() {
    let mut bench = Bench::yahtzee("yahtzee-class", 1);
    let (request, legal) = (bench.open("bob"), bench.legal("bob"));
    let cheat = r#"{"keep":[7]}"#;
    bench.answer("bob", &request, cheat).expect("a cheat is an event");
    let text = |answer: &str| serde_json::Value::from(answer).to_string();
    let forged: Vec<String> =
        bench.lines.iter().map(|line| line.replace(&text(cheat), &text(&legal))).collect();
    assert_ne!(forged, bench.lines);
    let lines = verify::read(&forged).expect("lines");
    assert!(verify::verify_match(&lines, &Registry::standard(), None).is_err());
}
