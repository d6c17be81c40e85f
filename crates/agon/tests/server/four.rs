//! Four tournaments at once, and a server that is killed fifty times under them: standings are
//! those of an undisturbed run to the byte, and every player's own record agrees with the log.

use crate::kill::{accepted, seed};
use crate::support::{Client, Place, Server, until};
use agon_bots::Houses;
use agon_bots::SplitMix64;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Kills with games in progress, at least.
const KILLS: u32 = 50;

const CUPS: [(&str, &str, u32); 4] = [
    ("class", "yahtzee-class", 3),
    ("queue", "yahtzee-queue", 5),
    ("ice", "fish", 1),
    ("rails", "trains", 1),
];

const PLAYERS: [&str; 8] = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal"];

/// The requests to a player and its answers, by request id.
type Record = BTreeMap<String, (Value, Value)>;

/// A player in all four, which answers from the request alone, and the same every time.
struct Player {
    name: &'static str,
    token: Option<String>,
    games: BTreeMap<String, String>,
    over: BTreeMap<String, bool>,
    record: Record,
}

impl Player {
    fn start(name: &'static str, address: &str, stop: &Arc<AtomicBool>) -> JoinHandle<Record> {
        let (address, stop) = (address.to_owned(), Arc::clone(stop));
        let (games, over, record) = (BTreeMap::new(), BTreeMap::new(), Record::new());
        let mut player = Player { name, token: None, games, over, record };
        std::thread::spawn(move || {
            while player.over.len() < CUPS.len() && !stop.load(Ordering::Relaxed) {
                match TcpStream::connect(&address) {
                    Ok(to) => player.visit(Client::over(to)),
                    Err(_) => std::thread::park_timeout(std::time::Duration::from_millis(5)),
                }
            }
            player.record
        })
    }

    /// Plays until the connection is lost or nothing is left to play.
    fn visit(&mut self, mut server: Client) {
        let proposal =
            Houses::standard().make("trains", "random").expect("the entry exists").propose();
        let proposal: Option<Value> =
            proposal.and_then(|text| serde_json::from_str(text.get()).ok());
        server.say(
            &json!({"type": "hello", "protocol": 1, "name": self.name, "proposal": proposal})
                .to_string(),
        );
        let login = match &self.token {
            Some(token) => json!({"type": "login", "token": token}),
            None => {
                let (name, register) = (self.name, true);
                json!({"type": "login", "account": name, "password": "tuna sandwich", "register": register})
            }
        };
        server.say(&login.to_string());
        while self.over.len() < CUPS.len()
            && let Some(message) = server.hear_whole()
        {
            self.take(&mut server, &message);
        }
    }

    fn take(&mut self, server: &mut Client, message: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match (message["type"].as_str(), message["about"].as_str()) {
            (Some("welcome"), _) => {
                self.token = message["token"].as_str().map(str::to_owned).or(self.token.take());
            }
            (Some("notice"), Some("tournament")) => {
                let data = &message["data"];
                self.games.insert(text(&data["tournament"]), text(&data["game"]));
            }
            (Some("notice"), Some("tournament-over")) => {
                self.over.insert(text(&message["data"]["tournament"]), true);
            }
            (Some("request"), _) => self.answer(server, message),
            _ => {}
        }
    }

    fn answer(&mut self, server: &mut Client, request: &Value) {
        let id = request["id"].as_str().expect("an id").to_owned();
        let game = &self.games[request["match"]["tournament"].as_str().expect("a tournament")];
        let mut house = Houses::standard().make(game, "random").expect("the entry exists");
        let seat = serde_json::from_value(request["seat"].clone()).expect("a seat");
        let (question, view) = (&request["question"], &request["view"]);
        let answer = house
            .answer_text(self.name, &id, seat, &question.to_string(), &view.to_string())
            .expect("a request of this game");
        let answer: Value = serde_json::from_str(answer.get()).expect("answers are JSON");
        // The view may have moved on (both play at once in Yahtzee); the question has not.
        let now = (question.clone(), answer.clone());
        let before = self.record.entry(id.clone()).or_insert(now.clone());
        assert_eq!(*before, now, "{}: {id} is the same question every time", self.name);
        server.say(&json!({"type": "answer", "id": id, "answer": answer}).to_string());
    }
}

fn configuration() -> String {
    let names: Vec<String> = PLAYERS.iter().map(|name| format!("{name:?}")).collect();
    let named = names.join(", ");
    let cups = CUPS.map(|(name, preset, best_of)| {
        format!(
            "[[tournament]]\nname = \"{name}\"\npreset = \"{preset}\"\nnamed = [{named}]\n\
             best_of = {best_of}\n"
        )
    });
    format!("reconnect_ms = 120000\n{}", cups.concat())
}

