//! A player's own record: every answer it sent, and what the server replied.

use crate::history::Ms;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// An answer that was sent, perhaps once for each repeated request.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// The text that was sent; a second one only if it ever differed.
    pub(crate) answers: Vec<Box<str>>,
    /// When it was sent first and last; unknown for players in separate processes.
    pub(crate) first: Option<Ms>,
    pub(crate) last: Option<Ms>,
}

/// A player's own record.
#[derive(Default, Debug)]
pub(crate) struct Record {
    /// Answers by the id of their request.
    pub(crate) sent: HashMap<Box<str>, Sent>,
    /// The latest turn that was requested, by game and seat (`cup:r1m1.1.0`).
    pub(crate) asked: HashMap<Box<str>, u32>,
    /// Answers that the server reported as accepted.
    pub(crate) repeated: Vec<(Box<str>, Box<str>)>,
    /// Matches that the server reported as over, and whether the player won.
    pub(crate) over: Vec<(Box<str>, bool)>,
    /// Tournaments that the server reported as over, and whether the player won.
    pub(crate) ended: Vec<(Box<str>, bool)>,
    /// Errors by their code.
    pub(crate) errors: HashMap<Box<str>, u64>,
    pub(crate) logins: u64,
}

impl Record {
    /// Records a message of the server.
    pub(crate) fn heard(&mut self, message: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match text(&message["type"]).as_str() {
            "request" => {
                let id = text(&message["id"]);
                if let Some((game, turn)) = id.rsplit_once('.')
                    && let Ok(turn) = turn.parse()
                {
                    let latest = self.asked.entry(game.into()).or_insert(turn);
                    *latest = turn.max(*latest);
                }
            }
            "error" => {
                *self.errors.entry(text(&message["code"]).into()).or_default() += 1;
                if !message["accepted"].is_null() {
                    let accepted = message["accepted"].to_string();
                    self.repeated.push((text(&message["id"]).into(), accepted.into()));
                }
            }
            "notice" => {
                let (about, data) = (text(&message["about"]), &message["data"]);
                let (tournament, won) = (text(&data["tournament"]), data["won"] == true);
                match about.as_str() {
                    "match-over" => {
                        let key = format!("{tournament}/{}", text(&data["match"]));
                        self.over.push((key.into(), won));
                    }
                    "tournament-over" => self.ended.push((tournament.into(), won)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Records an answer.
    pub(crate) fn answered(&mut self, id: &str, answer: &str, at: Option<Ms>) {
        let sent = self.sent.entry(id.into()).or_insert_with(|| Sent {
            answers: Vec::new(),
            first: at,
            last: at,
        });
        sent.last = at;
        if !sent.answers.iter().any(|sent| **sent == *answer) {
            sent.answers.push(answer.into());
        }
    }

    /// Adds the input and output that a separate process logged, line by line. The last line of a
    /// process that was killed may be torn.
    pub(crate) fn add_files(&mut self, heard: &Path, said: &Path) {
        for message in lines(heard) {
            self.heard(&message);
        }
        for message in lines(said) {
            if message["type"] == "answer"
                && let Some(id) = message["id"].as_str()
            {
                self.answered(id, &message["answer"].to_string(), None);
            }
        }
    }
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
