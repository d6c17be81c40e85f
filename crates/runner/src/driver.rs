//! The driver of the engine in a run: it feeds inputs, carries out effects and waits.
//!
//! One thread does everything except slow house players and the sync of the log: it reads a
//! program's answer, lets the engine decide, writes the record and sends the next request. If all
//! players are house players, other threads play the matches: see `match_threads.rs`.

use crate::clock::RunClock;
use crate::host::RunError;
use crate::house::HouseSeats;
use crate::match_threads::{FromThread, MatchThreads, Shared};
use crate::programs::Programs;
use crate::progress::{Progress, Stop};
use agon_core::{MatchKey, PlayerName, Ruling, TournamentId, TournamentOrder, Why};
use agon_engine::query::{CarryOut, Order};
use agon_engine::{
    Effect, Effects, Engine, Input, Note, QueryId, ReadError, Record, StreamKey, Time,
    TournamentPart,
};
use agon_store::{Append, AppendError, FileLog, Log};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The name under which the referee rules by itself.
pub(crate) const REFEREE: &str = "agon";

/// How often house players answer before the driver looks for other input.
const ANSWERS_AT_ONCE: u32 = 64;

/// A ruling of the referee itself.
pub(crate) fn ruling(why: &str) -> Ruling {
    let text: String = why.chars().filter(|letter| !letter.is_control()).take(200).collect();
    let why = Why::new(text.trim()).expect("a short text without control characters");
    Ruling { by: PlayerName::new(REFEREE).expect("a name of letters"), why }
}

/// Reports progress.
pub(crate) type Tell = Arc<dyn Fn(Progress) + Send + Sync>;

/// Records that the log answered, with their streams.
type Answered = (Vec<StreamKey>, Vec<Result<u64, AppendError>>);

/// The engine of a run, and the inputs that wait for it.
pub(crate) struct EngineFeed {
    pub(crate) engine: Engine,
    /// At most a few for each program: the driver reads a bounded number of messages of each before
    /// the engine handles them.
    pub(crate) inputs: VecDeque<Input>,
    pub(crate) clock: RunClock,
    pub(crate) tell: Tell,
}

/// The driver.
pub(crate) struct Driver {
    feed: EngineFeed,
    id: TournamentId,
    effects: Effects,
    log: Arc<FileLog>,
    streams: Vec<StreamKey>,
    appends: Vec<Append>,
    /// The log's answers. There are no more than the log's queue holds, which is bounded.
    answers: UnboundedSender<Answered>,
    answered: UnboundedReceiver<Answered>,
    houses: HouseSeats,
    /// Set if all players are house players.
    threads: Option<MatchThreads>,
    pub(crate) programs: Programs,
    stop: Stop,
    /// The round that was reported last.
    round: usize,
    /// How many decisions were reported.
    decisions: u64,
    is_over: bool,
}

impl Driver {
    /// Opens the engine over the folder's log.
    pub(crate) fn open(shared: Shared, programs: Programs, stop: Stop) -> Result<Driver, RunError> {
        let is_all_houses = shared.settings.programs().next().is_none();
        let part = if is_all_houses { TournamentPart::Rounds } else { TournamentPart::Whole };
        let engine = shared.open_engine(part)?;
        let (clock, tell) = (shared.clock, Arc::clone(&shared.tell));
        let (answers, answered) = unbounded_channel();
        Ok(Driver {
            feed: EngineFeed { engine, inputs: VecDeque::new(), clock, tell },
            id: shared.settings.plan.id.clone(),
            effects: Effects::default(),
            log: Arc::clone(&shared.log),
            streams: Vec::new(),
            appends: Vec::new(),
            answers,
            answered,
            houses: HouseSeats::new(Arc::clone(&shared.houses)),
            threads: is_all_houses.then(|| MatchThreads::new(shared)),
            programs,
            stop,
            round: 0,
            decisions: 0,
            is_over: false,
        })
    }

    /// Plays to the end; `true` if the run was asked to stop before.
    pub(crate) async fn run(&mut self) -> Result<bool, RunError> {
        self.begin()?;
        loop {
            self.take_input()?;
            self.on_time()?;
            self.programs.tend(&mut self.feed);
            self.settle()?;
            if self.is_over {
                return Ok(false);
            }
            if self.stop.is_asked() {
                return self.drain().await.map(|()| true);
            }
            match self.houses.has_question() || !self.feed.inputs.is_empty() {
                // Lets the runtime look at pipes, timers and signals.
                true => tokio::task::yield_now().await,
                false => self.wait().await?,
            }
        }
    }

