//! Input from Erlang nodes: terms, the handshake, requests to epmd, frames, and messages of
//! players.

use crate::input::{Input, pieces};
use agon_core::PlayerName;
use agon_core::Timestamp;
use agon_games::yahtzee::{Config, Yahtzee};
use agon_games::{Game, Seat, Seed, Viewer};
use agon_wire::erlang::class::Variant;
use agon_wire::erlang::control::{self, Control};
use agon_wire::erlang::decode::{TermLimits, decode};
use agon_wire::erlang::encode::encode;
use agon_wire::erlang::frames::{Frames, Header, frame};
use agon_wire::erlang::handshake::{Acceptor, Cookie, FRAME_MAX, HandshakeStep, digest};
use agon_wire::erlang::refs::{Key, Refs};
use agon_wire::erlang::session::{ErlangLogin, Session, SessionOutput, Speaks};
use agon_wire::erlang::term::{Atom, Pid, Ref, Term};
use agon_wire::erlang::{Password, epmd, read};
use std::sync::Arc;

/// Small, so that inputs reach the limits.
const LIMITS: TermLimits = TermLimits { terms_max: 500, depth_max: 12 };

/// The open request of the session's player.
const REQUEST: &str = "cup:r1m1.1.0.0";

/// A term is read within its bounds, and reads the same after writing.
pub fn term(data: &[u8]) -> bool {
    let Ok(term) = decode(data, LIMITS) else { return false };
    assert!(count(&term) <= LIMITS.terms_max + 1, "{term}");
    let written = encode(&term);
    let again = decode(&written, LIMITS).expect("a written value can be read");
    assert_eq!(encode(&again), written, "{term}");
    assert_eq!(count(&again), count(&term), "{term}");
    let _ = (read(&term), term.to_string(), term.text());
    true
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

/// No node is admitted without a proof that it knows the cookie. The input is two messages.
pub fn handshake(data: &[u8]) -> bool {
    let mut input = Input(data);
    let (first, second) = (input.piece(), input.rest());
    let cookie = Cookie("secret".into());
    let mut acceptor = Acceptor::new(atom("agon@localhost"), 7, cookie.clone(), 77);
    if acceptor.message(first).is_err() {
        return false;
    }
    // `?` stands for the right proof, so that inputs get that far.
    let mut reply = second.to_vec();
    if reply.last() == Some(&b'?') {
        reply.pop();
        reply.extend(digest(&cookie, 77));
    }
    let entered = matches!(acceptor.message(&reply), Ok(HandshakeStep::Done { .. }));
    let proof = reply.get(5..).is_some_and(|proof| proof == digest(&cookie, 77));
    assert!(!entered || proof, "let in with {reply:?}");
    true
}

/// Requests to epmd and its answers; what is read reads the same after writing.
pub fn portmapper(data: &[u8]) -> bool {
    let mut good = false;
    if let Ok(request) = epmd::decode_request(data) {
        good = true;
        // Without the length before it.
        let written = epmd::encode_request(&request);
        let again = epmd::decode_request(&written[2..]).expect("a written value can be read");
        assert_eq!(epmd::encode_request(&again), written, "{request:?}");
    }
    good |= matches!(epmd::decode_registered(data), Ok(Some(_)));
    good |= matches!(epmd::decode_port(data), Ok(Some(_)));
    good
}

/// Frames in any pieces, and the control messages in them.
pub fn frames(data: &[u8]) -> bool {
    let mut input = Input(data);
    let (wide, how) = (input.byte().is_multiple_of(2), input.byte());
    let bytes = input.rest();
    let whole = frames_of(bytes, wide, 255);
    assert_eq!(whole, frames_of(bytes, wide, how), "the cuts decide what the frames are");
    let mut good = false;
    for found in whole.iter().flatten() {
        let Ok(Some(sent)) = control::decode(found, LIMITS) else { continue };
        good = true;
        if let Some(frame) = control::encode(&sent) {
            let again = control::decode(&frame[4..], LIMITS).expect("a written value can be read");
            assert_eq!(format!("{again:?}"), format!("{:?}", Some(&sent)));
        }
        if let Control::Send { message, .. } = sent {
            let _ = read(&message);
        }
    }
    // Bytes after a complete frame are decoded too.
    if whole.iter().all(Option::is_some) {
        let good = frame(Header::Four, |out| out.extend_from_slice(bytes));
        let mut frames = Frames::new(Header::Four, control::FRAME_MAX);
        frames.push(&good);
        frames.push(&frame(Header::Four, |out| out.extend_from_slice(b"next")));
        assert_eq!(frames.take().map(|frame| frame.map(<[u8]>::to_vec)), Some(Ok(bytes.to_vec())));
        assert_eq!(frames.take().map(|frame| frame.map(<[u8]>::to_vec)), Some(Ok(b"next".into())));
    }
    good
}

fn frames_of(bytes: &[u8], wide: bool, how: u8) -> Vec<Option<Vec<u8>>> {
    let header = if wide { Header::Four } else { Header::Two };
    let (mut frames, mut found) = (Frames::new(header, FRAME_MAX), Vec::new());
    for piece in pieces(bytes, how, 64) {
        frames.push(piece);
        while let Some(frame) = frames.take() {
            let broken = frame.is_err();
            found.push(frame.ok().map(<[u8]>::to_vec));
            if broken {
                return found;
            }
        }
    }
    found
}

/// An answer of a player reaches the server at most once, and only for an open request.
pub fn session(data: &[u8]) -> bool {
    let mut input = Input(data);
    let speaks = match input.byte() % 4 {
        0 => Speaks::Class(Variant::Plain),
        1 => Speaks::Class(Variant::Tupled),
        2 => Speaks::Referee { login: reference() },
        _ => Speaks::Queue { password: Password("pw".into()) },
    };
    let (mut session, told) = asked(speaks);
    let mut answers = 0;
    let mut heard = false;
    while !input.is_empty() {
        if input.byte() % 4 == 3 {
            // Lines come from our own server; the session reads or ignores them, whatever they
            // hold.
            let _ = session.line(input.piece(), None, Timestamp::from_ms(1));
            continue;
        }
        let piece = input.piece();
        let Ok(term) = decode(piece, LIMITS) else { continue };
        let term = with_marks(term, &told);
        let Ok(message) = read(&term) else { continue };
        heard = true;
        for output in session.hear(&message, &term, None, Timestamp::from_ms(1)).unwrap_or_default()
        {
            if let SessionOutput::Answer { id, .. } = output {
                answers += usize::from(id.as_str() == REQUEST);
            }
        }
    }
    // One message may hold two answers for the server (keep all dice, then score); only one has
    // this id.
    assert!(answers <= 1, "{answers} answers to one request");
    heard
}

/// Replaces the references and pids in a term by those the player received, in order, because no
/// input could guess them.
fn with_marks(term: Term, told: &[Term]) -> Term {
    fn fill(term: Term, marks: &mut dyn Iterator<Item = Term>) -> Term {
        match term {
            Term::Tuple(items) => {
                Term::Tuple(items.into_iter().map(|item| fill(item, marks)).collect())
            }
            Term::List(items) => {
                Term::List(items.into_iter().map(|item| fill(item, marks)).collect())
            }
            other if other.as_reference().is_some() => marks.next().unwrap_or(other),
            other => other,
        }
    }
    fn collect(term: &Term, into: &mut Vec<Term>) {
        match term {
            Term::Tuple(items) | Term::List(items) => {
                items.iter().for_each(|item| collect(item, into));
            }
            other if other.as_reference().is_some() => into.push(other.clone()),
            _ => {}
        }
    }
    let mut marks = Vec::new();
    told.iter().rev().take(1).for_each(|term| collect(term, &mut marks));
    fill(term, &mut marks.into_iter())
}

/// A player with an open request, and the terms it received.
fn asked(speaks: Speaks) -> (Session<()>, Vec<Term>) {
    let refs = Arc::new(Refs::new(atom("agon@localhost"), 7));
    let login = ErlangLogin {
        pid: Pid { node: atom("eve@box"), id: 91, serial: 0, creation: 3 },
        user: PlayerName::new("eve").expect("a name"),
        spelt: Term::string("eve"),
        password: Password("pw".into()),
        speaks,
    };
    let manager = refs.pid(1);
    let (mut session, _) = Session::new(login, manager, refs, Key::new([7; 8]), 1_000);
    let notice = r#"{"tournament":"cup","game":"yahtzee","commitment":"x"}"#;
    let notice = format!(r#"{{"type":"notice","about":"tournament","data":{notice}}}"#);
    let welcome = r#"{"type":"welcome","account":"eve","active":1,"waiting":0}"#;
    let mut told = Vec::new();
    for (line, written) in [(welcome.to_owned(), None), (notice, None), (question(), Some(()))] {
        let outputs = session.line(line.as_bytes(), written, Timestamp::default()).into_iter();
        told.extend(outputs.filter_map(|output| match output {
            SessionOutput::Tell { term, .. } => Some(term),
            _ => None,
        }));
    }
    (session, told)
}

/// A request as the server writes it.
fn question() -> String {
    let game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(1)).expect("a game");
    let line = serde_json::json!({
        "id": REQUEST, "deadline_ms": 1000, "seat": 0,
        "question": game.question(Seat(0)).expect("a question"),
        "view": game.view(Viewer::Seat(Seat(0))),
        "match": {"tournament": "cup", "id": "r1m1", "round": 1, "players": ["eve", "ann"],
                  "best_of": 3, "won": [0.0, 0.0], "game": 1, "games": []},
    });
    line.to_string().replacen('{', r#"{"type":"request","#, 1)
}

fn reference() -> Ref {
    Ref { node: atom("eve@box"), creation: 3, words: [1, 2, 3].into() }
}

fn atom(name: &'static str) -> Atom {
    Atom::new(name).expect("a short name")
}
