//! The log of a server: a file on this machine, or a database that several nodes share.
//!
//! Of the nodes that share a database, one owns the log and plays. The others stand by: they reject
//! players, and claim the log when the owner has released it or its lease has expired.

use super::{LOG_FILE, explained};
use crate::config::serve::Serve;
use agon_server::{ServerError, reject_on_standby};
use agon_store::{Claim, Log, LogError, Node, PostgresLog, SqliteLog};
use anyhow::{Context, Result};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::signal::unix::Signal;
use tokio::sync::watch;

/// How long an owner may miss its heartbeats before another node claims the log.
pub(crate) const LEASE: Duration = Duration::from_millis(1500);

/// How often a node that stands by tries to claim the log.
const CLAIM_PAUSE: Duration = Duration::from_millis(250);

/// Why a server that starts does not answer yet.
pub(super) const STARTING: &str = "the server is starting: it reads its log";

/// The listeners of a node, which reject everybody until the node owns the log.
pub(super) struct Standby<'a> {
    pub(super) tcp: &'a TcpListener,
    pub(super) others: Vec<&'a TcpListener>,
    pub(super) has_tls: bool,
    /// The reason in answers to HTTP requests.
    pub(super) reason: &'a watch::Sender<&'static str>,
    /// Whether the node waits for a database that does not answer.
    pub(super) rejoins: bool,
}

/// Opens the log, and waits until this node owns it; `None` if a signal comes first.
pub(super) async fn open(
    settings: &Serve,
    standby: Standby<'_>,
    signals: &mut (Signal, Signal),
) -> Result<Option<Arc<dyn Log>>> {
    let Some(url) = &settings.store else { return open_folder(&settings.data).map(Some) };
    let Standby { tcp, others, has_tls, reason, rejoins } = standby;
    reason.send_replace("this node stands by: another one plays, or there is no database");
    let address = tcp.local_addr().context("failed to read an address")?.to_string();
    let log = tokio::select! {
        log = open_database(url, address, rejoins) => log?,
        () = reject_on_standby(tcp, &others, has_tls) => unreachable!("it never ends"),
        _ = signals.0.recv() => return Ok(None),
        _ = signals.1.recv() => return Ok(None),
    };
    reason.send_replace(STARTING);
    Ok(Some(log))
}

/// Opens the log in a folder, and creates the folder if necessary.
fn open_folder(dir: &Path) -> Result<Arc<dyn Log>> {
    use std::os::unix::fs::DirBuilderExt;
    // The folder contains password hashes and secrets, so only its owner may read it.
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("failed to make the folder {}", dir.display()))?;
    let log = SqliteLog::open(dir.join(LOG_FILE))
        .map_err(|error| explained(ServerError::Log(error), dir))?;
    Ok(Arc::new(log))
}

/// Opens the log in a database, and waits until this node owns it. A node that `rejoins` waits for
/// the database too.
async fn open_database(url: &str, address: String, rejoins: bool) -> Result<Arc<dyn Log>> {
    let log = connect(url, address, rejoins).await?;
    let asked = Arc::clone(&log);
    let has_standby = blocking(move || asked.has_synchronous_standby()).await?;
    if let Ok(false) = has_standby {
        tracing::warn!(
            "the database has no synchronous standby: if its disk is lost, so are records that \
             players were told; docs/cluster.md says how to add one"
        );
    }
    let (mut owner, mut has_failed) = (String::new(), false);
    // While the database was away, its owner could not renew the lease either. So a node gives the
    // owner the time of a lease, from its own first contact on.
    let mut in_contact_since = None;
    loop {
        let claiming = Arc::clone(&log);
        let may_steal = in_contact_since.is_some_and(|since: Instant| since.elapsed() >= LEASE);
        let claim = blocking(move || match may_steal {
            true => claiming.claim(PostgresLog::WHOLE),
            false => claiming.claim_unowned(PostgresLog::WHOLE),
        });
        let claim = claim.await?;
        in_contact_since = claim.is_ok().then(|| in_contact_since.unwrap_or_else(Instant::now));
        match claim {
            Ok(Claim::Owned(epoch)) => {
                tracing::info!(epoch, "this node owns the log");
                return Ok(log);
            }
            Ok(Claim::Taken { owner: other }) if other != owner => {
                tracing::info!(owner = other, "another node plays; this one stands by");
                owner = other;
            }
            Ok(Claim::Taken { .. }) => has_failed = false,
            Err(error) if !has_failed => {
                tracing::warn!(%error, "the database does not answer; this node stands by");
                has_failed = true;
            }
            Err(_) => {}
        }
        tokio::time::sleep(CLAIM_PAUSE).await;
    }
}

async fn connect(url: &str, address: String, rejoins: bool) -> Result<Arc<PostgresLog>> {
    let mut has_failed = false;
    loop {
        let (url, node) = (url.to_owned(), this_node(address.clone()));
        match blocking(move || PostgresLog::open(&url, node, |_| PostgresLog::WHOLE)).await? {
            Ok(log) => return Ok(Arc::new(log)),
            Err(error) if rejoins && is_away(&error) => {
                if !has_failed {
                    tracing::warn!(%error, "this node waits for the database");
                    has_failed = true;
                }
                tokio::time::sleep(CLAIM_PAUSE).await;
            }
            Err(error) => {
                let words = format!("{error}; {}", next_step(&error));
                return Err(anyhow::Error::new(ServerError::Log(error)).context(words));
            }
        }
    }
}

/// Runs work that blocks. The client of the database may not be used on a thread of the runtime.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.context("the work on the database failed")
}

fn is_away(error: &LogError) -> bool {
    matches!(error, LogError::Io { kind: ErrorKind::NotConnected, .. })
}

/// This process as a node. No other node has its name, not even an earlier process of the same
/// machine or container.
pub(crate) fn this_node(address: String) -> Node {
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let random = RandomState::new().build_hasher().finish() as u16;
    Node {
        id: format!("{machine}-{}-{random:04x}", std::process::id()),
        address,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        lease: LEASE,
    }
}

/// Advice for a database that cannot be used.
pub(crate) fn next_step(error: &LogError) -> &'static str {
    match error {
        LogError::Io { kind: ErrorKind::NotConnected, .. } => {
            "start PostgreSQL, or correct the host and port of the address"
        }
        LogError::Io { kind: ErrorKind::NotFound, .. } => {
            "create the database with `createdb`, or correct its name in the address"
        }
        LogError::Io { kind: ErrorKind::PermissionDenied, .. } => {
            "correct the user and the password of the address, or let the user create a schema"
        }
        LogError::Io { kind: ErrorKind::StorageFull, .. } => {
            "free some space on the disk of the database"
        }
        LogError::Newer { .. } => "upgrade this node",
        _ => "see docs/cluster.md",
    }
}
