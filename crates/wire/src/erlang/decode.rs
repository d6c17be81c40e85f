//! Decodes the external term format, bounded in depth and number of terms. It never trusts an
//! announced length.

use super::term::{Atom, Big, Pid, Ref, Term, Words};

/// The byte before every term.
pub(super) const VERSION: u8 = 131;

/// Limits of one term. The caller limits the number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TermLimits {
    /// How many terms, including nested ones.
    pub terms_max: usize,
    /// How deep terms may be nested.
    pub depth_max: usize,
}

impl Default for TermLimits {
    /// Far more than any message of the protocols needs.
    fn default() -> TermLimits {
        TermLimits { terms_max: 10_000, depth_max: 32 }
    }
}

/// Why bytes are not a supported term.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadTerm {
    /// The first byte is not that of a term.
    #[error("a term begins with 131, not {0}")]
    Version(u8),
    /// The bytes end before the term does.
    #[error("the bytes end inside a term")]
    Cut,
    /// An unknown or unsupported tag: compressed terms, the atom cache.
    #[error("terms with tag {0} are not read here")]
    Tag(u8),
    /// More terms than allowed.
    #[error("more than {0} terms")]
    TooMany(usize),
    /// Terms are nested deeper than allowed.
    #[error("more than {0} terms in each other")]
    TooDeep(usize),
    /// An invalid name, number or reference.
    #[error("not a well-formed {0}")]
    Malformed(&'static str),
    /// Bytes after the term.
    #[error("{0} bytes after the term")]
    Trailing(usize),
}

/// Decodes one term that uses all bytes.
pub fn decode(bytes: &[u8], limits: TermLimits) -> Result<Term, BadTerm> {
    match decode_first(bytes, limits)? {
        (term, []) => Ok(term),
        (_, rest) => Err(BadTerm::Trailing(rest.len())),
    }
}

/// Decodes one term, and returns the bytes after it.
pub fn decode_first(bytes: &[u8], limits: TermLimits) -> Result<(Term, &[u8]), BadTerm> {
    let mut reader = Reader { rest: bytes, left: limits.terms_max, limits };
    match reader.u8()? {
        VERSION => {}
        other => return Err(BadTerm::Version(other)),
    }
    let term = reader.term(0)?;
    Ok((term, reader.rest))
}

