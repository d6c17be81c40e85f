//! The page while things happen: nobody reloads it.

use crate::browser::AWAY;
use crate::support::until;
use crate::world::World;
use serde_json::json;

/// Something a reload would lose.
const MARK: &str = "globalThis.mark = 'still here'";
const MARKED: &str = "globalThis.mark === 'still here'";

/// A tournament that waits for a person who is not here, paused so that it waits for ever.
pub(crate) fn waiting_cup(world: &World, id: &str) {
    let selection = json!({"by": "named", "players": ["ann", "house:greedy"]});
    world.announce(json!({"id": id, "preset": "yahtzee-class", "selection": selection}));
    let at = format!("/api/v1/tournaments/{id}");
    // Its secret may still be on the way to the log.
    until("it runs", || world.get(&at).get("began_at").is_some());
    world.order(&format!("{at}/pause"), json!({"why": "lunch"}));
}

/// Ends it: `house:greedy` wins.
fn decide(world: &World, id: &str) {
    let at = format!("/api/v1/tournaments/{id}");
    let outcome = json!({"winners": ["house:greedy"], "why": "nobody came"});
    world.order(&format!("{at}/matches/r1m1/override"), outcome);
    world.order(&format!("{at}/resume"), json!({"why": "go on"}));
}

#[test]
pub(crate) fn the_lobby_shows_a_tournament_start_and_its_result_live() {
    let world = World::start();
    world.person("ann");
    let mut browser = world.browser("#/");
    let there = "document.querySelector('[aria-label=Leaderboard]') !== null";
    browser.until_true("the lobby is there", there);
    let empty = "document.querySelector('[aria-label=Running], [aria-label=\"Recent results\"]')";
    assert_eq!(browser.eval(empty), serde_json::Value::Null, "empty sections are not shown");
    browser.eval(MARK);
    waiting_cup(&world, "cup");
    browser.until_text("[aria-label=Running]", "cup");
    decide(&world, "cup");
    browser.until_no_text("[aria-label=Running]", "cup");
    browser.until_text("[aria-label='Past tournaments']", "house:greedy");
    browser.until_text("[aria-label='Recent results']", "house:greedy");
    // A whole one, with games: its scores are those of the API.
    world.house_cup("bots", "yahtzee-class", &["house:greedy", "house:random"]);
    world.until_over("bots");
    browser.until_text("[aria-label='Recent results']", "bots");
    let matches = world.get("/api/v1/matches");
    let scores = &matches["matches"][0]["result"]["games"][0]["scores"];
    let score = format!("{} : {}", scores[0], scores[1]);
    browser.until_text("[aria-label='Recent results'] .score", &score);
    browser.until_text("[aria-label=Leaderboard]", "house:greedy");
    // The leaderboard is of the game it says, and of another one if that is chosen.
    let select = "document.querySelector('[aria-label=Leaderboard] select')";
    assert_eq!(browser.eval(&format!("{select}.value")), "yahtzee");
    browser.eval(&format!("{select}.focus()"));
    browser.press("t");
    browser.until_text("[aria-label=Leaderboard]", "No player is rated yet");
    assert_eq!(browser.eval(&format!("{select}.value")), "trains");
    browser.until_true("it was never reloaded", MARKED);
}

#[test]
pub(crate) fn a_person_signs_up_in_two_clicks_and_a_program_is_seen() {
    let world = World::start();
    let ann = world.person("ann");
    world.open_sign_up("spring", 2);
    let mut browser = world.browser_of(&ann, "#/");
    browser.click("[aria-label=Coming] button", "Sign up");
    browser.until_text("#news", "You signed up for spring");
    let players = world.get("/api/v1/tournaments/spring")["plan"]["players"].clone();
    assert_eq!(players, json!(["ann"]));
    browser.go("#/");
    browser.until_text("[aria-label=Coming]", "you signed up");
    browser.click("[aria-label=Coming] button", "Withdraw");
    browser.until_text("#news", "You withdrew from spring");
    browser.until_no_text("[aria-label=Coming]", "you signed up");
    // A queue, by keyboard.
    browser.eval("document.querySelector(\"[aria-label='Join the queue fish-casual']\").focus()");
    browser.press("Enter");
    browser.until_text("agon-waiting", "You wait for a game of Fish");
    assert_eq!(world.get("/api/v1/queues/fish-casual")["players"], json!(["ann"]));
    browser.go("#/");
    let _bob = world.program("bob", "house:greedy");
    browser.until_text("[aria-label='Players online']", "bob");
    browser.until_text("[aria-label='Players online'] .hidden", "program");
}

#[test]
fn a_server_that_was_killed_goes_on_under_an_open_page() {
    let mut world = World::start();
    world.person("ann");
    waiting_cup(&world, "cup");
    let mut lobby = world.browser("#/");
    let mut browser = world.browser("#/tournament/cup");
    for browser in [&mut lobby, &mut browser] {
        for words in AWAY {
            browser.expect_error(words);
        }
        browser.until_text("#status", "Live");
        browser.eval(MARK);
    }
    browser.until_text(".paused", "lunch");
    world.kill();
    for browser in [&mut lobby, &mut browser] {
        browser.until_text("#status", "No connection");
    }
    browser.until_text(".paused", "lunch");
    world.start_again();
    for browser in [&mut lobby, &mut browser] {
        browser.until_text("#status", "Live");
    }
    decide(&world, "cup");
    browser.until_text(".winner", "house:greedy");
    lobby.until_text("[aria-label='Past tournaments']", "cup");
    for browser in [&mut lobby, &mut browser] {
        browser.until_true("it was never reloaded", MARKED);
    }
}
