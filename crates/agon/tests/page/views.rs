//! Views against the API: what they show is what it says.

use crate::world::World;
use serde_json::{Value, json};

const CUP: [&str; 3] = ["house:greedy", "house:random", "house:optimal"];

/// The texts of all cells of a table's body, row by row.
fn cells(browser: &mut crate::browser::Browser, table: &str) -> Value {
    browser.eval(&format!(
        "[...document.querySelectorAll('{table} tbody tr')].map(row =>
           [...row.children].map(cell => cell.innerText.trim()))"
    ))
}

#[test]
pub(crate) fn a_tournament_agrees_with_the_api() {
    let world = World::start();
    world.house_cup("cup", "yahtzee-class", &CUP);
    world.until_over("cup");
    let cup = world.get("/api/v1/tournaments/cup");
    let mut browser = world.browser("#/tournament/cup");
    browser.until_text(".winner", cup["results"]["winners"][0].as_str().unwrap());
    let standings = cup["results"]["standings"].as_array().unwrap().iter().map(|one| {
        let of = |field: &str| one[field].to_string();
        json!([
            of("rank"),
            one["player"],
            format!("{}–{}", of("matches_won"), of("matches_lost")),
            format!("{}–{}", of("games_won"), of("games_lost")),
            of("points"),
        ])
    });
    assert_eq!(cells(&mut browser, "#standings"), Value::Array(standings.collect()));
    let shown = browser.text("[aria-label=Pairings]");
    for pairing in cup["pairings"].as_array().unwrap() {
        assert!(shown.contains(pairing["reason"].as_str().unwrap()), "{shown}");
    }
    let bye = &cup["results"]["rounds"][0]["byes"][0];
    assert!(shown.contains(bye["reason"].as_str().unwrap()), "{shown}");
    // Every game has a link, in the list and in the bracket.
    let games = cup["results"]["rounds"].as_array().unwrap().iter().flat_map(|round| {
        let matches = round["matches"].as_array().unwrap().iter();
        matches.flat_map(|one| {
            let games = one["result"]["games"].as_array().unwrap().iter();
            games.map(|game| {
                format!("#/replay/cup/{}/{}", one["id"].as_str().unwrap(), game["game"])
            })
        })
    });
    for link in games {
        let links = format!("document.querySelectorAll('a[href=\"{link}\"]').length");
        assert_eq!(browser.eval(&links), 2, "{link}");
    }
    // The bracket: two places in the first round, one of them a bye, and the final.
    let bracket = browser.eval(
        "[...document.querySelectorAll('.bracket .round')].map(round =>
           [...round.querySelectorAll('.match')].map(match =>
             [...match.querySelectorAll('.player')].map(player => player.innerText)))",
    );
    let of = |at: usize| cup["pairings"][at]["players"].clone();
    assert_eq!(bracket, json!([[[bye["player"]], of(0)], [of(1)]]));
}

#[test]
fn a_bracket_stands_where_its_matches_lead() {
    let world = World::start();
    let players = ["greedy", "random", "hold-10", "buy-now", "cheat"].map(|n| format!("house:{n}"));
    let selection = json!({"by": "named", "players": players});
    let policy = json!({"format": {"kind": "bracket"}, "match": {"ties": "replay"}});
    world.announce(json!({
        "id": "rails", "preset": "trains", "policy": policy, "selection": selection,
    }));
    world.until_over("rails");
    let mut browser = world.browser("#/tournament/rails");
    browser.until_text(".winner", "won");
    let rounds = browser.eval(
        "[...document.querySelectorAll('.bracket .round')].map(round =>
           [...round.querySelectorAll('.match')].map(match =>
             [...match.querySelectorAll('.player')].map(player => player.innerText)))",
    );
    let sizes = rounds.as_array().unwrap().iter().map(|round| round.as_array().unwrap().len());
    assert_eq!(sizes.collect::<Vec<_>>(), [4, 2, 1], "{rounds}");
    for (round, places) in rounds.as_array().unwrap().iter().enumerate().skip(1) {
        for (place, players) in places.as_array().unwrap().iter().enumerate() {
            let before = [0, 1].map(|half| rounds[round - 1][2 * place + half].to_string());
            for player in players.as_array().unwrap() {
                let came = before.iter().any(|names| names.contains(&player.to_string()));
                assert!(came, "{player} came to round {round} from nowhere: {rounds}");
            }
        }
    }
}

