//! Formats: who meets whom, byes, greetings and farewells.

use crate::support::plan::{name, names, numbered, of_preset};
use crate::support::script::{except, first_legal, house, polite};
use crate::support::{CallKind, Played, Reply, Script, World};
use agon_core::{
    Bracket, Event, Farewell, Fault, FaultKind, Greeting, How, Knockout, Line, MatchResult,
    Pairing, PlanError, PlayerName, Raw, RoundRobin, Secret, Ties, Timestamp, Tournament,
    TournamentCommand, TournamentPlan, TournamentRejection,
};
use agon_games::Registry;

fn run(plan: TournamentPlan, scripts: Vec<Script>) -> Played {
    let secret = Secret::from_seed_number(2);
    let played = World::new(plan, Registry::standard(), secret, scripts).expect("a plan").play();
    played.assert_verifies();
    played
}

fn make(plan: TournamentPlan) -> Result<(Tournament, Vec<Event>), PlanError> {
    let games = Registry::standard();
    let kind = games.kind(&plan.game).expect("a game").clone();
    Tournament::create(plan, kind, Secret::from_seed_number(2))
}

/// A result that `winners` won.
fn won<T: AsRef<str>>(winners: &[T]) -> MatchResult {
    MatchResult {
        winners: names(winners),
        how: if winners.is_empty() { How::Void } else { How::Played },
        halves: vec![0, 0],
        games: Vec::new(),
        counts_from: 1,
        faults: Vec::new(),
        out: Vec::new(),
    }
}

/// Never comes to a match.
fn absent() -> Script {
    Box::new(|call| match call.what {
        CallKind::Arrive => Reply::Hang,
        _ => polite(&call.what),
    })
}

/// Reports a result for an open match; the tags of what follows.
fn report(tournament: &mut Tournament, id: &str, result: MatchResult) -> Vec<&'static str> {
    let command = TournamentCommand::Report { id: id.into(), result, head: None };
    tournament.step(command).expect("an open match").iter().map(Event::tag).collect()
}

/// The open matches: `r1m1: p1 p2`.
fn open(tournament: &Tournament) -> Vec<String> {
    let open = tournament.open_matches().map(|plan| {
        let players: Vec<&str> = plan.players.iter().map(|player| player.as_str()).collect();
        format!("{}: {}", plan.id, players.join(" "))
    });
    open.collect()
}

/// A table of no game: only pairings matter.
fn bracket(players: usize, slots: Option<u32>, pairing: Pairing) -> TournamentPlan {
    let mut plan = of_preset("yahtzee-class", "", numbered(players));
    plan.policy.format = Bracket { slots, third_place: false }.into();
    plan.policy.pairing = pairing;
    plan
}

#[test]
fn byes_are_beaten_without_playing_and_count_in_no_statistic() {
    let (mut tournament, _) = make(bracket(5, None, Pairing::Seeded)).unwrap();
    assert_eq!(open(&tournament), ["r1m2: p4 p5"]);
    let byes: Vec<_> = tournament.rounds()[0].byes.iter().map(|bye| bye.player.clone()).collect();
    assert_eq!(byes, [Some(name("p1")), Some(name("p2")), Some(name("p3"))]);
    report(&mut tournament, "r1m2", won(&["p5"]));
    assert_eq!(open(&tournament), ["r2m1: p1 p5", "r2m2: p2 p3"]);
    report(&mut tournament, "r2m2", won(&["p2"]));
    report(&mut tournament, "r2m1", won(&["p5"]));
    assert_eq!(open(&tournament), ["r3m1: p5 p2"]);
    assert_eq!(report(&mut tournament, "r3m1", won(&["p2"])).last(), Some(&"tournament-ended"));
    let results = tournament.results();
    assert_eq!(results.winners, [name("p2")]);
    let summary = |player: &str| {
        let of = results.standings.iter().find(|one| one.player == name(player)).unwrap();
        (of.rank, of.matches_won, of.matches_lost, of.byes)
    };
    assert_eq!(summary("p2"), (1, 2, 0, 1));
    assert_eq!(summary("p5"), (2, 2, 1, 0));
    assert_eq!(summary("p1"), (3, 0, 1, 1));
    assert_eq!(summary("p4"), (5, 0, 1, 0));
}

