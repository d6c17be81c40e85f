//! Statistics and ladders, from the ledger.

use super::problem::Problem;
use super::{Answer, Web, accounts};
use crate::engine::query::FindAccount;
use crate::ledger::NoStatistics;
use crate::recent::{At, Lately, PastTournament, Recent};
use agon_core::rating::{Ranked, RatingPoint};
use agon_core::{HeadToHead, PlayerName, PlayerStatistics, Statistics};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many opponents are listed.
const OPPONENTS_MAX: usize = 500;

/// Reads the statistics, updated to now.
async fn look<T: Send + 'static>(
    web: &Web,
    what: impl FnOnce(&Statistics, &Recent) -> T + Send + 'static,
) -> Result<T, Problem> {
    let seen = web.host.ledger().look(&web.handle, what).await;
    seen.map_err(|why| match why {
        NoStatistics::Stopping => Problem::stopping(),
        NoStatistics::Unreadable => Problem::internal(),
    })
}

/// Reads the past before the first request needs it, away from the engine.
pub(super) async fn warm(web: Web) {
    // The first request reports the error.
    let _ = look(&web, |_, _| ()).await;
}

/// A player's record so far, with that of the guest whose account they claimed.
pub(super) async fn player(web: &Web, player: &PlayerName) -> Result<PlayerStatistics, Problem> {
    let (player, guest) = (player.clone(), claimed_by(web, player).await?);
    let both = look(web, move |statistics, _| {
        let mut own = statistics.player(&player);
        guest.iter().for_each(|guest| own.add_guest(&statistics.player(guest)));
        own
    });
    both.await
}

/// The guest whose games an account continues.
pub(super) async fn claimed_by(
    web: &Web,
    account: &PlayerName,
) -> Result<Option<PlayerName>, Problem> {
    let found = web.ask(FindAccount(account.clone())).await?;
    Ok(found.and_then(|(account, _)| account.claimed))
}

pub(super) async fn of_player(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let name = known(&web, &name).await?;
    Ok(Json(player(&web, &name).await?).into_response())
}

/// The name of an existing account.
pub(super) async fn known(web: &Web, name: &str) -> Result<PlayerName, Problem> {
    let name = accounts::name_of(name)?;
    match web.ask(FindAccount(name.clone())).await? {
        Some(_) => Ok(name),
        None => Err(Problem::not_found(format!("there is no account {name}"))),
    }
}

/// A player's recent matches and faults.
pub(super) async fn lately(web: &Web, player: &PlayerName) -> Result<Lately, Problem> {
    let player = player.clone();
    look(web, move |_, recent| recent.of(&player)).await
}

/// The latest matches of all players.
pub(super) async fn latest(web: &Web) -> Result<Vec<At>, Problem> {
    look(web, |_, recent| recent.latest().cloned().collect()).await
}

/// Finished tournaments.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Past {
    /// The latest first, up to 1,000.
    tournaments: Vec<PastTournament>,
}

pub(super) async fn past(State(web): State<Web>) -> Answer {
    let tournaments = look(&web, |_, recent| recent.past().cloned().collect()).await?;
    Ok(Json(Past { tournaments }).into_response())
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
    let (one, guest) = (player.clone(), claimed_by(&web, &player).await?);
    let (opponent, other_guest) = (other.clone(), claimed_by(&web, &other).await?);
    let met = look(&web, move |statistics, _| {
        let mut met = HeadToHead::default();
        for one in [Some(one), guest].iter().flatten() {
            for opponent in [Some(&opponent), other_guest.as_ref()].into_iter().flatten() {
                met.add(&statistics.head_to_head(one, opponent));
            }
        }
        met
    });
    let met = met.await?;
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
    let names = [Some(player.clone()), claimed_by(&web, &player).await?];
    let opponents = look(&web, move |statistics, _| {
        let mut opponents = BTreeMap::<PlayerName, HeadToHead>::new();
        for name in names.iter().flatten() {
            for other in statistics.opponents(name) {
                let met = opponents.entry(other.clone()).or_default();
                met.add(&statistics.head_to_head(name, other));
            }
        }
        let opponents = opponents.into_iter().take(OPPONENTS_MAX);
        opponents.map(|(other, met)| Opponent { other, met }).collect::<Vec<_>>()
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

/// The ratings at a game, the strongest player first; empty for an unknown game.
pub(super) async fn ratings(web: &Web, game: String) -> Result<Vec<(PlayerName, i64)>, Problem> {
    let ranking = look(web, move |statistics, _| statistics.ranking(&game)).await?;
    let rating = |ranked: Ranked| (ranked.player, ranked.rating.value.round() as i64);
    Ok(ranking.into_iter().map(rating).collect())
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
