//! The Trains wire: other people's tournaments, both vocabularies, and clients that behave badly.

use crate::peers::{Played, Port, compare, for_all, vectors};
use serde_json::{Value, json};

/// A map that serves eight players.
pub(crate) const MAP: &str = include_str!("../../../games/src/trains/default_map.json");

/// Nine players: seven, and h against i.
const NINE: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

/// Each map, the players with their strategies, and the cards, out of a file of other people.
fn values(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("readable");
    let values = serde_json::Deserializer::from_str(&text).into_iter();
    values.collect::<Result<_, _>>().expect("JSON")
}

#[test]
fn tournaments_of_other_people_end_alike() {
    let Some(pairs) = vectors("trains/xserver") else { return };
    assert!(!pairs.is_empty());
    for_all(&pairs, |(path, expected)| {
        let input = values(path);
        let count = input[1].as_array().expect("players").len();
        // Those who hang do so for ever; the others have time enough.
        let settings =
            format!("at_most = {count}\nanswer_ms = 6000\nconfig = {{ deck = {} }}", input[2]);
        let port = Port::open("trains", &settings);
        let played = port.play("trains", &[path.to_string_lossy().into_owned()]);
        port.verify();
        let status = played.report["status"].as_str().expect("a status");
        let given = match status.strip_prefix("aborted: ") {
            Some(why) => json!(format!("error: {why}")),
            None => json!([played.list("winners"), misbehaving(&played)]),
        };
        match given == *expected {
            true => Ok(()),
            false => Err(format!("{path:?}: {given} and not {expected}")),
        }
    });
}

fn misbehaving(played: &Played) -> Vec<String> {
    let mut all = [played.list("cheating"), played.list("failing")].concat();
    all.sort();
    all
}

/// Plays a tournament of these, by the map that comes with the game.
fn play(port: &Port, specs: &[String]) -> Played {
    let input = port.place.path("input.json");
    std::fs::write(&input, format!("{MAP} [] []")).expect("a file");
    let mut arguments = vec![input.to_string_lossy().into_owned()];
    arguments.extend(specs.iter().cloned());
    port.play("trains", &arguments)
}

/// The same in the memo's words, in which nobody proposes a map.
fn play_by_memo(port: &Port, specs: &[String]) -> Played {
    port.play("trains", &[&["memo".to_owned()], specs].concat())
}

/// Plays nine, of whom the last does something wrong, and sees that nobody else notices.
fn misbehave(answer_ms: u32, cases: &[(&str, &str, &str)]) {
    misbehave_in("course", play, answer_ms, cases);
}

fn misbehave_in(
    vocabulary: &str,
    play: fn(&Port, &[String]) -> Played,
    answer_ms: u32,
    cases: &[(&str, &str, &str)],
) {
    let settings = format!("at_most = 9\nvocabulary = \"{vocabulary}\"\nanswer_ms = {answer_ms}");
    let spec = |name: &str, more: &str| format!("{name},Buy-Now{more}");
    let baseline = {
        let port = Port::open("trains", &settings);
        play(&port, &NINE.map(|name| spec(name, "")))
    };
    assert_eq!(misbehaving(&baseline), Vec::<String>::new());
    for_all(cases, |(at, wrong, list)| {
        let port = Port::open("trains", &settings);
        let specs = NINE.map(|name| match name {
            "i" => spec(name, &format!(",plain,{at},{wrong}")),
            _ => spec(name, ""),
        });
        let played = play(&port, &specs);
        port.verify();
        // One player is out before the first game, so eight players and one game remain.
        let alike =
            ["start", "beginTournament"].contains(at) || played.games(1, 1) == baseline.games(1, 1);
        match played.list(list) == ["i"] && misbehaving(&played) == ["i"] && alike {
            true => Ok(()),
            false => Err(format!("{at}, {wrong}: {}", played.report)),
        }
    });
}

