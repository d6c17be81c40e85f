//! Whole games of Fish through both vocabularies: clients that know nothing but what they were sent
//! play to the end.

use crate::support::{changes, compare, damage};
use agon_core::{GameEnd, GameResult, PlayerName};
use agon_games::fish::{Action, Answer, Color, Config, Fish, Player, Position, State};
use agon_games::{Game, RefusalKind, Seat, Seed, Viewer};
use agon_wire::fish::broadcast::Broadcasts;
use agon_wire::fish::{Awaited, FishRequest, Vocabulary, call, message};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

/// A client: what it knows comes from what it was sent.
#[derive(Default)]
struct Client {
    color: Option<Color>,
    /// In the message vocabulary: the position, the one to act first.
    state: Option<State>,
    over: Option<Value>,
}

#[derive(Deserialize)]
struct StateIn {
    board: agon_games::fish::Board,
    players: Vec<PlayerIn>,
}

#[derive(Deserialize)]
struct PlayerIn {
    #[serde(rename = "name")]
    _name: PlayerName,
    places: Vec<Position>,
    color: Color,
}

impl From<StateIn> for State {
    fn from(state: StateIn) -> State {
        let player =
            |player: PlayerIn| Player { color: player.color, score: 0, places: player.places };
        State { board: state.board, players: state.players.into_iter().map(player).collect() }
    }
}

impl Client {
    /// Hears one message and gives its reply, if one is due.
    fn hear(&mut self, text: &str) -> Option<String> {
        let value: Value = serde_json::from_str(text).expect("JSON");
        match value.get("type") {
            Some(kind) => self.message(kind.as_str().expect("a type"), value["value"].clone()),
            None => Some(self.called(value[0].as_str().expect("a name"), &value[1])),
        }
    }

    fn called(&mut self, name: &str, arguments: &Value) -> String {
        let state = || -> State { serde_json::from_value(arguments[0].clone()).expect("a state") };
        match name {
            "start" | "playing-with" | "end" => "\"void\"".into(),
            "playing-as" => {
                self.color = Some(serde_json::from_value(arguments[0].clone()).expect("a colour"));
                "\"void\"".into()
            }
            "setup" => {
                assert_eq!(Some(state().players[0].color), self.color);
                serde_json::to_string(&state().placements()[0]).unwrap()
            }
            "take-turn" => {
                let moves: Vec<Action> =
                    serde_json::from_value(arguments[1].clone()).expect("moves");
                if let Some(last) = moves.last() {
                    assert!(state().players.iter().any(|player| player.places.contains(&last.to)));
                }
                serde_json::to_string(&state().actions()[0]).unwrap()
            }
            other => panic!("no call {other}"),
        }
    }

    fn message(&mut self, kind: &str, value: Value) -> Option<String> {
        let state =
            |value| -> State { serde_json::from_value::<StateIn>(value).expect("a state").into() };
        let reply = |kind: &str, value: Value| {
            Some(serde_json::json!({ "type": kind, "value": value }).to_string())
        };
        match kind {
            "tournament_start" => return reply("tournament_ready", true.into()),
            "tournament_end" => return reply("tournament_end_response", true.into()),
            "player_assign_color" => self.color = serde_json::from_value(value).expect("a colour"),
            "player_request_placement" => {
                let state = state(value);
                assert_eq!(Some(state.players[0].color), self.color);
                let place = serde_json::to_value(state.placements()[0]).unwrap();
                return reply("player_respond_placement", place);
            }
            "broadcast_state" => self.state = Some(state(value)),
            "broadcast_action" => self.apply(&value),
            "player_request_move" => {
                let state = self.state.as_ref().expect("the position is known");
                assert_eq!(Some(state.players[0].color), self.color, "out of step");
                let action = serde_json::to_value(state.actions()[0]).unwrap();
                return reply("player_respond_move", action);
            }
            "broadcast_game_over" => self.over = Some(value),
            other => panic!("no message {other}"),
        }
        None
    }

