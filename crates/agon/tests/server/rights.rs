//! Nobody gets in who should not: every message without a login, with a token that is not good, and
//! with another's, over both transports; and what nobody may do changes nothing.

use crate::support::{Place, until};
use crate::wire::{BOTH, Transport, Watched, Wire, house_answer, http, login, password};
use serde_json::{Value, json};

/// Every message that needs an account.
fn messages(request: &str) -> Vec<Value> {
    vec![
        json!({"type": "answer", "id": request, "answer": {"keep": []}}),
        json!({"type": "enqueue", "queue": "yahtzee-queue"}),
        json!({"type": "dequeue", "queue": "yahtzee-queue"}),
        json!({"type": "sign-up", "tournament": "open"}),
        json!({"type": "withdraw", "tournament": "open"}),
        json!({"type": "withdraw", "tournament": "cup"}),
        json!({"type": "change-password", "old": password("ann"), "new": "mine alone"}),
        json!({"type": "logout"}),
    ]
}

/// A server where ann is asked something, is signed up and waits in a queue.
fn with_ann(place: &Place) -> (Watched, Wire, Value) {
    let watched = Watched::start(place, &[]);
    let mut ann = Wire::open(&watched.server, Transport::Tcp);
    let welcome = ann.log_in("ann");
    let wait = json!({"by": "sign-up", "at_least": 2, "at_most": 8, "wait_ms": 600_000,
                      "second_wait_ms": 0, "second_at_least": 2});
    watched.announce("open", "yahtzee-queue", &[], &json!({"selection": wait}));
    ann.say(&json!({"type": "enqueue", "queue": "yahtzee-queue"}));
    ann.hear_until("done");
    ann.say(&json!({"type": "sign-up", "tournament": "open"}));
    ann.hear_until("done");
    let slow = json!({"policy": {"match": {"time": {"answer_ms": 600_000}}}});
    watched.announce("cup", "yahtzee-class", &["ann", "house:greedy"], &slow);
    let mut asked = ann.hear_until("request");
    asked["token"] = welcome["token"].clone();
    (watched, ann, asked)
}

/// Everything that ann did, and that was done for her.
fn of_ann(place: &Place) -> Vec<String> {
    let streams = ["lobby", "match/", "tournament/"].into_iter();
    let events = streams.flat_map(|prefix| place.events(prefix));
    let own = events.map(|(stream, event)| format!("{stream} {event}"));
    own.filter(|event| event.contains("\"ann\"")).collect()
}

/// The code that a message gets.
fn code(wire: &mut Wire, message: &Value) -> String {
    wire.say(message);
    let reply = wire.hear_until("error");
    reply["code"].as_str().expect("a code").to_owned()
}

#[test]
fn no_message_does_anything_without_a_login() {
    let place = Place::new("");
    let (watched, mut ann, asked) = with_ann(&place);
    let id = asked["id"].as_str().expect("an id");
    let before = of_ann(&place);
    let expired = Place::new("token_ms = 1\n");
    for transport in BOTH {
        let open = || Wire::open(&watched.server, transport);
        let mut silent = open();
        for message in messages(id) {
            assert_eq!(code(&mut silent, &message), "unexpected", "before hello: {message}");
        }
        let mut nobody = open();
        nobody.say_hello();
        for message in messages(id) {
            assert_eq!(code(&mut nobody, &message), "not-logged-in", "without login: {message}");
        }
        let revoked = revoked_token(&watched, transport);
        let good = asked["token"].as_str().expect("a token");
        let near = [&good[..63], if good.ends_with('0') { "1" } else { "0" }].concat();
        let bad = ["0".repeat(64), String::new(), good[..63].to_owned(), near, revoked];
        for token in bad {
            let mut stranger = open();
            stranger.say_hello();
            let login = json!({"type": "login", "token": token});
            assert_eq!(code(&mut stranger, &login), "wrong-credentials");
            for message in messages(id) {
                assert_eq!(code(&mut stranger, &message), "not-logged-in", "{message}");
            }
        }
        tokens_that_expired(&expired, transport, id);
    }
    assert_eq!(of_ann(&place), before, "nobody did anything for ann");
    // Her request is open, her password her own.
    ann.say(&house_answer("yahtzee", "greedy", "ann", &asked));
    ann.hear_until("request");
    let mut again = Wire::open(&watched.server, Transport::WebSocket);
    again.log_in("ann");
    drop(watched);
    place.verify();
}

