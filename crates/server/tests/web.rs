//! The HTTP interface over real sockets.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use serde_json::{Value, json};
use support::http::Reply;
use support::{Server, patient_player, player, until};

const API: &str = "/api/v1";

fn get(server: &Server, path: &str) -> Reply {
    server.http("GET", &format!("{API}{path}"), None, "")
}

fn send(server: &Server, method: &str, path: &str, token: Option<&str>, body: Value) -> Reply {
    server.http(method, &format!("{API}{path}"), token, &body.to_string())
}

fn credentials(account: &str) -> Value {
    json!({"account": account, "password": format!("the pw of {account}")})
}

fn log_in(server: &Server, account: &str) -> String {
    let reply = send(server, "POST", "/sessions", None, credentials(account)).expect(201);
    reply.json()["token"].as_str().unwrap().to_owned()
}

fn registered(server: &Server, account: &str) -> String {
    send(server, "POST", "/accounts", None, credentials(account)).expect(201);
    log_in(server, account)
}

fn operator(server: &Server) -> String {
    server.register_operator("olga", "the pw of olga");
    log_in(server, "olga")
}

fn house_cup(id: &str, preset: &str, players: &[&str]) -> Value {
    json!({"id": id, "preset": preset, "selection": {"by": "named", "players": players}})
}

fn is_over(server: &Server, id: &str) -> bool {
    get(server, &format!("/tournaments/{id}")).expect(200).json()["standing"] == "over"
}

#[test]
fn accounts_and_sessions() {
    let server = Server::start();
    let made = send(&server, "POST", "/accounts", None, credentials("ann é")).expect(201);
    assert_eq!(made.headers["location"], "/api/v1/accounts/ann%20%C3%A9");
    assert_eq!(made.json()["role"], "player");
    server.http("GET", &made.headers["location"], None, "").expect(200);
    send(&server, "POST", "/accounts", None, credentials("ann é")).expect(409);
    send(&server, "POST", "/accounts", None, credentials("house:x")).expect(422);
    send(&server, "POST", "/accounts", None, credentials(" ann")).expect(422);
    send(&server, "POST", "/accounts", None, json!({"account": "b", "password": ""})).expect(422);
    let short = json!({"account": "b", "password": "1234567"});
    let refused = send(&server, "POST", "/accounts", None, short).expect(422);
    assert!(refused.body.contains("at least 8 characters"), "{refused:?}");
    let common = json!({"account": "b", "password": "Password1"});
    let refused = send(&server, "POST", "/accounts", None, common).expect(422);
    assert!(refused.body.contains("most common"), "{refused:?}");
    send(&server, "POST", "/sessions", None, credentials("nobody")).expect(401);
    let wrong = json!({"account": "ann é", "password": "swordfish"});
    let refused = send(&server, "POST", "/sessions", None, wrong).expect(401);
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    assert!(!refused.body.contains("swordfish"));
    // House players have no password, so nobody can be one.
    send(&server, "POST", "/sessions", None, credentials("house:greedy")).expect(401);

    let ann = log_in(&server, "ann é");
    let bob = registered(&server, "bob");
    let accounts = get(&server, "/accounts").expect(200);
    assert!(!accounts.body.contains("argon2") && !accounts.body.contains("password"));
    let bob_shown = get(&server, "/accounts/bob").expect(200).json();
    assert_eq!(bob_shown["kind"], "program");
    assert_eq!(bob_shown["statistics"]["total"]["games"]["won"], 0);
    get(&server, "/accounts/nobody").expect(404);

    let change = json!({"old": "the pw of ann é", "new": "the next one"});
    send(&server, "PUT", "/accounts/me/password", None, change.clone()).expect(401);
    // Another's token changes nothing of ann's: the old password is not bob's.
    send(&server, "PUT", "/accounts/me/password", Some(&bob), change.clone()).expect(403);
    send(&server, "PUT", "/accounts/me/password", Some(&ann), change).expect(204);
    send(&server, "POST", "/sessions", None, credentials("ann é")).expect(401);
    let next = json!({"account": "ann é", "password": "the next one"});
    send(&server, "POST", "/sessions", None, next).expect(201);

    send(&server, "DELETE", "/sessions", None, json!(null)).expect(401);
    send(&server, "DELETE", "/sessions", Some(&ann), json!(null)).expect(204);
    send(&server, "DELETE", "/sessions", Some(&ann), json!(null)).expect(401);
    send(&server, "POST", "/queues/fish", Some(&ann), json!(null)).expect(401);
    send(&server, "POST", "/queues/fish", Some(&bob), json!(null)).expect(200);
    let text = server.log_text();
    for hidden in ["pw of", "the next one", &ann, &bob] {
        assert!(!text.contains(hidden), "{hidden} is in the log");
    }
}

