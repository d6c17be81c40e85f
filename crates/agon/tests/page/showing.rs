//! Showing and explaining: the projector, large drawings, the analysis of a game, long matches.

use crate::browser::Browser;
use crate::checks::{accessible_in_every_look, fits, look};
use crate::support::until;
use crate::world::World;
use agon_client::{
    Address, Client, ClientError, ClientEvent, ClientSettings, House, Login, Player,
};
use serde_json::{Value, json};
use std::process::Command;

/// A fish board that is played in a moment.
const SMALL: &str = r#"{"rows": 4, "columns": 3}"#;

/// Announces a tournament of house players on small Fish boards.
pub(crate) fn fish_cup(world: &World, id: &str, players: &[&str], policy: &Value) {
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
pub(crate) fn projector_follows_a_live_cup_to_its_winner() {
    let world = World::start();
    let mut browser = Browser::start();
    browser.open(&world.url("tv#/tv?match=0&result=0.2&table=0.2"));
    browser.until_text(".tv-idle", "No tournament is running");
    let fish = ["house:greedy", "house:random", "house:search", "house:richest"];
    let policy = json!({
        "format": {"kind": "bracket"},
        "match": {"ties": "replay", "time": {"house_pace_ms": 400}},
    });
    // A casual game runs all the time; the cup is more interesting.
    let (_, guest) = world.send("POST", None, "/api/v1/guests", &Value::Null);
    let seats = json!({"game": "yahtzee", "players": [guest["account"], "house:level-1"]});
    let token = guest["token"].as_str().expect("a token");
    let (status, casual) = world.send("POST", Some(token), "/api/v1/casual", &seats);
    assert_eq!(status, 201, "{casual}");
    browser.until_text(".tv-score .name", "house:level-1");
    fish_cup(&world, "cup", &fish, &policy);
    // It notes every match that the projector follows, and every score that it shows.
    browser.eval(
        "globalThis.followed = []; globalThis.scenes = [];
         new MutationObserver(() => {
           const { scene, followed: now } = document.querySelector('.view.tv').dataset;
           if (scenes.at(-1) !== scene) scenes.push(scene);
           if (now && followed.at(-1) !== now) followed.push(now);
         }).observe(document.querySelector('.view.tv'), { attributes: true });
         globalThis.apart = [];
         const numbers = place => [...document.querySelectorAll(place)].map(e => e.textContent);
         new MutationObserver(() => {
           const [large, small] = [numbers('.tv-score .points'), numbers('.strip .number')];
           if (large.length && small.length && `${large}` !== `${small}`) apart.push([large, small]);
         }).observe(document.querySelector('.view.tv'), { childList: true, subtree: true,
           characterData: true }); 0",
    );
    browser.until_true("it follows a match", "followed.some(name => name.startsWith('cup/r1'))");
    browser.until_text(".tv-score .name", "house:");
    browser.until_true("a board is shown", "document.querySelector('agon-fish .tile') !== null");
    browser.until_true(
        "points are shown",
        "[...document.querySelectorAll('.tv-score .points')].some(e => Number(e.textContent) > 0)",
    );
    // The next match names those who may come, before the winners are known.
    browser.until_text(".tv-side", " or house:");
    // Nothing of the panel beside it is cut off.
    let inside = "[...document.querySelectorAll('.tv-side :is(li, h2)')].every(one =>
        one.getBoundingClientRect().right <= innerWidth)";
    browser.until_true("the panel is inside the screen", inside);
    browser.until_true("it follows the final", "followed.includes('cup/r2m1')");
    assert_eq!(browser.eval("apart"), json!([]), "the scoreboard agrees with the board");
    world.until_over("cup");
    let winner = world.get("/api/v1/tournaments/cup")["results"]["winners"][0].clone();
    let winner = winner.as_str().unwrap();
    browser.until_text(".tv-won", &format!("{winner} won cup"));
    assert_eq!(browser.eval("scenes.includes('match') && scenes.at(-1) === 'table'"), true);
    assert_eq!(browser.eval("followed.at(-1)"), "cup/r2m1", "no casual game in between");
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
fn cup_of_the_command_line_has_the_pace_of_its_flag() {
    let world = World::start();
    let server = world.url("");
    let created = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["admin", "--server", server.trim_end_matches('/')])
        .args(["tournament", "create", "show", "--preset", "fish", "--pace", "60000"])
        .args(["--named", "house:greedy", "house:search"])
        .env("AGON_TOKEN", &world.operator)
        .output()
        .unwrap();
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    until("it runs", || world.get("/api/v1/tournaments/show")["standing"] == "running");
    let show = world.get("/api/v1/tournaments/show");
    assert_eq!(show["plan"]["policy"]["match"]["time"]["house_pace_ms"], 60_000);
    let mut browser = world.browser("#/tv/show");
    browser.until_text(".tv-score .name", "house:");
}

