//! The players' programs in a run, as seats of the engine.
//!
//! A program is started when it is greeted or its match starts, and kept for the next match. After
//! a fault it is replaced by a new process, and the engine sends its requests again. A program that
//! ends by itself has left its match. One that a signal from outside ended or stopped is not at
//! fault: the game counts for nothing.

use crate::driver::{EngineFeed, REFEREE, ruling};
use crate::local_program::{Departure, LocalProgram, ProgramOutput, Stderr};
use crate::program::{
    BANNER_MAX, GRACE, INTERRUPTIONS_MAX, OpenAsk, Process, Program, ReadyPrograms, STARTS_MAX,
    Stage,
};
use crate::progress::Progress;
use crate::sandbox::Sandbox;
use agon_core::{
    Commitment, CrashCost, Fault, FaultKind, Head, MatchKey, Millis, PlayerName, Ruling,
    TournamentAsk, TournamentId, TournamentPending,
};
use agon_engine::{AskId, ConnId, Input, SeatKind};
use agon_wire::native::{self, FromPlayer, ToPlayer};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How many idle programs are kept running between matches.
const IDLE_MAX: usize = 64;

/// How many messages of one program are handled before the others have their turn.
const MESSAGES_AT_ONCE: u32 = 32;

/// How long a program has to read the end of the tournament and end.
const FAREWELL: Duration = Duration::from_millis(500);

/// How programs of a run are started.
pub(crate) struct Starter {
    pub(crate) sandbox: Arc<Sandbox>,
    /// The mark of this run's programs.
    pub(crate) mark: String,
    /// Where their stderr is kept.
    pub(crate) evidence: PathBuf,
    pub(crate) hello_limit: Duration,
    pub(crate) tournament: TournamentId,
    pub(crate) game: String,
    pub(crate) commitment: Commitment,
}

/// How a run ended, as its programs are told.
pub(crate) struct Farewell {
    /// The winners, if the tournament is over.
    pub(crate) winners: Option<Vec<PlayerName>>,
    pub(crate) head: Option<Head>,
}

/// The programs of a run.
pub(crate) struct Programs {
    starter: Starter,
    /// How many programs are greeted at a time.
    greeted_max: usize,
    list: Vec<Program>,
    by_player: HashMap<PlayerName, usize>,
    by_conn: HashMap<ConnId, usize>,
    next_conn: u64,
    /// The programs whose hello the tournament waits for, in its order.
    greeting: VecDeque<usize>,
    ready: Arc<ReadyPrograms>,
    /// The ready programs that are being read; kept for its memory.
    reading: Vec<usize>,
    ending: JoinSet<(usize, Departure)>,
    ended: Vec<(usize, Departure)>,
}

impl Programs {
    pub(crate) fn new(
        starter: Starter,
        greeted_max: usize,
        programs: impl Iterator<Item = (PlayerName, Vec<String>)>,
    ) -> Programs {
        let ready = Arc::new(ReadyPrograms::default());
        let numbered = programs.enumerate();
        let list: Vec<Program> = numbered
            .map(|(at, (name, words))| Program::new(name, words, ready.waker(at)))
            .collect();
        let by_player = list.iter().enumerate().map(|(at, one)| (one.player.clone(), at)).collect();
        Programs {
            starter,
            greeted_max,
            list,
            by_player,
            by_conn: HashMap::new(),
            next_conn: 1,
            greeting: VecDeque::new(),
            ready,
            reading: Vec::new(),
            ending: JoinSet::new(),
            ended: Vec::new(),
        }
    }

    /// Greets the players whose answer the tournament waits for.
    pub(crate) fn greet(&mut self, pending: &[TournamentPending]) {
        let greeted =
            pending.iter().filter(|one| !matches!(one.ask, TournamentAsk::Farewell { .. }));
        self.greeting =
            greeted.filter_map(|one| self.by_player.get(&one.player).copied()).collect();
    }

    /// Prepares the programs of a match.
    pub(crate) fn match_started(
        &mut self,
        feed: &mut EngineFeed,
        key: &MatchKey,
        players: &[PlayerName],
    ) {
        for player in players {
            let Some(&at) = self.by_player.get(player) else { continue };
            let program = &mut self.list[at];
            program.in_match = Some(key.clone());
            program.given_up = false;
            program.killed = 0;
            let gone = program.running().is_some_and(LocalProgram::has_ended);
            if gone {
                self.end(at, None, Duration::ZERO);
            }
            // Its pipes were not read while it had no match.
            self.list[at].waker.wake_by_ref();
        }
        // A match that was interrupted too often before the run itself was.
        self.abandon_if_hopeless(feed, key);
    }

