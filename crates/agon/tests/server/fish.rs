//! The Fish wires: the known tournaments, other people's games, and clients that behave badly.

use crate::peers::{Played, Port, compare, for_all, vectors};
use serde_json::json;

/// Five players on the board of the known tournaments: (a b c)(d e), then (a d).
const FIVE: &str = "at_most = 5\nconfig = { rows = 5, columns = 5, fish = 2 }";

fn players(specs: &[&str]) -> Vec<String> {
    specs.iter().map(|spec| (*spec).to_owned()).collect()
}

fn named(names: &[&str]) -> Vec<String> {
    players(names)
}

#[test]
fn the_known_tournaments_have_their_counts_and_results() {
    let ten = Port::open("fish", "at_most = 10\nconfig = { rows = 5, columns = 5, fish = 2 }");
    let names: Vec<String> = ('a'..='j').map(String::from).collect();
    let played = ten.play("fish", &names);
    assert_eq!(played.said["asked"], json!({"placements": 49, "moves": 101}));
    assert_eq!(played.report["winners"], json!(["a"]));
    let pairings: Vec<_> = played.tournament["pairings"]
        .as_array()
        .expect("pairings")
        .iter()
        .map(|pairing| pairing["players"].as_array().expect("players").len())
        .collect();
    assert_eq!(pairings, [4, 4, 2, 3, 2, 2]);
    ten.verify();

    let five = Port::open("fish", FIVE);
    for (number, kind) in ["call", "message"].into_iter().enumerate() {
        let tournament =
            if number == 0 { "fish".to_owned() } else { format!("fish-{}", number + 1) };
        let specs: Vec<String> = ('a'..='e').map(|name| format!("{name},{kind}")).collect();
        let played = five.play(&tournament, &specs);
        assert_eq!(played.said["asked"], json!({"placements": 25, "moves": 50}), "{kind}");
        assert_eq!(played.report["winners"], json!(["a"]), "{kind}");
        let won = json!({"a": true, "b": false, "c": false, "d": false, "e": false});
        assert_eq!(played.said["won"], won, "{kind}: everybody is told");
    }
    five.verify();
}

#[test]
fn protocol_page_shows_the_recorded_conversation() {
    let settings = "at_most = 2\nconfig = { board = [[1, 2, 3, 1], [2, 1, 5, 2], [1, 4, 1, 3]] }";
    let port = Port::open("fish", settings);
    port.play("fish", &players(&["eve", "bob"]));
    compare(&port, "fish.md", "### Recorded in calls");
    port.play("fish-2", &players(&["eve,message", "bob,call,plain,take-turn,close"]));
    compare(&port, "fish.md", "### Recorded in messages");
    port.verify();
}

#[test]
fn however_clients_write_the_result_is_the_same() {
    let port = Port::open("fish", FIVE);
    let styles = ["pad", "trickle", "pretty", "newline", "plain"];
    for (kind, tournament) in [("call", "fish"), ("message", "fish-2")] {
        let specs: Vec<String> =
            ('a'..='e').zip(styles).map(|(name, style)| format!("{name},{kind},{style}")).collect();
        let played = port.play(tournament, &specs);
        assert_eq!(played.said["asked"], json!({"placements": 25, "moves": 50}), "{kind}");
        assert_eq!(played.report["winners"], json!(["a"]), "{kind}");
        assert_eq!(played.report["failing"], json!([]), "{kind}");
    }
    port.verify();
}

#[test]
fn games_of_other_people_end_alike() {
    let Some(pairs) = vectors("fish/xref") else { return };
    for_all(&pairs, |(path, expected)| {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let input: serde_json::Value = serde_json::from_str(&text).expect("inputs are JSON");
        let entries = input["players"].as_array().expect("players");
        let port = Port::open(
            "fish",
            &format!(
                "at_most = {}\nanswer_ms = 120000\n\
                 config = {{ rows = {}, columns = {}, fish = {}, room_check = false }}",
                entries.len(),
                input["row"],
                input["column"],
                input["fish"]
            ),
        );
        let specs = entries
            .iter()
            .map(|entry| format!("{},call/{}", entry[0].as_str().expect("a name"), entry[1]));
        let played = port.play("fish", &specs.collect::<Vec<_>>());
        port.verify();
        match json!(played.list("winners")) == *expected {
            true => Ok(()),
            false => Err(format!("{path:?}: {} and not {expected}", played.report)),
        }
    });
}