#[test]
pub(crate) fn graph_has_the_numbers_of_agon_analyse() {
    let world = World::start();
    let houses = ["house:greedy", "house:random"];
    world.house_cup("dice", "yahtzee-class", &houses);
    fish_cup(&world, "ice", &houses, &json!({}));
    world.house_cup("rails", "trains", &["house:greedy", "house:hold-10"]);
    let folder = tempfile::tempdir().unwrap();
    let mut browser = world.browser("#/docs");
    for id in ["dice", "ice", "rails"] {
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

/// Scrolls to the analysis of a replay: the page loads it when it comes into sight.
fn look_at_analysis(browser: &mut Browser) {
    browser.until_true("it is shown", "document.querySelector('.analysis') !== null");
    browser.eval("document.querySelector('.analysis').scrollIntoView()");
}

/// Compares the replay of a game with its analysis.
fn agrees(browser: &mut Browser, id: &str, analysis: &Value) {
    let number = |value: &Value, digits: usize| format!("{:.digits$}", value.as_f64().unwrap());
    browser.go(&format!("#/replay/{id}/r1m1/1?at=0"));
    look_at_analysis(browser);
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
        let time = row.last().unwrap();
        assert!(time.contains("s, at most ") && time.ends_with('s'), "time per move: {time}");
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
    browser.until_text(".caption", player);
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
    look_at_analysis(&mut browser);
    browser.until_text(".game-faults", "malformed");
    browser.until_text(".game-faults", "operators see the evidence");
    let mut own = world.browser_of(&bob, "#/replay/duel/r1m1/1");
    look_at_analysis(&mut own);
    own.click(".game-faults summary", "");
    own.until_text(".game-faults pre", "this is no answer");
    own.click(".game-faults button", "Go to step");
    own.until_text(".caption", "Step");
}

#[test]
fn explanation_of_a_loss_is_in_sight_at_once() {
    let world = World::start();
    for (id, preset) in [("dice", "yahtzee-class"), ("ice", "fish"), ("rails", "trains")] {
        world.house_cup(id, preset, &["house:level-1", "house:level-2"]);
        world.until_over(id);
    }
    let mut browser = world.browser("#/docs");
    for id in ["dice", "ice", "rails"] {
        browser.eval(&format!("location.hash = '#/replay/{id}/r1m1/1?why=1'"));
        browser.until_text(".head", id);
        browser.until_text(".sums", "house:level-2");
        let top = "document.querySelector('.analysis').getBoundingClientRect().top";
        let below_the_head = "document.querySelector('.top').offsetHeight";
        let seen = format!("{top} >= {below_the_head} - 1 && {top} < {below_the_head} + 60");
        browser.until_true(&format!("{id}: the analysis is below the head"), &seen);
    }
}

#[test]
fn player_who_is_out_did_not_lose_by_decisions() {
    let world = World::start();
    world.house_cup("rails", "trains", &["house:greedy", "house:hold-10", "house:cheat"]);
    world.until_over("rails");
    let mut browser = world.browser("#/replay/rails/r1m1/1");
    look(&mut browser, 1366, 768, false);
    let whole = "(names => names.length === 3 &&
        names.every(name => name.scrollWidth <= name.clientWidth))
        ([...document.querySelectorAll('.strip .name')])";
    browser.until_true("the names of the players are whole", whole);
    look_at_analysis(&mut browser);
    browser.until_text("[data-key='house:cheat'].why", "house:cheat is out of the game.");
    let replay = world.get("/api/v1/tournaments/rails/matches/r1m1/games/1/replay");
    // The fault leads to the moment in which the player left, also for those without the evidence.
    let mut steps = replay["steps"].as_array().expect("steps").iter();
    let exit = steps.position(|step| step["event"] == "seat-removed").expect("a removal");
    browser.until_text(".game-faults button", &format!("Go to step {exit}"));
    let winners = replay["result"]["winners"].as_array().expect("the winners");
    for name in
        ["house:greedy", "house:hold-10"].into_iter().filter(|&it| !winners.contains(&it.into()))
    {
        browser.until_text(&format!("[data-key='{name}'].why"), &format!("{name} lost by"));
    }
    browser.until_text(".game-faults", "not-on-map");
}

/// A house player that also writes to stderr before each answer.
const TALKING_BOT: &str = r#"
import json, subprocess, sys
pipe = subprocess.PIPE
bot = subprocess.Popen(sys.argv[1:], stdin=pipe, stdout=pipe, text=True, bufsize=1)
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] not in ("hello", "request"):
        continue
    bot.stdin.write(line)
    if said["type"] == "request":
        print("asked to", said["question"]["ask"], "in", said["id"], file=sys.stderr, flush=True)
    print(bot.stdout.readline(), end="", flush=True)