#[test]
fn slots_beyond_those_needed_hold_byes_and_a_bye_meets_a_bye() {
    let (mut tournament, _) = make(bracket(3, Some(8), Pairing::Order)).unwrap();
    let empty = tournament.rounds()[0].byes.iter().filter(|bye| bye.player.is_none()).count();
    assert_eq!((open(&tournament), empty), (vec!["r1m2: p2 p3".into()], 2));
    report(&mut tournament, "r1m2", won(&["p3"]));
    assert_eq!(open(&tournament), ["r2m1: p1 p3"]);
    report(&mut tournament, "r2m1", won(&["p1"]));
    assert_eq!(tournament.rounds()[2].byes[0].player, Some(name("p1")), "beats the empty half");
    assert!(tournament.is_over());
    assert_eq!(tournament.winners(), [name("p1")]);
    for slots in [2, 3, 0] {
        assert!(make(bracket(3, Some(slots), Pairing::Order)).is_err(), "{slots} slots");
    }
}

#[test]
fn one_player_alone_wins_and_nobody_is_no_tournament() {
    let (tournament, events) = make(bracket(1, None, Pairing::Seeded)).unwrap();
    assert_eq!(tournament.winners(), [name("p1")]);
    assert_eq!(events.last().map(Event::tag), Some("tournament-ended"));
    assert!(make(bracket(0, None, Pairing::Seeded)).is_err());
}

#[test]
fn a_bye_advances_from_a_void_match_and_can_win_the_tournament() {
    let (mut tournament, _) = make(bracket(4, None, Pairing::Order)).unwrap();
    report(&mut tournament, "r1m1", won::<&str>(&[]));
    report(&mut tournament, "r1m2", won(&["p3"]));
    assert!(tournament.is_over(), "nobody comes from the other side");
    assert_eq!(tournament.winners(), [name("p3")]);
    let played = run(bracket(4, None, Pairing::Order), (0..4).map(|_| absent()).collect());
    assert_eq!(played.winners(), [""; 0], "a bye won");
    assert_eq!(played.results().status, "ended");
    assert!(played.results().standings.iter().all(|one| one.matches_won + one.matches_lost == 0));
    assert_eq!(played.ended_at, Timestamp::from_ms(61_000), "one wait for all");
}

#[test]
fn player_who_drops_out_leaves_a_bye() {
    let (mut tournament, _) = make(bracket(4, None, Pairing::Order)).unwrap();
    report(&mut tournament, "r1m1", won(&["p1"]));
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "went home");
    let drop =
        |player: &str| TournamentCommand::Drop { player: name(player), fault: fault.clone() };
    tournament.step(drop("p1")).unwrap();
    assert_eq!(tournament.step(drop("p1")), Err(TournamentRejection::Stranger(name("p1"))));
    assert_eq!(tournament.step(drop("eve")), Err(TournamentRejection::Stranger(name("eve"))));
    report(&mut tournament, "r1m2", won(&["p4"]));
    assert_eq!(tournament.winners(), [name("p4")]);
}

#[test]
fn reports_are_taken_once_and_only_of_those_who_played() {
    let (mut tournament, _) = make(bracket(4, None, Pairing::Order)).unwrap();
    let mut refused = |id: &str, result: MatchResult, why: TournamentRejection| {
        let before = tournament.clone();
        let command = TournamentCommand::Report { id: id.into(), result, head: None };
        assert_eq!(tournament.step(command), Err(why));
        assert!(tournament.same_state(&before));
    };
    refused("r9m1", won(&["p1"]), TournamentRejection::NotOpen("r9m1".into()));
    refused("r1m1", won(&["p3"]), TournamentRejection::Stranger(name("p3")));
    let out = MatchResult { out: names(&["eve"]), ..won(&["p1"]) };
    refused("r1m1", out, TournamentRejection::Stranger(name("eve")));
    report(&mut tournament, "r1m1", won(&["p1"]));
    let again = TournamentCommand::Report { id: "r1m1".into(), result: won(&["p2"]), head: None };
    assert_eq!(tournament.step(again), Err(TournamentRejection::NotOpen("r1m1".into())));
}

