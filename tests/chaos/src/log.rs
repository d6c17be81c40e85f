//! The log of a run: a file, or a database that several nodes share.

use anyhow::{Context, Result};
use postgres::NoTls;
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::path::PathBuf;

/// How many records are read from a database at a time.
const PAGE: i64 = 10_000;

/// Where a log is.
#[derive(Clone, Debug)]
pub(crate) enum LogPlace {
    /// The folder of a server.
    Folder(PathBuf),
    /// The address of a database.
    Database(String),
}

impl LogPlace {
    /// How `agon verify` names it.
    pub(crate) fn argument(&self) -> OsString {
        match self {
            LogPlace::Folder(data) => data.into(),
            LogPlace::Database(url) => url.into(),
        }
    }

    /// Passes every record, as lines of text, in the order in which they were written.
    pub(crate) fn each(&self, mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
        match self {
            LogPlace::Folder(data) => {
                let path = data.join("agon.sqlite");
                let db = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
                    .with_context(|| format!("failed to open {}", path.display()))?;
                let mut rows = db.prepare("SELECT lines FROM records ORDER BY id")?;
                let mut rows = rows.query([])?;
                while let Some(row) = rows.next()? {
                    take(&row.get::<_, String>(0)?)?;
                }
                Ok(())
            }
            LogPlace::Database(url) => {
                let mut client = postgres::Client::connect(url, NoTls).context("the database")?;
                let next = "SELECT id, lines FROM agon.records WHERE id > $1 ORDER BY id LIMIT $2";
                let mut last = 0_i64;
                loop {
                    let rows = client.query(next, &[&last, &PAGE])?;
                    let Some(end) = rows.last() else { return Ok(()) };
                    last = end.get(0);
                    for row in &rows {
                        take(row.get(1))?;
                    }
                }
            }
        }
    }
}
