//! The boards: they fit the window, are played by keyboard alone, ask before they send, and show
//! who moves.

use crate::browser::Browser;
use crate::checks::look;
use crate::playing::{announce, play_on, result, seated, shows_end, slow};
use crate::world::World;
use serde_json::{Value, json};

/// The smallest windows in which a whole board must be visible.
const WINDOWS: [(u32, u32); 2] = [(1366, 768), (360, 740)];

/// Waits until everything that fits the selectors is there and entirely inside the window.
fn visible(browser: &mut Browser, what: &str, parts: &[&str]) {
    for (width, height) in WINDOWS {
        look(browser, width, height, false);
        browser.eval("scrollTo(0, 0)");
        for part in parts {
            let place = json!(part);
            let inside = format!(
                "(all => all.length > 0 && all.every(one => {{
                   const {{ left, top, right, bottom }} = one.getBoundingClientRect();
                   return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
                     && right - left > 0;
                 }}))([...document.querySelectorAll({place})])"
            );
            browser.until_true(&format!("{what} fits {width}×{height}: {part}"), &inside);
        }
    }
}

#[test]
fn whole_boards_fit_a_laptop_and_a_phone_without_scrolling() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    let mut watcher = world.browser("#/");
    announce(&world, "dice", "yahtzee-class", &["ann", "house:greedy"], slow());
    let card = [".strip > li", ".tray.own .dice", ".halves-of-card", ".halves-of-card tr"];
    browser.until_true("ann is asked", "document.querySelector('button.roll') !== null");
    visible(&mut browser, "rolling", &card);
    visible(&mut browser, "rolling", &["button.roll"]);
    browser.press("r");
    browser.until_text(".tray.asked", "Roll 2 of 3");
    browser.press("r");
    browser.until_true("ann chooses a box", "document.querySelector('button.box') !== null");
    visible(&mut browser, "choosing a box", &card);
    visible(&mut browser, "choosing a box", &["button.box"]);
    browser.click("button.box", "");
    visible(&mut browser, "confirming a box", &card);
    visible(&mut browser, "confirming a box", &[".send", ".undo"]);
    watcher.go("#/game/dice/r1m1");
    visible(&mut watcher, "watching Yahtzee", &[".strip > li", ".tray .dice", ".halves-of-card"]);
    world.order("/api/v1/tournaments/dice/withdraw", json!({"player": "ann", "why": "enough"}));
    world.until_over("dice");
    announce(&world, "ice", "fish", &["ann", "house:greedy", "house:random"], slow());
    let ice = [".strip > li", ".ice", ".ice .tile", ".ice .coordinate", ".order"];
    browser.until_true("ann is asked", "document.querySelector('.tile.open') !== null");
    visible(&mut browser, "placing", &ice);
    browser.click(".tile.open", "");
    visible(&mut browser, "confirming", &[".ice .coordinate", ".send", ".undo"]);
    watcher.go("#/game/ice/r1m1");
    visible(&mut watcher, "watching Fish", &[".ice", ".ice .coordinate"]);
    world.order("/api/v1/tournaments/ice/withdraw", json!({"player": "ann", "why": "enough"}));
    world.until_over("ice");
    let four = ["ann", "house:greedy", "house:random", "house:search"];
    announce(&world, "floe", "fish", &four, slow());
    browser.until_true("ann is asked", "document.querySelector('.tile.open') !== null");
    browser.until_true("four play", "document.querySelectorAll('.strip > li').length === 4");
    visible(&mut browser, "Fish with four players", &ice);
    world.order("/api/v1/tournaments/floe/withdraw", json!({"player": "ann", "why": "enough"}));
    world.until_over("floe");
    trains_is_visible(&world, &mut browser, &mut watcher);
}

