//! How nodes find each other, meet and talk.

use crate::support::{changes, damage};
use crate::terms::{golden, pid, reference, term};
use agon_wire::erlang::control::{self, BadControl, Control, Process};
use agon_wire::erlang::decode::TermLimits;
use agon_wire::erlang::epmd::{self, BadEpmd, Node, Registered, Request};
use agon_wire::erlang::frames::{Frames, Header, TooLong, frame};
use agon_wire::erlang::handshake::{
    Acceptor, Cookie, HandshakeStep, Initiator, Next, NotLetIn, digest, flags,
};
use agon_wire::erlang::term::{Atom, Term};
use proptest::prelude::*;

const CHALLENGE: u32 = 3_405_691_582;

fn cookie() -> Cookie {
    Cookie("secret".into())
}

fn acceptor() -> Acceptor {
    Acceptor::new(Atom::new("agon@localhost").unwrap(), 7, cookie(), CHALLENGE)
}

/// A first message as OTP 25 sends it.
fn name_of(node: &str, flags: u64) -> Vec<u8> {
    let mut out = vec![b'N'];
    out.extend(flags.to_be_bytes());
    out.extend(99u32.to_be_bytes());
    out.extend((node.len() as u16).to_be_bytes());
    out.extend(node.as_bytes());
    out
}

fn reply(cookie: &Cookie, to: u32, challenge: u32) -> Vec<u8> {
    let mut out = vec![b'r'];
    out.extend(challenge.to_be_bytes());
    out.extend(digest(cookie, to));
    out
}

#[test]
fn the_proof_is_the_one_otp_makes() {
    let (_, bytes) = golden().into_iter().find(|(text, _)| text == "digest").expect("a digest");
    assert_eq!(digest(&cookie(), CHALLENGE).to_vec(), bytes);
    assert_eq!(format!("{:?}", cookie()), "…");
}

#[test]
fn a_node_with_the_cookie_is_let_in() {
    let mut acceptor = acceptor();
    let Ok(HandshakeStep::Send(sent)) = acceptor.message(&name_of("eve@box", flags::OFFERED))
    else {
        panic!("not sent")
    };
    let mut frames = Frames::new(Header::Two, 100);
    frames.push(&sent);
    assert_eq!(frames.take().unwrap().unwrap(), b"sok");
    let challenge = frames.take().unwrap().unwrap();
    assert_eq!(challenge[0], b'N');
    assert_eq!(challenge[1..9], flags::OFFERED.to_be_bytes());
    assert_eq!(challenge[9..13], CHALLENGE.to_be_bytes());
    assert_eq!(challenge[13..17], 7u32.to_be_bytes());
    assert_eq!(&challenge[19..], b"agon@localhost");
    let Ok(HandshakeStep::Done { send, peer }) = acceptor.message(&reply(&cookie(), CHALLENGE, 5))
    else {
        panic!("not in")
    };
    assert_eq!(send[..3], [0, 17, b'a']);
    assert_eq!(send[3..], digest(&cookie(), 5));
    assert_eq!((peer.node.as_str(), peer.creation), ("eve@box", 99));
    assert_eq!(flags::OFFERED & 1, 0, "hidden");
}

fn initiator(cookie: Cookie, wanted: &str) -> Initiator {
    let atom = |text: &str| Atom::new(text).unwrap();
    Initiator::new(atom("agon@localhost"), 7, cookie, 42, atom(wanted))
}

/// Has two nodes meet, both of them ours; what the one that connects makes of it.
fn meet(mut initiator: Initiator, status: &[u8]) -> Result<Next, NotLetIn> {
    let eve = Atom::new("eve@box").unwrap();
    let mut acceptor = Acceptor::new(eve, 99, cookie(), CHALLENGE);
    let Ok(HandshakeStep::Send(sent)) = acceptor.message(&initiator.name()[2..]) else {
        panic!("not let in")
    };
    let mut frames = Frames::new(Header::Two, 100);
    frames.push(&sent);
    assert_eq!(frames.take().unwrap().unwrap(), b"sok");
    let Next::Send(first) = initiator.message(status)? else { panic!("too early") };
    assert_eq!(first.is_empty(), status != b"salive");
    let challenge = frames.take().unwrap().unwrap().to_vec();
    let Next::Send(reply) = initiator.message(&challenge)? else { panic!("too early") };
    let send = match acceptor.message(&reply[2..])? {
        HandshakeStep::Done { send, peer } => {
            assert_eq!((peer.node.as_str(), peer.creation), ("agon@localhost", 7));
            send
        }
        HandshakeStep::Send(_) => panic!("not done"),
    };
    initiator.message(&send[2..])
}

