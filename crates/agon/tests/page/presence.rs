//! A player who is elsewhere: on another view, in another window, or behind a hidden tab.

use crate::checks::{accessible_in_every_look, fits, look};
use crate::playing::{announce, seated, slow};
use crate::support::until;
use crate::world::World;
use serde_json::json;
use std::time::{Duration, Instant};

const ASKED: &str = "document.querySelectorAll('.tile.open').length === 25";

#[test]
fn person_on_another_view_stays_connected_and_loses_nothing() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    // Under this preset nobody waits for a player who disconnects.
    announce(&world, "ice", "fish", &["ann", "house:greedy"], slow());
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("ann places again", "document.querySelectorAll('.tile.open').length === 23");
    browser.go("#/docs");
    browser.until_text(".your-game", "Your turn against house:greedy");
    accessible_in_every_look(&mut browser, "the bar");
    // A whole tournament is played in the meantime.
    world.house_cup("meantime", "yahtzee-class", &["house:greedy", "house:random"]);
    world.until_over("meantime");
    let here = world.get("/api/v1/lobby")["players"].clone();
    assert!(here.as_array().unwrap().iter().any(|one| one["player"] == "ann"), "{here}");
    // A reload of another view reconnects too.
    browser.open(&world.url("#/formats"));
    browser.until_text(".your-game", "Your turn against house:greedy");
    browser.click(".your-game a", "Play");
    browser.until_true("the ice is back", "document.querySelectorAll('.tile.open').length === 23");
    browser.until_true("no bar", "document.querySelector('.your-game').hidden");
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("two are placed", "document.querySelectorAll('.penguin.red').length === 2");
    let faults = world.get("/api/v1/tournaments/ice/matches/r1m1/faults");
    assert_eq!(faults["faults"], json!([]));
}

#[test]
fn reading_a_document_keeps_the_connection_of_a_player() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    // Under this preset nobody waits for a player who disconnects.
    announce(&world, "ice", "fish", &["ann", "house:greedy"], slow());
    browser.until_true("ann is asked", ASKED);
    browser.go("#/docs");
    browser.until_text(".your-game", "Your turn against house:greedy");
    browser.eval("globalThis.mark = 'still here'");
    let before = browser.tabs();
    for document in ["The native protocol", "OpenAPI", "Metrics"] {
        browser.click("main a", document);
        browser.bring_to_front();
    }
    until("every document has a tab of its own", || browser.tabs() == before + 3);
    assert_eq!(browser.eval("globalThis.mark"), "still here");
    browser.click(".your-game a", "Play");
    browser.until_true("the ice is back", ASKED);
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("one is placed", "document.querySelectorAll('.penguin.red').length === 1");
    let faults = world.get("/api/v1/tournaments/ice/matches/r1m1/faults");
    assert_eq!(faults["faults"], json!([]));
}

#[test]
fn paused_game_looks_paused_to_its_player() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    announce(&world, "ice", "fish", &["ann", "house:greedy"], slow());
    browser.until_true("ann is asked", ASKED);
    browser.until_text(".deadline", "left for your move");
    browser.go("#/docs");
    browser.until_text(".your-game .turn", "Your turn against house:greedy");
    // On another view the server's notification is the only word of it.
    world.order("/api/v1/tournaments/ice/pause", json!({"why": "the hall is on fire"}));
    browser.until_text(".your-game", "Paused: your game against house:greedy");
    let no_clock = "document.querySelector('.your-game .clock') === null";
    browser.until_true("no clock runs in the bar", no_clock);
    browser.until_true("no turn is signalled", "!document.title.includes('Your turn')");
    browser.click(".your-game a", "");
    let paused = "Paused by operator: the hall is on fire.";
    browser.until_text("p.paused", paused);
    browser.until_true("it is grey and inert", "document.querySelector('.stage.still').inert");
    let no_clock = "document.querySelector('.deadline [role=timer]') === null
        && [...document.querySelectorAll('.strip [data-clock]')].every(one => !one.textContent)";
    browser.until_true("no clock runs", no_clock);
    accessible_in_every_look(&mut browser, "the paused game of a player");
    look(&mut browser, 1366, 768, false);
    // A page that is loaded in the pause knows about it too.
    browser.open(&world.url("#/play"));
    browser.until_text("p.paused", paused);
    world.order("/api/v1/tournaments/ice/resume", json!({"why": "the fire is out"}));
    browser.until_no_text("main", paused);
    browser.until_text(".deadline", "left for your move");
    browser.until_true("the title says it", "document.title.startsWith('● Your turn · ')");
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("one is placed", "document.querySelectorAll('.penguin.red').length === 1");
}

