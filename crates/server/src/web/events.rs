//! Events: a snapshot, then every public change, until the end; of the lobby, a tournament, a match or
//! a game.
//!
//! An event's id stands for what it shows, also after a restart. Whoever comes back with the latest
//! id is sent nothing twice; whoever has seen the end is sent 204, at which browsers stop coming
//! back.

use super::matches::{Found, Names};
use super::observe::Asked;
use super::observer::{Observer, like};
use super::problem::Problem;
use super::{Answer, Web, archive, games, lobby, matches, tournaments};
use crate::engine::watch::{About, NoWatch, Topic, Watch};
use crate::engine::{MatchKey, show};
use agon_core::TournamentId;
use axum::extract::{Path, State};

/// Watches something that runs; `None` if it does not.
async fn watch(web: &Web, topic: Topic, seen: Option<u64>) -> Result<Option<Watch>, Problem> {
    let streams = vec![topic.stream()];
    match web.ask(streams, move |engine| engine.watch(topic, seen)).await? {
        Ok(watch) => Ok(Some(watch)),
        Err(NoWatch::NotRunning) => Ok(None),
        Err(NoWatch::Full) => Err(Problem::busy("too many watch at once")),
    }
}

pub(super) async fn of_lobby(State(web): State<Web>, asked: Asked) -> Answer {
    let watch = lobby::watch(&web, asked.seen)?;
    let delay_ms = asked.delay_ms;
    asked.answer(Observer::of(watch, delay_ms))
}

pub(super) async fn of_match(State(web): State<Web>, path: Names, asked: Asked) -> Answer {
    let (tournament, id) = matches::names(path)?;
    let topic = Topic::Match(MatchKey::new(tournament.clone(), id.clone()));
    if let Some(watch) = watch(&web, topic, asked.seen).await? {
        let delay_ms = asked.delay_ms;
        return asked.answer(Observer::of(watch, delay_ms));
    }
    match matches::look(&web, &tournament, &id).await? {
        Found::NoTournament => Err(tournaments::unknown(&tournament)),
        Found::Nothing => Err(matches::unknown(&tournament, &id)),
        Found::Running(_) => Err(Problem::busy("the match is about to start")),
        Found::Over | Found::PerhapsOver => {
            let shown = matches::over(&web, &tournament, &id).await?;
            asked.ended(&shown)
        }
    }
}

/// A game is watched by watching its match.
pub(super) async fn of_game(
    State(web): State<Web>,
    Path((tournament, id, game)): Path<(String, String, String)>,
    asked: Asked,
) -> Answer {
    let (tournament, id) = matches::names(Path((tournament, id)))?;
    let number = games::number(&id, &game)?;
    let topic = Topic::Match(MatchKey::new(tournament.clone(), id.clone()));
    // What was seen of the game is not what was seen of the match.
    let Some(watch) = watch(&web, topic, None).await? else {
        let over = games::look(&web, &tournament, &id, number).await?;
        return match over["standing"] == "waiting" {
            true => Err(Problem::busy("the match is about to start")),
            false => asked.ended(&over),
        };
    };
    let (delay_ms, seen) = (asked.delay_ms, asked.seen);
    let turned = move |shown: &crate::engine::watch::Shown| {
        let of_match = serde_json::from_str(&shown.data).ok()?;
        let game = games::within(&of_match, number);
        let over = game["standing"] == "over" || game["standing"] == "not-played";
        let about = if over { About::End } else { shown.about };
        Some(like(shown, about, game.to_string().into()))
    };
    asked.answer(Observer::turned(watch, delay_ms, seen, Box::new(turned)))
}

pub(super) async fn of_tournament(
    State(web): State<Web>,
    Path(id): Path<String>,
    asked: Asked,
) -> Answer {
    let id = TournamentId::from(id);
    if let Some(watch) = watch(&web, Topic::Tournament(id.clone()), asked.seen).await? {
        let delay_ms = asked.delay_ms;
        return asked.answer(Observer::of(watch, delay_ms));
    }
    let wanted = id.clone();
    match web.ask_lobby(move |engine| tournaments::find(engine, &wanted)).await? {
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
            asked.ended(&over.await?)
        }
    }
}
