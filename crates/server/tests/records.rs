//! Reading past games: faults with their evidence, replays, recent matches,
//! ratings.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use serde_json::{Value, json};
use support::http::Reply;
use support::{Client, Server, player, until};

const API: &str = "/api/v1";

fn ask(server: &Server, path: &str, token: Option<&str>) -> Reply {
    server.http("GET", &format!("{API}{path}"), token, "")
}

fn get(server: &Server, path: &str) -> Value {
    ask(server, path, None).expect(200).json()
}

fn log_in(server: &Server, account: &str) -> String {
    let body = json!({"account": account, "password": format!("the pw of {account}")}).to_string();
    let reply = server.http("POST", &format!("{API}/sessions"), None, &body).expect(201);
    reply.json()["token"].as_str().unwrap().to_owned()
}

fn announce(server: &Server, token: &str, id: &str, preset: &str, players: &[&str], policy: Value) {
    let selection = json!({"by": "named", "players": players});
    let cup = json!({"id": id, "preset": preset, "selection": selection, "policy": policy});
    let path = format!("{API}/tournaments");
    server.http("POST", &path, Some(token), &cup.to_string()).expect(201);
}

/// A player whose answers the test makes up.
fn by_hand(server: &Server, name: &str) -> Client {
    let mut client = server.connect();
    client.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    client.say(&format!(
        r#"{{"type":"login","account":"{name}","password":"the pw of {name}","register":true}}"#
    ));
    client.expect("welcome", name);
    client
}

fn next_request(client: &mut Client) -> Value {
    loop {
        let message = client.hear().expect("a request");
        if message["type"] == "request" {
            return message;
        }
    }
}

#[test]
fn statistics_count_what_the_lists_of_faults_show() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let olga = log_in(&server, "olga");
    let mut ann = by_hand(&server, "ann");
    let players = ["ann", "house:cheat", "house:greedy"];
    let policy = json!({"match": {"cheat": "remove"}});
    announce(&server, &olga, "cup", "trains", &players, policy);
    next_request(&mut ann);
    ann.say("garbage");
    until("the cup has ended", || server.finished("cup").is_some());
    for (player, has_faults) in players.iter().zip([true, true, false]) {
        let listed = ask(&server, &format!("/accounts/{player}/faults"), Some(&olga));
        let listed = listed.expect(200).json()["faults"].as_array().map_or(0, Vec::len) as u64;
        assert_eq!(listed > 0, has_faults, "{player}");
        until("the statistics agree", || {
            let counted = get(&server, &format!("/statistics/{player}"))["total"].clone();
            counted["faults"] == listed
        });
    }
}

const FAULTS: &str = "/tournaments/rails/matches/r1m1/faults";

