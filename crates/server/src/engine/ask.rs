//! What queries have in common: waiting until records are durable, and looking at what runs.

use super::journal::{Effect, StreamKey};
use super::show::ShownTournament;
use super::{Engine, MatchKey, NotObeyed};
use crate::auth;
use agon_core::lobby::{LobbyCommand, LobbyRejection, PasswordHash, Standing, TokenHash};
use agon_core::{Match, Millis, PlayerName, Secrets, Tournament, TournamentId};
use agon_games::Registry;
use agon_store::Log;
use std::sync::Arc;

/// Games since the engine was opened. Whatever is started ends in one of two ways or still runs:
/// `started = finished + void + running` at every moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GameCounts {
    /// Started, or taken up again from the log.
    pub started: u64,
    /// Ended with a result.
    pub finished: u64,
    /// Broken off without one.
    pub void: u64,
    /// In progress.
    pub running: u64,
}

/// What is read from the log away from the engine.
#[derive(Clone)]
pub(crate) struct Archive {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) games: Registry,
}

impl Engine {
    /// Does something once what is on its way in these streams now is durable.
    pub(super) fn once_durable(&mut self, mut streams: Vec<StreamKey>, effect: Effect) {
        let Some(stream) = streams.pop() else { return effect(self) };
        let rest: Effect = Box::new(move |engine| engine.once_durable(streams, effect));
        match self.journals.get_mut(&stream).and_then(|journal| journal.last_effects()) {
            Some(effects) => effects.push(rest),
            None => rest(self),
        }
    }

    /// How many games there were and are.
    pub fn game_counts(&self) -> GameCounts {
        let running = self.matches.values().filter(|live| live.played.referee().is_some()).count();
        GameCounts { running: running as u64, ..self.games_seen }
    }

    /// Changes whenever the lobby does, or who is here over which wire.
    pub(super) fn lobby_version(&self) -> u64 {
        let decided = self.journals.get(&StreamKey::Lobby).map_or(0, |journal| journal.version());
        decided + self.attachments
    }

    /// Takes up the counts of wrong passwords from a file, and keeps them there.
    pub fn keep_password_counts(&self, file: std::path::PathBuf) {
        self.passwords.keep_in(file);
    }

    pub(super) fn live_tournament(&self, id: &TournamentId) -> Option<&Tournament> {
        self.tournaments.get(id).map(|live| &live.machine)
    }

    /// A tournament that is live, as everybody may see it.
    pub(super) fn shown_tournament(&self, id: &TournamentId) -> Option<ShownTournament> {
        let live = self.tournaments.get(id)?;
        Some(ShownTournament::live(&live.machine, live.began_at))
    }

    /// Refuses what is about a tournament that does not exist.
    pub(super) fn known_tournament(&self, id: &TournamentId) -> Result<(), NotObeyed> {
        match self.lobby.tournament(id) {
            Some(_) => Ok(()),
            None => Err(NotObeyed::NoTournament(id.clone())),
        }
    }

    pub(super) fn live_match(&self, key: &MatchKey) -> Option<&Match> {
        self.matches.get(key).map(|live| &live.played)
    }

    /// What the games of a match that runs are drawn from. For folding its log, and for nothing that
    /// is shown.
    pub(super) fn match_secrets(&self, key: &MatchKey) -> Option<Secrets> {
        let live = self.tournaments.get(&key.0).filter(|_| self.matches.contains_key(key))?;
        Some(Secrets::Known(live.secret.of_match(&key.1)))
    }

    /// Lets the lobby decide something for an account that proved itself.
    pub(super) fn command(&mut self, command: LobbyCommand) -> Result<(), LobbyRejection> {
        self.step_lobby(command, Vec::new())
    }

    /// Gives an account a new token, and says when it ends.
    pub(super) fn issue_token(
        &mut self,
        account: PlayerName,
        token: &str,
    ) -> Result<Millis, LobbyRejection> {
        let expires_at = self.now_ms() + self.settings.token_ms;
        let token = TokenHash::of(token);
        self.command(LobbyCommand::IssueToken { account, token, expires_at })?;
        Ok(expires_at)
    }

    /// A player takes a sign-up back, rejects an invitation, or leaves a tournament that runs and
    /// their matches there; the result is the streams that is in, besides the lobby's.
    pub(super) fn withdraw(
        &mut self,
        tournament: TournamentId,
        player: PlayerName,
    ) -> Result<Vec<StreamKey>, LobbyRejection> {
        let tournament = self.lobby.left_by(tournament, &player);
        match self.lobby.tournament(&tournament) {
            Some(Standing::Running(plan)) if plan.players.contains(&player) => {
                let streams = self.streams_of(&tournament, &player)?;
                self.leave_tournament(&tournament, &player);
                Ok(streams)
            }
            Some(Standing::Running(_)) => Err(LobbyRejection::NotSignedUp(player)),
            _ => {
                self.command(LobbyCommand::Withdraw { tournament, player })?;
                Ok(Vec::new())
            }
        }
    }
}

/// Hashes a password for [`super::query::Register`]. Slow on purpose.
pub fn hash_password(password: &str) -> Result<PasswordHash, String> {
    auth::check_length(password)?;
    auth::hash(password)
}