/// Trains with five players, which is the smallest space for its map.
fn trains_is_visible(world: &World, browser: &mut Browser, watcher: &mut Browser) {
    let five = ["ann", "house:greedy", "house:hold-10", "house:buy-now", "house:level-1"];
    announce(world, "rails", "trains", &five, slow());
    browser.until_true("five play", "document.querySelectorAll('.strip > li').length === 5");
    browser.until_true("ann is asked", "document.querySelector('.goal-choice') !== null");
    let map = [".strip > li", ".map", ".city", ".beside .hand"];
    visible(browser, "picking", &map);
    visible(browser, "picking", &["button.keep"]);
    browser.click(".goal-choice", "");
    browser.press("3");
    browser.click("button.keep", "Keep 2 of 2");
    browser.until_true("ann plays", "document.querySelector('button.cards') !== null");
    visible(browser, "playing Trains", &map);
    visible(browser, "playing Trains", &[".beside .goals", "button.cards"]);
    browser.click("button.cards", "");
    visible(browser, "confirming in Trains", &map);
    visible(browser, "confirming in Trains", &[".send", ".undo"]);
    watcher.go("#/game/rails/r1m1");
    visible(watcher, "watching Trains", &[".map", ".city"]);
}

/// A guest who starts a game by keyboard, and the tournament of that game.
fn guest_by_keyboard(world: &World, game: &str) -> (Browser, String) {
    let mut browser = world.browser("#/");
    let button = format!("[data-key={game}] button.start");
    browser.until_true("games", &format!("document.querySelector('{button}') !== null"));
    let focus = format!("document.activeElement.matches('{button}')");
    for _ in 0..60 {
        if browser.eval(&focus) == true {
            break;
        }
        browser.press("Tab");
    }
    assert_eq!(browser.eval(&focus), true, "the Tab key leads to {button}");
    browser.press("Enter");
    let id = begun(world, &mut browser);
    (browser, id)
}

/// A guest who starts a game with the mouse, and the tournament of that game.
fn guest_by_mouse(world: &World, game: &str) -> (Browser, String) {
    let mut browser = world.browser("#/");
    browser.click(&format!("[data-key={game}] button.start"), "Play");
    let id = begun(world, &mut browser);
    (browser, id)
}

/// Waits until the board of a new game is shown; the tournament of the game.
fn begun(world: &World, browser: &mut Browser) -> String {
    browser.until_true("the board is shown", "document.querySelector('.board') !== null");
    let lobby = world.get("/api/v1/lobby");
    lobby["tournaments"][0]["id"].as_str().expect("a tournament").to_owned()
}

/// Clicks a choice and confirms it, all with the mouse.
fn click_and_confirm(browser: &mut Browser, choice: &str) {
    browser.click(choice, "");
    browser.until_true("it asks", "document.querySelector('.confirmation') !== null");
    browser.click(".send", "Confirm");
    browser.until_true("it is sent", "document.querySelector('.confirmation') === null");
}

#[test]
pub(crate) fn guest_plays_yahtzee_with_the_mouse() {
    let world = World::start();
    let (browser, id) = guest_by_mouse(&world, "yahtzee");
    let mut people = [browser];
    let [browser] = &mut people;
    browser.click("button.die", "");
    browser.click("button.roll", "Roll 4 again");
    browser.until_text(".tray.asked", "Roll 2 of 3");
    play_on(&world, &id, &mut people, &["button.box", "button.roll"], |browser, choice| {
        if choice == "button.box" {
            return click_and_confirm(browser, choice);
        }
        let before = browser.text(".tray.asked");
        browser.click(choice, "");
        let words = json!(before);
        let rolled = format!("document.querySelector('.tray.asked')?.innerText !== {words}");
        browser.until_true("the dice are rolled", &rolled);
    });
    let result = result(&world, &id);
    shows_end(&mut people[0], &result);
}

#[test]
pub(crate) fn guest_plays_fish_with_the_mouse() {
    let world = World::start();
    let (browser, id) = guest_by_mouse(&world, "fish");
    let mut people = [browser];
    play_on(&world, &id, &mut people, &[".tile.open", ".penguin.open"], |browser, choice| {
        if choice == ".penguin.open" {
            browser.click(choice, "");
        }
        click_and_confirm(browser, ".tile.open");
    });
    let result = result(&world, &id);
    shows_end(&mut people[0], &result);
}

