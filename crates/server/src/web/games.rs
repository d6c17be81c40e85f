//! Single games: the public view of one, taken from the public view of its match.

use super::matches::Found;
use super::problem::Problem;
use super::{Answer, Web, archive, matches};
use crate::engine::MatchKey;
use crate::engine::query::FindFinishedView;
use agon_core::{GameResult, MatchId, PlayerName, Preset, Raw, Ruling, TournamentId};
use agon_games::Viewer;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More games than any match has.
const NUMBER_MAX: u32 = 100_000;

/// The names of a tournament and a match, and the number of a game.
pub(super) type Numbered = Path<(String, String, String)>;

/// The games there are, and the policies with a name.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Games {
    games: Vec<ShownGameKind>,
    presets: Vec<ShownPreset>,
}

/// A game.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GameKind")]
struct ShownGameKind {
    game: String,
    /// The fewest players of a game.
    at_least: usize,
    /// The most players of a game.
    at_most: usize,
}

/// A policy with a name.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Preset")]
struct ShownPreset {
    preset: &'static str,
    game: &'static str,
    /// A line for people.
    about: &'static str,
    /// How many connected players start a game in the queue of this name; absent if an operator
    /// starts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_players: Option<u32>,
}

/// Lists the games and presets.
pub(super) async fn all(State(web): State<Web>) -> Answer {
    let registry = web.handle.games();
    let kinds = registry.names().into_iter().filter_map(|name| {
        let seats = registry.kind(name)?.seats();
        Some(ShownGameKind { game: name.into(), at_least: *seats.start(), at_most: *seats.end() })
    });
    let presets = Preset::all().into_iter().map(|preset| ShownPreset {
        preset: preset.name,
        game: preset.game,
        about: preset.about,
        queue_players: preset.queue_players,
    });
    let all = Games { games: kinds.collect(), presets: presets.collect() };
    Ok(Json(all).into_response())
}

/// The number of a game, from 1.
pub(super) fn number(key: &MatchKey, text: &str) -> Result<u32, Problem> {
    let number = text.parse::<u32>().ok().filter(|number| (1..=NUMBER_MAX).contains(number));
    number.ok_or_else(|| {
        let id = &key.id;
        let detail = format!("match {id} has no game {text:?}; games are numbered from 1");
        Problem::not_found(detail)
    })
}

/// The match and the number of a game, and the version of its tournament's records. The match must
/// be over; otherwise the error says that its games are `done` then.
pub(super) async fn finished(
    web: &Web,
    Path((tournament, id, game)): Numbered,
    done: &str,
) -> Result<(MatchKey, u32, u64), Problem> {
    let key = matches::key_of(Path((tournament, id)))?;
    let number = number(&key, &game)?;
    if let Found::Running(_) = matches::look(web, &key).await? {
        let id = &key.id;
        let detail = format!("the games of {id} are {done} when it is over; watch it until then");
        return Err(Problem::conflict(detail));
    }
    let version = matches::version(web, &key.tournament).await?;
    Ok((key, number, version))
}

/// A game.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Game")]
pub(super) enum ShownGame {
    /// It may come.
    Waiting { tournament: TournamentId, r#match: MatchId, game: String, number: u32 },
    /// It runs.
    Running {
        tournament: TournamentId,
        r#match: MatchId,
        game: String,
        number: u32,
        seats: Vec<PlayerName>,
        /// The public view; the schema of the game has its form.
        view: Raw,
        /// The operator's ruling that will make it void.
        #[serde(skip_serializing_if = "Option::is_none")]
        voided: Option<Ruling>,
    },
    /// It is over.
    Over {
        tournament: TournamentId,
        r#match: MatchId,
        game: String,
        number: u32,
        result: GameResult,
        /// The public view, and everything once the match is over. An event may come without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        view: Option<Raw>,
    },
    /// The match was decided without it.
    NotPlayed { tournament: TournamentId, r#match: MatchId, game: String, number: u32 },
}

impl ShownGame {
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, ShownGame::Waiting { .. })
    }

    /// Returns whether the game cannot change any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, ShownGame::Over { .. } | ShownGame::NotPlayed { .. })
    }
}

/// The part of a match's view that is parsed to find a game in it.
#[derive(Deserialize)]
struct MatchOfGame {
    standing: String,
    game: String,
    #[serde(rename = "match")]
    in_match: GamesOfMatch,
    in_progress: Option<RunningGame>,
    latest: Option<FinishedGame>,
}

#[derive(Deserialize)]
struct GamesOfMatch {
    tournament: TournamentId,
    id: MatchId,
    #[serde(default)]
    games: Vec<GameResult>,
}

#[derive(Deserialize)]
struct RunningGame {
    game: u32,
    seats: Vec<PlayerName>,
    view: Raw,
    voided: Option<Ruling>,
}

#[derive(Deserialize)]
struct FinishedGame {
    result: GameResult,
    view: Raw,
}

/// A game in a match's view; `None` only if the text is not a match's view.
pub(super) fn within(shown: &str, number: u32) -> Option<ShownGame> {
    let MatchOfGame { standing, game, in_match, in_progress, latest } =
        serde_json::from_str(shown).ok()?;
    let GamesOfMatch { tournament, id: r#match, games } = in_match;
    if let Some(running) = in_progress.filter(|running| running.game == number) {
        let RunningGame { seats, view, voided, .. } = running;
        return Some(ShownGame::Running { tournament, r#match, game, number, seats, view, voided });
    }
    if let Some(result) = games.into_iter().find(|result| result.game == number) {
        let latest = latest.filter(|latest| latest.result.game == number);
        let view = latest.map(|latest| latest.view);
        return Some(ShownGame::Over { tournament, r#match, game, number, result, view });
    }
    Some(match standing == "over" {
        true => ShownGame::NotPlayed { tournament, r#match, game, number },
        false => ShownGame::Waiting { tournament, r#match, game, number },
    })
}

pub(super) async fn one(State(web): State<Web>, Path((tournament, id, game)): Numbered) -> Answer {
    let key = matches::key_of(Path((tournament, id)))?;
    let number = number(&key, &game)?;
    Ok(Json(look(&web, &key, number).await?).into_response())
}

/// A game of a running or finished match.
pub(super) async fn look(web: &Web, key: &MatchKey, number: u32) -> Result<ShownGame, Problem> {
    let (shown, runs) = match matches::look(web, key).await? {
        Found::Running(shown) => (shown, true),
        Found::Over => (matches::over(web, key, false).await?.into(), false),
    };
    let mut game = within(&shown, number).ok_or_else(Problem::internal)?;
    match &mut game {
        ShownGame::Over { view, .. } if !runs => *view = Some(full_view(web, key, number).await?),
        ShownGame::Over { view: view @ None, .. } => {
            let query = FindFinishedView { key: key.clone(), number };
            *view = web.ask(query).await?.map(Raw);
        }
        _ => {}
    }
    Ok(game)
}

/// The full view of a game of a finished match.
async fn full_view(web: &Web, key: &MatchKey, number: u32) -> Result<Raw, Problem> {
    let key = key.clone();
    let view = archive::read(web, move |archive| {
        let played = archive::match_(archive, &archive::match_lines(archive, &key)?)?;
        let found = played.finished().find(|(result, _)| result.game == number);
        found.map(|(_, game)| Raw(game.view(Viewer::Full)))
    });
    view.await
}
