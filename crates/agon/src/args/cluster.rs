//! The arguments of `agon cluster`.

use crate::exit;
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ClusterCommand {
    /// Show the nodes that share a database, and which of them plays.
    Status(ClusterStatusArgs),
    /// Take all work from a node: the lobby, its tournaments, and the connections of its players.
    Drain(ClusterDrainArgs),
    /// Let a drained node take work again.
    Undrain(ClusterUndrainArgs),
    /// Move a running tournament, or the lobby with all players, to a node.
    Move(ClusterMoveArgs),
}

#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// The database of the nodes: postgres://USER:PASSWORD@HOST:5432/DATABASE.
    #[arg(long, value_name = "URL", env = "AGON_STORE", hide_env_values = true)]
    pub(crate) store: String,
}

#[derive(Args, Debug)]
#[command(after_help = exit::HELP)]
pub(crate) struct ClusterStatusArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print the nodes as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const NODE_HELP: &str = "\
Until it is undrained or restarted, the node takes no tournaments and no connections, and it never
plays. Players are disconnected and reconnect to the node that plays now; they get the same requests again.
Nothing is lost, and nobody is charged.";

fn node_help() -> String {
    format!("{NODE_HELP}\n\n{}", exit::HELP)
}

#[derive(Args, Debug)]
#[command(after_help = node_help())]
pub(crate) struct ClusterDrainArgs {
    /// The node, as `agon cluster status` names it.
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Args, Debug)]
#[command(after_help = exit::HELP)]
pub(crate) struct ClusterUndrainArgs {
    /// The node, as `agon cluster status` names it.
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

const MOVE_HELP: &str = "\
Examples:
    agon cluster move spring-cup node-b     node-b owns this tournament from now on
    agon cluster move lobby node-b          node-b plays; the node that played stands by

Players of a tournament keep their connections. With the lobby, all players are
disconnected and reconnect to the node that plays now. In both cases they get the
same requests again. Nothing is lost, and nobody is charged.";

fn move_help() -> String {
    format!("{MOVE_HELP}\n\n{}", exit::HELP)
}

#[derive(Args, Debug)]
#[command(after_help = move_help())]
pub(crate) struct ClusterMoveArgs {
    /// The tournament, or `lobby`. With one word, the lobby moves to that node.
    #[arg(value_name = "CELL")]
    cell: String,
    /// The node, as `agon cluster status` names it.
    #[arg(value_name = "NODE")]
    node: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl ClusterMoveArgs {
    /// The tournament that moves, or `None` for the lobby, and the node.
    pub(crate) fn order(&self) -> (Option<&str>, &str) {
        match &self.node {
            None => (None, &self.cell),
            Some(node) => (Some(self.cell.as_str()).filter(|cell| *cell != "lobby"), node),
        }
    }
}