const CALLS: [&str; 8] = ["start", "setup", "pick", "play", "play:4", "more", "win", "end"];

fn each(wrong: &str) -> Vec<(&str, &str, &str)> {
    CALLS.iter().map(|at| (*at, wrong, "failing")).collect()
}

#[test]
fn hanging_program_fails_without_disturbing_others() {
    misbehave(6_000, &each("hang"));
}

#[test]
fn disconnecting_program_fails_without_disturbing_others() {
    misbehave(60_000, &each("close"));
}

#[test]
fn program_with_wrong_answers_fails_without_disturbing_others() {
    misbehave(60_000, &each(r#"{"no":1.5}"#));
    misbehave(60_000, &each("void"));
    misbehave(
        60_000,
        &[
            ("play", r#"["A","B","red",3.5]"#, "failing"),
            ("pick", r#""void""#, "failing"),
            ("win", r#"["void"]"#, "failing"),
            ("play", r#""more_cards""#, "failing"),
            ("setup", r#""void""void""#, "failing"),
        ],
    );
}

#[test]
fn cheating_program_is_removed_without_disturbing_others() {
    misbehave(
        60_000,
        &[
            ("play", r#"["Nowhere","Elsewhere","red",3]"#, "cheating"),
            ("pick", r#"[]"#, "cheating"),
        ],
    );
}

#[test]
fn however_clients_write_the_result_is_the_same() {
    let styles = ["pad", "trickle", "pretty", "newline", "plain"];
    let tournament = |styled: bool| {
        let port = Port::open("trains", "at_most = 5\nanswer_ms = 60000");
        let specs = styles.iter().zip(NINE).map(|(style, name)| match styled {
            true => format!("{name},Buy-Now,{style}"),
            false => format!("{name},Buy-Now"),
        });
        let played = play(&port, &specs.collect::<Vec<_>>());
        port.verify();
        assert_eq!(misbehaving(&played), Vec::<String>::new());
        played.games(1, 1).clone()
    };
    assert_eq!(tournament(true), tournament(false));
}

#[test]
fn protocol_page_shows_the_recorded_conversation() {
    let map = r#"{"width":100,"height":100,"cities":[["Ayr",[0,0]],["Bonn",[50,10]],["Cork",[90,20]],["Dover",[20,80]],["Essen",[60,70]]],"connections":{"Ayr":{"Bonn":{"red":3},"Dover":{"blue":3}},"Bonn":{"Cork":{"green":3,"white":4},"Essen":{"red":3}},"Dover":{"Essen":{"white":5}}}}"#;
    let mut deck = ["red", "red", "blue", "red", "white", "green", "green", "blue"].to_vec();
    deck.extend(["red", "red", "green", "white", "red"]);
    let settings = format!("at_most = 2\nconfig = {{ deck = {} }}", json!(deck));
    let port = Port::open("trains", &settings);
    let input = port.place.path("input.json");
    std::fs::write(&input, format!("{map} [] []")).expect("a file");
    let input = input.to_string_lossy().into_owned();
    let played = port.play("trains", &[input, "eve,Buy-Now".into(), "bob,Cheat".into()]);
    let config = &played.tournament["plan"]["config"];
    assert_eq!(
        config["map"],
        serde_json::from_str::<Value>(map).expect("JSON"),
        "as it was played"
    );
    compare(&port, "trains.md", "## Recorded");
    port.verify();
}

#[test]
fn native_players_and_programs_play_the_same_tournament() {
    for vocabulary in ["course", "memo"] {
        let settings = format!("at_most = 2\nvocabulary = \"{vocabulary}\"\nanswer_ms = 60000");
        let port = Port::open("trains", &settings);
        let plays = ["--bot", "house:hold-10", "--sign-up", "trains"];
        let mut ann = port.place.player(&port.server.address, "ann", &plays);
        let specs = ["eve,Buy-Now".to_owned()];
        let played =
            if vocabulary == "memo" { play_by_memo(&port, &specs) } else { play(&port, &specs) };
        assert_eq!(ann.code(), Some(0), "{vocabulary}");
        assert_eq!(misbehaving(&played), Vec::<String>::new(), "{vocabulary}");
        assert_eq!(played.list("winners").len(), 1, "{vocabulary}");
        let players = played.tournament["plan"]["players"].as_array().expect("players");
        assert!(players.contains(&json!("ann")) && players.contains(&json!("eve")));
        port.verify();
    }
}

/// Nobody proposes a map with enough destinations: everybody hears the end before the socket
/// closes.
#[test]
fn players_of_a_tournament_without_a_map_hear_its_end() {
    let map = r#"{"width":10,"height":10,"cities":[["A",[0,0]],["B",[1,1]]],"connections":{"A":{"B":{"red":3}}}}"#;
    let port = Port::open("trains", "at_most = 2\nanswer_ms = 60000");
    let input = port.place.path("input.json");
    std::fs::write(&input, format!("{map} [] []")).expect("a file");
    let input = input.to_string_lossy().into_owned();
    let played = port.play("trains", &[input, "eve,Buy-Now".into(), "bob,Hold-10".into()]);
    assert_eq!(played.report["status"], "aborted: not enough destinations");
    assert_eq!(played.said["won"], json!({"eve": false, "bob": false}));
    let said = std::fs::read_to_string(port.place.path("transcript")).expect("a transcript");
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert_eq!(last, ["< \"void\"", "> [\"end\",[false]]"]);
    assert_eq!((played.list("cheating"), played.list("failing")), (vec![], vec![]));
    port.verify();
}

#[test]
fn the_memo_has_other_words_and_the_operators_map() {
    let port = Port::open("trains", "at_most = 3\nvocabulary = \"memo\"\nanswer_ms = 60000");
    let specs = ["memo", "a,Hold-10", "b,Buy-Now", "c,Cheat"].map(String::from);
    let played = port.play("trains", &specs);
    port.verify();
    assert_eq!((played.list("cheating"), played.list("failing")), (vec!["c".to_owned()], vec![]));
    assert_eq!(played.list("winners").len(), 1);
}

#[test]
fn misbehaving_memo_program_is_removed_without_disturbing_others() {
    let by_memo = |cases: &[_]| misbehave_in("memo", play_by_memo, 60_000, cases);
    for wrong in ["close", r#"{"no":1.5}"#] {
        let in_memo = |at: &'static str| match at {
            "start" => "beginTournament",
            "end" => "endTournament",
            other => other,
        };
        by_memo(&CALLS.map(|at| (in_memo(at), wrong, "failing")));
    }
    by_memo(&[
        // A word of the course's is none here, nor is a map.
        ("play", r#""more cards""#, "failing"),
        ("beginTournament", MAP, "failing"),
        ("pick", r#""void""#, "failing"),
        ("play", r#"["Nowhere","Elsewhere","red",3]"#, "cheating"),
        ("pick", "[]", "cheating"),
    ]);
}

#[test]
fn programs_of_one_name_play_a_whole_tournament() {
    for (vocabulary, play) in
        [("course", play as fn(&Port, &[String]) -> Played), ("memo", play_by_memo)]
    {
        let settings =
            format!("at_least = 3\nat_most = 3\nanswer_ms = 60000\nvocabulary = \"{vocabulary}\"");
        let port = Port::open("trains", &settings);
        let played = play(&port, &["name7,Buy-Now"; 3].map(str::to_owned));
        let names = ["name7", "name7-2", "name7-3"];
        assert_eq!(played.tournament["plan"]["players"], json!(names), "{vocabulary}");
        assert_eq!(misbehaving(&played), Vec::<String>::new(), "{vocabulary}");
        assert!(played.list("winners").iter().all(|winner| names.contains(&winner.as_str())));
        port.verify();
    }
}
