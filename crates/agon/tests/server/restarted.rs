//! A server with programs of the Fish and Trains systems is killed and started again. Their sockets
//! die with it and the programs come back as fresh processes, or not at all: nobody is charged.

use crate::peers::{Port, tests};
use crate::signing::{Peer, read};
use crate::support::{Process, until};
use crate::wire::http;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Five players on the board of the known tournaments: (a b c)(d e), then (a d).
const FIVE: &str = "at_most = 5\nanswer_ms = 60000\nconfig = { rows = 5, columns = 5, fish = 2 }";

fn free_port() -> u16 {
    agon::free_port(std::net::Ipv4Addr::LOCALHOST.into()).expect("a port")
}

/// Programs in Python that play in the background.
fn begin(port: &Port, system: &str, arguments: &[String]) -> Process {
    let mut command = Command::new("python3");
    command.arg("-B").arg(tests(system).join("tournament.py")).arg(port.address());
    command.arg(port.server.said["http"].as_str().expect("an address")).arg(system);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Process(command.spawn().expect("python3 starts"))
}

fn events(port: &Port, kind: &str) -> Vec<Value> {
    let all = port.place.events("");
    all.into_iter().map(|(_, event)| event).filter(|event| event["type"] == kind).collect()
}

/// Waits until the round is over but for the match of a player that hangs, and kills the server.
fn kill_in_first_round(port: &mut Port, mut programs: Process, until_ended: usize) {
    until("the others have played", || events(port, "match-ended").len() >= until_ended);
    port.server.process.signal(Signal::KILL);
    port.server.process.code();
    programs.code();
}

fn five(kind: &str, hangs_at: Option<&str>) -> Vec<String> {
    let spec = |name: char| match hangs_at.filter(|_| name == 'a') {
        Some(at) => format!("{name},{kind},plain,{at},hang"),
        None => format!("{name},{kind}"),
    };
    ('a'..='e').map(spec).collect()
}

#[test]
fn restarted_fish_programs_get_the_beginning_and_play_on() {
    for (kind, at) in [("call", "take-turn:2"), ("message", "player_request_move:2")] {
        let mut port = Port::open_with("fish", free_port(), 60_000, FIVE);
        let programs = begin(&port, "fish", &five(kind, Some(at)));
        kill_in_first_round(&mut port, programs, 1);
        port.start_again();
        let played = port.play("fish", &five(kind, None));
        assert_eq!(played.report["winners"], json!(["a"]), "{kind}: as without a crash");
        assert_eq!(played.report["failing"], json!([]), "{kind}");
        assert_eq!(port.place.faults(), Vec::<String>::new(), "{kind}");
        port.verify();
    }
}

#[test]
fn restarted_trains_programs_get_the_beginning_and_play_on() {
    for (vocabulary, first) in [("course", "start"), ("memo", "beginTournament")] {
        let settings = format!("at_most = 3\nvocabulary = {vocabulary:?}\nanswer_ms = 60000");
        let mut port = Port::open_with("trains", free_port(), 60_000, &settings);
        let source = match vocabulary {
            "memo" => "memo".to_owned(),
            _ => {
                let input = port.place.path("input.json");
                let map = crate::trains::MAP;
                std::fs::write(&input, format!("{map} [] []")).expect("a file");
                input.to_string_lossy().into_owned()
            }
        };
        let players = |a: &str| [source.clone(), a.into(), "b,Buy-Now".into(), "c,Hold-10".into()];
        let programs = begin(&port, "trains", &players("a,Buy-Now,plain,play:2,hang"));
        until("a has played once", || events(&port, "answer-accepted").len() >= 12);
        kill_in_first_round(&mut port, programs, 0);
        port.start_again();
        let played = port.play("trains", &players("a,Buy-Now"));
        assert_eq!(played.report["failing"], json!([]), "{vocabulary}");
        assert_eq!(port.place.faults(), Vec::<String>::new(), "{vocabulary}");
        let said = std::fs::read_to_string(port.place.path("transcript")).expect("a transcript");
        let calls = said.lines().filter_map(|line| line.strip_prefix("> [\""));
        let calls: Vec<&str> = calls.filter_map(|call| call.split('"').next()).collect();
        assert_eq!(calls[..3], [first, "setup", "play"], "{vocabulary}: {said}");
        port.verify();
    }
}

