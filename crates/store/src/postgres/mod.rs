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
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::group::Group;
use crate::name::check_for_reading;
use crate::{
    Append, AppendError, Done, DoneAll, Lease, Log, LogError, LogStanding, Meter, ReaderShare,
    Snapshot, StreamPart, patience,
};

pub use lease::{CellRow, Claim, Node, NodeRow};
pub use schema::without_password;
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
    /// The connection for questions about nodes and cells. They must not wait while a page reads.
    control: Reader,
    ownership: Arc<Ownership>,
    heartbeat: Heartbeat,
}

/// An owner of the log can lend cells so often before an epoch could repeat.
const LOANS_BITS: u32 = 24;

impl PostgresLog {
    /// The cell of the lobby. Its owner owns the whole log, except for tournaments that it lends to
    /// other nodes.
    pub const WHOLE: &str = "lobby";

    /// Opens the log for writing, creating its tables if need be. The node claims cells with
    /// [`claim`](PostgresLog::claim).
    pub fn open(url: &str, node: Node, cell_of: CellOf) -> Result<PostgresLog, LogError> {
        let database = Database::parse(url)?;
        let client = database.prepare()?;
        let control = Reader::new(database.clone(), database.existing()?);
        let ownership = Arc::new(Ownership::new(node, cell_of));
        let heartbeat = Heartbeat::start(&database, &ownership)?;
        let meter = Arc::<Meter>::default();
        let writer = Writer::new(database.clone(), Arc::clone(&ownership), Arc::clone(&meter));
        let group = Group::start(writer)
            .map_err(|error| LogError::io("start a thread for", database.label(), &error))?;
        let writing = Some(Writing { group, control, ownership, heartbeat });
        Ok(PostgresLog { reader: Reader::new(database, client), writing, meter })
    }

    /// Opens an existing log for reading, even while nodes write it.
    pub fn open_read_only(url: &str) -> Result<PostgresLog, LogError> {
        let database = Database::parse(url)?;
        let client = database.existing()?;
        let reader = Reader::new(database, client);
        Ok(PostgresLog { reader, writing: None, meter: Arc::default() })
    }

    /// Checks that a text is the address of a database, without connecting to it.
    pub fn check_address(url: &str) -> Result<(), LogError> {
        Database::parse(url).map(|_| ())
    }

    /// Claims a cell: new, free, or owned by a node whose lease has expired. Afterwards only this
    /// node can write the cell's streams, and everything that others wrote can be loaded.
    pub fn claim(&self, cell: &str) -> Result<Claim, LogError> {
        self.claim_as(cell, true, None)
    }

    /// Claims a cell that is new, free or this node's own, and leaves it to its owner otherwise.
    pub fn claim_unowned(&self, cell: &str) -> Result<Claim, LogError> {
        self.claim_as(cell, false, None)
    }

    /// Claims a cell. If the node may steal, it takes the cell from an owner whose lease has
    /// expired. It takes it sooner from a node that has left the bus ([`patience`]).
    pub fn claim_as(
        &self,
        cell: &str,
        may_steal: bool,
        absent: Option<&str>,
    ) -> Result<Claim, LogError> {
        let ownership = &self.writing()?.ownership;
        let claim = self.control().ask("claim in", |client| {
            lease::claim(client, &ownership.node, cell, may_steal, absent)
        })?;
        if let Claim::Owned(epoch) = &claim {
            ownership.epochs().insert(cell.to_owned(), *epoch);
        }
        Ok(claim)
    }

    /// Notes whether this node is connected to the bus. If it is not, others wait less long for its
    /// heartbeats, and so it doubts sooner that it still owns its cells.
    pub fn set_on_bus(&self, is_on_bus: bool) {
        if let Ok(Writing { ownership, .. }) = self.writing() {
            ownership.is_off_bus.store(!is_on_bus, Ordering::Release);
        }
    }

