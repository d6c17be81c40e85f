//! Events of the lobby, a tournament, a match or a game: a snapshot, then every public change,
//! until the end.
//!
//! An event's id identifies its content, also after a restart. A client that reconnects with the
//! latest id is sent nothing twice. A client that has seen the end gets 204, at which browsers stop
//! reconnecting.

use super::matches::{Found, Names};
use super::observe::{EventsRequest, Observer, like};
use super::problem::Problem;
use super::{Answer, Web, archive, games, lobby, matches, tournaments};
use crate::engine::query::{FindTournament, FoundTournament};
use crate::engine::show::{self, ShownTournament};
use crate::engine::watch::{About, NoWatch, Shown, Topic};
use crate::watch::Watch;
use agon_core::TournamentId;
use axum::extract::{Path, State};

/// Subscribes to a running topic; `None` if it does not run.
async fn watch(web: &Web, topic: Topic, seen: Option<u64>) -> Result<Option<Watch>, Problem> {
    match web.handle.watch(topic, seen).await.ok_or_else(Problem::stopping)? {
        Ok(watch) => Ok(Some(watch)),
        Err(NoWatch::NotRunning) => Ok(None),
        Err(NoWatch::Full) => {
            Err(Problem::busy("too many spectators (limit 2000); try again later"))
        }
    }
}

pub(super) async fn of_lobby(State(web): State<Web>, asked: EventsRequest) -> Answer {
    let watch = lobby::watch(&web, asked.seen)?;
    let delay_ms = asked.delay_ms;
    asked.answer(Observer::of(watch, delay_ms))
}

pub(super) async fn of_match(State(web): State<Web>, path: Names, asked: EventsRequest) -> Answer {
    let key = matches::key_of(path)?;
    if let Some(watch) = watch(&web, Topic::Match(key.clone()), asked.seen).await? {
        let delay_ms = asked.delay_ms;
        return asked.answer(Observer::of(watch, delay_ms));
    }
    match matches::look(&web, &key).await? {
        Found::Running(_) => Err(Problem::busy("the match is about to start")),
        Found::Over => {
            let over = matches::over(&web, &key, false).await?;
            asked.ended(over.into())
        }
    }
}

/// Events of a game come from a subscription to its match.
pub(super) async fn of_game(
    State(web): State<Web>,
    Path((tournament, id, game)): Path<(String, String, String)>,
    asked: EventsRequest,
) -> Answer {
    let key = matches::key_of(Path((tournament, id)))?;
    let number = games::number(&key, &game)?;
    // The client has seen an event of the game, not of the match.
    let Some(watch) = watch(&web, Topic::Match(key.clone()), None).await? else {
        let game = games::look(&web, &key, number).await?;
        return match game.is_waiting() {
            true => Err(Problem::busy("the match is about to start")),
            false => asked.ended(show::text(&game)),
        };
    };
    let (delay_ms, seen) = (asked.delay_ms, asked.seen);
    let turned = move |shown: &Shown| {
        let game = games::within(&shown.view.text(), number)?;
        let about = if game.is_over() { About::End } else { shown.about };
        Some(like(shown, about, show::text(&game)))
    };
    asked.answer(Observer::turned(watch, delay_ms, seen, Box::new(turned)))
}

pub(super) async fn of_tournament(
    State(web): State<Web>,
    Path(id): Path<String>,
    asked: EventsRequest,
) -> Answer {
    let id = TournamentId::from(id);
    if let Some(watch) = watch(&web, Topic::Tournament(id.clone()), asked.seen).await? {
        let delay_ms = asked.delay_ms;
        return asked.answer(Observer::of(watch, delay_ms));
    }
    match web.ask(FindTournament(id.clone())).await? {
        FoundTournament::Nothing => Err(tournaments::unknown(&id)),
        // Its secret is in flight.
        FoundTournament::NotStarted(ShownTournament::Running { .. })
        | FoundTournament::Running(_) => Err(Problem::busy("the tournament is about to start")),
        FoundTournament::NotStarted(_) => {
            let detail = format!("{id} does not run yet; wait until it starts");
            Err(Problem::conflict(detail))
        }
        FoundTournament::Over => {
            let over = archive::read(&web, move |archive| {
                let over = archive::tournament(archive, &id)?;
                Some(show::text(&ShownTournament::over(&over, None)))
            });
            asked.ended(over.await?)
        }
    }
}
