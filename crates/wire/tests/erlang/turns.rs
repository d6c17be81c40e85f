//! The end of a turn names no game: which open turn it belongs to, when a player of the queue
//! protocol plays in several tournaments at once.

use crate::sessions::Visit;
use agon_core::Timestamp;
use agon_wire::erlang::Password;
use agon_wire::erlang::session::{NotAccepted, Speaks};
use agon_wire::erlang::term::Term;
use serde_json::{Value, json};

fn visit() -> Visit {
    Visit::logged_in(Speaks::Queue { password: Password("pw".into()) }, 0)
}

fn rolled(dice: [u8; 5]) -> Value {
    json!({"ask": "keep", "roll": 1, "dice": dice})
}

fn end_turn(dice: [i64; 5], at: &'static str) -> Term {
    let dice = Term::List(dice.map(Term::Int).into());
    let (eve, pw) = (Term::string("eve"), Term::string("pw"));
    Term::tuple([eve, pw, Term::atom("end_turn"), dice, Term::atom(at)])
}

/// Which request an answer went to.
fn went_to(visit: &mut Visit, term: &Term) -> String {
    let said = visit.hear(term).expect("an answer");
    said[0].split(' ').nth(1).expect("a request").to_owned()
}

fn match_over(visit: &mut Visit, cup: &str) -> Vec<String> {
    let data = json!({"tournament": cup, "match": "r1m1", "won": false});
    let now = visit.now;
    visit.line(&json!({"type": "notice", "about": "match-over", "data": data}), now)
}

#[test]
fn the_end_of_a_turn_goes_to_the_turn_whose_dice_it_names() {
    let tables = [[1, 2, 3, 4, 5], [6, 6, 5, 5, 1], [2, 2, 2, 3, 3], [4, 4, 1, 1, 6]];
    // In order, out of order, and with the dice turned around.
    for order in [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]] {
        let mut visit = visit();
        for (number, dice) in tables.iter().enumerate() {
            let id = format!("cup{number}:r1m1.1.0.0");
            assert!(visit.request(&id, rolled(*dice), 1)[0].contains("{dice,"));
        }
        for at in order {
            let mut dice = tables[at].map(i64::from);
            dice.reverse();
            assert_eq!(went_to(&mut visit, &end_turn(dice, "aces")), format!("cup{at}:r1m1.1.0.0"));
        }
    }
}

#[test]
fn dice_that_are_open_elsewhere_wait_until_those_are_answered() {
    let mut visit = visit();
    visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 1);
    let waits = visit.request("two:r1m1.1.0.0", rolled([5, 4, 3, 2, 1]), 2);
    assert_eq!(waits, Vec::<String>::new(), "an answer could not be told from one to the other");
    assert!(visit.request("three:r1m1.1.0.0", rolled([1, 1, 1, 1, 1]), 3)[0].contains("{dice,"));
    let said = visit.hear(&end_turn([1, 2, 3, 4, 5], "chance")).unwrap();
    assert!(said[0].starts_with("say one:r1m1.1.0.0"), "{said:?}");
    assert!(said[1].contains("{dice,") && said[1].ends_with("#2"), "{said:?}");
    assert_eq!(went_to(&mut visit, &end_turn([1, 2, 3, 4, 5], "aces")), "two:r1m1.1.0.0");
}

/// Some programs finish a turn before they look at other dice: what they wait for comes in time,
/// and what they answer belongs to the turn they are in.
#[test]
fn a_turn_that_is_under_way_does_not_wait_for_ever() {
    let mut visit = visit();
    visit.now = Timestamp::from_ms(5_000);
    visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 1);
    visit.request("two:r1m1.1.0.0", rolled([6, 6, 6, 5, 4]), 2);
    let (tid, gid) = (visit.last()[1].clone(), visit.last()[2].clone());
    let (eve, pw, kind) = (Term::string("eve"), Term::string("pw"), Term::atom("modification"));
    let dice = Term::List(vec![Term::Int(6)]);
    visit.hear(&Term::tuple([eve, pw, kind, tid, gid, dice])).expect("an answer");
    let again = json!({"ask": "keep", "roll": 2, "dice": [5, 1, 2, 3, 4]});
    assert_eq!(visit.request("two:r1m1.1.0.1", again, 3), Vec::<String>::new());
    let due = visit.due(visit.deadline().expect("a bound"));
    assert!(due[0].contains("{dice,") && due[0].ends_with("#3"), "{due:?}");
    assert_eq!(went_to(&mut visit, &end_turn([1, 2, 3, 4, 5], "chance")), "two:r1m1.1.0.1");
    assert_eq!(went_to(&mut visit, &end_turn([1, 2, 3, 4, 5], "chance")), "one:r1m1.1.0.0");
}

