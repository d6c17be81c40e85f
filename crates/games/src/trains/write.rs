//! The view as JSON text, written straight from the game: the bytes that the [`View`](super::View)
//! would be written as, without the lists it is made of. A property test compares the two.

use super::state::{Deed, Stage, Trains};
use super::talk::{Answer, HAND_LEN, MORE_LEN};
use super::{Color, Hand, Pair};
use crate::game::write_json;
use crate::write::{comma, number, seats};
use crate::{Seat, Viewer};

/// Writes the view of a seat or the public, with or without the history.
pub(super) fn write_view(game: &Trains, viewer: Viewer, with_past: bool, out: &mut Vec<u8>) {
    let you = match viewer {
        Viewer::Seat(seat) => Some(seat),
        Viewer::Public | Viewer::Full => None,
    };
    out.extend_from_slice(br#"{"map":"#);
    out.extend_from_slice(game.map.text().get().as_bytes());
    if let Some(seat) = you {
        out.extend_from_slice(br#","you":"#);
        number(out, seat.0.into());
    }
    out.extend_from_slice(br#","players":["#);
    for seat in Seat::all(usize::from(game.seats)) {
        comma(out, seat.index());
        player(out, game, seat, you == Some(seat));
    }
    out.push(b']');
    if game.stage != Stage::Over {
        out.extend_from_slice(br#","turn":"#);
        number(out, game.turn.0.into());
    }
    if let Some(last) = game.last_turns {
        out.extend_from_slice(br#","last_turns":"#);
        seats(out, last);
    }
    out.extend_from_slice(br#","deck":"#);
    number(out, game.deck.left().into());
    out.extend_from_slice(br#","history":["#);
    let past = if with_past { &game.history[..] } else { &[] };
    for (place, (seat, deed)) in past.iter().enumerate() {
        comma(out, place);
        action(out, game, *seat, *deed);
    }
    out.extend_from_slice(b"]}");
}

/// Writes an answer.
pub(super) fn write_answer(answer: &Answer, out: &mut Vec<u8>) {
    match answer {
        Answer::Ok => out.extend_from_slice(br#""ok""#),
        Answer::MoreCards => out.extend_from_slice(br#""more-cards""#),
        Answer::Acquire(one) => {
            out.extend_from_slice(br#"{"acquire":["#);
            cities(out, one.pair);
            out.extend_from_slice(br#",""#);
            out.extend_from_slice(one.color.name().as_bytes());
            out.extend_from_slice(br#"","#);
            number(out, one.length.segments().into());
            out.extend_from_slice(b"]}");
        }
        Answer::Return(_) => write_json(answer, out),
    }
}

/// Writes the cards that the latest step drew; `false` if it drew none.
pub(super) fn write_cards(game: &Trains, out: &mut Vec<u8>) -> bool {
    match usize::from(game.drawn.cards) {
        0 => return false,
        MORE_LEN => cards(out, game.drawn.seat, &game.deck.latest::<MORE_LEN>()),
        _ => cards(out, game.drawn.seat, &game.deck.latest::<HAND_LEN>()),
    }
    true
}

fn cards(out: &mut Vec<u8>, seat: u8, drawn: &[Color]) {
    out.extend_from_slice(br#"{"seat":"#);
    number(out, seat.into());
    out.extend_from_slice(br#","cards":["#);
    for (place, color) in drawn.iter().enumerate() {
        comma(out, place);
        out.push(b'"');
        out.extend_from_slice(color.name().as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"]}");
}

fn player(out: &mut Vec<u8>, game: &Trains, seat: Seat, open: bool) {
    let place = game.place(seat);
    let hand = Hand::from_counts(place.hand);
    out.extend_from_slice(match game.remaining.contains(seat) {
        true => br#"{"rails":"#,
        false => br#"{"out":true,"rails":"#,
    });
    number(out, place.rails.into());
    out.extend_from_slice(br#","cards":"#);
    number(out, hand.total());
    out.extend_from_slice(br#","acquired":["#);
    for (at, held) in place.held().iter().enumerate() {
        comma(out, at);
        connection(out, game, *held);
    }
    out.push(b']');
    if open {
        for (color, key) in Color::ALL.into_iter().zip(HAND_KEYS) {
            out.extend_from_slice(key);
            number(out, hand.of(color).into());
        }
        out.push(b'}');
    }
    if let Some(kept) = place.kept.filter(|_| open) {
        out.extend_from_slice(br#","destinations":["#);
        for (at, kept) in kept.into_iter().enumerate() {
            comma(out, at);
            out.push(b'[');
            cities(out, game.destination(kept));
            out.push(b']');
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// The text before the count of each colour of a hand.
const HAND_KEYS: [&[u8]; 4] =
    [br#","hand":{"blue":"#, br#","green":"#, br#","red":"#, br#","white":"#];

fn action(out: &mut Vec<u8>, game: &Trains, seat: Seat, deed: Deed) {
    out.extend_from_slice(br#"{"seat":"#);
    number(out, seat.0.into());
    match deed {
        Deed::Picked => out.extend_from_slice(br#","did":"picked"}"#),
        Deed::Removed => out.extend_from_slice(br#","did":"removed"}"#),
        Deed::Drew(count) => {
            out.extend_from_slice(br#","did":{"drew":"#);
            number(out, count.into());
            out.extend_from_slice(b"}}");
        }
        Deed::Acquired(at) => {
            out.extend_from_slice(br#","did":{"acquired":"#);
            connection(out, game, at);
            out.extend_from_slice(b"}}");
        }
    }
}

fn connection(out: &mut Vec<u8>, game: &Trains, at: u16) {
    let texts = game.map.connection_texts();
    out.extend_from_slice(texts[usize::from(at)].get().as_bytes());
}

/// Writes two names, which have no character that needs escaping.
fn cities(out: &mut Vec<u8>, pair: Pair) {
    out.push(b'"');
    out.extend_from_slice(pair.first().as_bytes());
    out.extend_from_slice(br#"",""#);
    out.extend_from_slice(pair.second().as_bytes());
    out.push(b'"');
}
