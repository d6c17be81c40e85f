//! A part of a test that runs in a process of its own, which can be killed or kept short of disk.
//!
//! The child is this very test binary, told by an environment variable what to be; run without
//! it, as part of all tests, it does nothing.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use agon_store::{FileLog, Log, SqliteLog, Sync};

const PLACE: &str = "AGON_STORE_TEST_PLACE";
const KIND: &str = "AGON_STORE_TEST_KIND";

/// The kind of log that the child opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    FileProcess,
    FileAlways,
    Sqlite,
}

impl Kind {
    pub(crate) fn open(self, dir: &Path) -> Arc<dyn Log> {
        match self {
            Kind::FileProcess => Arc::new(FileLog::open(dir, Sync::Process).unwrap()),
            Kind::FileAlways => Arc::new(FileLog::open(dir, Sync::Always).unwrap()),
            Kind::Sqlite => Arc::new(SqliteLog::open(dir.join("log.db")).unwrap()),
        }
    }

    fn of(name: &str) -> Option<Self> {
        let all = [Kind::FileProcess, Kind::FileAlways, Kind::Sqlite];
        all.into_iter().find(|kind| format!("{kind:?}") == name)
    }
}

/// The command for a child that runs the test `name` with a log in `dir`; `shell` comes before
/// it in the same process, for example to set a limit.
pub(crate) fn command(name: &str, kind: Kind, dir: &Path, shell: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{shell} exec \"$0\" \"$@\"")])
        .arg(env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(PLACE, dir)
        .env(KIND, format!("{kind:?}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// In the child: where the log is. Elsewhere none.
pub(crate) fn place() -> Option<(Kind, PathBuf)> {
    Some((Kind::of(&env::var(KIND).ok()?)?, PathBuf::from(env::var_os(PLACE)?)))
}

/// In the child: tells the parent something, at once and in one write.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
