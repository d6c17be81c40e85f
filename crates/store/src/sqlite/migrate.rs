//! From format 1, which had an index by stream, to format 2, which has a chain of records.
//!
//! It uses one transaction, so the database is always complete, in one format or the other. Damage
//! stays in the same place and is found as before.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::schema::{FORMAT, TABLES, has_sums};

/// Records copied between two checks of the clock.
const STEP: i64 = 10_000;

/// How often to report progress.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// The records of some ids, each with the one before it in its stream, which the old index finds.
const COPY: &str = "
    INSERT INTO records (id, stream_id, prev, first_seq, count, sum, lines)
    SELECT id, stream_id, coalesce((
        SELECT id FROM old_records before
        WHERE before.stream_id = old.stream_id AND before.first_seq < old.first_seq
        ORDER BY before.first_seq DESC LIMIT 1
    ), 0), first_seq, count, sum, lines
    FROM old_records old WHERE id > ?1 AND id <= ?2 ORDER BY id";

const FINISH: &str = "
    INSERT INTO streams (id, name, head, version)
    SELECT id, name, coalesce((
        SELECT id FROM old_records WHERE stream_id = old.id ORDER BY first_seq DESC LIMIT 1
    ), 0), version
    FROM old_streams old;
    INSERT INTO mark SELECT coalesce(max(id), 0) FROM records;
    DROP TABLE old_records;
    DROP TABLE old_streams;";

/// Converts the database, or leaves it as it is.
pub(super) fn migrate(db: &Connection) -> rusqlite::Result<()> {
    // Rolled back if it is dropped before the end.
    let transaction = db.unchecked_transaction()?;
    rebuild(db)?;
    transaction.commit()
}

/// Converts the database without a transaction.
pub(super) fn rebuild(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(&format!(
        "ALTER TABLE records RENAME TO old_records;
         ALTER TABLE streams RENAME TO old_streams;
         {TABLES}"
    ))?;
    let last =
        db.query_row("SELECT coalesce(max(id), 0) FROM old_records", [], |row| row.get(0))?;
    tracing::info!(records = last, "converting the log to format {FORMAT}");
    copy(db, last)?;
    db.execute_batch(FINISH)?;
    db.execute_batch(&format!("PRAGMA user_version = {FORMAT}"))
}

fn copy(db: &Connection, last: i64) -> rusqlite::Result<()> {
    let mut copy = match has_sums(db, "old_records")? {
        true => db.prepare(COPY)?,
        false => db.prepare(&COPY.replace("sum, lines\n", "NULL, lines\n"))?,
    };
    let (mut done, mut shown_at) = (0, Instant::now());
    while done < last {
        let to = done.saturating_add(STEP).min(last);
        copy.execute((done, to))?;
        done = to;
        if shown_at.elapsed() > TELL_EVERY {
            shown_at = Instant::now();
            tracing::info!(done, of = last, "converting the log to format {FORMAT}");
        }
    }
    Ok(())
}