"#;

#[test]
fn stderr_of_a_bot_is_shown_at_the_step_it_belongs_to() {
    let world = World::start();
    let agon = env!("CARGO_BIN_EXE_agon");
    let words = ["python3", "-c", TALKING_BOT, agon, "bot", "greedy"];
    let (mut bot, receipt) = world.recorded_program("bob", &words);
    until("bob is here", || world.get("/api/v1/lobby")["here"] == 1);
    fish_cup(&world, "ice", &["bob", "house:random"], &json!({}));
    world.until_over("ice");
    bot.code();
    let mut browser = world.browser("#/replay/ice/r1m1/1?at=1");
    look_at_analysis(&mut browser);
    browser.until_text(".stderr", "agon join --receipt FILE");
    browser.click(".stderr summary", "Stderr of your bot");
    // A person would choose the file in a dialog of the system.
    let text = std::fs::read_to_string(receipt).expect("a receipt");
    browser.eval(&format!(
        "(() => {{
           const all = new DataTransfer();
           all.items.add(new File([{}], 'bob.jsonl'));
           const field = document.querySelector('.stderr input');
           field.files = all.files;
           field.dispatchEvent(new Event('change'));
         }})()",
        json!(text)
    ));
    let replay = world.get("/api/v1/tournaments/ice/matches/r1m1/games/1/replay");
    let bob = replay["seats"].as_array().unwrap().iter().position(|name| name == "bob").unwrap();
    // The server itself confirms what leaves the bot no choice, with "ok".
    let asked = |step: &Value| {
        step["event"] == "answer-accepted" && step["seat"] == bob && step["answer"] != "ok"
    };
    let steps = replay["steps"].as_array().unwrap().iter().enumerate();
    let steps: Vec<(usize, &Value)> = steps.filter(|(_, step)| asked(step)).collect();
    let buttons = "[...document.querySelectorAll('.steps-with-output button')].map(e =>
        Number(e.textContent))";
    browser.until_true("output is there", &format!("{buttons}.length > 0"));
    let known: Vec<usize> = serde_json::from_value(browser.eval(buttons)).unwrap();
    let expected: Vec<usize> = steps.iter().map(|(at, _)| *at).collect();
    assert_eq!(known, expected, "every move of the bot has its output");
    for (at, step) in [steps[0], steps[steps.len() - 1]] {
        browser.click(&format!(".steps-with-output [aria-label='Step {at}']"), "");
        let ask = if step["answer"].get("place").is_some() { "place" } else { "move" };
        browser.until_text(".stderr pre", &format!("asked to {ask} in ice:r1m1.1.{bob}."));
        browser.until_text(".caption", &format!("Step {at} of"));
    }
    accessible_in_every_look(&mut browser, "the output of a bot");
}

