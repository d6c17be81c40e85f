//! Damaged messages by the hundred thousand (`AGON_FUZZ=1000000` for more): whatever comes, nothing
//! panics, nothing grows beyond its bound, and the next good message is understood.

use crate::terms::golden;
use agon_core::PlayerName;
use agon_wire::erlang::class::Variant;
use agon_wire::erlang::control::{self, Control, Process};
use agon_wire::erlang::decode::{Limits, decode};
use agon_wire::erlang::encode::encode;
use agon_wire::erlang::frames::{Frames, Header, frame};
use agon_wire::erlang::handshake::{Acceptor, Cookie, FRAME_MAX, digest, flags};
use agon_wire::erlang::refs::{Key, Refs};
use agon_wire::erlang::session::{Deed, Login, Session, Speaks};
use agon_wire::erlang::term::{Atom, Pid, Ref, Term};
use agon_wire::erlang::{Message, Password, epmd, read};
use agon_wire::native::FromPlayer;
use std::sync::Arc;

/// How many damaged inputs each of the tests takes.
fn rounds() -> u64 {
    let asked = std::env::var("AGON_FUZZ").ok().and_then(|count| count.parse().ok());
    asked.unwrap_or(100_000)
}

/// Numbers that look random and are the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Bytes with up to four of them changed, put in, taken out, doubled or cut off.
    fn damage(&mut self, good: &[u8]) -> Vec<u8> {
        let mut bytes = good.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let (byte, how) = (self.next() as u8, self.below(7));
            match how {
                _ if bytes.is_empty() => bytes.push(byte),
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, byte),
                3 => drop(bytes.remove(at)),
                4 => bytes.truncate(at),
                // Lengths that promise far too much.
                5 => bytes[at] = 0xff,
                _ => {
                    bytes.extend_from_within(at..(at + 9).min(good.len()).max(at).min(bytes.len()))
                }
            }
        }
        bytes
    }
}

fn pid(node: &'static str) -> Pid {
    Pid { node: Atom::new(node).unwrap(), id: 91, serial: 0, creation: 3 }
}

fn reference() -> Ref {
    Ref { node: Atom::new("eve@box").unwrap(), creation: 3, words: [1, 2, 3].into() }
}

/// First messages of every vocabulary.
fn firsts() -> Vec<Term> {
    let (me, text) = (Term::from(pid("eve@box")), Term::string);
    let both = Term::tuple([text("eve"), text("pw")]);
    let wide = Term::List(vec![Term::Int(0x20ac), Term::Int(97)]);
    vec![
        Term::tuple([Term::atom("login"), me.clone(), text("eve"), both.clone()]),
        Term::tuple([Term::atom("login"), me.clone(), Term::atom("eve@box"), both.clone()]),
        Term::tuple([Term::atom("login"), me.clone(), both]),
        Term::tuple([
            Term::atom("request_tournament"),
            me.clone(),
            Term::tuple([Term::Int(8), Term::Int(3)]),
        ]),
        Term::tuple([
            me.clone(),
            reference().into(),
            Term::atom("player_registration"),
            text("eve"),
            text("pw"),
        ]),
        Term::tuple([
            me.clone(),
            reference().into(),
            Term::atom("start_tournament"),
            Term::Int(3),
            Term::Int(5),
        ]),
        Term::tuple([me.clone(), Term::atom("login"), wide, text("pw")]),
        Term::tuple([me, Term::atom("login"), text("eve"), Term::atom("false")]),
        Term::tuple([Term::atom("new_password"), text("eve"), text("a"), Term::atom("false")]),
        Term::tuple([text("eve"), text("pw"), Term::atom("enqueueMe")]),
        Term::tuple([Term::atom("start_tournament"), Term::Int(8)]),
    ]
}

/// How many terms there are in one.
fn count(term: &Term) -> usize {
    1 + match term {
        Term::Tuple(items) | Term::List(items) => items.iter().map(count).sum(),
        Term::Improper(items, end) => items.iter().map(count).sum::<usize>() + count(end),
        Term::Map(pairs) => pairs.iter().map(|(key, value)| count(key) + count(value)).sum(),
        _ => 0,
    }
}