#[test]
fn evidence_is_for_its_owner_and_operators_only() {
    let mut server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let olga = log_in(&server, "olga");
    let mut ann = by_hand(&server, "ann");
    let bob = by_hand(&server, "bob");
    let (ann_token, bob_token) = (log_in(&server, "ann"), log_in(&server, "bob"));
    let names = ["ann", "bob", "olga"];
    let olga_plays = by_hand(&server, "olga");
    // Trains has what must not be seen: cards and destinations.
    let policy = json!({"match": {"cheat": "remove", "time": {"answer_ms": 600_000}}});
    announce(&server, &olga, "rails", "trains", &names, policy);
    let asked = next_request(&mut ann);
    assert_eq!(get(&server, FAULTS), json!({"faults": []}));
    ann.say(&format!(r#"{{"type":"answer","id":{},"answer":{{"return":[]}}}}"#, asked["id"]));
    until("it is noted", || get(&server, FAULTS)["faults"] != json!([]));

    let public = get(&server, FAULTS);
    let fault = &public["faults"][0];
    assert_eq!((&fault["player"], &fault["kind"]), (&json!("ann"), &json!("cheat")));
    assert_eq!(fault.get("evidence"), None, "{fault}");
    let own = ask(&server, FAULTS, Some(&ann_token)).expect(200).json();
    let evidence = &own["faults"][0]["evidence"];
    assert_eq!(evidence["asked"]["question"], asked["question"]);
    assert_eq!(evidence["asked"]["view"], asked["view"], "what it was shown");
    assert_eq!(evidence["asked"]["limit_ms"], 600_000);
    assert!(evidence["asked"]["since"].as_u64() <= evidence["at"].as_u64());
    assert_eq!(evidence["answer"], r#"{"return":[]}"#);
    let request = format!("rails:{}", evidence["request"].as_str().unwrap());
    assert_eq!(json!(request), asked["id"]);
    // Nothing of what the others hold, and nothing for them. An operator that plays is a player.
    for token in [&bob_token, &olga] {
        let seen = ask(&server, FAULTS, Some(token)).expect(200).json();
        assert_eq!(seen["faults"][0].get("evidence"), None, "{seen}");
    }
    for bad in ["nonsense", ""] {
        ask(&server, FAULTS, Some(bad)).expect(401);
    }
    server.register_operator("otto", "the pw of otto");
    let otto = log_in(&server, "otto");
    let seen = ask(&server, FAULTS, Some(&otto)).expect(200).json();
    assert_eq!(seen, own, "an operator that does not play");

    let mine = ask(&server, "/accounts/me/faults", Some(&ann_token)).expect(200).json();
    assert_eq!(mine, own);
    ask(&server, "/accounts/ann/faults", None).expect(401);
    ask(&server, "/accounts/ann/faults", Some(&bob_token)).expect(403);
    let seen = ask(&server, "/accounts/ann/faults", Some(&otto)).expect(200).json();
    assert_eq!(seen, own);
    let seen = ask(&server, "/accounts/ann/faults", Some(&olga)).expect(200).json();
    assert_eq!(seen["faults"][0].get("evidence"), None, "it plays: {seen}");
    let none = ask(&server, "/accounts/me/faults", Some(&bob_token)).expect(200).json();
    assert_eq!(none, json!({"faults": []}));
    ask(&server, "/accounts/nobody/faults", Some(&otto)).expect(404);

    // The log has it, so a restart changes nothing.
    server = server.started_again();
    let mine = ask(&server, "/accounts/me/faults", Some(&ann_token)).expect(200).json();
    assert_eq!(mine, own);
    // The remaining player leaves, and the tournament is over.
    let path = format!("{API}/tournaments/rails/signups");
    for token in [&bob_token, &olga] {
        server.http("DELETE", &path, Some(token), "");
    }
    until("the cup is over", || get(&server, "/tournaments/rails")["standing"] == "over");
    let after = ask(&server, FAULTS, Some(&ann_token)).expect(200).json();
    assert_eq!(after["faults"][0], own["faults"][0]);
    let mine = ask(&server, "/accounts/me/faults", Some(&ann_token)).expect(200).json();
    assert_eq!(mine["faults"][0], own["faults"][0]);
    let left = ask(&server, FAULTS, Some(&bob_token)).expect(200).json();
    let left = left["faults"].as_array().unwrap();
    let by_bob = left.iter().find(|fault| fault["player"] == "bob").expect("it left");
    assert_eq!((&by_bob["kind"], by_bob.get("evidence").is_some()), (&json!("withdrew"), true));
    ask(&server, "/tournaments/rails/matches/r9m9/faults", None).expect(404);
    ask(&server, "/tournaments/none/matches/r1m1/faults", None).expect(404);
    drop((bob, olga_plays));
    server.verify();
}

#[test]
fn silence_and_garbage_leave_evidence_too() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let olga = log_in(&server, "olga");
    let mut ann = by_hand(&server, "ann");
    let token = log_in(&server, "ann");
    let policy = json!({"match": {"crash": "resume", "lapses_max": 100,
        "time": {"answer_ms": 200, "wait_ms": 600_000}}});
    announce(&server, &olga, "cup", "yahtzee-queue", &["ann", "house:random"], policy);
    next_request(&mut ann);
    // Too long for an answer: it is asked again.
    next_request(&mut ann);
    ann.say("this is no message");
    let faults = "/tournaments/cup/matches/r1m1/faults";
    let kinds = |faults: &Value| -> Vec<String> {
        let all = faults["faults"].as_array().unwrap().iter();
        all.map(|fault| fault["kind"].as_str().unwrap().to_owned()).collect()
    };
    until("both are noted", || {
        let kinds = kinds(&get(&server, faults));
        kinds.contains(&"timeout".into()) && kinds.contains(&"malformed".into())
    });
    let own = ask(&server, faults, Some(&token)).expect(200).json();
    for fault in own["faults"].as_array().unwrap() {
        let evidence = &fault["evidence"];
        match fault["kind"].as_str().unwrap() {
            "timeout" => {
                assert_eq!(evidence["asked"]["limit_ms"], 200);
                let (since, at) = (&evidence["asked"]["since"], &evidence["at"]);
                assert!(at.as_u64().unwrap() - since.as_u64().unwrap() >= 200, "{fault}");
            }
            "malformed" => assert_eq!(evidence["answer"], "this is no message"),
            other => panic!("{other}: {fault}"),
        }
        assert_eq!(evidence["asked"]["view"]["seat"], evidence["asked"]["seat"], "its own view");
    }
    let public = get(&server, faults).to_string();
    assert!(!public.contains("no message") && !public.contains("\"view\""), "{public}");
    drop(ann);
}

#[test]
fn games_are_replayed_and_results_are_found() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let olga = log_in(&server, "olga");
    let ann = player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    for (id, preset) in [("one", "yahtzee-class"), ("two", "fish"), ("three", "yahtzee-class")] {
        announce(&server, &olga, id, preset, &["ann", "house:random"], json!({}));
        until("it is over", || get(&server, &format!("/tournaments/{id}"))["standing"] == "over");
    }
    let replay = get(&server, "/tournaments/two/matches/r1m1/games/1/replay");
    let steps = replay["steps"].as_array().unwrap();
    assert_eq!(steps[0]["event"], "game-started");
    assert!(steps[0]["drawn"]["board"].is_array());
    assert!(steps.len() > 8, "{}", steps.len());
    for step in &steps[1..] {
        let seat = step["seat"].as_u64().unwrap();
        assert!(seat < 2 && step["view"]["board"].is_array() && step["tells"].is_string());
    }
    let last = &steps[steps.len() - 1]["view"];
    let over = get(&server, "/tournaments/two/matches/r1m1/games/1");
    assert_eq!(*last, over["view"], "the last position is that of the game");
    let dice = get(&server, "/tournaments/one/matches/r1m1/games/1/replay");
    assert!(dice["steps"].as_array().unwrap().len() > 50);
    ask(&server, "/tournaments/two/matches/r1m1/games/9/replay", None).expect(404);
    ask(&server, "/tournaments/two/matches/r9m9/games/1/replay", None).expect(404);
    ask(&server, "/tournaments/none/matches/r1m1/games/1/replay", None).expect(404);

    find_analyses(&server);
    let lately = get(&server, "/accounts/ann/matches");
    let lately = lately["matches"].as_array().unwrap();
    let ids: Vec<&str> = lately.iter().map(|one| one["tournament"].as_str().unwrap()).collect();
    assert_eq!(ids, ["three", "two", "one"], "the latest first");
    let one = get(&server, "/tournaments/one/matches/r1m1");
    assert_eq!(lately[2]["result"], one["result"]);
    assert_eq!(get(&server, "/accounts/olga/matches")["matches"], json!([]));
    let all = get(&server, "/matches");
    assert_eq!(all["matches"], json!(lately), "ann played in all there were");
    ask(&server, "/accounts/nobody/matches", None).expect(404);

    let met = get(&server, "/statistics/ann/versus/house:random");
    let turned = get(&server, "/statistics/house:random/versus/ann");
    assert_eq!(met["total"]["matches"]["won"], turned["total"]["matches"]["lost"]);
    let all = met["by_game"].as_object().unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["fish", "yahtzee"]);
    let played = ["won", "lost", "tied"].map(|word| met["total"]["matches"][word].as_u64());
    assert_eq!(played.iter().flatten().sum::<u64>(), 3);
    ask(&server, "/statistics/ann/versus/nobody", None).expect(404);
    let everybody = get(&server, "/statistics/ann/versus");
    let opponent = &everybody["opponents"][0];
    assert_eq!(everybody["opponents"].as_array().unwrap().len(), 1, "{everybody}");
    assert_eq!((&opponent["other"], &opponent["total"]), (&met["other"], &met["total"]));
    let turned = get(&server, "/statistics/house:random/versus");
    assert_eq!(turned["opponents"][0]["other"], "ann");
    assert_eq!(get(&server, "/statistics/olga/versus")["opponents"], json!([]));
    ask(&server, "/statistics/nobody/versus", None).expect(404);
    let history = get(&server, "/ladders/yahtzee/history/ann");
    let points = history["points"].as_array().unwrap();
    let names: Vec<&str> = points.iter().map(|p| p["tournament"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "three"]);
    let ladder = get(&server, "/ladders/yahtzee");
    let ranked = ladder["players"].as_array().unwrap().iter().find(|one| one["player"] == "ann");
    assert_eq!(points[1]["value"], ranked.unwrap()["rating"]["value"]);
    assert_eq!(get(&server, "/ladders/trains/history/ann")["points"], json!([]));
    ask(&server, "/ladders/chess/history/ann", None).expect(404);
    drop(ann);
    server.verify();
}

