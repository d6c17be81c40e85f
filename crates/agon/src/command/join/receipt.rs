//! A player's receipt: what the player sent and received, recorded by the player's own side.
//!
//! Every entry is one line and one write, before the answer in it is sent. So a crash loses at most
//! the entry that was being written. `docs/protocol/receipt.md` describes the format.

use crate::exit::Unreadable;
use agon_client::{ClientEvent, Notice};
use agon_core::verify::ReceiptEntry;
use agon_core::{Commitment, Nonce, PlayerName, Secret};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes a receipt.
pub(super) struct ReceiptWriter {
    file: File,
    /// The server's commitment to its secret, by tournament.
    commitments: BTreeMap<String, Commitment>,
    /// Tournaments that are over for this player and whose `tournament-ended` has not come yet.
    ending: BTreeSet<String>,
}

impl ReceiptWriter {
    /// Opens a receipt; an existing file is continued.
    pub(super) fn open(path: &Path) -> Result<ReceiptWriter> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let failed = |error| Unreadable(format!("failed to open {}: {error}", path.display()));
        let file = file.map_err(failed)?;
        Ok(ReceiptWriter { file, commitments: BTreeMap::new(), ending: BTreeSet::new() })
    }

    /// Records who plays.
    pub(super) fn hello(&mut self, player: &PlayerName, nonce: Option<&Nonce>) -> Result<()> {
        self.write(&ReceiptEntry::Hello { player: player.clone(), nonce: nonce.cloned() })
    }

    /// Records an answer that is about to be sent.
    pub(super) fn answer(&mut self, id: &str, answer: &str) -> Result<()> {
        let answer = serde_json::from_str(answer).unwrap_or(Value::Null);
        self.write(&ReceiptEntry::Answer { id: id.into(), answer })
    }

    /// Records what the program wrote to stderr, and the request that it belongs to.
    pub(super) fn stderr(&mut self, id: Option<String>, text: String) -> Result<()> {
        self.write(&ReceiptEntry::Stderr { id, text })
    }

    /// Records what the server sent.
    pub(super) fn heard(&mut self, event: &ClientEvent) -> Result<()> {
        match event {
            ClientEvent::Notice(notice) => self.noticed(notice),
            ClientEvent::Refused(refused) => match &refused.id {
                Some(id) => {
                    let (id, code) = (id.clone(), refused.code.clone());
                    self.write(&ReceiptEntry::Refused { id, code })
                }
                None => Ok(()),
            },
            ClientEvent::Lost => {
                self.ending.clear();
                self.write(&ReceiptEntry::Lost {})
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the server has announced the end of every tournament that is over for this
    /// player.
    pub(super) fn is_complete(&self) -> bool {
        self.ending.is_empty()
    }

    fn noticed(&mut self, notice: &Notice) -> Result<()> {
        let Some(id) = notice.tournament().map(|id| id.to_string()) else { return Ok(()) };
        match notice.about.as_str() {
            "tournament-over" if notice.data["head"].is_string() => {
                self.ending.insert(id);
                return Ok(());
            }
            "tournament" | "match-over" | "tournament-ended" => {}
            _ => return Ok(()),
        }
        let mut entry = notice.data.clone();
        entry["type"] = notice.about.as_str().into();
        let Ok(entry) = serde_json::from_value::<ReceiptEntry>(entry) else { return Ok(()) };
        match &entry {
            // The server repeats the notice after every login.
            ReceiptEntry::Tournament { commitment, .. }
                if self.commitments.insert(id.clone(), commitment.clone()).as_ref()
                    == Some(commitment) =>
            {
                return Ok(());
            }
            ReceiptEntry::TournamentEnded { secret, head, .. } => {
                self.ending.remove(&id);
                self.compare(&id, secret);
                if let Some(head) = head {
                    eprintln!("agon: tournament {id}: the head of its log is {head}");
                }
            }
            _ => {}
        }
        self.write(&entry)
    }

    fn compare(&self, id: &str, secret: &Secret) {
        if self.commitments.get(id).is_some_and(|published| *published != secret.commitment()) {
            eprintln!(
                "agon: tournament {id}: the revealed secret does not match the server's \
                 commitment; keep the receipt as evidence"
            );
        }
    }

    fn write(&mut self, entry: &ReceiptEntry) -> Result<()> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut value = serde_json::to_value(entry).expect("entries are JSON");
        value["at"] = (since.as_millis() as u64).into();
        let line = format!("{value}\n");
        self.file.write_all(line.as_bytes()).context("failed to write the receipt")
    }
}
