//! Questions and commands from outside the wire: answered when all that the answer rests on is
//! durable. Commit, then speak holds for whoever asks over HTTP as well.

use super::journal::{Effect, StreamKey};
use super::{Engine, Handle, Input, MatchKey, show};
use crate::auth;
use crate::passwords::Passwords;
use agon_core::lobby::{
    AccountKind, LobbyCommand, LobbyRejection, PasswordHash, Role, Standing, TokenHash,
};
use agon_core::{Millis, PlayerName, Secrets, Tournament, TournamentId};
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

impl Handle {
    /// Runs something on the engine's thread. The answer is held back until everything that was
    /// decided about `streams` up to then is durable; `None` if the engine ended before.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        streams: Vec<StreamKey>,
        what: impl FnOnce(&mut Engine) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.send(Input::Call(Box::new(move |engine| {
            let answer = what(engine);
            let release: Effect = Box::new(move |_| {
                let _ = sender.send(answer);
            });
            engine.once_durable(streams, release);
        })));
        receiver.await.ok()
    }
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

    /// How often tournaments had something to tell: changes whenever statistics may have.
    pub(crate) fn tournament_records(&self) -> u64 {
        self.tournament_records
    }

    pub(crate) fn archive(&self) -> Archive {
        Archive { log: Arc::clone(&self.log), games: self.games.clone() }
    }

    /// Changes whenever the lobby does, or who is here over which wire.
    pub(crate) fn lobby_version(&self) -> u64 {
        let decided = self.journals.get(&StreamKey::Lobby).map_or(0, |journal| journal.version());
        decided + self.attachments
    }

    /// Where passwords are checked.
    pub(crate) fn passwords(&self) -> Passwords {
        self.passwords.clone()
    }

    /// Takes up the counts of wrong passwords from a file, and keeps them there.
    pub fn keep_password_counts(&self, file: std::path::PathBuf) {
        self.passwords.keep_in(file);
    }

    /// Whose token this is, if it is good now.
    pub(crate) fn holder(&self, token: &TokenHash) -> Option<(PlayerName, Role)> {
        let name = self.lobby.holder(token, self.now_ms())?.clone();
        let role = self.lobby.account(&name)?.role;
        Some((name, role))
    }

    pub(crate) fn live_tournament(&self, id: &TournamentId) -> Option<&Tournament> {
        self.tournaments.get(id).map(|live| &live.machine)
    }

    /// What everybody may see of a tournament that runs.
    pub(crate) fn shown_tournament(&self, id: &TournamentId) -> Option<serde_json::Value> {
        let live = self.tournaments.get(id)?;
        let mut shown = show::tournament(&live.machine);
        if !live.machine.is_over() {
            shown["began_at"] = live.began_at.into();
        }
        Some(shown)
    }

    pub(crate) fn live_match(&self, key: &MatchKey) -> Option<&agon_core::Match> {
        self.matches.get(key).map(|live| &live.played)
    }

    /// What the games of a match that runs are drawn from. For folding its log, and for nothing that
    /// is shown.
    pub(crate) fn match_secrets(&self, key: &MatchKey) -> Option<Secrets> {
        let live = self.tournaments.get(&key.0).filter(|_| self.matches.contains_key(key))?;
        Some(Secrets::Known(live.secret.of_match(&key.1)))
    }

    /// The matches that run in which a player did something wrong.
    pub(crate) fn faulty_matches(&self, player: &PlayerName) -> Vec<MatchKey> {
        let keys = self.playing.get(player).into_iter().flatten();
        let faulty = keys.filter(|key| {
            let faults = self.live_match(key).map_or(&[][..], |live| live.faults());
            faults.iter().any(|faulted| faulted.player == *player)
        });
        faulty.cloned().collect()
    }

    /// Lets the lobby decide something for an account that proved itself.
    pub(crate) fn command(&mut self, command: LobbyCommand) -> Result<(), LobbyRejection> {
        self.step_lobby(command, Vec::new())
    }

    /// Makes an account with a password that was hashed; the way operators come into being.
    pub fn register(
        &mut self,
        account: PlayerName,
        role: Role,
        password: PasswordHash,
    ) -> Result<(), LobbyRejection> {
        let (kind, password) = (AccountKind::Program, Some(password));
        self.command(LobbyCommand::Register { account, kind, role, password })
    }

    /// Gives an account a new token, and says when it ends.
    pub(crate) fn issue_token(
        &mut self,
        account: PlayerName,
        token: &str,
    ) -> Result<Millis, LobbyRejection> {
        let expires_at = self.now_ms() + self.settings.token_ms;
        let token = TokenHash::of(token);
        self.command(LobbyCommand::IssueToken { account, token, expires_at })?;
        Ok(expires_at)
    }

    /// Takes a sign-up back, rejects an invitation, or leaves a tournament that runs, and its matches
    /// there; gives the streams that is in, besides the lobby's.
    pub(crate) fn withdraw(
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

/// Hashes a password for [`Engine::register`]. Slow on purpose.
pub fn hash_password(password: &str) -> Result<PasswordHash, String> {
    auth::check_length(password)?;
    auth::hash(password)
}
