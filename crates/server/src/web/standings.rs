//! Statistics and ladders: a projection of all tournaments' streams, kept and carried on when a
//! tournament has something to tell.

use super::problem::Problem;
use super::recent::{At, Lately, Recent};
use super::{Answer, Web, accounts};
use crate::engine::query::{FindAccount, ListStarted};
use crate::engine::{Archive, Handle, StreamKey};
use agon_core::rating::{Ranked, RatingPoint};
use agon_core::statistics::Record;
use agon_core::{
    Event, HeadToHead, Line, PlayerName, PlayerStatistics, RatingSettings, Statistics, TournamentId,
};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Opponents that are listed.
const OPPONENTS_MAX: usize = 500;

/// The projection, shared by all requests; whoever needs it newer carries it on.
#[derive(Default)]
pub(crate) struct Ledger(Arc<Mutex<Kept>>);

/// Why there are no statistics now.
pub(crate) enum NoStatistics {
    Stopping,
    Unreadable,
}

impl Ledger {
    /// What a player has done so far, all games together, and its rank in one game.
    pub(crate) async fn record(
        &self,
        engine: &Handle,
        player: PlayerName,
        game: &'static str,
    ) -> Result<(Record, Option<u32>), NoStatistics> {
        let look = move |statistics: &Statistics, _: &Recent| {
            let known = statistics.player(&player);
            (known.total, known.by_game.get(game).and_then(|of_game| of_game.rank))
        };
        self.look(engine, look).await
    }
}

#[derive(Default)]
struct Kept {
    statistics: Option<Statistics>,
    recent: Recent,
    /// The engine's count of records when it was last carried on.
    records: Option<u64>,
    /// How far each stream was read; `None` where it has ended.
    read: BTreeMap<TournamentId, Option<u64>>,
}

impl Kept {
    fn carry_on(&mut self, archive: &Archive, tournaments: &[TournamentId]) -> Option<()> {
        let fresh = || Statistics::new(&archive.games, RatingSettings::default());
        let statistics = self.statistics.get_or_insert_with(fresh);
        for id in tournaments {
            let Some(after) = self.read.entry(id.clone()).or_insert(Some(0)) else { continue };
            let name = StreamKey::Tournament(id.clone()).name();
            let mut ended = false;
            for text in archive.log.load(&name, *after).ok()? {
                let line = Line::read(&text).ok()?;
                statistics.apply(id, line.at, &line.event).ok()?;
                self.recent.apply(id, line.at, &line.event);
                *after += 1;
                ended |= is_end(&line.event);
            }
            if ended {
                self.read.insert(id.clone(), None);
            }
        }
        Some(())
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::TournamentEnded(_) | Event::TournamentAborted(_))
}

/// Looks at the statistics as they are now.
async fn look<T: Send + 'static>(
    web: &Web,
    what: impl FnOnce(&Statistics, &Recent) -> T + Send + 'static,
) -> Result<T, Problem> {
    let seen = web.gateway.ledger().look(&web.handle, what).await;
    seen.map_err(|why| match why {
        NoStatistics::Stopping => Problem::stopping(),
        NoStatistics::Unreadable => Problem::internal(),
    })
}

impl Ledger {
    async fn look<T: Send + 'static>(
        &self,
        engine: &Handle,
        what: impl FnOnce(&Statistics, &Recent) -> T + Send + 'static,
    ) -> Result<T, NoStatistics> {
        let mut kept = Arc::clone(&self.0).lock_owned().await;
        let seen = kept.records.filter(|_| kept.statistics.is_some());
        let asked = engine.ask(ListStarted { seen }).await;
        let (records, started) = asked.ok_or(NoStatistics::Stopping)?;
        let archive = engine.archive().ok_or(NoStatistics::Stopping)?;
        let done = tokio::task::spawn_blocking(move || {
            if let Some(started) = started {
                if kept.carry_on(&archive, &started).is_none() {
                    // Half of a stream may have been read: begin anew next time.
                    *kept = Kept::default();
                    return None;
                }
                kept.records = Some(records);
            }
            let statistics = kept.statistics.as_ref()?;
            Some(what(statistics, &kept.recent))
        });
        done.await.ok().flatten().ok_or(NoStatistics::Unreadable)
    }
}

/// Reads what is past before anybody asks for it, away from the engine.
pub(super) async fn warm(web: Web) {
    // Whoever asks will be told what is wrong.
    let _ = look(&web, |_, _| ()).await;
}