#[test]
fn damaged_terms_are_read_within_their_bounds_or_refused() {
    let mut chance = Chance(1);
    let mut good: Vec<Vec<u8>> = golden().into_iter().map(|(_, bytes)| bytes).collect();
    good.extend(firsts().iter().map(encode));
    let limits = Limits { terms_max: 500, depth_max: 12 };
    let mut was_read = 0;
    for _ in 0..rounds() {
        let one = chance.below(good.len());
        let bytes = chance.damage(&good[one]);
        if let Ok(term) = decode(&bytes, limits) {
            assert!(count(&term) <= limits.terms_max + 1, "{term}");
            assert_eq!(decode(&encode(&term), limits).as_ref().map(count), Ok(count(&term)));
            let _ = (read(&term), term.to_string(), term.text());
            was_read += 1;
        }
    }
    assert!(was_read > rounds() / 100, "some of them are still terms");
}

#[test]
fn damaged_handshakes_and_requests_let_nobody_in() {
    let mut chance = Chance(2);
    let cookie = Cookie("secret".into());
    let mut name = vec![b'N'];
    name.extend(flags::OFFERED.to_be_bytes());
    name.extend(99u32.to_be_bytes());
    name.extend(7u16.to_be_bytes());
    name.extend(b"eve@box");
    let mut reply = vec![b'r', 0, 0, 0, 5];
    reply.extend(digest(&cookie, 77));
    let node = Atom::new("agon@localhost").unwrap();
    let alive = epmd::Node { name: "eve".into(), port: 5, hidden: true, versions: (6, 6) };
    let asks = [
        epmd::encode_request(&epmd::Request::Alive(alive)),
        epmd::encode_request(&epmd::Request::PortPlease("agon".into())),
        epmd::encode_request(&epmd::Request::Names),
    ];
    for _ in 0..rounds() {
        let mut acceptor = Acceptor::new(node.clone(), 7, cookie.clone(), 77);
        let first = acceptor.message(&chance.damage(&name));
        let damaged = chance.damage(&reply);
        let let_in = first.is_ok() && acceptor.message(&damaged).is_ok();
        // Only the peer's own challenge may differ: the proof is whole.
        let whole = damaged.len() == reply.len() && damaged[5..] == reply[5..];
        assert!(!let_in || whole, "let in with {damaged:?}");
        let one = chance.below(asks.len());
        let ask = chance.damage(&asks[one]);
        let _ =
            (epmd::decode_request(&ask), epmd::decode_registered(&ask), epmd::decode_port(&ask));
        let mut frames = Frames::new(Header::Two, FRAME_MAX);
        frames.push(&ask);
        for _ in 0..200 {
            if !matches!(frames.take(), Some(Ok(_))) {
                break;
            }
        }
    }
}

