//! A match: games between a few players until it is known who won.
//!
//! It answers for waits, ties, replays, forfeits and what faults cost. It leaves the rules of the
//! game to the game, and who meets whom to the tournament.
//!
//! ```text
//!            everybody is there              the game is over        nothing to confirm
//! Gathering ───────────────────▶ Playing ───────────────────▶ Confirming ─────▶ Gathering or Ended
//!     ▲  └─ waited in vain ─▶ Ended │ forfeit, removal                │
//!     └────────────────────────────┴──────────── next game ──────────┘
//! ```
//!
//! The clock of a request starts when it was delivered. That is a fact about a connection, so it is
//! kept beside the state and not in the log: after a restart requests are sent again and their
//! clocks start anew, so time the server was down counts against nobody. A pause is the same, but
//! it is in the log, for what would follow a game does not follow until the match is resumed.

mod apply;
mod notice;
mod operator;
mod step;
mod view;

use crate::event::{Event, MatchCreated};
use crate::fair::{Nonce, Secret};
use crate::fault::{Fault, Faulted};
use crate::ids::{Millis, PlayerName, Raw, RequestId};
use crate::line::Line;
use crate::plan::MatchPlan;
use crate::policy::CrashCost;
use crate::referee::Referee;
use crate::report::{GameResult, MatchResult};
use crate::ruling::Ruling;
use agon_games::{GameKind, GameState, Seat, Seed, SetupError};
use std::collections::BTreeMap;
use std::sync::Arc;

pub use apply::ApplyError;
pub use notice::Notice;
pub use operator::MatchOrder;
pub use view::MatchView;

/// What comes to a match from outside.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// A player is there (again).
    Arrive {
        /// Who.
        player: PlayerName,
        /// What it adds to the luck of its games.
        nonce: Option<Nonce>,
    },
    /// A player is gone: its connection was lost, or it withdrew.
    Leave {
        /// Who.
        player: PlayerName,
        /// Why.
        fault: Fault,
    },
    /// A player answers a request.
    Answer {
        /// Who sent it.
        player: PlayerName,
        /// Which request it names.
        request: RequestId,
        /// The answer: JSON text, not looked at yet.
        answer: String,
        /// How long it took; `None`: by the clock of the request.
        took_ms: Option<u64>,
    },
    /// A player answers a request in the words of another system.
    Translated {
        /// Who sent it.
        player: PlayerName,
        /// Which request it is for.
        request: RequestId,
        /// Its translation: JSON text, not looked at yet.
        answer: String,
        /// What was sent, for the evidence of a fault.
        sent: String,
        /// How long it took; `None`: by the clock of the request.
        took_ms: Option<u64>,
    },
    /// A player's open request failed in a way the shell saw: no answer in time, garbage.
    Charge {
        /// Who.
        player: PlayerName,
        /// What.
        fault: Fault,
    },
    /// Waiting for a player is over.
    Expire {
        /// Who was waited for.
        player: PlayerName,
    },
    /// An operator decides something.
    Order {
        /// What.
        order: MatchOrder,
        /// Who, and why.
        ruling: Ruling,
    },
}

/// A command that changes nothing, with the reason for whoever sent it.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
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
        /// What was accepted, if it is the latest.
        accepted: Option<Raw>,
    },
    /// The request was closed without an answer.
    #[error("this request is closed")]
    Late,
    /// There never was such a request.
    #[error("no such request")]
    Foreign,
    /// The player owes no answer, so it cannot fail to give one.
    #[error("{0} owes no answer")]
    NotAsked(PlayerName),
    /// Nobody waits for that player.
    #[error("{0} is not waited for")]
    NotAwaited(PlayerName),
    /// The next game cannot be set up, because its secret is not known (a log read without it).
    #[error("the secret of game {0} is not known")]
    NoSecret(u32),
    /// Nothing runs out and nobody is missed in a pause, and it is not paused twice.
    #[error("the match is paused; resume the tournament first")]
    Paused,
    /// Rulings are made in a pause.
    #[error("the match is not paused; pause the tournament first")]
    NotPaused,
    /// The game has not begun, or was discarded when the match started again.
    #[error("game {0} is none that counts in this match")]
    NoGame(u32),
    /// The game is void already.
    #[error("game {0} is void already")]
    Void(u32),
    /// The game was not voided in this pause.
    #[error("game {0} was not voided in this pause; only what nothing was built on is undone")]
    NotVoid(u32),
    /// Only a match that is over can be reopened.
    #[error("the match is not over")]
    NotOver,
}