#[test]
fn a_node_is_connected_to_by_the_same_handshake() {
    for status in [&b"sok"[..], b"sok_simultaneous", b"salive"] {
        let Ok(Next::Done(peer)) = meet(initiator(cookie(), "eve@box"), status) else {
            panic!("not connected after {status:?}")
        };
        assert_eq!((peer.node.as_str(), peer.creation), ("eve@box", 99));
    }
    for status in [&b"snok"[..], b"snot_allowed", b"s"] {
        let refused = meet(initiator(cookie(), "eve@box"), status);
        assert!(matches!(refused, Err(NotLetIn::Refused { .. })), "{refused:?}");
    }
    let other = meet(initiator(cookie(), "ann@box"), b"sok");
    assert!(matches!(other, Err(NotLetIn::Other { .. })), "{other:?}");
    let wrong = meet(initiator(Cookie("other".into()), "eve@box"), b"sok");
    assert!(matches!(wrong, Err(NotLetIn::WrongCookie { .. })), "{wrong:?}");
    let mut one = initiator(cookie(), "eve@box");
    assert_eq!(one.message(b"x"), Err(NotLetIn::Malformed));
    one.message(b"sok").unwrap();
    assert_eq!(one.message(b"N12"), Err(NotLetIn::Malformed));
}

#[test]
fn others_are_not() {
    let wrong = Cookie("other".into());
    let mut one = acceptor();
    one.message(&name_of("eve@box", flags::OFFERED)).expect("a name");
    let error = one.message(&reply(&wrong, CHALLENGE, 5)).expect_err("a wrong cookie");
    assert!(error.to_string().contains("-setcookie"), "{error}");
    assert!(!error.to_string().contains("secret"));
    // The right digest for another challenge is wrong for this one.
    let mut one = acceptor();
    one.message(&name_of("eve@box", flags::OFFERED)).expect("a name");
    assert!(matches!(
        one.message(&reply(&cookie(), CHALLENGE + 1, 5)),
        Err(NotLetIn::WrongCookie { .. })
    ));
    // OTP 25 may leave out what it takes for granted.
    assert!(acceptor().message(&name_of("eve@box", flags::MANDATORY_25)).is_ok());
    let old = acceptor()
        .message(&name_of("eve@box", flags::OFFERED & !flags::MANDATORY_25 & !flags::BIG_CREATION));
    assert!(matches!(old, Err(NotLetIn::TooOld { missing: flags::BIG_CREATION, .. })));
    assert!(matches!(acceptor().message(b"n\0\x05\0\0\0\0eve@box"), Err(NotLetIn::TooOld { .. })));
    for bad in [
        &b""[..],
        b"N",
        b"x",
        b"n\0\x05",
        &name_of("", flags::OFFERED),
        &name_of("eve", flags::OFFERED),
    ] {
        assert_eq!(acceptor().message(bad), Err(NotLetIn::Malformed), "{bad:?}");
    }
}

#[test]
fn epmd_speaks_both_ways() {
    let node = Node { name: "agon".into(), port: 4_370, hidden: true, versions: (6, 6) };
    let requests =
        [Request::Alive(node.clone()), Request::PortPlease("eve".into()), Request::Names];
    for request in requests {
        let bytes = epmd::encode_request(&request);
        assert_eq!(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])), bytes.len() - 2);
        assert_eq!(epmd::decode_request(&bytes[2..]), Ok(request));
    }
    let alive = epmd::encode_request(&Request::Alive(node.clone()));
    assert_eq!(
        alive,
        [&[0, 17, 120, 0x11, 0x12, 72, 0, 0, 6, 0, 6, 0, 4], &b"agon"[..], &[0, 0]].concat()
    );
    for registered in [Registered::Ok { creation: 70_000 }, Registered::Refused] {
        let bytes = epmd::encode_registered(registered);
        for cut in 0..bytes.len() {
            assert_eq!(epmd::decode_registered(&bytes[..cut]), Ok(None));
        }
        assert_eq!(epmd::decode_registered(&bytes), Ok(Some(registered)));
    }
    assert_eq!(epmd::decode_registered(&[121, 0, 0, 3]), Ok(Some(Registered::Ok { creation: 3 })));
    assert_eq!(epmd::decode_port(&epmd::encode_port(Some(&node))), Ok(Some(node.clone())));
    assert_eq!(epmd::decode_port(&epmd::encode_port(None)), Ok(None));
    assert_eq!(epmd::encode_names(4_369, [&node]), b"\0\0\x11\x11name agon at port 4370\n");
    assert_eq!(epmd::decode_request(&[1]), Err(BadEpmd::Tag(1)));
    assert_eq!(epmd::decode_request(&[120, 1, 2]), Err(BadEpmd::Malformed));
    assert_eq!(epmd::decode_request(&[122]), Err(BadEpmd::Malformed));
}

#[test]
fn frames_have_bounds_and_ticks_are_empty() {
    let mut frames = Frames::new(Header::Four, 10);
    frames.push(&control::tick());
    assert_eq!(frames.take(), Some(Ok(&b""[..])));
    assert_eq!(control::decode(b"", TermLimits::default()), Ok(None));
    frames.push(&[0, 0, 0, 11]);
    let error = TooLong { announced: 11, max: 10 };
    assert_eq!(frames.take(), Some(Err(error)));
    frames.push(&control::tick());
    assert_eq!(frames.take(), Some(Err(error)));
}

