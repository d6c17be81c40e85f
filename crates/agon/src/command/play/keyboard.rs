//! What a person types, line by line, and Ctrl-C. Works with a pipe as well.

use anyhow::Result;
use std::io::{BufRead, IsTerminal};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// Lines that wait to be read; more stay in the pipe.
const LINES_MAX: usize = 16;

pub(super) struct Keyboard {
    lines: mpsc::Receiver<String>,
    interrupt: Signal,
    terminate: Signal,
    terminal: bool,
}

/// What came from the person.
pub(super) enum Typed {
    Line(String),
    /// There will be no more lines.
    End,
    /// Ctrl-C.
    Stop,
}

impl Keyboard {
    pub(super) fn start() -> Result<Keyboard> {
        let (sender, lines) = mpsc::channel(LINES_MAX);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                // What is not text is typed by a cat.
                let Ok(line) = line else { return };
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let terminal = std::io::stdin().is_terminal();
        Ok(Keyboard { lines, interrupt, terminate, terminal })
    }

    /// The next thing typed. Lines of a pipe wait until somebody is `ready` for them; a person at a
    /// terminal is always heard. Can be dropped and called again without loss.
    pub(super) async fn next(&mut self, ready: bool) -> Typed {
        let ready = ready || self.terminal;
        tokio::select! {
            _ = self.interrupt.recv() => Typed::Stop,
            _ = self.terminate.recv() => Typed::Stop,
            line = self.lines.recv(), if ready => line.map_or(Typed::End, Typed::Line),
        }
    }
}
