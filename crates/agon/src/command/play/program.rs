//! A program as an opponent in a local game. It speaks the native protocol and runs in a sandbox.

use crate::command::join::read_lines;
use agon_core::PlayerName;
use agon_games::{Json, Seat};
use agon_runner::{Confined, SECRETS, Sandbox};
use agon_wire::native::{self, FromPlayer, PROTOCOL_VERSION};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Time limits for the hello and for an answer.
const HELLO: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(60);
/// How many lines may wait to be read.
const UNREAD_MAX: usize = 64;

/// A running program.
pub(super) struct Program {
    confined: Confined,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

#[derive(Serialize)]
struct Request<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    deadline_ms: u64,
    seat: Seat,
    question: Json,
    view: Json,
    #[serde(rename = "match")]
    in_match: serde_json::Value,
}

impl Program {
    /// Starts a program and waits for its hello.
    pub(super) fn start(
        words: &[String],
        name: &PlayerName,
        game: &str,
        sandbox: &Arc<Sandbox>,
    ) -> Result<Program> {
        let failed = || format!("failed to start {:?}", words[0]);
        let started = sandbox.start(words, |process| {
            process.env("AGON_PLAYER", name.as_str()).process_group(0);
            for secret in SECRETS {
                process.env_remove(secret);
            }
            process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        });
        let mut confined = started.with_context(failed)?;
        let stdin = confined.child().stdin.take().with_context(failed)?;
        let stdout = confined.child().stdout.take().with_context(failed)?;
        let (sender, lines) = sync_channel(UNREAD_MAX);
        std::thread::spawn(move || {
            read_lines(stdout, |line| sender.send(line).is_ok());
        });
        let mut program = Program { confined, stdin, lines };
        program.tell(&json!({
            "type": "hello", "protocol": PROTOCOL_VERSION,
            "server": concat!("agon/", env!("CARGO_PKG_VERSION")),
            "player": name, "tournament": "here", "game": game, "commitment": "0".repeat(64),
        }))?;
        match program.next(HELLO)? {
            FromPlayer::Hello(_) => Ok(program),
            _ => bail!("{} answered before it said hello", words[0]),
        }
    }

    /// Asks a question and waits for the answer.
    pub(super) fn ask(
        &mut self,
        id: &str,
        seat: Seat,
        question: Json,
        view: Json,
        names: &[String],
    ) -> Result<String> {
        let in_match = json!({
            "tournament": "here", "id": "r1m1", "round": 1, "players": names, "best_of": 1,
            "won": vec![0.0; names.len()], "game": 1, "games": [],
        });
        let deadline_ms = ANSWER.as_millis() as u64;
        self.tell(&Request { kind: "request", id, deadline_ms, seat, question, view, in_match })?;
        loop {
            match self.next(ANSWER)? {
                FromPlayer::Answer { id: named, answer } if named.as_str() == id => {
                    return Ok(answer);
                }
                FromPlayer::Answer { .. } => bail!("it answered another request"),
                _ => {}
            }
        }
    }

    /// Sends a notice, which needs no answer.
    pub(super) fn notice(&mut self, data: &Json) -> Result<()> {
        self.tell(&json!({"type": "notice", "about": "told", "data": data}))
    }

    fn tell(&mut self, message: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(message).context("failed to write a message")?;
        line.push(b'\n');
        self.stdin.write_all(&line).context("it does not read its input any more")
    }

    /// Waits for the next message and skips lines that are no message.
    fn next(&mut self, limit: Duration) -> Result<FromPlayer> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    if let Ok(message) = native::decode(line.as_bytes()) {
                        return Ok(message);
                    }
                }
                Err(RecvTimeoutError::Timeout) => bail!("it sent nothing for {limit:?}"),
                Err(RecvTimeoutError::Disconnected) => bail!("it ended"),
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.confined.child().id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.confined.child().wait();
    }
}
