//! Progress on stderr: one line that is overwritten on a terminal, separate lines elsewhere.

use std::io::{IsTerminal, Write};

/// Reports progress.
pub(super) struct Progress {
    quiet: bool,
    terminal: bool,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Progress {
        Progress { quiet, terminal: std::io::stderr().is_terminal() }
    }

    pub(super) fn say(&self, what: &str) {
        if self.quiet {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        // Stderr may be closed.
        let _ = match self.terminal {
            true => write!(stderr, "\r\x1b[Kbench: {what}").and_then(|()| stderr.flush()),
            false => writeln!(stderr, "bench: {what}"),
        };
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if !self.quiet && self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