    /// Gives a cell back, so that another node may claim it at once.
    pub fn release(&self, cell: &str) -> Result<(), LogError> {
        let ownership = &self.writing()?.ownership;
        let Some(epoch) = ownership.epochs().remove(cell) else { return Ok(()) };
        self.control()
            .ask("release in", |client| lease::release(client, &ownership.node, cell, epoch))
    }

    /// Gives a cell to a node whose heartbeat is fresh, which is not drained and reads the log's
    /// records, whoever owns it now. Returns whether there
    /// is such a node. It learns of it when it tries to claim the cell, and the owner at its next
    /// heartbeat or append.
    pub fn hand_over(&self, cell: &str, node: &str, lease: Duration) -> Result<bool, LogError> {
        self.control().ask("write", |client| lease::hand_over(client, cell, node, lease))
    }

    /// Lends a node tournaments. The node writes them under the epoch that this returns, until this
    /// node takes them back. Returns `None` if this node has lost the log.
    pub fn lend(&self, node: &str) -> Result<Option<u64>, LogError> {
        let ownership = &self.writing()?.ownership;
        let Some(whole) = ownership.epoch(PostgresLog::WHOLE) else { return Ok(None) };
        // No earlier owner of the log and no earlier loan has the same epoch.
        let loan = ownership.loans.fetch_add(1, Ordering::Relaxed) + 1;
        let epoch = (whole << LOANS_BITS) + loan;
        let (own, lent) = ((PostgresLog::WHOLE, whole), writer::lent_cell(node));
        let lent = self.control().ask("lend in", |client| {
            lease::lend(client, &ownership.node, own, (&lent, node, epoch))
        })?;
        Ok(lent.then_some(epoch))
    }

    /// Takes back the tournaments that were lent to a node, or to all nodes. Afterwards none of
    /// them can write them, and everything that they wrote can be loaded.
    pub fn take_back(&self, node: Option<&str>) -> Result<(), LogError> {
        let ownership = &self.writing()?.ownership;
        let Some(whole) = ownership.epoch(PostgresLog::WHOLE) else { return Ok(()) };
        let (own, lent) = ((PostgresLog::WHOLE, whole), writer::lent_cell(node.unwrap_or("")));
        self.control().ask("take back in", |client| {
            lease::take_back(client, &ownership.node, own, (&lent, node.is_none()))
        })
    }

    /// Begins to write tournaments that the owner of the log has lent to this node.
    pub fn borrow_cells(&self, epoch: u64) -> Result<(), LogError> {
        let ownership = &self.writing()?.ownership;
        ownership.epochs().insert(ownership.lent_cell.clone(), epoch);
        ownership.has_lent_cell.store(true, Ordering::Release);
        ownership.has_lost.store(false, Ordering::Release);
        Ok(())
    }

    /// Waits until everything submitted is answered, and forgets the tournaments that were lent to
    /// this node.
    pub fn end_loan(&self) -> Result<(), LogError> {
        let Writing { ownership, group, .. } = self.writing()?;
        let flushed = group.flush();
        ownership.epochs().remove(&ownership.lent_cell);
        ownership.has_lent_cell.store(false, Ordering::Release);
        ownership.has_lost.store(false, Ordering::Release);
        flushed
    }

    /// The cells that this node owns, as far as it knows.
    pub fn owned(&self) -> Vec<String> {
        let Some(writing) = &self.writing else { return Vec::new() };
        let mut cells: Vec<String> = writing.ownership.epochs().keys().cloned().collect();
        cells.sort();
        cells
    }

    /// All cells, sorted by name.
    pub fn cells(&self) -> Result<Vec<CellRow>, LogError> {
        self.control().ask("read", lease::cells)
    }

    /// The running tournaments, each with its node as far as the log shows it.
    pub fn running_tournaments(&self) -> Result<Vec<(String, String)>, LogError> {
        self.control().ask("read", lease::running_tournaments)
    }

