//! Two machines are in the same state only if everything about them is: replays are compared by
//! that.

use crate::support::bench::Bench;
use crate::support::plan::{name, numbered, of_preset};
use agon_core::{
    Fault, FaultKind, MatchCommand, Secret, Tournament, TournamentCommand, TournamentPlan,
};
use agon_games::Registry;

#[test]
fn matches_differ_by_plan_and_by_what_happened() {
    let one = Bench::yahtzee("yahtzee-class", 1);
    let mut other = Bench::yahtzee("yahtzee-class", 1);
    assert!(one.live.same_state(&other.live));
    let plan = Bench::absent("yahtzee-class", 1, |plan| plan.reason = "another".into());
    let empty = Bench::absent("yahtzee-class", 1, |_| {});
    assert!(!plan.live.same_state(&empty.live), "the plan alone");
    other.play_one("ann");
    assert!(!one.live.same_state(&other.live), "one answer");
}

#[test]
fn finished_games_differ_by_how_they_were_played() {
    let mut one = Bench::yahtzee("yahtzee-class", 3);
    let mut other = Bench::yahtzee("yahtzee-class", 3);
    // A choice of dice scores nothing, so the results are equal and only the games are not.
    other.play_one("ann");
    one.crash("bob");
    other.crash("bob");
    let results =
        |bench: &Bench| bench.live.finished().map(|(result, _)| result.clone()).collect::<Vec<_>>();
    assert_eq!(results(&one), results(&other));
    assert!(!one.live.same_state(&other.live));
}

#[test]
fn referees_differ_by_lapses_alone() {
    let one = Bench::yahtzee("yahtzee-queue", 1);
    let mut other = Bench::yahtzee("yahtzee-queue", 1);
    assert_eq!(one.live.referee(), other.live.referee());
    other.crash("bob");
    other.arrive("bob");
    assert_ne!(one.live.referee(), other.live.referee());
}

#[test]
fn referees_differ_by_the_time_that_is_left() {
    let bench = |took_ms| {
        let mut bench = Bench::absent("yahtzee-class", 1, |plan| plan.rules.time.bank_ms = 5_000);
        bench.arrive("ann");
        bench.arrive("bob");
        let (request, answer) = (bench.open("ann"), bench.legal("ann"));
        let command = MatchCommand::Answer { player: name("ann"), request, answer, took_ms };
        bench.step(command).expect("a legal answer");
        bench
    };
    assert!(bench(Some(9_000)).live.same_state(&bench(Some(10_000)).live));
    assert!(!bench(Some(10_000)).live.same_state(&bench(Some(10_001)).live));
}

#[test]
fn tournaments_differ_by_plan_and_by_what_happened() {
    let make = |change: fn(&mut TournamentPlan)| {
        let mut plan = of_preset("yahtzee-class", "", numbered(4));
        change(&mut plan);
        let kind = Registry::standard().kind("yahtzee").expect("a game").clone();
        Tournament::create(plan, kind, Secret::from_seed_number(1)).expect("a plan").0
    };
    let (one, mut other) = (make(|_| {}), make(|_| {}));
    assert!(one.same_state(&other));
    assert!(!one.same_state(&make(|plan| plan.preset = None)), "the plan alone");
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "left");
    other.step(TournamentCommand::Drop { player: name("p1"), fault }).expect("it is in");
    assert!(!one.same_state(&other));
}
