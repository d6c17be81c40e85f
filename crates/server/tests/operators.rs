//! Operators' orders over HTTP, and the messages that players and watchers get about them.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use serde_json::{Value, json};
use support::http::Reply;
use support::{Server, player, until};

const API: &str = "/api/v1";

fn get(server: &Server, path: &str) -> Value {
    server.http("GET", &format!("{API}{path}"), None, "").expect(200).json()
}

fn send(server: &Server, method: &str, path: &str, token: Option<&str>, body: Value) -> Reply {
    server.http(method, &format!("{API}{path}"), token, &body.to_string())
}

fn why() -> Value {
    json!({"why": "a test"})
}

fn log_in(server: &Server, account: &str) -> String {
    let body = json!({"account": account, "password": format!("the pw of {account}")});
    let reply = send(server, "POST", "/sessions", None, body).expect(201);
    reply.json()["token"].as_str().unwrap().to_owned()
}

fn registered(server: &Server, account: &str) -> String {
    let body = json!({"account": account, "password": format!("the pw of {account}")});
    send(server, "POST", "/accounts", None, body).expect(201);
    log_in(server, account)
}

fn operator(server: &Server) -> String {
    server.register_operator("olga", "the pw of olga");
    log_in(server, "olga")
}

fn sign_up(id: &str, preset: &str) -> Value {
    let window = json!({"by": "sign-up", "at_least": 3, "at_most": 8, "wait_ms": 600_000,
        "second_wait_ms": 0, "second_at_least": 2});
    json!({"id": id, "preset": preset, "selection": window})
}

/// The value of a metric.
fn metric(server: &Server, name: &str) -> u64 {
    let text = server.http("GET", "/metrics", None, "").expect(200).body;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).unwrap();
    line.parse().unwrap()
}

const ROUTES: [(&str, &str); 15] = [
    ("POST", "/accounts/ann/logout"),
    ("POST", "/blacklist/ann"),
    ("DELETE", "/blacklist/ann"),
    ("POST", "/tournaments/cup/start"),
    ("POST", "/tournaments/cup/call-off"),
    ("POST", "/tournaments/cup/pause"),
    ("POST", "/tournaments/cup/resume"),
    ("POST", "/tournaments/cup/award"),
    ("POST", "/tournaments/cup/enter"),
    ("POST", "/tournaments/cup/withdraw"),
    ("POST", "/tournaments/cup/matches/r1m1/override"),
    ("POST", "/tournaments/cup/matches/r1m1/replay"),
    ("POST", "/tournaments/cup/matches/r1m1/undo"),
    ("POST", "/tournaments/cup/matches/r1m1/games/1/void"),
    ("POST", "/tournaments/cup/matches/r1m1/games/1/undo"),
];

#[test]
fn only_operators_may_and_only_with_a_reason() {
    let server = Server::start();
    let (ann, olga) = (registered(&server, "ann"), operator(&server));
    for (method, path) in ROUTES {
        for token in [None, Some("nonsense")] {
            send(&server, method, path, token, why()).expect(401);
        }
        send(&server, method, path, Some(&ann), why()).expect(403);
        for bad in [
            json!({}),
            json!({"why": ""}),
            json!({"why": "x".repeat(201)}),
            json!({"why": "a\nb"}),
            json!({"why": "x", "more": 1}),
            json!(null),
        ] {
            send(&server, method, path, Some(&olga), bad).expect(422);
        }
        if path.starts_with("/tournaments/") {
            let body = match path.rsplit('/').next() {
                Some("enter" | "withdraw") => json!({"player": "ann", "why": "a test"}),
                Some("override" | "award") => json!({"winners": ["ann"], "why": "a test"}),
                _ => why(),
            };
            send(&server, method, path, Some(&olga), body).expect(404);
        }
    }
    let account = get(&server, "/accounts/ann");
    assert_eq!(account["blacklisted"], Value::Null, "nothing of that was done");
    send(&server, "DELETE", "/sessions", Some(&ann), json!(null)).expect(204);
}

