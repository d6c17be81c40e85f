//! The first visit: a game at once as a guest, the claim of the guest's account, people who meet
//! through a queue, a new tournament, the rules, and a bot to copy.

use crate::browser::Browser;
use crate::checks::accessible_in_every_look;
use crate::playing::seated;
use crate::support::{Process, until};
use crate::world::{PASSWORD, World};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
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
    accessible_in_every_look(&mut browser, "the claim");
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
    accessible_in_every_look(&mut browser, "a player who waits in a queue");
    let advice = "document.querySelector('agon-waiting ~ p').offsetHeight";
    assert_eq!(browser.eval(advice), 0, "a person who waits is not told to join a queue");
    browser.click("agon-waiting button", "Play a house player instead");
    browser.until_true("the board is shown", "document.querySelector('.board') !== null");
    assert_eq!(world.get("/api/v1/queues/yahtzee-casual")["players"], json!([]));
}

#[test]
fn visitor_of_a_server_without_guests_is_asked_to_register() {
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
    accessible_in_every_look(&mut browser, "the form");
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

/// Submits the form for a new tournament, and checks what it says beside a field.
fn says(browser: &mut Browser, field: &str, words: &str) {
    browser.click("form button", "Create the tournament");
    browser.until_text(&format!("#wrong-{field}"), words);
    let marked = format!(
        "(field => field.ariaInvalid === 'true'
            && field.getAttribute('aria-describedby') === 'wrong-{field}'
            && document.activeElement === field)(document.querySelector('[name={field}]'))"
    );
    browser.until_true(&format!("{field} is marked and has the focus"), &marked);
    let all = "[...document.querySelectorAll('.wrong')].length";
    assert_eq!(browser.eval(all), 1, "only {field} is wrong");
}

/// Types into a field of the form, also nothing.
fn set(browser: &mut Browser, field: &str, value: &str) {
    browser.eval(&format!("document.querySelector('[name={field}]').value = {}", json!(value)));
}

#[test]
fn form_says_beside_the_field_what_is_wrong_with_it() {
    let world = World::start();
    let mut browser = world.browser_of(&world.operator.clone(), "#/new");
    browser.until_text("form", "Format");
    let long = "x".repeat(61);
    for (value, words) in [
        ("", "Give the tournament a name."),
        ("Spring", "The name contains “S”. Use only small letters (a to z), digits and hyphens."),
        ("spring cup", "The name contains a space."),
        ("-cup", "The name begins with a hyphen. Begin it with a letter or a digit."),
        (&long, "The name is too long. Use at most 60 characters."),
    ] {
        set(&mut browser, "id", value);
        says(&mut browser, "id", words);
    }
    accessible_in_every_look(&mut browser, "the form with a mistake");
    set(&mut browser, "id", "spring");
    for value in ["", "1", "1025", "2.5"] {
        set(&mut browser, "at_most", value);
        says(&mut browser, "at_most", "Enter a whole number of players from 2 to 1024.");
    }
    set(&mut browser, "at_most", "8");
    for value in ["", "0", "10001"] {
        set(&mut browser, "minutes", value);
        says(&mut browser, "minutes", "Enter a whole number of minutes from 1 to 10000.");
    }
    set(&mut browser, "minutes", "10");
    for level in ["Level 1", "Level 2", "Level 3"] {
        browser.click("label", level);
    }
    set(&mut browser, "at_most", "2");
    let words = "You chose 3 house players. Raise the maximum, or choose fewer of them.";
    says(&mut browser, "at_most", words);
    assert_eq!(world.get("/api/v1/lobby")["tournaments"], json!([]), "nothing was created");
    for level in ["Level 1", "Level 2", "Level 3"] {
        browser.click("label", level);
    }
    for (way, advice) in [("named", "Name more"), ("invitation", "Invite more")] {
        browser.eval(&choose("way", way));
        set(&mut browser, "players", "ann");
        let words =
            format!("A tournament needs at least two players. {advice}, or choose house players.");
        says(&mut browser, "players", &words);
        set(&mut browser, "players", "ann\nbob, ann");
        says(&mut browser, "players", "ann is there twice. Name every player once.");
        set(&mut browser, "players", &format!("ann\n{}", "w".repeat(51)));
        says(&mut browser, "players", "is too long for a player’s name.");
    }
    browser.eval(&choose("way", "queue"));
    browser.click("form button", "Create the tournament");
    browser.until_text("[role=alert]", "Nobody waits in a queue. Choose another way");
    assert_eq!(world.get("/api/v1/lobby")["tournaments"], json!([]), "nothing was created");
}

