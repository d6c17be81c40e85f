//! Showing and explaining: the projector, large drawings, the analysis of a game, long matches.

use crate::browser::Browser;
use crate::checks::{accessible, fits, look};
use crate::support::until;
use crate::world::World;
use agon_core::{
    Format, How, MatchResult, PlayerName, Preset, Raw, Secret, Tournament, TournamentCommand,
    TournamentPlan,
};
use agon_games::Registry;
use serde_json::{Value, json};
use std::process::Command;

/// A fish board that is played in a moment.
const SMALL: &str = r#"{"rows": 4, "columns": 3}"#;

/// Announces a tournament of house players on small Fish boards.
fn fish_cup(world: &World, id: &str, players: &[&str], policy: &Value) {
    let config: Value = serde_json::from_str(SMALL).unwrap();
    let selection = json!({"by": "named", "players": players});
    world.announce(json!({
        "id": id, "preset": "fish", "config": config, "policy": policy, "selection": selection,
    }));
}

/// The text of every cell of a table's body, row by row.
fn cells(browser: &mut Browser, table: &str) -> Vec<Vec<String>> {
    let found = browser.eval(&format!(
        "[...document.querySelectorAll('{table} tbody tr')].map(row =>
           [...row.children].map(cell => cell.textContent.trim()))"
    ));
    serde_json::from_value(found).expect("rows of text")
}

#[test]
fn projector_follows_a_live_cup_to_its_winner() {
    let world = World::start();
    let mut browser = Browser::start();
    browser.open(&world.url("tv#/tv?match=0&result=0.2&table=0.2"));
    browser.until_text(".tv-idle", "No tournament is running");
    let fish = ["house:greedy", "house:random", "house:search", "house:richest"];
    let policy = json!({
        "format": {"kind": "bracket"},
        "match": {"ties": "replay", "time": {"house_pace_ms": 400}},
    });
    fish_cup(&world, "cup", &fish, &policy);
    // It notes every match that the projector follows, and every score that it shows.
    browser.eval(
        "globalThis.followed = []; globalThis.scenes = [];
         new MutationObserver(() => {
           const { scene, followed: now } = document.querySelector('.view.tv').dataset;
           if (scenes.at(-1) !== scene) scenes.push(scene);
           if (now && followed.at(-1) !== now) followed.push(now);
         }).observe(document.querySelector('.view.tv'), { attributes: true }); 0",
    );
    browser.until_true("it follows a match", "followed.some(name => name.startsWith('cup/r1'))");
    browser.until_text(".tv-score .name", "house:");
    browser.until_true("a board is shown", "document.querySelector('agon-fish .tile') !== null");
    browser.until_true(
        "points are shown",
        "[...document.querySelectorAll('.tv-score .points')].some(e => Number(e.textContent) > 0)",
    );
    browser.until_true("it follows the final", "followed.includes('cup/r2m1')");
    world.until_over("cup");
    let winner = world.get("/api/v1/tournaments/cup")["results"]["winners"][0].clone();
    let winner = winner.as_str().unwrap();
    browser.until_text(".tv-won", &format!("{winner} won cup"));
    assert_eq!(browser.eval("scenes.includes('match') && scenes.at(-1) === 'table'"), true);
    browser.click(".tv-top a", "Leave");
    browser.until_true("the head is back", "document.querySelector('.top').clientHeight > 0");
}

