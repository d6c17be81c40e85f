//! What operators do, as the HTTP interface has it done: answered when it is durable.

use super::super::journal::StreamKey;
use super::super::{Engine, Input, MatchKey};
use super::Driven;
use agon_core::lobby::{Announcement, LobbyCommand, LobbyOrder};
use agon_core::{MatchId, MatchOrder, PlayerName, Ruling, TournamentId, TournamentOrder};
use tokio::sync::oneshot;

/// Something an operator wants done.
#[derive(Clone, PartialEq, Debug)]
pub enum Order {
    /// About a tournament that runs.
    Tournament(TournamentId, TournamentOrder),
    /// About a game of a match that is paused.
    Game(TournamentId, MatchId, MatchOrder),
    /// About the lobby.
    Lobby(LobbyOrder),
    /// A player is taken out of a tournament, wherever that stands.
    Withdraw(TournamentId, PlayerName),
    /// An account may not enter tournaments.
    Blacklist(PlayerName),
    /// It may again.
    Lift(PlayerName),
}

/// What came of an order: in words why it was not obeyed.
type Outcome = Result<(), String>;

/// An order that was given.
pub struct Promise(oneshot::Receiver<Outcome>);

impl Promise {
    /// The answer, once there is one.
    pub fn take(&mut self) -> Option<Outcome> {
        self.0.try_recv().ok()
    }
}

impl Driven {
    /// Hands an order to the engine, which takes it in its turn.
    pub fn order(&mut self, order: Order, ruling: Ruling) -> Promise {
        let (sender, receiver) = oneshot::channel();
        self.engine.handle.send(Input::Call(Box::new(move |engine| {
            let (mut streams, outcome) = match engine.obey(order, ruling) {
                Ok(streams) => (streams, Ok(())),
                Err(why) => (Vec::new(), Err(why)),
            };
            streams.push(StreamKey::Lobby);
            let answer = Box::new(move |_: &mut Engine| drop(sender.send(outcome)));
            engine.once_durable(streams, answer);
        })));
        Promise(receiver)
    }

    /// Has a sign-up open for programs of another system, as a start of the server does.
    pub fn open_sign_up(&mut self, series: &Announcement) -> Result<(), String> {
        self.engine.open_sign_up(series).map_err(|error| error.to_string())
    }
}

impl Engine {
    /// Has an order carried out; gives the streams it is in, besides the lobby's.
    fn obey(&mut self, order: Order, ruling: Ruling) -> Result<Vec<StreamKey>, String> {
        let Ruling { by, why } = ruling.clone();
        let none = |()| Vec::new();
        match order {
            Order::Tournament(id, order) => {
                self.order(&id, order, ruling).map_err(|not| not.to_string())
            }
            Order::Game(tournament, id, order) => {
                let key = MatchKey::new(tournament, id);
                let stream = self.order_game(&key, order, ruling);
                stream.map(|stream| vec![stream]).map_err(|not| not.to_string())
            }
            Order::Lobby(order) => {
                self.order_lobby(order, ruling).map(none).map_err(|not| not.to_string())
            }
            Order::Withdraw(tournament, player) => {
                let taken = self.order_withdrawal(tournament, player, ruling);
                taken.map_err(|not| not.to_string())
            }
            Order::Blacklist(account) => {
                let reason = why.to_string();
                let command =
                    LobbyCommand::Blacklist { account, reason, by: Some(by), cause: None };
                self.command(command).map(none).map_err(|not| not.to_string())
            }
            Order::Lift(account) => {
                let command = LobbyCommand::Lift { account, by, reason: why.to_string() };
                self.command(command).map(none).map_err(|not| not.to_string())
            }
        }
    }
}
