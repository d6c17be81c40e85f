//! The folder of streams: which exist, where each ends, and how one is written.
//!
//! [`super::flusher`] and [`super::writer`] decide when a write is synced and acknowledged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use super::handles::Handles;
use super::scan::{Check, Torn, scan};
use crate::disk::sync_folder;
use crate::lock::Lock;
use crate::{Append, AppendError, LogError};

/// How many handles may be open; the usual limit of a process is 1,024 in all.
const FILES_OPEN_MAX: usize = 256;

/// Threads that sync files, when there are more files than that.
const SYNCS_AT_ONCE: usize = 8;

/// A torn end of a stream that was found, and cut off unless the log is read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The stream.
    pub stream: String,
    /// Its file.
    pub path: PathBuf,
    /// The version of the stream without the torn end.
    pub version: u64,
    /// The lost data, which was never acknowledged.
    pub torn: Torn,
    /// True if the file was changed.
    pub cut: bool,
}

/// One stream's file.
pub(super) struct Slot {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) path: PathBuf,
    state: Mutex<State>,
}

/// The known state of a file. Readers see only acknowledged data.
#[derive(Default)]
struct State {
    /// `None` until the file is scanned.
    ends: Option<Ends>,
    /// True if this process created the file and has not synced its folder since.
    is_new: bool,
    poison: Option<String>,
}

#[derive(Clone, Copy)]
struct Ends {
    written: End,
    accepted: End,
}

#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) version: u64,
    pub(super) len: u64,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows everything written so far to readers.
    pub(super) fn accept(&self) {
        if let Some(ends) = &mut self.lock().ends {
            ends.accepted = ends.written;
        }
    }

    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        options.open(&self.path).or_else(|error| {
            let folder = self.path.parent().ok_or(error)?;
            fs::create_dir_all(folder)?;
            options.open(&self.path)
        })
    }
}

pub(super) struct Files {
    root: PathBuf,
    /// `None` for reading only. It is a field here so that it is held until the last thread ends.
    lock: Option<Lock>,
    check: Check,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    handles: Handles,
    repairs: Mutex<BTreeMap<String, Repair>>,
}

