//! Threads that play the matches of a run between house players, each with an engine of its own.
//!
//! ```text
//!   driver ── HandOut ──▶ queue ──▶ thread: engine, house players ──▶ log
//!      ▲                                        │
//!      └───────────── Report, notes ◀───────────┘
//! ```
//!
//! The driver's engine plays the rounds of the tournament. A thread that is free takes the next match
//! from the queue and plays it to its end: nothing waits for another thread while the match runs.

use crate::clock::RunClock;
use crate::driver::Tell;
use crate::folder::RunSettings;
use crate::host::RunError;
use crate::house;
use crate::ports::{FolderReader, HouseNames};
use crate::progress::{Progress, Stop};
use agon_bots::{HousePlayer, Houses};
use agon_core::{MatchPlan, PlayerName, Secret};
use agon_driver::HouseList;
use agon_engine::{
    Effect, Effects, Engine, HouseQuestion, Input, LocalPlayers, Note, PlayedMatch, Record,
    Settings, StreamKey, Time, TournamentPart,
};
use agon_games::Registry;
use agon_store::{Append, AppendError, FileLog, Log};
use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The parts of a run that its threads share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) settings: Arc<RunSettings>,
    pub(crate) secret: Secret,
    pub(crate) games: Registry,
    pub(crate) houses: Arc<Houses>,
    pub(crate) log: Arc<FileLog>,
    pub(crate) clock: RunClock,
    pub(crate) tell: Tell,
    /// How many threads may play matches.
    pub(crate) threads_max: usize,
}

impl Shared {
    /// Opens an engine over the folder's log.
    pub(crate) fn open_engine(&self, part: TournamentPart) -> Result<Engine, RunError> {
        let names: HashMap<PlayerName, String> = self.settings.house_players().collect();
        let list = HouseNames { names, list: HouseList(Arc::clone(&self.houses)) };
        let plan = &self.settings.plan;
        let reader = FolderReader::new(Arc::clone(&self.log), plan, self.secret.clone());
        let (matches_max, start_ms) = (self.settings.concurrency, self.settings.hello_ms);
        let local = Some(LocalPlayers { matches_max, start_ms, part });
        let rules = Settings { reconnect_ms: NEVER_MS, local, ..Settings::default() };
        // The key is for tokens and new secrets, and a run needs neither.
        let (games, key, now) = (self.games.clone(), [0; 32], self.clock.now_ms());
        Ok(Engine::open(Box::new(reader), games, Box::new(list), rules, key, now)?)
    }
}

/// How long players have to reconnect to a server. A run decides that itself: for ever.
const NEVER_MS: u64 = 365 * 24 * 3_600_000;

/// A message from a thread to the driver.
pub(crate) enum FromThread {
    /// Something to report.
    Note(Note),
    /// A match is over.
    Over(Box<PlayedMatch>),
    /// The thread cannot go on.
    Failed(RunError),
}

/// The threads. Dropping them ends the threads that wait for a match.
pub(crate) struct MatchThreads {
    shared: Shared,
    queue: Option<Sender<MatchPlan>>,
    waiting: Arc<Mutex<Receiver<MatchPlan>>>,
    sender: UnboundedSender<FromThread>,
    /// At most a few for each match.
    messages: UnboundedReceiver<FromThread>,
    threads: Vec<JoinHandle<()>>,
    halt: Stop,
}

impl MatchThreads {
    pub(crate) fn new(shared: Shared) -> MatchThreads {
        let (queue, waiting) = channel();
        let (sender, messages) = unbounded_channel();
        MatchThreads {
            shared,
            queue: Some(queue),
            waiting: Arc::new(Mutex::new(waiting)),
            sender,
            messages,
            threads: Vec::new(),
            halt: Stop::default(),
        }
    }

    /// Has a thread play a match. The log has the tournament by then.
    pub(crate) fn play(&mut self, plan: MatchPlan) {
        if self.threads.len() < self.shared.threads_max {
            let (shared, messages) = (self.shared.clone(), self.sender.clone());
            let (halt, queue) = (self.halt.clone(), Arc::clone(&self.waiting));
            self.threads.push(std::thread::spawn(move || {
                let alarm = Alarm(messages.clone());
                let player = MatchPlayer::open(shared, halt, messages);
                if let Err(error) = player.and_then(|mut player| player.play_all(&queue)) {
                    let _ = alarm.0.send(FromThread::Failed(error));
                }
            }));
        }
        if let Some(queue) = &self.queue {
            // The receiver lives as long as this.
            let _ = queue.send(plan);
        }
    }

    /// The next message, if there is one.
    pub(crate) fn try_next(&mut self) -> Option<FromThread> {
        self.messages.try_recv().ok()
    }

    /// The next message.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<FromThread> {
        // This holds a sender, so the channel is open.
        self.messages.poll_recv(context).map(|message| message.expect("the channel is open"))
    }
}

impl Drop for MatchThreads {
    fn drop(&mut self) {
        self.halt.ask();
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A panic was reported.
            let _ = thread.join();
        }
    }
}

/// Reports a panic of its thread.
struct Alarm(UnboundedSender<FromThread>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let error = RunError::Broken("a thread that plays matches panicked".into());
            let _ = self.0.send(FromThread::Failed(error));
        }
    }
}

/// Records that the log answered, with their streams.
type Answered = (Vec<StreamKey>, Vec<Result<u64, AppendError>>);

