//! An operator's actions in the page, and how everybody else sees them.

use crate::checks::accessible_in_every_look;
use crate::live::waiting_cup;
use crate::support::until;
use crate::world::{PASSWORD, World};
use serde_json::json;

#[test]
pub(crate) fn an_operator_pauses_overrides_undoes_and_resumes() {
    let world = World::start();
    world.person("ann");
    let selection = json!({"by": "named", "players": ["ann", "house:greedy"]});
    // Nobody waits for Ann in vain while browsers start.
    let policy = json!({"match": {"time": {"wait_ms": 600_000}}});
    world.announce(json!({
        "id": "cup", "preset": "yahtzee-class", "selection": selection, "policy": policy,
    }));
    let mut watcher = world.browser("#/tournament/cup");
    let mut browser = world.browser_of(&world.operator, "#/tournament/cup");
    watcher.until_text("[aria-label=Pairings]", "the final: slots 1 and 2 of 2");
    assert_eq!(watcher.text("[aria-label=Operator]"), "", "that is for operators");
    let rule = |browser: &mut crate::browser::Browser, button: &str, does: &str, why: &str| {
        browser.click("[aria-label=Operator] button", button);
        browser.fill("dialog [name=why]", why);
        browser.click("dialog button", does);
        browser.until_true("it is done", "document.querySelector('dialog') === null");
    };
    rule(&mut browser, "Pause", "Pause", "the hall is on fire");
    watcher.until_text(".paused", "the hall is on fire");
    let cup = || world.get("/api/v1/tournaments/cup");
    assert_eq!(cup()["paused"]["why"], "the hall is on fire");
    // A wrong ruling, undone.
    browser.click("[aria-label=Operator] button", "Override");
    browser.click("dialog label.line", "ann");
    browser.fill("dialog [name=why]", "a slip");
    browser.click("dialog button", "Override");
    watcher.until_text("[aria-label=Pairings]", "a slip (ann wins)");
    assert_eq!(cup()["pairings"][0]["overridden"]["winners"], json!(["ann"]));
    rule(&mut browser, "Undo", "Undo the ruling", "wrong name");
    watcher.until_no_text("[aria-label=Pairings]", "a slip");
    assert_eq!(cup()["pairings"][0].get("overridden"), None);
    // The right one.
    browser.click("[aria-label=Operator] button", "Override");
    browser.click("dialog label.line", "house:greedy");
    browser.fill("dialog [name=why]", "ann left the hall");
    browser.click("dialog button", "Override");
    watcher.until_text("[aria-label=Pairings]", "ann left the hall");
    rule(&mut browser, "Resume", "Resume", "the fire is out");
    watcher.until_text(".winner", "house:greedy won");
    assert_eq!(cup()["results"]["winners"], json!(["house:greedy"]));
}

#[test]
fn a_refused_ruling_says_why_and_a_game_is_voided() {
    let world = World::start();
    world.person("ann");
    waiting_cup(&world, "cup");
    let mut browser = world.browser_of(&world.operator, "#/tournament/cup");
    browser.expect_error("status of 409");
    // Meanwhile somebody else resumes it: the dialog stays open and says so.
    browser.click("[aria-label=Operator] button", "Override");
    browser.fill("dialog [name=why]", "too late");
    world.order("/api/v1/tournaments/cup/resume", json!({"why": "go on"}));
    browser.click("dialog button", "Override");
    browser.until_text("dialog [role=alert]", "pause it first");
    browser.press("Escape");
    browser.until_true("it is closed", "document.querySelector('dialog') === null");
    // A match between programs that are slow enough to be paused in a game.
    let mut player = crate::support::Client::logged_in(world.tcp(), "bob");
    let selection = json!({"by": "named", "players": ["bob", "house:random"]});
    world.announce(json!({"id": "duel", "preset": "yahtzee-class", "selection": selection}));
    player.hear_until("request");
    browser.go("#/tournament/duel");
    browser.click("[aria-label=Operator] button", "Pause");
    browser.fill("dialog [name=why]", "look at the dice");
    browser.click("dialog button", "Pause");
    browser.click("[aria-label=Operator] button", "Void a game");
    browser.until_text("dialog select", "game 1: void it");
    browser.fill("dialog [name=why]", "wrong dice");
    browser.click("dialog button", "Apply");
    browser.until_text("#news", "The ruling counts");
    let shown = world.get("/api/v1/tournaments/duel/matches/r1m1");
    assert_eq!(shown["in_progress"]["voided"]["why"], "wrong dice", "{shown}");
    browser.click("[aria-label=Operator] button", "Void a game");
    browser.until_text("dialog select", "game 1: let it count again");
    browser.fill("dialog [name=why]", "right dice");
    browser.click("dialog button", "Apply");
    browser.until_true("it is done", "document.querySelector('dialog') === null");
    let shown = world.get("/api/v1/tournaments/duel/matches/r1m1");
    assert_eq!(shown["in_progress"].get("voided"), None, "{shown}");
}

