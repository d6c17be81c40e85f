//! An engine that is driven by hand: one thread, a clock that is told, connections without sockets.
//!
//! For whoever wants to run the engine in a world of their own making, such as the simulator. What
//! the engine does is the same; only who wakes it, and who writes and reads for it, is another.

mod order;
mod socket;

use super::journal::StreamKey;
use super::snapshots::Snapshots;
use super::{ConnId, Engine, EngineError, Settings};
use crate::net::Limits;
use crate::passwords::Passwords;
use agon_bots::Houses;
use agon_core::lobby::{AccountKind, Lobby, LobbyCommand, LobbyRejection, PasswordHash, Role};
use agon_core::{Match, Millis, PlayerName, Secret, TournamentId};
use agon_games::Registry;
use agon_store::Log;
pub use order::Promise;
pub use socket::{Asked, Over, Socket, Wrote};
use std::cmp::Reverse;
use std::sync::Arc;

/// The engine, and the numbers of its connections.
pub struct Driven {
    engine: Engine,
    next_conn: ConnId,
    limits: Limits,
}

impl Driven {
    /// Opens an engine over a log at `now`, without threads. It takes a snapshot of the lobby after
    /// every so many events.
    pub fn open(
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        limits: Limits,
        snapshot_every: u64,
        now: Millis,
    ) -> Result<Driven, EngineError> {
        let passwords = Passwords::new(None, settings.password_checks_per_address_max);
        let mut engine = Engine::empty(log, games, houses, settings, now, passwords);
        engine.snapshots = Snapshots::here(snapshot_every);
        engine.recover()?;
        engine.submit_decided();
        Ok(Driven { engine, next_conn: 1, limits })
    }

    /// Takes everything that waits, does what is due at `now`, and hands the log what was decided.
    pub fn step(&mut self, now: Millis) -> Result<(), EngineError> {
        self.engine.now = now;
        loop {
            let mut heard = false;
            while let Ok(input) = self.engine.inbox.try_recv() {
                heard = true;
                match self.engine.stopping {
                    false => self.engine.take(input),
                    true => self.engine.take_last(input),
                }
                if let Some(error) = self.engine.failed.take() {
                    return Err(error);
                }
            }
            if !self.engine.stopping {
                self.engine.on_time(now);
            }
            self.engine.submit_decided();
            if let Some(error) = self.engine.failed.take() {
                return Err(error);
            }
            // What was decided may have been answered at once.
            if !heard {
                return Ok(());
            }
        }
    }

    /// When something is due next.
    pub fn next_due(&self) -> Option<Millis> {
        let timers = self.engine.timers.peek().filter(|_| !self.engine.stopping);
        timers.map(|Reverse((at, _))| *at)
    }

    /// Begins to stop: players are told, and nothing new is heard.
    pub fn stop(&mut self) {
        self.engine.stop();
    }

    /// Whether everything that was decided is durable.
    pub fn is_drained(&self) -> bool {
        self.engine.is_drained()
    }

    /// Leaves a snapshot for the next start. Connections are closed when this is dropped.
    pub fn finish(&mut self) {
        self.engine.last_snapshot();
    }

    /// Makes an account that comes with this token, if there is none.
    pub fn account(
        &mut self,
        account: PlayerName,
        (kind, role): (AccountKind, Role),
        password: Option<PasswordHash>,
        token: &str,
    ) -> Result<(), LobbyRejection> {
        if self.engine.lobby.account(&account).is_some() {
            return Ok(());
        }
        let name = account.clone();
        self.engine.command(LobbyCommand::Register { account: name, kind, role, password })?;
        self.token(account, token)
    }

    /// Gives an account a token.
    pub fn token(&mut self, account: PlayerName, token: &str) -> Result<(), LobbyRejection> {
        self.engine.issue_token(account, token).map(|_| ())
    }

    /// Whether a player is here, over whichever connection.
    pub fn is_here(&self, player: &PlayerName) -> bool {
        self.engine.conn_of(player).is_some()
    }

    /// Connections the engine knows of.
    pub fn connections(&self) -> usize {
        self.engine.sessions.len()
    }

    /// The lobby, if nothing of it is on its way to the log.
    pub fn durable_lobby(&self) -> Option<&Lobby> {
        self.engine.is_durable(&StreamKey::Lobby).then_some(&self.engine.lobby)
    }

    /// The matches that run of which nothing is on its way to the log, each with the secret of its
    /// tournament.
    pub fn durable_matches(&self) -> impl Iterator<Item = (&TournamentId, &Match, &Secret)> {
        let durable = self
            .engine
            .matches
            .iter()
            .filter(|(key, _)| self.engine.is_durable(&StreamKey::Match((*key).clone())));
        durable.filter_map(|(key, live)| {
            let tournament = self.engine.tournaments.get(&key.0)?;
            Some((&key.0, &live.played, &tournament.secret))
        })
    }
}
