//! What everybody may see of tournaments and matches, as JSON.
//!
//! It answers for what stays hidden: of a game in progress only its public view is shown, and the
//! configuration of games (which may hold a deck or dice in order) only when all is over. Who has
//! answered and how often is not shown either: where players move at once, that is news to them.

use agon_core::{Match, Tournament, TournamentPlan};
use agon_games::Viewer;
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
        "plan": plan(tournament.plan(), over),
        "pairings": pairings.collect::<Vec<_>>(),
        "results": tournament.results(),
    });
    if let Some(ruling) = tournament.paused() {
        shown["paused"] = json!(ruling);
    }
    shown
}

/// A match that runs or is over.
pub(crate) fn match_(played: &Match) -> Value {
    let mut shown = json!({
        "standing": if played.result().is_some() { "over" } else { "running" },
        "game": played.plan().game,
        "reason": played.plan().reason,
        "match": played.view(),
    });
    if let Some(referee) = played.referee() {
        shown["in_progress"] = json!({
            "game": referee.number(),
            "seats": referee.seats(),
            "view": referee.game().view(Viewer::Public),
        });
        if let Some(ruling) = played.void_in_progress() {
            shown["in_progress"]["voided"] = json!(ruling);
        }
    }
    if let Some(ruling) = played.paused() {
        shown["paused"] = json!(ruling);
    }
    if let Some((result, game)) = played.finished().last() {
        // The games of a match may share a deck or dice: all is shown when the last one is over.
        let viewer = if played.result().is_some() { Viewer::Full } else { Viewer::Public };
        shown["latest"] = json!({"result": result, "view": game.view(viewer)});
    }
    if let Some(result) = played.result() {
        shown["result"] = json!(result);
    }
    shown
}
