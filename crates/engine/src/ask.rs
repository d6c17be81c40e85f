//! Functions that several queries share: waiting until records are durable, and reading live state.

use super::journal::StreamKey;
use super::show::ShownTournament;
use super::{Engine, MatchKey, NotObeyed};
use agon_core::lobby::{LobbyCommand, LobbyRejection, Standing, TokenHash};
use agon_core::{Match, Millis, PlayerName, Secret, Secrets, Tournament, TournamentId};

/// Games since the engine was opened. Every game that starts ends in one of two ways or still runs:
/// `started = finished + void + running` at every moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GameCounts {
    /// Started, or resumed from the log.
    pub started: u64,
    /// Ended with a result.
    pub finished: u64,
    /// Ended without a result.
    pub void: u64,
    /// In progress.
    pub running: u64,
}

impl Engine {
    /// The counts of games.
    pub fn game_counts(&self) -> GameCounts {
        let running =
            self.matches.iter().filter(|(_, live)| live.played.referee().is_some()).count();
        GameCounts { running: running as u64, ..self.counted.games }
    }

    /// Changes whenever the lobby does, or a player connects or disconnects.
    pub(super) fn lobby_version(&self) -> u64 {
        self.journals.version(&StreamKey::Lobby) + self.sessions.changes()
    }

    /// A running tournament.
    pub fn live_tournament(&self, id: &TournamentId) -> Option<&Tournament> {
        self.tournaments.get(id).map(|live| &live.machine)
    }

    /// A live tournament, as everybody may see it.
    pub(super) fn shown_tournament(&self, id: &TournamentId) -> Option<ShownTournament> {
        let live = self.tournaments.get(id)?;
        Some(ShownTournament::live(&live.machine, live.began_at))
    }

    /// Rejects a query about a tournament that does not exist.
    pub(super) fn known_tournament(&self, id: &TournamentId) -> Result<(), NotObeyed> {
        match self.lobby.tournament(id) {
            Some(_) => Ok(()),
            None => Err(NotObeyed::NoTournament(id.clone())),
        }
    }

    /// A running match.
    pub fn live_match(&self, key: &MatchKey) -> Option<&Match> {
        self.matches.get(key).map(|live| &live.played)
    }

    /// The matches that run, each with the secret of its tournament.
    pub fn live_matches(&self) -> impl Iterator<Item = (&MatchKey, &Match, &Secret)> {
        self.matches.iter().filter_map(|(key, live)| {
            let tournament = self.tournaments.get(&key.tournament)?;
            Some((key, &live.played, &tournament.secret))
        })
    }

    /// The secrets that the games of a running match are drawn from. Use them to fold its log;
    /// never show them.
    pub(super) fn match_secrets(&self, key: &MatchKey) -> Option<Secrets> {
        let live = self.tournaments.get(&key.tournament).filter(|_| self.matches.is_live(key))?;
        Some(Secrets::Known(live.secret.of_match(&key.id)))
    }

    /// Lets the lobby decide a command of an authenticated account.
    pub(super) fn command(&mut self, command: LobbyCommand) -> Result<(), LobbyRejection> {
        self.step_lobby(command, Vec::new())
    }

    /// Gives an account a new token; returns when the token expires.
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

    /// A player withdraws a sign-up, rejects an invitation, or leaves a running tournament and
    /// their matches in it. Returns the streams this was written to, besides the lobby's.
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
