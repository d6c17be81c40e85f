//! The framer of JSON values: against another reader of streams, in all pieces, at its limits.

use agon_wire::values::{BadValues, Limits, Values};
use proptest::prelude::*;
use serde_json::value::RawValue;

/// All values of a stream that comes in these pieces and then ends, and how it ended.
fn framed(pieces: &[&[u8]], limits: Limits) -> (Vec<String>, Option<BadValues>) {
    let mut values = Values::new(limits);
    let mut taken = Vec::new();
    for piece in pieces {
        values.push(piece);
        while let Some(value) = values.take() {
            match value {
                Ok(value) => taken.push(value.to_owned()),
                Err(bad) => return (taken, Some(bad)),
            }
        }
    }
    match values.finish() {
        Some(Ok(value)) => taken.push(value.to_owned()),
        Some(Err(bad)) => return (taken, Some(bad)),
        None => assert!(!values.is_inside()),
    }
    (taken, None)
}

fn whole(stream: &[u8]) -> (Vec<String>, Option<BadValues>) {
    framed(&[stream], DEEP)
}

const DEEP: Limits = Limits { bytes_max: 1 << 20, depth_max: 1 << 20 };

/// The values that serde_json reads from a stream, and whether it ends in an error.
fn by_serde(stream: &[u8]) -> (Vec<String>, bool) {
    let mut taken = Vec::new();
    for value in serde_json::Deserializer::from_slice(stream).into_iter::<Box<RawValue>>() {
        match value {
            Ok(value) => taken.push(value.get().to_owned()),
            Err(_) => return (taken, true),
        }
    }
    (taken, false)
}

#[test]
fn values_come_apart_with_and_without_space() {
    let (values, bad) = whole(b"  \"a\"\"b\"[1,2]{}\n 12[true]null\"c\\\"]\" -0.5e+3 ");
    let expected =
        ["\"a\"", "\"b\"", "[1,2]", "{}", "12", "[true]", "null", "\"c\\\"]\"", "-0.5e+3"];
    assert_eq!((values.as_slice(), bad), (expected.map(str::to_owned).as_slice(), None));
}

#[test]
fn a_value_is_there_as_soon_as_its_last_byte_is() {
    let mut values = Values::new(Limits::default());
    for (piece, expected) in [("\"vo", None), ("id", None), ("\"", Some("\"void\""))] {
        values.push(piece.as_bytes());
        assert_eq!(values.take().map(Result::unwrap), expected);
    }
    assert!(!values.is_inside());
    values.push(b" [[1,\n 2],[3,4]");
    assert!(values.take().is_none() && values.is_inside());
    assert!(values.flush().is_none(), "an array is never whole before its last byte");
    values.push(b"]");
    assert_eq!(values.take().unwrap().unwrap(), "[[1,\n 2],[3,4]]");
}

#[test]
fn silence_ends_numbers_and_literals_only() {
    for (text, whole) in [
        ("7", true),
        ("-0", true),
        ("1.5", true),
        ("2e9", true),
        ("true", true),
        ("-", false),
        ("1.", false),
        ("2e", false),
        ("tru", false),
        ("\"a", false),
        ("[1", false),
        ("", false),
    ] {
        let mut values = Values::new(Limits::default());
        values.push(text.as_bytes());
        assert!(values.take().is_none(), "{text}");
        assert_eq!(values.flush().map(Result::unwrap), whole.then_some(text), "{text}");
        let rest = (!whole && !text.is_empty()).then_some(Err(BadValues::Unfinished));
        assert_eq!(values.finish(), rest, "{text}");
    }
}

#[test]
fn invalid_json_is_reported_at_once() {
    let mut values = Values::new(Limits::default());
    values.push(b"v");
    assert_eq!(values.take(), Some(Err(BadValues::NotJson(b'v'))));
    values.push(b"oid \"void\"");
    assert_eq!(values.take(), Some(Err(BadValues::NotJson(b'v'))));
    assert_eq!(values.finish(), Some(Err(BadValues::NotJson(b'v'))));
    assert_eq!(values.rest(), b"v");
    assert_eq!(values.flush(), None);
    assert_eq!(BadValues::NotJson(b'v').to_string(), "not JSON: 'v' is out of place");
    assert_eq!(BadValues::NotJson(7).to_string(), "not JSON: byte 7 is out of place");
    assert_eq!(whole(b"\"\xff\"").1, Some(BadValues::NotUtf8));
}