/// Ann plays, leaves the Play view for so long, and finds her game as she left it.
fn leave_and_come_back(world: &World, away: Duration) {
    let ann = world.person("ann");
    let mut browser = seated(world, &ann);
    // Under this preset nobody waits for a player who disconnects.
    announce(world, "ice", "fish", &["ann", "house:greedy"], slow());
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("ann places again", "document.querySelectorAll('.tile.open').length === 23");
    let left = Instant::now();
    for view in ["#/docs", "#/formats", "#/rules"].iter().cycle() {
        browser.go(view);
        browser.until_text(".your-game", "Your turn against house:greedy");
        let here = world.get("/api/v1/lobby")["players"].clone();
        let is_here = here.as_array().unwrap().iter().any(|one| one["player"] == "ann");
        assert!(is_here, "after {:?}: {here}", left.elapsed());
        if left.elapsed() >= away {
            break;
        }
        // About forty views, however long the absence is.
        std::thread::park_timeout(away / 40);
    }
    browser.click(".your-game a", "Play");
    browser.until_true("the ice is back", "document.querySelectorAll('.tile.open').length === 23");
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("two are placed", "document.querySelectorAll('.penguin.red').length === 2");
    let faults = world.get("/api/v1/tournaments/ice/matches/r1m1/faults");
    assert_eq!(faults["faults"], json!([]));
    assert_eq!(world.get("/api/v1/tournaments/ice")["standing"], "running");
}

#[test]
pub(crate) fn person_away_from_the_board_loses_nothing() {
    // The server gives up a silent connection in half a second, so two seconds are as long as three
    // minutes otherwise.
    let world = World::with("[limits]\nheartbeat_ms = 100\nsilence_ms_max = 500\n");
    leave_and_come_back(&world, Duration::from_secs(2));
}

/// The server closes a connection after 45 s of silence.
#[test]
fn person_away_for_a_whole_minute_loses_nothing() {
    leave_and_come_back(&World::start(), Duration::from_secs(60));
}

#[test]
fn turn_is_signalled_by_title_and_bar_and_by_tone_and_notification_once_chosen() {
    let world = World::start();
    let (ann, bob) = (world.person("ann"), world.person("bob"));
    let (mut one, mut two) = (seated(&world, &ann), seated(&world, &bob));
    // The tab of ann is hidden; tones and notifications are counted.
    one.eval(
        "globalThis.tones = 0; globalThis.notes = [];
         globalThis.AudioContext = class {
           currentTime = 0;
           createOscillator = () =>
             ({ frequency: {}, connect: next => next, start: () => tones += 1, stop() {} });
           createGain = () => ({
             gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect() {},
           });
         };
         globalThis.Notification = class {
           static permission = 'granted';
           static requestPermission = async () => 'granted';
           constructor(_, { body }) { notes.push(body); }
         };
         Object.defineProperty(document, 'hidden', { get: () => true });
         globalThis.mark = 'still here'; 0",
    );
    assert_eq!(one.eval("document.title"), "Play · Agon");
    announce(&world, "ice", "fish", &["ann", "bob"], slow());
    one.until_true("the title says it", "document.title === '● Your turn · Play · Agon'");
    one.go("#/docs");
    one.until_true("the title says it", "document.title.startsWith('● Your turn · ')");
    one.until_text(".your-game .turn", "Your turn against bob");
    assert_eq!(one.eval("[tones, notes.length].join()"), "0,0", "both are off by default");
    one.go("#/play");
    one.click(".play-options summary", "Options");
    one.click(".play-options label", "Notify me while this tab is hidden");
    one.click(".play-options label", "Play a tone at your turn");
    one.until_true("a sample is heard", "tones === 2");
    one.click(".play-options summary", "Options");
    one.click(".tile.open", "");
    one.click(".send", "");
    one.until_true("it is bob's turn", "document.title === 'Play · Agon'");
    two.click(".tile.open", "");
    two.click(".send", "");
    one.until_true("it is notified", "notes.join() === 'It is your turn in ice.'");
    one.until_true("it is heard", "tones === 4");
    one.until_true("the title says it", "document.title.startsWith('● Your turn · ')");
    assert_eq!(one.eval("globalThis.mark"), "still here");
}

