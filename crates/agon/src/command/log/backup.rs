//! `agon log backup`: a checked copy of the log at one instant.

use super::copy::Copier;
use super::{LogLocation, count};
use crate::args::log::LogBackupArgs;
use crate::command::source::{Source, address_of};
use crate::exit::{Exit, Misuse};
use agon_store::{Inspector, LogError, SqliteLog};
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

pub(super) fn backup(args: &LogBackupArgs) -> Result<Exit> {
    let place = match address_of(&args.data) {
        Some(_) => None,
        None => Some(LogLocation::find(&args.data)?),
    };
    let to = &args.to;
    let fresh = !to.exists();
    let taken = match fs::read_dir(to) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => to.exists(),
    };
    if taken {
        let why = format!("{} exists already; give a new folder", to.display());
        return Err(Misuse(why).into());
    }
    // The copy contains password hashes and secrets, so only its owner may read it.
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(to)
        .with_context(|| format!("failed to make the folder {}", to.display()))?;
    let copied = match &place {
        Some(place) => copy_all(place, to),
        None => copy_database(&args.data, to),
    };
    if copied.is_err() && fresh {
        // Nobody should mistake half a copy for a whole one.
        let _ = fs::remove_dir_all(to);
    }
    let (streams, events) = copied?;
    if args.json {
        let text = serde_json::json!({"to": to, "streams": streams, "events": events});
        super::super::print(&format!("{text}\n"))?;
    } else {
        let (streams, events) =
            (count(streams, "stream", "streams"), count(events, "event", "events"));
        let text = format!("Copied and checked: {streams}, {events}; {}\n", to.display());
        super::super::print(&text)?;
    }
    Ok(Exit::Success)
}

/// Copies a log; returns the numbers of streams and events.
fn copy_all(place: &LogLocation, to: &Path) -> Result<(u64, u64)> {
    match place {
        LogLocation::Database(path) => {
            let copied = SqliteLog::backup(path, to.join(crate::command::serve::LOG_FILE))?;
            Ok((copied.streams, copied.events))
        }
        LogLocation::Gone(path, acknowledged) => {
            let (path, acknowledged) = (path.clone(), *acknowledged);
            Err(LogError::Lost { path, found: 0, acknowledged }.into())
        }
        LogLocation::Folder(dir) => copy_run(dir, to),
    }
}

/// Copies a log in PostgreSQL into a database file.
fn copy_database(address: &Path, to: &Path) -> Result<(u64, u64)> {
    let from = Source::open(address)?;
    let file = to.join(crate::command::serve::LOG_FILE);
    let copied = Copier::new(&SqliteLog::open(&file)?).copy_all(from.log())?;
    SqliteLog::check(&file)?;
    Ok(copied)
}

/// Copies the folder of a run: other files first, then the tournament, then its matches. This order
/// copies no result without the match behind it.
fn copy_run(dir: &Path, to: &Path) -> Result<(u64, u64)> {
    for entry in fs::read_dir(dir).with_context(|| format!("failed to read {}", dir.display()))? {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if entry.file_type()?.is_file() && !hidden {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    let inspector = Inspector::of_folder(dir)?;
    let mut names = inspector.streams()?;
    names.sort_by_key(|name| (!name.starts_with("tournament/"), name.clone()));
    let mut events = 0;
    for name in &names {
        let found = inspector.inspect(name);
        if let Some(damage) = found.damage.filter(|damage| !damage.torn) {
            let why = format!("{name}, event {}: {}", damage.seq, damage.reason);
            return Err(crate::exit::Unreadable(why).into());
        }
        let path = to.join(format!("{name}.jsonl"));
        let folder = path.parent().context("failed: a stream without a folder")?;
        fs::create_dir_all(folder)?;
        let mut text = found.lines.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        write(&path, text.as_bytes(), 0o644)?;
        events += found.lines.len() as u64;
    }
    Ok((names.len() as u64, events))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("failed to read {}", from.display()))?;
    let mode = fs::metadata(from)?.permissions().mode() & 0o777;
    write(to, &bytes, mode)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    let written = options.write(true).create_new(true).mode(mode).open(path);
    let written = written.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.with_context(|| format!("failed to write {}", path.display()))
}