    /// Lets the programs of a match rest until their next one.
    pub(crate) fn match_ended(&mut self, feed: &EngineFeed, key: &MatchKey) {
        let pauses = self.starter.sandbox.pauses();
        for program in self.list.iter_mut().filter(|one| one.in_match.as_ref() == Some(key)) {
            program.in_match = None;
            program.asked = None;
            program.idle_since = None;
            if let Some(connection) = program.running().filter(|_| pauses) {
                connection.pause();
            }
        }
        self.trim_idle(feed, &key.tournament);
    }

    /// Writes a message to a program.
    pub(crate) fn send(&mut self, conn: ConnId, line: &[u8]) {
        let Some(&at) = self.by_conn.get(&conn) else { return };
        let program = &mut self.list[at];
        if program.asked.is_none() {
            program.idle_since = Some(Instant::now());
        }
        if let Some(connection) = program.running() {
            connection.send(line);
        }
    }

    /// Writes a request to a program. One that is being started gets it after its hello.
    pub(crate) fn ask(
        &mut self,
        feed: &mut EngineFeed,
        conn: ConnId,
        ask: AskId,
        limit_ms: Millis,
        line: &[u8],
    ) {
        let Some(&at) = self.by_conn.get(&conn) else { return };
        let program = &mut self.list[at];
        let Some(connection) = program.running() else { return };
        connection.asked();
        let is_unwritten = !connection.send(line);
        // The clock starts again once the last byte is out, but it runs: a program that does not
        // read, or closed its input, must not hold up the match for ever.
        let now = feed.clock.now_ms();
        feed.inputs.push_back(Input::Delivered { conn, ask: ask.clone(), at: now });
        let deadline = now.saturating_add(limit_ms);
        program.asked = Some(OpenAsk { ask, limit_ms, deadline, is_unwritten });
        program.was_asked = true;
        program.idle_since = None;
        program.failed_starts = 0;
    }

    /// The engine closed a connection: the program was lost, or it floods.
    pub(crate) fn close(&mut self, conn: ConnId) {
        if let Some(at) = self.by_conn.remove(&conn) {
            self.list[at].conn = None;
            self.end(at, None, Duration::ZERO);
        }
    }

    /// Replaces the process behind a connection.
    pub(crate) fn replace(&mut self, conn: ConnId) {
        if let Some(&at) = self.by_conn.get(&conn) {
            self.end(at, None, Duration::ZERO);
        }
    }

