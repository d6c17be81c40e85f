//! The operator gives orders over a reliable connection, to a server that may crash before it
//! answers.
//!
//! The operator knows what is durable. Every order has a unique reason, by which it is found in the
//! log.

use super::{Happening, Server, World};
use crate::driver::Promise;
use crate::invariants::Failure;
use crate::plan::player_name;
use crate::sabotage::Sabotage;
use agon_core::lobby::LobbyOrder;
use agon_core::{MatchId, MatchOrder, PlayerName, Ruling, TournamentId, TournamentOrder, Why};
use agon_engine::query::Order;

/// An order that was submitted.
pub(crate) struct Given {
    pub(crate) order: Order,
    pub(crate) why: String,
    /// The server's answer; `None` if it crashed first, or lost the node with the tournament.
    pub(crate) answer: Option<Result<(), String>>,
    server: u32,
    promise: Option<Promise>,
}

/// All orders.
#[derive(Default)]
pub(crate) struct OperatorOrders {
    pub(crate) given: Vec<Given>,
}

impl OperatorOrders {
    /// Returns whether no order is without an answer.
    pub(super) fn has_nothing_open(&self) -> bool {
        self.given.iter().all(|given| given.promise.is_none())
    }
}

impl World {
    /// Gives an order that fits the current state. After healing, the orders make tournaments go
    /// on.
    pub(super) fn give_order(&mut self) {
        if self.healed {
            let paused = self.disk.look(|index| index.paused_tournaments());
            for id in &paused {
                // Players that a restart cut off may never reconnect; then only an award ends the
                // tournament.
                let order = match self.disk.look(|index| index.is_interrupted(id)) {
                    true => TournamentOrder::Award { winners: Vec::new() },
                    false => TournamentOrder::Resume,
                };
                self.order(Order::Tournament(id.clone(), order));
            }
            // A tournament may be announced later, and interrupted once its players have had time
            // to reconnect.
            let more = !paused.is_empty() || !self.unfinished().is_empty() || !self.is_announced();
            if more || !self.operator.has_nothing_open() {
                self.at(self.now + 1_000, Happening::Order);
            }
        } else if let Some(order) = self.draw_order() {
            self.order(order);
        }
    }

    fn order(&mut self, order: Order) {
        let is_up = |server: &Server| !server.stopping && self.may_act(server.id);
        let Some(at) = self.servers.iter().position(is_up) else { return };
        let why = format!("order {}", self.operator.given.len() + 1);
        let (by, reason) = (PlayerName::new("operator"), Why::new(&why));
        let (Ok(by), Ok(reason)) = (by, reason) else { return };
        let ruling = Ruling { by, why: reason };
        let server = &mut self.servers[at];
        self.trace.note(self.now, || format!("{} < operator: {why}: {order:?}", server.id));
        let promise = server.driver.order(order.clone(), ruling.clone());
        if self.sabotage == Some(Sabotage::OrderTwice) {
            drop(server.driver.order(order.clone(), ruling));
        }
        let (server, promise, answer) = (server.id, Some(promise), None);
        self.operator.given.push(Given { order, why, answer, server, promise });
    }

    /// Takes the answers that have arrived. An order that was obeyed is durable by then.
    pub(super) fn hear_answers(&mut self) -> Result<(), Failure> {
        for at in 0..self.operator.given.len() {
            let given = &mut self.operator.given[at];
            let Some(promise) = &given.promise else { continue };
            let gone = self.servers.iter().all(|server| server.id != given.server);
            let taken = promise.take();
            if taken.is_none() && !gone {
                continue;
            }
            given.answer = taken.flatten();
            given.promise = None;
            let (why, answer) = (given.why.clone(), given.answer.clone());
            self.trace.note(self.now, || format!("operator hears of {why}: {answer:?}"));
            if answer == Some(Ok(())) {
                self.obeyed(at)?;
            }
        }
        Ok(())
    }

