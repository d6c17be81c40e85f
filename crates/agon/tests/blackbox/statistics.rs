//! How sure a result is: sequential tests, duplicate games, tournaments until the podium is sure,
//! and formats compared by simulation.

use crate::support::Place;
use serde_json::Value;

#[test]
fn sequential_test_stops_with_a_verdict_and_verifies() {
    let place = Place::new();
    let mut args = vec!["run", "--preset", "yahtzee-class", "--seed", "3", "--out", "test"];
    args.extend(["--quiet", "--sprt", "elo0=0", "elo1=100", "alpha=.05"]);
    args.extend(["--player", "house:greedy", "house:random"]);
    let printed = place.good(&args).stdout;
    let verdict = "SPRT [0, 100]: greedy is at least 100 Elo stronger (H1) · LLR";
    assert!(printed.contains(verdict), "{printed}");
    assert!(printed.contains(" · Elo unlimited (+"), "{printed}");
    let results = place.results("test");
    let games = results["rounds"][0]["matches"][0]["result"]["games"].as_array().unwrap();
    assert!((10..200).contains(&games.len()) && games.len().is_multiple_of(2), "{}", games.len());
    assert_eq!((&results["duplicate"], &results["sprt"]["elo1"]), (&true.into(), &100.0.into()));
    place.good(&["verify", "--quiet", "test"]);
}

#[test]
fn invalid_settings_of_a_test_name_the_fix() {
    let place = Place::new();
    let refused = |settings: &[&str]| {
        let mut args = vec!["run", "--preset", "yahtzee-class", "--sprt"];
        args.extend(settings);
        args.extend(["--player", "house:greedy", "house:random"]);
        let ended = place.agon(&args);
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        ended.stderr
    };
    assert!(refused(&["elo0=9", "elo1=3"]).contains("elo0 must be less than elo1"));
    assert!(refused(&["elo2=3"]).contains("elo2"));
    assert!(refused(&["elo1"]).contains("KEY=VALUE"));
    assert!(refused(&["model=bayes"]).contains("logistic or normalised"));
    assert!(refused(&["alpha=0.9"]).contains("alpha and beta"));
}

#[test]
fn tournament_until_sure_ends_and_verifies() {
    let place = Place::new();
    let mut args = vec!["run", "--preset", "yahtzee-class", "--seed", "5", "--out", "sure"];
    args.extend(["--quiet", "--until-sure", "80", "--player"]);
    args.extend(["house:greedy", "house:random", "two=house:random"]);
    let printed = place.good(&args).stdout;
    assert!(printed.contains("How sure is this podium? greedy is the strongest: "), "{printed}");
    assert_eq!(place.results("sure")["winners"][0], "greedy");
    place.good(&["verify", "--quiet", "sure"]);
}

#[test]
fn every_preset_of_a_format_plays_to_its_end_and_verifies() {
    let place = Place::new();
    let presets = [
        ("yahtzee-swiss", "swiss"),
        ("yahtzee-league", "round-robin"),
        ("yahtzee-double", "double-elimination"),
        ("yahtzee-groups", "stages"),
        ("yahtzee-arena", "arena"),
        ("yahtzee-gauntlet", "gauntlet"),
        ("yahtzee-sure", "until-sure"),
        ("fish-swiss", "swiss"),
        ("fish-league", "round-robin"),
        ("trains-swiss", "swiss"),
    ];
    for (preset, format) in presets {
        let args =
            ["run", "--preset", preset, "--seed", "3", "--quiet", "--out", preset, "--player"];
        let players = ["house:greedy", "house:random", "c=house:random"];
        // The order of two equal players is never sure.
        let count = if format == "until-sure" { 2 } else { 3 };
        place.good(&[&args[..], &players[..count]].concat());
        let results = place.results(preset);
        assert_eq!((&results["format"], &results["status"]), (&format.into(), &"ended".into()));
        let single = ["yahtzee-double", "yahtzee-groups", "yahtzee-arena", "trains-swiss"];
        assert_eq!(results["duplicate"] == true, !single.contains(&preset), "{preset}");
        for round in results["rounds"].as_array().expect("rounds") {
            let paired = round["matches"].as_array().into_iter().flatten();
            for one in paired.chain(round["byes"].as_array().into_iter().flatten()) {
                assert!(one["reason"].as_str().is_some_and(|why| !why.is_empty()), "{one}");
            }
        }
        place.good(&["verify", "--quiet", preset]);
    }
}

