//! `Sync::Always`: synced before the answer, once for all appends that wait together.

use std::collections::HashMap;
use std::sync::Arc;

use super::files::{Files, Slot};
use crate::append::Answers;
use crate::group::{Commit, Group};
use crate::{Append, LogError};

pub(super) fn start(files: Arc<Files>) -> Result<Group, LogError> {
    let root = files.root().to_owned();
    Group::start(FilesWriter(files))
        .map_err(|error| LogError::io("start a thread for", &root, &error))
}

struct FilesWriter(Arc<Files>);

impl Commit for FilesWriter {
    fn commit(&mut self, group: &[&[Append]]) -> Vec<Answers> {
        commit(&self.0, group)
    }
}

/// Writes every append, syncs every file touched, then shows the new events to readers.
fn commit(files: &Files, group: &[&[Append]]) -> Vec<Answers> {
    let appends = || group.iter().copied().flatten();
    let written: Vec<_> = appends().map(|append| files.write(append)).collect();
    let touched: HashMap<_, _> = written.iter().flatten().map(|slot| (slot.id, slot)).collect();
    let touched: Vec<_> = touched.into_values().cloned().collect();
    let failures = files.sync(&touched);
    for slot in touched.iter().filter(|slot| !failures.contains_key(&slot.id)) {
        slot.accept();
    }
    let answer = |append: &Append, slot: Arc<Slot>| match failures.get(&slot.id) {
        None => Ok(append.version_after()),
        Some(error) => Err(error.clone()),
    };
    let answers = appends().zip(written);
    let mut answers = answers.map(|(append, slot)| slot.and_then(|slot| answer(append, slot)));
    group.iter().map(|appends| answers.by_ref().take(appends.len()).collect()).collect()
}