/// The results of all four, as the server gives them out.
fn results(server: &Server) -> Vec<String> {
    let http = server.said["http"].as_str().expect("an address");
    let all = CUPS.map(|(name, ..)| {
        let mut socket = TcpStream::connect(http).expect("the server is there");
        let path = format!("/api/v1/tournaments/{name}");
        write!(socket, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .expect("it reads");
        let mut text = String::new();
        socket.read_to_string(&mut text).expect("it answers");
        let body = text.split_once("\r\n\r\n").expect("head and body").1;
        let shown: Value = serde_json::from_str(body).expect("JSON");
        assert!(shown["results"].is_object(), "no results: {text}");
        shown["results"].to_string()
    });
    all.to_vec()
}

fn all_over(place: &Place) -> bool {
    CUPS.iter().all(|(name, ..)| place.is_over(name))
}

/// Plays all four on so many engine threads, while the server is killed up to so many times; gives
/// results and kills.
fn play(luck: u64, threads: &str, kills: u32, chance: &mut SplitMix64) -> (Vec<String>, u32) {
    let place = Place::new(&configuration());
    let luck = luck.to_string();
    let args = ["--seed", &luck, "--engine-threads", threads];
    let mut server = Server::start_with(&place, &args);
    let address = server.address.clone();
    let stop = Arc::new(AtomicBool::new(false));
    let players = PLAYERS.map(|name| Player::start(name, &address, &stop));
    let begun = || CUPS.iter().all(|(name, ..)| !place.events(&format!("match/{name}")).is_empty());
    until("all four have begun", || kills == 0 || begun());
    let mut killed = 0;
    while killed < kills && !all_over(&place) {
        let limit = place.log_len() + chance.below(120);
        until("the log has grown", || place.log_len() >= limit || all_over(&place));
        drop(server);
        killed += 1;
        if chance.below(4) == 0 {
            // Killed again before, or in the moment, it is up.
            let early = Server::spawn(&place, &address, &args);
            for _ in 0..chance.below(2_000_000) {
                std::hint::spin_loop();
            }
            drop(early);
            killed += 1;
        }
        server = Server::start_again_with(&place, &address, &args);
    }
    // A player who is disconnected when a tournament ends gets no notice; the log has the result.
    until("all four are over", || all_over(&place));
    let results = results(&server);
    stop.store(true, Ordering::Relaxed);
    drop(server);
    let records = players.map(|player| player.join().expect("a player's own checks hold"));
    check(&place, &records);
    (results, killed)
}

/// The log and the players' own records say the same.
fn check(place: &Place, records: &[Record]) {
    place.verify();
    assert_eq!(place.faults(), Vec::<String>::new(), "a restart costs nobody anything");
    let mut answers = accepted(place);
    for record in records {
        for (id, (_, answer)) in record {
            let logged = answers.remove(id).unwrap_or_else(|| panic!("{id} is lost"));
            assert_eq!(logged, *answer, "{id}");
        }
    }
    // The remaining answers confirm notices, which the server does by itself.
    let asked: Vec<_> = answers.iter().filter(|(_, answer)| **answer != json!("ok")).collect();
    assert!(asked.is_empty(), "nobody gave these: {asked:?}");
}

#[test]
fn four_tournaments_and_fifty_kills() {
    let seed = seed();
    eprintln!("AGON_TEST_SEED={seed}");
    let mut chance = SplitMix64::new(seed);
    let mut killed = 0;
    while killed < KILLS {
        let luck = chance.below(1_000_000);
        let (undisturbed, _) = play(luck, "1", 0, &mut chance);
        let (disturbed, kills) = play(luck, "1", KILLS - killed, &mut chance);
        assert_eq!(undisturbed, disturbed, "AGON_TEST_SEED={seed}");
        killed += kills;
    }
    eprintln!("{killed} kills");
}

#[test]
fn four_tournaments_on_three_engine_threads_end_as_on_one() {
    let seed = seed();
    eprintln!("AGON_TEST_SEED={seed}");
    let mut chance = SplitMix64::new(seed);
    let luck = chance.below(1_000_000);
    let (on_one, _) = play(luck, "1", 0, &mut chance);
    let (on_three, kills) = play(luck, "3", 8, &mut chance);
    assert_eq!(on_one, on_three, "AGON_TEST_SEED={seed}");
    eprintln!("{kills} kills");
}
