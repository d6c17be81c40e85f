//! The examinations, by what they need.

pub(crate) mod ending;
pub(crate) mod play;
pub(crate) mod restart;
pub(crate) mod talk;

use crate::report::Failure;
use crate::table::Case;
use agon_games::{Refusal, RefusalKind};

/// What is wrong with an answer that the rules refuse.
pub(crate) fn refused(refusal: &Refusal, case: &Case, answer: &str) -> Failure {
    let ask = case.ask();
    let (what, fix) = match refusal.kind {
        RefusalKind::Malformed => (
            format!("its answer to a {ask} question is none of this game: {}", refusal.detail),
            "docs/protocol/native.md lists the answers to every question",
        ),
        RefusalKind::WrongKind | RefusalKind::NotAsked => (
            format!("it answers another question than {ask}: {}", refusal.detail),
            "look at question.ask in every request; it says what is asked now",
        ),
        RefusalKind::Illegal => (
            format!("its answer to a {ask} question breaks a rule: {}", refusal.code),
            "choose among what this request's view allows; this is cheating, without a second try",
        ),
    };
    let came = format!("{answer}   ({refusal})");
    Failure::new(what, fix).sent(&case.line).came(&came)
}

/// Whether a refusal is charged as cheating; otherwise the answer was none.
pub(crate) fn is_cheating(refusal: &Refusal) -> bool {
    refusal.kind == RefusalKind::Illegal
}