#[test]
fn form_says_in_plain_words_what_only_the_server_knows() {
    let world = World::start();
    let _ann = world.person("ann");
    let token = world.person("bob");
    assert_eq!(world.send("POST", Some(&token), "/api/v1/queues/club", &Value::Null).0, 200);
    world.open_sign_up("spring", 8);
    let mut browser = world.browser_of(&world.operator.clone(), "#/new");
    browser.until_text("form", "Format");
    for status in ["status of 409", "status of 422", "status of 404"] {
        browser.expect_error(status);
    }
    set(&mut browser, "id", "spring");
    browser.click("form button", "Create the tournament");
    browser.until_text("form [role=alert]", "spring");
    let mut said = vec![browser.text("form [role=alert]")];
    set(&mut browser, "id", "summer");
    browser.eval(&choose("way", "queue"));
    browser.click("form button", "Create the tournament");
    browser.until_text("#wrong-queue", "A tournament needs at least two players");
    browser.eval(&choose("way", "named"));
    set(&mut browser, "players", "ann\nnobody");
    browser.click("form button", "Create the tournament");
    browser.until_text("form [role=alert]", "nobody");
    said.push(browser.text("form [role=alert]"));
    for text in said {
        assert!(crate::wording::is_plain(&text), "{text}");
    }
}

#[test]
fn entering_a_player_says_in_plain_words_why_it_is_not_possible() {
    let world = World::start();
    world.person("ann");
    crate::live::waiting_cup(&world, "hall");
    world.order("/api/v1/tournaments/hall/resume", json!({"why": "go on"}));
    let mut browser = world.browser_of(&world.operator.clone(), "#/tournament/hall");
    browser.expect_error("status of 4");
    browser.click("[aria-label=Operator] button", "Enter a player");
    browser.fill("dialog [name=why]", "late");
    browser.fill("dialog [name=player]", "  ");
    let valid = "document.querySelector('dialog form').checkValidity()";
    assert_eq!(browser.eval(valid), false, "spaces are no name");
    browser.fill("dialog [name=player]", "nobody");
    browser.click("dialog button", "Enter the player");
    browser.until_true("it says why", "document.querySelector('dialog [role=alert]') !== null");
    let text = browser.text("dialog [role=alert]");
    assert!(crate::wording::is_plain(&text), "{text}");
    accessible_in_every_look(&mut browser, "a dialog with a problem");
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
    accessible_in_every_look(&mut browser, "the form with a queue");
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
fn stranger_without_a_checkout_brings_a_bot_by_the_commands_of_the_page() {
    let world = World::start();
    let mut browser = world.browser("#/bot");
    browser.click("[aria-label=Game] button", "Fish");
    browser.until_text("pre", "python3 fish.py");
    let commands = "document.querySelector('[aria-label=\"The commands\"]').textContent";
    let commands = browser.eval(commands).as_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    // The shell becomes the bot, so that the end of the test ends it.
    let commands = commands.replace("python3 fish.py", "exec python3 fish.py");
    let mut shell = Command::new("bash");
    shell.args(["-e", "-c", &commands]).current_dir(&folder).stderr(Stdio::null());
    let _bot = Process(shell.spawn().expect("bash"));
    let queue = || world.get("/api/v1/queues/fish-casual")["players"].clone();
    until("the bot waits in the queue", || queue() == json!(["my-bot"]));
}

#[test]
fn text_is_copied_also_where_browsers_have_no_clipboard_for_pages() {
    let world = World::start();
    world.open_sign_up("spring", 8);
    let mut browser = world.browser("#/bot");
    browser.allow_reading_the_clipboard();
    let server = world.url("");
    let pasted = |browser: &mut Browser, what: &str| {
        let words = json!(what);
        browser.until_true(
            &format!("{what} is copied"),
            &format!("clipboard.readText().then(text => text.includes({words}))"),
        );
    };
    browser.eval("globalThis.clipboard = navigator.clipboard; 0");
    browser.click("[aria-label='Copy: The commands']", "Copy");
    pasted(&mut browser, "python3 yahtzee.py");
    // A page that came over http from another machine.
    browser.eval("Object.defineProperty(navigator, 'clipboard', { value: undefined }); 0");
    browser.click("[aria-label='Copy: The bot yahtzee.py']", "Copy");
    browser.until_text("#news", "Copied: The bot yahtzee.py.");
    pasted(&mut browser, "class Bot:");
    browser.go("#/tournament/spring");
    browser.click("[aria-label='Invite players'] button", "Copy the link");
    pasted(&mut browser, &format!("{server}#/tournament/spring"));
}

#[test]
fn first_visit_shows_the_best_recent_game_of_the_server() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.until_text("agon-demo .sides", "Champion");
    // Games of weak players do not replace it.
    world.house_cup("weak", "fish", &["house:greedy", "house:random"]);
    world.until_over("weak");
    browser.open(&world.url("#/"));
    browser.until_text("agon-demo .sides", "Champion");
    // The server has games of strong ones now: the closest one with the most fish is shown.
    let selection = json!({"by": "named", "players": ["house:level-4", "house:search"]});
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
    browser.until_text("agon-demo .sides", "house:level-4");
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
fn empty_server_has_a_great_game_to_watch() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.click(".ways a", "Watch");
    browser.until_true("the game is shown", "location.hash === '#/demo'");
    browser.until_text("h1", "A great game");
    browser.click("[aria-label^='Last step']", "");
    browser.until_text(".caption", "Champion won. Champion 42, Challenger 40.");
    browser.until_text(".moves", "Champion slides from");
    accessible_in_every_look(&mut browser, "the game that the page brings along");
}

