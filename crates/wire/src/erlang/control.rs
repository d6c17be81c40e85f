//! Control messages between connected nodes, some with a message for a process.

use super::decode::{BadTerm, TermLimits, decode_first};
use super::encode;
use super::frames::{Header, frame, frame_to};
use super::term::{Atom, Pid, Ref, Term};

/// The longest frame after the handshake.
pub const FRAME_MAX: usize = 256 * 1024;

/// The byte before a control message that uses no atom cache.
const PASS_THROUGH: u8 = 112;

/// A process, by its pid or its registered name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Process {
    /// By pid.
    Pid(Pid),
    /// By registered name.
    Name(Atom),
}

/// A control message.
#[derive(Clone, PartialEq, Debug)]
pub enum Control {
    /// A message to a process.
    Send {
        /// The sender, if the message names it.
        from: Option<Pid>,
        /// The receiver.
        to: Process,
        /// The message.
        message: Term,
    },
    /// Links `from` and `to`: each learns when the other ends.
    Link {
        /// The sender.
        from: Pid,
        /// The other process.
        to: Pid,
    },
    /// Removes a link, and requests an acknowledgement.
    Unlink {
        /// The id of the request.
        id: u64,
        /// The sender.
        from: Pid,
        /// The other process.
        to: Pid,
    },
    /// Acknowledges the removal of a link.
    Unlinked {
        /// The id of the request.
        id: u64,
        /// The sender.
        from: Pid,
        /// The other process.
        to: Pid,
    },
    /// `from` has ended, or asks `to` to end.
    Exit {
        /// The sender.
        from: Pid,
        /// The receiver.
        to: Pid,
        /// The reason.
        reason: Term,
    },
    /// `from` monitors `to`.
    Monitor {
        /// The monitoring process.
        from: Pid,
        /// The monitored process.
        to: Process,
        /// Identifies the monitor.
        reference: Ref,
    },
    /// Removes a monitor.
    Demonitor {
        /// The monitoring process.
        from: Pid,
        /// The monitored process.
        to: Process,
        /// Identifies the monitor.
        reference: Ref,
    },
    /// The monitored process has ended.
    Down {
        /// The monitored process.
        from: Process,
        /// The monitoring process.
        to: Pid,
        /// Identifies the monitor.
        reference: Ref,
        /// The reason.
        reason: Term,
    },
    /// A message that Agon ignores.
    Other {
        /// Its number.
        operation: i64,
    },
}

/// Why a frame is no control message.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadControl {
    /// Not in the agreed format.
    #[error("not a control message")]
    Malformed,
    /// An invalid term.
    #[error(transparent)]
    Term(#[from] BadTerm),
}

/// A tick: an empty frame that keeps an idle connection open.
pub fn tick() -> Vec<u8> {
    frame(Header::Four, |_| {})
}

/// Decodes a frame, without its length; `None` for a tick.
pub fn decode(frame: &[u8], limits: TermLimits) -> Result<Option<Control>, BadControl> {
    let Some((first, rest)) = frame.split_first() else { return Ok(None) };
    if *first != PASS_THROUGH {
        return Err(BadControl::Malformed);
    }
    let (control, rest) = decode_first(rest, limits)?;
    let message = match rest {
        [] => None,
        _ => Some(super::decode::decode(rest, limits)?),
    };
    let [operation, fields @ ..] = control.as_tuple().ok_or(BadControl::Malformed)? else {
        return Err(BadControl::Malformed);
    };
    let operation = operation.int().ok_or(BadControl::Malformed)?;
    read(operation, fields, message).map(Some)
}

