//! Operators' orders. The answer comes when everything an order changed is durable.

use super::super::journal::StreamKey;
use super::super::{Engine, MatchKey, NotObeyed};
use super::{AnyQuery, Query};
use agon_core::lobby::{Lobby, LobbyCommand, LobbyOrder};
use agon_core::{MatchId, MatchOrder, PlayerName, Ruling, TournamentId, TournamentOrder};
use serde::{Deserialize, Serialize};

/// An operator's order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Written(pub(super) Vec<StreamKey>);

/// An order to enter a player into a tournament. Its engine has checked it, and now the lobby's
/// engine carries it out.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct EnterChecked {
    tournament: TournamentId,
    player: PlayerName,
    ruling: Ruling,
}

impl Query for EnterChecked {
    type Answer = Result<Written, NotObeyed>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let EnterChecked { tournament, player, ruling } = self;
        let order = LobbyOrder::Enter { tournament: tournament.clone(), player: player.clone() };
        let ordered = engine.order_lobby(order, ruling);
        if ordered.is_err() {
            engine.cancel_entry(tournament, player);
        }
        ordered.map(|()| Written::default())
    }
}

/// Carries out an operator's order.
#[derive(Clone, Serialize, Deserialize)]
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
            Order::Lobby(LobbyOrder::Enter { tournament, .. }) => Some(tournament.clone()),
            Order::Lobby(_) | Order::Blacklist(_) | Order::Lift(_) => None,
        }
    }

    fn for_lobby(&self, engine: &mut Engine) -> Option<Box<dyn AnyQuery>> {
        let Order::Lobby(LobbyOrder::Enter { tournament, player }) = &self.order else {
            return None;
        };
        engine.check_entry(tournament, player).ok()?;
        // No round may be paired until the lobby has decided.
        engine.cells.expect_entry(tournament, player.clone());
        let (tournament, player) = (tournament.clone(), player.clone());
        Some(Box::new(EnterChecked { tournament, player, ruling: self.ruling.clone() }))
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
