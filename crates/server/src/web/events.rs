//! Server-sent events: a snapshot, then every public change, until the end.
//!
//! An event's id stands for what it shows, also after a restart. Whoever comes back with the latest
//! id is sent nothing twice; whoever has seen the end is sent 204, at which browsers stop coming
//! back.

use super::matches::Names;
use super::problem::Problem;
use super::{Answer, Web, archive, matches, tournaments};
use crate::engine::show;
use crate::engine::watch::{About, NoWatch, Shown, Topic, Watch};
use agon_core::TournamentId;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde_json::Value;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What goes to one watcher.
enum Events {
    Live(Watch),
    /// Something that is over: one event and no more.
    Once(Option<Shown>),
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Event, Infallible>>> {
        let shown = match &mut *self {
            Events::Live(watch) => ready!(watch.poll_next(context)),
            Events::Once(shown) => shown.take(),
        };
        Poll::Ready(shown.map(|shown| Ok(event(&shown))))
    }
}

fn event(shown: &Shown) -> Event {
    let name = match shown.about {
        About::Snapshot => "snapshot",
        About::Change => "change",
        About::Lagged => "lagged",
        About::End => "end",
    };
    Event::default().event(name).id(format!("{:016x}", shown.mark)).data(&*shown.data)
}

fn seen(headers: &HeaderMap) -> Option<u64> {
    u64::from_str_radix(headers.get("last-event-id")?.to_str().ok()?, 16).ok()
}

fn sent(events: Events) -> Response {
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

/// The only event of something that is over.
fn ended(value: &Value, seen: Option<u64>) -> Response {
    let shown = Shown::new(About::End, value.to_string().into());
    if seen == Some(shown.mark) {
        return StatusCode::NO_CONTENT.into_response();
    }
    sent(Events::Once(Some(shown)))
}

/// Watches something that runs; `None` if it does not.
async fn watch(web: &Web, topic: Topic, seen: Option<u64>) -> Result<Option<Response>, Problem> {
    let streams = vec![topic.stream()];
    match web.ask(streams, move |engine| engine.watch(topic, seen)).await? {
        Ok(watch) => Ok(Some(sent(Events::Live(watch)))),
        Err(NoWatch::NotRunning) => Ok(None),
        Err(NoWatch::Full) => Err(Problem::busy("too many watch at once")),
    }
}

pub(super) async fn of_match(State(web): State<Web>, path: Names, headers: HeaderMap) -> Answer {
    let (tournament, id) = matches::names(path)?;
    let seen = seen(&headers);
    let topic = Topic::Match((tournament.clone(), id.clone()));
    if let Some(response) = watch(&web, topic, seen).await? {
        return Ok(response);
    }
    match matches::look(&web, &tournament, &id).await? {
        matches::Found::NoTournament => Err(tournaments::unknown(&tournament)),
        matches::Found::Nothing => Err(matches::unknown(&tournament, &id)),
        matches::Found::Running(_) => Err(Problem::busy("the match is about to start")),
        matches::Found::Over | matches::Found::PerhapsOver => {
            let shown = matches::over(&web, &tournament, &id).await?;
            Ok(ended(&shown, seen))
        }
    }
}

pub(super) async fn of_tournament(
    State(web): State<Web>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer {
    let id = TournamentId::from(id);
    let seen = seen(&headers);
    if let Some(response) = watch(&web, Topic::Tournament(id.clone()), seen).await? {
        return Ok(response);
    }
    let asked = id.clone();
    match web.ask_lobby(move |engine| tournaments::find(engine, &asked)).await? {
        tournaments::Found::Nothing => Err(tournaments::unknown(&id)),
        // Its secret is on its way to the log.
        tournaments::Found::Shown(shown) if shown["standing"] == "running" => {
            Err(Problem::busy("the tournament is about to start"))
        }
        tournaments::Found::Shown(_) => {
            let detail = format!("{id} does not run; look at it until it does");
            Err(Problem::conflict(detail))
        }
        tournaments::Found::Running(_) => Err(Problem::busy("the tournament is about to start")),
        tournaments::Found::Over => {
            let over = archive::read(&web, move |archive| {
                archive::tournament(archive, &id).map(|over| show::tournament(&over))
            });
            Ok(ended(&over.await?, seen))
        }
    }
}
