//! `agon log`: checking, repairing and copying a log.

mod backup;
mod check;
mod copy;
mod import;
mod repair;
mod survey;

use super::source::address_of;
use crate::args::log::{LogArgs, LogCommand};
use crate::exit::{Exit, Misuse, Unreadable};
use agon_store::{Inspector, LogError, SqliteLog};
use anyhow::Result;
use std::path::{Path, PathBuf};

pub(crate) fn log(args: &LogArgs) -> Result<Exit> {
    match &args.command {
        LogCommand::Check(args) => check::check(args),
        LogCommand::Repair(args) => repair::repair(args),
        LogCommand::Backup(args) => backup::backup(args),
        LogCommand::Import(args) => import::import(args),
    }
}

/// Where a log is.
#[derive(Clone, PartialEq, Eq, Debug)]
enum LogLocation {
    /// A server's database.
    Database(PathBuf),
    /// A missing database of a server, and how many records it had acknowledged.
    Gone(PathBuf, u64),
    /// The folder of a run.
    Folder(PathBuf),
}

impl LogLocation {
    fn find(data: &Path) -> Result<LogLocation> {
        if address_of(data).is_some() {
            let why = "this command works on a file; copy the database into one with `agon log \
                       backup` first, or check it with `agon verify`";
            return Err(Misuse(why.to_owned()).into());
        }
        let database = data.join(super::serve::LOG_FILE);
        if database.exists() {
            return Ok(LogLocation::Database(database));
        }
        if data.is_file() {
            return Ok(LogLocation::Database(data.to_owned()));
        }
        if data.join("tournament").is_dir() {
            return Ok(LogLocation::Folder(data.to_owned()));
        }
        if let Some(records) = SqliteLog::acknowledged(&database).filter(|records| *records > 0) {
            return Ok(LogLocation::Gone(database, records));
        }
        let file = super::serve::LOG_FILE;
        let what = format!(
            "{} contains no log (neither {file} of a server nor tournament/ of a run); give the \
             folder of a server or a run",
            data.display()
        );
        Err(Unreadable(what).into())
    }

    fn inspector(&self) -> Result<Inspector> {
        Ok(match self {
            LogLocation::Database(path) => Inspector::of_sqlite(path)?,
            LogLocation::Gone(path, acknowledged) => {
                let (path, acknowledged) = (path.clone(), *acknowledged);
                return Err(LogError::Lost { path, found: 0, acknowledged }.into());
            }
            LogLocation::Folder(dir) => Inspector::of_folder(dir)?,
        })
    }

    fn path(&self) -> &Path {
        match self {
            LogLocation::Database(path)
            | LogLocation::Gone(path, _)
            | LogLocation::Folder(path) => path,
        }
    }
}

fn count(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}
