//! Whole games of Trains through the wire: clients that know nothing but what they were sent play
//! the games that other people's implementations agree on.

use crate::support::{changes, compare, damage};
use crate::vectors::{values, vectors};
use agon_games::trains::{
    Answer, Color, Config, Connection, Length, Map, Name, Pair, PlayerState, Trains,
};
use agon_games::{Game, Outcome, Proposal, RefusalKind, Seat, Seed, Viewer};
use agon_wire::trains::{Awaited, Call, Vocabulary, ask, begin, end, reply, sign_up, win};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A client that plays by one of the house strategies.
struct Client {
    strategy: String,
    map: Option<Map>,
    hand: BTreeMap<Color, u64>,
    cheated: bool,
}

impl Client {
    fn new(strategy: &str) -> Client {
        let strategy = strategy.to_lowercase();
        Client { strategy, map: None, hand: BTreeMap::new(), cheated: false }
    }

    fn hear(&mut self, text: &str) -> String {
        let (name, arguments): (String, Vec<Box<serde_json::value::RawValue>>) =
            serde_json::from_str(text).expect("a call");
        match &*name {
            "start" => agon_games::json(&Config::default().map).get().to_owned(),
            "setup" => {
                self.map = Some(Map::parse(arguments[0].get()).expect("a map"));
                assert_eq!(arguments[1].get(), "45");
                self.hand.clear();
                self.deal(arguments[2].get(), 4);
                "\"void\"".into()
            }
            "pick" => self.pick(arguments[0].get()),
            "play" => self.play(arguments[0].get()),
            "more" => {
                self.deal(arguments[0].get(), 2);
                "\"void\"".into()
            }
            "beginTournament" | "win" | "end" | "endTournament" => "\"void\"".into(),
            other => panic!("no call {other}"),
        }
    }

    fn deal(&mut self, cards: &str, count: usize) {
        let cards: Vec<Color> = serde_json::from_str(cards).expect("cards");
        assert_eq!(cards.len(), count);
        cards.into_iter().for_each(|card| *self.hand.entry(card).or_default() += 1);
    }

    /// Gives back the pairs not kept, names turned round: either order is the same destination.
    fn pick(&self, offered: &str) -> String {
        let mut offered: Vec<(Name, Name)> = serde_json::from_str(offered).expect("pairs");
        assert!(offered.len() == 5 && offered.iter().all(|(one, other)| one < other));
        offered.sort();
        let back = if self.strategy == "hold-10" { 2..5 } else { 0..3 };
        let back: Vec<(Name, Name)> =
            offered[back].iter().map(|(one, other)| (*other, *one)).collect();
        serde_json::to_string(&back).unwrap()
    }

    fn play(&mut self, state: &str) -> String {
        let state: PlayerState = serde_json::from_str(state).expect("a state");
        let map = self.map.as_ref().expect("a map");
        let counted: BTreeMap<Color, u64> =
            state.this.cards.iter().map(|(color, count)| (*color, count.0)).collect();
        self.hand.retain(|_, count| *count > 0);
        assert_eq!(counted, self.hand, "the cards dealt are the cards held");
        if self.strategy == "cheat" && !std::mem::replace(&mut self.cheated, true) {
            return serde_json::to_string(&missing(map)).unwrap();
        }
        let waits = self.strategy == "hold-10" && state.cards_total() <= 10;
        match state.choices(map).next() {
            Some(choice) if !waits => {
                *self.hand.get_mut(&choice.color).unwrap() -= u64::from(choice.length.segments());
                serde_json::to_string(choice).unwrap()
            }
            _ => "\"more cards\"".into(),
        }
    }
}

/// A connection that is not on the map.
fn missing(map: &Map) -> Connection {
    let names = [map.cities()[0].name, map.cities()[1].name];
    let pair = Pair::new(names[0], names[1]).expect("two cities");
    let all = Color::ALL
        .into_iter()
        .flat_map(|color| Length::ALL.map(|length| Connection::new(pair, color, length)));
    all.into_iter().find(|one| map.find(one).is_none()).expect("not all lengths are there")
}

