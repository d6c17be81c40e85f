//! A cup between players that joined a server.

use crate::support::{AGON, Client, Place, Server, until};
use rustix::process::Signal;

const CUP: &str = "[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-class\"\nplayers = 4\n\
                   best_of = 3\nstart = \"when-ready\"\n";

#[test]
fn a_cup_of_four_ends_and_can_be_verified() {
    let place = Place::new(CUP);
    let mut server = Server::start(&place);
    let token = server.said["operator"]["token"].as_str().expect("a first token").to_owned();
    let mut players = vec![
        place.player(&server.address, "ann", &["--bot", "house:greedy"]),
        place.player(&server.address, "bob", &["--bot", "house:random"]),
        place.player(&server.address, "cat", &["--", AGON, "bot", "greedy"]),
        place.player(&server.address, "dan", &["--", AGON, "bot", "random"]),
    ];
    until("the cup is over", || place.is_over("cup"));
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    // A program on a server may be verified while the server runs.
    place.verify();
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
    place.verify();
    let (code, said) = place.agon(&["verify", "agon-data/agon.sqlite"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 tournament, 3 matches"), "{said}");
    assert_eq!(place.faults(), Vec::<String>::new());
    let lobby = place.events("lobby");
    assert!(!lobby.iter().any(|(_, event)| event.to_string().contains(&token)), "only its hash");
    // Only the first start makes a token, and no tournament is held twice.
    let server = Server::start(&place);
    assert!(server.said["operator"].is_null(), "{}", server.said);
    let mut operator = Client::connect(&server.address);
    operator.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    operator.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
    assert_eq!(operator.hear_until("welcome")["account"], "operator");
    server.process.signal(Signal::INT);
}

#[test]
fn lapsed_player_gets_the_request_again() {
    let config = "[[tournament]]\nname = \"duel\"\npreset = \"yahtzee-queue\"\n\
                  named = [\"ann\", \"house:greedy\"]\n";
    let place = Place::new(config);
    let server = Server::start(&place);
    let mut ann = Client::logged_in(&server.address, "ann");
    let asked = ann.hear_until("request");
    // The fourth lapse costs the match.
    for _ in 0..3 {
        ann.say("what was the question?");
        assert_eq!(ann.hear_until("error")["code"], "malformed");
        assert_eq!(ann.hear_until("request")["id"], asked["id"]);
    }
    ann.say("what was the question?");
    loop {
        let notice = ann.hear_until("notice");
        if notice["about"] == "tournament-over" {
            assert_eq!(notice["data"]["won"], false);
            break;
        }
    }
    assert_eq!(place.faults().len(), 4);
    place.verify();
}

#[test]
fn the_same_account_from_two_machines() {
    let config = "[[tournament]]\nname = \"duel\"\npreset = \"yahtzee-queue\"\n\
                  named = [\"ann\", \"house:greedy\"]\n";
    let place = Place::new(config);
    let server = Server::start(&place);
    // The first machine is asked, and never answers.
    let mut first = Client::logged_in(&server.address, "ann");
    let asked = first.hear_until("request");
    // The second takes over and plays on: the same request, under the same id.
    let mut second = Client::logged_in(&server.address, "ann");
    let rest = first.rest();
    assert!(rest.iter().any(|message| message["code"] == "taken-over"), "{rest:?}");
    assert_eq!(second.hear_until("request")["id"], asked["id"]);
    let mut third = place.player(&server.address, "ann", &["--bot", "house:greedy"]);
    assert_eq!(third.code(), Some(0));
    let rest = second.rest();
    assert!(rest.iter().any(|message| message["code"] == "taken-over"), "{rest:?}");
    until("the duel is over", || place.is_over("duel"));
    assert_eq!(place.faults(), Vec::<String>::new(), "taking over is no lapse");
    place.verify();
}