#[test]
pub(crate) fn guest_plays_trains_with_the_mouse() {
    let world = World::start();
    let (browser, id) = guest_by_mouse(&world, "trains");
    let mut people = [browser];
    let [browser] = &mut people;
    browser.click(".goal-choice[aria-pressed=false]", "");
    browser.until_text("button.keep", "Keep 1 of 2");
    browser.click(".goal-choice[aria-pressed=false]", "");
    browser.click("button.keep", "Keep 2 of 2");
    play_on(&world, &id, &mut people, &[".way-choice", "button.cards"], |browser, choice| {
        click_and_confirm(browser, choice);
    });
    let result = result(&world, &id);
    let [browser] = &mut people;
    shows_end(browser, &result);
    // A person who wants to know why is led to the analysis.
    browser.click(".after a.button[href*=replay]", "");
    browser.until_true("the replay opens", "document.querySelector('.analysis') !== null");
    browser.until_true(
        "the analysis is in sight",
        "document.querySelector('.analysis').getBoundingClientRect().top < innerHeight",
    );
}

#[test]
pub(crate) fn guest_plays_yahtzee_by_keyboard_alone_and_kept_dice_stay_kept() {
    let world = World::start();
    let (browser, id) = guest_by_keyboard(&world, "yahtzee");
    let mut people = [browser];
    let [browser] = &mut people;
    browser.until_true("ann is asked", "document.querySelector('button.roll') !== null");
    // Nothing of the board has the focus; its keys work all the same.
    for key in ["2", "4", "r"] {
        browser.press(key);
    }
    browser.until_text(".tray.asked", "Roll 2 of 3");
    let kept = "[...document.querySelectorAll('button.die')].map(die => die.ariaPressed).join()";
    assert_eq!(browser.eval(kept), "false,true,false,true,false");
    browser.until_text("button.roll", "Roll 3 again");
    // The focus stays on the button when its answer is sent and the next request comes.
    browser.press("ArrowDown");
    browser.until_true("roll has the focus", "document.activeElement.matches('button.roll')");
    browser.press("Enter");
    browser.until_text(".tray.asked", "Choose a box");
    browser.until_true("a box has the focus", "document.activeElement.matches('button.box')");
    play_on(&world, &id, &mut people, &["button.box", "button.roll"], |browser, choice| {
        if choice == "button.roll" {
            return browser.press("r");
        }
        browser.press("ArrowDown");
        browser.until_true("a box has the focus", "document.activeElement.matches('button.box')");
        browser.press("Enter");
        browser.until_true("it asks", "document.querySelector('.confirmation') !== null");
        browser.press("Enter");
    });
    let result = result(&world, &id);
    shows_end(&mut people[0], &result);
}

#[test]
pub(crate) fn guest_plays_fish_by_keyboard_alone() {
    let world = World::start();
    let (browser, id) = guest_by_keyboard(&world, "fish");
    let mut people = [browser];
    play_on(&world, &id, &mut people, &[".tile.open", ".penguin.open"], |browser, choice| {
        let focus = format!("document.activeElement.matches('{choice}')");
        if browser.eval(&focus) != true {
            browser.press("ArrowDown");
        }
        browser.press("Enter");
        if choice == ".penguin.open" {
            let tile = "document.activeElement.matches('.tile.open')";
            browser.until_true("a tile has the focus", tile);
            browser.press("Enter");
        }
        browser.until_true("it asks", "document.querySelector('.confirmation') !== null");
        browser.press("Enter");
    });
    let result = result(&world, &id);
    shows_end(&mut people[0], &result);
}

