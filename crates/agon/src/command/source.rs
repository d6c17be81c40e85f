//! The log of a run or a server: which streams it has, and work on all of them at once.

use agon_store::{FileLog, Log, SqliteLog, read_file};
use anyhow::Result;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Where the streams of a log are read from.
pub(crate) enum Source {
    Folder(FileLog),
    /// The database of a server.
    Database(SqliteLog),
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
        let database = match path.is_dir() {
            true => Some(path.join(super::serve::LOG_FILE)).filter(|path| path.exists()),
            false => Some(path.to_owned()),
        };
        Ok(match database {
            Some(path) => Source::Database(SqliteLog::open_read_only(path)?),
            None => Source::Folder(FileLog::open_to_parse(path)?),
        })
    }

    pub(crate) fn is_database(&self) -> bool {
        matches!(self, Source::Database(..))
    }

    pub(crate) fn log(&self) -> &dyn Log {
        match self {
            Source::Folder(log) => log,
            Source::Database(log) => log,
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

    /// Calls `work` for every stream, on all cores, one stream at a time per thread. Returns its
    /// results by the streams' names.
    pub(crate) fn each<T: Send>(
        &self,
        names: &[String],
        progress: &Progress,
        work: impl Fn(&dyn Log, &str) -> T + Sync,
    ) -> Result<BTreeMap<String, T>> {
        let next = AtomicUsize::new(0);
        let worker = || -> Result<Vec<(String, T)>> {
            let own = self.log().another_reader()?;
            let log = own.as_deref().unwrap_or(self.log());
            let mut done = Vec::new();
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push((name.clone(), work(log, name)));
                progress.done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(done)
        };
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..cores.min(names.len())).map(|_| scope.spawn(worker)).collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                progress.show();
            }
            progress.clear();
            let joined = threads.into_iter().map(|thread| thread.join());
            let done: Result<Vec<_>> =
                joined.map(|done| done.expect("the work on streams does not panic")).collect();
            done.map(|done| done.into_iter().flatten().collect())
        })
    }
}

/// How many streams are done, shown on a terminal if the work takes long.
pub(crate) struct Progress {
    /// What is done, as in `verifying`.
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
