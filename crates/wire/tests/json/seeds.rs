//! The messages of the seed documents, one by one: what Agon sends, what it makes of every reply,
//! and what it says about replies that are wrong.
//!
//! `*1` to `*14` are the numbers of the Fish document (001). The calls of the Trains document (003)
//! have names. `>` is what Agon sends, `<` what the program does, `=` the answer that Agon takes
//! from it, `!` the reason why it takes none.

use crate::vectors::beside;
use agon_core::{GameEnd, GameResult, PlayerName};
use agon_games::fish::{self, Fish};
use agon_games::trains::{Map, Trains};
use agon_games::{Game, Refusal, RefusalKind, Seat, Seed, Viewer, json};
use agon_wire::fish::observer::Observer;
use agon_wire::peer::{Language, PeerMessage, Speaker, Then};
use agon_wire::trains::Vocabulary;
use agon_wire::values::{Limits, Values};
use std::sync::Arc;

/// The messages so far, each with its sender.
struct Transcript {
    language: Language,
    speaker: Option<Speaker>,
    lines: Vec<String>,
}

impl Transcript {
    fn new(language: Language) -> Transcript {
        Transcript { language, speaker: None, lines: Vec::new() }
    }

    fn section(&mut self, title: &str) {
        self.lines.push(format!("# {title}"));
    }

    /// A first value, and who that is.
    fn sign_up(&mut self, text: &str) {
        self.lines.push(format!("< {text}"));
        let read = match values(text) {
            Ok(text) => self.language.sign_up(&text, true).map_err(|bad| bad.to_string()),
            Err(broken) => Err(broken),
        };
        self.lines.push(match read {
            Ok((name, speaker)) => {
                self.speaker.get_or_insert(speaker);
                format!("= {name} signs up")
            }
            Err(why) => format!("! the connection is closed: {why}"),
        });
    }

    /// Something Agon tells; nothing of it asks for a reply.
    fn tell(&mut self, told: &PeerMessage) {
        let spoken = self.speaker.as_mut().expect("signed up").tell(told).expect("words for it");
        assert_ne!(spoken.then, Then::Reply, "{spoken:?}");
        self.lines.extend(spoken.texts.iter().map(|text| format!("> {text}")));
    }

    /// Something Agon asks, and every reply to it, each as if it were the only one.
    fn ask(&mut self, told: &PeerMessage, replies: &[&str]) {
        self.ask_in(told, replies, |_| Ok(()));
    }

    /// Like `ask`, for a question of a game, which may refuse an answer.
    fn ask_in(
        &mut self,
        told: &PeerMessage,
        replies: &[&str],
        check: impl Fn(&str) -> Result<(), Refusal>,
    ) {
        let speaker = self.speaker.as_mut().expect("signed up");
        let spoken = speaker.tell(told).expect("words for it");
        assert_eq!(spoken.then, Then::Reply, "{spoken:?}");
        self.lines.extend(spoken.texts.iter().map(|text| format!("> {text}")));
        for reply in replies {
            let mut speaker = speaker.clone();
            self.lines.push(format!("< {reply}"));
            let heard = values(reply).map_err(Refusal::malformed);
            let answer = heard.and_then(|reply| speaker.hear(&reply));
            let judged = answer.and_then(|answer| check(&answer).map(|()| answer));
            self.lines.push(match judged {
                Ok(answer) => format!("= {answer}"),
                Err(refusal) => format!("! {}: {refusal}", list(refusal.kind)),
            });
        }
    }
}

/// Compares what was said with a transcript under `tests/data`. With `AGON_RECORD` set it writes
/// the file anew instead.
fn record(file: &str, said: &[String]) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let said = said.join("\n") + "\n";
    if std::env::var_os("AGON_RECORD").is_some() {
        return std::fs::write(&path, &said).expect("a writable transcript");
    }
    assert_eq!(said, std::fs::read_to_string(&path).expect("a transcript"), "{file}");
}

