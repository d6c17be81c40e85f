//! One decision on its way into the log, and the promise to answer it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::line::Header;
use crate::{AppendError, check_stream_name};

/// The largest append: far above any decision, far below SQLite's limit for one value.
pub(crate) const APPEND_BYTES_MAX: usize = 16 << 20;

/// One decision: consecutive events of one stream, durable together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The stream, for example `match/r1m1`.
    pub stream: Arc<str>,
    /// The version the stream must have: the number of its events so far.
    pub expected: u64,
    /// One JSON object per event, without a newline.
    pub lines: Vec<String>,
}

/// Called once with the new version of the stream, or with the reason why the append was rejected.
pub type Done = Box<dyn FnOnce(Result<u64, AppendError>) + Send>;

impl Append {
    /// The version of the stream after this append.
    pub fn version_after(&self) -> u64 {
        self.expected + self.lines.len() as u64
    }

    /// Checks name, size, and that every line is a whole JSON object with the right `stream`,
    /// `seq` and `more`. A log that accepted anything else could not be opened again.
    pub(crate) fn check(&self) -> Result<(), AppendError> {
        self.check_with(|line| Header::parse(line))
    }

    /// Like [`Append::check`], but trusts that the text after the header of a line is JSON.
    pub(crate) fn check_headers(&self) -> Result<(), AppendError> {
        self.check_with(|line| Header::peek(line))
    }

    fn check_with(
        &self,
        header_of: impl for<'a> Fn(&'a str) -> Result<Header<'a>, serde_json::Error>,
    ) -> Result<(), AppendError> {
        check_stream_name(&self.stream)?;
        let bytes = self.lines.iter().map(|line| line.len() + 1).sum();
        if !(1..=APPEND_BYTES_MAX).contains(&bytes) {
            let stream = self.stream.to_string();
            return Err(AppendError::BadSize { stream, bytes, bytes_max: APPEND_BYTES_MAX });
        }
        let mut more = self.lines.len() as u64;
        let mut seq = self.expected;
        for (index, line) in self.lines.iter().enumerate() {
            more -= 1;
            seq = seq.checked_add(1).ok_or_else(|| self.bad_line(index, "no such version"))?;
            if memchr::memchr(b'\n', line.as_bytes()).is_some() {
                return Err(self.bad_line(index, "it contains a newline"));
            }
            header_of(line)
                .map_err(|error| self.bad_line(index, &error.to_string()))?
                .expect(&self.stream, seq, Some(more))
                .map_err(|reason| self.bad_line(index, &reason))?;
        }
        Ok(())
    }

    pub(crate) fn conflict(&self, actual: u64) -> AppendError {
        AppendError::Conflict { stream: self.stream.to_string(), expected: self.expected, actual }
    }

    fn bad_line(&self, index: usize, reason: &str) -> AppendError {
        AppendError::BadLine {
            stream: self.stream.to_string(),
            line: index + 1,
            reason: reason.to_owned(),
        }
    }
}

/// The results of several appends, in their order.
pub(crate) type Answers = Vec<Result<u64, AppendError>>;

/// Called once with the result of each of several appends, in their order.
pub type DoneAll = Box<dyn FnOnce(Vec<Result<u64, AppendError>>) + Send>;

/// Submits appends one by one, and calls `done` when the last of them is answered.
pub(crate) fn gather(appends: Vec<Append>, done: DoneAll, mut submit: impl FnMut(Append, Done)) {
    if appends.is_empty() {
        return done(Vec::new());
    }
    let results: Vec<Result<u64, AppendError>> =
        appends.iter().map(|_| Err(AppendError::Closed)).collect();
    let gathered = Arc::new(Mutex::new((appends.len(), results, Some(done))));
    for (place, append) in appends.into_iter().enumerate() {
        let gathered = Arc::clone(&gathered);
        let one = move |result| {
            let mut all = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            let (left, results, done) = &mut *all;
            *left -= 1;
            results[place] = result;
            if *left == 0
                && let Some(done) = done.take()
            {
                let results = std::mem::take(results);
                // `done` may submit again, so it must not run under the lock.
                drop(all);
                done(results);
            }
        };
        submit(append, Box::new(one));
    }
}

