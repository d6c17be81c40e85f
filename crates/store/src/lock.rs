//! One writing process at a time.
//!
//! The lock is the operating system's, on an open file, so it is gone the moment its process is,
//! however that ended. The file itself stays; its content only says who to look for.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::LogError;

/// Held as long as the log is open.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Locks the file at `path`, creating it if need be; an error names `guarded`.
    pub(crate) fn take(path: &Path, guarded: &Path) -> Result<Lock, LogError> {
        let failed = |what| move |error| LogError::io(what, path, &error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = holder(&mut file);
                return Err(LogError::Locked { path: guarded.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        // Only for the error message of others: a full disk must not prevent opening the log.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Lock { _file: file })
    }
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(20).read_to_string(&mut text) {
        Ok(_) if text.parse::<u32>().is_ok() => format!(" (pid {text})"),
        _ => String::new(),
    }
}
