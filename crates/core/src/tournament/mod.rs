//! A tournament: pairs players from the results of matches until there is a winner.
//!
//! ```text
//! Greeting ──▶ Playing: round 1, 2, … ──▶ Farewell ──▶ Ended
//!     └─ no configuration fits ─▶ Aborted
//! ```
//!
//! The tournament handles greetings, pairings, byes and farewells. The match handles everything
//! that happens between its players, and the format decides who meets whom (`format.rs`).

mod arena;
mod bracket;
mod departures;
mod double_elimination;
mod format;
mod format_text;
mod gauntlet;
mod groups;
mod interrupt;
mod knockout;
mod operator;
mod results;
mod round;
mod round_robin;
mod scores;
mod stages;
mod step;
mod swiss;
mod until_sure;
#[cfg(test)]
mod winner_stays;
mod wording;

use crate::chain::Head;
use crate::event::{Event, RoundPaired, TournamentCreated};
use crate::fair::{Commitment, Secret};
use crate::fault::{Fault, FaultKind, Faulted};
use crate::ids::{MatchId, Millis, PlayerName, Raw, RequestId};
use crate::line::Line;
use crate::match_::ApplyError;
use crate::plan::{MatchPlan, TournamentPlan};
use crate::policy::{Greeting, MatchRules, Policy};
use crate::report::{Bye, MatchResult, RoundStage};
use crate::ruling::{Interruption, Override, Ruling};
use agon_games::{GameKind, Registry, Seed, SetupError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

pub use arena::Arena;
pub use bracket::Bracket;
pub use double_elimination::DoubleElimination;
pub use format::{
    DrawnMatch, Field, Format, MatchCount, Merit, NextRound, PlayerRecord, TournamentFormat,
};
pub use gauntlet::Gauntlet;
pub use groups::Groups;
pub use knockout::Knockout;
pub use operator::TournamentOrder;
pub use round::Round;
pub use round_robin::RoundRobin;
pub use scores::TieBreak;
pub use stages::{Stage, Stages};
pub use swiss::Swiss;
pub use until_sure::UntilSure;
pub(crate) use wording::earlier_wording;

/// An input to a tournament from outside.
#[derive(Clone, PartialEq, Debug)]
pub enum TournamentCommand {
    /// A player answers the greeting or the farewell.
    Answer {
        /// The player.
        player: PlayerName,
        /// The id of the request.
        request: RequestId,
        /// The answer as JSON text, not parsed yet.
        answer: String,
    },
    /// A player fails to answer, or leaves the tournament.
    Drop {
        /// The player.
        player: PlayerName,
        /// The fault.
        fault: Fault,
    },
    /// A player enters a tournament that has begun.
    Enter {
        /// The player.
        player: PlayerName,
    },
    /// A match is over.
    Report {
        /// The match.
        id: MatchId,
        /// The result of the match.
        result: MatchResult,
        /// The head of the match's stream, including its last event.
        head: Option<Head>,
    },
    /// An engine resumes the tournament, which had played for so long before.
    CountPlayTime {
        /// How long, in milliseconds.
        played_ms: Millis,
    },
    /// The time for new rounds is over.
    EndPlayTime,
    /// Players are missing because the server was restarted, and they cannot reconnect by
    /// themselves.
    Interrupt(Interruption),
    /// The secret is lost, and luck comes from a new one from now on.
    RenewLuck {
        /// The commitment to the new secret.
        commitment: Commitment,
    },
    /// An operator gives an order.
    Order {
        /// The order.
        order: TournamentOrder,
        /// The operator and their reason.
        ruling: Ruling,
    },
}

/// Why a command was rejected. A rejected command changes nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, thiserror::Error)]
pub enum TournamentRejection {
    /// The tournament is over.
    #[error("the tournament is over")]
    Over,
    /// The player is not in this tournament, or is out of it.
    #[error("{0} is not in this tournament")]
    Stranger(PlayerName),
    /// No such request is open.
    #[error("no such request is open")]
    NotAsked,
    /// The match is not open: it is unknown, or its result was reported already.
    #[error("match {0} is not open")]
    NotOpen(MatchId),
    /// A random draw needs the tournament's secret, and the log was read without it.
    #[error("the tournament's secret is not known yet")]
    NoSecret,
    /// The tournament is paused, and nobody is charged as absent in a pause.
    #[error("the tournament is paused; resume it first")]
    Paused,
    /// The order needs a pause, and the tournament is not paused.
    #[error("the tournament is not paused; pause it first")]
    NotPaused,
    /// The match does not exist, or its round is not the latest.
    #[error("match {0} is not in the latest round; results of earlier rounds stay")]
    Settled(MatchId),
    /// The rounds have not begun, or are over.
    #[error("no round is being played")]
    NoRound,
    /// The match is not over, so it cannot be replayed.
    #[error("match {0} is not over; void its games, or override its result")]
    NotOver(MatchId),
    /// There is a ruling about the match in this pause.
    #[error("match {0} was ruled about in this pause; undo that first")]
    Ruled(MatchId),
    /// There is no ruling about the match in this pause.
    #[error("there is no ruling about match {0} in this pause; rulings in effect cannot be undone")]
    NotRuled(MatchId),
    /// The format does not end by time, its rounds have not begun, or its time is over already.
    #[error("no time for rounds is running")]
    NoPlayTime,
    /// No player is missing whom the tournament still needs.
    #[error("nobody whom the tournament needs is missing")]
    NobodyMissing,
    /// These players cannot win.
    #[error("{0}")]
    Winners(String),
    /// The player is in the tournament, or was.
    #[error("{0} is in this tournament already, or has left it")]
    Entered(PlayerName),
    /// Nobody can enter the tournament any more, for this reason.
    #[error("{0}")]
    EntryClosed(String),
}

/// Why a tournament cannot be held.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PlanError {
    /// The policy contradicts itself.
    #[error("{0}")]
    Policy(String),
    /// The number of players does not fit the format and the game.
    #[error("{0}")]
    Players(String),
    /// Two players have the same name.
    #[error("two players are called {0}; give each a name of its own")]
    SameName(PlayerName),
    /// The first round is drawn at random, and the secret is not known yet.
    #[error("the tournament's secret is not known yet, and the first round depends on it")]
    NoSecret,
    /// The game cannot be set up.
    #[error(transparent)]
    SetUp(#[from] SetupError),
}

/// The question of a request outside matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TournamentAsk {
    /// Is the player ready? The answer is `true` or `false`.
    Ready,
    /// Which configuration for games of up to `seats_max` players? The answer may be `null`.
    Propose {
        /// The players of the largest game.
        seats_max: u32,
    },
    /// The player confirms the end: `"ok"`.
    Farewell {
        /// True if the player won the tournament.
        won: bool,
    },
}

