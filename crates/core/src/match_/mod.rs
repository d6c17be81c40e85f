//! A match: games between a few players until there is a winner.
//!
//! The match handles waits, ties, replays, forfeits and the cost of faults. The game handles its
//! own rules, and the tournament decides who meets whom.
//!
//! ```text
//!            everybody is there              the game is over        nothing to confirm
//! Gathering ───────────────────▶ Playing ───────────────────▶ Confirming ─────▶ Gathering or Ended
//!     ▲  └─ wait timed out ─▶ Ended │ forfeit, removal                │
//!     └────────────────────────────┴──────────── next game ──────────┘
//! ```
//!
//! The clock of a request starts when the request is delivered. Delivery is a fact about a
//! connection, so the match keeps it beside its state and not in the log. After a restart the
//! server sends requests again and their clocks start anew, so nobody is charged for the downtime.
//! A pause also stops the clocks, but it is in the log, because the next game does not start until
//! the match resumes.

mod apply;
mod duplicate;
mod notice;
mod operator;
mod step;
mod view;

use crate::event::{Event, MatchCreated};
use crate::fair::{Nonce, Secret};
use crate::fault::{Fault, Faulted};
use crate::ids::{Millis, PlayerName, Raw, RequestId, Timestamp};
use crate::line::Line;
use crate::plan::MatchPlan;
use crate::policy::CrashCost;
use crate::referee::Referee;
use crate::report::{GameResult, MatchResult};
use crate::ruling::Ruling;
use agon_games::{GameKind, GameState, Seat, Seed, SetupError};
use agon_stats::PairCounts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

pub use apply::ApplyError;
pub use notice::Notice;
pub use operator::MatchOrder;
pub use view::MatchView;

/// An input to a match from outside.
#[derive(Clone, PartialEq, Debug)]
pub enum MatchCommand {
    /// A player connected or reconnected.
    Arrive {
        /// The player.
        player: PlayerName,
        /// The nonce that the player adds to the luck of their games.
        nonce: Option<Nonce>,
    },
    /// A player left: their connection closed, or they withdrew.
    Leave {
        /// The player.
        player: PlayerName,
        /// The fault.
        fault: Fault,
    },
    /// A player answers a request.
    Answer {
        /// The player.
        player: PlayerName,
        /// The id of the request.
        request: RequestId,
        /// The answer as JSON text, not parsed yet.
        answer: String,
        /// How long the answer took; `None`: measured by the clock of the request.
        took_ms: Option<u64>,
    },
    /// A player answers a request in the format of another system.
    Translated {
        /// The player.
        player: PlayerName,
        /// The id of the request.
        request: RequestId,
        /// The translated answer as JSON text, not parsed yet.
        answer: String,
        /// The original text that the player sent, kept as evidence of a fault.
        sent: String,
        /// How long the answer took; `None`: measured by the clock of the request.
        took_ms: Option<u64>,
    },
    /// A player's open request failed before its answer could be read: it timed out, or the answer
    /// was malformed.
    Charge {
        /// The player.
        player: PlayerName,
        /// The fault.
        fault: Fault,
    },
    /// The wait for a player timed out.
    Expire {
        /// The player.
        player: PlayerName,
    },
    /// An operator gives an order.
    Order {
        /// The order.
        order: MatchOrder,
        /// The operator and their reason.
        ruling: Ruling,
    },
}

/// Why a command was rejected, in words for its sender. A rejected command changes nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, thiserror::Error)]
pub enum Rejection {
    /// The match is over.
    #[error("the match is over")]
    Over,
    /// Nobody of that name plays in this match.
    #[error("{0} does not play in this match")]
    Stranger(PlayerName),
    /// The request was answered before.
    #[error("this request was answered already")]
    Repeated {
        /// The accepted answer, if it is the latest one.
        accepted: Option<Raw>,
    },
    /// The request was closed without an answer.
    #[error("this request is closed")]
    Late,
    /// No such request ever existed.
    #[error("no such request")]
    Foreign,
    /// The player has no open request, so they cannot fail to answer one.
    #[error("{0} owes no answer")]
    NotAsked(PlayerName),
    /// The match does not wait for that player.
    #[error("{0} is not waited for")]
    NotAwaited(PlayerName),
    /// The next game cannot be set up, because the log was read without its secret.
    #[error("the secret of game {0} is not known")]
    NoSecret(u32),
    /// The match is paused: nothing times out, nobody is charged as absent, and it cannot be paused
    /// again.
    #[error("the match is paused; resume the tournament first")]
    Paused,
    /// The order needs a pause, and the match is not paused.
    #[error("the match is not paused; pause the tournament first")]
    NotPaused,
    /// The game has not begun, or was discarded when the match started again.
    #[error("game {0} does not count in this match")]
    NoGame(u32),
    /// The game is void already.
    #[error("game {0} is void already")]
    Void(u32),
    /// The game was not voided in this pause.
    #[error("game {0} was not voided in this pause; rulings of earlier pauses stay")]
    NotVoid(u32),
    /// Only a match that is over can be reopened.
    #[error("the match is not over")]
    NotOver,
}

