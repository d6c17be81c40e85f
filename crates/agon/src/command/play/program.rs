//! A program as an opponent in a local game. It speaks the native protocol and runs in a sandbox.

use agon_core::PlayerName;
use agon_games::{Json, Seat};
use agon_runner::{LocalProgram, ProgramOutput, Sandbox, Stderr};
use agon_wire::native::{FromPlayer, PROTOCOL_VERSION};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::json;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

/// Time limits for the hello and for an answer.
const HELLO: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(60);

/// A running program.
pub(super) struct Program {
    program: LocalProgram,
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
    pub(super) async fn start(
        words: &[String],
        name: &PlayerName,
        game: &str,
        sandbox: &Arc<Sandbox>,
    ) -> Result<Program> {
        let program = LocalProgram::start(words, name, None, Stderr::Inherit, sandbox)
            .with_context(|| format!("failed to start {:?}", words[0]))?;
        let mut program = Program { program };
        program.tell(&json!({
            "type": "hello", "protocol": PROTOCOL_VERSION,
            "server": concat!("agon/", env!("CARGO_PKG_VERSION")),
            "player": name, "tournament": "here", "game": game, "commitment": "0".repeat(64),
        }))?;
        match program.next(HELLO).await? {
            FromPlayer::Hello(_) => Ok(program),
            _ => bail!("{} answered before it said hello", words[0]),
        }
    }

    /// Asks a question and waits for the answer.
    pub(super) async fn ask(
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
        self.program.asked();
        self.tell(&Request { kind: "request", id, deadline_ms, seat, question, view, in_match })?;
        loop {
            match self.next(ANSWER).await? {
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
        self.program.send(&line);
        Ok(())
    }

    /// Waits for the next message and skips lines that are no message.
    async fn next(&mut self, limit: Duration) -> Result<FromPlayer> {
        let program = &mut self.program;
        let message = async {
            loop {
                match poll_fn(|context| program.poll(context)).await {
                    ProgramOutput::Message(message) => return Ok(message),
                    ProgramOutput::Bad { .. } | ProgramOutput::Flushed => {}
                    ProgramOutput::Refused { why } | ProgramOutput::Flood { why } => bail!(why),
                    ProgramOutput::Closed => bail!("it ended"),
                }
            }
        };
        let Ok(message) = tokio::time::timeout(limit, message).await else {
            bail!("it sent nothing for {limit:?}");
        };
        message
    }
}