#[test]
fn remaining_time_is_estimated_from_past_rounds() {
    let world = World::start();
    let mut browser = world.browser("#/docs");
    // Four players, two rounds; one of two matches of the first is over after 30 s.
    let pairing = |round: u32, over: bool| json!({"round": round, "over": over});
    let policy = |kind: &str| json!({"format": {"kind": kind, "min": 2, "max": 4}});
    let plan = |kind| json!({"players": ["a", "b", "c", "d"], "policy": policy(kind)});
    let running = json!({
        "standing": "running", "began_at": 1_000, "plan": plan("bracket"),
        "pairings": [pairing(1, true), pairing(1, false)],
    });
    let mut left = |tournament: &Value| {
        browser.eval(&format!(
            "import('/web/lib/pace.js').then(pace =>
               [pace.partDone({tournament}), pace.remaining({tournament}, 31_000)])"
        ))
    };
    assert_eq!(left(&running), json!([0.25, 90_000]));
    let mut later = running.clone();
    later["pairings"] = json!([pairing(1, true), pairing(1, true), pairing(2, false)]);
    assert_eq!(left(&later), json!([0.5, 30_000]));
    later["paused"] = json!({"by": "olga", "why": "lunch"});
    assert_eq!(left(&later), json!([0.5, null]), "nobody knows how long a pause is");
    let mut league = later.clone();
    league["plan"] = plan("round-robin");
    assert_eq!(left(&league)[0], json!(1.0 / 3.0));
    league["pairings"] = json!([]);
    assert_eq!(left(&league), json!([0, null]), "nothing is over, so nothing is known");
    league["standing"] = json!("over");
    assert_eq!(left(&league), json!([1, null]));
}

#[test]
fn everybody_against_everybody_is_a_table_and_a_knock_out_has_rounds() {
    let world = World::start();
    let selection = json!({"by": "named", "players": CUP});
    let policy = json!({"format": {"kind": "round-robin"}});
    world.announce(json!({
        "id": "league", "preset": "yahtzee-class", "policy": policy, "selection": selection,
    }));
    let trains = ["house:greedy", "house:hold-10", "house:buy-now", "house:cheat"];
    world.house_cup("rails", "trains", &trains);
    world.until_over("league");
    world.until_over("rails");
    let mut browser = world.browser("#/tournament/league");
    browser.until_text(".cross", "house:greedy");
    let league = world.get("/api/v1/tournaments/league");
    let table = cells(&mut browser, ".cross");
    for round in league["results"]["rounds"].as_array().unwrap() {
        for one in round["matches"].as_array().unwrap() {
            let at =
                |seat: usize| CUP.iter().position(|name| *name == one["players"][seat]).unwrap();
            let halves = |seat: usize| one["result"]["halves"][seat].as_u64().unwrap() / 2;
            let cell = table[at(0)][at(1) + 1].as_str().unwrap();
            assert!(cell.starts_with(&format!("{} : {}", halves(0), halves(1))), "{table}");
            let won = one["result"]["winners"][0] == one["players"][0];
            assert_eq!(cell.contains('♛'), won, "{table}");
        }
    }
    browser.go("#/tournament/rails");
    browser.until_text(".bracket.loose", "Round 1");
    // The page names the cheat by its typed word.
    let rails = world.get("/api/v1/tournaments/rails");
    let faults = rails["results"]["standings"].as_array().unwrap().iter();
    let faults: Vec<&Value> = faults.flat_map(|one| one["faults"].as_array().unwrap()).collect();
    assert!(!faults.is_empty(), "{rails}");
    for fault in faults {
        browser.until_text("[aria-label=Faults]", fault[1]["player"].as_str().unwrap());
        browser.until_text("[aria-label=Faults] code", fault[1]["fault"]["code"].as_str().unwrap());
    }
}