/// Where the secrets of a match's games come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Secrets {
    /// Derived from the match's own secret, in live play and recovery.
    Known(Secret),
    /// Read from the log, which reveals them as games end, for replay and verification.
    Revealed(BTreeMap<u32, Secret>),
}

impl Secrets {
    /// The secrets for a match's stream. They derive from the match's own secret `known`. If that
    /// is missing, or is not the one its games used, they are those that the stream reveals.
    pub fn of_log<'a>(lines: impl IntoIterator<Item = &'a Line>, known: Option<Secret>) -> Secrets {
        let revealed = Secrets::revealed_by(lines).map(|(_, game, secret)| (game, secret.clone()));
        let revealed: BTreeMap<u32, Secret> = revealed.collect();
        let fits =
            |secret: &Secret| revealed.iter().all(|(game, one)| secret.of_game(*game) == *one);
        match known.filter(fits) {
            Some(secret) => Secrets::Known(secret),
            None => Secrets::Revealed(revealed),
        }
    }

    /// The secrets that a match's stream reveals: the line, the game that has the luck of that
    /// secret (the first one of a group of duplicate games), and the secret.
    pub fn revealed_by<'a>(
        lines: impl IntoIterator<Item = &'a Line>,
    ) -> impl Iterator<Item = (&'a Line, u32, &'a Secret)> {
        let mut games = LatestGame::default();
        lines.into_iter().filter_map(move |line| {
            games.revealed_by(&line.event).map(|(game, secret)| (line, game, secret))
        })
    }

    /// The secret of a game.
    pub fn of_game(&self, game: u32) -> Option<Secret> {
        match self {
            Secrets::Known(secret) => Some(secret.of_game(game)),
            Secrets::Revealed(secrets) => secrets.get(&game).cloned(),
        }
    }
}

/// The latest game of a match's stream, for the secrets that its events reveal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LatestGame {
    number: u32,
    /// The game whose luck it has: its own, or the first of its group.
    luck: u32,
}

impl LatestGame {
    /// The secret that the next event reveals, and the game that has its luck.
    pub(crate) fn revealed_by<'a>(&mut self, event: &'a Event) -> Option<(u32, &'a Secret)> {
        let secret = match event {
            Event::GameStarted(started) => {
                self.number = started.game;
                self.luck = started.duplicate_of.unwrap_or(started.game);
                None
            }
            Event::GameEnded(ended) => {
                if ended.result.game != self.number {
                    self.luck = ended.result.game;
                }
                ended.secret.as_ref()
            }
            Event::MatchRestarted(restarted) => restarted.secret.as_ref(),
            Event::MatchEnded(ended) => ended.secret.as_ref(),
            _ => None,
        };
        secret.map(|secret| (self.luck, secret))
    }
}

/// The question that a request puts to a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// The game's question to a seat.
    Game(Seat),
    /// To confirm the result of the game.
    Confirm {
        /// True if the player won the game.
        won: bool,
    },
}

/// An open request.
#[derive(Clone, PartialEq, Debug)]
pub struct Pending {
    /// Its id.
    pub id: RequestId,
    /// The player.
    pub player: PlayerName,
    /// The question.
    pub ask: Ask,
    /// The time limit for the answer, counted from delivery.
    pub limit_ms: Millis,
}

/// A player's connection, as the match knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Presence {
    /// Not connected yet; the match has waited since this time.
    Awaited(Timestamp),
    Here,
    /// Disconnected at this time.
    Gone(Timestamp),
}

#[derive(Clone, PartialEq, Debug)]
enum Phase {
    Gathering,
    Playing,
    /// Players confirm a result: true, by player, for those who still have to.
    Confirming(Vec<bool>),
    Ended(MatchResult),
}

/// One player's part in the match.
#[derive(Clone, PartialEq, Debug)]
struct Side {
    player: PlayerName,
    presence: Presence,
    nonce: Option<Nonce>,
    /// Games won, in halves.
    halves: u32,
    /// Removed from the match for good.
    out: bool,
    /// The game in which the player was removed. If that game is voided, the player may play on.
    removed_in: Option<u32>,
    /// The wait for this player timed out. The match may still wait for other absent players.
    missed: bool,
}