#[test]
fn an_operator_starts_an_open_sign_up_and_calls_another_off() {
    let world = World::start();
    for id in ["one", "two"] {
        world.open_sign_up(id, 8);
    }
    for name in ["ann", "bob"] {
        let token = world.person(name);
        let path = "/api/v1/tournaments/one/signups";
        assert_eq!(world.send("POST", Some(&token), path, &json!(null)).0, 201);
    }
    let mut browser = world.browser_of(&world.operator, "#/tournament/one");
    browser.until_text("[aria-label='Sign-up']", "2 players so far, at least 2, at most 8");
    browser.click("[aria-label=Operator] button", "Start now");
    browser.fill("dialog [name=why]", "everybody is here");
    browser.click("dialog button", "Start now");
    browser.until_text("[aria-label=Pairings]", "the final");
    browser.go("#/tournament/two");
    browser.until_text("h1", "two");
    browser.click("[aria-label=Operator] button", "Cancel it");
    browser.fill("dialog [name=why]", "nobody comes");
    browser.click("dialog button", "Cancel it");
    browser.until_text(".view", "This tournament was not played");
    assert_eq!(world.get("/api/v1/tournaments/two")["standing"], "called-off");
}

#[test]
fn an_operator_has_a_match_played_again() {
    let world = World::start();
    world.person("ann");
    let players = ["house:random", "house:greedy", "ann", "house:optimal"];
    let selection = json!({"by": "named", "players": players});
    // Nobody waits for Ann in vain while the test runs.
    let policy = json!({"match": {"time": {"wait_ms": 600_000}}});
    world.announce(json!({
        "id": "cup", "preset": "yahtzee-class", "selection": selection, "policy": policy,
    }));
    let cup = || world.get("/api/v1/tournaments/cup");
    until("a match is over", || {
        cup()["pairings"].as_array().is_some_and(|all| all.iter().any(|one| one["over"] == true))
    });
    let mut browser = world.browser_of(&world.operator, "#/tournament/cup");
    browser.click("[aria-label=Operator] button", "Pause");
    browser.fill("dialog [name=why]", "a look at the first match");
    browser.click("dialog button", "Pause");
    browser.click("[aria-label=Operator] button", "Replay");
    browser.fill("dialog [name=why]", "the wrong dice");
    browser.click("dialog button", "Replay it");
    browser.until_text("[aria-label=Pairings]", "the wrong dice");
    browser.click("[aria-label=Operator] button", "Resume");
    browser.fill("dialog [name=why]", "go on");
    browser.click("dialog button", "Resume");
    until("it is played again", || {
        let shown = cup();
        let again = shown["pairings"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|one| one["replays"].as_array().is_some_and(|replays| !replays.is_empty()));
        again.is_some_and(|one| one["over"] == true) && shown.get("paused").is_none()
    });
}

