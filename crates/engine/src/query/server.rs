//! The server itself: liveness, counts, and the tasks of its start.

use super::super::journal::StreamKey;
use super::super::{Engine, EngineStatus, GameTotals, Note};
use super::Query;
use agon_core::PlayerName;
use agon_core::lobby::{Account, Announcement, LobbyRejection, Role, Selection};

/// Asks whether the engine is alive.
pub struct Ping {
    /// True if the answer waits until the lobby's records are durable, which shows that the log is
    /// alive too.
    pub through_log: bool,
}

impl Query for Ping {
    type Answer = ();

    fn streams(&self) -> Vec<StreamKey> {
        if self.through_log { vec![StreamKey::Lobby] } else { Vec::new() }
    }

    fn answer(self, _: &mut Engine) {}
}

/// All counts at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The engine's present state.
    pub status: EngineStatus,
    /// Games since the start.
    pub games: GameTotals,
    /// Tournaments that were started or resumed since the start of the server.
    pub tournaments_started: u64,
    /// Tournaments that ended since.
    pub tournaments_ended: u64,
    /// Matches that were started or resumed since the start of the server.
    pub matches_started: u64,
    /// Matches that ended since.
    pub matches_ended: u64,
}

/// Asks for the counts.
pub struct Count;

impl Query for Count {
    type Answer = Counts;

    fn answer(self, engine: &mut Engine) -> Counts {
        let counts = engine.counts();
        Counts {
            tournaments_started: counts.tournaments_started,
            tournaments_ended: counts.tournaments_ended,
            matches_started: counts.matches_started,
            matches_ended: counts.matches_ended,
            status: engine.status(),
            games: engine.game_counts(),
        }
    }
}

/// Makes a token for an operator's account, and the account if there is none.
pub struct IssueOperatorToken {
    /// The operator.
    pub account: PlayerName,
    /// True to make a token only if there is no operator yet.
    pub only_first: bool,
}

impl Query for IssueOperatorToken {
    type Answer = Result<Option<String>, LobbyRejection>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let is_operator = |(_, account): (_, &Account)| account.role == Role::Operator;
        match self.only_first && engine.lobby.state().accounts().any(is_operator) {
            true => Ok(None),
            false => engine.operator_token(self.account).map(Some),
        }
    }
}

/// Announces those tournaments whose players are connected; the answer is the others.
pub struct AnnounceWhenPresent(pub Vec<Announcement>);

impl Query for AnnounceWhenPresent {
    type Answer = Vec<Announcement>;

    fn streams(&self) -> Vec<StreamKey> {
        Vec::new()
    }

    fn answer(self, engine: &mut Engine) -> Vec<Announcement> {
        let mut waiting = self.0;
        waiting.retain(|announcement| match is_ready(engine, announcement) {
            None => false,
            Some(false) => true,
            Some(true) => {
                let tournament = announcement.id.clone();
                let note = match engine.announce(announcement.clone()) {
                    Ok(()) => Note::PlayersPresent(tournament),
                    Err(error) => Note::NotPlayable { tournament, why: error.to_string() },
                };
                engine.note(note);
                false
            }
        });
        waiting
    }
}

/// Returns whether the players of a tournament are connected; `None` if it was announced already.
fn is_ready(engine: &Engine, announcement: &Announcement) -> Option<bool> {
    let lobby = engine.lobby.state();
    if lobby.tournament(&announcement.id).is_some() {
        return None;
    }
    let connected = |player: &PlayerName| engine.is_connected(player);
    let free = |player: &&PlayerName| {
        let account = lobby.account(player);
        connected(player) && account.is_some_and(|account| account.blacklisted.is_none())
    };
    Some(match &announcement.selection {
        Selection::Line { at_most } => {
            lobby.line().iter().filter(free).count() >= *at_most as usize
        }
        Selection::Named { players } => {
            let is_house = |player: &PlayerName| engine.services.houses.house_of(player).is_some();
            players.iter().all(|player| is_house(player) || connected(player))
        }
        _ => false,
    })
}
