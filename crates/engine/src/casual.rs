//! Casual games: games that players start by themselves, without an operator.
//!
//! A player asks for one against house players, which starts at once, or against people, who are
//! invited. Queues of casual presets start a game as soon as enough connected players wait.

use crate::journal::StreamKey;
use crate::query::NotAnnounced;
use crate::{AnnounceError, Engine, FollowUp};
use agon_core::lobby::{Announcement, LobbyCommand, QueueName, Selection, Terms};
use agon_core::{Millis, PlayerName, Preset, Raw, TournamentId};

/// How many casual games one player may be in, or wait for, at once.
const GAMES_MAX: usize = 8;

/// How long people have to accept an invitation to a casual game.
const INVITATION_MS: Millis = 5 * 60_000;

/// Returns whether a tournament has the name of a casual game, such as `fish-casual-7`. One for
/// people, which has the preset of such games, is none.
pub fn names_casual_game(id: &TournamentId) -> bool {
    id.as_str().rsplit_once('-').is_some_and(|(preset, number)| {
        preset.ends_with("-casual") && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

impl Engine {
    /// Starts a casual game for `by` with these players in the order of their seats, or invites the
    /// people among them.
    pub(crate) fn play_casual(
        &mut self,
        by: &PlayerName,
        game: &str,
        players: Vec<PlayerName>,
    ) -> Result<TournamentId, NotAnnounced> {
        let malformed = |why: String| Err(NotAnnounced::Malformed(why));
        let Some(preset) = Preset::casual(game) else {
            return malformed(format!("there are no casual games of {game:?}"));
        };
        let seats = self.services.games.kind(game).map(|kind| kind.seats());
        if let Some(seats) = seats.filter(|seats| !seats.contains(&players.len())) {
            let (min, max) = seats.into_inner();
            return malformed(format!("{game} is for {min} to {max} players"));
        }
        if !players.contains(by) {
            return malformed(format!("`players` names everybody who plays; {by} is missing"));
        }
        let (playing, waiting) = self.lobby.state().involvement(by);
        if playing + waiting >= GAMES_MAX {
            return Err(NotAnnounced::Busy(by.clone(), GAMES_MAX));
        }
        let people = players.iter().filter(|player| player.house().is_none()).count();
        let selection = match people {
            1 => Selection::Named { players },
            _ => Selection::Invitation(Terms {
                at_least: players.len() as u32,
                at_most: None,
                players,
                wait_ms: INVITATION_MS,
                ready_ms: 0,
            }),
        };
        let tournament = self.announce_casual(&preset, selection, Some(by.clone()))?;
        if people > 1 {
            let (tournament, player) = (tournament.clone(), by.clone());
            let accept = LobbyCommand::Accept { tournament, player };
            self.command(accept).map_err(AnnounceError::from)?;
        }
        Ok(tournament)
    }

    /// Starts games in a queue of a casual preset while enough connected players wait in it.
    pub(crate) fn fill_queue(&mut self, queue: &QueueName) {
        let Ok(preset) = Preset::named(queue.as_str()) else { return };
        let Some(at_most) = preset.queue_players else { return };
        while self.lobby.ready_in(&self.services, queue) >= at_most as usize {
            let selection = Selection::Queue { queue: queue.clone(), at_most };
            // There may be no room for another tournament. The next player who comes tries again.
            if self.announce_casual(&preset, selection, None).is_err() {
                return;
            }
        }
    }

    /// Gives up the places of a player who has logged out in the queues of casual presets, so that
    /// others do not wait for them. Other queues keep the places: an operator decides there.
    pub(crate) fn leave_queues(&mut self, player: &PlayerName) {
        if self.lobby.state().line().contains(player) {
            return;
        }
        let queues: Vec<QueueName> = self.lobby.state().queues_of(player).cloned().collect();
        let is_casual =
            |queue: &QueueName| Preset::named(queue.as_str()).is_ok_and(|one| one.is_casual());
        for queue in queues.into_iter().filter(is_casual) {
            let player = player.clone();
            for _ in 0..self.lobby.state().queue(&queue).times(&player) {
                let (player, queue) = (player.clone(), queue.clone());
                let _ = self.command(LobbyCommand::Dequeue { player, queue });
            }
        }
    }

    /// Starts games in the queues of a player who has just connected, once their records are
    /// durable.
    pub(crate) fn fill_queues_of(&mut self, player: &PlayerName) {
        let queues: Vec<QueueName> = self.lobby.state().queues_of(player).cloned().collect();
        for queue in queues {
            self.once_durable(vec![StreamKey::Lobby], FollowUp::FillQueue(queue));
        }
    }

    fn announce_casual(
        &mut self,
        preset: &Preset,
        selection: Selection,
        by: Option<PlayerName>,
    ) -> Result<TournamentId, AnnounceError> {
        let unknown = || AnnounceError::UnknownGame(preset.game.into());
        let kind = self.services.games.kind(preset.game).ok_or_else(unknown)?;
        let config = kind.check_config(preset.config).expect("presets have sound configurations");
        let lobby = self.lobby.state();
        let first = lobby.tournaments().len() + 1;
        let mut names = (first..).map(|number| format!("{}-{number}", preset.name).into());
        let id: TournamentId = names
            .find(|id| lobby.tournament(id).is_none())
            .expect("there are more numbers than tournaments");
        let announcement = Announcement {
            id: id.clone(),
            preset: Some(preset.name.into()),
            game: preset.game.into(),
            config: Raw(config),
            policy: preset.policy.clone(),
            selection,
            by,
        };
        self.announce(announcement)?;
        Ok(id)
    }
}
