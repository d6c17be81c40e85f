//! The log of a server: a file on this machine, or a database that several nodes share.
//!
//! Of the nodes that share a database, one owns the log and has the lobby. The others stand by:
//! they claim the log when the owner has released it or its lease has expired. If the nodes share a
//! bus too, those that stand by play tournaments that the owner lends them, and relay their players
//! to it. Without a bus they reject players.

use super::{LOG_FILE, explained};
use crate::config::serve::Serve;
use agon_core::LOG_VERSION;
use agon_server::{
    BusInbox, CellsNode, Handle, NodeLinks, RelayPort, ServerError, StandbyListener,
};
use agon_store::{
    Claim, LeaseCandidate, Log, LogError, Node, NodeRow, PostgresLog, SqliteLog, patience,
};
use anyhow::{Context, Result};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::signal::unix::Signal;
use tokio::sync::watch;

/// How long an owner may miss its heartbeats before another node claims the log.
pub(crate) const LEASE: Duration = Duration::from_millis(1500);

/// How often a node that stands by tries to claim the log.
const CLAIM_PAUSE: Duration = Duration::from_millis(250);

/// Why a server that starts does not answer yet.
pub(super) const STARTING: &str = "the server is starting: it reads its log";

/// A node until it owns the log.
pub(super) struct Standby<'a> {
    /// Its address for players.
    pub(super) address: String,
    pub(super) listeners: Vec<StandbyListener<'a>>,
    /// Carries connections to the node with the lobby, or rejects them.
    pub(super) relay: Option<Arc<RelayPort>>,
    /// The reason in answers to HTTP requests.
    pub(super) reason: &'a watch::Sender<&'static str>,
    /// True if the node waits for a database that does not answer.
    pub(super) rejoins: bool,
    /// True if an operator drained the node before it started again.
    pub(super) drained: bool,
}

/// The log of this server, and the links to other nodes if it shares its work.
pub(super) struct OpenLog {
    pub(super) log: Arc<dyn Log>,
    /// The same, if several nodes share it.
    pub(super) shared: Option<Arc<PostgresLog>>,
    /// The newest version of records that may be written.
    pub(super) log_version: u32,
    /// The name of this node.
    pub(super) node: String,
    pub(super) nodes: Option<Nodes>,
}

/// The other nodes of the owner of a log.
pub(super) struct Nodes {
    pub(super) links: Arc<NodeLinks>,
    /// How many of them have joined already.
    pub(super) joined: u16,
}

/// Opens the log, and waits until this node owns it; `None` if a signal comes first. Meanwhile the
/// node plays tournaments that the owner lends it, if there is a bus.
pub(super) async fn open(
    settings: &Serve,
    standby: Standby<'_>,
    signals: &mut (Signal, Signal),
    pages: &tokio::runtime::Handle,
) -> Result<Option<OpenLog>> {
    let Some(url) = &settings.store else {
        let log = open_folder(&settings.data)?;
        let log_version = settings.settings.log_version;
        let node = String::new();
        return Ok(Some(OpenLog { log, shared: None, log_version, node, nodes: None }));
    };
    let Standby { address, listeners, relay, reason, rejoins, drained } = standby;
    let relay = relay.context("a node with a shared log relays or rejects connections")?;
    reason.send_replace("this node stands by: another one plays, or there is no database");
    let mut standing = None;
    let owned = tokio::select! {
        owned = async {
            let log_version = settings.settings.log_version;
            let own = Node { log_version, drained, ..this_node(address) };
            let log = connect(url, own, rejoins).await?;
            let relay = Arc::clone(&relay);
            let standing = standing.insert(StandingBy::start(log, relay, settings, pages));
            claim(standing, log_version).await
        } => owned.map(|()| true),
        () = Arc::clone(&relay).serve(&listeners) => unreachable!("it never ends"),
        _ = signals.0.recv() => Ok(false),
        _ = signals.1.recv() => Ok(false),
    };
    let Some(StandingBy { log, node, cells, .. }) = standing else { return owned.map(|_| None) };
    // The tournaments of this node are durable before another one, or this one, resumes them.
    let inbox = tokio::task::block_in_place(|| {
        let owns_log = matches!(owned, Ok(true));
        if owns_log {
            relay.end()
        } else {
            relay.stop()
        }
        cells.map(CellsNode::stop)
    });
    if !owned? {
        return Ok(None);
    }
    reason.send_replace(STARTING);
    let taking = Arc::clone(&log);
    let name = node.clone();
    let taken = blocking(move || own(&taking, name, inbox)).await?;
    let (log_version, nodes) =
        taken.map_err(|error| explained(ServerError::Log(error), &settings.data))?;
    Ok(Some(OpenLog { log: log.clone(), shared: Some(log), log_version, node, nodes }))
}

/// How often the owner of the log looks whether all nodes read a newer version of records.
const VERSION_PAUSE: Duration = Duration::from_secs(1);

/// Lets the engine write records of a newer version, once all nodes read them.
pub(super) async fn raise_log_version(log: Weak<PostgresLog>, handle: Handle, mut known: u32) {
    while known < LOG_VERSION {
        tokio::time::sleep(VERSION_PAUSE).await;
        let Some(log) = log.upgrade() else { return };
        // A database that does not answer now is asked again.
        if let Ok(Ok(Some(version))) = blocking(move || log.raise_log_version()).await
            && version > known
        {
            tracing::info!(version, "all nodes read records of a newer version; they are used now");
            handle.set_log_version(version);
            known = version;
        }
    }
}

