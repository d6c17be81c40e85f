//! The look of the page: text in three sizes, emblems, whole entries as links, long names, and how
//! fast the first view appears on a slow machine.

use crate::browser::Browser;
use crate::checks::{accessible_in_every_look, fits, furnished, look};
use crate::playing::seated;
use crate::world::World;
use serde_json::{Value, json};

/// The longest name in the widest letter.
fn widest() -> String {
    "W".repeat(50)
}

fn until_there(browser: &mut Browser, sign: &str) {
    let there = format!("document.querySelector({}) !== null", json!(sign));
    browser.until_true(&format!("{sign} is there"), &there);
}

/// Fails if the text of the page has more than three sizes, on a laptop and on a large screen.
pub(crate) fn has_three_sizes(browser: &mut Browser, what: &str) {
    for (width, height) in [(1366, 768), (1920, 1080)] {
        look(browser, width, height, false);
        let sizes = browser.eval(
            "(() => {
               const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
               const sizes = {};
               while (walk.nextNode()) {
                 const { parentElement: e, data } = walk.currentNode;
                 if (!data.trim() || !e.getClientRects().length) continue;
                 // Boards and charts are drawings, which scale.
                 if (e.closest('svg, .board, script, noscript')) continue;
                 sizes[getComputedStyle(e).fontSize] ??= e.outerHTML.slice(0, 90);
               }
               return sizes;
             })()",
        );
        assert!(sizes.as_object().unwrap().len() <= 3, "{what} at {width} px: {sizes:#}");
    }
}

#[test]
fn text_has_three_sizes() {
    let (world, mut views) = furnished();
    views.extend([
        ("#/game/cup/r1m2", ".board"),
        ("#/replay/cup/r1m2/1", ".analysis"),
        ("#/replay/rails/r1m1/1", ".analysis"),
    ]);
    let mut browser = world.browser("#/docs");
    // The projector is read from afar: its text grows with the screen.
    for (view, sign) in views.iter().filter(|(view, _)| !view.starts_with("#/tv")) {
        browser.go(view);
        until_there(&mut browser, sign);
        has_three_sizes(&mut browser, view);
    }
    for game in ["Yahtzee", "Fish", "Trains"] {
        browser.go("#/");
        browser.click("button.start", &format!("Play {game}"));
        browser.until_true("it is shown", "location.hash === '#/play'");
        until_there(&mut browser, ".board .strip");
        has_three_sizes(&mut browser, game);
    }
    for document in ["native", "operate"] {
        browser.open(&world.url(&format!("docs/{document}.md")));
        until_there(&mut browser, "article h1");
        has_three_sizes(&mut browser, document);
    }
}

#[test]
fn players_have_emblems_and_entries_are_links_as_a_whole() {
    let world = World::start();
    world.house_cup("cup", "yahtzee-class", &["house:greedy", "house:random"]);
    world.until_over("cup");
    let mut browser = world.browser("#/");
    until_there(&mut browser, "[aria-label='Recent results'] .entry .player .emblem");
    let emblems = browser.eval(
        "import('/web/lib/emblem.js').then(({ emblem }) =>
           ['ann', 'ann', 'bob'].map(name => emblem(name).outerHTML))",
    );
    assert_eq!(emblems[0], emblems[1], "the name alone decides");
    assert_ne!(emblems[0], emblems[2]);
    // Names are ink, not underlined links.
    let name = "getComputedStyle(document.querySelector('[aria-label=Leaderboard] a.player'))";
    let ink = "getComputedStyle(document.body).color";
    assert_eq!(browser.eval(&format!("{name}.color")), browser.eval(ink));
    assert_eq!(browser.eval(&format!("{name}.textDecorationLine")), "none");
    // A click on an empty place of an entry follows its link.
    let beside = browser.eval(
        "(() => { const entry = document.querySelector('[aria-label=\"Past tournaments\"] .entry');
           entry.scrollIntoView({ block: 'center', behavior: 'instant' });
           const box = entry.getBoundingClientRect();
           return document.elementFromPoint(box.x + box.width / 2, box.y + 3)?.href ?? null; })()",
    );
    assert_eq!(beside, world.url("#/tournament/cup"));
    browser.click("[aria-label='Past tournaments'] .entry", "cup");
    browser.until_text("h1", "cup");
}

#[test]
fn live_match_is_the_hero_of_the_lobby() {
    let world = World::start();
    world.person("ann");
    let selection = json!({"by": "named", "players": ["ann", "house:greedy"]});
    let policy = json!({"match": {"time": {"wait_ms": 600_000}}});
    world.announce(json!({
        "id": "cup", "preset": "yahtzee-class", "selection": selection, "policy": policy,
    }));
    let mut browser = world.browser("#/");
    browser.until_text(".hero .hero-names", "house:greedy");
    accessible_in_every_look(&mut browser, "the lobby with a live match");
    let beside = browser.eval(
        "(() => { const head = document.querySelector('.hero h2');
           head.scrollIntoView({ block: 'center', behavior: 'instant' });
           const { left, top } = head.getBoundingClientRect();
           return document.elementFromPoint(left + 2, top + 2)?.className; })()",
    );
    assert_eq!(beside, "button cover", "the whole panel is the link");
    browser.click(".hero .cover", "Watch cup live");
    browser.until_true("the match is shown", "location.hash === '#/game/cup/r1m1'");
}

