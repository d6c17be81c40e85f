//! Luck and skill of finished games: the analysis of one game, and the points of a whole tournament
//! without luck.

use super::problem::Problem;
use super::tournaments::unknown;
use super::{Answer, Web, answers, archive, games, matches};
use crate::driver::Archive;
use crate::engine::MatchKey;
use crate::engine::query::{FindTournament, FoundTournament};
use agon_analysis::{
    AdjustedStandings, GameAnalysis, Models, RecordedGame, analyse_game, recorded_games,
};
use agon_core::{MatchName, Millis, TournamentId};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The most matches of a tournament that are analysed at once.
const MATCHES_MAX: usize = 2_000;

/// The most analyses of games that run or wait.
const QUEUE_MAX: usize = 16;

/// The points of all players of a tournament, as scored and without luck.
#[derive(Serialize, JsonSchema)]
pub(super) struct TournamentAnalysis {
    tournament: TournamentId,
    /// The name of the game's rules.
    game: String,
    /// The meaning of the values, and how exact they are.
    model: String,
    #[serde(flatten)]
    standings: AdjustedStandings,
    /// How many finished games have no analysis.
    refused: u32,
}

/// The permits for analyses of games, which may take many seconds. They have a thread of their own,
/// so that they do not keep other pages waiting.
pub(super) struct Analysts {
    /// Analyses that run or wait.
    queue: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

impl Default for Analysts {
    fn default() -> Analysts {
        let [queue, running] = [QUEUE_MAX, 1].map(|count| Arc::new(Semaphore::new(count)));
        Analysts { queue, running }
    }
}

impl Analysts {
    /// Analyses a game as soon as no other game is analysed.
    async fn analyse(&self, game: RecordedGame) -> Result<Vec<u8>, Problem> {
        let queued = Arc::clone(&self.queue).try_acquire_owned();
        let queued = queued.map_err(|_| Problem::busy("the server analyses other games"))?;
        let running = Arc::clone(&self.running).acquire_owned().await;
        let running = running.map_err(|_| Problem::internal())?;
        let analysed = tokio::task::spawn_blocking(move || {
            // Held to the end, even if the client has disconnected meanwhile.
            let _permits = (queued, running);
            analyse_game(&game, &Models::standard())
        });
        let analysed = analysed.await.map_err(|_| Problem::internal())?;
        let analysed = analysed.map_err(|why| Problem::unprocessable(why.to_string()))?;
        serde_json::to_vec::<GameAnalysis>(&analysed).map_err(|_| Problem::internal())
    }
}

/// How long a client waits for an analysis.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Waiting {
    /// After this many milliseconds the answer is 202, and the client asks again later.
    #[serde(default)]
    wait_ms: Option<Millis>,
}

pub(super) async fn of_game(
    State(web): State<Web>,
    asked: games::Numbered,
    Query(Waiting { wait_ms }): Query<Waiting>,
) -> Answer {
    let (key, number, version) = games::finished(&web, asked, "analysed").await?;
    let MatchName { tournament, id } = &*key;
    let answer = answers::Key { path: format!("{tournament}/{id}/{number}/analysis"), version };
    // A task of its own: if the request takes too long, the next one finds the finished analysis.
    let mut built = tokio::spawn(async move {
        let build = async {
            let asked = key.clone();
            let found = move |archive: &Archive| {
                let games = recorded(archive, &asked)?;
                Some(games.into_iter().find(|game| game.result.game == number))
            };
            let game = archive::read(&web, found).await?.ok_or_else(|| missing(&key, number))?;
            web.analysts.analyse(game).await
        };
        web.answers.get(answer, build).await
    });
    let built = match wait_ms {
        None => built.await,
        Some(wait_ms) => match timeout(Duration::from_millis(wait_ms), &mut built).await {
            Ok(built) => built,
            Err(_) => return Ok(StatusCode::ACCEPTED.into_response()),
        },
    };
    let built = built.map_err(|_| Problem::internal())?;
    Ok(answers::send(built?, "application/json"))
}

fn missing(key: &MatchKey, number: u32) -> Problem {
    let MatchName { tournament, id } = &**key;
    Problem::not_found(format!("{tournament} had no game {number} of match {id}"))
}

/// The finished games of a match; none if it was not played.
fn recorded(archive: &Archive, key: &MatchKey) -> Option<Vec<RecordedGame>> {
    let lines = archive::parsed(&archive::match_lines(archive, key)?)?;
    if lines.is_empty() {
        return Some(Vec::new());
    }
    recorded_games(&lines, &archive.games).ok()
}

pub(super) async fn of_tournament(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    match web.ask(FindTournament(id.clone())).await? {
        FoundTournament::Nothing => return Err(unknown(&id)),
        FoundTournament::Over => {}
        FoundTournament::NotStarted(_) | FoundTournament::Running(_) => {
            let detail = format!("the games of {id} are analysed when it is over");
            return Err(Problem::conflict(detail));
        }
    }
    let version = matches::version(&web, &id).await?;
    let answer = answers::Key { path: format!("{id}/analysis"), version };
    let build = move |archive: &Archive| Some(whole(archive, &id));
    let built = web.answers.get(answer, async { archive::read(&web, build).await? });
    Ok(answers::send(built.await?, "application/json"))
}

/// The analysis of a finished tournament, as JSON.
fn whole(archive: &Archive, id: &TournamentId) -> Result<Vec<u8>, Problem> {
    let played = archive::tournament_lines(archive, id).filter(|lines| !lines.is_empty());
    if played.is_none() {
        return Err(Problem::conflict(format!("{id} was not played")));
    }
    let played = archive::tournament(archive, id).ok_or_else(Problem::internal)?;
    let (results, models) = (played.results(), Models::standard());
    let Some(model) = models.about(&results.game) else {
        return Err(Problem::unprocessable(format!("there is no analysis for {}", results.game)));
    };
    let reports = || results.rounds.iter().flat_map(|round| &round.matches);
    let ids: Vec<_> = reports().map(|report| &report.id).collect();
    if ids.len() > MATCHES_MAX {
        return Err(Problem::unprocessable(format!(
            "{id} has more than {MATCHES_MAX} matches; `agon analyse` analyses its log"
        )));
    }
    let models = models.among(reports().map(|report| report.result.games.len()).sum());
    let (mut analyses, mut refused) = (Vec::new(), 0);
    for match_id in ids {
        let key = MatchKey::new(id.clone(), match_id.clone());
        for game in recorded(archive, &key).ok_or_else(Problem::internal)? {
            match analyse_game(&game, &models) {
                Ok(analysis) => analyses.push(GameAnalysis { steps: Vec::new(), ..analysis }),
                Err(_) => refused += 1,
            }
        }
    }
    let analysis = TournamentAnalysis {
        tournament: id.clone(),
        game: results.game.clone(),
        model: model.to_owned(),
        standings: AdjustedStandings::of(&analyses),
        refused,
    };
    serde_json::to_vec(&analysis).map_err(|_| Problem::internal())
}
