//! The questions to players, their answers and their views.

use super::{Action, Board, Player, Position, State};
use crate::{Seat, SeatSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A player's colour, by seat.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Seat 0.
    Red,
    /// Seat 1.
    White,
    /// Seat 2.
    Brown,
    /// Seat 3.
    Black,
}

impl Color {
    /// All colours, in the order of seats.
    pub const ALL: [Color; super::SEATS_MAX] =
        [Color::Red, Color::White, Color::Brown, Color::Black];

    /// The colour of a seat.
    pub fn of(seat: Seat) -> Color {
        Color::ALL[seat.index()]
    }

    pub(super) fn of_all(seats: SeatSet) -> Vec<Color> {
        seats.map(Color::of).collect()
    }
}

impl Color {
    /// The colour's name on wires.
    pub fn name(self) -> &'static str {
        match self {
            Color::Red => "red",
            Color::White => "white",
            Color::Brown => "brown",
            Color::Black => "black",
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A question to a player: `{"ask":"place"}` and so on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// To confirm its colour.
    PlayingAs {
        /// The player's colour.
        color: Color,
    },
    /// To confirm who else plays.
    PlayingWith {
        /// The colours of the others, in playing order.
        colors: Vec<Color>,
    },
    /// To put one penguin on a free tile.
    Place,
    /// To move one of its penguins.
    Move,
}

/// The board that was laid out at set-up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Drawn {
    /// Fish by row and column; 0 is a hole.
    pub board: Vec<Vec<u8>>,
}

/// A player's answer: `"ok"`, `{"place":[r,c]}` or `{"move":[[r,c],[r,c]]}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Confirms.
    Ok,
    /// Puts a penguin there.
    Place(Position),
    /// Slides a penguin.
    Move(Action),
}

/// The phases of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Every player is told its colour and confirms.
    PlayingAs,
    /// Every player is told the others' colours and confirms.
    PlayingWith,
    /// Penguins are placed, one a turn.
    Place,
    /// Penguins move.
    Move,
    /// Nobody can move, or nobody is left.
    Over,
}

/// One player as everybody sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayerView {
    /// Its colour.
    pub color: Color,
    /// Its fish so far.
    pub score: u32,
    /// Its penguins, in the order they were placed.
    pub places: Vec<Position>,
    /// Whether it was removed.
    pub removed: bool,
}

/// The game as everybody sees it; nothing in Fish is hidden. A seat's view differs from the public
/// one in `you` and `since` only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The seat whose view this is; absent from views for everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub you: Option<Seat>,
    /// The phase of the game.
    pub phase: Phase,
    /// The seat that places or moves next.
    pub turn: Option<Seat>,
    /// How many penguins each player places.
    pub penguins: usize,
    /// The tiles as they are now, also those under penguins.
    pub board: Board,
    /// The players, by seat.
    pub players: Vec<PlayerView>,
    /// The moves since this seat's own last move, the latest last; empty before its first move, and
    /// from a removal on until it has moved again. Public views have the latest move only, if
    /// nobody was removed since. Who was passed over is not listed. A seat that is passed over
    /// itself sees the latest few.
    pub since: Vec<Action>,
}

impl View {
    /// The position as players outside Agon write it: without removed players, and in playing
    /// order from `seat`, or the next one that was not removed.
    pub fn state(&self, seat: Seat) -> State {
        let count = self.players.len();
        let players = (0..count)
            .map(|step| &self.players[(seat.index() + step) % count])
            .filter(|player| !player.removed)
            .map(|player| Player {
                color: player.color,
                score: player.score,
                places: player.places.clone(),
            })
            .collect();
        State { players, board: self.board.clone() }
    }
}
