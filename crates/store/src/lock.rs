//! One writing process at a time.
//!
//! The lock is an operating-system lock on an open file, so it ends with its process. There is one
//! delay: a child process that is just being started holds the file too, until it executes its
//! program. So a second process retries for a moment. The file itself stays; its content only names
//! the owner.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::LogError;

/// How long a lock may outlive the process that took it: as long as starting a program takes.
const PATIENCE: Duration = Duration::from_secs(2);

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
        let give_up = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                    std::thread::park_timeout(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    let holder = holder(&mut file);
                    return Err(LogError::Locked { path: guarded.to_owned(), holder });
                }
                Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
            }
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
