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
}

const CHECK_HELP: &str = "\
Looks at pages, checksums, numbering, JSON and vocabulary, folds every machine, and compares what
the lobby, tournaments and matches say of each other. Whether every die and result follows from the
rules is another question: `agon verify`. A server may go on running meanwhile.

Code 0: the log is sound. Code 5: it is damaged; the first bad record is named.";

#[derive(Args, Debug)]
#[command(after_help = check_help())]
pub(crate) struct LogCheckArgs {
    /// The folder of a server or of a run, or a database (*.sqlite).
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
Without --apply nothing is changed: it says what would be kept and what would be lost, and ends with
code 5 if anything is wrong. If there is a copy of the log, putting it back may lose less.

With --apply the server must be stopped. What is damaged stays: the database as
agon.sqlite.damaged-1, files of a run as NAME.jsonl.damaged-1. In its place comes
- of every stream, all decisions before the first bad one;
- of a tournament that runs, only what its matches still show: it is cut back to before the first
  result that is lost, and goes on from there;
- of a tournament that is over, all or nothing: who won stays in the lobby;
- nothing that the lobby, where its end is lost, does not know of any more.

Where acknowledged records are gone from the end of the log, a server refuses to start. It says how many,
and --apply accepts that: the server goes on from what is left, or from nothing.";

#[derive(Args, Debug)]
#[command(after_help = repair_help())]
pub(crate) struct LogRepairArgs {
    /// The folder of a server or of a run, or a database (*.sqlite).
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
pub(crate) struct LogBackupArgs {
    /// The folder of a server or of a run, or a database (*.sqlite).
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// A new or empty folder. `agon serve --data TO` can start from it.
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Print what was copied as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
