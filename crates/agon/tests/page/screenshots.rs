//! Pictures of every view for people to look at: `scripts/screenshots`.

use crate::browser::Browser;
use crate::checks::{furnished, look};
use crate::showing::{fish_cup, guests};
use crate::support::until;
use crate::world::World;
use base64ct::{Base64, Encoding};
use serde_json::json;
use std::path::{Path, PathBuf};

const LOOKS: [(&str, u32, u32, bool); 6] = [
    ("light-1366", 1366, 768, false),
    ("dark-1366", 1366, 768, true),
    ("light-360", 360, 740, false),
    ("dark-360", 360, 740, true),
    ("light-1920", 1920, 1080, false),
    ("dark-1920", 1920, 1080, true),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots")
}

fn keep(name: &str, picture: &str) {
    std::fs::write(folder().join(name), Base64::decode_vec(picture).unwrap()).unwrap();
}

/// Pictures of what is shown, in every look. `arrange` is called after each change of the window.
fn pictures(browser: &mut Browser, name: &str, mut arrange: impl FnMut(&mut Browser)) {
    browser.hide_scrollbars();
    for (look_name, width, height, dark) in LOOKS {
        look(browser, width, height, dark);
        arrange(browser);
        until_still(browser);
        keep(&format!("{name}-{look_name}.png"), &browser.picture());
        // A small picture of what is seen at first.
        if width == 1366 {
            look(browser, 1000, 640, dark);
            browser.eval("scrollTo(0, 0)");
            until_still(browser);
            let scheme = if dark { "dark" } else { "light" };
            keep(&format!("{name}-{scheme}.webp"), &browser.small_picture());
        }
    }
}

/// Waits until no move is being shown, and what follows the size of the window has its own.
fn until_still(browser: &mut Browser) {
    let frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
    browser.eval(frames);
    let still = "document.getAnimations().every(one => one.playState !== 'running' ||
        one.effect.getComputedTiming().endTime === Infinity)";
    browser.until_true("nothing moves", still);
    browser.until_true("the demo is there", "document.querySelector('agon-demo:empty') === null");
}

fn until_there(browser: &mut Browser, sign: &str) {
    let there = format!("document.querySelector({}) !== null", json!(sign));
    browser.until_true(&format!("{sign} is there"), &there);
    let loaded = "!document.querySelector('main').innerText.includes('Loading')";
    browser.until_true("everything is loaded", loaded);
}

#[test]
#[ignore = "makes pictures; scripts/screenshots runs it"]
fn every_view_in_every_look() {
    std::fs::create_dir_all(folder()).unwrap();
    let (world, mut views) = furnished();
    world.house_cup("pond", "fish", &["house:greedy", "house:random", "house:search"]);
    world.until_over("pond");
    views.extend([
        ("#/game/hall/r1m1", "h1"),
        ("#/replay/cup/r1m2/1", "agon-yahtzee *"),
        ("#/replay/pond/r1m1/1", "agon-fish *"),
        ("#/replay/rails/r1m1/1", "agon-trains *"),
        ("#/play", "h1"),
    ]);
    for (who, token) in [("", None), ("operator-", Some(world.operator.as_str()))] {
        let mut browser = match token {
            None => world.browser("#/docs"),
            Some(token) => world.browser_of(token, "#/docs"),
        };
        for (view, sign) in &views {
            let shown = view.trim_start_matches("#/").replace(['/', ':'], "-");
            let shown = if shown.is_empty() { "lobby" } else { &shown };
            pictures(&mut browser, &format!("{who}{shown}"), |browser| {
                browser.go(view);
                until_there(browser, sign);
                if view.contains("replay") {
                    browser.eval("document.querySelector('.analysis').scrollIntoView()");
                    until_there(browser, ".sums");
                    browser.eval("scrollTo(0, 0)");
                }
            });
        }
    }
    boards(&world);
    projector(&world);
    formats(&world);
    big_bracket();
    documents(&world);
    people(&world);
    trouble(&world);
}

