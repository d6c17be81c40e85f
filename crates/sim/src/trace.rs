//! What is shown of a run: nothing, everything, or its end.

use agon_core::Millis;
use std::collections::VecDeque;
use std::io::Write;

/// Where words about a run go.
#[derive(Debug, Default)]
pub struct Trace {
    print: bool,
    kept_max: usize,
    kept: VecDeque<String>,
}

impl Trace {
    /// Nothing is shown.
    pub fn off() -> Trace {
        Trace::default()
    }

    /// Every step is printed.
    pub fn print() -> Trace {
        Trace { print: true, ..Trace::default() }
    }

    /// The last steps are kept.
    pub fn keep(kept_max: usize) -> Trace {
        Trace { kept_max, ..Trace::default() }
    }

    pub(crate) fn is_printed(&self) -> bool {
        self.print
    }

    /// Notes something, if anybody wants to know.
    pub(crate) fn note(&mut self, now: Millis, what: impl FnOnce() -> String) {
        if !self.print && self.kept_max == 0 {
            return;
        }
        let line = format!("{:>9.3} {}", (now - crate::plan::BEGIN) as f64 / 1_000.0, what());
        if self.print {
            // Whoever stops reading has seen enough.
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
