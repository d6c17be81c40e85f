//! Accounts that are there before the server starts, so that nothing is measured of registering.
//!
//! They are written into the log of a folder that is new and goes away with the run. They have no
//! passwords, so nobody can log in to them but by the tokens made here; no server can be asked for
//! such accounts.

use agon_core::lobby::{AccountKind, Role, TokenHash};
use agon_core::{AccountRegistered, Event, PlayerName, TokenIssued, record_lines};
use agon_store::{Append, Log, SqliteLog};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Accounts in one record.
const TOGETHER: usize = 500;

/// How long tokens are good.
const TOKEN_MS: u64 = 7 * 24 * 3_600_000;

/// Writes an operator's account and those of players into a new log; their tokens, the operator's
/// first.
pub(super) fn write(log: &Path, players: usize) -> Result<Vec<String>> {
    let log = SqliteLog::open(log).context("failed to make a log")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("failed to read the clock")?;
    let now = now.as_millis() as u64;
    let operator = ("operator".to_owned(), Role::Operator);
    let players = (1..=players).map(|number| (format!("p{number:05}"), Role::Player));
    let accounts: Vec<(String, Role)> = std::iter::once(operator).chain(players).collect();
    let (mut tokens, mut version) = (Vec::with_capacity(accounts.len()), 0);
    for group in accounts.chunks(TOGETHER) {
        let mut events: Vec<Event> = Vec::with_capacity(2 * group.len());
        for (name, role) in group {
            let account = PlayerName::new(name).context("a name for a player")?;
            let token = token()?;
            let (kind, role, password) = (AccountKind::Program, *role, None);
            events
                .push(AccountRegistered { account: account.clone(), kind, role, password }.into());
            let (hash, expires_at) = (TokenHash::of(&token), now + TOKEN_MS);
            events.push(TokenIssued { account, token: hash, expires_at }.into());
            tokens.push(token);
        }
        let lines = record_lines("lobby", version, now, &events);
        let append = Append { stream: "lobby".into(), expected: version, lines };
        version = log.append(append).context("failed to write accounts")?;
    }
    log.flush().context("failed to write accounts")?;
    Ok(tokens)
}

fn token() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("failed to get random bytes: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