#[test]
fn bytes_after_the_handshake_have_wider_lengths() {
    let mut frames = Frames::new(Header::Two, 10);
    frames.push(&[0, 1, b'x', 0, 0, 0, 2, b'y']);
    assert_eq!(frames.take(), Some(Ok(&b"x"[..])));
    let mut frames = frames.with(Header::Four, 100);
    assert_eq!(frames.take(), None);
    frames.push(b"z");
    assert_eq!(frames.take(), Some(Ok(&b"yz"[..])));
}

#[test]
fn unknown_control_messages_are_ignored_and_malformed_ones_reported() {
    let say = |fields: Vec<Term>, message: Option<Term>| {
        let mut bytes = vec![112];
        agon_wire::erlang::encode::encode_to(&mut bytes, &Term::Tuple(fields));
        message.iter().for_each(|term| agon_wire::erlang::encode::encode_to(&mut bytes, term));
        control::decode(&bytes, TermLimits::default())
    };
    assert_eq!(say(vec![Term::Int(29)], None), Ok(Some(Control::Other { operation: 29 })));
    assert_eq!(say(vec![Term::Int(22), Term::nil()], None), Err(BadControl::Malformed));
    assert_eq!(say(vec![], None), Err(BadControl::Malformed));
    let pid = agon_wire::erlang::term::Pid {
        node: Atom::new("a@b").unwrap(),
        id: 1,
        serial: 0,
        creation: 1,
    };
    let send = vec![Term::Int(2), Term::atom(""), pid.into()];
    assert_eq!(say(send.clone(), None), Err(BadControl::Malformed), "no message");
    assert!(say(send, Some(Term::Int(1))).is_ok());
    assert_eq!(control::decode(&[131, 68], TermLimits::default()), Err(BadControl::Malformed));
}

fn process() -> impl Strategy<Value = Process> {
    prop_oneof![pid().prop_map(Process::Pid), crate::terms::atom().prop_map(Process::Name),]
}

fn any_control() -> impl Strategy<Value = Control> {
    prop_oneof![
        (pid(), process(), term()).prop_map(|(from, to, message)| Control::Send {
            from: Some(from),
            to,
            message
        }),
        (pid(), term()).prop_map(|(to, message)| {
            Control::Send { from: None, to: Process::Pid(to), message }
        }),
        (pid(), pid()).prop_map(|(from, to)| Control::Link { from, to }),
        (1..u64::MAX, pid(), pid()).prop_map(|(id, from, to)| Control::Unlink { id, from, to }),
        (1..u64::MAX, pid(), pid()).prop_map(|(id, from, to)| Control::Unlinked { id, from, to }),
        (pid(), pid(), term()).prop_map(|(from, to, reason)| Control::Exit { from, to, reason }),
        (pid(), process(), reference()).prop_map(|(from, to, reference)| Control::Monitor {
            from,
            to,
            reference
        }),
        (pid(), process(), reference()).prop_map(|(from, to, reference)| Control::Demonitor {
            from,
            to,
            reference
        }),
        (process(), pid(), reference(), term()).prop_map(|(from, to, reference, reason)| {
            Control::Down { from, to, reference, reason }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn control_messages_survive(control in any_control(), changes in changes()) {
        let bytes = control::encode(&control).expect("something to send");
        prop_assert_eq!(control::decode(&bytes[4..], TermLimits::default()), Ok(Some(control)));
        let _ = control::decode(&damage(bytes[4..].into(), &changes), TermLimits::default());
    }

    #[test]
    fn pieces_of_frames_do_not_matter(
        all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..8),
        cuts in prop::collection::vec(1usize..9, 1..20),
        wide: bool,
    ) {
        let header = if wide { Header::Four } else { Header::Two };
        let framed = |one: &Vec<u8>| frame(header, |out| out.extend(one));
        let bytes: Vec<u8> = all.iter().flat_map(framed).collect();
        let mut frames = Frames::new(header, 20);
        let (mut taken, mut rest, mut cuts) = (Vec::new(), &bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            frames.push(piece);
            while let Some(frame) = frames.take() {
                taken.push(frame.expect("short").to_vec());
            }
            rest = tail;
        }
        prop_assert_eq!(taken, all);
    }

    #[test]
    fn hostile_input_never_panics(
        changes in changes(),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut acceptor = acceptor();
        if acceptor.message(&damage(name_of("eve@box", flags::OFFERED), &changes)).is_ok() {
            let _ = acceptor.message(&damage(reply(&cookie(), CHALLENGE, 5), &changes));
        }
        let node = Node { name: "agon".into(), port: 1, hidden: false, versions: (5, 6) };
        let alive = epmd::encode_request(&Request::Alive(node.clone()));
        let _ = epmd::decode_request(&damage(alive[2..].into(), &changes));
        let _ = epmd::decode_port(&damage(epmd::encode_port(Some(&node)), &changes));
        let _ = (epmd::decode_request(&noise), epmd::decode_port(&noise));
        let _ = epmd::decode_registered(&noise);
        let _ = control::decode(&noise, TermLimits::default());
    }
}
