//! Erlang terms as values, with accessors for the protocols.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An Erlang term.
#[derive(Clone, PartialEq, Debug)]
pub enum Term {
    /// A whole number of up to 64 bits.
    Int(i64),
    /// A larger number.
    Big(Big),
    /// A float.
    Float(f64),
    /// An atom.
    Atom(Atom),
    /// A process.
    Pid(Pid),
    /// A reference.
    Ref(Ref),
    /// A tuple.
    Tuple(Vec<Term>),
    /// A proper list; nil if it is empty.
    List(Vec<Term>),
    /// A list of numbers from 0 to 255, as short strings are encoded. Never empty.
    Bytes(Vec<u8>),
    /// A list whose end is not nil.
    Improper(Vec<Term>, Box<Term>),
    /// A binary.
    Binary(Vec<u8>),
    /// A map, in the order received.
    Map(Vec<(Term, Term)>),
    /// An opaque term (a port, a fun, a bit string), as received.
    Other(Vec<u8>),
}

/// A number beyond 64 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Big {
    /// True if it is below 0.
    pub negative: bool,
    /// Its digits to the base 256, the lowest first.
    pub digits: Vec<u8>,
}

/// An atom's name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Atom(Name);

/// Protocol words and node names are short, and occur many times in every message, so they are
/// stored inline. A name that fits is always stored inline.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Name {
    Short { length: u8, bytes: [u8; SHORT_MAX] },
    Long(Arc<str>),
}

/// The most bytes of an inline name.
const SHORT_MAX: usize = 30;

impl Atom {
    /// The most characters an atom may have.
    pub const LEN_MAX: usize = 255;

    /// An atom; `None` if the name is too long.
    pub fn new(name: impl AsRef<str>) -> Option<Atom> {
        let name = name.as_ref();
        if name.len() <= SHORT_MAX {
            let mut bytes = [0; SHORT_MAX];
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            return Some(Atom(Name::Short { length: name.len() as u8, bytes }));
        }
        (name.chars().count() <= Atom::LEN_MAX).then(|| Atom(Name::Long(name.into())))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Short { .. } => {
                std::str::from_utf8(self.as_bytes()).expect("the value was made from text")
            }
            Name::Long(name) => name,
        }
    }

    /// Its name in UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Name::Short { length, bytes } => &bytes[..usize::from(*length)],
            Name::Long(name) => name.as_bytes(),
        }
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A process, by its node. Processes of two runs of a node differ in `creation`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pid {
    /// The node it runs on.
    pub node: Atom,
    /// Its number.
    pub id: u32,
    /// More of its number.
    pub serial: u32,
    /// Identifies the run of the node.
    pub creation: u32,
}

/// A reference: unique among all references of a node and its runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ref {
    /// The node that made it.
    pub node: Atom,
    /// Identifies the run of the node.
    pub creation: u32,
    /// Its number.
    pub words: Words,
}

/// The number of a reference: one to five words, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Words {
    count: u8,
    words: [u32; Words::MAX],
}

impl Words {
    /// The most words there may be.
    pub const MAX: usize = 5;

    /// These words; `None` if there are too many or none.
    pub fn new(these: &[u32]) -> Option<Words> {
        let mut words = [0; Words::MAX];
        words.get_mut(..these.len()).filter(|place| !place.is_empty())?.copy_from_slice(these);
        Some(Words { count: these.len() as u8, words })
    }
}

