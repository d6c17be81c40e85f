//! A bounded number of open files.
//!
//! A tournament has more streams than a process may have open files, so the least recently used
//! handle is closed when another is needed. Closing loses nothing: the operating system has the
//! written data, and a sync through a new handle reaches it.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) struct Handles {
    open: Mutex<Open>,
    files_max: usize,
}

#[derive(Default)]
struct Open {
    files: HashMap<u64, Handle>,
    clock: u64,
}

struct Handle {
    file: Arc<File>,
    used: u64,
}

impl Handles {
    pub(super) fn new(files_max: usize) -> Self {
        Handles { open: Mutex::default(), files_max }
    }

    /// The handle kept under `id`, or the one that `open` returns. Two threads must not request the
    /// same `id` at once unless they can use different handles of one file.
    pub(super) fn get(
        &self,
        id: u64,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<Arc<File>> {
        if let Some(file) = self.lock().touch(id) {
            return Ok(file);
        }
        // Opened outside the lock: it may have to wait for the disk.
        let file = Arc::new(open()?);
        let mut kept = self.lock();
        if kept.files.len() >= self.files_max {
            kept.close_oldest();
        }
        kept.clock += 1;
        let used = kept.clock;
        kept.files.insert(id, Handle { file: Arc::clone(&file), used });
        Ok(file)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn touch(&mut self, id: u64) -> Option<Arc<File>> {
        self.clock += 1;
        let handle = self.files.get_mut(&id)?;
        handle.used = self.clock;
        Some(Arc::clone(&handle.file))
    }

    fn close_oldest(&mut self) {
        // A walk over a few hundred entries, next to the opening of a file.
        let oldest = self.files.iter().min_by_key(|(_, handle)| handle.used);
        if let Some(id) = oldest.map(|(id, _)| *id) {
            self.files.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_is_closed() {
        let handles = Handles::new(2);
        let opened = Mutex::new(Vec::new());
        let get = |id| {
            let file = handles.get(id, || {
                opened.lock().unwrap().push(id);
                tempfile::tempfile()
            });
            file.unwrap();
        };
        [1, 2, 1, 3, 1, 2].into_iter().for_each(get);
        assert_eq!(*opened.lock().unwrap(), [1, 2, 3, 2]);
        assert_eq!(handles.lock().files.len(), 2);
    }
}
