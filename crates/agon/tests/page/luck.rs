//! Points without luck on the page of a tournament.

use crate::browser::Browser;
use crate::checks::accessible_in_every_look;
use crate::support::until;
use crate::world::World;
use serde_json::Value;

/// Opens the page of a tournament that is over, and has the points without luck computed.
fn compute_luck(browser: &mut Browser, id: &str) {
    browser.go(&format!("#/tournament/{id}"));
    // The card above it comes last, and moves the button.
    let above = "document.querySelector('[aria-label=\"How sure is this?\"]') !== null";
    browser.until_true("the strengths are there", above);
    browser.click("#luck button", "Compute");
}

#[test]
fn tournament_shows_points_with_and_without_luck_and_their_intervals() {
    let world = World::start();
    world.house_cup("dice", "yahtzee-league", &["house:greedy", "house:optimal", "house:random"]);
    world.until_over("dice");
    let path = "/api/v1/tournaments/dice/analysis";
    until("it is analysed", || world.send("GET", None, path, &Value::Null).0 == 200);
    let (_, analysis) = world.send("GET", None, path, &Value::Null);
    let mut browser = world.browser("#/");
    compute_luck(&mut browser, "dice");
    browser.until_true("there are numbers", "document.querySelector('#luck tbody') !== null");
    let rows = browser.eval(
        "[...document.querySelectorAll('#luck table:not(.costs) tbody tr')].map(row =>
           [...row.children].map(cell => cell.textContent.trim()))",
    );
    let players = analysis["players"].as_array().unwrap();
    assert_eq!(rows.as_array().unwrap().len(), players.len());
    // The browser and this test may round a half differently.
    let is_near = |shown: &str, value: &Value| {
        let shown: f64 = shown.replace('\u{2212}', "-").parse().expect("a number");
        assert!((shown - value.as_f64().unwrap()).abs() < 0.051, "{shown} is not {value}");
    };
    for (row, one) in rows.as_array().unwrap().iter().zip(players) {
        let cell = |at: usize| row[at].as_str().unwrap();
        assert_eq!(
            (cell(0), cell(1)),
            (one["player"].as_str().unwrap(), &*one["games"].to_string())
        );
        for (at, estimate) in [(2, &one["raw"]), (3, &one["adjusted"])] {
            let (mean, reach) = cell(at).split_once("\u{a0}±\u{a0}").unwrap();
            let bound = |at: usize| estimate["interval"][at].as_f64().unwrap();
            is_near(mean, &estimate["mean"]);
            is_near(reach, &((bound(1) - bound(0)) / 2.0).into());
        }
        is_near(cell(4), &one["luck"]);
        is_near(cell(5), &one["cost"]);
    }
    accessible_in_every_look(&mut browser, "points without luck");
}

#[test]
fn tournament_of_a_game_without_luck_says_so_and_shows_the_cost_of_decisions() {
    let world = World::start();
    world.house_cup("ice", "fish-league", &["house:greedy", "house:random", "house:level-3"]);
    world.until_over("ice");
    let path = "/api/v1/tournaments/ice/analysis";
    until("it is analysed", || world.send("GET", None, path, &Value::Null).0 == 200);
    let (_, analysis) = world.send("GET", None, path, &Value::Null);
    let mut browser = world.browser("#/");
    compute_luck(&mut browser, "ice");
    browser.until_text("#luck", "No game of this tournament has luck");
    let rows = browser.eval(
        "[...document.querySelectorAll('#luck table.costs tbody tr')].map(row =>
           [...row.children].map(cell => cell.textContent.trim()))",
    );
    let costs = analysis["costs"].as_array().unwrap();
    assert_eq!((rows.as_array().unwrap().len(), costs.len()), (3, 3), "{analysis}");
    for (row, one) in rows.as_array().unwrap().iter().zip(costs) {
        let cell = |at: usize| row[at].as_str().unwrap();
        assert_eq!(
            (cell(0), cell(2)),
            (one["player"].as_str().unwrap(), &*one["decisions"].to_string())
        );
        let (cost, reach) = cell(4).split_once("\u{a0}±\u{a0}").expect("an interval");
        let near = |shown: &str, value: f64| (shown.parse::<f64>().unwrap() - value).abs() < 6e-4;
        let [low, high] = [0, 1].map(|at| one["per_decision"]["interval"][at].as_f64().unwrap());
        assert!(near(cost, one["per_decision"]["mean"].as_f64().unwrap()), "{one}");
        assert!(near(reach, (high - low) / 2.0), "{one}");
    }
    let mean = |one: &Value| one["per_decision"]["mean"].as_f64().unwrap();
    assert!(costs.is_sorted_by(|one, next| mean(one) <= mean(next)), "{analysis}");
    let random = costs.iter().find(|one| one["player"] == "house:random").unwrap();
    assert!(mean(random) > 0.0 && random["mistakes"] != 0, "random moves cost something");
    accessible_in_every_look(&mut browser, "cost of decisions");
}