/// An open request outside matches.
#[derive(Clone, PartialEq, Debug)]
pub struct TournamentPending {
    /// Its id.
    pub id: RequestId,
    /// The player.
    pub player: PlayerName,
    /// The question.
    pub ask: TournamentAsk,
    /// The time limit for the answer, counted from delivery.
    pub limit_ms: Millis,
}

#[derive(Clone, PartialEq, Debug)]
enum Phase {
    /// True, by entrant, for those who still have to answer.
    Greeting(Vec<bool>),
    Playing,
    /// True, by entrant, for those who still have to confirm.
    Farewell(Vec<bool>),
    Ended,
    Aborted(String),
}

#[derive(Clone, PartialEq, Debug)]
struct Entrant {
    player: PlayerName,
    proposal: Option<Raw>,
    /// Left the tournament, or was removed from it outside matches.
    dropped: bool,
    /// Out of the tournament: dropped, or out by a match.
    out: bool,
    /// Entered after the tournament had begun.
    is_late: bool,
}

#[derive(Clone, PartialEq, Debug)]
struct State {
    phase: Phase,
    entrants: Vec<Entrant>,
    config: Raw,
    rounds: Vec<Round>,
    /// True if the time for new rounds is over.
    is_time_up: bool,
    winners: Vec<PlayerName>,
    faults: Vec<Faulted>,
    paused: Option<Ruling>,
    /// The ruling that ended the latest pause.
    resumed: Option<Ruling>,
    /// Why the server paused the tournament; `None` if an operator did.
    interrupted: Option<Interruption>,
    /// The players whom restarts of the server cut off.
    cut_off: BTreeSet<PlayerName>,
    /// An operator's decision that replaced the rest of the tournament.
    awarded: Option<Override>,
}

/// A tournament.
#[derive(Clone)]
pub struct Tournament {
    plan: Arc<TournamentPlan>,
    kind: Arc<dyn GameKind>,
    secret: Option<Secret>,
    /// True if rounds are paired as earlier versions did, to verify their logs.
    pairs_as_earlier: bool,
    state: State,
}

