//! Players who have left a running tournament, and their places.

use crate::support::plan::{name, names, numbered, of_preset};
use agon_core::{
    Farewell, Fault, FaultKind, Format, How, MatchResult, Pairing, PlayerName, RoundRobin, Secret,
    Tournament, TournamentCommand, TournamentPlan,
};
use agon_games::Registry;

fn make(plan: TournamentPlan) -> Tournament {
    let kind = Registry::standard().kind(&plan.game).expect("a game").clone();
    Tournament::create(plan, kind, Secret::from_seed_number(2)).expect("a plan").0
}

fn report(tournament: &mut Tournament, id: &str, winners: &[&str]) {
    let open = tournament.open_matches().find(|plan| plan.id.as_str() == id).expect("open");
    let won = |player: &PlayerName| winners.contains(&player.as_str());
    let result = MatchResult {
        halves: open.players.iter().map(|player| 2 * u32::from(won(player))).collect(),
        winners: names(winners),
        how: if winners.is_empty() { How::Void } else { How::Played },
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

/// A tournament of a format as people write it.
fn of_format(format: &str, players: usize) -> Tournament {
    let mut plan = of_preset("yahtzee-class", "", numbered(players));
    plan.policy.format = Format::read(format, &(2..=2)).expect("a format");
    plan.policy.format.rules().adapt(&mut plan.policy.rules);
    make(plan)
}

/// Withdraws a player and plays to the end: the lower number wins, and the leaver loses.
fn play_without(tournament: &mut Tournament, leaver: &str) {
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "left");
    tournament.step(TournamentCommand::Drop { player: name(leaver), fault }).expect("it is in");
    let before = tournament.rounds().len();
    while !tournament.is_over() {
        let open = tournament.open_matches().next().expect("an open match").clone();
        let mut stay: Vec<&str> = open.players.iter().map(|player| player.as_str()).collect();
        stay.retain(|player| *player != leaver);
        stay.sort_unstable();
        report(tournament, open.id.as_str(), &stay[..1]);
    }
    let later = tournament.rounds()[before..].iter().flat_map(|round| &round.matches);
    let paired: Vec<_> = later.filter(|plan| plan.players.contains(&name(leaver))).collect();
    assert!(paired.is_empty(), "{leaver} is paired again: {paired:?}");
    assert!(!tournament.winners().contains(&name(leaver)));
}

/// The players who won because the leaver was gone.
fn walkovers(tournament: &Tournament, leaver: &str) -> Vec<String> {
    let byes = tournament.rounds().iter().flat_map(|round| &round.byes);
    let own = byes.filter(|bye| bye.walkover == Some(name(leaver)));
    let mut players: Vec<String> =
        own.filter_map(|bye| Some(bye.player.as_ref()?.to_string())).collect();
    players.sort();
    players
}

#[test]
fn player_who_leaves_a_gauntlet_loses_the_remaining_matches() {
    let mut gauntlet = of_format("gauntlet", 4);
    play_without(&mut gauntlet, "p3");
    assert_eq!(walkovers(&gauntlet, "p3"), ["p1"]);
    assert_eq!(gauntlet.winners(), [name("p1")]);
    let mut gauntlet = of_format("gauntlet", 4);
    play_without(&mut gauntlet, "p1");
    // The first match was paired already, and p2 won it.
    assert_eq!(walkovers(&gauntlet, "p1"), ["p3", "p4"]);
    assert_eq!(gauntlet.departure(&name("p1")), Some(4), "behind all who stayed");
}

#[test]
fn player_who_leaves_a_group_loses_the_remaining_matches_there() {
    let mut groups = of_format("groups:size=3", 6);
    assert_eq!(groups.rounds().len(), 1);
    play_without(&mut groups, "p1");
    assert_eq!(walkovers(&groups, "p1"), ["p4", "p5"], "the group of p1");
    assert_eq!(groups.winners().len(), 2, "both groups have a winner");
    assert_eq!(groups.departure(&name("p1")), Some(6));
}

#[test]
fn player_who_leaves_until_sure_is_not_paired_again() {
    let mut cup = of_format("until-sure:confidence=80,places=1,matches_max=30", 5);
    play_without(&mut cup, "p1");
    assert_eq!(walkovers(&cup, "p1"), [""; 0]);
    assert_eq!(cup.winners(), [name("p2")]);
}

#[test]
fn player_who_leaves_a_knockout_is_behind_those_who_go_on() {
    let mut cup = of_format("knockout", 8);
    play_without(&mut cup, "p1");
    let place = cup.departure(&name("p1")).expect("out");
    assert!(place > 1, "{place}");
    assert_eq!(cup.winners(), [name("p2")]);
}

#[test]
fn late_player_of_until_sure_plays_and_can_win() {
    let mut cup = of_format("until-sure:confidence=95,places=1,matches_max=60", 4);
    cup.step(TournamentCommand::Enter { player: name("p0") }).expect("nobody is too late");
    for id in ["r1m1", "r1m2"] {
        let open = cup.open_matches().find(|plan| plan.id.as_str() == id).expect("open").clone();
        report(&mut cup, id, &[open.players[0].as_str()]);
    }
    while !cup.is_over() {
        let open = cup.open_matches().next().expect("an open match").clone();
        let mut players: Vec<&str> = open.players.iter().map(|one| one.as_str()).collect();
        players.sort_unstable();
        report(&mut cup, open.id.as_str(), &players[..1]);
    }
    assert_eq!(cup.winners(), [name("p0")], "p0 won every match");
    let again = cup.step(TournamentCommand::Enter { player: name("p9") });
    assert!(again.is_err(), "it is over");
}
