//! Tournaments that a restart of the server interrupted:
//! `docs/decisions/0016-interrupted-is-a-pause-of-the-server.md`.

use crate::support::plan::{name, names, numbered, of_preset};
use crate::support::ruling;
use agon_core::statistics::Statistics;
use agon_core::verify::{Stream, verify_tournament};
use agon_core::{
    Bracket, Event, Fault, Head, How, Interruption, Line, MatchResult, Pairing, RatingSettings,
    Ruling, Secret, StreamEnd, Timestamp, Tournament, TournamentCommand, TournamentOrder,
    TournamentRejection, Why,
};
use agon_games::Registry;

/// A tournament with everything that was written about it.
struct Cup {
    machine: Tournament,
    end: StreamEnd,
    lines: Vec<Line>,
}

impl Cup {
    /// Two semi-finals, of which `p1` won the first.
    fn semi_finals() -> Cup {
        let mut plan = of_preset("yahtzee-class", "", numbered(4));
        plan.policy.format = Bracket::default().into();
        plan.policy.pairing = Pairing::Order;
        let kind = Registry::standard().kind("yahtzee").unwrap().clone();
        let secret = Secret::from_seed_number(2);
        let (machine, events) = Tournament::create(plan, kind, secret).unwrap();
        let end = StreamEnd::new(format!("tournament/{}", machine.plan().id));
        let mut cup = Cup { machine, end, lines: Vec::new() };
        cup.write(&events);
        cup.report("r1m1", &["p1"], How::Forfeit);
        cup
    }

    fn write(&mut self, events: &[Event]) {
        let texts = self.end.record(Timestamp::from_ms(1), events);
        self.lines.extend(texts.iter().map(|text| Line::read(text).unwrap()));
        let secret = Some(Secret::from_seed_number(2));
        let folded = Tournament::fold(&self.lines, &Registry::standard(), secret).unwrap();
        assert!(folded.same_state(&self.machine), "the log and the tournament differ");
    }

    fn step(
        &mut self,
        command: TournamentCommand,
    ) -> Result<Vec<&'static str>, TournamentRejection> {
        let before = self.machine.clone();
        match self.machine.step(command) {
            Ok(events) => {
                self.write(&events);
                Ok(events.iter().map(Event::tag).collect())
            }
            Err(rejection) => {
                assert!(self.machine.same_state(&before), "{rejection} changed something");
                Err(rejection)
            }
        }
    }

    fn order(&mut self, order: TournamentOrder) -> Result<Vec<&'static str>, TournamentRejection> {
        self.step(TournamentCommand::Order { order, ruling: ruling("a test") })
    }

    fn interrupt(&mut self, missing: &[&str]) -> Result<Vec<&'static str>, TournamentRejection> {
        let why = Why::new("the server was restarted").unwrap();
        self.step(TournamentCommand::Interrupt(Interruption { missing: names(missing), why }))
    }

    fn award(&mut self, winners: &[&str]) -> Result<Vec<&'static str>, TournamentRejection> {
        self.order(TournamentOrder::Award { winners: names(winners) })
    }

    fn report(&mut self, id: &str, winners: &[&str], how: How) -> Vec<&'static str> {
        let (halves, games, faults, out) = (vec![0, 0], Vec::new(), Vec::new(), Vec::new());
        let winners = names(winners);
        let result = MatchResult { winners, how, halves, games, counts_from: 1, faults, out };
        let head = Some(Head::first(id));
        self.step(TournamentCommand::Report { id: id.into(), result, head }).unwrap()
    }

    fn assert_verifies(&self) {
        let stream = Stream::of(self.lines.clone());
        let check = verify_tournament(&stream, &Registry::standard(), None).unwrap();
        assert!(!check.predates_chain, "its end holds no head");
        assert_eq!(check.head.as_ref(), self.end.head().filter(|_| self.machine.is_over()));
    }

    fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::new(&Registry::standard(), RatingSettings::default());
        for line in &self.lines {
            statistics.apply(&self.machine.plan().id, line.at, &line.event).unwrap();
        }
        statistics
    }
}

#[test]
fn an_interrupted_tournament_rests_and_charges_nobody() {
    let mut cup = Cup::semi_finals();
    assert_eq!(cup.interrupt(&[]), Err(TournamentRejection::NobodyMissing));
    assert_eq!(cup.interrupt(&["nobody"]), Err(TournamentRejection::NobodyMissing));
    let departed = cup.interrupt(&["p2"]);
    assert_eq!(departed, Err(TournamentRejection::NobodyMissing), "p2 has lost its match");
    assert_eq!(cup.interrupt(&["p1", "p3"]).unwrap(), ["tournament-interrupted"]);
    assert_eq!(cup.interrupt(&["p4"]), Err(TournamentRejection::Paused));
    let interrupted = cup.machine.interrupted().expect("it is");
    assert_eq!(interrupted.missing, names(&["p1", "p3"]));
    assert_eq!(cup.machine.paused().expect("it rests").by.as_str(), Ruling::SERVER);
    let drop = TournamentCommand::Drop { player: name("p3"), fault: Fault::no_show(1) };
    assert_eq!(cup.step(drop), Err(TournamentRejection::Paused));
    let results = cup.machine.results();
    assert_eq!(results.status, "interrupted: the server was restarted");
    assert_eq!((results.failing.len(), results.rounds[0].matches.len()), (0, 1));
    cup.assert_verifies();
}

