//! Games that are over, step by step: as the log has them, checked in the browser, and saved.

use crate::browser::Browser;
use crate::checks::{accessible, accessible_in_every_look};
use crate::support::until;
use crate::world::World;
use agon_core::{MatchId, Secret, TournamentId};
use agon_games::Luck;
use serde_json::{Value, json};

/// The size limit of each view that is loaded later, as it is sent, without the files of the first
/// view.
const VIEW_BYTES_MAX: u64 = 60_000;

const GAMES: [(&str, &str, &[&str]); 3] = [
    ("dice", "yahtzee-class", &["house:greedy", "house:random"]),
    ("ice", "fish", &["house:greedy", "house:random", "house:search"]),
    ("rails", "trains", &["house:greedy", "house:hold-10", "house:cheat"]),
];

/// A server on which one of each game was played.
fn played() -> World {
    let world = World::start();
    for (id, preset, players) in GAMES {
        world.house_cup(id, preset, players);
        world.until_over(id);
    }
    world
}

fn replay(world: &World, id: &str) -> Value {
    world.get(&format!("/api/v1/tournaments/{id}/matches/r1m1/games/1/replay"))
}

fn until_step(browser: &mut Browser, step: usize) {
    browser.until_text(".caption", &format!("Step {step} of"));
}

#[test]
pub(crate) fn a_replay_is_scrubbed_to_the_end_and_shows_the_logged_result() {
    let world = played();
    let mut browser = world.browser("#/docs");
    for (id, ..) in GAMES {
        let replay = replay(&world, id);
        let last = replay["steps"].as_array().unwrap().len() - 1;
        browser.go(&format!("#/replay/{id}/r1m1/1?at=0"));
        until_step(&mut browser, 0);
        browser.press("ArrowRight");
        until_step(&mut browser, 1);
        browser.press("ArrowLeft");
        until_step(&mut browser, 0);
        let scrub = format!(
            "(e => {{ e.value = {last}; e.dispatchEvent(new Event('input', {{ bubbles: true }})); }})
             (document.querySelector('input[type=range]'))"
        );
        browser.eval(&scrub);
        until_step(&mut browser, last);
        let result = &replay["result"];
        let names = result["seats"].as_array().unwrap().iter();
        for (name, score) in names.zip(result["scores"].as_array().unwrap()) {
            browser.until_text(".caption", &format!("{} {score}", name.as_str().unwrap()));
        }
        browser.until_text(".caption", result["winners"][0].as_str().unwrap());
        browser.press("Home");
        until_step(&mut browser, 0);
        browser.press("End");
        until_step(&mut browser, last);
        browser.until_true(
            "the address names the step",
            &format!("location.hash.endsWith('at={last}')"),
        );
    }
    // It plays by itself, as fast as is wanted, and stops at the end.
    browser.go("#/replay/ice/r1m1/1?at=0");
    until_step(&mut browser, 0);
    browser.eval(
        "(e => { e.value = '8'; e.dispatchEvent(new Event('change', { bubbles: true })); })
         (document.querySelector('select'))",
    );
    browser.eval("document.activeElement.blur()");
    browser.press(" ");
    let last = replay(&world, "ice")["steps"].as_array().unwrap().len() - 1;
    until_step(&mut browser, last);
    browser.until_true("it stopped", "document.querySelector('[aria-label^=Pause]') === null");
}

#[test]
fn an_address_leads_to_a_step() {
    let world = played();
    let mut browser = world.browser("#/replay/ice/r1m1/1?at=7");
    until_step(&mut browser, 7);
    let view = &replay(&world, "ice")["steps"][7]["view"];
    let places: usize = view["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| player["places"].as_array().unwrap().len())
        .sum();
    assert_eq!(browser.eval("document.querySelectorAll('.penguin').length"), places);
    browser.click(".moves button", "");
    until_step(&mut browser, 0);
}

/// Has the page get another log than the server sent, by a replacement in its text.
fn forge(browser: &mut Browser, change: &str) {
    browser.eval(&format!(
        "(() => {{
           const real = globalThis.realFetch ??= globalThis.fetch;
           globalThis.fetch = async (address, ...rest) => {{
             const response = await real(address, ...rest);
             if (!/matches.*log$/.test(String(address))) return response;
             const lines = (await response.text()).trimEnd().split('\\n').map(line => JSON.parse(line));
             ({change})(lines);
             return new Response(lines.map(line => JSON.stringify(line)).join('\\n') + '\\n');
           }};
         }})()"
    ));
}

