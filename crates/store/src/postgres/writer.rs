//! The one thread that writes: a group of appends is one statement and one transaction.
//!
//! The statement first locks the rows of the cells it writes for (`FOR SHARE`) and keeps only those
//! that still have our epoch. Then it inserts the records of those cells. The lock is needed: a
//! claim waits for it, so no record of an old owner can appear behind one of the new owner.
//!
//! The versions of streams are in memory. Nobody else writes a cell while its epoch stays. But a
//! stream may leave the cell and return: another node had its tournament meanwhile. So the writer
//! reads the version again before it rejects an append.
//!
//! If the connection is lost before the answer arrives, the group may or may not be committed. Then
//! the writer repeats it on a new connection, record by record, and skips records that exist. That
//! transaction also writes the rows of the cells. So its commit waits for a synchronous standby,
//! and with it for everything that it found.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{Client, Statement, Transaction};
use rustc_hash::FxHashMap;

use super::lease::Node;
use super::schema::{Database, RECONNECT_PAUSE, describe, is_lost, kind_of};
use crate::group::Commit;
use crate::{Append, AppendError, Meter};

/// Which part of the log a stream belongs to.
pub type CellOf = fn(&str) -> &str;

/// Locks the cells that this node still owns, inserts the records that belong to them, and returns
/// those cells.
const INSERT: &str = "
    WITH wanted AS (
        SELECT * FROM unnest($1::text[], $2::bigint[]) AS wanted (id, epoch)
    ), held AS (
        SELECT held.id, held.epoch FROM agon.cells AS held JOIN wanted
            ON held.id = wanted.id AND held.epoch = wanted.epoch
        WHERE held.owner = $3
        ORDER BY held.id
        FOR SHARE OF held
    ), written AS (
        INSERT INTO agon.records (stream, first_seq, count, cell, epoch, checksum, lines)
        SELECT new.stream, new.first_seq, new.count, held.id, held.epoch, new.checksum, new.lines
        FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[], $9::text[])
            AS new (stream, first_seq, count, cell, checksum, lines)
        JOIN held ON held.id = new.cell
    )
    SELECT id FROM held";

/// Locks a cell for writing. Its row changes, so the commit waits for a synchronous standby.
const CONFIRM: &str = "
    UPDATE agon.cells SET confirmed = confirmed + 1
    WHERE id = $1 AND owner = $2 AND epoch = $3";

const VERSION: &str = "
    SELECT first_seq + count - 1 FROM agon.records
    WHERE stream = $1 ORDER BY first_seq DESC LIMIT 1";

const VERSIONS: &str = "
    SELECT wanted.stream, (
        SELECT first_seq + count - 1 FROM agon.records AS record
        WHERE record.stream = wanted.stream ORDER BY first_seq DESC LIMIT 1
    )
    FROM unnest($1::text[]) AS wanted (stream)";

const SAME: &str = "
    SELECT FROM agon.records
    WHERE stream = $1 AND first_seq = $2 AND count = $3 AND checksum = $4 AND lines = $5";

const INSERT_ONE: &str = "
    INSERT INTO agon.records (stream, first_seq, count, cell, epoch, checksum, lines)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// The number of streams whose version is kept in memory; a server may run for years.
const STREAMS_MAX: usize = 100_000;

/// How long a log that is being closed tries to learn whether its last group was committed.
const CLOSING_WAIT: Duration = Duration::from_secs(10);

type Answers = Vec<Result<u64, AppendError>>;

/// The cell of the tournaments that the lobby's owner lends to a node.
pub(super) fn lent_cell(node: &str) -> String {
    format!("{LENT}{node}")
}

/// The names of cells that the lobby's owner lends to nodes begin so.
pub(super) const LENT: &str = "cells/";

/// The state that the writer and the log's other threads share.
pub(super) struct Ownership {
    pub(super) node: Node,
    cell_of: CellOf,
    /// The cell of the tournaments that the lobby's owner lends to this node.
    pub(super) lent_cell: String,
    /// True if this node has that cell. Then it writes nothing else.
    pub(super) has_lent_cell: AtomicBool,
    /// The epochs of the cells that this node owns.
    pub(super) epochs: Mutex<HashMap<String, u64>>,
    pub(super) is_closing: AtomicBool,
    /// True if another node has claimed a cell of this node.
    pub(super) has_lost: AtomicBool,
    /// True if the node is not connected to the bus, so others take its cells sooner.
    pub(super) is_off_bus: AtomicBool,
    /// How many appends were rejected because this node did not own their cell.
    pub(super) fenced: AtomicU64,
    /// How often this node has lent a cell.
    pub(super) loans: AtomicU64,
}