#[test]
fn expired_tokens_are_no_tokens() {
    let server = Server::with_tokens_for(0);
    let ann = registered(&server, "ann");
    for (method, path) in [
        ("POST", "/queues/fish"),
        ("DELETE", "/queues/fish"),
        ("DELETE", "/sessions"),
        ("PUT", "/accounts/me/password"),
        ("POST", "/tournaments"),
        ("POST", "/tournaments/cup/signups"),
        ("DELETE", "/tournaments/cup/signups"),
    ] {
        for token in [None, Some(ann.as_str()), Some("nonsense"), Some("")] {
            let reply = send(&server, method, path, token, json!({})).expect(401);
            assert!(!reply.body.contains(&ann), "{reply:?}");
        }
    }
}

#[test]
fn queues() {
    let server = Server::start();
    let (ann, bob) = (registered(&server, "ann"), registered(&server, "bob"));
    let path = "/queues/yahtzee-queue";
    assert_eq!(get(&server, path).expect(200).json()["players"], json!([]));
    send(&server, "POST", path, None, json!(null)).expect(401);
    let waiting = send(&server, "POST", path, Some(&ann), json!(null)).expect(200).json();
    assert_eq!(waiting["players"], json!(["ann"]));
    send(&server, "DELETE", path, Some(&bob), json!(null)).expect(409);
    assert_eq!(get(&server, path).expect(200).json()["players"], json!(["ann"]));
    send(&server, "DELETE", path, Some(&ann), json!(null)).expect(200);
    get(&server, "/queues/No%20Queue").expect(422);
    send(&server, "POST", "/queues/No%20Queue", Some(&ann), json!(null)).expect(422);
}

#[test]
fn only_operators_announce_and_players_sign_up() {
    let server = Server::start();
    let (ann, bob) = (registered(&server, "ann"), registered(&server, "bob"));
    let window = json!({"by": "sign-up", "at_least": 2, "at_most": 3, "wait_ms": 600_000,
        "second_wait_ms": 0, "second_at_least": 2});
    let policy = json!({"match": {"best_of": 3}});
    let wanted =
        json!({"id": "open", "preset": "yahtzee-class", "policy": policy, "selection": window});
    send(&server, "POST", "/tournaments", None, wanted.clone()).expect(401);
    send(&server, "POST", "/tournaments", Some(&ann), wanted.clone()).expect(403);
    let olga = operator(&server);
    let made = send(&server, "POST", "/tournaments", Some(&olga), wanted.clone()).expect(201);
    assert_eq!(made.headers["location"], "/api/v1/tournaments/open");
    send(&server, "POST", "/tournaments", Some(&olga), wanted.clone()).expect(409);

    for (field, value) in [
        ("id", json!("No Good")),
        ("id", json!("../lobby")),
        ("preset", json!("no-preset")),
        ("game", json!("fish")),
        ("policy", json!({"match": {"best_of": 2}})),
        ("policy", json!({"unknown": 1})),
        ("config", json!({"unknown": 1})),
        ("selection", json!({"by": "magic"})),
        ("selection", json!({"by": "named", "players": []})),
        ("unknown", json!(1)),
    ] {
        let mut bad = wanted.clone();
        bad["id"] = json!("other");
        bad[field] = value;
        let reply = send(&server, "POST", "/tournaments", Some(&olga), bad);
        assert!([409, 422].contains(&reply.status), "{field}: {reply:?}");
        let status = reply.status;
        reply.expect(status);
    }

    let path = "/tournaments/open/signups";
    send(&server, "POST", path, None, json!(null)).expect(401);
    send(&server, "POST", path, Some(&ann), json!(null)).expect(201);
    send(&server, "POST", path, Some(&ann), json!(null)).expect(409);
    let shown = get(&server, "/tournaments/open").expect(200).json();
    assert_eq!(shown["standing"], "open");
    assert_eq!(shown["plan"]["players"], json!(["ann"]));
    assert_eq!(shown["plan"]["policy"]["match"]["best_of"], 3);
    send(&server, "DELETE", path, Some(&bob), json!(null)).expect(409);
    send(&server, "DELETE", path, Some(&ann), json!(null)).expect(204);
    send(&server, "POST", "/tournaments/none/signups", Some(&ann), json!(null)).expect(404);
    send(&server, "DELETE", "/tournaments/none/signups", Some(&ann), json!(null)).expect(404);
    get(&server, "/tournaments/open/events").expect(409);
    get(&server, "/tournaments/open/log").expect(409);
    let all = get(&server, "/tournaments").expect(200).json();
    assert_eq!(all["tournaments"][0]["standing"], "open");
}