#[test]
fn games_and_tables_are_exported() {
    let place = Place::new();
    let mut args = vec!["run", "--preset", "fish", "--seed", "2", "--out", "cup", "--quiet"];
    args.extend(["--player", "house:greedy", "house:random", "two=house:random"]);
    place.good(&args);
    let records = place.good(&["export", "cup"]).stdout;
    assert!(records.starts_with("[Tournament \"fish\"]\n[Match \"r1m1\"]\n"), "{records}");
    let read = agon_analysis::record::read(&records).unwrap();
    let games = agon_games::Registry::standard();
    assert!(!read.is_empty());
    for record in &read {
        record.replay(&games).unwrap();
    }
    let of_one = ["export", "cup/match/fish/r1m1.jsonl", "--out", "one.txt"];
    place.good(&of_one);
    let one = std::fs::read_to_string(place.path("one.txt")).unwrap();
    assert_eq!(agon_analysis::record::read(&one).unwrap()[0], read[0]);
    let table = |what: &str| place.good(&["export", "cup", "--what", what]).stdout;
    let standings = table("standings");
    assert!(standings.starts_with("tournament,rank,player,matches_won,"), "{standings}");
    assert!(table("podium").starts_with("tournament,players,winner,set,order\nfish,greedy "));
    assert_eq!(table("strengths").lines().count(), 4);
    assert_eq!(table("cross-table").lines().next(), Some("tournament,player,greedy,random,two"));
    assert!(table("pairs").contains("fish,greedy,random,"));
    assert_eq!(table("games").lines().count(), 1 + read.len());
    let json = place.good(&["export", "cup", "--what", "strengths", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json[0]["tournament"], json[0]["podium"]["players"][0].is_string()),
        (&"fish".into(), true)
    );
    let listed = ["format", "simulate", "--ratings", "strengths.csv", "--runs", "20", "--quiet"];
    place.good(&["export", "cup", "--what", "strengths", "--out", "strengths.csv"]);
    assert!(place.good(&listed).stdout.contains("swiss"), "an export is a rating list");
}