#[test]
pub(crate) fn guest_plays_trains_by_keyboard_alone() {
    let world = World::start();
    let (browser, id) = guest_by_keyboard(&world, "trains");
    let mut people = [browser];
    let [browser] = &mut people;
    browser.until_true("ann picks", "document.querySelector('.goal-choice') !== null");
    for key in ["1", "5"] {
        browser.press(key);
    }
    browser.until_text("button.keep", "Keep 2 of 2");
    browser.until_true("it can be pressed", "!document.querySelector('button.keep').disabled");
    while browser.eval("document.activeElement.matches('button.keep')") != true {
        browser.press("ArrowDown");
    }
    browser.press("Enter");
    play_on(&world, &id, &mut people, &[".way-choice", "button.cards"], |browser, choice| {
        if choice == "button.cards" {
            browser.press("c");
            browser.until_text(".confirmation", "Draw two cards?");
            return browser.press("Enter");
        }
        while browser.eval("document.activeElement.matches('.way-choice')") != true {
            browser.press("ArrowDown");
        }
        browser.press("Enter");
        browser.until_text(".confirmation", "Take");
        browser.press("Enter");
    });
    let result = result(&world, &id);
    shows_end(&mut people[0], &result);
}

#[test]
fn chosen_move_is_undone_or_confirmed_before_it_is_sent() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    announce(&world, "ice", "fish", &["ann", "house:greedy"], slow());
    let placed = |world: &World| {
        let view = &world.get("/api/v1/tournaments/ice/matches/r1m1")["in_progress"]["view"];
        view["players"][0]["places"].as_array().unwrap().clone()
    };
    let none = Vec::<Value>::new();
    browser.click(".tile.open", "");
    browser.until_text(".confirmation", "Place a penguin at 0,0?");
    browser.click(".undo", "");
    browser.until_true("undone", "document.querySelector('.confirmation, .preview') === null");
    browser.click("[data-key='tile-0,1']", "");
    browser.until_text(".confirmation", "Place a penguin at 0,1?");
    browser.press("Escape");
    browser.until_true("undone", "document.querySelector('.confirmation, .preview') === null");
    assert_eq!(placed(&world), none);
    // Another choice replaces the first one.
    browser.click("[data-key='tile-0,1']", "");
    browser.click("[data-key='tile-0,2']", "");
    browser.until_text(".confirmation", "Place a penguin at 0,2?");
    assert_eq!(placed(&world), none);
    browser.click(".send", "");
    browser.until_true("sent", "document.querySelectorAll('.penguin.red').length === 1");
    assert_eq!(placed(&world), [json!([0, 2])]);
    // A person who wants no confirmation turns it off.
    browser.click(".play-options summary", "Options");
    browser.click(".play-options label", "Ask before sending a move");
    browser.click(".play-options summary", "Options");
    browser.click(".tile.open", "");
    browser.until_true("sent", "document.querySelectorAll('.penguin.red').length === 2");
}

#[test]
fn hints_show_what_a_choice_would_give() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    announce(&world, "dice", "yahtzee-class", &["ann", "house:greedy"], slow());
    // While dice are rolled, every open box says what it would give now: chance gives the sum.
    let chance = "(() => {
        const dice = [...document.querySelectorAll('button.die')]
            .map(die => Number(/: (\\d)/.exec(die.getAttribute('aria-label'))[1]));
        const sum = dice.reduce((all, one) => all + one, 0);
        return document.querySelectorAll('.hint').length === 13
            && document.querySelector('[data-key=chance] .hint').textContent === `(${sum})`;
    })()";
    browser.until_true("the hint is the sum", chance);
    browser.click(".play-options summary", "Options");
    browser.click(".play-options label", "Show hints");
    browser.until_true("no hints", "document.querySelector('.hint') === null");
}

