//! Findings of the verifier: where a log goes wrong, and how the finding describes it.

use super::*;
use crate::event::{MatchEnded, PlayerArrived, WaitExpired};
use crate::ids::Timestamp;
use crate::line::record_lines;
use crate::policy::Policy;
use crate::preset::Preset;
use crate::report::How;
use serde_json::json;

fn name(text: &str) -> PlayerName {
    PlayerName::new(text).unwrap()
}

fn arrived(player: &str) -> Event {
    PlayerArrived { player: name(player), nonce: None }.into()
}

fn expired(player: &str) -> Event {
    let fault = Fault::no_show(5);
    let faulted = Faulted { player: name(player), game: None, request: None, fault };
    WaitExpired { faulted }.into()
}

/// Two records, of one and of two events.
fn texts() -> Vec<String> {
    let mut texts = record_lines("match/t/r1m1", 0, Timestamp::from_ms(7), &[arrived("ann")]);
    texts.extend(record_lines(
        "match/t/r1m1",
        1,
        Timestamp::from_ms(8),
        &[arrived("bob"), arrived("cat")],
    ));
    texts
}

fn lines() -> Vec<Line> {
    read(&texts()).unwrap().to_vec()
}

#[test]
fn lines_must_be_numbered_complete_and_of_one_stream() {
    assert_eq!(read(&texts()).map(|lines| lines.len()), Ok(3));
    assert_eq!(read(&[""; 0]), Ok(Stream::default()));
    let said = |change: &dyn Fn(&mut Vec<String>)| {
        let mut texts = texts();
        change(&mut texts);
        read(&texts).unwrap_err().to_string()
    };
    let at = |seq: u64, what: &str| {
        format!("match/t/r1m1, event {seq} (player-arrived) does not follow: {what}")
    };
    let skipped = said(&|texts| texts[1] = texts[1].replace("\"seq\":2", "\"seq\":3"));
    assert_eq!(skipped, at(2, "it is numbered 3, not 2"));
    let foreign = said(&|texts| texts[2] = texts[2].replace("r1m1\",\"seq", "r1m2\",\"seq"));
    assert_eq!(foreign, at(3, "it belongs to another stream").replace("r1m1", "r1m2"));
    let more = said(&|texts| texts[2] = texts[2].replace("\"more\":0", "\"more\":1"));
    assert_eq!(more, at(3, "0 more events should follow, not 1"));
    let short = said(&|texts| texts.truncate(2));
    assert_eq!(short, at(2, "1 more events of its decision should follow"));
    let garbled = said(&|texts| texts[1].clear());
    assert!(garbled.starts_with("match/t/r1m1, event 2 (unreadable) does not follow: "));
}

#[test]
fn records_are_what_one_decision_wrote() {
    let all = lines();
    let sizes: Vec<usize> = records(&all).map(<[Line]>::len).collect();
    assert_eq!(sizes, [1, 2]);
    assert_eq!(records(&all[..2]).map(<[Line]>::len).sum::<usize>(), 2, "cut short");
    assert_eq!(records(&[]).count(), 0);
}

#[test]
fn record_must_hold_exactly_the_expected_events() {
    let record = &lines()[1..];
    let compared = |expected: &[Event]| {
        compare(record, expected).map_err(|found| (found.seq, found.event, found.what))
    };
    let finding = |seq, what: &str| Err((seq, "player-arrived".to_owned(), what.to_owned()));
    assert_eq!(compared(&[arrived("bob"), arrived("cat")]), Ok(()));
    assert_eq!(compared(&[arrived("bob")]), finding(3, "nothing brings this about"));
    let more = [arrived("bob"), arrived("cat"), expired("ann")];
    assert_eq!(compared(&more), finding(3, "wait-expired is missing after it"));
    let other = [arrived("bob"), expired("cat")];
    assert_eq!(compared(&other), finding(3, "wait-expired should be here"));
    let other = [arrived("dan"), arrived("cat")];
    assert_eq!(compared(&other), finding(2, "player should be \"dan\", not \"bob\""));
}

