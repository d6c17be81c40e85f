//! One bracket for everybody: a person in a browser, an Erlang process and a native program.

use crate::browser::Browser;
use crate::support::until;
use crate::vm::{self, COOKIE, Vm};
use crate::world::World;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_person_an_erlang_process_and_a_program_play_one_bracket() {
    let epmd = vm::free_port();
    let world = World::with(&vm::config(epmd, 1_000, "answer_ms = 100000\nwait_ms = 100000"));
    let mut node = Vm::start(epmd, "one", COOKIE);
    node.log_in("eve", "class", "");
    let mut bot = world.program("bot", "house:greedy");
    let ann = world.person("ann");
    let mut browser = world.browser_of(&ann, "#/play");
    browser.until_text("[role=status]", "you are connected");
    until("all are here", || world.get("/api/v1/lobby")["here"] == 3);
    let slow = json!({"match": {"time": {"answer_ms": 600_000}}});
    // The person meets one of the others, and the winner the third, whichever player has the bye.
    let selection = json!({"by": "named", "players": ["ann", "eve", "bot"]});
    world.announce(json!({
        "id": "mixed", "preset": "yahtzee-class", "policy": slow, "selection": selection,
    }));
    play(&world, &mut browser);
    node.hear("{end_tournament,\"eve\"}");
    assert_eq!(bot.code(), Some(0));
    let results = world.get("/api/v1/tournaments/mixed")["results"].clone();
    assert_eq!((&results["cheating"], &results["failing"]), (&json!([]), &json!([])));
    let standings = results["standings"].as_array().expect("standings").len();
    assert_eq!(standings, 3, "{results}");
}

/// Presses what can be pressed until the tournament is over.
fn play(world: &World, browser: &mut Browser) {
    let mut moved = Instant::now();
    while world.get("/api/v1/tournaments/mixed")["standing"] != "over" {
        let pressed = browser.eval(
            "(() => {
               const all = [...document.querySelectorAll('button.box, button.roll')];
               const one = all.find(button => !button.disabled);
               one?.click();
               return Boolean(one);
             })()",
        );
        if pressed == true {
            moved = Instant::now();
            continue;
        }
        assert!(moved.elapsed() < crate::support::PATIENCE, "nobody is asked");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
