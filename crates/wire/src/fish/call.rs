//! The call vocabulary: `[name,[arguments…]]` goes out, one value comes back. One call is open at a
//! time, and every message needs an answer.

use super::{Awaited, FishRequest, is_action, is_position};
use agon_games::fish::{Question, View};
use agon_games::{Refusal, Seat};
use serde::Serialize;

/// The tournament starts.
pub fn start() -> FishRequest {
    FishRequest::reply(call("start", [true]), Awaited::Ready)
}

/// The tournament is over.
pub fn end(won: bool) -> FishRequest {
    FishRequest::reply(call("end", [won]), Awaited::Farewell)
}

/// A question of the game to the seat whose view it is.
pub fn ask(question: &Question, view: &View) -> FishRequest {
    let state = || view.state(view.you.or(view.turn).unwrap_or(Seat(0)));
    match question {
        Question::PlayingAs { color } => {
            FishRequest::reply(call("playing-as", [color]), Awaited::Confirmed)
        }
        Question::PlayingWith { colors } => {
            FishRequest::reply(call("playing-with", [colors]), Awaited::Confirmed)
        }
        Question::Place => FishRequest::reply(call("setup", [state()]), Awaited::Placement),
        Question::Move => {
            FishRequest::reply(call("take-turn", (state(), &view.since)), Awaited::Move)
        }
    }
}

/// A client's reply as the answer the game or the tournament takes.
pub fn reply(awaited: Awaited, text: &str) -> Result<String, Refusal> {
    match (awaited, kind(text)) {
        (Awaited::Ready, Some(Kind::Void)) => Ok("true".into()),
        (Awaited::Confirmed | Awaited::Farewell, Some(Kind::Void)) => Ok("\"ok\"".into()),
        (Awaited::Placement, Some(Kind::Position)) => Ok(format!("{{\"place\":{text}}}")),
        (Awaited::Move, Some(Kind::Action)) => Ok(format!("{{\"move\":{text}}}")),
        (_, Some(kind)) => {
            let detail = format!("{} was asked for, not {}", awaited.wanted(), kind.name());
            Err(Refusal::wrong_kind(detail))
        }
        (_, None) => {
            let detail = "neither \"void\" nor a position nor a move";
            Err(Refusal::malformed(detail))
        }
    }
}

/// The kinds of replies there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Void,
    Position,
    Action,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Void => "\"void\"",
            Kind::Position => "a position",
            Kind::Action => "a move",
        }
    }
}

fn kind(text: &str) -> Option<Kind> {
    if text.starts_with('"') {
        return (serde_json::from_str::<String>(text).ok()? == "void").then_some(Kind::Void);
    }
    if is_position(text) {
        return Some(Kind::Position);
    }
    is_action(text).then_some(Kind::Action)
}

fn call<A: Serialize>(name: &str, arguments: A) -> String {
    serde_json::to_string(&(name, arguments)).expect("calls are JSON")
}