#[test]
fn the_first_difference_is_named_by_its_path() {
    let shown = |found: Value, expected: Value| {
        let mut path = String::new();
        let (a, b) = first_difference(&found, &expected, &mut path);
        let text = |value: Option<&Value>| value.map_or("nothing".into(), Value::to_string);
        format!("{path}: {} for {}", text(a), text(b))
    };
    assert_eq!(shown(json!({"a": {"b": [1, 2]}}), json!({"a": {"b": [1, 3]}})), "a.b.1: 2 for 3");
    assert_eq!(shown(json!({"a": [1, 2]}), json!({"a": [1]})), "a: [1,2] for [1]");
    assert_eq!(shown(json!({"a": 1, "x": 2}), json!({"a": 1})), "x: 2 for nothing");
    assert_eq!(shown(json!({"a": 1}), json!({"a": 1, "y": 2})), "y: nothing for 2");
    assert_eq!(shown(json!(1), json!({"a": 1})), ": 1 for {\"a\":1}");
    assert_eq!(shown(json!({"a": 1}), json!({"a": 1})), ": {\"a\":1} for {\"a\":1}");
    assert_eq!(shown(json!([1]), json!([1])), ": [1] for [1]");
}

#[test]
fn long_values_are_cut() {
    let ended = |result| -> Event { MatchEnded { result, head: None, secret: None }.into() };
    let with = |length: usize| {
        let mut result = MatchResult {
            winners: Vec::new(),
            how: How::Void,
            halves: Vec::new(),
            games: Vec::new(),
            counts_from: 1,
            faults: Vec::new(),
            out: Vec::new(),
        };
        result.winners = vec![name(&"x".repeat(length)), name("y"), name(&"z".repeat(40))];
        difference(&ended(result.clone()), &ended(MatchResult { winners: Vec::new(), ..result }))
    };
    // Three names in a list: quotes, commas and brackets add 10 characters.
    let fits = format!("[\"{}\",\"y\",\"{}\"]", "x".repeat(39), "z".repeat(40));
    assert_eq!(fits.len(), 90);
    assert_eq!(with(39), format!("result.winners should be [], not {fits}"));
    let cut = format!("[\"{}\",\"y\",\"{}\"", "x".repeat(40), "z".repeat(40));
    assert_eq!(with(40), format!("result.winners should be [], not {cut}…"));
}

#[test]
fn rejected_answer_is_checked_again_if_the_log_holds_all_of_it() {
    let of = |kind: FaultKind, length: usize| {
        let fault = Fault::new(kind, "some", "thing").with_answer(&"x".repeat(length));
        let faulted = Faulted { player: name("ann"), game: None, request: None, fault };
        again(&faulted).map(|(_, answer)| answer.len())
    };
    for kind in [FaultKind::Cheat, FaultKind::Illegal] {
        assert!(of(kind, Fault::EVIDENCE_MAX - 5).is_some());
        assert!(of(kind, Fault::EVIDENCE_MAX - 4).is_none(), "it may have been longer");
    }
    assert!(of(FaultKind::Malformed, 5).is_none() && of(FaultKind::Timeout, 5).is_none());
}

fn plan(id: &str) -> MatchPlan {
    let Policy { rules, .. } = Preset::named("yahtzee-class").unwrap().policy;
    MatchPlan {
        tournament: "t".into(),
        id: id.into(),
        round: 1,
        players: vec![name("ann"), name("bob")],
        reason: "a test".into(),
        game: "yahtzee".into(),
        config: crate::ids::Raw::parse("{}").unwrap(),
        rules,
    }
}

fn won(winner: &str) -> MatchResult {
    MatchResult {
        winners: vec![name(winner)],
        how: How::Played,
        halves: vec![0, 0],
        games: Vec::new(),
        counts_from: 1,
        faults: Vec::new(),
        out: Vec::new(),
    }
}

