//! The examinations, by what they need.

pub(crate) mod ending;
pub(crate) mod play;
pub(crate) mod restart;
pub(crate) mod talk;

use crate::doctor::report::Failure;
use crate::doctor::table::Case;
use agon_games::{Refusal, RefusalKind};

/// The failure for an answer that the rules refuse.
pub(crate) fn refused(refusal: &Refusal, case: &Case, answer: &str) -> Failure {
    let ask = case.ask();
    let (what, fix) = match refusal.kind {
        RefusalKind::Malformed => (
            format!(
                "the answer to a {ask} question is not an answer of this game: \
                {}",
                refusal.detail
            ),
            "docs/protocol/native.md lists the answers to every question",
        ),
        RefusalKind::WrongKind | RefusalKind::NotAsked => (
            format!("the answer is for another question than {ask}: {}", refusal.detail),
            "read question.ask in every request; it names the question",
        ),
        RefusalKind::Illegal => (
            format!("the answer to a {ask} question is illegal: {}", refusal.code),
            "choose an answer that the request's view allows; an illegal answer counts as \
             cheating, without a second try",
        ),
    };
    let came = format!("{answer}   ({refusal})");
    Failure::new(what, fix).sent(&case.line).reply(&came)
}

/// Returns whether a refusal is charged as cheating; otherwise the answer was none.
pub(crate) fn is_cheating(refusal: &Refusal) -> bool {
    refusal.kind == RefusalKind::Illegal
}