impl Files {
    pub(super) fn new(root: PathBuf, lock: Option<Lock>, check: Check) -> Self {
        Files {
            root,
            lock,
            check,
            slots: Mutex::default(),
            handles: Handles::new(FILES_OPEN_MAX),
            repairs: Mutex::default(),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn is_read_only(&self) -> bool {
        self.lock.is_none()
    }

    pub(super) fn path_of(&self, stream: &str) -> PathBuf {
        self.root.join(format!("{stream}.jsonl"))
    }

    pub(super) fn repairs(&self) -> Vec<Repair> {
        let repairs = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        repairs.values().cloned().collect()
    }

    /// Compares and writes, in one `write` unless the disk takes only a part.
    pub(super) fn write(&self, append: &Append) -> Result<Arc<Slot>, AppendError> {
        let slot = self.slot(&append.stream);
        let mut state = slot.lock();
        let end = self.ends(&slot, &mut state, |_| ())?.written;
        if let Some(message) = state.poison.clone() {
            return Err(AppendError::Poisoned { stream: append.stream.to_string(), message });
        }
        if end.version != append.expected {
            return Err(append.conflict(end.version));
        }
        let failed = |error: io::Error| AppendError::io(&append.stream, &error);
        state.is_new |= end.len == 0;
        let file = self.handles.get(slot.id, || slot.open()).map_err(failed)?;
        let text = joined(&append.lines);
        if let Err(error) = (&*file).write_all(text.as_bytes()) {
            // A partial write must not stay between this decision and the next.
            if let Err(undo) = file.set_len(end.len) {
                state.poison = Some(format!("{error}, and cutting it off again: {undo}"));
            }
            return Err(failed(error));
        }
        let written = End { version: append.version_after(), len: end.len + text.len() as u64 };
        if let Some(ends) = &mut state.ends {
            ends.written = written;
        }
        drop(state);
        Ok(slot)
    }

    /// The events of a stream after the first `after`.
    pub(super) fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        let path = self.path_of(stream);
        if self.known(stream).is_none() && !path.exists() {
            // Reading an unknown stream must not remember it, or readers could fill the memory.
            return Ok(Vec::new());
        }
        let slot = self.slot(stream);
        let mut lines = Vec::new();
        let mut seen = 0;
        let mut keep = |line: &str| {
            seen += 1;
            if seen > after {
                lines.push(line.to_owned());
            }
        };
        let mut state = slot.lock();
        let end = if state.ends.is_some() && !self.is_read_only() {
            let end = self.ends(&slot, &mut state, |_| ())?.accepted;
            drop(state);
            read(&slot.path, end, keep)?;
            end
        } else {
            self.ends(&slot, &mut state, &mut keep)?.accepted
        };
        lines.truncate(usize::try_from(end.version.saturating_sub(after)).unwrap_or(usize::MAX));
        Ok(lines)
    }

    /// The version of a stream, scanning its file if that was not done yet.
    pub(super) fn version(&self, stream: &str) -> Result<u64, LogError> {
        let slot = self.slot(stream);
        let mut state = slot.lock();
        Ok(self.ends(&slot, &mut state, |_| ())?.accepted.version)
    }

    /// Syncs these streams; returns those that failed.
    pub(super) fn sync(&self, slots: &[Arc<Slot>]) -> HashMap<u64, AppendError> {
        let share = slots.len().div_ceil(SYNCS_AT_ONCE).max(1);
        let mut failures =
            if share == 1 { self.sync_files(slots) } else { self.sync_side_by_side(slots, share) };
        let mut folders = BTreeSet::new();
        for slot in slots.iter().filter(|slot| std::mem::take(&mut slot.lock().is_new)) {
            let above = slot.path.ancestors().skip(1);
            folders.extend(above.take_while(|path| path.starts_with(&self.root)));
        }
        for folder in &folders {
            if let Err(error) = sync_folder(folder) {
                for slot in slots.iter().filter(|slot| slot.path.starts_with(folder)) {
                    failures.insert(slot.id, poison(slot, &error));
                }
            }
        }
        failures
    }

    /// Syncs in parallel, so that the syncs share commits of the file system.
    fn sync_side_by_side(&self, slots: &[Arc<Slot>], share: usize) -> HashMap<u64, AppendError> {
        thread::scope(|scope| {
            let start = |some| {
                let sync = move || self.sync_files(some);
                thread::Builder::new().spawn_scoped(scope, sync).map_err(|_| some)
            };
            let threads: Vec<_> = slots.chunks(share).map(start).collect();
            let finish = |thread: Result<ScopedJoinHandle<'_, _>, _>| match thread {
                Ok(thread) => thread.join().expect("a sync does not panic"),
                // The system has no more threads, so this only takes longer.
                Err(some) => self.sync_files(some),
            };
            threads.into_iter().flat_map(finish).collect()
        })
    }

    fn sync_files(&self, slots: &[Arc<Slot>]) -> HashMap<u64, AppendError> {
        let sync = |slot: &Slot| self.handles.get(slot.id, || slot.open())?.sync_data();
        let failure = |slot: &Arc<Slot>| Some((slot.id, poison(slot, &sync(slot).err()?)));
        slots.iter().filter_map(failure).collect()
    }

