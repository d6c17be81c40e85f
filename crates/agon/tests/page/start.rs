//! The first visit: a game at once as a guest, the claim of the guest's account, people who meet
//! through a queue, a new tournament, the rules, and a bot to copy.

use crate::browser::Browser;
use crate::checks::{accessible, accessible_in_every_look};
use crate::playing::seated;
use crate::world::{PASSWORD, World};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// The name under which a browser plays.
fn account(browser: &mut Browser) -> String {
    browser.until_true("a session begins", "localStorage.getItem('agon.session') !== null");
    let name = browser.eval("JSON.parse(localStorage.getItem('agon.session')).account");
    name.as_str().expect("a session").to_owned()
}

/// The tournaments of a standing that the lobby lists.
fn tournaments(world: &World, standing: &str) -> Vec<String> {
    let lobby = world.get("/api/v1/lobby");
    let all = lobby["tournaments"].as_array().expect("a list");
    let some = all.iter().filter(|one| one["standing"] == standing);
    some.map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

/// Counts the clicks of a person in the page that is open.
const COUNT_CLICKS: &str = "globalThis.clicks = 0;
    addEventListener('click', (event) => (clicks += event.isTrusted ? 1 : 0), true)";

#[test]
fn two_clicks_lead_a_stranger_to_the_first_move() {
    let world = World::start();
    let mut browser = Browser::start();
    let started = Instant::now();
    browser.open(&world.url("#/"));
    browser.eval(COUNT_CLICKS);
    browser.click("button.start", "Play Yahtzee");
    browser.click("button.roll", "Roll all five again");
    browser.until_text(".tray.asked", "Roll 2 of 3");
    let took = started.elapsed();
    // The machine of the tests may be busy, so the time is printed and decides nothing.
    eprintln!("from an empty server to the first move: 2 clicks, {} ms", took.as_millis());
    assert_eq!(browser.eval("clicks"), 2);
    assert!(account(&mut browser).starts_with("Guest "));
    let running = tournaments(&world, "running");
    assert!(running[0].starts_with("yahtzee-casual-"), "{running:?}");
}

#[test]
fn guest_chooses_the_level_of_the_opponent_in_every_game() {
    let world = World::start();
    let mut browser = world.browser("#/");
    for (name, level, number) in [("Fish", "Beginner", 1), ("Trains", "Champion", 5)] {
        browser.go("#/");
        browser.click(".level", level);
        browser.click("button.start", &format!("Play {name}"));
        browser.until_true("the board is shown", "location.hash === '#/play'");
        browser.until_true("it is asked", "document.querySelector('.board') !== null");
        let opponent = format!("house:level-{number}");
        let game = format!("{}-casual-", name.to_lowercase());
        let id = tournaments(&world, "running").into_iter().find(|id| id.starts_with(&game));
        let plan = world.get(&format!("/api/v1/tournaments/{}", id.expect("it runs")));
        let me = account(&mut browser);
        assert_eq!(plan["plan"]["players"], json!([me, opponent]), "{plan}");
    }
    assert_eq!(world.get("/api/v1/lobby")["here"], 1, "the same guest plays both");
}

#[test]
fn guest_claims_the_account_and_keeps_the_games() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.click("button.start", "Play Yahtzee");
    browser.until_true("the board is shown", "document.querySelector('.board') !== null");
    let guest = account(&mut browser);
    let token = browser.eval("JSON.parse(localStorage.getItem('agon.session')).token");
    let id = tournaments(&world, "running").remove(0);
    let leave = format!("/api/v1/tournaments/{id}/signups");
    assert_eq!(world.send("DELETE", token.as_str(), &leave, &Value::Null).0, 204);
    world.until_over(&id);
    browser.go("#/");
    browser.until_text(".claim", &format!("You play as {guest}"));
    browser.go("#/account");
    browser.fill("#claim-form [name=account]", "zoë");
    browser.fill("#claim-form [name=password]", PASSWORD);
    accessible(&mut browser, "the claim");
    browser.eval("document.querySelector('#claim-form [name=password]').value = ''");
    browser.fill("#claim-form [name=password]", "x");
    let valid = "document.querySelector('#claim-form').checkValidity()";
    assert_eq!(browser.eval(valid), false, "a password of one character");
    browser.fill("#claim-form [name=password]", PASSWORD);
    browser.click("#claim-form button", "Keep my account");
    browser.until_text("#who", "zoë");
    browser.until_text("h1", "Lobby");
    browser.go("#/player/zo%C3%AB");
    browser.until_text("main", &id);
    // The statistics count the guest's games too.
    let one = &world.get("/api/v1/statistics/zo%C3%AB")["by_game"]["yahtzee"];
    assert_eq!(one["tournaments_played"], 1, "{one}");
    let met = world.get("/api/v1/statistics/zo%C3%AB/versus");
    assert_eq!(met["opponents"][0]["other"], "house:level-2", "{met}");
}

