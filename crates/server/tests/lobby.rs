//! The lobby over real sockets: invitations, results to whoever asked, notices, accounts.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use agon_core::lobby::{Announcement, Selection, Terms, Window};
use agon_core::{Farewell, TournamentId};
use serde_json::json;
use std::sync::Arc;
use support::gate::Gate;
use support::{Client, Server, Setup, announcement, name, named, player, until, welcomed};

fn here(server: &Server, account: &str) -> Client {
    welcomed(server, account).0
}

/// Invites these to `cup`; olga asks for it.
fn invitation(players: &[&str], at_least: u32) -> Announcement {
    let mut cup = announcement("cup", "yahtzee-class", 1, 0);
    let players = players.iter().map(|player| name(player)).collect();
    let (at_most, wait_ms, ready_ms) = (None, 600_000, 600_000);
    cup.selection = Selection::Invitation(Terms { players, at_least, at_most, wait_ms, ready_ms });
    cup.by = Some(name("olga"));
    cup
}

#[test]
fn a_login_that_is_being_written_when_the_time_to_come_back_is_over_counts() {
    let (gate, mut setup) = (Arc::new(Gate::default()), Setup::default());
    setup.settings.reconnect_ms = 1;
    let server = Server::on_gate(Arc::clone(&gate), setup);
    let ann = here(&server, "ann");
    gate.close();
    let mut again = server.connect();
    again.say(r#"{"type":"hello","protocol":1,"name":"again"}"#);
    again.say(r#"{"type":"login","account":"ann","password":"the pw of ann"}"#);
    until("the login is on its way", || gate.holds("token-issued") == 1);
    drop(ann);
    // Its time to reconnect is over at once, but it is on its way back.
    for _ in 0..3 {
        again.say("nonsense");
        again.expect("error", "malformed");
    }
    gate.open();
    again.expect("welcome", "ann");
    until("it is in line", || server.line() == [name("ann")]);
    assert_eq!((gate.count("account-logged-in"), gate.count("account-logged-out")), (1, 0));
}

#[test]
fn a_tournament_that_is_about_to_start_cannot_be_left_yet() {
    let gate = Arc::new(Gate::default());
    let server = Server::on_gate(Arc::clone(&gate), Setup::default());
    let (mut ann, _bob) = (here(&server, "ann"), here(&server, "bob"));
    gate.close_for("secret/");
    let mut cup = announcement("cup", "yahtzee-class", 1, 0);
    cup.selection = named(&["ann", "bob"]);
    server.announce(cup);
    until("its secret is on its way", || gate.holds("secret-kept") == 1);
    ann.say(r#"{"type":"withdraw","tournament":"cup"}"#);
    ann.expect("error", "about to start");
    gate.open();
    ann.notice("tournament");
    ann.say(r#"{"type":"withdraw","tournament":"cup"}"#);
    assert_eq!(ann.notice("tournament-over")["won"], false);
}

fn say(client: &mut Client, what: &str) {
    client.say(&format!(r#"{{"type":"{what}","tournament":"cup"}}"#));
    let done = client.expect("done", what);
    assert_eq!(done["tournament"], "cup");
}

#[test]
fn invited_players_accept_and_play_and_the_inviter_gets_a_notice() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let mut olga = here(&server, "olga");
    let (mut ann, mut bob) = (here(&server, "ann"), here(&server, "bob"));
    drop(here(&server, "cat"));
    server.announce(invitation(&["ann", "bob", "cat", "house:random"], 2));
    let asked = ann.notice("invitation");
    assert_eq!((&asked["game"], &asked["by"]), (&json!("yahtzee"), &json!("olga")));
    bob.notice("invitation");
    say(&mut ann, "accept");
    ann.say(r#"{"type":"ready","tournament":"cup"}"#);
    ann.expect("error", "not asked to be ready yet");
    say(&mut bob, "accept");
    // cat was away, and is told when it comes.
    let mut cat = here(&server, "cat");
    assert_eq!(cat.notice("invitation")["reply"], "open");
    say(&mut cat, "reject");
    for client in [&mut ann, &mut bob] {
        assert_eq!(client.notice("ready-asked")["tournament"], "cup");
    }
    say(&mut bob, "ready");
    // ann loses its connection and finds the question waiting.
    drop(ann);
    let mut ann = here(&server, "ann");
    assert_eq!(ann.notice("ready-asked")["reply"], "accepted");
    drop((ann, bob));
    let (_ann, _bob) = (player(&server, "ann", "greedy"), player(&server, "bob", "greedy"));
    assert!(server.finished("cup").is_none(), "ann is not ready");
    let token = http_token(&server, "ann");
    let path = "/api/v1/tournaments/cup/invitation";
    let said = server.http("PUT", path, Some(&token), r#"{"answer":"ready"}"#).expect(200);
    assert_eq!(said.json()["reply"], "ready");
    until("the cup is over", || server.finished("cup").is_some());
    let report = olga.notice("tournament-result");
    assert_eq!(report["status"], "ended");
    assert_eq!(report["winners"], json!(server.finished("cup").unwrap()));
    assert_eq!(report["standings"].as_array().unwrap().len(), 3);
    assert_eq!((&report["cheating"], &report["failing"]), (&json!([]), &json!([])));
    until("that is noted", || server.log_text().contains("result-delivered"));
    here(&server, "olga").is_silent();
    server.verify();
}

/// Passes over whatever comes before an error that says this.
fn until_error(client: &mut Client, text: &str) {
    loop {
        let message = client.next();
        if message["type"] == "error" {
            return assert!(message.to_string().contains(text), "{message}");
        }
    }
}

fn http_token(server: &Server, account: &str) -> String {
    let body = json!({"account": account, "password": format!("the pw of {account}")}).to_string();
    let reply = server.http("POST", "/api/v1/sessions", None, &body).expect(201);
    reply.json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn players_get_a_notice_of_a_cancellation() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let (mut ann, mut bob) = (here(&server, "ann"), here(&server, "bob"));
    server.announce(invitation(&["ann", "bob"], 2));
    ann.notice("invitation");
    bob.notice("invitation");
    say(&mut ann, "accept");
    bob.say(r#"{"type":"withdraw","tournament":"cup"}"#);
    let reason = "1 of 2 invited accepted, and 2 are needed";
    assert_eq!(ann.notice("called-off"), json!({"tournament": "cup", "reason": reason}));
    let mut olga = here(&server, "olga");
    let result = olga.notice("tournament-result");
    assert_eq!(result["status"], format!("called off: {reason}"));
    until("that is noted", || server.log_text().contains("result-delivered"));
    here(&server, "olga").is_silent();
    let report = server.http("GET", "/api/v1/tournaments/cup/report", None, "").expect(200);
    assert_eq!(report.json()["status"], format!("called off: {reason}"));
}

#[test]
fn an_hour_without_a_server_is_no_answer() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    drop((here(&server, "ann"), here(&server, "bob")));
    let mut cup = invitation(&["ann", "house:greedy"], 2);
    if let Selection::Invitation(terms) = &mut cup.selection {
        terms.wait_ms = 60_000;
        terms.ready_ms = 0;
    }
    server.announce(cup);
    until("that is in the log", || server.log_text().contains("tournament-announced"));
    let server = server.started_much_later();
    let mut ann = here(&server, "ann");
    let left_ms = ann.notice("invitation")["wait_ms"].as_u64().unwrap();
    assert!((1..=60_000).contains(&left_ms), "{left_ms}");
    say(&mut ann, "accept");
    assert_eq!(ann.notice("tournament")["tournament"], "cup");
    assert!(server.log_text().contains("server-resumed"));
}

#[test]
fn operators_decide_about_invitations() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let (mut ann, mut bob, mut cat) =
        (here(&server, "ann"), here(&server, "bob"), here(&server, "cat"));
    server.announce(invitation(&["ann", "bob", "cat", "house:random"], 4));
    let token = http_token(&server, "olga");
    let order = |what: &str, body: &str| {
        let path = format!("/api/v1/tournaments/cup/{what}");
        server.http("POST", &path, Some(&token), body)
    };
    ann.notice("invitation");
    say(&mut ann, "accept");
    order("withdraw", r#"{"player":"eve","why":"who?"}"#).expect(409);
    // With bob there cannot be four any more, and nobody can come to what is called off.
    order("withdraw", r#"{"player":"bob","why":"is ill"}"#).expect(204);
    let told = json!({"tournament": "cup", "by": "olga", "why": "is ill"});
    assert_eq!(bob.notice("withdrawn"), told);
    assert_eq!(ann.notice("called-off")["tournament"], "cup");
    assert_eq!(cat.notice("called-off")["tournament"], "cup");
    order("start", r#"{"why":"now"}"#).expect(409);

    let mut two = invitation(&["ann", "bob", "house:random"], 3);
    two.id = TournamentId::from("two");
    server.announce(two);
    let start = |why: &str| {
        let path = "/api/v1/tournaments/two/start";
        server.http("POST", path, Some(&token), &format!(r#"{{"why":"{why}"}}"#))
    };
    ann.notice("invitation");
    ann.say(r#"{"type":"accept","tournament":"two"}"#);
    ann.expect("done", "accept");
    start("it is late").expect(204);
    assert_eq!(bob.notice("invitation-over")["tournament"], "two");
    assert_eq!(ann.notice("tournament")["tournament"], "two");
    ann.say(r#"{"type":"withdraw","tournament":"two"}"#);
    until("it is over", || server.finished("two").is_some());
    server.verify();
}

#[test]
fn player_who_had_left_gets_a_notice_when_the_match_is_replayed() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let mut ann = here(&server, "ann");
    drop(here(&server, "bob"));
    let mut cup = announcement("cup", "yahtzee-queue", 1, 0);
    cup.policy.pairing = agon_core::Pairing::Order;
    // bob never comes: the round goes on.
    cup.selection = named(&["ann", "house:greedy", "bob", "house:random"]);
    server.announce(cup);
    ann.notice("tournament");
    let token = http_token(&server, "olga");
    let order = |what: &str, body: &str| {
        let path = format!("/api/v1/tournaments/cup/{what}");
        server.http("POST", &path, Some(&token), body).expect(204);
    };
    let why = r#"{"why":"a test"}"#;
    order("pause", why);
    order("matches/r1m1/override", r#"{"winners":["house:greedy"],"why":"a test"}"#);
    ann.notice("result-overridden");
    // Nothing follows before the pause is over: a login is told of what goes on.
    drop(ann);
    let mut ann = here(&server, "ann");
    ann.notice("tournament");
    ann.notice("paused");
    order("resume", why);
    assert_eq!(ann.notice("tournament-over")["rank"], 3);
    order("pause", why);
    order("matches/r1m1/replay", why);
    ann.notice("replay-ordered");
    order("resume", why);
    ann.notice("resumed");
    ann.notice("tournament");
    ann.say(r#"{"type":"withdraw","tournament":"cup"}"#);
    assert_eq!(ann.notice("tournament-over")["rank"], 3, "and it can leave once more");
}

#[test]
fn players_may_invite_only_where_they_are_let() {
    let asked = json!({
        "id": "cup",
        "preset": "yahtzee-class",
        "selection": {"by": "invitation", "players": ["ann", "bob"], "at_least": 2, "wait_ms": 90_000},
    });
    let line = json!({"type": "announce", "tournament": asked}).to_string();
    let server = Server::start();
    let (mut ann, _bob) = (here(&server, "ann"), here(&server, "bob"));
    ann.say(&line);
    ann.expect("error", "ann is no operator");
    let token = http_token(&server, "ann");
    let path = "/api/v1/tournaments";
    server.http("POST", path, Some(&token), &asked.to_string()).expect(403);
    assert!(server.tournament_is_unknown(&TournamentId::from("cup")));

    let mut setup = Setup::default();
    setup.settings.players_may_invite = true;
    let server = Server::with(setup);
    let (mut ann, mut bob) = (here(&server, "ann"), here(&server, "bob"));
    ann.say(r#"{"type":"announce","tournament":{"id":"t"}}"#);
    ann.expect("error", "selection");
    let line_up = r#"{"id":"t","preset":"fish","selection":{"by":"line","at_most":2}}"#;
    ann.say(&format!(r#"{{"type":"announce","tournament":{line_up}}}"#));
    ann.expect("error", "ann is no operator");
    ann.say(&line);
    assert_eq!(bob.notice("invitation")["by"], "ann");
    say(&mut bob, "reject");
    assert!(ann.notice("tournament-result")["status"].as_str().unwrap().contains("called off"));
    let token = http_token(&server, "ann");
    let mine = server.http("GET", "/api/v1/tournaments?mine=true", Some(&token), "").expect(200);
    assert_eq!(mine.json()["tournaments"][0]["id"], "cup");
    server.http("GET", "/api/v1/tournaments?mine=true", None, "").expect(401);
    let token = http_token(&server, "bob");
    let none = server.http("GET", "/api/v1/tournaments?mine=true", Some(&token), "").expect(200);
    assert_eq!(none.json()["tournaments"], json!([]));
    let invited = server.http("GET", "/api/v1/invitations", Some(&token), "").expect(200);
    assert_eq!(invited.json()["invitations"], json!([]), "it was called off");
}

#[test]
fn player_who_leaves_gets_a_notice_with_the_place_while_others_play_on() {
    let server = Server::start();
    let mut ann = here(&server, "ann");
    let mut cup = announcement("cup", "yahtzee-queue", 1, 0);
    cup.policy.pairing = agon_core::Pairing::Order;
    // bob never comes: the other half of the bracket waits for it.
    drop(here(&server, "bob"));
    cup.selection = named(&["ann", "house:greedy", "bob", "house:random"]);
    server.announce(cup);
    ann.notice("tournament");
    ann.say(r#"{"type":"withdraw","tournament":"cup"}"#);
    let over = ann.notice("tournament-over");
    assert_eq!(over, json!({"tournament": "cup", "won": false, "rank": 3}));
    assert!(server.finished("cup").is_none(), "the others play on");
    ann.say(r#"{"type":"withdraw","tournament":"nothing"}"#);
    until_error(&mut ann, "takes no sign-ups");
    // A reconnecting player gets the result again, instead of a request.
    drop(ann);
    assert_eq!(here(&server, "ann").notice("tournament-over")["rank"], 3);
}

#[test]
fn absent_winner_wins_after_reconnecting_and_loses_otherwise() {
    for comes_back in [true, false] {
        let reconnect_ms = if comes_back { 60_000 } else { 300 };
        let mut setup = Setup::default();
        setup.settings.reconnect_ms = reconnect_ms;
        let server = Server::with(setup);
        let (mut ann, mut bob) = (here(&server, "ann"), here(&server, "bob"));
        let mut cup = announcement("cup", "yahtzee-queue", 1, 0);
        cup.policy.farewell = Farewell::Winners;
        if !comes_back {
            cup.policy.rules.time.answer_ms = 300;
        }
        cup.selection = named(&["ann", "bob"]);
        server.announce(cup);
        ann.notice("tournament");
        ann.expect("request", "cup:");
        drop(ann);
        until("ann is missed", || server.log_text().contains("the connection was lost"));
        bob.say(r#"{"type":"withdraw","tournament":"cup"}"#);
        until("ann has won", || server.log_text().contains("rounds-ended"));
        if comes_back {
            assert!(server.finished("cup").is_none(), "ann does not know yet");
            let over = here(&server, "ann").notice("tournament-over");
            let head = over["head"].clone();
            assert_eq!(head.as_str().map(str::len), Some(64), "the tournament is over for all");
            assert_eq!(over, json!({"tournament": "cup", "won": true, "rank": 1, "head": head}));
        }
        until("it is over", || server.finished("cup").is_some());
        let winners = if comes_back { vec![name("ann")] } else { Vec::new() };
        assert_eq!(server.finished("cup"), Some(winners), "told: {comes_back}");
        server.verify();
    }
}

#[test]
fn subscribers_get_notices_of_sign_ups_under_the_first_name_of_a_series() {
    let server = Server::start();
    let (mut ann, mut bob) = (here(&server, "ann"), here(&server, "bob"));
    ann.say(r#"{"type":"subscribe"}"#);
    ann.expect("done", "subscribe");
    let mut fish = announcement("fish", "fish", 1, 0);
    fish.selection = Selection::SignUp(Window {
        at_least: 2,
        at_most: 2,
        wait_ms: 600_000,
        second_wait_ms: 0,
        second_at_least: 2,
        repeat: true,
    });
    server.announce(fish);
    assert_eq!(ann.notice("sign-up-open")["tournaments"][0]["tournament"], "fish");
    bob.is_silent();
    ann.say(r#"{"type":"sign-up","tournament":"fish"}"#);
    assert_eq!(ann.expect("done", "sign-up")["tournament"], "fish");
    bob.say(r#"{"type":"sign-up","tournament":"fish"}"#);
    bob.expect("done", "sign-up");
    assert_eq!(ann.notice("sign-up-open")["tournaments"][0]["tournament"], "fish-2");
    drop(bob);
    let mut bob = here(&server, "bob");
    bob.notice("tournament");
    let token = http_token(&server, "bob");
    let path = "/api/v1/tournaments/fish/signups";
    let signed_up = server.http("POST", path, Some(&token), "").expect(201);
    assert_eq!(signed_up.json()["tournament"], "fish-2", "which one it was");
    let _others = player(&server, "ann", "random");
    until("the first is over", || server.finished("fish").is_some());
    server.http("DELETE", path, Some(&token), "").expect(204);
    server.http("DELETE", path, Some(&token), "").expect(409);
}

#[test]
fn people_and_programs_are_told_apart_and_a_new_password_ends_other_tokens() {
    let server = Server::start();
    let mut ann = server.connect();
    ann.say(r#"{"type":"hello","protocol":1,"name":"t"}"#);
    let login = |kind: &str| json!({"type": "login", "account": "ann", "password": "the old one", "register": true, "kind": kind});
    ann.say(&login("house").to_string());
    ann.expect("error", "house players are the server's own");
    ann.say(&login("person").to_string());
    let token = ann.expect("welcome", "ann")["token"].as_str().unwrap().to_owned();
    let shown = server.http("GET", "/api/v1/accounts/ann", None, "").expect(200);
    assert_eq!(shown.json()["kind"], "person");
    let house = r#"{"account":"x","password":"some word","kind":"house"}"#;
    server.http("POST", "/api/v1/accounts", None, house).expect(422);
    let person = r#"{"account":"eve","password":"some word","kind":"person"}"#;
    let made = server.http("POST", "/api/v1/accounts", None, person).expect(201);
    assert_eq!(made.json()["kind"], "person");

    let body = r#"{"account":"ann","password":"the old one"}"#;
    let web = server.http("POST", "/api/v1/sessions", None, body).expect(201).json();
    let web = web["token"].as_str().unwrap();
    server.http("GET", "/api/v1/invitations", Some(web), "").expect(200);
    ann.say(r#"{"type":"change-password","old":"the old one","new":"the new one"}"#);
    ann.expect("done", "change-password");
    server.http("GET", "/api/v1/invitations", Some(web), "").expect(401);
    server.http("GET", "/api/v1/invitations", Some(&token), "").expect(200);
    let change = r#"{"old":"the new one","new":"the newer one"}"#;
    server.http("PUT", "/api/v1/accounts/me/password", Some(&token), change).expect(204);
    server.http("GET", "/api/v1/invitations", Some(&token), "").expect(200);
}

#[test]
fn a_draw_among_those_in_line_can_be_checked() {
    let server = Server::start();
    let players: Vec<_> =
        ["ann", "bob", "cat", "dan"].iter().map(|name| player(&server, name, "random")).collect();
    until("everybody is in line", || server.line().len() == 4);
    let mut cup = announcement("cup", "yahtzee-class", 1, 0);
    cup.selection = Selection::Random { at_most: 2 };
    server.announce(cup);
    until("it is over", || server.finished("cup").is_some());
    drop(players);
    server.verify();
}