#[test]
fn projector_prefers_close_scores_late_in_decisive_matches() {
    let world = World::start();
    let mut browser = world.browser("#/docs");
    let live = |id: &str, round: u32, won: [u32; 2], points: [u32; 2], percent: u32| {
        json!({
            "tournament": "cup", "rounds": 3,
            "live": {"match": id, "round": round, "players": ["a", "b"], "won": won, "best_of": 3,
                     "game": {"number": 1, "seats": ["a", "b"], "points": points, "percent": percent}},
        })
    };
    let mut first = |all: Value, shown: &str| {
        browser.eval(&format!(
            "import('/web/tv/choose.js').then(({{ chosen }}) =>
               chosen({all}, {}).live.match)",
            json!(shown)
        ))
    };
    let early = live("early", 1, [0, 0], [100, 99], 10);
    let late = live("late", 1, [0, 0], [100, 99], 90);
    let apart = live("apart", 1, [0, 0], [100, 10], 90);
    let decider = live("decider", 1, [1, 1], [100, 10], 90);
    let last = live("final", 3, [1, 1], [100, 10], 90);
    assert_eq!(first(json!([early, late, apart]), ""), "late");
    assert_eq!(first(json!([apart, decider]), ""), "decider");
    assert_eq!(first(json!([decider, last]), ""), "final");
    assert_eq!(first(json!([early, last]), "cup/early"), "final", "a final is worth leaving");
    let close = live("close", 1, [0, 0], [100, 97], 90);
    assert_eq!(first(json!([close, late]), "cup/close"), "close", "it does not jump");
}

#[test]
fn paced_house_players_leave_time_to_watch() {
    let world = World::start();
    let policy = json!({"match": {"time": {"house_pace_ms": 60_000}}});
    fish_cup(&world, "slow", &["house:greedy", "house:random"], &policy);
    let path = "/api/v1/tournaments/slow/live";
    until("its match is live", || {
        world.get(path)["matches"].as_array().is_some_and(|all| !all.is_empty())
    });
    let live = world.get(path);
    assert_eq!(live["matches"][0]["game"]["points"], json!([0, 0]));
    assert_eq!(world.get("/api/v1/tournaments/slow")["standing"], "running");
    let mut browser = world.browser("#/tournament/slow");
    browser.until_text(".match.live .points, .loose .points", "0");
}

#[test]
fn graph_has_the_numbers_of_agon_analyse() {
    let world = World::start();
    let houses = ["house:greedy", "house:random"];
    world.house_cup("dice", "yahtzee-class", &houses);
    fish_cup(&world, "ice", &houses, &json!({}));
    let folder = tempfile::tempdir().unwrap();
    let mut browser = world.browser("#/docs");
    for id in ["dice", "ice"] {
        world.until_over(id);
        let log = format!("/api/v1/tournaments/{id}/matches/r1m1/log");
        let file = folder.path().join(format!("{id}.jsonl"));
        std::fs::write(&file, world.raw("GET", None, &log, &Value::Null).1).unwrap();
        let agon = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(["analyse", "--json", "--quiet", "--match", "r1m1", "--game", "1"])
            .arg(&file)
            .output()
            .unwrap();
        assert!(agon.status.success(), "{}", String::from_utf8_lossy(&agon.stderr));
        let analysis: Value = serde_json::from_slice(&agon.stdout).unwrap();
        // The server may take longer than a request to solve Yahtzee.
        let path = format!("/api/v1/tournaments/{id}/matches/r1m1/games/1/analysis");
        until("it is analysed", || world.send("GET", None, &path, &Value::Null).0 == 200);
        agrees(&mut browser, id, &analysis["games"][0]);
    }
}

