//! Tournaments before their first round: which plans will do, who is asked, what can be checked.

use crate::support::plan::{name, numbered, of_preset};
use agon_core::{
    Bracket, Event, Fault, Format, Greeting, Knockout, Pairing, PlanError, RequestId, RoundRobin,
    Secret, Timestamp, Tournament, TournamentCommand, TournamentPlan, TournamentRejection,
    record_lines, verify,
};
use agon_games::Registry;

fn secret() -> Secret {
    Secret::from_seed_number(2)
}

fn make(plan: TournamentPlan) -> Result<(Tournament, Vec<Event>), PlanError> {
    let kind = Registry::standard().kind(&plan.game).expect("a game").clone();
    Tournament::create(plan, kind, secret())
}

#[test]
fn every_format_has_a_number_of_players_it_can_do_with() {
    let with = |format: &Format, count: usize| {
        let knockout = format.name() == "knockout";
        let preset = if knockout { "fish" } else { "yahtzee-class" };
        let mut plan = of_preset(preset, "", numbered(count));
        plan.policy.format = format.clone();
        make(plan).map(|_| ()).map_err(|error| error.to_string())
    };
    let few = |count, fewest| Err(format!("{count} players: this format needs {fewest} to 100000"));
    let any: Format = Bracket::default().into();
    assert_eq!((with(&any, 0), with(&any, 1), with(&any, 2)), (few(0, 1), Ok(()), Ok(())));
    let four: Format = Bracket { slots: Some(4), third_place: false }.into();
    assert_eq!((with(&four, 3), with(&four, 4)), (Ok(()), Ok(())));
    let full = "5 players do not fit into 4 slots; give more slots or leave the number open";
    assert_eq!(with(&four, 5), Err(full.into()));
    let league: Format = RoundRobin::default().into();
    assert_eq!((with(&league, 1), with(&league, 2)), (few(1, 2), Ok(())));
    let knockout: Format = Knockout { min: 3, max: 4 }.into();
    assert_eq!(
        (with(&knockout, 3), with(&knockout, 4), with(&knockout, 6)),
        (Ok(()), Ok(()), Ok(()))
    );
    assert_eq!((with(&knockout, 0), with(&knockout, 2)), (few(0, 1), Ok(())));
    assert_eq!(with(&knockout, 5), Err("5 players cannot form games of 3 to 4".into()));
    let large: Format = Knockout { min: 2, max: 5 }.into();
    assert_eq!(with(&large, 5), Err("fish is for 2 to 4 players, not 5".into()));
    assert_eq!(with(&large, 4), Ok(()), "there will be no game of five");
}

#[test]
fn everybody_answers_its_own_request_once() {
    let (mut cup, _) = make(of_preset("fish", "", numbered(3))).expect("a plan");
    let asked = cup.pending();
    assert_eq!(asked.len(), 3);
    for (at, pending) in asked.iter().enumerate() {
        assert_eq!(cup.pending_of(&pending.player).as_ref(), Some(pending));
        assert_eq!(pending.player, name(&format!("p{}", at + 1)));
    }
    assert_eq!(cup.pending_of(&name("eve")), None);
    let answer = |player: &str, request: &RequestId| TournamentCommand::Answer {
        player: name(player),
        request: request.clone(),
        answer: "true".into(),
    };
    // Somebody else's request, and one that nobody was sent.
    let not_asked = Err(TournamentRejection::NotAsked);
    assert_eq!(cup.step(answer("p2", &asked[0].id)), not_asked);
    assert_eq!(cup.step(answer("p1", &"r1m1.1.0.0".into())), not_asked);
    for pending in &asked {
        cup.step(answer(pending.player.as_str(), &pending.id))
            .expect("the seat has an open request");
    }
    assert_eq!(cup.step(answer("p1", &asked[0].id)), not_asked, "once is enough");
    assert_eq!((cup.pending().len(), cup.pending_of(&name("p1"))), (0, None));
}