    /// Returns whether there is something to read, or a process has ended.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> bool {
        while let Poll::Ready(Some(Ok(ended))) = self.ending.poll_join_next(context) {
            self.ended.push(ended);
        }
        self.ready.poll(context.waker()) || !self.ended.is_empty()
    }

    /// When something is due that no message brings.
    pub(crate) fn due(&self) -> Option<Instant> {
        let pauses = self.starter.sandbox.pauses();
        self.list.iter().filter_map(|program| program.due(pauses)).min()
    }

    /// Reads what programs have sent, and notes which have ended.
    pub(crate) fn read(&mut self, feed: &mut EngineFeed) {
        let mut reading = std::mem::take(&mut self.reading);
        self.ready.take(&mut reading);
        for at in reading.drain(..) {
            self.read_one(feed, at);
        }
        self.reading = reading;
        for (at, departure) in std::mem::take(&mut self.ended) {
            self.on_departure(feed, at, departure);
        }
    }

    fn read_one(&mut self, feed: &mut EngineFeed, at: usize) {
        for _ in 0..MESSAGES_AT_ONCE {
            let Program { process, waker, hello, in_match, .. } = &mut self.list[at];
            let connection = match process {
                Process::Starting { connection, .. } => connection,
                Process::Running(connection) if hello.is_none() && in_match.is_some() => connection,
                _ => return,
            };
            let Poll::Ready(incoming) = connection.poll(&mut Context::from_waker(waker)) else {
                return;
            };
            match process {
                Process::Starting { .. } => self.on_first(at, incoming),
                _ => self.on_incoming(feed, at, incoming),
            }
        }
        self.list[at].waker.wake_by_ref();
    }

    /// Handles what comes from a program that has not said hello.
    fn on_first(&mut self, at: usize, incoming: ProgramOutput) {
        let program = &mut self.list[at];
        let why = match incoming {
            ProgramOutput::Flushed => return,
            ProgramOutput::Message(FromPlayer::Hello(hello)) => {
                program.hello = Some(hello);
                let process = std::mem::replace(&mut program.process, Process::Absent);
                if let Process::Starting { connection, .. } = process {
                    program.process = Process::Running(connection);
                }
                return;
            }
            ProgramOutput::Message(_) => "it answered before it said hello".to_owned(),
            ProgramOutput::Bad { why, .. } => {
                // A greeting on stdout, a warning of an interpreter: not yet a reason to go.
                if let Process::Starting { banner, .. } = &mut program.process
                    && *banner < BANNER_MAX
                {
                    *banner += 1;
                    program.why_not = Some(why);
                    return;
                }
                why
            }
            ProgramOutput::Flood { why } => why,
            ProgramOutput::Refused { why } => {
                program.failed_starts = STARTS_MAX;
                why
            }
            ProgramOutput::Closed => return self.end(at, Some(Stage::Starting), GRACE),
        };
        program.start_failed(Some(why));
        self.end(at, None, Duration::ZERO);
    }

    /// Handles what comes from a program in its match.
    fn on_incoming(&mut self, feed: &mut EngineFeed, at: usize, incoming: ProgramOutput) {
        let program = &mut self.list[at];
        let Some(conn) = program.conn else { return };
        let now = feed.clock.now_ms();
        match incoming {
            ProgramOutput::Flushed => {
                if let Some(asked) = program.asked.as_mut().filter(|asked| asked.is_unwritten) {
                    asked.is_unwritten = false;
                    asked.deadline = now.saturating_add(asked.limit_ms);
                    let ask = asked.ask.clone();
                    feed.inputs.push_back(Input::Delivered { conn, ask, at: now });
                }
            }
            ProgramOutput::Message(FromPlayer::Hello(_)) => {}
            ProgramOutput::Message(FromPlayer::Lobby(_)) => {
                let why = "there is no lobby on a pipe: the run knows its players".to_owned();
                feed.inputs.push_back(Input::Bad { conn, why, line: String::new() });
            }
            ProgramOutput::Message(message) => {
                if let FromPlayer::Answer { id, .. } = &message
                    && let Some(OpenAsk { ask: AskId::Match(_, open), .. }) = &program.asked
                    && open == id
                {
                    program.asked = None;
                    program.idle_since = Some(Instant::now());
                }
                feed.inputs.push_back(Input::Said { conn, message, at: now });
            }
            ProgramOutput::Bad { why, line } => {
                feed.inputs.push_back(Input::Bad { conn, why, line })
            }
            ProgramOutput::Refused { why } => {
                program.failed_starts = STARTS_MAX;
                self.dismiss(feed, at, why);
            }
            ProgramOutput::Flood { why } => self.dismiss(feed, at, why),
            ProgramOutput::Closed => self.end(at, Some(Stage::Running), GRACE),
        }
    }

    /// Ends a program because of what it sent.
    fn dismiss(&mut self, feed: &mut EngineFeed, at: usize, why: String) {
        self.end(at, None, Duration::ZERO);
        self.lose(feed, at, "disconnected", why);
    }

    /// Notes that a program is gone by its own fault.
    fn lose(&mut self, feed: &mut EngineFeed, at: usize, code: &'static str, why: String) {
        let program = &mut self.list[at];
        // One that goes before it was asked anything has not really started.
        if !program.was_asked {
            program.start_failed(Some(why.clone()));
        }
        if let Some(conn) = program.conn.filter(|_| program.in_match.is_some()) {
            let fault = Fault::new(FaultKind::Disconnected, code, why);
            feed.inputs.push_back(Input::Lost { conn, fault });
        }
    }

    /// Handles the end of a process.
    fn on_departure(&mut self, feed: &mut EngineFeed, at: usize, departure: Departure) {
        let program = &mut self.list[at];
        let process = std::mem::replace(&mut program.process, Process::Absent);
        let Process::Ending { by_itself: Some(stage) } = process else { return };
        let Departure { words, code, from_outside } = departure;
        match (from_outside, stage) {
            (true, Stage::Starting) => {
                program.killed += 1;
                program.why_not = Some(words);
            }
            (true, Stage::Running) => self.interrupt(feed, at, &words),
            (false, Stage::Starting) => {
                program.start_failed(Some(format!("the program ended: {words}")));
            }
            (false, Stage::Running) => {
                self.lose(feed, at, code, format!("the program ended: {words}"));
            }
        }
    }

    /// The game in progress counts for nothing, because somebody else ended or stopped a program.
    /// Nobody is charged; the program is started again.
    fn interrupt(&mut self, feed: &mut EngineFeed, at: usize, words: &str) {
        let program = &mut self.list[at];
        program.killed += 1;
        let Some(key) = program.in_match.clone() else { return };
        let referee = feed.engine.live_match(&key).and_then(|played| played.referee());
        if let Some(game) = referee.map(|referee| referee.number()) {
            let player = &program.player;
            let ruling = ruling(&format!("killed-from-outside: the program of {player}: {words}"));
            let (id, why) = (key.id.clone(), ruling.why.to_string());
            (feed.tell)(Progress::Interrupted { id, game, why });
            feed.inputs.push_back(Input::Void { key: key.clone(), ruling });
        }
        self.abandon_if_hopeless(feed, &key);
    }

    /// Gives a match up that has been interrupted too often.
    fn abandon_if_hopeless(&self, feed: &mut EngineFeed, key: &MatchKey) {
        let Some(played) = feed.engine.live_match(key) else { return };
        let own = |ruling: &&Ruling| ruling.by.as_str() == REFEREE;
        let voids = played.finished().filter_map(|(result, _)| result.voided.as_ref());
        let killed = self.list.iter().filter(|one| one.in_match.as_ref() == Some(key));
        let killed = killed.map(|one| one.killed as usize).max().unwrap_or(0);
        if killed.max(voids.filter(own).count()) > INTERRUPTIONS_MAX {
            let why = "killed-from-outside: programs of this match are killed again and again, so \
                       nobody wins it";
            feed.inputs.push_back(Input::Abandon { key: key.clone(), ruling: ruling(why) });
        }
    }

    /// Interrupts games whose program is silent because somebody else stopped it.
    pub(crate) fn find_stopped(&mut self, feed: &mut EngineFeed) {
        let now = feed.clock.now_ms();
        for at in 0..self.list.len() {
            let program = &mut self.list[at];
            let silent = program.asked.as_ref().is_some_and(|asked| asked.deadline <= now);
            if silent && program.running().is_some_and(|one| one.is_stopped_from_outside()) {
                self.end(at, None, Duration::ZERO);
                let words = "a signal stopped it, and the referee did not send it";
                self.interrupt(feed, at, words);
            }
        }
    }

    /// Starts, seats, pauses and gives up programs.
    pub(crate) fn tend(&mut self, feed: &mut EngineFeed) {
        let (now, pauses) = (Instant::now(), self.starter.sandbox.pauses());
        for at in 0..self.list.len() {
            let program = &mut self.list[at];
            if program.due(pauses).is_some_and(|due| due <= now) {
                match &mut program.process {
                    Process::Starting { .. } => {
                        program.start_failed(None);
                        self.end(at, None, Duration::ZERO);
                    }
                    process => {
                        if let Process::Running(connection) = process {
                            connection.pause();
                        }
                        program.idle_since = None;
                    }
                }
            }
            if self.list[at].in_match.is_some() {
                self.tend_match(feed, at);
            }
        }
        self.tend_greeting(feed);
    }

    /// Starts a program that its match needs, seats it, or gives it up.
    fn tend_match(&mut self, feed: &mut EngineFeed, at: usize) {
        if self.list[at].hello.is_some() {
            return self.seat(feed, at);
        }
        let program = &mut self.list[at];
        if !program.is_absent() || program.given_up {
            return;
        }
        if program.failed_starts >= STARTS_MAX {
            program.given_up = true;
            let (player, fault) = (program.player.clone(), program.absence());
            feed.inputs.push_back(Input::Absent { player, fault });
            return;
        }
        let played = program.in_match.as_ref().and_then(|key| feed.engine.live_match(key));
        let Some(played) = played.filter(|played| played.result().is_none()) else { return };
        let plan = played.plan();
        let removes = plan.rules.crash == CrashCost::Remove || plan.players.len() > 2;
        let lost = removes && played.faults().iter().any(|one| one.player == program.player);
        if !lost {
            self.start(at);
        }
    }

    /// Starts the next programs that the tournament greets, so that they get ready at the same
    /// time. Tells the engine in the tournament's order which are there.
    fn tend_greeting(&mut self, feed: &mut EngineFeed) {
        loop {
            for place in 0..self.greeted_max.min(self.greeting.len()) {
                let program = &self.list[self.greeting[place]];
                if program.is_absent() && !program.failed_greeting() {
                    self.start(self.greeting[place]);
                }
            }
            let Some(&at) = self.greeting.front() else { return };
            let program = &self.list[at];
            if program.hello.is_some() {
                self.seat(feed, at);
            } else if program.is_absent() && program.failed_greeting() {
                let (player, fault) = (program.player.clone(), program.absence());
                feed.inputs.push_back(Input::Absent { player, fault });
            } else {
                return;
            }
            self.greeting.pop_front();
            self.trim_idle(feed, &self.starter.tournament.clone());
        }
    }

    /// Starts a program and greets it.
    fn start(&mut self, at: usize) {
        let (program, starter) = (&mut self.list[at], &self.starter);
        program.was_asked = false;
        let Starter { mark, sandbox, .. } = starter;
        let (words, player) = (&program.words, &program.player);
        match LocalProgram::start(words, player, Some(mark), Stderr::Keep, sandbox) {
            Ok(mut connection) => {
                connection.send(&native::encode(&ToPlayer::Hello {
                    protocol: native::PROTOCOL_VERSION,
                    server: concat!("agon/", env!("CARGO_PKG_VERSION")),
                    player: &program.player,
                    tournament: &starter.tournament,
                    game: &starter.game,
                    commitment: &starter.commitment,
                }));
                let (connection, banner) = (Box::new(connection), 0);
                let hello_by = Instant::now() + starter.hello_limit;
                program.process = Process::Starting { connection, hello_by, banner };
                program.waker.wake_by_ref();
            }
            Err(error) => {
                program.failed_starts = STARTS_MAX;
                program.why_not = Some(error.to_string());
            }
        }
    }

    /// Tells the engine that a program has said hello.
    fn seat(&mut self, feed: &mut EngineFeed, at: usize) {
        let program = &mut self.list[at];
        let Some(hello) = program.hello.take() else { return };
        feed.inputs.push_back(match program.conn {
            Some(conn) => Input::Restarted { conn, hello },
            None => {
                let conn = ConnId(self.next_conn);
                self.next_conn += 1;
                program.conn = Some(conn);
                self.by_conn.insert(conn, at);
                Input::Seated {
                    conn,
                    seat: SeatKind::local(),
                    player: program.player.clone(),
                    hello,
                }
            }
        });
        program.waker.wake_by_ref();
    }

    /// Ends a process in the background; its stderr is kept as evidence.
    fn end(&mut self, at: usize, by_itself: Option<Stage>, grace: Duration) {
        let program = &mut self.list[at];
        let Some(connection) = program.take_process(by_itself) else { return };
        let (player, dir) = (program.player.clone(), self.starter.evidence.clone());
        self.ending.spawn(async move { (at, connection.close(grace, &dir, &player).await) });
    }

    /// Ends programs beyond those worth keeping: players without a further match first.
    fn trim_idle(&mut self, feed: &EngineFeed, id: &TournamentId) {
        let idle = |program: &Program| {
            matches!(program.process, Process::Running(_))
                && program.in_match.is_none()
                && program.hello.is_none()
        };
        let mut spare: Vec<usize> =
            (0..self.list.len()).filter(|at| idle(&self.list[*at])).collect();
        if spare.len() <= IDLE_MAX {
            return;
        }
        let open = feed.engine.live_tournament(id).into_iter();
        let waiting: HashSet<&PlayerName> = open
            .flat_map(|machine| machine.open_matches())
            .flat_map(|plan| &plan.players)
            .collect();
        spare.sort_by_key(|at| {
            let player = &self.list[*at].player;
            (waiting.contains(player), player.clone())
        });
        for at in &spare[..spare.len() - IDLE_MAX] {
            self.end(*at, None, Duration::ZERO);
        }
    }

    /// Tells every program how the run ended, and ends it.
    pub(crate) async fn say_goodbye(&mut self, farewell: &Farewell) {
        let reason = match farewell.winners {
            Some(_) => "the tournament is over",
            None => "the run was stopped",
        };
        for at in 0..self.list.len() {
            let program = &mut self.list[at];
            let won = farewell.winners.as_ref().map(|winners| winners.contains(&program.player));
            let head = farewell.head.clone();
            if let Process::Starting { connection, .. } | Process::Running(connection) =
                &mut program.process
            {
                connection.send(&native::encode(&ToPlayer::End { won, reason, head }));
            }
            self.end(at, None, FAREWELL);
        }
        while self.ending.join_next().await.is_some() {}
    }
}
