//! The message vocabulary: `{"type":…,"value":…}` both ways. Players get every move as a broadcast
//! ([`super::broadcast`]), so a request to move carries no state.

use super::{Awaited, FishRequest, is_action, is_position};
use crate::sign_up::{BadSignUp, cut};
use agon_core::{GameResult, PlayerName};
use agon_games::fish::{Action, Board, Color, Position, Question, View};
use agon_games::{Refusal, Seat};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Serialize)]
struct Out<'a, T> {
    #[serde(rename = "type")]
    kind: &'a str,
    value: T,
}

#[derive(Deserialize)]
struct In<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
}

#[derive(Serialize)]
struct StateOut<'a> {
    board: &'a Board,
    players: Vec<PlayerOut<'a>>,
}

#[derive(Serialize)]
struct PlayerOut<'a> {
    name: &'a PlayerName,
    places: &'a [Position],
    color: Color,
}

#[derive(Serialize)]
struct ResultOut<'a> {
    winners: &'a [PlayerName],
    losers: Vec<&'a PlayerName>,
    kicked_players: Vec<&'a PlayerName>,
    state: StateOut<'a>,
}

/// The answer to a sign-up: in the tournament, or on the waiting list.
pub fn signed_up(in_tournament: bool) -> String {
    message("signup_confirmation", in_tournament)
}

/// The tournament starts.
pub fn start() -> FishRequest {
    FishRequest::reply(message("tournament_start", true), Awaited::Ready)
}

/// The tournament is over.
pub fn end(won: bool) -> FishRequest {
    FishRequest::reply(message("tournament_end", won), Awaited::Farewell)
}

/// A question of the game to the seat whose view it is. `names` are the players by seat.
pub fn ask(question: &Question, view: &View, names: &[PlayerName]) -> FishRequest {
    match question {
        Question::PlayingAs { color } => {
            FishRequest { send: Some(message("player_assign_color", color)), awaited: None }
        }
        Question::PlayingWith { .. } => FishRequest { send: None, awaited: None },
        Question::Place => {
            let from = view.you.or(view.turn).unwrap_or(Seat(0));
            let text = message("player_request_placement", state(view, names, from));
            FishRequest::reply(text, Awaited::Placement)
        }
        Question::Move => FishRequest::reply(message("player_request_move", true), Awaited::Move),
    }
}

/// The position, for everybody: the players in playing order from the one to act.
pub fn broadcast_state(view: &View, names: &[PlayerName]) -> String {
    message("broadcast_state", state(view, names, view.turn.unwrap_or(Seat(0))))
}

/// A move that was made, or `None` for a player that could not make one.
pub fn broadcast_action(action: Option<&Action>) -> String {
    match action {
        Some(action) => message("broadcast_action", action),
        None => message("broadcast_action", "Skip"),
    }
}

/// The end of a game: its last view and its result.
pub fn game_over(view: &View, result: &GameResult) -> String {
    let seated = || result.seats.iter().zip(&result.ranks);
    let out = |(name, rank): (_, &Option<u8>)| rank.is_none().then_some(name);
    let lost = |name: &&PlayerName| !result.winners.contains(name);
    let value = ResultOut {
        winners: &result.winners,
        losers: seated()
            .filter(|(_, rank)| rank.is_some())
            .map(|(name, _)| name)
            .filter(lost)
            .collect(),
        kicked_players: seated().filter_map(out).collect(),
        state: state(view, &result.seats, Seat(0)),
    };
    message("broadcast_game_over", value)
}

/// The answer to a request to observe: the program is shown games, or there are too many observers.
pub(super) fn observing(accepted: bool) -> String {
    message("observer_confirmation", accepted)
}

/// The value of a message of this type; `None` if the text is something else.
pub(super) fn value_of<'a>(kind: &str, text: &'a str) -> Option<&'a str> {
    let message: In<'a> = serde_json::from_str(text).ok()?;
    (message.kind == kind).then(|| message.value.get())
}

/// The name in a request to sign up.
pub(super) fn sign_up(first: &str) -> Result<String, BadSignUp> {
    let name = value_of("signup_request", first);
    let name = name.and_then(|value| serde_json::from_str(value).ok());
    name.ok_or_else(|| BadSignUp::NotASignUp(cut(first)))
}

/// A player's message as the answer the game or the tournament takes.
pub fn reply(awaited: Awaited, text: &str) -> Result<String, Refusal> {
    let message: In<'_> = serde_json::from_str(text).map_err(|_| {
        Refusal::malformed("not a message, which is an object with a type and a value")
    })?;
    let value = message.value.get();
    let Some(kind) = kind(&message.kind) else {
        return Err(Refusal::malformed(format!("there is no message {:?}", cut(&message.kind))));
    };
    if kind != awaited {
        let detail = format!("{} was asked for, not {}", awaited.wanted(), kind.wanted());
        return Err(Refusal::wrong_kind(detail));
    }
    match kind {
        Awaited::Ready if matches!(value, "true" | "false") => Ok(value.into()),
        Awaited::Farewell if value == "true" => Ok("\"ok\"".into()),
        Awaited::Farewell if value == "false" => {
            Err(Refusal::wrong_kind("the end of the tournament was not accepted"))
        }
        Awaited::Placement if is_position(value) => Ok(format!("{{\"place\":{value}}}")),
        Awaited::Placement if is_action(value) => {
            Err(Refusal::wrong_kind("a position was asked for, not a move"))
        }
        Awaited::Move if is_action(value) => Ok(format!("{{\"move\":{value}}}")),
        // Only a player who can move is asked, so this is illegal, and the game itself has no such
        // answer.
        Awaited::Move if value == "\"Skip\"" => {
            Err(Refusal::illegal("skip", "a player that can move has to"))
        }
        Awaited::Move if is_position(value) => {
            Err(Refusal::wrong_kind("a move was asked for, not a position"))
        }
        _ => Err(Refusal::malformed(format!("the value is not {}", awaited.wanted()))),
    }
}

/// The kind of question that a player's message answers.
fn kind(name: &str) -> Option<Awaited> {
    Some(match name {
        "tournament_ready" => Awaited::Ready,
        "player_respond_placement" => Awaited::Placement,
        "player_respond_move" => Awaited::Move,
        "tournament_end_response" => Awaited::Farewell,
        _ => return None,
    })
}

/// The position in playing order from `first`, without removed players.
fn state<'a>(view: &'a View, names: &'a [PlayerName], first: Seat) -> StateOut<'a> {
    let seated: Vec<_> = names.iter().zip(&view.players).collect();
    let (before, from) = seated.split_at(first.index().min(seated.len()));
    let players = from.iter().chain(before).filter(|(_, player)| !player.removed);
    let player = |(name, player): &(&'a PlayerName, &'a agon_games::fish::PlayerView)| PlayerOut {
        name,
        places: &player.places,
        color: player.color,
    };
    StateOut { board: &view.board, players: players.map(player).collect() }
}

fn message<T: Serialize>(kind: &str, value: T) -> String {
    serde_json::to_string(&Out { kind, value }).expect("messages are JSON")
}
