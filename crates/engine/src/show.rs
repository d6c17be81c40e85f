//! Public views of tournaments and matches: the types of answers and of events.
//!
//! This module decides what stays hidden. A game in progress shows only its public view. The
//! configuration of games (which may hold a deck or dice in order) is shown only when all is over.
//! Which players have answered, and how often, is not shown either: players who move at the same
//! time must not know that of each other.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::Wires;
use agon_core::lobby::{Reply, Selection};
use agon_core::{
    GameResult, Head, Match, MatchId, MatchResult, MatchView, Override, PlayerName, Policy, Raw,
    Results, Ruling, Timestamp, Tournament, TournamentId, TournamentPlan,
};
use agon_games::{PublicScore, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// How a tournament is played.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Plan")]
pub struct ShownPlan {
    preset: Option<String>,
    game: String,
    policy: Policy,
    players: Vec<PlayerName>,
    /// The configuration of its games; only when it is over.
    #[serde(default, deserialize_with = "any_raw", skip_serializing_if = "Option::is_none")]
    config: Option<Raw>,
}

/// Reads a JSON value inside an enum with a tag, where raw JSON cannot be read.
fn any_raw<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Raw>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(from)?;
    Ok(value.map(|value| Raw(agon_games::json(&value))))
}

impl ShownPlan {
    /// The plan of an unfinished tournament.
    pub fn of(plan: &TournamentPlan) -> ShownPlan {
        ShownPlan {
            preset: plan.preset.clone(),
            game: plan.game.clone(),
            policy: plan.policy.clone(),
            players: plan.players.clone(),
            config: None,
        }
    }
}

/// A match of a tournament.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pairing")]
pub struct ShownPairing {
    round: u32,
    r#match: MatchId,
    players: Vec<PlayerName>,
    /// Why these players meet.
    reason: String,
    over: bool,
    /// The result an operator gave it instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden: Option<Override>,
    /// Why it was played again, each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    replays: Option<Vec<Ruling>>,
}

/// An invited player, and what they said so far.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Replied")]
pub struct ShownReply {
    pub player: PlayerName,
    pub reply: Reply,
}

/// A tournament.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Tournament")]
pub enum ShownTournament {
    /// Players may sign up.
    Open {
        id: TournamentId,
        plan: ShownPlan,
        selection: Selection,
        closes_at: Timestamp,
        /// True if this is the second wait.
        extended: bool,
    },
    /// Players are invited.
    Inviting {
        id: TournamentId,
        plan: ShownPlan,
        selection: Selection,
        closes_at: Timestamp,
        /// True if players who accepted are asked whether they are ready.
        readying: bool,
        replies: Vec<ShownReply>,
    },
    /// It runs.
    Running {
        id: TournamentId,
        plan: ShownPlan,
        pairings: Vec<ShownPairing>,
        /// The results so far; absent for the moment before it begins.
        #[serde(skip_serializing_if = "Option::is_none")]
        results: Option<Results>,
        /// When it began; absent for the moment before.
        #[serde(skip_serializing_if = "Option::is_none")]
        began_at: Option<Timestamp>,
        /// The operator's ruling that paused it, or the server's if a restart interrupted it.
        #[serde(skip_serializing_if = "Option::is_none")]
        paused: Option<Ruling>,
    },
    /// It is over.
    Over {
        id: TournamentId,
        plan: ShownPlan,
        pairings: Vec<ShownPairing>,
        /// The final report: standings, who cheated, who failed.
        results: Results,
        /// The head of its log; not in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    },
    /// It was not held.
    CalledOff { id: TournamentId, reason: String },
}

impl ShownTournament {
    /// A tournament that runs, or ended a moment ago.
    pub fn live(tournament: &Tournament, began_at: Timestamp) -> ShownTournament {
        if tournament.is_over() {
            return ShownTournament::over(tournament, None);
        }
        ShownTournament::Running {
            id: tournament.plan().id.clone(),
            plan: ShownPlan::of(tournament.plan()),
            pairings: pairings(tournament),
            results: Some(tournament.results()),
            began_at: Some(began_at),
            paused: tournament.paused().cloned(),
        }
    }