#[test]
pub(crate) fn two_people_meet_through_a_queue() {
    let world = World::start();
    let mut one = world.browser("#/");
    one.click("[aria-label='Join the queue fish-casual']", "Join");
    one.until_text("agon-waiting", "1 waiting, 1 more player needed");
    let mut other = world.browser("#/");
    other.until_text("[aria-label=Queues]", "1 waiting, 1 more player needed");
    other.until_text("[aria-label=Queues] .player", &account(&mut one));
    other.click("[aria-label='Join the queue fish-casual']", "Join");
    let names = [account(&mut one), account(&mut other)];
    for browser in [&mut one, &mut other] {
        browser.until_true("the board is shown", "document.querySelector('.board') !== null");
        for name in &names {
            browser.until_text("main", name);
        }
    }
    assert_ne!(names[0], names[1]);
    assert_eq!(world.get("/api/v1/queues/fish-casual")["players"], json!([]));
}

#[test]
fn person_who_waits_is_offered_a_house_player() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.click("[aria-label='Join the queue yahtzee-casual']", "Join");
    browser.until_text("agon-waiting", "1 more player needed");
    // Nobody waits in a test: the wait began long ago.
    browser.eval(
        "(() => { const wait = JSON.parse(sessionStorage.getItem('agon.waiting'));
           sessionStorage.setItem('agon.waiting', JSON.stringify({ ...wait, since: 0 })); })()",
    );
    browser.until_text("agon-waiting", "A house player is free now");
    let advice = "document.querySelector('agon-waiting ~ p').offsetHeight";
    assert_eq!(browser.eval(advice), 0, "a person who waits is not told to join a queue");
    browser.click("agon-waiting button", "Play a house player instead");
    browser.until_true("the board is shown", "document.querySelector('.board') !== null");
    assert_eq!(world.get("/api/v1/queues/yahtzee-casual")["players"], json!([]));
}

#[test]
fn visitor_of_a_server_without_guests_is_told_to_register() {
    let world = World::with("guests = false\n");
    let mut browser = world.browser("#/");
    browser.expect_error("status of 403");
    browser.click("button.start", "Play Fish");
    browser.until_text("#news", "This server has no guests; register an account.");
    // The visitor registers, and the game begins.
    register(&mut browser, "ann");
    browser.until_true("the ice is shown", "document.querySelector('.tile.open') !== null");
    let running = tournaments(&world, "running");
    assert!(running[0].starts_with("fish-casual-"), "{running:?}");
}

/// Fills in the form for a new account.
fn register(browser: &mut Browser, name: &str) {
    browser.fill("#register-form [name=account]", name);
    browser.fill("#register-form [name=password]", PASSWORD);
    browser.click("#register-form button", "Register and log in");
}

#[test]
fn visitor_of_a_server_without_guests_is_in_the_queue_after_the_login() {
    let world = World::with("guests = false\n");
    let mut browser = world.browser("#/");
    browser.expect_error("status of 403");
    browser.click("[aria-label='Join the queue fish-casual']", "Join");
    register(&mut browser, "ann");
    browser.until_text("agon-waiting", "1 waiting, 1 more player needed");
    assert_eq!(world.get("/api/v1/queues/fish-casual")["players"], json!(["ann"]));
}

