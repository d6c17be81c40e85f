//! Faults of players: their kinds, and the evidence that the player can read.

use crate::ids::{PlayerName, RequestId};
use crate::ruling::{Ruling, Why};
use agon_games::{Refusal, RefusalKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The code of an answer to another player's request.
pub(crate) const FOREIGN_REQUEST: &str = "foreign-request";

/// The code of a player whom an operator withdrew, and how the detail of that fault begins.
const WITHDRAWN: &str = "withdrawn";
const WITHDRAWN_BY: &str = "withdrawn by ";

/// The kinds of players' faults. Faults of the server are never among these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A well-formed answer that breaks a rule of the game, or an answer for somebody else.
    Cheat,
    /// An answer that is not of the kind that was asked for.
    Illegal,
    /// Bytes that are not an answer at all.
    Malformed,
    /// No answer in time.
    Timeout,
    /// The connection was lost, or the program ended.
    Disconnected,
    /// Gave up of its own will.
    Withdrew,
    /// Was not there when it should have been, and did not come in time.
    NoShow,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FaultKind::Cheat => "cheat",
            FaultKind::Illegal => "illegal answer",
            FaultKind::Malformed => "malformed answer",
            FaultKind::Timeout => "no answer in time",
            FaultKind::Disconnected => "disconnected",
            FaultKind::Withdrew => "withdrew",
            FaultKind::NoShow => "did not show up",
        })
    }
}

/// A fault with its reason and evidence. Holds nothing that differs between two runs with the same
/// answers: times are in the log's lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// A stable word for machines, such as `box-filled`.
    pub code: Cow<'static, str>,
    /// A sentence for people.
    pub detail: String,
    /// The bytes of the answer, as text and cut at [`Fault::EVIDENCE_MAX`], where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The player's reply in its own protocol, cut in the same way. `answer` is then
    /// its translation, if the rules decided about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
}

impl Fault {
    /// How many bytes of an answer are kept.
    pub const EVIDENCE_MAX: usize = 2_000;

    /// A fault without an answer.
    pub fn new(kind: FaultKind, code: &'static str, detail: impl Into<String>) -> Fault {
        let (code, detail) = (Cow::Borrowed(code), detail.into());
        Fault { kind, code, detail, answer: None, sent: None }
    }

    /// No answer within `limit_ms`.
    pub fn timeout(limit_ms: u64) -> Fault {
        let limit = limit_ms as f64 / 1_000.0;
        Fault::new(FaultKind::Timeout, "timeout", format!("no answer within {limit} s"))
    }

    /// The connection was lost.
    pub fn disconnected(detail: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Disconnected, "disconnected", detail)
    }

    /// The player did not connect in time.
    pub fn no_show(wait_ms: u64) -> Fault {
        let wait = wait_ms as f64 / 1_000.0;
        Fault::new(FaultKind::NoShow, "no-show", format!("did not come within {wait} s"))
    }

    /// An operator withdrew the player from a running tournament.
    pub fn withdrawn(ruling: &Ruling) -> Fault {
        let detail = format!("{WITHDRAWN_BY}{}: {}", ruling.by, ruling.why);
        Fault::new(FaultKind::Withdrew, WITHDRAWN, detail)
    }

    /// The ruling of the operator who withdrew the player, if that is the fault.
    pub fn withdrawal_ruling(&self) -> Option<Ruling> {
        let detail = self.detail.strip_prefix(WITHDRAWN_BY).filter(|_| self.code == WITHDRAWN)?;
        let (by, why) = detail.split_once(": ")?;
        Some(Ruling { by: PlayerName::new(by).ok()?, why: Why::new(why).ok()? })
    }

    /// A player answered the open request of `owner`, another player.
    pub fn foreign_request(owner: &PlayerName) -> Fault {
        let detail = format!("answered a request to {owner}");
        Fault::new(FaultKind::Cheat, FOREIGN_REQUEST, detail)
    }

    /// The text is not an answer.
    pub fn malformed(detail: impl Into<String>, answer: &str) -> Fault {
        Fault::new(FaultKind::Malformed, "malformed", detail).with_answer(answer)
    }

    /// The game rejected `answer`.
    pub fn refused(refusal: &Refusal, answer: &str) -> Fault {
        let kind = match refusal.kind {
            RefusalKind::Illegal => FaultKind::Cheat,
            RefusalKind::WrongKind | RefusalKind::NotAsked => FaultKind::Illegal,
            RefusalKind::Malformed => FaultKind::Malformed,
        };
        let (code, detail) = (refusal.code.clone(), refusal.detail.clone());
        Fault { kind, code, detail, answer: None, sent: None }.with_answer(answer)
    }

    /// The same fault with the answer as evidence.
    #[must_use]
    pub fn with_answer(mut self, answer: &str) -> Fault {
        self.answer = Some(cut(answer).to_owned());
        self
    }

    /// The same fault with the original text as evidence, in the format of the player's own system.
    #[must_use]
    pub fn with_sent(mut self, sent: &str) -> Fault {
        self.sent = Some(cut(sent).to_owned());
        self
    }

    /// Returns whether the fault counts as cheating.
    pub fn is_cheat(&self) -> bool {
        self.kind == FaultKind::Cheat
    }
}

