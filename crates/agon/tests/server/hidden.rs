//! No player or observer sees hidden information. Whole games of every kind are recorded: all that
//! came to both players and to observers, over every interface. What was hidden is known afterwards
//! from the log; none of it may be in what somebody heard who could not know it.

use crate::kill::accepted;
use crate::observed::{Eyes, Observed, observe};
use crate::support::{Place, until};
use crate::wire::{Transport, Watched, Wire, house_answer};
use agon_core::Secret;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Calls `see` with every value in a message, from the outside in.
fn walk(value: &Value, see: &mut impl FnMut(Option<&str>, &Value)) {
    fn inner(key: Option<&str>, value: &Value, see: &mut impl FnMut(Option<&str>, &Value)) {
        see(key, value);
        match value {
            Value::Array(items) => items.iter().for_each(|item| inner(None, item, see)),
            Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| inner(Some(key), value, see));
            }
            _ => {}
        }
    }
    inner(None, value, see);
}

/// Texts that must never be heard, with what they are: everybody's and the server's secrets.
fn secrets(place: &Place, seen: &Observed) -> Vec<(String, String)> {
    let mut all = vec![("the operator's token".to_owned(), seen.operator.clone())];
    for player in &seen.players {
        all.push((format!("the password of {}", player.name), player.password.clone()));
    }
    for (_, event) in place.events("lobby") {
        for field in ["password", "token"] {
            if let Some(hash) = event["data"][field].as_str() {
                all.push((format!("a hash in {}", event["type"]), hash.to_owned()));
            }
        }
    }
    for (stream, event) in place.events("secret/") {
        let text = event["data"]["secret"].as_str().expect("a secret");
        all.push((stream, text.to_owned()));
        let tournament: Secret = serde_json::from_value(json!(text)).expect("a secret");
        let of_match = tournament.of_match(&"r1m1".into());
        all.push(("the match's secret".into(), of_match.hex()));
        all.extend((1..=9).map(|game| (format!("game {game}"), of_match.of_game(game).hex())));
    }
    assert!(all.len() > 12, "there are secrets to look for");
    all
}

/// No secret is in anything anybody heard, apart from a player's own token in its welcome.
fn no_secret_was_told(place: &Place, seen: &Observed) {
    let secrets = secrets(place, seen);
    for eyes in seen.all() {
        for text in &eyes.heard {
            for (what, secret) in &secrets {
                assert!(!text.contains(secret.as_str()), "{} heard {what}: {text}", eyes.name);
            }
            for player in &seen.players {
                let own = player.name == eyes.name && text.contains("\"welcome\"");
                let (token, nonce) = (&player.token, &player.nonce);
                assert!(own || !text.contains(token.as_str()), "{}: a token", eyes.name);
                let own = player.name == eyes.name;
                assert!(own || !text.contains(nonce.as_str()), "{}: a nonce", eyes.name);
            }
        }
    }
}

/// Fields that only the full view has, or that only the log has, before the end.
fn no_field_of_the_full_view(eyes: &Eyes) {
    const HIDDEN: [&str; 6] =
        ["sequences", "deck_cards", "drawn", "secret", "fixed_dice", "nonces"];
    for message in eyes.before_the_end() {
        walk(&message, &mut |key, _| {
            let hidden = key.is_some_and(|key| HIDDEN.contains(&key));
            assert!(!hidden, "{} saw {key:?}: {message}", eyes.name);
        });
    }
}

/// The views of running games in a message, with the seat of who sees them.
fn views(message: &Value) -> Vec<(Option<usize>, Value)> {
    let of_seat = message["seat"].as_u64().map(|seat| seat as usize);
    let pages = ["in_progress", "latest"].map(|part| (None, message[part]["view"].clone()));
    let all = pages.into_iter().chain([(of_seat, message["view"].clone())]);
    all.filter(|(_, view)| !view.is_null()).collect()
}