/// In which list of the report a refused reply puts its player.
fn list(kind: RefusalKind) -> &'static str {
    match kind {
        RefusalKind::Illegal => "cheating",
        _ => "failing",
    }
}

/// The first value of a stream, as it comes through the reader of streams.
fn values(text: &str) -> Result<String, String> {
    let mut values = Values::new(Limits::default());
    values.push(text.as_bytes());
    let value = values.take().map(|value| value.map(str::to_owned));
    let value = value.or_else(|| values.flush().map(|value| value.map(str::to_owned)));
    match value {
        Some(value) => value.map_err(|broken| broken.to_string()),
        None => Err("nothing that is a value".into()),
    }
}

fn name(text: &str) -> PlayerName {
    PlayerName::new(text).expect("a name")
}

/// A game of Fish between eve and ann, and what both of them and everybody else are told.
struct FishGame {
    game: Fish,
    seats: Arc<[PlayerName]>,
}

impl FishGame {
    fn new() -> FishGame {
        let text = r#"{"board":[[1,2,3],[2,1,0],[1,4,1],[1,2,5]],"confirm":true}"#;
        let config: fish::Config = serde_json::from_str(text).expect("settings");
        let game = Fish::new(&config, 2, &Seed::from_number(0)).expect("a game");
        FishGame { game, seats: [name("eve"), name("ann")].into() }
    }

    /// Eve's open request.
    fn question(&self) -> PeerMessage {
        let question = self.game.question(Seat(0)).expect("eve is asked");
        let question = json(&question).get().as_bytes().to_vec();
        let view = json(&self.game.view(Viewer::Seat(Seat(0)))).get().as_bytes().to_vec();
        PeerMessage::Question { question, view, seats: Arc::clone(&self.seats) }
    }

    /// Checks that the rules allow an answer of eve's.
    fn check(&self, answer: &str) -> Result<(), Refusal> {
        self.game.check(Seat(0), &serde_json::from_str(answer).expect("an answer"))
    }

    fn view(&self) -> PeerMessage {
        let view = json(&self.game.view(Viewer::Public)).get().as_bytes().to_vec();
        PeerMessage::View { view, seats: Arc::clone(&self.seats) }
    }

    /// Lets the players give their first legal answer until it is eve's turn to do something else.
    fn play(&mut self) {
        let before = self.game.phase();
        while self.game.phase() == before {
            let seat = self.game.awaiting().first().expect("not over");
            let answer = self.game.legal(seat).swap_remove(0);
            self.game.apply(seat, &answer).expect("legal");
        }
    }

    /// One legal answer of whoever is next.
    fn step(&mut self) {
        let seat = self.game.awaiting().first().expect("not over");
        let answer = self.game.legal(seat).swap_remove(0);
        self.game.apply(seat, &answer).expect("legal");
    }

    fn over(&self, ranks: [Option<u8>; 2], winners: &[&str]) -> PeerMessage {
        let view = json(&self.game.view(Viewer::Public)).get().as_bytes().to_vec();
        let result = GameResult {
            game: 1,
            seats: self.seats.to_vec(),
            end: GameEnd::Played,
            scores: vec![5, 3],
            ranks: ranks.to_vec(),
            winners: winners.iter().map(|winner| name(winner)).collect(),
            luck: Vec::new(),
            voided: None,
        };
        PeerMessage::GameOver { view, result: Box::new(result) }
    }
}

