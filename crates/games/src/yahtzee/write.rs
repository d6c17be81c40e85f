//! Writes the view as JSON text, directly from the game.
//!
//! A server writes a view for every request it sends. This module writes the same text as
//! serializing the view, without its many small lists; a test compares both.

use super::answer::{Answer, Keep, Question, Score};
use super::boxes::{Boxes, ScoreBox};
use super::card::YAHTZEE_BONUS;
use super::config::{DiceSource, Rule};
use super::dice::{Dice, Record, Sequence, Step};
use super::state::{Latest, Side, Yahtzee};
use super::view::{CardView, card_of};
use super::{Places, TURNS};
use crate::game::write_json;
use crate::write::{comma, number, seats};
use crate::{Seat, Viewer};

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

/// Writes a question.
pub(super) fn write_question(question: &Question, out: &mut Vec<u8>) {
    let table = match question {
        Question::Keep { roll, dice } => {
            out.extend_from_slice(br#"{"ask":"keep","roll":"#);
            number(out, (*roll).into());
            out.extend_from_slice(br#","dice":"#);
            dice
        }
        Question::Score { dice } => {
            out.extend_from_slice(br#"{"ask":"score","dice":"#);
            dice
        }
    };
    dice(out, *table);
    out.push(b'}');
}

/// Writes an answer.
pub(super) fn write_answer(answer: &Answer, out: &mut Vec<u8>) {
    match answer {
        Answer::Keep(Keep::Places(places)) => {
            out.extend_from_slice(br#"{"keep":"#);
            FLAGS[usize::from(places.bits())].write(out);
            out.push(b'}');
        }
        Answer::Score(Score { at, dice: None, points: None }) => {
            out.extend_from_slice(br#"{"score":""#);
            out.extend_from_slice(at.name().as_bytes());
            out.extend_from_slice(br#""}"#);
        }
        _ => write_json(answer, out),
    }
}

/// Writes the dice that the latest step rolled; `false` if it rolled none.
pub(super) fn write_drawn(game: &Yahtzee, out: &mut Vec<u8>) -> bool {
    match game.latest() {
        Latest::Other => false,
        Latest::Turn => {
            let (Some(one), Some(two)) = (game.dice_of(Seat(0)), game.dice_of(Seat(1))) else {
                return false;
            };
            out.extend_from_slice(br#"{"turn":"#);
            number(out, game.turn() as u32 + 1);
            out.extend_from_slice(br#","dice":["#);
            dice(out, one);
            out.push(b',');
            dice(out, two);
            out.extend_from_slice(b"]}");
            true
        }
        Latest::Keep(seat) => {
            let new = game.rolled(seat);
            let Some(table) = game.dice_of(seat).filter(|_| new != Places::NONE) else {
                return false;
            };
            out.extend_from_slice(br#"{"seat":"#);
            number(out, seat.0.into());
            out.extend_from_slice(br#","dice":["#);
            for (place, at) in (0..5).filter(|at| new.has(*at)).enumerate() {
                comma(out, place);
                out.push(b'0' + table[at]);
            }
            out.extend_from_slice(b"]}");
            true
        }
    }
}

fn card(out: &mut Vec<u8>, card: &CardView) {
    out.extend_from_slice(br#"{"boxes":{"#);
    boxes(out, &card.boxes);
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

/// Writes the boxes of a card, which are the longest part of a view: first into a buffer of its
/// own, where every piece has room.
fn boxes(out: &mut Vec<u8>, boxes: &Boxes) {
    let (mut text, mut end) = ([0; BOXES_BYTES], 0);
    for (key, points) in KEYS.iter().zip(boxes.0) {
        text[end..end + key.bytes.len()].copy_from_slice(&key.bytes);
        end += key.len;
        let points = &POINTS[points.map_or(NO_POINTS, usize::from)];
        text[end..end + points.bytes.len()].copy_from_slice(&points.bytes);
        end += points.len;
    }
    out.extend_from_slice(&text[..end]);
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
struct Piece<const ROOM: usize = 32> {
    bytes: [u8; ROOM],
    len: usize,
}

impl<const ROOM: usize> Piece<ROOM> {
    const NONE: Piece<ROOM> = Piece { bytes: [0; ROOM], len: 0 };

    const fn and(self, text: &str) -> Piece<ROOM> {
        let (mut piece, text, mut at) = (self, text.as_bytes(), 0);
        while at < text.len() {
            piece = piece.and_byte(text[at]);
            at += 1;
        }
        piece
    }

    const fn and_byte(mut self, byte: u8) -> Piece<ROOM> {
        self.bytes[self.len] = byte;
        self.len += 1;
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

/// The boxes as keys of an object, with the commas between its entries.
static KEYS: [Piece; TURNS] = {
    let mut all = [Piece::NONE; TURNS];
    let mut place = 0;
    while place < TURNS {
        all[place] = Piece::NONE.and(if place > 0 { ",\"" } else { "\"" });
        all[place] = all[place].and(ScoreBox::ALL[place].name()).and("\":");
        place += 1;
    }
    all
};

/// More than the boxes of a card need, whatever their points are: room for a whole piece at the
/// end.
const BOXES_BYTES: usize = {
    let (mut bytes, mut place) = (32, 0);
    while place < TURNS {
        bytes += ScoreBox::ALL[place].name().len() + "\"\":,null".len();
        place += 1;
    }
    bytes
};

/// The points of a box as text, and in the last place the text of an empty box.
static POINTS: [Piece<4>; NO_POINTS + 1] = {
    let mut all = [Piece::NONE; NO_POINTS + 1];
    let mut points = 0;
    while points < NO_POINTS {
        if points >= 100 {
            all[points] = all[points].and_byte(b'0' + (points / 100) as u8);
        }
        if points >= 10 {
            all[points] = all[points].and_byte(b'0' + (points / 10 % 10) as u8);
        }
        all[points] = all[points].and_byte(b'0' + (points % 10) as u8);
        points += 1;
    }
    all[NO_POINTS] = Piece::NONE.and("null");
    all
};

/// The place of an empty box in [`POINTS`].
const NO_POINTS: usize = u8::MAX as usize + 1;
