//! The trace of a run: off, printed in full, or only its last steps.

use agon_core::Timestamp;
use std::collections::VecDeque;
use std::io::Write;

/// Where the trace goes.
#[derive(Debug, Default)]
pub struct Trace {
    print: bool,
    kept_max: usize,
    kept: VecDeque<String>,
}

impl Trace {
    /// Records nothing.
    pub fn off() -> Trace {
        Trace::default()
    }

    /// Prints every step.
    pub fn print() -> Trace {
        Trace { print: true, ..Trace::default() }
    }

    /// Keeps the last steps.
    pub fn keep(kept_max: usize) -> Trace {
        Trace { kept_max, ..Trace::default() }
    }

    pub(crate) fn is_printed(&self) -> bool {
        self.print
    }

    /// Records a step, unless the trace is off.
    pub(crate) fn note(&mut self, now: Timestamp, what: impl FnOnce() -> String) {
        if !self.print && self.kept_max == 0 {
            return;
        }
        let line = format!("{:>9.3} {}", now.since(crate::plan::BEGIN) as f64 / 1_000.0, what());
        if self.print {
            // The reader may close the pipe early.
            let _ = writeln!(std::io::stdout(), "{line}");
            return;
        }
        if self.kept.len() >= self.kept_max {
            self.kept.pop_front();
        }
        self.kept.push_back(line);
    }

    /// The last steps.
    pub fn into_kept(self) -> Vec<String> {
        self.kept.into()
    }
}