#[test]
fn every_message_of_the_fish_document_has_its_transcript() {
    let mut said = Transcript::new(Language::Fish(None));
    said.section("*1 signup_request");
    said.sign_up(r#"{"type":"signup_request","value":"eve"}"#);
    for wrong in [
        r#"{"type":"signup_request","value":7}"#,
        r#"{"type":"signup_request","value":""}"#,
        r#"{"type":"signup_request"}"#,
        r#"{"type":"tournament_ready","value":true}"#,
        r#"{"type":"observer_request","value":true}"#,
        "[\"eve\"]",
        "{eve}",
    ] {
        said.sign_up(wrong);
    }
    said.section("*2 signup_confirmation: in the tournament, or on the waiting list");
    said.tell(&PeerMessage::SignedUp { next: true });
    said.tell(&PeerMessage::SignedUp { next: false });
    said.section("*3 tournament_start, *4 tournament_ready");
    said.ask(
        &PeerMessage::Begin { proposes: false },
        &[
            r#"{"type":"tournament_ready","value":true}"#,
            r#"{"type":"tournament_ready","value":false}"#,
            r#"{"type":"tournament_ready","value":1}"#,
            r#"{"type":"tournament_ready"}"#,
            r#"{"type":"player_respond_placement","value":[0,0]}"#,
            r#"{"type":"ready","value":true}"#,
            "true",
            "ready",
        ],
    );
    let mut table = FishGame::new();
    said.section("*5 player_assign_color: nothing to answer");
    said.tell(&table.question());
    said.tell(&table.view());
    table.play();
    table.play();
    said.section("*6 player_request_placement, *7 player_respond_placement");
    said.ask_in(
        &table.question(),
        &[
            r#"{"type":"player_respond_placement","value":[0,0]}"#,
            r#"{"type":"player_respond_placement","value":[9,9]}"#,
            r#"{"type":"player_respond_placement","value":[[0,0],[2,0]]}"#,
            r#"{"type":"player_respond_placement","value":[0]}"#,
            r#"{"type":"player_respond_placement","value":[0.5,0]}"#,
            r#"{"type":"player_respond_placement","value":"Skip"}"#,
            r#"{"type":"player_respond_move","value":[[0,0],[2,0]]}"#,
            r#"{"type":"player_request_placement","value":[0,0]}"#,
            "[0,0]",
            "nowhere",
        ],
        |answer| table.check(answer),
    );
    said.section("*8 broadcast_state: after a placement, and when the game starts");
    table.step();
    said.tell(&table.view());
    table.play();
    said.tell(&table.view());
    said.section("*9 player_request_move, *10 player_respond_move");
    said.ask_in(
        &table.question(),
        &[
            r#"{"type":"player_respond_move","value":[[1,1],[3,1]]}"#,
            r#"{"type":"player_respond_move","value":[[1,1],[0,0]]}"#,
            r#"{"type":"player_respond_move","value":[[0,1],[2,1]]}"#,
            r#"{"type":"player_respond_move","value":"Skip"}"#,
            r#"{"type":"player_respond_move","value":[1,1]}"#,
            r#"{"type":"player_respond_move","value":"skip"}"#,
            r#"{"type":"player_respond_move","value":[[1,1]]}"#,
            r#"{"type":"player_respond_placement","value":[1,1]}"#,
            r#"{"type":"tournament_end_response","value":true}"#,
            "[[1,1],[3,1]]",
        ],
        |answer| table.check(answer),
    );
    said.section("*11 broadcast_action: a move, and a player who cannot move");
    while said.lines.last().is_none_or(|line| !line.contains("Skip")) {
        table.step();
        said.tell(&table.view());
    }
    said.section("*8 broadcast_state: after a player was kicked");
    table.game.remove(Seat(1));
    said.tell(&table.view());
    said.section("*12 broadcast_game_over");
    said.tell(&table.over([Some(1), None], &["eve"]));
    said.tell(&table.over([Some(1), Some(2)], &["eve"]));
    said.section("*13 tournament_end, *14 tournament_end_response");
    let replies = [
        r#"{"type":"tournament_end_response","value":true}"#,
        r#"{"type":"tournament_end_response","value":false}"#,
        r#"{"type":"tournament_end_response","value":null}"#,
        r#"{"type":"tournament_ready","value":true}"#,
        r#""void""#,
    ];
    said.ask(&PeerMessage::End { won: true }, &replies);
    said.ask(&PeerMessage::End { won: false }, &replies[..1]);
    record("fish/seed-001.txt", &said.lines);
    // Every message that the document numbers is in it, with the document's own type.
    let all = said.lines.concat();
    for number in 1..=14 {
        assert!(all.contains(&format!("*{number} ")), "*{number} is missing");
    }
    let Some(document) = beside("seeds", "001") else { return };
    let mut types = 0;
    for line in document.lines().filter(|line| line.starts_with('*')) {
        let Some((_, rest)) = line.split_once("\"type\":") else { continue };
        let kind = rest.split('"').nth(1).expect("a type");
        let number = line.split(' ').next().expect("a number");
        assert!(all.contains(&format!("{number} {kind}")), "{number} {kind} is missing");
        assert!(all.contains(&format!("{{\"type\":\"{kind}\",\"value\":")), "{kind} is missing");
        types += 1;
    }
    assert_eq!(types, 14);
}

/// A program that only watches hears of the same, and is asked nothing.
#[test]
fn observers_of_fish_have_their_transcript() {
    let mut observer = Observer::new();
    let mut lines = vec!["# what an observer is sent".to_owned()];
    for first in [
        r#"{"type":"observer_request","value":true}"#,
        r#"{"type":"observer_request","value":"eve"}"#,
        r#"{"type":"observer_request","value":false}"#,
        r#"{"type":"observer_request","value":""}"#,
    ] {
        let read = Language::Fish(None).observer(first).expect("a request to observe");
        lines.push(format!("< {first}"));
        lines.push(match read {
            Ok(follow) => format!("= follows {follow:?}"),
            Err(why) => format!("! the connection is closed: {why}"),
        });
    }
    assert_eq!(Language::Fish(None).observer("\"eve\""), None);
    assert_eq!(Language::Trains(Vocabulary::Memo).observer("{}"), None);
    let mut table = FishGame::new();
    let mut told =
        vec![PeerMessage::SignedUp { next: true }, PeerMessage::SignedUp { next: false }];
    told.extend([PeerMessage::Begin { proposes: false }, table.view()]);
    table.play();
    table.play();
    table.step();
    told.push(table.view());
    table.play();
    told.push(table.view());
    table.step();
    told.push(table.view());
    told.push(table.over([Some(1), Some(2)], &["eve"]));
    told.push(PeerMessage::End { won: false });
    for told in told {
        let texts = observer.tell(&told).expect("words for it");
        lines.extend(texts.iter().map(|text| format!("> {text}")));
    }
    record("fish/observer.txt", &lines);
}

/// A game of Trains between eve and ann.
struct TrainsGame(Trains);

impl TrainsGame {
    fn new() -> TrainsGame {
        let map = r#"{"width":100,"height":100,
            "cities":[["Ayr",[0,0]],["Bonn",[50,10]],["Cork",[90,20]],["Dover",[20,80]],
                ["Essen",[60,70]]],
            "connections":{"Ayr":{"Bonn":{"red":3},"Dover":{"blue":3}},
                "Bonn":{"Cork":{"green":3,"white":4},"Essen":{"red":3}},
                "Dover":{"Essen":{"white":5}}}}"#;
        let config = r#"{"deck":["red","red","blue","red","green","green","white","blue","red",
            "blue"],"confirm":true}"#;
        let config: agon_games::trains::Config = serde_json::from_str(config).expect("settings");
        let config = config.with_map(Map::parse(map).expect("a map"));
        TrainsGame(Trains::new(&config, 2, &Seed::from_number(0)).expect("a game"))
    }

    fn question(&self) -> PeerMessage {
        let question = self.0.question(Seat(0)).expect("eve is asked");
        let question = json(&question).get().as_bytes().to_vec();
        let view = json(&self.0.view(Viewer::Seat(Seat(0)))).get().as_bytes().to_vec();
        PeerMessage::Question { question, view, seats: [].into() }
    }

    /// Checks that the rules allow an answer of eve's.
    fn check(&self, answer: &str) -> Result<(), Refusal> {
        self.0.check(Seat(0), &serde_json::from_str(answer).expect("an answer"))
    }

    /// Answers for eve, and for ann until it is eve's turn again.
    fn answer(&mut self, answer: &str) {
        let answer = serde_json::from_str(answer).expect("an answer");
        self.0.apply(Seat(0), &answer).expect("legal");
        while self.0.awaiting().first() == Some(Seat(1)) {
            let answer = self.0.legal(Seat(1)).swap_remove(0);
            self.0.apply(Seat(1), &answer).expect("legal");
        }
    }
}