    fn apply(&mut self, action: &Value) {
        let state = self.state.as_mut().expect("the position is known");
        if action != "Skip" {
            let action: Action = serde_json::from_value(action.clone()).expect("an action");
            let mover = &mut state.players[0];
            let penguin = mover.places.iter_mut().find(|place| **place == action.from);
            *penguin.expect("the one to act moves") = action.to;
            let mut rows: Vec<Vec<u8>> = state.board.clone().into();
            rows[action.from.row as usize][action.from.column as usize] = 0;
            state.board = agon_games::fish::Board::new(&rows).expect("a board");
        }
        state.players.rotate_left(1);
    }
}

/// A game whose players are all behind one vocabulary.
struct Table {
    vocabulary: Vocabulary,
    game: Fish,
    names: Vec<PlayerName>,
    clients: Vec<Client>,
    broadcasts: Broadcasts,
    /// The messages to and from the first player.
    said: Vec<String>,
}

impl Table {
    fn new(vocabulary: Vocabulary, config: &Config, seats: usize, seed: u64) -> Table {
        let game = Fish::new(config, seats, &Seed::from_number(seed)).expect("a game");
        let names = ["eve", "ann", "bob", "cat"].map(|name| PlayerName::new(name).unwrap());
        Table {
            vocabulary,
            game,
            names: names[..seats].to_vec(),
            clients: (0..seats).map(|_| Client::default()).collect(),
            broadcasts: Broadcasts::new(),
            said: Vec::new(),
        }
    }

    fn send(&mut self, seat: Seat, text: &str) -> Option<String> {
        let reply = self.clients[seat.index()].hear(text);
        if seat == Seat(0) {
            self.said.push(format!("> {text}"));
            self.said.extend(reply.iter().map(|reply| format!("< {reply}")));
        }
        reply
    }

    /// Sends a question and gives the native answer.
    fn ask(&mut self, seat: Seat, asked: &FishRequest) -> String {
        let reply = asked.send.as_ref().and_then(|text| self.send(seat, text));
        match (asked.awaited, reply) {
            (None, None) => "\"ok\"".into(),
            (Some(awaited), Some(reply)) => match self.vocabulary {
                Vocabulary::Call => call::reply(awaited, &reply),
                Vocabulary::Message => message::reply(awaited, &reply),
            }
            .expect("a reply"),
            other => panic!("{other:?} to {asked:?}"),
        }
    }

    fn tell_all(&mut self) {
        if self.vocabulary == Vocabulary::Call {
            return;
        }
        let view = self.game.view(Viewer::Public);
        for text in self.broadcasts.next(&view, &self.names) {
            for seat in Seat::all(self.names.len()) {
                if !self.game.removed().contains(seat) {
                    assert_eq!(self.send(seat, &text), None);
                }
            }
        }
    }

    /// Asks everybody the same outside a game, and checks the native answer.
    fn ask_all(&mut self, asked: &FishRequest, expected: &str) {
        for seat in Seat::all(self.names.len()) {
            if !self.game.removed().contains(seat) {
                assert_eq!(self.ask(seat, asked), expected);
            }
        }
    }

    /// Plays on to the end; after `kick.0` answers the seat `kick.1` is taken out.
    fn play(&mut self, kick: Option<(usize, Seat)>) -> GameResult {
        let mut answers = 0;
        while let Some(seat) = self.game.awaiting().first() {
            if kick.is_some_and(|(after, _)| after == answers) {
                self.game.remove(kick.unwrap().1);
            } else {
                let question = self.game.question(seat).expect("a question");
                let view = self.game.view(Viewer::Seat(seat));
                let asked = match self.vocabulary {
                    Vocabulary::Call => call::ask(&question, &view),
                    Vocabulary::Message => message::ask(&question, &view, &self.names),
                };
                let answer = self.ask(seat, &asked);
                let answer: Answer = serde_json::from_str(&answer).expect("an answer");
                self.game.apply(seat, &answer).expect("a legal answer");
            }
            answers += 1;
            self.tell_all();
        }
        let outcome = self.game.outcome().expect("an end");
        let winners = outcome.winners().map(|seat| self.names[seat.index()].clone()).collect();
        GameResult {
            game: 1,
            seats: self.names.clone(),
            end: GameEnd::Played,
            scores: outcome.scores,
            ranks: outcome.ranks,
            winners,
            luck: Vec::new(),
            voided: None,
        }
    }
}