/// A match with these results, one after the other. It is over, or still goes on.
fn ended(results: &[&str], over: bool) -> MatchCheck {
    let mut earlier: Vec<MatchResult> = results.iter().map(|winner| won(winner)).collect();
    let result = if over { earlier.pop() } else { None };
    let (called_off, events, unchecked, games) = (false, 1, 0, 0);
    let (plan, cheats, heads, predates_chain) = (plan("r1m1"), Vec::new(), Vec::new(), true);
    MatchCheck {
        plan,
        result,
        earlier,
        called_off,
        events,
        unchecked,
        games,
        cheats,
        heads,
        predates_chain,
    }
}

/// A tournament to which these results of r1m1 were reported. All but the latest were replayed; so
/// was the latest if it is not `settled`.
fn reported(results: &[&str], settled: bool) -> TournamentCheck {
    let mut earlier: Vec<MatchResult> = results.iter().map(|winner| won(winner)).collect();
    let latest = if settled { earlier.pop() } else { None };
    let plan_of = TournamentPlan {
        id: "t".into(),
        preset: None,
        game: "yahtzee".into(),
        config: crate::ids::Raw::parse("{}").unwrap(),
        policy: Preset::named("yahtzee-class").unwrap().policy,
        players: vec![name("ann"), name("bob")],
    };
    let kind = Registry::standard().kind("yahtzee").unwrap().clone();
    let (cup, _) = Tournament::create(plan_of, kind, Secret::from_seed_number(1)).unwrap();
    TournamentCheck {
        plan: cup.plan().clone(),
        secret: None,
        of_lost_luck: BTreeSet::new(),
        matches: BTreeMap::from([("r1m1".into(), plan("r1m1"))]),
        reported: latest.map(|result| ("r1m1".into(), result)).into_iter().collect(),
        earlier: BTreeMap::from([("r1m1".into(), earlier)]),
        reports: Vec::new(),
        overridden: BTreeSet::new(),
        awarded: false,
        results: cup.results(),
        events: 1,
        unchecked: 0,
        reported_heads: BTreeMap::new(),
        head: None,
        predates_chain: true,
    }
}

#[test]
fn match_and_tournament_must_report_the_same_results() {
    let differs = Err("its result is not the one the tournament reports");
    let reopened = Err("it was reopened, but the tournament ordered no replay");
    for (of_tournament, of_match, due) in [
        (reported(&[], true), ended(&[], true), Ok(())),
        (reported(&[], true), ended(&["ann"], true), Ok(())), // not reported yet
        (reported(&["ann"], true), ended(&["ann"], true), Ok(())),
        (reported(&["ann"], true), ended(&["bob"], true), differs),
        (reported(&["ann"], true), ended(&[], true), differs),
        (reported(&["ann"], true), ended(&["ann"], false), reopened),
        (reported(&["ann"], false), ended(&["ann"], false), Ok(())),
        (reported(&["ann"], false), ended(&["ann", "bob"], true), Ok(())),
        (reported(&["ann", "bob"], true), ended(&["ann", "bob"], true), Ok(())),
        (reported(&["ann", "bob"], true), ended(&["ann", "ann"], true), differs),
        (reported(&["ann", "bob"], true), ended(&["ann"], true), differs),
    ] {
        assert_eq!(of_tournament.agrees(&of_match), due, "{:?}", of_match.earlier);
    }
    let mut off = ended(&[], true);
    off.called_off = true;
    let mut cup = reported(&[], true);
    let unruled = "it was called off, but the tournament has no result for it";
    assert_eq!(cup.agrees(&off), Err(unruled));
    cup.awarded = true;
    assert_eq!(cup.agrees(&off), Ok(()));
    cup.awarded = false;
    cup.overridden.insert("r1m1".into());
    assert_eq!(cup.agrees(&off), Ok(()));
    let mut other = ended(&[], true);
    other.plan.reason = "another".into();
    assert_eq!(cup.agrees(&other), Err("its plan is not the one the tournament drew up"));
    other.plan.id = "r9m9".into();
    assert_eq!(cup.agrees(&other), Err("the tournament never drew up this match"));
}
