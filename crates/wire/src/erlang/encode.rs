//! Encodes the external term format as OTP 25 does.

use super::decode::VERSION;
use super::term::{Atom, Term};

/// The longest list of bytes that may be encoded as a string.
const STRING_MAX: usize = u16::MAX as usize;

/// Encodes a term with its version byte.
pub fn encode(term: &Term) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    encode_to(&mut out, term);
    out
}

/// Appends a term with its version byte.
pub fn encode_to(out: &mut Vec<u8>, term: &Term) {
    out.push(VERSION);
    write(out, term);
}

fn write(out: &mut Vec<u8>, term: &Term) {
    match term {
        Term::Int(number) => int(out, *number),
        Term::Big(big) => digits(out, big.negative, &big.digits),
        Term::Float(number) => {
            out.push(70);
            out.extend(number.to_be_bytes());
        }
        Term::Atom(atom) => name(out, atom),
        Term::Pid(pid) => {
            out.push(88);
            name(out, &pid.node);
            let words = [pid.id, pid.serial, pid.creation];
            words.iter().for_each(|word| out.extend(word.to_be_bytes()));
        }
        Term::Ref(reference) => {
            out.push(90);
            out.extend((reference.words.len() as u16).to_be_bytes());
            name(out, &reference.node);
            out.extend(reference.creation.to_be_bytes());
            reference.words.iter().for_each(|word| out.extend(word.to_be_bytes()));
        }
        Term::Tuple(items) => {
            match u8::try_from(items.len()) {
                Ok(count) => out.extend([104, count]),
                Err(_) => length(out, 105, items.len()),
            }
            items.iter().for_each(|item| write(out, item));
        }
        Term::List(items) if items.is_empty() => out.push(106),
        Term::List(items) => {
            length(out, 108, items.len());
            items.iter().for_each(|item| write(out, item));
            out.push(106);
        }
        Term::Bytes(bytes) => list_of_bytes(out, bytes),
        Term::Improper(items, end) => {
            length(out, 108, items.len());
            items.iter().for_each(|item| write(out, item));
            write(out, end);
        }
        Term::Binary(bytes) => {
            length(out, 109, bytes.len());
            out.extend_from_slice(bytes);
        }
        Term::Map(pairs) => {
            length(out, 116, pairs.len());
            for (key, value) in pairs {
                write(out, key);
                write(out, value);
            }
        }
        Term::Other(raw) => out.extend_from_slice(raw),
    }
}

fn int(out: &mut Vec<u8>, number: i64) {
    if let Ok(byte) = u8::try_from(number) {
        out.extend([97, byte]);
    } else if let Ok(number) = i32::try_from(number) {
        out.push(98);
        out.extend(number.to_be_bytes());
    } else {
        digits(out, number < 0, &number.unsigned_abs().to_le_bytes());
    }
}

fn digits(out: &mut Vec<u8>, negative: bool, digits: &[u8]) {
    let count = digits.iter().rposition(|digit| *digit != 0).map_or(0, |at| at + 1);
    match u8::try_from(count) {
        Ok(count) => out.extend([110, count]),
        Err(_) => length(out, 111, count),
    }
    out.push(negative.into());
    out.extend_from_slice(&digits[..count]);
}

fn list_of_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        out.push(106);
    } else if bytes.len() <= STRING_MAX {
        out.push(107);
        out.extend((bytes.len() as u16).to_be_bytes());
        out.extend_from_slice(bytes);
    } else {
        length(out, 108, bytes.len());
        bytes.iter().for_each(|byte| out.extend([97, *byte]));
        out.push(106);
    }
}

fn name(out: &mut Vec<u8>, atom: &Atom) {
    let bytes = atom.as_bytes();
    match u8::try_from(bytes.len()) {
        Ok(count) => out.extend([119, count]),
        Err(_) => {
            out.push(118);
            out.extend((bytes.len() as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

fn length(out: &mut Vec<u8>, tag: u8, count: usize) {
    let count = u32::try_from(count).expect("our own messages are shorter");
    out.push(tag);
    out.extend(count.to_be_bytes());
}
