//! The view as JSON text, written straight from the game: the bytes that the [`View`](super::View)
//! would be written as, without the lists it is made of. A property test compares the two.

use super::{Action, Answer, Color, Fish, Phase, Position, Tile, penguins_each};
use crate::game::write_json;
use crate::write::{comma, number};
use crate::{Game, Seat, Viewer};

/// Writes the view of a viewer.
pub(super) fn write_view(game: &Fish, viewer: Viewer, out: &mut Vec<u8>) {
    let count = game.seats();
    let all = || Seat::all(count);
    let you = match viewer {
        Viewer::Seat(seat) => Some(seat),
        Viewer::Public | Viewer::Full => None,
    };
    out.push(b'{');
    if let Some(seat) = you {
        out.extend_from_slice(br#""you":"#);
        number(out, seat.0.into());
        out.push(b',');
    }
    out.extend_from_slice(match game.phase {
        Phase::PlayingAs => br#""phase":"playing-as","turn":"#,
        Phase::PlayingWith => br#""phase":"playing-with","turn":"#,
        Phase::Place => br#""phase":"place","turn":"#,
        Phase::Move => br#""phase":"move","turn":"#,
        Phase::Over => br#""phase":"over","turn":"#,
    });
    match game.turn() {
        Some(seat) => number(out, seat.0.into()),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(br#","penguins":"#);
    number(out, penguins_each(count) as u32);
    out.extend_from_slice(br#","board":["#);
    board(out, game);
    out.extend_from_slice(br#"],"players":["#);
    for seat in all() {
        comma(out, seat.index());
        player(out, game, seat);
    }
    out.extend_from_slice(br#"],"since":["#);
    for (place, [from, to]) in game.recent.since(you).enumerate() {
        comma(out, place);
        out.push(b'[');
        tile(out, game, from);
        out.push(b',');
        tile(out, game, to);
        out.push(b']');
    }
    out.extend_from_slice(b"]}");
}

/// Writes an answer.
pub(super) fn write_answer(answer: &Answer, out: &mut Vec<u8>) {
    match answer {
        Answer::Ok => out.extend_from_slice(br#""ok""#),
        Answer::Place(at) => {
            out.extend_from_slice(br#"{"place":"#);
            position(out, *at);
            out.push(b'}');
        }
        Answer::Move(Action { from, to }) => {
            out.extend_from_slice(br#"{"move":["#);
            position(out, *from);
            out.push(b',');
            position(out, *to);
            out.extend_from_slice(b"]}");
        }
    }
}

/// Writes the rows of the board, without the brackets around them.
fn board(out: &mut Vec<u8>, game: &Fish) {
    let columns = game.ice.shape().columns();
    let occupied = Seat::all(game.seats()).flat_map(|seat| game.flock(seat));
    out.push(b'[');
    let mut column = 0;
    for fish in game.ice.fish_by_tile(occupied) {
        if column == columns {
            // The comma behind the last tile of the row.
            out.pop();
            out.extend_from_slice(b"],[");
            column = 0;
        }
        out.extend_from_slice(&[b'0' + fish, b',']);
        column += 1;
    }
    out.pop();
    out.push(b']');
}

fn player(out: &mut Vec<u8>, game: &Fish, seat: Seat) {
    out.extend_from_slice(br#"{"color":""#);
    out.extend_from_slice(Color::of(seat).name().as_bytes());
    out.extend_from_slice(br#"","score":"#);
    number(out, game.scores[seat.index()].into());
    out.extend_from_slice(br#","places":["#);
    for (place, stands_on) in game.flock(seat).enumerate() {
        comma(out, place);
        tile(out, game, stands_on);
    }
    out.extend_from_slice(match game.removed.contains(seat) {
        true => br#"],"removed":true}"#,
        false => br#"],"removed":false}"#,
    });
}

fn tile(out: &mut Vec<u8>, game: &Fish, tile: Tile) {
    position(out, game.ice.shape().position(tile));
}

fn position(out: &mut Vec<u8>, at: Position) {
    match (at.row, at.column) {
        (row @ 0..10, column @ 0..10) => {
            out.extend_from_slice(&[b'[', digit(row), b',', digit(column), b']']);
        }
        _ => write_json(&at, out),
    }
}

fn digit(number: i64) -> u8 {
    b'0' + number as u8
}