#[test]
fn hints_show_where_a_penguin_may_slide_and_which_tracks_can_be_paid() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    announce(&world, "ice", "fish", &["ann", "house:greedy"], slow());
    for count in 1..=4 {
        browser.click(".tile.open", "");
        browser.click(".send", "");
        let placed = format!("document.querySelectorAll('.penguin.red').length === {count}");
        browser.until_true("it is placed", &placed);
    }
    browser.until_true("ann slides", "document.querySelector('.penguin.open') !== null");
    // A penguin under the pointer shows the tiles that it could be chosen to slide to.
    let reach = "(() => {
        const own = document.querySelector('.penguin.open');
        own.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
        return [...document.querySelectorAll('.tile.reach')].map(one => one.dataset.key);
    })()";
    let hinted = browser.eval(reach);
    assert!(!hinted.as_array().unwrap().is_empty());
    browser.click(".play-options summary", "Options");
    browser.click(".play-options label", "Show hints");
    browser.until_true("ann slides", "document.querySelector('.penguin.open') !== null");
    assert_eq!(browser.eval(reach), json!([]), "hints are off");
    browser.click(".play-options summary", "Options");
    browser.click(".penguin.open", "");
    browser.until_true("she chooses a tile", "document.querySelector('.tile.open') !== null");
    let open = "[...document.querySelectorAll('.tile.open')].map(one => one.dataset.key)";
    assert_eq!(browser.eval(open), hinted);
    world.order("/api/v1/tournaments/ice/withdraw", json!({"player": "ann", "why": "enough"}));
    world.until_over("ice");
    announce(&world, "rails", "trains", &["ann", "house:greedy"], slow());
    browser.click(".goal-choice[aria-pressed=false]", "");
    browser.click(".goal-choice[aria-pressed=false]", "");
    browser.click("button.keep", "Keep 2 of 2");
    while browser.eval("document.querySelector('.way-choice') !== null") != true {
        click_and_confirm(&mut browser, "button.cards");
        browser.until_true("ann is asked", "document.querySelector('button.cards') !== null");
    }
    // The map marks the tracks of the list, and the one that the list points to.
    let same = "document.querySelectorAll('.way.open').length
        === document.querySelectorAll('.way-choice').length";
    browser.until_true("the map shows what she can pay", same);
    browser.eval("document.querySelector('.way-choice').focus()");
    let pointed = "document.querySelector('.way-choice').dataset.key
        === `choice-${document.querySelector('.way.pointed')?.dataset.key}`";
    browser.until_true("the map shows the track with the focus", pointed);
}

#[test]
fn players_are_in_one_line_with_clocks() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    announce(&world, "ice", "fish", &["ann", "house:greedy", "house:random"], slow());
    browser.until_true("ann is asked", "document.querySelector('.tile.open') !== null");
    let clocks = "[...document.querySelectorAll('.strip [data-clock]')].map(one => one.textContent)
        .map(text => /^\\d+:\\d\\d$/.test(text)).join()";
    browser.until_true("only the clock of ann runs", &format!("{clocks} === 'true,false,false'"));
    for (width, height) in WINDOWS {
        look(&mut browser, width, height, false);
        let one_line = "(all => all.length === 3
            && new Set(all.map(one => Math.round(one.getBoundingClientRect().top))).size === 1
            && all.every(one => one.clientHeight < 64))
            ([...document.querySelectorAll('.strip > li')])";
        browser.until_true(&format!("one line at {width} px"), one_line);
    }
}

