//! The run as a whole: the tournament's own stream, and a task for every match under way.

use crate::folder::{Folder, FolderError, RunSettings};
use crate::house::{self, HouseTable};
use crate::leftovers;
use crate::play::{Commit, INTERRUPTIONS_MAX, MatchOver, Play, Played, ruling};
use crate::program::Program;
use crate::progress::{Progress, Stop};
use crate::sandbox::Sandbox;
use crate::spec::Plays;
use agon_bots::{HouseError, Houses};
use agon_core::{
    ApplyError, BadLine, Command, Commitment, Event, Fault, Line, Match, MatchId, MatchOrder,
    MatchPlan, Millis, PlanError, PlayerName, Results, Ruling, Secret, Secrets, StreamEnd,
    Tournament, TournamentAsk, TournamentCommand, TournamentOrder, TournamentPending,
    TournamentPlan,
};
use agon_games::{GameKind, Registry};
use agon_store::{Append, AppendError, FileLog, Log, LogError, Sync};
use agon_wire::native::{self, ToPlayer};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;

/// How many idle programs are kept running between matches.
const IDLE_MAX: usize = 64;

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
    /// A match task ended in a panic: a bug of ours.
    #[error("a match was aborted: {0}")]
    Broken(String),
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
pub struct Outcome {
    /// The results so far; final unless `stopped`.
    pub results: Results,
    /// Whether it was asked to stop before the end.
    pub stopped: bool,
    /// Whether nothing was left to do: the tournament was over already.
    pub was_over: bool,
}

/// The state that all matches of a run share.
pub(crate) struct Shared {
    pub(crate) log: FileLog,
    pub(crate) plan: TournamentPlan,
    pub(crate) commitment: Commitment,
    pub(crate) evidence: PathBuf,
    /// The mark of this run's programs.
    pub(crate) mark: String,
    pub(crate) hello_limit: Duration,
    /// How programs are confined.
    pub(crate) sandbox: Arc<Sandbox>,
    /// Whether programs are stopped while others think.
    pub(crate) pauses: bool,
    /// When the run began, by the wall clock and by one that nobody sets.
    started_ms: u64,
    started: Instant,
    /// How far the log was ahead of the clock when it was read.
    ahead_ms: AtomicU64,
    pub(crate) stop: Stop,
    pub(crate) tell: Box<dyn Fn(Progress) + Send + std::marker::Sync>,
    games: Registry,
    kind: Arc<dyn GameKind>,
    secret: Secret,
}

impl Shared {
    /// The time in milliseconds since 1970. It never goes back, and never behind what the log holds:
    /// a wall clock that is set changes nothing in a run.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock_ms() + self.ahead_ms.load(Ordering::Relaxed)
    }

    fn clock_ms(&self) -> u64 {
        self.started_ms + self.started.elapsed().as_millis() as u64
    }

    /// Appends one decision to a stream.
    pub(crate) fn append(
        &self,
        end: &mut StreamEnd,
        at: u64,
        events: &[Event],
    ) -> Result<(), RunError> {
        let (stream, expected) = (Arc::clone(end.name()), end.version());
        let lines = end.record(at, events);
        self.log.append(Append { stream, expected, lines })?;
        Ok(())
    }

    /// The lines of a stream, and its end.
    fn load(&self, stream: &str) -> Result<(Vec<Line>, StreamEnd), RunError> {
        let texts = self.log.load(stream, 0)?;
        let lines = texts.iter().zip(1..).map(|(text, seq)| {
            Line::read(text).map_err(|bad| RunError::Line { stream: stream.into(), seq, bad })
        });
        let lines: Vec<Line> = lines.collect::<Result<_, _>>()?;
        let latest = lines.iter().map(|line| line.at).max().unwrap_or(0);
        let ahead_ms = latest.saturating_sub(self.clock_ms());
        self.ahead_ms.fetch_max(ahead_ms, Ordering::Relaxed);
        Ok((lines, StreamEnd::of(stream, &texts)))
    }
}

