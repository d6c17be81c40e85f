//! Sign-ups: the names that connections send.

use crate::support::changes;
use agon_wire::fish::Vocabulary;
use agon_wire::sign_up::{BadSignUp, Newcomer};
use agon_wire::values::{BadValues, Limits};
use agon_wire::{fish, trains};
use proptest::prelude::*;

/// The first value of what comes byte by byte and then stops, and what is left after it.
fn first(text: &[u8], strict: bool) -> (Option<Result<String, BadSignUp>>, Vec<u8>) {
    let mut newcomer = Newcomer::new(Limits::default(), strict);
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
fn names_may_lack_quotes_unless_names_are_strict() {
    let eve = || Some(Ok("\"eve\"".to_owned()));
    for strict in [false, true] {
        assert_eq!(first(b" \"eve\"[1]", strict), (eve(), b"[1] ".to_vec()));
        assert_eq!(first(b"   ", strict).0, None);
        let long = first(&[b'x'; 500], strict).0;
        assert_eq!(long, Some(Err(BadSignUp::Stream(BadValues::TooLong(64)))));
        assert!(matches!(first(b"?", strict).0, Some(Err(BadSignUp::Stream(_)))));
    }
    assert_eq!(first(b"eve", true).0, Some(Err(BadSignUp::NotASignUp("eve".into()))));
    assert_eq!(first(b"\n eve7", false).0, Some(Ok("\"eve7\"".into())));
    assert_eq!(first(b"my_bot-2\n", false).0, Some(Ok("\"my_bot-2\"".into())));
    assert_eq!(first(b"eve\n[1]", false), (eve(), b"[1] ".to_vec()));
    assert_eq!(first(b"eve\"void\"", false), (eve(), b"\"void\" ".to_vec()));
}

#[test]
fn http_request_is_no_name() {
    for strict in [false, true] {
        for request in ["GET / HTTP/1.1\r\n\r\n", "POST /api HTTP/1.1\r\n", "HEAD", "OPTIONS * "] {
            assert_eq!(
                first(request.as_bytes(), strict).0,
                Some(Err(BadSignUp::Http)),
                "{request}"
            );
        }
    }
    assert_eq!(first(b"Get ", false).0, Some(Ok("\"Get\"".into())));
    assert_eq!(first(b"\"GET\"", false).0, Some(Ok("\"GET\"".into())));
}

#[test]
fn the_first_value_tells_the_vocabulary() {
    let message = r#"{"type":"signup_request","value":"Zoë 7"}"#;
    let (vocabulary, name) = fish::sign_up(message, true).expect("a sign-up");
    assert_eq!((vocabulary, name.as_str()), (Vocabulary::Message, "Zoë 7"));
    let (vocabulary, name) = fish::sign_up("\"eve\"", true).expect("a sign-up");
    assert_eq!((vocabulary, name.as_str()), (Vocabulary::Call, "eve"));
}

#[test]
fn wrong_names_say_why() {
    let fish = |text: &str| fish::sign_up(text, true).unwrap_err();
    assert!(matches!(fish("\"abcdefghijklm\""), BadSignUp::NotLetters { max: 12, .. }));
    assert!(matches!(fish("\"\""), BadSignUp::NotLetters { .. }));
    assert!(matches!(fish("\"eve7\""), BadSignUp::NotLetters { .. }));
    for (text, name) in
        [("eve7", "eve7"), ("Player 1", "Player 1"), (" a-rather-long-name ", "a-rather-long-name")]
    {
        let text = format!("{text:?}");
        assert_eq!(fish::sign_up(&text, false).unwrap().1.as_str(), name);
        assert_eq!(trains::sign_up(&text, false).unwrap().as_str(), name);
        assert!(matches!(trains::sign_up(&text, true), Err(BadSignUp::NotLetters { .. })));
    }
    assert!(matches!(fish::sign_up("\"\"", false), Err(BadSignUp::NotAName(_))));
    for text in ["7", "[\"eve\"]", "null", r#"{"type":"signup_request"}"#, "{}"] {
        assert!(matches!(fish(text), BadSignUp::NotASignUp(_)), "{text}");
    }
    assert!(matches!(
        fish(r#"{"type":"tournament_ready","value":"eve"}"#),
        BadSignUp::NotASignUp(_)
    ));
    assert!(matches!(fish(r#"{"type":"signup_request","value":""}"#), BadSignUp::NotAName(_)));
    let trains = |text: &str| trains::sign_up(text, true);
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
    fn no_first_value_panics(changes in changes(), strict: bool, which in 0..3usize) {
        let texts = [r#"{"type":"signup_request","value":"eve"}"#, "\"eve\"", "eve\n"];
        let text = crate::support::damage(texts[which].into(), &changes);
        if let (Some(Ok(first)), _) = first(&text, strict) {
            let _ = fish::sign_up(&first, strict);
            let _ = trains::sign_up(&first, strict);
        }
    }
}