#[test]
fn dice_are_sent_once_and_run_on_when_they_are_asked_again() {
    let mut visit = visit();
    visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 1);
    let again = visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 2);
    assert_eq!(again, ["#2 runs"], "its process has them, and would answer twice");
    assert_eq!(went_to(&mut visit, &end_turn([1, 2, 3, 4, 5], "aces")), "one:r1m1.1.0.0");
}

/// A late player answers while the server asks again, because the player answered elsewhere.
#[test]
fn turn_that_was_answered_when_it_was_asked_again_is_not_answered_twice() {
    let modify = |visit: &Visit| {
        let (tid, gid) = (visit.last()[1].clone(), visit.last()[2].clone());
        let (eve, pw, kind) = (Term::string("eve"), Term::string("pw"), Term::atom("modification"));
        Term::tuple([eve, pw, kind, tid, gid, Term::List(vec![Term::Int(1)])])
    };
    let answered = || {
        let mut visit = visit();
        visit.now = Timestamp::from_ms(10_000);
        visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 1);
        let said = modify(&visit);
        assert_eq!(went_to(&mut visit, &said), "one:r1m1.1.0.0");
        visit
    };
    let again = |visit: &mut Visit| visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 2);
    let nothing = Vec::<String>::new();
    // The answer arrived: the next roll follows, and the player gets that one only.
    let mut visit = answered();
    assert_eq!(again(&mut visit), nothing);
    let next = json!({"ask": "keep", "roll": 2, "dice": [6, 2, 3, 4, 5]});
    assert!(visit.request("one:r1m1.1.0.1", next, 3)[0].ends_with("#3"));
    assert_eq!(visit.deadline(), None);
    // The answer did not arrive, and nothing follows.
    let mut visit = answered();
    assert_eq!(again(&mut visit), nothing);
    let due = visit.due(visit.deadline().expect("a bound"));
    assert!(due[0].contains("{dice,") && due[0].ends_with("#2"), "{due:?}");
    let said = modify(&visit);
    assert_eq!(went_to(&mut visit, &said), "one:r1m1.1.0.0");
    // The server said that the answer was late.
    let mut visit = answered();
    let now = visit.now;
    let late = json!({"type": "error", "code": "late", "detail": "", "id": "one:r1m1.1.0.0"});
    visit.line(&late, now);
    assert!(again(&mut visit)[0].ends_with("#2"));
}

#[test]
fn an_answer_to_a_turn_that_is_over_is_late_and_not_a_cheat() {
    let mut visit = visit();
    visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 1);
    visit.request("two:r1m1.1.0.0", rolled([6, 6, 6, 6, 1]), 2);
    assert_eq!(match_over(&mut visit, "one"), Vec::<String>::new());
    assert_eq!(visit.hear(&end_turn([1, 2, 3, 4, 5], "aces")), Err(NotAccepted::Late));
    assert_eq!(went_to(&mut visit, &end_turn([6, 6, 6, 6, 1], "sixes")), "two:r1m1.1.0.0");
    assert_eq!(visit.hear(&end_turn([6, 6, 6, 6, 1], "aces")), Err(NotAccepted::Late), "none open");
}

#[test]
fn dice_of_a_turn_that_ended_unanswered_wait_for_a_late_answer() {
    let mut visit = visit();
    visit.now = Timestamp::from_ms(10_000);
    visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 1);
    match_over(&mut visit, "one");
    assert_eq!(visit.request("two:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 2), Vec::<String>::new());
    let due = visit.due(visit.deadline().expect("it does not wait for ever"));
    assert!(due[0].contains("{dice,"), "{due:?}");
}

#[test]
fn dice_of_no_turn_are_charged_to_the_likeliest_one() {
    let mut visit = visit();
    visit.request("one:r1m1.1.0.0", rolled([1, 1, 1, 2, 2]), 1);
    visit.request("two:r1m1.1.0.0", rolled([6, 6, 6, 5, 4]), 2);
    let said = visit.hear(&end_turn([6, 6, 6, 6, 6], "sixes")).unwrap();
    assert!(said[0].starts_with("say two:r1m1.1.0.0"), "{said:?}");
}

#[test]
fn a_modification_goes_to_the_game_it_names() {
    let mut visit = visit();
    visit.request("one:r1m1.1.0.0", rolled([1, 2, 3, 4, 5]), 1);
    let (tid, gid) = (visit.last()[1].clone(), visit.last()[2].clone());
    visit.request("two:r1m1.1.0.0", rolled([6, 6, 6, 5, 4]), 2);
    let modify = |tid: &Term, gid: &Term| {
        let (eve, pw) = (Term::string("eve"), Term::string("pw"));
        let dice = Term::List(vec![Term::Int(1)]);
        let kind = Term::atom("modification");
        Term::tuple([eve, pw, kind, tid.clone(), gid.clone(), dice])
    };
    assert_eq!(went_to(&mut visit, &modify(&tid, &gid)), "one:r1m1.1.0.0");
    assert_eq!(visit.hear(&modify(&tid, &gid)), Err(NotAccepted::Stale), "it was answered");
}