    fn begin(&mut self) -> Result<(), RunError> {
        self.settle()?;
        let Some(machine) = self.feed.engine.live_tournament(&self.id) else { return Ok(()) };
        if machine.paused().is_some() {
            // The run was killed while a match was being abandoned.
            let order = Order::Tournament(self.id.clone(), TournamentOrder::Resume);
            let query = Box::new(CarryOut { order, ruling: ruling("the run goes on") });
            self.feed.inputs.push_back(Input::Query { id: QueryId(0), query });
            self.settle()?;
        }
        if let Some(machine) = self.feed.engine.live_tournament(&self.id) {
            self.programs.greet(&machine.pending());
        }
        Ok(())
    }

    /// Handles everything that has arrived.
    fn take_input(&mut self) -> Result<(), RunError> {
        self.programs.read(&mut self.feed);
        while let Some(message) = self.threads.as_mut().and_then(MatchThreads::try_next) {
            self.hear_thread(message)?;
        }
        self.settle()?;
        for _ in 0..ANSWERS_AT_ONCE {
            // The answers to all questions make one group of records.
            while let Some(answer) = self.houses.answer()? {
                self.feed.inputs.push_back(answer);
            }
            self.settle()?;
            if !self.houses.has_question() {
                break;
            }
        }
        Ok(())
    }

    fn on_time(&mut self) -> Result<(), RunError> {
        let now = self.feed.clock.now_ms();
        if self.feed.engine.next_due().is_none_or(|due| due > now) {
            return Ok(());
        }
        self.programs.find_stopped(&mut self.feed);
        self.settle()?;
        self.feed.engine.elapse(Time::at(now), now);
        self.settle()
    }

    /// Lets the engine handle all inputs and carries out its effects, until nothing is left to do.
    fn settle(&mut self) -> Result<(), RunError> {
        loop {
            let time = Time::at(self.feed.clock.now_ms());
            while let Some(input) = self.feed.inputs.pop_front() {
                self.feed.engine.handle(time, input);
            }
            self.carry_out()?;
            if let Ok(answered) = self.answered.try_recv() {
                self.commit(answered)?;
            } else if self.feed.inputs.is_empty() {
                break;
            }
        }
        let decisions = self.feed.engine.decisions();
        if decisions > self.decisions {
            (self.feed.tell)(Progress::Decisions(decisions - self.decisions));
            self.decisions = decisions;
        }
        self.feed.engine.take_failure().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Carries out the engine's effects, and submits its records to the log.
    fn carry_out(&mut self) -> Result<(), RunError> {
        self.feed.engine.take_effects(&mut self.effects);
        let mut list = self.effects.take();
        for effect in list.drain(..) {
            self.perform(effect)?;
        }
        self.effects.clear(list);
        if !self.appends.is_empty() {
            let streams = std::mem::take(&mut self.streams);
            let answers = self.answers.clone();
            // A run that has ended ignores the answer.
            let done = move |results| drop(answers.send((streams, results)));
            self.log.submit_all(std::mem::take(&mut self.appends), Box::new(done));
        }
        Ok(())
    }

    fn commit(&mut self, (streams, results): Answered) -> Result<(), RunError> {
        for (stream, result) in streams.into_iter().zip(results) {
            result?;
            let time = Time::at(self.feed.clock.now_ms());
            self.feed.engine.handle(time, Input::Committed(stream));
        }
        Ok(())
    }

    fn perform(&mut self, effect: Effect) -> Result<(), RunError> {
        let (programs, feed) = (&mut self.programs, &mut self.feed);
        match effect {
            Effect::Send { conn, line } | Effect::Notice { conn, line } => {
                programs.send(conn, self.effects.line(&line));
            }
            Effect::Ask { conn, ask, line, limit_ms, .. } => {
                programs.ask(feed, conn, ask, limit_ms, self.effects.line(&line));
            }
            Effect::Close { conn, .. } => programs.close(conn),
            // The lobby is in memory.
            Effect::Append(Record { stream: stream @ StreamKey::Lobby, .. }) => {
                feed.inputs.push_back(Input::Committed(stream));
            }
            Effect::Append(Record { stream, name, expected, lines }) => {
                self.streams.push(stream);
                self.appends.push(Append { stream: name, expected, lines });
            }
            Effect::Load(stream) => {
                let lines = self.log.load(&stream.name(), 0).map_err(ReadError::from);
                feed.inputs.push_back(Input::Loaded { stream, lines });
            }
            Effect::AskHouse(question) => {
                let game = feed.engine.game_of(&question).map(|game| game.boxed_clone());
                game.map_or(Ok(()), |game| self.houses.ask(*question, game))?;
            }
            Effect::HandOut(plan) => {
                self.threads.iter_mut().for_each(|threads| threads.play((*plan).clone()));
            }
            Effect::KeepSnapshot { .. } => feed.inputs.push_back(Input::SnapshotKept),
            Effect::Note(note) => self.note(note),
            // A run has no logins, no spectators and no programs of other systems, and ignores the
            // answer to its one query.
            Effect::Report(_)
            | Effect::Call { .. }
            | Effect::Observe { .. }
            | Effect::Admit { .. }
            | Effect::CheckPassword { .. }
            | Effect::Show { .. }
            | Effect::EndWatch { .. }
            | Effect::Reply { .. }
            | Effect::Pass { .. }
            | Effect::Forward { .. }
            | Effect::ReadTournament { .. }
            | Effect::NoReply { .. } => {}
        }
        Ok(())
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::MatchStarted { key, players } => self.match_started(&key, players),
            Note::GameEnded { key, result } => {
                (self.feed.tell)(Progress::GameEnded { id: key.id.clone(), result: *result });
            }
            Note::MatchEnded { key, result } => {
                (self.feed.tell)(Progress::MatchEnded { id: key.id.clone(), result: *result });
                self.programs.match_ended(&self.feed, &key);
            }
            Note::Fault { conn, of_match, faulted, .. } => {
                // A fresh program is better than one in an unknown state after a fault.
                if let Some(conn) = conn.filter(|_| of_match.is_some()) {
                    self.programs.replace(conn);
                }
                (self.feed.tell)(Progress::Fault { id: of_match, faulted: *faulted });
            }
            Note::TournamentEnded { .. } => self.is_over = true,
            _ => {}
        }
    }