impl Tournament {
    /// Creates a tournament from its plan, and returns the first record of its stream. The format
    /// follows the current edition of its rules, and the record says so.
    pub fn create(
        mut plan: TournamentPlan,
        kind: Arc<dyn GameKind>,
        secret: Secret,
    ) -> Result<(Tournament, Vec<Event>), PlanError> {
        let commitment = secret.commitment();
        plan.policy.format.use_current_rules(&plan.policy.rules);
        Tournament::create_unrevealed(plan, kind, Some(secret), commitment)
    }

    /// Like `create`, for a log that may not have revealed the secret yet.
    pub(crate) fn create_unrevealed(
        plan: TournamentPlan,
        kind: Arc<dyn GameKind>,
        secret: Option<Secret>,
        commitment: Commitment,
    ) -> Result<(Tournament, Vec<Event>), PlanError> {
        check_plan(&plan, &*kind)?;
        let created = TournamentCreated { plan: plan.clone(), commitment };
        let mut tournament = Tournament::from_plan(plan, kind, secret);
        let mut events = vec![created.into()];
        if tournament.state.phase == Phase::Playing {
            tournament.next_round(&mut events).map_err(|_| PlanError::NoSecret)?;
        }
        Ok((tournament, events))
    }

    fn from_plan(
        plan: TournamentPlan,
        kind: Arc<dyn GameKind>,
        secret: Option<Secret>,
    ) -> Tournament {
        let entrant = |player: &PlayerName| Entrant {
            player: player.clone(),
            proposal: None,
            dropped: false,
            out: false,
            is_late: false,
        };
        let state = State {
            phase: match plan.policy.greeting {
                Greeting::None => Phase::Playing,
                _ => Phase::Greeting(vec![true; plan.players.len()]),
            },
            entrants: plan.players.iter().map(entrant).collect(),
            config: plan.config.clone(),
            rounds: Vec::new(),
            is_time_up: false,
            winners: Vec::new(),
            faults: Vec::new(),
            paused: None,
            resumed: None,
            interrupted: None,
            cut_off: BTreeSet::new(),
            awarded: None,
        };
        Tournament { plan: Arc::new(plan), kind, secret, pairs_as_earlier: false, state }
    }