/// Compares the replay of a game with its analysis.
fn agrees(browser: &mut Browser, id: &str, analysis: &Value) {
    let number = |value: &Value, digits: usize| format!("{:.digits$}", value.as_f64().unwrap());
    browser.go(&format!("#/replay/{id}/r1m1/1?at=0"));
    browser.until_true("it is shown", "document.querySelector('.analysis') !== null");
    browser.eval("document.querySelector('.analysis').scrollIntoView()");
    browser.until_true("it is analysed", "document.querySelector('.sums') !== null");
    let rows = cells(browser, ".sums");
    let players = analysis["players"].as_array().unwrap();
    assert_eq!(rows.len(), players.len());
    for (row, one) in rows.iter().zip(players) {
        assert_eq!(row[0], one["player"].as_str().unwrap());
        assert_eq!(row[1], one["score"].to_string());
        let cost = match one["luck"].is_null() {
            true => &row[2],
            false => {
                assert_eq!(
                    row[2].trim_start_matches(['+', '−']),
                    number(&one["luck"], 1).trim_start_matches('-')
                );
                assert_eq!(row[3], number(&one["adjusted"], 1));
                &row[4]
            }
        };
        assert!(cost.starts_with(&number(&one["cost"], 1)), "{id}: {row:?}, not {one}");
    }
    // The curves end at the sums, and each costly decision has a mark and a link to its step.
    let panels = if players[0]["luck"].is_null() { 1 } else { 2 };
    let lines = "document.querySelectorAll('.graph .panel .line').length";
    assert_eq!(browser.eval(lines), panels * players.len(), "{id}");
    let costly: Vec<&Value> =
        players.iter().flat_map(|one| one["costliest"].as_array().unwrap()).collect();
    assert_eq!(browser.eval("document.querySelectorAll('.graph .costly').length"), costly.len());
    for step in &costly {
        let better = step["better"].as_str().unwrap();
        browser.until_text("ol.costliest button", &format!("better was: {better}"));
    }
    let Some(first) = costly.first() else { return };
    browser.click("ol.costliest button", first["place"].as_str().unwrap().get(1..).unwrap());
    let player = players[first["seat"].as_u64().unwrap() as usize]["player"].as_str().unwrap();
    browser.until_text(".told", player);
    browser.until_true("the address names the step", "!location.hash.endsWith('at=0')");
    let cursor = "Number(document.querySelector('.graph .cursor').getAttribute('x1')) > 61";
    browser.until_true("the cursor moved", cursor);
}

#[test]
fn faults_of_a_game_lead_to_their_step_and_evidence_is_for_its_owner() {
    let world = World::start();
    let bob = world.person("bob");
    let mut client = crate::support::Client::connect(world.tcp());
    client.log_in("bob", crate::world::PASSWORD);
    client.hear_until("welcome");
    let selection = json!({"by": "named", "players": ["bob", "house:greedy"]});
    let policy = json!({"match": {"time": {"wait_ms": 500}}});
    world.announce(json!({
        "id": "duel", "preset": "yahtzee-class", "policy": policy, "selection": selection,
    }));
    client.hear_until("request");
    client.say("this is no answer");
    world.until_over("duel");
    let mut browser = world.browser("#/replay/duel/r1m1/1");
    browser.until_text(".game-faults", "malformed");
    browser.until_text(".game-faults", "operators see the evidence");
    let mut own = world.browser_of(&bob, "#/replay/duel/r1m1/1");
    own.click(".game-faults summary", "");
    own.until_text(".game-faults pre", "this is no answer");
    own.click(".game-faults button", "Go to step");
    own.until_text(".told", "Step");
}

