//! Reading, on a connection of its own, so that it never waits for a commit.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::OptionalExtension;

use super::chain::{self, Break, check_headers};
use super::lookup::Lookup;
use super::schema::{failure, open_reader};
use super::watermark;
use crate::log::{ReaderShare, StreamPart};
use crate::{Damage, Inspection, LogError};

const ORPHANS: &str = "
    SELECT count(*) FROM records WHERE stream_id NOT IN (SELECT id FROM streams)";

const LATEST: &str = "SELECT lines FROM records ORDER BY id DESC LIMIT 1";

/// How much of a database a reader may map into memory; SQLite maps no more than 2 GB.
const MAPPED_BYTES_MAX: i64 = 1 << 31;

pub(crate) struct Reader {
    path: PathBuf,
    lookup: Mutex<Lookup>,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        // If the database is missing or empty, the watermark's error is more helpful.
        let db =
            open_reader(path).map_err(|error| watermark::check(path).err().unwrap_or(error))?;
        Ok(Reader { path: path.to_owned(), lookup: Mutex::new(Lookup::new(db)) })
    }

    /// A reader that maps the file into memory. The records of all streams are interleaved, so
    /// reading many streams reads every page many times, and reading pages dominates the cost. If
    /// the disk fails under a map, the process dies. So use such a reader for one pass over the
    /// log, not in a running server.
    pub(crate) fn open_mapped(path: &Path) -> Result<Self, LogError> {
        let reader = Reader::open(path)?;
        let mapped = reader.lock().db.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX);
        mapped.map_err(|error| failure("open", path, &error))?;
        Ok(reader)
    }

    /// From now on the reader reads everything as of this instant, even if the log grows or its end
    /// is damaged.
    pub(crate) fn hold_still(&self) -> Result<(), LogError> {
        let mut lookup = self.lock();
        // The first read sets the instant.
        let begin = "BEGIN; SELECT count(*) FROM sqlite_schema";
        let begin = || lookup.db.execute_batch(begin);
        let lost = watermark::check_instant(&self.path, &lookup.db, || {
            begin().map_err(|error| failure("check", &self.path, &error))
        })?;
        lookup.lost = lost.map(Box::new);
        lookup.stay();
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that the ends of streams are known.
    pub(super) fn look_at_tail(&self) -> Result<(), LogError> {
        self.look(Lookup::catch_up).map_err(|fault| fault.into_error("read", &self.path))
    }

    pub(crate) fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        let Some(first) = after.checked_add(1).filter(|first| i64::try_from(*first).is_ok()) else {
            return Ok(Vec::new());
        };
        let mut lines = Vec::new();
        self.each_record(stream, first, |seq, text| {
            let skip = usize::try_from(first.saturating_sub(seq)).unwrap_or(usize::MAX);
            lines.extend(text.split('\n').skip(skip).map(str::to_owned));
            Ok(())
        })?;
        Ok(lines)
    }

    pub(super) fn read_together(
        &self,
        streams: &[&str],
        share: ReaderShare,
        take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), LogError> {
        let read = self.look(|lookup| lookup.read_together(streams, share, take));
        read.map_err(|fault| fault.into_error("read", &self.path))
    }

    pub(crate) fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        let streams =
            self.look(Lookup::streams).map_err(|fault| fault.into_error("read", &self.path))?;
        Ok(streams.into_iter().map(|stream| (stream.name, stream.head.version)).collect())
    }

    /// The last event of the last record.
    pub(crate) fn latest(&self) -> Result<Option<String>, LogError> {
        let lookup = self.lock();
        let last = lookup.db.query_row(LATEST, [], |row| row.get::<_, String>(0)).optional();
        let last = last.map_err(|error| failure("read", &self.path, &error))?;
        Ok(last.and_then(|lines| lines.rsplit('\n').next().map(str::to_owned)))
    }

    /// Checks every page and every event; consumes the reader.
    pub(super) fn check(self) -> Result<(), LogError> {
        self.hold_still()?;
        self.check_file()?;
        for (stream, _) in self.streams()? {
            self.each_record(&stream, 1, |seq, text| check_headers(&stream, seq, text))?;
        }
        self.check_strays()?;
        self.check_watermark()
    }

    /// Checks that all acknowledged records exist.
    fn check_watermark(&self) -> Result<(), LogError> {
        self.lock().lost.clone().map_or(Ok(()), |lost| Err(*lost))
    }

    /// Checks every page, and searches for records outside every chain.
    pub(crate) fn check_pages(&self) -> Result<(), LogError> {
        self.check_file()?;
        self.check_strays()?;
        self.check_watermark()
    }

    fn check_file(&self) -> Result<(), LogError> {
        let failed = |error| failure("check", &self.path, &error);
        let lookup = self.lock();
        let one = |sql| lookup.db.query_row(sql, [], |row| row.get::<_, String>(0));
        let verdict = one("PRAGMA quick_check(1)").map_err(failed)?;
        if verdict != "ok" {
            return Err(self.bad(verdict));
        }
        lookup.check_tail().map_err(|fault| fault.into_error("check", &self.path))?;
        match lookup.db.query_row(ORPHANS, [], |row| row.get::<_, i64>(0)).map_err(failed)? {
            0 => Ok(()),
            count => Err(self.bad(format!("{count} records belong to no stream"))),
        }
    }

    /// Searches for records that are in no chain.
    fn check_strays(&self) -> Result<(), LogError> {
        let strays =
            self.look(Lookup::strays).map_err(|fault| fault.into_error("check", &self.path))?;
        match strays {
            0 => Ok(()),
            count => Err(self.bad(format!("{count} records are out of reach of their streams"))),
        }
    }

    /// A stream up to its first bad record.
    pub(crate) fn inspect(&self, stream: &str) -> Inspection {
        let (version, records, broken) = match self.look(|lookup| lookup.records(stream, 1)) {
            Ok((version, records)) => (version, records, None),
            Err(broken) => {
                let records = self.lock().salvaged(stream);
                (chain::end_of(&records), records, Some(broken))
            }
        };
        let mut lines: Vec<String> = Vec::new();
        let walked = chain::each(records, 1, version, |seq, text| {
            check_headers(stream, seq, text)?;
            lines.extend(text.split('\n').map(str::to_owned));
            Ok(())
        });
        let broken = broken.map(|broken| match broken {
            Break::At(_, reason) => reason,
            Break::Fault(fault) => fault.into_error("read", &self.path).to_string(),
        });
        let sound = lines.len() as u64;
        let damage = walked.err().or(broken.map(|reason| (sound + 1, reason)));
        Inspection {
            lines,
            damage: damage.map(|(seq, reason)| Damage { seq, reason, torn: false }),
        }
    }

    /// Visits the records of a stream, beginning with the one that holds event `first`.
    fn each_record(
        &self,
        stream: &str,
        first: u64,
        show: impl FnMut(u64, &str) -> Result<(), (u64, String)>,
    ) -> Result<(), LogError> {
        let bad = |(seq, reason)| LogError::BadRecord {
            path: self.path.clone(),
            stream: stream.to_owned(),
            seq,
            reason,
        };
        let found = self.look(|lookup| lookup.records(stream, first));
        let (version, records) = found.map_err(|broken| match broken {
            Break::At(seq, reason) => bad((seq, reason)),
            Break::Fault(fault) => fault.into_error("read", &self.path),
        })?;
        chain::each(records, first, version, show).map_err(bad)
    }

    /// Reads something as of one instant.
    fn look<T, E: From<rusqlite::Error>>(
        &self,
        read: impl FnOnce(&mut Lookup) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut lookup = self.lock();
        if lookup.is_still {
            return read(&mut lookup);
        }
        lookup.db.execute_batch("BEGIN")?;
        let found = read(&mut lookup);
        lookup.db.execute_batch("ROLLBACK")?;
        found
    }

    fn bad(&self, reason: String) -> LogError {
        LogError::BadDatabase { path: self.path.clone(), reason }
    }

    fn lock(&self) -> MutexGuard<'_, Lookup> {
        self.lookup.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