    /// Folds a tournament from its stream. `secret` is needed only to continue the tournament.
    pub fn fold<'a>(
        lines: impl IntoIterator<Item = &'a Line>,
        games: &Registry,
        secret: Option<Secret>,
    ) -> Result<Tournament, ApplyError> {
        let mut lines = lines.into_iter();
        let first = lines.next().ok_or(ApplyError::Empty)?;
        let Event::TournamentCreated(created) = &first.event else {
            return Err(ApplyError::NotATournament(first.event.tag()));
        };
        let name = &created.plan.game;
        let kind =
            games.kind(name).cloned().ok_or_else(|| ApplyError::UnknownGame(name.clone()))?;
        let mut folded = Tournament::from_plan(created.plan.clone(), kind, secret);
        for line in lines {
            folded.apply(&line.event)?;
        }
        Ok(folded)
    }

    /// Says whether the next rounds are paired as earlier versions did.
    pub(crate) fn pair_as_earlier(&mut self, as_earlier: bool) {
        self.pairs_as_earlier = as_earlier;
    }

    /// The plan of the tournament.
    pub fn plan(&self) -> &TournamentPlan {
        &self.plan
    }

    /// The configuration of the games: the plan's, or the one chosen from the players' proposals.
    pub fn config(&self) -> &Raw {
        &self.state.config
    }

    /// The rounds so far.
    pub fn rounds(&self) -> &[Round] {
        &self.state.rounds
    }

    /// The matches without a reported result.
    pub fn open_matches(&self) -> impl Iterator<Item = &MatchPlan> {
        self.state.rounds.last().into_iter().flat_map(Round::open)
    }

    /// Returns whether the tournament is over and cannot change any more.
    pub fn is_over(&self) -> bool {
        matches!(self.state.phase, Phase::Ended | Phase::Aborted(_))
    }

    /// Why the tournament could not be played; `None` if it could.
    pub fn aborted(&self) -> Option<&str> {
        match &self.state.phase {
            Phase::Aborted(reason) => Some(reason),
            _ => None,
        }
    }

    /// The winners, once the rounds are over.
    pub fn winners(&self) -> &[PlayerName] {
        &self.state.winners
    }

    /// The secret of one of its matches, if the tournament's own secret is known.
    pub fn match_secret(&self, id: &MatchId) -> Option<Secret> {
        self.secret.as_ref().map(|secret| secret.of_match(id))
    }

    /// Returns whether a player is out of the tournament.
    pub fn is_out(&self, player: &PlayerName) -> bool {
        self.state.entrants.iter().any(|entrant| entrant.out && entrant.player == *player)
    }

    /// Why a player was withdrawn from the tournament outside matches, if they were.
    pub fn withdrawal(&self, player: &PlayerName) -> Option<&Fault> {
        let own = self.state.faults.iter().filter(|faulted| faulted.player == *player);
        own.map(|faulted| &faulted.fault).find(|fault| fault.kind == FaultKind::Withdrew)
    }

    /// Checks that a player can enter now. Before the first round that depends on the number of
    /// players only; later the format decides.
    pub fn may_enter(&self, player: &PlayerName) -> Result<(), TournamentRejection> {
        let closed = |why: &str| {
            let what = format!("nobody can enter any more: {why}");
            Err(TournamentRejection::EntryClosed(what))
        };
        if self.plan.players.contains(player) {
            return Err(TournamentRejection::Entered(player.clone()));
        }
        if self.state.awarded.is_some() {
            return closed("the tournament is being ended");
        }
        match &self.state.phase {
            Phase::Greeting(_) => {}
            Phase::Playing => {
                if let Err(why) = self.plan.policy.format.rules().check_late_entry(&self.field()) {
                    return closed(why);
                }
            }
            _ => return closed("all rounds are over"),
        }
        let mut plan = TournamentPlan::clone(&self.plan);
        plan.players.push(player.clone());
        match check_plan(&plan, &*self.kind) {
            Ok(()) => Ok(()),
            Err(error) => closed(&error.to_string()),
        }
    }

    /// Returns whether both tournaments are in the same state.
    pub fn same_state(&self, other: &Tournament) -> bool {
        self.plan == other.plan && self.state == other.state
    }

    /// Open requests outside matches.
    pub fn pending(&self) -> Vec<TournamentPending> {
        (0..self.state.entrants.len()).filter_map(|at| self.pending_at(at)).collect()
    }

    /// The open request of one player outside matches.
    pub fn pending_of(&self, player: &PlayerName) -> Option<TournamentPending> {
        // Usually no request outside matches is open.
        if !matches!(self.state.phase, Phase::Greeting(_) | Phase::Farewell(_)) {
            return None;
        }
        let at = self.state.entrants.iter().position(|entrant| entrant.player == *player)?;
        self.pending_at(at)
    }

    fn pending_at(&self, at: usize) -> Option<TournamentPending> {
        let (open, stage) = match &self.state.phase {
            Phase::Greeting(open) => (open, "start"),
            Phase::Farewell(open) => (open, "end"),
            _ => return None,
        };
        let player = &self.state.entrants[at].player;
        open[at].then(|| TournamentPending {
            id: RequestId::from(format!("{}.{stage}.{at}", self.plan.id)),
            player: player.clone(),
            ask: self.ask(player),
            limit_ms: self.plan.policy.rules.time.answer_ms,
        })
    }

    /// The players who are notified at the end whether they won: everybody who is not out, whether
    /// they have confirmed or not.
    pub fn end_messages(&self) -> Vec<(PlayerName, bool)> {
        let told = self.state.entrants.iter().filter(|entrant| !entrant.out);
        told.map(|entrant| (entrant.player.clone(), self.state.winners.contains(&entrant.player)))
            .collect()
    }

    fn ask(&self, player: &PlayerName) -> TournamentAsk {
        match (&self.state.phase, self.plan.policy.greeting) {
            (Phase::Greeting(_), Greeting::Proposal) => {
                TournamentAsk::Propose { seats_max: self.seats_max() as u32 }
            }
            (Phase::Greeting(_), _) => TournamentAsk::Ready,
            _ => TournamentAsk::Farewell { won: self.state.winners.contains(player) },
        }
    }

    /// The number of players of the largest possible game. A later round can have a larger game
    /// than the first: nine players make games of 7 and 2, and eight of them may advance.
    fn seats_max(&self) -> usize {
        let players = self.state.entrants.iter().filter(|entrant| !entrant.out).count();
        let sizes = self.plan.policy.format.rules().game_sizes(players);
        *sizes.end().max(sizes.start())
    }

    /// The tournament as its format sees it.
    fn field(&self) -> Field<'_> {
        let out = self.state.entrants.iter().filter(|entrant| entrant.out);
        Field {
            players: &self.plan.players,
            pairing: self.plan.policy.pairing,
            rounds: &self.state.rounds,
            rounds_before: 0,
            ratings: &self.plan.policy.ratings,
            is_time_up: self.state.is_time_up,
            as_earlier: self.pairs_as_earlier,
            winners: &self.state.winners,
            faults: &self.state.faults,
            out: out.map(|entrant| &entrant.player).collect(),
        }
    }

    /// How long rounds are paired after the start; `None` if time does not end the tournament, or
    /// no longer.
    pub fn play_ms(&self) -> Option<Millis> {
        let may_pair = matches!(self.state.phase, Phase::Greeting(_) | Phase::Playing);
        let is_running = may_pair && !self.state.is_time_up;
        self.plan.policy.format.rules().play_ms().filter(|_| is_running)
    }

    fn round_complete(&self) -> bool {
        let last = self.state.rounds.last();
        last.is_none_or(Round::is_over)
    }
}

