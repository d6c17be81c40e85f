//! Single games: what everybody may see of one, found in what everybody may see of its match.

use super::matches::Found;
use super::problem::Problem;
use super::{Answer, Web, archive, matches, tournaments};
use crate::engine::MatchKey;
use agon_core::{MatchId, Preset, TournamentId};
use agon_games::Viewer;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde_json::{Value, json};

/// More games than any match has.
const NUMBER_MAX: u32 = 100_000;

/// The names of a tournament and a match, and the number of a game.
pub(super) type Numbered = Path<(String, String, String)>;

/// The games and presets there are.
pub(super) async fn all(State(web): State<Web>) -> Answer {
    let archive = web.ask_lobby(|engine| engine.archive()).await?;
    let names = archive.games.names().into_iter();
    let kinds = names.filter_map(|name| Some((name, archive.games.kind(name)?.seats())));
    let games = kinds.map(
        |(game, seats)| json!({"game": game, "at_least": seats.start(), "at_most": seats.end()}),
    );
    let presets = Preset::all().into_iter().map(
        |Preset { name, game, about, .. }| json!({"preset": name, "game": game, "about": about}),
    );
    let (games, presets): (Vec<Value>, Vec<Value>) = (games.collect(), presets.collect());
    Ok(Json(json!({"games": games, "presets": presets})).into_response())
}

/// The number of a game, from 1.
pub(super) fn number(id: &MatchId, text: &str) -> Result<u32, Problem> {
    let number = text.parse::<u32>().ok().filter(|number| (1..=NUMBER_MAX).contains(number));
    number.ok_or_else(|| {
        let detail = format!("match {id} has no game {text:?}; games are numbered from 1");
        Problem::not_found(detail)
    })
}

/// A game, as far as what is shown of its match shows it.
pub(super) fn within(of_match: &Value, number: u32) -> Value {
    let about = &of_match["match"];
    let mut game = json!({
        "tournament": about["tournament"],
        "match": about["id"],
        "game": of_match["game"],
        "number": number,
    });
    let running = &of_match["in_progress"];
    let latest = &of_match["latest"];
    let finished = || about["games"].as_array()?.iter().find(|result| result["game"] == number);
    if running["game"] == number {
        game["standing"] = json!("running");
        for field in ["seats", "view", "voided"] {
            if let Some(value) = running.get(field) {
                game[field] = value.clone();
            }
        }
    } else if let Some(result) = finished() {
        game["standing"] = json!("over");
        game["result"] = result.clone();
        if latest["result"]["game"] == number {
            game["view"] = latest["view"].clone();
        }
    } else {
        let over = of_match["standing"] == "over";
        game["standing"] = json!(if over { "not-played" } else { "waiting" });
    }
    game
}

pub(super) async fn one(State(web): State<Web>, Path((tournament, id, game)): Numbered) -> Answer {
    let (tournament, id) = matches::names(Path((tournament, id)))?;
    let number = number(&id, &game)?;
    Ok(Json(look(&web, &tournament, &id, number).await?).into_response())
}

/// A game of a match that runs or is over.
pub(super) async fn look(
    web: &Web,
    tournament: &TournamentId,
    id: &MatchId,
    number: u32,
) -> Result<Value, Problem> {
    let over = match matches::look(web, tournament, id).await? {
        Found::NoTournament => return Err(tournaments::unknown(tournament)),
        Found::Nothing => return Err(matches::unknown(tournament, id)),
        Found::Running(of_match) => {
            let mut game = within(&of_match, number);
            if game["standing"] == "over" && game.get("view").is_none() {
                let view = public_view(web, tournament, id, number).await?;
                game["view"] = json!(view);
            }
            return Ok(game);
        }
        Found::Over | Found::PerhapsOver => matches::over(web, tournament, id).await?,
    };
    let mut game = within(&over, number);
    if game["standing"] == "over" {
        let key = MatchKey::new(tournament.clone(), id.clone());
        let view = archive::read(web, move |archive| {
            let played = archive::match_(archive, &key.0, &key.1)?;
            let found = played.finished().find(|(result, _)| result.game == number);
            found.map(|(_, game)| game.view(Viewer::Full))
        });
        game["view"] = json!(view.await?);
    }
    Ok(game)
}

/// The end of a game that is over in a match that runs.
async fn public_view(
    web: &Web,
    tournament: &TournamentId,
    id: &MatchId,
    number: u32,
) -> Result<Option<agon_games::Json>, Problem> {
    let key = MatchKey::new(tournament.clone(), id.clone());
    web.ask_lobby(move |engine| {
        let mut finished = engine.live_match(&key)?.finished();
        let found = finished.find(|(result, _)| result.game == number);
        found.map(|(_, game)| game.view(Viewer::Public))
    })
    .await
}
