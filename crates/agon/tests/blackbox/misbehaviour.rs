//! Players that crash, hang, flood, print garbage, answer twice or late, fork: each is charged as
//! its policy says, the others never notice, and nothing of it is left running.

use crate::support::{Place, marked, python, token, until};
use serde_json::Value;

/// The expected result of a mode of `misbehave.py`.
struct Case {
    mode: &'static str,
    /// From which request on.
    from: u32,
    flags: &'static [&'static str],
    /// The list it ends in, and the code of its first fault; nothing for harmless modes.
    charged: Option<(&'static str, &'static str)>,
}

const fn case(mode: &'static str, list: &'static str, code: &'static str) -> Case {
    Case { mode, from: 0, flags: &[], charged: Some((list, code)) }
}

/// A case that is decided by time. The limit is short, the first request is where it happens, so
/// that a busy machine changes nothing.
const fn slow(mode: &'static str) -> Case {
    let flags = &["--answer-ms", "400"];
    Case { mode, from: 0, flags, charged: Some(("failing", "timeout")) }
}

const fn harmless(mode: &'static str) -> Case {
    Case { mode, from: 0, flags: &[], charged: None }
}

const CASES: &[Case] = &[
    case("crash-start", "failing", "disconnected"),
    case("hello-and-go", "failing", "disconnected"),
    case("version", "failing", "disconnected"),
    Case { flags: &["--hello-ms", "400"], ..case("mute", "failing", "disconnected") },
    case("crash", "failing", "disconnected"),
    Case { from: 3, ..case("crash", "failing", "disconnected") },
    slow("hang"),
    slow("deaf"),
    slow("late"),
    // In a sandbox nothing survives the program, so its output ends with it.
    Case { flags: &["--no-sandbox", "--answer-ms", "400"], ..slow("fork") },
    slow("close-input"),
    slow("close-early"),
    slow("other-id"),
    case("flood", "failing", "malformed"),
    case("flood-blank", "failing", "disconnected"),
    case("flood-line", "failing", "malformed"),
    case("garbage", "failing", "malformed"),
    case("long-line", "failing", "malformed"),
    case("nonsense", "failing", "malformed"),
    case("wrong-kind", "failing", "wrong-kind"),
    harmless("twice"),
    harmless("banner"),
    harmless("stubborn"),
    harmless("flood-stderr"),
];

/// Plays a case among house players; gives the results.
fn play(place: &Place, preset: &str, eve: &str, flags: &[&str], code: i32) -> Value {
    let out = place.arg("run");
    let _ = std::fs::remove_dir_all(place.path("run"));
    let mut args = vec!["run", "--preset", preset, "--seed", "6", "--quiet", "--out", &out];
    // Enough for any machine where a case says nothing else; the last flag wins.
    for (flag, value) in [("--hello-ms", "60000"), ("--answer-ms", "60000"), ("--wait-ms", "60000")]
    {
        // In a knock-out nobody is waited for.
        let waits = flag != "--wait-ms" || preset.starts_with("yahtzee");
        if waits && !flags.contains(&flag) {
            args.extend([flag, value]);
        }
    }
    args.extend(flags);
    let eve = format!("eve={eve}");
    args.extend(["--player", &eve, "house:random", "house:greedy", "b=house:random"]);
    let ended = place.agon(&args);
    assert_eq!(ended.code, Some(code), "{preset} {eve}: {ended:#?}");
    assert_eq!(place.good(&["verify", "--quiet", &out]).code, Some(0));
    place.results("run")
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

/// The codes of a player's faults.
fn codes<'a>(results: &'a Value, player: &str) -> Vec<&'a str> {
    let standings = results["standings"].as_array().expect("standings");
    let own = standings.iter().find(|one| one["player"] == player).expect("everybody is listed");
    let faults = own["faults"].as_array().expect("a list of faults").iter();
    faults.map(|fault| fault[1]["fault"]["code"].as_str().expect("a code")).collect()
}

fn check(place: &Place, preset: &str, case: &Case) {
    let token = token(&format!("{preset}-{}", case.mode));
    let eve = python("misbehave.py", &format!("{} {} {token}", case.mode, case.from));
    let mut flags = vec!["--strict"];
    flags.extend(case.flags);
    let code = if case.charged.is_some() { 6 } else { 0 };
    let results = play(place, preset, &eve, &flags, code);
    let about = format!("{preset} {}: {results:#}", case.mode);
    match case.charged {
        Some((list, code)) => {
            assert_eq!(names(&results[list]), ["eve"], "{about}");
            assert_eq!(codes(&results, "eve").first(), Some(&code), "{about}");
            assert!(!names(&results["winners"]).contains(&"eve"), "{about}");
        }
        None => assert_eq!(codes(&results, "eve"), [""; 0], "{about}"),
    }
    for other in ["random", "greedy", "b"] {
        assert_eq!(codes(&results, other), [""; 0], "{about}");
    }
    until("the program's group is gone", || marked(&token).is_empty());
}

#[test]
fn a_crash_costs_the_game_in_yahtzee_class() {
    let place = Place::new();
    for case in CASES.iter().chain(&[case("illegal", "cheating", "keepers-not-held")]) {
        check(&place, "yahtzee-class", case);
    }
}

#[test]
fn misbehaviour_removes_in_fish() {
    let place = Place::new();
    for case in CASES.iter().chain(&[case("illegal", "cheating", "off-board")]) {
        check(&place, "fish", case);
    }
}

#[test]
fn misbehaviour_removes_in_trains() {
    let place = Place::new();
    for case in CASES.iter().chain(&[case("illegal", "cheating", "not-offered")]) {
        check(&place, "trains", case);
    }
}