/// Takes back all tournaments that earlier owners of the log have lent, and waits a moment for the
/// offers of other nodes. Returns the newest version of records that may be written, too.
fn own(
    log: &Arc<PostgresLog>,
    node: String,
    inbox: Option<BusInbox>,
) -> Result<(u32, Option<Nodes>), LogError> {
    log.take_back(None)?;
    // Without an answer the node has lost the log, which its engine notices.
    let version = log.raise_log_version()?.unwrap_or(1);
    let Some(inbox) = inbox else { return Ok((version, None)) };
    let may_join = |other: &&NodeRow| {
        // The row of an owner that was killed is still there.
        let is_there = other.age < patience(LEASE, true) && other.id != node;
        is_there && !other.drained && other.log_version >= version
    };
    let others = log.nodes()?.iter().filter(may_join).count();
    let links = NodeLinks::start(node, inbox, Arc::clone(log));
    let joined = links.gather(others);
    Ok((version, Some(Nodes { links, joined })))
}

/// A node that waits for the log.
struct StandingBy {
    log: Arc<PostgresLog>,
    node: String,
    /// The node's part as one that owns tournaments, if there is a bus.
    cells: Option<CellsNode>,
    relay: Arc<RelayPort>,
}

impl StandingBy {
    fn start(
        log: Arc<PostgresLog>,
        relay: Arc<RelayPort>,
        settings: &Serve,
        pages: &tokio::runtime::Handle,
    ) -> StandingBy {
        let node = log.lease().map(|lease| lease.node).unwrap_or_default();
        let meters = Arc::clone(relay.standing());
        meters.note_log(&log);
        let cells = settings.bus.as_ref().map(|(address, _)| {
            relay.start(address.clone(), node.clone());
            let inbox = BusInbox::connect(address.clone(), &node);
            let (games, own) = (agon_analysis::registry(), settings.settings.clone());
            let (name, log, pages) = (node.clone(), Arc::clone(&log), pages.clone());
            CellsNode::start(name, inbox, log, games, own, pages, meters)
        });
        StandingBy { log, node, cells, relay }
    }
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

/// Waits until this node owns the log.
async fn claim(standing: &StandingBy, own: u32) -> Result<()> {
    let StandingBy { log, cells, relay, .. } = standing;
    let asked = Arc::clone(log);
    let has_standby = blocking(move || asked.has_synchronous_standby()).await?;
    if let Ok(false) = has_standby {
        tracing::warn!(
            "the database has no synchronous standby: if its disk is lost, so are records that \
             players were told; docs/cluster.md says how to add one"
        );
    }
    let (mut owner, mut has_failed, mut newest) = (String::new(), false, None);
    let mut was_drained = false;
    let (begun, mut candidate) = (Instant::now(), LeaseCandidate::default());
    loop {
        if log.is_drained() != was_drained {
            was_drained = !was_drained;
            match was_drained {
                true => tracing::warn!("an operator has drained this node; it takes no work"),
                false => tracing::info!("this node takes work again"),
            }
        }
        if was_drained {
            candidate.tried(begun.elapsed(), false);
            tokio::time::sleep(CLAIM_PAUSE).await;
            continue;
        }
        let claiming = Arc::clone(log);
        let absent = cells.as_ref().and_then(CellsNode::absent_owner);
        let has_left = absent.is_some();
        let may_steal = |has_left| candidate.may_steal(begun.elapsed(), patience(LEASE, has_left));
        let (any, absent) = (may_steal(false), absent.filter(|_| may_steal(true)));
        let claim = blocking(move || claiming.claim_as(PostgresLog::WHOLE, any, absent.as_deref()));
        let claim = claim.await?;
        candidate.tried(begun.elapsed(), claim.is_ok());
        if let Ok(Claim::Newer { version, .. }) = &claim
            && newest != Some(*version)
        {
            newest = Some(*version);
            tracing::error!(
                log_version = version,
                own,
                "the log has records that this node cannot read; it never plays. Upgrade it"
            );
        }
        match claim {
            Ok(Claim::Owned(epoch)) => {
                tracing::info!(epoch, "this node owns the log");
                return Ok(());
            }
            Ok(Claim::Taken { owner: other } | Claim::Newer { owner: other, .. })
                if other != owner =>
            {
                tracing::info!(owner = other, "another node plays; this one stands by");
                relay.follow(&other);
                cells.iter().for_each(|cells| cells.follow(&other));
                owner = other;
            }
            Ok(Claim::Taken { .. } | Claim::Newer { .. }) => has_failed = false,
            Err(error) if !has_failed => {
                tracing::warn!(%error, "the database does not answer; this node stands by");
                has_failed = true;
            }
            Err(_) => {}
        }
        tokio::time::sleep(if has_left { CLAIM_PAUSE / 5 } else { CLAIM_PAUSE }).await;
    }
}

async fn connect(url: &str, own: Node, rejoins: bool) -> Result<Arc<PostgresLog>> {
    let mut has_failed = false;
    loop {
        let (url, node) = (url.to_owned(), own.clone());
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
        log_version: LOG_VERSION,
        drained: false,
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
