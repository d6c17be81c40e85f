//! Nodes and the cells they own.
//!
//! A lease only decides which node *tries* to write a cell. Safety comes from the epoch: a claim
//! adds one to it, and the writer compares it in the same transaction as every append. So a claim
//! is always safe, even from a node that still believes to own the cell.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use postgres::Client;

use super::schema::{Database, describe};
use crate::LogError;

/// The node that opens a log, as other nodes see it.
#[derive(Clone, Debug)]
pub struct Node {
    /// A name that no other node of the cluster has. A restarted node has the same name.
    pub id: String,
    /// The address at which other nodes reach this one.
    pub address: String,
    /// The version of the program.
    pub version: String,
    /// How long a node may miss its heartbeats before others claim its cells.
    pub lease: Duration,
}

/// Heartbeats per lease: a few may be late or lost.
const BEATS_PER_LEASE: u32 = 6;

/// The answer to a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// This node owns the cell, with this epoch.
    Owned(u64),
    /// Another node owns it, and its lease has not expired.
    Taken {
        /// The other node.
        owner: String,
    },
}

/// A cell and its owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellRow {
    /// The cell.
    pub id: String,
    /// The node that owns it; none after a release.
    pub owner: Option<String>,
    /// How often it was claimed or released.
    pub epoch: u64,
}

/// A node of the cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeRow {
    /// The name of the node.
    pub id: String,
    /// The address at which other nodes reach it.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// How long ago its last heartbeat was, by the database's clock.
    pub age: Duration,
}

const REGISTER: &str = "
    INSERT INTO agon.nodes VALUES ($1, $2, $3, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET address = $2, version = $3, renewed_at = clock_timestamp()";

const RENEW: &str = "UPDATE agon.nodes SET renewed_at = clock_timestamp() WHERE id = $1";

const UNREGISTER: &str = "DELETE FROM agon.nodes WHERE id = $1";

/// Claims a cell that is new, free, ours, or owned by a node without a fresh heartbeat.
const CLAIM: &str = "
    INSERT INTO agon.cells AS held (id, owner, epoch) VALUES ($1, $2, 1)
    ON CONFLICT (id) DO UPDATE SET owner = $2, epoch = held.epoch + 1
    WHERE held.owner IS NULL OR held.owner = $2 OR NOT EXISTS (
        SELECT FROM agon.nodes
        WHERE id = held.owner
          AND renewed_at > clock_timestamp() - $3 * interval '1 millisecond'
    )
    RETURNING epoch";

const RELEASE: &str = "
    UPDATE agon.cells SET owner = NULL, epoch = epoch + 1
    WHERE id = $1 AND owner = $2 AND epoch = $3";

/// Claims a cell on a connection.
pub(super) fn claim(
    client: &mut Client,
    node: &Node,
    cell: &str,
) -> Result<Claim, postgres::Error> {
    let lease_ms = node.lease.as_millis() as f64;
    if let Some(row) = client.query_opt(CLAIM, &[&cell, &node.id, &lease_ms])? {
        return Ok(Claim::Owned(row.get::<_, i64>(0).cast_unsigned()));
    }
    let owner = client.query_opt("SELECT owner FROM agon.cells WHERE id = $1", &[&cell])?;
    let owner: Option<String> = owner.and_then(|row| row.get(0));
    Ok(Claim::Taken { owner: owner.unwrap_or_default() })
}

/// Gives a cell back, unless somebody else has claimed it meanwhile.
pub(super) fn release(
    client: &mut Client,
    node: &Node,
    cell: &str,
    epoch: u64,
) -> Result<(), postgres::Error> {
    client.execute(RELEASE, &[&cell, &node.id, &epoch.cast_signed()]).map(|_| ())
}

/// All cells, sorted by name.
pub(super) fn cells(client: &mut Client) -> Result<Vec<CellRow>, postgres::Error> {
    let rows = client.query("SELECT id, owner, epoch FROM agon.cells ORDER BY id", &[])?;
    let cell = |row: &postgres::Row| CellRow {
        id: row.get(0),
        owner: row.get(1),
        epoch: row.get::<_, i64>(2).cast_unsigned(),
    };
    Ok(rows.iter().map(cell).collect())
}

/// All nodes, sorted by name.
pub(super) fn nodes(client: &mut Client) -> Result<Vec<NodeRow>, postgres::Error> {
    let query = "
        SELECT id, address, version,
            (extract(epoch FROM clock_timestamp() - renewed_at) * 1000)::float8
        FROM agon.nodes ORDER BY id";
    let node = |row: &postgres::Row| NodeRow {
        id: row.get(0),
        address: row.get(1),
        version: row.get(2),
        age: Duration::from_secs_f64((row.get::<_, f64>(3) / 1000.0).max(0.0)),
    };
    Ok(client.query(query, &[])?.iter().map(node).collect())
}

/// The thread that renews the lease of a node, and the time of the last renewal.
pub(super) struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

struct State {
    /// When the last successful renewal was *begun*, by this machine's clock.
    renewed: Instant,
    is_ended: bool,
}

impl Heartbeat {
    /// Registers the node, and renews its lease until this is dropped.
    pub(super) fn start(database: &Database, node: &Node) -> Result<Heartbeat, LogError> {
        let begun = Instant::now();
        let mut client = connect(database).map_err(|error| database.failure("open", &error))?;
        let row: [&(dyn postgres::types::ToSql + Sync); 3] =
            [&node.id, &node.address, &node.version];
        client.execute(REGISTER, &row).map_err(|error| database.failure("register in", &error))?;
        let state = Mutex::new(State { renewed: begun, is_ended: false });
        let shared = Arc::new(Shared { state, ended: Condvar::new() });
        let (own, database_, node) = (Arc::clone(&shared), database.clone(), node.clone());
        let thread = thread::Builder::new()
            .name("log-lease".to_owned())
            .spawn(move || own.renew_until_ended(client, &database_, &node))
            .map_err(|error| LogError::io("start a thread for", database.label(), &error))?;
        Ok(Heartbeat { shared, thread: Some(thread) })
    }

    /// How old the lease is at most.
    pub(super) fn age(&self) -> Duration {
        self.shared.lock().renewed.elapsed()
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.lock().is_ended = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported any panic of the thread.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn renew_until_ended(&self, client: Client, database: &Database, node: &Node) {
        let mut client = Some(client);
        let pause = node.lease / BEATS_PER_LEASE;
        loop {
            let state = self.lock();
            let is_running = |state: &mut State| !state.is_ended;
            let (state, _) = self
                .ended
                .wait_timeout_while(state, pause, is_running)
                .unwrap_or_else(PoisonError::into_inner);
            if state.is_ended {
                break;
            }
            drop(state);
            let begun = Instant::now();
            let mut renew = || {
                let client = match &mut client {
                    Some(client) if !client.is_closed() => client,
                    place => place.insert(connect(database)?),
                };
                client.execute(RENEW, &[&node.id])
            };
            match renew() {
                Ok(0) => tracing::warn!("node {} is no longer registered", node.id),
                Ok(_) => self.lock().renewed = begun,
                Err(error) => tracing::warn!("failed to renew the lease: {}", describe(&error)),
            }
        }
        // A clean end frees the cells at once. After a failure the lease expires by itself.
        if let Some(mut client) = client {
            let _ = client.execute(UNREGISTER, &[&node.id]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection for heartbeats. Losing one only makes the lease look older, which is safe, so they
/// do not wait for the disk.
fn connect(database: &Database) -> Result<Client, postgres::Error> {
    let mut client = database.connect()?;
    client.batch_execute("SET synchronous_commit = off")?;
    Ok(client)
}