#[test]
fn an_operator_resumes_an_interrupted_tournament_and_it_may_be_interrupted_again() {
    let mut cup = Cup::semi_finals();
    cup.interrupt(&["p3"]).unwrap();
    assert_eq!(cup.order(TournamentOrder::Resume).unwrap(), ["tournament-resumed"]);
    assert_eq!(
        (cup.machine.interrupted(), cup.machine.results().status.as_str()),
        (None, "running")
    );
    let cut_off: Vec<_> = cup.machine.cut_off().cloned().collect();
    assert_eq!(cut_off, names(&["p3"]), "a later start of the server still knows");
    cup.interrupt(&["p3"]).unwrap();
    cup.order(TournamentOrder::Resume).unwrap();
    cup.report("r1m2", &["p4"], How::Forfeit);
    assert_eq!(
        cup.report("r2m1", &["p4"], How::Forfeit),
        ["match-reported", "rounds-ended", "tournament-ended"]
    );
    cup.assert_verifies();
}

#[test]
fn an_operator_overrides_the_results_of_an_interrupted_round() {
    let mut cup = Cup::semi_finals();
    cup.interrupt(&["p3", "p4"]).unwrap();
    let id = "r1m2".into();
    let order = TournamentOrder::Override { id, winners: names(&["p3"]) };
    assert_eq!(cup.order(order).unwrap(), ["result-overridden"]);
    assert_eq!(cup.order(TournamentOrder::Resume).unwrap(), ["tournament-resumed"]);
    assert_eq!(cup.report("r1m2", &[], How::Void), ["match-reported", "round-paired"]);
    let players: Vec<_> = cup.machine.open_matches().flat_map(|one| one.players.clone()).collect();
    assert_eq!(players, names(&["p1", "p3"]));
    cup.assert_verifies();
}

#[test]
fn an_award_ends_a_tournament_once_its_open_matches_are_called_off() {
    let mut cup = Cup::semi_finals();
    assert_eq!(cup.award(&["p1"]), Err(TournamentRejection::NotPaused));
    cup.interrupt(&["p3", "p4"]).unwrap();
    for bad in [&["nobody"][..], &["p1", "p4"], &["p1", "p1"], &["p2"]] {
        let refused = cup.award(bad).unwrap_err();
        assert!(matches!(refused, TournamentRejection::Winners(_)), "{bad:?}: {refused}");
    }
    assert_eq!(cup.award(&["p1"]).unwrap(), ["tournament-awarded"]);
    assert!(!cup.machine.is_over() && cup.machine.interrupted().is_none());
    assert_eq!(cup.machine.open_matches().count(), 1);
    assert_eq!(cup.interrupt(&["p3"]), Err(TournamentRejection::NobodyMissing));
    let tags = cup.report("r1m2", &[], How::Void);
    assert_eq!(tags, ["match-reported", "tournament-ended"]);
    let results = cup.machine.results();
    assert_eq!((results.status.as_str(), &results.winners), ("ended", &names(&["p1"])));
    assert_eq!(results.awarded.expect("it was").ruling, ruling("a test"));
    assert_eq!(results.standings[0].player, name("p1"));
    cup.assert_verifies();
    let statistics = cup.statistics();
    let of = |player: &str| statistics.player(&name(player));
    assert_eq!(of("p1").total.tournaments.won, 1);
    assert_eq!((of("p3").total.matches.lost, of("p3").total.no_shows), (0, 0));
}

#[test]
fn a_tournament_that_is_given_up_counts_for_nobody() {
    let mut cup = Cup::semi_finals();
    cup.interrupt(&["p3", "p4"]).unwrap();
    cup.award(&[]).unwrap();
    cup.report("r1m2", &[], How::Void);
    assert!(cup.machine.is_over() && cup.machine.winners().is_empty());
    cup.assert_verifies();
    let statistics = cup.statistics();
    let p3 = statistics.player(&name("p3"));
    assert_eq!((p3.total.tournaments_played, p3.total.tournaments.lost), (0, 0));
    let p1 = statistics.player(&name("p1"));
    assert_eq!(p1.total.matches.won, 1, "results so far are kept");
}

#[test]
fn a_tournament_interrupted_before_its_first_round_can_be_awarded() {
    let plan = of_preset("fish", r#"{"rows":4,"columns":4}"#, numbered(3));
    let kind = Registry::standard().kind("fish").unwrap().clone();
    let secret = Secret::from_seed_number(2);
    let (machine, events) = Tournament::create(plan, kind, secret).unwrap();
    let end = StreamEnd::new(format!("tournament/{}", machine.plan().id));
    let mut cup = Cup { machine, end, lines: Vec::new() };
    cup.write(&events);
    cup.interrupt(&["p1", "p2", "p3"]).unwrap();
    assert_eq!(cup.award(&["p2"]).unwrap(), ["tournament-awarded", "tournament-ended"]);
    assert!(cup.machine.pending().is_empty());
    cup.assert_verifies();
}
