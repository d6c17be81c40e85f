//! Terms: against bytes that OTP 25 wrote, round trips, damage, bounds.

use crate::support::{changes, damage};
use agon_wire::erlang::decode::{BadTerm, TermLimits, decode, decode_first};
use agon_wire::erlang::encode::encode;
use agon_wire::erlang::term::{Atom, Big, Pid, Ref, Term, Words};
use proptest::prelude::*;

/// Bytes from a file of `text<tab>hex` lines.
pub(crate) fn golden() -> Vec<(String, Vec<u8>)> {
    let line = |line: &str| {
        let (text, hex) = line.split_once('\t').expect("a tab");
        let bytes = (0..hex.len()).step_by(2);
        let bytes =
            bytes.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect();
        (text.to_owned(), bytes)
    };
    include_str!("../data/erlang/otp25.txt").lines().map(line).collect()
}

#[test]
fn terms_written_by_otp_are_parsed() {
    let mut run = 0;
    for (text, bytes) in golden() {
        if text == "digest" {
            continue;
        }
        let term = decode(&bytes, TermLimits::default()).expect(&text);
        assert_eq!(decode(&encode(&term), TermLimits::default()), Ok(term.clone()), "{text}");
        match &*text {
            "pid" => assert_eq!(term.to_string(), "<nonode@nohost.9.0>"),
            "ref" => assert_eq!(term.as_reference().expect("a reference").words.len(), 3),
            "port" => assert!(matches!(term, Term::Other(_))),
            "long" => assert_eq!(term.as_tuple().map(<[Term]>::len), Some(300)),
            "float" => assert_eq!(term, Term::Float(1.5)),
            text => assert_eq!(term.to_string(), text),
        }
        run += 1;
    }
    assert!(run > 30);
}

#[test]
fn numbers_below_zero_survive_in_lists() {
    let card = Term::List([-1i64, 0, 25, 255, 256].map(Term::Int).into());
    let bytes = encode(&card);
    assert_eq!(bytes[..6], [131, 108, 0, 0, 0, 5]);
    assert_eq!(decode(&bytes, TermLimits::default()), Ok(card));
}

#[test]
fn strings_are_lists_of_code_points() {
    for text in ["", "eve", "Zoë", "αβγ", "\u{1f3b2}"] {
        let term = Term::string(text);
        assert_eq!(term.text().as_deref(), Some(text));
        let read = decode(&encode(&term), TermLimits::default()).expect("a term");
        assert_eq!(read.text().as_deref(), Some(text));
    }
    assert_eq!(encode(&Term::string("")), [131, 106]);
    assert_eq!(Term::Binary("Zoë".into()).text().as_deref(), Some("Zoë"));
    assert_eq!(Term::List(vec![Term::Int(0x11_0000)]).text(), None, "beyond the last code point");
    assert_eq!(Term::List(vec![Term::Int(-1)]).text(), None);
    assert_eq!(Term::Int(7).text(), None);
    let long = Term::Bytes(vec![7; 70_000]);
    let read =
        decode(&encode(&long), TermLimits { terms_max: 100_000, depth_max: 4 }).expect("a list");
    assert_eq!(read.ints().map(Iterator::count), Some(70_000));
}

#[test]
fn announced_lengths_are_not_believed() {
    for (tag, more) in [(105u8, 0), (108, 0), (109, 0), (111, 1), (116, 0), (77, 1), (112, 0)] {
        let mut bytes = vec![131, tag, 0xff, 0xff, 0xff, 0xff];
        bytes.extend(vec![1; more]);
        let error = decode(&bytes, TermLimits::default()).expect_err("a hollow term");
        assert!(matches!(error, BadTerm::Cut | BadTerm::TooMany(_)), "{tag}: {error}");
    }
}