#[test]
fn sign_ups_are_started_and_called_off() {
    let server = Server::start();
    let (ann, bob, olga) =
        (registered(&server, "ann"), registered(&server, "bob"), operator(&server));
    let order = |path: &str| send(&server, "POST", path, Some(&olga), why());
    for id in ["one", "two"] {
        let wanted = sign_up(id, "fish");
        send(&server, "POST", "/tournaments", Some(&olga), wanted).expect(201);
        for token in [&ann, &bob] {
            let path = format!("/tournaments/{id}/signups");
            send(&server, "POST", &path, Some(token), json!(null)).expect(201);
        }
    }
    order("/tournaments/one/pause").expect(409);
    let out = json!({"player": "bob", "why": "is ill"});
    send(&server, "POST", "/tournaments/one/withdraw", Some(&olga), out.clone()).expect(204);
    send(&server, "POST", "/tournaments/one/withdraw", Some(&olga), out).expect(409);
    assert_eq!(get(&server, "/tournaments/one")["plan"]["players"], json!(["ann"]));
    send(&server, "POST", "/tournaments/one/signups", Some(&bob), json!(null)).expect(201);
    order("/tournaments/one/start").expect(204);
    assert_eq!(get(&server, "/tournaments/one")["standing"], "running");
    order("/tournaments/one/start").expect(409);
    order("/tournaments/one/call-off").expect(409);
    order("/tournaments/two/call-off").expect(204);
    let off = get(&server, "/tournaments/two");
    assert_eq!((&off["standing"], &off["reason"]), (&json!("called-off"), &json!("a test")));
    let text = server.log_text();
    for tag in ["start-ordered", "call-off-ordered", "withdrawal-ordered"] {
        let line = text.lines().find(|line| line.contains(tag)).unwrap_or_else(|| panic!("{tag}"));
        assert!(line.contains(r#""by":"olga","why":""#), "{line}");
    }
}

#[test]
fn the_blacklist_and_logging_out() {
    let server = Server::start();
    let (ann, olga) = (registered(&server, "ann"), operator(&server));
    send(&server, "DELETE", "/blacklist/ann", Some(&olga), why()).expect(409);
    send(&server, "POST", "/blacklist/nobody", Some(&olga), why()).expect(404);
    send(&server, "POST", "/blacklist/ann", Some(&olga), why()).expect(204);
    assert_eq!(get(&server, "/accounts/ann")["blacklisted"], "a test");
    send(&server, "POST", "/queues/fish", Some(&ann), json!(null)).expect(403);
    send(&server, "DELETE", "/blacklist/ann", Some(&olga), why()).expect(204);
    send(&server, "POST", "/queues/fish", Some(&ann), json!(null)).expect(200);
    let mut wire = server.connect();
    wire.say(r#"{"type":"hello","protocol":1,"name":"t"}"#);
    wire.say(&format!(r#"{{"type":"login","token":"{ann}"}}"#));
    wire.expect("welcome", "ann");
    send(&server, "POST", "/accounts/nobody/logout", Some(&olga), why()).expect(404);
    send(&server, "POST", "/accounts/ann/logout", Some(&olga), why()).expect(204);
    wire.expect("error", "an operator logged you out: a test");
    until("ann is not in line", || server.line().is_empty());
    send(&server, "POST", "/queues/fish", Some(&ann), json!(null)).expect(401);
    // Everybody can read the reasons afterwards.
    let rulings = get(&server, "/accounts/ann/rulings");
    let all = rulings["rulings"].as_array().unwrap().iter();
    let all: Vec<_> = all.map(|one| [&one["what"], &one["by"], &one["why"]]).collect();
    let ruled = |what: &str| [what, "olga", "a test"].map(Value::from);
    assert_eq!(json!(all), json!([ruled("blacklisted"), ruled("lifted"), ruled("logged-out")]));
    send(&server, "GET", "/accounts/nobody/rulings", None, json!(null)).expect(404);
}

/// r1m1 waits for ann and bob, who are away; r1m2 is between house players and over soon.
fn half_a_cup(server: &Server, olga: &str) {
    registered(server, "ann");
    registered(server, "bob");
    let policy = json!({"pairing": "order", "match": {"best_of": 1}});
    let players = json!(["ann", "bob", "house:greedy", "house:random"]);
    let selection = json!({"by": "named", "players": players});
    let wanted =
        json!({"id": "cup", "preset": "yahtzee-queue", "policy": policy, "selection": selection});
    send(server, "POST", "/tournaments", Some(olga), wanted).expect(201);
    until("r1m2 is over", || get(server, "/tournaments/cup")["pairings"][1]["over"] == true);
}

fn pairing(server: &Server, id: &str) -> Value {
    let cup = get(server, "/tournaments/cup");
    let pairings = cup["pairings"].as_array().unwrap();
    pairings.iter().find(|pairing| pairing["match"] == id).cloned().unwrap_or(Value::Null)
}

#[test]
fn a_paused_tournament_is_awarded_or_given_up() {
    for winners in [json!(["ann"]), json!([])] {
        let server = Server::start();
        let olga = operator(&server);
        half_a_cup(&server, &olga);
        let order = |server: &Server, path: &str, body: Value| {
            send(server, "POST", &format!("/tournaments/cup/{path}"), Some(&olga), body)
        };
        let award = |winners: &Value| json!({"winners": winners, "why": "a test"});
        let refused = order(&server, "award", award(&winners)).expect(409);
        assert!(refused.body.contains("pause it first"), "{refused:?}");
        order(&server, "pause", why()).expect(204);
        let won = get(&server, "/tournaments/cup/matches/r1m2")["result"]["winners"][0].clone();
        let loser = if won == "house:random" { "house:greedy" } else { "house:random" };
        for bad in [json!(["nobody"]), json!(["ann", "bob"]), json!([loser])] {
            order(&server, "award", award(&bad)).expect(422);
        }
        order(&server, "award", award(&winners)).expect(204);
        // Whenever the server dies, the open match is called off and the tournament ends.
        let server = server.started_again();
        until("the cup is over", || server.finished("cup").is_some());
        let shown = get(&server, "/tournaments/cup");
        assert_eq!(shown["results"]["winners"], winners);
        assert_eq!(shown["results"]["awarded"]["by"], "olga");
        assert_eq!(get(&server, "/tournaments/cup/matches/r1m1")["result"]["how"], "void");
        let total = get(&server, "/statistics/bob")["total"].clone();
        assert_eq!(total["matches"], json!({"won": 0, "lost": 0, "tied": 0}));
        let played = usize::from(winners != json!([]));
        assert_eq!(total["tournaments_played"], played, "given up counts for nobody");
        server.verify();
    }
}

#[test]
fn results_are_overridden_and_matches_replayed() {
    let server = Server::start();
    let olga = operator(&server);
    half_a_cup(&server, &olga);
    let cup = "/tournaments/cup";
    let order = |server: &Server, path: &str, body: Value| {
        send(server, "POST", &format!("{cup}/{path}"), Some(&olga), body)
    };
    let winner = |name: &str| json!({"winners": [name], "why": "a test"});
    let mut events = server.events(&format!("{API}{cup}/events"), None);
    assert_eq!(events.next().unwrap().name, "snapshot");

    // Rulings are made in a pause, about what there is.
    let refused = order(&server, "matches/r1m2/replay", why()).expect(409);
    assert!(refused.body.contains("pause it first"), "{refused:?}");
    order(&server, "matches/r1m1/override", winner("ann")).expect(409);
    order(&server, "matches/r1m1/games/1/void", why()).expect(409);
    order(&server, "resume", why()).expect(409);
    order(&server, "pause", why()).expect(204);
    order(&server, "pause", why()).expect(409);
    let paused = events.next().unwrap();
    assert!(paused.data.contains(r#""paused":{"by":"olga","why":"a test"}"#), "{}", paused.data);
    order(&server, "matches/r9m9/replay", why()).expect(404);
    order(&server, "matches/r1m1/replay", why()).expect(409);
    order(&server, "matches/r1m1/override", winner("house:greedy")).expect(422);
    order(&server, "matches/r1m1/undo", why()).expect(409);
    order(&server, "matches/r1m1/games/1/void", why()).expect(409);
    order(&server, "matches/r1m1/games/one/void", why()).expect(404);
    let over = order(&server, "matches/r1m2/games/1/void", why()).expect(409);
    assert!(over.body.contains("override its result, or have it replayed"), "{over:?}");

    order(&server, "matches/r1m1/override", winner("bob")).expect(204);
    order(&server, "matches/r1m1/override", winner("ann")).expect(409);
    order(&server, "matches/r1m1/undo", why()).expect(204);
    order(&server, "matches/r1m1/override", winner("ann")).expect(204);
    order(&server, "matches/r1m2/replay", why()).expect(204);
    assert_eq!(pairing(&server, "r1m1")["overridden"]["winners"], json!(["ann"]));
    let replayed = pairing(&server, "r1m2");
    assert_eq!((&replayed["over"], &replayed["replays"][0]["by"]), (&json!(false), &json!("olga")));

    // A pause and what was ruled in it outlive the server; nothing is done about it before its end.
    let server = server.started_again();
    assert_eq!(get(&server, cup)["paused"], json!({"by": "olga", "why": "a test"}));
    assert_eq!(pairing(&server, "r1m2")["over"], false);
    assert!(!server.log_text().contains("match-reopened"));
    order(&server, "resume", why()).expect(204);
    until("r1m2 is played again", || pairing(&server, "r2m1") != Value::Null);
    let text = server.log_text();
    assert!(text.contains("match-reopened") && text.contains("match-called-off"), "{text}");
    let first = get(&server, "/tournaments/cup/matches/r1m2");
    assert_eq!(first["result"]["counts_from"], 2, "{first}");
    assert_eq!(pairing(&server, "r2m1")["players"][0], "ann");

    // Results that the next round is based on do not change.
    order(&server, "pause", why()).expect(204);
    let settled = order(&server, "matches/r1m1/override", winner("bob")).expect(409);
    assert!(settled.body.contains("results of earlier rounds stay"), "{settled:?}");
    order(&server, "matches/r2m1/override", winner("ann")).expect(204);
    order(&server, "resume", why()).expect(204);
    until("the cup is over", || server.finished("cup").is_some());
    assert_eq!(server.finished("cup"), Some(vec![support::name("ann")]));
    order(&server, "pause", why()).expect(409);
    let record = get(&server, "/statistics/ann");
    assert_eq!(record["total"]["matches"], json!({"won": 2, "lost": 0, "tied": 0}));
    let house = get(&server, "/statistics/house:random");
    let matches = &house["total"]["matches"];
    let sum = ["won", "lost"].map(|kind| matches[kind].as_u64().unwrap()).iter().sum::<u64>();
    assert!((1..=2).contains(&sum), "the first result of r1m2 counts no more: {house}");
    server.verify();
}

#[test]
fn a_pause_counts_against_nobody_and_a_voided_game_is_played_again() {
    let server = Server::start();
    let olga = operator(&server);
    let bob = player(&server, "bob", "greedy");
    let mut ann = server.connect();
    ann.say(r#"{"type":"hello","protocol":1,"name":"t"}"#);
    ann.say(r#"{"type":"login","account":"ann","password":"the pw of ann","register":true}"#);
    ann.expect("welcome", "ann");
    let selection = json!({"by": "named", "players": ["ann", "bob"]});
    let wanted = json!({"id": "cup", "preset": "yahtzee-class", "selection": selection,
        "policy": {"match": {"best_of": 3}}});
    send(&server, "POST", "/tournaments", Some(&olga), wanted).expect(201);
    ann.expect("notice", "commitment");
    let asked = ann.expect("request", "cup:r1m1.1.");
    let cup = "/tournaments/cup";
    let order = |path: &str| send(&server, "POST", &format!("{cup}/{path}"), Some(&olga), why());
    order("pause").expect(204);
    ann.expect("notice", r#""about":"paused""#);
    // Lost in the pause and back, under a policy where that would cost the game.
    drop(bob);
    until("bob is gone", || metric(&server, "agon_connections{transport=\"tcp\"}") == 1);
    order("matches/r1m1/games/1/void").expect(204);
    ann.expect("notice", r#""about":"game-void""#);
    let one = get(&server, "/tournaments/cup/matches/r1m1");
    assert_eq!(one["in_progress"]["voided"]["why"], "a test");
    order("matches/r1m1/games/1/undo").expect(204);
    ann.expect("notice", "game-counts-again");
    order("matches/r1m1/games/1/undo").expect(409);
    ann.say("what was the question?");
    ann.expect("error", "malformed");
    order("resume").expect(204);
    ann.expect("notice", r#""about":"resumed""#);
    let again = ann.expect("request", "cup:r1m1.1.");
    assert_eq!(again["id"], asked["id"], "the same request, sent again");
    order("pause").expect(204);
    ann.expect("notice", "paused");
    order("matches/r1m1/games/1/void").expect(204);
    ann.expect("notice", "game-void");
    order("resume").expect(204);
    ann.expect("notice", "resumed");
    ann.expect("request", "cup:r1m1.2.");
    let games = ["started", "finished", "void"]
        .map(|kind| metric(&server, &format!("agon_games_{kind}_total")));
    assert_eq!(games, [2, 0, 1]);
    assert_eq!(metric(&server, "agon_games_running"), 1);
    drop(ann);
    let players = ["ann", "bob"].map(|name| player(&server, name, "greedy"));
    until("the cup is over", || server.finished("cup").is_some());
    let text = server.log_text();
    let lost = text.lines().filter(|line| line.contains("\"player-left\""));
    assert!(lost.clone().all(|line| line.contains("\"ann\"")), "bob was lost in the pause: {text}");
    assert_eq!(text.matches("\"player-faulted\"").count(), 0, "{text}");
    drop(players);
    server.verify();
}

#[test]
fn withdrawn_player_forfeits() {
    let server = Server::start();
    let olga = operator(&server);
    half_a_cup(&server, &olga);
    let out = |player: &str| {
        let body = json!({"player": player, "why": "asked for it"});
        send(&server, "POST", "/tournaments/cup/withdraw", Some(&olga), body)
    };
    out("nobody").expect(409);
    out("ann").expect(204);
    until("bob is in the final", || pairing(&server, "r2m1") != Value::Null);
    assert_eq!(pairing(&server, "r2m1")["players"][0], "bob");
    assert!(server.log_text().contains("withdrawn by olga: asked for it"));
    out("bob").expect(204);
    until("the cup is over", || server.finished("cup").is_some());
    server.verify();
}

/// Creates a tournament of these players and returns the operator's token.
fn created(server: &Server, id: &str, format: Value, players: &[&str]) -> String {
    let olga = operator(server);
    let policy = json!({"format": format, "match": {"ties": "share"}});
    let selection = json!({"by": "named", "players": players});
    let wanted =
        json!({"id": id, "preset": "yahtzee-queue", "policy": policy, "selection": selection});
    send(server, "POST", "/tournaments", Some(&olga), wanted).expect(201);
    until("its first round is paired", || server.log_text().contains("round-paired"));
    olga
}

#[test]
fn late_player_enters_a_swiss_tournament_and_plays_after_a_restart() {
    let server = Server::start();
    registered(&server, "ann");
    let format = json!({"kind": "swiss", "rounds": 3});
    let olga = created(&server, "cup", format, &["ann", "house:greedy"]);
    let enter = |server: &Server, player: &str| {
        let body = json!({"player": player, "why": "missed the train"});
        send(server, "POST", "/tournaments/cup/enter", Some(&olga), body)
    };
    enter(&server, "nobody").expect(404);
    enter(&server, "ann").expect(409);
    enter(&server, "house:random").expect(204);
    enter(&server, "house:random").expect(409);
    let players = |server: &Server| get(server, "/tournaments/cup")["plan"]["players"].clone();
    until("they are in it", || players(&server) == json!(["ann", "house:greedy", "house:random"]));
    let server = server.started_again();
    assert_eq!(players(&server), json!(["ann", "house:greedy", "house:random"]));
    let out = json!({"player": "ann", "why": "has to leave"});
    send(&server, "POST", "/tournaments/cup/withdraw", Some(&olga), out).expect(204);
    until("it ends", || server.finished("cup").is_some());
    let results = server.past_results("cup");
    assert_eq!(results.standings.len(), 3);
    let met = results.rounds.iter().flat_map(|round| &round.matches);
    let met = met.filter(|one| one.players.iter().any(|p| p.as_str() == "house:random"));
    assert_eq!(met.count(), 2, "they meet in the second and the third round");
    let text = server.log_text();
    for tag in ["entry-ordered", "player-entered"] {
        assert_eq!(text.lines().filter(|line| line.contains(tag)).count(), 1, "{tag}");
    }
    server.verify();
}

#[test]
fn late_player_is_rejected_by_a_bracket() {
    let server = Server::start();
    registered(&server, "ann");
    let olga = operator(&server);
    let selection = json!({"by": "named", "players": ["ann", "house:greedy"]});
    let wanted = json!({"id": "cup", "preset": "yahtzee-queue", "selection": selection});
    send(&server, "POST", "/tournaments", Some(&olga), wanted).expect(201);
    until("its first round is paired", || server.log_text().contains("round-paired"));
    let body = json!({"player": "house:random", "why": "late"});
    let refused = send(&server, "POST", "/tournaments/cup/enter", Some(&olga), body).expect(409);
    let detail = refused.json()["detail"].to_string();
    assert!(detail.contains("fixes its pairings when the first round begins"), "{detail}");
}

#[test]
fn ladder_gives_the_ratings_of_a_tournament_that_is_seeded_by_rating() {
    let server = Server::start();
    let players = ["house:random", "house:optimal"];
    let olga = created(&server, "first", json!({"kind": "round-robin"}), &players);
    until("it ends", || server.finished("first").is_some());
    let selection = json!({"by": "named", "players": players});
    let second = json!({"id": "second", "preset": "yahtzee-class", "selection": selection,
        "policy": {"pairing": "rating"}});
    send(&server, "POST", "/tournaments", Some(&olga), second).expect(201);
    let plan = get(&server, "/tournaments/second")["plan"].clone();
    let rating = |player: &str| plan["policy"]["ratings"][player].as_i64();
    assert!(rating("house:optimal") > rating("house:random"), "{plan}");
    assert!(rating("house:random").is_some(), "{plan}");
}