/// 64 guests, and the threads that play for them until the test is over. In the third round the
/// players of the matches from `r3m5` on stop after their first slide, so that these stay live.
pub(crate) fn guests(world: &World, count: usize) -> Vec<String> {
    let names = (0..count).map(|_| {
        let (status, guest) = world.send("POST", None, "/api/v1/guests", &Value::Null);
        assert_eq!(status, 201, "{guest}");
        let text = |field: &str| guest[field].as_str().expect("a text").to_owned();
        let (name, token) = (text("account"), text("token"));
        let server = Address::parse(world.tcp()).expect("an address");
        let account = name.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(play_as(server, account, token))
        });
        name
    });
    names.collect()
}

/// Plays for a guest until the server is gone.
async fn play_as(server: Address, account: String, token: String) -> Result<(), ClientError> {
    let mut client = Client::connect(ClientSettings::new(server, Login::Token(token))).await?;
    let mut house = House::new(&account, "greedy");
    let mut slides = 0;
    loop {
        let ClientEvent::Request(request) = client.next().await? else { continue };
        let number = request.in_match.id.as_str().strip_prefix("r3m");
        if number.is_some_and(|number| number > "4") && request.question.get().contains("move") {
            slides += 1;
            if slides > 1 {
                continue;
            }
        }
        let answer = Player::answer(&mut house, &request).await?;
        client.answer(&request.id, &answer).await?;
    }
}

/// Renames the guests of the bracket on the projector. Long names have two lines, and at least 14
/// letters of the longest ones can be read.
fn long_names_can_be_read(browser: &mut Browser, is_drawn: &str) {
    let shown = "[...document.querySelectorAll('.two-sides .seat bdi')].map(name => {
        const letters = document.createRange();
        const bottom = name.getBoundingClientRect().bottom + 1;
        return [...name.textContent].findIndex((_, at) => {
          letters.setStart(name.firstChild, at);
          letters.setEnd(name.firstChild, at + 1);
          return letters.getBoundingClientRect().bottom > bottom;
        });
      }).filter(letters => letters >= 0)";
    let afar = "parseFloat(getComputedStyle(document.querySelector('.compact .seat')).fontSize)
        * document.querySelector('.tv-fit').style.zoom";
    for (name, least) in [("The Unstoppable Penguins, No. $1", 32), (&"W".repeat(50), 14)] {
        browser.go("#/docs");
        browser.eval(&format!(
            "window.untouched ??= window.fetch;
             window.fetch = async (...what) => {{
               const answer = await untouched(...what);
               const text = (await answer.text()).replaceAll(/Guest (\\d+)/g, {});
               return new Response(text, answer);
             }}",
            json!(name)
        ));
        browser.go("#/tv/big");
        let start = json!(name.split('$').next());
        let renamed =
            format!("document.querySelector('.seat bdi')?.textContent.startsWith({start})");
        browser.until_true("the names are long", &renamed);
        browser.until_true("all of it is on the screen", is_drawn);
        let cut_at = browser.eval(&format!("Math.min(99, ...{shown})"));
        assert!(cut_at.as_u64().is_some_and(|at| at >= least), "{name} is cut at {cut_at}");
        let size = browser.eval(afar);
        assert!(size.as_f64().is_some_and(|size| size >= 10.5), "{name} has {size} px");
    }
    browser.eval("window.fetch = untouched");
}