/// A bracket of 64 in its third round, as the core decides it: half of that round is live. The
/// second value is the answer of `…/live`.
fn bracket_of_64() -> (Value, Value) {
    let preset = Preset::named("yahtzee-class").unwrap();
    let games = Registry::standard();
    let kind = games.kind(preset.game).unwrap().clone();
    let players = (1..=64).map(|number| PlayerName::new(&format!("player-number-{number}")));
    let mut policy = preset.policy;
    policy.format = Format::read("bracket", &(2..=2)).unwrap();
    let plan = TournamentPlan {
        id: "big".into(),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(kind.check_config(preset.config).unwrap()),
        policy,
        players: players.map(Result::unwrap).collect(),
    };
    let secret = Secret::from_seed_number(1);
    let (mut cup, _) = Tournament::create(plan.clone(), kind, secret).unwrap();
    for _ in 0..32 + 16 + 4 {
        let open = cup.open_matches().next().unwrap().clone();
        let result = MatchResult {
            winners: vec![open.players[0].clone()],
            how: How::Played,
            halves: vec![4, 2],
            games: Vec::new(),
            counts_from: 1,
            faults: Vec::new(),
            out: Vec::new(),
        };
        cup.step(TournamentCommand::Report { id: open.id, result, head: None }).unwrap();
    }
    let rounds = cup.rounds().iter().zip(1..);
    let pairings = rounds.flat_map(|(round, number)| {
        round.matches.iter().zip(&round.results).map(move |(plan, result)| {
            json!({
                "round": number, "match": plan.id, "players": plan.players,
                "reason": plan.reason, "over": result.is_some(),
            })
        })
    });
    let live = cup.open_matches().map(|plan| {
        let game = json!({
            "number": 2, "seats": plan.players, "points": [101, 99], "percent": 50,
        });
        json!({
            "match": plan.id, "round": plan.round, "players": plan.players, "won": [1, 0],
            "best_of": 3, "game": game,
        })
    });
    let live = json!({"tournament": "big", "matches": live.collect::<Vec<_>>()});
    let whole = json!({
        "standing": "running", "id": "big", "began_at": 0,
        "plan": {"preset": plan.preset, "game": plan.game, "policy": plan.policy,
                 "players": plan.players},
        "pairings": pairings.collect::<Vec<_>>(), "results": cup.results(),
    });
    (whole, live)
}

#[test]
fn bracket_of_64_fits_the_width_of_a_projector() {
    let world = World::start();
    let mut browser = world.browser("#/docs");
    let (whole, live) = bracket_of_64();
    // 64 accounts would take a minute, so the page gets the answers of the core in another way.
    browser.eval(&format!(
        "(() => {{
           const real = globalThis.fetch;
           globalThis.fetch = async (address, ...rest) => {{
             const [, what] = /tournaments\\/big(.*)$/.exec(String(address)) ?? [];
             if (what === undefined) return real(address, ...rest);
             if (what === '/events') return new Promise(() => {{}});
             if (what === '/rulings') return new Response('{{\"rulings\":[]}}');
             return new Response(JSON.stringify(what === '/live' ? {live} : {whole}));
           }};
         }})()"
    ));
    look(&mut browser, 1920, 1080, false);
    browser.go("#/tournament/big");
    let count = |kind: &str| format!("document.querySelectorAll('.two-sides .match{kind}').length");
    browser.until_true("finished matches", &format!("{} === 52", count(".over")));
    browser.until_true("live matches", &format!("{} === 4", count(".live")));
    browser.until_true("later matches", &format!("{} === 7", count(".empty")));
    browser.until_text(".match.live .points", "101");
    let styled = "getComputedStyle(document.querySelector('.two-sides')).display === 'flex'";
    browser.until_true("the style is there", styled);
    for (width, height, most) in [(1920, 1080, 1000.0), (1366, 768, 1000.0)] {
        look(&mut browser, width, height, false);
        let outside = browser.eval(
            "[...document.querySelectorAll('.two-sides .match')].filter(e => {
               const { left, right } = e.getBoundingClientRect();
               return left < 0 || right > innerWidth || right - left < 70; }).length",
        );
        assert_eq!(outside, 0, "at {width} px");
        let high = browser.eval("document.querySelector('.two-sides').clientHeight");
        assert!(high.as_f64().is_some_and(|high| high <= most), "{high} px high at {width} px");
    }
    look(&mut browser, 1920, 1080, false);
    let size = "parseFloat(getComputedStyle(document.querySelector('.compact .seat')).fontSize)";
    assert!(browser.eval(size).as_f64().is_some_and(|size| size >= 14.0));
    // The heads of the rounds stay in sight.
    let head = "document.querySelector('.round > h3').getBoundingClientRect().top";
    browser.eval(&format!("scrollBy(0, {head} + 200)"));
    browser.until_true("a head is in sight", &format!("{head} > 0 && {head} < 150"));
    // The projector shows all of it at once.
    browser.go("#/tv/big?table=1000");
    browser.until_true("it is drawn", &format!("{} === 52", count(".over")));
    let within = "(({ left, right, bottom }) => left >= 0 && right <= innerWidth + 1
         && bottom <= innerHeight + 1)(document.querySelector('.two-sides').getBoundingClientRect())";
    browser.until_true("all of it is on the screen", within);
    browser.go("#/tournament/big");
    look(&mut browser, 360, 740, false);
    browser.until_true("it is drawn", &format!("{} === 52", count(".over")));
    fits(&mut browser, "a bracket of 64");
}