#[test]
fn operator_ends_a_paused_tournament_and_names_the_winner() {
    let world = World::start();
    world.person("ann");
    waiting_cup(&world, "hall");
    let mut browser = world.browser_of(&world.operator, "#/tournament/hall");
    browser.click("[aria-label=Operator] button", "End it now");
    browser.until_text("dialog", "Open matches become void. The ticked players win.");
    accessible_in_every_look(&mut browser, "the dialog that ends a tournament");
    browser.click("dialog label.line", "ann");
    browser.fill("dialog [name=why]", "the hall closes");
    browser.click("dialog button", "End the tournament");
    browser.until_text("#news", "The tournament is over.");
    browser.until_text(".winner", "ann won");
    let hall = world.get("/api/v1/tournaments/hall");
    assert_eq!(hall["results"]["winners"], json!(["ann"]));
    assert_eq!(hall["results"]["awarded"]["why"], "the hall closes");
    let mut visitor = world.browser("#/tournament/hall");
    visitor.until_text("[aria-label=Progress]", "the hall closes");
}

#[test]
fn operator_finds_every_account_and_registers_another() {
    let world = World::start();
    world.person("ann");
    let mut browser = world.browser_of(&world.operator, "#/account");
    browser.until_text("[aria-label=Accounts]", "ann");
    browser.fill("#staff-form [name=account]", "bob");
    browser.fill("#staff-form [name=password]", PASSWORD);
    browser.click("#staff-form button", "Register the account");
    browser.until_text("[aria-label=Accounts]", "bob");
    assert_eq!(world.get("/api/v1/accounts/bob")["kind"], "person");
    browser.until_text("#who a", "operator");
    browser.fill("[aria-label=Accounts] [type=search]", "BO");
    browser.until_no_text("[aria-label=Accounts]", "ann");
    accessible_in_every_look(&mut browser, "the account of an operator");
    browser.click("[aria-label=Accounts] .player", "bob");
    browser.until_text("h1", "bob");
    let cat = world.person("cat");
    let mut other = world.browser_of(&cat, "#/account");
    other.until_text("h1", "cat");
    assert_eq!(other.text("[aria-label=Accounts]"), "", "that is for operators");
}

#[test]
fn an_operator_blacklists_a_player_and_lifts_it() {
    let world = World::start();
    let ann = world.person("ann");
    world.open_sign_up("cup", 8);
    let mut browser = world.browser_of(&world.operator, "#/player/ann");
    browser.click("[aria-label=Operator] button", "Put on the blacklist");
    browser.fill("dialog [name=why]", "  ");
    let valid = "document.querySelector('dialog form').checkValidity()";
    assert_eq!(browser.eval(valid), false, "spaces are no reason");
    browser.fill("dialog [name=why]", "sold the match ");
    browser.click("dialog button", "Put on the blacklist");
    browser.until_text(".tag.bad", "blacklisted: sold the match");
    assert_eq!(world.get("/api/v1/accounts/ann")["blacklisted"], "sold the match");
    // She may not enter anything until it is lifted.
    let enter = || world.send("POST", Some(&ann), "/api/v1/tournaments/cup/signups", &json!(null));
    assert_eq!(enter().0, 403);
    browser.click("[aria-label=Operator] button", "Remove from the blacklist");
    browser.fill("dialog [name=why]", "it was her twin");
    browser.click("dialog button", "Remove from the blacklist");
    browser.until_no_text("main", "blacklisted: sold the match");
    assert_eq!(enter().0, 201);
    browser.click("[aria-label=Operator] button", "Log out");
    browser.fill("dialog [name=why]", "a stolen password");
    browser.click("dialog button", "Log out");
    // Everybody can read all three reasons afterwards.
    let mut visitor = world.browser("#/player/ann");
    for words in [
        "operator blacklisted",
        "sold the match",
        "operator lifted the blacklisting of",
        "it was her twin",
        "operator logged out",
        "a stolen password",
    ] {
        visitor.until_text("[aria-label=Rulings]", words);
    }
    accessible_in_every_look(&mut visitor, "a player with rulings");
}