#[test]
fn bracket_of_64_fits_the_width_of_a_projector() {
    let world = World::with("[limits]\nguests_per_minute_max = 1000\n");
    let names = guests(&world, 64);
    until("all are here", || world.get("/api/v1/lobby")["here"] == 64);
    let policy = json!({
        "format": {"kind": "bracket"},
        "match": {"ties": "replay", "time": {"answer_ms": 600_000}},
    });
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let selection = json!({"by": "named", "players": names});
    world.announce(json!({
        "id": "big", "preset": "fish", "config": {"rows": 5, "columns": 5}, "policy": policy,
        "selection": selection,
    }));
    let mut browser = world.browser("#/docs");
    look(&mut browser, 1920, 1080, false);
    browser.go("#/tournament/big");
    let count = |kind: &str| format!("document.querySelectorAll('.two-sides .match{kind}').length");
    browser.until_true("finished matches", &format!("{} === 52", count(".over")));
    browser.until_true("live matches", &format!("{} === 4", count(".live")));
    browser.until_true("later matches", &format!("{} === 7", count(".empty")));
    browser.until_true(
        "live scores",
        "[...document.querySelectorAll('.match.live .points')].some(e => Number(e.textContent) > 0)",
    );
    let styled = "getComputedStyle(document.querySelector('.two-sides')).display === 'flex'";
    browser.until_true("the style is there", styled);
    let cut = "[...document.querySelectorAll('.two-sides .seat bdi')].filter(name =>
        name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight + 1).length";
    for (width, height, most) in [(1920, 1080, 1000.0), (1366, 768, 1000.0)] {
        look(&mut browser, width, height, false);
        assert_eq!(browser.eval(cut), 0, "the names are whole at {width} px");
        let outside = browser.eval(
            "[...document.querySelectorAll('.two-sides .match')].filter(e => {
               const { left, right } = e.getBoundingClientRect();
               return left < 0 || right > innerWidth || right - left < 70; }).length",
        );
        assert_eq!(outside, 0, "at {width} px");
        let high = browser.eval("document.querySelector('.two-sides').clientHeight");
        assert!(high.as_f64().is_some_and(|high| high <= most), "{high} px high at {width} px");
    }
    crate::look::has_three_sizes(&mut browser, "a bracket of 64");
    look(&mut browser, 1920, 1080, false);
    let size = "parseFloat(getComputedStyle(document.querySelector('.compact .seat')).fontSize)";
    assert!(browser.eval(size).as_f64().is_some_and(|size| size >= 14.0));
    // The heads of the rounds stay in sight.
    let head = "document.querySelector('.round > h3').getBoundingClientRect().top";
    browser.eval(&format!("scrollBy(0, {head} + 200)"));
    browser.until_true("a head is in sight", &format!("{head} > 0 && {head} < 150"));
    // In a pause there is no match to follow, so the projector shows all of it at once.
    world.order("/api/v1/tournaments/big/pause", json!({"why": "lunch"}));
    browser.go("#/tv/big");
    browser.until_true("it is drawn", &format!("{} === 52", count(".over")));
    let within = "(({ left, right, bottom }) => left >= 0 && right <= innerWidth + 1
         && bottom <= innerHeight + 1)(document.querySelector('.two-sides').getBoundingClientRect())";
    browser.until_true("all of it is on the screen", within);
    assert_eq!(browser.eval(cut), 0, "the names are whole on the projector");
    long_names_can_be_read(&mut browser, within);
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
        let (low, high) = wilson(won / counted.len() as f64, counted.len() as f64);
        let interval = format!("95 % interval: {:.1} % to {:.1} %", 100.0 * low, 100.0 * high);
        browser.until_text(&format!("[data-key='{name}'] .range"), &interval);
    }
    let bars = browser.eval(
        "[...document.querySelectorAll('.histogram .bar title')].map(e =>
           Number(/: (\\d+) game/.exec(e.textContent)[1])).reduce((a, b) => a + b, 0)",
    );
    assert_eq!(bars, counted.iter().filter(|game| game["end"] == "played").count());
    let bullets =
        browser.eval("document.querySelectorAll('[data-key=results] > ul:not(.rates) li').length");
    assert_eq!(bullets, 0, "the games are not listed one by one");
    look(&mut browser, 1366, 768, false);
    let whole = "[...document.querySelectorAll('.rates strong')].every(name =>
        name.clientWidth > 0 && name.scrollWidth <= name.clientWidth)";
    browser.until_true("the names are whole", whole);
    let above = "document.querySelector('.rates').getBoundingClientRect().bottom
        < document.querySelector('.stage').getBoundingClientRect().top";
    browser.until_true("the sum is above the board", above);
    // Head-to-head tallies with ties are the longest.
    browser.go("#/player/house:greedy");
    browser.until_text("[aria-label='Head to head']", "house:random");
    look(&mut browser, 360, 740, false);
    fits(&mut browser, "a player with tied games");
    browser.go("#/game/long/r1m1");
    browser.until_text(".rates", "%");
    fits(&mut browser, "a long match");
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