/// A paused game as its player sees it, the question before a resignation, and mistakes in a form.
fn trouble(world: &World) {
    let mut browser = world.browser("#/");
    browser.click("[data-key=fish] button.start", "Play");
    until_there(&mut browser, ".tile.open");
    let name = browser.eval("JSON.parse(localStorage.getItem('agon.session')).account");
    let lobby = world.get("/api/v1/lobby");
    let all = lobby["tournaments"].as_array().unwrap().iter();
    let mut running = all.filter(|one| one["standing"] == "running" && one["game"] == "fish");
    let players =
        |id: &str| world.get(&format!("/api/v1/tournaments/{id}"))["plan"]["players"].clone();
    let id = running
        .find_map(|one| one["id"].as_str().filter(|id| players(id)[0] == name))
        .expect("the game of the guest");
    browser.click("button.give-up", "Resign");
    until_there(&mut browser, "dialog form");
    pictures(&mut browser, "play-resign", |_| ());
    browser.press("Escape");
    let why = "the hall is on fire, and everybody is outside";
    world.order(&format!("/api/v1/tournaments/{id}/pause"), json!({"why": why}));
    until_there(&mut browser, "p.paused");
    pictures(&mut browser, "play-paused", |_| ());
    browser.go("#/docs");
    until_there(&mut browser, ".your-game a");
    pictures(&mut browser, "docs-with-a-game", |_| ());
    let mut operator = world.browser_of(&world.operator, "#/new");
    until_there(&mut operator, "form");
    operator.fill("[name=id]", "Spring Cup");
    operator.fill("[name=at_most]", "1");
    operator.click("form button", "Create the tournament");
    until_there(&mut operator, ".wrong");
    pictures(&mut operator, "new-with-mistakes", |_| ());
}

/// Presses buttons of a game: of several choices the one with the largest number.
fn play(browser: &mut Browser, presses: u32, choices: &[&str]) {
    until_there(browser, ".board");
    for _ in 0..presses {
        let list = json!(choices);
        let press = format!(
            "(() => {{
               const worth = one => Number(/(\\d+)\\D*$/.exec(one.textContent)?.[1] ?? 0);
               const best = sign => [...document.querySelectorAll(
                 `${{sign}}:not(:disabled):not([aria-pressed=true])`)]
                 .sort((one, other) => worth(other) - worth(one))[0];
               const next = document.querySelector('button.keep:not(:disabled)') ??
                 document.querySelector('.send') ?? {list}.map(best).find(one => one);
               next?.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}));
               return Boolean(next);
             }})()"
        );
        browser.until_true("the guest can move", &press);
    }
}

