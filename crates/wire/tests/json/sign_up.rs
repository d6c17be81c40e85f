//! Who a connection says it is.

use crate::support::changes;
use agon_wire::fish::Vocabulary;
use agon_wire::sign_up::{BadSignUp, Newcomer};
use agon_wire::values::{BadStream, Limits};
use agon_wire::{fish, trains};
use proptest::prelude::*;

/// The first value of what comes byte by byte and then stops, and what is left after it.
fn first(text: &[u8], lenient: bool) -> (Option<Result<String, BadStream>>, Vec<u8>) {
    let mut newcomer = Newcomer::new(Limits::default(), lenient);
    let (mut taken, mut rest) = (None, text);
    while let Some((byte, after)) = rest.split_first() {
        newcomer.push(&[*byte]);
        rest = after;
        taken = newcomer.take();
        if taken.is_some() {
            break;
        }
    }
    let taken = taken.or_else(|| newcomer.flush());
    let mut values = newcomer.into_values();
    values.push(rest);
    let mut left = Vec::new();
    while let Some(Ok(value)) = values.take() {
        left.extend_from_slice(value.as_bytes());
        left.push(b' ');
    }
    (taken, left)
}

#[test]
fn names_without_quotes_are_read_only_where_that_is_allowed() {
    assert_eq!(first(b" \"eve\"[1]", false), (Some(Ok("\"eve\"".into())), b"[1] ".to_vec()));
    assert_eq!(first(b" \"eve\"[1]", true), (Some(Ok("\"eve\"".into())), b"[1] ".to_vec()));
    assert_eq!(first(b"eve", false).0, Some(Err(BadStream::NotJson(b'e'))));
    assert_eq!(first(b"\n eve7", true).0, Some(Ok("\"eve7\"".into())));
    assert_eq!(first(b"eve\n[1]", true), (Some(Ok("\"eve\"".into())), b"[1] ".to_vec()));
    assert_eq!(first(b"eve\"void\"", true), (Some(Ok("\"eve\"".into())), b"\"void\" ".to_vec()));
    assert_eq!(first(&[b'x'; 500], true).0, Some(Err(BadStream::TooLong(64))));
    assert_eq!(first(b"   ", true).0, None);
}

#[test]
fn the_first_value_tells_the_vocabulary() {
    let message = r#"{"type":"signup_request","value":"Zoë 7"}"#;
    let (vocabulary, name) = fish::sign_up(message, false).expect("a sign-up");
    assert_eq!((vocabulary, name.as_str()), (Vocabulary::Message, "Zoë 7"));
    let (vocabulary, name) = fish::sign_up("\"eve\"", false).expect("a sign-up");
    assert_eq!((vocabulary, name.as_str()), (Vocabulary::Call, "eve"));
}

#[test]
fn wrong_names_say_why() {
    let fish = |text: &str| fish::sign_up(text, false).unwrap_err();
    assert!(matches!(fish("\"abcdefghijklm\""), BadSignUp::NotLetters { max: 12, .. }));
    assert!(matches!(fish("\"\""), BadSignUp::NotLetters { .. }));
    assert!(matches!(fish("\"eve7\""), BadSignUp::NotLetters { .. }));
    assert_eq!(fish::sign_up("\"eve7\"", true).unwrap().1.as_str(), "eve7");
    for text in ["7", "[\"eve\"]", "null", r#"{"type":"signup_request"}"#, "{}"] {
        assert!(matches!(fish(text), BadSignUp::NotASignUp(_)), "{text}");
    }
    assert!(matches!(
        fish(r#"{"type":"tournament_ready","value":"eve"}"#),
        BadSignUp::NotASignUp(_)
    ));
    assert!(matches!(fish(r#"{"type":"signup_request","value":""}"#), BadSignUp::NotAName(_)));
    let trains = |text: &str| trains::sign_up(text, false);
    assert!(trains(&format!("\"{}\"", "a".repeat(50))).is_ok());
    assert!(matches!(
        trains(&format!("\"{}\"", "a".repeat(51))),
        Err(BadSignUp::NotLetters { max: 50, .. })
    ));
    assert!(matches!(trains("[\"eve\"]"), Err(BadSignUp::NotASignUp(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn no_first_value_panics(changes in changes(), lenient: bool, which in 0..3usize) {
        let texts = [r#"{"type":"signup_request","value":"eve"}"#, "\"eve\"", "eve\n"];
        let text = crate::support::damage(texts[which].into(), &changes);
        if let (Some(Ok(first)), _) = first(&text, lenient) {
            let _ = fish::sign_up(&first, lenient);
            let _ = trains::sign_up(&first, lenient);
        }
    }
}
