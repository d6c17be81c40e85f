//! Signs of life and counters, for machines that watch machines.

use super::{Answer, Web};
use crate::engine::{GameCounts, Status};
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::json;
use std::fmt::Write;

/// Whether the engine answers.
pub(super) async fn health(State(web): State<Web>) -> Answer {
    web.ask_lobby(|_| ()).await?;
    Ok(Json(json!({"status": "ok"})).into_response())
}

pub(super) async fn metrics(State(web): State<Web>) -> Answer {
    let (status, games) = web.ask_lobby(|engine| (engine.status(), engine.game_counts())).await?;
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((content_type, text(&status, &games)).into_response())
}

/// The exposition format of Prometheus. Counters count from the start of the process, and at every
/// moment games started = finished + void + running: a game taken up again counts as started.
fn text(status: &Status, games: &GameCounts) -> String {
    let lines = [
        ("agon_accounts", "gauge", "Accounts there are.", status.accounts as u64),
        ("agon_connections", "gauge", "Players' connections.", status.connections as u64),
        ("agon_tournaments_running", "gauge", "Tournaments that run.", status.tournaments as u64),
        ("agon_matches_running", "gauge", "Matches that run.", status.matches as u64),
        ("agon_decisions_total", "counter", "Answers accepted.", status.decisions),
        ("agon_games_started_total", "counter", "Games started or taken up.", games.started),
        ("agon_games_finished_total", "counter", "Games with a result.", games.finished),
        ("agon_games_void_total", "counter", "Games broken off.", games.void),
        ("agon_games_running", "gauge", "Games in progress.", games.running),
    ];
    let mut text = String::from("# started = finished + void + running\n");
    for (name, kind, help, value) in lines {
        writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}")
            .expect("memory takes it");
    }
    text
}
