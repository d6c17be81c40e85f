//! Reads what a person types, line by line, and Ctrl-C. Stdin may be a pipe.

use anyhow::Result;
use std::io::{BufRead, IsTerminal};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// How many lines may wait; further lines stay in the pipe.
const LINES_MAX: usize = 16;

pub(super) struct Keyboard {
    lines: mpsc::Receiver<String>,
    interrupt: Signal,
    terminate: Signal,
    terminal: bool,
}

/// Input from the person.
pub(super) enum Typed {
    Line(String),
    /// The end of the input.
    End,
    /// Ctrl-C.
    Stop,
}

impl Keyboard {
    pub(super) fn start() -> Result<Keyboard> {
        let (sender, lines) = mpsc::channel(LINES_MAX);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                // Input that is not UTF-8 ends the game like the end of the input.
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

    /// The next input. Lines from a pipe wait until the caller is `ready`; lines from a terminal
    /// are always read. Cancel safe: nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self, ready: bool) -> Typed {
        let ready = ready || self.terminal;
        tokio::select! {
            _ = self.interrupt.recv() => Typed::Stop,
            _ = self.terminate.recv() => Typed::Stop,
            line = self.lines.recv(), if ready => line.map_or(Typed::End, Typed::Line),
        }
    }
}
