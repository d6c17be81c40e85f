//! The log in PostgreSQL, for servers on several machines.
//!
//! [`schema`] has the tables and connections, [`writer`] turns a group of appends into one
//! statement that checks who owns what it writes, [`lease`] decides which node tries, and
//! [`reader`] reads. The log is divided into cells; one node at a time owns a cell and writes its
//! streams.

mod lease;
mod reader;
mod schema;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::group::Group;
use crate::name::check_for_reading;
use crate::{Append, AppendError, Done, DoneAll, Log, LogError, Meter, Snapshot};

pub use lease::{CellRow, Claim, Node, NodeRow};
pub use writer::CellOf;

use lease::Heartbeat;
use reader::Reader;
use schema::Database;
use writer::{Ownership, Writer};

/// A log in a PostgreSQL database, as one node of a cluster sees it.
///
/// Dropping it waits until everything submitted is answered, or for some seconds if the database
/// does not answer.
pub struct PostgresLog {
    reader: Reader,
    /// None if open for reading only.
    writing: Option<Writing>,
    meter: Arc<Meter>,
}

/// The parts of a log that writes. The group is dropped first, and the lease last.
struct Writing {
    group: Group,
    ownership: Arc<Ownership>,
    heartbeat: Heartbeat,
}

impl PostgresLog {
    /// Opens the log for writing, creating its tables if need be. The node claims cells with
    /// [`claim`](PostgresLog::claim).
    pub fn open(url: &str, node: Node, cell_of: CellOf) -> Result<PostgresLog, LogError> {
        PostgresLog::start(url, node, cell_of, false)
    }

    /// Opens the log for a node that claims every cell it writes to, if no other node owns it. This
    /// is how a single server uses a database.
    pub fn open_alone(url: &str, node: Node, cell_of: CellOf) -> Result<PostgresLog, LogError> {
        PostgresLog::start(url, node, cell_of, true)
    }

    fn start(
        url: &str,
        node: Node,
        cell_of: CellOf,
        claims_on_demand: bool,
    ) -> Result<PostgresLog, LogError> {
        let database = Database::parse(url)?;
        let client = database.prepare()?;
        let heartbeat = Heartbeat::start(&database, &node)?;
        let ownership = Arc::new(Ownership {
            node,
            cell_of,
            claims_on_demand,
            epochs: std::sync::Mutex::default(),
            is_closing: AtomicBool::new(false),
            fenced: AtomicU64::new(0),
        });
        let meter = Arc::<Meter>::default();
        let writer = Writer::new(database.clone(), Arc::clone(&ownership), Arc::clone(&meter));
        let group = Group::start(writer)
            .map_err(|error| LogError::io("start a thread for", database.label(), &error))?;
        let writing = Some(Writing { group, ownership, heartbeat });
        Ok(PostgresLog { reader: Reader::new(database, client), writing, meter })
    }

    /// Opens an existing log for reading, even while nodes write it.
    pub fn open_read_only(url: &str) -> Result<PostgresLog, LogError> {
        let database = Database::parse(url)?;
        let client = database.existing()?;
        let reader = Reader::new(database, client);
        Ok(PostgresLog { reader, writing: None, meter: Arc::default() })
    }

    /// Claims a cell: new, free, or owned by a node whose lease has expired. Afterwards only this
    /// node can write the cell's streams, and everything that others wrote can be loaded.
    pub fn claim(&self, cell: &str) -> Result<Claim, LogError> {
        let ownership = &self.writing()?.ownership;
        let claim =
            self.reader.ask("claim in", |client| lease::claim(client, &ownership.node, cell))?;
        if let Claim::Owned(epoch) = &claim {
            ownership.epochs().insert(cell.to_owned(), *epoch);
        }
        Ok(claim)
    }

    /// Gives a cell back, so that another node may claim it at once.
    pub fn release(&self, cell: &str) -> Result<(), LogError> {
        let ownership = &self.writing()?.ownership;
        let Some(epoch) = ownership.epochs().remove(cell) else { return Ok(()) };
        self.reader.ask("release in", |client| lease::release(client, &ownership.node, cell, epoch))
    }

    /// The cells that this node owns, as far as it knows.
    pub fn owned(&self) -> Vec<String> {
        let Some(writing) = &self.writing else { return Vec::new() };
        let mut cells: Vec<String> = writing.ownership.epochs().keys().cloned().collect();
        cells.sort();
        cells
    }

    /// How old this node's lease is at most, by its own clock; none if open for reading only.
    pub fn lease_age(&self) -> Option<Duration> {
        self.writing.as_ref().map(|writing| writing.heartbeat.age())
    }

    /// How many appends were rejected because another node had claimed their cell.
    pub fn fenced(&self) -> u64 {
        let fenced = |writing: &Writing| writing.ownership.fenced.load(Ordering::Relaxed);
        self.writing.as_ref().map_or(0, fenced)
    }

    /// All cells, sorted by name.
    pub fn cells(&self) -> Result<Vec<CellRow>, LogError> {
        self.reader.ask("read", lease::cells)
    }

    /// All nodes, sorted by name.
    pub fn nodes(&self) -> Result<Vec<NodeRow>, LogError> {
        self.reader.ask("read", lease::nodes)
    }

    /// Whether a commit waits for a second machine. Without one, the loss of the database's disk
    /// loses acknowledged records.
    pub fn has_synchronous_standby(&self) -> Result<bool, LogError> {
        let query = "
            SELECT current_setting('synchronous_standby_names') <> ''
               AND current_setting('synchronous_commit') IN ('on', 'remote_apply')";
        self.reader.ask("read", |client| Ok(client.query_one(query, &[])?.get(0)))
    }

    fn writing(&self) -> Result<&Writing, LogError> {
        self.writing.as_ref().ok_or(LogError::Closed)
    }
}

impl Drop for PostgresLog {
    fn drop(&mut self) {
        if let Some(writing) = &self.writing {
            writing.ownership.is_closing.store(true, Ordering::Relaxed);
        }
    }
}

impl Log for PostgresLog {
    fn submit(&self, append: Append, done: Done) {
        match &self.writing {
            Some(writing) => writing.group.submit(append, done),
            None => done(Err(AppendError::ReadOnly)),
        }
    }

    fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        match &self.writing {
            Some(writing) => writing.group.submit_all(appends, done),
            None => done(appends.iter().map(|_| Err(AppendError::ReadOnly)).collect()),
        }
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        check_for_reading(stream)?;
        self.reader.load(stream, after)
    }

    fn another_reader(&self) -> Result<Option<Box<dyn Log>>, LogError> {
        let database = self.reader.database().clone();
        let client = database.existing()?;
        let reader = Reader::new(database, client);
        Ok(Some(Box::new(PostgresLog { reader, writing: None, meter: Arc::default() })))
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        self.reader.streams()
    }

    fn latest(&self) -> Result<Option<String>, LogError> {
        self.reader.latest()
    }

    fn flush(&self) -> Result<(), LogError> {
        self.writing.as_ref().map_or(Ok(()), |writing| writing.group.flush())
    }

    fn meter(&self) -> Option<Arc<Meter>> {
        Some(Arc::clone(&self.meter))
    }

    fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<(), LogError> {
        let body = snapshot.write(self)?;
        self.reader.keep_snapshot(&snapshot.stream, &body)
    }

    fn snapshot(&self, stream: &str) -> Result<Option<Snapshot>, LogError> {
        let body = self.reader.snapshot(stream)?;
        body.map(|body| Snapshot::read(&body, stream, self)).transpose()
    }
}
