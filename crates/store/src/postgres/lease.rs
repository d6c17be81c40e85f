//! Nodes and the cells they own.
//!
//! A lease only decides which node *tries* to write a cell. Safety comes from the epoch: a claim
//! adds one to it, and the writer compares it in the same transaction as every append. So a claim
//! is always safe, even from a node that still believes to own the cell.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use postgres::Client;
use rustix::time::{ClockId, clock_gettime};

use super::schema::{Database, describe};
use super::writer::Ownership;
use crate::{BEATS_PER_LEASE, LogError, patience};

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
    /// The newest version of records that the node reads and writes.
    pub log_version: u32,
    /// True if the node was drained before it started again.
    pub drained: bool,
}

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
    /// The log may have records of a newer version than this node reads.
    Newer {
        /// That version.
        version: u32,
        /// The node that owns it; empty if none does.
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
    /// The newest version of records that it may have.
    pub log_version: u32,
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
    /// The newest version of records that it reads and writes.
    pub log_version: u32,
    /// True if an operator has drained it: it takes no work.
    pub drained: bool,
    /// How long ago its last heartbeat was, by the database's clock.
    pub age: Duration,
}

const REGISTER: &str = "
    INSERT INTO agon.nodes (id, address, version, renewed_at, log_version, drained)
    VALUES ($1, $2, $3, clock_timestamp(), $4, $5)
    ON CONFLICT (id) DO UPDATE
    SET address = $2, version = $3, renewed_at = clock_timestamp(), log_version = $4, drained = $5";

/// Nodes that did not end cleanly leave a row.
const FORGET: &str =
    "DELETE FROM agon.nodes WHERE renewed_at < clock_timestamp() - interval '1 day'";

/// Renews the lease of a node, and returns which of its cells it still owns.
const RENEW: &str = "
    WITH renewed AS (
        UPDATE agon.nodes SET renewed_at = clock_timestamp() WHERE id = $1 RETURNING drained
    )
    SELECT (SELECT drained FROM renewed), ARRAY(
        SELECT held.id FROM agon.cells AS held
        JOIN unnest($2::text[], $3::bigint[]) AS own (id, epoch)
            ON held.id = own.id AND held.epoch = own.epoch
        WHERE held.owner = $1
    ), (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const UNREGISTER: &str = "DELETE FROM agon.nodes WHERE id = $1";

/// Claims a cell that is new, free, ours or, if the node may steal, owned by a node without a fresh
/// heartbeat. An owner that has left the bus has less time. A claim is a heartbeat too: after the
/// database was away all heartbeats are old, and the next node would take the cell at once.
const CLAIM: &str = "
    WITH claimed AS (
        INSERT INTO agon.cells AS held (id, owner, epoch) VALUES ($1, $2, 1)
        ON CONFLICT (id) DO UPDATE SET owner = $2, epoch = held.epoch + 1
        WHERE held.log_version <= $5 AND (
            held.owner IS NULL OR held.owner = $2 OR ($4 OR held.owner = $6) AND NOT EXISTS (
                SELECT FROM agon.nodes
                WHERE id = held.owner AND renewed_at > clock_timestamp()
                    - CASE WHEN id = $6 THEN $7::float8 ELSE $3::float8 END * interval '1 millisecond'
            )
        )
        RETURNING epoch
    ), renewed AS (
        UPDATE agon.nodes SET renewed_at = clock_timestamp()
        WHERE id = $2 AND EXISTS (SELECT FROM claimed)
    )
    SELECT epoch FROM claimed";

const HAND_OVER: &str = "
    UPDATE agon.cells AS held SET owner = $2, epoch = epoch + 1
    WHERE id = $1 AND owner IS DISTINCT FROM $2 AND EXISTS (
        SELECT FROM agon.nodes AS next
        WHERE next.id = $2 AND NOT drained AND next.log_version >= held.log_version AND renewed_at > clock_timestamp() - $3 * interval '1 millisecond'
    )";

const RELEASE: &str = "
    UPDATE agon.cells SET owner = NULL, epoch = epoch + 1
    WHERE id = $1 AND owner = $2 AND epoch = $3";

/// Raises the version of the log to the newest that all living nodes read, unless it is newer
/// already. A node that begins to live in this moment can claim nothing that it cannot read.
const RAISE: &str = "
    UPDATE agon.cells SET log_version = greatest(log_version, (
        SELECT min(log_version) FROM agon.nodes
        WHERE id = $2 OR renewed_at > clock_timestamp() - $4 * interval '1 millisecond'
    ))
    WHERE id = $1 AND owner = $2 AND epoch = $3
    RETURNING log_version";

/// The version to which the log could be raised, and its own.
const RAISABLE: &str = "
    SELECT coalesce(min(node.log_version), 0) > held.log_version, held.log_version
    FROM agon.cells AS held LEFT JOIN agon.nodes AS node
        ON node.id = $2 OR node.renewed_at > clock_timestamp() - $3 * interval '1 millisecond'
    WHERE held.id = $1 AND held.owner = $2 GROUP BY held.log_version";

/// Lends a node the cell of its tournaments, if the lender still owns the whole log, and the node
/// can read it.
const LEND: &str = "
    WITH whole AS (
        SELECT FROM agon.cells AS held WHERE id = $1 AND owner = $2 AND epoch = $3
        AND EXISTS (
            SELECT FROM agon.nodes WHERE id = $5 AND NOT drained
            AND nodes.log_version >= held.log_version
        ) FOR SHARE
    )
    INSERT INTO agon.cells (id, owner, epoch) SELECT $4, $5, $6 WHERE EXISTS (SELECT FROM whole)
    ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch";

/// Takes cells back that were lent. It waits for appends of the borrower that are on their way.
const TAKE_BACK: &str = "
    WITH whole AS (
        SELECT FROM agon.cells WHERE id = $1 AND owner = $2 AND epoch = $3 FOR SHARE
    )
    DELETE FROM agon.cells
    WHERE (id = $4 OR $5 AND starts_with(id, $4)) AND EXISTS (SELECT FROM whole)";

/// A cell that a node owns, with its epoch.
pub(super) type OwnCell<'a> = (&'a str, u64);