/// Finds the analysis of the game `one`, which is over.
fn find_analyses(server: &Server) {
    let analysis = get(server, "/tournaments/one/matches/r1m1/games/1/analysis");
    let players = analysis["players"].as_array().unwrap();
    for player in players {
        let of = |field: &str| player[field].as_f64().unwrap();
        assert!((of("score") - of("luck") - of("adjusted")).abs() < 1e-9, "{player}");
        assert!((of("adjusted") + of("cost") - 254.4865).abs() < 1e-3, "{player}");
    }
    assert!(analysis["steps"].as_array().unwrap().len() > 100);
    let whole = get(server, "/tournaments/one/analysis");
    assert_eq!(whole["players"][0]["player"], "ann", "greedy decides better than random");
    assert_eq!(whole["pairs"][0]["games"], 1);
    ask(server, "/tournaments/one/matches/r1m1/games/9/analysis", None).expect(404);
    ask(server, "/tournaments/one/matches/r9m9/games/1/analysis", None).expect(404);
    ask(server, "/tournaments/none/analysis", None).expect(404);
}

#[test]
fn a_game_in_progress_is_not_replayed() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let olga = log_in(&server, "olga");
    let mut ann = by_hand(&server, "ann");
    let policy = json!({"match": {"time": {"answer_ms": 600_000}}});
    announce(&server, &olga, "cup", "fish", &["ann", "house:random"], policy);
    next_request(&mut ann);
    ask(&server, "/tournaments/cup/matches/r1m1/games/1/replay", None).expect(409);
}

