//! Guests and casual games over real sockets: an account for the asking, a game at once, queues that
//! start games by themselves, and guests who choose a name.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use agon_core::lobby::Standing;
use agon_core::{CrashCost, PlayerName};
use serde_json::{Value, json};
use support::{Client, Server, Setup, name, until, welcomed};

fn send(server: &Server, method: &str, path: &str, token: Option<&str>, body: &Value) -> Reply {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    server.http(method, &format!("/api/v1{path}"), token, &body)
}

type Reply = support::http::Reply;

/// A guest: the name and the token.
fn guest(server: &Server) -> (String, String) {
    let session = send(server, "POST", "/guests", None, &Value::Null).expect(201).json();
    let text = |field: &str| session[field].as_str().expect("a text").to_owned();
    (text("account"), text("token"))
}

/// A connection that is logged in by a token.
fn connected(server: &Server, token: &str) -> Client {
    let mut client = server.connect();
    client.say(r#"{"type":"hello","protocol":1,"name":"page"}"#);
    client.say(&json!({"type": "login", "token": token}).to_string());
    while client.next()["type"] != "welcome" {}
    client
}

fn casual(server: &Server, token: &str, game: &str, players: &[&str]) -> Reply {
    let body = json!({"game": game, "players": players});
    send(server, "POST", "/casual", Some(token), &body)
}

#[test]
fn guest_plays_a_house_player_at_once() {
    let server = Server::start();
    let (ann, token) = guest(&server);
    assert!(ann.starts_with("Guest 1"), "{ann}");
    let holder = send(&server, "GET", "/sessions", Some(&token), &Value::Null).expect(200).json();
    assert_eq!(holder["guest"], true);
    assert_eq!(holder["kind"], "person");
    let mut client = connected(&server, &token);
    for game in ["yahtzee", "fish", "trains"] {
        let made = casual(&server, &token, game, &[&ann, "house:level-1"]).expect(201).json();
        let id = made["id"].as_str().unwrap().to_owned();
        assert!(id.starts_with(&format!("{game}-casual-")), "{id}");
        assert_eq!(client.notice("tournament")["tournament"], json!(id));
        let Some(Standing::Running(plan)) = server.standing(&id) else { panic!("it runs") };
        assert!(plan.policy.unrated);
        assert_eq!(plan.policy.rules.crash, CrashCost::Resume);
    }
    // The seats are as the players were named.
    let made = casual(&server, &token, "fish", &["house:level-2", &ann]).expect(201).json();
    let Some(Standing::Running(plan)) = server.standing(made["id"].as_str().unwrap()) else {
        panic!("it runs")
    };
    assert_eq!(plan.players[1], name(&ann));
    server.verify();
}

#[test]
fn casual_games_have_limits() {
    let server = Server::start();
    let (ann, token) = guest(&server);
    casual(&server, &token, "chess", &[&ann, "house:level-1"]).expect(422);
    casual(&server, &token, "fish", &["house:level-1", "house:level-2"]).expect(422);
    casual(&server, &token, "fish", &[&ann, "house:nobody"]).expect(404);
    casual(&server, &token, "fish", &[&ann, "house:optimal"]).expect(422);
    casual(&server, &token, "yahtzee", &[&ann]).expect(422);
    casual(&server, &token, "fish", &[&ann, "nobody"]).expect(404);
    for _ in 0..8 {
        casual(&server, &token, "yahtzee", &[&ann, "house:level-1"]).expect(201);
    }
    let reply = casual(&server, &token, "yahtzee", &[&ann, "house:level-1"]).expect(409);
    assert!(reply.body.contains("finish or resign one first"), "{}", reply.body);
}

#[test]
fn operator_can_turn_guests_off_and_every_address_has_a_limit() {
    let mut setup = Setup::default();
    setup.settings.guests = false;
    let server = Server::with(setup);
    let reply = send(&server, "POST", "/guests", None, &Value::Null).expect(403);
    assert!(reply.body.contains("register an account"), "{}", reply.body);

    let mut setup = Setup::default();
    setup.limits.guests_per_minute_max = 3;
    let server = Server::with(setup);
    let names: Vec<String> = (0..3).map(|_| guest(&server).0).collect();
    assert!(names.is_sorted() && names[0] != names[2], "{names:?}");
    let reply = send(&server, "POST", "/guests", None, &Value::Null).expect(429);
    assert!(reply.body.contains("too many guests"), "{}", reply.body);
}

#[test]
fn guest_keeps_games_under_a_new_name() {
    let server = Server::start();
    let (ann, token) = guest(&server);
    let made = casual(&server, &token, "yahtzee", &[&ann, "house:level-1"]).expect(201).json();
    let id = made["id"].as_str().unwrap().to_owned();
    let claim = |account: &str, token: &str| {
        let body = json!({"account": account, "password": "swordfish-9"});
        send(&server, "PUT", "/accounts/me/claim", Some(token), &body)
    };
    let reply = claim("ann", &token).expect(409);
    assert!(reply.body.contains("finish it first"), "{}", reply.body);
    let leave = format!("/tournaments/{id}/signups");
    send(&server, "DELETE", &leave, Some(&token), &Value::Null).expect(204);
    until("the game is over", || server.finished(&id).is_some());
    let lobby = send(&server, "GET", "/lobby", None, &Value::Null).expect(200).json();
    assert_eq!((&lobby["counts"]["over"], &lobby["tournaments"]), (&json!(1), &json!([])));
    claim("Guest 7", &token).expect(422);
    let session = claim("ann", &token).expect(201).json();
    assert_eq!(session["account"], "ann");
    let own = session["token"].as_str().unwrap();
    claim("bob", own).expect(409);
    send(&server, "GET", "/sessions", Some(&token), &Value::Null).expect(401);
    let holder = send(&server, "GET", "/sessions", Some(own), &Value::Null).expect(200).json();
    assert_eq!((&holder["account"], &holder["guest"]), (&json!("ann"), &Value::Null));
    let account = send(&server, "GET", "/accounts/ann", None, &Value::Null).expect(200).json();
    assert_eq!(account["claimed"], json!(ann));
    let path = "/accounts/ann/matches";
    until("the match is listed", || {
        let played = send(&server, "GET", path, None, &Value::Null).expect(200).json();
        played["matches"][0]["tournament"] == json!(id)
    });
    let login = json!({"account": "ann", "password": "swordfish-9"});
    send(&server, "POST", "/sessions", None, &login).expect(201);
    // Nobody is rated for a casual game.
    let ladder = send(&server, "GET", "/ladders/yahtzee", None, &Value::Null).expect(200).json();
    assert_eq!(ladder["players"], json!([]));
    server.verify();
}

#[test]
fn guest_may_keep_the_name_in_the_middle_of_a_game() {
    let server = Server::start();
    let (ann, token) = guest(&server);
    casual(&server, &token, "yahtzee", &[&ann, "house:level-1"]).expect(201);
    let body = json!({"account": ann, "password": "swordfish-9"});
    let session = send(&server, "PUT", "/accounts/me/claim", Some(&token), &body).expect(201);
    assert_eq!(session.json()["account"], json!(ann));
    let login = json!({"account": ann, "password": "swordfish-9"});
    send(&server, "POST", "/sessions", None, &login).expect(201);
    send(&server, "PUT", "/accounts/me/claim", Some(&token), &body).expect(409);
}

#[test]
fn queue_starts_a_game_as_soon_as_two_connected_players_wait() {
    let server = Server::start();
    let waits = |path: &str| -> Vec<PlayerName> {
        let queue = send(&server, "GET", path, None, &Value::Null).expect(200).json();
        serde_json::from_value(queue["players"].clone()).expect("names")
    };
    let path = "/queues/fish-casual";
    let (ann, ann_token) = guest(&server);
    let mut ann_client = connected(&server, &ann_token);
    send(&server, "POST", path, Some(&ann_token), &Value::Null).expect(200);
    // A player without a connection waits and starts nothing.
    let (bob, bob_token) = guest(&server);
    send(&server, "POST", path, Some(&bob_token), &Value::Null).expect(200);
    assert_eq!(waits(path), [name(&ann), name(&bob)]);
    let mut bob_client = connected(&server, &bob_token);
    let started = ann_client.notice("tournament");
    assert_eq!(bob_client.notice("tournament")["tournament"], started["tournament"]);
    assert!(waits(path).is_empty());
    // The native protocol has the same queues, and places are taken in order.
    let (mut cat, _) = welcomed(&server, "cat");
    let (mut dan, _) = welcomed(&server, "dan");
    cat.say(r#"{"type":"enqueue","queue":"yahtzee-casual"}"#);
    dan.say(r#"{"type":"enqueue","queue":"yahtzee-casual"}"#);
    let started = cat.notice("tournament");
    assert_eq!(dan.notice("tournament")["tournament"], started["tournament"]);
    // Other queues wait for an operator, as before.
    cat.say(r#"{"type":"enqueue","queue":"yahtzee-queue"}"#);
    dan.say(r#"{"type":"enqueue","queue":"yahtzee-queue"}"#);
    until("both wait", || waits("/queues/yahtzee-queue").len() == 2);
    server.verify();
}

#[test]
fn players_in_a_queue_meet_after_a_restart() {
    let server = Server::start();
    let tokens = [guest(&server).1, guest(&server).1];
    for token in &tokens {
        let path = "/queues/trains-casual";
        send(&server, "POST", path, Some(token), &Value::Null).expect(200);
    }
    let server = server.started_again();
    let [mut ann, mut bob] = tokens.map(|token| connected(&server, &token));
    let started = ann.notice("tournament");
    assert_eq!(bob.notice("tournament")["tournament"], started["tournament"]);
}

#[test]
fn player_who_stays_away_loses_the_place_in_a_casual_queue() {
    let mut setup = Setup::default();
    setup.settings.reconnect_ms = 50;
    let server = Server::with(setup);
    let length = |queue: &str| {
        let queue = send(&server, "GET", &format!("/queues/{queue}"), None, &Value::Null);
        queue.expect(200).json()["players"].as_array().expect("a list").len()
    };
    let (mut ann, _) = welcomed(&server, "ann");
    for queue in ["fish-casual", "fish-casual", "fish"] {
        ann.say(&json!({"type": "enqueue", "queue": queue}).to_string());
        ann.expect("done", "enqueue");
    }
    drop(ann);
    until("the casual queue is empty", || length("fish-casual") == 0);
    assert_eq!(length("fish"), 1, "other queues keep their places");
}

#[test]
fn rematch_invites_the_other_person() {
    let server = Server::start();
    let (ann, ann_token) = guest(&server);
    let (bob, bob_token) = guest(&server);
    let mut bob_client = connected(&server, &bob_token);
    let mut ann_client = connected(&server, &ann_token);
    let made = casual(&server, &ann_token, "fish", &[&bob, &ann]).expect(201).json();
    let id = made["id"].as_str().unwrap();
    assert_eq!(bob_client.notice("invitation")["tournament"], json!(id));
    let path = format!("/tournaments/{id}/invitation");
    let accept = json!({"answer": "accept"});
    send(&server, "PUT", &path, Some(&bob_token), &accept).expect(200);
    assert_eq!(ann_client.notice("tournament")["tournament"], json!(id));
}

#[test]
fn house_players_sign_up_with_the_announcement() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let login = json!({"account": "olga", "password": "the pw of olga"});
    let session = send(&server, "POST", "/sessions", None, &login).expect(201).json();
    let olga = session["token"].as_str().unwrap();
    let window = json!({"by": "sign-up", "at_least": 2, "at_most": 3, "wait_ms": 600_000,
        "second_wait_ms": 0, "second_at_least": 2});
    let wanted = |house: Value, selection: &Value| {
        json!({"id": "open", "preset": "fish-casual", "selection": selection,
            "house_players": house})
    };
    let announce = |body: &Value| send(&server, "POST", "/tournaments", Some(olga), body);
    announce(&wanted(json!(["ann"]), &window)).expect(422);
    announce(&wanted(json!(["house:optimal"]), &window)).expect(422);
    let named = json!({"by": "named", "players": ["house:level-1", "house:level-2"]});
    announce(&wanted(json!(["house:level-3"]), &named)).expect(422);
    announce(&wanted(json!(["house:level-1", "house:level-2"]), &window)).expect(201);
    let open = send(&server, "GET", "/tournaments/open", None, &Value::Null).expect(200).json();
    assert_eq!(open["plan"]["players"], json!(["house:level-1", "house:level-2"]));
}