#[test]
fn every_format_is_drawn_with_the_numbers_that_rank() {
    let world = World::start();
    let stages = json!([{"format": {"kind": "groups", "size": 2}},
        {"format": {"kind": "bracket"}, "players": 2}]);
    // Each format, where the page draws it, and words of the drawing.
    let formats = [
        ("swiss", json!({"kind": "swiss"}), ".progress", "Round 1"),
        ("twice", json!({"kind": "double-elimination"}), ".parts", "Losers' bracket"),
        ("third", json!({"kind": "bracket", "third_place": true}), ".bracket", "Third place"),
        ("groups", json!({"kind": "groups", "size": 2}), ".groups", "Group B"),
        ("gauntlet", json!({"kind": "gauntlet"}), ".progress", "Round 3"),
        ("arena", json!({"kind": "arena", "rounds": 2}), ".progress", "Round 2"),
        (
            "sure",
            json!({"kind": "until-sure", "confidence": 60, "places": 1, "matches_max": 6}),
            ".progress",
            "Round 1",
        ),
        ("knockout", json!({"kind": "knockout", "min": 2, "max": 2}), ".bracket.loose", "Round 1"),
        ("stages", json!({"kind": "stages", "stages": stages}), ".stages", "Stage 2: single"),
        ("cycles", json!({"kind": "round-robin", "cycles": 2}), ".cross", "house:greedy"),
    ];
    for (id, format, _, _) in &formats {
        let ties = if *id == "knockout" { "share" } else { "replay" };
        let fish = ["house:greedy", "house:random", "house:search", "house:richest"];
        world.announce(json!({
            "id": id, "preset": "fish", "config": {"rows": 4, "columns": 3},
            "policy": {"format": format, "match": {"ties": ties}},
            "selection": {"by": "named", "players": fish},
        }));
    }
    let mut browser = world.browser("#/");
    browser.look(1366, 768, false);
    for (id, _, place, words) in &formats {
        world.until_over(id);
        browser.go(&format!("#/tournament/{id}"));
        browser.until_text(place, words);
        let whole = "(box => box.scrollWidth <= box.clientWidth)
            (document.querySelector('#standings').parentElement)";
        browser.until_true(&format!("the standings of {id} are whole"), whole);
        // An empty drawing has no players.
        let drawn = browser.text(place);
        let has_all = ["greedy", "random"].iter().all(|name| drawn.contains(name));
        assert!(has_all, "{id} is drawn as {drawn:?}");
        let shown = world.get(&format!("/api/v1/tournaments/{id}"));
        for one in shown["results"]["standings"][0]["tie_breaks"].as_array().into_iter().flatten() {
            let value = one["value"].as_i64().unwrap().to_string();
            browser.until_text("#standings", &value);
        }
    }
}