    fn known(&self, stream: &str) -> Option<Arc<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).get(stream).cloned()
    }

    fn slot(&self, stream: &str) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(stream) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(Slot {
            id: slots.len() as u64,
            name: stream.to_owned(),
            path: self.path_of(stream),
            state: Mutex::default(),
        });
        slots.insert(stream.to_owned(), Arc::clone(&slot));
        slot
    }

    /// Where the stream ends. The first time, or always if another process may be writing, this
    /// scans the file, shows every line to `each`, and cuts off a torn end.
    fn ends(
        &self,
        slot: &Slot,
        state: &mut State,
        each: impl FnMut(&str),
    ) -> Result<Ends, LogError> {
        if let (Some(ends), false) = (state.ends, self.is_read_only()) {
            return Ok(ends);
        }
        let found = scan(&slot.path, Some(&slot.name), self.check, each)?;
        let mut repairs = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        // A torn end may have been a write in progress.
        repairs.remove(&slot.name);
        if let Some(torn) = found.torn {
            if !self.is_read_only() {
                cut(&slot.path, found.len).map_err(|e| LogError::io("repair", &slot.path, &e))?;
            }
            let repair = Repair {
                stream: slot.name.clone(),
                path: slot.path.clone(),
                version: found.version,
                torn,
                cut: !self.is_read_only(),
            };
            repairs.insert(slot.name.clone(), repair);
        }
        let end = End { version: found.version, len: found.len };
        let ends = Ends { written: end, accepted: end };
        state.ends = Some(ends);
        Ok(ends)
    }
}

/// Poisons a stream, which then accepts no more events. After a failed sync the system may have
/// dropped data that reads still show.
fn poison(slot: &Slot, error: &io::Error) -> AppendError {
    slot.lock().poison = Some(error.to_string());
    AppendError::io(&slot.name, error)
}

fn cut(path: &Path, len: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(len)?;
    file.sync_data()
}

fn joined(lines: &[String]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Reads a part of a file that was scanned before.
fn read(path: &Path, end: End, each: impl FnMut(&str)) -> Result<(), LogError> {
    use std::io::Read;
    if end.len == 0 {
        return Ok(());
    }
    let mut text = String::with_capacity(usize::try_from(end.len).unwrap_or(0));
    File::open(path)
        .and_then(|file| file.take(end.len).read_to_string(&mut text))
        .map_err(|error| LogError::io("read", path, &error))?;
    let lines = text.lines().count() as u64;
    if text.len() as u64 != end.len || lines != end.version {
        let reason = "the file was changed by someone else while the log was open".to_owned();
        return Err(LogError::Damaged { path: path.to_owned(), line: lines, reason });
    }
    text.lines().for_each(each);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(expected: u64) -> Append {
        let seq = expected + 1;
        let line = format!(r#"{{"v":1,"stream":"s","seq":{seq},"at":0,"more":0,"type":"t"}}"#);
        Append { stream: "s".into(), expected, lines: vec![line] }
    }

    /// A folder with one stream `s` of one event, and a replaced handle for its file.
    fn with_handle(open: impl FnOnce(&Path) -> io::Result<File>) -> (tempfile::TempDir, Files) {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(&dir.path().join(".lock"), dir.path()).unwrap();
        let mut files = Files::new(dir.path().to_owned(), Some(lock), Check::Whole);
        let slot = files.write(&append(0)).unwrap();
        slot.accept();
        files.handles = Handles::new(1);
        files.handles.get(slot.id, || open(&slot.path)).unwrap();
        (dir, files)
    }

    #[test]
    fn a_failed_write_that_cannot_be_undone_poisons_the_stream() {
        // Through a handle for reading neither writing nor cutting off is possible.
        let (_dir, files) = with_handle(|path| File::open(path));
        assert!(matches!(files.write(&append(1)), Err(AppendError::Io { .. })));
        assert!(matches!(files.write(&append(1)), Err(AppendError::Poisoned { .. })));
        assert_eq!(files.load("s", 0).unwrap().len(), 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_failed_sync_poisons_the_stream_and_shows_nothing() {
        // The null device accepts every write and no sync.
        let null = |_: &Path| OpenOptions::new().append(true).open("/dev/null");
        let (_dir, files) = with_handle(null);
        let slot = files.write(&append(1)).unwrap();
        let failures = files.sync(&[Arc::clone(&slot)]);
        assert!(matches!(failures[&slot.id], AppendError::Io { .. }));
        assert!(matches!(files.write(&append(2)), Err(AppendError::Poisoned { .. })));
        assert_eq!(files.load("s", 0).unwrap().len(), 1);
        assert_eq!(files.version("s"), Ok(1));
    }
}
