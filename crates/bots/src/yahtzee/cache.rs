//! A solved table as bytes, so that it need not be solved again. The caller decides where the bytes
//! are stored.
//!
//! The format, all numbers little-endian: eight bytes of magic, the version (`u32`), the rule's
//! name padded with zero bytes to 16, the number of values (`u64`), the values (`f64` each), and
//! a checksum (`u64`, FNV-1a) of all before it.

use super::rule::Rule;
use super::states::States;
use super::table::Table;
use super::widget::Value;
use std::io::{self, ErrorKind, Read, Write};

const MAGIC: [u8; 8] = *b"AGONYHTZ";

/// Raise this whenever the values, their order or their number change.
const VERSION: u32 = 1;

const HEADER_BYTES: usize = 36;
const VALUE_BYTES: usize = size_of::<Value>();
const SUM_BYTES: usize = size_of::<u64>();

/// Why bytes are not the requested table. The remedy is always to solve it again.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The bytes do not begin like a table.
    #[error("not a table of solved Yahtzee")]
    NotATable,
    /// Another version of the program wrote the bytes.
    #[error("the table has format {found}, not {VERSION}")]
    Version {
        /// The version of the bytes.
        found: u32,
    },
    /// The bytes are the table of another rule.
    #[error("the table is not of the rule {wanted}")]
    OtherRule {
        /// The requested rule.
        wanted: Rule,
    },
    /// The bytes end too early.
    #[error("the table is cut off")]
    Truncated,
    /// The bytes were changed after they were written, or continue after their end.
    #[error("the table is damaged")]
    Corrupt,
    /// Reading the bytes failed.
    #[error("failed to read the table: {0}")]
    Read(#[source] io::Error),
}

impl Table {
    /// Writes the table.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut bytes = header(self.rule, self.values.len());
        bytes.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        to.write_all(&bytes)
    }

    /// Reads the table of `rule` back. Reads at most one byte past its expected end.
    pub fn load(rule: Rule, from: &mut dyn Read) -> Result<Table, CacheError> {
        let count = States::shared().count();
        let mut head = [0; HEADER_BYTES];
        from.read_exact(&mut head).map_err(|error| refusal(error, CacheError::NotATable))?;
        check_header(rule, &head, count)?;
        let mut bytes = head.to_vec();
        bytes.resize(HEADER_BYTES + count * VALUE_BYTES + SUM_BYTES, 0);
        let body = &mut bytes[HEADER_BYTES..];
        from.read_exact(body).map_err(|error| refusal(error, CacheError::Truncated))?;
        let ends = from.read(&mut [0]).map_err(CacheError::Read)? == 0;
        let (content, sum) =
            bytes.split_last_chunk().expect("the file is longer than its checksum");
        if !ends || checksum(content) != u64::from_le_bytes(*sum) {
            return Err(CacheError::Corrupt);
        }
        let (values, _) = content[HEADER_BYTES..].as_chunks();
        Ok(Table { rule, values: values.iter().copied().map(Value::from_le_bytes).collect() })
    }
}

fn header(rule: Rule, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + count * VALUE_BYTES + SUM_BYTES);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(rule.name().bytes().chain([0; 16]).take(16));
    bytes.extend((count as u64).to_le_bytes());
    bytes
}

fn check_header(rule: Rule, head: &[u8; HEADER_BYTES], count: usize) -> Result<(), CacheError> {
    let right = header(rule, count);
    if head[..8] != right[..8] {
        return Err(CacheError::NotATable);
    }
    if head[8..12] != right[8..12] {
        let found = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        return Err(CacheError::Version { found });
    }
    if head[12..28] != right[12..28] {
        return Err(CacheError::OtherRule { wanted: rule });
    }
    if head[28..] != right[28..] {
        return Err(CacheError::Corrupt);
    }
    Ok(())
}

fn refusal(error: io::Error, at_end: CacheError) -> CacheError {
    if error.kind() == ErrorKind::UnexpectedEof { at_end } else { CacheError::Read(error) }
}

/// FNV-1a: it protects against accidents, not against attacks.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not a solved table: a cache does not check the values.
    fn table() -> Table {
        let value = |place: usize| 1.0 / (place + 1) as Value;
        Table { rule: Rule::FreeJoker, values: (0..States::shared().count()).map(value).collect() }
    }

    fn saved() -> Vec<u8> {
        let mut bytes = Vec::new();
        table().save(&mut bytes).unwrap();
        bytes
    }

    fn load(mut bytes: &[u8]) -> Result<Table, CacheError> {
        Table::load(Rule::FreeJoker, &mut bytes)
    }

    #[test]
    fn a_saved_table_is_read_back() {
        assert!(load(&saved()).unwrap() == table());
    }

    #[test]
    fn a_table_cut_off_anywhere_is_refused() {
        let bytes = saved();
        for length in [0, 7, HEADER_BYTES - 1] {
            assert!(matches!(load(&bytes[..length]), Err(CacheError::NotATable)), "{length}");
        }
        for length in [HEADER_BYTES, HEADER_BYTES + 1, bytes.len() / 2, bytes.len() - 1] {
            assert!(matches!(load(&bytes[..length]), Err(CacheError::Truncated)), "{length}");
        }
    }

    #[test]
    fn a_changed_byte_anywhere_is_noticed() {
        let bytes = saved();
        for place in (0..bytes.len()).step_by(bytes.len() / 40).chain([bytes.len() - 1]) {
            let mut changed = bytes.clone();
            changed[place] ^= 0x10;
            assert!(load(&changed).is_err(), "{place}");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(matches!(load(&longer), Err(CacheError::Corrupt)));
    }

    #[test]
    fn other_versions_and_rules_are_named() {
        let mut bytes = saved();
        let other = Table::load(Rule::Tournament, &mut bytes.as_slice());
        assert_eq!(other.unwrap_err().to_string(), "the table is not of the rule tournament");
        bytes[8] = 9;
        assert!(matches!(load(&bytes), Err(CacheError::Version { found: 9 })));
    }
}
