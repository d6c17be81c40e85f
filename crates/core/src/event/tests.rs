//! How events are written.

use super::*;
use crate::ids::Timestamp;

fn written(event: impl Into<Event>) -> String {
    let mut out = Vec::new();
    event.into().write(&mut out);
    String::from_utf8(out).unwrap()
}

/// Fields that were added later are left out when they are not set, so that old logs read the same.
#[test]
fn fields_added_later_are_written_only_if_set() {
    let resumed = |answers_until| ServerResumed { away_ms: 5, answers_until };
    assert_eq!(written(resumed(Timestamp::default())), r#"{"away_ms":5}"#);
    assert_eq!(written(resumed(Timestamp::from_ms(7))), r#"{"away_ms":5,"answers_until":7}"#);
    let player = PlayerName::new("ann").unwrap();
    assert_eq!(written(PlayerArrived { player, nonce: None }), r#"{"player":"ann"}"#);
}

#[test]
fn a_greeting_is_answered_plainly_or_with_a_proposal() {
    let greeted = |proposing| PlayerGreeted {
        player: PlayerName::new("ann").unwrap(),
        request: "t.start.0".into(),
        proposing,
        proposal: None,
    };
    assert_eq!(greeted(true).plain_answer(), "null");
    assert_eq!(greeted(false).plain_answer(), "true");
}
