//! Operators' orders. The answer comes when everything an order changed is durable.

use super::super::journal::StreamKey;
use super::super::{Engine, MatchKey, NotObeyed};
use super::Query;
use agon_core::lobby::{Lobby, LobbyCommand, LobbyOrder};
use agon_core::{MatchId, MatchOrder, PlayerName, Ruling, TournamentId, TournamentOrder};

/// An operator's order.
#[derive(Clone, PartialEq, Debug)]
pub enum Order {
    /// An order about a running tournament.
    Tournament(TournamentId, TournamentOrder),
    /// An order about a game of a paused match.
    Game(TournamentId, MatchId, MatchOrder),
    /// An order about the lobby.
    Lobby(LobbyOrder),
    /// Withdraw a player from a tournament, whether it runs or not.
    Withdraw(TournamentId, PlayerName),
    /// Ban an account from tournaments.
    Blacklist(PlayerName),
    /// Allow an account to enter tournaments again.
    Lift(PlayerName),
}

/// The streams a command wrote to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Written(pub(super) Vec<StreamKey>);

/// Asks whether a player can enter a running tournament. Ask before the order to enter one: the
/// engine that carries out the order may not own the tournament.
pub struct CheckEntry {
    /// The tournament.
    pub tournament: TournamentId,
    /// The player.
    pub player: PlayerName,
}

impl Query for CheckEntry {
    type Answer = Result<(), NotObeyed>;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.tournament.clone())
    }

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.check_entry(&self.tournament, &self.player)
    }
}

/// Carries out an operator's order.
pub struct CarryOut {
    /// The order.
    pub order: Order,
    /// The operator, and their reason.
    pub ruling: Ruling,
}

impl Query for CarryOut {
    type Answer = Result<Written, NotObeyed>;

    fn cell(&self, lobby: &Lobby) -> Option<TournamentId> {
        match &self.order {
            Order::Tournament(id, _) | Order::Game(id, ..) => Some(id.clone()),
            Order::Withdraw(id, player) => Some(lobby.left_by(id.clone(), player)),
            Order::Lobby(_) | Order::Blacklist(_) | Order::Lift(_) => None,
        }
    }

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let CarryOut { order, ruling } = self;
        let streams = match order {
            Order::Tournament(id, order) => {
                check_match(engine, &id, &order)?;
                engine.known_tournament(&id)?;
                engine.in_cells(|cells, cx| cells.order(cx, &id, order, ruling))?
            }
            Order::Game(tournament, id, order) => {
                engine.known_tournament(&tournament)?;
                let key = MatchKey::new(tournament, id);
                vec![engine.in_cells(|cells, cx| cells.order_game(cx, &key, order, ruling))?]
            }
            Order::Lobby(order) => {
                if let LobbyOrder::Start(id) | LobbyOrder::CallOff(id) = &order {
                    engine.known_tournament(id)?;
                }
                engine.order_lobby(order, ruling)?;
                Vec::new()
            }
            Order::Withdraw(tournament, player) => {
                engine.order_withdrawal(tournament, player, ruling)?
            }
            Order::Blacklist(account) => {
                let (by, reason) = (Some(ruling.by), ruling.why.to_string());
                engine.command(LobbyCommand::Blacklist { account, reason, by, cause: None })?;
                Vec::new()
            }
            Order::Lift(account) => {
                let (by, reason) = (ruling.by, ruling.why.to_string());
                engine.command(LobbyCommand::Lift { account, by, reason })?;
                Vec::new()
            }
        };
        Ok(Written(streams))
    }

    fn written(answer: &Self::Answer) -> Vec<StreamKey> {
        answer.as_ref().map(|written| written.0.clone()).unwrap_or_default()
    }
}

/// Rejects an order about a match that the tournament does not have.
fn check_match(
    engine: &Engine,
    tournament: &TournamentId,
    order: &TournamentOrder,
) -> Result<(), NotObeyed> {
    let id = match order {
        TournamentOrder::Override { id, .. }
        | TournamentOrder::Replay { id }
        | TournamentOrder::Undo { id } => id,
        TournamentOrder::Pause | TournamentOrder::Resume | TournamentOrder::Award { .. } => {
            return Ok(());
        }
    };
    let live = engine.cells.tournament(tournament);
    match live.is_none_or(|live| live.rounds().iter().any(|round| round.place(id).is_some())) {
        true => Ok(()),
        false => Err(NotObeyed::NoMatch(tournament.clone(), id.clone())),
    }
}
