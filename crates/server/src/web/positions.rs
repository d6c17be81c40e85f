//! The public positions of a game so far, for late spectators, also while it runs.
//!
//! Only public views are shown, and only those that differ from the previous one. So an answer that
//! is still secret leaves no trace here.

use super::changes::{Change, ViewFold};
use super::{Answer, Web, archive, games, matches};
use crate::clock::now_ms;
use crate::engine::query::{FindSecrets, MatchSecrets};
use agon_core::{
    ApplyError, Line, MatchId, MatchReplay, Raw, ReplayStep, Secrets, Timestamp, TournamentId,
};
use agon_games::{Registry, Viewer};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which positions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    /// How many of them the reader has already: they are left out.
    #[serde(default)]
    after: usize,
    /// True if every position after the first of the answer has `changes` in place of its `view`.
    #[serde(default)]
    changes: bool,
}

/// A game so far.
#[derive(Serialize, JsonSchema)]
pub(super) struct Positions {
    tournament: TournamentId,
    r#match: MatchId,
    game: String,
    number: u32,
    /// The server's time, which shows how old the latest position is.
    now: Timestamp,
    /// When the latest position was reached; nothing before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_at: Option<Timestamp>,
    /// How many positions there were so far.
    count: usize,
    /// Those the reader does not have, the latest last.
    positions: Vec<Position>,
}

/// A position that everybody could see.
#[derive(Serialize, JsonSchema)]
struct Position {
    /// When it was reached.
    at: Timestamp,
    /// The public view.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<Raw>,
    /// The differences from the view of the position before, as a JSON Patch (RFC 6902).
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Change>>,
}

pub(super) async fn all(
    State(web): State<Web>,
    Path((tournament, id, game)): games::Numbered,
    Query(Known { after, changes }): Query<Known>,
) -> Answer {
    let key = matches::key_of(Path((tournament, id)))?;
    let number = games::number(&key, &game)?;
    matches::look(&web, &key).await?;
    let MatchSecrets { secrets, held_ms } = web.ask(FindSecrets(key.clone())).await?;
    let now = now_ms();
    let asked = key.clone();
    let read = archive::read(&web, move |archive| {
        let lines = archive::parsed(&archive::match_lines(archive, &asked)?)?;
        let secrets = secrets.unwrap_or_else(|| archive::revealed(&lines));
        // The observers' delay applies here as well.
        let seen = lines.iter().take_while(|line| line.at.saturating_add(held_ms) <= now);
        if lines.is_empty() {
            return Some(None);
        }
        let (game, all) = positions(seen, &archive.games, secrets, number)?;
        let (count, changed_at) = (all.len(), all.last().map(|position| position.at));
        let mut positions = all;
        positions.drain(..after.min(count));
        if changes {
            fold_views(&mut positions)?;
        }
        Some(Some((game, count, changed_at, positions)))
    });
    let (game, count, changed_at, positions) = read.await?.ok_or_else(|| matches::unknown(&key))?;
    let (tournament, r#match) = (key.tournament.clone(), key.id.clone());
    let all = Positions { tournament, r#match, game, number, now, changed_at, count, positions };
    Ok(Json(all).into_response())
}

/// The name of the game, and its public positions, each different from the previous one.
fn positions<'a>(
    lines: impl Iterator<Item = &'a Line>,
    games: &Registry,
    secrets: Secrets,
    number: u32,
) -> Option<(String, Vec<Position>)> {
    let mut replay = match MatchReplay::new(lines, games, secrets) {
        Err(ApplyError::Empty) => return Some((String::new(), Vec::new())),
        begun => begun.ok()?,
    };
    let mut found: Vec<Position> = Vec::new();
    while let Some(step) = replay.step() {
        let ReplayStep { line, after, .. } = step.ok()?;
        let referee = after.referee().filter(|referee| referee.number() == number);
        let finished = || after.finished().find(|(result, _)| result.game == number);
        let game = referee.map(|referee| referee.game());
        let Some(game) = game.or_else(|| finished().map(|(_, game)| game)) else { continue };
        let view = game.view(Viewer::Public);
        let latest = found.last().and_then(|position| position.view.as_ref());
        if latest.is_none_or(|latest| latest.get() != view.get()) {
            found.push(Position { at: line.at, view: Some(Raw(view)), changes: None });
        }
    }
    Some((replay.plan().game.clone(), found))
}

/// Replaces the view of every position but the first by its changes.
fn fold_views(positions: &mut [Position]) -> Option<()> {
    let mut fold = ViewFold::default();
    for position in positions {
        position.changes = fold.next(position.view.as_ref()?.get()).ok()?;
        if position.changes.is_some() {
            position.view = None;
        }
    }
    Some(())
}