/// A token that was good until an operator logged its account out.
fn revoked_token(watched: &Watched, transport: Transport) -> String {
    let name = format!("gone {transport:?}");
    let mut gone = Wire::open(&watched.server, transport);
    let token = gone.log_in(&name)["token"].as_str().expect("a token").to_owned();
    let path = format!("/api/v1/accounts/{}/logout", name.replace(' ', "%20"));
    let why = json!({"why": "a test"});
    assert_eq!(http(&watched.server, &watched.operator, "POST", &path, &why).0, 204);
    let rest = gone.rest();
    assert!(rest.iter().any(|message| message["code"] == "logged-out"), "{rest:?}");
    token
}

/// Where tokens are good for a millisecond, none opens anything.
fn tokens_that_expired(place: &Place, transport: Transport, id: &str) {
    let server = crate::support::Server::start(place);
    let mut late = Wire::open(&server, transport);
    let token = late.log_in("late")["token"].as_str().expect("a token").to_owned();
    drop(late);
    until("the token is over", || {
        let mut again = Wire::open(&server, transport);
        again.come_back(&token);
        let mut said = std::iter::from_fn(|| again.hear());
        let reply = said.find(|message| message["type"] != "greeting");
        reply.is_some_and(|message| message["code"] == "wrong-credentials")
    });
    let mut again = Wire::open(&server, transport);
    again.come_back(&token);
    assert_eq!(again.hear_until("error")["code"], "wrong-credentials");
    for message in messages(id) {
        assert_eq!(code(&mut again, &message), "not-logged-in", "{message}");
    }
}

#[test]
fn token_grants_exactly_its_own_account() {
    let place = Place::new("");
    let (watched, mut ann, asked) = with_ann(&place);
    let id = asked["id"].as_str().expect("an id");
    let before = of_ann(&place);
    for transport in BOTH {
        let mut eve = Wire::open(&watched.server, transport);
        eve.log_in(&format!("eve {transport:?}"));
        let reply = |eve: &mut Wire, message: &Value| {
            eve.say(message);
            let reply = std::iter::from_fn(|| eve.hear());
            let mut reply = reply.filter(|message| message["type"] != "notice");
            reply.next().expect("a reply")
        };
        let answer = json!({"type": "answer", "id": id, "answer": {"keep": []}});
        assert_eq!(reply(&mut eve, &answer)["code"], "foreign");
        let dequeue = json!({"type": "dequeue", "queue": "yahtzee-queue"});
        assert_eq!(reply(&mut eve, &dequeue)["code"], "refused");
        let withdraw = json!({"type": "withdraw", "tournament": "open"});
        assert_eq!(reply(&mut eve, &withdraw)["code"], "refused");
        // Ann's password does not work for another account.
        let change =
            json!({"type": "change-password", "old": password("ann"), "new": "mine alone"});
        assert_eq!(reply(&mut eve, &change)["code"], "wrong-credentials");
        assert_eq!(reply(&mut eve, &login("ann"))["code"], "unexpected");
        let more = json!({"type": "enqueue", "queue": "yahtzee-queue", "player": "ann"});
        assert_eq!(reply(&mut eve, &more)["code"], "malformed");
        eve.say(&json!({"type": "logout"}));
        assert!(eve.rest().iter().any(|message| message["what"] == "logout"));
    }
    assert_eq!(of_ann(&place), before, "nobody did anything for ann");
    ann.say(&house_answer("yahtzee", "greedy", "ann", &asked));
    ann.hear_until("request");
    drop(watched);
    place.verify();
}

#[test]
fn a_password_in_a_malformed_line_is_no_evidence() {
    let place = Place::new("");
    let watched = Watched::start(&place, &[]);
    let mut ann = Wire::open(&watched.server, Transport::Tcp);
    ann.log_in("ann");
    watched.announce("cup", "yahtzee-queue", &["ann", "house:greedy"], &json!({}));
    ann.hear_until("request");
    // Both have a slip in them, and count as answers: what is charged is for all to read.
    let slips = [
        format!(r#"{{"type":"change-password","old":"{}","new":"tuna","x":1}}"#, password("ann")),
        r#"{"type":"login","account":"ann","password":4242424242}"#.to_owned(),
    ];
    for slip in &slips {
        ann.say_bytes(slip.as_bytes());
        assert_eq!(ann.hear_until("error")["code"], "malformed");
        ann.hear_until("request");
    }
    let faults = place.faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
    for fault in faults {
        assert!(fault.contains("malformed"), "{fault}");
        let told =
            [password("ann").as_str(), "tuna", "4242424242"].iter().any(|w| fault.contains(w));
        assert!(!told, "{fault}");
    }
    drop(watched);
    place.verify();
}