#[test]
fn long_match_is_summed_up_and_the_replay_leads_to_the_next_game() {
    let world = World::start();
    let houses = ["house:greedy", "house:random"];
    let best_of =
        |games: u32| json!({"format": {"kind": "round-robin"}, "match": {"best_of": games}});
    fish_cup(&world, "long", &houses, &best_of(99));
    fish_cup(&world, "short", &houses, &best_of(3));
    world.until_over("long");
    world.until_over("short");
    let played = world.get("/api/v1/tournaments/long/matches/r1m1");
    let games = played["match"]["games"].as_array().unwrap();
    assert!(games.len() >= 50, "{}", games.len());
    let mut browser = world.browser("#/game/long/r1m1");
    browser.until_text(".rates", "%");
    let counted: Vec<&Value> = games.iter().filter(|game| game["end"] != "void").collect();
    for name in houses {
        let won: f64 = counted.iter().map(|game| share(game, name)).sum();
        let rate = format!("{:.1} %", 100.0 * won / counted.len() as f64);
        browser.until_text(".rates li", &rate);
    }
    let bars = browser.eval(
        "[...document.querySelectorAll('.histogram .bar title')].map(e =>
           Number(/: (\\d+) game/.exec(e.textContent)[1])).reduce((a, b) => a + b, 0)",
    );
    assert_eq!(bars, counted.iter().filter(|game| game["end"] == "played").count());
    let bullets =
        browser.eval("document.querySelectorAll('[data-key=results] > ul:not(.rates) li').length");
    assert_eq!(bullets, 0, "the games are not listed one by one");
    browser.click(".series summary", "");
    browser.click(".game-chip", "2");
    browser.until_text("h1", "house:greedy");
    browser.until_true("the title names the players", "document.title.includes('house:random')");
    browser.click("main nav a", "Next game");
    browser.until_text(".head", "game 3 of");
    browser.click("main nav a", "Previous game");
    browser.until_text(".head", "game 2 of");
    // After its end a match says how many games were played, not which one would be next.
    browser.go("#/game/short/r1m1");
    let short = world.get("/api/v1/tournaments/short/matches/r1m1");
    let count = short["match"]["games"].as_array().unwrap().len();
    browser.until_text("[data-key=standing]", &format!("Best of 3; {count} games played"));
}

/// The part of a game that a player won.
fn share(game: &Value, name: &str) -> f64 {
    let winners = game["winners"].as_array().unwrap();
    if winners.contains(&json!(name)) { 1.0 / winners.len() as f64 } else { 0.0 }
}

#[test]
fn every_score_of_a_bracket_is_shown() {
    let world = World::start();
    let fish = ["house:greedy", "house:random", "house:search", "house:richest"];
    let policy = json!({
        "format": {"kind": "bracket"}, "match": {"ties": "replay", "best_of": 5},
    });
    fish_cup(&world, "cup", &fish, &policy);
    world.until_over("cup");
    let mut browser = world.browser("#/tournament/cup");
    browser.until_text(".winner", "won");
    let cup = world.get("/api/v1/tournaments/cup");
    for round in cup["results"]["rounds"].as_array().unwrap() {
        for one in round["matches"].as_array().unwrap() {
            let games = one["result"]["games"].as_array().unwrap().len();
            let place = format!(".bracket [data-key={}] .score", one["id"].as_str().unwrap());
            let shown = browser.eval(&format!("document.querySelectorAll('{place}').length"));
            assert_eq!(shown, games, "{one}");
        }
    }
}

