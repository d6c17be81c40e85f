//! The lobby as text, so that a start need not fold its whole log.
//!
//! The log is authoritative, and a snapshot only saves time. If a snapshot cannot be read, or has
//! another version, the server folds the lobby from its first event. The shell stores the snapshot
//! together with the number of the last event it covers.

use super::index::Index;
use super::tokens::Tokens;
use super::{Account, Cause, Lobby, LobbyRuling, Queue, QueueName, Request, Selection, Standing};
use crate::ids::{PlayerName, Raw, TournamentId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A text that is not a usable snapshot.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a snapshot of the lobby: {0}")]
pub struct BadSnapshot(String);

/// The content of a snapshot: the lobby without its index, which is derived from the rest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept<'a> {
    accounts: Cow<'a, BTreeMap<PlayerName, Account>>,
    dropped: u64,
    tokens: Cow<'a, Tokens>,
    line: Cow<'a, Queue>,
    queues: Cow<'a, BTreeMap<QueueName, Queue>>,
    tournaments: Cow<'a, BTreeMap<TournamentId, Standing>>,
    rulings: Cow<'a, BTreeMap<TournamentId, Vec<LobbyRuling>>>,
    account_rulings: Cow<'a, BTreeMap<PlayerName, Vec<LobbyRuling>>>,
    selections: Cow<'a, BTreeMap<TournamentId, Selection>>,
    series: Cow<'a, BTreeMap<TournamentId, TournamentId>>,
    continues: Cow<'a, BTreeMap<TournamentId, TournamentId>>,
    askers: Cow<'a, BTreeMap<TournamentId, PlayerName>>,
    owed: Cow<'a, BTreeMap<PlayerName, VecDeque<TournamentId>>>,
    locations: Cow<'a, BTreeMap<PlayerName, Raw>>,
    requests: Cow<'a, VecDeque<Request>>,
    causes: Cow<'a, BTreeSet<Cause>>,
    unnamed_causes: Cow<'a, BTreeSet<(PlayerName, String)>>,
}

impl Lobby {
    /// The version of snapshots that this program writes, and the only one it reads. It must change
    /// whenever the lobby's fields change, or what an event does to them. A new program then folds
    /// the log.
    pub const SNAPSHOT_VERSION: u32 = 4;

    /// The lobby as text. Like the log, it holds hashes of passwords and tokens.
    pub fn snapshot(&self) -> String {
        let kept = Kept {
            accounts: Cow::Borrowed(&self.accounts),
            dropped: self.dropped,
            tokens: Cow::Borrowed(&self.tokens),
            line: Cow::Borrowed(&self.line),
            queues: Cow::Borrowed(&self.queues),
            tournaments: Cow::Borrowed(&self.tournaments),
            rulings: Cow::Borrowed(&self.rulings),
            account_rulings: Cow::Borrowed(&self.account_rulings),
            selections: Cow::Borrowed(&self.selections),
            series: Cow::Borrowed(&self.series),
            continues: Cow::Borrowed(&self.continues),
            askers: Cow::Borrowed(&self.askers),
            owed: Cow::Borrowed(&self.owed),
            locations: Cow::Borrowed(&self.locations),
            requests: Cow::Borrowed(&self.requests),
            causes: Cow::Borrowed(&self.causes),
            unnamed_causes: Cow::Borrowed(&self.unnamed_causes),
        };
        serde_json::to_string(&kept).expect("a lobby is JSON")
    }

    /// Roughly how many items a snapshot holds, which is the cost of taking one.
    pub fn size(&self) -> usize {
        self.accounts.len() + self.tokens.len() + self.tournaments.len()
    }

    /// Restores the lobby from a snapshot.
    pub fn from_snapshot(text: &str) -> Result<Lobby, BadSnapshot> {
        let kept: Kept<'_> =
            serde_json::from_str(text).map_err(|error| BadSnapshot(error.to_string()))?;
        let mut lobby = Lobby {
            accounts: kept.accounts.into_owned(),
            dropped: kept.dropped,
            tokens: kept.tokens.into_owned(),
            line: kept.line.into_owned(),
            queues: kept.queues.into_owned(),
            tournaments: kept.tournaments.into_owned(),
            rulings: kept.rulings.into_owned(),
            account_rulings: kept.account_rulings.into_owned(),
            index: Index::default(),
            selections: kept.selections.into_owned(),
            series: kept.series.into_owned(),
            continues: kept.continues.into_owned(),
            askers: kept.askers.into_owned(),
            owed: kept.owed.into_owned(),
            locations: kept.locations.into_owned(),
            requests: kept.requests.into_owned(),
            causes: kept.causes.into_owned(),
            unnamed_causes: kept.unnamed_causes.into_owned(),
        };
        lobby.index_all();
        Ok(lobby)
    }
}