/// A game that is over.
#[derive(Clone, Debug)]
struct Finished {
    result: GameResult,
    /// The result as it was played, if the game is void now.
    played: Option<Box<GameResult>>,
    state: Box<dyn GameState>,
}

impl PartialEq for Finished {
    fn eq(&self, other: &Finished) -> bool {
        self.result == other.result && self.played == other.played && *self.state == *other.state
    }
}

#[derive(Clone, PartialEq, Debug)]
struct State {
    phase: Phase,
    sides: Vec<Side>,
    referee: Option<Referee>,
    /// Shared with copies of the match.
    finished: Vec<Arc<Finished>>,
    ties_in_row: u32,
    restarts: u32,
    /// The number of the first game since the latest restart.
    counts_from: u32,
    /// The current configuration, if a restart changed it.
    config: Option<Raw>,
    faults: Vec<Faulted>,
    paused: Option<Ruling>,
    /// The void games; the one in progress may be among them.
    voids: BTreeMap<u32, Ruling>,
    /// The games that were voided in this pause.
    undoable: Vec<u32>,
    /// How often the match was reopened after its end.
    reopened: u32,
    /// The nonces of the first game of the latest group of duplicate games.
    group_nonces: Vec<Option<Nonce>>,
    /// The results of whole groups of two games since the latest restart.
    pairs: PairCounts,
}

/// A match.
#[derive(Clone)]
pub struct Match {
    plan: Arc<MatchPlan>,
    kind: Arc<dyn GameKind>,
    secrets: Secrets,
    state: State,
    /// When each open request was delivered.
    clock: Vec<(RequestId, Timestamp)>,
}

impl Match {
    /// How many times an undecided match restarts before lots are drawn.
    pub const RESTARTS_MAX: u32 = 10;

    /// Creates a match from its plan, and returns the first event of its stream.
    pub fn create(
        plan: MatchPlan,
        kind: Arc<dyn GameKind>,
        secrets: Secrets,
        now: Timestamp,
    ) -> Result<(Match, Event), SetupError> {
        // Luck does not decide whether a game can be set up, so one attempt covers all games.
        kind.set_up(plan.config.get(), plan.players.len(), &Seed::from_number(0))?;
        let event = MatchCreated { plan: plan.clone() }.into();
        Ok((Match::from_plan(plan, kind, secrets, now), event))
    }

    fn from_plan(
        plan: MatchPlan,
        kind: Arc<dyn GameKind>,
        secrets: Secrets,
        now: Timestamp,
    ) -> Match {
        let side = |player: &PlayerName| Side {
            player: player.clone(),
            presence: Presence::Awaited(now),
            nonce: None,
            halves: 0,
            out: false,
            removed_in: None,
            missed: false,
        };
        let state = State {
            phase: Phase::Gathering,
            sides: plan.players.iter().map(side).collect(),
            referee: None,
            finished: Vec::new(),
            ties_in_row: 0,
            restarts: 0,
            counts_from: 1,
            config: None,
            faults: Vec::new(),
            paused: None,
            voids: BTreeMap::new(),
            undoable: Vec::new(),
            reopened: 0,
            group_nonces: Vec::new(),
            pairs: PairCounts::default(),
        };
        Match { plan: Arc::new(plan), kind, secrets, state, clock: Vec::new() }
    }

    /// The plan of the match.
    pub fn plan(&self) -> &MatchPlan {
        &self.plan
    }

    /// The game in progress; `None` between games and after the last one.
    pub fn referee(&self) -> Option<&Referee> {
        self.state.referee.as_ref()
    }

    /// The finished games with their final positions.
    pub fn finished(&self) -> impl Iterator<Item = (&GameResult, &dyn GameState)> {
        self.state.finished.iter().map(|finished| (&finished.result, &*finished.state))
    }

    /// The result, once the match is over.
    pub fn result(&self) -> Option<&MatchResult> {
        match &self.state.phase {
            Phase::Ended(result) => Some(result),
            _ => None,
        }
    }

    /// All faults of players so far.
    pub fn faults(&self) -> &[Faulted] {
        &self.state.faults
    }

    /// Returns whether `player` is connected.
    pub fn is_here(&self, player: &PlayerName) -> bool {
        self.side_of(player).is_some_and(|side| self.here(side))
    }

    /// Returns whether `player` may not play on in this match, connected or not.
    pub fn has_removed(&self, player: &PlayerName) -> bool {
        self.side_of(player).is_some_and(|side| self.is_out(&self.state.sides[side]))
    }

    /// Returns whether both matches are in the same state. The clocks of open requests do not
    /// count.
    pub fn same_state(&self, other: &Match) -> bool {
        self.plan == other.plan && self.state == other.state
    }

