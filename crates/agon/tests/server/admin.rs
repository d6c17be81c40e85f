//! `agon admin` against a real server: tables, JSON, and refusals as one sentence.

use crate::joining::{admin, must};
use crate::support::{Place, Process, Server, until};
use serde_json::Value;

#[test]
fn tournaments_accounts_and_queues() {
    let place = Place::new("");
    let server = Server::start(&place);
    assert_eq!(must(&place, &server, &["tournament", "list"]), "There are no tournaments.\n");
    assert_eq!(must(&place, &server, &["account", "register", "ann"]), "ann is registered.\n");
    assert_eq!(must(&place, &server, &["queue", "show", "q"]), "Nobody waits in q.\n");
    let create = [
        "tournament",
        "create",
        "cup",
        "--preset",
        "yahtzee-class",
        "--best-of",
        "3",
        "--named",
        "house:greedy",
        "house:random",
    ];
    assert_eq!(must(&place, &server, &create), "cup is created.\n");
    until("the cup is over", || place.is_over("cup"));
    let listed = must(&place, &server, &["tournament", "list"]);
    assert!(listed.starts_with("id ") && listed.contains("cup  over"), "{listed}");
    let shown = must(&place, &server, &["tournament", "show", "cup"]);
    assert!(shown.contains("best of 3") && shown.contains("wins."), "{shown}");
    let shown = must(&place, &server, &["match", "show", "cup", "r1m1"]);
    assert!(shown.contains("Won by "), "{shown}");
    let accounts = must(&place, &server, &["account", "list"]);
    assert!(accounts.contains("ann ") && accounts.contains("operator  "), "{accounts}");
    let one = must(&place, &server, &["account", "show", "house:greedy"]);
    assert!(one.contains("yahtzee: matches "), "{one}");
    let status = must(&place, &server, &["status"]);
    assert!(status.contains(": ok") && status.contains("games finished"), "{status}");
    let raw = must(&place, &server, &["--json", "tournament", "show", "cup"]);
    let raw: Value = serde_json::from_str(&raw).expect("JSON");
    assert_eq!(raw["standing"], "over");
    let open = ["tournament", "create", "open", "--preset", "fish", "--sign-up", "2", "4"];
    must(&place, &server, &open);
    let shown = must(&place, &server, &["tournament", "show", "open"]);
    assert!(shown.contains("open · fish · open"), "{shown}");
    place.verify();
}

#[test]
fn created_tournament_plays_duplicate_games() {
    let place = Place::new("");
    let server = Server::start(&place);
    let create = ["tournament", "create", "cup", "--preset", "yahtzee-class", "--duplicate"];
    let named = ["--named", "house:greedy", "house:random"];
    must(&place, &server, &[&create[..], &named].concat());
    until("the cup is over", || place.is_over("cup"));
    let raw = must(&place, &server, &["--json", "tournament", "show", "cup"]);
    let raw: Value = serde_json::from_str(&raw).expect("JSON");
    let rules = &raw["plan"]["policy"]["match"];
    assert_eq!((&rules["duplicate"], &rules["ties"]), (&true.into(), &"replay".into()), "{rules}");
    let games = &raw["results"]["rounds"][0]["matches"][0]["result"]["games"];
    let seats = |game: usize| games[game]["seats"][0].as_str().expect("a seat").to_owned();
    assert_eq!(games.as_array().map(Vec::len), Some(2), "a pair of games: {games}");
    assert_ne!(seats(0), seats(1), "they exchange seats");
    let started = place.events("match/cup/").into_iter();
    let started = started.filter(|(_, event)| event["type"] == "game-started");
    let same: Vec<Value> =
        started.map(|(_, event)| event["data"]["duplicate_of"].clone()).collect();
    assert_eq!(same, [Value::Null, 1.into()], "the second game has the luck of the first");
    place.verify();
}

#[test]
fn created_tournament_has_the_format_and_pairing_that_were_given() {
    let place = Place::new("");
    let server = Server::start(&place);
    let mut create = vec!["tournament", "create", "cup", "--preset", "yahtzee-class"];
    create.extend(["--format", "groups:size=2 -> top 2", "--pairing", "order", "--named"]);
    create.extend(["house:greedy", "house:random", "house:optimal", "house:level-1"]);
    must(&place, &server, &create);
    until("the cup is over", || place.is_over("cup"));
    let raw = must(&place, &server, &["--json", "tournament", "show", "cup"]);
    let raw: Value = serde_json::from_str(&raw).expect("JSON");
    let policy = &raw["plan"]["policy"];
    assert_eq!(policy["pairing"], "order");
    let stages = &policy["format"]["stages"];
    assert_eq!((&stages[0]["format"]["size"], &stages[1]["players"]), (&2.into(), &2.into()));
    assert_eq!(raw["results"]["rounds"].as_array().map(Vec::len), Some(2), "a final: {raw}");
    place.verify();
}