/// The state of one thread: an engine, and the house players.
struct MatchPlayer {
    engine: Engine,
    shared: Shared,
    houses: HashMap<PlayerName, Box<dyn HousePlayer>>,
    inputs: VecDeque<Input>,
    effects: Effects,
    questions: Vec<HouseQuestion>,
    streams: Vec<StreamKey>,
    appends: Vec<Append>,
    commits: Sender<Answered>,
    committed: Receiver<Answered>,
    /// How many groups of records the log has not answered.
    in_flight: usize,
    is_playing: bool,
    /// How many decisions were reported.
    decisions: u64,
    messages: UnboundedSender<FromThread>,
    halt: Stop,
}

impl MatchPlayer {
    fn open(
        shared: Shared,
        halt: Stop,
        messages: UnboundedSender<FromThread>,
    ) -> Result<MatchPlayer, RunError> {
        let (commits, committed) = channel();
        Ok(MatchPlayer {
            engine: shared.open_engine(TournamentPart::Matches)?,
            shared,
            houses: HashMap::new(),
            inputs: VecDeque::new(),
            effects: Effects::default(),
            questions: Vec::new(),
            streams: Vec::new(),
            appends: Vec::new(),
            commits,
            committed,
            in_flight: 0,
            is_playing: false,
            decisions: 0,
            messages,
            halt,
        })
    }

    /// Plays matches until the queue is closed or the run stops.
    fn play_all(&mut self, queue: &Mutex<Receiver<MatchPlan>>) -> Result<(), RunError> {
        self.advance()?;
        while !self.halt.is_asked() {
            if self.in_flight > 0 {
                // This holds a sender, so the channel is open.
                let answered = self.committed.recv().expect("the channel is open");
                self.commit(answered)?;
            } else if !self.is_playing {
                let next = queue.lock().unwrap_or_else(|broken| broken.into_inner()).recv();
                let Ok(plan) = next else { break };
                self.is_playing = true;
                self.inputs.push_back(Input::Play(Box::new(plan)));
            }
            self.advance()?;
        }
        // Records in flight become durable before the run ends.
        while self.in_flight > 0 {
            let answered = self.committed.recv().expect("the channel is open");
            self.commit(answered)?;
        }
        Ok(())
    }

    /// Lets the engine handle its inputs, and carries out what follows, until it waits for the log
    /// or has nothing to do.
    fn advance(&mut self) -> Result<(), RunError> {
        loop {
            let time = Time::at(self.shared.clock.now_ms());
            self.engine.elapse(time, time.now);
            while let Some(input) = self.inputs.pop_front() {
                self.engine.handle(time, input);
            }
            self.carry_out()?;
            if let Some(error) = self.engine.take_failure() {
                return Err(error.into());
            }
            if self.inputs.is_empty() || self.halt.is_asked() {
                return Ok(());
            }
        }
    }

    fn carry_out(&mut self) -> Result<(), RunError> {
        self.engine.take_effects(&mut self.effects);
        let mut list = self.effects.take();
        list.drain(..).for_each(|effect| self.perform(effect));
        self.effects.clear(list);
        // The game stands as it was when the players were asked.
        for question in std::mem::take(&mut self.questions) {
            self.answer(question)?;
        }
        if !self.appends.is_empty() {
            let (streams, commits) = (std::mem::take(&mut self.streams), self.commits.clone());
            let done = move |results| drop(commits.send((streams, results)));
            self.in_flight += 1;
            self.shared.log.submit_all(std::mem::take(&mut self.appends), Box::new(done));
        }
        while let Ok(answered) = self.committed.try_recv() {
            self.commit(answered)?;
        }
        Ok(())
    }

    fn commit(&mut self, (streams, results): Answered) -> Result<(), RunError> {
        self.in_flight -= 1;
        for (stream, result) in streams.into_iter().zip(results) {
            result?;
            self.inputs.push_back(Input::Committed(stream));
        }
        Ok(())
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            // The lobby is in memory.
            Effect::Append(Record { stream: stream @ StreamKey::Lobby, .. }) => {
                self.inputs.push_back(Input::Committed(stream));
            }
            Effect::Append(Record { stream, name, expected, lines }) => {
                self.streams.push(stream);
                self.appends.push(Append { stream: name, expected, lines });
            }
            Effect::AskHouse(question) => self.questions.push(*question),
            Effect::KeepSnapshot { .. } => self.inputs.push_back(Input::SnapshotKept),
            Effect::Note(note) => self.note(note),
            Effect::Report(report) => {
                self.is_playing = false;
                self.report_decisions();
                self.send(FromThread::Over(report));
            }
            // House players have no connections, and nobody watches a run.
            _ => {}
        }
    }

    fn note(&mut self, note: Note) {
        if let Note::MatchStarted { .. } | Note::GameEnded { .. } | Note::MatchEnded { .. } = note {
            self.report_decisions();
            self.send(FromThread::Note(note));
        }
    }

    fn report_decisions(&mut self) {
        let decisions = self.engine.decisions();
        if decisions > self.decisions {
            (self.shared.tell)(Progress::Decisions(decisions - self.decisions));
            self.decisions = decisions;
        }
    }

    fn answer(&mut self, question: HouseQuestion) -> Result<(), RunError> {
        let Some(game) = self.engine.game_of(&question) else { return Ok(()) };
        let player = &question.player;
        if !self.houses.contains_key(player) {
            let house = self.shared.houses.make(game.name(), &question.name)?;
            self.houses.insert(player.clone(), house);
        }
        let house = self.houses.get_mut(player).expect("made above");
        self.inputs.push_back(house::answer(&mut **house, question, game));
        Ok(())
    }

    fn send(&self, message: FromThread) {
        // A run that has ended ignores it.
        let _ = self.messages.send(message);
    }
}