impl Ownership {
    pub(super) fn new(node: Node, cell_of: CellOf) -> Ownership {
        Ownership {
            lent_cell: lent_cell(&node.id),
            has_lent_cell: AtomicBool::new(false),
            node,
            cell_of,
            epochs: Mutex::default(),
            is_closing: AtomicBool::new(false),
            has_lost: AtomicBool::new(false),
            is_off_bus: AtomicBool::new(false),
            fenced: AtomicU64::new(0),
            loans: AtomicU64::new(0),
        }
    }

    /// The cell that a stream belongs to on this node.
    pub(super) fn cell_of<'a>(&'a self, stream: &'a str) -> &'a str {
        match self.has_lent_cell.load(Ordering::Acquire) {
            true => &self.lent_cell,
            false => (self.cell_of)(stream),
        }
    }

    /// Forgets a cell that another node has claimed.
    pub(super) fn lose(&self, cell: &str, epoch: u64) {
        let mut epochs = self.epochs();
        if epochs.get(cell) == Some(&epoch) {
            epochs.remove(cell);
            self.has_lost.store(true, Ordering::Release);
        }
    }

    pub(super) fn epoch(&self, cell: &str) -> Option<u64> {
        self.epochs().get(cell).copied()
    }

    pub(super) fn epochs(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Writer {
    database: Database,
    ownership: Arc<Ownership>,
    meter: Arc<Meter>,
    connection: Option<Connection>,
    /// The version of each stream, with the epoch under which it was read.
    versions: FxHashMap<Arc<str>, (u64, u64)>,
}

struct Connection {
    client: Client,
    insert: Statement,
}

/// A record on its way, with its place in the group.
struct NewRecord<'a> {
    append: &'a Append,
    cell: &'a str,
    epoch: u64,
    lines: String,
    checksum: i64,
}

/// Why a group was not committed at the first attempt.
enum Trouble {
    /// The connection is lost; the group may be committed.
    Lost(String),
    /// The database rejected the group.
    Rejected(postgres::Error),
}

impl From<postgres::Error> for Trouble {
    fn from(error: postgres::Error) -> Trouble {
        match is_lost(&error) {
            true => Trouble::Lost(describe(&error)),
            false => Trouble::Rejected(error),
        }
    }
}

impl Commit for Writer {
    /// Makes a group durable. A conflict or a fence fails single appends; a failure of the database
    /// fails all of them.
    fn commit(&mut self, group: &[&[Append]]) -> Vec<Answers> {
        let meter = Arc::clone(&self.meter);
        meter.measure(|| {
            let appends: Vec<&Append> = group.iter().copied().flatten().collect();
            let mut answers = self.commit_all(&appends).into_iter();
            let sizes = group.iter().map(|appends| appends.len());
            sizes.map(|size| answers.by_ref().take(size).collect()).collect()
        })
    }
}

impl Writer {
    pub(super) fn new(database: Database, ownership: Arc<Ownership>, meter: Arc<Meter>) -> Writer {
        Writer { database, ownership, meter, connection: None, versions: FxHashMap::default() }
    }

    fn commit_all(&mut self, appends: &[&Append]) -> Answers {
        let answers = self.commit_or_retry(appends);
        let fenced =
            answers.iter().filter(|answer| matches!(answer, Err(AppendError::Fenced { .. })));
        self.ownership.fenced.fetch_add(fenced.count() as u64, Ordering::Relaxed);
        answers
    }

