//! The core of Agon: referee, match and tournament, as plain state machines.
//!
//! ```text
//!               commands                                   requests, deadlines
//!   shell ───────────────────▶ Tournament ◀── results ── Match ──▶ Referee ──▶ a Game
//!     ▲      answers, losses,       │                      │
//!     │      returns, ticks         └──────── events ──────┘
//!     │                                         │
//!     └──── commit, then speak ──── log ◀───────┘
//! ```
//!
//! Nothing here has a clock, a socket, a task or entropy. `now`, secrets and messages come in, and
//! events come out. A machine changes only by applying events. A machine that is folded from its
//! log equals the one that wrote it.
//!
//! - [`Match`] plays games between a few players until it knows who won; [`referee`] runs one game.
//! - [`Tournament`] decides who meets whom, from the results of matches.
//! - [`lobby`] manages accounts, logins, queues, sign-ups and the running tournaments.
//! - [`Policy`] holds the settings of organisers; [`presets`](Preset) are those of known systems.
//! - [`fair`] derives all luck from secrets that are committed to before and revealed after.
//! - [`Event`] is the one vocabulary of the log; [`verify`] checks a log against the rules.
//! - [`rating`] and [`statistics`] evaluate the results of players, [`Comparison`] those of one
//!   tournament.
#![forbid(unsafe_code)]

mod chain;
mod comparison;
mod division;
mod event;
mod evidence;
pub mod fair;
mod fault;
mod fold;
mod ids;
mod line;
pub mod lobby;
mod match_;
mod match_key;
mod matching;
mod plan;
mod policy;
mod preset;
pub mod rating;
pub mod referee;
mod replay;
mod report;
mod request_clock;
mod ruling;
pub mod statistics;
pub mod tournament;
pub mod verify;

pub use chain::{Head, StreamEnd};
pub use comparison::{
    ComparedPair, ComparedPlayer, Comparison, EloInterval, PodiumConfidence, TestResult,
    TestVerdict,
};
pub use event::*;
pub use evidence::{Evidence, OpenRequest, evidence};
pub use fair::{Commitment, Nonce, Secret};
pub use fault::{Fault, FaultKind, Faulted};
pub use fold::{BadStream, MatchFold, Misfit, RecoveredMatch, fold};
pub use ids::{
    Age, BadName, JsonText, MatchId, Millis, PlayerName, Raw, RequestId, Timestamp, TournamentId,
};
pub use line::{BadLine, FORMAT_VERSION, Line, record_lines};
pub use match_::{
    ApplyError, Ask, Match, MatchCommand, MatchOrder, MatchView, Notice, Pending, Rejection,
    Secrets,
};
pub use match_key::{MatchKey, MatchName};
pub use plan::{MatchPlan, TournamentPlan};
pub use policy::{
    AgeOrder, CheatCost, CrashCost, Decimal, Farewell, Greeting, MatchRules, Pairing, Policy,
    SprtRule, Ties, TimeLimits,
};
pub use preset::{Preset, UnknownPreset};
pub use rating::{Ladder, Ranked, Rating, RatingSettings, RatingSystem};
pub use replay::{MatchReplay, ReplayStep};
pub use report::{
    Bye, GameEnd, GameResult, How, MatchReport, MatchResult, PlayerSummary, Results, RoundResult,
    RoundStage, TieBreakValue,
};
pub use request_clock::{RequestClock, Timing};
pub use ruling::{BadWhy, Interruption, Override, Ruling, Why};
pub use statistics::{HeadToHead, PlayerStatistics, Statistics};
pub use tournament::{
    Arena, Bracket, DoubleElimination, Format, Gauntlet, Groups, Knockout, MatchCount, PlanError,
    RoundRobin, Stage, Stages, Swiss, TieBreak, Tournament, TournamentAsk, TournamentCommand,
    TournamentOrder, TournamentPending, TournamentRejection, UntilSure,
};
