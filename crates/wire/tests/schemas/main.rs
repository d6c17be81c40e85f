//! The schemas in `docs/protocol/schemas`: made from the types, fit for everything that is said,
//! and for nothing else.

mod validate;

use agon_games::{Registry, Seat, Seed, Viewer};
use agon_wire::{native, schema};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use validate::faults;

fn page(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol");
    root.join(name)
}

/// All schemas, by the names of their files.
fn schemas() -> Vec<(String, Value)> {
    let games = Registry::standard();
    let of_game = |name: &&str| ((*name).to_owned(), games.kind(name).unwrap().schemas());
    let mut all = vec![("native".to_owned(), schema::native())];
    all.extend(games.names().iter().map(of_game));
    all
}

fn named(name: &str) -> Value {
    schemas().into_iter().find(|(known, _)| known == name).unwrap().1
}

#[track_caller]
fn assert_fits(root: &Value, def: &str, value: &Value) {
    let faults = faults(root, &root["$defs"][def], value);
    assert!(faults.is_empty(), "{def}: {value}\n{}", faults.join("\n"));
}

fn is_refused(root: &Value, def: &str, value: &Value) -> bool {
    !faults(root, &root["$defs"][def], value).is_empty()
}

/// `scripts/schemas` records them anew, with AGON_RECORD set.
#[test]
fn schema_files_match_the_types() {
    for (name, schema) in schemas() {
        let text = format!("{schema:#}\n");
        let path = page(&format!("schemas/{name}.json"));
        if std::env::var_os("AGON_RECORD").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == text, "{name}.json is not what the types say; run scripts/schemas");
    }
}

/// The server's tests hold the codes that it sends against the same list, because sending another
/// one panics there.
#[test]
fn protocol_page_lists_every_error_code_and_no_other() {
    let text = std::fs::read_to_string(page("native.md")).unwrap();
    let mut on_page = std::collections::BTreeSet::new();
    for heading in ["### error\n", "### Error codes\n"] {
        let (_, section) = text.split_once(heading).expect("a section about errors");
        let section = section.split("\n#").next().unwrap();
        on_page
            .extend(section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()));
    }
    assert_eq!(on_page, native::ERROR_CODES.into_iter().collect());
}

