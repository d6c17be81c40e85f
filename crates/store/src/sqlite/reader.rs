//! Reading, on a connection of its own, so that it never waits for a commit.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::schema::{failure, open_reader};
use crate::LogError;
use crate::line::Header;

const STREAMS: &str = "SELECT name, version FROM streams ORDER BY name";

/// The records of a stream from the one that holds event `after + 1`.
const RECORDS: &str = "
    SELECT r.first_seq, r.count, r.lines FROM streams s JOIN records r ON r.stream_id = s.id
    WHERE s.name = ?1 AND r.first_seq >= coalesce((
        SELECT max(first_seq) FROM records WHERE stream_id = s.id AND first_seq <= ?2
    ), 0)
    ORDER BY r.first_seq";

const ORPHANS: &str = "
    SELECT count(*) FROM records WHERE stream_id NOT IN (SELECT id FROM streams)";

pub(super) struct Reader {
    path: PathBuf,
    db: Mutex<Connection>,
}

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self, LogError> {
        Ok(Reader { path: path.to_owned(), db: Mutex::new(open_reader(path)?) })
    }

    pub(super) fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        let Some(first) = after.checked_add(1).and_then(|first| i64::try_from(first).ok()) else {
            return Ok(Vec::new());
        };
        let mut lines = Vec::new();
        self.each_record(stream, first, |seq, text| {
            let skip = usize::try_from((after + 1).saturating_sub(seq)).unwrap_or(usize::MAX);
            lines.extend(text.split('\n').skip(skip).map(str::to_owned));
            Ok(())
        })?;
        Ok(lines)
    }

    pub(super) fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        let db = self.lock();
        db.prepare(STREAMS)
            .and_then(|mut query| {
                let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?));
                query.query_map([], row)?.collect::<rusqlite::Result<Vec<_>>>()
            })
            .map_err(|error| failure("read", &self.path, &error))
            .map(|list| list.into_iter().map(|(name, v)| (name, v.cast_unsigned())).collect())
    }

    /// Looks at every page and every event; uses up the reader.
    pub(super) fn check(self) -> Result<(), LogError> {
        let failed = |error| failure("check", &self.path, &error);
        // All of it as of one instant: the log may be growing.
        self.lock().execute_batch("BEGIN").map_err(failed)?;
        let one = |sql| self.lock().query_row(sql, [], |row| row.get::<_, String>(0));
        let verdict = one("PRAGMA quick_check(1)").map_err(failed)?;
        if verdict != "ok" {
            return Err(self.bad(verdict));
        }
        let orphans = self.lock().query_row(ORPHANS, [], |row| row.get::<_, i64>(0));
        match orphans.map_err(failed)? {
            0 => {}
            count => return Err(self.bad(format!("{count} records belong to no stream"))),
        }
        for (stream, version) in self.streams()? {
            let last = self.check_stream(&stream)?;
            if last != version {
                let reason = format!("stream {stream} ends at event {last}, not at {version}");
                return Err(self.bad(reason));
            }
        }
        Ok(())
    }

    /// Checks every event of a stream and gives the number of the last one.
    fn check_stream(&self, stream: &str) -> Result<u64, LogError> {
        let mut last = 0;
        self.each_record(stream, 1, |seq, text| {
            let count = text.split('\n').count() as u64;
            for (index, line) in (0..).zip(text.split('\n')) {
                Header::parse(line)
                    .map_err(|error| error.to_string())
                    .and_then(|head| head.expect(stream, seq + index, Some(count - 1 - index)))
                    .map_err(|why| format!("stream {stream}, event {}: {why}", seq + index))?;
            }
            last = seq + count - 1;
            Ok(())
        })?;
        Ok(last)
    }

    /// Shows the records of a stream, beginning with the one that holds event `first`, after
    /// making sure that none is missing in between.
    fn each_record(
        &self,
        stream: &str,
        first: i64,
        mut each: impl FnMut(u64, &str) -> Result<(), String>,
    ) -> Result<(), LogError> {
        let failed = |error| failure("read", &self.path, &error);
        let db = self.lock();
        let mut query = db.prepare(RECORDS).map_err(failed)?;
        let mut rows = query.query((stream, first)).map_err(failed)?;
        let mut due = None;
        while let Some(row) = rows.next().map_err(failed)? {
            let seq = row.get::<_, i64>(0).map_err(failed)?.cast_unsigned();
            let count = row.get::<_, i64>(1).map_err(failed)?.cast_unsigned();
            let text = row.get_ref(2).map_err(failed)?.as_str();
            let text = text.map_err(|error| self.bad(format!("stream {stream}: {error}")))?;
            let lines = text.split('\n').count() as u64;
            // A walk from the start must begin with 1, one from the middle before its middle.
            if due.map_or(seq > first.cast_unsigned(), |due| seq != due) || lines != count {
                let reason = format!(
                    "stream {stream}: {lines} events from {seq} where {count} from {} are due",
                    due.unwrap_or(first.cast_unsigned())
                );
                return Err(self.bad(reason));
            }
            due = Some(seq + count);
            each(seq, text).map_err(|reason| self.bad(reason))?;
        }
        Ok(())
    }

    fn bad(&self, reason: String) -> LogError {
        LogError::BadDatabase { path: self.path.clone(), reason }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
