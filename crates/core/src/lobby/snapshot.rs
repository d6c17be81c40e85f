//! The lobby as text, so that a start need not fold all that ever happened in it.
//!
//! A snapshot is never the truth: the log is. One that cannot be read, or is of another version, is
//! passed over, and the lobby is folded from its first event. Who keeps it, and who says up to
//! which event it goes, is the shell.

use super::index::Index;
use super::tokens::Tokens;
use super::{Account, Cause, Lobby, Queue, QueueName, Request, Selection, Standing};
use crate::ids::{PlayerName, Raw, TournamentId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Text that is no snapshot this program can use.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a snapshot of the lobby: {0}")]
pub struct BadSnapshot(String);

/// What is kept of a lobby: all but its index, which follows from the rest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept<'a> {
    accounts: Cow<'a, BTreeMap<PlayerName, Account>>,
    dropped: u64,
    tokens: Cow<'a, Tokens>,
    line: Cow<'a, Queue>,
    queues: Cow<'a, BTreeMap<QueueName, Queue>>,
    tournaments: Cow<'a, BTreeMap<TournamentId, Standing>>,
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
    /// The version of snapshots this program writes, and the only one it reads. It changes whenever
    /// the lobby's fields do, or what an event does to them: a new program then folds the log.
    pub const SNAPSHOT_VERSION: u32 = 2;

    /// The lobby as text. It holds hashes of passwords and tokens, as the log does.
    pub fn snapshot(&self) -> String {
        let kept = Kept {
            accounts: Cow::Borrowed(&self.accounts),
            dropped: self.dropped,
            tokens: Cow::Borrowed(&self.tokens),
            line: Cow::Borrowed(&self.line),
            queues: Cow::Borrowed(&self.queues),
            tournaments: Cow::Borrowed(&self.tournaments),
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

    /// About how many things a snapshot holds: what it costs to take one.
    pub fn size(&self) -> usize {
        self.accounts.len() + self.tokens.len() + self.tournaments.len()
    }

    /// The lobby a snapshot was made of.
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