#[test]
fn operator_fills_in_the_form_for_a_new_tournament() {
    let world = World::start();
    let mut browser = world.browser_of(&world.operator.clone(), "#/new");
    browser.until_text("form", "Format");
    accessible(&mut browser, "the form");
    for (name, value) in
        [("game", "fish"), ("format", "round-robin"), ("time", "1"), ("best_of", "3")]
    {
        browser.eval(&choose(name, value));
    }
    browser.click("label", "Level 1");
    browser.click("label", "Level 2");
    browser.click("label", "They move slowly");
    browser.fill("[name=id]", "spring");
    browser.click("form button", "Create the tournament");
    browser.until_true("it is shown", "location.hash === '#/tournament/spring'");
    let spring = world.get("/api/v1/tournaments/spring");
    let plan = &spring["plan"];
    assert_eq!(plan["game"], "fish");
    assert_eq!(plan["policy"]["format"]["kind"], "round-robin");
    assert_eq!(plan["policy"]["match"]["best_of"], 3);
    assert_eq!(plan["policy"]["match"]["time"]["answer_ms"], 60_000);
    assert_eq!(plan["policy"]["match"]["time"]["house_pace_ms"], 800);
    assert_eq!(plan["players"], json!(["house:level-1", "house:level-2"]));
    // By invitation, and at once.
    browser.go("#/new");
    browser.until_text("form", "Format");
    browser.eval(&choose("way", "named"));
    browser.fill("[name=players]", "house:random");
    browser.click("label", "Level 1");
    browser.click("label", "They move slowly");
    browser.fill("[name=id]", "quick");
    browser.click("form button", "Create the tournament");
    browser.until_true("it is shown", "location.hash === '#/tournament/quick'");
    world.until_over("quick");
}

/// A script that chooses a value of the form for a new tournament.
fn choose(name: &str, value: &str) -> String {
    format!(
        "(e => {{ e.value = {}; e.dispatchEvent(new Event('change', {{ bubbles: true }})); }})
         (document.querySelector('[name={name}]'))",
        json!(value)
    )
}

#[test]
fn operator_starts_a_tournament_of_the_players_who_wait_or_are_online() {
    let world = World::start();
    let _tabs = ["ann", "bob"].map(|name| {
        let token = world.person(name);
        assert_eq!(world.send("POST", Some(&token), "/api/v1/queues/club", &Value::Null).0, 200);
        seated(&world, &token)
    });
    let mut browser = world.browser_of(&world.operator.clone(), "#/");
    browser.until_text("[aria-label=Queues]", "2 waiting; an operator starts the game");
    let new = |browser: &mut Browser, id: &str, way: &str| {
        browser.go("#/new");
        browser.until_true("the form is there", "document.querySelector('[name=id]') !== null");
        browser.fill("[name=id]", id);
        browser.eval(&choose("way", way));
    };
    new(&mut browser, "club-night", "queue");
    browser.until_text("form", "club (2 waiting)");
    accessible(&mut browser, "the form with a queue");
    browser.click("form button", "Create the tournament");
    browser.until_true("it is shown", "location.hash === '#/tournament/club-night'");
    let players =
        |id: &str| world.get(&format!("/api/v1/tournaments/{id}"))["plan"]["players"].clone();
    assert_eq!(players("club-night"), json!(["ann", "bob"]));
    assert_eq!(world.get("/api/v1/queues/club")["players"], json!([]));
    new(&mut browser, "at-once", "line");
    browser.click("form button", "Create the tournament");
    browser.until_true("it is shown", "location.hash === '#/tournament/at-once'");
    let mut all: Vec<Value> = players("at-once").as_array().unwrap().clone();
    all.sort_by_key(Value::to_string);
    assert_eq!(all, ["ann", "bob"]);
}

