//! The page that compares formats by simulation.

use crate::checks::accessible_in_every_look;
use crate::world::World;

#[test]
fn simulated_formats_are_drawn_with_their_options_and_intervals() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = world.browser_of(&ann, "#/formats");
    browser.until_text("form button", "Simulate");
    let list = "player,rating\nann,1700\nbob,1600\neve,1500\ndan,1400\nkim,1400\nlee,1300";
    browser.fill("[name=strengths]", list);
    browser.fill("[name=formats]", "groups:size=3 -> bracket, swiss:rounds=2 -> top 2");
    browser.fill("[name=want]", "1");
    browser.click("form button", "Simulate");
    let dots = "document.querySelectorAll('figure.chart circle.dot').length === 6";
    browser.until_true("the plot has a dot for each format and length of a match", dots);
    let reaches = browser.eval(
        "[...document.querySelectorAll('figure.chart line.reach')]
           .filter(line => Number(line.getAttribute('y1')) > Number(line.getAttribute('y2'))).length",
    );
    assert_eq!(reaches, 6, "each dot has its interval");
    let titles = browser.eval("document.querySelector('figure.chart svg').textContent");
    let titles = titles.as_str().unwrap();
    assert!(titles.contains("groups:size=3 -> bracket, best of 1"), "{titles}");
    let rows = browser.eval(
        "[...document.querySelectorAll('tbody tr')].map(row =>
           [...row.children].map(cell => cell.textContent.trim()))",
    );
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().any(|row| row[0].as_str().unwrap().starts_with("swiss:rounds=2 -> top 2")));
    let games = |row: &serde_json::Value| row[4].as_str().unwrap().to_owned();
    assert!(rows.iter().all(|row| games(row).parse::<f64>().is_ok() || games(row).contains('–')));
    assert_eq!(browser.eval("document.querySelectorAll('.tag.good').length"), 1);
    accessible_in_every_look(&mut browser, "simulated formats");
}

#[test]
fn finished_tournament_lists_performances_and_pairs() {
    let world = World::start();
    world.house_cup("dice", "yahtzee-league", &["house:greedy", "house:optimal", "house:random"]);
    world.until_over("dice");
    let comparison = world.get("/api/v1/tournaments/dice/comparison");
    let mut browser = world.browser("#/tournament/dice");
    let card = "[aria-label=\"How sure is this?\"]";
    browser.until_true("the card is there", &format!("document.querySelector('{card}') !== null"));
    browser.click(&format!("{card} summary"), "Performance and pairs");
    let mut rows = |label: &str| {
        browser.eval(&format!(
            "[...document.querySelectorAll('{card} [aria-label={label}] tbody tr')].map(row =>
               [...row.children].map(cell => cell.textContent.trim()))"
        ))
    };
    let (players, pairs) = (rows("Strengths"), rows("Pairs"));
    for (row, one) in
        players.as_array().unwrap().iter().zip(comparison["players"].as_array().unwrap())
    {
        let shown: f64 = row[5].as_str().unwrap().replace('\u{2212}', "-").parse().unwrap();
        assert_eq!(row[0], one["player"]);
        assert!((shown - one["performance"].as_f64().unwrap()).abs() < 0.51, "{row} {one}");
    }
    for (row, one) in pairs.as_array().unwrap().iter().zip(comparison["pairs"].as_array().unwrap())
    {
        let sure = one["superiority"].as_f64().unwrap() * 100.0;
        let shown: f64 =
            row[4].as_str().unwrap().trim_end_matches(['%', '\u{a0}']).parse().unwrap();
        assert!((shown - sure).abs() < 0.051, "{row} {one}");
    }
    assert_eq!((players.as_array().unwrap().len(), pairs.as_array().unwrap().len()), (3, 3));
    accessible_in_every_look(&mut browser, "performances and pairs");
}
