//! Writes the view as JSON text, directly from the game.
//!
//! A server writes a view for every request it sends. This module writes the same text as
//! serializing the view, without its many small lists; a test compares both.

use super::boxes::ScoreBox;
use super::card::YAHTZEE_BONUS;
use super::config::{DiceSource, Rule};
use super::dice::{Dice, Record, Sequence, Step};
use super::state::{Side, Yahtzee};
use super::view::{CardView, card_of};
use super::{Places, TURNS};
use crate::Viewer;
use crate::write::{comma, number, seats};

/// Writes the view of a seat or the public, with or without earlier turns.
pub(super) fn write_view(game: &Yahtzee, viewer: Viewer, with_past: bool, out: &mut Vec<u8>) {
    let turn = game.turn();
    let own = match viewer {
        Viewer::Seat(seat) => Some(seat.index()),
        Viewer::Public | Viewer::Full => None,
    };
    out.extend_from_slice(br#"{"seat":"#);
    match own {
        Some(seat) => number(out, seat as u32),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(match game.source() {
        DiceSource::Duplicate => br#","dice":"duplicate","rule":""#,
        DiceSource::Independent => br#","dice":"independent","rule":""#,
    });
    out.extend_from_slice(match game.rule() {
        Rule::Tournament => b"tournament",
        Rule::ForcedJoker => b"forced-joker",
        Rule::FreeJoker => b"free-joker",
    });
    out.extend_from_slice(br#"","turn":"#);
    number(out, turn as u32 + 1);
    out.extend_from_slice(br#","cards":["#);
    for (seat, side) in game.sides().iter().enumerate() {
        comma(out, seat);
        card(out, &card_of(side, turn, own == Some(seat)));
    }
    out.extend_from_slice(br#"],"history":["#);
    for past in 0..if with_past { turn } else { 0 } {
        comma(out, past);
        for (seat, side) in game.sides().iter().enumerate() {
            out.push(if seat == 0 { b'[' } else { b',' });
            play(out, side, game.sequence(seat, past), game.record(seat, past));
        }
        out.push(b']');
    }
    out.extend_from_slice(br#"],"now":["#);
    for (seat, side) in game.sides().iter().enumerate() {
        comma(out, seat);
        if own == Some(seat) && turn < TURNS {
            play(out, side, game.sequence(seat, turn), side.now());
        } else {
            out.extend_from_slice(b"null");
        }
    }
    out.extend_from_slice(br#"],"unfinished":"#);
    seats(out, game.unfinished());
    out.extend_from_slice(br#","removed":"#);
    seats(out, game.removed_seats());
    out.push(b'}');
}

fn card(out: &mut Vec<u8>, card: &CardView) {
    out.extend_from_slice(br#"{"boxes":{"#);
    for (place, at) in ScoreBox::ALL.into_iter().enumerate() {
        comma(out, place);
        KEYS[place].write(out);
        match card.boxes.of(at) {
            Some(points) => number(out, points.into()),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.extend_from_slice(br#"},"upper":"#);
    number(out, card.upper.into());
    out.extend_from_slice(br#","upper_bonus":"#);
    number(out, card.upper_bonus.into());
    out.extend_from_slice(br#","yahtzee_bonuses":"#);
    number(out, card.yahtzee_bonuses.into());
    out.extend_from_slice(br#","total":"#);
    number(out, card.total.into());
    out.push(b'}');
}

fn play(out: &mut Vec<u8>, side: &Side, sequence: &Sequence, record: Record) {
    let attempts = record.attempts();
    let all = sequence.dice();
    let (first, mut later) = all.split_at(5);
    let mut table: Dice = std::array::from_fn(|at| first[at]);
    out.extend_from_slice(br#"{"rolls":["#);
    dice(out, table);
    for attempt in 0..attempts {
        let kept = record.kept(attempt);
        for at in (0..5).filter(|at| !kept.has(*at)) {
            (table[at], later) = (later[0], &later[1..]);
        }
        out.push(b',');
        dice(out, table);
    }
    out.extend_from_slice(br#"],"kept":["#);
    for attempt in 0..attempts {
        comma(out, attempt as usize);
        FLAGS[record.kept(attempt).bits() as usize].write(out);
    }
    out.extend_from_slice(br#"],"scored":"#);
    if record.step() == Step::Done {
        let at = record.scored();
        out.extend_from_slice(br#"{"box":""#);
        out.extend_from_slice(at.name().as_bytes());
        out.extend_from_slice(br#"","points":"#);
        number(out, side.card.points(at).into());
        out.extend_from_slice(br#","bonus":"#);
        number(out, u32::from(YAHTZEE_BONUS) * u32::from(record.bonus()));
        out.extend_from_slice(b"}}");
    } else {
        out.extend_from_slice(b"null}");
    }
}

fn dice(out: &mut Vec<u8>, [a, b, c, d, e]: Dice) {
    let digit = |die: u8| b'0' + die;
    let (a, b, c, d, e) = (digit(a), digit(b), digit(c), digit(d), digit(e));
    out.extend_from_slice(&[b'[', a, b',', b, b',', c, b',', d, b',', e, b']']);
}

/// A short text that is written often: all of its room is copied, which is one move, and then cut.
#[derive(Clone, Copy)]
struct Piece {
    bytes: [u8; 32],
    len: usize,
}

impl Piece {
    const NONE: Piece = Piece { bytes: [0; 32], len: 0 };

    const fn and(mut self, text: &str) -> Piece {
        let (text, mut at) = (text.as_bytes(), 0);
        while at < text.len() {
            self.bytes[self.len] = text[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    fn write(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }
}

/// For each set of dice whether each of the five is in it.
static FLAGS: [Piece; 32] = {
    let mut all = [Piece::NONE; 32];
    let mut bits = 0;
    while bits < 32 {
        let mut piece = Piece::NONE;
        let mut at = 0;
        while at < 5 {
            piece = piece.and(if at == 0 { "[" } else { "," });
            piece = piece.and(if Places::from_bits(bits).has(at) { "true" } else { "false" });
            at += 1;
        }
        all[bits as usize] = piece.and("]");
        bits += 1;
    }
    all
};

/// The boxes as keys of an object.
static KEYS: [Piece; 13] = {
    let mut all = [Piece::NONE; 13];
    let mut place = 0;
    while place < 13 {
        all[place] = Piece::NONE.and("\"").and(ScoreBox::ALL[place].name()).and("\":");
        place += 1;
    }
    all
};