    fn hear_thread(&mut self, message: FromThread) -> Result<(), RunError> {
        match message {
            FromThread::Note(note) => self.note(note),
            FromThread::Over(report) => self.feed.inputs.push_back(Input::Reported(report)),
            FromThread::Failed(error) => return Err(error),
        }
        Ok(())
    }

    fn match_started(&mut self, key: &MatchKey, players: Vec<PlayerName>) {
        if let Some(machine) = self.feed.engine.live_tournament(&self.id) {
            let rounds = machine.rounds();
            if rounds.len() > self.round {
                self.round = rounds.len();
                let matches = rounds.last().map_or(0, |round| round.matches.len());
                let before = rounds.iter().rev().skip(1).map(|round| round.matches.len()).sum();
                let done = matches - machine.open_matches().count();
                let round = rounds.len() as u32;
                (self.feed.tell)(Progress::Round { round, matches, done, before });
            }
        }
        self.programs.match_started(&mut self.feed, key, &players);
        (self.feed.tell)(Progress::MatchStarted { id: key.id.clone(), players });
    }

    /// Waits for a message, an answer, a deadline or a stop.
    async fn wait(&mut self) -> Result<(), RunError> {
        let due = self.feed.engine.next_due().map(|due| self.feed.clock.instant_of(due));
        let until = due.into_iter().chain(self.programs.due()).min();
        let timer = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let stop = self.stop.clone();
        tokio::select! {
            biased;
            arrived = poll_fn(|context| self.poll(context)) => arrived,
            () = stop.wait() => Ok(()),
            () = timer => Ok(()),
        }
    }

    /// Ready when there is something to handle.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RunError>> {
        let mut ready = self.programs.poll(context);
        if let Poll::Ready(Some(answered)) = self.answered.poll_recv(context) {
            self.commit(answered)?;
            ready = true;
        }
        while let Poll::Ready(answer) = self.houses.poll(context) {
            let answer = answer.map_err(|error| RunError::Broken(error.to_string()))?;
            self.feed.inputs.push_back(answer);
            ready = true;
        }
        while let Some(threads) = &mut self.threads
            && let Poll::Ready(message) = threads.poll(context)
        {
            self.hear_thread(message)?;
            ready = true;
        }
        if ready { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    /// Stops the engine, and waits until every record is durable.
    async fn drain(&mut self) -> Result<(), RunError> {
        // A match that ends meanwhile reports its result when the run goes on.
        self.threads = None;
        self.feed.inputs.clear();
        self.feed.inputs.push_back(Input::Stop);
        self.settle()?;
        while !self.feed.engine.is_drained() {
            let Some(answered) = self.answered.recv().await else { break };
            self.commit(answered)?;
            self.carry_out()?;
        }
        Ok(())
    }
}