/// Plays a game, all seats over the wire. `said` gets what the first seat heard and said.
fn play(config: &Config, clients: &mut [Client], said: &mut Vec<String>) -> (Outcome, Vec<Seat>) {
    let mut game = Trains::new(config, clients.len(), &Seed::from_number(1)).expect("a game");
    let mut out = Vec::new();
    while let Some(seat) = game.awaiting().first() {
        let question = game.question(seat).expect("a question");
        let call = ask(&question, &game.view(Viewer::Seat(seat))).expect("a seat's view");
        let answer =
            exchange(&call, &mut clients[seat.index()], (seat == Seat(0)).then_some(&mut *said));
        let answer: Answer = serde_json::from_str(&answer).expect("an answer");
        if game.apply(seat, &answer).is_err() {
            out.push(seat);
            game.remove(seat);
        }
    }
    (game.outcome().expect("an end"), out)
}

fn exchange(call: &Call, client: &mut Client, said: Option<&mut Vec<String>>) -> String {
    let text = client.hear(&call.text);
    if let Some(said) = said {
        said.extend([format!("> {}", call.text), format!("< {text}")]);
    }
    reply(Vocabulary::Course, call.awaited, &text).expect("a reply")
}

#[test]
fn vectors_games_over_the_wire() {
    let Some(folder) = vectors("trains/xref") else { return };
    let mut run = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let Some(stem) = path.to_str().and_then(|name| name.strip_suffix("-in.json")) else {
            continue;
        };
        let input = values(&std::fs::read(&path).expect("an input"));
        let expected: Value = serde_json::from_str(
            &std::fs::read_to_string(format!("{stem}-out.json")).expect("an output"),
        )
        .expect("JSON");
        if expected.is_string() {
            continue;
        }
        let players: Vec<(String, String)> = serde_json::from_str(&input[1]).expect("players");
        let config = Config {
            map: std::sync::Arc::new(Map::parse(&input[0]).expect("a map")),
            deck: Some(serde_json::from_str(&input[2]).expect("cards")),
            confirm: true,
        };
        let mut clients: Vec<Client> = players.iter().map(|(_, how)| Client::new(how)).collect();
        let (outcome, out) = play(&config, &mut clients, &mut Vec::new());
        let mut ranking: BTreeMap<u8, Vec<&str>> = BTreeMap::new();
        for ((name, _), rank) in players.iter().zip(&outcome.ranks) {
            rank.iter().for_each(|rank| ranking.entry(*rank).or_default().push(name));
        }
        ranking.values_mut().for_each(|names| names.sort_unstable());
        let mut out: Vec<&str> = out.iter().map(|seat| &*players[seat.index()].0).collect();
        out.sort_unstable();
        let ranking: Vec<Vec<&str>> = ranking.into_values().collect();
        assert_eq!(json!([ranking, out]), expected, "{stem}");
        run += 1;
    }
    assert!(run > 10, "only {run} games");
}

#[test]
fn vectors_for_servers_have_the_shapes_of_the_wire() {
    let Some(folder) = vectors("trains/xserver") else { return };
    let mut run = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if !path.to_string_lossy().ends_with("-in.json") {
            continue;
        }
        let input = values(&std::fs::read(&path).expect("an input"));
        let [map, players, cards] = &input[..] else { panic!("{}", path.display()) };
        let map = reply(Vocabulary::Course, Awaited::Begun, map).expect("a proposal");
        let judged = Trains::propose(&Config::default(), &map, 2);
        assert!(!matches!(judged, Proposal::Refused(_)), "{}: {judged:?}", path.display());
        let players: Vec<(Value, Value)> = serde_json::from_str(players).expect("players");
        for (name, _) in players {
            sign_up(&name.to_string(), false).expect("a name");
        }
        assert_eq!(serde_json::from_str::<Vec<Color>>(cards).expect("cards").len(), 250);
        run += 1;
    }
    assert!(run > 10, "only {run} files");
}

fn tiny() -> Config {
    let map = r#"{"width":100,"height":100,
        "cities":[["Ayr",[0,0]],["Bonn",[50,10]],["Cork",[90,20]],["Dover",[20,80]],
            ["Essen",[60,70]]],
        "connections":{"Ayr":{"Bonn":{"red":3},"Dover":{"blue":3}},
            "Bonn":{"Cork":{"green":3,"white":4},"Essen":{"red":3}},
            "Dover":{"Essen":{"white":5}}}}"#;
    let deck = "red red blue red green green white blue red blue blue green red white white white";
    let deck = deck.split(' ').map(|name| Color::from_name(name).expect("a colour")).collect();
    let map = std::sync::Arc::new(Map::parse(map).expect("a map"));
    Config { map, deck: Some(deck), confirm: true }
}

