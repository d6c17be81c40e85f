//! Finished tournaments and matches, read from the log on a few blocking threads.

use super::Web;
use super::answers;
use super::problem::Problem;
use crate::driver::Archive;
use crate::engine::show::ShownTournament;
use crate::engine::{MatchKey, StreamKey};
use agon_core::{Head, Line, Match, Secrets, Tournament, TournamentId};
use axum::response::Response;
use std::sync::Arc;

/// Reads from the log, away from the engine and from the tasks.
pub(super) async fn read<T: Send + 'static>(
    web: &Web,
    what: impl FnOnce(&Archive) -> Option<T> + Send + 'static,
) -> Result<T, Problem> {
    let archive = web.handle.archive().ok_or_else(Problem::stopping)?;
    let reader = Arc::clone(&web.readers).acquire_owned().await.map_err(|_| Problem::internal())?;
    let read = tokio::task::spawn_blocking(move || {
        // Held to the end, even if the client has disconnected meanwhile.
        let _reader = reader;
        what(&archive)
    });
    let read = read.await;
    read.ok().flatten().ok_or_else(Problem::internal)
}

/// The lines of a tournament's stream. Only this file and the ledger name streams.
pub(super) fn tournament_lines(archive: &Archive, id: &TournamentId) -> Option<Vec<String>> {
    archive.log.load(&StreamKey::Tournament(id.clone()).name(), 0).ok()
}

pub(super) fn match_lines(archive: &Archive, key: &MatchKey) -> Option<Vec<String>> {
    archive.log.load(&StreamKey::Match(key.clone()).name(), 0).ok()
}

pub(super) fn tournament(archive: &Archive, id: &TournamentId) -> Option<Tournament> {
    let lines = parsed(&tournament_lines(archive, id)?)?;
    Tournament::fold(&lines, &archive.games, None).ok()
}

/// The view of a finished tournament, with the head of its log.
pub(super) fn shown_tournament(archive: &Archive, id: &TournamentId) -> Option<ShownTournament> {
    let lines = tournament_lines(archive, id)?;
    let over = Tournament::fold(&parsed(&lines)?, &archive.games, None).ok()?;
    let head = Head::of(&StreamKey::Tournament(id.clone()).name(), &lines);
    Some(ShownTournament::over(&over, Some(head)))
}

/// A finished match, from the lines of its stream, with the secrets they reveal.
pub(super) fn match_(archive: &Archive, lines: &[String]) -> Option<Match> {
    let lines = parsed(lines)?;
    let secrets = revealed(&lines);
    Match::fold(&lines, &archive.games, secrets).ok()
}

/// The head of a match's log.
pub(super) fn match_head(key: &MatchKey, lines: &[String]) -> Head {
    Head::of(&StreamKey::Match(key.clone()).name(), lines)
}

/// The secrets that a log reveals.
pub(super) fn revealed(lines: &[Line]) -> Secrets {
    Secrets::of_log(lines, None)
}

pub(super) fn parsed(texts: &[String]) -> Option<Vec<Line>> {
    texts.iter().map(|text| Line::read(text).ok()).collect()
}

/// An answer from the log about a finished tournament or match: built once, shared and sent in
/// pieces. `build` returns `Some(None)` if there is no such tournament or match.
pub(super) async fn shared(
    web: &Web,
    key: answers::Key,
    content_type: &'static str,
    missing: impl FnOnce() -> Problem,
    build: impl FnOnce(&Archive) -> Option<Option<Vec<u8>>> + Send + 'static,
) -> Result<Response, Problem> {
    let built = web.answers.get(key, async { read(web, build).await?.ok_or_else(missing) });
    Ok(answers::send(built.await?, content_type))
}

/// The lines as text; `None` if there are none.
pub(super) fn as_lines(lines: &[String]) -> Option<Vec<u8>> {
    let mut text = lines.join("\n");
    text.push('\n');
    (!lines.is_empty()).then(|| text.into_bytes())
}
