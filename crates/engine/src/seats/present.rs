//! Which players can be reached now, and how.
//!
//! The seat side writes this table when a player arrives or leaves. Cells and the lobby only read
//! it. They know players by name and by what their seat can do, and no session.

use crate::names::PlayerMap;
use crate::seat::{Form, SeatKind, Wire, Wires};
use crate::{AskId, ConnId};
use agon_core::{Match, Nonce, PlayerName, RequestClock, Timestamp, Timing};
use agon_games::Json;
use agon_wire::native::Hello;
use agon_wire::request::Shows;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// How a player is reached.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Reach {
    Connection(ConnId, Wire),
    /// A house player with this name, which the driver runs.
    House(Arc<str>),
}

/// How a request goes to a seat.
pub(crate) enum RequestWay {
    /// As a line of the native protocol.
    Line(LineSeat),
    /// As a structured call on a connection.
    Call(ConnId),
    /// As the state of the game, to a house player.
    House,
}

/// A seat that takes lines.
#[derive(Clone, Copy)]
pub(crate) struct LineSeat {
    pub(crate) conn: ConnId,
    pub(crate) shows: Shows,
    /// True if it is a program that the host runs for one tournament, which requests do not name.
    pub(crate) is_local: bool,
}

/// The seat of a player who can be reached.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlayerSeat {
    to: Reach,
    form: Form,
    timeout_is_crash: bool,
    is_local: bool,
    /// True if the player is shown every change of their matches.
    listens: bool,
    nonce: Option<Nonce>,
    proposal: Option<Json>,
    /// The requests that the connection was sent and that are open.
    requests: Vec<SentRequest>,
    /// Requests that are closed and not written yet, each with the number of its sendings.
    closed: Vec<(AskId, u32)>,
}

/// A request that was sent and is open.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SentRequest {
    ask: AskId,
    clock: RequestClock,
    /// How often it was handed to the connection and is not written yet. A call is not counted.
    unwritten: u32,
}