    /// Raises the version of the log to the newest that all living nodes read. Returns the version
    /// of the log, or `None` if this node does not own it.
    pub fn raise_log_version(&self) -> Result<Option<u32>, LogError> {
        let ownership = &self.writing()?.ownership;
        let Some(whole) = ownership.epoch(PostgresLog::WHOLE) else { return Ok(None) };
        let own = (PostgresLog::WHOLE, whole);
        self.control().ask("write", |client| lease::raise_log_version(client, &ownership.node, own))
    }

    /// Has a node take no work from now on, or take work again. Returns whether there is such a
    /// node.
    pub fn set_drained(&self, node: &str, drained: bool) -> Result<bool, LogError> {
        self.control().ask("write", |client| lease::set_drained(client, node, drained))
    }

    /// Returns whether an operator has drained this node, as of its last heartbeat.
    pub fn is_drained(&self) -> bool {
        self.writing.as_ref().is_some_and(|writing| writing.heartbeat.is_drained())
    }

    /// Orders that a running tournament moves to a node. The owner of the log carries it out.
    pub fn order_move(&self, tournament: &str, node: &str) -> Result<(), LogError> {
        self.control().ask("write", |client| lease::order_move(client, tournament, node))
    }

    /// Takes back an order to move a tournament; returns whether nobody has taken it.
    pub fn cancel_move(&self, tournament: &str) -> Result<bool, LogError> {
        self.control().ask("write", |client| lease::cancel_move(client, tournament))
    }

    /// Returns whether an order to move a tournament waits for the owner of the log.
    pub fn is_move_ordered(&self, tournament: &str) -> Result<bool, LogError> {
        self.control().ask("read", |client| lease::is_move_ordered(client, tournament))
    }

    /// Takes all orders to move tournaments: each tournament with the node that it moves to.
    pub fn take_moves(&self) -> Result<Vec<(String, String)>, LogError> {
        self.control().ask("write", lease::take_moves)
    }

    /// All nodes, sorted by name.
    pub fn nodes(&self) -> Result<Vec<NodeRow>, LogError> {
        self.control().ask("read", lease::nodes)
    }

    /// Returns whether a commit waits for a second machine. Without one, the loss of the database's
    /// disk loses acknowledged records.
    pub fn has_synchronous_standby(&self) -> Result<bool, LogError> {
        let query = "
            SELECT current_setting('synchronous_standby_names') <> ''
               AND current_setting('synchronous_commit') IN ('on', 'remote_apply')";
        self.reader.ask("read", |client| Ok(client.query_one(query, &[])?.get(0)))
    }

    fn control(&self) -> &Reader {
        self.writing.as_ref().map_or(&self.reader, |writing| &writing.control)
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

    fn load_together(&self, streams: &[&str]) -> Result<Vec<Vec<String>>, LogError> {
        streams.iter().try_for_each(|stream| check_for_reading(stream))?;
        self.reader.load_together(streams)
    }

    fn read_together(
        &self,
        streams: &[&str],
        share: ReaderShare,
        take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), LogError> {
        streams.iter().try_for_each(|stream| check_for_reading(stream))?;
        self.reader.read_together(streams, share, take)
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

    fn standing(&self) -> LogStanding {
        let Some(Writing { ownership, heartbeat, .. }) = &self.writing else {
            return LogStanding::Lost;
        };
        let has_lost = ownership.has_lost.load(Ordering::Acquire);
        let is_off_bus = ownership.is_off_bus.load(Ordering::Acquire);
        LogStanding::of(has_lost, heartbeat.age(), patience(ownership.node.lease, is_off_bus))
    }

    fn lease(&self) -> Option<Lease> {
        let Writing { ownership, heartbeat, .. } = self.writing.as_ref()?;
        Some(Lease {
            node: ownership.node.id.clone(),
            age: heartbeat.age(),
            cells: ownership.epochs().len(),
            fenced: ownership.fenced.load(Ordering::Relaxed),
            clock_drift_ms: heartbeat.drift_ms(),
        })
    }

    fn clock_ms(&self) -> Result<Option<u64>, LogError> {
        let query = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let now = self.reader.ask("read", |client| client.query_one(query, &[]))?;
        Ok(Some(now.get::<_, i64>(0).cast_unsigned()))
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