/// Lends a cell to another node, under an epoch that no cell of this name ever had.
pub(super) fn lend(
    client: &mut Client,
    node: &Node,
    (whole, epoch): OwnCell<'_>,
    (lent, borrower, lent_epoch): (&str, &str, u64),
) -> Result<bool, postgres::Error> {
    let (epoch, lent_epoch) = (epoch.cast_signed(), lent_epoch.cast_signed());
    let lent = client.execute(LEND, &[&whole, &node.id, &epoch, &lent, &borrower, &lent_epoch])?;
    Ok(lent > 0)
}

/// Takes back a cell, or all cells whose names begin so.
pub(super) fn take_back(
    client: &mut Client,
    node: &Node,
    (whole, epoch): OwnCell<'_>,
    (lent, is_prefix): (&str, bool),
) -> Result<(), postgres::Error> {
    let epoch = epoch.cast_signed();
    client.execute(TAKE_BACK, &[&whole, &node.id, &epoch, &lent, &is_prefix]).map(|_| ())
}

/// Claims a cell on a connection.
pub(super) fn claim(
    client: &mut Client,
    node: &Node,
    cell: &str,
    may_steal: bool,
    absent: Option<&str>,
) -> Result<Claim, postgres::Error> {
    let lease_ms = node.lease.as_millis() as f64;
    let absent_ms = patience(node.lease, true).as_millis() as f64;
    let mut transaction = client.transaction()?;
    // A statement of its own: the claim then sees the heartbeat of a node that was a moment faster.
    transaction.execute("SELECT FROM agon.cells WHERE id = $1 FOR UPDATE", &[&cell])?;
    let version = i64::from(node.log_version);
    let claimed = transaction.query_opt(
        CLAIM,
        &[&cell, &node.id, &lease_ms, &may_steal, &version, &absent, &absent_ms],
    )?;
    transaction.commit()?;
    if let Some(row) = claimed {
        return Ok(Claim::Owned(row.get::<_, i64>(0).cast_unsigned()));
    }
    let query = "SELECT owner, log_version FROM agon.cells WHERE id = $1";
    let Some(row) = client.query_opt(query, &[&cell])? else {
        return Ok(Claim::Taken { owner: String::new() });
    };
    let (owner, written) = (row.get::<_, Option<String>>(0), row.get::<_, i64>(1));
    let owner = owner.unwrap_or_default();
    match written > version {
        true => Ok(Claim::Newer { version: written as u32, owner }),
        false => Ok(Claim::Taken { owner }),
    }
}

