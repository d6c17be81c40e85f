//! Announces tournaments. The engine checks that a tournament can be held before it writes anything
//! to the log.

use super::LobbyCell;
use crate::journal::StreamKey;
use crate::services::Services;
use agon_core::lobby::{Announcement, LobbyCommand, LobbyRejection, Selection};
use agon_core::{
    PlanError, PlayerName, Secret, SecretKept, Tournament, TournamentId, TournamentPlan,
};
use agon_games::{GameKind, Registry};
use std::sync::Arc;

/// Why a tournament was not announced.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AnnounceError {
    /// The lobby rejected it.
    #[error(transparent)]
    Lobby(#[from] LobbyRejection),
    /// The plan cannot be played.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is no such game.
    #[error("there is no game {0:?}")]
    UnknownGame(String),
    /// There is no such house player.
    #[error("{0}")]
    House(String),
    /// The log cannot be read.
    #[error("{0}")]
    Log(String),
}

impl LobbyCell {
    /// Announces a tournament; it starts at once unless it waits for players.
    pub(crate) fn announce(
        &mut self,
        services: &mut Services,
        announcement: Announcement,
    ) -> Result<(), AnnounceError> {
        let luck = match announcement.selection.is_by_lot() {
            true => Some(luck_of(services, &announcement.id)?),
            false => None,
        };
        let secret = luck.as_ref().map(|(secret, _)| secret.clone());
        let absent = self.absent_from(services, &announcement.selection);
        let started = self.machine.try_announce(&announcement, secret.as_ref(), &absent)?;
        check_plans(services, &announcement, started)?;
        if let Some((secret, false)) = luck {
            // The log takes records in order, so the secret is durable no later than the lobby's
            // record that depends on it.
            let tournament = announcement.id.clone();
            let stream = StreamKey::Secret(tournament.clone());
            services.commit(stream, &[SecretKept { tournament, secret }.into()], Vec::new());
        }
        let announcement = Box::new(announcement);
        let command = LobbyCommand::Announce { announcement, secret, absent };
        Ok(self.step(services, command, Vec::new())?)
    }
}

/// Checks that a tournament can be played. The check uses the players it would start with. If these
/// are not known yet, it uses the fewest and the most players that may sign up.
fn check_plans(
    services: &Services,
    announcement: &Announcement,
    started: Option<TournamentPlan>,
) -> Result<(), AnnounceError> {
    let kind = check_announcement(announcement, &services.games)?;
    let named = match &announcement.selection {
        Selection::Invitation(terms) => &terms.players[..],
        _ => &[][..],
    };
    let players = started.as_ref().map_or(named, |plan| &plan.players[..]);
    for player in players {
        if let Some(name) = services.houses.house_of(player) {
            services.houses.check(&announcement.game, name).map_err(AnnounceError::House)?;
        }
    }
    Ok(started.map_or(Ok(()), |plan| try_plan(plan, &kind))?)
}

/// The secret of a tournament whose start needs randomness, and whether the log has it already. The
/// log has it if an earlier announcement was lost after its secret was committed.
fn luck_of(services: &mut Services, id: &TournamentId) -> Result<(Secret, bool), AnnounceError> {
    let kept = services.known_secret(id).map_err(|error| AnnounceError::Log(error.to_string()))?;
    if let Some(secret) = kept {
        return Ok((secret, true));
    }
    Ok((services.new_secret(id), false))
}

/// Checks that an announced tournament can be played with the fewest and with the most players that
/// may sign up; returns its game. `agon` checks settings with it before the server starts, and the
/// server checks announcements.
pub fn check_announcement(
    announcement: &Announcement,
    games: &Registry,
) -> Result<Arc<dyn GameKind>, AnnounceError> {
    let kind = games.kind(&announcement.game).cloned();
    let kind = kind.ok_or_else(|| AnnounceError::UnknownGame(announcement.game.clone()))?;
    let counts = match &announcement.selection {
        Selection::SignUp(window) => vec![window.at_least, window.at_most],
        Selection::Invitation(terms) => vec![terms.at_least, terms.most() as u32],
        Selection::Draw(draw) => vec![draw.at_least, draw.at_most],
        _ => Vec::new(),
    };
    for count in counts {
        let names = (1..=count.min(10_000)).map(|number| format!("player {number}"));
        let names = names.filter_map(|name| PlayerName::new(&name).ok()).collect();
        try_plan(announcement.plan(names), &kind)?;
    }
    Ok(kind)
}

/// Checks that a tournament can be held. A plan that cannot be held must not get into the log.
pub(crate) fn try_plan(plan: TournamentPlan, kind: &Arc<dyn GameKind>) -> Result<(), PlanError> {
    Tournament::create(plan, kind.clone(), Secret::from_seed_number(0)).map(|_| ())
}