    fn obeyed(&mut self, at: usize) -> Result<(), Failure> {
        let Given { order, why, .. } = &self.operator.given[at];
        let durable =
            self.disk.look(|index| index.rulings.get(why).is_some_and(|count| *count > 0));
        if !durable && leaves_a_trace(order) {
            let what =
                format!("the operator got the answer to {why} before it was durable: {order:?}");
            return Err(Failure::new("effects", what));
        }
        Ok(())
    }

    fn draw_order(&mut self) -> Option<Order> {
        let (running, paused, open) = self.disk.look(|index| {
            let paused = index.paused_tournaments();
            (index.running(), paused, index.open())
        });
        let count = self.bots.len() as u64;
        let number = self.rng.between(1, count - 1) as usize;
        let player = PlayerName::new(&player_name(number)).ok()?;
        if !paused.is_empty() && self.rng.chance(800) {
            let id = self.rng.pick(&paused).clone();
            return Some(self.draw_ruling(id));
        }
        Some(match self.rng.below(100) {
            0..60 if !running.is_empty() => {
                let id = self.rng.pick(&running).clone();
                Order::Tournament(id, TournamentOrder::Pause)
            }
            0..65 if !running.is_empty() => {
                Order::Withdraw(self.rng.pick(&running).clone(), player)
            }
            0..68 if !running.is_empty() => {
                let tournament = self.rng.pick(&running).clone();
                Order::Lobby(LobbyOrder::Enter { tournament, player })
            }
            68..76 => Order::Blacklist(player),
            76..82 => Order::Lift(player),
            82..86 => Order::Lobby(LobbyOrder::LogOut(player)),
            _ if !open.is_empty() => {
                let id = self.rng.pick(&open).clone();
                match self.rng.below(4) {
                    0 => Order::Withdraw(id, player),
                    1 => Order::Lobby(LobbyOrder::CallOff(id)),
                    _ => Order::Lobby(LobbyOrder::Start(id)),
                }
            }
            _ => return None,
        })
    }

    /// Draws a ruling for a paused tournament.
    fn draw_ruling(&mut self, id: TournamentId) -> Order {
        let matches = self.disk.look(|index| index.matches_of(&id));
        let round = matches.last().map_or(0, |(round, ..)| *round);
        let latest: Vec<_> = matches.into_iter().filter(|(own, ..)| *own == round).collect();
        if latest.is_empty() || self.rng.chance(350) {
            return Order::Tournament(id, TournamentOrder::Resume);
        }
        let (_, of, players) = self.rng.pick(&latest).clone();
        if self.rng.chance(100) {
            let winners = players.into_iter().take(self.rng.below(2) as usize).collect();
            return Order::Tournament(id, TournamentOrder::Award { winners });
        }
        let of = MatchId::from_text(&of);
        match self.rng.below(6) {
            0 => {
                let mut winners = players;
                let keep = self.rng.below(winners.len().min(2) as u64 + 1) as usize;
                let skip = self.rng.below(winners.len() as u64) as usize;
                winners.rotate_left(skip);
                winners.truncate(keep);
                Order::Tournament(id, TournamentOrder::Override { id: of, winners })
            }
            1 => Order::Tournament(id, TournamentOrder::Replay { id: of }),
            2 => Order::Tournament(id, TournamentOrder::Undo { id: of }),
            3 => Order::Game(id, of, MatchOrder::UndoVoid(self.rng.between(1, 2) as u32)),
            _ => Order::Game(id, of, MatchOrder::Void(self.rng.between(1, 3) as u32)),
        }
    }
}

/// Returns whether the log holds an obeyed order under its own reason. Withdrawing a player who is
/// already out changes nothing, and neither does an entry that the blacklist already has.
pub(crate) fn leaves_a_trace(order: &Order) -> bool {
    matches!(order, Order::Tournament(..) | Order::Game(..) | Order::Lobby(_))
}
