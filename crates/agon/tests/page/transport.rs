//! How answers reach the page: compressed, positions as changes, and pages for people where
//! programs get JSON and Markdown.

use crate::checks::{accessible_in_every_look, fits, look};
use crate::world::World;
use serde_json::{Value, json};

#[test]
fn replay_is_compressed_and_sent_as_changes() {
    let world = World::start();
    world.house_cup("rails", "trains", &["house:greedy", "house:hold-10", "house:buy-now"]);
    world.until_over("rails");
    let path = "/api/v1/tournaments/rails/matches/r1m1/games/1/replay";
    let (head, whole) = world.raw("GET", None, path, &Value::Null);
    assert!(!head.contains("content-encoding"), "a client that says nothing gets it plain: {head}");
    let mut browser = world.browser("#/replay/rails/r1m1/1");
    browser.until_true("it is drawn", "document.querySelector('agon-trains *') !== null");
    let sizes = browser.eval(
        "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/games/1/replay'))
           .map(({ encodedBodySize, decodedBodySize }) => [encodedBodySize, decodedBodySize])[0]",
    );
    let [sent, read] = [0, 1].map(|at| sizes[at].as_u64().unwrap() as usize);
    eprintln!("replay of Trains: {} bytes whole, {read} as changes, {sent} sent", whole.len());
    assert!(read * 3 < whole.len() && sent * 3 < read, "{} {read} {sent}", whole.len());
    // Unfolded, the changes are the positions of the whole replay.
    let same = browser.eval(&format!(
        "Promise.all([import('/web/lib/changes.js'), import('/web/lib/equal.js'),
           fetch('{path}').then(all => all.json()),
           fetch('{path}?changes=true').then(all => all.json())])
         .then(([{{ unfold }}, {{ equal }}, whole, folded]) =>
           [folded.steps.slice(1).every(step => step.changes && !step.view),
            equal(unfold(folded.steps), whole.steps), whole.steps.length > 20])"
    ));
    assert_eq!(same, json!([true, true, true]));
}

#[test]
fn documents_and_errors_are_pages_for_people() {
    let world = World::start();
    let mut browser = world.browser("#/docs");
    browser.expect_error("status of 404");
    let links =
        "[...document.querySelectorAll('nav[aria-label=Main] a')].map(link => link.textContent)";
    let nav = browser.eval(links);
    for name in ["http", "log", "receipt", "operate", "native"] {
        browser.open(&world.url(&format!("docs/{name}.md")));
        browser.until_true("it is a page", "document.querySelector('article h1') !== null");
        look(&mut browser, 360, 740, false);
        fits(&mut browser, name);
        look(&mut browser, 1366, 768, false);
    }
    browser.until_text("h1", "The native protocol");
    assert_eq!(browser.eval(links), nav, "documents lead to the same views");
    assert_eq!(browser.eval("document.querySelectorAll('article table td').length > 3"), true);
    accessible_in_every_look(&mut browser, "a document");
    // A link from one document to another leads to a page, and to its place there.
    browser.eval("document.querySelector('article a[href^=\"/docs/\"]').click()");
    browser.until_true("another one", "location.pathname !== '/docs/native.md'");
    browser.until_true("it is a page", "document.querySelector('article h1') !== null");
    browser.open(&world.url("nope"));
    browser.until_text("h1", "This page does not exist");
    accessible_in_every_look(&mut browser, "an error");
    browser.click("main a", "Go to the lobby");
    browser.until_true("the lobby is shown", "location.hash === '#/'");
    // Programs get what they always got.
    let (status, problem) = world.send("GET", None, "/nope", &Value::Null);
    assert_eq!((status, &problem["status"]), (404, &json!(404)));
    let (head, text) = world.raw("GET", None, "/docs/native.md", &Value::Null);
    assert!(head.contains("text/plain") && text.starts_with("# "), "{head}");
}