/// What a player has done so far.
pub(super) async fn player(web: &Web, player: &PlayerName) -> Result<PlayerStatistics, Problem> {
    let player = player.clone();
    look(web, move |statistics, _| statistics.player(&player)).await
}

pub(super) async fn of_player(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let name = known(&web, &name).await?;
    Ok(Json(player(&web, &name).await?).into_response())
}

/// The name of an account there is.
pub(super) async fn known(web: &Web, name: &str) -> Result<PlayerName, Problem> {
    let name = accounts::name_of(name)?;
    match web.ask(FindAccount(name.clone())).await? {
        Some(_) => Ok(name),
        None => Err(Problem::not_found(format!("there is no account {name}"))),
    }
}

/// What a player did lately, in tournaments that had something to tell of it.
pub(super) async fn lately(web: &Web, player: &PlayerName) -> Result<Lately, Problem> {
    let player = player.clone();
    look(web, move |_, recent| recent.of(&player)).await
}

/// The latest matches of all.
pub(super) async fn latest(web: &Web) -> Result<Vec<At>, Problem> {
    look(web, |_, recent| recent.latest().cloned().collect()).await
}

/// One player against another.
#[derive(Serialize, JsonSchema)]
pub(super) struct Versus {
    player: PlayerName,
    other: PlayerName,
    #[serde(flatten)]
    met: HeadToHead,
}

pub(super) async fn versus(
    State(web): State<Web>,
    Path((player, other)): Path<(String, String)>,
) -> Answer {
    let (player, other) = (known(&web, &player).await?, known(&web, &other).await?);
    let both = (player.clone(), other.clone());
    let met = look(&web, move |statistics, _| statistics.head_to_head(&both.0, &both.1)).await?;
    Ok(Json(Versus { player, other, met }).into_response())
}

/// A player against everybody it has met.
#[derive(Serialize, JsonSchema)]
pub(super) struct Met {
    player: PlayerName,
    /// By name, up to 500.
    opponents: Vec<Opponent>,
}

/// One of them, from the view of the player.
#[derive(Serialize, JsonSchema)]
struct Opponent {
    other: PlayerName,
    #[serde(flatten)]
    met: HeadToHead,
}

pub(super) async fn met(State(web): State<Web>, Path(player): Path<String>) -> Answer {
    let player = known(&web, &player).await?;
    let asked = player.clone();
    let opponents = look(&web, move |statistics, _| {
        let others = statistics.opponents(&asked).into_iter().take(OPPONENTS_MAX);
        let others = others.map(|other| Opponent {
            other: other.clone(),
            met: statistics.head_to_head(&asked, other),
        });
        others.collect::<Vec<_>>()
    });
    let opponents = opponents.await?;
    Ok(Json(Met { player, opponents }).into_response())
}

/// How a player's rating at a game came to be.
#[derive(Serialize, JsonSchema)]
pub(super) struct RatingHistory {
    game: String,
    player: PlayerName,
    /// After each round it had a result in, oldest first.
    points: Vec<RatingPoint>,
}

pub(super) async fn history(
    State(web): State<Web>,
    Path((game, player)): Path<(String, String)>,
) -> Answer {
    check_game(&web, &game)?;
    let player = known(&web, &player).await?;
    let asked = (game.clone(), player.clone());
    let points = look(&web, move |statistics, _| {
        let ladder = statistics.ladder(&asked.0);
        ladder.map_or(Vec::new(), |ladder| ladder.history(&asked.1).to_vec())
    });
    let points = points.await?;
    Ok(Json(RatingHistory { game, player, points }).into_response())
}

fn check_game(web: &Web, game: &str) -> Result<(), Problem> {
    let games = web.handle.games();
    if games.kind(game).is_none() {
        let known = games.names().join(", ");
        return Err(Problem::not_found(format!("there is no game {game:?}; there are: {known}")));
    }
    Ok(())
}

/// Everybody who is rated at a game, the strongest first.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ladder {
    game: String,
    players: Vec<Ranked>,
}

pub(super) async fn ladder(State(web): State<Web>, Path(game): Path<String>) -> Answer {
    check_game(&web, &game)?;
    let asked = game.clone();
    let players = look(&web, move |statistics, _| statistics.ranking(&asked)).await?;
    Ok(Json(Ladder { game, players }).into_response())
}
