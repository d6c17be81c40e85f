//! Over which wire a player is here. The engine treats all alike; people like to know.

use agon_core::PlayerName;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How the messages of a connection look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wire {
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
    pub(crate) const ALL: [Wire; 5] =
        [Wire::Tcp, Wire::WebSocket, Wire::Fish, Wire::Trains, Wire::Erlang];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Wire::Tcp => "tcp",
            Wire::WebSocket => "websocket",
            Wire::Fish => "fish",
            Wire::Trains => "trains",
            Wire::Erlang => "erlang",
        }
    }

    /// Whether the engine speaks the native protocol to it. Players on Erlang nodes have accounts and
    /// are spoken to like others: their gateway puts the messages into words of theirs.
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Wire::Tcp | Wire::WebSocket | Wire::Erlang)
    }
}

/// The wires of those players of a match who are here.
pub(crate) type Wires = BTreeMap<PlayerName, Wire>;

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
