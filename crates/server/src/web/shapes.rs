//! The shapes of answers that are put together field by field. They are written down here for the
//! OpenAPI document, and every answer of every test is held against them.
#![expect(dead_code, reason = "only their schemas are of use")]

use crate::engine::Report;
use crate::wires::{Wire, Wires};
use agon_core::lobby::{AccountKind, QueueName, Reply, Role, Selection};
use agon_core::rating::Ranked;
use agon_core::{
    GameResult, Head, MatchId, MatchResult, MatchView, Millis, Override, PlayerName,
    PlayerStatistics, Policy, Results, Ruling, TournamentId,
};
use schemars::JsonSchema;
use serde_json::Value;

/// An error (RFC 9457).
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Problem {
    /// What it is, in a stable word: `urn:agon:problem:…`.
    r#type: String,
    /// The status in words.
    title: String,
    /// The status.
    status: u16,
    /// What is wrong, and what to do next.
    detail: String,
}

/// An account.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Account {
    account: PlayerName,
    kind: AccountKind,
    role: Role,
    /// Why it may not enter tournaments, if so.
    blacklisted: Option<String>,
    registered_at: Millis,
}

/// An account and what it has done.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountInFull {
    account: PlayerName,
    kind: AccountKind,
    role: Role,
    /// Why it may not enter tournaments, if so.
    blacklisted: Option<String>,
    registered_at: Millis,
    /// Over which wire it is here; null if it is not.
    wire: Option<Wire>,
    statistics: PlayerStatistics,
}

/// A page of accounts, by name.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Accounts {
    accounts: Vec<Account>,
    /// What to ask for the next page `after`; null on the last.
    next: Option<PlayerName>,
}

/// A new token.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    account: PlayerName,
    token: String,
    expires_at: Millis,
}

/// Whose a token is.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Holder {
    account: PlayerName,
    kind: AccountKind,
    role: Role,
}

/// Who waits in a queue, in order.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    queue: QueueName,
    players: Vec<PlayerName>,
}

/// A tournament in a list.
#[derive(JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Listed {
    /// Players may sign up.
    Open { id: TournamentId, game: String, players: usize },
    /// Players are invited; `players` counts those who come.
    Inviting { id: TournamentId, game: String, players: usize },
    /// It runs.
    Running {
        id: TournamentId,
        game: String,
        players: usize,
        /// Whether it rests because a restart of the server cut players off.
        #[serde(skip_serializing_if = "Option::is_none")]
        interrupted: Option<bool>,
    },
    /// It is over.
    Over { id: TournamentId, winners: Vec<PlayerName> },
    /// It was not held.
    CalledOff { id: TournamentId, reason: String },
}

/// A page of tournaments, by name.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tournaments {
    tournaments: Vec<Listed>,
    /// What to ask for the next page `after`; null on the last.
    next: Option<TournamentId>,
}

/// A tournament that was announced.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Announced {
    id: TournamentId,
}

/// A player that signed up.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignedUp {
    tournament: TournamentId,
    player: PlayerName,
}

/// Somebody who is invited, and what it said so far.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Replied {
    player: PlayerName,
    reply: Reply,
}

/// What an account is invited to.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Invitations {
    invitations: Vec<Invited>,
}

/// An invitation that is open.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Invited {
    tournament: TournamentId,
    game: String,
    /// Who invites.
    by: Option<PlayerName>,
    /// Whether those who accepted are asked whether they are ready.
    readying: bool,
    reply: Option<Reply>,
    closes_at: Millis,
}

/// What was said to an invitation.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Answered {
    tournament: TournamentId,
    player: PlayerName,
    reply: Reply,
}

/// The final report of a tournament.
#[derive(JsonSchema)]
pub(super) struct FinalReport {
    tournament: TournamentId,
    #[serde(flatten)]
    report: Report,
}

/// How a tournament goes.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    preset: Option<String>,
    game: String,
    policy: Policy,
    players: Vec<PlayerName>,
    /// The configuration of its games; only when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Value>,
}

/// Who meets whom.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pairing {
    round: u32,
    r#match: MatchId,
    players: Vec<PlayerName>,
    reason: String,
    over: bool,
    /// An operator's other result.
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden: Option<Override>,
    /// Why it was played again, each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    replays: Option<Vec<Ruling>>,
}