/// The number of the event a change is made to, and what verify says.
fn forged(world: &World, browser: &mut Browser, id: &str, change: &str, event: &str, words: &str) {
    browser.go("#/docs");
    browser.until_text("h1", "Documentation");
    forge(browser, change);
    browser.go(&format!("#/replay/{id}/r1m1/1"));
    browser.click("button.verify", "");
    browser.until_text(".verdict", "does not follow");
    let verdict = browser.text(".verdict");
    let (_, log) =
        world.raw("GET", None, &format!("/api/v1/tournaments/{id}/matches/r1m1/log"), &Value::Null);
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seq = browser.eval(&format!(
        "(() => {{ const lines = {}; const at = ({change})(lines); return at.seq; }})()",
        json!(lines)
    ));
    assert!(verdict.contains(&format!("Event {seq} ({event})")), "{verdict}");
    assert!(verdict.contains(words), "{verdict}");
}

#[test]
pub(crate) fn verify_checks_every_game_and_a_forged_event_fails_where_it_is() {
    let world = played();
    let mut browser = world.browser("#/docs");
    for (id, ..) in GAMES {
        browser.go(&format!("#/replay/{id}/r1m1/1"));
        browser.click("button.verify", "");
        browser.until_text(".verdict", "and each follows from the ones before");
        browser.until_text(".verdict", "follows from the tournament's");
    }
    // Dice that were not rolled.
    let dice = "lines => { const at = lines.filter(l => l.data.drawn?.seat === 0)[3];
                at.data.drawn.dice[0] = at.data.drawn.dice[0] % 6 + 1; return at; }";
    forged(&world, &mut browser, "dice", dice, "answer-accepted", "luck gives");
    // Another board.
    let board = "lines => { const at = lines.find(l => l.data.drawn);
                 const row = at.data.drawn.board[0]; row[0] = row[0] % 5 + 1; return at; }";
    forged(&world, &mut browser, "ice", board, "game-started", "luck gives");
    // A card that was not drawn.
    let card = "lines => { const at = lines.filter(l => l.data.drawn?.cards)[5];
                at.data.drawn.cards[0] = at.data.drawn.cards[0] === 'red' ? 'blue' : 'red'; return at; }";
    forged(&world, &mut browser, "rails", card, "answer-accepted", "luck gives");
    // A slide through the air.
    let slide = "lines => { const at = lines.filter(l => l.data.answer?.move)[2];
                 at.data.answer.move[1] = [99, 99]; return at; }";
    forged(&world, &mut browser, "ice", slide, "answer-accepted", "cannot slide");
    // Points nobody made.
    let points = "lines => { const at = lines.find(l => l.type === 'game-ended');
                  at.data.result.scores[0] += 1; return at; }";
    forged(&world, &mut browser, "dice", points, "game-ended", "the points are");
    // Another secret, with a commitment that fits it.
    let secret = "lines => { const at = lines.find(l => l.type === 'game-started');
                  at.data.commitment = '0'.repeat(64); return at; }";
    forged(&world, &mut browser, "rails", secret, "game-started", "commit");
    // An answer that is left out.
    let lost = "lines => lines.splice(9, 1) && lines[9]";
    forged(&world, &mut browser, "dice", lost, "answer-accepted", "its number is");
}