#[test]
fn guest_plays_a_rematch_with_exchanged_seats() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.click("button.start", "Play Yahtzee");
    browser.until_true("a game runs", "document.querySelector('button.roll') !== null");
    let first = running(&world);
    let leave = json!({"player": "house:level-2", "why": "a power cut"});
    world.order(&format!("/api/v1/tournaments/{first}/withdraw"), leave);
    world.until_over(&first);
    browser.until_text(".after h2", "You won");
    browser.until_text(".after a", "Analysis");
    look(&mut browser, 360, 740, false);
    fits(&mut browser, "the end of a game");
    look(&mut browser, 1366, 768, false);
    browser.click(".rematch", "Rematch");
    browser.until_true("a game runs", "document.querySelector('button.roll') !== null");
    let seats = |id: &str| {
        let plan = &world.get(&format!("/api/v1/tournaments/{id}"))["plan"];
        plan["players"].as_array().unwrap().clone()
    };
    let (mut before, after) = (seats(&first), seats(&running(&world)));
    before.reverse();
    assert_eq!(before, after);
}

/// The tournament that runs.
fn running(world: &World) -> String {
    let lobby = world.get("/api/v1/lobby");
    let mut all = lobby["tournaments"].as_array().unwrap().iter();
    let one = all.find(|one| one["standing"] == "running").expect("one runs");
    one["id"].as_str().unwrap().to_owned()
}

#[test]
fn game_that_a_person_starts_is_shown_before_the_one_that_waits() {
    let world = World::start();
    let mut browser = world.browser("#/");
    browser.click("button.start", "Play Yahtzee");
    browser.until_true("dice are shown", "document.querySelector('button.roll') !== null");
    browser.go("#/");
    browser.click("button.start", "Play Fish");
    browser.until_true("the ice is shown", "document.querySelector('.tile.open') !== null");
    browser.click("[aria-label='Your matches'] button", "Yahtzee");
    browser.until_true("dice are shown", "document.querySelector('button.roll') !== null");
}

#[test]
fn taken_over_window_is_inert_and_says_so() {
    let world = World::start();
    let ann = world.person("ann");
    let mut first = seated(&world, &ann);
    announce(&world, "ice", "fish", &["ann", "house:greedy"], slow());
    first.until_true("ann is asked", ASKED);
    first.click(".tile.open", "");
    let mut second = seated(&world, &ann);
    second.until_true("ann is asked", ASKED);
    first.until_text("[role=alert]", "You continued playing in another window");
    first.until_text(".caption", "This window no longer plays.");
    first.until_true("nothing can be chosen", "document.querySelector('.tile.open') === null");
    first.until_true("it is inert", "document.querySelector('.stage').inert");
    first.until_true("no turn is signalled", "document.title === 'Play · Agon'");
    // Another view of that window does not take the game back, not even after a reload.
    first.open(&world.url("#/docs"));
    first.until_text("h1", "Documentation");
    second.click(".tile.open", "");
    second.click(".send", "");
    second.until_true("one is placed", "document.querySelectorAll('.penguin.red').length === 1");
    second.until_true("ann is asked", "document.querySelectorAll('.tile.open').length === 23");
    first.until_true("no bar", "document.querySelector('.your-game') === null");
}

#[test]
fn person_who_closed_the_tab_is_led_back_to_the_game() {
    // The lobby counts players who disconnected until this time is over.
    let world = World::with("reconnect_ms = 500\n");
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    let time = json!({"answer_ms": 600_000, "wait_ms": 600_000});
    let patient = json!({"match": {"crash": "resume", "time": time}});
    announce(&world, "dice", "yahtzee-class", &["ann", "house:greedy"], patient);
    browser.until_true("ann is asked", "document.querySelector('button.roll') !== null");
    // A new tab has no storage of its own, but that of the browser.
    browser.eval("sessionStorage.clear()");
    browser.cdp("Page.navigate", json!({"url": "about:blank"}));
    until("ann is gone", || world.get("/api/v1/lobby")["here"] == 0);
    browser.open(&world.url("#/docs"));
    browser.until_text(".your-game", "Your turn against house:greedy");
    // Another tab of the same browser does not take the game over.
    let mut other = seated(&world, &ann);
    browser.until_true("no bar", "document.querySelector('.your-game').hidden");
    browser.open(&world.url("#/docs"));
    browser.until_text("h1", "Documentation");
    other.until_text("[role=status]", "you are connected");
    other.click("button.roll", "");
    other.until_text(".tray.asked", "Roll 2 of 3");
}

#[test]
fn person_who_reloads_while_others_move_sees_the_game() {
    let world = World::start();
    let (ann, bob) = (world.person("ann"), world.person("bob"));
    let (mut one, _two) = (seated(&world, &ann), seated(&world, &bob));
    announce(&world, "ice", "fish", &["bob", "ann"], slow());
    one.until_text(".caption", "Waiting for bob");
    one.open(&world.url("#/play"));
    one.until_text(".caption", "Waiting for bob");
    one.until_text(".strip", "bob");
    one.go("#/docs");
    one.until_text(".your-game", "Your game against bob: the others move");
}