#[test]
fn the_recorded_transcript_fits() {
    let text = std::fs::read_to_string(page("native.md")).unwrap();
    let (_, after) = text.split_once("## A transcript").unwrap();
    let (_, block) = after.split_once("```text\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let (wire, fish) = (named("native"), named("fish"));
    let (mut sent, mut answers) = (0, 0);
    for line in block.lines() {
        let (whose, message) = line.split_at(2);
        let message: Value = serde_json::from_str(message).unwrap();
        match whose {
            "> " => assert_fits(&wire, "ToPlayer", &message),
            "< " => assert_fits(&wire, "FromPlayer", &message),
            other => panic!("{other:?}"),
        }
        match message["type"].as_str().unwrap() {
            "request" => {
                assert_fits(&fish, "Question", &message["question"]);
                assert_fits(&fish, "View", &message["view"]);
                sent += 1;
            }
            "answer" => {
                assert_fits(&fish, "Answer", &message["answer"]);
                answers += 1;
            }
            _ => {}
        }
    }
    assert!(sent > 3 && answers == sent, "{sent} requests, {answers} answers");
}

/// Plays a game by answers that jump about among the legal ones, and looks at all that is said.
fn play(name: &str, seats: usize, number: u64) -> usize {
    let schema = named(name);
    let kind = Registry::standard().kind(name).unwrap().clone();
    let config = kind.default_config();
    assert_fits(&schema, "Config", &serde_json::from_str(config.get()).unwrap());
    assert_fits(&schema, "Config", &json!({}));
    let mut game = kind.set_up(config.get(), seats, &Seed::from_number(number)).unwrap();
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut answered = 0;
    while let Some(seat) = game.awaiting().first() {
        let mut viewers: Vec<Viewer> = Seat::all(seats).map(Viewer::Seat).collect();
        viewers.push(Viewer::Public);
        for viewer in viewers {
            assert_fits(&schema, "View", &value(game.view(viewer).get()));
        }
        assert_fits(&schema, "Question", &value(game.question(seat).unwrap().get()));
        let legal = game.legal(seat);
        let answer = &legal[(answered * 7 + 3) % legal.len()];
        assert_fits(&schema, "Answer", &value(answer.get()));
        let canonical = game.apply(seat, answer.get()).unwrap();
        assert_fits(&schema, "Answer", &value(canonical.get()));
        answered += 1;
    }
    let full = value(game.view(Viewer::Full).get());
    assert_fits(&schema, "View", &full);
    for (field, _) in full.as_object().unwrap() {
        let mut other = full.clone();
        other[field] = json!({"no": ["such", "thing"]});
        assert!(is_refused(&schema, "View", &other), "{name}: anything goes for {field}");
    }
    let mut more = full;
    more["unknown"] = json!(1);
    assert!(is_refused(&schema, "View", &more), "{name}: a field nobody knows");
    answered
}

#[test]
fn whole_games_fit() {
    let answers = play("yahtzee", 2, 1) + play("fish", 3, 2) + play("trains", 4, 3);
    assert!(answers > 200, "{answers}");
}

#[test]
fn invalid_answers_do_not_fit_the_schemas() {
    let cases = [
        ("yahtzee", json!({"keep": [true]})),
        ("yahtzee", json!({"keep": [1], "score": "aces"})),
        ("yahtzee", json!({"score": "twelves"})),
        ("fish", json!({"place": [1]})),
        ("fish", json!({"place": [1, 2], "move": [[1, 2], [3, 4]]})),
        ("fish", json!("no")),
        ("trains", json!({"acquire": ["A", "B", "pink", 3]})),
        ("trains", json!({"acquire": ["A", "B", "red", 6]})),
        ("trains", json!({"return": [["A"]]})),
    ];
    for (game, answer) in cases {
        assert!(is_refused(&named(game), "Answer", &answer), "{game}: {answer}");
    }
}

/// Every message that fits the schema can be read, and every readable message fits it.
#[test]
fn the_schema_and_the_codec_agree() {
    let wire = named("native");
    let lines = [
        (json!({"type": "hello", "protocol": 1, "name": "x"}), true),
        (json!({"type": "hello", "protocol": 1, "name": "x", "nonce": "0f", "more": 1}), true),
        (json!({"type": "hello", "protocol": "1", "name": "x"}), false),
        (json!({"type": "hello", "name": "x"}), false),
        (json!({"type": "answer", "id": "a", "answer": {"keep": []}}), true),
        (json!({"type": "answer", "answer": 1}), false),
        (json!({"type": "login", "account": "ann", "password": "p", "register": true}), true),
        (json!({"type": "login", "token": "t"}), true),
        (json!({"type": "login", "token": 5}), false),
        (json!({"type": "login", "account": "", "password": "p"}), false),
        (json!({"type": "logout"}), true),
        (json!({"type": "logout", "now": true}), false),
        (json!({"type": "subscribe"}), true),
        (json!({"type": "subscribe", "to": "all"}), false),
        (json!({"type": "accept", "tournament": "cup"}), true),
        (json!({"type": "reject", "tournament": "cup"}), true),
        (json!({"type": "ready", "tournament": "cup"}), true),
        (json!({"type": "announce", "tournament": {"id": "cup"}}), true),
        (json!({"type": "announce", "tournament": "cup"}), false),
        (json!({"type": "change-password", "old": "a", "new": "b"}), true),
        (json!({"type": "change-password", "old": "a"}), false),
        (json!({"type": "enqueue", "queue": "q"}), true),
        (json!({"type": "dequeue", "queue": "q"}), true),
        (json!({"type": "sign-up", "tournament": "cup"}), true),
        (json!({"type": "withdraw", "tournament": "cup"}), true),
        (json!({"type": "withdraw", "tournament": "cup", "why": "x"}), false),
        (json!({"type": "ping"}), true),
        (json!({"type": "dance"}), false),
        (json!(["ping"]), false),
    ];
    for (line, good) in lines {
        let read = native::decode(line.to_string().as_bytes()).is_ok();
        let fits = !is_refused(&wire, "FromPlayer", &line);
        assert_eq!((read, fits), (good, good), "{line}");
    }
}
