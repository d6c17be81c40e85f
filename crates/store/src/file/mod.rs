//! The log as a folder of JSON-lines files, one for each stream.
//!
//! Organisers keep these files: each can be read, copied and replayed alone. This module combines
//! the parts: [`files`] manages the streams, [`scan`] reads a file, [`flusher`] and [`writer`]
//! decide when a write is synced.

mod files;
mod flusher;
mod handles;
mod scan;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::append::gather;
use crate::disk::sync_folder;
use crate::group::Group;
use crate::lock::Lock;
use crate::name::check_for_reading;
use crate::{Append, AppendError, Done, DoneAll, Log, LogError, check_stream_name};

use files::Files;
pub use files::Repair;
use flusher::Flusher;
use scan::Check;
pub(crate) use scan::inspect_file;
pub use scan::{FileStream, Torn, read_file, read_stream};

/// The name of the file whose lock prevents a second process from writing.
const LOCK_FILE: &str = ".lock";

/// Which failures an acknowledged append survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sync {
    /// The end of the process at any instant; a failure of the power may cost the last moments
    /// (a sync begins within 200 ms).
    #[default]
    Process,
    /// A failure of the power too: everything is synced before it is answered.
    Always,
}

/// A log in a folder: stream `match/r1m1` is the file `match/r1m1.jsonl` in it.
pub struct FileLog {
    mode: Mode,
    files: Arc<Files>,
}

enum Mode {
    ReadOnly,
    Process(Flusher),
    Always(Group),
}

impl FileLog {
    /// Opens the log in `dir` for writing, creating the folder if need be.
    ///
    /// A file is read only when its stream is first used: see [`FileLog::repairs`].
    pub fn open(dir: impl AsRef<Path>, sync: Sync) -> Result<Self, LogError> {
        let dir = dir.as_ref();
        create(dir).map_err(|error| LogError::io("create", dir, &error))?;
        let lock = Lock::take(&dir.join(LOCK_FILE), dir)?;
        let files = Arc::new(Files::new(dir.to_owned(), Some(lock), Check::Whole));
        let mode = match sync {
            Sync::Process => Mode::Process(Flusher::start(Arc::clone(&files))?),
            Sync::Always => Mode::Always(writer::start(Arc::clone(&files))?),
        };
        Ok(FileLog { mode, files })
    }

    /// Opens the log in `dir` for reading, even while another process writes it. It changes
    /// nothing, not even a torn end.
    pub fn open_read_only(dir: impl AsRef<Path>) -> Result<Self, LogError> {
        FileLog::open_with(dir.as_ref(), Check::Whole)
    }

    /// Like [`FileLog::open_read_only`], for a caller that parses every line: of each line only the
    /// header is checked.
    pub fn open_to_parse(dir: impl AsRef<Path>) -> Result<Self, LogError> {
        FileLog::open_with(dir.as_ref(), Check::Header)
    }

    fn open_with(dir: &Path, check: Check) -> Result<Self, LogError> {
        fs::read_dir(dir).map_err(|error| LogError::io("open", dir, &error))?;
        let files = Arc::new(Files::new(dir.to_owned(), None, check));
        Ok(FileLog { mode: Mode::ReadOnly, files })
    }

    /// The names of all streams that have a file, without reading the files. This includes a stream
    /// whose only decision is torn.
    pub fn names(&self) -> Result<Vec<String>, LogError> {
        stream_files(self.files.root())
    }

    /// The torn ends found so far, by stream. The list is complete after a call of
    /// [`Log::streams`], which reads every file.
    pub fn repairs(&self) -> Vec<Repair> {
        self.files.repairs()
    }

    /// The file of a stream, whether or not it exists.
    pub fn path_of(&self, stream: &str) -> Result<PathBuf, LogError> {
        check_for_reading(stream)?;
        Ok(self.files.path_of(stream))
    }
}

impl Log for FileLog {
    fn submit(&self, append: Append, done: Done) {
        match &self.mode {
            Mode::ReadOnly => done(Err(AppendError::ReadOnly)),
            Mode::Process(flusher) => flusher.submit(append, done),
            Mode::Always(group) => group.submit(append, done),
        }
    }

    fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        match &self.mode {
            // Nothing waits for the disk here, so there is nothing to gather either.
            Mode::Process(flusher) => {
                done(appends.iter().map(|append| flusher.append_trusted(append)).collect());
            }
            _ => gather(appends, done, |append, done| self.submit(append, done)),
        }
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        check_for_reading(stream)?;
        self.files.load(stream, after)
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        let names = stream_files(self.files.root())?;
        let mut list = Vec::with_capacity(names.len());
        for name in names {
            match self.files.version(&name)? {
                0 => {}
                version => list.push((name, version)),
            }
        }
        Ok(list)
    }

    fn flush(&self) -> Result<(), LogError> {
        match &self.mode {
            Mode::ReadOnly => Ok(()),
            Mode::Process(flusher) => flusher.flush(),
            Mode::Always(group) => group.flush(),
        }
    }
}

/// The streams that have a file in a folder, by name.
pub(crate) fn stream_files(dir: &Path) -> Result<Vec<String>, LogError> {
    let mut names = Vec::new();
    walk(dir, "", &mut names)?;
    names.sort();
    Ok(names)
}

/// Creates a folder durably: a folder is durable only once the folder above it is synced.
fn create(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(above) = dir.parent() {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        create(above)?;
        fs::create_dir(dir).or_else(|error| if dir.is_dir() { Ok(()) } else { Err(error) })?;
        sync_folder(above)?;
    }
    Ok(())
}

/// Collects the streams below a folder. It ignores files that do not look like ours.
fn walk(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Result<(), LogError> {
    let failed = |error| LogError::io("list", folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let file_name = entry.file_name();
        let Some(file_name) = file_name.to_str() else { continue };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            if check_stream_name(file_name).is_ok() {
                walk(&entry.path(), &format!("{prefix}{file_name}/"), names)?;
            }
        } else if let Some(stem) = file_name.strip_suffix(".jsonl") {
            let name = format!("{prefix}{stem}");
            if check_stream_name(&name).is_ok() {
                names.push(name);
            }
        }
    }
    Ok(())
}
