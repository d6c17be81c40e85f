//! `agon cluster`: the nodes that share a database, and which of them plays.

use super::serve::store::{LEASE, next_step};
use crate::args::cluster::{ClusterArgs, ClusterCommand, ClusterStatusArgs, StoreArgs};
use crate::exit::{Exit, Misuse};
use agon_store::{CellRow, LogError, NodeRow, PostgresLog};
use anyhow::Result;
use serde_json::json;

pub(crate) fn cluster(args: &ClusterArgs) -> Result<Exit> {
    match &args.command {
        ClusterCommand::Status(args) => status(args),
        ClusterCommand::Drain(args) => drain(&args.node, &args.store),
        ClusterCommand::Move(args) => {
            let log = open(&args.store)?;
            hand_over(&log, &args.node)
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
    if !cells.iter().any(|cell| cell.owner.as_deref() == Some(node)) {
        super::print(&format!("{node} does not play; stop it at any time.\n"))?;
        return Ok(Exit::Success);
    }
    let next = nodes.iter().filter(|other| other.id != node).min_by_key(|other| other.age);
    match next {
        Some(next) => hand_over(&log, &next.id),
        None => Err(Misuse(format!("{node} is the only node; start another one first")).into()),
    }
}

fn hand_over(log: &PostgresLog, node: &str) -> Result<Exit> {
    let cells = log.cells().map_err(explained)?;
    if cells.iter().any(|cell| cell.owner.as_deref() == Some(node)) {
        super::print(&format!("{node} plays already.\n"))?;
        return Ok(Exit::Success);
    }
    if !log.hand_over(PostgresLog::WHOLE, node, LEASE).map_err(explained)? {
        return Err(unknown(node));
    }
    super::print(&format!("{node} takes over.\n"))?;
    Ok(Exit::Success)
}

fn unknown(node: &str) -> anyhow::Error {
    let why = format!("no node {node:?} is there; `agon cluster status` lists the nodes");
    Misuse(why).into()
}

/// The role of a node.
fn role(node: &NodeRow, cells: &[CellRow]) -> &'static str {
    let owns = cells.iter().any(|cell| cell.owner.as_ref() == Some(&node.id));
    match (node.age < LEASE, owns) {
        (true, true) => "plays",
        (true, false) => "stands by",
        (false, _) => "silent",
    }
}

fn status(args: &ClusterStatusArgs) -> Result<Exit> {
    let log = open(&args.store)?;
    let (nodes, cells) = (log.nodes().map_err(explained)?, log.cells().map_err(explained)?);
    let has_standby = log.has_synchronous_standby().map_err(explained)?;
    if args.json {
        let nodes: Vec<_> = nodes
            .iter()
            .map(|node| {
                json!({
                    "node": node.id,
                    "role": role(node, &cells),
                    "address": node.address,
                    "version": node.version,
                    "heartbeat_age_ms": node.age.as_millis() as u64,
                })
            })
            .collect();
        let take_overs = cells.iter().map(|cell| cell.epoch).max();
        let text =
            json!({"nodes": nodes, "claims": take_overs, "synchronous_standby": has_standby});
        super::print(&format!("{text}\n"))?;
        return Ok(Exit::Success);
    }
    let width = nodes.iter().map(|node| node.id.len()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:<width$}  {:<9}  {:<21}  {:<7}  heartbeat\n",
        "node", "role", "players", "version"
    );
    for node in &nodes {
        let (role, age) = (role(node, &cells), node.age.as_secs_f64());
        let NodeRow { id, address, version, .. } = node;
        text += &format!("{id:<width$}  {role:<9}  {address:<21}  {version:<7}  {age:.1} s ago\n");
    }
    text += match has_standby {
        true => "The database has a synchronous standby.\n",
        false => "The database has NO synchronous standby; see docs/cluster.md.\n",
    };
    super::print(&text)?;
    Ok(Exit::Success)
}
