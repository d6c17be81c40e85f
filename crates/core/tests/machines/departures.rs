//! Players who have left a running tournament, and their places.

use crate::support::plan::{name, names, numbered, of_preset};
use agon_core::{
    Farewell, Fault, FaultKind, How, MatchResult, Pairing, RoundRobin, Secret, Tournament,
    TournamentCommand, TournamentPlan,
};
use agon_games::Registry;

fn make(plan: TournamentPlan) -> Tournament {
    let kind = Registry::standard().kind(&plan.game).expect("a game").clone();
    Tournament::create(plan, kind, Secret::from_seed_number(2)).expect("a plan").0
}

fn report(tournament: &mut Tournament, id: &str, winners: &[&str]) {
    let result = MatchResult {
        winners: names(winners),
        how: if winners.is_empty() { How::Void } else { How::Played },
        halves: vec![0, 0],
        games: Vec::new(),
        counts_from: 1,
        faults: Vec::new(),
        out: Vec::new(),
    };
    tournament
        .step(TournamentCommand::Report { id: id.into(), result, head: None })
        .expect("an open match");
}

/// The players who left, and their places: `p2 in 5`.
fn departed(tournament: &Tournament) -> Vec<String> {
    let mut left = tournament.departures(|_| false);
    for (player, rank) in &left {
        assert_eq!(tournament.departure(player), Some(*rank), "{player}");
    }
    assert!(tournament.departures(|_| true).is_empty(), "what is known is no news");
    left.sort();
    left.iter().map(|(player, rank)| format!("{player} in {rank}")).collect()
}

fn bracket(players: usize) -> Tournament {
    let mut plan = of_preset("yahtzee-class", "", numbered(players));
    plan.policy.pairing = Pairing::Order;
    make(plan)
}

#[test]
fn loser_in_a_bracket_leaves_at_once_with_the_final_place() {
    let mut cup = bracket(8);
    assert!(departed(&cup).is_empty());
    report(&mut cup, "r1m1", &["p1"]);
    assert_eq!(departed(&cup), ["p2 in 5"], "three matches of the round are still open");
    for (id, winner) in [("r1m2", "p3"), ("r1m3", "p5"), ("r1m4", "p7")] {
        report(&mut cup, id, &[winner]);
    }
    assert_eq!(departed(&cup), ["p2 in 5", "p4 in 5", "p6 in 5", "p8 in 5"]);
    report(&mut cup, "r2m1", &["p3"]);
    assert!(departed(&cup).contains(&"p1 in 3".into()));
    assert_eq!(cup.departure(&name("p3")), None);
    report(&mut cup, "r2m2", &["p5"]);
    assert_eq!(cup.departure(&name("p2")), Some(5), "also two rounds later");
    report(&mut cup, "r3m1", &["p5"]);
    let over = departed(&cup);
    assert_eq!(over[..3], ["p1 in 3", "p2 in 5", "p3 in 2"]);
    assert_eq!(over.len(), 8, "everybody, when it is over");
    assert!(over.contains(&"p5 in 1".into()));
}

#[test]
fn a_void_match_sends_both_home() {
    let mut cup = bracket(4);
    report(&mut cup, "r1m1", &[]);
    assert_eq!(departed(&cup), ["p1 in 2", "p2 in 2"], "nobody goes on from there");
}

#[test]
fn dropped_player_leaves_when_the_match_is_over() {
    let mut cup = bracket(4);
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "left");
    cup.step(TournamentCommand::Drop { player: name("p1"), fault }).expect("it is in");
    assert!(departed(&cup).is_empty(), "its match is open");
    assert!(cup.is_out(&name("p1")) && !cup.is_out(&name("p2")));
    report(&mut cup, "r1m1", &["p2"]);
    assert_eq!(departed(&cup), ["p1 in 3"]);
}

/// Where nobody loses for good, who is thrown out is behind all who are not.
#[test]
fn player_removed_from_a_round_robin_leaves_before_its_end() {
    let mut plan = of_preset("yahtzee-class", "", numbered(5));
    plan.policy.format = RoundRobin::default().into();
    let mut league = make(plan);
    let away = league.rounds()[0].byes[0].player.clone().expect("one of five waits");
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "left");
    league.step(TournamentCommand::Drop { player: away.clone(), fault }).expect("it is in");
    assert_eq!(departed(&league), [format!("{away} in 5")]);
}

#[test]
fn nobody_leaves_a_round_robin_before_its_end() {
    let mut plan = of_preset("yahtzee-class", "", numbered(3));
    plan.policy.format = RoundRobin::default().into();
    let mut league = make(plan);
    let first = league.open_matches().next().expect("a match").clone();
    report(&mut league, first.id.as_str(), &[first.players[0].as_str()]);
    assert!(departed(&league).is_empty());
}

#[test]
fn player_stays_in_the_tournament_until_the_end_is_confirmed() {
    let mut plan = of_preset("yahtzee-class", "", numbered(2));
    plan.policy.farewell = Farewell::Winners;
    let mut cup = make(plan);
    report(&mut cup, "r1m1", &["p1"]);
    assert_eq!(departed(&cup), ["p2 in 2"]);
    assert_eq!(cup.departure(&name("p1")), None);
    let request = cup.pending_of(&name("p1")).expect("the seat has an open request").id;
    let (player, answer) = (name("p1"), "\"ok\"".into());
    cup.step(TournamentCommand::Answer { player, request, answer }).expect("it confirms");
    assert_eq!(departed(&cup), ["p1 in 1", "p2 in 2"]);
}
