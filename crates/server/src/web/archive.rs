//! What is over, read from the log on a thread made for waiting.

use super::Web;
use super::problem::Problem;
use crate::engine::{Archive, MatchKey, StreamKey, show};
use agon_core::{Event, Head, Line, Match, MatchId, Secrets, Tournament, TournamentId};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Does something with the log, away from the engine and from the tasks.
pub(super) async fn read<T: Send + 'static>(
    web: &Web,
    what: impl FnOnce(&Archive) -> Option<T> + Send + 'static,
) -> Result<T, Problem> {
    let archive = web.ask_lobby(|engine| engine.archive()).await?;
    let read = tokio::task::spawn_blocking(move || what(&archive)).await;
    read.ok().flatten().ok_or_else(Problem::internal)
}

/// The lines of a tournament's stream; nobody but this file and the ledger names streams.
pub(super) fn tournament_lines(archive: &Archive, id: &TournamentId) -> Option<Vec<String>> {
    archive.log.load(&StreamKey::Tournament(id.clone()).name(), 0).ok()
}

pub(super) fn match_lines(
    archive: &Archive,
    tournament: &TournamentId,
    id: &MatchId,
) -> Option<Vec<String>> {
    let key = MatchKey::new(tournament.clone(), id.clone());
    archive.log.load(&StreamKey::Match(key).name(), 0).ok()
}

/// The head of a match's log.
pub(super) fn match_head(archive: &Archive, key: &MatchKey) -> Option<Head> {
    let lines = match_lines(archive, &key.0, &key.1)?;
    Some(Head::of(&StreamKey::Match(key.clone()).name(), &lines))
}

pub(super) fn tournament(archive: &Archive, id: &TournamentId) -> Option<Tournament> {
    let lines = parsed(&tournament_lines(archive, id)?)?;
    Tournament::fold(&lines, &archive.games, None).ok()
}

/// A tournament that is over as it is shown, with the head of its log.
pub(super) fn shown_tournament(archive: &Archive, id: &TournamentId) -> Option<Value> {
    let lines = tournament_lines(archive, id)?;
    let over = Tournament::fold(&parsed(&lines)?, &archive.games, None).ok()?;
    let mut shown = show::tournament(&over);
    let stream = StreamKey::Tournament(id.clone()).name();
    shown["head"] = json!(Head::of(&stream, &lines));
    Some(shown)
}

/// A match that is over, with the secrets its log reveals.
pub(super) fn match_(archive: &Archive, tournament: &TournamentId, id: &MatchId) -> Option<Match> {
    let lines = parsed(&match_lines(archive, tournament, id)?)?;
    let secrets = revealed(&lines);
    Match::fold(&lines, &archive.games, secrets).ok()
}

/// The secrets a log reveals.
pub(super) fn revealed(lines: &[Line]) -> Secrets {
    let secrets = lines.iter().filter_map(|line| match &line.event {
        Event::GameEnded(ended) => Some((ended.result.game, ended.secret.clone())),
        _ => None,
    });
    Secrets::Revealed(secrets.collect::<BTreeMap<_, _>>())
}

pub(super) fn parsed(texts: &[String]) -> Option<Vec<Line>> {
    texts.iter().map(|text| Line::read(text).ok()).collect()
}

/// Lines as they are in the log.
pub(super) fn as_lines(lines: &[String]) -> Response {
    let mut text = lines.join("\n");
    text.push('\n');
    ([(header::CONTENT_TYPE, "application/jsonl")], text).into_response()
}
