//! People who play on the page: with the mouse and by keyboard, to the end, over reloads, other
//! devices and a server that dies.

use crate::browser::AWAY;
use crate::browser::Browser;
use crate::checks::{accessible_in_every_look, look};
use crate::support::{PATIENCE, until};
use crate::world::World;
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Nobody is hurried.
pub(crate) fn slow() -> Value {
    json!({"match": {"time": {"answer_ms": 600_000}}})
}

pub(crate) fn announce(world: &World, id: &str, preset: &str, players: &[&str], policy: Value) {
    let selection = json!({"by": "named", "players": players});
    world.announce(json!({"id": id, "preset": preset, "policy": policy, "selection": selection}));
}

/// A browser in which somebody is ready to play.
pub(crate) fn seated(world: &World, token: &str) -> Browser {
    let mut browser = world.browser_of(token, "#/play");
    browser.until_text("[role=status]", "you are connected");
    browser
}

/// The controls to press in a browser: the first one that exists and is enabled.
fn offered(browser: &mut Browser, choices: &[&str]) -> Option<String> {
    let list = json!(choices);
    let found = browser.eval(&format!(
        "{list}.find(one => [...document.querySelectorAll(one)].some(e => !e.disabled)) ?? null"
    ));
    found.as_str().map(str::to_owned)
}

fn over(world: &World, id: &str) -> bool {
    let path = format!("/api/v1/tournaments/{id}/matches/r1m1");
    world.send("GET", None, &path, &Value::Null).1["standing"] == "over"
}

