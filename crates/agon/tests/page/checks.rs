//! Checks of every view: it is accessible, small, free of other hosts, and clean for the checker.

use crate::browser::Browser;
use crate::live::waiting_cup;
use crate::world::World;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first view with everything it loads, as it is sent.
const FIRST_VIEW_BYTES_MAX: u64 = 100_000;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Fails on anything serious that axe-core finds on the page as it stands.
pub(crate) fn accessible(browser: &mut Browser, what: &str) {
    let found = findings(browser);
    assert_eq!(found, json!([]), "{what}: {found:#}");
}

/// Returns whether there is no axe-core to be had; scripts/test says so aloud.
fn unchecked() -> bool {
    std::env::var_os("AGON_AXE").is_some_and(|file| file == "none")
}

/// Serious accessibility violations, as axe-core reports them.
fn findings(browser: &mut Browser) -> Value {
    let file = std::env::var_os("AGON_AXE").map(PathBuf::from);
    if unchecked() {
        return json!([]);
    }
    let file = file.unwrap_or_else(|| top().join("target/axe-core/package/axe.min.js"));
    let axe = std::fs::read_to_string(&file);
    let axe = axe.unwrap_or_else(|error| {
        panic!("{}: {error}; scripts/test fetches axe-core", file.display())
    });
    if browser.eval("typeof axe") == "undefined" {
        browser.eval(&format!("{axe}; 0"));
    }
    browser.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
           .filter(({ impact }) => impact === 'serious' || impact === 'critical')
           .map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(node =>
             node.html + ' ' + node.failureSummary) })))",
    )
}

/// Sets the size of the window and whether it is dark.
pub(crate) fn look(browser: &mut Browser, width: u32, height: u32, dark: bool) {
    browser.look(width, height, dark);
}

/// Fails if something is wider than a phone.
pub(crate) fn fits(browser: &mut Browser, what: &str) {
    let wide = browser.eval(
        // A phone zooms out of a page that is too wide, and `innerWidth` grows with it.
        "(width => document.documentElement.scrollWidth <= width ? [] :
         [...document.querySelectorAll('body *')].filter(e =>
           e.getBoundingClientRect().right > width && !e.closest('.wide'))
           .map(e => e.outerHTML.slice(0, 120)))(document.documentElement.clientWidth)",
    );
    assert_eq!(wide, json!([]), "{what} is wider than the window");
}

/// Fails on anything serious that axe-core finds in light and dark, on a laptop and on a phone, and
/// if the page is wider than the phone.
pub(crate) fn accessible_in_every_look(browser: &mut Browser, what: &str) {
    for (width, height) in [(1366, 768), (360, 740)] {
        for dark in [false, true] {
            look(browser, width, height, dark);
            accessible(browser, &format!("{what}, {width} px, dark: {dark}"));
        }
    }
    fits(browser, what);
}

/// A server with something on every view: the views and what shows that each is there.
pub(crate) fn furnished() -> (World, Vec<(&'static str, &'static str)>) {
    let world = World::start();
    world.person("ann");
    let _bob = world.person("bob");
    let all = ["house:greedy", "house:random", "house:optimal"];
    world.house_cup("cup", "yahtzee-class", &all);
    world.house_cup("rails", "trains", &["house:greedy", "house:hold-10", "house:cheat"]);
    let policy = json!({"format": {"kind": "round-robin"}});
    let selection = json!({"by": "named", "players": all});
    world.announce(json!({
        "id": "league", "preset": "yahtzee-class", "policy": policy, "selection": selection,
    }));
    for id in ["cup", "rails", "league"] {
        world.until_over(id);
    }
    waiting_cup(&world, "hall");
    world.open_sign_up("spring", 8);
    let views = vec![
        ("#/", "[aria-label=Leaderboard] tbody tr"),
        ("#/tournament/cup", ".bracket .match"),
        ("#/tournament/league", ".cross"),
        ("#/tournament/rails", "[aria-label=Faults] code"),
        ("#/tournament/hall", ".paused"),
        ("#/tournament/spring", "[aria-label='Sign-up'] button"),
        ("#/player/house:greedy", ".chart svg"),
        ("#/account", "form"),
        ("#/docs", ".card"),
        ("#/leaderboard/yahtzee", "#leaderboard tbody tr"),
        ("#/archive", ".entry"),
        ("#/formats", "form"),
        ("#/tv/cup", ".tv-won"),
        ("#/rules", ".pressable"),
        ("#/rules/yahtzee", ".steps .picture"),
        ("#/rules/fish", ".steps .picture"),
        ("#/rules/trains", ".steps .picture"),
        ("#/demo", ".moves li"),
        ("#/bot", "pre"),
        ("#/new", ".card"),
    ];
    (world, views)
}