#[test]
fn limits_hold_to_the_byte() {
    let limits = Limits { bytes_max: 6, depth_max: 2 };
    let space = [b' '; 5_000];
    assert_eq!(framed(&[&space, b"\"1234\"", &space], limits), (vec!["\"1234\"".into()], None));
    assert_eq!(framed(&[b"\"12345\""], limits).1, Some(BadValues::TooLong(6)));
    assert_eq!(framed(&[b"1234567"], limits).1, Some(BadValues::TooLong(6)));
    assert_eq!(framed(&[b"[     ]"], limits).1, Some(BadValues::TooLong(6)));
    assert_eq!(framed(&[b"[[1]]"], limits).1, None);
    assert_eq!(framed(&[b"[{}]"], limits).1, None);
    assert_eq!(framed(&[b"[[{"], limits).1, Some(BadValues::TooDeep(2)));
}

#[test]
fn a_slow_drip_keeps_no_more_than_one_value() {
    let mut values = Values::new(Limits { bytes_max: 100, depth_max: 4 });
    for round in 0..2_000 {
        for byte in b"   [1, \"two\"]\n" {
            values.push(&[*byte]);
            if let Some(value) = values.take() {
                assert_eq!(value, Ok("[1, \"two\"]"), "{round}");
            }
            assert!(values.rest().len() <= 100);
        }
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        "[\\\\\"/\\x00-\\x1f]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"]{0,3}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Values with more or less between them, some printed over several lines.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let one = (json(), any::<bool>(), "[ \n\t]{0,3}").prop_map(|(value, pretty, after)| {
        let text =
            if pretty { serde_json::to_string_pretty(&value) } else { Ok(value.to_string()) };
        text.unwrap() + &after
    });
    prop::collection::vec(one, 0..6).prop_map(|all| all.concat().into_bytes())
}

/// A stream with some bytes changed, left out or put in.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(&b"[]{}\",:\\ \n0123456789.eE+-truefalsn\x80\xc3"[..]),
    ];
    let change = (any::<prop::sample::Index>(), byte, 0..3u8);
    (stream(), prop::collection::vec(change, 0..4)).prop_map(|(mut stream, changes)| {
        for (at, byte, how) in changes {
            let at = at.index(stream.len() + 1);
            match how {
                0 => stream.insert(at, byte),
                1 if at < stream.len() => stream[at] = byte,
                2 if at < stream.len() => drop(stream.remove(at)),
                _ => {}
            }
        }
        stream
    })
}

fn cut<'a>(mut stream: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for cut in cuts.iter().cycle() {
        if stream.is_empty() {
            break;
        }
        let (piece, rest) = stream.split_at((*cut).min(stream.len()));
        pieces.push(piece);
        stream = rest;
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn another_reader_of_streams_agrees(stream in damaged()) {
        let (values, bad) = whole(&stream);
        let (expected, error) = by_serde(&stream);
        prop_assert_eq!((&values, bad.is_some()), (&expected, error), "{:?}", bad);
    }

    #[test]
    fn pieces_do_not_matter(
        stream in damaged(),
        cuts in prop::collection::vec(1usize..9, 1..20),
        bytes_max in 1usize..80,
        depth_max in 1usize..5,
    ) {
        let limits = Limits { bytes_max, depth_max };
        let expected = framed(&[&stream], limits);
        prop_assert_eq!(&framed(&cut(&stream, &cuts), limits), &expected);
        prop_assert_eq!(&framed(&cut(&stream, &[1]), limits), &expected);
        prop_assert!(expected.0.iter().all(|value| value.len() <= limits.bytes_max));
    }
}
