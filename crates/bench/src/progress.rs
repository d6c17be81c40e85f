//! What goes on, on stderr: one line that is written over on a terminal, lines elsewhere.

use std::io::{IsTerminal, Write};

/// Says what goes on.
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
        // Nobody may be there to read it.
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