impl PlayerSeat {
    /// The seat of a player behind a connection.
    pub(crate) fn of_connection(
        conn: ConnId,
        seat: SeatKind,
        listens: bool,
        hello: Option<&Hello>,
    ) -> PlayerSeat {
        // Players may ask for the history in every request.
        let form = match seat.form {
            Form::Lines(Shows::Score) if hello.is_some_and(|hello| hello.history) => {
                Form::Lines(Shows::History)
            }
            form => form,
        };
        PlayerSeat {
            to: Reach::Connection(conn, seat.wire),
            form,
            timeout_is_crash: seat.timeout_is_crash,
            is_local: seat.is_local,
            listens,
            nonce: hello.and_then(|hello| hello.nonce.clone()),
            proposal: hello.and_then(|hello| hello.proposal.clone()),
            requests: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// A copy that was sent no request yet, for another engine.
    pub(crate) fn without_requests(&self) -> PlayerSeat {
        PlayerSeat { requests: Vec::new(), closed: Vec::new(), ..self.clone() }
    }

    /// The seat of a house player.
    fn of_house(name: &str) -> PlayerSeat {
        PlayerSeat {
            to: Reach::House(name.into()),
            form: Form::State,
            timeout_is_crash: false,
            is_local: false,
            listens: false,
            nonce: None,
            proposal: None,
            requests: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// The connection; a house player has none.
    pub(crate) fn conn(&self) -> Option<ConnId> {
        match self.to {
            Reach::Connection(conn, _) => Some(conn),
            Reach::House(_) => None,
        }
    }

    /// The name of the house player that has this seat, if one has it.
    pub(crate) fn house(&self) -> Option<&Arc<str>> {
        match &self.to {
            Reach::Connection(..) => None,
            Reach::House(name) => Some(name),
        }
    }

    /// How a request goes to the seat.
    pub(crate) fn way(&self) -> RequestWay {
        match (self.form, &self.to) {
            (Form::Lines(shows), Reach::Connection(conn, _)) => {
                let (conn, is_local) = (*conn, self.is_local);
                RequestWay::Line(LineSeat { conn, shows, is_local })
            }
            (_, Reach::Connection(conn, _)) => RequestWay::Call(*conn),
            (_, Reach::House(_)) => RequestWay::House,
        }
    }

    pub(crate) fn takes_calls(&self) -> bool {
        self.form == Form::Calls
    }

    pub(crate) fn timeout_is_crash(&self) -> bool {
        self.timeout_is_crash
    }

    /// Returns whether it is a program that the host runs for one tournament.
    pub(crate) fn is_local(&self) -> bool {
        self.is_local
    }

    pub(crate) fn listens(&self) -> bool {
        self.listens
    }

    /// The number that the player adds to the luck of their games.
    pub(crate) fn nonce(&self) -> Option<Nonce> {
        self.nonce.clone()
    }

    /// Opens a request that is about to be sent as a line. A request that is sent again has a new
    /// clock, which the receipt of an earlier sending does not start.
    pub(crate) fn open_line(&mut self, ask: AskId, clock: RequestClock) {
        let before = match self.closed.iter().position(|(closed, _)| *closed == ask) {
            Some(place) => self.closed.swap_remove(place).1,
            None => self.take_request(&ask).map_or(0, |open| open.unwritten),
        };
        self.requests.push(SentRequest { ask, clock, unwritten: before + 1 });
    }

    /// Opens a request that is about to be sent as a call.
    pub(crate) fn open_call(&mut self, ask: AskId, clock: RequestClock) {
        self.take_request(&ask);
        self.requests.push(SentRequest { ask, clock, unwritten: 0 });
    }

    /// Forgets a request, which is not open any more.
    pub(crate) fn close_request(&mut self, ask: &AskId) {
        if let Some(closed) = self.take_request(ask).filter(|closed| closed.unwritten > 0) {
            self.closed.push((closed.ask, closed.unwritten));
        }
    }

    fn take_request(&mut self, ask: &AskId) -> Option<SentRequest> {
        let place = self.requests.iter().position(|open| open.ask == *ask)?;
        Some(self.requests.swap_remove(place))
    }

    /// How long the player took for an answer that was read at `at`; `None` if no such request is
    /// open here.
    pub(super) fn timing(&self, is_it: impl Fn(&AskId) -> bool, at: Timestamp) -> Option<Timing> {
        let open = self.requests.iter().find(|open| is_it(&open.ask))?;
        Some(open.clock.timing(at))
    }

    /// Starts the clock of a request that was written to the socket at `at`. Returns false if that
    /// was an earlier sending of the request.
    fn deliver(&mut self, ask: &AskId, at: Timestamp) -> bool {
        if let Some(open) = self.requests.iter_mut().find(|open| open.ask == *ask) {
            open.unwritten = open.unwritten.saturating_sub(1);
            if open.unwritten == 0 {
                open.clock.deliver(at);
            }
            return open.unwritten == 0;
        }
        let Some(place) = self.closed.iter().position(|(closed, _)| closed == ask) else {
            return true;
        };
        self.closed[place].1 -= 1;
        if self.closed[place].1 == 0 {
            self.closed.swap_remove(place);
        }
        false
    }

    /// The configuration that the player proposes for a tournament, as JSON.
    pub(crate) fn proposal(&self) -> Option<String> {
        self.proposal.as_ref().map(|proposal| proposal.get().to_owned())
    }
}

/// The players who can be reached, and since when others cannot.
#[derive(Default)]
pub(crate) struct PresentPlayers {
    seats: PlayerMap<PlayerSeat>,
    /// Since when players are without a connection.
    gone_since: HashMap<PlayerName, Timestamp>,
    /// How often a player arrived or left.
    changes: u64,
}

impl PresentPlayers {
    /// Seats a player; returns the connection that the player had before.
    pub(crate) fn arrive(&mut self, player: &PlayerName, seat: PlayerSeat) -> Option<ConnId> {
        self.gone_since.remove(player);
        self.changes += 1;
        let conn = seat.conn();
        let old = self.seats.insert(player.clone(), seat).and_then(|old| old.conn());
        old.filter(|old| Some(*old) != conn)
    }

    /// Removes a player whose connection closed; returns whether that was their connection.
    pub(crate) fn leave(&mut self, player: &PlayerName, conn: ConnId) -> bool {
        let was_here = self.conn_of(player) == Some(conn);
        if was_here {
            self.seats.remove(player);
            self.changes += 1;
        }
        was_here
    }

    /// Opens the seat of a house player, if it is not open yet.
    pub(crate) fn seat_house(&mut self, player: &PlayerName, name: &str) {
        self.seats.entry(player.clone()).or_insert_with(|| PlayerSeat::of_house(name));
    }

    /// Replaces the seat of a player whose connection stays.
    pub(super) fn replace(&mut self, player: &PlayerName, seat: PlayerSeat) {
        self.seats.insert(player.clone(), seat);
    }

    /// The seat of a player, if they can be reached.
    pub(crate) fn seat(&self, player: &PlayerName) -> Option<&PlayerSeat> {
        self.seats.get(player)
    }

    /// The seat of a player, if they can be reached.
    pub(crate) fn seat_mut(&mut self, player: &PlayerName) -> Option<&mut PlayerSeat> {
        self.seats.get_mut(player)
    }

    /// The connection of a player, if they are connected.
    pub(crate) fn conn_of(&self, player: &PlayerName) -> Option<ConnId> {
        self.seat(player)?.conn()
    }

    /// Returns whether a player can receive requests.
    pub(crate) fn is_here(&self, player: &PlayerName) -> bool {
        self.seats.contains_key(player)
    }

    /// The wire over which a player is connected, if they are.
    pub(crate) fn wire_of(&self, player: &PlayerName) -> Option<Wire> {
        match self.seat(player)?.to {
            Reach::Connection(_, wire) => Some(wire),
            Reach::House(_) => None,
        }
    }

    /// The wires over which the players of a match are connected.
    pub(crate) fn wires(&self, played: &Match) -> Wires {
        let players = played.plan().players.iter();
        players.filter_map(|player| Some((player.clone(), self.wire_of(player)?))).collect()
    }

    /// Starts the clock of a request that was written at `at`. Returns false if the player has
    /// another connection now, or if the request was sent again and only the earlier sending was
    /// written.
    pub(super) fn deliver(
        &mut self,
        player: &PlayerName,
        conn: ConnId,
        ask: &AskId,
        at: Timestamp,
    ) -> bool {
        let seat = self.seats.get_mut(player).filter(|seat| seat.conn() == Some(conn));
        seat.is_some_and(|seat| seat.deliver(ask, at))
    }

    /// Since when a player is without a connection.
    pub(crate) fn gone_since(&self, player: &PlayerName) -> Option<Timestamp> {
        self.gone_since.get(player).copied()
    }

    /// Records since when a player is without a connection.
    pub(crate) fn note_gone(&mut self, player: PlayerName, since: Timestamp) {
        self.gone_since.insert(player, since);
    }

    /// Forgets that a player is without a connection.
    pub(super) fn forget_gone(&mut self, player: &PlayerName) {
        self.gone_since.remove(player);
    }

    /// How often a player connected or disconnected.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatchKey;
    use agon_core::RequestId;

    #[test]
    fn newest_connection_has_the_account() {
        let (mut present, ann) = (PresentPlayers::default(), PlayerName::new("ann").unwrap());
        let on = |conn| {
            PlayerSeat::of_connection(ConnId(conn), SeatKind::native(Wire::Tcp), false, None)
        };
        assert_eq!(present.arrive(&ann, on(1)), None);
        assert_eq!(present.arrive(&ann, on(2)), Some(ConnId(1)));
        assert!(!present.leave(&ann, ConnId(1)), "it lost the account before");
        assert_eq!(present.conn_of(&ann), Some(ConnId(2)));
        assert!(present.leave(&ann, ConnId(2)));
        assert_eq!((present.conn_of(&ann), present.is_here(&ann)), (None, false));
        assert!(!present.leave(&ann, ConnId(2)));
        assert_eq!(present.changes(), 3);
    }

    #[test]
    fn receipt_of_an_earlier_sending_starts_no_clock() {
        let at = Timestamp::from_ms;
        for is_closed_between in [false, true] {
            let tcp = SeatKind::native(Wire::Tcp);
            let mut seat = PlayerSeat::of_connection(ConnId(1), tcp, false, None);
            let ask = AskId::Match(
                MatchKey::new("cup".into(), "r1m1".into()),
                RequestId::from_text("r1m1.1.0.0"),
            );
            seat.open_line(ask.clone(), RequestClock::new(1_000));
            if is_closed_between {
                seat.close_request(&ask);
            }
            seat.open_line(ask.clone(), RequestClock::new(1_000));
            assert!(!seat.deliver(&ask, at(100)), "that was the first sending");
            assert_eq!(seat.timing(|_| true, at(5_000)).map(|timing| timing.is_late), Some(false));
            assert!(seat.deliver(&ask, at(5_000)));
            assert_eq!(seat.timing(|_| true, at(5_400)).map(|timing| timing.took_ms), Some(400));
            seat.close_request(&ask);
            assert!(seat.closed.is_empty());
        }
    }
}
