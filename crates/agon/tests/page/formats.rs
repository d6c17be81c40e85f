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
