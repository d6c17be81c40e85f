//! The engine's handlers: build a state, give one input, compare the list of effects.

use crate::support::{Bench, START, hello};
use agon_core::lobby::{LobbyOrder, PasswordHash, Role};
use agon_core::{
    Event, Fault, How, Line, MatchPlan, MatchResult, PlayerName, Ruling, TournamentOrder, Why,
};
use agon_engine::query::{CarryOut, FindMatch, Order, Ping, StartWatching};
use agon_engine::watch::{Topic, WatcherId};
use agon_engine::{
    BadReply, ConnId, EngineId, Input, MatchKey, PasswordResult, PeerSaid, PlayedMatch,
    SecondLogin, Settings, TournamentPart,
};
use agon_games::Refusal;

/// Nothing at all is to be done.
const NOTHING: [&str; 0] = [];

/// Yahtzee's answer that keeps all dice: legal whatever they are, in the first roll.
const KEEP: &str = r#"{"keep":[true,true,true,true,true]}"#;

fn players() -> Bench {
    Bench::two_players("yahtzee-referee", r#"{"match":{"best_of":1}}"#)
}

/// The operator gives an order.
fn order(bench: &mut Bench, order: Order) -> Vec<String> {
    let (by, why) = (PlayerName::new("operator").unwrap(), Why::new("a test").unwrap());
    bench.ask(CarryOut { order, ruling: Ruling { by, why } })
}

#[test]
fn greeting_is_sent_when_a_connection_opens() {
    let mut bench = Bench::new(Settings::default());
    let opened = bench.open(1);
    assert_eq!(opened, ["send 1 greeting"]);
}

#[test]
fn login_by_token_waits_for_the_log() {
    let mut bench = Bench::new(Settings::default());
    bench.account("ann", Role::Player);
    bench.connect(1);
    let said = bench.say(1, r#"{"type":"login","token":"ann"}"#);
    assert_eq!(said, ["append lobby: account-logged-in"], "nothing is said before it is durable");
    assert_eq!(bench.commit(), ["send 1 welcome", "admit 1", "note login good"]);
}

#[test]
fn wrong_token_is_rejected_at_once() {
    let mut bench = Bench::new(Settings::default());
    bench.connect(1);
    let said = bench.say(1, r#"{"type":"login","token":"nobody's"}"#);
    assert_eq!(said, ["note login wrong", "send 1 error wrong-credentials"]);
}

#[test]
fn password_is_checked_outside_the_engine() {
    let mut bench = Bench::new(Settings::default());
    bench.connect(1);
    let line = r#"{"type":"login","account":"ann","password":"correct horse","register":true}"#;
    assert_eq!(bench.say(1, line), ["check password 1 ann"]);
    let hash = PasswordResult::Hashed(PasswordHash::new("a hash"));
    let checked = bench.give(Input::Checked { conn: ConnId(1), result: hash });
    let due = [
        "append lobby: account-registered",
        "append lobby: token-issued",
        "append lobby: account-logged-in",
    ];
    assert_eq!(checked, due);
    assert_eq!(bench.commit(), ["send 1 welcome", "admit 1", "note login good"]);
}

#[test]
fn result_for_a_closed_connection_is_ignored() {
    let mut bench = Bench::new(Settings::default());
    bench.connect(1);
    bench.say(1, r#"{"type":"login","account":"ann","password":"wrong horse"}"#);
    assert_eq!(bench.give(Input::Closed { conn: ConnId(1) }), ["close 1 left"]);
    let late = bench.give(Input::Checked { conn: ConnId(1), result: PasswordResult::Wrong });
    assert_eq!(late, NOTHING);
}

#[test]
fn second_login_takes_the_account_over() {
    let mut bench = Bench::new(Settings::default());
    bench.account("ann", Role::Player);
    bench.log_in(1, "ann");
    let second = bench.log_in(2, "ann");
    let due = [
        "send 2 welcome",
        "send 1 error taken-over",
        "close 1 taken-over",
        "admit 2",
        "note login good",
    ];
    assert_eq!(second, due);
}

#[test]
fn second_login_is_refused_where_the_settings_say_so() {
    let settings = Settings { second_login: SecondLogin::Refuse, ..Settings::default() };
    let mut bench = Bench::new(settings);
    bench.account("ann", Role::Player);
    bench.log_in(1, "ann");
    assert_eq!(bench.log_in(2, "ann"), ["note login refused", "send 2 error logged-in-elsewhere"]);
}

#[test]
fn first_requests_follow_from_the_announcement() {
    let mut bench = Bench::lobby_of_two();
    let said = bench.announce_only("yahtzee-referee", "{}", r#"["ann","bob"]"#);
    assert_eq!(said, ["append lobby: tournament-announced, tournament-started"]);
    let all = bench.commit();
    let place = |effect: &str| all.iter().position(|one| one == effect);
    let loaded = place("load secret/cup").expect("the engine does not read the log itself");
    assert!(place("append secret/cup: secret-kept").is_some_and(|kept| loaded < kept), "{all:?}");
    let asked: Vec<_> = all.iter().filter(|effect| effect.starts_with("ask ")).collect();
    assert_eq!(asked, ["ask 1 r1m1.1.0.0", "ask 2 r1m1.1.1.0"]);
    let started = all.iter().position(|effect| effect.contains("match/cup/r1m1")).unwrap();
    let first = all.iter().position(|effect| effect.starts_with("ask ")).unwrap();
    assert!(started < first, "commit, then speak");
}

#[test]
fn answer_is_accepted_and_the_next_request_waits_for_the_log() {
    let mut bench = players();
    bench.deliver(1, "r1m1.1.0.0", START);
    let answered = bench.answer(1, "r1m1.1.0.0", KEEP);
    assert_eq!(answered, ["append match/cup/r1m1: answer-accepted"]);
    assert_eq!(bench.commit(), ["ask 1 r1m1.1.0.1"]);
}

#[test]
fn repeated_answer_is_rejected_when_the_first_is_durable() {
    let mut bench = players();
    bench.answer(1, "r1m1.1.0.0", KEEP);
    assert_eq!(bench.answer(1, "r1m1.1.0.0", KEEP), NOTHING);
    assert_eq!(bench.commit(), ["send 1 error repeated", "ask 1 r1m1.1.0.1"]);
}

#[test]
fn answer_to_an_unknown_request_is_rejected_at_once() {
    let mut bench = players();
    assert_eq!(bench.answer(1, "nonsense", KEEP), ["send 1 error foreign"]);
}

#[test]
fn malformed_answer_is_charged() {
    let mut bench = players();
    let answered = bench.answer(1, "r1m1.1.0.0", r#"{"nonsense":1}"#);
    assert_eq!(answered.len(), 1);
    assert!(answered[0].starts_with("append match/cup/r1m1: player-faulted"), "{answered:?}");
    let all = bench.commit();
    assert!(all.iter().any(|effect| effect.starts_with("note fault ann")), "{all:?}");
}

#[test]
fn late_answer_is_rejected_and_charged() {
    let mut bench = players();
    bench.deliver(1, "r1m1.1.0.0", START);
    bench.now += 3_600_000;
    let answered = bench.answer(1, "r1m1.1.0.0", KEEP);
    assert!(answered[0].starts_with("append match/cup/r1m1: player-faulted"), "{answered:?}");
    let all = bench.commit();
    assert!(all.contains(&"send 1 error late".to_owned()), "{all:?}");
    assert!(all.contains(&"note fault ann no answer in time".to_owned()), "{all:?}");
}

#[test]
fn request_that_was_never_written_has_no_deadline() {
    let mut bench = players();
    let all = bench.pass(3_600_000);
    assert!(all.iter().all(|effect| !effect.contains("player-faulted")), "{all:?}");
}

#[test]
fn silent_player_is_charged_when_the_time_is_over() {
    let mut bench = players();
    bench.deliver(1, "r1m1.1.0.0", START);
    let all = bench.pass(3_600_000);
    let charged = all.iter().find(|effect| effect.contains("player-faulted"));
    assert!(charged.is_some_and(|effect| effect.starts_with("append match/cup/r1m1")), "{all:?}");
}

#[test]
fn reconnecting_player_gets_the_same_request_and_the_rest_of_the_time() {
    let mut bench = Bench::two_players("yahtzee-class", r#"{"match":{"best_of":1}}"#);
    bench.deliver(1, "r1m1.1.0.0", START);
    bench.now += 1_000;
    bench.connect(4);
    let mut all = bench.say(4, r#"{"type":"login","token":"ann"}"#);
    all.extend(bench.commit());
    assert!(all.contains(&"ask 4 r1m1.1.0.0".to_owned()), "{all:?}");
    let left_ms = bench.last_request()["deadline_ms"].as_u64().unwrap();
    assert_eq!(left_ms, bench.answer_ms - 1_000);
}

#[test]
fn tournament_of_a_lost_engine_continues_with_the_same_request() {
    let mut bench = players();
    bench.commit();
    let mut all = bench.give(Input::EngineLost(EngineId(1)));
    if crate::CELL_ENGINES != 0 {
        // Both players learn that nobody hears them for now.
        assert_eq!(all[..2], ["send 1 notice unreachable", "send 2 notice unreachable"]);
    }
    all.extend(bench.commit());
    let again = all.iter().filter(|effect| *effect == "ask 1 r1m1.1.0.0").count();
    assert_eq!(again, usize::from(crate::CELL_ENGINES != 0), "{all:?}");
    assert!(!all.iter().any(|effect| effect.contains("fault")), "{all:?}");
    let status = bench.status();
    assert_eq!((status.tournaments, status.matches), (1, 1));
}

#[test]
fn absent_player_of_a_resumed_tournament_has_the_full_time_to_reconnect() {
    let reconnect_ms = Settings::default().reconnect_ms;
    let time = format!(r#"{{"answer_ms":{},"bank_ms":0,"wait_ms":5000}}"#, 10 * reconnect_ms);
    let policy = format!(r#"{{"match":{{"time":{time}}}}}"#);
    let mut bench = Bench::two_players("yahtzee-referee", &policy);
    bench.commit();
    bench.pass(reconnect_ms - 1);
    bench.give(Input::NodeGone { conn: ConnId(2), is_stopping: false });
    // The engine that resumes the tournament has run for as long as this one.
    let mut all = bench.give(Input::EngineLost(EngineId(1)));
    all.extend(bench.commit());
    all.extend(bench.pass(reconnect_ms - 1));
    assert!(!all.iter().any(|effect| effect.contains("player-left")), "{all:?}");
    let back = bench.log_in(4, "bob");
    assert!(back.contains(&"ask 4 r1m1.1.1.0".to_owned()), "{back:?}");
}

#[test]
fn player_whose_login_is_in_flight_at_the_deadline_of_a_restart_stays_logged_in() {
    let mut bench = Bench::new(Settings::default());
    bench.account("bob", Role::Player);
    let mut bench = bench.restarted(Settings::default());
    bench.commit();
    bench.connect(1);
    bench.pass(Settings::default().reconnect_ms - 1);
    let said = bench.say(1, r#"{"type":"login","token":"bob"}"#);
    assert_eq!(said, ["append lobby: account-logged-in"]);
    assert_eq!(bench.pass(1), NOTHING);
    assert_eq!(bench.commit(), ["send 1 welcome", "admit 1", "note login good"]);
}

#[test]
fn engine_hears_others_while_a_tournament_is_read_from_the_log() {
    let mut bench = players();
    bench.commit();
    if crate::CELL_ENGINES == 0 {
        return;
    }
    bench.is_reading_slow = true;
    bench.give(Input::EngineLost(EngineId(1)));
    // Nobody is asked, and nobody rejects what the players of the tournament say.
    assert_eq!(bench.answer(1, "r1m1.1.0.0", KEEP), NOTHING);
    let withdrawn = bench.say(2, r#"{"type":"withdraw","tournament":"cup"}"#);
    assert_eq!(withdrawn, ["send 2 error refused"]);
    assert_eq!(bench.say(2, r#"{"type":"ping"}"#), ["send 2 pong"]);
    let mut all = bench.read();
    all.extend(bench.commit());
    assert!(all.contains(&"ask 1 r1m1.1.0.0".to_owned()), "{all:?}");
    assert!(!all.iter().any(|effect| effect.contains("fault")), "{all:?}");
    let answered = bench.answer(1, "r1m1.1.0.0", KEEP);
    assert_eq!(answered, ["append match/cup/r1m1: answer-accepted"]);
}

#[test]
fn tournament_that_moves_on_while_it_is_read_is_resumed_once() {
    let mut bench = players();
    bench.commit();
    if crate::CELL_ENGINES == 0 {
        return;
    }
    bench.is_reading_slow = true;
    // It moves to engine 2, which is lost before it has read the tournament.
    move_cup(&mut bench);
    bench.commit();
    let lost = bench.give(Input::EngineLost(EngineId(2)));
    assert!(lost.contains(&"read cup".to_owned()), "{lost:?}");
    let late = bench.read();
    let mut all = bench.read();
    all.extend(bench.commit());
    let asked = late.iter().chain(&all).filter(|effect| *effect == "ask 1 r1m1.1.0.0").count();
    assert_eq!(asked, 1, "{late:?} {all:?}");
}

/// The order that moves the tournament of the two players to the engine that does not own it.
fn move_order() -> Input {
    Input::Move { tournament: "cup".into(), to: EngineId(2) }
}

/// Moves the tournament of the two players.
fn move_cup(bench: &mut Bench) -> Vec<String> {
    bench.give(move_order())
}

#[test]
fn moved_tournament_continues_with_the_same_request() {
    let mut bench = players();
    bench.commit();
    let mut all = move_cup(&mut bench);
    all.extend(bench.commit());
    let again = all.iter().filter(|effect| *effect == "ask 1 r1m1.1.0.0").count();
    assert_eq!(again, usize::from(crate::CELL_ENGINES != 0), "{all:?}");
    assert!(!all.iter().any(|effect| effect.contains("fault")), "{all:?}");
    let status = bench.status();
    assert_eq!((status.tournaments, status.matches), (1, 1));
    // The next owner has the connections of both players, and their answers.
    let answered = bench.answer(1, "r1m1.1.0.0", KEEP);
    assert_eq!(answered, ["append match/cup/r1m1: answer-accepted"]);
    // A second order to the same engine changes nothing.
    bench.commit();
    assert_eq!(move_cup(&mut bench), NOTHING);
}

#[test]
fn time_of_a_tournament_never_goes_back_when_an_engine_with_a_slower_clock_resumes_it() {
    for input in [Input::EngineLost(EngineId(1)), move_order()] {
        let mut bench = players();
        bench.now += 1_000;
        bench.answer(1, "r1m1.1.0.0", KEEP);
        bench.commit();
        // The process of the next owner was stopped for a moment, and its clock with it. A single
        // engine has one clock, which never goes back.
        if crate::CELL_ENGINES != 0 {
            bench.now = bench.now.before(400);
        }
        bench.give(input);
        bench.commit();
        bench.answer(2, "r1m1.1.1.0", KEEP);
        bench.commit();
        let lines = bench.lines("match/cup/r1m1");
        let times: Vec<_> = lines.iter().map(|line| Line::read(line).unwrap().at).collect();
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!(times.last(), Some(&(START + 1_000)));
    }
}

#[test]
fn tournament_moves_when_its_last_records_are_durable() {
    let mut bench = players();
    bench.commit();
    bench.answer(1, "r1m1.1.0.0", KEEP);
    let moved = move_cup(&mut bench);
    assert_eq!(moved, NOTHING, "an answer is in flight");
    if crate::CELL_ENGINES != 0 {
        // Nobody hears the players meanwhile, and nobody rejects what they say.
        assert_eq!(bench.answer(2, "r1m1.1.1.0", KEEP), NOTHING);
        let withdrawn = bench.say(2, r#"{"type":"withdraw","tournament":"cup"}"#);
        assert_eq!(withdrawn, ["send 2 error refused"]);
    }
    let all = bench.commit();
    let accepted = bench.lines("match/cup/r1m1");
    let accepted = accepted.iter().filter(|line| line.contains("answer-accepted")).count();
    assert_eq!(accepted, 1);
    let asked: Vec<_> = all.iter().filter(|effect| effect.starts_with("ask 2")).collect();
    assert_eq!(asked.len(), usize::from(crate::CELL_ENGINES != 0), "{all:?}");
}

#[test]
fn tournament_is_resumed_if_either_engine_is_lost_while_it_moves() {
    for lost in [1, 2] {
        let mut bench = players();
        bench.commit();
        bench.answer(1, "r1m1.1.0.0", KEEP);
        move_cup(&mut bench);
        if crate::CELL_ENGINES == 0 {
            return;
        }
        if lost == 1 {
            // Nothing that it still has in flight becomes durable.
            bench.lose_records();
        }
        let mut all = bench.give(Input::EngineLost(EngineId(lost)));
        all.extend(bench.commit());
        assert!(all.contains(&"ask 2 r1m1.1.1.0".to_owned()), "engine {lost}: {all:?}");
        assert!(!all.iter().any(|effect| effect.contains("fault")), "{all:?}");
        assert_eq!(bench.status().tournaments, 1);
    }
}

#[test]
fn player_who_left_after_a_tournament_is_absent_from_the_next() {
    let mut bench = players();
    bench.say(1, r#"{"type":"withdraw","tournament":"cup"}"#);
    bench.commit();
    bench.give(Input::Closed { conn: ConnId(1) });
    bench.commit();
    let wanted = r#"{"type":"announce","tournament":{"id":"next","preset":"yahtzee-referee",
        "selection":{"by":"named","players":["ann","bob"]}}}"#;
    bench.say(3, &wanted.replace('\n', ""));
    let all = bench.commit();
    assert!(!all.iter().any(|effect| effect.starts_with("ask ")), "{all:?}");
    let back = bench.log_in(4, "ann");
    assert!(back.contains(&"ask 4 r1m1.1.0.0".to_owned()), "{back:?}");
}

#[test]
fn lost_program_leaves_its_match() {
    let mut bench = players();
    let closed = bench.give(Input::Closed { conn: ConnId(1) });
    assert_eq!(closed[0], "close 1 left");
    assert!(closed[1].starts_with("append match/cup/r1m1: player-left"), "{closed:?}");
}

#[test]
fn player_on_a_lost_node_is_not_charged_and_has_the_full_time_again() {
    for policy in ["forfeit-game", "remove"] {
        let policy = format!(r#"{{"match":{{"best_of":1,"crash":"{policy}"}}}}"#);
        let mut bench = Bench::two_players("yahtzee-class", &policy);
        bench.deliver(1, "r1m1.1.0.0", START);
        bench.now += bench.answer_ms - 1;
        let gone = bench.give(Input::NodeGone { conn: ConnId(1), is_stopping: false });
        assert_eq!(gone, ["close 1 node-gone"]);
        let mut all = bench.pass(Settings::default().reconnect_ms - 1);
        all.extend(bench.log_in(4, "ann"));
        assert!(all.contains(&"ask 4 r1m1.1.0.0".to_owned()), "{all:?}");
        assert!(!all.iter().any(|effect| effect.contains("fault")), "{all:?}");
        let left_ms = bench.last_request()["deadline_ms"].as_u64().unwrap();
        assert_eq!(left_ms, bench.answer_ms);
    }
}

#[test]
fn player_who_does_not_return_from_a_lost_node_is_charged_as_absent() {
    let mut bench = players();
    bench.give(Input::NodeGone { conn: ConnId(1), is_stopping: false });
    let all = bench.pass(Settings::default().reconnect_ms);
    let left = |effect: &String| effect.starts_with("append match/cup/r1m1: player-left");
    assert!(all.iter().any(left), "{all:?}");
}

#[test]
fn node_that_stops_says_goodbye_to_its_players() {
    let mut bench = players();
    let gone = bench.give(Input::NodeGone { conn: ConnId(1), is_stopping: true });
    assert_eq!(gone, ["send 1 notice stopping", "close 1 node-gone"]);
    // The gateway reports the end as well.
    assert_eq!(bench.give(Input::Closed { conn: ConnId(1) }), NOTHING);
}

#[test]
fn program_on_a_lost_node_may_sign_up_again() {
    let mut bench = Bench::two_programs();
    let gone = bench.give(Input::NodeGone { conn: ConnId(1), is_stopping: false });
    assert!(!gone.iter().any(|effect| effect.contains("dropped")), "{gone:?}");
    let mut all = bench.pass(Settings::default().reconnect_ms - 1);
    all.extend(bench.commit());
    assert!(!all.iter().any(|effect| effect.contains("dropped")), "{all:?}");
}

#[test]
fn house_player_is_asked_through_an_effect() {
    let mut bench = Bench::lobby_of_two();
    bench.announce_only("yahtzee-referee", "{}", r#"["ann","house:random"]"#);
    let all = bench.commit();
    assert!(all.contains(&"ask house:random r1m1.1.1.0".to_owned()), "{all:?}");
}

#[test]
fn paced_house_player_is_asked_after_its_wait() {
    let mut bench = Bench::lobby_of_two();
    let policy = r#"{"match":{"time":{"house_pace_ms":800}}}"#;
    bench.announce_only("yahtzee-referee", policy, r#"["ann","house:random"]"#);
    let all = bench.commit();
    assert!(!all.iter().any(|effect| effect.starts_with("ask house")), "{all:?}");
    assert_eq!(bench.pass(799), NOTHING);
    assert_eq!(bench.pass(1), ["ask house:random r1m1.1.1.0"]);
}

#[test]
fn withdrawn_player_ends_the_match_and_the_tournament() {
    let mut bench = players();
    bench.say(1, r#"{"type":"withdraw","tournament":"cup"}"#);
    let all = bench.commit();
    let due = [
        "send 1 notice match-over",
        "send 2 notice match-over",
        "send 1 done withdraw",
        "send 2 notice tournament-over",
        "send 1 notice tournament-over",
        "send 1 notice tournament-ended",
        "send 2 notice tournament-ended",
        "append lobby: tournament-finished",
        "send 3 notice tournament-result",
    ];
    let told: Vec<&str> = all.iter().map(String::as_str).filter(|one| due.contains(one)).collect();
    assert_eq!(told, due, "{all:?}");
}

#[test]
fn owed_result_is_loaded_outside_the_engine_and_sent_once() {
    let mut bench = players();
    bench.give(Input::Closed { conn: ConnId(3) });
    bench.say(1, r#"{"type":"withdraw","tournament":"cup"}"#);
    bench.commit();
    let all = bench.log_in(4, "operator");
    assert!(all.contains(&"load tournament/cup".to_owned()), "{all:?}");
    assert!(all.iter().all(|effect| !effect.contains("tournament-result")), "{all:?}");
    let loaded = bench.load("cup");
    assert_eq!(loaded, ["send 4 notice tournament-result", "append lobby: result-delivered"]);
    assert_eq!(bench.load("cup"), NOTHING);
}

#[test]
fn refused_record_of_the_lobby_silences_the_engine() {
    let mut bench = players();
    let queued = bench.say(1, r#"{"type":"enqueue","queue":"chess"}"#);
    assert_eq!(queued, ["append lobby: player-enqueued"]);
    assert_eq!(bench.refuse(), NOTHING);
    assert_eq!(bench.answer(1, "r1m1.1.0.0", KEEP), NOTHING, "nothing more may be said");
    assert_eq!(bench.pass(3_600_000), NOTHING);
}

#[test]
fn refused_record_of_a_match_drops_its_tournament_only() {
    let mut bench = players();
    bench.answer(1, "r1m1.1.0.0", KEEP);
    assert_eq!(bench.refuse(), NOTHING);
    assert_eq!(bench.answer(2, "r1m1.1.1.0", KEEP), NOTHING, "the cup is not ours any more");
    assert_eq!(bench.say(1, r#"{"type":"ping"}"#), ["send 1 pong"], "the server lives on");
    let status = bench.engine.status();
    assert_eq!((status.tournaments, status.matches, status.connections), (0, 0, 3));
    assert_eq!(bench.pass(3_600_000), NOTHING);
}

#[test]
fn query_that_rests_on_a_refused_record_has_no_answer() {
    let mut bench = players();
    let key = MatchKey::new("cup".into(), "r1m1".into());
    let (watcher, topic) = (WatcherId(7), Topic::Match(key.clone()));
    bench.ask(StartWatching { watcher, topic });
    bench.answer(1, "r1m1.1.0.0", KEEP);
    assert_eq!(bench.ask(FindMatch(key)), NOTHING, "the answer waits for the record");
    assert_eq!(bench.refuse(), ["no reply 8", "end watch 7"]);
}

#[test]
fn query_is_answered_when_what_it_rests_on_is_durable() {
    let mut bench = Bench::new(Settings::default());
    bench.account("ann", Role::Player);
    let first = bench.ask(Ping { through_log: true });
    assert_eq!(first.len(), 1, "nothing is in flight: {first:?}");
    bench.connect(1);
    bench.say(1, r#"{"type":"login","token":"ann"}"#);
    assert_eq!(bench.ask(Ping { through_log: true }), NOTHING);
    let ping = bench.ask(Ping { through_log: false });
    assert_eq!(ping.len(), 1, "this one rests on nothing");
    let all = bench.commit();
    assert_eq!(all.iter().filter(|effect| effect.starts_with("reply ")).count(), 1, "{all:?}");
}

#[test]
fn watcher_is_shown_a_snapshot_and_durable_changes() {
    let mut bench = players();
    let key = MatchKey::new("cup".into(), "r1m1".into());
    let (watcher, topic) = (WatcherId(7), Topic::Match(key));
    let shown = bench.ask(StartWatching { watcher, topic });
    assert!(shown.contains(&"show 7 Snapshot".to_owned()), "{shown:?}");
    bench.now += 1_000;
    for (conn, seat) in [(1, 0), (2, 1)] {
        bench.answer(conn, &format!("r1m1.1.{seat}.0"), KEEP);
        bench.commit();
        let scored = bench.answer(conn, &format!("r1m1.1.{seat}.1"), r#"{"score":"chance"}"#);
        assert!(scored.iter().all(|effect| !effect.starts_with("show")), "{scored:?}");
    }
    let mut all = bench.commit();
    all.extend(bench.pass(1_000));
    assert!(all.contains(&"show 7 Change".to_owned()), "{all:?}");
    assert_eq!(bench.give(Input::Unwatch(watcher)), NOTHING);
}

#[test]
fn stopping_server_tells_everybody_and_ignores_answers() {
    let mut bench = players();
    let stopped = bench.give(Input::Stop);
    let due = ["send 1 notice stopping", "send 2 notice stopping", "send 3 notice stopping"];
    assert_eq!(stopped, due);
    assert_eq!(bench.answer(1, "r1m1.1.0.0", KEEP), NOTHING);
    assert!(bench.engine.is_drained());
}

#[test]
fn restarted_server_asks_the_same_request_again() {
    let mut bench = players().restarted(Settings::default());
    let all = bench.log_in(1, "ann");
    assert!(all.contains(&"ask 1 r1m1.1.0.0".to_owned()), "{all:?}");
}

#[test]
fn cheat_is_blacklisted_once_it_is_durable() {
    let policy = r#"{"match":{"cheat":"blacklist"}}"#;
    let mut bench = Bench::two_players("yahtzee-referee", policy);
    bench.answer(1, "r1m1.1.0.0", KEEP);
    bench.commit();
    let cheat = bench.answer(1, "r1m1.1.0.1", r#"{"score":"a box that no card has"}"#);
    assert!(cheat[0].starts_with("append match/cup/r1m1: player-faulted"), "{cheat:?}");
    assert!(cheat.iter().all(|effect| !effect.contains("blacklisted")), "{cheat:?}");
    let all = bench.commit();
    assert!(all.contains(&"append lobby: account-blacklisted".to_owned()), "{all:?}");
    assert!(all.contains(&"send 1 notice blacklisted".to_owned()), "{all:?}");
}

#[test]
fn cheat_is_blacklisted_no_earlier_than_it_was_decided() {
    let policy = r#"{"match":{"cheat":"blacklist"}}"#;
    let mut bench = Bench::two_players("yahtzee-referee", policy);
    bench.answer(1, "r1m1.1.0.0", KEEP);
    bench.commit();
    bench.now += 1_000;
    bench.answer(1, "r1m1.1.0.1", r#"{"score":"a box that no card has"}"#);
    // The process of the lobby's engine was silent for a moment, and its clock stood still. A single
    // engine has one clock.
    if crate::CELL_ENGINES != 0 {
        bench.lobby_lag_ms = 400;
    }
    let all = bench.commit();
    assert!(all.contains(&"append lobby: account-blacklisted".to_owned()), "{all:?}");
    let lines = bench.lines("lobby");
    let listed = lines.iter().map(|line| Line::read(line).unwrap());
    let listed = listed.filter(|line| matches!(line.event, Event::AccountBlacklisted(_)));
    let times: Vec<_> = listed.map(|line| line.at).collect();
    assert_eq!(times, [START + 1_000]);
}

#[test]
fn host_runs_no_more_matches_than_it_may() {
    assert_eq!(Bench::host_of_four().engine.status().matches, 1, "two are open");
}

#[test]
fn bad_reply_to_a_greeting_in_a_pause_costs_nothing_and_the_greeting_is_repeated() {
    let mut bench = Bench::two_programs();
    let asked = bench.asked_of(2).expect("bob is asked whether he is ready");
    order(&mut bench, Order::Tournament("fish".into(), TournamentOrder::Pause));
    bench.commit();
    let bad = BadReply { refusal: Refusal::malformed("not a reply"), text: "?".into() };
    let reply = |answer| PeerSaid::Answer { ask: asked.clone(), answer };
    let give = |bench: &mut Bench, said| {
        let at = bench.now;
        bench.give(Input::Peer { conn: ConnId(2), said, at })
    };
    assert_eq!(give(&mut bench, reply(Err(bad))), NOTHING);
    order(&mut bench, Order::Tournament("fish".into(), TournamentOrder::Resume));
    let resumed = bench.commit();
    assert!(resumed.iter().any(|effect| effect.starts_with("call 2 ")), "{resumed:?}");
    let ready = give(&mut bench, reply(Ok("true".into())));
    assert_eq!(ready, ["append tournament/fish: player-greeted"]);
}

/// A host that plays only the rounds of `cup`, and the plan of the first match.
fn rounds() -> (Bench, MatchPlan) {
    let bench = Bench::host_with(TournamentPart::Rounds);
    let machine = bench.engine.live_tournament(&"cup".into()).unwrap();
    let plan = machine.open_matches().next().unwrap().clone();
    (bench, plan)
}

#[test]
fn match_that_another_engine_played_is_reported_and_the_next_is_handed_out() {
    let (mut bench, plan) = rounds();
    assert_eq!(bench.engine.status().matches, 0, "another engine plays the first match");
    let key = MatchKey::new(plan.tournament.clone(), plan.id.clone());
    let result = MatchResult {
        winners: vec![plan.players[0].clone()],
        how: How::Played,
        halves: vec![2, 0],
        games: Vec::new(),
        counts_from: 1,
        faults: Vec::new(),
        out: Vec::new(),
    };
    let report = || Box::new(PlayedMatch { key: key.clone(), result: result.clone(), head: None });
    let reported = bench.give(Input::Reported(report()));
    assert_eq!(reported, ["append tournament/cup: match-reported"]);
    let next = bench.commit();
    assert!(matches!(&next[..], [one] if one.starts_with("hand out ")), "{next:?}");
    assert_eq!(bench.give(Input::Reported(report())), NOTHING, "a report counts once");
}

#[test]
fn accepted_entry_comes_before_the_pairing_of_the_last_round() {
    let policy = r#"{"format":{"kind":"swiss","rounds":2},"match":{"best_of":1}}"#;
    let mut bench = Bench::two_players("yahtzee-referee", policy);
    bench.answer(1, "r1m1.1.0.0", "[]");
    let late = PlayerName::new("house:random").unwrap();
    let (tournament, player) = ("cup".into(), late);
    let ordered = order(&mut bench, Order::Lobby(LobbyOrder::Enter { tournament, player }));
    assert_eq!(ordered, ["append lobby: entry-ordered"]);
    let appended = |effects: Vec<String>| {
        effects.into_iter().filter(|effect| effect.starts_with("append tour")).collect::<Vec<_>>()
    };
    let ended = bench.commit_of("match/cup/r1m1");
    assert_eq!(appended(ended), NOTHING, "the result waits for the entry");
    let entered = bench.commit_of("lobby");
    let due = [
        "append tournament/cup: player-entered",
        "append tournament/cup: match-reported, round-paired",
    ];
    assert_eq!(appended(entered), due);
    bench.commit();
    let pairing = bench.lines("tournament/cup").pop().unwrap_or_default();
    assert!(pairing.contains("house:random"), "{pairing}");
}

#[test]
fn paused_tournament_does_not_resume_while_a_player_is_being_entered() {
    let policy = r#"{"format":{"kind":"swiss","rounds":2},"match":{"best_of":1}}"#;
    let mut bench = Bench::two_players("yahtzee-referee", policy);
    let of = |order| Order::Tournament("cup".into(), order);
    order(&mut bench, of(TournamentOrder::Pause));
    bench.commit();
    let (tournament, player) = ("cup".into(), PlayerName::new("house:random").unwrap());
    order(&mut bench, Order::Lobby(LobbyOrder::Enter { tournament, player }));
    // The round that this pairs would have no place for the player: it is refused, or it waits.
    order(&mut bench, of(TournamentOrder::Resume));
    bench.commit();
    order(&mut bench, of(TournamentOrder::Resume));
    bench.commit();
    let lines = bench.lines("tournament/cup");
    let place_of = |kind: &str| lines.iter().position(|line| line.contains(kind));
    let places = (place_of("player-entered"), place_of("tournament-resumed"));
    assert!(places.0.is_some() && places.0 < places.1, "{places:?}");
}

#[test]
fn engine_that_plays_matches_leaves_the_tournament_to_another() {
    let (bench, plan) = rounds();
    let mut bench = bench.restarted(Bench::local_settings(TournamentPart::Matches));
    assert_eq!(bench.engine.status().matches, 0, "it is given its matches");
    let played = bench.give(Input::Play(Box::new(plan)));
    assert_eq!(played, ["append match/cup/r1m1: match-created"]);
}

#[test]
fn local_program_is_asked_without_the_name_of_its_tournament() {
    let mut bench = Bench::host_of_four();
    let (conn, id) = bench.last_asked();
    assert_eq!(bench.last_request()["id"], id);
    let said = bench.say(conn.0, &format!(r#"{{"type":"answer","id":"{id}","answer":{KEEP}}}"#));
    assert_eq!(said, ["append match/cup/r1m1: answer-accepted"]);
}

#[test]
fn restarted_program_gets_its_request_again_with_the_history() {
    let mut bench = Bench::host_of_four();
    let ((conn, id), before) = (bench.last_asked(), bench.last_request().clone());
    let again = bench.give(Input::Restarted { conn, hello: hello() });
    assert_eq!(again, [format!("ask {conn} {id}")]);
    assert_eq!(*bench.last_request(), before, "the first request to a process has the history");
}

#[test]
fn nobody_waits_for_a_program_that_does_not_start() {
    let mut bench = Bench::host_of_four();
    let (player, fault) = (PlayerName::new("ann").unwrap(), Fault::disconnected("no hello"));
    let given_up = bench.give(Input::Absent { player, fault });
    let due = ["close 1 left", "append match/cup/r1m1: player-left, game-ended, match-ended"];
    assert_eq!(given_up[..2], due);
}

#[test]
fn loser_by_a_ruling_of_a_pause_is_not_out_after_a_restart() {
    let mut bench = players();
    let ann = PlayerName::new("ann").unwrap();
    let overrides = TournamentOrder::Override { id: "r1m1".into(), winners: vec![ann] };
    for ruling in [TournamentOrder::Pause, overrides] {
        order(&mut bench, Order::Tournament("cup".into(), ruling));
        bench.commit();
    }
    let mut bench = bench.restarted(Settings::default());
    let all = bench.log_in(2, "bob");
    // The operator can still undo the ruling.
    assert!(!all.contains(&"send 2 notice tournament-over".to_owned()), "{all:?}");
    assert!(all.contains(&"send 2 notice paused".to_owned()), "{all:?}");
}

#[test]
fn match_of_a_player_who_was_blacklisted_names_the_blacklist() {
    let mut bench = Bench::lobby_of_two();
    let mut effects = bench.announce_only("yahtzee-referee", "{}", r#"["ann","bob"]"#);
    while !effects.iter().any(|effect| effect.starts_with("append tournament/cup: ")) {
        effects = bench.commit_one();
    }
    let ann = PlayerName::new("ann").unwrap();
    order(&mut bench, Order::Blacklist(ann.clone()));
    bench.commit_of("lobby");
    order(&mut bench, Order::Lift(ann));
    bench.commit();
    let lines = bench.lines("match/cup/r1m1");
    let left = lines.iter().find(|line| line.contains("player-left")).expect("ann is out");
    assert!(left.contains(r#""code":"blacklisted""#), "{left}");
}

#[test]
fn casual_queue_starts_a_game_once_the_second_place_is_durable() {
    let mut bench = Bench::lobby_of_two();
    let enqueue = r#"{"type":"enqueue","queue":"fish-casual"}"#;
    let said = bench.say(1, enqueue);
    assert_eq!(said, ["append lobby: player-enqueued"]);
    assert_eq!(bench.commit(), ["send 1 done enqueue"]);
    let said = bench.say(2, enqueue);
    assert_eq!(said, ["append lobby: player-enqueued"], "nothing starts before it is durable");
    let done = bench.commit();
    assert!(
        done.contains(&"append lobby: tournament-announced, tournament-started".into()),
        "{done:?}"
    );
    // The queues of operators start nothing.
    let enqueue = r#"{"type":"enqueue","queue":"fish"}"#;
    for conn in [1, 2] {
        bench.say(conn, enqueue);
        assert_eq!(bench.commit(), [format!("send {conn} done enqueue")]);
    }
}

/// The length of an arena's play in these tests.
const PLAY_MS: u64 = 60_000;

/// Ann and Bob in an arena that ends by time. No other clock runs out meanwhile.
fn arena() -> Bench {
    let format = format!(r#"{{"kind":"arena","rounds":9,"play_ms":{PLAY_MS}}}"#);
    let time = r#"{"answer_ms":900000,"bank_ms":0,"wait_ms":900000}"#;
    let policy = format!(r#"{{"format":{format},"match":{{"time":{time}}}}}"#);
    let mut bench = Bench::two_players("yahtzee-arena", &policy);
    bench.commit();
    bench
}

/// Lets time pass; returns whether the time for new rounds is over.
fn ends_within(bench: &mut Bench, ms: u64) -> bool {
    let mut all = bench.pass(ms);
    all.extend(bench.commit());
    all.iter().any(|effect| effect == "append tournament/cup: play-time-ended")
}

#[test]
fn time_of_an_arena_ends_when_it_has_played_for_so_long() {
    let mut bench = arena();
    assert!(!ends_within(&mut bench, PLAY_MS - 1));
    assert!(ends_within(&mut bench, 1));
}

#[test]
fn time_of_an_arena_stands_still_in_a_pause() {
    let mut bench = arena();
    for _ in 0..2 {
        assert!(!ends_within(&mut bench, PLAY_MS / 3));
        order(&mut bench, Order::Tournament("cup".into(), TournamentOrder::Pause));
        bench.commit();
        assert!(!ends_within(&mut bench, 10 * PLAY_MS), "no clock runs in a pause");
        order(&mut bench, Order::Tournament("cup".into(), TournamentOrder::Resume));
        bench.commit();
    }
    assert!(!ends_within(&mut bench, PLAY_MS / 3 - 1));
    assert!(ends_within(&mut bench, 1));
}

#[test]
fn time_of_an_arena_stands_still_while_the_server_is_down() {
    let mut bench = arena();
    for turn in 0..2 {
        assert!(!ends_within(&mut bench, PLAY_MS / 3));
        // The last record before the server stops: the time up to it counts.
        let said = match turn {
            0 => bench.answer(2, "r1m1.1.0.0", KEEP),
            _ => bench.answer(4, "r1m1.1.1.0", KEEP),
        };
        assert_eq!(said, ["append match/cup/r1m1: answer-accepted"]);
        bench.commit();
        bench = bench.restarted_after(20 * PLAY_MS, Settings::default());
        bench.log_in(4 + turn * 2, "ann");
        bench.log_in(5 + turn * 2, "bob");
    }
    assert!(!ends_within(&mut bench, PLAY_MS / 3 - 1), "downtime counts against nobody");
    assert!(ends_within(&mut bench, 1));
}

#[test]
fn time_of_an_arena_is_not_recorded_before_all_nodes_read_it() {
    for (log_version, records) in [(2, 0), (3, 1)] {
        let settings = Settings { log_version, ..Settings::default() };
        let mut bench = arena().restarted_after(PLAY_MS / 3, settings);
        bench.commit();
        let lines = bench.lines("tournament/cup");
        let counted = lines.iter().filter(|line| line.contains("play-time-counted")).count();
        assert_eq!(counted, records, "with version {log_version}");
    }
}

#[test]
fn server_that_was_down_in_a_pause_of_an_arena_counts_neither() {
    let mut bench = arena();
    assert!(!ends_within(&mut bench, PLAY_MS / 2));
    order(&mut bench, Order::Tournament("cup".into(), TournamentOrder::Pause));
    bench.commit();
    let mut bench = bench.restarted_after(20 * PLAY_MS, Settings::default());
    bench.log_in(1, "ann");
    bench.log_in(2, "bob");
    bench.log_in(3, "operator");
    assert!(!ends_within(&mut bench, PLAY_MS));
    order(&mut bench, Order::Tournament("cup".into(), TournamentOrder::Resume));
    bench.commit();
    assert!(!ends_within(&mut bench, PLAY_MS / 2 - 1));
    assert!(ends_within(&mut bench, 1));
}
