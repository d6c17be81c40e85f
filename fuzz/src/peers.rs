//! The protocols of Fish and Trains: JSON values one after the other, sign-ups and replies.

use crate::input::{Input, pieces};
use agon_games::Refusal;
use agon_wire::fish::{self, Awaited, call, message};
use agon_wire::peer::Language;
use agon_wire::sign_up::Newcomer;
use agon_wire::trains;
use agon_wire::values::{Limits, Values};

/// Small, so that inputs reach the limits.
const LIMITS: Limits = Limits { bytes_max: 300, depth_max: 8 };

/// The longest piece that arrives at once.
const PIECE_MAX: usize = 64;

/// A stream of values in any pieces: how it is cut does not matter, every value is JSON, and the
/// buffer stays bounded.
pub fn values(data: &[u8]) -> bool {
    let mut input = Input(data);
    let how = input.byte();
    let bytes = input.rest();
    let found = values_of(bytes, how);
    assert_eq!(found, values_of(bytes, 0), "the cuts decide what the values are");
    for text in &found.0 {
        let read = serde_json::from_str::<serde_json::Value>(text);
        // Numbers out of range are valid JSON, but cannot be read.
        assert!(read.is_ok() || text.contains(['e', 'E', '\\']), "{text}");
    }
    !found.0.is_empty()
}

/// Every value of a stream, and the error at its end.
fn values_of(bytes: &[u8], how: u8) -> (Vec<String>, Option<String>) {
    let (mut values, mut found) = (Values::new(LIMITS), Vec::new());
    for piece in pieces(bytes, how, PIECE_MAX) {
        values.push(piece);
        loop {
            match values.take() {
                Some(Ok(text)) => {
                    assert!(text.len() <= LIMITS.bytes_max, "a value of {} bytes", text.len());
                    found.push(text.to_owned());
                }
                Some(Err(broken)) => return (found, Some(broken.to_string())),
                None => break,
            }
        }
        let held = values.rest().len();
        assert!(held <= LIMITS.bytes_max + PIECE_MAX, "{held} bytes are held");
    }
    match values.finish().map(|value| value.map(str::to_owned)) {
        Some(Ok(text)) => found.push(text),
        Some(Err(broken)) => return (found, Some(broken.to_string())),
        None => {}
    }
    (found, None)
}

/// The first value of a connection is a sign-up, a request to observe, or an error with a reason.
pub fn sign_up(data: &[u8]) -> bool {
    let mut input = Input(data);
    let (strict, how) = (input.byte().is_multiple_of(2), input.byte());
    let mut newcomer = Newcomer::new(LIMITS, strict);
    let mut first = None;
    for piece in pieces(input.rest(), how, PIECE_MAX) {
        newcomer.push(piece);
        first = newcomer.take();
        if first.is_some() {
            break;
        }
    }
    let Some(Ok(first)) = first.or_else(|| newcomer.flush()) else { return false };
    let languages = [
        Language::Fish(None),
        Language::Fish(Some(fish::Vocabulary::Call)),
        Language::Trains(trains::Vocabulary::Course),
        Language::Trains(trains::Vocabulary::Memo),
    ];
    let mut good = false;
    for language in languages {
        if let Some(observer) = language.observer(&first) {
            good |= observer.is_ok();
            assert!(language.sign_up(&first, strict).is_err(), "an observer is no player");
        }
        match language.sign_up(&first, strict) {
            Ok((name, mut speaker)) => {
                good = true;
                assert!((1..=50).contains(&name.as_str().chars().count()), "{name}");
                assert!(speaker.hear(&first).is_err(), "nothing was asked");
            }
            Err(why) => assert!(why.to_string().len() < 1_000, "{why}"),
        }
    }
    good
}

/// A reply on the Fish protocol is an answer, or an error with a reason.
pub fn fish_reply(data: &[u8]) -> bool {
    let awaited =
        [Awaited::Ready, Awaited::Confirmed, Awaited::Placement, Awaited::Move, Awaited::Farewell];
    let mut good = false;
    for text in values_of(data, 255).0 {
        for awaited in awaited {
            good |= is_answer(call::reply(awaited, &text));
            good |= is_answer(message::reply(awaited, &text));
        }
    }
    good
}

/// A reply on the Trains protocol is an answer, or an error with a reason.
pub fn trains_reply(data: &[u8]) -> bool {
    use trains::Awaited::{Begun, Confirmed, Returned, Turn};
    let mut good = false;
    for text in values_of(data, 255).0 {
        for vocabulary in [trains::Vocabulary::Course, trains::Vocabulary::Memo] {
            for awaited in [Begun, Confirmed, Returned, Turn] {
                good |= is_answer(trains::reply(vocabulary, awaited, &text));
            }
        }
    }
    good
}

fn is_answer(answer: Result<String, Refusal>) -> bool {
    match answer {
        Ok(answer) => {
            let json = serde_json::from_str::<&serde_json::value::RawValue>(&answer);
            assert!(json.is_ok(), "not JSON: {answer}");
            true
        }
        Err(refusal) => {
            assert!(refusal.detail.len() < 1_000, "{refusal:?}");
            false
        }
    }
}