#[test]
fn person_resigns_a_casual_game_and_starts_another() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.click("button.start", "Play Fish");
    browser.until_true("the ice is shown", "document.querySelector('.tile.open') !== null");
    let id = tournaments(&world, "running").remove(0);
    browser.click("button.give-up", "Resign");
    browser.until_text("dialog", "Resign this game?");
    accessible_in_every_look(&mut browser, "the dialog before a resignation");
    browser.press("Escape");
    browser.until_true("it is closed", "document.querySelector('dialog') === null");
    assert_eq!(tournaments(&world, "running"), [id.as_str()], "nothing happened");
    browser.click("button.give-up", "Resign");
    browser.click("dialog button", "Resign");
    browser.until_text("#news", "You resigned.");
    world.until_over(&id);
    browser.until_text(".after h2", "You lost");
    browser.until_true("it is offered once", "document.querySelector('.give-up') === null");
    browser.go("#/");
    browser.click("button.start", "Play Yahtzee");
    browser.until_true("a game runs", "document.querySelector('button.roll') !== null");
}

#[test]
fn person_in_a_tournament_leaves_all_of_it_and_is_told_so() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    // The form for tournaments gives people the time limits of casual games.
    world.announce(json!({
        "id": "club", "preset": "fish-casual", "policy": {"format": {"kind": "round-robin"}},
        "selection": {"by": "named", "players": ["ann", "house:level-1", "house:level-2"]},
    }));
    browser.click("button.give-up", "Leave the tournament");
    browser.until_text("dialog", "all your remaining matches of the tournament");
    browser.press("Escape");
    browser.go("#/tournament/club");
    browser.until_text(".head", "everybody against everybody");
    assert!(!browser.text(".head").contains("casual"));
}

#[test]
fn first_visit_is_accessible_and_fits_a_phone() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.until_true("the game plays", "document.querySelector('agon-demo svg') !== null");
    accessible_in_every_look(&mut browser, "the first visit");
}