#[test]
fn a_cup_from_its_announcement_to_its_ladder() {
    let server = Server::start();
    let olga = operator(&server);
    let players = ["house:greedy", "house:random"];
    let cup = house_cup("cup", "yahtzee-class", &players);
    send(&server, "POST", "/tournaments", Some(&olga), cup).expect(201);
    until("the cup is over", || is_over(&server, "cup"));
    let shown = get(&server, "/tournaments/cup").expect(200).json();
    assert_eq!(shown["results"]["status"], "ended");
    assert_eq!(shown["pairings"][0]["match"], "r1m1");
    assert!(shown["pairings"][0]["reason"].is_string());
    let one = get(&server, "/tournaments/cup/matches/r1m1").expect(200).json();
    assert_eq!(one["standing"], "over");
    assert_eq!(one["result"]["winners"].as_array().unwrap().len(), 1);
    get(&server, "/tournaments/cup/matches/r9m9").expect(404);
    get(&server, "/tournaments/none/matches/r1m1").expect(404);
    get(&server, "/tournaments/cup/matches/..%2F..%2Flobby").expect(404);
    get(&server, "/tournaments/..%2Flobby/log").expect(404);
    get(&server, "/tournaments/none").expect(404);
    for path in ["/tournaments/cup/log", "/tournaments/cup/matches/r1m1/log"] {
        let log = get(&server, path).expect(200);
        let lines: Vec<Value> =
            log.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() > 2 && lines[0]["seq"] == 1, "{path}");
    }
    let ladder = get(&server, "/ladders/yahtzee").expect(200).json();
    assert_eq!(ladder["players"].as_array().unwrap().len(), 2);
    assert_eq!(ladder["players"][0]["rank"], 1);
    get(&server, "/ladders/chess").expect(404);
    let before = get(&server, "/statistics/house%3Agreedy").expect(200).json();
    assert_eq!(before["total"]["tournaments_played"], 1);
    get(&server, "/statistics/nobody").expect(404);
    let again = house_cup("again", "yahtzee-class", &players);
    send(&server, "POST", "/tournaments", Some(&olga), again).expect(201);
    until("the second cup is over", || is_over(&server, "again"));
    let after = get(&server, "/statistics/house%3Agreedy").expect(200).json();
    assert_eq!(after["total"]["tournaments_played"], 2, "carried on");

    let ended: Vec<_> = server.events(&format!("{API}/tournaments/cup/events"), None).collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].name, "end");
    let path = format!("{API}/tournaments/cup/events");
    assert_eq!(server.events(&path, Some(&ended[0].id)).status, 204, "nothing more to come");
    server.verify();
}

