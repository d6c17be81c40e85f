//! Folds many streams of a log at once, on all cores.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::log::{Log, ReaderShare, StreamPart};

/// How many threads read one log. Every one of them steps over the records of the others.
const READERS_MAX: usize = 8;

/// How many bytes of a stream are read before they are added. The records of all streams are
/// interleaved, and a state that is used once in a while is not in the processor's cache.
const WAITING_BYTES_MAX: usize = 8 << 10;

/// How many bytes of all streams may wait.
const WAITING_BYTES_ALL: usize = 64 << 20;

/// Folds streams while their records are read, without keeping all of their lines.
///
/// - `begin` makes the state before the first line of a stream, given by its place in the list.
/// - `add` adds a line, and returns whether it fits.
/// - `end` makes the result after the last line, if there is one.
///
/// Returns the results by the places of their streams. A stream is missing if the log cannot read
/// it together with others, or if a line does not fit. The caller loads it by itself.
pub fn fold_together<S, T: Send>(
    log: &dyn Log,
    streams: &[&str],
    begin: impl Fn(usize) -> S + Sync,
    add: impl Fn(&mut S, &str) -> bool + Sync,
    end: impl Fn(S) -> Option<T> + Sync,
) -> HashMap<usize, T> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let readers = cores.min(READERS_MAX).min(streams.len()) as u32;
    let waiting_max = (WAITING_BYTES_ALL / streams.len().max(1)).min(WAITING_BYTES_MAX);
    let fold = |reader| {
        // A log that threads share has no fast way.
        let Ok(Some(log)) = log.another_reader() else { return Vec::new() };
        let (mut open, mut results) = (FxHashMap::default(), Vec::new());
        let take = &mut |StreamPart { stream, lines, is_last, .. }: StreamPart<'_>| {
            let begin = || OpenStream { state: Some(begin(stream)), waiting: String::new() };
            let one = open.entry(stream).or_insert_with(begin);
            one.waiting.push_str(lines);
            if is_last || one.waiting.len() > waiting_max {
                one.add_waiting(&add);
            } else {
                one.waiting.push('\n');
            }
            if is_last {
                let state = open.remove(&stream).and_then(|one| one.state);
                results.extend(state.and_then(&end).map(|result| (stream, result)));
            }
        };
        // After an error the rest is missing.
        let _ = log.read_together(streams, ReaderShare { reader, readers }, take);
        results
    };
    std::thread::scope(|scope| {
        let fold = &fold;
        let threads: Vec<_> =
            (0..readers).map(|reader| scope.spawn(move || fold(reader))).collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results.flat_map(|results| results.expect("a fold does not panic")).collect()
    })
}

/// A stream that is not read to its end.
struct OpenStream<S> {
    /// `None` after a line that does not fit.
    state: Option<S>,
    /// Lines that were not added yet.
    waiting: String,
}

impl<S> OpenStream<S> {
    fn add_waiting(&mut self, add: &impl Fn(&mut S, &str) -> bool) {
        let add_all = |state: &mut S| self.waiting.split('\n').all(|line| add(state, line));
        if !self.state.as_mut().is_some_and(add_all) {
            self.state = None;
        }
        self.waiting.clear();
    }
}
