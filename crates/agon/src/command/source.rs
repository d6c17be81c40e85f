//! The log of a run or a server: which streams it has, and work on all of them at once.

use super::serve::store::next_step;
use agon_store::{
    FileLog, Log, PostgresLog, ReaderShare, SqliteLog, StreamPart, read_file, without_password,
};
use anyhow::{Context, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Where the streams of a log are read from.
pub(crate) enum Source {
    Folder(Box<FileLog>),
    /// The database of a server: a file, or one in PostgreSQL.
    Database(Box<dyn Log>),
}

/// The names of a log's streams, by kind.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) tournaments: Vec<String>,
    pub(crate) matches: Vec<String>,
    pub(crate) lobby: Option<String>,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Source> {
        Ok(match open_database(path)? {
            Some(log) => Source::Database(log),
            None => Source::Folder(Box::new(FileLog::open_to_parse(path)?)),
        })
    }

    pub(crate) fn is_database(&self) -> bool {
        matches!(self, Source::Database(..))
    }

    pub(crate) fn log(&self) -> &dyn Log {
        match self {
            Source::Folder(log) => &**log,
            Source::Database(log) => &**log,
        }
    }

    pub(crate) fn names(&self) -> Result<Names> {
        let all = match self {
            Source::Folder(log) => log.names()?,
            Source::Database(log) => log.streams()?.into_iter().map(|(name, _)| name).collect(),
        };
        let mut names = Names::default();
        for name in all {
            match name.split('/').next() {
                Some("tournament") => names.tournaments.push(name),
                Some("lobby") if self.is_database() => names.lobby = Some(name),
                // Secrets of a server do not follow from rules.
                Some("secret") if self.is_database() => {}
                _ => names.matches.push(name),
            }
        }
        Ok(names)
    }

    /// Reports what is wrong with the file of a stream, if its lines are not JSON.
    pub(crate) fn check_whole(&self, name: &str) -> Result<()> {
        if let Source::Folder(log) = self {
            read_file(log.path_of(name)?)?;
        }
        Ok(())
    }

    /// Streams whose last decision a crash tore, among those that were read.
    pub(crate) fn torn(&self) -> u64 {
        match self {
            Source::Folder(log) => log.repairs().len() as u64,
            Source::Database(..) => 0,
        }
    }

    /// Calls `work` for every stream that has events, with its lines. It works on all cores, one
    /// stream at a time per thread, while another thread reads. Returns the results by the streams'
    /// names.
    pub(crate) fn each<T: Send>(
        &self,
        names: &[String],
        progress: &Progress,
        work: impl Fn(&dyn Log, &str, &[&str]) -> Result<T> + Sync,
    ) -> BTreeMap<String, Result<T>> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let (sender, streams) = sync_channel::<StreamText<'_>>(cores);
        let streams = Mutex::new(streams);
        let worker = || -> Vec<(String, Result<T>)> {
            // If the log cannot be opened once more, threads share it.
            let own = self.log().another_reader().ok().flatten();
            let log = own.as_deref().unwrap_or(self.log());
            let mut done = Vec::new();
            loop {
                let next = streams.lock().expect("the work on streams does not panic").recv();
                let Ok(text) = next else { return done };
                let result = text.load(log).and_then(|lines| match lines.is_empty() {
                    true => Ok(None),
                    false => {
                        let lines: Vec<&str> = lines.split('\n').collect();
                        work(log, text.name, &lines).map(Some)
                    }
                });
                done.extend(result.transpose().map(|result| (text.name.to_owned(), result)));
                progress.add_one();
            }
        };
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| self.read(names, sender));
            let threads: Vec<_> =
                (0..cores.min(names.len())).map(|_| scope.spawn(worker)).collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                progress.show();
            }
            progress.clear();
            reader.join().expect("reading does not panic");
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.flat_map(|done| done.expect("the work on streams does not panic")).collect()
        })
    }

    /// Reads streams together as far as the log can, and sends each when it is whole. Sends the
    /// names of the others.
    fn read<'a>(&self, names: &'a [String], sender: SyncSender<StreamText<'a>>) {
        let own = self.log().another_reader().ok().flatten();
        let log = own.as_deref().unwrap_or(self.log());
        let mut left: Vec<&str> = names.iter().map(String::as_str).collect();
        loop {
            let mut texts = vec![String::new(); left.len()];
            let (mut waits, mut is_sent) = (vec![false; left.len()], vec![false; left.len()]);
            let mut held_bytes = 0;
            // A stream that cannot be read together is loaded by itself, which names the error.
            let _ = log.read_together(&left, ReaderShare::ALL, &mut |part| {
                let StreamPart { stream, lines, is_last, events } = part;
                let text = &mut texts[stream];
                // A stream that begins while the memory is full waits for the next pass.
                waits[stream] |= text.is_empty() && held_bytes > TEXT_BYTES_MAX;
                if waits[stream] {
                    return;
                }
                match text.is_empty() {
                    true => text.reserve(events as usize * LINE_BYTES_USUAL),
                    false => text.push('\n'),
                }
                text.push_str(lines);
                held_bytes += lines.len();
                if is_last {
                    let (name, lines) = (left[stream], Some(std::mem::take(text)));
                    held_bytes = held_bytes.saturating_sub(lines.as_ref().map_or(0, String::len));
                    is_sent[stream] = true;
                    // Receivers stop early only after an error, which they report.
                    let _ = sender.send(StreamText { name, lines });
                }
            });
            let rest = left.iter().zip(is_sent).filter(|(_, is_sent)| !is_sent);
            let rest: Vec<&str> = rest.map(|(name, _)| *name).collect();
            let has_ended = rest.is_empty() || rest.len() == left.len();
            left = rest;
            if has_ended {
                break;
            }
        }
        for name in left {
            let _ = sender.send(StreamText { name, lines: None });
        }
    }
}