#[test]
fn simulation_of_formats_recommends_the_cheapest_that_is_good_enough() {
    let place = Place::new();
    let mut args = vec!["format", "simulate", "--strengths", "150", "50", "0", "-50"];
    args.extend(["--format", "bracket", "round-robin", "--runs", "200", "--want", "60"]);
    let printed = place.good(&args).stdout;
    assert!(
        printed.contains("The cheapest format in which the best player wins 60 %"),
        "{printed}"
    );
    args.push("--json");
    let again = place.good(&args).stdout;
    let answer: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(answer["simulated"].as_array().unwrap().len(), 6);
    let recommended = &answer["recommended"];
    assert!(recommended["best_wins"]["value"].as_f64().unwrap() >= 0.6, "{recommended}");
    assert_eq!(place.good(&args).stdout, again, "the same seed gives the same answer");
    std::fs::write(place.path("list.csv"), "player,rating\nann,1700\nbob,1500\n").unwrap();
    let listed = ["format", "simulate", "--ratings", "list.csv", "--runs", "50", "--json"];
    let answer: Value = serde_json::from_str(&place.good(&listed).stdout).unwrap();
    assert_eq!(answer["players"], 2);
    let two = ["groups:size=3 -> bracket", "swiss:rounds=2 -> top 2"];
    let mut args = vec!["format", "simulate", "--strengths", "90", "60", "0", "0", "-30", "-60"];
    args.extend(["--format", two[0], two[1], "--best-of", "1", "--runs", "100", "--want", "1"]);
    args.extend(["--pairing", "rating"]);
    let printed = place.good(&args).stdout;
    assert!(two.iter().all(|format| printed.contains(format)), "{printed}");
    let found = printed.lines().last().unwrap();
    assert!(two.iter().any(|format| found.contains(format)), "recommended: {found}");
    args.push("--json");
    let answer: Value = serde_json::from_str(&place.good(&args).stdout).unwrap();
    assert_eq!([0, 1].map(|at| answer["simulated"][at]["format"].as_str().unwrap()), two);
    let unknown = place.agon(&["format", "simulate", "--strengths", "1", "2", "--format", "chess"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("there is no format \"chess\"; there are: "), "{unknown:#?}");
}

#[test]
fn sequential_tests_luck_and_ladders_are_exported() {
    let place = Place::new();
    let mut args = vec!["run", "--preset", "yahtzee-class", "--sprt", "elo1=300", "pairs=4"];
    args.extend(["--seed", "2", "--out", "cup", "--quiet", "--player", "house:greedy"]);
    args.push("house:random");
    place.good(&args);
    let table = |what: &str| -> Vec<Vec<String>> {
        let text = place.good(&["export", "cup", "--what", what]).stdout;
        text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
    };
    let cell = |table: &[Vec<String>], row: usize, name: &str| {
        let column = table[0].iter().position(|one| one == name);
        table[row][column.unwrap_or_else(|| panic!("{name} in {:?}", table[0]))].clone()
    };
    let pairs = table("pairs");
    assert_eq!(cell(&pairs, 1, "tested"), "greedy");
    assert!(["h1", "none"].contains(&&*cell(&pairs, 1, "verdict")), "{pairs:?}");
    assert!(cell(&pairs, 1, "llr").parse::<f64>().unwrap() > 0.0, "{pairs:?}");
    let luck = table("luck");
    assert_eq!(luck.len(), 3);
    let greedy = (1..3).find(|row| cell(&luck, *row, "player") == "greedy").expect("a row");
    let number = |name: &str| cell(&luck, greedy, name).parse::<f64>().expect("a number");
    assert!(number("without_luck_low") < number("without_luck"), "{luck:?}");
    assert!(number("cost_per_decision") > 0.0 && number("decisions") > 0.0, "{luck:?}");
    let ladders = table("ladders");
    assert_eq!(cell(&ladders, 1, "game"), "yahtzee");
    assert_eq!(cell(&ladders, 1, "player"), "greedy", "the winner leads: {ladders:?}");
    // A ladder is a rating list.
    place.good(&["export", "cup", "--what", "ladders", "--out", "ladder.csv"]);
    let mut args = vec!["run", "--preset", "yahtzee-class", "--pairing", "rating", "--ratings"];
    args.extend(["ladder.csv", "--seed", "2", "--out", "next", "--quiet", "--player"]);
    args.extend(["a=house:random", "random=house:random", "b=house:random", "greedy=house:greedy"]);
    place.good(&args);
    let results = place.results("next");
    let first = &results["rounds"][0]["matches"];
    let players: Vec<&Value> = [0, 1].map(|at| &first[at]["players"][0]).to_vec();
    assert!(players.contains(&&"greedy".into()) && players.contains(&&"random".into()), "{first}");
    let mut args = vec!["format", "simulate", "--strengths", "100", "0", "0", "--runs", "20"];
    args.extend(["--format", "bracket", "round-robin", "--best-of", "1", "--csv", "--want", "1"]);
    let csv = place.good(&args).stdout;
    assert!(csv.starts_with("format,best_of,runs,best_wins,best_wins_low,"), "{csv}");
    assert!(csv.contains("\nround-robin,1,20,") && csv.contains(",true\n"), "{csv}");
}

#[test]
fn summary_lists_pairs_and_reasons() {
    let place = Place::new();
    let mut args = vec!["run", "--game", "fish", "--format", "swiss:rounds=2", "--seed", "4"];
    args.extend(["--game-config", r#"{"rows":4,"columns":3}"#, "--reasons", "--out", "cup"]);
    args.extend(["--quiet", "--player"]);
    let players: Vec<String> = (1..=5).map(|number| format!("p{number}=house:random")).collect();
    args.extend(players.iter().map(String::as_str));
    let printed = place.good(&args).stdout;
    let results = place.results("cup");
    let round = &results["rounds"][1];
    let reason = round["matches"][0]["reason"].as_str().expect("a reason");
    assert!(printed.contains(&format!(": {reason}\n")), "{printed}");
    let bye = &round["byes"][0];
    let (player, why) = (bye["player"].as_str().unwrap(), bye["reason"].as_str().unwrap());
    assert!(printed.contains(&format!("round 2, bye for {player}: {why}")), "{printed}");
    assert!(printed.contains("against") && printed.contains("stronger"), "{printed}");
}