/// Where the secrets of a match's games come from.
#[derive(Clone, Debug)]
pub enum Secrets {
    /// From the match's own secret: live play and recovery.
    Known(Secret),
    /// From the log, which reveals them as games end: replay and checking.
    Revealed(BTreeMap<u32, Secret>),
}

impl Secrets {
    /// The secrets for a match's stream: from the match's own secret, or, where that is not known
    /// or not the one its games came from, those that the stream reveals.
    pub fn of_log<'a>(lines: impl IntoIterator<Item = &'a Line>, known: Option<Secret>) -> Secrets {
        let ended = lines.into_iter().filter_map(|line| match &line.event {
            Event::GameEnded(ended) => Some((ended.result.game, ended.secret.clone())),
            _ => None,
        });
        let revealed: BTreeMap<u32, Secret> = ended.collect();
        let fits =
            |secret: &Secret| revealed.iter().all(|(game, one)| secret.of_game(*game) == *one);
        match known.filter(fits) {
            Some(secret) => Secrets::Known(secret),
            None => Secrets::Revealed(revealed),
        }
    }

    /// The secret of a game.
    pub fn of_game(&self, game: u32) -> Option<Secret> {
        match self {
            Secrets::Known(secret) => Some(secret.of_game(game)),
            Secrets::Revealed(secrets) => secrets.get(&game).cloned(),
        }
    }
}

/// What a player is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// The game's question to a seat.
    Game(Seat),
    /// To confirm the result of the game: whether it won.
    Confirm {
        /// Whether it won.
        won: bool,
    },
}

/// An open request.
#[derive(Clone, PartialEq, Debug)]
pub struct Pending {
    /// Its id.
    pub id: RequestId,
    /// Who is asked.
    pub player: PlayerName,
    /// What.
    pub ask: Ask,
    /// How long the answer may take from delivery.
    pub limit_ms: Millis,
}

/// Whether a player is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Presence {
    /// Not there yet, and waited for since then.
    Awaited(Millis),
    Here,
    /// Was lost then.
    Gone(Millis),
}

#[derive(Clone, PartialEq, Debug)]
enum Phase {
    Gathering,
    Playing,
    /// Who has not confirmed yet, by player.
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
    /// Removed from the match; may not go on.
    out: bool,
    /// The game it was removed in: if that is voided, it may go on after all.
    removed_in: Option<u32>,
    /// Waited for in vain, while somebody else who is gone may still come back.
    missed: bool,
}

/// A game that is over.
#[derive(Clone, Debug)]
struct Finished {
    result: GameResult,
    /// The result as it was played, where the game is void now.
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
    finished: Vec<Finished>,
    ties_in_row: u32,
    restarts: u32,
    /// The first game since the latest restart.
    counts_from: u32,
    /// The configuration in force, where a restart changed it.
    config: Option<Raw>,
    faults: Vec<Faulted>,
    paused: Option<Ruling>,
    /// Games that count for nothing; the one in progress may be among them.
    voids: BTreeMap<u32, Ruling>,
    /// Those of them that were voided in this pause.
    undoable: Vec<u32>,
    /// How often the match was over and began anew.
    reopened: u32,
}

/// A match.
#[derive(Clone)]
pub struct Match {
    plan: Arc<MatchPlan>,
    kind: Arc<dyn GameKind>,
    secrets: Secrets,
    state: State,
    /// When open requests were delivered.
    clock: Vec<(RequestId, Millis)>,
}

