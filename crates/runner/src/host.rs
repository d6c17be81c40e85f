//! A run from its folder to its results: the log, its luck, the engine, and the end.

use crate::clock::RunClock;
use crate::driver::{Driver, Tell};
use crate::folder::{Folder, FolderError, RunSettings};
use crate::leftovers;
use crate::match_threads::Shared;
use crate::programs::{Farewell, Programs, Starter};
use crate::progress::{Progress, Stop};
use crate::sandbox::Sandbox;
use agon_bots::{HouseError, Houses};
use agon_core::{
    ApplyError, BadLine, Commitment, Event, Line, MatchPlan, PlanError, PlayerName, Results,
    Secret, StreamEnd, Timestamp, Tournament, TournamentCommand,
};
use agon_engine::{EngineError, MatchKey, StreamKey};
use agon_games::Registry;
use agon_store::{Append, AppendError, FileLog, Log, LogError, Sync};
use std::sync::Arc;
use std::time::Duration;

/// How many threads play matches at most if every record is synced.
const SYNCING_THREADS_MAX: usize = 64;

/// Why a run ended badly.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The tournament cannot be held.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No such house player.
    #[error(transparent)]
    House(#[from] HouseError),
    /// The log refused an event.
    #[error("the log refused an event: {0}")]
    Append(#[from] AppendError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A line of the log cannot be read.
    #[error("{stream}, event {seq}: {bad}")]
    Line {
        /// The stream.
        stream: String,
        /// The event's number.
        seq: u64,
        /// The reason.
        bad: BadLine,
    },
    /// The log does not fit the machines.
    #[error("{stream}: {error}; `agon verify` names the first bad event")]
    Fold {
        /// The stream.
        stream: String,
        /// The reason.
        error: ApplyError,
    },
    /// No such game.
    #[error("there is no game {0:?}")]
    UnknownGame(String),
    /// A thread of the run ended in a panic: a bug of ours.
    #[error("the run was aborted: {0}")]
    Broken(String),
}

impl From<EngineError> for RunError {
    fn from(error: EngineError) -> RunError {
        match error {
            EngineError::Line { stream, seq, bad } => RunError::Line { stream, seq, bad },
            EngineError::Fold { stream, error, .. } => RunError::Fold { stream, error },
            EngineError::Read(error) => match error.downcast::<LogError>() {
                Ok(error) => RunError::Log(*error),
                Err(error) => RunError::Broken(error.to_string()),
            },
        }
    }
}

/// The games and house players there are.
pub struct Known {
    /// The games.
    pub games: Registry,
    /// The house players.
    pub houses: Arc<Houses>,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// The results so far; final unless `stopped`.
    pub results: Results,
    /// True if it was asked to stop before the end.
    pub stopped: bool,
    /// True if nothing was left to do: the tournament was over already.
    pub was_over: bool,
}

/// Plays the tournament in `folder` from where it stands. It wants a runtime with one thread.
///
/// `secret` is the source of all luck. If the log is committed to another secret, that one is lost:
/// matches that are not over begin anew with the luck of `secret`.
pub async fn run(
    folder: &Folder,
    secret: Secret,
    sync: Sync,
    known: Known,
    sandbox: Sandbox,
    stop: Stop,
    tell: impl Fn(Progress) + Send + std::marker::Sync + 'static,
) -> Result<RunOutcome, RunError> {
    let Known { games, houses } = known;
    let settings = folder.open()?;
    for (_, name) in settings.house_players() {
        houses.make(&settings.plan.game, &name)?;
    }
    let log = Arc::new(folder.log(sync)?);
    let mark = leftovers::mark_of(folder.path());
    // The log is ours now, so whatever still plays in this folder belongs to a run that is dead.
    leftovers::end(&mark);
    let mut standing = RunStanding::read(&log, &settings, &games, &secret)?;
    let tell: Tell = Arc::new(tell);
    standing.renew_luck(&log, folder, &secret, &tell)?;
    let clock = RunClock::start(standing.latest_at(&log)?);
    let was_over = standing.is_over();
    let mut stopped = false;
    if !was_over {
        let starter = Starter {
            sandbox: Arc::new(sandbox),
            mark,
            evidence: folder.evidence(),
            hello_limit: Duration::from_millis(settings.hello_ms),
            tournament: settings.plan.id.clone(),
            game: settings.plan.game.clone(),
            commitment: secret.commitment(),
        };
        let programs = Programs::new(starter, settings.concurrency, settings.programs());
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let shared = Shared {
            settings: Arc::new(settings.clone()),
            secret: secret.clone(),
            games: games.clone(),
            houses,
            log: Arc::clone(&log),
            clock,
            tell,
            threads_max: match sync {
                Sync::Process => settings.concurrency.min(cores),
                // Threads that wait for the disk share its syncs.
                Sync::Always => settings.concurrency.min(SYNCING_THREADS_MAX),
            },
        };
        let mut driver = Driver::open(shared, programs, stop)?;
        let outcome = driver.run().await;
        if let Ok(false) = outcome {
            standing = RunStanding::read(&log, &settings, &games, &secret)?;
        }
        driver.programs.say_goodbye(&standing.farewell()).await;
        stopped = outcome?;
    }
    if stopped {
        standing = RunStanding::read(&log, &settings, &games, &secret)?;
    }
    let mut results = standing.results()?;
    if !stopped {
        results.head = standing.end.head().cloned().filter(|_| settings.head_in_results);
        log.flush()?;
        folder.write_results(&results)?;
    }
    Ok(RunOutcome { results, stopped, was_over })
}

/// How the tournament of a run stands, by its log.
struct RunStanding {
    /// `None` if the log is empty.
    tournament: Option<Tournament>,
    /// The secret that the log is committed to.
    committed: Option<Commitment>,
    /// The end of the tournament's stream.
    end: StreamEnd,
    /// The latest time in it.
    ended_at: Timestamp,
}

impl RunStanding {
    fn read(
        log: &FileLog,
        settings: &RunSettings,
        games: &Registry,
        secret: &Secret,
    ) -> Result<RunStanding, RunError> {
        let plan = &settings.plan;
        let stream = StreamKey::Tournament(plan.id.clone()).name();
        let texts = log.load(&stream, 0)?;
        let lines = texts.iter().zip(1..).map(|(text, seq)| {
            Line::read(text).map_err(|bad| RunError::Line { stream: stream.clone(), seq, bad })
        });
        let lines: Vec<Line> = lines.collect::<Result<_, _>>()?;
        let end = StreamEnd::of(&*stream, &texts);
        let committed = lines.iter().rev().find_map(|line| match &line.event {
            Event::TournamentCreated(created) => Some(created.commitment.clone()),
            Event::LuckRenewed(renewed) => Some(renewed.commitment.clone()),
            _ => None,
        });
        let ended_at = lines.last().map_or(Timestamp::default(), |line| line.at);
        let kind = games.kind(&plan.game);
        let kind = kind.ok_or_else(|| RunError::UnknownGame(plan.game.clone()))?;
        if lines.is_empty() {
            // The engine would only say that it cannot be played, and not why.
            Tournament::create(plan.clone(), Arc::clone(kind), secret.clone())?;
            return Ok(RunStanding { tournament: None, committed, end, ended_at });
        }
        let tournament = Tournament::fold(&lines, games, Some(secret.clone()))
            .map_err(|error| RunError::Fold { stream, error })?;
        Ok(RunStanding { tournament: Some(tournament), committed, end, ended_at })
    }

    /// The latest time in the streams that the run goes on with.
    fn latest_at(&self, log: &FileLog) -> Result<Timestamp, RunError> {
        let mut latest = self.ended_at;
        for plan in self.tournament.iter().flat_map(Tournament::open_matches) {
            let last = log.load(&stream_of(plan), 0)?.pop();
            let last = last.and_then(|text| Line::read(&text).ok());
            latest = last.map_or(latest, |line| latest.max(line.at));
        }
        Ok(latest)
    }

    fn is_over(&self) -> bool {
        self.tournament.as_ref().is_some_and(Tournament::is_over)
    }

    /// Starts the matches that are not over anew, with the luck of another secret, if the log is
    /// not committed to this one.
    fn renew_luck(
        &mut self,
        log: &FileLog,
        folder: &Folder,
        secret: &Secret,
        tell: &Tell,
    ) -> Result<(), RunError> {
        let commitment = secret.commitment();
        let is_lost = self.committed.as_ref().is_some_and(|committed| *committed != commitment);
        let Some(tournament) = self.tournament.as_mut().filter(|one| is_lost && !one.is_over())
        else {
            return Ok(());
        };
        let streams: Vec<String> = tournament.open_matches().map(stream_of).collect();
        // First: a run that is killed in between finds the old commitment, and does it again.
        streams.iter().try_for_each(|stream| folder.set_aside(stream))?;
        tell(Progress::LuckRenewed { matches: streams.len() });
        // The tournament refuses a commitment that it has.
        let renewal = TournamentCommand::RenewLuck { commitment };
        let Ok(events) = tournament.step(renewal) else { return Ok(()) };
        let (stream, expected) = (Arc::clone(self.end.name()), self.end.version());
        self.ended_at = RunClock::start(self.ended_at).now_ms();
        let lines = self.end.record(self.ended_at, &events);
        log.append(Append { stream, expected, lines })?;
        Ok(())
    }

    /// The results so far.
    fn results(&self) -> Result<Results, RunError> {
        let tournament = self.tournament.as_ref().map(Tournament::results);
        tournament.ok_or_else(|| RunError::Broken("the run ended before it began".into()))
    }

    /// The end of the run, for its programs.
    fn farewell(&self) -> Farewell {
        let over = self.tournament.as_ref().filter(|tournament| tournament.is_over());
        let winners: Option<Vec<PlayerName>> = over.map(|over| over.winners().to_vec());
        let head = self.end.head().cloned().filter(|_| over.is_some());
        Farewell { winners, head }
    }
}

fn stream_of(plan: &MatchPlan) -> String {
    StreamKey::Match(MatchKey::new(plan.tournament.clone(), plan.id.clone())).name()
}