fn check_plan(plan: &TournamentPlan, kind: &dyn GameKind) -> Result<(), PlanError> {
    plan.policy.check().map_err(PlanError::Policy)?;
    kind.check_config(plan.config.get())?;
    let mut names = BTreeSet::new();
    for player in &plan.players {
        if !names.insert(player) {
            return Err(PlanError::SameName(player.clone()));
        }
    }
    let count = plan.players.len();
    let seats = kind.seats();
    let format = plan.policy.format.rules();
    format.check_players(count).map_err(PlanError::Players)?;
    let fewest = format.players_min();
    if count < fewest || count > 100_000 {
        return Err(PlanError::Players(format!(
            "{count} players: this format needs {fewest} to 100000"
        )));
    }
    let sizes = format.game_sizes(count);
    if plan.policy.rules.sprt.is_some() && sizes != (2..=2) {
        let why =
            "a sequential test compares two players, and matches of this format may have more";
        return Err(PlanError::Policy(why.into()));
    }
    for size in sizes {
        if !seats.contains(&size) {
            let (min, max) = (*seats.start(), *seats.end());
            return Err(SetupError::Seats { game: kind.name(), min, max, given: size }.into());
        }
        if plan.policy.greeting != Greeting::Proposal {
            kind.set_up(plan.config.get(), size, &Seed::from_number(0))?;
        }
        if match_rules(&plan.policy).measure_luck && !can_measure_luck(plan, kind, size) {
            return Err(PlanError::Policy(format!(
                "the luck of {} with this configuration cannot be measured; leave out the \
                 tie-break luck-adjusted",
                kind.name()
            )));
        }
    }
    Ok(())
}

/// Returns whether the luck of games of this many players can be measured. Players may propose any
/// configuration, so then nobody knows.
fn can_measure_luck(plan: &TournamentPlan, kind: &dyn GameKind, size: usize) -> bool {
    let config = plan.config.get();
    let game = kind.set_up(config, size, &Seed::from_number(0));
    let luck = game.ok().and_then(|game| kind.luck(config, &*game));
    luck.is_some() && plan.policy.greeting != Greeting::Proposal
}

/// The rules of every match under a policy.
fn match_rules(policy: &Policy) -> MatchRules {
    let measure_luck = policy.rules.measure_luck || policy.format.rules().measures_luck();
    MatchRules { measure_luck, ..policy.rules.clone() }
}

impl std::fmt::Debug for Tournament {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tournament").field("plan", &self.plan).field("state", &self.state).finish()
    }
}

/// The event of a round with these pairings.
pub(crate) fn paired(
    tournament: &Tournament,
    round: u32,
    stage: Option<RoundStage>,
    pairings: Vec<DrawnMatch>,
    byes: Vec<Bye>,
) -> RoundPaired {
    let plan = &tournament.plan;
    let rules = match_rules(&plan.policy);
    let matches = pairings.into_iter().map(|pairing| MatchPlan {
        tournament: plan.id.clone(),
        id: pairing.id,
        round,
        players: pairing.players,
        reason: pairing.reason,
        game: plan.game.clone(),
        config: tournament.state.config.clone(),
        rules: rules.clone(),
    });
    RoundPaired { round, stage, matches: matches.collect(), byes }
}