#[test]
fn luck_in_the_browser_is_luck_on_the_server() {
    let world = World::start();
    let mut browser = world.browser("#/docs");
    let (tournament, id) = (TournamentId::from("cup"), MatchId::of(2, 3));
    let secret = Secret::from_seed_number(11);
    let game = secret.of_match(&id).of_game(4);
    let nonce = agon_core::Nonce::new("00ff").unwrap();
    let seed = game.game_seed(&tournament, &id, 4, &[None, Some(nonce)]);
    let hex = |bytes: &[u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut luck = Luck::new(&seed, "dice.1");
    // Numbers near 2^64 are rejected nearly half of the time: later attempts are tried as well.
    let (wide, many) = ((1_u64 << 63) + 1, 6_u64.pow(15));
    let words: Vec<String> = (0..40).map(|at| luck.word(at, at % 3).to_string()).collect();
    let below: Vec<String> = (0..40).map(|at| luck.below(at, wide).to_string()).collect();
    let dice: Vec<String> = (0..40).map(|at| luck.below(at, many).to_string()).collect();
    let mut things: Vec<u32> = (0..30).collect();
    luck.shuffle(5, &mut things);
    let expected = json!({
        "commitment": secret.commitment().to_string(), "game": game.hex(),
        "seed": hex(seed.bytes()), "words": words, "below": below, "dice": dice, "things": things,
    });
    let found = browser.eval(&format!(
        "import('/web/lib/fair.js').then(fair => {{
           const secret = fair.fromHex('{}');
           const game = fair.gameSecret(fair.matchSecret(secret, 'r2m3'), 4);
           const seed = fair.gameSeed(game, 'cup', 'r2m3', 4, [null, '00ff']);
           const luck = new fair.Luck(seed, 'dice.1');
           const all = of => Array.from({{ length: 40 }}, (_, at) => String(of(at)));
           return {{
             commitment: fair.commitment(secret), game: fair.toHex(game), seed: fair.toHex(seed),
             words: all(at => luck.word(at, at % 3)),
             below: all(at => luck.below(at, 2n ** 63n + 1n)),
             dice: all(at => luck.below(at, 6n ** 15n)),
             things: luck.shuffle(5, Array.from({{ length: 30 }}, (_, at) => at)),
           }};
         }})",
        secret.hex()
    ));
    assert_eq!(found, expected);
}

#[test]
fn a_saved_replay_opens_from_disk_and_shows_the_end() {
    let world = played();
    let folder = tempfile::tempdir().unwrap();
    let mut browser = world.browser("#/replay/ice/r1m1/1?at=3");
    let to = json!({"behavior": "allow", "downloadPath": folder.path()});
    browser.cdp("Page.setDownloadBehavior", to);
    for (id, ..) in GAMES {
        browser.go(&format!("#/replay/{id}/r1m1/1?at=3"));
        until_step(&mut browser, 3);
        browser.click("button.save", "");
        browser.click("button.log", "");
    }
    let file = |id: &str, kind: &str| folder.path().join(format!("{id}-r1m1-1.{kind}"));
    for (id, ..) in GAMES {
        until("it is saved", || file(id, "html").exists() && file(id, "jsonl").exists());
        let (_, log) = world.raw(
            "GET",
            None,
            &format!("/api/v1/tournaments/{id}/matches/r1m1/log"),
            &json!(null),
        );
        assert_eq!(std::fs::read_to_string(file(id, "jsonl")).unwrap(), log);
    }
    let results: Vec<Value> =
        GAMES.iter().map(|(id, ..)| replay(&world, id)["result"].clone()).collect();
    drop((browser, world));
    // There is no server any more.
    let mut browser = Browser::start();
    for ((id, ..), result) in GAMES.into_iter().zip(results) {
        browser.open(&format!("file://{}", file(id, "html").display()));
        browser.until_text(".caption", result["winners"][0].as_str().unwrap());
        browser.press("Home");
        until_step(&mut browser, 0);
        browser.press("End");
        let names = result["seats"].as_array().unwrap().iter();
        for (name, score) in names.zip(result["scores"].as_array().unwrap()) {
            browser.until_text(".caption", &format!("{} {score}", name.as_str().unwrap()));
        }
        browser.click("button.verify", "");
        browser.until_text(".verdict", "and each follows from the ones before");
        accessible(&mut browser, "a saved replay");
    }
    for request in browser.requests() {
        let inside = ["file:", "data:", "about:"].iter().any(|start| request.starts_with(start));
        assert!(inside, "{request} is elsewhere");
    }
}

#[test]
fn replays_are_accessible_small_and_fit_a_phone() {
    let world = played();
    let mut browser = world.browser("#/docs");
    for (id, ..) in GAMES {
        browser.go(&format!("#/replay/{id}/r1m1/1?at=30"));
        until_step(&mut browser, 30);
        browser.click("button.verify", "");
        browser.until_text(".verdict", "follow");
        accessible_in_every_look(&mut browser, &format!("a replay of {id}"));
    }
    let mut size = |view: &str| {
        browser.open(&world.url(&format!("#/{view}")));
        browser.until_true("it is there", "document.querySelector('main h1') !== null");
        let size = browser.eval(
            "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/web/'))
               .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)",
        );
        size.as_u64().unwrap()
    };
    // Files that every view needs are loaded with the first.
    let shell = size("docs");
    for view in ["replay/dice/r1m1/1", "game/dice/r1m1", "play"] {
        let own = size(view) - shell;
        assert!((10_000..VIEW_BYTES_MAX).contains(&own), "{view}: {own} bytes");
    }
}