/// Plays the tournament in `folder` from where it stands.
///
/// `secret` is what all luck comes from. Where the log is committed to another one, that is lost:
/// matches that are not over begin anew with the luck of `secret`.
pub async fn run(
    folder: &Folder,
    secret: Secret,
    sync: Sync,
    known: Known,
    sandbox: Sandbox,
    stop: Stop,
    tell: impl Fn(Progress) + Send + std::marker::Sync + 'static,
) -> Result<Outcome, RunError> {
    let Known { games, houses } = known;
    let settings = folder.open()?;
    let head_in_results = settings.head_in_results;
    let plan = settings.plan.clone();
    let unknown = || RunError::UnknownGame(plan.game.clone());
    let kind = games.kind(&plan.game).cloned().ok_or_else(unknown)?;
    let shared = Arc::new(Shared {
        log: folder.log(sync)?,
        commitment: secret.commitment(),
        evidence: folder.evidence(),
        mark: leftovers::mark_of(folder.path()),
        hello_limit: Duration::from_millis(settings.hello_ms),
        pauses: sandbox.pauses(),
        sandbox: Arc::new(sandbox),
        started_ms: wall_clock_ms(),
        started: Instant::now(),
        ahead_ms: AtomicU64::new(0),
        stop,
        tell: Box::new(tell),
        games,
        kind,
        secret,
        plan,
    });
    // The log is ours now, so whatever still plays in this folder belongs to a run that is dead.
    leftovers::end(&shared.mark);
    let mut host = Host::open(shared, settings, houses, folder)?;
    let was_over = host.tournament.is_over();
    let outcome = host.run().await;
    host.say_goodbye().await;
    let stopped = outcome?;
    let mut results = host.tournament.results();
    if !stopped {
        results.head = host.end.head().cloned().filter(|_| head_in_results);
        host.shared.log.flush()?;
        folder.write_results(&results)?;
    }
    Ok(Outcome { results, stopped, was_over })
}

/// The players of one match on their way in and out of it.
#[derive(Default)]
struct Cast {
    programs: Vec<Program>,
    houses: HouseTable,
}

type MatchDone = (MatchPlan, Cast, Result<Played, RunError>);

struct Host {
    shared: Arc<Shared>,
    settings: RunSettings,
    house_list: Arc<Houses>,
    tournament: Tournament,
    /// The end of the tournament's stream.
    end: StreamEnd,
    /// When the tournament began.
    began_at: Millis,
    /// Players that are in no match now.
    idle: HashMap<PlayerName, Program>,
    plays: HashMap<PlayerName, Plays>,
}

impl Host {
    fn open(
        shared: Arc<Shared>,
        settings: RunSettings,
        house_list: Arc<Houses>,
        folder: &Folder,
    ) -> Result<Host, RunError> {
        let stream = format!("tournament/{}", shared.plan.id);
        let (lines, mut end) = shared.load(&stream)?;
        let secret = shared.secret.clone();
        let (tournament, end) = if lines.is_empty() {
            let (tournament, events) =
                Tournament::create(shared.plan.clone(), Arc::clone(&shared.kind), secret)?;
            shared.append(&mut end, shared.now_ms(), &events)?;
            (tournament, end)
        } else {
            let folded = Tournament::fold(&lines, &shared.games, Some(secret))
                .map_err(|error| RunError::Fold { stream: stream.clone(), error })?;
            (folded, end)
        };
        let named = settings.players.iter();
        let plays = named.map(|spec| (spec.name.clone(), spec.plays.clone())).collect();
        for spec in &settings.players {
            if let Plays::House(name) = &spec.plays {
                house_list.make(&shared.plan.game, name)?;
            }
        }
        let idle = HashMap::new();
        let began_at = lines.first().map_or_else(|| shared.now_ms(), |line| line.at);
        let mut host =
            Host { shared, settings, house_list, tournament, began_at, end, idle, plays };
        let committed = lines.iter().rev().find_map(|line| match &line.event {
            Event::TournamentCreated(created) => Some(&created.commitment),
            Event::LuckRenewed(renewed) => Some(&renewed.commitment),
            _ => None,
        });
        if committed.is_some_and(|commitment| *commitment != host.shared.commitment) {
            host.renew_luck(folder)?;
        }
        Ok(host)
    }

