//! Faults of players: what sort, and the evidence their owner can read.

use crate::ids::{PlayerName, RequestId};
use agon_games::{Refusal, RefusalKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The code of an answer to somebody else's request.
pub(crate) const FOREIGN_REQUEST: &str = "foreign-request";

/// What a player did wrong. Faults of the server are never among these.
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
    /// What sort.
    pub kind: FaultKind,
    /// A stable word for machines, such as `box-filled`.
    pub code: Cow<'static, str>,
    /// A sentence for people.
    pub detail: String,
    /// The bytes of the answer, as text and cut at [`Fault::EVIDENCE_MAX`], where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

impl Fault {
    /// How many bytes of an answer are kept.
    pub const EVIDENCE_MAX: usize = 2_000;

    /// A fault without an answer.
    pub fn new(kind: FaultKind, code: &'static str, detail: impl Into<String>) -> Fault {
        Fault { kind, code: Cow::Borrowed(code), detail: detail.into(), answer: None }
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

    /// Not there in time.
    pub fn no_show(wait_ms: u64) -> Fault {
        let wait = wait_ms as f64 / 1_000.0;
        Fault::new(FaultKind::NoShow, "no-show", format!("did not come within {wait} s"))
    }

    /// An answer to the open request of `owner`, from somebody else.
    pub fn foreign_request(owner: &PlayerName) -> Fault {
        let detail = format!("answered a request to {owner}");
        Fault::new(FaultKind::Cheat, FOREIGN_REQUEST, detail)
    }

    /// Bytes that are no answer.
    pub fn malformed(detail: impl Into<String>, answer: &str) -> Fault {
        Fault::new(FaultKind::Malformed, "malformed", detail).with_answer(answer)
    }

    /// A game's refusal of `answer`.
    pub fn refused(refusal: &Refusal, answer: &str) -> Fault {
        let kind = match refusal.kind {
            RefusalKind::Illegal => FaultKind::Cheat,
            RefusalKind::WrongKind | RefusalKind::NotAsked => FaultKind::Illegal,
            RefusalKind::Malformed => FaultKind::Malformed,
        };
        let (code, detail) = (refusal.code.clone(), refusal.detail.clone());
        Fault { kind, code, detail, answer: None }.with_answer(answer)
    }

    /// The same fault with the answer as evidence.
    #[must_use]
    pub fn with_answer(mut self, answer: &str) -> Fault {
        let mut end = answer.len().min(Fault::EVIDENCE_MAX);
        while !answer.is_char_boundary(end) {
            end -= 1;
        }
        self.answer = Some(answer[..end].to_owned());
        self
    }

    /// Whether it counts as cheating rather than failing.
    pub fn is_cheat(&self) -> bool {
        self.kind == FaultKind::Cheat
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind, self.detail)
    }
}

/// A fault and where it happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Faulted {
    /// Whose fault.
    pub player: PlayerName,
    /// In which game of the match, if in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<u32>,
    /// The request that was open, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// What happened.
    pub fault: Fault,
}
