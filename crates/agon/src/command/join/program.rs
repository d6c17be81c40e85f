//! A program that plays in a tournament of a server. A task passes lines between it and the server.

use super::Said;
use agon_core::PlayerName;
use agon_runner::{LocalProgram, Output, ProgramOutput, Sandbox, Stderr};
use agon_wire::lines::TooLong;
use agon_wire::native::{FromPlayer, Hello};
use anyhow::{Context, Result};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

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
    /// True if a receipt records what the program writes to stderr.
    pub(super) records_stderr: bool,
}

impl Command {
    fn start(&self, name: &PlayerName, stderr: Stderr) -> Result<LocalProgram> {
        LocalProgram::start(&self.words, name, None, stderr, &self.sandbox)
            .with_context(|| format!("failed to start {:?}", self.words[0]))
    }
}

pub(super) struct Program {
    /// Lines for its input. Dropping this ends the program.
    input: mpsc::Sender<String>,
    task: JoinHandle<()>,
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
        let stderr = if command.records_stderr { Stderr::Copy } else { Stderr::Inherit };
        let program = command.start(name, stderr)?;
        let (input, lines) = mpsc::channel(UNREAD_MAX);
        let task = tokio::spawn(pass_on(program, lines, tournament, start, said));
        Ok(Program { input, task })
    }

    /// Starts a program only for its hello; `None` if none comes.
    pub(super) async fn probe(
        command: &Command,
        name: &PlayerName,
        hello: &str,
    ) -> Result<Option<Hello>> {
        let mut program = command.start(name, Stderr::Discard)?;
        program.send(format!("{hello}\n").as_bytes());
        let greeted = async {
            loop {
                match poll_fn(|context| program.poll(context)).await {
                    ProgramOutput::Message(FromPlayer::Hello(hello)) => return Some(hello),
                    ProgramOutput::Closed | ProgramOutput::Flood { .. } => return None,
                    _ => {}
                }
            }
        };
        let hello = tokio::time::timeout(HELLO, greeted).await.ok().flatten();
        program.finish(END).await;
        Ok(hello)
    }

    /// Queues a line for the program. If the queue is full, the line is dropped.
    pub(super) fn tell(&self, line: &str) {
        let _ = self.input.try_send(format!("{line}\n"));
    }

    /// Closes the program's input and waits for it to end.
    pub(super) async fn end(self) {
        let Program { input, task } = self;
        drop(input);
        // A panic of the task has ended the program too.
        let _ = task.await;
    }

    /// Kills the program at once.
    pub(super) fn kill(self) {
        self.task.abort();
    }
}

/// Passes lines from and to a program, until it ends or its input is closed.
async fn pass_on(
    mut program: LocalProgram,
    mut lines: mpsc::Receiver<String>,
    tournament: String,
    start: u32,
    said: mpsc::Sender<Said>,
) {
    loop {
        let output = tokio::select! {
            biased;
            line = lines.recv() => match line {
                Some(line) => {
                    program.send(line.as_bytes());
                    continue;
                }
                None => break,
            },
            output = poll_fn(|context| program.poll_output(context, text)) => output,
        };
        // The server decides how much a player may send.
        program.asked();
        let tournament = tournament.clone();
        let message = match output {
            Output::Line(line) => {
                let stderr = String::from_utf8_lossy(&program.take_stderr()).into_owned();
                Said::Line { tournament, start, line, stderr }
            }
            Output::Closed => {
                let stderr = String::from_utf8_lossy(&program.take_stderr()).into_owned();
                Said::Ended { tournament, start, stderr }
            }
            Output::Flushed | Output::Flood { .. } => continue,
        };
        let is_over = matches!(message, Said::Ended { .. });
        if said.send(message).await.is_err() || is_over {
            break;
        }
    }
    program.finish(END).await;
}

/// A line as text. One that is too long is no message.
fn text(line: Result<&[u8], TooLong>) -> String {
    match line {
        Ok(line) => String::from_utf8_lossy(line).into_owned(),
        Err(long) => long.to_string(),
    }
}
