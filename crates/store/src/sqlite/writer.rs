//! The one thread that writes: a group of appends is a transaction.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Statement};

use super::schema::kind_of;
use crate::append::Pending;
use crate::sum::crc32;
use crate::{Append, AppendError};

/// Streams whose version is remembered; a server may run for years.
const VERSIONS_MAX: usize = 100_000;

/// What came of the appends of one caller.
type Answers = Vec<Result<u64, AppendError>>;

pub(super) struct Writer<'db> {
    db: &'db Connection,
    begin: Statement<'db>,
    commit: Statement<'db>,
    find: Statement<'db>,
    create: Statement<'db>,
    advance: Statement<'db>,
    insert: Statement<'db>,
    /// What is in the database, or will be after this transaction.
    versions: HashMap<String, Stream>,
    /// The lines of an append, joined; kept to be used again.
    text: String,
}

#[derive(Clone, Copy)]
struct Stream {
    id: i64,
    version: u64,
}

impl<'db> Writer<'db> {
    pub(super) fn new(db: &'db Connection) -> rusqlite::Result<Self> {
        Ok(Writer {
            db,
            begin: db.prepare("BEGIN IMMEDIATE")?,
            commit: db.prepare("COMMIT")?,
            find: db.prepare("SELECT id, version FROM streams WHERE name = ?1")?,
            create: db.prepare("INSERT INTO streams (name, version) VALUES (?1, ?2)")?,
            advance: db
                .prepare("UPDATE streams SET version = ?2 WHERE id = ?1 AND version = ?3")?,
            insert: db.prepare(
                "INSERT INTO records (stream_id, first_seq, count, lines, sum)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            versions: HashMap::new(),
            text: String::new(),
        })
    }

    /// Makes a group durable. A conflict is the matter of one append; a failure of the disk is
    /// that of all, and whatever they wrote is taken back.
    pub(super) fn commit(&mut self, group: &[Pending]) -> Vec<Answers> {
        match self.transact(group) {
            Ok(results) => results,
            Err(error) => {
                self.versions.clear();
                if !self.db.is_autocommit() {
                    // If this fails too, the next BEGIN says so, and the next group is refused.
                    let _ = self.db.execute_batch("ROLLBACK");
                }
                refuse(group, &error)
            }
        }
    }

    fn transact(&mut self, group: &[Pending]) -> rusqlite::Result<Vec<Answers>> {
        if self.versions.len() > VERSIONS_MAX {
            self.versions.clear();
        }
        self.begin.execute([])?;
        let results = group.iter().map(|pending| -> rusqlite::Result<Answers> {
            pending.appends.iter().map(|append| self.append(append)).collect()
        });
        let results = results.collect::<rusqlite::Result<_>>()?;
        self.commit.execute([])?;
        Ok(results)
    }

    fn append(&mut self, append: &Append) -> rusqlite::Result<Result<u64, AppendError>> {
        let found = self.stream(&append.stream)?;
        let actual = found.map_or(0, |stream| stream.version);
        if append.expected != actual {
            return Ok(Err(append.conflict(actual)));
        }
        let version = append.version_after();
        let id = match found {
            None => self.create.insert((&append.stream, version.cast_signed()))?,
            Some(Stream { id, .. }) => {
                let versions = (id, version.cast_signed(), actual.cast_signed());
                if self.advance.execute(versions)? != 1 {
                    // The lock keeps other servers out, but not a person with a SQL prompt.
                    self.versions.remove(&append.stream);
                    let actual = self.stream(&append.stream)?.map_or(0, |stream| stream.version);
                    return Ok(Err(append.conflict(actual)));
                }
                id
            }
        };
        self.join(&append.lines);
        let first_seq = (actual + 1).cast_signed();
        let (count, sum) = (append.lines.len().cast_signed(), crc32(self.text.as_bytes()));
        self.insert.execute((id, first_seq, count, &self.text, sum))?;
        match self.versions.get_mut(&append.stream) {
            Some(stream) => stream.version = version,
            None => {
                self.versions.insert(append.stream.clone(), Stream { id, version });
            }
        }
        Ok(Ok(version))
    }

    fn stream(&mut self, name: &str) -> rusqlite::Result<Option<Stream>> {
        if let Some(stream) = self.versions.get(name) {
            return Ok(Some(*stream));
        }
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Stream { id: row.get(0)?, version: row.get::<_, i64>(1)?.cast_unsigned() })
        };
        let found = self.find.query_row([name], read).optional()?;
        if let Some(stream) = found {
            self.versions.insert(name.to_owned(), stream);
        }
        Ok(found)
    }

    fn join(&mut self, lines: &[String]) {
        self.text.clear();
        for line in lines {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(line);
        }
    }
}

/// The same refusal for everyone.
pub(super) fn refuse(group: &[Pending], error: &rusqlite::Error) -> Vec<Answers> {
    let refused = |append: &Append| {
        Err(AppendError::Io {
            stream: append.stream.clone(),
            kind: kind_of(error),
            message: error.to_string(),
        })
    };
    group.iter().map(|pending| pending.appends.iter().map(refused).collect()).collect()
}