fn trains_transcript(vocabulary: Vocabulary) -> Transcript {
    let mut said = Transcript::new(Language::Trains(vocabulary));
    let (begin, end, more, other) = match vocabulary {
        Vocabulary::Memo => ("beginTournament", "endTournament", "more_cards", "more cards"),
        Vocabulary::Course => ("start", "end", "more cards", "more_cards"),
    };
    let map = json(&TrainsGame::new().0.view(Viewer::Public).map);
    let (more, other) = (format!("\"{more}\""), format!("\"{other}\""));
    let pairs = r#"[["Ayr","Bonn"],["Cork","Ayr"],["Dover","Ayr"]]"#;
    let connection = r#"["Ayr","Bonn","red",3]"#;
    let void = "\"void\"";
    said.section("the sign-up: a name, and no reply");
    said.sign_up("\"eve\"");
    for wrong in ["\"\"", "\"eve 7\"", "7", "[\"eve\"]", "{\"name\":\"eve\"}", "eve"] {
        said.sign_up(wrong);
    }
    said.section(begin);
    let replies = [map.get(), void, more.as_str(), "true", "void", connection];
    said.ask(&PeerMessage::Begin { proposes: true }, &replies);
    let mut table = TrainsGame::new();
    said.section("setup");
    said.ask_in(
        &table.question(),
        &[void, "\"ok\"", "null", more.as_str(), connection],
        |answer| table.check(answer),
    );
    table.answer("\"ok\"");
    said.section("pick");
    let replies = [pairs, "[]", void, connection, r#"[["Ayr","Bonn"],["Ayr"]]"#, "7"];
    said.ask_in(&table.question(), &replies, |answer| table.check(answer));
    table.answer(r#"{"return":[["Ayr","Bonn"],["Ayr","Cork"],["Ayr","Dover"]]}"#);
    said.section("play");
    let far = r#"["Ayr","Essen","red",3]"#;
    let (pink, half) = (r#"["Ayr","Bonn","pink",3]"#, r#"["Ayr","Bonn","red",3.5]"#);
    let replies = [connection, more.as_str(), other.as_str(), far, pink, half, pairs, void, "{}"];
    said.ask_in(&table.question(), &replies, |answer| table.check(answer));
    table.0.apply(Seat(0), &serde_json::from_str("\"more-cards\"").unwrap()).expect("legal");
    said.section("more");
    said.ask_in(&table.question(), &[void, more.as_str(), "\"thanks\"", "true"], |answer| {
        table.check(answer)
    });
    for won in [true, false] {
        said.section("win");
        said.ask(&PeerMessage::Won(won), &[void, "true", "[\"void\"]"]);
    }
    for won in [true, false] {
        said.section(end);
        said.ask(&PeerMessage::End { won }, &[void, "false", more.as_str()]);
    }
    said
}

#[test]
fn every_call_of_the_trains_document_has_its_transcript() {
    let said = trains_transcript(Vocabulary::Memo);
    record("trains/seed-003.txt", &said.lines);
    let all = said.lines.concat();
    let calls = ["beginTournament", "setup", "pick", "play", "more", "win", "endTournament"];
    for call in calls {
        assert!(all.contains(&format!("> [\"{call}\",[")), "{call} is missing");
    }
    let Some(document) = beside("seeds", "003") else { return };
    for call in calls {
        assert!(document.contains(&format!("<code>{call}")), "the document has no {call}");
    }
    assert!(
        document.contains("\"more_cards\"") && all.contains("< \"more_cards\"= \"more-cards\"")
    );
}

#[test]
fn every_call_of_the_course_has_its_transcript() {
    record("trains/course-calls.txt", &trains_transcript(Vocabulary::Course).lines);
}
