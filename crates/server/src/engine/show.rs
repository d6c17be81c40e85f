//! What everybody may see of tournaments and matches, as JSON.
//!
//! It answers for what stays hidden: of a game in progress only its public view is shown, and the
//! configuration of games (which may hold a deck or dice in order) only when all is over. Who has
//! answered and how often is not shown either: where players move at once, that is news to them.

use crate::wires::Wires;
use agon_core::{
    GameResult, Match, MatchResult, MatchView, PlayerName, Ruling, Tournament, TournamentPlan,
};
use agon_games::{Json, Viewer};
use serde::Serialize;
use serde_json::{Value, json};

/// A plan; the configuration only of tournaments that are over.
pub(crate) fn plan(plan: &TournamentPlan, over: bool) -> Value {
    let mut shown = json!({
        "preset": plan.preset,
        "game": plan.game,
        "policy": plan.policy,
        "players": plan.players,
    });
    if over {
        shown["config"] = json!(plan.config);
    }
    shown
}

/// The plan with the configuration that was played: the map that was chosen among proposals.
fn played_plan(tournament: &Tournament) -> Value {
    let over = tournament.is_over();
    let mut shown = plan(tournament.plan(), over);
    if over {
        shown["config"] = json!(tournament.config());
    }
    shown
}

/// A tournament that runs or is over.
pub(crate) fn tournament(tournament: &Tournament) -> Value {
    let over = tournament.is_over();
    let pairings = tournament.rounds().iter().zip(1..).flat_map(|(round, number)| {
        round.matches.iter().enumerate().map(move |(at, plan)| {
            let mut pairing = json!({
                "round": number,
                "match": plan.id,
                "players": plan.players,
                "reason": plan.reason,
                "over": round.results[at].is_some(),
            });
            if let Some(overridden) = &round.overrides[at] {
                pairing["overridden"] = json!(overridden);
            }
            if !round.replayed[at].is_empty() {
                let rulings = round.replayed[at].iter().map(|(_, ruling)| ruling);
                pairing["replays"] = json!(rulings.collect::<Vec<_>>());
            }
            pairing
        })
    });
    let mut shown = json!({
        "id": tournament.plan().id,
        "standing": if over { "over" } else { "running" },
        "plan": played_plan(tournament),
        "pairings": pairings.collect::<Vec<_>>(),
        "results": tournament.results(),
    });
    if let Some(ruling) = tournament.paused() {
        shown["paused"] = json!(ruling);
    }
    shown
}

/// A match that runs, with the wires of its players, or is over.
pub(crate) fn match_(played: &Match, wires: &Wires) -> Value {
    json!(ShownMatch::of(played, wires))
}

/// A match that runs, as text: made for every change that is watched, so without the detour over
/// values. Fields of views come in another order than in [`match_`].
pub(crate) fn running_match(played: &Match, wires: &Wires) -> String {
    serde_json::to_string(&ShownMatch::of(played, wires)).expect("what is shown is JSON")
}

#[derive(Serialize)]
struct ShownMatch<'a> {
    game: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_progress: Option<InProgress<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<Latest<'a>>,
    #[serde(rename = "match")]
    in_match: MatchView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<&'a Ruling>,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a MatchResult>,
    standing: &'static str,
    /// Nobody is here for a match that is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    wires: Option<&'a Wires>,
}

#[derive(Serialize)]
struct InProgress<'a> {
    game: u32,
    seats: &'a [PlayerName],
    view: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    voided: Option<&'a Ruling>,
}

#[derive(Serialize)]
struct Latest<'a> {
    result: &'a GameResult,
    view: Json,
}

impl<'a> ShownMatch<'a> {
    fn of(played: &'a Match, wires: &'a Wires) -> ShownMatch<'a> {
        let over = played.result().is_some();
        // The games of a match may share a deck or dice: all is shown when the last one is over.
        let viewer = if over { Viewer::Full } else { Viewer::Public };
        ShownMatch {
            game: &played.plan().game,
            in_progress: played.referee().map(|referee| InProgress {
                game: referee.number(),
                seats: referee.seats(),
                view: referee.game().view(Viewer::Public),
                voided: played.void_in_progress(),
            }),
            latest: played
                .finished()
                .last()
                .map(|(result, game)| Latest { result, view: game.view(viewer) }),
            in_match: played.view(),
            paused: played.paused(),
            reason: &played.plan().reason,
            result: played.result(),
            standing: if over { "over" } else { "running" },
            wires: (!over).then_some(wires),
        }
    }
}
