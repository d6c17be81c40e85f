//! Copies of whole streams from one log to another, record by record.

use agon_core::Line;
use agon_store::{Append, AppendError, Log};
use anyhow::Result;
use std::sync::{Arc, Mutex};

/// A log that takes copies of streams.
pub(super) struct Copier<'a> {
    to: &'a dyn Log,
    failed: Arc<Mutex<Option<AppendError>>>,
}

impl<'a> Copier<'a> {
    pub(super) fn new(to: &'a dyn Log) -> Copier<'a> {
        Copier { to, failed: Arc::default() }
    }

    /// Copies every stream of a log; returns the numbers of streams and events.
    pub(super) fn copy_all(self, from: &dyn Log) -> Result<(u64, u64)> {
        let mut streams = from.streams()?;
        // The record that was written last stays the last one: a server starts its clock after it.
        if let Some(latest) = from.latest()?.map(|text| Line::read(&text)).transpose()? {
            streams.sort_by_key(|(name, _)| **name == *latest.stream);
        }
        let mut events = 0;
        for (name, _) in &streams {
            let lines = from.load(name, 0)?;
            events += lines.len() as u64;
            self.copy(name, lines)?;
        }
        self.finish()?;
        Ok((streams.len() as u64, events))
    }

    /// Appends lines to a stream that is empty so far.
    pub(super) fn copy(&self, name: &str, texts: impl IntoIterator<Item = String>) -> Result<()> {
        let (mut expected, mut lines) = (0, Vec::new());
        for text in texts {
            let is_last = Line::read(&text)?.more == 0;
            lines.push(text);
            if is_last {
                let lines = std::mem::take(&mut lines);
                let append = Append { stream: name.into(), expected, lines };
                expected = append.version_after();
                let failed = Arc::clone(&self.failed);
                let done = move |result: Result<u64, AppendError>| {
                    if let Err(error) = result {
                        failed.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
                    }
                };
                self.to.submit(append, Box::new(done));
            }
        }
        Ok(())
    }

    /// Waits until everything is durable.
    pub(super) fn finish(self) -> Result<()> {
        self.to.flush()?;
        match self.failed.lock().unwrap_or_else(|broken| broken.into_inner()).take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}