#[test]
fn lists_come_in_pages() {
    let server = Server::start();
    let (mut path, mut names) = ("/accounts?limit=2".to_owned(), Vec::new());
    loop {
        let page = get(&server, &path).expect(200).json();
        let accounts = page["accounts"].as_array().unwrap();
        assert!((1..=2).contains(&accounts.len()), "{page}");
        names.extend(accounts.iter().map(|account| account["account"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/accounts?limit=2&after={next}");
    }
    let all = get(&server, "/accounts").expect(200).json();
    let all = all["accounts"].as_array().unwrap().iter().map(|account| account["account"].clone());
    assert_eq!(names, all.collect::<Vec<_>>());
    assert!(names.len() > 4);
    get(&server, "/accounts?limit=many").expect(400);
    get(&server, "/tournaments?unknown=1").expect(400);
}

#[test]
fn only_players_can_leave() {
    let server = Server::start();
    let olga = operator(&server);
    let (ann, _words) = patient_player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    let token = log_in(&server, "ann");
    let cup = house_cup("cup", "fish", &["ann", "house:random"]);
    send(&server, "POST", "/tournaments", Some(&olga), cup).expect(201);
    let one = "/tournaments/cup/matches/r1m1";
    until("the game runs", || get(&server, one).body.contains("in_progress"));
    let path = "/tournaments/cup/signups";
    send(&server, "DELETE", path, Some(&olga), json!(null)).expect(409);
    send(&server, "DELETE", path, Some(&token), json!(null)).expect(204);
    until("the cup is over", || is_over(&server, "cup"));
    let shown = get(&server, "/tournaments/cup").expect(200).json();
    assert_eq!(shown["results"]["winners"], json!(["house:random"]), "{shown}");
    drop((_words, ann));
    server.verify();
}

/// The hidden parts of a Trains game while it runs.
fn assert_nothing_hidden(text: &str) {
    for hidden in ["\"hand\"", "\"destinations\"", "\"deck_cards\"", "\"secret\"", "\"deck\":["] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
}

#[test]
fn a_game_of_trains_is_watched_and_nothing_hidden_is_seen() {
    let server = Server::start();
    let olga = operator(&server);
    let bob = player(&server, "bob", "buy-now");
    let (ann, words) = patient_player(&server, "ann", "buy-now");
    until("both are in line", || server.line().len() == 2);
    let mut cup = house_cup("rails", "trains", &["ann", "bob"]);
    // A deck in order is as secret as the hands it becomes.
    let deck = ["red", "blue", "green", "white", "red"].repeat(50);
    cup["config"] = json!({"deck": deck});
    cup["policy"] = json!({"match": {"time": {"answer_ms": 600_000}}});
    send(&server, "POST", "/tournaments", Some(&olga), cup).expect(201);
    let (rails, one) = ("/tournaments/rails", "/tournaments/rails/matches/r1m1");
    let path = format!("{API}{one}/events");
    let mut events = server.events(&path, None);
    until("the match is there", || {
        if events.status != 200 {
            events = server.events(&path, None);
        }
        events.status == 200
    });
    let watcher = std::thread::spawn(move || events.collect::<Vec<_>>());

    let mut turns = 0;
    loop {
        // Nothing moves while it is ann's turn.
        let mut shown = json!(null);
        until("ann is asked, or it is over", || {
            shown = get(&server, one).expect(200).json();
            shown["standing"] == "over" || shown["in_progress"]["view"]["turn"] == 0
        });
        if shown["standing"] == "over" {
            break;
        }
        for path in [one, rails, "/tournaments", "/accounts/ann", "/statistics/ann"] {
            assert_nothing_hidden(&get(&server, path).expect(200).body);
        }
        get(&server, &format!("{one}/log")).expect(409);
        get(&server, &format!("{rails}/log")).expect(409);
        turns += 1;
        words.send(()).unwrap();
        until("ann's answer is seen", || get(&server, one).expect(200).json() != shown);
    }
    assert!(turns > 10, "{turns} turns");
    let events = watcher.join().unwrap();
    let (ended, before) = events.split_last().unwrap();
    assert_eq!(before[0].name, "snapshot");
    assert!(events.len() > 2, "{} events", events.len());
    assert!(events.windows(2).all(|two| two[0].data != two[1].data), "news only");
    before.iter().for_each(|event| assert_nothing_hidden(&event.data));
    assert_eq!(ended.name, "end");
    assert!(ended.data.contains("\"hand\"") && ended.data.contains("\"destinations\""));

    until("it is over", || is_over(&server, "rails"));
    assert_eq!(server.events(&path, Some(&ended.id)).status, 204);
    let again: Vec<_> = server.events(&path, Some(&before[0].id)).collect();
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].name.as_str(), &again[0].id), ("end", &ended.id));
    let mut over = get(&server, one).expect(200).json();
    assert!(over.as_object_mut().unwrap().remove("head").is_some(), "events do not have it");
    let mut told: Value = serde_json::from_str(&ended.data).unwrap();
    assert!(told.as_object_mut().unwrap().remove("behind_ms").is_some());
    assert_eq!(over, told);
    get(&server, &format!("{one}/log")).expect(200);
    drop((words, ann, bob));
    server.verify();
}

