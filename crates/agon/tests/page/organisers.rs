//! Tools for organisers: reasons that everybody sees, a pause that looks like one, files for
//! spreadsheets, leaderboard and archive, and the way into a tournament.

use crate::checks::{accessible_in_every_look, look};
use crate::live::waiting_cup;
use crate::world::World;
use serde_json::{Value, json};

const CUP: [&str; 3] = ["house:greedy", "house:random", "house:optimal"];

#[test]
fn reasons_of_rulings_stay_visible_to_everybody() {
    let world = World::start();
    let mut player = crate::support::Client::logged_in(world.tcp(), "bob");
    let selection = json!({"by": "named", "players": ["bob", "house:random"]});
    world.announce(json!({"id": "duel", "preset": "yahtzee-class", "selection": selection}));
    player.hear_until("request");
    let at = "/api/v1/tournaments/duel";
    let mut watcher = world.browser("#/game/duel/r1m1");
    watcher.until_text(".head", "live");
    world.order(&format!("{at}/pause"), json!({"why": "look at the dice"}));
    world.order(&format!("{at}/matches/r1m1/games/1/void"), json!({"why": "wrong dice"}));
    // A paused match looks paused, and the void game names its reason.
    watcher.until_text(".head", "paused");
    watcher.until_text("p.paused", "look at the dice");
    watcher.until_text("p.paused", "wrong dice");
    watcher.until_true("the board is grey", "document.querySelector('.stage.still') !== null");
    accessible_in_every_look(&mut watcher, "a paused match");
    look(&mut watcher, 360, 740, false);
    let whole = "[...document.querySelectorAll('p.paused')].every(one =>
        one.clientHeight > 0 && one.scrollWidth <= one.clientWidth)";
    watcher.until_true("the reasons are whole on a phone", whole);
    watcher.go("#/");
    watcher.until_text("[aria-label=Running] .tag.warn", "paused");
    // The operator ends it; all reasons are still there afterwards.
    let outcome = json!({"winners": ["bob"], "why": "the other dice were loaded"});
    world.order(&format!("{at}/matches/r1m1/override"), outcome);
    world.order(&format!("{at}/resume"), json!({"why": "that is settled"}));
    world.until_over("duel");
    watcher.go("#/tournament/duel");
    for why in ["look at the dice", "the other dice were loaded", "that is settled", "wrong dice"] {
        watcher.until_text("[aria-label=Rulings]", why);
    }
    watcher.until_text("[aria-label=Pairings]", "wrong dice");
    accessible_in_every_look(&mut watcher, "a tournament with rulings");
    watcher.go("#/replay/duel/r1m1/1");
    watcher.until_text("main", "The game is void, ruled by operator: wrong dice.");
    let rulings = world.get(&format!("{at}/rulings"));
    let kinds = rulings["rulings"].as_array().unwrap().iter().map(|one| one["what"].clone());
    let kinds: Vec<Value> = kinds.collect();
    assert!(kinds.starts_with(&["paused".into(), "overridden".into()]), "{rulings}");
}

#[test]
fn an_operator_withdraws_a_player_on_the_page() {
    let world = World::start();
    world.open_sign_up("spring", 8);
    let ann = world.person("ann");
    let path = "/api/v1/tournaments/spring/signups";
    assert_eq!(world.send("POST", Some(&ann), path, &Value::Null).0, 201);
    let mut browser = world.browser_of(&world.operator, "#/tournament/spring");
    browser.click("[aria-label=Operator] button", "Withdraw a player");
    browser.fill("dialog [name=why]", "registered twice");
    browser.click("dialog button", "Withdraw the player");
    browser.until_text("[aria-label='Sign-up']", "0 players so far");
    assert_eq!(world.get("/api/v1/tournaments/spring")["plan"]["players"], json!([]));
}

