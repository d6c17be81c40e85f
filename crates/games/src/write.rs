//! Helpers of the games' view writers: JSON text, written piece by piece.

use crate::SeatSet;

/// Writes a comma before every entry of a list but the first.
pub(crate) fn comma(out: &mut Vec<u8>, place: usize) {
    if place > 0 {
        out.push(b',');
    }
}

/// Writes a number.
pub(crate) fn number(out: &mut Vec<u8>, number: u32) {
    if number >= 10 {
        self::number(out, number / 10);
    }
    out.push(b'0' + (number % 10) as u8);
}

/// Writes a list of seats.
pub(crate) fn seats(out: &mut Vec<u8>, seats: SeatSet) {
    out.push(b'[');
    for (place, seat) in seats.enumerate() {
        comma(out, place);
        number(out, seat.0.into());
    }
    out.push(b']');
}
