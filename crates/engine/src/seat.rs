//! The kinds of seats, as data.
//!
//! A seat is where a player is reached: a connection on the native protocol, a program of another
//! system, an Erlang process or a house player. The engine does not check which of them it is. It
//! checks what the seat can do, which the gateway states when it opens the connection.

use agon_core::PlayerName;
use agon_wire::request::Shows;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the messages of a connection look. The engine decides nothing by it; people like to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// The native protocol in lines.
    Tcp,
    /// The native protocol in text frames.
    WebSocket,
    /// JSON values of the Fish systems.
    Fish,
    /// JSON values of the Trains system.
    Trains,
    /// Terms of Erlang.
    Erlang,
}

impl Wire {
    /// All wires.
    pub const ALL: [Wire; 5] = [Wire::Tcp, Wire::WebSocket, Wire::Fish, Wire::Trains, Wire::Erlang];

    /// Its name in metrics and answers.
    pub fn word(self) -> &'static str {
        match self {
            Wire::Tcp => "tcp",
            Wire::WebSocket => "websocket",
            Wire::Fish => "fish",
            Wire::Trains => "trains",
            Wire::Erlang => "erlang",
        }
    }
}

/// The wires of those players of a match who are connected.
pub type Wires = BTreeMap<PlayerName, Wire>;

/// The form of messages to a seat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Form {
    /// Lines of the native protocol.
    Lines(Shows),
    /// Structured calls, which the gateway translates.
    Calls,
    /// The state of the game itself, for a house player, which runs inside the server.
    State,
}

/// The capabilities of a seat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeatKind {
    /// The wire of the connection.
    pub wire: Wire,
    /// The form of messages to it. A seat that takes calls also confirms messages that others only
    /// receive. The engine closes its connection when it has nothing more to play.
    pub form: Form,
    /// True if a timeout counts as a crash: the match goes on without the player until they send
    /// something.
    pub timeout_is_crash: bool,
    /// True if the gateway keeps strangers out, so that any first password is accepted.
    pub is_trusted: bool,
    /// True if it is a program that the host runs for one tournament. Its requests do not name the
    /// tournament, and it is sent no messages about accounts, tournaments and matches.
    pub is_local: bool,
}

impl SeatKind {
    /// A player on the native protocol.
    pub fn native(wire: Wire) -> SeatKind {
        let form = Form::Lines(Shows::Score);
        SeatKind { wire, form, timeout_is_crash: false, is_trusted: false, is_local: false }
    }

    /// A program on this machine that the host runs for one tournament.
    pub fn local() -> SeatKind {
        SeatKind { is_local: true, is_trusted: true, ..SeatKind::native(Wire::Tcp) }
    }

    /// A program of another system.
    pub fn program(wire: Wire) -> SeatKind {
        SeatKind { form: Form::Calls, ..SeatKind::native(wire) }
    }

    /// A process on an Erlang node.
    pub fn process(shows: Shows) -> SeatKind {
        let form = Form::Lines(shows);
        SeatKind {
            form,
            timeout_is_crash: true,
            is_trusted: true,
            ..SeatKind::native(Wire::Erlang)
        }
    }

    /// Returns whether it takes lines of the native protocol.
    pub fn takes_lines(&self) -> bool {
        matches!(self.form, Form::Lines(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_is_called_the_same_everywhere() {
        for wire in Wire::ALL {
            assert_eq!(serde_json::json!(wire), wire.word());
        }
    }
}
