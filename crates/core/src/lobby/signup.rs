//! Sign-ups: for which tournament, how long, and whom to take.

use super::{QueueName, Terms};
use crate::ids::{Millis, PlayerName, Raw, TournamentId};
use crate::plan::TournamentPlan;
use crate::policy::Policy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a sign-up waits for how many players.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The fewest players that end the first wait well.
    pub at_least: u32,
    /// The most players; the last of them starts the tournament at once.
    pub at_most: u32,
    /// How long the first wait is.
    pub wait_ms: Millis,
    /// How long the second wait is, where the first found too few; 0: there is none.
    pub second_wait_ms: Millis,
    /// The fewest players that end the second wait well.
    pub second_at_least: u32,
    /// Whether another sign-up like this one opens when it is over, as long as there is room for
    /// tournaments. The wait of such a sign-up begins when the first player signs up, so that
    /// nothing happens while nobody comes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
}

impl Window {
    /// Whether the numbers agree with each other.
    pub fn check(&self) -> Result<(), String> {
        let Window { at_least, at_most, second_at_least, .. } = *self;
        if at_least == 0 || at_least > at_most {
            return Err(format!(
                "a sign-up for {at_least} to {at_most} players: need 1 ≤ at_least ≤ at_most"
            ));
        }
        if second_at_least > at_least {
            return Err(format!(
                "the second wait needs {second_at_least} players, the first {at_least}: \
                 it cannot need more"
            ));
        }
        Ok(())
    }
}

/// Whom a tournament takes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Selection {
    /// The first of those logged in, who then move to the end of the line.
    Line {
        /// The most players.
        at_most: u32,
    },
    /// Those logged in whose accounts are oldest.
    Age {
        /// The most players.
        at_most: u32,
    },
    /// Some of those logged in, by a fair draw from the tournament's secret.
    Random {
        /// The most players.
        at_most: u32,
    },
    /// Those who wait in a queue, everybody once.
    Queue {
        /// Which queue.
        queue: QueueName,
        /// The most players.
        at_most: u32,
    },
    /// Exactly these.
    Named {
        /// Who.
        players: Vec<PlayerName>,
    },
    /// Those who sign up in time.
    SignUp(Window),
    /// Those of the invited who come.
    Invitation(Terms),
}

/// A tournament that is asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Announcement {
    /// Its name.
    pub id: TournamentId,
    /// The preset it is made from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The game.
    pub game: String,
    /// The game's configuration, in full.
    pub config: Raw,
    /// The policy.
    pub policy: Policy,
    /// Whom it takes.
    pub selection: Selection,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PlayerName>,
}

impl Announcement {
    /// The plan with these players.
    pub fn plan(&self, players: Vec<PlayerName>) -> TournamentPlan {
        TournamentPlan {
            id: self.id.clone(),
            preset: self.preset.clone(),
            game: self.game.clone(),
            config: self.config.clone(),
            policy: self.policy.clone(),
            players,
        }
    }
}

/// A tournament that waits for players.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignUp {
    /// What is asked for.
    pub announcement: Announcement,
    /// Who signed up, in order.
    pub players: Vec<PlayerName>,
    /// When the wait ends.
    pub closes_at: Millis,
    /// Whether this is the second wait.
    pub extended: bool,
    pub(super) window: Window,
    /// The first of those that repeat each other: its own name, if it is the first or alone.
    pub(super) series: TournamentId,
}

impl SignUp {
    /// Whether its wait has not begun: it repeats others, and nobody is there yet.
    pub(super) fn rests(&self) -> bool {
        self.window.repeat && self.players.is_empty()
    }

    /// Makes its wait longer by time that nobody could sign up in, but no longer than a new one.
    pub(super) fn prolong(&mut self, now: Millis, away_ms: Millis) {
        if self.rests() {
            return;
        }
        let wait_ms = match self.extended {
            false => self.window.wait_ms,
            true => self.window.second_wait_ms,
        };
        self.closes_at = prolonged(self.closes_at, wait_ms, now, away_ms);
    }

    /// The number of the next one in its series; the first is 1.
    pub(super) fn next_number(&self) -> u64 {
        let tail = self.announcement.id.as_str().strip_prefix(self.series.as_str());
        let number = tail.and_then(|tail| tail.strip_prefix('-')?.parse::<u64>().ok());
        number.unwrap_or(1) + 1
    }
}

/// When a wait ends that is longer by `away_ms`, but no longer than a new one.
pub(super) fn prolonged(ends_at: Millis, wait_ms: Millis, now: Millis, away_ms: Millis) -> Millis {
    let longest = ends_at.max(now.saturating_add(wait_ms));
    ends_at.saturating_add(away_ms).min(longest)
}