    /// A finished tournament, with the head of its log if that is known.
    pub fn over(tournament: &Tournament, head: Option<Head>) -> ShownTournament {
        // The configuration that was played: for example, the map that was chosen among proposals.
        let config = Some(tournament.config().clone());
        ShownTournament::Over {
            id: tournament.plan().id.clone(),
            plan: ShownPlan { config, ..ShownPlan::of(tournament.plan()) },
            pairings: pairings(tournament),
            results: tournament.results(),
            head,
        }
    }
}

fn pairings(tournament: &Tournament) -> Vec<ShownPairing> {
    let rounds = tournament.rounds().iter().zip(1..);
    let pairings = rounds.flat_map(|(round, number)| {
        round.matches.iter().enumerate().map(move |(at, plan)| {
            let replays = round.replayed[at].iter().map(|(_, ruling)| ruling.clone());
            ShownPairing {
                round: number,
                r#match: plan.id.clone(),
                players: plan.players.clone(),
                reason: plan.reason.clone(),
                over: round.results[at].is_some(),
                overridden: round.overrides[at].clone(),
                replays: (replays.len() > 0).then(|| replays.collect()),
            }
        })
    });
    pairings.collect()
}

/// A match that has not begun.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Coming")]
pub struct ComingMatch<'a> {
    pub tournament: &'a TournamentId,
    pub id: &'a MatchId,
    pub players: &'a [PlayerName],
}

/// A game that runs.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "InProgress")]
pub struct GameInProgress<'a> {
    game: u32,
    seats: &'a [PlayerName],
    /// The public view; the schema of the game has its form.
    view: Raw,
    /// The operator's ruling that will make it void.
    #[serde(skip_serializing_if = "Option::is_none")]
    voided: Option<&'a Ruling>,
}

/// A game that is over.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Latest")]
pub struct ShownLatestGame<'a> {
    result: &'a GameResult,
    /// The public view; everything once the match is over.
    view: Raw,
}

/// A match.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Match")]
pub enum ShownMatch<'a> {
    /// It will begin in a moment.
    Waiting {
        game: &'a str,
        reason: &'a str,
        #[serde(rename = "match")]
        in_match: ComingMatch<'a>,
    },
    /// It runs.
    Running {
        game: &'a str,
        reason: &'a str,
        #[serde(rename = "match")]
        in_match: MatchView<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        in_progress: Option<GameInProgress<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        latest: Option<ShownLatestGame<'a>>,
        /// The operator's ruling that paused it.
        #[serde(skip_serializing_if = "Option::is_none")]
        paused: Option<&'a Ruling>,
        /// Over which wire each player is connected; players without a connection are left out.
        wires: Wires,
    },
    /// It is over.
    Over {
        game: &'a str,
        reason: &'a str,
        #[serde(rename = "match")]
        in_match: MatchView<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        latest: Option<ShownLatestGame<'a>>,
        result: &'a MatchResult,
        /// The head of its log; not in events.
        #[serde(skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    },
}

impl<'a> ShownMatch<'a> {
    /// A running match with the wires of its players, or a finished one.
    pub fn of(played: &'a Match, wires: Wires) -> ShownMatch<'a> {
        let (game, reason) = (played.plan().game.as_str(), played.plan().reason.as_str());
        // The games of a match may share a deck or dice, so everything is shown only after the last
        // one.
        let viewer = if played.result().is_some() { Viewer::Full } else { Viewer::Public };
        let latest = played.finished().last();
        let latest =
            latest.map(|(result, game)| ShownLatestGame { result, view: Raw(game.view(viewer)) });
        let in_match = played.view();
        if let Some(result) = played.result() {
            return ShownMatch::Over { game, reason, in_match, latest, result, head: None };
        }
        let in_progress = played.referee().map(|referee| GameInProgress {
            game: referee.number(),
            seats: referee.seats(),
            view: Raw(referee.game().view(Viewer::Public)),
            voided: played.void_in_progress(),
        });
        let paused = played.paused();
        ShownMatch::Running { game, reason, in_match, in_progress, latest, paused, wires }
    }

    /// A copy without the game in progress.
    pub fn without_game(mut self) -> ShownMatch<'a> {
        if let ShownMatch::Running { in_progress, .. } = &mut self {
            *in_progress = None;
        }
        self
    }