/// Cuts a text to the length that is kept as evidence.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(Fault::EVIDENCE_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind, self.detail)
    }
}

/// A fault and where it happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Faulted {
    /// The player who is charged.
    pub player: PlayerName,
    /// In which game of the match, if in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<u32>,
    /// The request that was open, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The fault.
    pub fault: Fault,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_say_what_was_wrong() {
        let ann = PlayerName::new("ann").unwrap();
        let cases = [
            (Fault::timeout(1_500), "timeout", "no answer in time (no answer within 1.5 s)"),
            (Fault::no_show(60_000), "no-show", "did not show up (did not come within 60 s)"),
            (Fault::disconnected("it hung up"), "disconnected", "disconnected (it hung up)"),
            (Fault::foreign_request(&ann), "foreign-request", "cheat (answered a request to ann)"),
            (Fault::malformed("no JSON", "{"), "malformed", "malformed answer (no JSON)"),
            (
                Fault::new(FaultKind::Withdrew, "withdrew", "on its own"),
                "withdrew",
                "withdrew (on its own)",
            ),
        ];
        for (fault, code, text) in cases {
            assert_eq!((&*fault.code, &*fault.to_string()), (code, text));
            assert_eq!(fault.is_cheat(), code == "foreign-request");
        }
        assert_eq!(format!("[{:>16}]", FaultKind::Illegal), "[  illegal answer]");
    }

    #[test]
    fn rejected_answer_is_a_cheat_only_if_it_breaks_a_rule() {
        let refusals = [
            (Refusal::illegal("held", "somebody holds it"), FaultKind::Cheat),
            (Refusal::wrong_kind("a place, not a move"), FaultKind::Illegal),
            (Refusal::not_asked("it is not your turn"), FaultKind::Illegal),
            (Refusal::malformed("no JSON"), FaultKind::Malformed),
        ];
        for (refusal, kind) in refusals {
            let fault = Fault::refused(&refusal, "5");
            assert_eq!((fault.kind, &fault.code), (kind, &refusal.code));
            assert_eq!((fault.detail, fault.answer), (refusal.detail, Some("5".into())));
        }
    }

    #[test]
    fn evidence_is_cut_between_characters() {
        let kept = |answer: String| Fault::malformed("long", &answer).answer.unwrap();
        assert_eq!(kept("x".repeat(2_000)), "x".repeat(2_000));
        assert_eq!(kept("x".repeat(2_001)), "x".repeat(2_000));
        assert_eq!(kept(format!("{}é", "x".repeat(1_999))), "x".repeat(1_999));
        assert_eq!(kept(format!("{}😀", "x".repeat(1_997))), "x".repeat(1_997));
        assert_eq!(kept("é".into()), "é");
        let sent = Fault::timeout(1).with_sent(&"x".repeat(2_001)).sent.unwrap();
        assert_eq!(sent, "x".repeat(2_000));
    }
}