impl Match {
    /// How many times a match without decision starts again before lots are drawn.
    pub const RESTARTS_MAX: u32 = 10;

    /// Makes a match from its plan. The first event of its stream comes with it.
    pub fn create(
        plan: MatchPlan,
        kind: Arc<dyn GameKind>,
        secrets: Secrets,
        now: Millis,
    ) -> Result<(Match, Event), SetupError> {
        // Luck does not decide whether a game can be set up, so one try tells for all games.
        kind.set_up(plan.config.get(), plan.players.len(), &Seed::from_number(0))?;
        let event = MatchCreated { plan: plan.clone() }.into();
        Ok((Match::from_plan(plan, kind, secrets, now), event))
    }

    fn from_plan(plan: MatchPlan, kind: Arc<dyn GameKind>, secrets: Secrets, now: Millis) -> Match {
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
        };
        Match { plan: Arc::new(plan), kind, secrets, state, clock: Vec::new() }
    }

    /// What the match is about.
    pub fn plan(&self) -> &MatchPlan {
        &self.plan
    }

    /// The game in progress; after the last one, `None`.
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

    /// Everything players did wrong so far.
    pub fn faults(&self) -> &[Faulted] {
        &self.state.faults
    }

    /// Whether `player` is there.
    pub fn is_here(&self, player: &PlayerName) -> bool {
        self.side_of(player).is_some_and(|side| self.here(side))
    }

    /// Whether `player` may not play on in this match, connected or not.
    pub fn has_removed(&self, player: &PlayerName) -> bool {
        self.side_of(player).is_some_and(|side| self.is_out(&self.state.sides[side]))
    }

    /// Whether both machines are in the same state, the clocks of open requests aside.
    pub fn same_state(&self, other: &Match) -> bool {
        self.plan == other.plan && self.state == other.state
    }

    /// All open requests, of players that are gone as well: whoever comes back finds its request
    /// here.
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

    /// Notes that a request was written to its player at `now`: its clock starts, or starts again
    /// if it had to be sent again.
    pub fn delivered(&mut self, request: &RequestId, now: Millis) {
        self.clock.retain(|(id, _)| id != request);
        self.clock.push((request.clone(), now));
    }

    /// Notes that a request has to be sent again: it has no clock until it was.
    pub fn recalled(&mut self, request: &RequestId) {
        self.clock.retain(|(id, _)| id != request);
    }

    /// The command that time alone makes due at `now`, if any. Callers step it and ask again.
    pub fn due(&self, now: Millis) -> Option<Command> {
        let (at, command) = self.next_due()?;
        (at <= now).then_some(command)
    }

    /// When [`due`](Match::due) will have something next.
    pub fn deadline(&self) -> Option<Millis> {
        self.next_due().map(|(at, _)| at)
    }

    fn next_due(&self) -> Option<(Millis, Command)> {
        if self.state.paused.is_some() {
            return None;
        }
        // Who is gone is waited for: its request has no clock until it is sent again.
        let open = self.pending().into_iter().filter(|pending| self.is_here(&pending.player));
        let answers = open.filter_map(|pending| {
            let (_, delivered) = self.clock.iter().find(|(id, _)| *id == pending.id)?;
            let fault = Fault::timeout(pending.limit_ms);
            let command = Command::Charge { player: pending.player, fault };
            Some((delivered.saturating_add(pending.limit_ms), command))
        });
        let waits = (0..self.state.sides.len()).filter_map(|side| {
            let since = self.waited_since(side)?;
            let player = self.state.sides[side].player.clone();
            let until = since.saturating_add(self.plan.rules.time.wait_ms);
            Some((until, Command::Expire { player }))
        });
        answers.chain(waits).min_by_key(|(at, _)| *at)
    }

    /// Since when the match waits for a side, if it does.
    fn waited_since(&self, side: usize) -> Option<Millis> {
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

    /// What a crash costs here: in games of more than two, a lost player is always removed.
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

    /// Whether a side may not go on.
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
