//! The tables of a log in PostgreSQL, and what a connection to them needs.
//!
//! `records` holds the log. `cells` says which node may write which part of it: the `epoch` of a
//! cell grows with every claim, and every append compares it. `nodes` holds heartbeats by the
//! database's own clock. `moves` holds orders of operators. Epochs and owners are columns and not
//! events, so the events of a log are the same wherever it is stored.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use postgres::config::TargetSessionAttrs;
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls};

use crate::LogError;

/// The version of the tables.
const FORMAT: i64 = 1;

/// A number that no other program uses for an advisory lock: "agon".
const CREATE_LOCK: i64 = 0x61_67_6f_6e;

const TABLES: &str = "
    CREATE SCHEMA agon;
    CREATE TABLE agon.format (version bigint NOT NULL);
    CREATE TABLE agon.nodes (
        id text PRIMARY KEY,
        address text NOT NULL,
        version text NOT NULL,
        renewed_at timestamptz NOT NULL
    );
    CREATE TABLE agon.cells (
        id text PRIMARY KEY,
        owner text,
        epoch bigint NOT NULL,
        confirmed bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);
    CREATE TABLE agon.records (
        id bigint GENERATED ALWAYS AS IDENTITY,
        stream text COLLATE \"C\" NOT NULL,
        first_seq bigint NOT NULL,
        count bigint NOT NULL,
        cell text NOT NULL,
        epoch bigint NOT NULL,
        checksum bigint NOT NULL,
        lines text NOT NULL,
        PRIMARY KEY (stream, first_seq)
    );
    CREATE INDEX records_id ON agon.records (id);
    CREATE TABLE agon.snapshots (stream text PRIMARY KEY, body text NOT NULL);
";

/// Tables and columns that came later. `moves` holds orders of operators, which the node with the
/// lobby carries out and deletes. An operator sets `drained`. `log_version` is the newest version of
/// records that a node reads and writes, and in `cells` the newest that the log may have.
const ADDITIONS: &str = "
    CREATE TABLE IF NOT EXISTS agon.moves (tournament text PRIMARY KEY, node text NOT NULL);
    DO $$ BEGIN
        IF NOT EXISTS (
            SELECT FROM information_schema.columns
            WHERE table_schema = 'agon' AND table_name = 'nodes' AND column_name = 'drained'
        ) THEN
            ALTER TABLE agon.nodes ADD COLUMN drained boolean NOT NULL DEFAULT false;
            ALTER TABLE agon.nodes ADD COLUMN log_version bigint NOT NULL DEFAULT 1;
            ALTER TABLE agon.cells ADD COLUMN log_version bigint NOT NULL DEFAULT 1;
        END IF;
    END $$;
";

/// How long to wait for a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(3);

/// How long the network may be silent before a connection counts as lost.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// The pause between attempts to connect.
pub(super) const RECONNECT_PAUSE: Duration = Duration::from_millis(50);

/// A database by its address.
#[derive(Clone)]
pub(super) struct Database {
    config: Config,
    /// The address without a password, for messages.
    label: PathBuf,
}