#[test]
fn every_view_is_accessible_and_fits_a_phone() {
    let (world, views) = furnished();
    for token in [None, Some(world.operator.as_str())] {
        let mut browser = match token {
            None => world.browser("#/docs"),
            Some(token) => world.browser_of(token, "#/docs"),
        };
        for (view, sign) in &views {
            browser.go(view);
            let sign = format!("document.querySelector({}) !== null", json!(sign));
            browser.until_true(&format!("{view} is there"), &sign);
            accessible_in_every_look(&mut browser, view);
        }
    }
}

#[test]
fn links_that_leave_the_page_open_in_a_new_tab() {
    let (world, views) = furnished();
    let mut browser = world.browser_of(&world.operator, "#/docs");
    let mut count = 0;
    for (view, sign) in &views {
        browser.go(view);
        let sign = format!("document.querySelector({}) !== null", json!(sign));
        browser.until_true(&format!("{view} is there"), &sign);
        let leaving = "[...document.querySelectorAll('a[href]')].filter(one =>
            !one.getAttribute('href').startsWith('#') && !one.hasAttribute('download'))";
        let wrong = browser.eval(&format!(
            "{leaving}.filter(one => one.target !== '_blank' || one.rel !== 'noopener')
               .map(one => one.outerHTML)"
        ));
        assert_eq!(wrong, json!([]), "{view}");
        count += browser.eval(&format!("{leaving}.length")).as_u64().unwrap_or_default();
    }
    assert!(count >= 7, "the documents and the files of results: {count}");
}

#[test]
fn accessibility_check_finds_planted_faults() {
    if unchecked() {
        return;
    }
    let world = World::start();
    let mut browser = world.browser("#/docs");
    browser.until_text("h1", "Documentation");
    assert_eq!(findings(&mut browser), json!([]));
    browser.eval(
        "const faint = document.createElement('p'); faint.textContent = 'faint';
         faint.style.color = '#ddd'; document.querySelector('main').append(faint, new Image()); 0",
    );
    let found = findings(&mut browser);
    let mut ids: Vec<&str> =
        found.as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["color-contrast", "image-alt"], "{found}");
}

#[test]
fn nothing_comes_from_elsewhere_and_nothing_foreign_runs() {
    let (world, views) = furnished();
    let (head, _) = world.raw("GET", None, "/", &Value::Null);
    let policy = head.lines().find_map(|line| line.strip_prefix("content-security-policy: "));
    let policy = policy.expect("a policy");
    assert!(policy.starts_with("default-src 'self';") && !policy.contains("unsafe"), "{policy}");
    let mut browser = world.browser("#/");
    for (view, sign) in &views {
        browser.go(view);
        let sign = format!("document.querySelector({}) !== null", json!(sign));
        browser.until_true(&format!("{view} is there"), &sign);
    }
    let own = world.url("");
    for request in browser.requests() {
        let inside = request.starts_with(&own) || request.starts_with("about:");
        assert!(inside, "{request} is elsewhere");
    }
    // The browser rejects scripts that an attacker might inject.
    browser.expect_error("Content Security Policy");
    browser.expect_error("TrustedHTML");
    browser.eval(
        "globalThis.refused = [];
         addEventListener('securitypolicyviolation', e => refused.push(e.effectiveDirective));
         const picture = new Image(); picture.src = 'http://127.0.0.1:9/x.png';
         const style = document.createElement('style');
         style.textContent = 'body { color: red }'; document.head.append(style); 0",
    );
    browser.until_true("both are refused", "refused.length >= 2");
    let markup = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken'; }
                   catch { return 'refused'; } })()";
    assert_eq!(browser.eval(markup), "refused");
}

#[test]
fn the_first_view_is_small() {
    let (world, _) = furnished();
    let mut browser = world.browser("#/");
    browser.until_text("[aria-label=Leaderboard]", "house:greedy");
    let sizes = browser.eval(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
           .map(({ name, encodedBodySize }) => [name, encodedBodySize])",
    );
    let sizes = sizes.as_array().unwrap();
    let sum: u64 = sizes.iter().filter_map(|entry| entry[1].as_u64()).sum();
    assert!(sizes.len() > 8 && sum > 10_000, "{sizes:?}");
    eprintln!("first view: {sum} bytes in {} requests", sizes.len());
    assert!(sum < FIRST_VIEW_BYTES_MAX, "{sum} bytes: {sizes:#?}");
}

#[test]
fn the_types_are_sound() {
    let checked = Command::new("tsc").args(["-p", "web"]).current_dir(top()).output();
    let checked = checked.expect("tsc is missing; scripts/test installs it");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
