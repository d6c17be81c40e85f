//! The arguments of `agon log`.

use crate::exit;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    pub(crate) command: LogCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum LogCommand {
    /// Check every record: is it complete, unchanged, and consistent with the others?
    Check(LogCheckArgs),
    /// Report what can be saved of a damaged log; with --apply, replace the log by it.
    Repair(LogRepairArgs),
    /// Copy the log as it is now and check the copy. The server may run meanwhile.
    Backup(LogBackupArgs),
    /// Copy the log of a stopped server into an empty PostgreSQL database, for `agon serve --store`.
    Import(LogImportArgs),
}

const CHECK_HELP: &str = "\
The command checks pages, checksums, numbering, JSON and event types, folds every stream, and
compares the lobby, tournaments and matches with each other. `agon verify` checks another question:
whether every die and result follows from the rules. The server may run meanwhile.

Code 0: the log is sound. Code 5: it is damaged, and the output names the first bad record.";

#[derive(Args, Debug)]
#[command(after_help = check_help())]
pub(crate) struct LogCheckArgs {
    /// The folder of a server or a run, or a database (*.sqlite).
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Print the findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn check_help() -> String {
    format!("{CHECK_HELP}\n\n{}", exit::HELP)
}

const REPAIR_HELP: &str = "\
Without --apply it changes nothing: it reports what it would keep and lose, and exits with code 5 if
anything is wrong. If you have a backup of the log, restoring it may lose less.

With --apply the server must be stopped. The damaged log stays: a database as agon.sqlite.damaged-1,
files of a run as NAME.jsonl.damaged-1. The new log contains
- of every stream, all decisions before the first bad one;
- of a running tournament, everything before the first lost result; it continues from there;
- of a finished tournament, all or nothing; the lobby still knows who won;
- nothing that the lobby no longer knows, if the end of its stream is lost.

If acknowledged records are missing at the end of the log, a server does not start. It reports how
many are missing. --apply accepts the loss: the server then continues from what is left, or starts
empty.";

#[derive(Args, Debug)]
#[command(after_help = repair_help())]
pub(crate) struct LogRepairArgs {
    /// The folder of a server or a run, or a database (*.sqlite).
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Replace the log. The damaged one stays beside the new one.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Print what is kept and what is lost as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn repair_help() -> String {
    format!("{REPAIR_HELP}\n\n{}", exit::HELP)
}

#[derive(Args, Debug)]
#[command(after_help = exit::HELP)]
pub(crate) struct LogImportArgs {
    /// The folder of a server, or its database (*.sqlite).
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// The database: postgres://USER:PASSWORD@HOST:5432/DATABASE.
    #[arg(value_name = "URL")]
    pub(crate) to: String,
    /// Print what was copied as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = exit::HELP)]
pub(crate) struct LogBackupArgs {
    /// The folder of a server or a run, or a database (*.sqlite, or postgres://…).
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// A new or empty folder. `agon serve --data TO` can start from it.
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Print what was copied as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