impl<const N: usize> From<[u32; N]> for Words {
    fn from(words: [u32; N]) -> Words {
        const { assert!(1 <= N && N <= Words::MAX, "one to five") };
        let all = std::array::from_fn(|at| words.get(at).copied().unwrap_or(0));
        Words { count: N as u8, words: all }
    }
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.words[..usize::from(self.count)]
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Term {
    /// An atom whose name is known at compile time.
    ///
    /// # Panics
    /// If the name is longer than an atom may be.
    pub fn atom(name: &'static str) -> Term {
        Term::Atom(Atom::new(name).expect("a short name"))
    }

    /// A tuple.
    pub fn tuple<const N: usize>(items: [Term; N]) -> Term {
        Term::Tuple(items.into())
    }

    /// The empty list.
    pub fn nil() -> Term {
        Term::List(Vec::new())
    }

    /// A string as Erlang writes it: the list of its code points.
    pub fn string(text: &str) -> Term {
        let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
        match bytes {
            Ok(bytes) if bytes.is_empty() => Term::nil(),
            Ok(bytes) => Term::Bytes(bytes),
            Err(_) => Term::List(text.chars().map(|c| Term::Int(u32::from(c).into())).collect()),
        }
    }

    /// The text of a string or of a binary in UTF-8.
    pub fn text(&self) -> Option<String> {
        if let Term::Binary(bytes) = self {
            return String::from_utf8(bytes.clone()).ok();
        }
        let scalar = |number: i64| u32::try_from(number).ok().and_then(char::from_u32);
        self.ints()?.map(|number| number.and_then(scalar)).collect()
    }

    /// The items of a list of numbers, each `None` if it is no number; `None` if the term is no
    /// list.
    pub fn ints(&self) -> Option<impl Iterator<Item = Option<i64>> + '_> {
        let (bytes, items): (&[u8], &[Term]) = match self {
            Term::Bytes(bytes) => (bytes, &[]),
            Term::List(items) => (&[], items),
            _ => return None,
        };
        Some(bytes.iter().map(|byte| Some(i64::from(*byte))).chain(items.iter().map(Term::int)))
    }

    /// The number, if it is one of up to 64 bits.
    pub fn int(&self) -> Option<i64> {
        match self {
            Term::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The atom's name.
    pub fn as_atom(&self) -> Option<&str> {
        match self {
            Term::Atom(atom) => Some(atom.as_str()),
            _ => None,
        }
    }

    /// The process.
    pub fn as_pid(&self) -> Option<&Pid> {
        match self {
            Term::Pid(pid) => Some(pid),
            _ => None,
        }
    }

    /// The reference.
    pub fn as_reference(&self) -> Option<&Ref> {
        match self {
            Term::Ref(reference) => Some(reference),
            _ => None,
        }
    }

    /// The tuple's items.
    pub fn as_tuple(&self) -> Option<&[Term]> {
        match self {
            Term::Tuple(items) => Some(items),
            _ => None,
        }
    }
}

impl From<i64> for Term {
    fn from(number: i64) -> Term {
        Term::Int(number)
    }
}

impl From<u32> for Term {
    fn from(number: u32) -> Term {
        Term::Int(number.into())
    }
}

impl From<Pid> for Term {
    fn from(pid: Pid) -> Term {
        Term::Pid(pid)
    }
}

impl From<Ref> for Term {
    fn from(reference: Ref) -> Term {
        Term::Ref(reference)
    }
}

/// Roughly as Erlang prints it: for logs and evidence, not for parsing. Terms with passwords must
/// not be written to either.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Int(number) => write!(f, "{number}"),
            Term::Big(big) => write!(f, "a number of {} bytes", big.digits.len()),
            Term::Float(number) => write!(f, "{number:?}"),
            Term::Atom(atom) => f.write_str(atom.as_str()),
            Term::Pid(pid) => write!(f, "<{}.{}.{}>", pid.node.as_str(), pid.id, pid.serial),
            Term::Ref(reference) => {
                write!(f, "#Ref<{}", reference.node.as_str())?;
                reference.words.iter().rev().try_for_each(|word| write!(f, ".{word}"))?;
                f.write_str(">")
            }
            Term::Tuple(items) => all(f, "{", items, "}"),
            Term::List(items) => all(f, "[", items, "]"),
            Term::Bytes(bytes) if bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) => {
                write!(f, "{:?}", String::from_utf8_lossy(bytes))
            }
            Term::Bytes(bytes) => all(f, "[", bytes, "]"),
            Term::Improper(items, end) => {
                all(f, "[", items, "|")?;
                write!(f, "{end}]")
            }
            Term::Binary(bytes) => all(f, "<<", bytes, ">>"),
            Term::Map(pairs) => {
                f.write_str("#{")?;
                for (at, (key, value)) in pairs.iter().enumerate() {
                    write!(f, "{}{key} => {value}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
            Term::Other(_) => f.write_str("something"),
        }
    }
}

fn all<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    items: &[T],
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if at > 0 { "," } else { "" })?;
    }
    f.write_str(close)
}