struct Reader<'a> {
    rest: &'a [u8],
    /// How many more terms are allowed.
    left: usize,
    limits: TermLimits,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], BadTerm> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(BadTerm::Cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadTerm> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(BadTerm::Cut)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, BadTerm> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, BadTerm> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, BadTerm> {
        self.array().map(u32::from_be_bytes)
    }

    fn length(&mut self) -> Result<usize, BadTerm> {
        Ok(self.u32()? as usize)
    }

    fn term(&mut self, depth: usize) -> Result<Term, BadTerm> {
        if depth > self.limits.depth_max {
            return Err(BadTerm::TooDeep(self.limits.depth_max));
        }
        self.left = self.left.checked_sub(1).ok_or(BadTerm::TooMany(self.limits.terms_max))?;
        let start = self.rest;
        let tag = self.u8()?;
        Ok(match tag {
            97 => Term::Int(self.u8()?.into()),
            98 => Term::Int(self.array().map(i32::from_be_bytes)?.into()),
            70 => self.float()?,
            99 => self.old_float()?,
            100 | 115 | 118 | 119 => Term::Atom(self.atom(tag)?),
            103 | 88 => Term::Pid(self.pid(tag)?),
            101 | 114 | 90 => Term::Ref(self.reference(tag)?),
            104 => {
                let count = self.u8()?;
                Term::Tuple(self.terms(count.into(), depth)?)
            }
            105 => {
                let count = self.length()?;
                Term::Tuple(self.terms(count, depth)?)
            }
            106 => Term::nil(),
            107 => {
                let count = self.u16()?;
                match self.take(count.into())? {
                    [] => Term::nil(),
                    bytes => Term::Bytes(bytes.into()),
                }
            }
            108 => self.list(depth)?,
            109 => {
                let count = self.length()?;
                Term::Binary(self.take(count)?.into())
            }
            110 => {
                let count = self.u8()?;
                self.big(count.into())?
            }
            111 => {
                let count = self.length()?;
                self.big(count)?
            }
            116 => self.map(depth)?,
            _ => {
                self.skip(tag, depth)?;
                Term::Other(start[..start.len() - self.rest.len()].into())
            }
        })
    }

    /// Decodes this many terms. Allocates as they arrive, whatever count was announced.
    fn terms(&mut self, count: usize, depth: usize) -> Result<Vec<Term>, BadTerm> {
        if count > self.left {
            return Err(BadTerm::TooMany(self.limits.terms_max));
        }
        let mut terms = Vec::with_capacity(count.min(self.rest.len()).min(64));
        for _ in 0..count {
            terms.push(self.term(depth + 1)?);
        }
        Ok(terms)
    }

    fn list(&mut self, depth: usize) -> Result<Term, BadTerm> {
        let count = self.length()?;
        let items = self.terms(count, depth)?;
        match self.term(depth + 1)? {
            Term::List(end) if end.is_empty() => Ok(Term::List(items)),
            _ if items.is_empty() => Err(BadTerm::Malformed("list")),
            end => Ok(Term::Improper(items, Box::new(end))),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Term, BadTerm> {
        let count = self.length()?;
        if count > self.left {
            return Err(BadTerm::TooMany(self.limits.terms_max));
        }
        let mut pairs = Vec::new();
        for _ in 0..count {
            pairs.push((self.term(depth + 1)?, self.term(depth + 1)?));
        }
        Ok(Term::Map(pairs))
    }

    fn float(&mut self) -> Result<Term, BadTerm> {
        let number = f64::from_be_bytes(self.array()?);
        number.is_finite().then_some(Term::Float(number)).ok_or(BadTerm::Malformed("float"))
    }

    /// A float as 31 characters, from before 2000.
    fn old_float(&mut self) -> Result<Term, BadTerm> {
        let text = std::str::from_utf8(self.take(31)?).ok();
        let number = text.and_then(|text| text.trim_end_matches('\0').parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite());
        number.map(Term::Float).ok_or(BadTerm::Malformed("float"))
    }

    fn big(&mut self, count: usize) -> Result<Term, BadTerm> {
        let negative = match self.u8()? {
            0 => false,
            1 => true,
            _ => return Err(BadTerm::Malformed("number")),
        };
        let digits = self.take(count)?;
        let length = digits.iter().rposition(|digit| *digit != 0).map_or(0, |at| at + 1);
        let digits = &digits[..length];
        if length <= 8 {
            let mut low = [0; 8];
            low[..length].copy_from_slice(digits);
            let size = i128::from(u64::from_le_bytes(low));
            if let Ok(number) = i64::try_from(if negative { -size } else { size }) {
                return Ok(Term::Int(number));
            }
        }
        Ok(Term::Big(Big { negative, digits: digits.into() }))
    }

    /// An atom whose tag is already read.
    fn atom(&mut self, tag: u8) -> Result<Atom, BadTerm> {
        let count = match tag {
            115 | 119 => self.u8()?.into(),
            _ => self.u16()?,
        };
        let bytes = self.take(count.into())?;
        let name = match tag {
            118 | 119 => std::str::from_utf8(bytes).ok().and_then(Atom::new),
            _ => Atom::new(bytes.iter().map(|byte| char::from(*byte)).collect::<String>()),
        };
        name.ok_or(BadTerm::Malformed("atom"))
    }

    /// The name of a node inside another term.
    fn node(&mut self) -> Result<Atom, BadTerm> {
        match self.u8()? {
            tag @ (100 | 115 | 118 | 119) => self.atom(tag),
            other => Err(BadTerm::Tag(other)),
        }
    }

    fn creation(&mut self, wide: bool) -> Result<u32, BadTerm> {
        if wide { self.u32() } else { self.u8().map(u32::from) }
    }

    fn pid(&mut self, tag: u8) -> Result<Pid, BadTerm> {
        let (node, id, serial) = (self.node()?, self.u32()?, self.u32()?);
        Ok(Pid { node, id, serial, creation: self.creation(tag == 88)? })
    }

    fn reference(&mut self, tag: u8) -> Result<Ref, BadTerm> {
        if tag == 101 {
            let (node, word) = (self.node()?, self.u32()?);
            return Ok(Ref { node, creation: self.creation(false)?, words: [word].into() });
        }
        let count = usize::from(self.u16()?);
        let mut words = [0; Words::MAX];
        let malformed = BadTerm::Malformed("reference");
        let words = words.get_mut(..count).ok_or(malformed)?;
        let (node, creation) = (self.node()?, self.creation(tag == 90)?);
        for word in words.iter_mut() {
            *word = self.u32()?;
        }
        Ok(Ref { node, creation, words: Words::new(words).ok_or(malformed)? })
    }

    /// Skips an opaque term whose tag is already read.
    fn skip(&mut self, tag: u8, depth: usize) -> Result<(), BadTerm> {
        match tag {
            // A bit string: its bytes, and how many bits of the last one count.
            77 => {
                let count = self.length()?;
                match self.u8()? {
                    1..=8 => self.take(count).map(|_| ()),
                    _ => Err(BadTerm::Malformed("bit string")),
                }
            }
            // Ports in three widths.
            102 => self.node().and_then(|_| self.take(5)).map(|_| ()),
            89 => self.node().and_then(|_| self.take(8)).map(|_| ()),
            120 => self.node().and_then(|_| self.take(12)).map(|_| ()),
            // An external fun: module, function, arity.
            113 => self.terms(3, depth).map(|_| ()),
            // A fun, with its own size in front.
            112 => {
                let count = self.length()?.checked_sub(4).ok_or(BadTerm::Malformed("fun"))?;
                self.take(count).map(|_| ())
            }
            other => Err(BadTerm::Tag(other)),
        }
    }
}