/// The turns of seat `seat` in game 1, from the log alone: rolls, kept dice and score.
fn yahtzee_turns(place: &Place, seat: usize) -> Vec<Vec<Value>> {
    let mut turns = vec![Vec::new()];
    for (_, event) in place.events("match/") {
        let data = &event["data"];
        let own = event["type"] == "answer-accepted" && data["seat"] == json!(seat);
        if own && data["request"].as_str().is_some_and(|id| id.starts_with("r1m1.1.")) {
            turns.last_mut().expect("a turn").push(data["answer"].clone());
            if !data["answer"]["score"].is_null() {
                turns.push(Vec::new());
            }
        }
    }
    turns.pop();
    turns
}

#[test]
fn dice_and_turns_stay_hidden_until_both_have_scored() {
    let place = Place::new("");
    let seen = observe(&place, "yahtzee-queue", json!({"config": {"dice": "independent"}}));
    no_secret_was_told(&place, &seen);
    seen.all().for_each(no_field_of_the_full_view);
    let turns = [0, 1].map(|seat| yahtzee_turns(&place, seat));
    assert!(turns.iter().all(|turns| turns.len() == 13), "whole games");
    let mut looked = 0;
    for eyes in seen.all() {
        for message in eyes.before_the_end() {
            for (own, view) in views(&message) {
                looked += 1;
                check_yahtzee(&message, own, &view, &turns, &eyes.name);
            }
        }
    }
    assert!(looked > 100, "{looked} views");
}

/// A view of game 1 holds no turn of another that is not finished, and no roll to come of anybody.
fn check_yahtzee(
    message: &Value,
    own: Option<usize>,
    view: &Value,
    turns: &[Vec<Vec<Value>>; 2],
    who: &str,
) {
    let history = view["history"].as_array().expect("a history");
    let turn = view["turn"].as_u64().expect("a turn") as usize;
    assert_eq!(history.len(), turn - 1, "{who}: finished turns only: {message}");
    for seat in [0, 1] {
        let boxes = view["cards"][seat]["boxes"].as_object().expect("boxes");
        let filled = boxes.values().filter(|points| !points.is_null()).count();
        assert_eq!(filled, turn - 1, "{who}: seat {seat} has scored in finished turns only");
        let now = &view["now"][seat];
        if own != Some(seat) {
            assert!(now.is_null(), "{who} sees the turn of seat {seat}: {message}");
            continue;
        }
        // One roll, and one for every choice made so far; the rest of the dice are to come.
        let id = message["id"].as_str().expect("an id");
        let answered: usize = id.rsplit('.').next().and_then(|n| n.parse().ok()).expect("a count");
        let before: usize = turns[seat][..turn - 1].iter().map(Vec::len).sum();
        let chosen = answered - before;
        assert_eq!(now["kept"].as_array().map(Vec::len), Some(chosen), "{who}: {message}");
        assert_eq!(now["rolls"].as_array().map(Vec::len), Some(chosen + 1), "{who}: {message}");
        assert_eq!(message["question"]["dice"], now["rolls"][chosen], "{who}: {message}");
    }
}

#[test]
fn hands_and_destinations_are_seen_by_their_owners_only() {
    let place = Place::new("");
    let seen = observe(&place, "trains", json!({}));
    no_secret_was_told(&place, &seen);
    seen.all().for_each(no_field_of_the_full_view);
    // The dice of each seat, from the log alone.
    let mut given: [(Vec<Value>, BTreeSet<String>); 2] = Default::default();
    for (_, event) in place.events("match/") {
        let drawn = &event["data"]["drawn"];
        let Some(seat) = drawn["seat"].as_u64() else { continue };
        let (cards, pairs) = &mut given[seat as usize];
        cards.extend(drawn["cards"].as_array().into_iter().flatten().cloned());
        pairs.extend(drawn["offered"].as_array().into_iter().flatten().map(Value::to_string));
    }
    assert!(given.iter().all(|(cards, pairs)| cards.len() > 4 && pairs.len() == 5), "{given:?}");
    for eyes in seen.all() {
        let seat = eyes.seat();
        let mut told = Vec::new();
        for message in eyes.before_the_end() {
            check_trains(&eyes.name, &message, seat, &given);
            if message["about"] == "told" {
                told.extend(message["data"]["cards"].as_array().into_iter().flatten().cloned());
            }
        }
        if let Some(seat) = seat {
            assert_eq!(told, given[seat].0, "{}: all of its cards, and no others", eyes.name);
        }
    }
}