#[test]
fn a_blacklisted_player_is_out_of_a_round_robin_and_loses_the_rest_by_walkover() {
    let mut plan = of_preset("yahtzee-queue", "", numbered(4));
    plan.policy.format = RoundRobin::default().into();
    plan.policy.pairing = Pairing::Order;
    let mut scripts: Vec<Script> = (0..4).map(|_| house("yahtzee", "greedy")).collect();
    scripts[3] = except(first_legal(), |call, before| {
        (call == "score" && before == 2).then(|| Reply::text(r#"{"score":"chance","points":99}"#))
    });
    let played = run(plan, scripts);
    let results = played.results();
    assert_eq!(results.cheating, [name("p4")]);
    let matches: Vec<usize> = results.rounds.iter().map(|round| round.matches.len()).collect();
    assert_eq!(matches, [2, 1, 1]);
    let walkovers: Vec<_> = results
        .rounds
        .iter()
        .flat_map(|round| &round.byes)
        .map(|bye| bye.walkover.clone())
        .collect();
    assert_eq!(walkovers, [Some(name("p4")), Some(name("p4"))]);
    let last = results.standings.iter().find(|one| one.player == name("p4")).unwrap();
    assert_eq!((last.matches_won, last.matches_lost), (0, 3));
    let decided: u32 = results.standings.iter().map(|one| one.matches_won).sum();
    assert_eq!(decided, 6, "walkovers are wins");
    assert!(!results.winners.contains(&name("p4")));
}

#[test]
fn in_a_round_robin_a_win_is_worth_two_draws() {
    let mut plan = of_preset("yahtzee-class", "", numbered(4));
    (plan.policy.format, plan.policy.farewell) = (RoundRobin::default().into(), Farewell::None);
    let (mut league, _) = make(plan).expect("a plan");
    // The first wins two matches; the second wins one, against the first, and draws two.
    let winners = |players: &[PlayerName]| -> Vec<String> {
        let names: Vec<String> = players.iter().map(PlayerName::to_string).collect();
        let plays = |name: &str| names.iter().any(|one| one == name);
        match (plays("p1"), plays("p2")) {
            (true, true) => vec!["p2".to_owned()],
            (true, false) => vec!["p1".to_owned()],
            _ => names,
        }
    };
    loop {
        let Some(plan) = league.open_matches().next().cloned() else { break };
        report(&mut league, plan.id.as_str(), won(&winners(&plan.players)));
    }
    let ranked =
        league.results().standings.into_iter().map(|one| (one.player.to_string(), one.rank));
    let ranked: Vec<(String, _)> = ranked.collect();
    let expected =
        [("p1", 1), ("p2", 1), ("p3", 3), ("p4", 3)].map(|(name, rank)| (name.to_owned(), rank));
    assert_eq!(ranked, expected);
    assert_eq!(league.winners(), names(&["p1", "p2"]));
}

/// A knock-out whose matches are reported by hand.
fn knockout(players: usize) -> Tournament {
    let mut plan = of_preset("fish", "", numbered(players));
    plan.policy.greeting = Greeting::None;
    plan.policy.farewell = Farewell::None;
    make(plan).unwrap().0
}

#[test]
fn a_knock_out_ends_after_the_one_game_everybody_fits_into() {
    let mut tournament = knockout(4);
    assert_eq!(open(&tournament), ["r1m1: p1 p2 p3 p4"]);
    report(&mut tournament, "r1m1", won(&["p3", "p1"]));
    assert_eq!(tournament.winners(), names(&["p1", "p3"]), "in order of age");
}

#[test]
fn a_knock_out_ends_when_too_few_are_left() {
    let mut tournament = knockout(5);
    report(&mut tournament, "r1m1", won::<&str>(&[]));
    report(&mut tournament, "r1m2", won(&["p5"]));
    assert_eq!(tournament.winners(), names(&["p5"]));
    assert_eq!(knockout(1).winners(), names(&["p1"]));
}

#[test]
fn a_knock_out_ends_with_the_same_winners_twice() {
    let mut tournament = knockout(6);
    report(&mut tournament, "r1m1", won(&["p1", "p2", "p3"]));
    report(&mut tournament, "r1m2", won(&["p5", "p6"]));
    assert_eq!(open(&tournament), ["r2m1: p1 p2 p3", "r2m2: p5 p6"]);
    report(&mut tournament, "r2m1", won(&["p1", "p2", "p3"]));
    report(&mut tournament, "r2m2", won(&["p5", "p6"]));
    assert_eq!(tournament.winners(), names(&["p1", "p2", "p3", "p5", "p6"]));
}

/// Five won the first round; that three of them were thrown out in the second does not make its
/// two winners the same as those of the round before.
#[test]
fn winners_who_were_thrown_out_since_still_won_the_round_before() {
    let mut tournament = knockout(10);
    report(&mut tournament, "r1m1", won(&["p1", "p4"]));
    report(&mut tournament, "r1m2", won(&["p5", "p8"]));
    report(&mut tournament, "r1m3", won(&["p9"]));
    assert_eq!(open(&tournament), ["r2m1: p1 p4 p5", "r2m2: p8 p9"]);
    report(&mut tournament, "r2m1", MatchResult { out: names(&["p4", "p5"]), ..won(&["p1"]) });
    report(&mut tournament, "r2m2", MatchResult { out: names(&["p9"]), ..won(&["p8"]) });
    assert_eq!(open(&tournament), ["r3m1: p1 p8"]);
}

#[test]
fn a_board_must_serve_games_of_every_size_that_may_come() {
    let plan = |config| {
        let mut plan = of_preset("fish", config, numbered(8));
        plan.policy.greeting = Greeting::None;
        make(plan)
    };
    // Two games of four need 8 tiles; three players that advance would need 9.
    let error = plan(r#"{"rows":2,"columns":4}"#).unwrap_err();
    assert_eq!(error.to_string(), "8 tiles do not hold 9 penguins of 3 players");
    assert!(plan(r#"{"rows":3,"columns":3}"#).is_ok());
}

#[test]
fn policies_and_plans_that_contradict_themselves_are_refused() {
    let refused = |change: &dyn Fn(&mut TournamentPlan)| {
        let mut plan = bracket(4, None, Pairing::Order);
        change(&mut plan);
        make(plan).expect_err("a contradiction").to_string()
    };
    type Change = fn(&mut TournamentPlan);
    let contradictions: [(Change, &str); 6] = [
        (|p| p.policy.rules.best_of = 2, "odd"),
        (|p| p.policy.rules.ties = Ties::Share, "bracket"),
        (|p| p.policy.format = Knockout { min: 2, max: 4 }.into(), "share"),
        (|p| p.policy.rules.time.answer_ms = 0, "answer_ms"),
        (|p| p.players[1] = p.players[0].clone(), "two players are called p1"),
        (|p| p.config = Raw::parse("{\"dices\":1}").unwrap(), "dices"),
    ];
    for (change, says) in contradictions {
        let text = refused(&change);
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn player_who_is_not_ready_is_out_before_the_first_game() {
    for (odd, kind, failing) in [
        (Reply::text("false"), FaultKind::Withdrew, 0),
        (Reply::text("maybe"), FaultKind::Malformed, 1),
        (Reply::Hang, FaultKind::Timeout, 1),
        (Reply::After(10_000, "true".into()), FaultKind::Timeout, 1),
        (Reply::Crash(None), FaultKind::Disconnected, 1),
    ] {
        let plan = of_preset("fish", "", numbered(5));
        let mut scripts: Vec<Script> = (0..5).map(|_| house("fish", "greedy")).collect();
        let given = odd.clone();
        scripts[0] = except(first_legal(), move |call, _| (call == "ready").then(|| given.clone()));
        let played = run(plan, scripts);
        let results = played.results();
        assert_eq!(results.rounds[0].matches[0].players, names(&["p2", "p3", "p4", "p5"]));
        let of = results.standings.iter().find(|one| one.player == name("p1")).unwrap();
        assert_eq!(of.faults[0].1.fault.kind, kind, "{odd:?}");
        assert_eq!((of.faults.len(), results.failing.len()), (1, failing), "{odd:?}");
    }
    let played = run(of_preset("fish", "", numbered(2)), (0..2).map(|_| not_ready()).collect());
    assert_eq!((played.winners(), played.results().rounds.len()), (vec![], 0));
}

fn not_ready() -> Script {
    Box::new(|_| Reply::text("false"))
}

/// Players of Trains that propose these maps.
fn proposing(maps: &[&str]) -> Played {
    let scripts = maps.iter().map(|map| {
        let map = map.to_string();
        except(house("trains", "buy-now"), move |call, _| {
            (call == "start").then(|| Reply::text(&map))
        })
    });
    run(of_preset("trains", "", numbered(maps.len())), scripts.collect())
}

const SMALL: &str = r#"{"width":10,"height":10,"cities":[["A",[0,0]],["B",[1,1]]],
    "connections":{"A":{"B":{"red":3}}}}"#;

#[test]
fn the_first_proposal_that_fits_is_used_and_refused_ones_misbehave() {
    let map = agon_games::json(&agon_games::trains::Config::default().map).to_string();
    let chosen = |played: &Played| {
        let lines = played.streams["tournament/t"].iter().map(|line| Line::read(line).unwrap());
        lines.into_iter().find_map(|line| match line.event {
            Event::ConfigChosen(chosen) => Some(chosen.by),
            _ => None,
        })
    };
    let played = proposing(&[SMALL, "null", &map, &map]);
    assert_eq!(chosen(&played), Some(name("p3")));
    assert!(played.results().failing.is_empty());
    let played = proposing(&["[1,2]", &map, "not JSON"]);
    assert_eq!(chosen(&played), Some(name("p2")));
    assert_eq!(played.results().failing, names(&["p1", "p3"]));
    assert_eq!(played.winners(), ["p2"], "alone");
    let played = proposing(&[SMALL, SMALL, "null"]);
    assert_eq!(played.tournament.aborted(), Some("not enough destinations"));
    assert_eq!(played.results().status, "aborted: not enough destinations");
    let played = proposing(&["null", "null"]);
    assert_eq!((chosen(&played), played.results().status), (None, "ended".into()));
}

#[test]
fn a_winner_that_does_not_acknowledge_becomes_a_loser() {
    for (preset, at) in [("fish", "end"), ("trains", "end")] {
        for odd in [Reply::Hang, Reply::text("\"no\""), Reply::Crash(None)] {
            let plan = of_preset(preset, "", numbered(3));
            let game = plan.game.clone();
            let scripts = |odd: Option<Reply>| -> Vec<Script> {
                let one = |_| {
                    let odd = odd.clone();
                    except(house(&game, "greedy"), move |call, _| {
                        odd.clone().filter(|_| call == at)
                    })
                };
                (0..3).map(one).collect()
            };
            let would_win = run(plan.clone(), scripts(None));
            assert!(!would_win.winners().is_empty());
            let played = run(plan, scripts(Some(odd)));
            assert_eq!(played.winners(), [""; 0]);
            let expected = if preset == "fish" { would_win.winners().len() } else { 3 };
            assert_eq!(played.results().failing.len(), expected, "fish asks winners only");
            let told = played.tournament.end_messages();
            assert!(told.iter().all(|(_, won)| !won));
            assert_eq!(told.len(), 3 - expected, "who is out is told nothing");
            let mut told = would_win.tournament.end_messages();
            assert_eq!(told.len(), 3);
            told.retain(|(_, won)| *won);
            let winners: Vec<PlayerName> = told.into_iter().map(|(player, _)| player).collect();
            assert_eq!(winners, would_win.results().winners);
        }
    }
}