#[test]
fn every_choice_of_the_form_makes_a_tournament() {
    let world = World::start();
    let mut browser = world.browser_of(&world.operator.clone(), "#/new");
    browser.until_text("form", "Format");
    let refused = browser.eval(
        "(async () => {
           const { announcement, blank } = await import('/web/start/form.js');
           const { get, post } = await import('/web/lib/api.js');
           const games = await get('/api/v1/games');
           const refused = [];
           let number = 0;
           for (const game of ['yahtzee', 'fish', 'trains'])
             for (const format of ['bracket', 'double-elimination', 'round-robin', 'swiss',
                                   'groups', 'knockout'])
               for (const time of [0, 3])
                 for (const way of ['sign-up', 'invitation']) {
                   const players = way === 'invitation' ? ['operator', 'house:level-1'] : [];
                   const form = { ...blank(game), id: `t-${number++}`, format, time, way, players,
                                  best_of: 3 };
                   try { await post('/api/v1/tournaments', announcement(form, games)); }
                   catch (problem) { refused.push([game, format, time, way, problem.message]); }
                 }
           return refused;
         })()",
    );
    assert_eq!(refused, json!([]));
}

#[test]
fn bots_of_the_page_are_the_examples_of_the_client() {
    let world = World::start();
    let mut browser = world.browser("#/bot");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python/examples");
    for game in ["Yahtzee", "Fish", "Trains"] {
        browser.click("[aria-label=Game] button", game);
        let file = folder.join(format!("{}.py", game.to_lowercase()));
        let example = std::fs::read_to_string(file).expect("an example");
        let program = example.split_once("from agon").map(|(_, rest)| format!("from agon{rest}"));
        let shown = format!("document.querySelector('pre').textContent === {}", json!(program));
        browser.until_true(&format!("the bot for {game} is shown"), &shown);
    }
    let server = world.url("").replace("http://", "ws://");
    browser.until_text("pre", &format!("--server {}", server.trim_end_matches('/')));
}

#[test]
fn first_visit_shows_the_best_recent_game_of_the_server() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.until_text("agon-demo .sides", "Champion");
    // The server has games now: the closest one with the most fish is shown.
    let selection = json!({"by": "named", "players": ["house:greedy", "house:random"]});
    let policy = json!({"format": {"kind": "round-robin"}, "match": {"best_of": 5}});
    world.announce(json!({
        "id": "ice", "preset": "fish", "policy": policy, "selection": selection,
    }));
    world.until_over("ice");
    let games = world.get("/api/v1/tournaments/ice/matches/r1m1")["match"]["games"].clone();
    let loser = |game: &Value| {
        let scores = game["scores"].as_array().unwrap().iter();
        scores.map(|score| score.as_i64().unwrap()).min().unwrap()
    };
    let games = games.as_array().unwrap();
    let most = games.iter().map(loser).max().unwrap();
    browser.open(&world.url("#/"));
    browser.until_text("agon-demo .sides", "house:greedy");
    // Boards have many shapes; all of them stay inside the card.
    let inside = "(box => [...document.querySelectorAll('agon-demo .ice')].every(one =>
        one.getBoundingClientRect().right <= box.right))
        (document.querySelector('agon-demo').getBoundingClientRect())";
    browser.until_true("the board is inside", inside);
    browser.click("agon-demo a", "Replay");
    browser.until_true("the replay opens", "location.hash.startsWith('#/replay/ice/r1m1/')");
    let hash = browser.eval("location.hash.split('?')[0].split('/').at(-1)");
    let number: u64 = hash.as_str().unwrap().parse().unwrap();
    let shown = games.iter().find(|game| game["game"] == number).unwrap();
    assert_eq!(loser(shown), most, "{games:?}");
}

#[test]
fn first_visit_is_accessible_and_fits_a_phone() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.until_true("the game plays", "document.querySelector('agon-demo svg') !== null");
    accessible_in_every_look(&mut browser, "the first visit");
}