/// The pictures of the README, to be copied to `docs/pictures`.
#[test]
#[ignore = "makes pictures; scripts/screenshots runs it"]
fn pictures_of_the_readme() {
    std::fs::create_dir_all(folder()).unwrap();
    let world = World::start();
    let mut browser = world.browser("#/docs");
    let picture = |browser: &mut Browser, name: &str| {
        until_still(browser);
        keep(&format!("readme-{name}.webp"), &browser.small_picture());
    };
    browser.hide_scrollbars();
    look(&mut browser, 1200, 768, false);
    browser.go("#/");
    let points = "[...document.querySelectorAll('agon-demo strong')].reduce((sum, one) =>
        sum + Number(one.textContent), 0)";
    browser.until_true("the demo is under way", &format!("{points} > 30"));
    picture(&mut browser, "start");
    browser.click("label", "Hard");
    browser.click("[data-key=trains] button.start", "Play");
    let choices = [".goal-choice", ".way-choice", "button.cards"];
    play(&mut browser, 50, &choices);
    // A moment in which the guest can choose between tracks.
    while browser.eval("document.querySelectorAll('.way-choice').length < 3") == true {
        play(&mut browser, 1, &choices);
    }
    browser.eval("document.activeElement.blur(); scrollTo(0, 0)");
    picture(&mut browser, "play");
    let mut browser = world.browser("#/docs");
    browser.hide_scrollbars();
    look(&mut browser, 1200, 768, false);
    world.house_cup("duel", "yahtzee-class", &["house:level-3", "house:level-5"]);
    world.until_over("duel");
    browser.go("#/replay/duel/r1m1/1");
    until_there(&mut browser, ".analysis");
    browser.eval("document.querySelector('.analysis').scrollIntoView()");
    until_there(&mut browser, ".sums");
    browser.eval(
        "scrollBy(0, document.querySelector('.analysis').getBoundingClientRect().top -
            document.querySelector('.top').offsetHeight - 12)",
    );
    picture(&mut browser, "analysis");
    let policy = json!({
        "format": {"kind": "bracket"},
        "match": {"ties": "replay", "time": {"house_pace_ms": 1_500}},
    });
    let players = ["house:level-3", "house:level-4", "house:level-5", "house:search"];
    let selection = json!({"by": "named", "players": players});
    let config = json!({"rows": 6, "columns": 5});
    world.announce(json!({
        "id": "spring-cup", "preset": "fish", "config": config, "policy": policy,
        "selection": selection,
    }));
    browser.go("#/tv/spring-cup");
    let later = "document.querySelector('.tv-head progress')?.value > 30";
    browser.until_true("the game is under way", later);
    picture(&mut browser, "projector");
}

/// A guest in the middle of each game.
fn boards(world: &World) {
    for (game, turns, choices) in [
        ("yahtzee", 13, ["button.box", "button.roll"].as_slice()),
        ("fish", 12, &[".tile.open", ".penguin.open"]),
        ("trains", 31, &[".goal-choice", ".way-choice", "button.cards"]),
    ] {
        let mut browser = world.browser("#/");
        browser.click(&format!("[data-key={game}] button.start"), "Play");
        play(&mut browser, turns, choices);
        until_there(&mut browser, &format!("{}, .send", choices.join(", ")));
        pictures(&mut browser, &format!("play-{game}"), |_| ());
        // The end of the game: the opponent leaves it.
        let lobby = world.get("/api/v1/lobby");
        let mut all = lobby["tournaments"].as_array().unwrap().iter();
        let of_game = |id: &str| id.starts_with(&format!("{game}-casual-"));
        let id = all.find_map(|one| one["id"].as_str().filter(|id| of_game(id))).unwrap();
        let leave = json!({"player": "house:level-2", "why": "a picture of the end"});
        world.order(&format!("/api/v1/tournaments/{id}/withdraw"), leave);
        until_there(&mut browser, ".after");
        browser.until_true("all fell", "document.querySelector('.celebration') === null");
        pictures(&mut browser, &format!("end-{game}"), |browser| {
            browser.eval("scrollTo(0, 0)");
        });
    }
}

/// Every format, as a page and on the projector, and the sum of a long match.
fn formats(world: &World) {
    let fish = ["house:greedy", "house:random", "house:search", "house:richest", "house:level-1"];
    let formats = [
        ("swiss", json!({"kind": "swiss"})),
        ("groups", json!({"kind": "groups", "size": 3})),
        ("gauntlet", json!({"kind": "gauntlet"})),
        ("twice", json!({"kind": "double-elimination"})),
        ("arena", json!({"kind": "arena", "rounds": 3})),
    ];
    let mut browser = world.browser("#/docs");
    for (id, format) in formats {
        fish_cup(world, id, &fish, &json!({"format": format, "match": {"ties": "replay"}}));
        world.until_over(id);
        for view in ["tournament", "tv"] {
            pictures(&mut browser, &format!("{view}-{id}"), |browser| {
                browser.go("#/docs");
                browser.go(&format!("#/{view}/{id}"));
                until_there(browser, ".match, .cross");
            });
        }
    }
    let policy = json!({"format": {"kind": "round-robin"}, "match": {"best_of": 99}});
    fish_cup(world, "long", &fish[..2], &policy);
    world.until_over("long");
    pictures(&mut browser, "game-long", |browser| {
        browser.go("#/game/long/r1m1");
        until_there(browser, ".rates");
    });
}