/// A fault of a client: which one, at which call, and the list in which the client ends.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// Plays the known tournament of five with `e` misbehaving, and sees that nobody else notices.
fn misbehave(answer_ms: u32, cases: &[Case]) {
    let settings = format!("{FIVE}\nanswer_ms = {answer_ms}");
    let baseline = {
        let port = Port::open("fish", &settings);
        port.play("fish", &named(&["a", "b", "c", "d", "e"]))
    };
    for_all(cases, |(kind, at, wrong, list)| {
        let port = Port::open("fish", &settings);
        // Winners have to confirm the end, so there it is the winner that does not.
        let at_end = matches!(*at, "end" | "tournament_end");
        let bad = if at_end { "a" } else { "e" };
        let spec = |name: &str| match name == bad {
            true => format!("{name},{kind},plain,{at},{wrong}"),
            false => format!("{name},{kind}"),
        };
        let specs: Vec<String> = ["a", "b", "c", "d", "e"].map(spec).to_vec();
        let played = port.play("fish", &specs);
        port.verify();
        check(&baseline, &played, bad, at, list).map_err(|why| format!("{specs:?}: {why}"))
    });
}

fn check(
    baseline: &Played,
    played: &Played,
    bad: &str,
    at: &str,
    list: &str,
) -> Result<(), String> {
    let others = if list == "failing" { "cheating" } else { "failing" };
    let winners: &[&str] = if bad == "a" { &[] } else { &["a"] };
    // One player is out before the first game, so four players and one game remain.
    let before = matches!(at, "start" | "tournament_start");
    let alike = before || played.games(1, 1) == baseline.games(1, 1);
    let right = played.list(list) == [bad]
        && played.list(others).is_empty()
        && (before || played.list("winners") == winners)
        && !played.list("winners").contains(&bad.to_owned())
        && alike;
    match right {
        true => Ok(()),
        false => Err(format!("{at}: {}", played.report)),
    }
}

const CALLS: [&str; 8] =
    ["start", "playing-as", "playing-with", "setup", "setup:3", "take-turn", "take-turn:2", "end"];

const MESSAGES: [&str; 6] = [
    "tournament_start",
    "player_request_placement",
    "player_request_placement:3",
    "player_request_move",
    "player_request_move:2",
    "tournament_end",
];

fn each(wrong: &'static str) -> Vec<Case> {
    let calls = CALLS.iter().map(|at| ("call", *at, wrong, "failing"));
    calls.chain(MESSAGES.iter().map(|at| ("message", *at, wrong, "failing"))).collect()
}

#[test]
fn hanging_program_fails_without_disturbing_others() {
    misbehave(4_000, &each("hang"));
}

#[test]
fn disconnecting_program_fails_without_disturbing_others() {
    misbehave(60_000, &each("close"));
}

#[test]
fn program_with_wrong_answers_fails_without_disturbing_others() {
    // Of the wrong kind, no value of this wire, no JSON, and a number that nothing follows.
    misbehave(60_000, &each(r#"{"no":1}"#));
    misbehave(60_000, &each("void"));
    misbehave(60_000, &each("7"));
    misbehave(
        60_000,
        &[
            ("call", "setup", r#""void""#, "failing"),
            ("call", "take-turn", "[0,0]", "failing"),
            ("call", "playing-as", "[0,0]", "failing"),
            ("call", "start", "[[0,0],[1,0]]", "failing"),
            (
                "message",
                "tournament_end",
                r#"{"type":"tournament_end_response","value":false}"#,
                "failing",
            ),
        ],
    );
}

#[test]
fn two_values_at_once_answer_two_calls() {
    // From then on every answer is one call too early, and a position is none of "void".
    let cases = ["start", "playing-as", "playing-with"];
    misbehave(60_000, &cases.map(|at| ("call", at, r#""void""void""#, "failing"))[1..]);
}

#[test]
fn cheating_program_is_removed_without_disturbing_others() {
    misbehave(
        60_000,
        &[
            ("call", "setup", "[9,9]", "cheating"),
            ("call", "setup:2", "[0,0]", "cheating"),
            ("call", "take-turn", "[[0,0],[9,9]]", "cheating"),
            (
                "message",
                "player_request_placement",
                r#"{"type":"player_respond_placement","value":[-1,0]}"#,
                "cheating",
            ),
            (
                "message",
                "player_request_move",
                r#"{"type":"player_respond_move","value":"Skip"}"#,
                "cheating",
            ),
        ],
    );
}
