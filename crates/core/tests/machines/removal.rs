//! Misbehaviour where it costs a player its place and the others play on: Fish and Trains.

use crate::support::bench::Bench;
use crate::support::plan::{match_of, name, numbered, of_preset};
use crate::support::script::{except, house};
use crate::support::{Played, Reply, Script, World};
use agon_core::{Fault, FaultKind, GameEnd, How, MatchCommand, Rejection, Secret};
use agon_games::Registry;

const ILLEGAL_MOVE: &str = r#"{"move":[[0,0],[0,0]]}"#;

/// A tournament of one game between a player that does `odd` at the third call `at`, and greedy
/// ones.
fn with_odd(preset: &str, players: usize, at: &'static str, odd: Reply) -> Played {
    let plan = of_preset(preset, "", numbered(players));
    let game = plan.game.clone();
    let mut scripts: Vec<Script> = (0..players).map(|_| house(&game, "greedy")).collect();
    let nth = if at == "place" || at == "play" { 1 } else { 0 };
    scripts[1] = except(house(&game, "greedy"), move |call, before| {
        (call == at && before == nth).then(|| odd.clone())
    });
    let secret = Secret::from_seed_number(5);
    let world = World::new(plan, Registry::standard(), secret, scripts).expect("a plan");
    let played = world.play();
    played.assert_verifies();
    played
}

#[test]
fn misbehaving_player_is_out_at_once_and_the_others_play_on() {
    for (preset, at, cheat) in [
        ("fish", "place", r#"{"place":[9,9]}"#),
        ("fish", "move", ILLEGAL_MOVE),
        ("trains", "play", r#"{"acquire":["A","B","red",3]}"#),
    ] {
        for players in [3, 4] {
            for (odd, kind) in [
                (Reply::text(cheat), FaultKind::Cheat),
                (Reply::text("\"ok\""), FaultKind::Illegal),
                (Reply::text("["), FaultKind::Malformed),
                (Reply::Hang, FaultKind::Timeout),
                (Reply::After(1_000_000, "\"ok\"".into()), FaultKind::Timeout),
                (Reply::Crash(None), FaultKind::Disconnected),
                (Reply::Crash(Some(1)), FaultKind::Disconnected),
                (Reply::Withdraw, FaultKind::Withdrew),
            ] {
                let played = with_odd(preset, players, at, odd.clone());
                let results = played.results();
                let report = &results.rounds[0].matches[0].result;
                assert_eq!(report.out, [name("p2")], "{odd:?}");
                assert_eq!(report.faults.len(), 1, "{odd:?}: {:?}", report.faults);
                assert_eq!(report.faults[0].fault.kind, kind, "{odd:?}");
                let game = &report.games[0];
                assert_eq!((&game.end, game.ranks[1]), (&GameEnd::Played, None), "{odd:?}");
                assert!(!results.winners.is_empty() && !results.winners.contains(&name("p2")));
                let (cheating, failing) = (results.cheating.len(), results.failing.len());
                let lists = match kind {
                    FaultKind::Cheat => (1, 0),
                    FaultKind::Withdrew => (0, 0),
                    _ => (0, 1),
                };
                assert_eq!((cheating, failing), lists, "{odd:?}");
                let last = results.standings.last().unwrap();
                assert_eq!((&last.player, last.rank as usize), (&name("p2"), players), "{odd:?}");
            }
        }
    }
}

#[test]
fn nobody_is_left() {
    for preset in ["fish", "trains"] {
        let plan = of_preset(preset, "", numbered(3));
        let game = plan.game.clone();
        let hangs = || {
            except(house(&game, "greedy"), |call, _| {
                ["place", "play"].contains(&call).then_some(Reply::Hang)
            })
        };
        let scripts = vec![hangs(), hangs(), hangs()];
        let secret = Secret::from_seed_number(5);
        let world = World::new(plan, Registry::standard(), secret, scripts).expect("a plan");
        let played = world.play();
        played.assert_verifies();
        assert_eq!(played.winners(), [""; 0]);
        assert_eq!(played.results().failing.len(), 3);
    }
}

/// Three players of Fish on a bench, all there and asked for their colours.
fn three() -> Bench {
    let mut bench = Bench::new(match_of(&of_preset("fish", "", numbered(3))), 1);
    ["p1", "p2", "p3"].iter().for_each(|player| {
        bench.arrive(player);
    });
    bench
}

#[test]
fn player_who_is_out_can_do_nothing_more() {
    let mut bench = three();
    let open = bench.open("p2");
    let tags = bench.answer("p2", &open, "garbage").unwrap();
    assert_eq!(tags, ["player-faulted", "seat-removed"]);
    assert_eq!(bench.crash("p2"), [""; 0], "being shown the door is no fault of its own");
    assert_eq!(bench.withdraw("p2"), [""; 0]);
    assert_eq!(bench.arrive("p2"), [""; 0]);
    let stolen = bench.open("p1");
    assert_eq!(bench.answer("p2", &stolen, "\"ok\""), Err(Rejection::Late));
    assert_eq!(bench.answer("p2", &open, "\"ok\""), Err(Rejection::Late));
    let charge = MatchCommand::Charge { player: name("p2"), fault: Fault::timeout(1) };
    assert_eq!(bench.step(charge), Err(Rejection::NotAsked(name("p2"))));
    assert_eq!(bench.live.faults().len(), 1);
    bench.verified();
}

#[test]
fn answer_to_a_request_of_another_player_verifies_as_a_fault() {
    for thief in ["p1", "p2"] {
        let mut bench = three();
        let stolen = bench.open("p3");
        bench.answer(thief, &stolen, "\"ok\"").unwrap();
        assert_eq!(bench.live.faults()[0].fault.detail, "answered a request to p3");
        while let Some(pending) = bench.live.pending().first().cloned() {
            bench.play_one(pending.player.as_str());
        }
        bench.verified();
    }
}

#[test]
fn absent_player_is_removed_and_a_match_without_players_is_void() {
    for here in [&["p1"][..], &["p1", "p3"], &[]] {
        let mut bench = Bench::new(match_of(&of_preset("fish", "", numbered(3))), 1);
        here.iter().for_each(|player| {
            bench.arrive(player);
        });
        bench.pass(0);
        while let Some(pending) = bench.live.pending().first().cloned() {
            bench.play_one(pending.player.as_str());
        }
        let result = bench.verified().result();
        assert_eq!(result.out.len(), 3 - here.len(), "{here:?}");
        assert_eq!(result.how, if here.is_empty() { How::Void } else { How::Played });
        assert!(result.winners.iter().all(|winner| here.contains(&winner.as_str())));
    }
}
