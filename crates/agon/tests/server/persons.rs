//! People: `agon play` over pipes, here and on a server, and `agon watch` beside it.

use crate::joining::must;
use crate::support::{Place, Process, Server, until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;

/// Starts `agon` with all it says in a file, and a pipe to type into.
fn person(place: &Place, args: &[&str]) -> Process {
    let mut command = place.command(args);
    let out = File::create(place.path("out")).expect("a file");
    command.stdin(Stdio::piped()).stderr(out.try_clone().expect("a file")).stdout(out);
    Process(command.spawn().expect("agon starts"))
}

fn type_all(person: &mut Process, text: &str) {
    let mut stdin = person.0.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("somebody reads");
}

fn shown(place: &Place) -> String {
    String::from_utf8_lossy(&fs::read(place.path("out")).expect("a file")).into_owned()
}

fn play(place: &Place, args: &[&str], typed: &str) -> (Option<i32>, String) {
    let mut person = person(place, args);
    type_all(&mut person, typed);
    (person.code(), shown(place))
}

/// A whole game of Yahtzee, without much thought.
fn thirteen_turns() -> String {
    "keep all\n1\n".repeat(13)
}

#[test]
fn a_game_of_each_kind_against_house_players_here() {
    let place = Place::new("");
    let yahtzee = ["play", "--vs", "house:random", "--seed", "1"];
    let typed = format!("keep 7\nkeep 1 1 1 1 1 1\nhelp\n{}", thirteen_turns());
    let (code, said) = play(&place, &yahtzee, &typed);
    assert_eq!(code, Some(0), "{said}");
    for words in
        ["That is not possible: you do not have 7", "turn 13 of 13", "points\nYou ", "roll all"]
    {
        assert!(said.contains(words), "{words:?} in {said}");
    }
    let fish = [
        "play",
        "--game",
        "fish",
        "--vs",
        "house:random",
        "--seed",
        "1",
        "--game-config",
        r#"{"rows":4,"columns":3}"#,
    ];
    let typed = format!("9,9\nlist\n{}", "list\n1\n".repeat(20));
    let (code, said) = play(&place, &fish, &typed);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("That is not possible: 9,9 is off the board"), "{said}");
    assert!(said.contains("Which penguin slides where?") && said.contains("\nYou "), "{said}");
    let trains =
        ["play", "--game", "trains", "--vs", "house:greedy", "house:random", "--seed", "1"];
    let typed = format!("1\nbuild Atlantis-Rome\n{}", "take\n".repeat(200));
    let (code, said) = play(&place, &trains, &typed);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("That is not possible: there is no city \"atlantis\""), "{said}");
    assert!(said.contains("the game is over") && said.contains("\nYou "), "{said}");
}

#[test]
fn program_is_an_opponent_here_and_sees_only_its_own_folder() {
    let place = Place::new("");
    fs::create_dir(place.path("bots")).expect("a folder");
    fs::write(place.path("private"), "secret").expect("a file");
    let bot = format!("exec '{}' bot random", crate::support::AGON);
    let script = format!("cat '{}/private' /etc/shadow >&2 || echo hidden >&2\n{bot}\n", "..");
    fs::write(place.path("bots/bot.sh"), script).expect("a file");
    let mut command = place.command(&["play", "--vs", "sh bot.sh", "--seed", "1"]);
    let out = File::create(place.path("out")).expect("a file");
    command.current_dir(place.path("bots")).stdin(Stdio::piped());
    command.stderr(out.try_clone().expect("a file")).stdout(out);
    let mut person = Process(command.spawn().expect("agon starts"));
    type_all(&mut person, &thirteen_turns());
    assert_eq!(person.code(), Some(0), "{}", shown(&place));
    let said = shown(&place);
    assert!(said.contains("hidden") && said.contains("you against bot"), "{said}");
    assert!(said.contains("turn 13 of 13") && said.contains("points\nYou "), "{said}");
    let missing = place.command(&["play", "--vs", "./no-such-bot", "--seed", "1"]);
    let mut process = Process({ missing }.spawn().expect("agon starts"));
    assert_eq!(process.code(), Some(2));
    assert!(process.all_output().contains("no such file"));
}

#[test]
fn quitting_ending_and_mistakes() {
    let place = Place::new("");
    let here = ["play", "--vs", "house:greedy", "--seed", "1"];
    let (code, said) = play(&place, &here, "quit\nn\nquit\ny\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("Forfeit the game") && said.ends_with("You forfeited the game.\n"),
        "{said}"
    );
    let (code, said) = play(&place, &here, "keep all\n");
    assert_eq!(code, Some(0), "the end of what is typed ends the game: {said}");
    for (args, words) in [
        (&["play", "--vs", "house:nobody"][..], "nobody"),
        (&["play", "--game", "chess", "--vs", "house:greedy"], "there are: yahtzee"),
        (&["play", "--vs", "house:greedy", "house:greedy"], "2 to 2 players"),
        (&["play"], "--server"),
        (&["play", "--server", "127.0.0.1:1"], "--account"),
    ] {
        let mut command = place.command(args);
        command.env_remove("AGON_PASSWORD");
        let mut process = Process(command.spawn().expect("agon starts"));
        assert_eq!(process.code(), Some(2), "{args:?}");
        let said = process.all_output();
        assert!(said.contains(words), "{words:?} in {said}");
    }
    let mut interrupted = person(&place, &here);
    until("the game has begun", || shown(&place).contains("Which dice do you keep?"));
    interrupted.signal(Signal::INT);
    assert_eq!(interrupted.code(), Some(130));
}