/// Raises the version of the log to the newest that all living nodes read; returns the version of
/// the log, or `None` if the node does not own it.
pub(super) fn raise_log_version(
    client: &mut Client,
    node: &Node,
    (cell, epoch): OwnCell<'_>,
) -> Result<Option<u32>, postgres::Error> {
    let lease_ms = node.lease.as_millis() as f64;
    let Some(row) = client.query_opt(RAISABLE, &[&cell, &node.id, &lease_ms])? else {
        return Ok(None);
    };
    // Most of the time there is nothing to write.
    if !row.get::<_, bool>(0) {
        return Ok(Some(row.get::<_, i64>(1) as u32));
    }
    let raised = client.query_opt(RAISE, &[&cell, &node.id, &epoch.cast_signed(), &lease_ms])?;
    Ok(raised.map(|row| row.get::<_, i64>(0) as u32))
}

/// Has a node take no work from now on, or take work again; returns whether the node is there.
pub(super) fn set_drained(
    client: &mut Client,
    node: &str,
    drained: bool,
) -> Result<bool, postgres::Error> {
    let update = "UPDATE agon.nodes SET drained = $2 WHERE id = $1";
    Ok(client.execute(update, &[&node, &drained])? > 0)
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

/// Gives a cell to a node whose heartbeat is fresh.
pub(super) fn hand_over(
    client: &mut Client,
    cell: &str,
    node: &str,
    lease: Duration,
) -> Result<bool, postgres::Error> {
    let lease_ms = lease.as_millis() as f64;
    Ok(client.execute(HAND_OVER, &[&cell, &node, &lease_ms])? > 0)
}

/// All cells, sorted by name.
pub(super) fn cells(client: &mut Client) -> Result<Vec<CellRow>, postgres::Error> {
    // A database that no node of this version has opened yet lacks the column.
    let query = "
        SELECT id, owner, epoch, coalesce((to_jsonb(cells)->>'log_version')::bigint, 1)
        FROM agon.cells ORDER BY id";
    let rows = client.query(query, &[])?;
    let cell = |row: &postgres::Row| CellRow {
        id: row.get(0),
        owner: row.get(1),
        epoch: row.get::<_, i64>(2).cast_unsigned(),
        log_version: row.get::<_, i64>(3) as u32,
    };
    Ok(rows.iter().map(cell).collect())
}

/// A tournament runs if its latest record does not end it. Its node is the one that wrote the
/// latest record of it or of its matches, among the newest records of the log. A node that gave it
/// back does not own its cell any more; the node with the lobby has resumed the tournament, or
/// given it away.
const RUNNING: &str = "
    WITH latest AS (
        SELECT DISTINCT ON (stream) split_part(stream, '/', 2) AS tournament, cell, lines
        FROM agon.records WHERE stream LIKE 'tournament/%' ORDER BY stream, first_seq DESC
    ), recent AS (
        SELECT DISTINCT ON (tournament) split_part(stream, '/', 2) AS tournament, cell
        FROM agon.records
        WHERE id > (SELECT max(id) FROM agon.records) - 10000
          AND (stream LIKE 'match/%' OR stream LIKE 'tournament/%')
        ORDER BY tournament, id DESC
    )
    SELECT latest.tournament, COALESCE(held.owner, whole.owner)
    FROM latest
    LEFT JOIN recent ON recent.tournament = latest.tournament
    LEFT JOIN agon.cells AS held ON held.id = COALESCE(recent.cell, latest.cell)
    JOIN agon.cells AS whole ON whole.id = 'lobby' AND whole.owner IS NOT NULL
    WHERE latest.lines !~ '\"type\":\"tournament-(ended|aborted|awarded)\"'
    ORDER BY 1";

/// The running tournaments, each with its node.
pub(super) fn running_tournaments(
    client: &mut Client,
) -> Result<Vec<(String, String)>, postgres::Error> {
    let rows = client.query(RUNNING, &[])?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Orders that a tournament moves to a node.
pub(super) fn order_move(
    client: &mut Client,
    tournament: &str,
    node: &str,
) -> Result<(), postgres::Error> {
    let order = "
        INSERT INTO agon.moves VALUES ($1, $2)
        ON CONFLICT (tournament) DO UPDATE SET node = excluded.node";
    client.execute(order, &[&tournament, &node]).map(|_| ())
}

/// Takes an order back; returns whether nobody has taken it.
pub(super) fn cancel_move(client: &mut Client, tournament: &str) -> Result<bool, postgres::Error> {
    let cancelled =
        client.execute("DELETE FROM agon.moves WHERE tournament = $1", &[&tournament])?;
    Ok(cancelled > 0)
}

/// Returns whether an order waits for the node with the lobby.
pub(super) fn is_move_ordered(
    client: &mut Client,
    tournament: &str,
) -> Result<bool, postgres::Error> {
    let query = "SELECT EXISTS (SELECT FROM agon.moves WHERE tournament = $1)";
    Ok(client.query_one(query, &[&tournament])?.get(0))
}

/// Takes all orders: the tournaments, and the nodes to which they move.
pub(super) fn take_moves(client: &mut Client) -> Result<Vec<(String, String)>, postgres::Error> {
    let rows = client.query("DELETE FROM agon.moves RETURNING tournament, node", &[])?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// All nodes, sorted by name.
pub(super) fn nodes(client: &mut Client) -> Result<Vec<NodeRow>, postgres::Error> {
    let query = "
        SELECT id, address, version,
            (extract(epoch FROM clock_timestamp() - renewed_at) * 1000)::float8,
            coalesce((to_jsonb(nodes)->>'log_version')::bigint, 1),
            coalesce((to_jsonb(nodes)->>'drained')::boolean, false)
        FROM agon.nodes ORDER BY id";
    let node = |row: &postgres::Row| NodeRow {
        id: row.get(0),
        address: row.get(1),
        version: row.get(2),
        age: Duration::from_secs_f64((row.get::<_, f64>(3) / 1000.0).max(0.0)),
        log_version: row.get::<_, i64>(4) as u32,
        drained: row.get(5),
    };
    Ok(client.query(query, &[])?.iter().map(node).collect())
}

/// The thread that renews the lease of a node, and the time of the last renewal.
pub(super) struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// When the last successful renewal was *begun*, in nanoseconds of [`boot_time`].
    renewed: AtomicU64,
    /// How far the database's clock has moved away from this machine's steady clock since the node
    /// was registered, in milliseconds.
    drift_ms: AtomicI64,
    /// True if an operator has drained the node.
    is_drained: AtomicBool,
    is_ended: Mutex<bool>,
    ended: Condvar,
}

/// Nanoseconds since this machine was started. They advance while the machine is suspended.
fn boot_time() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32).as_nanos() as u64
}