#[test]
fn a_player_agrees_with_the_api_and_evidence_is_for_its_owner() {
    let world = World::start();
    let bob = world.person("bob");
    let mut client = crate::support::Client::connect(world.tcp());
    client.log_in("bob", crate::world::PASSWORD);
    client.hear_until("welcome");
    let selection = json!({"by": "named", "players": ["bob", "house:greedy"]});
    world.announce(json!({"id": "duel", "preset": "yahtzee-class", "selection": selection}));
    client.hear_until("request");
    client.say("this is no answer");
    world.until_over("duel");
    world.house_cup("cup", "yahtzee-class", &CUP);
    world.until_over("cup");
    let mut browser = world.browser("#/player/house:greedy");
    let account = world.get("/api/v1/accounts/house:greedy");
    let points = account["statistics"]["total"]["points"].to_string();
    browser.until_text(".tiles", &points);
    let met = world.get("/api/v1/statistics/house:greedy/versus");
    for one in met["opponents"].as_array().unwrap() {
        browser.until_text("[aria-label='Head to head']", one["other"].as_str().unwrap());
    }
    let history = world.get("/api/v1/ladders/yahtzee/history/house:greedy");
    let dots = browser.eval("document.querySelectorAll('.chart .dot').length");
    assert_eq!(dots, history["points"].as_array().unwrap().len());
    browser.until_text("[aria-label='Recent games']", "duel");
    browser.go("#/player/bob");
    browser.until_text("[aria-label='Recent games']", "duel");
    assert_eq!(browser.text("[aria-label='Evidence of faults']"), "", "not for strangers");
    let mut own = world.browser_of(&bob, "#/player/bob");
    own.click("[aria-label='Evidence of faults'] summary", "malformed");
    own.until_text("[aria-label='Evidence of faults'] pre", "this is no answer");
    // The statistics count the faults that the list shows.
    let listed =
        own.eval("document.querySelectorAll('[aria-label=\"Evidence of faults\"] details').length");
    let total = world.get("/api/v1/accounts/bob")["statistics"]["total"].clone();
    assert_eq!((&listed, &total["faults"]), (&json!(1), &json!(1)));
    let tile = "[...document.querySelectorAll('.tiles div')].find(e =>
        e.innerText.includes('faults')).innerText";
    assert!(own.eval(tile).as_str().unwrap().contains('1'), "the tile says so too");
}

#[test]
fn back_finds_a_view_where_it_was_left() {
    let world = World::start();
    for number in 0..4 {
        let id = format!("cup-{number}");
        world.house_cup(&id, "yahtzee-class", &["house:greedy", "house:random"]);
        world.until_over(&id);
    }
    let mut browser = world.browser("#/");
    browser.look(1280, 500, false);
    browser.until_text("[aria-label='Past tournaments']", "cup-3");
    browser.eval("scrollTo(0, document.documentElement.scrollHeight)");
    let left = browser.eval("scrollY");
    assert!(left.as_f64().unwrap() > 100.0, "{left}");
    browser.go("#/tournament/cup-0");
    browser.until_text("h1", "cup-0");
    assert_eq!(browser.eval("scrollY"), 0, "a new view begins at its top");
    browser.eval("history.back()");
    browser.until_text("[aria-label='Past tournaments']", "cup-3");
    browser.until_true("it is where it was", &format!("Math.abs(scrollY - {left}) < 2"));
    browser.eval("history.forward()");
    browser.until_text("h1", "cup-0");
    browser.until_true("this one was at its top", "scrollY === 0");
}

#[test]
fn missing_things_are_explained() {
    let world = World::start();
    let mut browser = world.browser("#/tournament/none");
    browser.expect_error("status of 404");
    browser.until_text("[role=alert]", "There is no tournament none");
    browser.go("#/player/nobody");
    browser.until_text("[role=alert]", "There is no account nobody");
    for nonsense in ["#/nonsense/%E0%A4%A", "#/constructor", "#/../app"] {
        browser.go(nonsense);
        browser.until_text("h1", "Not found");
    }
    browser.go("#/");
    browser.until_text("h1", "Play now");
}

#[test]
fn chosen_colours_are_kept() {
    let world = World::start();
    let mut browser = world.browser("#/");
    let theme = "document.documentElement.dataset.theme ?? null";
    let ground = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.eval(theme), Value::Null, "what the system says");
    let before = browser.eval(ground);
    let label = browser.eval("document.getElementById('theme').getAttribute('aria-label')");
    let other = if label == "Switch to dark" { "dark" } else { "light" };
    browser.click("#theme", "");
    assert_eq!(browser.eval(theme), other);
    let after = browser.eval(ground);
    assert_ne!(after, before, "it looks different");
    // And still does when the page is opened again.
    browser.open(&world.url("#/docs"));
    assert_eq!((browser.eval(theme), browser.eval(ground)), (other.into(), after));
    browser.click("#theme", "");
    assert_eq!(browser.eval(ground), before);
}
