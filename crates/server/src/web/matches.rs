//! Matches: the public view of a running one, and everything of a finished one.

use super::problem::Problem;
use super::{Answer, Web, answers, archive, tournaments};
use crate::engine::MatchKey;
use crate::engine::Wires;
use crate::engine::query::{ArchiveVersion, FindMatch, FoundMatch};
use crate::engine::show::{self, ShownMatch};
use agon_core::{MatchId, MatchName, TournamentId};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use std::sync::Arc;

/// A match that exists, or may have existed.
pub(super) enum Found {
    /// It runs or starts in a moment: the observers' view, as JSON.
    Running(Arc<str>),
    /// It is over; the log has it. If its tournament is over too, the log may have no such match.
    Over,
}

pub(super) fn unknown(key: &MatchKey) -> Problem {
    let MatchName { tournament, id } = &**key;
    Problem::not_found(format!("{tournament} has no match {id}; its page lists all matches"))
}

/// Returns whether an id has the form of a match's; others must not get into the name of a stream.
fn is_plain(id: &MatchId) -> bool {
    id.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

pub(super) type Names = Path<(String, String)>;

pub(super) fn key_of(Path((tournament, id)): Names) -> Result<MatchKey, Problem> {
    let key = MatchKey::new(TournamentId::from(tournament), MatchId::from(id));
    match is_plain(&key.id) {
        true => Ok(key),
        false => Err(unknown(&key)),
    }
}

pub(super) async fn look(web: &Web, key: &MatchKey) -> Result<Found, Problem> {
    match web.ask(FindMatch(key.clone())).await? {
        FoundMatch::NoTournament => Err(tournaments::unknown(&key.tournament)),
        FoundMatch::Nothing => Err(unknown(key)),
        FoundMatch::Running(shown) => Ok(Found::Running(shown.text())),
        FoundMatch::Over | FoundMatch::PerhapsOver => Ok(Found::Over),
    }
}

pub(super) async fn one(State(web): State<Web>, path: Names) -> Answer {
    let key = key_of(path)?;
    let text = match look(&web, &key).await? {
        Found::Running(shown) => shown.to_string(),
        Found::Over => over(&web, &key, true).await?,
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// The version of the logs of a tournament's matches.
pub(super) async fn version(web: &Web, tournament: &TournamentId) -> Result<u64, Problem> {
    web.ask(ArchiveVersion(tournament.clone())).await
}

/// A finished match, as JSON. Events come without the head of its log, so that they are the same
/// before and after a restart.
pub(super) async fn over(web: &Web, key: &MatchKey, with_head: bool) -> Result<String, Problem> {
    let asked = key.clone();
    let found = archive::read(web, move |archive| {
        let lines = archive::match_lines(archive, &asked)?;
        if lines.is_empty() {
            return Some(None);
        }
        let played = archive::match_(archive, &lines)?;
        let mut shown = ShownMatch::of(&played, Wires::new());
        if with_head {
            shown = shown.with_head(archive::match_head(&asked, &lines));
        }
        Some(Some(show::text(&shown).to_string()))
    });
    found.await?.ok_or_else(|| unknown(key))
}

/// The log of a finished match.
pub(super) async fn log(State(web): State<Web>, path: Names) -> Answer {
    let key = key_of(path)?;
    let MatchName { tournament, id } = &*key;
    match look(&web, &key).await? {
        Found::Running(_) => Err(Problem::conflict(format!(
            "the log of {id} is shown when it is over; watch its events until then"
        ))),
        Found::Over => {
            let version = version(&web, tournament).await?;
            let answer = answers::Key { path: format!("{tournament}/{id}/log"), version };
            let (asked, missing) = (key.clone(), || unknown(&key));
            archive::shared(&web, answer, "application/jsonl", missing, move |archive| {
                Some(archive::as_lines(&archive::match_lines(archive, &asked)?))
            })
            .await
        }
    }
}
