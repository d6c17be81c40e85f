//! A program with pipes. One thread writes its input, another reads its output.

use super::Said;
use agon_core::PlayerName;
use agon_runner::{Confined, SECRETS, Sandbox};
use agon_wire::lines::Lines;
use agon_wire::native::{self, FromPlayer, Hello, LINE_BYTES_MAX};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long a program may take to end after its input is closed.
const END: Duration = Duration::from_millis(500);
/// How long a program may take to say hello when only its nonce and proposal are wanted.
const HELLO: Duration = Duration::from_secs(10);
/// How many lines may wait for a program that does not read.
const UNREAD_MAX: usize = 256;

/// A program and the sandbox it is started in.
pub(super) struct Command {
    pub(super) words: Vec<String>,
    pub(super) sandbox: Arc<Sandbox>,
}

pub(super) struct Program {
    confined: Confined,
    /// Lines for its input. Dropping this closes the input.
    input: SyncSender<String>,
}

impl Program {
    /// Starts a program and passes on its output, line by line.
    pub(super) fn start(
        command: &Command,
        name: &PlayerName,
        tournament: String,
        start: u32,
        said: mpsc::Sender<Said>,
    ) -> Result<Program> {
        let (mut confined, input) = spawn(command, name, Stdio::inherit())?;
        let stdout = confined.child().stdout.take().context("failed to read from the program")?;
        std::thread::spawn(move || {
            read_lines(stdout, |line| {
                let tournament = tournament.clone();
                said.blocking_send(Said::Line { tournament, start, line }).is_ok()
            });
            let _ = said.blocking_send(Said::Ended { tournament, start });
        });
        Ok(Program { confined, input: write_lines(input) })
    }

    /// Starts a program only for its hello; `None` if none comes.
    pub(super) fn probe(
        command: &Command,
        name: &PlayerName,
        hello: &str,
    ) -> Result<Option<Hello>> {
        let (mut confined, input) = spawn(command, name, Stdio::null())?;
        let stdout = confined.child().stdout.take().context("failed to read from the program")?;
        let (sender, greeted) = sync_channel(1);
        std::thread::spawn(move || {
            read_lines(stdout, |line| match native::decode(line.as_bytes()) {
                Ok(FromPlayer::Hello(hello)) => {
                    let _ = sender.try_send(hello);
                    false
                }
                _ => true,
            });
        });
        let program = Program { confined, input: write_lines(input) };
        program.tell(hello);
        let hello = greeted.recv_timeout(HELLO).ok();
        program.end();
        Ok(hello)
    }

    /// Queues a line for the program. If the queue is full, the line is dropped. The reader reports
    /// the end of the program.
    pub(super) fn tell(&self, line: &str) {
        let _ = self.input.try_send(line.to_owned());
    }

    /// Closes the program's input and waits for it to end.
    pub(super) fn end(self) {
        let Program { mut confined, input } = self;
        drop(input);
        let deadline = Instant::now() + END;
        while matches!(confined.child().try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        kill(confined);
    }

    /// Kills the program at once.
    pub(super) fn kill(self) {
        kill(self.confined);
    }
}

/// Kills a program, with everything it started.
fn kill(mut confined: Confined) {
    if let Some(group) = Pid::from_raw(confined.child().id() as i32) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = confined.child().wait();
}

fn spawn(command: &Command, name: &PlayerName, stderr: Stdio) -> Result<(Confined, ChildStdin)> {
    let started = command.sandbox.start(&command.words, |process| {
        process.env("AGON_PLAYER", name.as_str()).process_group(0);
        for secret in SECRETS {
            process.env_remove(secret);
        }
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
    });
    let mut confined =
        started.with_context(|| format!("failed to start {:?}", command.words[0]))?;
    let stdin = confined.child().stdin.take().context("failed to write to the program")?;
    Ok((confined, stdin))
}

fn write_lines(mut stdin: ChildStdin) -> SyncSender<String> {
    let (input, lines) = sync_channel::<String>(UNREAD_MAX);
    std::thread::spawn(move || {
        for line in lines {
            if stdin.write_all(format!("{line}\n").as_bytes()).is_err() {
                return;
            }
        }
    });
    input
}

/// Reads lines until the end of the input, or until `tell` returns false. A line that is too long
/// is no message.
pub(crate) fn read_lines(mut from: impl Read, mut tell: impl FnMut(String) -> bool) {
    let mut lines = Lines::new(LINE_BYTES_MAX);
    let mut piece = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        lines.push(&piece[..count]);
        while let Some(line) = lines.take() {
            let text = match line {
                Ok(line) => String::from_utf8_lossy(line).into_owned(),
                Err(long) => long.to_string(),
            };
            if !tell(text) {
                return;
            }
        }
    }
}
