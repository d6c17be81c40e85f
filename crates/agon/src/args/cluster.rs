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
}

#[derive(Args, Debug)]
#[command(after_help = exit::HELP)]
pub(crate) struct ClusterStatusArgs {
    /// The database: postgres://USER:PASSWORD@HOST:5432/DATABASE.
    #[arg(value_name = "URL", env = "AGON_STORE", hide_env_values = true)]
    pub(crate) store: String,
    /// Print the nodes as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