/// A tournament.
#[derive(JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Tournament {
    /// Players may sign up.
    Open {
        id: TournamentId,
        plan: Plan,
        selection: Selection,
        closes_at: Millis,
        /// Whether this is the second wait.
        extended: bool,
    },
    /// Players are invited.
    Inviting {
        id: TournamentId,
        plan: Plan,
        selection: Selection,
        closes_at: Millis,
        /// Whether those who accepted are asked whether they are ready.
        readying: bool,
        replies: Vec<Replied>,
    },
    /// It runs.
    Running {
        id: TournamentId,
        plan: Plan,
        pairings: Vec<Pairing>,
        /// So far; absent for the moment before it begins.
        #[serde(skip_serializing_if = "Option::is_none")]
        results: Option<Results>,
        /// When it began; absent for the moment before.
        #[serde(skip_serializing_if = "Option::is_none")]
        began_at: Option<Millis>,
        /// The operator's ruling that paused it, or the server's if a restart interrupted it.
        #[serde(skip_serializing_if = "Option::is_none")]
        paused: Option<Ruling>,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
    /// It is over.
    Over {
        id: TournamentId,
        plan: Plan,
        pairings: Vec<Pairing>,
        /// The final report: standings, who cheated, who failed.
        results: Results,
        /// The head of its log; not in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
    /// It was not held.
    CalledOff { id: TournamentId, reason: String },
}

/// A match that has not begun.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Coming {
    tournament: TournamentId,
    id: MatchId,
    players: Vec<PlayerName>,
}

/// A game that runs.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InProgress {
    game: u32,
    seats: Vec<PlayerName>,
    /// The public view; the schema of the game has its form.
    view: Value,
    /// The operator's ruling that will make it void.
    #[serde(skip_serializing_if = "Option::is_none")]
    voided: Option<Ruling>,
}

/// A game that is over.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Latest {
    result: GameResult,
    /// The public view; everything once the match is over.
    view: Value,
}

/// A match.
#[derive(JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Match {
    /// It will begin in a moment.
    Waiting { game: String, reason: String, r#match: Coming },
    /// It runs.
    Running {
        game: String,
        reason: String,
        r#match: MatchView<'static>,
        #[serde(skip_serializing_if = "Option::is_none")]
        in_progress: Option<InProgress>,
        #[serde(skip_serializing_if = "Option::is_none")]
        latest: Option<Latest>,
        /// The operator's ruling that paused it.
        #[serde(skip_serializing_if = "Option::is_none")]
        paused: Option<Ruling>,
        /// Over which wire each player is here; those who are not are left out.
        wires: Wires,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
    /// It is over.
    Over {
        game: String,
        reason: String,
        r#match: MatchView<'static>,
        #[serde(skip_serializing_if = "Option::is_none")]
        latest: Option<Latest>,
        result: MatchResult,
        /// The head of its log; not in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
}

/// A game.
#[derive(JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Game {
    /// It may come.
    Waiting {
        tournament: TournamentId,
        r#match: MatchId,
        game: String,
        number: u32,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
    /// It runs.
    Running {
        tournament: TournamentId,
        r#match: MatchId,
        game: String,
        number: u32,
        seats: Vec<PlayerName>,
        /// The public view; the schema of the game has its form.
        view: Value,
        /// The operator's ruling that will make it void.
        #[serde(skip_serializing_if = "Option::is_none")]
        voided: Option<Ruling>,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
    /// It is over.
    Over {
        tournament: TournamentId,
        r#match: MatchId,
        game: String,
        number: u32,
        result: GameResult,
        /// The public view, and everything once the match is over. An event may come without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        view: Option<Value>,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
    /// The match was decided without it.
    NotPlayed {
        tournament: TournamentId,
        r#match: MatchId,
        game: String,
        number: u32,
        /// How old this is, in milliseconds; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind_ms: Option<Millis>,
        /// How many changes were left out before this one; only in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    },
}

/// Everybody who is rated at a game, the strongest first.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ladder {
    game: String,
    players: Vec<Ranked>,
}

/// The games there are, and the policies with a name.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Games {
    games: Vec<GameKind>,
    presets: Vec<Preset>,
}

/// A game.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GameKind {
    game: String,
    /// The fewest players of a game.
    at_least: usize,
    /// The most players of a game.
    at_most: usize,
}

/// A policy with a name.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Preset {
    preset: String,
    game: String,
    /// A line for people.
    about: String,
}

/// A sign of life.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Health {
    status: String,
    /// Whether new players should come: false once the server stops.
    ready: bool,
    version: String,
    uptime_ms: u64,
}
