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

impl Answer {
    /// Reads an answer without spaces whose numbers are small.
    pub(super) fn usual(text: &str) -> Option<Answer> {
        if let Some(rest) = text.strip_prefix(r#"{"move":["#) {
            let (from, rest) = usual_position(rest)?;
            let (to, rest) = usual_position(rest.strip_prefix(',')?)?;
            return (rest == "]}").then_some(Answer::Move(Action { from, to }));
        }
        if let Some(rest) = text.strip_prefix(r#"{"place":"#) {
            let (at, rest) = usual_position(rest)?;
            return (rest == "}").then_some(Answer::Place(at));
        }
        (text == r#""ok""#).then_some(Answer::Ok)
    }
}

/// The position that a text begins with, and the rest.
fn usual_position(text: &str) -> Option<(Position, &str)> {
    let (row, rest) = usual_number(text.strip_prefix('[')?)?;
    let (column, rest) = usual_number(rest.strip_prefix(',')?)?;
    Some((Position::new(row, column), rest.strip_prefix(']')?))
}

/// The number of one or two digits that a text begins with, and the rest.
fn usual_number(text: &str) -> Option<(i64, &str)> {
    let digit = |at: usize| text.as_bytes().get(at).filter(|byte| byte.is_ascii_digit());
    let number = |byte: &u8| i64::from(byte - b'0');
    let first = number(digit(0)?);
    match digit(1) {
        None => Some((first, &text[1..])),
        // JSON has no zeros in front.
        Some(_) if first == 0 => None,
        Some(second) => Some((10 * first + number(second), &text[2..])),
    }
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
    /// True if it was removed.
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
    /// nobody was removed since. Players who were passed over are not listed. A seat that is passed
    /// over itself sees the latest few.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spelling_means_the_same_as_any_json() {
        for text in
            [r#""ok""#, r#"{"place":[0,10]}"#, r#"{"move":[[1,0],[23,4]]}"#, r#"{"place":[9,7]}"#]
        {
            let due: Answer = serde_json::from_str(text).expect("an answer");
            assert_eq!(Answer::usual(text), Some(due), "{text}");
            for at in 0..text.len() {
                for piece in ["", " ", "0", "-1", "01", ".5", ",", "]", "99999999999999999999"] {
                    let changed = [&text[..at], piece, &text[at + 1..]].concat();
                    if let Some(usual) = Answer::usual(&changed) {
                        let due: Answer = serde_json::from_str(&changed).expect("an answer");
                        assert_eq!(usual, due, "{changed}");
                    }
                }
            }
        }
        for unusual in [r#"{"place":[-1,0]}"#, r#"{"place":[100,0]}"#, r#"{"place":[00,0]}"#] {
            assert_eq!(Answer::usual(unusual), None, "{unusual}");
        }
    }
}
