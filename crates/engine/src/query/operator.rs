//! What operators order. The answer comes when everything an order changed is durable.

use super::super::journal::StreamKey;
use super::super::{Engine, MatchKey, NotObeyed};
use super::Query;
use agon_core::lobby::{LobbyCommand, LobbyOrder};
use agon_core::{MatchId, MatchOrder, PlayerName, Ruling, TournamentId, TournamentOrder};

/// What an operator wants done.
#[derive(Clone, PartialEq, Debug)]
pub enum Order {
    /// About a tournament that runs.
    Tournament(TournamentId, TournamentOrder),
    /// About a game of a match that is paused.
    Game(TournamentId, MatchId, MatchOrder),
    /// About the lobby.
    Lobby(LobbyOrder),
    /// A player is taken out of a tournament, whether it runs or not.
    Withdraw(TournamentId, PlayerName),
    /// An account may not enter tournaments.
    Blacklist(PlayerName),
    /// An account may enter tournaments again.
    Lift(PlayerName),
}

/// The streams a command wrote to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Written(pub(super) Vec<StreamKey>);

/// Has an operator's order carried out.
pub struct CarryOut {
    /// What is to be done.
    pub order: Order,
    /// Who orders it, and why.
    pub ruling: Ruling,
}

impl Query for CarryOut {
    type Answer = Result<Written, NotObeyed>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let CarryOut { order, ruling } = self;
        let streams = match order {
            Order::Tournament(id, order) => {
                check_match(engine, &id, &order)?;
                engine.order(&id, order, ruling)?
            }
            Order::Game(tournament, id, order) => {
                vec![engine.order_game(&MatchKey::new(tournament, id), order, ruling)?]
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

/// Refuses an order about a match that the tournament does not have.
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
    let live = engine.live_tournament(tournament);
    match live.is_none_or(|live| live.rounds().iter().any(|round| round.place(id).is_some())) {
        true => Ok(()),
        false => Err(NotObeyed::NoMatch(tournament.clone(), id.clone())),
    }
}