#[test]
fn a_tournament_whose_programs_do_not_return_is_interrupted_and_charges_nobody() {
    let mut port = Port::open_with("fish", free_port(), 300, FIVE);
    let token = port.server.said["operator"]["token"].as_str().expect("a token").to_owned();
    let programs = begin(&port, "fish", &five("call", Some("take-turn:2")));
    kill_in_first_round(&mut port, programs, 1);
    port.start_again();
    until("it is interrupted", || !events(&port, "tournament-interrupted").is_empty());
    assert_eq!(port.place.faults(), Vec::<String>::new());
    let shown = read(&port, "/tournaments/fish");
    let why = "Interrupted by a server restart; no result counts against anybody";
    assert_eq!(shown["results"]["status"], format!("interrupted: {why}"));
    assert_eq!(shown["paused"], json!({"by": "the server", "why": why}));
    assert_eq!(shown["results"]["failing"], json!([]));
    let kept = shown["results"]["rounds"][0]["matches"].as_array().expect("matches").clone();
    assert_eq!((kept.len(), &kept[0]["id"]), (1, &json!("r1m2")), "results so far are kept");
    let listed = read(&port, "/tournaments");
    let listed = listed["tournaments"].as_array().expect("a list").iter();
    let own = listed.clone().find(|one| one["id"] == "fish").expect("it is listed");
    assert_eq!((&own["standing"], &own["interrupted"]), (&json!("running"), &json!(true)));
    let record = &read(&port, "/accounts/a")["statistics"]["total"];
    assert_eq!((&record["no_shows"], &record["games_forfeited"]), (&json!(0), &json!(0)));
    assert_eq!(read(&port, "/accounts/a")["statistics"]["by_game"]["fish"]["rating"], json!(null));
    // The programs are free to play in the next tournament.
    let mut again = Peer::open(&port, r#"{"type":"signup_request","value":"a"}"#);
    again.hear(r#"{"type":"signup_confirmation","value":false}"#);
    // A second crash forgets nothing, and charges nobody either.
    port.server.process.signal(Signal::KILL);
    port.server.process.code();
    port.start_again();
    let award = json!({"winners": ["a"], "why": "a led when the server crashed"});
    let path = "/api/v1/tournaments/fish/award";
    assert_eq!(http(&port.server, &token, "POST", path, &award).0, 204);
    until("it is over", || read(&port, "/tournaments/fish")["standing"] == "over");
    let report = read(&port, "/tournaments/fish/report");
    assert_eq!((&report["winners"], &report["failing"]), (&json!(["a"]), &json!([])));
    assert_eq!(port.place.faults(), Vec::<String>::new());
    port.verify();
}

#[test]
fn an_interrupted_tournament_is_resumed_when_its_programs_are_back() {
    let settings = "at_least = 2\nat_most = 2\nanswer_ms = 60000\nwait_ms = 600000";
    let mut port = Port::open_with("fish", free_port(), 300, settings);
    let token = port.server.said["operator"]["token"].as_str().expect("a token").to_owned();
    let mut first = ["eve", "bob"].map(|name| Peer::open(&port, &format!("{name:?}")));
    first.iter_mut().for_each(|peer| peer.hear(r#"["start",[true]]"#));
    port.restart();
    until("it is interrupted", || !events(&port, "tournament-interrupted").is_empty());
    let mut eve = Peer::open(&port, r#""eve""#);
    until("eve waits for the next one", || {
        read(&port, "/tournaments/fish-2")["plan"]["players"] == json!(["eve"])
    });
    let order = json!({"why": "its programs are back"});
    let path = "/api/v1/tournaments/fish/resume";
    assert_eq!(http(&port.server, &token, "POST", path, &order).0, 204);
    eve.hear(r#"["start",[true]]"#);
    eve.say(r#""void""#);
    // The other one is not back: it is interrupted again, and still nobody is charged.
    until("it is interrupted again", || events(&port, "tournament-interrupted").len() == 2);
    let missing = events(&port, "tournament-interrupted")[1]["data"]["missing"].clone();
    assert_eq!(missing, json!(["bob"]));
    let give_up = json!({"winners": [], "why": "bob does not come back"});
    let path = "/api/v1/tournaments/fish/award";
    assert_eq!(http(&port.server, &token, "POST", path, &give_up).0, 204);
    until("it is over", || read(&port, "/tournaments/fish")["standing"] == "over");
    assert_eq!(port.place.faults(), Vec::<String>::new());
    let record = &read(&port, "/accounts/bob")["statistics"]["total"];
    assert_eq!(
        (&record["tournaments_played"], &record["tournaments"]["lost"]),
        (&json!(0), &json!(0))
    );
    port.verify();
}

/// Plays up to the first placement of a game of two. Returns both connections, which the caller keeps
/// until the server is killed, the number of the player who is asked first, and the request.
fn at_first_placement(port: &Port, names: [&str; 2]) -> ([Peer; 2], usize, Value) {
    let mut peers = names.map(|name| Peer::open(port, &format!("{name:?}")));
    let mut first = 0;
    for call in ["start", "playing-as", "playing-with"] {
        for (at, peer) in peers.iter_mut().enumerate() {
            let told = peer.value();
            assert_eq!(told[0], call);
            if told[1] == json!(["red"]) {
                first = at;
            }
            peer.say(r#""void""#);
        }
    }
    let asked = peers[first].value();
    assert_eq!(asked[0], "setup");
    (peers, first, asked)
}

#[test]
fn a_fresh_program_gets_every_call_of_the_beginning_before_its_turn() {
    let settings = "at_least = 2\nat_most = 2\nanswer_ms = 60000";
    let mut port = Port::open_with("fish", free_port(), 60_000, settings);
    let names = ["eve", "bob"];
    let (before, first, asked) = at_first_placement(&port, names);
    port.restart();
    drop(before);
    let mut red = Peer::open(&port, &format!("{:?}", names[first]));
    red.hear(r#"["start",[true]]"#);
    red.say(r#""void""#);
    red.hear(r#"["playing-as",["red"]]"#);
    red.say(r#""void""#);
    red.hear(r#"["playing-with",[["white"]]]"#);
    red.say(r#""void""#);
    assert_eq!(red.value(), asked, "the call that was open");
    red.say("[0,0]");
    // The other one comes back in the other vocabulary, which has other words for the same.
    let name = names[1 - first];
    let sign_up = format!(r#"{{"type":"signup_request","value":"{name}"}}"#);
    let mut white = Peer::open(&port, &sign_up);
    white.hear(r#"{"type":"signup_confirmation","value":true}"#);
    white.hear(r#"{"type":"tournament_start","value":true}"#);
    white.say(r#"{"type":"tournament_ready","value":true}"#);
    white.hear(r#"{"type":"player_assign_color","value":"white"}"#);
    let state = white.value();
    assert_eq!(state["type"], "broadcast_state");
    assert_eq!(state["value"]["players"][1]["places"], json!([[0, 0]]), "{state}");
    let request = white.value();
    assert_eq!(request["type"], "player_request_placement");
    assert_eq!(port.place.faults(), Vec::<String>::new());
    drop((red, white));
    until("it is over", || read(&port, "/tournaments/fish")["standing"] == "over");
    port.verify();
}

#[test]
fn answers_to_a_repeated_beginning_are_checked_for_their_form_and_time() {
    for (wrong, kind) in [(Some(r#""I pass""#), "malformed"), (None, "timeout")] {
        // The messages before the last one have to be answered in time on a busy machine, too.
        let answer_ms = if wrong.is_some() { 60_000 } else { 4_000 };
        let settings = format!("at_least = 2\nat_most = 2\nanswer_ms = {answer_ms}");
        let mut port = Port::open_with("fish", free_port(), 60_000, &settings);
        let names = ["eve", "bob"];
        let (before, first, _) = at_first_placement(&port, names);
        port.restart();
        drop(before);
        let mut red = Peer::open(&port, &format!("{:?}", names[first]));
        red.hear(r#"["start",[true]]"#);
        red.say(r#""void""#);
        red.hear(r#"["playing-as",["red"]]"#);
        if let Some(wrong) = wrong {
            red.say(wrong);
        }
        assert_eq!(red.rest(), "");
        until("it is charged", || events(&port, "player-faulted").len() == 1);
        let fault = events(&port, "player-faulted")[0]["data"]["faulted"].clone();
        assert_eq!(
            (&fault["player"], &fault["fault"]["kind"]),
            (&json!(names[first]), &json!(kind))
        );
        drop(port);
    }
}