impl Heartbeat {
    /// Registers the node, and renews its lease until this is dropped.
    pub(super) fn start(
        database: &Database,
        ownership: &Arc<Ownership>,
    ) -> Result<Heartbeat, LogError> {
        let begun = boot_time();
        let failed = |error: postgres::Error| database.failure("register in", &error);
        let mut client = database.connect().map_err(failed)?;
        register(&mut client, &ownership.node).map_err(failed)?;
        client.batch_execute(NOT_DURABLE).map_err(failed)?;
        let shared = Arc::new(Shared {
            renewed: AtomicU64::new(begun),
            drift_ms: AtomicI64::new(0),
            is_drained: AtomicBool::new(ownership.node.drained),
            is_ended: Mutex::new(false),
            ended: Condvar::new(),
        });
        let (own, ownership) = (Arc::clone(&shared), Arc::clone(ownership));
        let place = database.clone();
        let thread = thread::Builder::new()
            .name("log-lease".to_owned())
            .spawn(move || own.renew_until_ended(client, &place, &ownership))
            .map_err(|error| LogError::io("start a thread for", database.label(), &error))?;
        Ok(Heartbeat { shared, thread: Some(thread) })
    }

    /// How old the lease is at most.
    pub(super) fn age(&self) -> Duration {
        let renewed = self.shared.renewed.load(Ordering::Acquire);
        Duration::from_nanos(boot_time().saturating_sub(renewed))
    }

    /// Returns whether an operator has drained the node.
    pub(super) fn is_drained(&self) -> bool {
        self.shared.is_drained.load(Ordering::Relaxed)
    }