#[test]
fn bounds_hold() {
    let nested = |depth: usize| {
        let mut term = Term::Int(1);
        (0..depth).for_each(|_| term = Term::tuple([std::mem::replace(&mut term, Term::nil())]));
        encode(&term)
    };
    let limits = TermLimits { terms_max: 100, depth_max: 8 };
    assert!(decode(&nested(8), limits).is_ok());
    assert_eq!(decode(&nested(9), limits), Err(BadTerm::TooDeep(8)));
    assert!(decode(&encode(&Term::List(vec![Term::nil(); 98])), limits).is_ok());
    let many = encode(&Term::List(vec![Term::nil(); 99]));
    assert_eq!(decode(&many, limits), Err(BadTerm::TooMany(100)));
    assert_eq!(decode(&[131], limits), Err(BadTerm::Cut));
    assert_eq!(decode(&[130, 97, 1], limits), Err(BadTerm::Version(130)));
    assert_eq!(decode(&[131, 97, 1, 5], limits), Err(BadTerm::Trailing(1)));
    // Compressed, from the cache of atoms, local to a node, from the future.
    for tag in [80, 82, 121, 0, 255] {
        assert_eq!(decode(&[131, tag, 0, 0, 0, 0], limits), Err(BadTerm::Tag(tag)));
    }
    assert_eq!(
        decode(&[131, 70, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0], limits),
        Err(BadTerm::Malformed("float"))
    );
    assert_eq!(
        decode(&[131, 90, 0, 0, 119, 1, 97, 0, 0, 0, 0], limits),
        Err(BadTerm::Malformed("reference"))
    );
}

pub(crate) fn atom() -> impl Strategy<Value = Atom> {
    "\\PC{0,6}".prop_map(|name| Atom::new(name).expect("short"))
}

pub(crate) fn pid() -> impl Strategy<Value = Pid> {
    (atom(), any::<[u32; 3]>()).prop_map(|(node, [id, serial, creation])| Pid {
        node,
        id,
        serial,
        creation,
    })
}

pub(crate) fn reference() -> impl Strategy<Value = Ref> {
    (atom(), any::<u32>(), prop::collection::vec(any::<u32>(), 1..=5)).prop_map(
        |(node, creation, words)| {
            let words = Words::new(&words).expect("one to five");
            Ref { node, creation, words }
        },
    )
}

pub(crate) fn term() -> impl Strategy<Value = Term> {
    let big = (any::<bool>(), prop::collection::vec(any::<u8>(), 9..300), 1..=255u8);
    let leaf = prop_oneof![
        any::<i64>().prop_map(Term::Int),
        (-300i64..300).prop_map(Term::Int),
        big.prop_map(|(negative, mut digits, last)| {
            digits.push(last);
            Term::Big(Big { negative, digits })
        }),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Term::Float),
        atom().prop_map(Term::Atom),
        pid().prop_map(Term::Pid),
        reference().prop_map(Term::Ref),
        prop::collection::vec(any::<u8>(), 1..20).prop_map(Term::Bytes),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Term::Binary),
        Just(Term::nil()),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let items = || prop::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            items().prop_map(Term::Tuple),
            items().prop_map(Term::List),
            prop::collection::vec((inner.clone(), inner.clone()), 0..3).prop_map(Term::Map),
            (prop::collection::vec(inner.clone(), 1..4), atom())
                .prop_map(|(items, end)| Term::Improper(items, Box::new(Term::Atom(end)))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn terms_survive(term in term(), after in prop::collection::vec(any::<u8>(), 0..4)) {
        let mut bytes = encode(&term);
        prop_assert_eq!(decode(&bytes, TermLimits::default()), Ok(term.clone()));
        bytes.extend(&after);
        prop_assert_eq!(decode_first(&bytes, TermLimits::default()), Ok((term, &after[..])));
    }

    #[test]
    fn damaged_terms_do_not_panic(term in term(), changes in changes()) {
        let bytes = damage(encode(&term), &changes);
        if let Ok(term) = decode(&bytes, TermLimits::default()) {
            let _ = (term.to_string(), term.text(), agon_wire::erlang::read(&term));
            prop_assert_eq!(decode(&encode(&term), TermLimits::default()), Ok(term));
        }
    }

    #[test]
    fn noise_does_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        bytes.insert(0, 131);
        let _ = decode(&bytes, TermLimits::default());
    }
}