#[test]
fn reduced_motion_stops_boards_and_the_game_on_the_start_page() {
    let world = World::start();
    let mut browser = world.browser("#/docs");
    let media = json!({"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]});
    browser.cdp("Emulation.setEmulatedMedia", media);
    browser.eval(
        "globalThis.animations = 0;
         const animate = Element.prototype.animate;
         Element.prototype.animate = function (...all) {
           animations += 1;
           return animate.apply(this, all);
         }; 0",
    );
    browser.go("#/");
    browser.until_text("agon-demo button", "Play");
    // It shows the end of the game, and stays there.
    browser.until_text("agon-demo .sides", "42");
    browser.click("button.start", "Play Fish");
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("both placed", "document.querySelectorAll('.penguin').length === 2");
    assert_eq!(browser.eval("animations"), 0);
    assert_eq!(browser.eval("document.getAnimations().length"), 0);
}

#[test]
fn tracks_of_several_opponents_are_laid_one_after_another() {
    let world = World::start();
    world.house_cup("rails", "trains", &["house:buy-now", "house:greedy"]);
    world.until_over("rails");
    let mut browser = world.browser("#/replay/rails/r1m1/1");
    browser.until_true("the map is there", "document.querySelector('agon-trains .way') !== null");
    // Two positions with three tracks between them, as a spectator sees them who looks away.
    let apart = browser.eval(
        "(async () => {
           const at = '/api/v1/tournaments/rails/matches/r1m1/games/1/replay';
           const { steps, seats } = await (await fetch(at)).json();
           const laid = view => view.history.filter(({ did }) => did.acquired).length;
           const last = steps.at(-1).view;
           const before = steps.findLast(({ view }) => laid(view) === laid(last) - 3).view;
           const { loadBoard } = await import('/web/boards/load.js');
           const board = await loadBoard('trains');
           document.querySelector('main').append(board);
           const begun = [];
           const animate = Element.prototype.animate;
           Element.prototype.animate = function (frames, options) {
             if (this.matches('.rail')) begun.push(performance.now() + options.delay);
             return animate.call(this, frames, options);
           };
           board.shown = { view: before, names: seats };
           board.shown = { view: last, names: seats };
           return begun.map((time, at) => (at ? time - begun[at - 1] : 0));
         })()",
    );
    let apart: Vec<f64> = serde_json::from_value(apart).unwrap();
    assert_eq!(apart.len(), 3);
    assert!(apart[1..].iter().all(|wait| *wait >= 600.0), "{apart:?}");
}

/// The colours of seats and cards in the theme, and the shortest distance between a seat's colour
/// and a card's, in OKLab.
const NEAREST: &str = "(() => {
    const probe = document.createElement('i');
    document.body.append(probe);
    const context = document.createElement('canvas').getContext('2d');
    const lab = name => {
        probe.style.color = `var(--${name})`;
        context.fillStyle = getComputedStyle(probe).color;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)
            .map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const [l, m, s] = [
            0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
            0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
            0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
        ].map(Math.cbrt);
        return [
            0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
        ];
    };
    const seats = [1, 2, 3, 4, 5, 6, 7, 8].map(seat => lab(`seat-${seat}`));
    const cards = ['blue', 'green', 'red', 'white'].map(color => lab(`rail-${color}`));
    probe.remove();
    return Math.min(...seats.flatMap(seat =>
        cards.map(card => Math.hypot(...seat.map((c, at) => c - card[at])))));
})()";

#[test]
fn seats_differ_from_cards_in_colour_and_from_each_other_in_shape_and_pattern() {
    let world = World::start();
    let mut browser = world.browser("#/");
    world.house_cup("rails", "trains", &["house:greedy", "house:hold-10", "house:buy-now"]);
    world.until_over("rails");
    browser.go("#/game/rails/r1m1");
    browser.until_true("the map is there", "document.querySelector('.way.held') !== null");
    for dark in [false, true] {
        look(&mut browser, 1366, 768, dark);
        // Two colours that differ by less than 0.1 look alike from a distance.
        let nearest = browser.eval(NEAREST).as_f64().unwrap();
        assert!(nearest > 0.09, "dark: {dark}, {nearest}");
    }
    let different = |selector: &str, property: &str| {
        format!(
            "(all => new Set(all).size === 3)([1, 2, 3].map(seat => getComputedStyle(
               document.querySelector(`{selector}`)).{property}))"
        )
    };
    assert_eq!(browser.eval(&different(".strip .badge.seat-${seat}", "borderRadius")), true);
    assert_eq!(
        browser.eval(&different(".way.held.seat-${seat} .pattern", "strokeDasharray")),
        true
    );
}

/// The names of cities that leave the map, and pairs of names that overlap.
const UNREADABLE_CITIES: &str = "(() => {
    const map = document.querySelector('agon-trains .map').getBoundingClientRect();
    const names = [...document.querySelectorAll('agon-trains .city text')];
    const boxes = names.map(one => [one.textContent, one.getBoundingClientRect()]);
    const outside = boxes.filter(([, box]) => box.left < map.left - 1 || box.right > map.right + 1
        || box.top < map.top - 1 || box.bottom > map.bottom + 1);
    const pairs = boxes.flatMap(([name, a], at) => boxes.slice(at + 1)
        .filter(([, b]) => a.left < b.right - 2 && b.left < a.right - 2
            && a.top < b.bottom - 4 && b.top < a.bottom - 4)
        .map(([other]) => `${name} and ${other}`));
    return JSON.stringify({ count: names.length > 5, outside: outside.map(([name]) => name), pairs });
})()";