#[test]
fn a_transcript() {
    let mut said = vec!["< \"eve\"".to_owned()];
    let mut clients = [Client::new("buy-now"), Client::new("hold-10")];
    let config = tiny();
    let proposal = agon_games::json(&config.map);
    said.push(format!("> {}", begin(Vocabulary::Course).text));
    said.push(format!("< {proposal}"));
    let proposal = reply(Vocabulary::Course, Awaited::Begun, proposal.get()).expect("a map");
    assert_eq!(Trains::propose(&config, &proposal, 2), Proposal::Fits(config.clone()));
    let (outcome, out) = play(&config, &mut clients, &mut said);
    assert!(out.is_empty());
    let won = outcome.winners().contains(Seat(0));
    for call in [win(won), end(Vocabulary::Course, won)] {
        assert_eq!(exchange(&call, &mut clients[0], Some(&mut said)), "\"ok\"");
    }
    compare("trains/course.txt", "trains.md", &said);
}

#[test]
fn the_memo_has_other_words_for_the_same() {
    let memo = Vocabulary::Memo;
    assert_eq!(begin(memo).text, r#"["beginTournament",[true]]"#);
    assert_eq!(end(memo, false).text, r#"["endTournament",[false]]"#);
    assert_eq!(reply(memo, Awaited::Begun, "\"void\""), Ok("null".into()));
    assert_eq!(reply(memo, Awaited::Turn, "\"more_cards\""), Ok("\"more-cards\"".into()));
    let kind = |awaited, text| reply(memo, awaited, text).unwrap_err().kind;
    assert_eq!(kind(Awaited::Turn, "\"more cards\""), RefusalKind::Malformed);
    assert_eq!(kind(Awaited::Begun, "{}"), RefusalKind::WrongKind);
    assert_eq!(serde_json::to_string(&memo).unwrap(), "\"memo\"");
}

#[test]
fn wrong_replies_are_told_apart() {
    use RefusalKind::{Malformed, WrongKind};
    for (awaited, text, expected) in [
        (Awaited::Begun, "\"void\"", WrongKind),
        (Awaited::Begun, "7", Malformed),
        (Awaited::Confirmed, "\"more cards\"", WrongKind),
        (Awaited::Confirmed, "\"ok\"", Malformed),
        (Awaited::Confirmed, "null", Malformed),
        (Awaited::Returned, r#"["A","B","red",3]"#, WrongKind),
        (Awaited::Returned, r#"[["A","B"],["A"]]"#, Malformed),
        (Awaited::Turn, r#"[["A","B"]]"#, WrongKind),
        (Awaited::Turn, r#"["A","B","red",3.0]"#, Malformed),
        (Awaited::Turn, r#"["A","B","pink",3]"#, Malformed),
        (Awaited::Turn, "\"more_cards\"", Malformed),
        (Awaited::Turn, "\"void\"", WrongKind),
    ] {
        let refusal = reply(Vocabulary::Course, awaited, text).unwrap_err();
        assert_eq!(refusal.kind, expected, "{awaited:?} {text}: {refusal}");
    }
    // How many come back, and which, is for the rules to say.
    assert_eq!(reply(Vocabulary::Course, Awaited::Returned, "[]"), Ok(r#"{"return":[]}"#.into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn no_reply_panics(changes in changes(), which in 0usize..4, awaited in 0usize..4) {
        let texts = [
            "\"more cards\"",
            r#"["Ayr","Bonn","red",3]"#,
            r#"[["Ayr","Bonn"],["Bonn","Cork"],["Ayr","Cork"]]"#,
            r#"{"width":10,"height":10,"cities":[["A",[1,2]]],"connections":{}}"#,
        ];
        let all = [Awaited::Begun, Awaited::Confirmed, Awaited::Returned, Awaited::Turn];
        let text = damage(texts[which].into(), &changes);
        let text = String::from_utf8_lossy(&text);
        for vocabulary in [Vocabulary::Course, Vocabulary::Memo] {
            let Ok(answer) = reply(vocabulary, all[awaited], &text) else { continue };
            prop_assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{}", answer);
            if all[awaited] != Awaited::Begun {
                prop_assert!(serde_json::from_str::<Answer>(&answer).is_ok(), "{}", answer);
            } else {
                let _ = Trains::propose(&Config::default(), &answer, 2);
            }
        }
    }
}
