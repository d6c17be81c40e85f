//! Exit codes. `agon --help` lists them.

use agon_bots::HouseError;
use agon_core::PlanError;
use agon_core::verify::Finding;
use agon_runner::{BadSpec, FolderError, RunError};
use agon_server::ServerError;
use agon_store::LogError;
use std::io::ErrorKind;
use std::process::ExitCode;

/// How the command ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Everything went well.
    Success = 0,
    /// A failure that is not listed below, for example of the disk, or a bug.
    Failure = 1,
    /// Invalid arguments or settings.
    Usage = 2,
    /// The tournament could not be played: no configuration fits the players, there are too few, or
    /// a program cannot be started.
    NotHeld = 3,
    /// A log does not follow from the rules.
    NotVerified = 4,
    /// A log or folder cannot be read.
    Damaged = 5,
    /// The tournament ended, some player was at fault, and `--strict` was given.
    Faults = 6,
    /// A program did not pass its exam.
    NotPassed = 7,
    /// Stopped by Ctrl-C; can be resumed.
    Stopped = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// For the help text.
pub(crate) const HELP: &str = "\
Exit codes:
    0  success                            4  a log does not follow from the rules
    1  failure (disk, network, bug)       5  a log or folder cannot be read
    2  invalid arguments or settings      6  ended, but with faults (run --strict)
    3  the tournament cannot be played    7  a program failed its exam (doctor)
                                        130  stopped by Ctrl-C; can be resumed";

/// An invalid argument, variable or file, with what to do about it.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// A tournament that cannot be played, with what to do about it.
#[derive(Debug)]
pub(crate) struct NotHeld(pub(crate) String);

impl std::fmt::Display for NotHeld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotHeld {}

/// A log or folder that cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// The code for an error.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    if let Some(run) = error.downcast_ref::<RunError>() {
        return match run {
            RunError::Plan(_) | RunError::House(_) | RunError::UnknownGame(_) => Exit::Usage,
            RunError::Folder(folder) => of_folder(folder),
            RunError::Log(_) | RunError::Line { .. } | RunError::Fold { .. } => Exit::Damaged,
            _ => Exit::Failure,
        };
    }
    if let Some(folder) = error.downcast_ref::<FolderError>() {
        return of_folder(folder);
    }
    if let Some(server) = error.downcast_ref::<ServerError>() {
        return match server {
            ServerError::Append(_)
            | ServerError::Entropy(_)
            | ServerError::Sockets(_)
            | ServerError::Undrained(_)
            | ServerError::TakenOver
            | ServerError::NoDatabase(_)
            | ServerError::LinkLost => Exit::Failure,
            ServerError::Log(log) => of_log(log),
            ServerError::Engine(_) => Exit::Damaged,
        };
    }
    if let Some(log) = error.downcast_ref::<LogError>() {
        return of_log(log);
    }
    if error.is::<Finding>() || error.is::<Unreadable>() {
        return Exit::Damaged;
    }
    if error.is::<NotHeld>() {
        return Exit::NotHeld;
    }
    let misuse = error.is::<Misuse>()
        || error.is::<agon_bench::Unmeasurable>()
        || error.is::<BadSpec>()
        || error.is::<PlanError>()
        || error.is::<HouseError>();
    if misuse { Exit::Usage } else { Exit::Failure }
}

/// I/O errors that do not mean that the log is damaged.
const NO_FAULT_OF_IT: [ErrorKind; 7] = [
    // SQLite reports a failing disk as this.
    ErrorKind::Other,
    ErrorKind::PermissionDenied,
    ErrorKind::StorageFull,
    ErrorKind::FileTooLarge,
    ErrorKind::ReadOnlyFilesystem,
    ErrorKind::AlreadyExists,
    ErrorKind::NotConnected,
];

/// A locked log, or one without permission to open it, is not damaged.
fn of_log(error: &LogError) -> Exit {
    match error {
        LogError::Locked { .. } => Exit::Failure,
        LogError::Io { kind, .. } if NO_FAULT_OF_IT.contains(kind) => Exit::Failure,
        _ => Exit::Damaged,
    }
}

fn of_folder(error: &FolderError) -> Exit {
    match error {
        FolderError::Taken { .. } | FolderError::NoRun { .. } => Exit::Usage,
        FolderError::Damaged { .. } | FolderError::Log(_) => Exit::Damaged,
        FolderError::Io { .. } => Exit::Failure,
    }
}