#[test]
fn every_format_fits_and_has_totals() {
    let world = World::start();
    let fish = ["house:greedy", "house:random", "house:search", "house:richest"];
    let formats = [
        ("swiss", json!({"kind": "swiss"}), ".progress .total"),
        ("league", json!({"kind": "round-robin"}), ".cross .total"),
        ("groups", json!({"kind": "groups", "size": 2}), ".groups .total"),
        ("gauntlet", json!({"kind": "gauntlet"}), "[aria-label=Challengers] .total"),
        ("twice", json!({"kind": "double-elimination"}), ".parts .match.over"),
        ("arena", json!({"kind": "arena", "rounds": 2}), ".progress .total"),
    ];
    for (id, format, _) in &formats {
        let policy = json!({"format": format, "match": {"ties": "replay"}});
        fish_cup(&world, id, &fish, &policy);
    }
    let mut browser = world.browser("#/docs");
    for (id, _, sign) in &formats {
        world.until_over(id);
        for (width, height) in [(1366, 768), (1920, 1080), (360, 740)] {
            look(&mut browser, width, height, false);
            browser.go("#/docs");
            browser.go(&format!("#/tournament/{id}"));
            browser.until_text(sign, "");
            fits(&mut browser, id);
        }
        look(&mut browser, 1920, 1080, false);
        browser.go(&format!("#/tv/{id}"));
        browser.until_true(
            &format!("{id} fills the screen"),
            "(({ width, height, right, bottom }) => (width > 800 || height > 500)
               && right <= innerWidth + 1 && bottom <= innerHeight + 1)
             (document.querySelector('.tv-fit').getBoundingClientRect())",
        );
    }
    // Wins add up to the matches that were decided.
    browser.go("#/tournament/league");
    browser.until_text(".cross", "house:greedy");
    let rows = cells(&mut browser, ".cross");
    let wins: u32 = rows.iter().map(|row| row[row.len() - 3].parse::<u32>().unwrap()).sum();
    assert_eq!(wins, 6, "{rows:?}");
}

#[test]
fn projector_and_analysis_are_accessible_and_fit_a_phone() {
    let world = World::start();
    let fish = ["house:greedy", "house:random", "house:search", "house:richest"];
    let policy = json!({"format": {"kind": "round-robin"}, "match": {"best_of": 99}});
    fish_cup(&world, "long", &fish[..2], &policy);
    world.until_over("long");
    let slow = json!({
        "format": {"kind": "bracket"},
        "match": {"ties": "replay", "time": {"house_pace_ms": 30_000}},
    });
    fish_cup(&world, "slow", &fish, &slow);
    let mut browser = world.browser("#/docs");
    let views = [
        ("#/tv", "agon-fish .tile"),
        ("#/tv/long", ".tv-won"),
        ("#/replay/long/r1m1/1", ".graph"),
        ("#/game/long/r1m1", ".rates"),
        ("#/tournament/slow", ".match.live .points"),
    ];
    for (view, sign) in views {
        browser.go(view);
        let there = format!("document.querySelector({}) !== null", json!(sign));
        browser.until_true(&format!("{view} is there"), &there);
        browser.eval("document.querySelector('.analysis')?.scrollIntoView()");
        if view.contains("replay") {
            browser.until_text(".sums", "house:greedy");
        }
        for dark in [false, true] {
            look(&mut browser, 1366, 768, dark);
            accessible(&mut browser, &format!("{view}, dark: {dark}"));
        }
        look(&mut browser, 360, 740, false);
        accessible(&mut browser, &format!("{view} on a phone"));
        fits(&mut browser, view);
    }
}
