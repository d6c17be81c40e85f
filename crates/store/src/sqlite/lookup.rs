//! Finding streams and their records, in a database of either format.
//!
//! Every function here runs within a transaction of the caller, so that the known end of the log
//! and the records belong to one instant.

use rusqlite::{Connection, OptionalExtension, Row};

use super::chain::{self, Break, Record};
use super::salvage::Salvage;
use super::schema::Fault;
use super::tail::{Head, Tail};
use super::together::read_together;
use crate::LogError;
use crate::log::{ReaderShare, StreamPart};

const FORMAT: &str = "PRAGMA user_version";
const STREAMS: &str = "SELECT id, version, head, name FROM streams ORDER BY name";
const STREAM: &str = "SELECT id, version, head, name FROM streams WHERE name = ?1";
const LINK: &str = "SELECT prev FROM records WHERE id = ?1 AND stream_id = ?2";

pub(super) struct Lookup {
    pub(super) db: Connection,
    /// The known end of the log.
    tail: Tail,
    /// True if everything is read as of one instant, to which `tail` belongs.
    pub(super) is_still: bool,
    /// The loss that the watermark shows at that instant.
    pub(super) lost: Option<Box<LogError>>,
    /// The result of scanning every record, once it was needed.
    salvage: Option<Salvage>,
}

/// A stream and where it ends.
pub(super) struct Stream {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) head: Head,
}

impl Stream {
    fn read(row: &Row<'_>) -> rusqlite::Result<Stream> {
        let head = Head { record: row.get(2)?, version: row.get::<_, i64>(1)?.cast_unsigned() };
        Ok(Stream { id: row.get(0)?, name: row.get(3)?, head })
    }
}

impl Lookup {
    pub(super) fn new(db: Connection) -> Lookup {
        Lookup { db, tail: Tail::default(), is_still: false, lost: None, salvage: None }
    }

    /// Returns whether the database has chains. Checked every time, because a server may convert it
    /// meanwhile.
    fn has_chains(&self) -> rusqlite::Result<bool> {
        self.db.query_row(FORMAT, [], |row| row.get::<_, i64>(0)).map(|format| format > 1)
    }

    /// Reads the records written since the last call.
    pub(super) fn catch_up(&mut self) -> Result<(), Fault> {
        if self.has_chains()? {
            self.tail.catch_up(&self.db)?;
        }
        Ok(())
    }

    /// Holds the view at this instant, even if records are missing at the end.
    pub(super) fn stay(&mut self) {
        if self.catch_up().is_err() {
            self.tail = self.salvage().tail.clone();
        }
        self.is_still = true;
    }

    /// All streams, by name.
    pub(super) fn streams(&mut self) -> Result<Vec<Stream>, Fault> {
        let mut streams = {
            let mut query = self.db.prepare(&self.in_format(STREAMS)?)?;
            query.query_map([], Stream::read)?.collect::<rusqlite::Result<Vec<_>>>()?
        };
        self.bring_up_to_date(&mut streams)?;
        Ok(streams)
    }

    /// The version of a stream, and its records from the one that holds event `first`.
    pub(super) fn records(&mut self, name: &str, first: u64) -> Result<(u64, Vec<Record>), Break> {
        let Some(stream) = self.find(name)? else { return Ok((0, Vec::new())) };
        // A stream that does not exist, such as that of a new match, does not need the tail.
        let mut stream = [stream];
        self.bring_up_to_date(&mut stream)?;
        let [Stream { id, head, .. }] = stream;
        let records = match self.has_chains()? {
            true => chain::walk(&self.db, id, head, first)?,
            false => chain::look_up(&self.db, id, first)?,
        };
        Ok((head.version, records))
    }

    /// Shows the records of several streams in one pass.
    pub(super) fn read_together(
        &mut self,
        names: &[&str],
        share: ReaderShare,
        take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), Fault> {
        if !self.has_chains()? {
            return Ok(());
        }
        let (mut places, mut streams) = (Vec::new(), Vec::new());
        {
            let mut query = self.db.prepare(STREAM)?;
            for (place, name) in names.iter().enumerate() {
                if let Some(stream) = query.query_row([name], Stream::read).optional()? {
                    places.push(place);
                    streams.push(stream);
                }
            }
        }
        self.bring_up_to_date(&mut streams)?;
        read_together(&self.db, places.into_iter().zip(streams).collect(), share, take)
    }

    /// The readable records of a stream from its first on, in a chain or not.
    pub(super) fn salvaged(&mut self, name: &str) -> Vec<Record> {
        let Ok(Some(Stream { id, .. })) = self.find(name) else { return Vec::new() };
        let ids = self.salvage().records_of(id).to_vec();
        chain::pick(&self.db, &ids)
    }

    /// How many records are in no chain.
    pub(super) fn strays(&mut self) -> Result<u64, Fault> {
        if !self.has_chains()? {
            return Ok(0);
        }
        let streams = self.streams()?;
        let count = "SELECT count(*) FROM records";
        let all = self.db.query_row(count, [], |row| row.get::<_, i64>(0))?.cast_unsigned();
        let mut link = self.db.prepare(LINK)?;
        let mut reached = 0;
        for Stream { id, head, .. } in streams {
            let mut next = head.record;
            // Bounded by the number of records, because a damaged chain may be a cycle.
            while next != 0 && reached < all {
                let prev = link.query_row([next, id], |row| row.get(0)).optional()?;
                let Some(prev) = prev else { break };
                reached += 1;
                next = prev;
            }
        }
        Ok(all - reached)
    }

    fn find(&self, name: &str) -> rusqlite::Result<Option<Stream>> {
        self.db.query_row(&self.in_format(STREAM)?, [name], Stream::read).optional()
    }

    /// A query for rows of `streams`, which had no heads in format 1.
    fn in_format(&self, sql: &str) -> rusqlite::Result<String> {
        Ok(if self.has_chains()? { sql.to_owned() } else { sql.replace("head", "0") })
    }

    fn bring_up_to_date(&mut self, streams: &mut [Stream]) -> Result<(), Fault> {
        if !self.is_still {
            self.catch_up()?;
        }
        for stream in streams {
            stream.head = self.tail.head(stream.id, stream.head);
        }
        Ok(())
    }

    fn salvage(&mut self) -> &Salvage {
        self.salvage.get_or_insert_with(|| Salvage::of(&self.db))
    }

    /// Checks the end of the log.
    pub(super) fn check_tail(&self) -> Result<(), Fault> {
        match self.has_chains()? {
            true => Tail::default().catch_up(&self.db),
            false => Ok(()),
        }
    }
}
