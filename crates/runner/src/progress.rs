//! Progress reports of a run, and the request to stop it.

use agon_core::{Faulted, GameResult, MatchId, MatchResult, PlayerName};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Something that has happened, and is in the log.
#[derive(Clone, PartialEq, Debug)]
pub enum Progress {
    /// A round was drawn up.
    Round {
        /// Its number.
        round: u32,
        /// How many matches it has.
        matches: usize,
        /// How many of them are over already (after resuming).
        done: usize,
        /// How many matches earlier rounds had.
        before: usize,
    },
    /// A match started or was taken up again.
    MatchStarted {
        /// Which.
        id: MatchId,
        /// The players.
        players: Vec<PlayerName>,
    },
    /// A game ended.
    GameEnded {
        /// In which match.
        id: MatchId,
        /// How.
        result: GameResult,
    },
    /// A player did something wrong.
    Fault {
        /// In which match, if in one.
        id: Option<MatchId>,
        /// The fault.
        faulted: Faulted,
    },
    /// A game counts for nothing, because somebody killed a program. Nobody is charged.
    Interrupted {
        /// In which match.
        id: MatchId,
        /// Which game.
        game: u32,
        /// The program that was killed, and how.
        why: String,
    },
    /// The secret of the run was lost when it was killed, and luck comes from a new one.
    LuckRenewed {
        /// How many matches begin anew.
        matches: usize,
    },
    /// A match ended.
    MatchEnded {
        /// Which.
        id: MatchId,
        /// How.
        result: MatchResult,
    },
    /// Answers accepted since the last such report.
    Decisions(u64),
}

/// Asks a run to stop: it finishes what it is committing and ends.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    wake: Arc<Notify>,
}

impl Stop {
    /// Asks.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.wake.notify_waiters();
    }

    /// Returns whether somebody asked.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Waits until somebody asks.
    pub async fn wait(&self) {
        loop {
            let notified = self.wake.notified();
            if self.is_asked() {
                return;
            }
            notified.await;
        }
    }
}
