//! `agon log import`: a log of one machine moves into a database that several nodes share.

use super::copy::Copier;
use super::{LogLocation, count};
use crate::args::log::LogImportArgs;
use crate::command::serve::store::{next_step, this_node};
use crate::command::source::address_of;
use crate::exit::{Exit, Misuse};
use agon_store::{Claim, Log, LogError, PostgresLog, SqliteLog, without_password};
use anyhow::Result;

pub(super) fn import(args: &LogImportArgs) -> Result<Exit> {
    let LogLocation::Database(path) = LogLocation::find(&args.data)? else {
        let data = args.data.display();
        let why = format!("{data} is not the folder of a server; only its log can be imported");
        return Err(Misuse(why).into());
    };
    let Some(url) = address_of(args.to.as_ref()) else {
        let why = "give the database as postgres://USER:PASSWORD@HOST:5432/DATABASE";
        return Err(Misuse(why.to_owned()).into());
    };
    // Opened for writing, although it is only read: a server that runs would add to it.
    let from = SqliteLog::open(&path)?;
    let explained = |error: LogError| {
        let words = format!("{error}; {}", next_step(&error));
        anyhow::Error::new(error).context(words)
    };
    let to = PostgresLog::open(url, this_node("import".to_owned()), |_| PostgresLog::WHOLE)
        .map_err(explained)?;
    match to.claim(PostgresLog::WHOLE).map_err(explained)? {
        Claim::Owned(_) => {}
        Claim::Taken { owner } => {
            let why = format!("node {owner} uses the database; stop it, or give another database");
            return Err(Misuse(why).into());
        }
        Claim::Newer { .. } => {
            let why = "the database has a log of a newer version already; give an empty database";
            return Err(Misuse(why.to_owned()).into());
        }
    }
    to.raise_log_version().map_err(explained)?;
    if !to.streams().map_err(explained)?.is_empty() {
        let why = "the database has a log already; give an empty database";
        return Err(Misuse(why.to_owned()).into());
    }
    let (streams, events) = Copier::new(&to).copy_all(&from)?;
    let label = without_password(url);
    if args.json {
        let text = serde_json::json!({"to": label, "streams": streams, "events": events});
        super::super::print(&format!("{text}\n"))?;
    } else {
        let streams = count(streams, "stream", "streams");
        let events = count(events, "event", "events");
        let text = format!(
            "Imported: {streams}, {events}; {label}\nVerify it with `agon verify`, and start the \
             servers with `--store` from now on.\n"
        );
        super::super::print(&text)?;
    }
    Ok(Exit::Success)
}
