//! The request at which a player committed a fault, reconstructed from the log.

use crate::support::bench::Bench;
use crate::support::plan::name;
use agon_core::{ApplyError, Evidence, Fault, FaultKind, Secret, Secrets, evidence};
use agon_games::{Registry, Seat, Viewer};

fn found(bench: &Bench) -> Vec<Evidence> {
    let secret = Secret::from_seed_number(3).of_match(&"r1m1".into());
    evidence(&bench.read(), &Registry::standard(), Secrets::Known(secret)).expect("a match")
}

#[test]
fn fault_names_the_request_and_its_time() {
    let mut bench = Bench::yahtzee("yahtzee-queue", 1);
    let started = bench.now;
    bench.pass(500);
    bench.play_one("bob");
    let asked_again = bench.now;
    bench.pass(700);
    let (request, game) = (bench.open("bob"), bench.live.referee().expect("a game").game());
    let (question, view) = (game.question(Seat(1)), game.view(Viewer::Seat(Seat(1))));
    bench.answer("bob", &request, "nonsense").expect("a fault is an event");
    bench.pass(300);
    bench.crash("ann");
    let [bob, ann] = &found(&bench)[..] else { panic!("two faults") };
    assert_eq!((&bob.faulted.player, bob.at), (&name("bob"), asked_again + 700));
    assert_eq!(bob.faulted.fault.kind, FaultKind::Malformed);
    assert_eq!(bob.faulted.request.as_ref(), Some(&request));
    let asked = bob.asked.as_ref().expect("it was asked");
    assert_eq!((asked.since, asked.limit_ms, asked.seat), (asked_again, 10_000, Some(Seat(1))));
    assert_eq!(asked.question.get(), question.expect("a question").get());
    assert_eq!(asked.view.as_ref().expect("a view").get(), view.get());
    // The evidence leaves out later views of the other player, who was asked when the game began.
    assert_eq!((&ann.faulted.player, ann.at), (&name("ann"), asked_again + 1_000));
    assert_eq!(ann.asked.as_ref().expect("it was asked").since, started);
}

#[test]
fn evidence_shows_wrong_confirmations_and_missing_players() {
    let mut bench = Bench::absent("yahtzee-class", 1, |plan| plan.rules.confirm_result = true);
    bench.arrive("ann");
    bench.arrive("bob");
    bench.play(Some("ann"));
    let (request, won_at) = (bench.open("bob"), bench.now);
    bench.pass(50);
    bench.answer("bob", &request, "\"no\"").expect("a fault is an event");
    let all = found(&bench);
    let asked = all[0].asked.as_ref().expect("it was asked");
    assert_eq!((asked.since, asked.seat, &asked.view), (won_at, None, &None));
    assert_eq!(asked.question.get(), "false", "bob has not won");

    let mut bench = Bench::absent("yahtzee-class", 1, |_| {});
    bench.arrive("ann");
    bench.pass(60_000);
    let all = found(&bench);
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].faulted.fault.kind, &all[0].asked), (FaultKind::NoShow, &None));
    assert_eq!(all[0].faulted.fault, Fault::no_show(60_000));
}

#[test]
fn without_a_match_there_is_no_evidence() {
    let secrets = Secrets::Revealed(Default::default());
    let nothing = evidence(&[], &Registry::standard(), secrets);
    assert_eq!(nothing, Err(ApplyError::Empty));
}