#[test]
fn names_of_fifty_wide_letters_fit_a_phone() {
    let world = World::start();
    let (long, other) = (widest(), "M".repeat(50));
    let token = world.person(&long);
    world.person(&other);
    world.open_sign_up("spring", 8);
    let path = "/api/v1/tournaments/spring/signups";
    assert_eq!(world.send("POST", Some(&token), path, &Value::Null).0, 201);
    let selection = json!({"by": "named", "players": [long, other]});
    let policy = json!({"match": {"time": {"wait_ms": 600_000}}});
    for id in ["duel", "done"] {
        world.announce(json!({
            "id": id, "preset": "yahtzee-class", "selection": selection, "policy": policy,
        }));
    }
    let order = |what: &str, body: Value| {
        world.order(&format!("/api/v1/tournaments/done/{what}"), body);
    };
    crate::support::until("it runs", || {
        world.get("/api/v1/tournaments/done").get("began_at").is_some()
    });
    order("pause", json!({"why": "x".repeat(80)}));
    order("award", json!({"winners": [long], "why": "y".repeat(80)}));
    world.until_over("done");
    // Games with a replay, and with them a rating.
    let _seat = seated(&world, &token);
    let wanted = json!({"game": "fish", "players": [long, "house:level-1"]});
    let (status, casual) = world.send("POST", Some(&token), "/api/v1/casual", &wanted);
    assert_eq!(status, 201, "{casual}");
    let fish = casual["id"].as_str().expect("a name").to_owned();
    let selection = json!({"by": "named", "players": [long, "house:greedy"]});
    world.announce(json!({
        "id": "rails", "preset": "trains", "selection": selection, "policy": policy,
    }));
    for id in [fish.as_str(), "rails"] {
        let path = format!("/api/v1/tournaments/{id}/matches/r1m1");
        crate::support::until("a game runs", || {
            world.send("GET", None, &path, &Value::Null).1["in_progress"].is_object()
        });
        let leave = json!({"player": long, "why": "z".repeat(80)});
        world.order(&format!("/api/v1/tournaments/{id}/withdraw"), leave);
        world.until_over(id);
    }
    let views = [
        (format!("#/replay/{fish}/r1m1/1"), ".analysis"),
        ("#/replay/rails/r1m1/1".to_owned(), ".analysis"),
        ("#/tournament/rails".to_owned(), "#standings tbody tr"),
        ("#/leaderboard/trains".to_owned(), "#leaderboard tbody tr"),
        ("#/tv/done".to_owned(), ".tv-won"),
        ("#/tv/duel".to_owned(), ".view.tv"),
        ("#/".to_owned(), "[aria-label='Past tournaments']"),
        ("#/tournament/spring".to_owned(), ".qr"),
        ("#/tournament/duel".to_owned(), ".match"),
        ("#/tournament/done".to_owned(), "[aria-label=Rulings]"),
        (format!("#/player/{long}"), ".tiles"),
        ("#/game/duel/r1m1".to_owned(), "h1"),
        ("#/archive".to_owned(), ".entry"),
        ("#/account".to_owned(), "#log-out"),
        ("#/play".to_owned(), "h1"),
    ];
    let mut browser = world.browser_of(&token, "#/docs");
    look(&mut browser, 360, 740, false);
    for (view, sign) in &views {
        browser.go(view);
        until_there(&mut browser, sign);
        fits(&mut browser, view);
    }
}

/// Largest Contentful Paint and layout shift of the lobby on a machine with a quarter of this one's
/// speed and a line of 1.6 Mbit/s whose answers take 40 ms longer. The times are printed: the
/// machine that tests has others to serve. Layout shift has no time in it, so it is checked.
#[test]
fn lobby_appears_soon_and_stays_in_place_on_a_slow_machine() {
    let (world, _) = furnished();
    for (width, height) in [(1366, 768), (360, 740)] {
        let mut browser = world.browser("#/docs");
        look(&mut browser, width, height, false);
        browser.cdp("Emulation.setCPUThrottlingRate", json!({"rate": 4}));
        let line = json!({
            "offline": false, "latency": 40,
            "downloadThroughput": 200_000, "uploadThroughput": 200_000,
        });
        browser.cdp("Network.emulateNetworkConditions", line);
        browser.cdp("Network.setCacheDisabled", json!({"cacheDisabled": true}));
        browser.open(&world.url("#/"));
        browser.until_text("[aria-label=Leaderboard]", "house:greedy");
        let measured = browser.eval(
            "new Promise(done => {
               const seen = { lcp: 0, shift: 0, shifted: [] };
               new PerformanceObserver(list => list.getEntries().forEach(entry =>
                 seen.lcp = entry.startTime)).observe(
                   { type: 'largest-contentful-paint', buffered: true });
               new PerformanceObserver(list => list.getEntries().forEach(entry => {
                 seen.shift += entry.value;
                 seen.shifted.push(...entry.sources.map(({ node }) => node?.outerHTML?.slice(0, 80)));
               })).observe({ type: 'layout-shift', buffered: true });
               requestAnimationFrame(() => requestAnimationFrame(() => done(seen)));
             })",
        );
        eprintln!(
            "lobby at {width}×{height}, 4× slower, 1.6 Mbit/s, 40 ms latency: LCP {:.0} ms, \
             layout shift {:.4}",
            measured["lcp"].as_f64().unwrap(),
            measured["shift"].as_f64().unwrap(),
        );
        assert!(measured["lcp"].as_f64().unwrap() > 0.0, "{measured}");
        assert!(measured["shift"].as_f64().unwrap() < 0.01, "{measured:#}");
    }
}
