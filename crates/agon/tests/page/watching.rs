//! People who watch a game: late, over a restart, and without ever seeing what they may not.

use crate::browser::AWAY;
use crate::browser::Browser;
use crate::checks::accessible_in_every_look;
use crate::world::World;
use serde_json::{Value, json};

const MATCH: &str = "/api/v1/tournaments/ice/matches/r1m1";

/// A game of Fish in which ann has placed all her penguins, and is asked to move.
fn midway(world: &World) -> Browser {
    let ann = world.person("ann");
    let mut browser = world.browser_of(&ann, "#/play");
    browser.until_text("[role=status]", "you are connected");
    let selection = json!({"by": "named", "players": ["ann", "house:greedy", "house:random"]});
    let policy = json!({"match": {"time": {"answer_ms": 600_000}}});
    world.announce(json!({
        "id": "ice", "preset": "fish", "policy": policy, "selection": selection,
    }));
    for placed in 1..=3 {
        browser.click(".tile.open", "");
        browser.click(".send", "");
        browser.until_true(
            "it is placed",
            &format!("document.querySelectorAll('.penguin.red').length === {placed}"),
        );
    }
    browser.until_true("ann moves", "document.querySelector('.penguin.open') !== null");
    browser
}

/// Where penguins stand and how many fish there are, as a browser shows it.
const SHOWN: &str = "({
    places: [...document.querySelectorAll('.penguin')].map(e => e.dataset.at).sort(),
    tiles: document.querySelectorAll('.tile:not(.sinking)').length,
    scores: [...document.querySelectorAll('.players strong')].map(e => parseInt(e.textContent)),
})";

/// The state of a match as the API has it, as text with its fields in the same order.
fn stands(view: &Value) -> String {
    let players = view["players"].as_array().unwrap();
    let mut places: Vec<String> = players
        .iter()
        .flat_map(|player| player["places"].as_array().unwrap())
        .map(|at| format!("{},{}", at[0], at[1]))
        .collect();
    places.sort();
    let rows = view["board"].as_array().unwrap().iter();
    let tiles = rows.flat_map(|row| row.as_array().unwrap()).filter(|fish| **fish != 0).count();
    let scores: Vec<&Value> = players.iter().map(|player| &player["score"]).collect();
    format!(r#"{{"places":{},"tiles":{tiles},"scores":{}}}"#, json!(places), json!(scores))
}

fn until_shown(world: &World, browser: &mut Browser) {
    let wanted = json!(stands(&world.get(MATCH)["in_progress"]["view"]));
    let same = format!("JSON.stringify({SHOWN}) === {wanted}");
    browser.until_true("the board is as the API has it", &same);
}

#[test]
pub(crate) fn late_observer_sees_the_position_and_all_earlier_moves() {
    let world = World::start();
    let mut ann = midway(&world);
    let mut late = world.browser("#/game/ice/r1m1");
    late.until_text(".waited", "ann");
    until_shown(&world, &mut late);
    // Nine penguins were placed, and the list has a line for each.
    late.until_true("all moves", "document.querySelectorAll('.moves li').length === 9");
    late.until_text(".moves li:last-child", "ann places a penguin");
    late.until_text(".waited .clock", "of 10:00 per move");
    ann.click(".penguin.open", "");
    ann.click(".tile.open", "");
    ann.click(".send", "");
    late.until_text(".moves li", "ann slides from");
    ann.until_true("ann moves again", "document.querySelector('.penguin.open') !== null");
    until_shown(&world, &mut late);
    late.until_true("three more", "document.querySelectorAll('.moves li').length === 12");
}

#[test]
fn a_watcher_goes_on_after_the_server_was_killed_and_misses_nothing() {
    let mut world = World::start();
    let mut ann = midway(&world);
    let mut watcher = world.browser("#/game/ice/r1m1");
    watcher.until_true("all moves", "document.querySelectorAll('.moves li').length === 9");
    for browser in [&mut ann, &mut watcher] {
        for words in AWAY {
            browser.expect_error(words);
        }
    }
    watcher.eval("globalThis.mark = 'still here'");
    world.kill();
    watcher.until_text("#status", "No connection");
    world.start_again();
    watcher.until_text("#status", "Live");
    ann.until_text("[role=status]", "you are connected");
    ann.click(".penguin.open", "");
    ann.click(".tile.open", "");
    ann.click(".send", "");
    watcher.until_true("three more", "document.querySelectorAll('.moves li').length === 12");
    until_shown(&world, &mut watcher);
    watcher.until_true("it was never reloaded", "globalThis.mark === 'still here'");
}

#[test]
fn a_watcher_of_yahtzee_sees_a_turn_when_both_have_scored() {
    let world = World::start();
    let ann = world.person("ann");
    let mut player = world.browser_of(&ann, "#/play");
    player.until_text("[role=status]", "you are connected");
    let selection = json!({"by": "named", "players": ["ann", "house:greedy"]});
    let policy = json!({"match": {"time": {"answer_ms": 600_000}}});
    world.announce(json!({
        "id": "duel", "preset": "yahtzee-class", "policy": policy, "selection": selection,
    }));
    let mut watcher = world.browser("#/game/duel/r1m1");
    watcher.until_text(".tray.seat-1", "Turn 1 is hidden until both have scored.");
    player.click("button.roll", "");
    player.until_text(".tray.asked", "Roll 2 of 3");
    assert_eq!(watcher.eval("document.querySelectorAll('.die').length"), 0, "no dice are seen");
    player.click("button.roll", "");
    player.click("button.box", "");
    player.click(".send", "");
    watcher.until_text(".moves li", "ann turn 1:");
    watcher.until_true("both hands", "document.querySelectorAll('.die').length === 10");
    let view = world.get("/api/v1/tournaments/duel/matches/r1m1")["in_progress"]["view"].clone();
    for seat in 0..2 {
        let total = format!(
            "document.querySelectorAll('.total td')[{seat}].textContent === '{}'",
            view["cards"][seat]["total"]
        );
        watcher.until_true("the total is the API's", &total);
    }
}

#[test]
fn game_and_play_are_accessible_and_fit_a_phone() {
    let world = World::start();
    let mut ann = midway(&world);
    let mut watcher = world.browser("#/game/ice/r1m1");
    watcher.until_text(".waited", "ann");
    for (browser, what) in [(&mut ann, "play"), (&mut watcher, "game")] {
        accessible_in_every_look(browser, what);
    }
}

#[test]
fn missing_things_are_explained() {
    let world = World::start();
    let mut browser = world.browser("#/game/none/r1m1");
    browser.expect_error("404");
    browser.until_text(".complaint", "none");
    browser.go("#/play");
    browser.until_text("main", "Log in or register");
}