/// A bracket of 64 with live matches, and the projector that shows all of it.
fn big_bracket() {
    let world = World::with("[limits]\nguests_per_minute_max = 1000\n");
    let names = guests(&world, 64);
    until("all are here", || world.get("/api/v1/lobby")["here"] == 64);
    let policy = json!({
        "format": {"kind": "bracket"},
        "match": {"ties": "replay", "time": {"answer_ms": 600_000}},
    });
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    fish_cup(&world, "big", &names, &policy);
    let mut browser = world.browser("#/tournament/big");
    browser.until_true("later", "document.querySelectorAll('.two-sides .match.over').length > 50");
    pictures(&mut browser, "tournament-big", |_| ());
    browser.go("#/tv");
    until_there(&mut browser, ".tv-score");
    pictures(&mut browser, "tv-big-live", |_| ());
    world.order("/api/v1/tournaments/big/pause", json!({"why": "lunch"}));
    browser.go("#/tv/big");
    until_there(&mut browser, ".two-sides");
    pictures(&mut browser, "tv-big", |_| ());
}

/// A document, and an address that does not exist.
fn documents(world: &World) {
    let mut browser = world.browser("#/docs");
    browser.expect_error("status of 404");
    for (name, address) in [("document", "docs/native.md"), ("nowhere", "nope")] {
        browser.open(&world.url(address));
        until_there(&mut browser, "h1");
        pictures(&mut browser, name, |_| ());
    }
}

/// A guest who waits, the form to keep the account, and a player with rulings.
fn people(world: &World) {
    let mut browser = world.browser("#/");
    browser.click("[aria-label='Join the queue fish-casual']", "Join");
    until_there(&mut browser, "agon-waiting h2");
    pictures(&mut browser, "play-waiting", |_| ());
    browser.go("#/");
    until_there(&mut browser, "agon-waiting h2");
    pictures(&mut browser, "lobby-waiting", |_| ());
    browser.go("#/account");
    until_there(&mut browser, "#claim-form");
    pictures(&mut browser, "account-guest", |_| ());
    world.order("/api/v1/blacklist/ann", json!({"why": "two accounts"}));
    browser.go("#/player/ann");
    until_there(&mut browser, "[aria-label=Rulings]");
    pictures(&mut browser, "player-ann", |_| ());
    let mut operator = world.browser_of(&world.operator, "#/tournament/hall");
    operator.click("[aria-label=Operator] button", "Override");
    until_there(&mut operator, "dialog form");
    pictures(&mut operator, "operator-dialog", |_| ());
}

/// The projector while a cup is played.
fn projector(world: &World) {
    let players = ["house:greedy", "house:random", "house:search", "house:richest"];
    let policy = json!({
        "format": {"kind": "bracket"},
        "match": {"ties": "replay", "time": {"house_pace_ms": 1_000}},
    });
    let selection = json!({"by": "named", "players": players});
    world.announce(json!({
        "id": "evening-cup", "preset": "fish", "policy": policy, "selection": selection,
    }));
    let mut browser = world.browser("#/tv/evening-cup");
    let begun = "[...document.querySelectorAll('.tv-score .points')].some(e => e.textContent > 5)";
    browser.until_true("points are shown", begun);
    // A board that turned in the new window is fitted to it.
    let fills = "(() => { if (innerWidth < 800) return true;
        const board = document.querySelector('.tv-fit');
        const [own, area] = [board, board.parentElement].map(one => one.getBoundingClientRect());
        return Math.max(own.width / area.width, own.height / area.height) > 0.8; })()";
    pictures(&mut browser, "tv-live", |browser| {
        browser.until_true("the board fills the screen", fills);
    });
    browser.go("#/");
    until_there(&mut browser, ".hero");
    pictures(&mut browser, "lobby-live", |_| ());
}