    /// How far the database's clock has moved away from this machine's since the start.
    pub(super) fn drift_ms(&self) -> i64 {
        self.shared.drift_ms.load(Ordering::Relaxed)
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        *self.shared.lock() = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported any panic of the thread.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn renew_until_ended(&self, client: Client, database: &Database, ownership: &Ownership) {
        let mut client = Some(client);
        let pause = ownership.node.lease / BEATS_PER_LEASE;
        let (mut has_failed, mut clocks) = (false, ClockComparison::default());
        loop {
            let waiting = self.ended.wait_timeout_while(self.lock(), pause, |is_ended| !*is_ended);
            if *waiting.unwrap_or_else(PoisonError::into_inner).0 {
                break;
            }
            let begun = boot_time();
            match renew(&mut client, database, ownership) {
                Ok((Some(drained), database_ms)) => {
                    self.renewed.store(begun, Ordering::Release);
                    self.is_drained.store(drained, Ordering::Relaxed);
                    let drift_ms = clocks.note(database_ms, (begun, boot_time()));
                    self.drift_ms.store(drift_ms, Ordering::Relaxed);
                }
                Ok((None, _)) => {
                    tracing::warn!("node {} is no longer registered", ownership.node.id)
                }
                Err(error) if !has_failed => {
                    tracing::warn!("failed to renew the lease: {}", describe(&error));
                    has_failed = true;
                    continue;
                }
                Err(_) => continue,
            }
            has_failed = false;
        }
        // A clean end frees the cells at once. After a failure the lease expires by itself.
        if let Some(mut client) = client {
            let _ = client.execute(UNREGISTER, &[&ownership.node.id]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that moves away by more than this is reported.
const DRIFT_MS_MAX: u64 = 1_000;

/// An answer that took longer says too little about the time.
const COMPARISON_MAX: Duration = Duration::from_millis(300);

/// Compares the database's clock with the steady clock of this machine. A server sets its own clock
/// by the database once, when it takes the log over, and goes on by its steady clock.
#[derive(Default)]
struct ClockComparison {
    /// The first difference of both clocks.
    first_ms: Option<i64>,
    drift_ms: i64,
    /// The drift that was reported last.
    reported_ms: i64,
}

impl ClockComparison {
    /// Notes the database's time in an answer that came between two times of this machine. Returns
    /// how far the clocks have moved apart.
    fn note(&mut self, database_ms: i64, (asked, answered): (u64, u64)) -> i64 {
        let took = Duration::from_nanos(answered.saturating_sub(asked));
        if took > COMPARISON_MAX {
            return self.drift_ms;
        }
        let middle_ms = Duration::from_nanos(asked + (answered - asked) / 2).as_millis() as i64;
        let difference_ms = database_ms - middle_ms;
        self.drift_ms = difference_ms - *self.first_ms.get_or_insert(difference_ms);
        if self.drift_ms.abs_diff(self.reported_ms) > DRIFT_MS_MAX {
            self.reported_ms = self.drift_ms;
            tracing::warn!(
                drift_ms = self.drift_ms,
                "the database's clock and this machine's have moved apart; check both"
            );
        }
        self.drift_ms
    }
}

/// Losing a heartbeat only makes the lease look older, which is safe. So heartbeats do not wait for
/// the disk.
const NOT_DURABLE: &str = "SET synchronous_commit = off";

fn register(client: &mut Client, node: &Node) -> Result<(), postgres::Error> {
    client.execute(FORGET, &[])?;
    let Node { id, address, version, drained, .. } = node;
    let log_version = i64::from(node.log_version);
    client.execute(REGISTER, &[id, address, version, &log_version, drained]).map(|_| ())
}

/// Renews the lease, and forgets the cells that other nodes have claimed. Returns whether the node
/// is registered and drained, and the database's time in milliseconds since 1970.
fn renew(
    client: &mut Option<Client>,
    database: &Database,
    ownership: &Ownership,
) -> Result<(Option<bool>, i64), postgres::Error> {
    let client = match client {
        Some(client) if !client.is_closed() => client,
        place => {
            let mut client = database.connect()?;
            client.batch_execute(NOT_DURABLE)?;
            place.insert(client)
        }
    };
    let owned: Vec<(String, u64)> =
        ownership.epochs().iter().map(|(cell, epoch)| (cell.clone(), *epoch)).collect();
    let cells: Vec<&str> = owned.iter().map(|(cell, _)| cell.as_str()).collect();
    let epochs: Vec<i64> = owned.iter().map(|(_, epoch)| epoch.cast_signed()).collect();
    let row = client.query_one(RENEW, &[&ownership.node.id, &cells, &epochs])?;
    let held: Vec<String> = row.get(1);
    for (cell, epoch) in &owned {
        if !held.contains(cell) {
            ownership.lose(cell, *epoch);
        }
    }
    Ok((row.get(0), row.get(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn clocks_that_move_apart_are_noticed() {
        let mut clocks = ClockComparison::default();
        assert_eq!(clocks.note(1_000_000, (5_000 * MS, 5_010 * MS)), 0, "the first comparison");
        assert_eq!(clocks.note(1_000_250, (5_250 * MS, 5_270 * MS)), -5);
        assert_eq!(clocks.note(1_003_500, (5_500 * MS, 5_510 * MS)), 3_000);
        assert_eq!(clocks.reported_ms, 3_000);
        // A slow answer says nothing.
        assert_eq!(clocks.note(1_009_000, (6_000 * MS, 8_000 * MS)), 3_000);
        assert_eq!(clocks.note(1_004_000, (9_000 * MS, 9_010 * MS)), 0, "it was set back");
        assert_eq!(clocks.reported_ms, 0);
    }
}