/// The 95 % interval of a share after Wilson, by the formula in the textbook.
fn wilson(share: f64, count: f64) -> (f64, f64) {
    let z = 1.96_f64;
    let spread = (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    let bound =
        |sign: f64| (share + z * z / (2.0 * count) + sign * z * spread) / (1.0 + z * z / count);
    (bound(-1.0), bound(1.0))
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
            // Ties are replayed. A match of very many games shows how many they were.
            if games > 9 {
                let foot = format!(".bracket [data-key={}] .foot", one["id"].as_str().unwrap());
                browser.until_text(&foot, &format!("{games} games"));
                continue;
            }
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
fn double_elimination_is_two_trees_with_lines_to_the_final() {
    let world = World::start();
    let fish = [
        "house:greedy",
        "house:random",
        "house:search",
        "house:richest",
        "house:level-1",
        "house:level-2",
    ];
    let policy = json!({"format": {"kind": "double-elimination"}, "match": {"ties": "replay"}});
    fish_cup(&world, "twice", &fish, &policy);
    world.until_over("twice");
    let cup = world.get("/api/v1/tournaments/twice");
    let matches = cup["pairings"].as_array().unwrap().len();
    let mut browser = world.browser("#/tournament/twice");
    browser.until_text(".double", "Losers' bracket");
    look(&mut browser, 1366, 768, false);
    let styled = "getComputedStyle(document.querySelector('.double')).display === 'grid'";
    browser.until_true("the style is there", styled);
    let drawn = browser.eval("document.querySelectorAll('.double .match.over').length");
    assert_eq!(drawn, matches, "every match is drawn once");
    // Every match stands in the middle between those that lead to it.
    let off = browser.eval(
        "(() => {
           const middle = place => {
             const { top, bottom } = place.firstElementChild.getBoundingClientRect();
             return (top + bottom) / 2;
           };
           return ['winners', 'losers'].flatMap(name => {
             const rounds = [...document.querySelectorAll(`.double > .${name} > .round`)]
               .map(round => [...round.firstElementChild.children]);
             return rounds.slice(1).flatMap((round, index) => round.map((place, at) => {
               const from = rounds[index];
               const few = from.length / round.length;
               const before = from.slice(at * few, (at + 1) * few).map(middle);
               const mean = before.reduce((sum, one) => sum + one) / few;
               return Math.abs(middle(place) - mean);
             }));
           });
         })()",
    );
    let off: Vec<f64> = serde_json::from_value(off).unwrap();
    assert_eq!(off.len(), 3 + 4, "rounds after the first: {off:?}");
    assert!(off.iter().all(|pixels| *pixels < 2.0), "{off:?}");
    // The lines end at the final: one from above, one from below.
    let ends = browser.eval(
        "(() => {
           const box = sign => document.querySelector(sign).getBoundingClientRect();
           const final = box('.double > .final .match');
           const middle = (final.left + final.right) / 2;
           const [upper, lower] = [box('.joint.upper'), box('.joint.lower')];
           const above = box('.double > .winners > .round:last-child .match');
           const below = box('.double > .losers > .round:last-child .match');
           return [upper.bottom - final.top, lower.top - final.bottom, upper.right - middle,
             lower.right - middle, upper.left - above.right, lower.left - below.right,
             upper.top - (above.top + above.bottom) / 2,
             lower.bottom - (below.top + below.bottom) / 2];
         })()",
    );
    let ends: Vec<f64> = serde_json::from_value(ends).unwrap();
    assert!(ends.iter().all(|pixels| pixels.abs() < 3.0), "{ends:?}");
    accessible_in_every_look(&mut browser, "a double elimination");
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
        ("#/replay/long/r1m1/1", ".analysis"),
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
        accessible_in_every_look(&mut browser, view);
    }
}