const DUEL: &str = "seed = 7\n[[tournament]]\nname = \"duel\"\npreset = \"yahtzee-queue\"\n\
                    named = [\"ann\", \"house:random\"]\nbest_of = 1\nanswer_ms = 600000\n";

#[test]
fn a_person_plays_a_match_on_a_server_and_others_watch() {
    let place = Place::new(DUEL);
    let server = Server::start(&place);
    let args = ["play", "--server", &server.address, "--account", "ann", "--register"];
    let mut ann = person(&place, &args);
    until("she is asked", || shown(&place).contains("Which dice do you keep?"));
    // While the game runs, everybody may see the cards, but no dice.
    let http = server.said["http"].as_str().expect("an address").to_owned();
    let watch = |what: &str, rest: &[&str]| {
        let url = format!("http://{http}{what}");
        let mut args = vec!["watch", url.as_str()];
        args.extend(rest);
        place.agon(&args)
    };
    let (code, said) = watch("/duel/r1m1", &["--once"]);
    assert_eq!(code, Some(0), "{said}");
    let names = ["ann (tcp) – house:random", "house:random – ann (tcp)"];
    assert!(names.iter().any(|names| said.contains(names)), "{said}");
    assert!(said.contains("turn 1 of 13"), "{said}");
    assert!(!said.contains('⚀') && !said.contains('⚅') && !said.contains('⚃'), "{said}");
    let (code, said) = watch("", &["--once"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Tournaments: 1 running") && said.contains("duel/r1m1"), "{said}");
    // A watcher that stays sees the end.
    let url = format!("http://{http}/duel/r1m1");
    let mut watcher = place.command(&["watch", "--json", &url]);
    watcher.stdout(File::create(place.path("watched")).expect("a file")).stderr(Stdio::null());
    let mut watcher = Process(watcher.spawn().expect("agon starts"));
    until("the watcher sees it", || {
        fs::read_to_string(place.path("watched")).is_ok_and(|text| text.contains("snapshot"))
    });
    type_all(&mut ann, &format!("keep 7\n{}", thirteen_turns()));
    assert_eq!(ann.code(), Some(0), "{}", shown(&place));
    let said = shown(&place);
    assert!(
        said.contains("That is not possible: you do not have 7") && said.contains("s] > "),
        "{said}"
    );
    assert!(said.contains("Match r1m1 of duel: ") && said.contains("Tournament duel: "), "{said}");
    assert_eq!(watcher.code(), Some(0));
    let watched = fs::read_to_string(place.path("watched")).expect("a file");
    let last: Value =
        serde_json::from_str(watched.lines().last().expect("events")).expect("lines are JSON");
    assert_eq!((&last["event"], &last["data"]["standing"]), (&"end".into(), &"over".into()));
    until("the duel is over", || place.is_over("duel"));
    assert_eq!(place.faults(), Vec::<String>::new(), "nothing illegal was sent");
    let (code, said) = watch("/api/v1/tournaments/duel", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("rank") && said.contains("wins."), "{said}");
    let (code, said) = watch("/nowhere", &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("there is no tournament nowhere"), "{said}");
    place.verify();
}

#[test]
fn person_who_quits_may_forfeit() {
    let place = Place::new(DUEL);
    let server = Server::start(&place);
    let args = ["play", "--server", &server.address, "--account", "ann", "--register"];
    let (code, said) = play(&place, &args, "quit\ny\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("You forfeited the game and left.\n"), "{said}");
    until("the duel is over", || place.is_over("duel"));
    let shown = must(&place, &server, &["tournament", "show", "duel"]);
    assert!(shown.contains("house:random wins."), "{shown}");
    let account = must(&place, &server, &["account", "show", "ann"]);
    assert!(account.contains("person"), "others see that it is one: {account}");
    place.verify();
}

#[test]
fn a_watcher_outlives_the_server() {
    let place = Place::new("");
    let mut server = Server::start(&place);
    let create =
        ["tournament", "create", "spring", "--preset", "yahtzee-class", "--sign-up", "2", "2"];
    must(&place, &server, &create);
    let http = server.said["http"].as_str().expect("an address").to_owned();
    let url = format!("http://{http}/spring");
    let mut watcher = place.command(&["watch", "--json", &url]);
    watcher.stdout(File::create(place.path("watched")).expect("a file")).stderr(Stdio::null());
    let mut watcher = Process(watcher.spawn().expect("agon starts"));
    let watched = || fs::read_to_string(place.path("watched")).unwrap_or_default();
    until("it waits for players", || watched().contains(r#""standing":"open""#));
    let mut players: Vec<Process> = ["ann", "bob"]
        .iter()
        .map(|name| {
            let bot = ["--bot", "house:greedy", "--sign-up", "spring"];
            place.player(&server.address, name, &bot)
        })
        .collect();
    until("it runs", || watched().contains("pairings") || place.is_over("spring"));
    server.process.signal(Signal::KILL);
    server.process.code();
    let server = Server::start_with_http(&place, &server.address, &http);
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    assert_eq!(watcher.code(), Some(0), "{}", watched());
    assert!(watched().lines().last().is_some_and(|line| line.contains(r#""event":"end""#)));
    drop(server);
    place.verify();
}
