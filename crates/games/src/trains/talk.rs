//! The questions and answers of a seat.

use super::{Color, Connection, Length, Name, Pair};
use crate::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many cards a player begins with.
pub const HAND_LEN: usize = 4;
/// How many destinations a player picks from.
pub const OFFER_LEN: usize = 5;
/// How many destinations a player keeps.
pub const KEEP_LEN: usize = 2;
/// How many destinations a player gives back.
pub const RETURN_LEN: usize = OFFER_LEN - KEEP_LEN;
/// How many cards a player gets for a request.
pub const MORE_LEN: usize = 2;
/// How many rails a player begins with.
pub const RAILS: u8 = 45;
/// A turn that leaves a player with this many rails or fewer is followed by the last turns.
pub const RAILS_LAST: u8 = 2;

/// A question to a seat. Its view says the rest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// To confirm what it begins with. Only where [`Config::confirm`](super::Config) is set.
    Setup {
        /// How many rails.
        rails: u8,
        /// The cards, as dealt.
        cards: [Color; HAND_LEN],
    },
    /// Which of these destinations it gives back, keeping two.
    Pick {
        /// The five, in order.
        destinations: Box<[Pair; OFFER_LEN]>,
    },
    /// The action of a turn.
    Play {},
    /// To confirm the cards it asked for. Only where [`Config::confirm`](super::Config) is set.
    More {
        /// The cards, as drawn.
        cards: [Color; MORE_LEN],
    },
}

/// The cards and destinations that a seat drew.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Drawn {
    /// The seat.
    pub seat: Seat,
    /// Cards dealt or drawn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<Color>,
    /// Destinations offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<[Pair; OFFER_LEN]>,
}

/// A seat's answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To `setup` and `more`: `"ok"`.
    Ok,
    /// To `pick`: the three destinations it does not keep, in any order.
    Return(Vec<Pair>),
    /// To `play`: `"more-cards"`.
    MoreCards,
    /// To `play`: the connection it acquires.
    Acquire(Connection),
}

impl Answer {
    /// Reads an answer of the kinds that are given most, without spaces.
    pub(super) fn usual(text: &str) -> Option<Answer> {
        match text {
            r#""more-cards""# => return Some(Answer::MoreCards),
            r#""ok""# => return Some(Answer::Ok),
            _ => {}
        }
        // Names and colours have no quotation marks.
        let (one, rest) = text.strip_prefix(r#"{"acquire":[""#)?.split_once('"')?;
        let (other, rest) = rest.strip_prefix(r#",""#)?.split_once('"')?;
        let (color, rest) = rest.strip_prefix(r#",""#)?.split_once('"')?;
        let length = match rest {
            ",3]}" => Length::ALL[0],
            ",4]}" => Length::ALL[1],
            ",5]}" => Length::ALL[2],
            _ => return None,
        };
        let pair = Pair::new(Name::new(one).ok()?, Name::new(other).ok()?).ok()?;
        Some(Answer::Acquire(Connection::new(pair, Color::from_name(color)?, length)))
    }

    /// The name of the answer in error messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Answer::Ok => "ok",
            Answer::Return(_) => "return",
            Answer::MoreCards => "more-cards",
            Answer::Acquire(_) => "acquire",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_the_form_of_the_wire() {
        for text in [
            r#""ok""#,
            r#""more-cards""#,
            r#"{"acquire":["A","B","red",3]}"#,
            r#"{"return":[["A","B"],["A","C"],["B","C"]]}"#,
        ] {
            let answer: Answer = serde_json::from_str(text).expect("an answer");
            assert_eq!(serde_json::to_string(&answer).expect("JSON"), text);
        }
        assert!(serde_json::from_str::<Answer>(r#""void""#).is_err());
        assert!(serde_json::from_str::<Answer>(r#"{"acquire":["A","B","red"]}"#).is_err());
    }

    #[test]
    fn usual_spelling_means_the_same_as_any_json() {
        let connection = r#"{"acquire":["B","A c.","red",3]}"#;
        for text in [r#""more-cards""#, r#""ok""#, connection] {
            let due: Answer = serde_json::from_str(text).expect("an answer");
            assert_eq!(Answer::usual(text), Some(due), "{text}");
            for at in 0..text.len() {
                for piece in ["", " ", "\"", "\\", ",", "]", "A", "7"] {
                    let changed = [&text[..at], piece, &text[at + 1..]].concat();
                    if let Some(usual) = Answer::usual(&changed) {
                        let due: Answer = serde_json::from_str(&changed).expect("an answer");
                        assert_eq!(usual, due, "{changed}");
                    }
                }
            }
        }
        for length in ["4", "5"] {
            let text = connection.replace('3', length);
            let due: Answer = serde_json::from_str(&text).expect("an answer");
            assert_eq!(Answer::usual(&text), Some(due), "{text}");
        }
        for unusual in [r#"{"return":[]}"#, r#"{"acquire":["A","A","red",3]}"#] {
            assert_eq!(Answer::usual(unusual), None, "{unusual}");
        }
    }

    #[test]
    fn questions_say_what_is_asked() {
        let text = serde_json::to_string(&Question::Play {}).expect("JSON");
        assert_eq!(text, r#"{"ask":"play"}"#);
        let text = r#"{"ask":"more","cards":["red","blue"]}"#;
        let question: Question = serde_json::from_str(text).expect("a question");
        assert_eq!(question, Question::More { cards: [Color::Red, Color::Blue] });
    }
}
