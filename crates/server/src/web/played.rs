//! Past play: a player's latest matches, and whole games, position by position.

use super::changes::{Change, ViewFold};
use super::problem::Problem;
use super::{Answer, Web, answers, archive, games, standings};
use crate::recent::{At, KEPT_MAX};
use agon_core::{
    Event, GameResult, JsonText, Line, Match, MatchId, MatchName, MatchReplay, MatchReport,
    PlayerName, Raw, ReplayStep, Timestamp, TournamentId,
};
use agon_games::{GameState, Registry, Seat, Viewer};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The latest matches of a player.
#[derive(Serialize, JsonSchema)]
pub(super) struct Played {
    player: PlayerName,
    /// The latest first, up to 20.
    matches: Vec<PlayedMatch>,
}

/// The latest matches of all players.
#[derive(Serialize, JsonSchema)]
pub(super) struct Latest {
    /// The latest first, up to 20.
    matches: Vec<PlayedMatch>,
}

/// A match that is over.
#[derive(Serialize, JsonSchema)]
struct PlayedMatch {
    tournament: TournamentId,
    game: String,
    /// When it was over.
    at: Timestamp,
    #[serde(flatten)]
    report: MatchReport,
}

pub(super) async fn lately(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let player = standings::known(&web, &name).await?;
    let mut places: Vec<At> = standings::lately(&web, &player).await?.played.into();
    // Players who claimed a guest account keep its games.
    if let Some(guest) = standings::claimed_by(&web, &player).await? {
        places.extend(standings::lately(&web, &guest).await?.played);
        places.sort_by_key(|place| std::cmp::Reverse(place.at));
        places.truncate(KEPT_MAX);
    }
    let matches = at_places(&web, places).await?;
    Ok(Json(Played { player, matches }).into_response())
}

pub(super) async fn latest(State(web): State<Web>) -> Answer {
    let places = standings::latest(&web).await?;
    let matches = at_places(&web, places).await?;
    Ok(Json(Latest { matches }).into_response())
}

/// The matches of these entries, in order.
async fn at_places(web: &Web, places: Vec<At>) -> Result<Vec<PlayedMatch>, Problem> {
    let matches = archive::read(web, move |archive| {
        let (mut found, mut opened) = (Vec::new(), BTreeMap::new());
        for At { tournament, id, at } in places {
            let (game, reports) = match opened.entry(tournament.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let played = archive::tournament(archive, &tournament)?;
                    let rounds = played.results().rounds.into_iter();
                    let reports = rounds.flat_map(|round| round.matches).collect::<Vec<_>>();
                    place.insert((played.plan().game.clone(), reports))
                }
            };
            // A match that is being replayed has no result.
            let Some(report) = reports.iter().find(|report| report.id == id) else { continue };
            let (game, report) = (game.clone(), report.clone());
            found.push(PlayedMatch { tournament, game, at, report });
        }
        Some(found)
    });
    matches.await
}

/// How a replay shows its positions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// True if every step after the first has `changes` in place of its `view`.
    #[serde(default)]
    changes: bool,
}

/// A game, position by position.
#[derive(Serialize, JsonSchema)]
pub(super) struct Replay {
    tournament: TournamentId,
    r#match: MatchId,
    game: String,
    number: u32,
    seats: Vec<PlayerName>,
    result: GameResult,
    steps: Vec<Step>,
}

/// Something that happened, and the position after it.
#[derive(Serialize, JsonSchema)]
struct Step {
    /// When.
    at: Timestamp,
    /// The event's name in the log.
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<Seat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Raw>,
    /// The result of luck after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    drawn: Option<Raw>,
    /// A sentence for people, without the player's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    tells: Option<String>,
    /// Everything, also what was hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<Raw>,
    /// The differences from the view of the step before, as a JSON Patch (RFC 6902).
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Change>>,
}

pub(super) async fn replay(
    State(web): State<Web>,
    asked: games::Numbered,
    Query(shape): Query<Shape>,
) -> Answer {
    let (key, number, version) = games::finished(&web, asked, "shown").await?;
    let MatchName { tournament, id } = &*key;
    let asked = key.clone();
    let kind = if shape.changes { "changes" } else { "replay" };
    let answer = answers::Key { path: format!("{tournament}/{id}/{number}/{kind}"), version };
    let missing = || Problem::not_found(format!("{tournament} had no game {number} of match {id}"));
    archive::shared(&web, answer, "application/json", missing, move |archive| {
        let lines = archive::parsed(&archive::match_lines(archive, &asked)?)?;
        if lines.is_empty() {
            return Some(None);
        }
        match replayed(&lines, &archive.games, number)? {
            Some(mut replay) => {
                if shape.changes {
                    fold_views(&mut replay.steps)?;
                }
                Some(Some(serde_json::to_vec(&replay).ok()?))
            }
            None => Some(None),
        }
    })
    .await
}

/// A game of a finished match; `Some(None)` if it has no game of that number.
fn replayed(lines: &[Line], games: &Registry, number: u32) -> Option<Option<Replay>> {
    let mut replay = MatchReplay::new(lines, games, archive::revealed(lines)).ok()?;
    let mut steps = Vec::new();
    while let Some(next) = replay.step() {
        let ReplayStep { line, before, after } = next.ok()?;
        if let Some(game) = running(after, number) {
            steps.extend(step(line, running(before, number), game));
        }
    }
    let (played, plan) = (replay.played(), replay.plan());
    let finished = played.finished().find(|(result, _)| result.game == number);
    Some(finished.map(|(result, _)| Replay {
        tournament: plan.tournament.clone(),
        r#match: plan.id.clone(),
        game: plan.game.clone(),
        number,
        seats: result.seats.clone(),
        result: result.clone(),
        steps,
    }))
}

/// The game of that number, while it runs.
fn running(played: &Match, number: u32) -> Option<&dyn GameState> {
    let referee = played.referee().filter(|referee| referee.number() == number);
    referee.map(|referee| referee.game())
}

fn step(line: &Line, before: Option<&dyn GameState>, after: &dyn GameState) -> Option<Step> {
    let (mut seat, mut answer, mut tells) = (None, None, None);
    let drawn = match &line.event {
        Event::GameStarted(started) => started.drawn.as_ref(),
        Event::AnswerAccepted(accepted) => {
            let text = accepted.answer.get();
            tells = before.map(|before| after.tell(before, accepted.seat, text));
            (seat, answer) = (Some(accepted.seat), Some(accepted.answer.to_raw()));
            accepted.drawn.as_ref()
        }
        Event::SeatRemoved(removed) => {
            seat = Some(removed.seat);
            removed.drawn.as_ref()
        }
        _ => return None,
    };
    let drawn = drawn.map(JsonText::to_raw);
    let (event, view) = (line.event.tag(), Some(Raw(after.view(Viewer::Full))));
    Some(Step { at: line.at, event, seat, answer, drawn, tells, view, changes: None })
}

/// Replaces the view of every step but the first by its changes.
fn fold_views(steps: &mut [Step]) -> Option<()> {
    let mut fold = ViewFold::default();
    for step in steps {
        step.changes = fold.next(step.view.as_ref()?.get()).ok()?;
        if step.changes.is_some() {
            step.view = None;
        }
    }
    Some(())
}