#[test]
fn reasons_of_start_entry_withdrawal_and_cancellation_are_public() {
    let world = World::start();
    let policy = json!({
        "format": {"kind": "swiss", "rounds": 3}, "match": {"time": {"wait_ms": 600_000}},
    });
    let selection = json!({
        "by": "sign-up", "at_least": 2, "at_most": 8, "wait_ms": 600_000,
        "second_wait_ms": 0, "second_at_least": 2,
    });
    for id in ["league", "never"] {
        world.announce(json!({
            "id": id, "preset": "yahtzee-queue", "policy": policy, "selection": selection,
        }));
    }
    for name in ["ann", "bob", "cat"] {
        let token = world.person(name);
        let path = "/api/v1/tournaments/league/signups";
        assert_eq!(world.send("POST", Some(&token), path, &Value::Null).0, 201);
    }
    let mut visitor = world.browser("#/tournament/league");
    let mut browser = world.browser_of(&world.operator, "#/tournament/league");
    let mut order = |button: &str, player: Option<&str>, why: &str, confirm: &str| {
        browser.click("[aria-label=Operator] button", button);
        if let Some(player) = player {
            browser.eval(&format!(
                "document.querySelector('dialog [name=player]').value = '{player}'"
            ));
        }
        browser.fill("dialog [name=why]", why);
        browser.click("dialog button", confirm);
        browser.until_true("it is done", "document.querySelector('dialog[open]') === null");
        visitor.until_text("[aria-label=Rulings]", why);
    };
    order("Withdraw a player", Some("cat"), "registered twice", "Withdraw the player");
    order("Start now", None, "everybody is here", "Start now");
    order("Enter a player", Some("house:random"), "missed the train", "Enter the player");
    order("Withdraw a player", Some("bob"), "has to leave", "Withdraw the player");
    let list = "[...document.querySelectorAll('[aria-label=Rulings] li > div')]
        .map(one => one.innerText.replace(/\\s+/g, ' ').trim()).join('; ')";
    let expected = "operator withdrew cat “registered twice”; \
         operator started the tournament “everybody is here”; \
         operator entered house:random “missed the train”; \
         operator withdrew bob “has to leave”";
    visitor.until_true("all are listed once", &format!("{list} === {}", json!(expected)));
    accessible_in_every_look(&mut visitor, "a tournament with rulings");
    let players = world.get("/api/v1/tournaments/league")["plan"]["players"].clone();
    assert_eq!(players, json!(["ann", "bob", "house:random"]));
    world.order("/api/v1/tournaments/never/call-off", json!({"why": "nobody comes"}));
    visitor.go("#/tournament/never");
    visitor.until_text("[aria-label=Rulings]", "nobody comes");
}

#[test]
fn tables_become_files_for_spreadsheets() {
    let world = World::start();
    world.house_cup("cup", "yahtzee-class", &CUP);
    world.until_over("cup");
    let mut browser = world.browser("#/tournament/cup");
    // Keeps what would be saved.
    browser.until_text("#standings", "house:greedy");
    browser.eval(
        "globalThis.saved = [];
         URL.createObjectURL = blob => { blob.text().then(text => saved.push(text)); return '#'; };
         HTMLAnchorElement.prototype.click = () => {}; 0",
    );
    browser.click("[aria-label=Standings] button", "CSV");
    browser.until_true("it is saved", "saved.length === 1");
    let saved = browser.eval("saved[0]");
    let lines: Vec<&str> = saved.as_str().unwrap().split_terminator("\r\n").collect();
    let cup = world.get("/api/v1/tournaments/cup");
    let standings = cup["results"]["standings"].as_array().unwrap();
    assert_eq!(lines.len(), standings.len() + 1);
    assert!(lines[0].starts_with("rank,player,"), "{}", lines[0]);
    for (line, place) in lines[1..].iter().zip(standings) {
        let begins = format!("{},{},", place["rank"], place["player"].as_str().unwrap());
        assert!(line.starts_with(&begins), "{line}");
    }
    browser.click("[aria-label=Pairings] button", "CSV");
    browser.until_true("it is saved", "saved.length === 2");
    // Names that a spreadsheet would take for formulas, or that hold commas and quotes.
    let cells = browser.eval(
        "import('/web/lib/csv.js').then(({ csv }) =>
           csv(['a'], [['=1+1'], ['x, \"y\"'], [-5], [null]]))",
    );
    assert_eq!(cells, "a\r\n'=1+1\r\n\"x, \"\"y\"\"\"\r\n-5\r\n\r\n");
}

/// A script: does every row show its whole name and its interval?
const WHOLE_ROWS: &str = "[...document.querySelectorAll('#leaderboard tbody tr')].every(row => {
    const whole = one => one.scrollWidth <= one.clientWidth;
    const name = row.querySelector('.player');
    const range = row.querySelector('span.range');
    return whole(name) && [...name.children].every(whole) && range.offsetHeight > 0
        && range.getBoundingClientRect().right <= innerWidth;
})";