    /// All open requests, including those of disconnected players: a player who reconnects finds
    /// their request here.
    pub fn pending(&self) -> Vec<Pending> {
        match (&self.state.phase, &self.state.referee) {
            (Phase::Playing, Some(referee)) => {
                let answer_ms = self.plan.rules.time.answer_ms;
                let pending = referee.awaiting().map(|seat| Pending {
                    id: referee.request_id(seat),
                    player: referee.seats[seat.index()].clone(),
                    ask: Ask::Game(seat),
                    limit_ms: referee.limit_ms(seat, answer_ms),
                });
                pending.collect()
            }
            (Phase::Confirming(open), _) => {
                let pending = open.iter().enumerate().filter(|(_, open)| **open);
                pending.map(|(side, _)| self.confirmation(side)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Records that a request was written to its player at `now`. Its clock starts, or starts again
    /// if the request was sent again.
    pub fn delivered(&mut self, request: &RequestId, now: Timestamp) {
        self.clock.retain(|(id, _)| id != request);
        self.clock.push((request.clone(), now));
    }

    /// Records that a request must be sent again. It has no clock until it is delivered again.
    pub fn recalled(&mut self, request: &RequestId) {
        self.clock.retain(|(id, _)| id != request);
    }

    /// The command that is due at `now` because time has passed, if any. Callers step it and ask
    /// again.
    pub fn due(&self, now: Timestamp) -> Option<MatchCommand> {
        let (at, command) = self.next_due()?;
        (at <= now).then_some(command)
    }

    /// When [`due`](Match::due) next returns a command.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.next_due().map(|(at, _)| at)
    }

    fn next_due(&self) -> Option<(Timestamp, MatchCommand)> {
        if self.state.paused.is_some() {
            return None;
        }
        // The requests of disconnected players have no clock: the match waits for the players
        // instead.
        let open = self.pending().into_iter().filter(|pending| self.is_here(&pending.player));
        let answers = open.filter_map(|pending| {
            let (_, delivered) = self.clock.iter().find(|(id, _)| *id == pending.id)?;
            let fault = Fault::timeout(pending.limit_ms);
            let command = MatchCommand::Charge { player: pending.player, fault };
            Some((delivered.saturating_add(pending.limit_ms), command))
        });
        let waits = (0..self.state.sides.len()).filter_map(|side| {
            let since = self.waited_since(side)?;
            let player = self.state.sides[side].player.clone();
            let until = since.saturating_add(self.plan.rules.time.wait_ms);
            Some((until, MatchCommand::Expire { player }))
        });
        answers.chain(waits).min_by_key(|(at, _)| *at)
    }

    /// Since when the match waits for a side; `None` if it does not wait.
    fn waited_since(&self, side: usize) -> Option<Timestamp> {
        let out = self.is_out(&self.state.sides[side]);
        let waits = match self.state.phase {
            Phase::Gathering => true,
            Phase::Playing => self.crash_cost() == CrashCost::Resume,
            _ => false,
        };
        let side = &self.state.sides[side];
        match side.presence {
            Presence::Awaited(since) | Presence::Gone(since) if waits && !out && !side.missed => {
                Some(since)
            }
            _ => None,
        }
    }

    /// The cost of a crash. In games of more than two players, the match always removes a lost
    /// player.
    fn crash_cost(&self) -> CrashCost {
        if self.state.sides.len() > 2 { CrashCost::Remove } else { self.plan.rules.crash }
    }

    fn confirmation(&self, side: usize) -> Pending {
        let player = &self.state.sides[side].player;
        let latest = &self.state.finished.last().expect("a game to confirm").result;
        let won = latest.winners.contains(player);
        Pending {
            id: self.confirm_id(side),
            player: player.clone(),
            ask: Ask::Confirm { won },
            limit_ms: self.plan.rules.time.answer_ms,
        }
    }

    fn confirm_id(&self, side: usize) -> RequestId {
        let game = self.state.finished.last().map_or(0, |finished| finished.result.game);
        RequestId::from(format!("{}.{game}.{side}.result", self.plan.id))
    }

    fn side_of(&self, player: &PlayerName) -> Option<usize> {
        self.state.sides.iter().position(|side| side.player == *player)
    }

    /// Returns whether a side is out of the match.
    fn is_out(&self, side: &Side) -> bool {
        let removed = side.removed_in.is_some_and(|game| !self.state.voids.contains_key(&game));
        side.out || removed
    }

    fn here(&self, side: usize) -> bool {
        self.state.sides[side].presence == Presence::Here
    }
}

impl std::fmt::Debug for Match {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Match").field("plan", &self.plan).field("state", &self.state).finish()
    }
}