impl Database {
    /// Reads an address such as `postgres://user@host:5432/agon`. Several hosts are allowed; the
    /// first that accepts writes is used.
    pub(super) fn parse(url: &str) -> Result<Database, LogError> {
        let label = PathBuf::from(without_password(url));
        let mut config: Config = url.parse().map_err(|error: postgres::Error| LogError::Io {
            what: "understand the address",
            path: label.clone(),
            kind: io::ErrorKind::InvalidInput,
            message: describe(&error),
        })?;
        config
            .application_name("agon")
            .connect_timeout(CONNECT_WAIT)
            .tcp_user_timeout(SILENCE_MAX)
            .keepalives_idle(SILENCE_MAX)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Database { config, label })
    }

    pub(super) fn label(&self) -> &PathBuf {
        &self.label
    }

    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        self.config.connect(NoTls)
    }

    /// Connects, and creates the tables if the database is new.
    pub(super) fn prepare(&self) -> Result<Client, LogError> {
        let failed = |error: postgres::Error| self.failure("open", &error);
        let mut client = self.connect().map_err(failed)?;
        let mut transaction = client.transaction().map_err(failed)?;
        // Of several nodes that start at once, one creates the tables and the others wait.
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&CREATE_LOCK]).map_err(failed)?;
        if !has_tables(&mut transaction).map_err(failed)? {
            transaction.batch_execute(TABLES).map_err(failed)?;
            let insert = "INSERT INTO agon.format VALUES ($1)";
            transaction.execute(insert, &[&FORMAT]).map_err(failed)?;
        }
        transaction.batch_execute(ADDITIONS).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        self.check_format(&mut client)?;
        Ok(client)
    }

    /// Connects to a log that exists.
    pub(super) fn existing(&self) -> Result<Client, LogError> {
        let failed = |error: postgres::Error| self.failure("open", &error);
        let mut client = self.connect().map_err(failed)?;
        if !has_tables(&mut client).map_err(failed)? {
            let reason = "the database has no log of Agon".to_owned();
            return Err(LogError::BadDatabase { path: self.label.clone(), reason });
        }
        self.check_format(&mut client)?;
        Ok(client)
    }

    fn check_format(&self, client: &mut Client) -> Result<(), LogError> {
        let path = self.label.clone();
        let rows = client
            .query("SELECT version FROM agon.format", &[])
            .map_err(|error| self.failure("open", &error))?;
        match rows.first().map(|row| row.get::<_, i64>(0)) {
            Some(FORMAT) => Ok(()),
            Some(found) if found > FORMAT => Err(LogError::Newer { path, found, known: FORMAT }),
            _ => {
                let reason = "the schema `agon` belongs to another program".to_owned();
                Err(LogError::BadDatabase { path, reason })
            }
        }
    }

    /// Translates an error of PostgreSQL for callers that read or open the log.
    pub(super) fn failure(&self, what: &'static str, error: &postgres::Error) -> LogError {
        LogError::Io {
            what,
            path: self.label.clone(),
            kind: kind_of(error),
            message: describe(error),
        }
    }
}

fn has_tables(client: &mut impl postgres::GenericClient) -> Result<bool, postgres::Error> {
    let query = "SELECT to_regclass('agon.format') IS NOT NULL";
    Ok(client.query_one(query, &[])?.get(0))
}

/// Returns whether an error is one of the connection or of a server that stops, so that the same
/// statement may succeed on another connection.
pub(super) fn is_lost(error: &postgres::Error) -> bool {
    let is_temporary = |code: &SqlState| {
        [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ]
        .contains(code)
    };
    error.code().is_none_or(is_temporary)
}

/// The nearest kind of I/O error.
pub(super) fn kind_of(error: &postgres::Error) -> io::ErrorKind {
    match error.code() {
        Some(code) if *code == SqlState::DISK_FULL => io::ErrorKind::StorageFull,
        Some(code)
            if [
                SqlState::INSUFFICIENT_PRIVILEGE,
                SqlState::INVALID_PASSWORD,
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            ]
            .contains(code) =>
        {
            io::ErrorKind::PermissionDenied
        }
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => io::ErrorKind::NotFound,
        _ if is_lost(error) => io::ErrorKind::NotConnected,
        _ => io::ErrorKind::Other,
    }
}

/// An error with its causes: by itself it says only "db error".
pub(super) fn describe(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// An address of a database without its password and options, for messages.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "the database".to_owned() };
    let (before_query, _) = rest.split_once('?').unwrap_or((rest, ""));
    let place = match before_query.rsplit_once('@') {
        Some((user, place)) => {
            let name = user.split_once(':').map_or(user, |(name, _)| name);
            format!("{name}@{place}")
        }
        None => before_query.to_owned(),
    };
    format!("{scheme}://{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_in_no_message() {
        let shown = |url: &str| without_password(url);
        assert_eq!(shown("postgres://u:secret@h:5432/agon"), "postgres://u@h:5432/agon");
        assert_eq!(shown("postgres://u@h,i/agon?password=secret"), "postgres://u@h,i/agon");
        assert_eq!(shown("postgres://h/agon"), "postgres://h/agon");
        assert_eq!(shown("host=h password=secret"), "the database");
        let wrong = Database::parse("postgres://u:secret@h:port/agon").err().unwrap().to_string();
        assert!(wrong.contains("port") && !wrong.contains("secret"), "{wrong}");
    }
}