#[test]
fn leaderboard_is_searched_and_shows_intervals_and_ones_own_rank() {
    let world = World::start();
    let ann = world.person("ann");
    world.house_cup("cup", "yahtzee-class", &CUP);
    world.until_over("cup");
    let mut browser = world.browser_of(&ann, "#/leaderboard/yahtzee");
    let ladder = world.get("/api/v1/ladders/yahtzee");
    let ladder = ladder["players"].as_array().unwrap();
    for one in ladder {
        let of = |field: &str| one["rating"][field].as_f64().unwrap().round();
        browser.until_text("#leaderboard", one["player"].as_str().unwrap());
        browser.until_text("#leaderboard", &format!("{} – {}", of("low"), of("high")));
    }
    browser.until_text(".own-rank", "You have no rating at Yahtzee yet.");
    browser.fill("[type=search]", "OPTIM");
    browser.until_no_text("#leaderboard", "house:greedy");
    browser.until_text("#leaderboard", "house:optimal");
    accessible_in_every_look(&mut browser, "the leaderboard");
    browser.fill("[type=search]", "");
    browser.until_text("#leaderboard", "house:greedy");
    look(&mut browser, 360, 740, true);
    browser.until_true("names and intervals are whole on a phone", WHOLE_ROWS);
    // Ann gets a result, and with it a rank.
    waiting_cup(&world, "duel");
    let at = "/api/v1/tournaments/duel";
    world.order(&format!("{at}/matches/r1m1/override"), json!({"winners": ["ann"], "why": "so"}));
    world.order(&format!("{at}/resume"), json!({"why": "go on"}));
    world.until_over("duel");
    browser.go("#/leaderboard/fish");
    browser.until_text(".view", "Nobody has a rating at Fish yet.");
    browser.go("#/leaderboard/yahtzee");
    browser.until_text(".own-rank", "of ");
    let own = world.get("/api/v1/accounts/ann")["statistics"]["by_game"]["yahtzee"]["rank"].clone();
    browser.until_text(".own-rank", &format!("You are number {own} of"));
    browser.until_text("tr.own", "ann");
}

#[test]
fn past_tournaments_have_date_game_and_winner() {
    let world = World::start();
    // The form for tournaments gives people the time limits of casual games.
    for (id, preset) in [("cup", "yahtzee-class"), ("pond", "fish"), ("club", "fish-casual")] {
        world.house_cup(id, preset, &["house:greedy", "house:random"]);
        world.until_over(id);
    }
    let past = world.get("/api/v1/archive");
    let past = past["tournaments"].as_array().unwrap();
    assert_eq!(past.iter().map(|one| &one["id"]).collect::<Vec<_>>(), ["club", "pond", "cup"]);
    let mut browser = world.browser("#/archive");
    for one in past {
        let winner = one["winners"][0].as_str().unwrap();
        browser.until_text(".entry", one["id"].as_str().unwrap());
        browser.until_text(".entry .won-by", winner);
    }
    browser.until_text(".entry", "Fish · 2 players");
    let dated = "[...document.querySelectorAll('.entry time')].every(time =>
        Date.now() - Date.parse(time.dateTime) < 600_000)";
    assert_eq!(browser.eval(dated), true);
    browser.fill("[type=search]", "fish");
    browser.until_no_text(".entry", "cup");
    accessible_in_every_look(&mut browser, "past tournaments");
    browser.click(".entry", "pond");
    browser.until_text("h1", "pond");
}

#[test]
fn sign_up_has_a_link_and_a_qr_code() {
    let world = World::start();
    world.open_sign_up("spring", 8);
    let mut browser = world.browser("#/tournament/spring");
    let address = world.url("#/tournament/spring");
    browser.until_text("[aria-label='Invite players'] code", &address);
    let label = "document.querySelector('.qr').getAttribute('aria-label')";
    assert_eq!(browser.eval(label), format!("QR code of {address}"));
    accessible_in_every_look(&mut browser, "a sign-up with a QR code");
    // The codes of libqrencode 4.1 for versions 1, 7 and 10: a text, then rows of modules.
    let known = [
        include_str!("data/qr-14.txt"),
        include_str!("data/qr-122.txt"),
        include_str!("data/qr-213.txt"),
    ];
    for known in known {
        let (text, rows) = known.split_once('\n').unwrap();
        let drawn = browser.eval(&format!(
            "import('/web/lib/qr.js').then(({{ modules }}) => modules({}).map(row =>
               row.map(dark => dark ? '#' : '.').join('') + '\\n').join(''))",
            json!(text)
        ));
        assert_eq!(drawn.as_str().unwrap(), rows, "{text}");
    }
}