#[test]
fn a_tournament_is_watched_to_its_end() {
    let server = Server::start();
    let olga = operator(&server);
    let ann = player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    let names = ["ann", "house:greedy", "house:random"];
    let mut cup = house_cup("cup", "yahtzee-class", &names);
    cup["policy"] = json!({"match": {"best_of": 9}});
    send(&server, "POST", "/tournaments", Some(&olga), cup).expect(201);
    let path = format!("{API}/tournaments/cup/events");
    let mut events = server.events(&path, None);
    until("it runs", || {
        if events.status != 200 {
            events = server.events(&path, None);
        }
        events.status == 200
    });
    let first = events.next().unwrap();
    let resumed = server.events(&path, Some(&first.id));
    for events in [events, resumed] {
        let last = events.last().expect("more events");
        assert_eq!(last.name, "end");
        let shown: Value = serde_json::from_str(&last.data).unwrap();
        assert_eq!(shown["results"]["status"], "ended");
    }
    drop(ann);
}

#[test]
fn unreadable_body_is_a_problem_that_repeats_no_secret() {
    let server = Server::start();
    let accounts = format!("{API}/accounts");
    for (body, status) in [
        ("", 400),
        ("{", 400),
        ("\"hunter2\"", 422),
        (r#"{"account": "hunter2"}"#, 422),
        (r#"{"account": 5, "password": "hunter2"}"#, 422),
        (r#"{"account": "a", "password": ["hunter2"]}"#, 422),
        (r#"{"account": "a", "password": "hunter2", "hunter2": 1}"#, 422),
        (r#"{"account": "a", "password": "hunter2"} hunter2"#, 400),
        ("\u{0}\u{1}", 400),
    ] {
        for path in [&accounts, &format!("{API}/sessions")] {
            let reply = server.http("POST", path, None, body).expect(status);
            assert!(!reply.body.contains("hunter2"), "{reply:?}");
        }
    }
    let long = json!({"account": "a", "password": "x".repeat(70_000)}).to_string();
    server.http("POST", &accounts, None, &long).expect(413);
    let longish = json!({"account": "a", "password": "x".repeat(300)}).to_string();
    server.http("POST", &accounts, None, &longish).expect(422);
    server.http("GET", "/nowhere", None, "").expect(404);
    get(&server, "/nowhere").expect(404);
    let refused = server.http("PATCH", &accounts, None, "").expect(405);
    assert!(refused.headers["allow"].contains("GET"));
    get(&server, "/accounts/%FF").expect(400);
}

/// The value of a metric.
fn metric(text: &str, name: &str) -> u64 {
    let line = text.lines().find(|line| line.split(' ').next() == Some(name));
    let value = line.and_then(|line| line.split(' ').nth(1));
    value.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
}

fn assert_games_add_up(server: &Server) -> u64 {
    let text = server.http("GET", "/metrics", None, "").expect(200).body;
    let count = |what: &str| metric(&text, &format!("agon_games_{what}"));
    let ended = count("finished_total") + count("void_total");
    assert_eq!(count("started_total"), ended + count("running"), "{text}");
    count("finished_total")
}

#[test]
fn metrics_add_up_also_after_a_restart() {
    let mut server = Server::start();
    server.http("GET", "/healthz", None, "").expect(200);
    let olga = operator(&server);
    let mut cup = house_cup("cup", "yahtzee-queue", &["house:greedy", "house:random"]);
    cup["policy"] = json!({"match": {"best_of": 9}});
    send(&server, "POST", "/tournaments", Some(&olga), cup).expect(201);
    until("some games", || assert_games_add_up(&server) > 1);
    server = server.started_again();
    until("it is over", || {
        assert_games_add_up(&server);
        is_over(&server, "cup")
    });
    let text = server.http("GET", "/metrics", None, "").expect(200).body;
    assert_eq!(metric(&text, "agon_matches_running"), 0);
    assert!(metric(&text, "agon_accounts") > 1);
}

#[test]
fn simulation_answers_with_whole_formats_and_their_intervals() {
    let server = Server::start();
    let ann = registered(&server, "ann");
    let ask = |query: &str| {
        let path = format!("{API}/formats/simulation?{query}");
        server.http("GET", &path, Some(&ann), "")
    };
    get(&server, "/formats/simulation?strengths=1,0").expect(401);
    // groups:size=3 -> bracket, swiss:rounds=2,max=4 and a rating list of six players.
    let formats = "formats=groups%3Asize%3D3%20-%3E%20bracket,swiss%3Arounds%3D2,max%3D4";
    let players = "strengths=player,rating%0Aa,1700%0Ab,1600%0Ac,1500%0Ad,1500%0Ae,1400%0Af,1400";
    let query = format!("{players}&{formats}&best_of=1&runs=60&want=1&game=fish&seats=2");
    let answer = ask(&query).expect(200).json();
    let shown: Vec<&str> = answer["simulated"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["format"].as_str().unwrap())
        .collect();
    assert_eq!(shown.len(), 2, "{answer}");
    assert!(shown[0].starts_with("groups:size=3 -> bracket"), "{answer}");
    assert!(shown[1].starts_with("swiss:") && shown[1].contains("rounds=2"), "{answer}");
    for one in answer["simulated"].as_array().unwrap() {
        for what in ["best_wins", "games", "seconds"] {
            let [value, low, high] =
                ["value", "low", "high"].map(|bound| one[what][bound].as_f64().unwrap());
            assert!(low <= value && value <= high, "{one}");
        }
    }
    assert!(answer["recommended"].is_number(), "{answer}");
    // With right seeds the two strong players of a bracket meet in the final at the earliest.
    let bracket = "strengths=900,800,0,0,0,0,0,0&formats=bracket&best_of=1&runs=100";
    let top_three = |pairing: &str| {
        let answer = ask(&format!("{bracket}&pairing={pairing}")).expect(200).json();
        answer["simulated"][0]["top_three"]["value"].as_f64().unwrap()
    };
    assert!(top_three("rating") > top_three("random"));
    let refused = ask("strengths=1,0&formats=chess").expect(422);
    assert!(refused.body.contains("there is no format"), "{refused:?}");
    let refused = ask("strengths=1,0&game=yahtzee&seats=99").expect(422);
    assert!(refused.body.contains("a match of yahtzee has 2 to"), "{refused:?}");
}

#[test]
fn comparison_of_a_tournament_has_strengths_pairs_and_a_podium() {
    let server = Server::start();
    let olga = operator(&server);
    get(&server, "/tournaments/none/comparison").expect(404);
    let players = ["house:greedy", "house:random", "house:optimal"];
    let cup = house_cup("cup", "yahtzee-league", &players);
    send(&server, "POST", "/tournaments", Some(&olga), cup).expect(201);
    until("it is over", || is_over(&server, "cup"));
    let answer = get(&server, "/tournaments/cup/comparison").expect(200).json();
    let players = answer["players"].as_array().unwrap();
    assert_eq!((players.len(), answer["pairs"].as_array().unwrap().len()), (3, 3), "{answer}");
    for one in players {
        let [low, value, high] =
            ["low", "value", "high"].map(|bound| one["elo"][bound].as_f64().unwrap());
        assert!(low < value && value < high && one["performance"].is_number(), "{one}");
    }
    let mean: f64 = players.iter().map(|one| one["elo"]["value"].as_f64().unwrap()).sum();
    assert!(mean.abs() < 1e-6, "relative to the mean of the field: {mean}");
    for pair in answer["pairs"].as_array().unwrap() {
        let count = |what: &str| pair[what].as_u64().unwrap();
        let games = count("won") + count("drawn") + count("lost");
        let pairs: u64 =
            pair["pairs"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(games, 2 * pairs, "the games of duplicate pairs: {pair}");
        assert!((0.0..=1.0).contains(&pair["superiority"].as_f64().unwrap()), "{pair}");
    }
    let podium = &answer["podium"];
    let sure = |what: &str| podium[what].as_f64().unwrap();
    assert!(sure("order") <= sure("winner") && sure("set") == 1.0, "{podium}");
}