fn wide() -> Config {
    let text = r#"{"board":[[1,2,3,1],[2,1,0,2],[1,4,1,1],[1,2,5,3]],"confirm":true}"#;
    serde_json::from_str(text).unwrap()
}

fn small() -> Config {
    serde_json::from_str(r#"{"board":[[1,2,3],[2,1,0],[1,4,1],[1,2,5]],"confirm":true}"#).unwrap()
}

#[test]
fn a_transcript_of_calls() {
    let mut table = Table::new(Vocabulary::Call, &small(), 2, 0);
    table.said.push("< \"eve\"".into());
    table.ask_all(&call::start(), "true");
    let result = table.play(None);
    let won = result.winners.contains(&table.names[0]);
    table.ask(Seat(0), &call::end(won));
    compare("fish/call.txt", "fish.md", &table.said);
}

#[test]
fn a_transcript_of_messages() {
    let mut table = Table::new(Vocabulary::Message, &wide(), 3, 0);
    table.said.push(r#"< {"type":"signup_request","value":"eve"}"#.into());
    table.said.push(format!("> {}", message::signed_up(true)));
    table.ask_all(&message::start(), "true");
    // Three confirm two things, nine penguins are placed, and after a few moves one player goes.
    let result = table.play(Some((6 + 9 + 2, Seat(2))));
    let over = message::game_over(&table.game.view(Viewer::Full), &result);
    table.send(Seat(0), &over);
    let won = result.winners.contains(&table.names[0]);
    assert_eq!(table.ask(Seat(0), &message::end(won)), "\"ok\"");
    let over = table.clients[0].over.take().expect("the end of the game");
    assert_eq!(over["kicked_players"], serde_json::json!(["bob"]));
    compare("fish/message.txt", "fish.md", &table.said);
}

/// Players that are passed over are told of, and everybody stays in step.
#[test]
fn stuck_players_are_broadcast_as_skips() {
    let config = Config { rows: 5, columns: 4, difficulty: 3, confirm: true, ..Config::default() };
    let skips = (0..20).map(|seed| {
        let mut table = Table::new(Vocabulary::Message, &config, 3, seed);
        table.play(None);
        table.said.iter().filter(|line| line.contains("\"Skip\"")).count()
    });
    assert!(skips.sum::<usize>() > 5);
}

#[test]
fn wrong_replies_are_told_apart() {
    let kind = |awaited, text: &str| call::reply(awaited, text).unwrap_err().kind;
    use RefusalKind::{Illegal, Malformed, WrongKind};
    for (awaited, text, expected) in [
        (Awaited::Placement, "[[0,0],[1,1]]", WrongKind),
        (Awaited::Placement, "\"void\"", WrongKind),
        (Awaited::Placement, "[0.5,0]", Malformed),
        (Awaited::Placement, "[0]", Malformed),
        (Awaited::Placement, "{}", Malformed),
        (Awaited::Move, "[0,0]", WrongKind),
        (Awaited::Move, "false", Malformed),
        (Awaited::Move, "\"Skip\"", Malformed),
        (Awaited::Confirmed, "[0,0]", WrongKind),
        (Awaited::Ready, "\"no\"", Malformed),
        (Awaited::Farewell, "true", Malformed),
    ] {
        assert_eq!(kind(awaited, text), expected, "{awaited:?} {text}");
    }
    let kind = |awaited, kind: &str, value: &str| {
        let text = format!(r#"{{"type":"{kind}","value":{value}}}"#);
        message::reply(awaited, &text).unwrap_err().kind
    };
    for (awaited, tag, value, expected) in [
        (Awaited::Placement, "player_respond_move", "[[0,0],[1,1]]", WrongKind),
        (Awaited::Placement, "player_respond_placement", "[[0,0],[1,1]]", WrongKind),
        (Awaited::Placement, "player_respond_placement", "[1]", Malformed),
        (Awaited::Placement, "player_request_placement", "[1,1]", Malformed),
        (Awaited::Move, "player_respond_move", "\"Skip\"", Illegal),
        (Awaited::Move, "player_respond_move", "[1,1]", WrongKind),
        (Awaited::Move, "player_respond_move", "\"skip\"", Malformed),
        (Awaited::Ready, "tournament_ready", "1", Malformed),
        (Awaited::Ready, "tournament_end_response", "true", WrongKind),
        (Awaited::Farewell, "tournament_end_response", "false", WrongKind),
    ] {
        assert_eq!(kind(awaited, tag, value), expected, "{awaited:?} {tag} {value}");
    }
    let unready = r#"{"type":"tournament_ready","value":false}"#;
    assert_eq!(message::reply(Awaited::Ready, unready).unwrap(), "false");
    // Off every board is for the rules to say.
    let far = call::reply(Awaited::Placement, "[-1,99999999999999999999]").expect("a position");
    assert_eq!(far, r#"{"place":[-1,99999999999999999999]}"#);
    assert!(serde_json::from_str::<Answer>(&far).is_ok());
}

#[test]
fn late_listener_gets_the_position() {
    let mut table = Table::new(Vocabulary::Message, &wide(), 2, 0);
    let mut late = Broadcasts::new();
    let mut views = Vec::new();
    while let Some(seat) = table.game.awaiting().first() {
        let answer = table.game.legal(seat).swap_remove(0);
        table.game.apply(seat, &answer).unwrap();
        views.push(table.game.view(Viewer::Public));
    }
    let moving = views.iter().position(|view| view.phase == agon_games::fish::Phase::Move).unwrap();
    assert!(views.len() > moving + 4, "a game of some moves");
    let mut told = |at: usize| -> Vec<String> {
        let texts = late.next(&views[at], &table.names);
        let kind = |text: &String| serde_json::from_str::<Value>(text).unwrap()["type"].clone();
        texts.iter().map(kind).map(|kind| kind.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(told(moving + 1), ["broadcast_state"]);
    assert_eq!(told(moving + 2)[0], "broadcast_action");
    assert_eq!(told(moving + 2), [""; 0], "nothing new");
    assert_eq!(told(moving + 4), ["broadcast_state"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn clients_of_both_vocabularies_play_the_same_game(
        seed: u64,
        seats in 2usize..=4,
        difficulty in 0u32..5,
        kick in prop::option::of((0usize..40, 0u8..4)),
    ) {
        let config = Config { rows: 5, columns: 4, difficulty, confirm: true, ..Config::default() };
        let kick = kick.map(|(after, seat)| (after, Seat(seat % seats as u8)));
        let results = [Vocabulary::Call, Vocabulary::Message].map(|vocabulary| {
            Table::new(vocabulary, &config, seats, seed).play(kick)
        });
        prop_assert_eq!(&results[0], &results[1]);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn no_reply_panics(changes in changes(), which in 0usize..6, awaited in 0usize..5) {
        let texts = [
            "\"void\"",
            "[1,2]",
            "[[1,2],[3,4]]",
            r#"{"type":"player_respond_move","value":[[1,2],[3,4]]}"#,
            r#"{"type":"player_respond_placement","value":[1,2]}"#,
            r#"{"type":"tournament_ready","value":true}"#,
        ];
        let all = [
            Awaited::Ready,
            Awaited::Confirmed,
            Awaited::Placement,
            Awaited::Move,
            Awaited::Farewell,
        ];
        let text = damage(texts[which].into(), &changes);
        let text = String::from_utf8_lossy(&text);
        let replies = [call::reply(all[awaited], &text), message::reply(all[awaited], &text)];
        // Every reply that passes is JSON, and the game gets an answer in its own format.
        for answer in replies.into_iter().flatten() {
            prop_assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{}", answer);
            if matches!(all[awaited], Awaited::Placement | Awaited::Move) {
                prop_assert!(serde_json::from_str::<Answer>(&answer).is_ok(), "{}", answer);
            }
        }
    }
}