/// The server takes the ratings from its ladder, and the strongest player comes first.
#[test]
fn tournament_created_with_pairing_by_rating_has_the_order_of_the_ladder() {
    let place = Place::new("");
    let server = Server::start(&place);
    let players = ["house:random", "house:optimal", "house:level-1", "house:greedy"];
    let create = |id, format, pairing| {
        let args = ["tournament", "create", id, "--preset", "yahtzee-class", "--format", format];
        let more = ["--pairing", pairing, "--named"];
        must(&place, &server, &[&args[..], &more, &players].concat());
        until("the cup is over", || place.is_over(id));
        let raw = must(&place, &server, &["--json", "tournament", "show", id]);
        serde_json::from_str::<Value>(&raw).expect("JSON")
    };
    create("league", "round-robin:cycles=2", "order");
    let raw = create("cup", "bracket", "rating");
    let policy = &raw["plan"]["policy"];
    assert_eq!(policy["pairing"], "rating");
    let ratings = policy["ratings"].as_object().expect("ratings");
    let mut by_rating: Vec<(&str, i64)> = ratings
        .iter()
        .map(|(player, rating)| (player.as_str(), rating.as_i64().expect("a number")))
        .collect();
    by_rating.sort_by_key(|(_, rating)| std::cmp::Reverse(*rating));
    assert_eq!(by_rating.len(), players.len(), "{ratings:?}");
    assert_eq!(by_rating[3].0, "house:random", "{ratings:?}");
    // In a bracket of four the first meets the last, and the second the third.
    let first = raw["results"]["rounds"][0]["matches"].as_array().expect("matches");
    let met = |number: usize| {
        let mut names: Vec<&str> = first[number]["players"]
            .as_array()
            .expect("players")
            .iter()
            .map(|name| name.as_str().expect("a name"))
            .collect();
        names.sort_unstable();
        names
    };
    let mut wanted = [[0, 3], [1, 2]].map(|pair| {
        let mut names = pair.map(|at: usize| by_rating[at].0).to_vec();
        names.sort_unstable();
        names
    });
    let mut found = [met(0), met(1)];
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted, "{ratings:?}");
    place.verify();
}

/// The tournament, and not the lobby, records the edition of the rules of until-sure.
#[test]
fn log_of_until_sure_over_pairs_verifies() {
    let place = Place::new("");
    let server = Server::start(&place);
    let create = ["tournament", "create", "cup", "--preset", "yahtzee-sure", "--named"];
    must(&place, &server, &[&create[..], &["house:greedy", "house:random"]].concat());
    until("the cup is over", || place.is_over("cup"));
    let raw = must(&place, &server, &["--json", "tournament", "show", "cup"]);
    let raw: Value = serde_json::from_str(&raw).expect("JSON");
    assert_eq!(raw["plan"]["policy"]["format"]["pairs"], true, "{raw}");
    place.verify();
}

#[test]
fn operator_enters_a_player_into_a_running_tournament() {
    let place = Place::new("");
    let server = Server::start(&place);
    let mut create = vec!["tournament", "create", "cup", "--preset", "yahtzee-class"];
    create.extend(["--format", "swiss:rounds=3", "--pace", "20"]);
    create.extend(["--named", "house:greedy", "house:random"]);
    must(&place, &server, &create);
    let enter = ["tournament", "enter", "cup", "house:level-1", "--why", "came late"];
    must(&place, &server, &enter);
    until("the cup is over", || place.is_over("cup"));
    let raw = must(&place, &server, &["--json", "tournament", "show", "cup"]);
    let raw: Value = serde_json::from_str(&raw).expect("JSON");
    let rounds = raw["results"]["rounds"].as_array().expect("rounds").clone();
    let plays = |round: &Value| round.to_string().contains("house:level-1");
    assert_eq!(rounds.iter().map(plays).collect::<Vec<_>>(), [false, true, true], "{raw}");
    let (code, said) = admin(&place, &server, &enter);
    assert_eq!(code, Some(1), "{said}");
    place.verify();
}

#[test]
fn refusals_are_one_sentence_with_what_to_do() {
    let place = Place::new("");
    let server = Server::start(&place);
    let create = ["tournament", "create", "cup", "--preset", "yahtzee-class", "--line", "2"];
    let refused = |args: &[&str], code: i32, words: &str| {
        let (ended, said) = admin(&place, &server, args);
        assert_eq!(ended, Some(code), "{args:?}: {said}");
        assert!(said.contains(words), "{words:?} in {said}");
        assert!(code == 2 || said.lines().count() == 1, "{said}");
    };
    refused(&["tournament", "show", "none"], 1, "there is no tournament none");
    refused(&["match", "show", "none", "r1m1"], 1, "there is no tournament none");
    refused(&["account", "register", "house:x"], 1, "house players");
    let odd = ["tournament", "create", "CUP", "--preset", "fish", "--line", "2"];
    refused(&odd, 1, "small letters, digits and hyphens");
    let both = ["tournament", "create", "cup", "--line", "2", "--named", "ann"];
    refused(&both, 2, "cannot be used with");
    refused(&["tournament", "create", "cup"], 2, "--named");
    let policy = ["tournament", "create", "cup", "--line", "2", "--policy", "{"];
    refused(&policy, 2, "--policy is not JSON");
    refused(&["tournament", "pause", "cup"], 2, "--why");
    // Without a token, and with one that is not good.
    let http = format!("http://{}", server.said["http"].as_str().expect("an address"));
    for token in ["", "0000"] {
        let mut command = place.command(&[&["admin", "--server", &http][..], &create].concat());
        command.env("AGON_TOKEN", token);
        let mut process = Process(command.spawn().expect("agon starts"));
        assert_eq!(process.code(), Some(1));
        let said = process.all_output();
        assert!(said.contains("AGON_TOKEN") && said.contains("401"), "{said}");
    }
    drop(server);
    let (code, said) = place.agon(&["admin", "--server", &http, "status"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("check that the server runs"), "{said}");
}
