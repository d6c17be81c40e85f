//! Pictures of every view for people to look at: `scripts/screenshots`.

use crate::browser::Browser;
use crate::checks::{furnished, look};
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
    for (look_name, width, height, dark) in LOOKS {
        look(browser, width, height, dark);
        arrange(browser);
        keep(&format!("{name}-{look_name}.png"), &browser.picture());
        // The pictures of the README are of this size.
        if width == 1366 {
            look(browser, 1000, 640, dark);
            browser.eval("scrollTo(0, 0)");
            let scheme = if dark { "dark" } else { "light" };
            keep(&format!("{name}-{scheme}.webp"), &browser.small_picture());
        }
    }
}

fn until_there(browser: &mut Browser, sign: &str) {
    let there = format!("document.querySelector({}) !== null", json!(sign));
    browser.until_true(&format!("{sign} is there"), &there);
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
}

/// A guest in the middle of each game.
fn boards(world: &World) {
    for (game, turns, choices) in [
        ("yahtzee", 8, ["button.box", "button.roll"].as_slice()),
        ("fish", 7, &[".tile.open", ".penguin.open"]),
        ("trains", 12, &[".goal-choice", ".way-choice", "button.cards"]),
    ] {
        let mut browser = world.browser("#/");
        browser.click(&format!("[data-key={game}] button.start"), "Play");
        until_there(&mut browser, ".board");
        for _ in 0..turns {
            let list = json!(choices);
            let press = format!(
                "(() => {{
                   const keep = document.querySelector('button.keep:not(:disabled)');
                   const send = document.querySelector('.send');
                   const next = keep ?? send ?? {list}.map(one =>
                     document.querySelector(`${{one}}:not(:disabled):not([aria-pressed=true])`))
                     .find(one => one);
                   next?.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}));
                   return Boolean(next);
                 }})()"
            );
            browser.until_true("the guest can move", &press);
        }
        until_there(&mut browser, &choices.join(", "));
        pictures(&mut browser, &format!("play-{game}"), |_| ());
    }
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
    pictures(&mut browser, "tv-live", |_| ());
    browser.go("#/");
    until_there(&mut browser, ".hero");
    pictures(&mut browser, "lobby-live", |_| ());
}