/// Lets people play until it is over; each does what `act` makes of what is offered.
pub(crate) fn play_on(
    world: &World,
    id: &str,
    people: &mut [Browser],
    choices: &[&str],
    act: impl Fn(&mut Browser, &str),
) {
    let mut moved = Instant::now();
    while !over(world, id) {
        let mut waits = true;
        for browser in people.iter_mut() {
            if let Some(choice) = offered(browser, choices) {
                act(browser, &choice);
                waits = false;
            }
        }
        if !waits {
            moved = Instant::now();
            continue;
        }
        assert!(moved.elapsed() < PATIENCE, "nobody is asked: {}", people[0].text("body"));
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The result as the API has it.
pub(crate) fn result(world: &World, id: &str) -> Value {
    let shown = world.get(&format!("/api/v1/tournaments/{id}/matches/r1m1"));
    assert_eq!(shown["result"]["faults"], json!([]), "nobody did anything wrong");
    assert_eq!(shown["result"]["how"], "played");
    shown["result"].clone()
}

/// Checks that a browser shows the end as the API has it.
pub(crate) fn shows_end(browser: &mut Browser, result: &Value) {
    let games = result["games"].as_array().unwrap();
    let last = &games[games.len() - 1];
    for (name, score) in
        last["seats"].as_array().unwrap().iter().zip(last["scores"].as_array().unwrap())
    {
        browser.until_text(".caption", &format!("{} {score}", name.as_str().unwrap()));
    }
}

const YAHTZEE: [&str; 2] = ["button.box", "button.roll"];

#[test]
pub(crate) fn two_people_play_a_whole_game_of_yahtzee_in_two_browsers() {
    let world = World::start();
    let (ann, bob) = (world.person("ann"), world.person("bob"));
    let mut people = [seated(&world, &ann), seated(&world, &bob)];
    announce(&world, "duel", "yahtzee-class", &["ann", "bob"], slow());
    // Ann keeps two dice: they stay where they are, the other three are rolled.
    let [one, _] = &mut people;
    one.click("button.die", "");
    one.until_text("button.roll", "Roll 4 again");
    one.press("2");
    one.until_text("button.roll", "Roll 3 again");
    let kept = "[...document.querySelectorAll('button.die')].slice(0, 2)
        .map(die => Number(/: (\\d)/.exec(die.getAttribute('aria-label'))[1]))";
    let before = one.eval(kept);
    one.press("r");
    one.until_text(".tray.asked", "Roll 2 of 3");
    assert_eq!(one.eval(kept), before);
    // Bob plays by keyboard alone, Ann with the mouse.
    play_on(&world, "duel", &mut people, &YAHTZEE, |browser, choice| {
        let person = browser.text("#who");
        match (person.as_str(), choice) {
            ("ann", choice) => browser.click(choice, ""),
            (_, "button.roll") => {
                browser.eval("document.querySelector('button.die').focus()");
                for key in ["1", "2", "3", "4", "5"] {
                    browser.press(key);
                }
                browser.until_text("button.roll", "Keep all and score");
                browser.press("r");
            }
            (_, choice) => {
                browser.eval(&format!("document.querySelector('{choice}').focus()"));
                browser.press("Enter");
            }
        }
    });
    let result = result(&world, "duel");
    for browser in &mut people {
        shows_end(browser, &result);
        browser.until_text("[data-key=after] a", "Replay");
    }
}

#[test]
pub(crate) fn a_person_plays_fish_against_house_players_to_the_end() {
    let world = World::start();
    let ann = world.person("ann");
    let mut people = [seated(&world, &ann)];
    announce(&world, "ice", "fish", &["house:greedy", "ann", "house:random"], slow());
    // Once by keyboard: a penguin is put down again, another is chosen with an arrow.
    play_on(&world, "ice", &mut people, &[".tile.open", ".penguin.open"], |browser, choice| {
        if choice == ".tile.open" {
            return browser.click(choice, "");
        }
        browser.eval(&format!("document.querySelector('{choice}').focus()"));
        browser.press("Enter");
        browser.until_true("a tile has the focus", "document.activeElement.matches('.tile.open')");
        browser.press("Escape");
        browser.until_true("it is put down", "document.querySelector('.tile.open') === null");
        browser.press("Enter");
        browser.until_true("a tile has the focus", "document.activeElement.matches('.tile.open')");
        browser.press("Enter");
        browser.until_text(".confirmation", "Slide");
        browser.press("Enter");
    });
    let result = result(&world, "ice");
    shows_end(&mut people[0], &result);
    // The page's own receipt agrees with the logs.
    people[0].until_text(".receipt", "The log of ice agrees with your receipt:");
}

#[test]
pub(crate) fn a_person_plays_trains_against_house_players_to_the_end() {
    let world = World::start();
    let ann = world.person("ann");
    let mut people = [seated(&world, &ann)];
    announce(&world, "rails", "trains", &["ann", "house:greedy", "house:hold-10"], slow());
    let [one] = &mut people;
    one.click(".goal-choice", "");
    one.until_true("one is not enough", "document.querySelector('button.keep').disabled");
    one.eval("document.querySelectorAll('.goal-choice')[3].focus()");
    one.press(" ");
    one.until_true("no third", "document.querySelectorAll('.goal-choice:disabled').length === 3");
    one.click("button.keep", "Keep 2 of 2");
    one.until_true("both are shown", "document.querySelectorAll('.goals li').length === 2");
    // Can the first connection that is free be hit on the map?
    let map = "(way => {
        if (!way) return false;
        way.scrollIntoView({ block: 'center' });
        const { x, y, width, height } = way.getBoundingClientRect();
        const hit = document.elementFromPoint(x + width / 2, y + height / 2);
        return hit !== null && way.contains(hit);
    })(document.querySelector('.way.open'))";
    let (on_map, in_list) = (Cell::new(0), Cell::new(0));
    play_on(&world, "rails", &mut people, &[".way-choice", "button.cards"], |browser, choice| {
        // On the map or in the list, it is the same.
        let turn = on_map.get() <= in_list.get();
        match choice == ".way-choice" && turn && browser.eval(map) == true {
            true => {
                on_map.set(on_map.get() + 1);
                browser.click(".way.open", "");
            }
            false => {
                in_list.set(in_list.get() + u32::from(choice == ".way-choice"));
                browser.click(choice, "");
                if choice == "button.cards" {
                    browser.click(".send", "Confirm");
                }
            }
        }
    });
    assert!(on_map.get() > 0 && in_list.get() > 0, "{on_map:?} {in_list:?}");
    let result = result(&world, "rails");
    shows_end(&mut people[0], &result);
}

