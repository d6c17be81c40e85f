//! Programs that outlived a killed run.
//!
//! A run that ends, or is stopped, ends its programs. One that is killed cannot: its programs see
//! the end of their input and go, unless they do not care. Those are found when the run goes on:
//! every program carries the run's mark in its environment, and so does whatever it started.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;

/// The variable that marks the programs of a run.
pub(crate) const MARK: &str = "AGON_RUN";

/// The mark of the run in `dir`: the folder's full path.
pub(crate) fn mark_of(dir: &Path) -> String {
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned()).to_string_lossy().into_owned()
}

/// Ends every process that carries `mark`. The caller holds the lock of the run's folder, so none
/// of them belongs to a run that is alive. Where there is no /proc, nothing is found.
pub(crate) fn end(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    let own = std::process::id();
    let Ok(entries) = fs::read_dir("/proc") else { return };
    for entry in entries.flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(id) = id.filter(|id| *id != own) else { continue };
        // Other people's processes cannot be read, and are not ours.
        let Ok(environ) = fs::read(entry.path().join("environ")) else { continue };
        if is_marked(&environ, &wanted)
            && let Some(id) = Pid::from_raw(id as i32)
        {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

/// Whether an environment has the mark, and is that of a player.
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