/// The address of a database in PostgreSQL, if that is what was given instead of a path.
pub(crate) fn address_of(path: &Path) -> Option<&str> {
    let is_address = |text: &&str| {
        ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
    };
    path.to_str().filter(is_address)
}

/// A path or an address for messages, without its password.
pub(crate) fn shown(path: &Path) -> String {
    address_of(path).map_or_else(|| path.display().to_string(), without_password)
}

/// Opens the database of a server for reading: a file, the file in a folder, or an address. `None`
/// for the folder of a run.
pub(crate) fn open_database(path: &Path) -> Result<Option<Box<dyn Log>>> {
    if let Some(url) = address_of(path) {
        let log = PostgresLog::open_read_only(url).map_err(|error| {
            let words = format!("{error}; {}", next_step(&error));
            anyhow::Error::new(error).context(words)
        })?;
        return Ok(Some(Box::new(log)));
    }
    let file = match path.is_dir() {
        true => Some(path.join(super::serve::LOG_FILE)).filter(|path| path.exists()),
        false => Some(path.to_owned()),
    };
    file.map(|file| Ok(Box::new(SqliteLog::open_read_only(file)?) as Box<dyn Log>)).transpose()
}

/// About how many bytes the line of an event has; the text of a stream rarely has to grow then.
const LINE_BYTES_USUAL: usize = 256;

/// How many bytes of streams that are not whole yet are held while streams are read together.
const TEXT_BYTES_MAX: usize = 256 << 20;

/// A stream to work on, with its lines if they were read together with those of other streams.
struct StreamText<'a> {
    name: &'a str,
    lines: Option<String>,
}

impl StreamText<'_> {
    /// The lines of the stream, which are loaded now if they were not read before.
    fn load(&self, log: &dyn Log) -> Result<Cow<'_, str>> {
        match &self.lines {
            Some(lines) => Ok(Cow::Borrowed(lines)),
            None => {
                let name = self.name;
                let lines = log.load(name, 0).with_context(|| format!("failed to read {name}"))?;
                Ok(Cow::Owned(lines.join("\n")))
            }
        }
    }
}

/// How many streams are done, shown on a terminal if the work takes long.
pub(crate) struct Progress {
    /// The verb of the progress line, as in `verifying`.
    verb: &'static str,
    started: Instant,
    done: AtomicUsize,
    total: usize,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(verb: &'static str, total: usize, quiet: bool) -> Progress {
        let is_shown = !quiet && std::io::stderr().is_terminal();
        Progress { verb, started: Instant::now(), done: AtomicUsize::new(0), total, is_shown }
    }

    fn is_due(&self) -> bool {
        self.is_shown && self.started.elapsed() > Duration::from_secs(1)
    }

    /// Counts a stream as done.
    pub(crate) fn add_one(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows the progress of work on another thread.
    pub(crate) fn show_during<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(work);
            while !thread.is_finished() {
                self.show();
            }
            self.clear();
            thread.join().expect("the work on streams does not panic")
        })
    }

    /// Draws the line, and waits a moment.
    pub(crate) fn show(&self) {
        let done = self.done.load(Ordering::Relaxed);
        if self.is_due() {
            let left = self.total.saturating_sub(done) as f64 / done.max(1) as f64;
            let left = self.started.elapsed().as_secs_f64() * left;
            let (verb, total) = (self.verb, self.total);
            eprint!("\r\x1b[K{verb} {done}/{total} streams · ETA {left:.0} s");
        }
        let pause = if self.started.elapsed() < Duration::from_millis(100) { 1 } else { 20 };
        std::thread::park_timeout(Duration::from_millis(pause));
    }

    pub(crate) fn clear(&self) {
        if self.is_due() {
            eprint!("\r\x1b[K");
        }
    }
}