#[test]
pub(crate) fn open_question_survives_a_reload_and_a_change_of_device() {
    let world = World::start();
    let ann = world.person("ann");
    let mut first = seated(&world, &ann);
    // Under this policy a lost connection costs the game, and the tournament.
    announce(&world, "ice", "fish", &["ann", "house:greedy"], slow());
    first.click(".tile.open", "");
    first.click(".send", "");
    first.until_true(
        "one is placed",
        "document.querySelectorAll('.penguin.open, .penguin.red').length === 1",
    );
    first.open(&world.url("#/play"));
    first.until_true("the ice is back", "document.querySelectorAll('.tile.open').length === 23");
    let mut second = seated(&world, &ann);
    first.until_text("[role=alert]", "in another window, or on another device");
    second.click(".tile.open", "");
    second.click(".send", "");
    second.until_true("two are placed", "document.querySelectorAll('.penguin.red').length === 2");
    first.click("[role=alert] button", "Continue here");
    first.until_true("they are here too", "document.querySelectorAll('.penguin.red').length === 2");
    second.until_text("[role=alert]", "in another window, or on another device");
    first.click(".tile.open", "");
    first.click(".send", "");
    first.until_true("three are placed", "document.querySelectorAll('.penguin.red').length === 3");
    let faults = world.get("/api/v1/tournaments/ice/matches/r1m1/faults");
    assert_eq!(faults["faults"], json!([]));
}

#[test]
fn receipt_of_a_person_on_two_devices_agrees_with_the_log() {
    let world = World::start();
    let ann = world.person("ann");
    let roll = |browser: &mut Browser, then: &str| {
        browser.click("button.roll", "");
        browser.until_text(".tray.asked", then);
    };
    for (id, returns) in [("there", false), ("back", true)] {
        let mut phone = seated(&world, &ann);
        announce(&world, id, "yahtzee-class", &["ann", "house:greedy"], slow());
        roll(&mut phone, "Roll 2 of 3");
        let mut laptop = seated(&world, &ann);
        phone.until_text("[role=alert]", "in another window, or on another device");
        roll(&mut laptop, "Choose a box");
        if returns {
            phone.click("[role=alert] button", "Continue here");
            phone.click("button.box", "");
            phone.click(".send", "");
            phone.until_text(".tray.asked", "Roll 1 of 3");
        }
        let leave = json!({"player": "house:greedy", "why": "a power cut"});
        world.order(&format!("/api/v1/tournaments/{id}/withdraw"), leave);
        world.until_over(id);
        let (last, own) =
            if returns { (&mut phone, "2 answers") } else { (&mut laptop, "1 answer") };
        let agrees = format!(
            "The log of {id} agrees with your receipt: {own}. 1 more answer came from another device"
        );
        last.until_text(".receipt", &agrees);
        last.until_no_text("[role=alert]", "contradicts");
    }
}

#[test]
fn every_board_is_accessible_during_a_choice_and_fits_a_phone() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    let check = |browser: &mut Browser, what: &str, sign: &str| {
        let there = format!("document.querySelector('{sign}') !== null");
        browser.until_true(what, &there);
        accessible_in_every_look(browser, what);
        look(browser, 1280, 900, false);
    };
    announce(&world, "dice", "yahtzee-class", &["ann", "house:greedy"], slow());
    check(&mut browser, "keeping dice", "button.roll");
    browser.click("button.roll", "");
    browser.until_text(".tray.asked", "Roll 2 of 3");
    browser.click("button.roll", "");
    check(&mut browser, "choosing a box", "button.box");
    world.order("/api/v1/tournaments/dice/withdraw", json!({"player": "ann", "why": "enough"}));
    world.until_over("dice");
    announce(&world, "rails", "trains", &["ann", "house:greedy"], slow());
    check(&mut browser, "picking destinations", ".goal-choice");
    browser.click(".goal-choice", "");
    browser.eval("document.querySelectorAll('.goal-choice')[3].click()");
    browser.click("button.keep", "Keep 2 of 2");
    while offered(&mut browser, &[".way-choice"]).is_none() {
        browser.click("button.cards", "Draw two cards");
        browser.click(".send", "Confirm");
        browser.until_true("ann is asked", "document.querySelector('button.cards') !== null");
    }
    check(&mut browser, "playing trains", ".way-choice");
}