    fn commit_or_retry(&mut self, appends: &[&Append]) -> Answers {
        let first = self.try_once(appends);
        let mut trouble = match first {
            Ok(answers) => return answers,
            Err(trouble) => trouble,
        };
        let mut closing_since = None;
        let mut may_be_committed = false;
        loop {
            // The versions in memory may be wrong now.
            self.versions.clear();
            match trouble {
                // Two writers of one name, or a row that an earlier attempt left: look closely.
                Trouble::Rejected(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {}
                Trouble::Rejected(error) => return refuse(appends, &error),
                Trouble::Lost(message) => {
                    self.connection = None;
                    may_be_committed = true;
                    if self.ownership.is_closing.load(Ordering::Relaxed) {
                        let since = *closing_since.get_or_insert_with(Instant::now);
                        if since.elapsed() > CLOSING_WAIT {
                            return unknown(appends, &message);
                        }
                    }
                    tracing::debug!("the database does not answer; trying again: {message}");
                    std::thread::sleep(RECONNECT_PAUSE);
                }
            }
            match self.confirm(appends, may_be_committed) {
                Ok(answers) => return answers,
                Err(again) => trouble = again,
            }
        }
    }

    /// The usual way: one statement for the whole group.
    fn try_once(&mut self, appends: &[&Append]) -> Result<Answers, Trouble> {
        let ownership = Arc::clone(&self.ownership);
        let epochs = self.epochs_of(appends);
        self.read_versions(appends, &epochs)?;
        let mut answers: Answers = Vec::with_capacity(appends.len());
        let mut records = Vec::with_capacity(appends.len());
        for &append in appends {
            let cell = ownership.cell_of(&append.stream);
            let answer = match epochs.get(cell) {
                None => Err(fenced(append, cell)),
                Some(&epoch) => self.advance(append, epoch).inspect(|_| {
                    records.push(NewRecord::new(append, cell, epoch));
                }),
            };
            answers.push(answer);
        }
        if records.is_empty() {
            return Ok(answers);
        }
        let held = self.insert(&records)?;
        for (append, answer) in appends.iter().zip(&mut answers) {
            let cell = ownership.cell_of(&append.stream);
            if answer.is_ok() && !held.iter().any(|held| held == cell) {
                *answer = Err(fenced(append, cell));
                self.lose(cell, epochs[cell]);
            }
        }
        if self.versions.len() > STREAMS_MAX {
            self.versions.clear();
        }
        Ok(answers)
    }

    /// The careful way, after trouble: record by record. If the group may be committed already, its
    /// records that exist count as written.
    fn confirm(&mut self, appends: &[&Append], may_exist: bool) -> Result<Answers, Trouble> {
        let epochs = self.epochs_of(appends);
        let ownership = Arc::clone(&self.ownership);
        let mut transaction = self.connection()?.client.transaction()?;
        let mut held: Vec<&str> = Vec::new();
        let mut cells: Vec<_> = epochs.iter().collect();
        cells.sort();
        for (cell, epoch) in cells {
            let owned = [
                cell as &(dyn postgres::types::ToSql + Sync),
                &ownership.node.id,
                &epoch.cast_signed(),
            ];
            if transaction.execute(CONFIRM, &owned)? == 1 {
                held.push(cell);
            }
        }
        let mut answers = Vec::with_capacity(appends.len());
        let mut seen = HashSet::new();
        for &append in appends {
            let cell = ownership.cell_of(&append.stream);
            if !held.contains(&cell) {
                answers.push(Err(fenced(append, cell)));
                continue;
            }
            let record = NewRecord::new(append, cell, epochs[cell]);
            // Of two appends for one version only the first can have been written.
            let may_exist = seen.insert((&append.stream, append.expected)) && may_exist;
            answers.push(match may_exist && record.exists(&mut transaction)? {
                true => Ok(append.version_after()),
                false => record.write(&mut transaction)?,
            });
        }
        transaction.commit()?;
        let lost = epochs.iter().filter(|(cell, _)| !held.contains(&cell.as_str()));
        lost.for_each(|(cell, epoch)| self.lose(cell, *epoch));
        Ok(answers)
    }

    /// The epochs of all cells of a group that this node owns.
    fn epochs_of(&self, appends: &[&Append]) -> HashMap<String, u64> {
        let mut epochs = HashMap::new();
        let ownership = &self.ownership;
        for append in appends {
            let cell = ownership.cell_of(&append.stream);
            if epochs.contains_key(cell) {
                continue;
            }
            if let Some(epoch) = ownership.epoch(cell) {
                epochs.insert(cell.to_owned(), epoch);
            }
        }
        epochs
    }

    /// Reads the versions of streams that are not in memory, or that do not fit. A stream that should
    /// be new needs no reading: if it exists, the insertion fails.
    fn read_versions(
        &mut self,
        appends: &[&Append],
        epochs: &HashMap<String, u64>,
    ) -> Result<(), Trouble> {
        let ownership = Arc::clone(&self.ownership);
        let mut unknown: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        for append in appends {
            let Some(&epoch) = epochs.get(ownership.cell_of(&append.stream)) else { continue };
            // Later appends for a stream follow the first one of the group.
            if !seen.insert(&*append.stream) {
                continue;
            }
            let known = self.versions.get(&append.stream).filter(|(_, read)| *read == epoch);
            match known {
                Some((version, _)) if *version == append.expected => {}
                None if append.expected == 0 => {
                    self.versions.insert(Arc::clone(&append.stream), (0, epoch));
                }
                _ => unknown.push(&append.stream),
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let rows = self.connection()?.client.query(VERSIONS, &[&unknown])?;
        for row in rows {
            let stream: &str = row.get(0);
            let version = row.get::<_, Option<i64>>(1).unwrap_or(0).cast_unsigned();
            if let Some(&epoch) = epochs.get(ownership.cell_of(stream)) {
                self.versions.insert(stream.into(), (version, epoch));
            }
        }
        Ok(())
    }

    /// Compares an append with the version of its stream, and advances it.
    fn advance(&mut self, append: &Append, epoch: u64) -> Result<u64, AppendError> {
        let place = self.versions.entry(Arc::clone(&append.stream)).or_insert((0, epoch));
        if place.0 != append.expected {
            return Err(append.conflict(place.0));
        }
        *place = (append.version_after(), epoch);
        Ok(place.0)
    }

    /// Runs the statement; returns the cells whose records were written.
    fn insert(&mut self, records: &[NewRecord<'_>]) -> Result<Vec<String>, Trouble> {
        let node = self.ownership.node.id.clone();
        let mut cells: Vec<(&str, i64)> =
            records.iter().map(|record| (record.cell, record.epoch.cast_signed())).collect();
        cells.sort_unstable();
        cells.dedup();
        let (cells, epochs): (Vec<&str>, Vec<i64>) = cells.into_iter().unzip();
        let streams: Vec<&str> = records.iter().map(|record| &*record.append.stream).collect();
        let firsts: Vec<i64> = records.iter().map(NewRecord::first_seq).collect();
        let counts: Vec<i64> = records.iter().map(NewRecord::count).collect();
        let owners: Vec<&str> = records.iter().map(|record| record.cell).collect();
        let sums: Vec<i64> = records.iter().map(|record| record.checksum).collect();
        let lines: Vec<&str> = records.iter().map(|record| record.lines.as_str()).collect();
        let Connection { client, insert } = self.connection()?;
        let rows = client.query(
            insert,
            &[&cells, &epochs, &node, &streams, &firsts, &counts, &owners, &sums, &lines],
        )?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn lose(&mut self, cell: &str, epoch: u64) {
        self.ownership.lose(cell, epoch);
        let ownership = Arc::clone(&self.ownership);
        self.versions.retain(|stream, _| ownership.cell_of(stream) != cell);
    }

    fn connection(&mut self) -> Result<&mut Connection, Trouble> {
        let place = &mut self.connection;
        match place {
            Some(connection) if !connection.client.is_closed() => {}
            _ => {
                let mut client = self.database.connect()?;
                let insert = client.prepare(INSERT)?;
                *place = Some(Connection { client, insert });
            }
        }
        Ok(place.as_mut().expect("it was connected just now"))
    }
}

impl<'a> NewRecord<'a> {
    fn new(append: &'a Append, cell: &'a str, epoch: u64) -> NewRecord<'a> {
        let lines = append.lines.join("\n");
        let checksum = crc32fast::hash(lines.as_bytes()).into();
        NewRecord { append, cell, epoch, lines, checksum }
    }

    fn first_seq(&self) -> i64 {
        (self.append.expected + 1).cast_signed()
    }

    fn count(&self) -> i64 {
        self.append.lines.len().cast_signed() as i64
    }

    fn exists(&self, transaction: &mut Transaction<'_>) -> Result<bool, postgres::Error> {
        let (stream, first, count) = (&*self.append.stream, self.first_seq(), self.count());
        let found =
            transaction.query_opt(SAME, &[&stream, &first, &count, &self.checksum, &self.lines])?;
        Ok(found.is_some())
    }

    /// Compares the append with the version of its stream, and writes it.
    fn write(
        &self,
        transaction: &mut Transaction<'_>,
    ) -> Result<Result<u64, AppendError>, postgres::Error> {
        let (stream, first, count) = (&*self.append.stream, self.first_seq(), self.count());
        let version = transaction.query_opt(VERSION, &[&stream])?;
        let version = version.map_or(0, |row| row.get::<_, i64>(0)).cast_unsigned();
        if version != self.append.expected {
            return Ok(Err(self.append.conflict(version)));
        }
        let (cell, epoch) = (self.cell, self.epoch.cast_signed());
        transaction.execute(
            INSERT_ONE,
            &[&stream, &first, &count, &cell, &epoch, &self.checksum, &self.lines],
        )?;
        Ok(Ok(self.append.version_after()))
    }
}

fn fenced(append: &Append, cell: &str) -> AppendError {
    AppendError::Fenced { stream: append.stream.to_string(), cell: cell.to_owned() }
}

/// The answers to a group that the database rejected.
fn refuse(appends: &[&Append], error: &postgres::Error) -> Answers {
    let refused = |append: &&Append| {
        Err(AppendError::Io {
            stream: append.stream.to_string(),
            kind: kind_of(error),
            message: describe(error),
        })
    };
    appends.iter().map(refused).collect()
}

/// The answers to a group of which nobody knows whether it was committed.
fn unknown(appends: &[&Append], message: &str) -> Answers {
    let refused = |append: &&Append| {
        Err(AppendError::Io {
            stream: append.stream.to_string(),
            kind: std::io::ErrorKind::NotConnected,
            message: format!("it is not known whether the database holds the append: {message}"),
        })
    };
    appends.iter().map(refused).collect()
}
