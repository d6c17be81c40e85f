//! `agon cluster`: the nodes that share a database, and which of them plays.

use super::serve::store::{LEASE, next_step};
use crate::args::cluster::{ClusterArgs, ClusterCommand, ClusterStatusArgs, StoreArgs};
use crate::exit::{Exit, Misuse};
use agon_store::{CellRow, LogError, NodeRow, PostgresLog};
use anyhow::Result;
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};

/// How long the node that plays has to take an order.
const ORDER_WAIT: Duration = Duration::from_secs(5);

/// How often to look whether an order was taken.
const ORDER_PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn cluster(args: &ClusterArgs) -> Result<Exit> {
    match &args.command {
        ClusterCommand::Status(args) => status(args),
        ClusterCommand::Drain(args) => drain(&args.node, &args.store),
        ClusterCommand::Undrain(args) => undrain(&args.node, &args.store),
        ClusterCommand::Move(args) => {
            let log = open(&args.store)?;
            match args.order() {
                (None, node) => hand_over(&log, node),
                (Some(tournament), node) => move_tournament(&log, tournament, node),
            }
        }
    }
}

/// An error of the database with what to do about it.
fn explained(error: LogError) -> anyhow::Error {
    let words = format!("{error}; {}", next_step(&error));
    anyhow::Error::new(error).context(words)
}

fn open(args: &StoreArgs) -> Result<PostgresLog> {
    PostgresLog::open_read_only(&args.store).map_err(explained)
}

/// Gives the log of a node to another one, if it plays.
fn drain(node: &str, args: &StoreArgs) -> Result<Exit> {
    let log = open(args)?;
    let (nodes, cells) = (log.nodes().map_err(explained)?, log.cells().map_err(explained)?);
    if !nodes.iter().any(|known| known.id == node) {
        return Err(unknown(node));
    }
    if plays(node, &cells) {
        let others = nodes.iter().filter(|other| other.id != node && !other.drained);
        let Some(next) = others.min_by_key(|other| other.age) else {
            let why = format!("{node} is the only node that takes work; start another one first");
            return Err(Misuse(why).into());
        };
        mark_drained(&log, node)?;
        hand_over(&log, &next.id)?;
    } else {
        mark_drained(&log, node)?;
        let loan = format!("cells/{node}");
        let is_over = || Ok(!log.cells()?.iter().any(|cell| cell.id == loan));
        if !wait_for(is_over).map_err(explained)? {
            let why = "its tournaments have not gone to other nodes yet";
            anyhow::bail!(
                "{node} is drained, but {why}; `agon cluster status` shows when they have"
            );
        }
    }
    let next = format!("It takes no work until it is restarted, or `agon cluster undrain {node}`.");
    super::print(&format!("{node} is drained. {next}\n"))?;
    Ok(Exit::Success)
}

/// Marks a node as drained, and waits until it knows, or is silent.
fn mark_drained(log: &PostgresLog, node: &str) -> Result<()> {
    if !log.set_drained(node, true).map_err(explained)? {
        return Err(unknown(node));
    }
    let marked = Instant::now();
    wait_for(|| {
        let nodes = log.nodes()?;
        Ok(nodes.iter().all(|known| known.id != node || known.age < marked.elapsed()))
    })
    .map_err(explained)?;
    Ok(())
}

/// Waits for something, for as long as an order may take; returns whether it is so.
fn wait_for(is_so: impl Fn() -> Result<bool, LogError>) -> Result<bool, LogError> {
    let give_up = Instant::now() + ORDER_WAIT;
    while !is_so()? {
        if Instant::now() >= give_up {
            return Ok(false);
        }
        thread::sleep(ORDER_PAUSE);
    }
    Ok(true)
}

/// Lets a drained node take work again.
fn undrain(node: &str, args: &StoreArgs) -> Result<Exit> {
    if !open(args)?.set_drained(node, false).map_err(explained)? {
        return Err(unknown(node));
    }
    super::print(&format!("{node} takes work again.\n"))?;
    Ok(Exit::Success)
}

fn hand_over(log: &PostgresLog, node: &str) -> Result<Exit> {
    let cells = log.cells().map_err(explained)?;
    if plays(node, &cells) {
        super::print(&format!("{node} plays already.\n"))?;
        return Ok(Exit::Success);
    }
    if !log.hand_over(PostgresLog::WHOLE, node, LEASE).map_err(explained)? {
        let nodes = log.nodes().map_err(explained)?;
        let is_there = nodes.iter().any(|known| known.id == node && known.age < LEASE);
        let why = "is drained, or cannot read the log's newest records; see `agon cluster status`";
        return Err(match is_there {
            true => Misuse(format!("{node} {why}")).into(),
            false => unknown(node),
        });
    }
    super::print(&format!("{node} takes over.\n"))?;
    Ok(Exit::Success)
}