#[test]
fn one_rail_and_one_card_are_written_in_the_singular() {
    let world = World::start();
    world.house_cup("rails", "trains", &["house:greedy", "house:hold-10"]);
    world.until_over("rails");
    let mut browser = world.browser("#/game/rails/r1m1");
    browser.until_true("the map is there", "document.querySelector('agon-trains .map') !== null");
    for (width, height) in [(1366, 768), (360, 740), (1920, 1080)] {
        look(&mut browser, width, height, false);
        let found = browser.eval(UNREADABLE_CITIES);
        assert_eq!(found, r#"{"count":true,"outside":[],"pairs":[]}"#, "{width} pixels wide");
    }
    // The final position, as if the players had one and two rails and cards left.
    browser.eval(
        "(() => { const board = document.querySelector('agon-trains');
           const { view, names } = structuredClone(board.now);
           view.deck = 1;
           view.players.forEach((one, seat) => { one.rails = one.cards = seat + 1; });
           board.shown = { view, names }; })()",
    );
    browser.until_text(".details", "1 rail · 1 card · ");
    browser.until_text(".details", "2 rails · 2 cards · ");
    browser.until_text(".details", "1 card in the deck");
}

#[test]
fn moves_of_several_opponents_are_shown_one_after_another() {
    let world = World::start();
    let ann = world.person("ann");
    let mut browser = seated(&world, &ann);
    announce(&world, "ice", "fish", &["ann", "house:greedy", "house:random"], slow());
    // Every animation of a penguin and when it begins, however late the test looks.
    browser.eval(
        "globalThis.begun = [];
         const animate = Element.prototype.animate;
         Element.prototype.animate = function (frames, options) {
           if (this.matches('.bird')) begun.push(performance.now() + options.delay);
           return animate.call(this, frames, options);
         }; 0",
    );
    browser.click(".tile.open", "");
    browser.click(".send", "");
    browser.until_true("three are shown", "begun.length === 3");
    browser.until_text(".caption", "house:random places a penguin");
    browser.until_text(".caption", "house:greedy places a penguin");
    let apart = "begun.slice(1).every((time, at) => time - begun[at] >= 600)";
    assert_eq!(browser.eval(apart), true, "{}", browser.eval("begun.join()"));
}

#[test]
fn win_is_celebrated_quietly_where_motion_is_reduced() {
    let world = World::start();
    for (person, motion) in [("ann", "no-preference"), ("bob", "reduce")] {
        let token = world.person(person);
        let mut browser = seated(&world, &token);
        let media = json!({"features": [{"name": "prefers-reduced-motion", "value": motion}]});
        browser.cdp("Emulation.setEmulatedMedia", media);
        // Leaves that fell before the test looks are counted too.
        browser.eval(
            "globalThis.leaves = 0;
             new MutationObserver(() => leaves += document.querySelectorAll('.leaf').length)
               .observe(document.body, { childList: true }); 0",
        );
        announce(&world, person, "yahtzee-class", &[person, "house:greedy"], slow());
        browser.until_true("a game runs", "document.querySelector('button.roll') !== null");
        let leave = json!({"player": "house:greedy", "why": "a power cut"});
        world.order(&format!("/api/v1/tournaments/{person}/withdraw"), leave);
        browser.until_text(".after.won h2", "You won");
        browser.until_true("a wreath", "document.querySelector('.after .laurel') !== null");
        assert_eq!(browser.eval("leaves > 0"), motion == "no-preference");
        browser.until_true("all is over", "document.querySelector('.celebration') === null");
    }
}