/// No hand, no card and no destination but one's own is in a message.
fn check_trains(
    who: &str,
    message: &Value,
    seat: Option<usize>,
    given: &[(Vec<Value>, BTreeSet<String>); 2],
) {
    const COLOURS: [&str; 4] = ["blue", "green", "red", "white"];
    let mut plain = message.clone();
    for (_, view) in views(message) {
        for (at, player) in view["players"].as_array().expect("players").iter().enumerate() {
            let open = !player["hand"].is_null() || !player["destinations"].is_null();
            assert!(!open || seat == Some(at), "{who} sees what seat {at} holds: {message}");
        }
    }
    // Maps name cities and colours, and are for all to see.
    for part in ["view", "in_progress", "latest"] {
        if let Some(view) = plain.get_mut(part) {
            let view = if part == "view" { view } else { &mut view["view"] };
            view["map"] = Value::Null;
        }
    }
    walk(&plain, &mut |key, value| {
        let Some(items) = value.as_array() else { return };
        let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        if texts.len() != items.len() || texts.is_empty() {
            return;
        }
        let cards = texts.iter().all(|text| COLOURS.contains(text));
        assert!(!cards || (key == Some("cards") && seat.is_some()), "{who} sees cards: {message}");
        let names = key.is_some_and(|key| ["seats", "players", "winners"].contains(&key));
        if texts.len() == 2 && !cards && !names {
            let own = seat.is_some_and(|seat| given[seat].1.contains(&value.to_string()));
            assert!(own, "{who} sees the destination {value}: {message}");
        }
    });
}

#[test]
fn repeated_answer_reveals_nothing() {
    let place = Place::new("");
    let watched = Watched::start(&place, &[]);
    let mut players = ["ann", "bob"].map(|name| {
        let mut wire = Wire::open(&watched.server, Transport::Tcp);
        wire.log_in(name);
        wire
    });
    let slow = json!({"policy": {"match": {"time": {"answer_ms": 600_000}}}});
    watched.announce("duel", "yahtzee-class", &["ann", "bob"], &slow);
    let [ann, bob] = &mut players;
    let (open, first) = (ann.hear_until("request"), bob.hear_until("request"));
    bob.say(&house_answer("yahtzee", "greedy", "bob", &first));
    let second = bob.hear_until("request");
    // Its own answer bob may hear again; ann may not hear it, nor that there was one.
    bob.say(&house_answer("yahtzee", "greedy", "bob", &first));
    assert_eq!(bob.hear_until("error")["code"], "repeated");
    let later = "duel:r1m1.1.1.9";
    for id in [first["id"].as_str().expect("an id"), later] {
        ann.say(&json!({"type": "answer", "id": id, "answer": {"keep": []}}));
        let told = ann.hear_until("error");
        assert_eq!((&told["code"], &told["accepted"]), (&json!("foreign"), &json!(null)));
        assert_eq!(told["detail"], "no such request");
    }
    // Nobody was charged: both go on.
    assert_eq!(place.faults(), Vec::<String>::new());
    ann.say(&house_answer("yahtzee", "greedy", "ann", &open));
    bob.say(&house_answer("yahtzee", "greedy", "bob", &second));
    let id = |request: &Value| request["id"].as_str().expect("an id").to_owned();
    until("both answers are taken", || {
        let answers = accepted(&place);
        answers.contains_key(&id(&open)) && answers.contains_key(&id(&second))
    });
    drop(watched);
    place.verify();
}

#[test]
fn of_a_game_without_hidden_things_only_its_luck_is_secret() {
    let place = Place::new("");
    let seen = observe(&place, "fish", json!({}));
    no_secret_was_told(&place, &seen);
    seen.all().for_each(no_field_of_the_full_view);
    // Everybody who sees the board sees the same one.
    let board = |eyes: &Eyes| {
        let messages = eyes.before_the_end();
        let mut boards = messages.iter().flat_map(views).map(|(_, view)| view["board"].clone());
        boards.next()
    };
    let boards: BTreeSet<String> =
        seen.all().filter_map(board).map(|board| board.to_string()).collect();
    assert_eq!(boards.len(), 1, "{boards:?}");
}