fn read(operation: i64, fields: &[Term], message: Option<Term>) -> Result<Control, BadControl> {
    use Term::{Pid as P, Ref as R};
    let payload = || message.ok_or(BadControl::Malformed);
    Ok(match (operation, fields) {
        // Messages with a trace token have one more field.
        (2, [_, P(to)]) | (12, [_, P(to), _]) => {
            Control::Send { from: None, to: Process::Pid(to.clone()), message: payload()? }
        }
        (22, [P(from), P(to)]) | (23, [P(from), P(to), _]) => Control::Send {
            from: Some(from.clone()),
            to: Process::Pid(to.clone()),
            message: payload()?,
        },
        (6, [P(from), _, Term::Atom(to)]) | (16, [P(from), _, Term::Atom(to), _]) => {
            let (from, to) = (Some(from.clone()), Process::Name(to.clone()));
            Control::Send { from, to, message: payload()? }
        }
        (1, [P(from), P(to)]) => Control::Link { from: from.clone(), to: to.clone() },
        (35 | 36, [id, P(from), P(to)]) => {
            let id = unlink_id(id).ok_or(BadControl::Malformed)?;
            let (from, to) = (from.clone(), to.clone());
            match operation {
                35 => Control::Unlink { id, from, to },
                _ => Control::Unlinked { id, from, to },
            }
        }
        (3 | 8, [P(from), P(to), reason]) | (13 | 18, [P(from), P(to), _, reason]) => {
            Control::Exit { from: from.clone(), to: to.clone(), reason: reason.clone() }
        }
        (19 | 20, [P(from), to, R(reference)]) => {
            let (from, reference) = (from.clone(), reference.clone());
            let to = process(to)?;
            match operation {
                19 => Control::Monitor { from, to, reference },
                _ => Control::Demonitor { from, to, reference },
            }
        }
        (21, [from, P(to), R(reference), reason]) => Control::Down {
            from: process(from)?,
            to: to.clone(),
            reference: reference.clone(),
            reason: reason.clone(),
        },
        (1 | 2 | 3 | 6 | 8 | 12 | 13 | 16 | 18..=23 | 35 | 36, _) => {
            return Err(BadControl::Malformed);
        }
        _ => Control::Other { operation },
    })
}

/// Ids of unlinks are positive numbers of 64 bits.
fn unlink_id(id: &Term) -> Option<u64> {
    match id {
        Term::Int(id) => u64::try_from(*id).ok().filter(|id| *id > 0),
        Term::Big(big) if !big.negative && big.digits.len() == 8 => {
            Some(u64::from_le_bytes(*big.digits.first_chunk()?))
        }
        _ => None,
    }
}

fn unlink_term(id: u64) -> Term {
    match i64::try_from(id) {
        Ok(id) => Term::Int(id),
        Err(_) => Term::Big(super::term::Big { negative: false, digits: id.to_le_bytes().into() }),
    }
}

fn process(term: &Term) -> Result<Process, BadControl> {
    match term {
        Term::Pid(pid) => Ok(Process::Pid(pid.clone())),
        Term::Atom(name) => Ok(Process::Name(name.clone())),
        _ => Err(BadControl::Malformed),
    }
}

/// Encodes a frame with its length; `None` for messages that Agon never sends: other operations,
/// and messages to a name without a sender.
pub fn encode(control: &Control) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    encode_to(&mut out, control).then_some(out)
}

/// Appends a frame with its length. Returns `false` and appends nothing for messages that are never
/// sent.
pub fn encode_to(out: &mut Vec<u8>, control: &Control) -> bool {
    let (operation, fields, message): (i64, Vec<Term>, Option<&Term>) = match control {
        Control::Send { from: Some(from), to: Process::Pid(to), message } => {
            (22, vec![from.clone().into(), to.clone().into()], Some(message))
        }
        Control::Send { from: None, to: Process::Pid(to), message } => {
            (2, vec![Term::atom(""), to.clone().into()], Some(message))
        }
        Control::Send { from: Some(from), to: Process::Name(to), message } => {
            let to = Term::Atom(to.clone());
            (6, vec![from.clone().into(), Term::atom(""), to], Some(message))
        }
        Control::Send { from: None, to: Process::Name(_), .. } | Control::Other { .. } => {
            return false;
        }
        Control::Link { from, to } => (1, vec![from.clone().into(), to.clone().into()], None),
        Control::Unlink { id, from, to } => {
            (35, vec![unlink_term(*id), from.clone().into(), to.clone().into()], None)
        }
        Control::Unlinked { id, from, to } => {
            (36, vec![unlink_term(*id), from.clone().into(), to.clone().into()], None)
        }
        Control::Exit { from, to, reason } => {
            (3, vec![from.clone().into(), to.clone().into(), reason.clone()], None)
        }
        Control::Monitor { from, to, reference } => {
            (19, vec![from.clone().into(), to.term(), reference.clone().into()], None)
        }
        Control::Demonitor { from, to, reference } => {
            (20, vec![from.clone().into(), to.term(), reference.clone().into()], None)
        }
        Control::Down { from, to, reference, reason } => {
            let (to, reference) = (to.clone().into(), reference.clone().into());
            (21, vec![from.term(), to, reference, reason.clone()], None)
        }
    };
    let control = std::iter::once(Term::Int(operation)).chain(fields).collect();
    frame_to(out, Header::Four, |out| {
        out.push(PASS_THROUGH);
        encode::encode_to(out, &Term::Tuple(control));
        message.into_iter().for_each(|message| encode::encode_to(out, message));
    });
    true
}

impl Process {
    fn term(&self) -> Term {
        match self {
            Process::Pid(pid) => pid.clone().into(),
            Process::Name(name) => Term::Atom(name.clone()),
        }
    }
}