    /// Starts the matches that are not over anew, with the luck of another secret.
    fn renew_luck(&mut self, folder: &Folder) -> Result<(), RunError> {
        if self.tournament.is_over() {
            return Ok(());
        }
        let open = self.tournament.open_matches();
        let streams: Vec<String> = open.map(stream_of).collect();
        // First: a run that is killed in between finds the old commitment, and does it again.
        streams.iter().try_for_each(|stream| folder.set_aside(stream))?;
        (self.shared.tell)(Progress::LuckRenewed { matches: streams.len() });
        let commitment = self.shared.commitment.clone();
        self.step(TournamentCommand::RenewLuck { commitment })
    }

    /// Runs to the end; `true` if it was stopped before.
    async fn run(&mut self) -> Result<bool, RunError> {
        if self.tournament.paused().is_some() {
            // The run was killed while a match was being given up.
            let (order, ruling) = (TournamentOrder::Resume, ruling("the run goes on"));
            self.step(TournamentCommand::Order { order, ruling })?;
        }
        while !self.tournament.is_over() {
            if self.shared.stop.is_asked() {
                return Ok(true);
            }
            if !self.tournament.pending().is_empty() {
                self.requests().await?;
            } else if self.round().await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn step(&mut self, command: TournamentCommand) -> Result<(), RunError> {
        // A result that was reported before a crash, or an answer given twice, changes nothing.
        let Ok(events) = self.tournament.step(command) else { return Ok(()) };
        self.shared.append(&mut self.end, self.shared.now_ms(), &events)?;
        for event in &events {
            if let Event::PlayerDropped(dropped) = event {
                let faulted = dropped.faulted.clone();
                (self.shared.tell)(Progress::Fault { id: None, faulted });
            }
        }
        Ok(())
    }

    /// Greetings and farewells.
    async fn requests(&mut self) -> Result<(), RunError> {
        let pending = self.tournament.pending();
        for group in pending.chunks(self.settings.concurrency) {
            self.wake_programs(group);
            for pending in group {
                if self.shared.stop.is_asked() {
                    return Ok(());
                }
                self.request(pending).await?;
            }
        }
        Ok(())
    }

    /// Starts the programs that are greeted next, so that they get ready at the same time.
    fn wake_programs(&mut self, group: &[TournamentPending]) {
        for TournamentPending { player, ask, .. } in group {
            let greeted = !matches!(ask, TournamentAsk::Farewell { .. });
            if greeted && matches!(self.plays[player], Plays::Command(_)) {
                let mut program = self.program_of(player);
                if program.connection.is_none() {
                    program.start(&self.shared);
                }
                self.idle.insert(player.clone(), program);
            }
        }
    }

    async fn request(&mut self, pending: &TournamentPending) -> Result<(), RunError> {
        let player = pending.player.clone();
        let answer = match (pending.ask, self.plays[&player].clone()) {
            (TournamentAsk::Farewell { .. }, _) => Ok("\"ok\"".into()),
            (ask, Plays::House(name)) => Ok(self.house_greeting(ask, &name)?),
            (ask, Plays::Command(_)) => self.program_greeting(ask, &player).await,
        };
        if answer.is_err() && self.shared.stop.is_asked() {
            return Ok(());
        }
        let request = pending.id.clone();
        self.step(match answer {
            Ok(answer) => TournamentCommand::Answer { player, request, answer },
            Err(fault) => TournamentCommand::Drop { player, fault },
        })?;
        self.trim_idle().await;
        Ok(())
    }

    fn house_greeting(&self, ask: TournamentAsk, name: &str) -> Result<String, RunError> {
        if !matches!(ask, TournamentAsk::Propose { .. }) {
            return Ok("true".into());
        }
        let proposal = self.house_list.make(&self.shared.plan.game, name)?.propose();
        Ok(proposal.map_or("null".into(), |proposal| proposal.get().to_owned()))
    }

    async fn program_greeting(
        &mut self,
        ask: TournamentAsk,
        player: &PlayerName,
    ) -> Result<String, Fault> {
        let mut program = self.program_of(player);
        let mut ready = false;
        // One that somebody else killed is started again.
        for _ in 0..=INTERRUPTIONS_MAX {
            let killed = program.killed;
            ready = (program.connection.is_some() || program.start(&self.shared))
                && program.await_hello(&self.shared).await;
            if ready || program.killed == killed {
                break;
            }
        }
        let hello = program.connection.as_ref().and_then(|connection| connection.hello.clone());
        let absence = program.absence();
        self.idle.insert(player.clone(), program);
        match (ready, hello, ask) {
            (true, Some(hello), TournamentAsk::Propose { .. }) => {
                Ok(hello.proposal.map_or("null".into(), |proposal| proposal.get().to_owned()))
            }
            (true, Some(_), _) => Ok("true".into()),
            _ => Err(absence),
        }
    }

    fn program_of(&mut self, player: &PlayerName) -> Program {
        self.idle.remove(player).unwrap_or_else(|| {
            let words = match &self.plays[player] {
                Plays::Command(words) => words.clone(),
                Plays::House(_) => unreachable!("house players have no program"),
            };
            Program::new(player.clone(), words)
        })
    }

    /// Plays the open matches of the round; `true` if it was stopped.
    async fn round(&mut self) -> Result<bool, RunError> {
        let all = self.tournament.rounds();
        let (round, matches) = (all.len() as u32, all.last().map_or(0, |r| r.matches.len()));
        let mut open: Vec<MatchPlan> = self.tournament.open_matches().cloned().collect();
        let before = all.iter().rev().skip(1).map(|round| round.matches.len()).sum();
        let done = matches - open.len();
        (self.shared.tell)(Progress::Round { round, matches, done, before });
        open.reverse();
        let mut tasks: JoinSet<MatchDone> = JoinSet::new();
        let mut failed = None;
        loop {
            let going_on = failed.is_none() && !self.shared.stop.is_asked();
            while going_on && tasks.len() < self.settings.concurrency {
                let Some(plan) = open.pop() else { break };
                self.start_match(&mut tasks, plan)?;
            }
            let Some(done) = tasks.join_next().await else { break };
            let (plan, cast, result) = done.map_err(|error| RunError::Broken(error.to_string()))?;
            self.return_cast(cast).await;
            match result {
                Ok(Played::Over(over)) => self.report(plan.id, over)?,
                Ok(Played::Stopped) => {}
                Ok(Played::Abandoned(ruling)) => self.abandon(&plan, &ruling)?,
                Err(error) => {
                    // Let the others finish what they are committing, then end.
                    self.shared.stop.ask();
                    failed = Some(error);
                }
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(self.shared.stop.is_asked()),
        }
    }

    /// Gives a match up: nobody wins it.
    fn abandon(&mut self, plan: &MatchPlan, ruling: &Ruling) -> Result<(), RunError> {
        let over = TournamentOrder::Override { id: plan.id.clone(), winners: Vec::new() };
        for order in [TournamentOrder::Pause, over, TournamentOrder::Resume] {
            self.step(TournamentCommand::Order { order, ruling: ruling.clone() })?;
        }
        let (mut played, mut commit) = open_match(&self.shared, plan)?;
        let (order, ruling) = (MatchOrder::CallOff, ruling.clone());
        let command = Command::Order { order, ruling };
        commit.step(&self.shared, &mut played, command)?.ok();
        if let Some(result) = played.result().cloned() {
            (self.shared.tell)(Progress::MatchEnded { id: plan.id.clone(), result });
        }
        Ok(())
    }

    fn report(&mut self, id: MatchId, over: MatchOver) -> Result<(), RunError> {
        let MatchOver { result, head } = over;
        let play_ms = self.tournament.play_ms();
        if play_ms.is_some_and(|play_ms| self.shared.now_ms() >= self.began_at + play_ms) {
            self.step(TournamentCommand::EndPlayTime)?;
        }
        self.step(TournamentCommand::Report { id: id.clone(), result: result.clone(), head })?;
        (self.shared.tell)(Progress::MatchEnded { id, result });
        Ok(())
    }

    fn start_match(
        &mut self,
        tasks: &mut JoinSet<MatchDone>,
        plan: MatchPlan,
    ) -> Result<(), RunError> {
        let mut cast = Cast::default();
        for player in &plan.players {
            match self.plays[player].clone() {
                Plays::House(name) => {
                    let house = self.house_list.make(&plan.game, &name)?;
                    cast.houses.insert(player.clone(), house);
                }
                Plays::Command(_) => cast.programs.push(self.program_of(player)),
            }
        }
        let (id, players) = (plan.id.clone(), plan.players.clone());
        (self.shared.tell)(Progress::MatchStarted { id, players });
        let shared = Arc::clone(&self.shared);
        if cast.programs.is_empty() {
            tasks.spawn_blocking(move || {
                let result = play_houses(&shared, &plan, &mut cast.houses);
                (plan, cast, result)
            });
        } else {
            tasks.spawn(async move {
                let result = play_match(&shared, &plan, &mut cast).await;
                (plan, cast, result)
            });
        }
        Ok(())
    }

    async fn return_cast(&mut self, cast: Cast) {
        for mut program in cast.programs {
            program.pause(&self.shared);
            self.idle.insert(program.player.clone(), program);
        }
        self.trim_idle().await;
    }

    /// Ends programs beyond those worth keeping: players without a further match first.
    async fn trim_idle(&mut self) {
        let running = |program: &Program| program.connection.is_some();
        let count = self.idle.values().filter(|program| running(program)).count();
        if count <= IDLE_MAX {
            return;
        }
        let waiting: HashSet<&PlayerName> =
            self.tournament.open_matches().flat_map(|plan| &plan.players).collect();
        let mut spare: Vec<PlayerName> = self
            .idle
            .values()
            .filter(|program| running(program))
            .map(|program| program.player.clone())
            .collect();
        spare.sort_by_key(|player| (waiting.contains(player), player.clone()));
        for player in &spare[..count - IDLE_MAX] {
            if let Some(program) = self.idle.get_mut(player) {
                program.end(&self.shared, Duration::ZERO).await;
            }
        }
    }

    /// Tells every program how it ended, and ends it.
    async fn say_goodbye(&mut self) {
        let over = self.tournament.is_over();
        let winners = self.tournament.winners();
        let reason = if over { "the tournament is over" } else { "the run was stopped" };
        let mut tasks = JoinSet::new();
        for (player, mut program) in self.idle.drain() {
            let won = over.then(|| winners.contains(&player));
            let head = self.end.head().cloned().filter(|_| over);
            let shared = Arc::clone(&self.shared);
            tasks.spawn(async move {
                if let Some(connection) = &mut program.connection {
                    connection.send(&native::encode(&ToPlayer::End { won, reason, head }));
                }
                program.end(&shared, Duration::from_millis(500)).await;
            });
        }
        while tasks.join_next().await.is_some() {}
    }
}

fn wall_clock_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

fn stream_of(plan: &MatchPlan) -> String {
    format!("match/{}/{}", plan.tournament, plan.id)
}

/// The match of a plan as it stands in the log, new if it is not there.
fn open_match(shared: &Shared, plan: &MatchPlan) -> Result<(Match, Commit), RunError> {
    let stream = stream_of(plan);
    let secrets = Secrets::Known(shared.secret.of_match(&plan.id));
    let (lines, mut end) = shared.load(&stream)?;
    if !lines.is_empty() {
        let folded = Match::fold(&lines, &shared.games, secrets)
            .map_err(|error| RunError::Fold { stream: stream.clone(), error })?;
        return Ok((folded, Commit { end }));
    }
    let now = shared.now_ms();
    let (created, event) = Match::create(plan.clone(), Arc::clone(&shared.kind), secrets, now)
        .map_err(|error| RunError::Plan(PlanError::SetUp(error)))?;
    shared.append(&mut end, now, &[event])?;
    Ok((created, Commit { end }))
}

fn play_houses(
    shared: &Shared,
    plan: &MatchPlan,
    houses: &mut HouseTable,
) -> Result<Played, RunError> {
    let (played, mut commit) = open_match(shared, plan)?;
    let result = house::play(shared, played, &mut commit, houses)?;
    Ok(result.map_or(Played::Stopped, Played::Over))
}

async fn play_match(
    shared: &Shared,
    plan: &MatchPlan,
    cast: &mut Cast,
) -> Result<Played, RunError> {
    let (played, commit) = open_match(shared, plan)?;
    let (programs, houses) = (&mut cast.programs, &mut cast.houses);
    let (requests, line) = Default::default();
    Play { shared, played, commit, programs, houses, requests, line }.run().await
}