/// Appends of one caller, waiting in a queue. If they are dropped unanswered, they report that the
/// log is closed. So `done` is called exactly once, even if the writer thread fails.
pub(crate) struct Pending {
    pub(crate) appends: Vec<Append>,
    done: Option<DoneAll>,
}

impl Pending {
    pub(crate) fn new(appends: Vec<Append>, done: DoneAll) -> Self {
        Pending { appends, done: Some(done) }
    }

    /// One append by itself.
    pub(crate) fn one(append: Append, done: Done) -> Self {
        let done = |results: Vec<Result<u64, AppendError>>| {
            done(results.into_iter().next().unwrap_or(Err(AppendError::Closed)));
        };
        Pending::new(vec![append], Box::new(done))
    }

    /// Gives one result for each append.
    pub(crate) fn answer(mut self, results: Vec<Result<u64, AppendError>>) {
        assert_eq!(results.len(), self.appends.len(), "an answer for every append");
        self.call(results);
    }

    fn call(&mut self, results: Vec<Result<u64, AppendError>>) {
        if let Some(done) = self.done.take() {
            // A bug in one caller must not stop the log for all others. The panic hook has already
            // reported it.
            let _ = catch_unwind(AssertUnwindSafe(|| done(results)));
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let closed = self.appends.iter().map(|_| Err(AppendError::Closed)).collect();
        self.call(closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64, more: u64) -> String {
        format!(r#"{{"v":1,"stream":"s","seq":{seq},"at":0,"more":{more},"type":"t","data":1}}"#)
    }

    fn append(expected: u64, lines: Vec<String>) -> Append {
        Append { stream: "s".into(), expected, lines }
    }

    #[test]
    fn lines_must_fit_their_place() {
        assert_eq!(append(4, vec![line(5, 1), line(6, 0)]).check(), Ok(()));
        let wrong = [
            vec![line(5, 0), line(6, 0)],
            vec![line(5, 1)],
            vec![line(4, 0)],
            vec![line(5, 1), line(7, 0)],
            vec![line(5, 0).replace(",\"type\"", ",\n\"type\"")],
            vec![line(5, 0).replace("\"s\"", "\"r\"")],
            vec![String::new()],
        ];
        for lines in wrong {
            let append = append(4, lines);
            let refused = append.check().unwrap_err();
            assert!(matches!(refused, AppendError::BadLine { .. }), "{append:?}");
            assert_eq!(append.check_headers().unwrap_err(), refused);
        }
    }

    #[test]
    fn size_is_bounded_both_ways() {
        let none = append(0, vec![]);
        assert!(matches!(none.check(), Err(AppendError::BadSize { bytes: 0, .. })));
        let large = append(0, vec![" ".repeat(APPEND_BYTES_MAX)]);
        assert!(matches!(large.check(), Err(AppendError::BadSize { .. })));
    }

    #[test]
    fn the_last_version_has_no_successor() {
        let last = append(u64::MAX, vec![line(1, 0)]);
        assert!(matches!(last.check(), Err(AppendError::BadLine { .. })));
    }

    #[test]
    fn an_abandoned_append_is_answered() {
        let (tx, rx) = std::sync::mpsc::channel();
        let done: Done = Box::new(move |result| tx.send(result).unwrap());
        drop(Pending::one(append(0, vec![line(1, 0)]), done));
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [Err(AppendError::Closed)]);
        let (tx, rx) = std::sync::mpsc::channel();
        let two = vec![append(0, vec![line(1, 0)]), append(1, vec![line(2, 0)])];
        drop(Pending::new(two, Box::new(move |results| tx.send(results).unwrap())));
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [vec![Err(AppendError::Closed); 2]]);
    }
}
