//! Programs that outlived a killed run.
//!
//! A run that ends or is stopped ends its programs. A killed run cannot: its programs see the end
//! of their input and exit, unless they ignore it. The resumed run finds those by the run's mark in
//! their environment, which their children inherit.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The variable that marks the programs of a run.
pub(crate) const MARK: &str = "AGON_RUN";

/// The mark of the run in `dir`: the folder's full path.
pub(crate) fn mark_of(dir: &Path) -> String {
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned()).to_string_lossy().into_owned()
}

/// Ends every process that carries `mark`. The caller holds the lock of the run's folder, so none
/// of them belongs to a run that is alive. Where there is no /proc, nothing is found.
pub(crate) fn end(mark: &str) {
    for id in living(mark) {
        let _ = kill_process(id, Signal::KILL);
    }
}

/// How many processes that carry `mark` are still there when those that are about to end have had
/// the time for it.
pub(crate) async fn after(mark: &str) -> usize {
    let deadline = tokio::time::Instant::now() + crate::program::GRACE;
    loop {
        let count = living(mark).len();
        if count == 0 || tokio::time::Instant::now() >= deadline {
            return count;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The processes that carry `mark`.
fn living(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let marked = entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse::<u32>().ok().filter(|id| *id != own)?;
        // Other people's processes cannot be read, and are not ours.
        let environ = fs::read(entry.path().join("environ")).ok()?;
        is_marked(&environ, &wanted).then(|| Pid::from_raw(id as i32)).flatten()
    });
    marked.collect()
}

/// Returns whether an environment has the mark, and is that of a player.
fn is_marked(environ: &[u8], wanted: &str) -> bool {
    let mut variables = environ.split(|byte| *byte == 0);
    let player = environ.split(|byte| *byte == 0).any(|one| one.starts_with(b"AGON_PLAYER="));
    player && variables.any(|one| one == wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_players_of_the_very_run_are_marked() {
        let wanted = "AGON_RUN=/tmp/cup";
        assert!(is_marked(b"A=1\0AGON_PLAYER=eve\0AGON_RUN=/tmp/cup\0", wanted));
        assert!(!is_marked(b"AGON_PLAYER=eve\0AGON_RUN=/tmp/cup-2\0", wanted));
        assert!(!is_marked(b"AGON_PLAYER=eve\0OLD_AGON_RUN=/tmp/cup\0", wanted));
        assert!(!is_marked(b"AGON_RUN=/tmp/cup\0", wanted));
        assert!(!is_marked(b"", wanted));
    }
}