    /// A copy with the head of the match's log.
    pub fn with_head(mut self, found: Head) -> ShownMatch<'a> {
        if let ShownMatch::Over { head, .. } = &mut self {
            *head = Some(found);
        }
        self
    }
}

/// The score of a running match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveScore {
    r#match: MatchId,
    round: u32,
    players: Vec<PlayerName>,
    /// Games won by player; a shared game counts one half.
    won: Vec<f32>,
    best_of: u32,
    /// The game in progress; absent between games, and in matches whose view is delayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<LiveGameScore>,
}

/// The score of a running game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveGameScore {
    number: u32,
    seats: Vec<PlayerName>,
    #[serde(flatten)]
    score: PublicScore,
}

impl LiveScore {
    /// The score of a match; without that of its game if the view of the match is delayed.
    pub fn of(played: &Match, is_delayed: bool) -> LiveScore {
        let plan = played.plan();
        let referee = played.referee().filter(|_| !is_delayed);
        let game = referee.and_then(|referee| {
            let (number, seats) = (referee.number(), referee.seats().to_vec());
            referee.game().public_score().map(|score| LiveGameScore { number, seats, score })
        });
        LiveScore {
            r#match: plan.id.clone(),
            round: plan.round,
            players: plan.players.clone(),
            won: played.score().won().to_vec(),
            best_of: plan.rules.best_of,
            game,
        }
    }
}

/// A view as JSON that many readers share.
pub fn text(shown: &impl Serialize) -> Arc<str> {
    serde_json::to_string(shown).expect("shown values are JSON").into()
}

/// A public view of one moment, as JSON that all copies share. The first reader writes it. The
/// engine only copies the state, so that its thread writes nothing for observers.
#[derive(Clone)]
pub struct ViewText(Arc<SharedView>);

struct SharedView {
    state: ViewState,
    written: OnceLock<WrittenView>,
}

enum ViewState {
    Written,
    Tournament(Box<ShownTournament>),
    Match { played: Box<Match>, wires: Wires, has_game: bool },
}

struct WrittenView {
    text: Arc<str>,
    mark: u64,
}

impl ViewText {
    fn new(state: ViewState) -> ViewText {
        ViewText(Arc::new(SharedView { state, written: OnceLock::new() }))
    }

    /// The view of a tournament.
    pub(crate) fn of_tournament(shown: ShownTournament) -> ViewText {
        ViewText::new(ViewState::Tournament(Box::new(shown)))
    }

    /// The view of a match with the wires of its players, with or without the game in progress.
    pub(crate) fn of_match(played: &Match, wires: Wires, has_game: bool) -> ViewText {
        ViewText::new(ViewState::Match { played: Box::new(played.clone()), wires, has_game })
    }

    fn written(&self) -> &WrittenView {
        self.0.written.get_or_init(|| match &self.0.state {
            ViewState::Written => unreachable!("it was made from its text"),
            ViewState::Tournament(shown) => WrittenView::new(text(shown)),
            ViewState::Match { played, wires, has_game } => {
                let shown = ShownMatch::of(played, wires.clone());
                WrittenView::new(text(&if *has_game { shown } else { shown.without_game() }))
            }
        })
    }

    /// The text.
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.written().text)
    }

    /// Identifies the text: equal texts have equal marks, also after a restart. It is not a number
    /// of the log, which would reveal how often players answered.
    pub fn mark(&self) -> u64 {
        self.written().mark
    }
}

impl WrittenView {
    fn new(text: Arc<str>) -> WrittenView {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        WrittenView { mark: hasher.finish(), text }
    }
}

impl From<Arc<str>> for ViewText {
    fn from(text: Arc<str>) -> ViewText {
        let written = OnceLock::from(WrittenView::new(text));
        ViewText(Arc::new(SharedView { state: ViewState::Written, written }))
    }
}

impl std::fmt::Debug for ViewText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl Serialize for ViewText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.text().serialize(to)
    }
}

impl<'de> Deserialize<'de> for ViewText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ViewText, D::Error> {
        Arc::<str>::deserialize(from).map(ViewText::from)
    }
}
