//! Accounts that exist before the server starts, so that a run does not measure registering.
//!
//! The lobby machine decides each of them, and its records go into the log of a new folder, so
//! `agon verify` accepts that log. The accounts have no passwords: only the tokens made here log
//! in to them, and no server can be asked for such accounts.

use agon_core::lobby::{AccountKind, Lobby, LobbyCommand, Role, TokenHash};
use agon_core::{PlayerName, StreamEnd, Timestamp};
use agon_store::{Append, Log, Node, PostgresLog, SqliteLog};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long tokens are valid.
const TOKEN_MS: u64 = 7 * 24 * 3_600_000;

/// Writes accounts into a new log: in an empty database if there is one, else in a file. Returns
/// their tokens, the operator's first.
pub(super) fn write(file: &Path, store: Option<&str>, players: usize) -> Result<Vec<String>> {
    let Some(url) = store else {
        return write_to(&SqliteLog::open(file).context("failed to make a log")?, players);
    };
    let node = Node {
        id: format!("bench-{}", std::process::id()),
        address: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        lease: Duration::from_secs(60),
        log_version: agon_core::LOG_VERSION,
        drained: false,
    };
    let log =
        PostgresLog::open(url, node, |_| PostgresLog::WHOLE).context("failed to make a log")?;
    if !log.streams().context("failed to read the log")?.is_empty() {
        bail!("the database has a log already; create an empty one with `createdb bench`");
    }
    log.claim(PostgresLog::WHOLE).context("failed to claim the log")?;
    let tokens = write_to(&log, players)?;
    log.release(PostgresLog::WHOLE).context("failed to release the log")?;
    Ok(tokens)
}

/// Writes the accounts of an operator and of players.
fn write_to(log: &dyn Log, players: usize) -> Result<Vec<String>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("failed to read the clock")?;
    let mut records = Records::new(Timestamp::from_ms(now.as_millis() as u64));
    let operator = ("operator".to_owned(), Role::Operator);
    let players = (1..=players).map(|number| (format!("p{number:05}"), Role::Player));
    let mut tokens = Vec::new();
    for (name, role) in std::iter::once(operator).chain(players) {
        let account = PlayerName::new(&name).context("a name for a player")?;
        let token = token()?;
        let (kind, password) = (AccountKind::Program, None);
        records.decide(LobbyCommand::Register {
            account: account.clone(),
            kind,
            role,
            password,
        })?;
        let (hash, expires_at) = (TokenHash::of(&token), records.now + TOKEN_MS);
        records.decide(LobbyCommand::IssueToken { account, token: hash, expires_at })?;
        tokens.push(token);
    }
    records.append_to(log)?;
    Ok(tokens)
}

/// Records of a new lobby.
struct Records {
    now: Timestamp,
    lobby: Lobby,
    end: StreamEnd,
    appends: Vec<Append>,
}

impl Records {
    fn new(now: Timestamp) -> Records {
        let (lobby, end) = (Lobby::default(), StreamEnd::unchained("lobby", 0));
        Records { now, lobby, end, appends: Vec::new() }
    }

    fn decide(&mut self, command: LobbyCommand) -> Result<()> {
        let events = self.lobby.step(self.now, command).context("failed to make accounts")?;
        let expected = self.end.version();
        let lines = self.end.record(self.now, &events);
        self.appends.push(Append { stream: self.end.name().clone(), expected, lines });
        Ok(())
    }

    /// Makes all records durable.
    fn append_to(self, log: &dyn Log) -> Result<()> {
        let (done, answers) = std::sync::mpsc::channel();
        log.submit_all(self.appends, Box::new(move |answered| drop(done.send(answered))));
        for answer in answers.recv().context("failed to write accounts")? {
            answer.context("failed to write accounts")?;
        }
        log.flush().context("failed to write accounts")
    }
}

fn token() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("failed to get random bytes: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