#[test]
fn results_say_what_is_played() {
    let results = |preset: &str, format: Option<Format>| {
        let mut plan = of_preset(preset, "", numbered(3));
        if let Some(format) = format {
            (plan.policy.format, plan.policy.rules.best_of) = (format, 3);
        }
        make(plan).expect("a plan").0.results()
    };
    let of = |results: agon_core::Results| {
        (results.format, results.game, results.best_of, results.status)
    };
    let running = |format: &str, game: &str, best_of: u32| {
        (format.to_owned(), game.to_owned(), best_of, "running".to_owned())
    };
    assert_eq!(of(results("yahtzee-class", None)), running("bracket", "yahtzee", 1));
    assert_eq!(of(results("fish", None)), running("knockout", "fish", 1));
    let league = results("yahtzee-class", Some(RoundRobin::default().into()));
    assert_eq!(league.preset.as_deref(), Some("yahtzee-class"));
    assert_eq!(of(league), running("round-robin", "yahtzee", 3));
}

#[test]
fn fault_of_a_dropped_player_names_the_open_request() {
    let (mut cup, _) = make(of_preset("fish", "", numbered(4))).expect("a plan");
    let asked = cup.pending_of(&name("p3")).expect("the seat has an open request");
    let mut drop = |player: &str| {
        let fault = Fault::timeout(10_000);
        let events = cup.step(TournamentCommand::Drop { player: name(player), fault });
        match &events.expect("it is in")[0] {
            Event::PlayerDropped(dropped) => dropped.faulted.clone(),
            event => panic!("{event:?}"),
        }
    };
    let faulted = drop("p3");
    assert_eq!((faulted.player, faulted.request, faulted.game), (name("p3"), Some(asked.id), None));
    let request = cup.pending_of(&name("p1")).expect("the seat has an open request").id;
    let (player, answer) = (name("p1"), "true".into());
    cup.step(TournamentCommand::Answer { player, request, answer })
        .expect("the seat has an open request");
    let fault = Fault::disconnected("lost");
    let events = cup.step(TournamentCommand::Drop { player: name("p1"), fault }).expect("in");
    assert!(matches!(&events[0], Event::PlayerDropped(one) if one.faulted.request.is_none()));
}

#[test]
fn player_out_before_the_first_round_takes_no_slot() {
    let mut plan = of_preset("yahtzee-class", "", numbered(5));
    plan.policy.greeting = Greeting::Ready;
    let (mut cup, _) = make(plan).expect("a plan");
    for pending in cup.pending() {
        let (player, request) = (pending.player, pending.id);
        let answer = if player == name("p2") { "false" } else { "true" }.into();
        cup.step(TournamentCommand::Answer { player, request, answer })
            .expect("the seat has an open request");
    }
    let round = &cup.rounds()[0];
    let pairs: Vec<_> = round.matches.iter().map(|one| one.players.clone()).collect();
    let two = |one: &str, other: &str| vec![name(one), name(other)];
    assert_eq!(pairs, [two("p1", "p5"), two("p3", "p4")], "the first meets the last of four");
    assert!(round.byes.is_empty(), "{:?}", round.byes);
}

/// Random pairings follow from a secret that is told at the end.
#[test]
fn a_tournament_with_random_pairings_is_checked_up_to_its_first_round() {
    let mut plan = of_preset("fish", "", numbered(4));
    plan.policy.pairing = Pairing::Random;
    let (mut cup, events) = make(plan).expect("a plan");
    let mut lines = record_lines("tournament/t", 0, Timestamp::from_ms(1), &events);
    for pending in cup.pending() {
        let (player, request, answer) = (pending.player, pending.id, "true".into());
        let events = cup.step(TournamentCommand::Answer { player, request, answer });
        let version = lines.len() as u64;
        let events = events.expect("the seat has an open request");
        lines.extend(record_lines("tournament/t", version, Timestamp::from_ms(2), &events));
    }
    let (lines, games) = (verify::read(&lines).expect("lines"), Registry::standard());
    let blind = verify::verify_tournament(&lines, &games, None).expect("it follows");
    assert_eq!((blind.events, blind.matches.len()), (4, 0), "created, and three of four greetings");
    assert_eq!(blind.unchecked as usize, lines.len() - 4);
    let secret = secret();
    let known = verify::verify_tournament(&lines, &games, Some(&secret));
    let known = known.expect("it follows");
    assert_eq!((known.events as usize, known.matches.len()), (lines.len(), 1));
    assert_eq!(known.unchecked, 0);
}
