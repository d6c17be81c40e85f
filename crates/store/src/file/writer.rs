//! `Sync::Always`: synced before the answer, once for all appends that wait together.

use std::collections::HashMap;
use std::sync::Arc;

use super::files::{Files, Slot};
use crate::append::Pending;
use crate::group::Group;
use crate::{Append, AppendError, LogError};

pub(super) fn start(files: Arc<Files>) -> Result<Group, LogError> {
    let root = files.root().to_owned();
    Group::start(move |turns| turns.serve(|group| commit(&files, group)))
        .map_err(|error| LogError::io("start a thread for", &root, &error))
}

/// Writes every append, syncs every file touched, then shows the new events to readers.
fn commit(files: &Files, group: &[Pending]) -> Vec<Vec<Result<u64, AppendError>>> {
    let appends = || group.iter().flat_map(|pending| &pending.appends);
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
    group.iter().map(|pending| answers.by_ref().take(pending.appends.len()).collect()).collect()
}