#[test]
fn restarted_program_plays_on_in_yahtzee_queue() {
    let place = Place::new();
    // Every process crashes at its third request: four lapses, one more than the policy allows.
    let eve = python("misbehave.py", "crash 2");
    let results = play(&place, "yahtzee-queue", &eve, &[], 0);
    assert_eq!(codes(&results, "eve"), ["disconnected"; 4]);
    // Every process crashes at its 11th: the game of 39 requests is played to its end.
    let eve = python("misbehave.py", "crash 11");
    let results = play(&place, "yahtzee-queue", &eve, &[], 0);
    let good = play(&place, "yahtzee-queue", "house:random", &[], 0);
    assert_eq!(codes(&results, "eve")[..3], ["disconnected"; 3]);
    assert_eq!(match_of(&results, "eve")["games"], match_of(&good, "eve")["games"]);
    // Cheats are out at once, crashes before or not.
    let eve = python("misbehave.py", "illegal 1");
    let results = play(&place, "yahtzee-queue", &eve, &[], 0);
    assert_eq!(codes(&results, "eve"), ["keepers-not-held"]);
    assert_eq!(names(&match_of(&results, "eve")["out"]), ["eve"]);
}

#[test]
fn a_crash_costs_one_game_of_several() {
    let place = Place::new();
    let eve = python("misbehave.py", "crash 30");
    let results = play(&place, "yahtzee-class", &eve, &["--best-of", "5"], 0);
    let games = match_of(&results, "eve")["games"].as_array().expect("games");
    assert!(games.len() >= 3, "{results:#}");
    assert!(games.iter().all(|game| game["end"] == "forfeited" && game["by"] == "eve"));
}

#[test]
fn run_with_a_program_that_cannot_start_plays_nothing() {
    let place = Place::new();
    std::fs::write(place.path("notes.txt"), "no program\n").expect("a file");
    std::fs::write(place.path("bot"), "#!/no/such/python\n").expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path("bot"), mode).expect("a mode");
    for (eve, why) in [
        ("no-such-program --fast", "no folder of PATH"),
        ("./no/such/file", "no such file"),
        ("./notes.txt", "not executable"),
        ("./bot", "/no/such/python"),
    ] {
        let eve = format!("eve={eve}");
        let args = ["run", "--preset", "fish", "--out", "run", "--player", &eve, "house:random"];
        let ended = place.agon(&args);
        assert_eq!(ended.code, Some(3), "{ended:#?}");
        assert!(ended.stderr.contains("player eve cannot be started"), "{ended:#?}");
        assert!(ended.stderr.contains(why), "{ended:#?}");
        assert!(ended.stderr.contains("Nothing was played"), "{ended:#?}");
        assert!(!place.path("run").exists(), "a folder is left");
    }
}

#[test]
fn run_with_one_player_plays_nothing() {
    let place = Place::new();
    for flags in
        [&["--preset", "yahtzee-class"][..], &["--preset", "fish"], &["--preset", "trains"]]
    {
        let args = [&["run", "--out", "run"], flags, &["--player", "house:random"]].concat();
        let ended = place.agon(&args);
        assert_eq!(ended.code, Some(3), "{ended:#?}");
        assert!(ended.stderr.contains("at least 2 players"), "{ended:#?}");
        assert!(!place.path("run").exists(), "a folder is left");
    }
}

#[test]
fn opponents_play_as_if_nothing_were() {
    let place = Place::new();
    let undisturbed = play(&place, "yahtzee-class", "house:random", &[], 0);
    let expected = match_of(&undisturbed, "greedy");
    for mode in ["flood", "flood-blank", "garbage", "crash"] {
        let eve = python("misbehave.py", &format!("{mode} 1"));
        let results = play(&place, "yahtzee-class", &eve, &[], 0);
        assert_eq!(match_of(&results, "greedy"), expected, "{mode}");
    }
}

#[test]
fn floods_while_others_think_do_not_stop_them() {
    let place = Place::new();
    let out = place.arg("run");
    for (mode, code) in [("idle-blank", "disconnected"), ("idle-junk", "malformed")] {
        let _ = std::fs::remove_dir_all(place.path("run"));
        let eve = format!("eve={}", python("misbehave.py", mode));
        let others = ["b", "c"].map(|name| format!("{name}={}", python("greedy_fish.py", "")));
        let mut args = vec!["run", "--preset", "fish", "--seed", "3", "--quiet", "--out", &out];
        args.extend(["--answer-ms", "60000", "--hello-ms", "60000"]);
        // Eve sits last: the others are asked first, while she floods.
        args.extend(["--player", &others[0], &others[1], &eve]);
        place.good(&args);
        let results = place.results("run");
        assert!(["disconnected", "malformed", code].contains(&codes(&results, "eve")[0]));
        for other in ["b", "c"] {
            assert_eq!(codes(&results, other), [""; 0], "{mode}");
        }
    }
}

#[test]
fn stderr_is_kept_as_evidence() {
    let place = Place::new();
    play(&place, "yahtzee-class", &python("misbehave.py", "crash 2"), &[], 0);
    let text = std::fs::read_to_string(place.path("run/evidence/eve-1.stderr")).expect("evidence");
    assert!(text.contains("about to crash"), "{text}");
    // A flood is cut to its end.
    play(&place, "fish", &python("misbehave.py", "flood-stderr"), &[], 0);
    let kept = std::fs::read(place.path("run/evidence/eve-1.stderr")).expect("evidence");
    assert_eq!(kept.len(), 64 * 1024);
}

/// The first match of a player.
fn match_of<'a>(results: &'a Value, player: &str) -> &'a Value {
    let matches = results["rounds"][0]["matches"].as_array().expect("matches");
    let own = matches.iter().find(|one| names(&one["players"]).contains(&player));
    &own.expect("a match of the first round")["result"]
}