/// A player that was asked something, in a vocabulary.
fn session(speaks: Speaks) -> (Session<()>, Vec<Deed<()>>) {
    let refs = Arc::new(Refs::new(Atom::new("agon@localhost").unwrap(), 7));
    let login = Login {
        pid: pid("eve@box"),
        user: PlayerName::new("eve").unwrap(),
        password: Password("pw".into()),
        speaks,
    };
    let manager = refs.pid(1);
    let (mut session, _) = Session::new(login, manager, refs, Key::new([7; 8]), 1_000);
    session.line(br#"{"type":"welcome","account":"eve","active":1,"waiting":0}"#, None, 0);
    let data = r#"{"tournament":"cup","game":"yahtzee","commitment":"x"}"#;
    let notice = format!(r#"{{"type":"notice","about":"tournament","data":{data}}}"#);
    session.line(notice.as_bytes(), None, 0);
    let deeds = session.line(&request(), Some(()), 0);
    (session, deeds)
}

/// A request as the server writes it.
fn request() -> Vec<u8> {
    use agon_games::yahtzee::{Config, Yahtzee};
    use agon_games::{Game, Seat, Seed, Viewer};
    let game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(1)).expect("a game");
    let question = game.question(Seat(0)).expect("a question");
    let line = serde_json::json!({
        "id": "cup:r1m1.1.0.0", "deadline_ms": 1000, "seat": 0,
        "question": question, "view": game.view(Viewer::Seat(Seat(0))),
        "match": {"tournament": "cup", "id": "r1m1", "round": 1, "players": ["eve", "ann"],
                  "best_of": 3, "won": [0.0, 0.0], "game": 1, "games": []},
    });
    line.to_string().replacen('{', r#"{"type":"request","#, 1).into_bytes()
}

/// The answer of a player, from what it was told.
fn answer(speaks: &Speaks, told: &Term) -> Term {
    let fields = told.as_tuple().expect("a message");
    let me = Term::from(pid("eve@box"));
    match speaks {
        Speaks::Class(_) => {
            let data = fields.last().and_then(Term::as_tuple).expect("a request");
            let keep =
                Term::List(["true", "false", "true", "false", "false"].map(Term::atom).into());
            let mut reply: Vec<Term> = data[..4].to_vec();
            reply.extend([keep, Term::Int(0)]);
            Term::tuple([Term::atom("play_action"), me, Term::string("eve"), Term::Tuple(reply)])
        }
        Speaks::Referee { .. } => {
            Term::tuple([fields[1].clone(), Term::atom("first_modification_attempt"), Term::nil()])
        }
        Speaks::Queue { .. } => Term::Tuple(vec![
            Term::string("eve"),
            Term::string("pw"),
            Term::atom("modification"),
            fields[1].clone(),
            fields[2].clone(),
            Term::nil(),
        ]),
    }
}

#[test]
fn damaged_answers_reach_the_server_once_or_not_at_all() {
    let mut chance = Chance(3);
    let vocabularies = [
        Speaks::Class(Variant::Plain),
        Speaks::Referee { login: reference() },
        Speaks::Queue { password: Password("pw".into()) },
    ];
    for speaks in vocabularies {
        let (mut asked, deeds) = session(speaks.clone());
        let told = deeds.into_iter().find_map(|deed| match deed {
            Deed::Tell { term, .. } => Some(term),
            _ => None,
        });
        let told = told.expect("it is asked");
        let good = encode(&answer(&speaks, &told));
        let (mut answers, mut heard) = (0, 0);
        for _ in 0..rounds() / 3 {
            let bytes = chance.damage(&good);
            let Ok(term) = decode(&bytes, Limits::default()) else { continue };
            let deeds = match read(&term) {
                Ok(message @ (Message::Class(_) | Message::Referee(_) | Message::Queue(_))) => {
                    heard += 1;
                    asked.hear(&message, None)
                }
                Err(_) => continue,
            };
            for deed in deeds.unwrap_or_default() {
                if let Deed::Say(FromPlayer::Answer { id, .. }) = deed {
                    assert_eq!(id.as_str(), "cup:r1m1.1.0.0");
                    answers += 1;
                    // The server asks again, as it would under a policy that lets it.
                    (asked, _) = session(speaks.clone());
                }
            }
        }
        assert!(heard > 100 && answers > 0, "{speaks:?}: {heard} heard, {answers} answers");
    }
}

#[test]
fn damaged_lines_and_frames_never_stick() {
    let mut chance = Chance(4);
    let line = request();
    let message = firsts().swap_remove(0);
    let to = Process::Name(Atom::new("yahtzee_manager").unwrap());
    let sent = Control::Send { from: Some(pid("eve@box")), to, message };
    let good = control::encode(&sent).expect("a frame");
    for round in 0..rounds() {
        // Lines are our own server's, so a few of them will do.
        if round % 100 == 0 {
            let (mut asked, _) = session(Speaks::Class(Variant::Tupled));
            let _ = asked.line(&chance.damage(&line), None, round);
        }
        let damaged = chance.damage(&good[4..]);
        let mut frames = Frames::new(Header::Four, control::FRAME_MAX);
        frames.push(&frame(Header::Four, |out| out.extend_from_slice(&damaged)));
        frames.push(&good);
        let first = frames.take().expect("a frame").expect("a short one").to_vec();
        let _ = control::decode(&first, Limits::default());
        let second = frames.take().expect("a frame").expect("a short one");
        assert_eq!(control::decode(second, Limits::default()), Ok(Some(sent.clone())));
    }
}