#[test]
fn a_match_that_runs_is_not_replayed_but_watched() {
    let world = World::start();
    world.person("ann");
    crate::live::waiting_cup(&world, "hall");
    let mut browser = world.browser("#/replay/hall/r1m1/1");
    browser.expect_error("409");
    browser.until_text(".complaint", "watch it until then");
    browser.click("main a", "Watch it live");
    browser.until_true("it is watched", "location.hash.startsWith('#/game/hall/r1m1')");
}

/// Forges two logs in the page: one change for every field of every event, and names that
/// are swapped in every place. Returns the forgeries that the page does not detect.
const FORGERIES: &str = r#"
(async (id) => {
  const { verify } = await import("/web/lib/verify.js");
  const { linesOf } = await import("/web/lib/lines.js");
  const at = `/api/v1/tournaments/${id}`;
  const text = async (address) => (await fetch(address)).text();
  const whole = { match: await text(`${at}/matches/r1m1/log`), tournament: await text(`${at}/log`) };
  const found = ({ match, tournament }) => verify(linesOf(match), linesOf(tournament)).failed;
  const [missed, tried] = [[], new Set()];
  if (found(whole)) missed.push(`the log itself: ${JSON.stringify(found(whole))}`);
  const other = (value) =>
    typeof value === "number" ? value + 1
      : typeof value === "boolean" ? !value
        : typeof value !== "string" ? 1
          : /^[0-9a-f]{64}$/.test(value) ? (value[0] === "0" ? "1" : "0") + value.slice(1)
            : `${value}x`;
  for (const which of ["match", "tournament"]) {
    const lines = whole[which].trimEnd().split("\n");
    lines.forEach((line, place) => {
      const event = JSON.parse(line);
      const walk = (value, path) => {
        for (const [name, one] of Object.entries(value)) {
          const here = [...path, name];
          if (one && typeof one === "object") { walk(one, here); continue; }
          const field = `${which}: ${event.type} ${here.filter((part) => isNaN(part)).join(".")}`;
          // Cities and connections of a map are many, and all alike.
          if (tried.has(field) || here.includes("map")) continue;
          tried.add(field);
          value[name] = other(one);
          const forged = lines.map((old, at) => (at === place ? JSON.stringify(event) : old));
          value[name] = one;
          if (!found({ ...whole, [which]: `${forged.join("\n")}\n` })) missed.push(field);
        }
      };
      walk(event, []);
    });
  }
  const [one, two] = linesOf(whole.match)[0].data.plan.players.map((name) => JSON.stringify(name));
  const swap = (log) => log.replaceAll(one, "\t").replaceAll(two, one).replaceAll("\t", two);
  if (!found({ match: swap(whole.match), tournament: swap(whole.tournament) })) missed.push("swap");
  return { tried: tried.size, missed };
})
"#;

#[test]
fn every_forged_field_is_found_in_the_browser() {
    let world = played();
    let mut browser = world.browser("#/docs");
    for (id, ..) in GAMES {
        let found = browser.eval(&format!("({FORGERIES})({})", json!(id)));
        assert_eq!(found["missed"], json!([]), "{id}");
        assert!(found["tried"].as_u64().is_some_and(|tried| tried > 50), "{id}: {found}");
        browser.go(&format!("#/tournament/{id}"));
        let head = world.get(&format!("/api/v1/tournaments/{id}"))["head"].clone();
        browser.until_text(".chain-head", head.as_str().expect("a head"));
        browser.go(&format!("#/replay/{id}/r1m1/1"));
        browser.click("button.verify", "");
        browser.until_text(".verdict", "The hash chain covers every event");
        browser.until_text(".verdict", "`agon verify` checks these too");
        browser.until_text(".findings", head.as_str().expect("a head"));
        let of_match = world.get(&format!("/api/v1/tournaments/{id}/matches/r1m1"))["head"].clone();
        browser.go(&format!("#/game/{id}/r1m1"));
        browser.until_text(".chain-head", of_match.as_str().expect("a head"));
    }
}