/// Has the node that plays move a tournament to another node.
fn move_tournament(log: &PostgresLog, tournament: &str, node: &str) -> Result<Exit> {
    let running = log.running_tournaments().map_err(explained)?;
    let Some((_, owner)) = running.iter().find(|(id, _)| id == tournament) else {
        let why = format!("no tournament {tournament:?} runs");
        return Err(Misuse(format!("{why}; `agon cluster status --json` lists them")).into());
    };
    if owner == node {
        super::print(&format!("{tournament} is at {node} already.\n"))?;
        return Ok(Exit::Success);
    }
    let nodes = log.nodes().map_err(explained)?;
    if !nodes.iter().any(|known| known.id == node && known.age < LEASE) {
        return Err(unknown(node));
    }
    log.order_move(tournament, node).map_err(explained)?;
    let give_up = Instant::now() + ORDER_WAIT;
    while log.is_move_ordered(tournament).map_err(explained)? {
        if Instant::now() >= give_up && log.cancel_move(tournament).map_err(explained)? {
            let why = "no node has taken the order: tournaments move only between nodes with a bus";
            anyhow::bail!("{why} (agon serve --bus); `agon cluster status` shows who plays");
        }
        thread::sleep(ORDER_PAUSE);
    }
    super::print(&format!("{tournament} moves to {node}.\n"))?;
    Ok(Exit::Success)
}

fn unknown(node: &str) -> anyhow::Error {
    let why = format!("no node {node:?} is there; `agon cluster status` lists the nodes");
    Misuse(why).into()
}

/// Returns whether a node owns the log.
fn plays(node: &str, cells: &[CellRow]) -> bool {
    let lobby = |cell: &&CellRow| cell.id == PostgresLog::WHOLE;
    cells.iter().find(lobby).is_some_and(|cell| cell.owner.as_deref() == Some(node))
}

/// The role of a node. A node that stands by may own tournaments.
fn role(node: &NodeRow, cells: &[CellRow]) -> &'static str {
    match (node.age < LEASE, plays(&node.id, cells)) {
        (true, true) => "plays",
        (true, false) if node.drained => "drained",
        (true, false) => "stands by",
        (false, _) => "silent",
    }
}

/// The version of the log's records, and the nodes that cannot read it.
fn versions(nodes: &[NodeRow], cells: &[CellRow]) -> String {
    let lobby = cells.iter().find(|cell| cell.id == PostgresLog::WHOLE);
    let Some(version) = lobby.map(|cell| cell.log_version) else { return String::new() };
    let older = nodes.iter().filter(|node| node.log_version < version);
    let older: Vec<&str> = older.map(|node| node.id.as_str()).collect();
    match older.is_empty() {
        true => format!("The log has records up to version {version}.\n"),
        false => format!(
            "The log has records up to version {version}, which these nodes cannot read: {}.\n",
            older.join(", ")
        ),
    }
}

fn status(args: &ClusterStatusArgs) -> Result<Exit> {
    let log = open(&args.store)?;
    let (nodes, cells) = (log.nodes().map_err(explained)?, log.cells().map_err(explained)?);
    let has_standby = log.has_synchronous_standby().map_err(explained)?;
    let running = log.running_tournaments().map_err(explained)?;
    let of_node = |node: &NodeRow| -> Vec<&str> {
        let own = running.iter().filter(|(_, owner)| *owner == node.id);
        own.map(|(id, _)| id.as_str()).collect()
    };
    if args.json {
        let nodes: Vec<_> = nodes
            .iter()
            .map(|node| {
                json!({
                    "node": node.id,
                    "role": role(node, &cells),
                    "address": node.address,
                    "version": node.version,
                    "log_version": node.log_version,
                    "tournaments": of_node(node),
                    "heartbeat_age_ms": node.age.as_millis() as u64,
                })
            })
            .collect();
        let lobby = cells.iter().find(|cell| cell.id == PostgresLog::WHOLE);
        let text = json!({
            "nodes": nodes,
            "claims": lobby.map(|cell| cell.epoch),
            "log_version": lobby.map(|cell| cell.log_version),
            "synchronous_standby": has_standby,
        });
        super::print(&format!("{text}\n"))?;
        return Ok(Exit::Success);
    }
    let width = nodes.iter().map(|node| node.id.len()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:<width$}  {:<9}  {:<21}  {:<7}  {:<11}  heartbeat\n",
        "node", "role", "players", "version", "tournaments"
    );
    for node in &nodes {
        let (role, age) = (role(node, &cells), node.age.as_secs_f64());
        let NodeRow { id, address, version, .. } = node;
        let own = of_node(node).len();
        text += &format!(
            "{id:<width$}  {role:<9}  {address:<21}  {version:<7}  {own:<11}  {age:.1} s ago\n"
        );
    }
    text += &versions(&nodes, &cells);
    text += match has_standby {
        true => "The database has a synchronous standby.\n",
        false => "The database has NO synchronous standby; see docs/cluster.md.\n",
    };
    super::print(&text)?;
    Ok(Exit::Success)
}