#[test]
fn a_tournament_began_when_its_log_says_also_after_a_restart() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let olga = log_in(&server, "olga");
    let mut ann = by_hand(&server, "ann");
    let policy = json!({"match": {"time": {"answer_ms": 600_000}}});
    announce(&server, &olga, "cup", "fish", &["ann", "house:random"], policy);
    next_request(&mut ann);
    let began_at = |server: &Server| get(server, "/tournaments/cup")["began_at"].as_u64();
    let before = began_at(&server).expect("the tournament is running");
    let server = server.started_again();
    assert_eq!(began_at(&server), Some(before));
    server.http("DELETE", &format!("{API}/tournaments/cup/signups"), Some(&olga), "").expect(409);
    let left = log_in(&server, "ann");
    server.http("DELETE", &format!("{API}/tournaments/cup/signups"), Some(&left), "").expect(204);
    until("it is over", || get(&server, "/tournaments/cup")["standing"] == "over");
    assert_eq!(began_at(&server), None);
    let log = ask(&server, "/tournaments/cup/log", None).expect(200).body;
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(first["at"], before);
}

#[test]
fn server_lists_games_presets_and_token_owners() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let olga = log_in(&server, "olga");
    let told = get(&server, "/games");
    let games = told["games"].as_array().unwrap().iter();
    let games: Vec<_> = games.map(|one| (one["game"].as_str().unwrap(), &one["at_most"])).collect();
    assert_eq!(games.len(), 3);
    assert!(games.contains(&("fish", &json!(4))) && games.contains(&("trains", &json!(8))));
    let presets = told["presets"].as_array().unwrap();
    assert!(presets.iter().any(|one| one["preset"] == "yahtzee-queue" && one["game"] == "yahtzee"));
    let whose = ask(&server, "/sessions", Some(&olga)).expect(200).json();
    assert_eq!((&whose["account"], &whose["role"]), (&json!("olga"), &json!("operator")));
    ask(&server, "/sessions", None).expect(401);
}