#[test]
fn timed_out_person_sees_the_reason() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    let policy = json!({"match": {"time": {"answer_ms": 1_500}}});
    announce(&world, "hurry", "yahtzee-class", &["ann", "house:greedy"], policy);
    browser.until_text(".deadline", "left for your move");
    browser.until_text("[role=alert]", "You did not answer in time (no answer within 1.5 s)");
    browser.until_text(".caption", "house:greedy won: the game was forfeited.");
    browser.until_true(
        "the clock is gone",
        "document.querySelector('.deadline [role=timer]') === null",
    );
}

#[test]
fn a_game_goes_on_under_an_open_page_when_the_server_was_killed() {
    let mut world = World::start();
    let ann = world.person("ann");
    let mut people = [seated(&world, &ann)];
    announce(&world, "duel", "yahtzee-class", &["ann", "house:greedy"], slow());
    let [browser] = &mut people;
    for words in AWAY {
        browser.expect_error(words);
    }
    browser.eval("globalThis.mark = 'still here'");
    browser.click("button.roll", "");
    browser.until_text(".tray.asked", "Roll 2 of 3");
    world.kill();
    browser.until_text("[role=status]", "no connection");
    // An answer that is given now is not lost.
    browser.click("button.roll", "");
    world.start_again();
    browser.until_text("[role=status]", "you are connected");
    browser.until_text(".tray.asked", "Choose a box");
    play_on(&world, "duel", &mut people, &YAHTZEE, |browser, choice| browser.click(choice, ""));
    let result = result(&world, "duel");
    shows_end(&mut people[0], &result);
    people[0].until_true("it was never reloaded", "globalThis.mark === 'still here'");
}

#[test]
fn invited_person_accepts_and_plays() {
    let world = World::start();
    let (ann, bob) = (world.person("ann"), world.person("bob"));
    let (mut one, mut two) = (seated(&world, &ann), seated(&world, &bob));
    let selection = json!({
        "by": "invitation", "players": ["ann", "bob"], "at_least": 2, "wait_ms": 600_000,
        "ready_ms": 600_000,
    });
    world.announce(json!({
        "id": "friends", "preset": "yahtzee-class", "policy": slow(), "selection": selection,
    }));
    one.click("[role=alert] button", "Accept");
    two.click("[role=alert] button", "Accept");
    // They are here, so they are ready.
    one.until_true("ann is asked", "document.querySelector('button.roll') !== null");
    two.until_true("bob is asked", "document.querySelector('button.roll') !== null");
}

#[test]
fn invitation_is_accepted_or_rejected_on_every_view() {
    let world = World::start();
    let people = ["ann", "bob", "cat"].map(|name| world.person(name));
    // One looks at the lobby, two are there to play.
    let mut ann = world.browser_of(&people[0], "#/");
    let mut others = [&people[1], &people[2]].map(|one| world.browser_of(one, "#/play"));
    for other in &mut others {
        other.until_text("[role=status]", "you are connected");
    }
    let selection = json!({
        "by": "invitation", "players": ["ann", "bob", "cat"], "at_least": 2,
        "wait_ms": 600_000, "ready_ms": 600_000,
    });
    world.announce(json!({"id": "duel", "preset": "yahtzee-class", "selection": selection}));
    ann.until_text("[aria-label=Invitations]", "duel");
    let [bob, cat] = &mut others;
    bob.until_text("[role=alert]", "invites you to duel (yahtzee), with ann, bob, cat.");
    bob.click("[role=alert] button", "Accept");
    cat.click("[role=alert] button", "Reject");
    cat.until_no_text("main", "invites you to duel");
    // A person who accepts in the lobby is taken to the game, and is ready there.
    ann.click("[aria-label=Invitations] button", "Accept");
    ann.until_text("[role=status]", "you are connected");
    until("it starts", || world.get("/api/v1/tournaments/duel")["standing"] == "running");
    let plan = world.get("/api/v1/tournaments/duel")["plan"]["players"].clone();
    assert_eq!(plan, json!(["ann", "bob"]));
    for player in [&mut ann, bob] {
        player.until_true("it is asked", "document.querySelector('button.roll') !== null");
    }
}
